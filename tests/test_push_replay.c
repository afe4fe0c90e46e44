/* Replay: who comes back gets what it missed, and then what comes, without a gap and nothing twice. */
#include "core/verify.h"
#include "tests/support/push_stand.h"

enum { EVENTS = 9 };

static leat_push_connection *come_back(size_t peer, uint64_t after) {
    leat_push_connection *connection = join_with(peer, (leat_push_join_options){.codec = &leat_push_codec_bare});
    ck_assert_int_eq(leat_push_replay(connection, after), 0);
    return connection;
}

/* Digits from 1 on, one an event. */
static void offer_digit(int digit) {
    ck_assert_int_eq(offer((char[]){(char)('0' + digit), 0}), 0);
}

/* Steps of the publisher between which somebody joins: an offer, and time for chunks or for windows. */
static void publish(int step) {
    static const uint64_t pause[] = {0, 1, 200};
    offer_digit(step);
    if (pause[step % 3])
        wait_ms(pause[step % 3]);
}

/* Joins before one of the steps, having seen `after` of what was routed until then; returns what it had seen. */
static uint64_t publish_and_come_back(int joins_before, uint64_t after) {
    uint64_t seen = 0;
    join(1, NULL, NULL); /* so that there is a batch to join */
    for (int step = 1; step <= EVENTS; step++) {
        if (step == joins_before) {
            seen = after <= ledger().routed.events ? after : 0;
            come_back(0, seen);
        }
        publish(step);
    }
    wait_ms(400);
    return seen;
}

START_TEST(whenever_one_comes_back_it_gets_all_that_is_new_to_it_once_and_in_order) {
    static const leat_push_options all[] = {{0}, {.batch_events = 2}, {.chunk_events = 2}, {.chunk_ms = 50}};
    for (int i = 0; i < 4 * EVENTS * EVENTS; i++) {
        leat_push_options options = all[i % 4];
        options.with_ids = true;
        options.keep_events = 100;
        begin(options);
        uint64_t seen = publish_and_come_back(1 + i / 4 % EVENTS, (uint64_t)(i / 4 / EVENTS));
        wrote(0, &"123456789"[seen]);
        ck_assert_uint_eq(ledger().destinations.pending.events, 0);
        discard_written(1);
        end();
    }
}
END_TEST

START_TEST(an_id_that_is_not_routed_yet_cannot_have_been_seen) {
    begin((leat_push_options){.with_ids = true, .keep_events = 10, .first_id = 1000});
    offer_digit(1);
    offer_digit(2);
    wait_ms(0);
    ck_assert(leat_push_keeps_all(server, 1001) && leat_push_keeps_all(server, 999));
    ck_assert(!leat_push_keeps_all(server, 7) && !leat_push_keeps_all(server, 5000));
    come_back(0, 7);
    come_back(1, 5000);
    come_back(2, 1000);
    come_back(3, 1001);
    wait_ms(0);
    wrote(0, "12");
    wrote(1, "12");
    wrote(2, "2");
    wrote(3, "");
    end();
}
END_TEST

START_TEST(only_so_many_events_and_bytes_are_kept) {
    begin((leat_push_options){.with_ids = true, .keep_events = 3, .keep_bytes = 10});
    offer_all("abcd");
    wait_ms(0);
    ck_assert(leat_push_keeps_all(server, 1) && !leat_push_keeps_all(server, 0));
    offer("12345678");
    wait_ms(0);
    come_back(0, 0);
    wait_ms(0);
    wrote(0, "cd12345678");
    offer("this is too long");
    wait_ms(0);
    ck_assert(leat_push_keeps_all(server, 6) && !leat_push_keeps_all(server, 5));
    come_back(1, 0);
    wait_ms(400);
    wrote(1, "");
    wrote(0, "this is too long");
    end();
}
END_TEST

static bool wants_b(void *context, const leat_push_event *event) {
    (void)context;
    return leat_bytebuf_get_u8(event->payload, leat_bytebuf_reader_index(event->payload)) == 'b';
}

