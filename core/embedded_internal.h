/** What the files of the test kit share. Not installed. */
#ifndef LEAT_CORE_EMBEDDED_INTERNAL_H
#define LEAT_CORE_EMBEDDED_INTERNAL_H

#include "core/channel_internal.h"
#include "core/embedded.h"

/** A list of fixed-size items that grows; what cannot be kept for want of memory is counted. */
typedef struct item_list {
    uint8_t *items;
    size_t size, first, count, room;
} item_list;

bool leat_items_add(leat_alloc *alloc, item_list *list, const void *item, size_t item_size, size_t count);
bool leat_items_take(item_list *list, void *item, size_t item_size);
void leat_items_clean_up(leat_alloc *alloc, item_list *list);

/** A loop without an outside: its clock stands until it is advanced. */
typedef struct virtual_loop {
    leat_loop loop;
    uint64_t clock;
    size_t users;
    leat_embedded *members;
    leat_alloc *alloc;
} virtual_loop;

virtual_loop *leat_virtual_loop_new(leat_alloc *alloc, leat_tracking_alloc *tracker);
/** Runs everything that is due, in all members, until nothing moves. */
void leat_virtual_loop_settle(virtual_loop *loop);

struct leat_embedded {
    leat_transport transport;
    leat_alloc *alloc; /* below the ledger: for what the kit keeps itself */
    leat_tracking_alloc *tracker;
    virtual_loop *loop;
    leat_embedded *next; /* on the same loop */
    leat_channel *channel;
    leat_embedded *peer;

    item_list pending; /* leat_bytebuf *: fed, not yet read */
    uint64_t pending_bytes;
    uint64_t link_limit;
    bool peer_closed;
    bool pending_eof;
    item_list written; /* bytes */
    item_list spans;   /* size_t: of the last write */
    size_t write_calls;
    size_t most_a_call;
    uint64_t allowance;
    int write_error;
    unsigned interest;
    bool shut_down, closed, was_reset;

    item_list reads, events; /* leat_msg */
    item_list errors;        /* int */
    size_t writable_count, read_done_count, eof_count;
    size_t pins;
    bool lost; /* something could not be kept: no memory */

    item_list text;
    char report[4096];
    size_t report_length;
};

extern const leat_handler leat_collector_handler;

/** Delivers what is pending as far as the channel reads; true = something moved. */
bool leat_embedded_pump(leat_embedded *embedded);
extern const leat_transport_ops leat_embedded_transport;

#endif
