/** A stand for tests of the push server: embedded channels of one virtual loop, and a server on it. */
#ifndef LEAT_TESTS_SUPPORT_PUSH_STAND_H
#define LEAT_TESTS_SUPPORT_PUSH_STAND_H

#include "core/embedded.h"
#include "handlers/push/server.h"
#include "tests/support/suite.h"

#include <string.h>

enum { PEERS = 4 };

/* `home` only owns the loop. */
static leat_embedded *home, *peers[PEERS];
static leat_push_server *server;
static size_t told_empty;

static inline void count_empty(void *context) {
    (void)context;
    told_empty++;
}

static inline void begin(leat_push_options options) {
    home = leat_embedded_new((const leat_stage[]){{0}});
    ck_assert_ptr_nonnull(home);
    const leat_embedded_options shared = {.loop = leat_embedded_loop(home)};
    for (size_t i = 0; i < PEERS; i++)
        ck_assert_ptr_nonnull(peers[i] = leat_embedded_new_with((const leat_stage[]){{0}}, &shared, NULL));
    told_empty = 0;
    options.on_empty = count_empty;
    ck_assert_ptr_nonnull(server = leat_push_server_new(leat_embedded_loop(home), &options, NULL));
}

static inline leat_push_ledger ledger(void) {
    leat_push_ledger now = leat_push_server_ledger(server);
    ck_assert(leat_push_ledger_is_exact(&now));
    return now;
}

static inline void end(void) {
    ledger();
    for (size_t i = 0; i < PEERS; i++)
        leat_embedded_free(peers[i]);
    leat_push_server_release(server);
    ck_assert_uint_eq(leat_embedded_finish(home), 0);
    leat_embedded_free(home);
}

static inline leat_push_connection *join_with(size_t peer, leat_push_join_options options) {
    leat_push_connection *joined = NULL;
    if (!options.codec)
        options.codec = &leat_push_codec_bare;
    ck_assert_int_eq(leat_push_join(server, leat_embedded_channel(peers[peer]), &options, &joined), 0);
    return joined;
}

static inline leat_push_connection *join(size_t peer, const char *group, const char *slot) {
    return join_with(peer, (leat_push_join_options){.group = group, .slot = slot});
}

static inline int offer(const char *text) {
    leat_push_event *event = leat_push_event_of_bytes(leat_embedded_alloc(home), text, strlen(text));
    return leat_push_offer(server, event);
}

static inline void offer_all(const char *texts) {
    for (; *texts; texts++)
        ck_assert_int_eq(offer((char[]){*texts, 0}), 0);
}

static inline void wait_ms(uint64_t ms) {
    leat_embedded_advance(home, ms);
}

static inline void wrote(size_t peer, const char *text) {
    ck_assert_str_eq(leat_embedded_written_text(peers[peer]), text);
}

/* Fills the channel beyond its high watermark while the transport takes nothing. */
static inline void stall(size_t peer) {
    leat_embedded_limit_writes(peers[peer], SIZE_MAX, 0);
    leat_bytebuf *fill = leat_bytebuf_new(leat_embedded_alloc(home), 70000);
    ck_assert(leat_bytebuf_write_zero(fill, 70000));
    leat_embedded_write(peers[peer], leat_msg_of_bytebuf(fill), NULL);
}

static inline void discard_written(size_t peer) {
    leat_bytebuf_release(leat_embedded_take_written(peers[peer]));
}

#endif
