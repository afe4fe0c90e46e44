/* Removal: what a handler holds arrives before anything newer, and nothing of it stays behind. */
#include "core/transport.h"
#include "handlers/line.h"
#include "tests/support/record.h"

/* Keeps every message, in and out, until it is woken or removed. */
typedef struct keeper {
    leat_msg in[8], out[8];
    leat_done *done[8];
    size_t ins, outs;
} keeper;

static void keep_read(leat_ctx *ctx, leat_msg msg) {
    keeper *self = leat_state(ctx);
    self->in[self->ins++] = msg;
    leat_ctx_hold(ctx, leat_msg_size(msg));
}

static void keep_write(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    keeper *self = leat_state(ctx);
    self->out[self->outs] = msg;
    self->done[self->outs++] = done;
    leat_ctx_hold_out(ctx, leat_msg_size(msg));
}

static void hand_on(leat_ctx *ctx) {
    keeper *self = leat_state(ctx);
    for (size_t i = 0; i < self->ins; i++) {
        leat_ctx_unhold(ctx, leat_msg_size(self->in[i]));
        leat_ctx_fire_read(ctx, self->in[i]);
    }
    for (size_t i = 0; i < self->outs; i++) {
        leat_ctx_unhold_out(ctx, leat_msg_size(self->out[i]));
        leat_ctx_write(ctx, self->out[i], self->done[i]);
    }
    self->ins = self->outs = 0;
}

static const leat_handler keeping = {.name = "keeper",
                                     .state_size = sizeof(keeper),
                                     .removed = hand_on,
                                     .read = keep_read,
                                     .wake = hand_on,
                                     .write = keep_write};

/* a, the keeper, c. */
static recorded with_keeper(void) {
    recorded r = record_abc(NULL);
    ck_assert_int_eq(leat_channel_replace(r.channel, named(r.channel, "b"), &(leat_stage){&keeping}, NULL), LEAT_OK);
    leat_recorder_take(r.recorder);
    return r;
}

static void remove_named(leat_ctx *ctx, void *name) {
    leat_ctx_remove(named(leat_ctx_channel(ctx), name));
}

static char keeper_name[] = "keeper", line_name[] = "line";

START_TEST(what_a_removed_handler_kept_inbound_arrives_before_anything_newer) {
    recorded r = with_keeper();
    leat_embedded_feed_text(r.e, "1");
    leat_embedded_feed_text(r.e, "2");
    when(&r, "a read '3'", remove_named, keeper_name);
    leat_embedded_feed_text(r.e, "3");
    assert_recorded(&r, "a read '1'\na read '2'\na read '3'\nc read '1'\nc read '2'\nc read '3'\n");
    ck_assert_uint_eq(leat_channel_held(r.channel), 0);
    end_recorded_anyhow(&r);
}
END_TEST

START_TEST(what_a_removed_handler_kept_outbound_leaves_before_anything_newer) {
    recorded r = with_keeper();
    leat_embedded_write(r.e, text_msg(r.e, "1"), leat_recorder_done(r.recorder, "one"));
    when(&r, "c write '2'", remove_named, keeper_name);
    leat_embedded_write(r.e, text_msg(r.e, "2"), leat_recorder_done(r.recorder, "two"));
    assert_recorded(&r, "c write '1'\nc write '2'\na write '1'\na write '2'\none done LEAT_OK\ntwo done LEAT_OK\n");
    ck_assert_str_eq(leat_embedded_written_text(r.e), "12");
    ck_assert_uint_eq(leat_channel_pending(r.channel), 0);
    end_recorded(&r);
}
END_TEST

START_TEST(leftovers_go_through_the_replacement) {
    recorded r = with_keeper();
    const leat_stage stage = leat_recorder_stage(r.recorder, "n");
    leat_embedded_feed_text(r.e, "old");
    leat_loop_enter(leat_embedded_loop(r.e));
    ck_assert_int_eq(leat_channel_replace(r.channel, named(r.channel, "keeper"), &stage, NULL), LEAT_OK);
    leat_loop_leave(leat_embedded_loop(r.e));
    leat_embedded_feed_text(r.e, "new");
    assert_recorded(&r, "a read 'old'\nn added\nn read 'old'\nc read 'old'\n"
                        "a read 'new'\nn read 'new'\nc read 'new'\n");
    end_recorded_anyhow(&r);
}
END_TEST

