#include "tests/support/push_stand.h"

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

int main(void) {
    return suite_run(
        "push_server",
        (const TTest *const[]){
            every_connection_without_a_group_gets_every_event, a_batch_is_built_once_and_written_once_a_connection,
            a_window_begins_with_its_first_event, windows_of_different_lengths_close_on_their_own,
            a_full_batch_closes_its_window_early, who_joins_gets_what_comes_after,
            a_group_shares_the_stream_and_who_is_alone_in_one_gets_all,
            the_same_slot_replaces_and_closes_the_old_connection, the_same_slot_in_another_group_is_another_slot,
            a_closed_channel_leaves_by_itself, who_leaves_keeps_its_channel_and_may_join_again,
            an_event_that_its_connection_rejects_is_dropped_not_given_to_another, ids_count_the_accepted_events,
            connections_of_different_codecs_get_the_same_events, a_join_that_makes_no_sense_is_refused, NULL});
}
