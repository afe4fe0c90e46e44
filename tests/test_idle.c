#include "core/embedded.h"
#include "core/verify.h"
#include "handlers/idle.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

static leat_embedded *idle_channel(leat_idle_config config) {
    leat_stage stages[] = {{&leat_idle, &config, NULL}, {0}};
    return leat_embedded_new(stages);
}

/* Takes the next event: which kind, or -1 = there is none. */
static int take_kind(leat_embedded *embedded) {
    leat_msg event;
    if (!leat_embedded_take_event(embedded, &event))
        return -1;
    const leat_idle_event *idle = leat_msg_as(event, &leat_type_idle);
    ck_assert_ptr_nonnull(idle);
    leat_msg_release(event);
    return (int)idle->kind;
}

static void take_all_read(leat_embedded *embedded) {
    while (leat_embedded_read_text(embedded)) {
    }
}

START_TEST(an_event_comes_at_exactly_the_period_and_then_every_period) {
    leat_embedded *embedded = idle_channel((leat_idle_config){.read_ms = 1000});
    leat_embedded_advance(embedded, 999);
    ck_assert_int_eq(take_kind(embedded), -1);
    leat_embedded_advance(embedded, 1);
    ck_assert_int_eq(take_kind(embedded), LEAT_IDLE_READ);
    leat_embedded_advance(embedded, 999);
    ck_assert_int_eq(take_kind(embedded), -1);
    leat_embedded_advance(embedded, 1);
    ck_assert_int_eq(take_kind(embedded), LEAT_IDLE_READ);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(any_byte_that_comes_in_puts_read_idle_off) {
    leat_embedded *embedded = idle_channel((leat_idle_config){.read_ms = 1000});
    leat_embedded_advance(embedded, 600);
    leat_embedded_feed_text(embedded, "x");
    leat_embedded_advance(embedded, 999);
    ck_assert_int_eq(take_kind(embedded), -1);
    leat_embedded_advance(embedded, 1);
    ck_assert_int_eq(take_kind(embedded), LEAT_IDLE_READ);
    take_all_read(embedded);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(bytes_that_the_transport_accepts_put_write_idle_off) {
    leat_embedded *embedded = idle_channel((leat_idle_config){.write_ms = 1000});
    leat_embedded_advance(embedded, 700);
    leat_embedded_write_text(embedded, "x");
    leat_embedded_advance(embedded, 999);
    ck_assert_int_eq(take_kind(embedded), -1);
    leat_embedded_advance(embedded, 1);
    ck_assert_int_eq(take_kind(embedded), LEAT_IDLE_WRITE);
    ck_assert_str_eq(leat_embedded_written_text(embedded), "x");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(bytes_that_only_wait_in_the_queue_do_not) {
    leat_embedded *embedded = idle_channel((leat_idle_config){.write_ms = 1000});
    leat_embedded_allow_writes(embedded, 0);
    leat_embedded_advance(embedded, 500);
    leat_embedded_write_text(embedded, "slow");
    leat_embedded_advance(embedded, 500);
    ck_assert_int_eq(take_kind(embedded), LEAT_IDLE_WRITE);
    leat_embedded_advance(embedded, 300);
    leat_embedded_allow_writes(embedded, 1);
    leat_embedded_advance(embedded, 999);
    ck_assert_int_eq(take_kind(embedded), -1);
    leat_embedded_advance(embedded, 1);
    ck_assert_int_eq(take_kind(embedded), LEAT_IDLE_WRITE);
    leat_embedded_allow_writes(embedded, UINT64_MAX);
    ck_assert_str_eq(leat_embedded_written_text(embedded), "slow");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(all_idle_counts_from_the_later_of_both) {
    leat_embedded *embedded = idle_channel((leat_idle_config){.all_ms = 1000});
    leat_embedded_advance(embedded, 400);
    leat_embedded_feed_text(embedded, "x");
    leat_embedded_advance(embedded, 400);
    leat_embedded_write_text(embedded, "y");
    leat_embedded_advance(embedded, 999);
    ck_assert_int_eq(take_kind(embedded), -1);
    leat_embedded_advance(embedded, 1);
    ck_assert_int_eq(take_kind(embedded), LEAT_IDLE_ALL);
    take_all_read(embedded);
    leat_embedded_written_text(embedded);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(kinds_have_periods_of_their_own) {
    leat_embedded *embedded = idle_channel((leat_idle_config){.read_ms = 300, .write_ms = 200});
    leat_embedded_advance(embedded, 600);
    const int expected[] = {LEAT_IDLE_WRITE, LEAT_IDLE_READ, LEAT_IDLE_WRITE, LEAT_IDLE_READ, LEAT_IDLE_WRITE, -1};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        ck_assert_int_eq(take_kind(embedded), expected[i]);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_busy_channel_is_never_idle_and_needs_one_timer_a_period) {
    leat_embedded *embedded = idle_channel((leat_idle_config){.read_ms = 100});
    for (int i = 0; i < 1000; i++) {
        leat_embedded_advance(embedded, 10);
        leat_embedded_feed_text(embedded, "x");
        take_all_read(embedded);
    }
    ck_assert_int_eq(take_kind(embedded), -1);
    ck_assert_uint_le(leat_loop_statistics(leat_embedded_loop(embedded)).timers, 112);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(close_reports_a_silent_peer_as_timed_out_and_closes) {
    leat_embedded *embedded = idle_channel((leat_idle_config){.read_ms = 100, .write_ms = 50, .close = true});
    leat_embedded_advance(embedded, 99);
    ck_assert_int_eq(take_kind(embedded), LEAT_IDLE_WRITE);
    ck_assert(leat_channel_is_open(leat_embedded_channel(embedded)));
    leat_embedded_advance(embedded, 1);
    ck_assert_int_eq(leat_embedded_take_error(embedded), LEAT_ETIMEDOUT);
    ck_assert(!leat_channel_is_open(leat_embedded_channel(embedded)));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(nothing_is_idle_before_the_channel_is_active_or_without_periods) {
    leat_embedded_options options = {.not_connected = true};
    leat_stage stages[] = {
        {&leat_idle, &(const leat_idle_config){.read_ms = 100}, NULL}, {&leat_idle, NULL, "none"}, {0}};
    leat_embedded *embedded = leat_embedded_new_with(stages, &options, NULL);
    leat_embedded_advance(embedded, 1000);
    ck_assert_int_eq(take_kind(embedded), -1);
    leat_embedded_connect(embedded);
    leat_embedded_advance(embedded, 100);
    ck_assert_int_eq(take_kind(embedded), LEAT_IDLE_READ);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_removed_handler_is_silent) {
    leat_embedded *embedded = idle_channel((leat_idle_config){.read_ms = 100});
    leat_ctx_remove(leat_channel_find(leat_embedded_channel(embedded), "idle"));
    leat_embedded_advance(embedded, 1000);
    ck_assert_int_eq(take_kind(embedded), -1);
    assert_nothing_left(embedded);
}
END_TEST

/* A megabyte to a peer that takes 10 KB a tenth of a second: every byte counts, however long the message takes. */
START_TEST(a_large_message_to_a_slow_peer_is_activity_as_long_as_bytes_move) {
    leat_embedded *embedded = idle_channel((leat_idle_config){.write_ms = 1000});
    leat_bytebuf *large = leat_bytebuf_new(leat_embedded_alloc(embedded), 1 << 20);
    ck_assert(leat_bytebuf_write_zero(large, 1 << 20));
    leat_embedded_allow_writes(embedded, 0);
    leat_embedded_write(embedded, leat_msg_of_bytebuf(large), NULL);
    for (int i = 0; i < 50; i++) {
        leat_embedded_advance(embedded, 100);
        leat_embedded_allow_writes(embedded, 10000);
    }
    ck_assert_int_eq(take_kind(embedded), -1);
    leat_embedded_advance(embedded, 2000);
    ck_assert_int_eq(take_kind(embedded), LEAT_IDLE_WRITE);
    ck_assert_int_eq(take_kind(embedded), LEAT_IDLE_WRITE);
    ck_assert_int_eq(take_kind(embedded), -1);
    leat_embedded_allow_writes(embedded, UINT64_MAX);
    leat_bytebuf_release(leat_embedded_take_written(embedded));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(no_failed_allocation_leaks) {
    const leat_stage stages[] = {{&leat_idle, &(const leat_idle_config){.read_ms = 10, .all_ms = 10}, NULL}, {0}};
    leat_problem problem;
    ck_assert_msg(leat_verify_oom_fed(stages, "abc", 3, &problem) == 0, "%s", problem.text);
}
END_TEST

START_TEST(a_nonsensical_period_is_refused) {
    leat_idle_config config = {.all_ms = UINT64_MAX};
    leat_problem problem;
    ck_assert_ptr_null(leat_embedded_new_with((leat_stage[]){{&leat_idle, &config, NULL}, {0}}, NULL, &problem));
    ck_assert_int_eq(problem.code, LEAT_EINVAL);
}
END_TEST

int main(void) {
    return suite_run("idle",
                     (const TTest *const[]){
                         an_event_comes_at_exactly_the_period_and_then_every_period,
                         any_byte_that_comes_in_puts_read_idle_off, bytes_that_the_transport_accepts_put_write_idle_off,
                         bytes_that_only_wait_in_the_queue_do_not, all_idle_counts_from_the_later_of_both,
                         kinds_have_periods_of_their_own, a_busy_channel_is_never_idle_and_needs_one_timer_a_period,
                         close_reports_a_silent_peer_as_timed_out_and_closes,
                         nothing_is_idle_before_the_channel_is_active_or_without_periods, a_removed_handler_is_silent,
                         a_large_message_to_a_slow_peer_is_activity_as_long_as_bytes_move, no_failed_allocation_leaks,
                         a_nonsensical_period_is_refused, NULL});
}
