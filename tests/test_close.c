/* Closing: gracefully, at once, half, late, broken off at any point, and asked for inside any call. */
#include "core/transport.h"
#include "tests/support/record.h"

START_TEST(a_graceful_close_goes_through_the_handlers_and_ends_with_the_peer_s_end) {
    recorded r = record_abc(NULL);
    leat_embedded_close(r.e);
    assert_recorded(&r, "c close\nb close\na close\n");
    leat_embedded_close(r.e);
    leat_embedded_feed_text(r.e, "dropped");
    assert_recorded(&r, "");
    leat_embedded_feed_eof(r.e);
    assert_recorded(&r, "a inactive\nb inactive\nc inactive\nc removed\nb removed\na removed\n");
    end_recorded(&r);
}
END_TEST

static void abort_it(leat_ctx *ctx, void *code) {
    leat_channel_abort(leat_ctx_channel(ctx), *(int *)code);
}

START_TEST(an_abort_passes_the_handlers_by_and_ends_in_the_same_turn) {
    int code = LEAT_EREFUSED;
    recorded r = record_abc(NULL);
    when(&r, "b read", abort_it, &code);
    leat_embedded_feed_text(r.e, "x");
    assert_recorded(&r, "a read 'x'\nb read 'x'\nc read 'x'\n"
                        "a inactive\nb inactive\nc inactive\nc removed\nb removed\na removed\n");
    ck_assert_int_eq(leat_channel_error(r.channel), LEAT_EREFUSED);
    ck_assert(!leat_embedded_is_shut_down(r.e));
    end_recorded_anyhow(&r);
}
END_TEST

/* Keeps the channel open though the peer ended its side. */
static void ignore_eof(leat_ctx *ctx) {
    (void)ctx;
}

static const leat_handler keep_open = {.name = "keep_open", .eof = ignore_eof};

START_TEST(who_handles_the_peer_s_end_may_go_on_writing_until_it_closes) {
    leat_embedded *e = leat_embedded_new((const leat_stage[]){{&keep_open}, {0}});
    leat_embedded_feed_eof(e);
    ck_assert(!leat_embedded_is_closed(e) && !leat_embedded_is_shut_down(e));
    ck_assert(!leat_channel_wants_read(leat_embedded_channel(e)));
    leat_embedded_write_text(e, "answer");
    ck_assert_str_eq(leat_embedded_written_text(e), "answer");
    leat_embedded_close(e);
    ck_assert(leat_embedded_is_shut_down(e) && leat_embedded_is_closed(e));
    finish(e);
}
END_TEST

START_TEST(after_our_half_the_peer_may_still_send_what_is_dropped_until_its_own_end) {
    leat_embedded *e = leat_embedded_new((const leat_stage[]){{0}});
    leat_embedded_close(e);
    ck_assert(leat_embedded_is_shut_down(e));
    for (int i = 0; i < 10; i++)
        leat_embedded_feed_text(e, "nobody reads this");
    ck_assert_ptr_null(leat_embedded_read_text(e));
    ck_assert(leat_channel_wants_read(leat_embedded_channel(e)));
    leat_embedded_feed_eof(e);
    ck_assert(leat_embedded_is_closed(e));
    finish(e);
}
END_TEST

/* A handler that keeps `close` to itself: the timeout covers it too. */
static void keep_close(leat_ctx *ctx) {
    (void)ctx;
}

START_TEST(the_close_timeout_covers_a_handler_that_holds_the_close_back) {
    static const leat_handler holding = {.name = "holding", .close = keep_close};
    leat_embedded_options options = {.channel.close_timeout_ms = 70};
    leat_embedded *e = leat_embedded_new_with((const leat_stage[]){{&holding}, {0}}, &options, NULL);
    leat_embedded_close(e);
    leat_embedded_advance(e, 69);
    ck_assert(!leat_embedded_is_closed(e)); /* it did not reach the transport, and no time is up */
    leat_embedded_advance(e, 1);
    ck_assert(leat_embedded_is_closed(e));
    ck_assert_int_eq(leat_channel_error(leat_embedded_channel(e)), LEAT_ETIMEDOUT);
    finish(e);
}
END_TEST