START_TEST(at_the_end_leftovers_reach_those_that_are_still_there) {
    recorded r = with_keeper();
    leat_embedded_feed_text(r.e, "in");
    leat_embedded_write(r.e, text_msg(r.e, "out"), leat_recorder_done(r.recorder, "w"));
    leat_recorder_take(r.recorder);
    leat_embedded_break(r.e, LEAT_ERESET);
    assert_recorded(&r, "a error LEAT_ERESET\nc error LEAT_ERESET\nc close\na close\na inactive\nc inactive\n"
                        "c removed\na write 'out'\na removed\nw done LEAT_ERESET\n");
    end_recorded_anyhow(&r);
}
END_TEST

/* A line decoder between a and c. */
static recorded with_lines(void) {
    recorded r = record_abc(NULL);
    const leat_stage lines = {&leat_line_decoder, NULL, line_name};
    ck_assert_int_eq(leat_channel_replace(r.channel, named(r.channel, "b"), &lines, NULL), LEAT_OK);
    leat_recorder_take(r.recorder);
    return r;
}

START_TEST(a_decoder_removed_inside_its_message_hands_on_the_bytes_behind_it_in_order) {
    recorded r = with_lines();
    when(&r, "c read 'UPGRADE'", remove_named, line_name);
    leat_embedded_feed_text(r.e, "UPGRADE\r\n\1\2");
    leat_embedded_feed_text(r.e, "\3");
    assert_recorded(&r, "a read 'UPGRADE\\r\\n\\x01\\x02'\nc read 'UPGRADE'\nc read '\\x01\\x02'\n"
                        "a read '\\x03'\nc read '\\x03'\n");
    end_recorded_anyhow(&r);
}
END_TEST

START_TEST(a_decoder_removed_between_reads_hands_on_the_unfinished_frame_at_once) {
    recorded r = with_lines();
    leat_embedded_feed_text(r.e, "half");
    leat_loop_enter(leat_embedded_loop(r.e));
    leat_ctx_remove(named(r.channel, "line"));
    leat_loop_leave(leat_embedded_loop(r.e));
    leat_embedded_feed_text(r.e, "rest");
    assert_recorded(&r, "a read 'half'\nc read 'half'\na read 'rest'\nc read 'rest'\n");
    end_recorded_anyhow(&r);
}
END_TEST

static void add_lines(leat_ctx *ctx, void *argument) {
    (void)argument;
    const leat_stage lines = {&leat_line_decoder, NULL, line_name};
    ck_assert_int_eq(leat_channel_add_after(leat_ctx_channel(ctx), ctx, &lines, NULL), LEAT_OK);
}

START_TEST(a_decoder_added_amid_a_read_decodes_that_read) {
    recorded r = record_abc(NULL);
    when(&r, "b read", add_lines, NULL);
    leat_embedded_feed_text(r.e, "one\ntw");
    leat_embedded_feed_text(r.e, "o\n");
    assert_recorded(&r, "a read 'one\\ntw'\nb read 'one\\ntw'\nc read 'one'\n"
                        "a read 'o\\n'\nb read 'o\\n'\nc read 'two'\n");
    end_recorded_anyhow(&r);
}
END_TEST

START_TEST(an_end_of_stream_behind_an_unfinished_frame_tells_of_it_once) {
    recorded r = with_lines();
    leat_embedded_feed_text(r.e, "half");
    leat_recorder_take(r.recorder);
    leat_embedded_feed_eof(r.e);
    assert_recorded(&r, "a eof\nc error LEAT_ETRUNCATED\nc close\na close\nc eof\na inactive\nc inactive\n"
                        "c removed\na removed\n");
    end_recorded_anyhow(&r);
}
END_TEST

START_TEST(held_bytes_that_a_handler_forgot_do_not_pause_the_channel_for_ever) {
    static const leat_handler forgetful = {.name = "forgetful", .read = keep_read, .state_size = sizeof(keeper)};
    leat_embedded_options options = {.channel = {.read_low = 2, .read_high = 4}};
    leat_embedded *e = leat_embedded_new_with((const leat_stage[]){{&forgetful}, {0}}, &options, NULL);
    leat_embedded_feed_text(e, "12345");
    ck_assert(!leat_channel_wants_read(leat_embedded_channel(e)));
    keeper *self = leat_state(leat_channel_find(leat_embedded_channel(e), "forgetful"));
    leat_msg_release(self->in[0]);
    leat_loop_enter(leat_embedded_loop(e));
    leat_ctx_remove(leat_channel_find(leat_embedded_channel(e), "forgetful"));
    leat_loop_leave(leat_embedded_loop(e));
    ck_assert_uint_eq(leat_channel_held(leat_embedded_channel(e)), 0);
    ck_assert(leat_channel_wants_read(leat_embedded_channel(e)));
    ck_assert_uint_eq(leat_embedded_finish(e), 1);
    ck_assert_ptr_nonnull(strstr(leat_embedded_report(e), "forgetful was removed while it held bytes"));
    leat_embedded_free(e);
}
END_TEST

