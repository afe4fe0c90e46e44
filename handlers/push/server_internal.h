/* What the parts of the push server share: lanes, groups, connections, writes. Loop's thread only, except where said.
 */
#ifndef LEAT_HANDLERS_PUSH_SERVER_INTERNAL_H
#define LEAT_HANDLERS_PUSH_SERVER_INTERNAL_H

#include "handlers/push/batch.h"
#include "handlers/push/chunker.h"
#include "handlers/push/queue.h"
#include "handlers/push/router.h"
#include "handlers/push/server.h"

typedef struct lane lane;
typedef struct group group;

/* A write on its way: knows what it carries until it completes. */
typedef struct flight {
    leat_done done;
    leat_push_connection *connection;
    leat_push_amount amount;
    struct flight *next;
} flight;

struct leat_push_connection {
    leat_push_server *server;
    leat_channel *channel; /* valid while `ctx` is */
    leat_ctx *ctx;         /* of the handler in the channel; NULL = it was removed */
    leat_push_connection *next, **link;
    leat_push_connection *next_leaving;
    lane *lane;
    group *group; /* NULL = in the lane's broadcast set */
    leat_push_connection *next_slot, **slot_link;
    char *slot; /* NULL = not named */
    size_t place;
    leat_push_amount missed;                      /* of the lane's batch: what was in it at the join */
    leat_push_batch batch;                        /* of a group's member */
    leat_push_connection *next_open, **open_link; /* in the lane's list of open windows */
    leat_push_account account;                    /* without what waits in the lane's batch */
    uint64_t max_pending;
    bool (*accepts)(void *context, const leat_push_event *event);
    void *context;
    uint32_t flights;
    leat_push_slow slow;
    bool is_member; /* has a place */
    bool leaving;   /* gives it up when nothing is being delivered any more */
};

/* Connections of one codec and one window: the broadcast set with its one batch, and the open windows of the others. */
struct lane {
    lane *next;
    const leat_push_codec *codec;
    unsigned codec_slot;
    uint64_t window; /* nanoseconds */
    leat_push_connection **members;
    size_t count, room;
    leat_push_batch batch;
    leat_push_connection *open_first, **open_end; /* in the order of their deadlines */
};

/* Connections that share the stream. */
struct group {
    group *next, **link;
    group *next_in_bucket, **bucket_link; /* NULL link = not in a bucket */
    char *name;                           /* NULL = of one connection that chooses its events */
    leat_push_router router;
    size_t choosy; /* connections with `accepts` */
};

/* Chains of the tables of groups and slots. */
enum { BUCKETS = 1024 };

struct leat_push_server {
    uint32_t refs; /* atomic */
    bool closed, told_empty;
    bool close_wanted, release_wanted; /* once nothing is being delivered any more */
    unsigned deliveries;               /* under way, one inside the other */
    leat_loop *loop;
    leat_alloc *alloc;
    leat_mailbox *mailbox;
    leat_push_options options;
    leat_push_queue queue;
    leat_push_queue kept; /* routed, for who comes back */
    uint64_t last_routed; /* id */
    leat_push_chunker chunker;
    leat_timer timer;
    uint64_t armed_for;
    lane *lanes;
    const leat_push_codec *codecs[LEAT_PUSH_CODECS];
    group *groups;
    group *group_buckets[BUCKETS];
    leat_push_connection *slot_buckets[BUCKETS];
    leat_push_connection *connections;
    leat_push_connection *leaving;
    size_t connection_count; /* that take part */
    size_t alive;            /* that are not freed */
    flight *spare_flights;
    leat_push_ledger ledger;
    leat_push_amount refused_elsewhere[LEAT_PUSH_REFUSAL_COUNT]; /* atomic */
    uint64_t last_id, last_seed;
    uint64_t built, written;
};

/* connections.c: where a connection belongs */
int leat_push_place_enter(leat_push_connection *connection, const leat_push_join_options *options);
void leat_push_place_leave(leat_push_connection *connection);
leat_push_connection *leat_push_place_occupant(leat_push_server *server, const char *group_name, const char *slot);
void leat_push_places_free(leat_push_server *server);

/* delivery.c: batches to channels */
void leat_push_lane_add(leat_push_server *server, lane *to, leat_push_event *event);
void leat_push_lane_close_window(leat_push_server *server, lane *which);
void leat_push_connection_add(leat_push_connection *connection, leat_push_event *event);
void leat_push_connection_reject(leat_push_connection *connection, const leat_push_event *event, leat_push_drop reason);
/** Counts its own batch as destined and pending; LEAT_ELIMIT = the server has too much on the way. */
int leat_push_connection_destine(leat_push_connection *connection);
void leat_push_connection_close_window(leat_push_connection *connection);
void leat_push_connection_drop_batch(leat_push_connection *connection, leat_push_drop reason);
leat_push_amount leat_push_lane_share(const leat_push_connection *connection);

/* replay.c: events for who comes back */
void leat_push_keep_routed(leat_push_server *server, leat_push_event *event);

/* membership.c: joining and leaving. Handlers run while messages are written and may close channels, leave, offer, or
 * end the server: between these two places stay as they are. The server may be gone after the end. */
void leat_push_begin_delivery(leat_push_server *server);
void leat_push_end_delivery(leat_push_server *server);
void leat_push_connection_free_if_done(leat_push_connection *connection);
void leat_push_server_tell_if_empty(leat_push_server *server);

static inline leat_push_amount leat_push_amount_of(uint64_t events, uint64_t bytes) {
    leat_push_amount amount = {events, bytes};
    return amount;
}

#endif
