#include "core/embedded.h"
#include "handlers/push/server.h"
#include "tests/support/suite.h"

#include <string.h>

enum { PEERS = 4 };

/* Embedded channels of one virtual loop, and a server on it. The first one only owns the loop. */
static leat_embedded *home, *peers[PEERS];
static leat_push_server *server;
static size_t told_empty;

static void count_empty(void *context) {
    (void)context;
    told_empty++;
}

static void begin(leat_push_options options) {
    home = leat_embedded_new((const leat_stage[]){{0}});
    ck_assert_ptr_nonnull(home);
    const leat_embedded_options shared = {.loop = leat_embedded_loop(home)};
    for (size_t i = 0; i < PEERS; i++)
        ck_assert_ptr_nonnull(peers[i] = leat_embedded_new_with((const leat_stage[]){{0}}, &shared, NULL));
    told_empty = 0;
    options.on_empty = count_empty;
    ck_assert_ptr_nonnull(server = leat_push_server_new(leat_embedded_loop(home), &options, NULL));
}

static leat_push_ledger ledger(void) {
    leat_push_ledger now = leat_push_server_ledger(server);
    ck_assert(leat_push_ledger_is_exact(&now));
    return now;
}

static void end(void) {
    ledger();
    for (size_t i = 0; i < PEERS; i++)
        leat_embedded_free(peers[i]);
    leat_push_server_release(server);
    ck_assert_uint_eq(leat_embedded_finish(home), 0);
    leat_embedded_free(home);
}

static leat_push_connection *join_with(size_t peer, leat_push_join_options options) {
    leat_push_connection *joined = NULL;
    if (!options.codec)
        options.codec = &leat_push_codec_bare;
    ck_assert_int_eq(leat_push_join(server, leat_embedded_channel(peers[peer]), &options, &joined), 0);
    return joined;
}

static leat_push_connection *join(size_t peer, const char *group, const char *slot) {
    return join_with(peer, (leat_push_join_options){.group = group, .slot = slot});
}

static int offer(const char *text) {
    leat_push_event *event = leat_push_event_of_bytes(leat_embedded_alloc(home), text, strlen(text));
    return leat_push_offer(server, event);
}

static void offer_all(const char *texts) {
    for (; *texts; texts++)
        ck_assert_int_eq(offer((char[]){*texts, 0}), 0);
}

static void wait_ms(uint64_t ms) {
    leat_embedded_advance(home, ms);
}

static void wrote(size_t peer, const char *text) {
    ck_assert_str_eq(leat_embedded_written_text(peers[peer]), text);
}

START_TEST(every_connection_without_a_group_gets_every_event) {
    begin((leat_push_options){0});
    for (size_t i = 0; i < PEERS; i++)
        join(i, NULL, NULL);
    offer_all("abc");
    wait_ms(200);
    for (size_t i = 0; i < PEERS; i++)
        wrote(i, "abc");
    ck_assert_uint_eq(ledger().destinations.delivered.events, 12);
    end();
}
END_TEST

START_TEST(a_batch_is_built_once_and_written_once_a_connection) {
    begin((leat_push_options){0});
    uint64_t built, written;
    for (size_t i = 0; i < PEERS; i++)
        join(i, NULL, NULL);
    offer_all("abcdef");
    wait_ms(200);
    leat_push_server_batches(server, &built, &written);
    ck_assert_uint_eq(built, 1);
    ck_assert_uint_eq(written, PEERS);
    ck_assert_uint_eq(leat_embedded_write_calls(peers[0]), 1);
    end();
}
END_TEST

START_TEST(a_window_begins_with_its_first_event) {
    begin((leat_push_options){0});
    join(0, NULL, NULL);
    wait_ms(150);
    offer_all("a");
    wait_ms(199);
    offer_all("b");
    wrote(0, "");
    wait_ms(1);
    wrote(0, "ab");
    end();
}
END_TEST

