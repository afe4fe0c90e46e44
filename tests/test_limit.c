#include "core/recorder.h"
#include "core/verify.h"
#include "handlers/limit.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

#include <string.h>

static leat_embedded *limited(leat_limit_config config) {
    leat_stage stages[] = {{&leat_limit, &config, NULL}, {0}};
    return leat_embedded_new(stages);
}

static leat_bytebuf *zeroes(leat_embedded *embedded, size_t length) {
    leat_bytebuf *buf = leat_bytebuf_new(leat_embedded_alloc(embedded), length);
    ck_assert(leat_bytebuf_write_zero(buf, length));
    return buf;
}

static void write_zeroes(leat_embedded *embedded, size_t length) {
    leat_embedded_write(embedded, leat_msg_of_bytebuf(zeroes(embedded, length)), NULL);
}

static uint64_t take_written(leat_embedded *embedded) {
    leat_bytebuf *written = leat_embedded_take_written(embedded);
    uint64_t length = leat_bytebuf_readable(written);
    leat_bytebuf_release(written);
    return length;
}

static uint64_t take_read(leat_embedded *embedded) {
    uint64_t length = 0;
    for (leat_msg msg; leat_embedded_take_read(embedded, &msg); leat_msg_release(msg))
        length += leat_msg_size(msg);
    return length;
}

START_TEST(without_a_rate_everything_passes_at_once) {
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{.handler = &leat_limit}, {0}});
    write_zeroes(embedded, 1 << 20);
    ck_assert_uint_eq(take_written(embedded), 1 << 20);
    leat_embedded_feed_bytebuf(embedded, zeroes(embedded, 1 << 20));
    ck_assert_uint_eq(take_read(embedded), 1 << 20);
    assert_nothing_left(embedded);
}
END_TEST

/* ---- outbound ---- */