START_TEST(bytes_that_wait_while_nobody_reads_do_not_stop_a_close) {
    leat_embedded_options options = {.channel.manual_read = true};
    leat_embedded *e = leat_embedded_new_with((const leat_stage[]){{0}}, &options, NULL);
    leat_embedded_feed_text(e, "unread");
    leat_embedded_close(e);
    leat_embedded_feed_eof(e);
    ck_assert(leat_embedded_is_closed(e));
    ck_assert_ptr_null(leat_embedded_read_text(e));
    finish(e);
}
END_TEST

/* ---- the end at every point of a life ---- */

typedef void (*step)(leat_embedded *e);

static void step_feed(leat_embedded *e) {
    leat_embedded_feed_text(e, "some bytes");
}

static void step_block(leat_embedded *e) {
    leat_embedded_limit_writes(e, 3, 5);
    leat_embedded_write_text(e, "more than five");
}

static void step_unblock(leat_embedded *e) {
    leat_embedded_allow_writes(e, UINT64_MAX);
}

static void step_eof(leat_embedded *e) {
    leat_embedded_feed_eof(e);
}

static void step_advance(leat_embedded *e) {
    leat_embedded_advance(e, 10000);
}

static void step_reset(leat_embedded *e) {
    leat_embedded_break(e, LEAT_ERESET);
}

static void step_abort(leat_embedded *e) {
    leat_loop_enter(leat_embedded_loop(e));
    leat_channel_abort(leat_embedded_channel(e), 0);
    leat_loop_leave(leat_embedded_loop(e));
}

static const step life[] = {
    leat_embedded_connect, step_feed, step_block,   step_feed, step_unblock, step_block, step_feed,
    leat_embedded_close,   step_feed, step_unblock, step_eof,  step_advance};
enum { STEPS = sizeof life / sizeof *life };

static size_t count_lines(const char *text, const char *line) {
    size_t count = 0;
    for (const char *at = strstr(text, line); at; at = strstr(at + 1, line))
        count++;
    return count;
}

/* Whatever the point, all ends once, and every completion came. */
static void check_end(const char *lines, size_t writes, const char *what, int point) {
    size_t active = count_lines(lines, "b active\n"), dones = count_lines(lines, " done ");
    ck_assert_msg(count_lines(lines, "b inactive\n") == active, "%s at %d: %s", what, point, lines);
    ck_assert_msg(count_lines(lines, "b removed\n") == 1, "%s at %d: %s", what, point, lines);
    ck_assert_msg(dones == writes, "%s at %d: %zu of %zu completions: %s", what, point, dones, writes, lines);
    const char *last = strstr(lines, "b removed\n");
    ck_assert_msg(!strstr(last, "b read") && !strstr(last, "b eof"), "%s at %d: %s", what, point, lines);
}

static void end_at(int point, step end, const char *what) {
    recorded r = record_abc(&(leat_embedded_options){.not_connected = true});
    size_t writes = 0;
    for (int i = 0; i < STEPS; i++) {
        if (i == point)
            end(r.e);
        if (life[i] == step_block)
            leat_embedded_write(r.e, text_msg(r.e, "w"), leat_recorder_done(r.recorder, "w"));
        writes += life[i] == step_block;
        life[i](r.e);
    }
    ck_assert_msg(leat_embedded_is_closed(r.e), "%s at %d", what, point);
    check_end(leat_recorder_take(r.recorder), writes, what, point);
    end_recorded_anyhow(&r);
}

START_TEST(a_reset_at_every_point_ends_everything_once) {
    for (int point = 0; point <= STEPS; point++)
        end_at(point, step_reset, "reset");
}
END_TEST

START_TEST(an_abort_at_every_point_ends_everything_once) {
    for (int point = 0; point <= STEPS; point++)
        end_at(point, step_abort, "abort");
}
END_TEST