START_TEST(windows_of_different_lengths_close_on_their_own) {
    begin((leat_push_options){0});
    join_with(0, (leat_push_join_options){.window_ms = 10});
    join_with(1, (leat_push_join_options){.window_ms = 30, .group = "g"});
    join_with(2, (leat_push_join_options){.window_ms = LEAT_PUSH_NO_WINDOW});
    offer_all("a");
    leat_embedded_run(home);
    wrote(2, "a");
    wait_ms(10);
    wrote(0, "a");
    wrote(1, "");
    wait_ms(20);
    wrote(1, "a");
    end();
}
END_TEST

START_TEST(a_full_batch_closes_its_window_early) {
    begin((leat_push_options){.batch_events = 3, .batch_bytes = 10});
    join(0, NULL, NULL);
    join(1, "g", NULL);
    offer_all("abcd");
    leat_embedded_run(home);
    wrote(0, "abc");
    wrote(1, "abc");
    offer("0123456789");
    leat_embedded_run(home);
    wrote(0, "d0123456789");
    end();
}
END_TEST

START_TEST(who_joins_gets_what_comes_after) {
    begin((leat_push_options){0});
    join(0, NULL, NULL);
    offer_all("ab");
    wait_ms(100);
    join(1, NULL, NULL);
    offer_all("cd");
    wait_ms(100);
    wrote(0, "abcd");
    wrote(1, "cd");
    ck_assert_uint_eq(ledger().destinations.delivered.events, 6);
    end();
}
END_TEST

START_TEST(a_group_shares_the_stream_and_who_is_alone_in_one_gets_all) {
    begin((leat_push_options){0});
    join(0, "pair", NULL);
    join(1, "pair", NULL);
    join(2, "alone", NULL);
    offer_all("abcde");
    wait_ms(200);
    wrote(0, "ace");
    wrote(1, "bd");
    wrote(2, "abcde");
    end();
}
END_TEST

START_TEST(the_same_slot_replaces_and_closes_the_old_connection) {
    begin((leat_push_options){0});
    join(0, "g", "s");
    join(1, "g", "other");
    offer_all("ab");
    leat_embedded_run(home);
    join(2, "g", "s");
    leat_embedded_run(home);
    wrote(0, "a"); /* what it was given already is still written */
    ck_assert(!leat_channel_is_open(leat_embedded_channel(peers[0])));
    offer_all("cd");
    wait_ms(200);
    wrote(1, "bd");
    wrote(2, "c");
    ck_assert_uint_eq(leat_push_server_connections(server), 2);
    end();
}
END_TEST

START_TEST(the_same_slot_in_another_group_is_another_slot) {
    begin((leat_push_options){0});
    join(0, "g", "s");
    join(1, "h", "s");
    offer_all("a");
    wait_ms(200);
    wrote(0, "a");
    wrote(1, "a");
    end();
}
END_TEST

START_TEST(a_closed_channel_leaves_by_itself) {
    begin((leat_push_options){0});
    join(0, NULL, NULL);
    join(1, NULL, NULL);
    join(2, "g", NULL);
    offer_all("abc");
    leat_embedded_run(home);
    leat_embedded_close(peers[0]);
    leat_embedded_break(peers[2], LEAT_ERESET);
    ck_assert_uint_eq(leat_push_server_connections(server), 1);
    wait_ms(200);
    wrote(1, "abc");
    ck_assert_uint_eq(ledger().destinations.dropped[LEAT_PUSH_GONE].events, 6);
    ck_assert_int_eq(leat_embedded_take_error(peers[2]), LEAT_ERESET);
    end();
}
END_TEST

START_TEST(who_leaves_keeps_its_channel_and_may_join_again) {
    begin((leat_push_options){0});
    leat_push_connection *connection = join(0, NULL, NULL);
    offer_all("a");
    leat_embedded_run(home);
    leat_push_leave(connection);
    leat_embedded_run(home);
    ck_assert(leat_channel_is_open(leat_embedded_channel(peers[0])));
    join(0, NULL, NULL);
    offer_all("b");
    wait_ms(200);
    wrote(0, "b");
    end();
}
END_TEST

