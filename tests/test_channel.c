#include "core/embedded.h"
#include "core/transport.h"
#include "tests/support/suite.h"

#include <ctype.h>
#include <string.h>

static void upper_read(leat_ctx *ctx, leat_msg msg) {
    leat_bytebuf *line = msg.obj;
    for (size_t i = leat_bytebuf_reader_index(line); i < leat_bytebuf_writer_index(line); i++)
        leat_bytebuf_set_u8(line, i, (uint8_t)toupper(leat_bytebuf_get_u8(line, i)));
    leat_ctx_write(ctx, msg, NULL);
}

static const leat_handler upper = {
    .name = "upper", .reads = leat_only_bytebuf, .fires = leat_no_type, .read = upper_read};

static const leat_stage shout[] = {{&upper}, {0}};
static const leat_stage bare[] = {{0}};

/* Counts how its write ended, and may go on from there. */
typedef struct counted {
    leat_done done;
    int runs, status;
    leat_channel *writes_again, *closes;
} counted;

static void count_done(leat_done *done, int status) {
    counted *self = (counted *)(void *)done;
    self->runs++;
    self->status = status;
    leat_channel *again = self->writes_again, *closes = self->closes;
    self->writes_again = self->closes = NULL;
    if (again)
        leat_channel_write(again, leat_msg_of_bytebuf(leat_bytebuf_from_text(leat_channel_alloc(again), "again")),
                           done);
    if (closes)
        leat_channel_close(closes);
}

static counted counting(void) {
    return (counted){.done = {.fn = count_done}};
}

static leat_msg text_msg(leat_embedded *e, const char *text) {
    return leat_msg_of_bytebuf(leat_bytebuf_from_text(leat_embedded_alloc(e), text));
}

static void finish(leat_embedded *e) {
    size_t found = leat_embedded_finish(e);
    ck_assert_msg(found == 0, "%s", leat_embedded_report(e));
    leat_embedded_free(e);
}

START_TEST(a_handler_answers_what_it_reads) {
    leat_embedded *e = leat_embedded_new(shout);
    leat_embedded_feed_text(e, "hello");
    ck_assert_str_eq(leat_embedded_written_text(e), "HELLO");
    finish(e);
}
END_TEST

START_TEST(a_pipeline_without_handlers_hands_everything_to_the_application) {
    leat_embedded *e = leat_embedded_new(bare);
    leat_embedded_feed_text(e, "one");
    leat_embedded_feed_text(e, "two");
    ck_assert_str_eq(leat_embedded_read_text(e), "one");
    ck_assert_str_eq(leat_embedded_read_text(e), "two");
    ck_assert_ptr_null(leat_embedded_read_text(e));
    finish(e);
}
END_TEST

START_TEST(writes_of_a_turn_leave_in_one_gathering_write) {
    leat_embedded *e = leat_embedded_new(bare);
    leat_loop_enter(leat_embedded_loop(e));
    for (int i = 0; i < 5; i++)
        leat_channel_write(leat_embedded_channel(e), text_msg(e, "abc"), NULL);
    leat_loop_leave(leat_embedded_loop(e));
    ck_assert_uint_eq(leat_embedded_write_calls(e), 1);
    ck_assert_str_eq(leat_embedded_written_text(e), "abcabcabcabcabc");
    finish(e);
}
END_TEST

START_TEST(a_write_completes_once_when_its_last_byte_is_taken) {
    leat_embedded *e = leat_embedded_new(bare);
    counted write = counting();
    leat_embedded_limit_writes(e, 2, 5);
    leat_embedded_write(e, text_msg(e, "sixsix"), &write.done);
    ck_assert_int_eq(write.runs, 0);
    leat_embedded_allow_writes(e, UINT64_MAX);
    ck_assert_int_eq(write.runs, 1);
    ck_assert_int_eq(write.status, LEAT_OK);
    ck_assert_str_eq(leat_embedded_written_text(e), "sixsix");
    finish(e);
}
END_TEST

START_TEST(a_completion_may_write_and_close) {
    leat_embedded *e = leat_embedded_new(bare);
    counted write = counting();
    write.writes_again = write.closes = leat_embedded_channel(e);
    leat_embedded_write(e, text_msg(e, "once"), &write.done);
    ck_assert_int_eq(write.runs, 2);
    ck_assert_str_eq(leat_embedded_written_text(e), "onceagain");
    ck_assert(leat_embedded_is_shut_down(e));
    ck_assert(!leat_embedded_is_closed(e));
    finish(e);
}
END_TEST

START_TEST(writes_complete_with_closed_after_close) {
    leat_embedded *e = leat_embedded_new(bare);
    counted write = counting();
    leat_embedded_close(e);
    leat_embedded_write(e, text_msg(e, "late"), &write.done);
    ck_assert_int_eq(write.runs, 1);
    ck_assert_int_eq(write.status, LEAT_ECLOSED);
    ck_assert_str_eq(leat_embedded_written_text(e), "");
    finish(e);
}
END_TEST