START_TEST(a_peer_s_end_or_a_close_at_every_point_ends_everything_once) {
    for (int point = 0; point <= STEPS; point++) {
        end_at(point, step_eof, "end");
        end_at(point, leat_embedded_close, "close");
    }
}
END_TEST

static void close_it(leat_ctx *ctx, void *channel) {
    (void)ctx;
    leat_channel_close(channel);
}

START_TEST(a_close_inside_every_call_ends_everything_once) {
    const char *calls[] = {"b active", "b read", "b read_done", "b writable", "b write", "b flush",
                           "b close",  "b eof",  "b inactive",  "b removed",  "b error", "w done"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        recorded r = record_abc(&(leat_embedded_options){.not_connected = true, .channel.write_high = 4});
        leat_recorder_leave_out(r.recorder, "");
        when(&r, calls[i], close_it, r.channel);
        leat_embedded_connect(r.e);
        step_feed(r.e);
        leat_embedded_limit_writes(r.e, 3, 1);
        leat_embedded_write(r.e, text_msg(r.e, "written"), leat_recorder_done(r.recorder, "w"));
        step_unblock(r.e);
        if (strcmp(calls[i], "b error") == 0)
            step_reset(r.e);
        step_eof(r.e);
        step_advance(r.e);
        const char *lines = leat_recorder_take(r.recorder);
        ck_assert_msg(strstr(lines, calls[i]), "%s never came: %s", calls[i], lines);
        ck_assert_msg(count_lines(lines, "b close\n") <= 1, "%s: %s", calls[i], lines);
        check_end(lines, 1, calls[i], 0);
        end_recorded_anyhow(&r);
    }
}
END_TEST

/* Writes again whenever a write is through; the transport fails behind so many. */
typedef struct endless_writer {
    leat_done done;
    leat_embedded *e;
    int left;
} endless_writer;

static void write_again(leat_done *done, int status) {
    endless_writer *self = (endless_writer *)(void *)done;
    if (self->left-- == 0)
        leat_embedded_fail_writes(self->e, LEAT_ERESET);
    if (status == LEAT_OK)
        leat_channel_write(leat_embedded_channel(self->e), text_msg(self->e, "x"), done);
}

static void handle_error(leat_ctx *ctx, int code) {
    (void)ctx;
    ck_assert_int_eq(code, LEAT_ERESET);
}

START_TEST(a_reset_in_any_round_of_a_turn_ends_the_channel_though_a_handler_took_the_error) {
    static const leat_handler calm = {.name = "calm", .error = handle_error};
    for (int writes = 0; writes < 50; writes++) {
        leat_embedded *e = leat_embedded_new((const leat_stage[]){{.handler = &calm}, {0}});
        endless_writer writer = {.done.fn = write_again, .e = e, .left = writes};
        leat_embedded_write(e, text_msg(e, "x"), &writer.done);
        ck_assert_msg(leat_embedded_is_closed(e), "behind %d writes", writes);
        leat_embedded_written_text(e);
        finish(e);
    }
}
END_TEST

int main(void) {
    return suite_run("close",
                     (const TTest *const[]){
                         a_graceful_close_goes_through_the_handlers_and_ends_with_the_peer_s_end,
                         an_abort_passes_the_handlers_by_and_ends_in_the_same_turn,
                         who_handles_the_peer_s_end_may_go_on_writing_until_it_closes,
                         after_our_half_the_peer_may_still_send_what_is_dropped_until_its_own_end,
                         the_close_timeout_covers_a_handler_that_holds_the_close_back,
                         bytes_that_wait_while_nobody_reads_do_not_stop_a_close,
                         a_reset_at_every_point_ends_everything_once, an_abort_at_every_point_ends_everything_once,
                         a_peer_s_end_or_a_close_at_every_point_ends_everything_once,
                         a_close_inside_every_call_ends_everything_once,
                         a_reset_in_any_round_of_a_turn_ends_the_channel_though_a_handler_took_the_error, NULL});
}