static void pause_and_release(leat_ctx *ctx, leat_msg msg) {
    leat_ctx_pause_reading(ctx);
    leat_msg_release(msg);
}

START_TEST(a_pause_that_a_handler_forgot_does_not_last_for_ever_either) {
    static const leat_handler forgetful = {.name = "forgetful", .read = pause_and_release};
    leat_embedded *e = leat_embedded_new((const leat_stage[]){{&forgetful}, {0}});
    leat_embedded_feed_text(e, "1");
    ck_assert(!leat_channel_wants_read(leat_embedded_channel(e)));
    leat_loop_enter(leat_embedded_loop(e));
    leat_ctx_remove(leat_channel_find(leat_embedded_channel(e), "forgetful"));
    leat_loop_leave(leat_embedded_loop(e));
    ck_assert(leat_channel_wants_read(leat_embedded_channel(e)));
    leat_embedded_feed_text(e, "2");
    ck_assert_str_eq(leat_embedded_read_text(e), "2");
    ck_assert_uint_eq(leat_embedded_finish(e), 1);
    ck_assert_ptr_nonnull(strstr(leat_embedded_report(e), "forgetful was removed while it had paused reading"));
    leat_embedded_free(e);
}
END_TEST

/* Says goodbye through the whole pipeline when it is removed; its completion lies in its state. */
typedef struct leaver {
    leat_done done;
    int *completions;
} leaver;

static void count_completion(leat_done *done, int status) {
    ck_assert_int_eq(status, LEAT_OK);
    ++*((leaver *)(void *)done)->completions;
}

static int come(leat_ctx *ctx, const void *config) {
    ((leaver *)leat_state(ctx))->completions = *(int *const *)config;
    return LEAT_OK;
}

static void say_goodbye(leat_ctx *ctx) {
    leaver *self = leat_state(ctx);
    self->done.fn = count_completion;
    leat_channel *channel = leat_ctx_channel(ctx);
    leat_bytebuf *bye = leat_bytebuf_from_text(leat_channel_alloc(channel), "bye");
    leat_channel_write(channel, leat_msg_of_bytebuf(bye), &self->done);
}

START_TEST(a_write_of_a_removed_handler_from_the_tail_keeps_its_state_too) {
    static const leat_handler leaving = {.name = "leaver",
                                         .state_size = sizeof(leaver),
                                         .config_size = sizeof(int *),
                                         .added = come,
                                         .removed = say_goodbye};
    recorded r = record_abc(NULL);
    int completions = 0, *config = &completions;
    leat_ctx *ctx = NULL;
    ck_assert_int_eq(leat_channel_add_last(r.channel, &(leat_stage){&leaving, &config, NULL}, &ctx), LEAT_OK);
    leat_embedded_limit_writes(r.e, SIZE_MAX, 0);
    leat_loop_enter(leat_embedded_loop(r.e));
    leat_ctx_remove(ctx);
    leat_loop_leave(leat_embedded_loop(r.e));
    leat_embedded_allow_writes(r.e, UINT64_MAX);
    ck_assert_int_eq(completions, 1);
    ck_assert_str_eq(leat_embedded_written_text(r.e), "bye");
    end_recorded_anyhow(&r);
}
END_TEST

int main(void) {
    return suite_run("removal",
                     (const TTest *const[]){what_a_removed_handler_kept_inbound_arrives_before_anything_newer,
                                            what_a_removed_handler_kept_outbound_leaves_before_anything_newer,
                                            leftovers_go_through_the_replacement,
                                            at_the_end_leftovers_reach_those_that_are_still_there,
                                            a_decoder_removed_inside_its_message_hands_on_the_bytes_behind_it_in_order,
                                            a_decoder_removed_between_reads_hands_on_the_unfinished_frame_at_once,
                                            a_decoder_added_amid_a_read_decodes_that_read,
                                            an_end_of_stream_behind_an_unfinished_frame_tells_of_it_once,
                                            held_bytes_that_a_handler_forgot_do_not_pause_the_channel_for_ever,
                                            a_pause_that_a_handler_forgot_does_not_last_for_ever_either,
                                            a_write_of_a_removed_handler_from_the_tail_keeps_its_state_too, NULL});
}
