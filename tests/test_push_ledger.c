#include "core/embedded.h"
#include "core/verify.h"
#include "handlers/push/server.h"
#include "tests/support/suite.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

START_TEST(the_text_names_what_was_counted) {
    leat_push_ledger ledger = {.offered = {3, 30}, .accepted = {2, 20}, .routed = {2, 20}};
    ledger.refused[LEAT_PUSH_QUEUE_FULL] = (leat_push_amount){1, 10};
    ledger.destinations.destined = ledger.destinations.dropped[LEAT_PUSH_UNWRITABLE] = (leat_push_amount){2, 20};
    char text[1000], small[10];
    size_t length = leat_push_ledger_text(&ledger, text, sizeof text);
    ck_assert_uint_eq(length, strlen(text));
    ck_assert_ptr_nonnull(strstr(text, "offered 3 (30 bytes) = accepted 2 (20 bytes) + refused 1 (10 bytes)"));
    ck_assert_ptr_nonnull(strstr(text, "queue full 1 (10 bytes)"));
    ck_assert_ptr_nonnull(strstr(text, "unwritable 2 (20 bytes)"));
    ck_assert_ptr_nonnull(strstr(text, "ledgers: exact"));
    ck_assert_uint_eq(leat_push_ledger_text(&ledger, small, sizeof small), length);
    ck_assert_uint_eq(strlen(small), sizeof small - 1);
}
END_TEST

START_TEST(a_ledger_that_lost_an_event_is_not_exact) {
    leat_push_ledger ledger = {.offered = {3, 30}, .accepted = {2, 20}, .routed = {2, 20}};
    ck_assert(!leat_push_ledger_is_exact(&ledger));
    ledger.offered = ledger.accepted;
    ck_assert(leat_push_ledger_is_exact(&ledger));
    ledger.destinations.destined.bytes = 1;
    ck_assert(!leat_push_ledger_is_exact(&ledger));
}
END_TEST

/* ---- a random run -------------------------------------------------------------------------------------------------
 */

enum { PEERS = 12, STEPS = 3000 };

typedef struct peer {
    leat_embedded *embedded;
    leat_push_connection *connection;
    bool is_over;
} peer;

typedef struct run {
    uint64_t random;
    leat_embedded *home;
    leat_push_server *server;
    peer peers[PEERS];
} run;

static uint64_t pick(run *r, uint64_t below) {
    r->random = r->random * 6364136223846793005u + 1442695040888963407u;
    return (r->random >> 33) % below;
}

static void open_peer(run *r, peer *one) {
    leat_embedded_options options = {.loop = leat_embedded_loop(r->home)};
    options.channel.write_low = 1000;
    options.channel.write_high = 3000;
    options.channel.write_limit = 200000;
    one->embedded = leat_embedded_new_with((const leat_stage[]){{0}}, &options, NULL);
    ck_assert_ptr_nonnull(one->embedded);
    one->connection = NULL;
}

static bool rejects_some(void *context, const leat_push_event *event) {
    (void)context;
    return event->bytes % 3 != 0;
}

static void join(run *r, peer *one) {
    static const char *const names[] = {NULL, NULL, "g", "h"}, *const slots[] = {NULL, "s", "t"};
    static const leat_push_codec *const codecs[] = {&leat_push_codec_bare, &leat_push_codec_sse,
                                                    &leat_push_codec_legacy_tcp};
    leat_push_join_options options = {.codec = codecs[pick(r, 3)], .group = names[pick(r, 4)]};
    options.slot = options.group ? slots[pick(r, 3)] : NULL;
    options.window_ms = (uint32_t)pick(r, 3) * 100;
    options.slow = (leat_push_slow)(pick(r, 4) == 0);
    options.max_pending = pick(r, 2) * 3000;
    options.accepts = pick(r, 4) == 0 ? rejects_some : NULL;
    leat_push_join(r->server, leat_embedded_channel(one->embedded), &options, NULL);
}

static void reopen(run *r, peer *one) {
    leat_embedded_free(one->embedded);
    open_peer(r, one);
}

static void offer(run *r) {
    static const char bytes[9000];
    size_t length = pick(r, 20) == 0 ? pick(r, sizeof bytes) : pick(r, 300);
    leat_push_offer(r->server, leat_push_event_of_bytes(leat_embedded_alloc(r->home), bytes, length));
}

