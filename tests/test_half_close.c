/* Closing our side only: what the peer sends goes on being delivered. */
#include "core/transport.h"
#include "handlers/limit.h"
#include "handlers/line.h"
#include "handlers/log.h"
#include "tests/support/finish.h"

#include <string.h>

static const leat_stage bare[] = {{0}}, lines[] = {{&leat_line_decoder}, {0}};

static void half_close(leat_embedded *e) {
    leat_loop_enter(leat_embedded_loop(e));
    leat_channel_half_close(leat_embedded_channel(e));
    leat_loop_leave(leat_embedded_loop(e));
}

typedef struct outcome {
    leat_done done;
    int runs, status;
} outcome;

static void note(leat_done *done, int status) {
    outcome *self = (outcome *)(void *)done;
    self->runs++;
    self->status = status;
}

START_TEST(what_was_written_leaves_and_what_comes_is_delivered) {
    leat_embedded *e = leat_embedded_new(lines);
    leat_channel *channel = leat_embedded_channel(e);
    outcome late = {.done.fn = note};
    leat_embedded_limit_writes(e, 100, 3);
    leat_embedded_write_text(e, "question");
    half_close(e);
    ck_assert(!leat_embedded_is_shut_down(e));
    leat_embedded_allow_writes(e, UINT64_MAX);
    ck_assert_str_eq(leat_embedded_written_text(e), "question");
    ck_assert(leat_embedded_is_shut_down(e));
    ck_assert(leat_channel_is_readable(channel) && !leat_channel_is_open(channel));
    leat_embedded_write(e, text_msg(e, "too late"), &late.done);
    ck_assert_int_eq(late.status, LEAT_ECLOSED);
    leat_embedded_feed_text(e, "first\nsecond\nlast");
    leat_embedded_advance(e, 1000000); /* there is no hurry */
    leat_embedded_feed_text(e, "\n");
    ck_assert_str_eq(leat_embedded_read_text(e), "first");
    ck_assert_str_eq(leat_embedded_read_text(e), "second");
    ck_assert_str_eq(leat_embedded_read_text(e), "last");
    leat_embedded_feed_eof(e);
    ck_assert(leat_embedded_is_closed(e) && !leat_channel_is_readable(channel));
    ck_assert_int_eq(leat_channel_error(channel), 0);
    finish(e);
}
END_TEST

/* Each has a `close` of its own; the limit passes it on later. */
static const leat_limit_config slow = {.write_rate = 1000, .write_burst = 1};
static const leat_stage closing[] = {
    {&leat_limit, &slow, NULL}, {&leat_log, &(const leat_log_config){.level = LEAT_LOG_ERROR}, NULL}, {0}};

START_TEST(handlers_that_pass_a_close_on_do_not_make_it_a_whole_one) {
    leat_embedded *e = leat_embedded_new(closing);
    leat_channel *channel = leat_embedded_channel(e);
    leat_embedded_write_text(e, "passes at once");
    leat_embedded_write_text(e, "waits");
    half_close(e);
    ck_assert(leat_channel_is_readable(channel) && !leat_embedded_is_shut_down(e));
    leat_embedded_feed_text(e, "while it is held up");
    leat_embedded_advance(e, 1000000);
    ck_assert(leat_channel_is_readable(channel) && leat_embedded_is_shut_down(e));
    leat_embedded_feed_text(e, "answer");
    ck_assert_str_eq(leat_embedded_read_text(e), "while it is held up");
    ck_assert_str_eq(leat_embedded_read_text(e), "answer");
    leat_bytebuf_release(leat_embedded_take_written(e));
    finish(e);
}
END_TEST

START_TEST(a_whole_close_while_handlers_hold_half_of_one_ends_both_sides) {
    leat_embedded *e = leat_embedded_new(closing);
    leat_channel *channel = leat_embedded_channel(e);
    leat_embedded_write_text(e, "passes at once");
    leat_embedded_write_text(e, "waits");
    half_close(e);
    leat_channel_close(channel);
    ck_assert(!leat_channel_is_readable(channel));
    leat_embedded_advance(e, 4999);
    ck_assert(leat_embedded_is_shut_down(e) && !leat_embedded_is_closed(e));
    leat_embedded_advance(e, 1);
    ck_assert(leat_embedded_is_closed(e));
    leat_bytebuf_release(leat_embedded_take_written(e));
    leat_embedded_free(e);
}
END_TEST