START_TEST(an_aborted_channel_fails_what_is_queued_in_order) {
    leat_embedded *e = leat_embedded_new(bare);
    counted writes[3] = {counting(), counting(), counting()};
    leat_embedded_limit_writes(e, 1, 0);
    for (int i = 0; i < 3; i++)
        leat_embedded_write(e, text_msg(e, "x"), &writes[i].done);
    leat_loop_enter(leat_embedded_loop(e));
    leat_channel_abort(leat_embedded_channel(e), 0);
    leat_loop_leave(leat_embedded_loop(e));
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(writes[i].status, LEAT_EABORTED);
    ck_assert(leat_embedded_is_closed(e));
    finish(e);
}
END_TEST

START_TEST(close_flushes_then_half_closes_then_waits_for_the_peer) {
    leat_embedded *e = leat_embedded_new(bare);
    leat_embedded_limit_writes(e, 100, 0);
    leat_embedded_write_text(e, "last words");
    leat_embedded_close(e);
    ck_assert(!leat_embedded_is_shut_down(e));
    leat_embedded_allow_writes(e, UINT64_MAX);
    ck_assert(leat_embedded_is_shut_down(e) && !leat_embedded_is_closed(e));
    leat_embedded_feed_text(e, "dropped");
    leat_embedded_feed_eof(e);
    ck_assert(leat_embedded_is_closed(e));
    ck_assert_str_eq(leat_embedded_written_text(e), "last words");
    finish(e);
}
END_TEST

START_TEST(the_close_timeout_ends_a_channel_whose_peer_stays) {
    leat_embedded_options options = {.channel = {.close_timeout_ms = 1000}};
    leat_embedded *e = leat_embedded_new_with(bare, &options, NULL);
    leat_embedded_close(e);
    leat_embedded_advance(e, 999);
    ck_assert(!leat_embedded_is_closed(e));
    leat_embedded_advance(e, 1);
    ck_assert(leat_embedded_is_closed(e));
    ck_assert_int_eq(leat_channel_error(leat_embedded_channel(e)), LEAT_ETIMEDOUT);
    finish(e);
}
END_TEST

START_TEST(an_end_that_nobody_handles_closes) {
    leat_embedded *e = leat_embedded_new(bare);
    leat_embedded_feed_eof(e);
    ck_assert(leat_embedded_is_closed(e));
    ck_assert_int_eq(leat_channel_error(leat_embedded_channel(e)), 0);
    finish(e);
}
END_TEST

START_TEST(an_error_that_nobody_handles_closes_and_is_kept) {
    leat_embedded *e = leat_embedded_new(bare);
    counted write = counting();
    leat_embedded_fail_writes(e, LEAT_ERESET);
    leat_embedded_write(e, text_msg(e, "gone"), &write.done);
    ck_assert_int_eq(write.status, LEAT_ERESET);
    ck_assert_int_eq(leat_embedded_take_error(e), LEAT_ERESET);
    ck_assert_int_eq(leat_channel_error(leat_embedded_channel(e)), LEAT_ERESET);
    ck_assert(leat_embedded_is_closed(e));
    finish(e);
}
END_TEST

START_TEST(writable_tells_the_current_state_once_a_change) {
    leat_embedded_options options = {.channel = {.write_low = 4, .write_high = 8}};
    leat_embedded *e = leat_embedded_new_with(bare, &options, NULL);
    leat_channel *channel = leat_embedded_channel(e);
    ck_assert_uint_eq(leat_channel_bytes_before_unwritable(channel), 9);
    leat_embedded_limit_writes(e, 100, 0);
    leat_embedded_write_text(e, "12345678");
    ck_assert(leat_channel_is_writable(channel));
    leat_embedded_write_text(e, "9");
    ck_assert(!leat_channel_is_writable(channel));
    ck_assert_uint_eq(leat_embedded_count_writable(e), 1);
    leat_embedded_allow_writes(e, UINT64_MAX);
    ck_assert(leat_channel_is_writable(channel));
    ck_assert_uint_eq(leat_embedded_count_writable(e), 2);
    ck_assert_str_eq(leat_embedded_written_text(e), "123456789");
    finish(e);
}
END_TEST

START_TEST(crossing_the_hard_cap_aborts_the_channel) {
    leat_embedded_options options = {.channel = {.write_limit = 1000}};
    leat_embedded *e = leat_embedded_new_with(bare, &options, NULL);
    counted first = counting(), second = counting();
    char large[700];
    memset(large, 'x', sizeof large);
    leat_embedded_limit_writes(e, 100, 0);
    leat_alloc *alloc = leat_embedded_alloc(e);
    leat_embedded_write(e, leat_msg_of_bytebuf(leat_bytebuf_from_bytes(alloc, large, sizeof large)), &first.done);
    leat_embedded_write(e, leat_msg_of_bytebuf(leat_bytebuf_from_bytes(alloc, large, sizeof large)), &second.done);
    ck_assert_int_eq(second.status, LEAT_ELIMIT);
    ck_assert_int_eq(first.status, LEAT_ELIMIT);
    ck_assert(leat_embedded_is_closed(e));
    finish(e);
}
END_TEST