static void step(run *r) {
    peer *one = &r->peers[pick(r, PEERS)];
    switch (pick(r, 16)) {
    case 0:
    case 1:
        join(r, one);
        break;
    case 2:
        leat_embedded_close(one->embedded);
        break;
    case 3:
        reopen(r, one);
        break;
    case 4:
        leat_embedded_limit_writes(one->embedded, 1 + pick(r, 5000), pick(r, 20000));
        break;
    case 5:
        leat_embedded_allow_writes(one->embedded, pick(r, 3) ? pick(r, 50000) : UINT64_MAX);
        break;
    case 6:
        if (pick(r, 8) == 0)
            leat_embedded_fail_writes(one->embedded, LEAT_ERESET);
        break;
    case 7:
    case 8:
        leat_embedded_advance(r->home, pick(r, 120));
        break;
    case 9:
        leat_embedded_run(r->home);
        break;
    default:
        offer(r);
    }
}

static leat_push_ledger exact_ledger(run *r) {
    leat_push_ledger ledger = leat_push_server_ledger(r->server);
    char text[2000];
    leat_push_ledger_text(&ledger, text, sizeof text);
    ck_assert_msg(leat_push_ledger_is_exact(&ledger), "%s", text);
    return ledger;
}

static leat_push_ledger end_run(run *r) {
    leat_push_server_close(r->server);
    leat_embedded_advance(r->home, 6000);
    leat_push_ledger ledger = exact_ledger(r);
    ck_assert_uint_eq(ledger.destinations.pending.events, 0);
    ck_assert_uint_eq(ledger.queued.events, 0);
    for (size_t i = 0; i < PEERS; i++)
        leat_embedded_free(r->peers[i].embedded);
    leat_push_server_release(r->server);
    ck_assert_uint_eq(leat_embedded_finish(r->home), 0);
    leat_embedded_free(r->home);
    return ledger;
}

static void begin_run(run *r, uint64_t seed) {
    *r = (run){.random = seed, .home = leat_embedded_new((const leat_stage[]){{0}})};
    leat_push_options options = {.queue_events = 12, .queue_bytes = 20000, .batch_events = 25, .batch_bytes = 8000};
    options.chunk_events = seed % 2 ? 10 : 100;
    options.chunk_ms = (uint32_t)pick(r, 2) * 30;
    options.max_event_bytes = 8000;
    options.max_pending_bytes = 40000;
    r->server = leat_push_server_new(leat_embedded_loop(r->home), &options, NULL);
    for (size_t i = 0; i < PEERS; i++)
        open_peer(r, &r->peers[i]);
}

/* Which outcomes a run has met, a bit each. */
static unsigned outcomes(const leat_push_ledger *ledger) {
    const leat_push_account *account = &ledger->destinations;
    unsigned met = (unsigned)(account->delivered.events > 0) | (unsigned)(account->failed.events > 0) << 1;
    for (unsigned i = 0; i < LEAT_PUSH_OUT_OF_MEMORY; i++)
        met |= (unsigned)(account->dropped[i].events > 0) << (2 + i);
    for (unsigned i = 0; i < LEAT_PUSH_CLOSED; i++)
        met |= (unsigned)(ledger->refused[i].events > 0) << (2 + LEAT_PUSH_OUT_OF_MEMORY + i);
    return met;
}

START_TEST(both_ledgers_are_exact_after_every_step_of_a_random_run) {
    static run r;
    unsigned met = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        printf("seed %llu\n", (unsigned long long)seed);
        begin_run(&r, seed);
        for (int i = 0; i < STEPS; i++) {
            step(&r);
            exact_ledger(&r);
        }
        leat_push_ledger ledger = end_run(&r);
        met |= outcomes(&ledger);
    }
    ck_assert_uint_eq(met, (1u << (2 + LEAT_PUSH_OUT_OF_MEMORY + LEAT_PUSH_CLOSED)) - 1);
}
END_TEST

/* ---- connections' accounts ----------------------------------------------------------------------------------------
 */

START_TEST(accounts_of_connections_add_up_to_the_ledger) {
    static run r;
    begin_run(&r, 5);
    leat_push_connection *connections[PEERS];
    for (size_t i = 0; i < PEERS; i++) {
        leat_push_join_options options = {.codec = &leat_push_codec_bare, .group = i % 3 ? NULL : "g"};
        leat_channel *channel = leat_embedded_channel(r.peers[i].embedded);
        ck_assert_int_eq(leat_push_join(r.server, channel, &options, &connections[i]), 0);
        offer(&r);
        leat_embedded_advance(r.home, 30);
    }
    leat_push_account sum = {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {{0, 0}}};
    for (size_t i = 0; i < PEERS; i++) {
        leat_push_account account = leat_push_connection_account(connections[i]);
        ck_assert(leat_push_account_is_exact(&account));
        leat_push_amount_add(&sum.destined, account.destined);
        leat_push_amount_add(&sum.delivered, account.delivered);
        leat_push_amount_add(&sum.pending, account.pending);
    }
    leat_push_account all = exact_ledger(&r).destinations;
    ck_assert_mem_eq(&sum, &all, sizeof sum);
    end_run(&r);
}
END_TEST