/* Fills the channel beyond its high watermark while the transport takes nothing. */
static void stall(size_t peer) {
    leat_embedded_limit_writes(peers[peer], SIZE_MAX, 0);
    leat_bytebuf *fill = leat_bytebuf_new(leat_embedded_alloc(home), 70000);
    ck_assert(leat_bytebuf_write_zero(fill, 70000));
    leat_embedded_write(peers[peer], leat_msg_of_bytebuf(fill), NULL);
}

static void discard_written(size_t peer) {
    leat_bytebuf_release(leat_embedded_take_written(peers[peer]));
}

START_TEST(what_is_due_to_a_stalled_connection_is_dropped_before_it_is_built) {
    begin((leat_push_options){0});
    uint64_t built, written;
    leat_push_connection *connection = join(0, NULL, NULL);
    stall(0);
    offer_all("abc");
    wait_ms(200);
    leat_push_server_batches(server, &built, &written);
    ck_assert_uint_eq(built, 0);
    ck_assert_uint_eq(leat_push_connection_account(connection).dropped[LEAT_PUSH_UNWRITABLE].events, 3);
    leat_embedded_allow_writes(peers[0], UINT64_MAX);
    discard_written(0);
    offer_all("d");
    wait_ms(200);
    wrote(0, "d");
    end();
}
END_TEST

START_TEST(a_stalled_connection_is_nobody_elses_matter) {
    begin((leat_push_options){0});
    join(0, NULL, NULL);
    join(1, NULL, NULL);
    stall(0);
    offer_all("abc");
    wait_ms(200);
    wrote(1, "abc");
    end();
}
END_TEST

START_TEST(a_stalled_connection_can_be_disconnected_instead) {
    begin((leat_push_options){0});
    join_with(0, (leat_push_join_options){.slow = LEAT_PUSH_DISCONNECT});
    stall(0);
    offer_all("abc");
    wait_ms(200);
    ck_assert(leat_embedded_is_closed(peers[0]));
    ck_assert_int_eq(leat_channel_error(leat_embedded_channel(peers[0])), LEAT_EWRITABLE);
    ck_assert_uint_eq(leat_push_server_connections(server), 0);
    end();
}
END_TEST

START_TEST(a_connection_has_a_cap_in_bytes) {
    begin((leat_push_options){0});
    leat_push_connection *connection = join_with(0, (leat_push_join_options){.max_pending = 5});
    leat_embedded_limit_writes(peers[0], SIZE_MAX, 0);
    offer("0123456789"); /* an empty channel takes any one batch */
    wait_ms(200);
    offer("x");
    wait_ms(200);
    ck_assert_uint_eq(leat_push_connection_account(connection).dropped[LEAT_PUSH_BUFFER_FULL].events, 1);
    leat_embedded_allow_writes(peers[0], UINT64_MAX);
    wrote(0, "0123456789");
    end();
}
END_TEST

START_TEST(the_server_has_a_cap_in_bytes) {
    begin((leat_push_options){.max_pending_bytes = 7});
    join(0, NULL, NULL);
    join(1, NULL, NULL);
    offer_all("abcd");
    wait_ms(200);
    wrote(0, "abc");
    ck_assert_uint_eq(ledger().destinations.dropped[LEAT_PUSH_SERVER_FULL].events, 2);
    end();
}
END_TEST

static bool wants_small_letters(void *context, const leat_push_event *event) {
    (void)context;
    return *leat_bytebuf_data(event->payload) >= 'a';
}

START_TEST(an_event_that_its_connection_rejects_is_dropped_not_given_to_another) {
    begin((leat_push_options){0});
    join_with(0, (leat_push_join_options){.group = "g", .accepts = wants_small_letters});
    join(1, "g", NULL);
    join_with(2, (leat_push_join_options){.accepts = wants_small_letters});
    offer_all("AbCde");
    wait_ms(200);
    wrote(0, "e");
    wrote(1, "bd");
    wrote(2, "bde");
    ck_assert_uint_eq(ledger().destinations.dropped[LEAT_PUSH_REJECTED].events, 4);
    end();
}
END_TEST