START_TEST(what_a_connection_does_not_accept_is_not_replayed) {
    begin((leat_push_options){.with_ids = true, .keep_events = 10});
    offer_all("abcb");
    wait_ms(0);
    ck_assert_int_eq(leat_push_replay(join_with(0, (leat_push_join_options){.accepts = wants_b}), 0), 0);
    offer_all("ab");
    wait_ms(400);
    wrote(0, "bbb");
    end();
}
END_TEST

START_TEST(who_was_given_something_or_shares_the_stream_gets_no_replay) {
    begin((leat_push_options){.with_ids = true, .keep_events = 10});
    leat_push_connection *early = join(0, NULL, NULL);
    offer_digit(1);
    wait_ms(0);
    ck_assert_int_eq(leat_push_replay(early, 0), LEAT_EINVAL);
    ck_assert_int_eq(leat_push_replay(join(1, "g", NULL), 0), LEAT_EINVAL);
    wait_ms(200);
    ck_assert_int_eq(leat_push_replay(early, 0), LEAT_EINVAL);
    wrote(0, "1");
    end();
}
END_TEST

START_TEST(a_replay_counts_as_what_is_on_the_way) {
    begin((leat_push_options){.with_ids = true, .keep_events = 10, .max_pending_bytes = 4});
    offer("12345");
    wait_ms(0);
    leat_push_connection *connection = join(0, NULL, NULL);
    ck_assert_int_eq(leat_push_replay(connection, 0), LEAT_ELIMIT);
    ck_assert_uint_eq(ledger().destinations.destined.events, 0);
    wrote(0, "");
    end();
}
END_TEST

START_TEST(without_keeping_nothing_is_replayed) {
    begin((leat_push_options){.with_ids = true});
    offer_digit(1);
    wait_ms(0);
    come_back(0, 0);
    wait_ms(400);
    wrote(0, "");
    ck_assert(!leat_push_keeps_all(server, 0));
    ck_assert(leat_push_keeps_all(server, 1));
    end();
}
END_TEST

static int replay_without_memory(leat_alloc *alloc, void *context) {
    (void)context;
    leat_embedded_options options = {.alloc = alloc, .without_ledger = true};
    leat_embedded *e = leat_embedded_new_with((const leat_stage[]){{0}}, &options, NULL);
    leat_push_server *one =
        e ? leat_push_server_new(leat_embedded_loop(e), &(leat_push_options){.with_ids = true, .keep_events = 4}, NULL)
          : NULL;
    leat_push_connection *connection = NULL;
    for (int i = 0; one && i < 6; i++)
        leat_push_offer(one, leat_push_event_of_bytes(alloc, "x", 1));
    if (e)
        leat_embedded_advance(e, 1);
    const leat_push_join_options joining = {.codec = &leat_push_codec_sse};
    if (one && leat_push_join(one, leat_embedded_channel(e), &joining, &connection) == 0)
        leat_push_replay(connection, 0);
    leat_push_ledger now = {0};
    if (one)
        now = leat_push_server_ledger(one);
    leat_push_server_release(one);
    leat_embedded_free(e);
    return leat_push_ledger_is_exact(&now) ? LEAT_OK : LEAT_ECORRUPT;
}

START_TEST(no_failed_allocation_leaks_or_loses_an_amount) {
    leat_problem problem = {0};
    ck_assert_msg(leat_verify_oom(replay_without_memory, NULL, &problem) == LEAT_OK, "%s", problem.text);
}
END_TEST

int main(void) {
    return suite_run("push_replay",
                     (const TTest *const[]){whenever_one_comes_back_it_gets_all_that_is_new_to_it_once_and_in_order,
                                            an_id_that_is_not_routed_yet_cannot_have_been_seen,
                                            only_so_many_events_and_bytes_are_kept,
                                            what_a_connection_does_not_accept_is_not_replayed,
                                            who_was_given_something_or_shares_the_stream_gets_no_replay,
                                            a_replay_counts_as_what_is_on_the_way, without_keeping_nothing_is_replayed,
                                            no_failed_allocation_leaks_or_loses_an_amount, NULL});
}