START_TEST(a_burst_leaves_at_once_and_the_rest_at_the_rate) {
    leat_embedded *embedded = limited((leat_limit_config){.write_rate = 1000, .write_burst = 500});
    for (int i = 0; i < 15; i++)
        write_zeroes(embedded, 100);
    ck_assert_uint_eq(take_written(embedded), 500);
    for (int i = 0; i < 10; i++) {
        leat_embedded_advance(embedded, 100);
        ck_assert_uint_le(take_written(embedded), 200);
    }
    leat_embedded_advance(embedded, 10);
    take_written(embedded);
    ck_assert_uint_eq(leat_channel_bytes_written(leat_embedded_channel(embedded)), 1500);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(over_a_long_time_the_rate_is_kept) {
    leat_embedded *embedded = limited((leat_limit_config){.write_rate = 10000, .write_burst = 1000});
    for (int i = 0; i < 1000; i++)
        write_zeroes(embedded, 100);
    leat_embedded_advance(embedded, 5000);
    uint64_t written = take_written(embedded);
    ck_assert_uint_ge(written, 50000);
    ck_assert_uint_le(written, 50000 + 1000 + 100);
    leat_embedded_advance(embedded, 10000);
    take_written(embedded);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_message_larger_than_the_burst_passes_and_is_paid_for_afterwards) {
    leat_embedded *embedded = limited((leat_limit_config){.write_rate = 1000, .write_burst = 10});
    write_zeroes(embedded, 1000);
    ck_assert_uint_eq(take_written(embedded), 1000);
    write_zeroes(embedded, 1);
    leat_embedded_advance(embedded, 980);
    ck_assert_uint_eq(take_written(embedded), 0);
    leat_embedded_advance(embedded, 20);
    ck_assert_uint_eq(take_written(embedded), 1);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(what_waits_counts_for_writable_and_leaves_in_order) {
    leat_embedded_options options = {.channel.write_high = 16, .channel.write_low = 8};
    leat_limit_config config = {.write_rate = 10, .write_burst = 1};
    leat_stage stages[] = {{&leat_limit, &config, NULL}, {0}};
    leat_embedded *embedded = leat_embedded_new_with(stages, &options, NULL);
    const char *const texts[] = {"one ", "two ", "three ", "four ", "five"};
    for (size_t i = 0; i < 5; i++)
        leat_embedded_write_text(embedded, texts[i]);
    ck_assert(!leat_channel_is_writable(leat_embedded_channel(embedded)));
    ck_assert_uint_eq(leat_channel_pending(leat_embedded_channel(embedded)), 19);
    leat_embedded_advance(embedded, 10000);
    ck_assert(leat_channel_is_writable(leat_embedded_channel(embedded)));
    ck_assert_str_eq(leat_embedded_written_text(embedded), "one two three four five");
    ck_assert_uint_eq(leat_embedded_count_writable(embedded), 2);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(what_is_written_behind_a_close_that_waits_is_refused) {
    leat_embedded *embedded = limited((leat_limit_config){.write_rate = 1000, .write_burst = 100});
    leat_recorder *recorder = leat_recorder_new(leat_unpooled());
    write_zeroes(embedded, 200);
    write_zeroes(embedded, 10);
    leat_embedded_close(embedded);
    leat_embedded_write(embedded, leat_msg_of_bytebuf(zeroes(embedded, 7)), leat_recorder_done(recorder, "late"));
    ck_assert_str_eq(leat_recorder_take(recorder), "late done LEAT_ECLOSED\n");
    leat_embedded_advance(embedded, 1000);
    ck_assert_uint_eq(take_written(embedded), 210);
    assert_nothing_left(embedded);
    leat_recorder_free(recorder);
}
END_TEST

START_TEST(close_waits_for_what_is_held) {
    leat_embedded *embedded = limited((leat_limit_config){.write_rate = 1000, .write_burst = 1});
    leat_embedded_write_text(embedded, "first ");
    leat_embedded_write_text(embedded, "last");
    leat_embedded_close(embedded);
    ck_assert(!leat_embedded_is_shut_down(embedded));
    leat_embedded_advance(embedded, 1000);
    ck_assert_str_eq(leat_embedded_written_text(embedded), "first last");
    ck_assert(leat_embedded_is_shut_down(embedded));
    assert_nothing_left(embedded);
}
END_TEST

struct outcome {
    leat_done done;
    int status;
};

static void note_status(leat_done *done, int status) {
    ((struct outcome *)(void *)done)->status = status;
}

static void write_noted(leat_embedded *embedded, struct outcome *outcome, size_t length) {
    *outcome = (struct outcome){.done.fn = note_status, .status = 1};
    leat_embedded_write(embedded, leat_msg_of_bytebuf(zeroes(embedded, length)), &outcome->done);
}

START_TEST(an_end_completes_what_is_held_with_its_reason) {
    leat_embedded *embedded = limited((leat_limit_config){.write_rate = 10, .write_burst = 1});
    struct outcome outcomes[3];
    for (size_t i = 0; i < 3; i++)
        write_noted(embedded, &outcomes[i], 100);
    ck_assert_int_eq(outcomes[0].status, 0);
    ck_assert_int_eq(outcomes[1].status, 1);
    leat_channel_abort(leat_embedded_channel(embedded), LEAT_ERESET);
    leat_embedded_run(embedded);
    ck_assert_int_eq(outcomes[1].status, LEAT_ERESET);
    ck_assert_int_eq(outcomes[2].status, LEAT_ERESET);
    take_written(embedded);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(removed_it_passes_on_at_once_what_it_holds) {
    leat_embedded *embedded = limited((leat_limit_config){.write_rate = 10, .write_burst = 1});
    leat_embedded_write_text(embedded, "one ");
    leat_embedded_write_text(embedded, "two ");
    leat_ctx_remove(leat_channel_find(leat_embedded_channel(embedded), "limit"));
    leat_embedded_write_text(embedded, "three");
    ck_assert_str_eq(leat_embedded_written_text(embedded), "one two three");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(more_than_may_be_held_ends_the_channel) {
    leat_embedded *embedded = limited((leat_limit_config){.write_rate = 10, .write_burst = 1, .max_held = 1000});
    struct outcome outcomes[3];
    for (size_t i = 0; i < 3; i++)
        write_noted(embedded, &outcomes[i], 600);
    ck_assert_int_eq(outcomes[0].status, 0);
    ck_assert_int_eq(outcomes[1].status, LEAT_ELIMIT);
    ck_assert_int_eq(outcomes[2].status, LEAT_ELIMIT);
    ck_assert(leat_embedded_is_closed(embedded));
    take_written(embedded);
    assert_nothing_left(embedded);
}
END_TEST

/* ---- inbound ---- */

START_TEST(reading_pauses_until_what_came_is_paid_for) {
    leat_embedded *embedded = limited((leat_limit_config){.read_rate = 1000, .read_burst = 100});
    for (int i = 0; i < 5; i++)
        leat_embedded_feed_bytebuf(embedded, zeroes(embedded, 500));
    ck_assert_uint_eq(take_read(embedded), 500);
    leat_embedded_advance(embedded, 399);
    ck_assert_uint_eq(take_read(embedded), 0);
    leat_embedded_advance(embedded, 2);
    ck_assert_uint_eq(take_read(embedded), 500);
    leat_embedded_advance(embedded, 2000);
    ck_assert_uint_eq(take_read(embedded), 1500);
    ck_assert_uint_eq(leat_channel_held(leat_embedded_channel(embedded)), 0);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(removed_it_lets_reading_go_on) {
    leat_embedded *embedded = limited((leat_limit_config){.read_rate = 10, .read_burst = 1});
    leat_embedded_feed_text(embedded, "one");
    leat_embedded_feed_text(embedded, "two");
    ck_assert_uint_eq(take_read(embedded), 3);
    leat_ctx_remove(leat_channel_find(leat_embedded_channel(embedded), "limit"));
    leat_embedded_run(embedded);
    ck_assert_uint_eq(take_read(embedded), 3);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(two_handlers_that_pause_reading_wait_for_each_other) {
    leat_limit_config fast = {.read_rate = 1000, .read_burst = 1}, slow = {.read_rate = 100, .read_burst = 1};
    leat_stage stages[] = {{&leat_limit, &fast, "fast"}, {&leat_limit, &slow, "slow"}, {0}};
    leat_embedded *embedded = leat_embedded_new(stages);
    leat_embedded_feed_bytebuf(embedded, zeroes(embedded, 100));
    leat_embedded_feed_bytebuf(embedded, zeroes(embedded, 100));
    leat_embedded_advance(embedded, 500);
    ck_assert_uint_eq(take_read(embedded), 100);
    leat_embedded_advance(embedded, 501);
    ck_assert_uint_eq(take_read(embedded), 100);
    assert_nothing_left(embedded);
}
END_TEST

/* ---- together ---- */

START_TEST(channels_share_a_bucket) {
    leat_limit_bucket *bucket = leat_limit_bucket_new(leat_unpooled(), 1000, 100);
    leat_limit_config config = {.write_shared = bucket};
    leat_stage stages[] = {{&leat_limit, &config, NULL}, {0}};
    leat_embedded *one = leat_embedded_new(stages);
    leat_embedded_options options = {.loop = leat_embedded_loop(one)};
    leat_embedded *other = leat_embedded_new_with(stages, &options, NULL);
    for (int i = 0; i < 20; i++) {
        write_zeroes(one, 50);
        write_zeroes(other, 50);
    }
    leat_embedded_advance(one, 1000);
    uint64_t first = take_written(one), second = take_written(other);
    ck_assert_uint_ge(first + second, 1000);
    ck_assert_uint_le(first + second, 1000 + 100 + 50);
    ck_assert_uint_gt(first, 300);
    ck_assert_uint_gt(second, 300);
    leat_embedded_advance(one, 2000);
    take_written(one);
    take_written(other);
    assert_nothing_left(other);
    assert_nothing_left(one);
    leat_limit_bucket_release(bucket);
}
END_TEST

static int write_too_fast(leat_alloc *alloc, void *context) {
    (void)context;
    leat_limit_config config = {.write_rate = 100, .write_burst = 1, .read_rate = 100, .read_burst = 1};
    leat_stage stages[] = {{&leat_limit, &config, NULL}, {0}};
    leat_embedded *embedded =
        leat_embedded_new_with(stages, &(leat_embedded_options){.alloc = alloc, .without_ledger = true}, NULL);
    for (int i = 0; embedded && i < 20; i++) {
        leat_bytebuf *buf = leat_bytebuf_from_text(alloc, "text");
        if (buf)
            leat_embedded_write(embedded, leat_msg_of_bytebuf(buf), NULL);
    }
    if (embedded) {
        leat_embedded_feed_text(embedded, "text");
        leat_embedded_advance(embedded, 100);
    }
    leat_embedded_free(embedded);
    return 0;
}

START_TEST(no_failed_allocation_leaks) {
    leat_problem problem;
    ck_assert_msg(leat_verify_oom(write_too_fast, NULL, &problem) == 0, "%s", problem.text);
}
END_TEST

START_TEST(nonsensical_rates_are_refused) {
    const leat_limit_config configs[] = {{.read_rate = UINT64_MAX}, {.write_rate = 1, .write_burst = UINT64_MAX}};
    for (size_t i = 0; i < 2; i++) {
        leat_problem problem;
        leat_stage stages[] = {{&leat_limit, &configs[i], NULL}, {0}};
        ck_assert_ptr_null(leat_embedded_new_with(stages, NULL, &problem));
        ck_assert_int_eq(problem.code, LEAT_EINVAL);
    }
    ck_assert_ptr_null(leat_limit_bucket_new(leat_unpooled(), 0, 1));
}
END_TEST

int main(void) {
    return suite_run("limit",
                     (const TTest *const[]){
                         without_a_rate_everything_passes_at_once, a_burst_leaves_at_once_and_the_rest_at_the_rate,
                         over_a_long_time_the_rate_is_kept,
                         a_message_larger_than_the_burst_passes_and_is_paid_for_afterwards,
                         what_waits_counts_for_writable_and_leaves_in_order, close_waits_for_what_is_held,
                         what_is_written_behind_a_close_that_waits_is_refused,
                         an_end_completes_what_is_held_with_its_reason, removed_it_passes_on_at_once_what_it_holds,
                         more_than_may_be_held_ends_the_channel, reading_pauses_until_what_came_is_paid_for,
                         removed_it_lets_reading_go_on, two_handlers_that_pause_reading_wait_for_each_other,
                         channels_share_a_bucket, no_failed_allocation_leaks, nonsensical_rates_are_refused, NULL});
}