START_TEST(the_peers_end_waits_behind_what_nobody_asked_for_yet) {
    leat_embedded_options options = {.channel = {.manual_read = true}};
    leat_embedded *e = leat_embedded_new_with(lines, &options, NULL);
    half_close(e);
    leat_channel_request(leat_embedded_channel(e), 1);
    leat_embedded_feed_text(e, "one\ntwo\nthree\n");
    leat_embedded_feed_eof(e);
    ck_assert_str_eq(leat_embedded_read_text(e), "one");
    ck_assert_ptr_null(leat_embedded_read_text(e));
    ck_assert(!leat_embedded_is_closed(e));
    leat_channel_request(leat_embedded_channel(e), 5);
    leat_embedded_run(e);
    ck_assert_str_eq(leat_embedded_read_text(e), "two");
    ck_assert_str_eq(leat_embedded_read_text(e), "three");
    ck_assert(leat_embedded_is_closed(e));
    finish(e);
}
END_TEST

START_TEST(a_whole_close_after_it_drops_what_comes_and_has_its_timeout) {
    leat_embedded *e = leat_embedded_new(bare);
    half_close(e);
    half_close(e);
    leat_embedded_advance(e, 60000);
    leat_embedded_close(e);
    leat_embedded_feed_text(e, "dropped");
    ck_assert_ptr_null(leat_embedded_read_text(e));
    leat_embedded_advance(e, 4999);
    ck_assert(!leat_embedded_is_closed(e));
    leat_embedded_advance(e, 1);
    ck_assert(leat_embedded_is_closed(e));
    ck_assert_int_eq(leat_channel_error(leat_embedded_channel(e)), LEAT_ETIMEDOUT);
    finish(e);
}
END_TEST

START_TEST(it_does_nothing_to_a_channel_that_closes) {
    leat_embedded *e = leat_embedded_new(bare);
    leat_embedded_close(e);
    half_close(e);
    leat_embedded_feed_text(e, "dropped");
    ck_assert_ptr_null(leat_embedded_read_text(e));
    leat_embedded_advance(e, 5000);
    ck_assert(leat_embedded_is_closed(e));
    finish(e);
}
END_TEST

START_TEST(before_the_connection_is_there_it_waits_for_it) {
    leat_embedded_options options = {.not_connected = true};
    leat_embedded *e = leat_embedded_new_with(bare, &options, NULL);
    leat_embedded_write_text(e, "early");
    half_close(e);
    ck_assert(!leat_embedded_is_closed(e));
    leat_embedded_connect(e);
    ck_assert_str_eq(leat_embedded_written_text(e), "early");
    ck_assert(leat_embedded_is_shut_down(e));
    leat_embedded_feed_text(e, "answer");
    ck_assert_str_eq(leat_embedded_read_text(e), "answer");
    finish(e);
}
END_TEST

START_TEST(a_reset_after_it_is_told) {
    leat_embedded *e = leat_embedded_new(bare);
    half_close(e);
    leat_embedded_break(e, LEAT_ERESET);
    ck_assert_int_eq(leat_embedded_take_error(e), LEAT_ERESET);
    ck_assert(leat_embedded_is_closed(e));
    finish(e);
}
END_TEST

int main(void) {
    return suite_run("half_close", (const TTest *const[]){what_was_written_leaves_and_what_comes_is_delivered,
                                                          handlers_that_pass_a_close_on_do_not_make_it_a_whole_one,
                                                          a_whole_close_while_handlers_hold_half_of_one_ends_both_sides,
                                                          the_peers_end_waits_behind_what_nobody_asked_for_yet,
                                                          a_whole_close_after_it_drops_what_comes_and_has_its_timeout,
                                                          it_does_nothing_to_a_channel_that_closes,
                                                          before_the_connection_is_there_it_waits_for_it,
                                                          a_reset_after_it_is_told, NULL});
}
