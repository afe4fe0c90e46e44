/* Turns: what is written inside a call leaves at the end of that turn, and what is told then is the state that lasts.
 */
#include "core/transport.h"
#include "tests/support/record.h"

static const leat_type ping = {.name = "Ping"};

/* Brings the calls about that do not end the channel. */
static void play(const recorded *r) {
    static int object;
    leat_embedded_connect(r->e);
    leat_embedded_feed_text(r->e, "x");
    leat_loop_enter(leat_embedded_loop(r->e));
    leat_ctx_wake(named(r->channel, "b"));
    leat_channel_fire_event(r->channel, leat_msg_of(&ping, &object));
    leat_loop_leave(leat_embedded_loop(r->e));
    leat_embedded_write_text(r->e, "ab");
}

static recorded record_unconnected(void) {
    leat_embedded_options options = {.not_connected = true, .channel = {.write_low = 1, .write_high = 1}};
    recorded r = record_abc(&options);
    leat_recorder_leave_out(r.recorder, "");
    return r;
}

/* A write from inside a call, and how it ended. */
static char mark[] = "!";

static void write_mark(leat_ctx *ctx, void *recorder) {
    leat_ctx_write_copy(ctx, mark, 1, leat_recorder_done(recorder, "mark"));
}

START_TEST(a_write_from_any_call_leaves_once_in_the_turn_of_that_call) {
    const char *calls[] = {"b active", "b read",  "b read_done", "b event",
                           "b wake",   "b write", "b flush",     "b writable"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        recorded r = record_unconnected();
        when(&r, calls[i], write_mark, r.recorder);
        leat_embedded_limit_writes(r.e, SIZE_MAX, strcmp(calls[i], "b writable") == 0 ? 0 : UINT64_MAX);
        play(&r);
        leat_embedded_allow_writes(r.e, UINT64_MAX);
        const char *lines = leat_recorder_take(r.recorder), *text = leat_embedded_written_text(r.e);
        const char *came = strstr(lines, "mark done LEAT_OK\n");
        ck_assert_msg(came && !strstr(came + 1, "mark done"), "%s: %s", calls[i], lines);
        ck_assert_msg(strlen(text) == 3 && strchr(text, '!'), "%s: %s", calls[i], text);
        end_recorded_anyhow(&r);
    }
}
END_TEST

START_TEST(a_write_while_the_channel_ends_completes_with_closed) {
    const char *calls[] = {"b inactive", "b removed"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        recorded r = record_abc(NULL);
        when(&r, calls[i], write_mark, r.recorder);
        leat_embedded_feed_eof(r.e);
        const char *lines = leat_recorder_take(r.recorder);
        ck_assert_msg(strstr(lines, "mark done LEAT_ECLOSED\n"), "%s: %s", calls[i], lines);
        end_recorded(&r);
    }
}
END_TEST

START_TEST(a_write_inside_close_is_a_footer_that_still_leaves) {
    recorded r = record_abc(NULL);
    leat_recorder_leave_out(r.recorder, "flush");
    when(&r, "b close", write_mark, r.recorder);
    leat_embedded_close(r.e);
    assert_recorded(&r, "c close\nb close\na write '!'\na close\nmark done LEAT_OK\n");
    ck_assert_str_eq(leat_embedded_written_text(r.e), "!");
    end_recorded(&r);
}
END_TEST

/* What one channel's call does to another. */
static void write_to(leat_ctx *ctx, void *other) {
    (void)ctx;
    leat_embedded *e = other;
    leat_channel_write(leat_embedded_channel(e), text_msg(e, "across"), NULL);
}

START_TEST(a_write_to_another_channel_runs_in_that_channel_s_turn_behind_this_one) {
    recorded a = record_abc(NULL);
    recorded b = record_abc(&(leat_embedded_options){.loop = leat_embedded_loop(a.e)});
    const leat_stage stage = leat_recorder_stage(a.recorder, "other");
    ck_assert_int_eq(leat_channel_add_last(b.channel, &stage, NULL), LEAT_OK);
    leat_recorder_leave_out(a.recorder, "added");
    leat_recorder_take(a.recorder);
    when(&a, "a read", write_to, b.e);
    leat_embedded_feed_text(a.e, "x");
    assert_recorded(&a, "a read 'x'\nother write 'across'\nb read 'x'\nc read 'x'\na read_done\nb read_done\n"
                        "c read_done\nother flush\n");
    ck_assert_str_eq(leat_embedded_written_text(b.e), "across");
    end_recorded_anyhow(&b);
    end_recorded_anyhow(&a);
}
END_TEST

START_TEST(a_turn_that_crosses_both_watermarks_says_at_its_end_that_it_is_writable) {
    recorded r = record_abc(&(leat_embedded_options){.channel = {.write_low = 2, .write_high = 4}});
    leat_embedded_write_text(r.e, "0123456789");
    assert_recorded(&r, "c write '0123456789'\nb write '0123456789'\na write '0123456789'\n"
                        "a writable yes\nb writable yes\nc writable yes\n");
    ck_assert_uint_eq(leat_embedded_count_writable(r.e), 1);
    leat_embedded_written_text(r.e);
    end_recorded(&r);
}
END_TEST

