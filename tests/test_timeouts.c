#include "core/verify.h"
#include "handlers/timeouts.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

static leat_embedded *with_timeouts(leat_timeouts_config config) {
    leat_stage stages[] = {{&leat_timeouts, &config, NULL}, {.handler = &tolerant}, {0}};
    return leat_embedded_new(stages);
}

static leat_timeout_kind take_kind(leat_embedded *embedded) {
    int code = take_tolerated(embedded);
    if (code == 0)
        return LEAT_TIMEOUT_NONE;
    ck_assert_int_eq(code, LEAT_ETIMEDOUT);
    return leat_timeouts_last(leat_channel_find(leat_embedded_channel(embedded), "timeouts"));
}

static void assert_comes_after(leat_embedded *embedded, uint64_t ms, leat_timeout_kind kind) {
    leat_embedded_advance(embedded, ms - 1);
    ck_assert_int_eq(take_kind(embedded), LEAT_TIMEOUT_NONE);
    leat_embedded_advance(embedded, 1);
    ck_assert_int_eq(take_kind(embedded), kind);
}

START_TEST(a_silent_peer_times_out_at_exactly_the_time_and_each_time_after_it) {
    leat_embedded *embedded = with_timeouts((leat_timeouts_config){.read_ms = 1000});
    assert_comes_after(embedded, 1000, LEAT_TIMEOUT_READ);
    assert_comes_after(embedded, 1000, LEAT_TIMEOUT_READ);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(every_byte_that_comes_in_counts) {
    leat_embedded *embedded = with_timeouts((leat_timeouts_config){.read_ms = 1000});
    for (int i = 0; i < 10; i++) {
        leat_embedded_advance(embedded, 999);
        leat_embedded_feed_text(embedded, "x");
        ck_assert_str_eq(leat_embedded_read_text(embedded), "x");
    }
    assert_comes_after(embedded, 1000, LEAT_TIMEOUT_READ);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_peer_that_sends_nothing_after_our_half_close_times_out) {
    leat_embedded *embedded = with_timeouts((leat_timeouts_config){.read_ms = 1000});
    leat_channel_half_close(leat_embedded_channel(embedded));
    leat_embedded_run(embedded);
    assert_comes_after(embedded, 1000, LEAT_TIMEOUT_READ);
    leat_embedded_feed_text(embedded, "x");
    ck_assert_str_eq(leat_embedded_read_text(embedded), "x");
    assert_comes_after(embedded, 1000, LEAT_TIMEOUT_READ);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(bytes_that_nobody_takes_time_out) {
    leat_embedded *embedded = with_timeouts((leat_timeouts_config){.read_ms = LEAT_TIMEOUT_NEVER, .write_ms = 500});
    leat_embedded_allow_writes(embedded, 0);
    leat_embedded_advance(embedded, 10000);
    leat_embedded_write_text(embedded, "stuck");
    assert_comes_after(embedded, 500, LEAT_TIMEOUT_WRITE);
    assert_comes_after(embedded, 500, LEAT_TIMEOUT_WRITE);
    leat_embedded_allow_writes(embedded, UINT64_MAX);
    ck_assert_str_eq(leat_embedded_written_text(embedded), "stuck");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_slow_peer_that_takes_a_byte_now_and_then_does_not) {
    leat_embedded *embedded = with_timeouts((leat_timeouts_config){.read_ms = LEAT_TIMEOUT_NEVER, .write_ms = 500});
    leat_embedded_allow_writes(embedded, 0);
    leat_embedded_write_text(embedded, "0123456789");
    for (int i = 0; i < 9; i++) {
        leat_embedded_advance(embedded, 499);
        leat_embedded_allow_writes(embedded, 1);
    }
    ck_assert_int_eq(take_kind(embedded), LEAT_TIMEOUT_NONE);
    assert_comes_after(embedded, 500, LEAT_TIMEOUT_WRITE);
    leat_embedded_allow_writes(embedded, UINT64_MAX);
    ck_assert_str_eq(leat_embedded_written_text(embedded), "0123456789");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_write_after_a_quiet_time_has_all_of_its_own) {
    leat_embedded *embedded = with_timeouts((leat_timeouts_config){.read_ms = LEAT_TIMEOUT_NEVER, .write_ms = 500});
    leat_embedded_write_text(embedded, "a");
    leat_embedded_advance(embedded, 499);
    leat_embedded_allow_writes(embedded, 0);
    leat_embedded_write_text(embedded, "b");
    assert_comes_after(embedded, 500, LEAT_TIMEOUT_WRITE);
    leat_embedded_allow_writes(embedded, UINT64_MAX);
    ck_assert_str_eq(leat_embedded_written_text(embedded), "ab");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(an_idle_channel_that_owes_nothing_has_no_write_timer) {
    leat_embedded *embedded = with_timeouts((leat_timeouts_config){.read_ms = LEAT_TIMEOUT_NEVER, .write_ms = 500});
    leat_embedded_write_text(embedded, "a");
    leat_embedded_advance(embedded, 100000);
    ck_assert_uint_le(leat_loop_statistics(leat_embedded_loop(embedded)).timers, 1);
    ck_assert_str_eq(leat_embedded_written_text(embedded), "a");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(unhandled_it_closes_the_channel_with_the_code) {
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{.handler = &leat_timeouts}, {0}});
    leat_embedded_advance(embedded, 59999);
    ck_assert(leat_channel_is_open(leat_embedded_channel(embedded)));
    leat_embedded_advance(embedded, 1);
    ck_assert_int_eq(leat_embedded_take_error(embedded), LEAT_ETIMEDOUT);
    ck_assert_int_eq(leat_channel_error(leat_embedded_channel(embedded)), LEAT_ETIMEDOUT);
    ck_assert(!leat_channel_is_open(leat_embedded_channel(embedded)));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_removed_handler_is_silent) {
    leat_embedded *embedded = with_timeouts((leat_timeouts_config){.read_ms = 100});
    leat_ctx_remove(leat_channel_find(leat_embedded_channel(embedded), "timeouts"));
    leat_embedded_advance(embedded, 1000);
    ck_assert_int_eq(take_tolerated(embedded), 0);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(nothing_times_out_before_the_channel_is_active) {
    leat_embedded_options options = {.not_connected = true};
    leat_stage stages[] = {{&leat_timeouts, &(const leat_timeouts_config){.read_ms = 100}, NULL}, {&tolerant}, {0}};
    leat_embedded *embedded = leat_embedded_new_with(stages, &options, NULL);
    leat_embedded_advance(embedded, 1000);
    leat_embedded_connect(embedded);
    assert_comes_after(embedded, 100, LEAT_TIMEOUT_READ);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(no_failed_allocation_leaks) {
    const leat_stage stages[] = {{.handler = &leat_timeouts}, {0}};
    leat_problem problem;
    ck_assert_msg(leat_verify_oom_fed(stages, "abc", 3, &problem) == 0, "%s", problem.text);
}
END_TEST

START_TEST(nonsensical_times_are_refused) {
    const leat_timeouts_config configs[] = {{.read_ms = UINT64_MAX - 1}, {.write_ms = ((uint64_t)1 << 40) + 1}};
    for (size_t i = 0; i < 2; i++) {
        leat_problem problem;
        leat_stage stages[] = {{&leat_timeouts, &configs[i], NULL}, {0}};
        ck_assert_ptr_null(leat_embedded_new_with(stages, NULL, &problem));
        ck_assert_int_eq(problem.code, LEAT_EINVAL);
    }
}
END_TEST

int main(void) {
    return suite_run(
        "timeouts",
        (const TTest *const[]){
            a_silent_peer_times_out_at_exactly_the_time_and_each_time_after_it, every_byte_that_comes_in_counts,
            a_peer_that_sends_nothing_after_our_half_close_times_out, bytes_that_nobody_takes_time_out,
            a_slow_peer_that_takes_a_byte_now_and_then_does_not, a_write_after_a_quiet_time_has_all_of_its_own,
            an_idle_channel_that_owes_nothing_has_no_write_timer, unhandled_it_closes_the_channel_with_the_code,
            a_removed_handler_is_silent, nothing_times_out_before_the_channel_is_active, no_failed_allocation_leaks,
            nonsensical_times_are_refused, NULL});
}