START_TEST(what_is_no_buffer_is_refused_by_the_transport) {
    static const leat_type odd = {.name = "odd"};
    static int object;
    leat_embedded *e = leat_embedded_new(bare);
    counted write = counting();
    leat_embedded_write(e, leat_msg_of(&odd, &object), &write.done);
    ck_assert_int_eq(write.status, LEAT_ETYPE);
    finish(e);
}
END_TEST

START_TEST(a_shared_buffer_is_half_written_on_a_thousand_channels) {
    enum { CHANNELS = 1000 };
    leat_embedded *all[CHANNELS];
    all[0] = leat_embedded_new(bare);
    leat_embedded_options shared = {.loop = leat_embedded_loop(all[0])};
    for (int i = 1; i < CHANNELS; i++)
        all[i] = leat_embedded_new_with(bare, &shared, NULL);
    leat_msg event = text_msg(all[0], "half and half");
    for (int i = 0; i < CHANNELS; i++) {
        leat_embedded_limit_writes(all[i], 100, (uint64_t)i % 13);
        leat_embedded_write(all[i], leat_msg_retain(event), NULL);
    }
    leat_msg_release(event);
    for (int i = CHANNELS - 1; i >= 0; i--) {
        leat_embedded_allow_writes(all[i], UINT64_MAX);
        ck_assert_str_eq(leat_embedded_written_text(all[i]), "half and half");
        finish(all[i]);
    }
}
END_TEST

START_TEST(messages_arrive_only_as_asked_for) {
    leat_embedded_options options = {.channel = {.manual_read = true}};
    leat_embedded *e = leat_embedded_new_with(bare, &options, NULL);
    leat_embedded_feed_text(e, "one");
    leat_embedded_feed_text(e, "two");
    ck_assert_ptr_null(leat_embedded_read_text(e));
    leat_channel_request(leat_embedded_channel(e), 1);
    leat_embedded_run(e);
    ck_assert_str_eq(leat_embedded_read_text(e), "one");
    ck_assert_ptr_null(leat_embedded_read_text(e));
    leat_channel_request(leat_embedded_channel(e), 5);
    leat_embedded_run(e);
    ck_assert_str_eq(leat_embedded_read_text(e), "two");
    finish(e);
}
END_TEST

START_TEST(a_write_to_another_channel_leaves_in_the_same_turn) {
    leat_embedded *a = leat_embedded_new(bare);
    leat_embedded_options shared = {.loop = leat_embedded_loop(a)};
    leat_embedded *b = leat_embedded_new_with(bare, &shared, NULL);
    counted write = counting();
    write.writes_again = leat_embedded_channel(b);
    leat_embedded_write(a, text_msg(a, "to a"), &write.done);
    ck_assert_int_eq(write.runs, 2);
    ck_assert_str_eq(leat_embedded_written_text(b), "again");
    ck_assert_str_eq(leat_embedded_written_text(a), "to a");
    finish(b);
    finish(a);
}
END_TEST

static void forget(leat_ctx *ctx, leat_msg msg) {
    (void)ctx;
    (void)msg;
}

static const leat_handler forgetful = {.name = "forgetful", .reads = leat_only_bytebuf, .read = forget};

START_TEST(the_ledger_names_the_handler_that_forgot_a_message) {
    leat_embedded *e = leat_embedded_new((const leat_stage[]){{&forgetful}, {0}});
    leat_embedded_feed_text(e, "lost");
    ck_assert_uint_eq(leat_embedded_finish(e), 1);
    ck_assert_ptr_nonnull(strstr(leat_embedded_report(e), "forgetful"));
    leat_embedded_free(e);
}
END_TEST

int main(void) {
    return suite_run(
        "channel",
        (const TTest *const[]){
            a_handler_answers_what_it_reads, a_pipeline_without_handlers_hands_everything_to_the_application,
            writes_of_a_turn_leave_in_one_gathering_write, a_write_completes_once_when_its_last_byte_is_taken,
            a_completion_may_write_and_close, writes_complete_with_closed_after_close,
            an_aborted_channel_fails_what_is_queued_in_order, close_flushes_then_half_closes_then_waits_for_the_peer,
            the_close_timeout_ends_a_channel_whose_peer_stays, an_end_that_nobody_handles_closes,
            an_error_that_nobody_handles_closes_and_is_kept, writable_tells_the_current_state_once_a_change,
            crossing_the_hard_cap_aborts_the_channel, what_is_no_buffer_is_refused_by_the_transport,
            a_shared_buffer_is_half_written_on_a_thousand_channels, messages_arrive_only_as_asked_for,
            a_write_to_another_channel_leaves_in_the_same_turn, the_ledger_names_the_handler_that_forgot_a_message,
            NULL});
}