START_TEST(writable_comes_once_a_turn_with_the_state_that_lasts) {
    recorded r = record_abc(&(leat_embedded_options){.channel = {.write_low = 2, .write_high = 4}});
    leat_recorder_leave_out(r.recorder, "write flush");
    leat_embedded_limit_writes(r.e, SIZE_MAX, 0);
    leat_loop_enter(leat_embedded_loop(r.e));
    for (int i = 0; i < 5; i++)
        leat_channel_write(r.channel, text_msg(r.e, "0123456789"), NULL);
    leat_loop_leave(leat_embedded_loop(r.e));
    assert_recorded(&r, "a writable no\nb writable no\nc writable no\n");
    leat_embedded_allow_writes(r.e, UINT64_MAX);
    assert_recorded(&r, "a writable yes\nb writable yes\nc writable yes\n");
    leat_embedded_written_text(r.e);
    end_recorded(&r);
}
END_TEST

START_TEST(what_writable_writes_leaves_without_another_call) {
    recorded r = record_abc(&(leat_embedded_options){.channel = {.write_low = 2, .write_high = 4}});
    leat_recorder_leave_out(r.recorder, "write flush");
    leat_embedded_limit_writes(r.e, SIZE_MAX, 0);
    leat_embedded_write_text(r.e, "first ");
    leat_recorder_take(r.recorder);
    when(&r, "b writable yes", write_to, r.e);
    leat_embedded_limit_writes(r.e, 1, 0);
    leat_embedded_allow_writes(r.e, UINT64_MAX);
    ck_assert_str_eq(leat_embedded_written_text(r.e), "first across");
    ck_assert(leat_channel_is_writable(r.channel));
    ck_assert_uint_eq(leat_channel_pending(r.channel), 0);
    const char *lines = leat_recorder_take(r.recorder), *last = strrchr(lines, 'c');
    ck_assert_str_eq(last, "c writable yes\n");
    ck_assert_uint_eq(leat_embedded_count_read_done(r.e), 0);
    end_recorded(&r);
}
END_TEST

START_TEST(with_equal_watermarks_each_crossing_is_told_once) {
    recorded r = record_abc(&(leat_embedded_options){.channel = {.write_low = 4, .write_high = 4}});
    leat_recorder_leave_out(r.recorder, "write flush");
    leat_embedded_limit_writes(r.e, SIZE_MAX, 0);
    leat_embedded_write_text(r.e, "1234");
    ck_assert_uint_eq(leat_channel_bytes_before_unwritable(r.channel), 1);
    assert_recorded(&r, "");
    leat_embedded_write_text(r.e, "5");
    assert_recorded(&r, "a writable no\nb writable no\nc writable no\n");
    leat_embedded_allow_writes(r.e, 1);
    assert_recorded(&r, "");
    leat_embedded_allow_writes(r.e, 1);
    assert_recorded(&r, "a writable yes\nb writable yes\nc writable yes\n");
    leat_embedded_allow_writes(r.e, UINT64_MAX);
    leat_embedded_written_text(r.e);
    end_recorded(&r);
}
END_TEST

START_TEST(a_low_watermark_above_its_high_one_is_refused) {
    leat_problem problem = {0};
    const leat_stage bare[] = {{0}};
    leat_embedded_options options = {.channel = {.write_low = 5, .write_high = 4}};
    ck_assert_ptr_null(leat_embedded_new_with(bare, &options, &problem));
    ck_assert_int_eq(problem.code, LEAT_EINVAL);
    options.channel = (leat_channel_options){.read_low = 5, .read_high = 4};
    ck_assert_ptr_null(leat_embedded_new_with(bare, &options, &problem));
    ck_assert_int_eq(problem.code, LEAT_EINVAL);
}
END_TEST

START_TEST(channels_made_with_other_options_keep_their_own) {
    const leat_stage bare[] = {{0}};
    leat_embedded *one = leat_embedded_new_with(bare, &(leat_embedded_options){.channel.write_high = 10}, NULL);
    leat_embedded_options options = {.loop = leat_embedded_loop(one), .channel.write_high = 20};
    leat_embedded *two = leat_embedded_new_with(bare, &options, NULL);
    options.channel.write_high = 10;
    leat_embedded *three = leat_embedded_new_with(bare, &options, NULL);
    ck_assert_uint_eq(leat_channel_bytes_before_unwritable(leat_embedded_channel(one)), 11);
    ck_assert_uint_eq(leat_channel_bytes_before_unwritable(leat_embedded_channel(two)), 21);
    ck_assert_uint_eq(leat_channel_bytes_before_unwritable(leat_embedded_channel(three)), 11);
    finish(two);
    finish(one);
    finish(three);
}
END_TEST

int main(void) {
    return suite_run(
        "writes",
        (const TTest *const[]){
            a_write_from_any_call_leaves_once_in_the_turn_of_that_call,
            a_write_while_the_channel_ends_completes_with_closed, a_write_inside_close_is_a_footer_that_still_leaves,
            a_write_to_another_channel_runs_in_that_channel_s_turn_behind_this_one,
            a_turn_that_crosses_both_watermarks_says_at_its_end_that_it_is_writable,
            writable_comes_once_a_turn_with_the_state_that_lasts, what_writable_writes_leaves_without_another_call,
            with_equal_watermarks_each_crossing_is_told_once, a_low_watermark_above_its_high_one_is_refused,
            channels_made_with_other_options_keep_their_own, NULL});
}
