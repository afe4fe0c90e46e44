/* The recorder of the test kit: what its lines say. */
#include "core/transport.h"
#include "core/verify.h"
#include "tests/support/record.h"

START_TEST(a_recorder_writes_a_line_for_each_call_and_passes_it_on) {
    recorded r = record_abc(NULL);
    leat_embedded_feed_text(r.e, "hello");
    assert_recorded(&r, "a read 'hello'\nb read 'hello'\nc read 'hello'\n");
    leat_embedded_write_text(r.e, "bye");
    assert_recorded(&r, "c write 'bye'\nb write 'bye'\na write 'bye'\n");
    ck_assert_str_eq(leat_embedded_read_text(r.e), "hello");
    ck_assert_str_eq(leat_embedded_written_text(r.e), "bye");
    end_recorded(&r);
}
END_TEST

START_TEST(a_recorder_tells_the_whole_life_of_a_channel) {
    leat_recorder *recorder = leat_recorder_new(leat_unpooled());
    const leat_stage stages[] = {leat_recorder_stage(recorder, NULL), {0}};
    leat_embedded *e = leat_embedded_new_with(stages, NULL, NULL);
    leat_embedded_feed_text(e, "x");
    leat_embedded_write_text(e, "y");
    leat_embedded_feed_eof(e);
    ck_assert_str_eq(leat_recorder_take(recorder),
                     "recorder added\nrecorder active\nrecorder read 'x'\nrecorder read_done\nrecorder write 'y'\n"
                     "recorder flush\nrecorder eof\nrecorder close\nrecorder inactive\nrecorder removed\n");
    leat_embedded_free(e);
    leat_recorder_free(recorder);
}
END_TEST

START_TEST(bytes_that_do_not_print_are_escaped_and_long_ones_cut) {
    recorded r = record_abc(NULL);
    leat_recorder_leave_out(r.recorder, "flush read_done removed close inactive");
    leat_ctx_remove(named(r.channel, "a"));
    leat_ctx_remove(named(r.channel, "b"));
    leat_embedded_feed(r.e, "\r\n\\\0\xff", 5);
    assert_recorded(&r, "c read '\\r\\n\\\\\\x00\\xff'\n");
    leat_embedded_feed_text(r.e, "0123456789012345678901234567890123456789+");
    assert_recorded(&r, "c read '0123456789012345678901234567890123456789'... of 41\n");
    end_recorded_anyhow(&r);
}
END_TEST

START_TEST(codes_states_and_other_types_are_named) {
    static const leat_type number = {.name = "Number"};
    static int seven = 7;
    recorded r = record_abc(&(leat_embedded_options){.channel = {.write_low = 1, .write_high = 2}});
    leat_embedded_limit_writes(r.e, 10, 0);
    leat_embedded_write_text(r.e, "long");
    leat_loop_enter(leat_embedded_loop(r.e));
    leat_channel_fire_event(r.channel, leat_msg_of(&number, &seven));
    leat_loop_leave(leat_embedded_loop(r.e));
    leat_ctx_remove(named(r.channel, "a"));
    leat_ctx_remove(named(r.channel, "b"));
    leat_embedded_break(r.e, -98);
    assert_recorded(&r, "c write 'long'\nb write 'long'\na write 'long'\n"
                        "a writable no\nb writable no\nc writable no\n"
                        "a event Number\nb event Number\nc event Number\n"
                        "a removed\nb removed\nc error -98\nc close\nc inactive\nc removed\n");
    end_recorded_anyhow(&r);
}
END_TEST

START_TEST(completions_are_lines_too_and_may_be_used_again) {
    recorded r = record_abc(NULL);
    leat_done *done = leat_recorder_done(r.recorder, "first");
    leat_recorder_leave_out(r.recorder, "write flush");
    leat_embedded_write(r.e, text_msg(r.e, "x"), done);
    leat_embedded_close(r.e);
    leat_embedded_write(r.e, text_msg(r.e, "y"), done);
    assert_recorded(&r, "first done LEAT_OK\nc close\nb close\na close\nfirst done LEAT_ECLOSED\n");
    ck_assert_str_eq(leat_embedded_written_text(r.e), "x");
    end_recorded(&r);
}
END_TEST

static char mark = '!', question = '?';

static void write_note(leat_ctx *ctx, void *byte) {
    leat_ctx_write_copy(ctx, byte, 1, NULL);
}

START_TEST(a_test_acts_once_inside_the_call_that_it_names) {
    recorded r = record_abc(NULL);
    when(&r, "b read 'two'", write_note, &mark);
    when(&r, "c read", write_note, &question);
    leat_embedded_feed_text(r.e, "one");
    assert_recorded(&r, "a read 'one'\nb read 'one'\nc read 'one'\nb write '?'\na write '?'\n");
    leat_embedded_feed_text(r.e, "two");
    leat_embedded_feed_text(r.e, "two");
    assert_recorded(&r, "a read 'two'\nb read 'two'\na write '!'\nc read 'two'\n"
                        "a read 'two'\nb read 'two'\nc read 'two'\n");
    end_recorded_anyhow(&r);
}
END_TEST

START_TEST(a_recorder_bounds_what_it_keeps) {
    recorded r = record_abc(NULL);
    for (int i = 0; i < 40000; i++) {
        leat_embedded_feed_text(r.e, "0123456789");
        ck_assert_str_eq(leat_embedded_read_text(r.e), "0123456789");
    }
    const char *text = leat_recorder_take(r.recorder);
    ck_assert_uint_lt(strlen(text), (1 << 20) + 1000);
    ck_assert_str_eq(text + strlen(text) - 7, "(more)\n");
    leat_embedded_feed_text(r.e, "x");
    assert_recorded(&r, "a read 'x'\nb read 'x'\nc read 'x'\n");
    end_recorded_anyhow(&r);
}
END_TEST

static int record_with(leat_alloc *alloc, void *context) {
    (void)context;
    leat_recorder *recorder = leat_recorder_new(alloc);
    if (!recorder)
        return LEAT_OK;
    const leat_stage stages[] = {leat_recorder_stage(recorder, "a"), {0}};
    leat_embedded *e = leat_embedded_new_with(stages, NULL, NULL);
    leat_done *done = leat_recorder_done(recorder, "w");
    leat_recorder_when(recorder, "a read", write_note, &mark);
    leat_embedded_feed_text(e, "x");
    leat_embedded_write(e, text_msg(e, "y"), done);
    ck_assert_ptr_nonnull(leat_recorder_take(recorder));
    leat_embedded_free(e);
    leat_recorder_free(recorder);
    return LEAT_OK;
}

START_TEST(a_recorder_survives_every_failed_allocation) {
    leat_problem problem = {0};
    ck_assert_msg(leat_verify_oom(record_with, NULL, &problem) == LEAT_OK, "%s", problem.text);
}
END_TEST

int main(void) {
    return suite_run(
        "recorder",
        (const TTest *const[]){
            a_recorder_writes_a_line_for_each_call_and_passes_it_on, a_recorder_tells_the_whole_life_of_a_channel,
            bytes_that_do_not_print_are_escaped_and_long_ones_cut, codes_states_and_other_types_are_named,
            completions_are_lines_too_and_may_be_used_again, a_test_acts_once_inside_the_call_that_it_names,
            a_recorder_bounds_what_it_keeps, a_recorder_survives_every_failed_allocation, NULL});
}