/* ---- other threads ------------------------------------------------------------------------------------------------
 */

enum { POSTERS = 3, POSTS = 2000 };

static void *post_many(void *server) {
    for (int i = 0; i < POSTS; i++)
        leat_push_post(server, leat_push_event_of_bytes(leat_unpooled(), "abcd", 4));
    leat_push_server_unretain(server);
    return NULL;
}

START_TEST(events_of_other_threads_are_all_accounted_for) {
    leat_embedded *home = leat_embedded_new((const leat_stage[]){{0}});
    const leat_push_options options = {.queue_events = 100};
    leat_push_server *server = leat_push_server_new(leat_embedded_loop(home), &options, NULL);
    pthread_t threads[POSTERS];
    for (size_t i = 0; i < POSTERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, post_many, leat_push_server_retain(server)), 0);
    leat_embedded_run(home);
    for (size_t i = 0; i < POSTERS; i++)
        pthread_join(threads[i], NULL);
    leat_embedded_run(home);
    leat_push_ledger ledger = leat_push_server_ledger(server);
    ck_assert(leat_push_ledger_is_exact(&ledger));
    ck_assert_uint_eq(ledger.offered.events, POSTERS * POSTS);
    leat_push_server_release(server);
    leat_embedded_free(home);
}
END_TEST

START_TEST(posting_after_the_loop_is_gone_is_counted_and_loses_nothing) {
    leat_embedded_options options = {.without_ledger = true};
    leat_embedded *home = leat_embedded_new_with((const leat_stage[]){{0}}, &options, NULL);
    leat_push_server *server = leat_push_server_new(leat_embedded_loop(home), NULL, NULL);
    leat_push_server_retain(server);
    leat_push_server_release(server);
    leat_embedded_free(home);
    leat_push_post(server, leat_push_event_of_bytes(leat_unpooled(), "abcd", 4));
    leat_push_ledger ledger = leat_push_server_ledger(server);
    ck_assert_uint_eq(ledger.refused[LEAT_PUSH_CLOSED].bytes, 4);
    leat_push_server_unretain(server);
}
END_TEST

/* ---- no memory ----------------------------------------------------------------------------------------------------
 */

static int push_some(leat_alloc *alloc, void *context) {
    (void)context;
    const leat_embedded_options options = {.alloc = alloc};
    leat_embedded *home = leat_embedded_new_with((const leat_stage[]){{0}}, &options, NULL);
    if (!home)
        return 0;
    leat_push_server *server = leat_push_server_new(leat_embedded_loop(home), NULL, NULL);
    leat_push_join_options joining = {.codec = &leat_push_codec_sse, .group = "g", .slot = "s"};
    bool exact = true;
    if (server) {
        leat_push_join(server, leat_embedded_channel(home), &joining, NULL);
        for (int i = 0; i < 3; i++)
            leat_push_offer(server, leat_push_event_of_bytes(leat_embedded_alloc(home), "abc\ndef", 7));
        leat_embedded_advance(home, 200);
        leat_push_ledger ledger = leat_push_server_ledger(server);
        exact = leat_push_ledger_is_exact(&ledger);
    }
    leat_push_server_release(server);
    leat_embedded_free(home);
    return exact ? 0 : LEAT_ECORRUPT;
}

START_TEST(without_memory_at_any_allocation_the_ledgers_are_exact_and_nothing_leaks) {
    leat_problem problem;
    ck_assert_msg(leat_verify_oom(push_some, NULL, &problem) == 0, "%s", problem.text);
}
END_TEST

int main(void) {
    return suite_run("push_ledger",
                     (const TTest *const[]){
                         the_text_names_what_was_counted, a_ledger_that_lost_an_event_is_not_exact,
                         both_ledgers_are_exact_after_every_step_of_a_random_run,
                         accounts_of_connections_add_up_to_the_ledger, events_of_other_threads_are_all_accounted_for,
                         posting_after_the_loop_is_gone_is_counted_and_loses_nothing,
                         without_memory_at_any_allocation_the_ledgers_are_exact_and_nothing_leaks, NULL});
}