START_TEST(the_source_is_told_why_an_event_is_refused) {
    begin((leat_push_options){.queue_events = 2, .queue_bytes = 6, .max_event_bytes = 5});
    ck_assert_int_eq(offer("123456"), LEAT_ETOOLONG);
    ck_assert_int_eq(offer("12345"), 0);
    ck_assert_int_eq(offer("12"), LEAT_ELIMIT);
    ck_assert_int_eq(offer("1"), 0);
    ck_assert_int_eq(offer(""), LEAT_ELIMIT);
    ck_assert_int_eq(leat_push_offer(server, NULL), LEAT_ENOMEM);
    leat_push_server_close(server);
    ck_assert_int_eq(offer("1"), LEAT_ECLOSED);
    leat_push_ledger now = ledger();
    ck_assert_uint_eq(now.offered.events, 7);
    ck_assert_uint_eq(leat_push_ledger_refused(&now).events, 5);
    end();
}
END_TEST

START_TEST(events_are_pending_until_the_kernel_took_them) {
    begin((leat_push_options){0});
    join(0, NULL, NULL);
    leat_embedded_limit_writes(peers[0], 2, 3);
    offer_all("abcd");
    ck_assert_uint_eq(ledger().queued.events, 4);
    wait_ms(200);
    ck_assert_uint_eq(ledger().destinations.pending.events, 4);
    leat_embedded_allow_writes(peers[0], 1);
    ck_assert_uint_eq(ledger().destinations.delivered.events, 4);
    wrote(0, "abcd");
    end();
}
END_TEST

START_TEST(events_of_a_write_that_fails_have_failed) {
    begin((leat_push_options){0});
    join(0, NULL, NULL);
    leat_embedded_fail_writes(peers[0], LEAT_ERESET);
    offer_all("abcd");
    wait_ms(200);
    ck_assert_uint_eq(ledger().destinations.failed.events, 4);
    ck_assert_uint_eq(leat_push_server_connections(server), 0);
    end();
}
END_TEST

START_TEST(closing_writes_all_that_was_accepted_and_tells_when_all_are_gone) {
    begin((leat_push_options){0});
    join(0, NULL, NULL);
    join(1, "g", NULL);
    offer_all("abc");
    leat_push_server_close(server);
    ck_assert_uint_eq(told_empty, 0);
    leat_embedded_run(home);
    wrote(0, "abc");
    wrote(1, "abc");
    leat_embedded_feed_eof(peers[0]);
    leat_embedded_feed_eof(peers[1]);
    ck_assert_uint_eq(told_empty, 1);
    ck_assert_uint_eq(ledger().destinations.delivered.events, 6);
    end();
}
END_TEST

START_TEST(a_connection_that_never_ends_is_ended_by_its_close_timeout) {
    begin((leat_push_options){0});
    join(0, NULL, NULL);
    stall(0);
    leat_push_server_close(server);
    wait_ms(5000);
    ck_assert_uint_eq(told_empty, 1);
    end();
}
END_TEST

START_TEST(ids_count_the_accepted_events) {
    begin((leat_push_options){.with_ids = true, .max_event_bytes = 5});
    join_with(0, (leat_push_join_options){.codec = &leat_push_codec_sse});
    offer("one");
    offer("too long");
    offer("two");
    wait_ms(200);
    wrote(0, "id: 1\ndata: one\n\nid: 2\ndata: two\n\n");
    end();
}
END_TEST

START_TEST(connections_of_different_codecs_get_the_same_events) {
    begin((leat_push_options){0});
    join_with(0, (leat_push_join_options){.codec = &leat_push_codec_sse});
    join_with(1, (leat_push_join_options){.codec = &leat_push_codec_legacy_tcp, .group = "g"});
    offer("abc");
    wait_ms(200);
    wrote(0, "data: abc\n\n");
    leat_bytebuf *written = leat_embedded_take_written(peers[1]);
    ck_assert(leat_bytebuf_equals_bytes(written, "\0\0\0\4\1abc", 8));
    leat_bytebuf_release(written);
    end();
}
END_TEST

