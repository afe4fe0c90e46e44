#include "tests/support/push_stand.h"

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
    return suite_run(
        "push_slow",
        (const TTest *const[]){what_is_due_to_a_stalled_connection_is_dropped_before_it_is_built,
                               a_stalled_connection_is_nobody_elses_matter,
                               a_stalled_connection_can_be_disconnected_instead, a_connection_has_a_cap_in_bytes,
                               the_server_has_a_cap_in_bytes, the_source_is_told_why_an_event_is_refused,
                               events_are_pending_until_the_kernel_took_them, events_of_a_write_that_fails_have_failed,
                               closing_writes_all_that_was_accepted_and_tells_when_all_are_gone,
                               a_connection_that_never_ends_is_ended_by_its_close_timeout, idle_connections_wake_nobody,
                               a_server_can_go_while_its_channels_stay, NULL});
}