START_TEST(idle_connections_wake_nobody) {
    begin((leat_push_options){0});
    join(0, NULL, NULL);
    join(1, "g", NULL);
    offer_all("a");
    wait_ms(1000);
    uint64_t before = leat_loop_statistics(leat_embedded_loop(home)).timers;
    wait_ms(100000);
    ck_assert_uint_eq(leat_loop_statistics(leat_embedded_loop(home)).timers, before);
    discard_written(0);
    discard_written(1);
    end();
}
END_TEST

START_TEST(a_join_that_makes_no_sense_is_refused) {
    begin((leat_push_options){.max_connections = 1});
    leat_channel *channel = leat_embedded_channel(peers[0]), *other = leat_embedded_channel(peers[1]);
    leat_push_join_options options = {.slot = "without a group", .codec = &leat_push_codec_bare};
    ck_assert_int_eq(leat_push_join(server, channel, NULL, NULL), LEAT_EINVAL);
    ck_assert_int_eq(leat_push_join(server, channel, &options, NULL), LEAT_EINVAL);
    join(0, NULL, NULL);
    options.slot = NULL;
    ck_assert_int_eq(leat_push_join(server, channel, &options, NULL), LEAT_EEXIST);
    ck_assert_int_eq(leat_push_join(server, other, &options, NULL), LEAT_ELIMIT);
    leat_push_server_close(server);
    ck_assert_int_eq(leat_push_join(server, other, &options, NULL), LEAT_ECLOSED);
    end();
}
END_TEST

START_TEST(a_server_can_go_while_its_channels_stay) {
    begin((leat_push_options){0});
    join(0, NULL, NULL);
    join(1, "g", "s");
    leat_embedded_limit_writes(peers[0], SIZE_MAX, 0);
    offer_all("ab");
    wait_ms(200);
    offer_all("cd");
    leat_push_server_release(server);
    leat_embedded_allow_writes(peers[0], UINT64_MAX);
    wrote(0, "ab");
    ck_assert(leat_channel_is_open(leat_embedded_channel(peers[0])));
    server = leat_push_server_new(leat_embedded_loop(home), NULL, NULL);
    end();
}
END_TEST

int main(void) {
    return suite_run("push_server",
                     (const TTest *const[]){every_connection_without_a_group_gets_every_event,
                                            a_batch_is_built_once_and_written_once_a_connection,
                                            a_window_begins_with_its_first_event,
                                            windows_of_different_lengths_close_on_their_own,
                                            a_full_batch_closes_its_window_early,
                                            who_joins_gets_what_comes_after,
                                            a_group_shares_the_stream_and_who_is_alone_in_one_gets_all,
                                            the_same_slot_replaces_and_closes_the_old_connection,
                                            the_same_slot_in_another_group_is_another_slot,
                                            a_closed_channel_leaves_by_itself,
                                            who_leaves_keeps_its_channel_and_may_join_again,
                                            what_is_due_to_a_stalled_connection_is_dropped_before_it_is_built,
                                            a_stalled_connection_is_nobody_elses_matter,
                                            a_stalled_connection_can_be_disconnected_instead,
                                            a_connection_has_a_cap_in_bytes,
                                            the_server_has_a_cap_in_bytes,
                                            an_event_that_its_connection_rejects_is_dropped_not_given_to_another,
                                            the_source_is_told_why_an_event_is_refused,
                                            events_are_pending_until_the_kernel_took_them,
                                            events_of_a_write_that_fails_have_failed,
                                            closing_writes_all_that_was_accepted_and_tells_when_all_are_gone,
                                            a_connection_that_never_ends_is_ended_by_its_close_timeout,
                                            ids_count_the_accepted_events,
                                            connections_of_different_codecs_get_the_same_events,
                                            idle_connections_wake_nobody,
                                            a_join_that_makes_no_sense_is_refused,
                                            a_server_can_go_while_its_channels_stay,
                                            NULL});
}
