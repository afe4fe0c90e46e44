#include "core/composite.h"
#include "core/verify.h"
#include "tests/support/tolerant.h"
#include "tests/support/zlib_channel.h"

#include <stdlib.h>
#include <string.h>

typedef leat_zlib_deflater_config config;

static void write_both(leat_embedded *e, const char *one, const char *other, leat_done *first, leat_done *second) {
    leat_loop_enter(leat_embedded_loop(e));
    leat_channel_write(leat_embedded_channel(e), text_msg(e, one), first);
    leat_channel_write(leat_embedded_channel(e), text_msg(e, other), second);
    leat_loop_leave(leat_embedded_loop(e));
}

static int order[8], statuses[8];
static size_t completed;

struct numbered {
    leat_done done;
    int number;
};

static void note(leat_done *done, int status) {
    order[completed] = ((struct numbered *)(void *)done)->number;
    statuses[completed++] = status;
}

static leat_done *numbered(struct numbered *self, int number) {
    *self = (struct numbered){.done.fn = note, .number = number};
    if (number == 0)
        completed = 0;
    return &self->done;
}

/* ---- flushing ---- */

START_TEST(a_message_leaves_at_the_end_of_its_turn) {
    leat_embedded *e = deflating_channel(&(config){.format = LEAT_ZLIB_ZLIB});
    leat_embedded_write_text(e, "hello");
    assert_hex(leat_embedded_take_written(e), "789c ca48cdc9c907 000000ffff");
    leat_embedded_write_text(e, "hello");
    assert_hex(leat_embedded_take_written(e), "ca001100 000000ffff");
    finish_stream(e);
}
END_TEST

START_TEST(messages_of_a_turn_share_one_flush_and_complete_in_order) {
    leat_embedded *e = deflating_channel(&(config){.format = LEAT_ZLIB_RAW});
    struct numbered first, second;
    write_both(e, "he", "llo", numbered(&first, 0), numbered(&second, 1));
    assert_hex(leat_embedded_take_written(e), "ca48cdc9c907 000000ffff");
    ck_assert_uint_eq(completed, 2);
    ck_assert(order[0] == 0 && order[1] == 1 && statuses[0] == 0 && statuses[1] == 0);
    finish_stream(e);
}
END_TEST

START_TEST(writes_complete_only_when_the_transport_took_what_they_became) {
    leat_embedded *e = deflating_channel(NULL);
    struct numbered first, second;
    leat_embedded_limit_writes(e, 5, 12);
    write_both(e, "one", "two", numbered(&first, 0), numbered(&second, 1));
    ck_assert_uint_eq(completed, 0);
    leat_embedded_allow_writes(e, UINT64_MAX);
    ck_assert_uint_eq(completed, 2);
    finish_stream(e);
}
END_TEST

START_TEST(flushed_by_message_each_message_stays_one) {
    leat_embedded *e = deflating_channel(&(config){.format = LEAT_ZLIB_RAW, .flush = LEAT_ZLIB_FLUSH_MESSAGE});
    write_both(e, "hello", "hello", NULL, NULL);
    assert_hex(leat_embedded_take_written(e), "ca48cdc9c907 000000ffff ca001100 000000ffff");
    finish_stream(e);
}
END_TEST

START_TEST(flushed_at_the_end_nothing_leaves_or_completes_before) {
    leat_embedded *e = deflating_channel(&(config){.format = LEAT_ZLIB_RAW, .flush = LEAT_ZLIB_FLUSH_END});
    struct numbered first, second;
    write_both(e, "he", "llo", numbered(&first, 0), numbered(&second, 1));
    leat_channel_flush(leat_embedded_channel(e));
    ck_assert_uint_eq(leat_channel_pending(leat_embedded_channel(e)), 0);
    ck_assert_uint_eq(completed, 0);
    leat_embedded_close(e);
    assert_hex(leat_embedded_take_written(e), "cb48cdc9c90700");
    ck_assert(completed == 2 && order[1] == 1 && statuses[1] == 0);
    finish(e);
}
END_TEST

START_TEST(nothing_new_makes_no_bytes) {
    leat_embedded *e = deflating_channel(&(config){.format = LEAT_ZLIB_ZLIB});
    struct numbered empty;
    leat_embedded_write(e, text_msg(e, ""), numbered(&empty, 0));
    ck_assert(completed == 1 && statuses[0] == 0);
    leat_embedded_write_text(e, "x");
    leat_bytebuf_release(leat_embedded_take_written(e));
    for (int i = 0; i < 3; i++)
        leat_channel_flush(leat_embedded_channel(e));
    leat_embedded_run(e);
    ck_assert_uint_eq(leat_channel_pending(leat_embedded_channel(e)), 0);
    finish_stream(e);
}
END_TEST

/* The peer inflates each of a thousand events when it was written, whatever the flush. */
static void assert_each_arrives(leat_zlib_flush flush) {
    leat_embedded *e = deflating_channel(&(config){.flush = flush});
    leat_bytebuf *wire = leat_bytebuf_new(leat_unpooled(), 1024);
    char event[64];
    uint64_t length = 0;
    for (int i = 0; i < 1000; i++) {
        length += (uint64_t)snprintf(event, sizeof event, "data: event number %d\n\n", i);
        leat_embedded_write_text(e, event);
        leat_bytebuf *written = leat_embedded_take_written(e);
        ck_assert(leat_bytebuf_write_buffer(wire, written));
        leat_bytebuf_release(written);
        leat_bytebuf *got = oracle_inflate(wire, LEAT_ZLIB_GZIP, (leat_span){0});
        ck_assert_uint_eq(leat_bytebuf_readable(got), length);
        leat_bytebuf_release(got);
    }
    leat_bytebuf_release(wire);
    finish_stream(e);
}

START_TEST(no_event_waits_inside_for_the_next_one) {
    assert_each_arrives(LEAT_ZLIB_FLUSH_TURN);
    assert_each_arrives(LEAT_ZLIB_FLUSH_MESSAGE);
}
END_TEST

/* ---- streams ---- */

static void assert_empty_stream(leat_zlib_format format, const char *hex) {
    leat_embedded *e = deflating_channel(&(config){.format = format});
    leat_embedded_close(e);
    assert_hex(leat_embedded_take_written(e), hex);
    finish(e);
}

START_TEST(a_stream_without_a_byte_is_a_stream_all_the_same) {
    assert_empty_stream(LEAT_ZLIB_ZLIB, "789c 0300 00000001");
    assert_empty_stream(LEAT_ZLIB_RAW, "0300");
    assert_empty_stream(LEAT_ZLIB_GZIP, "1f8b 08 00 00000000 00 03 0300 00000000 00000000");
}
END_TEST

START_TEST(each_message_can_be_a_stream_of_its_own) {
    leat_embedded *e = deflating_channel(&(config){.format = LEAT_ZLIB_ZLIB, .each_message = true});
    write_both(e, "hello", "", NULL, NULL);
    assert_hex(leat_embedded_take_written(e), "789c cb48cdc9c90700 062c0215 789c 0300 00000001");
    leat_embedded_close(e);
    finish(e);
}
END_TEST

START_TEST(the_trailer_leaves_before_the_close_and_behind_what_was_written) {
    leat_embedded *e = deflating_channel(NULL);
    leat_loop_enter(leat_embedded_loop(e));
    leat_channel_write(leat_embedded_channel(e), text_msg(e, "last words"), NULL);
    leat_channel_close(leat_embedded_channel(e));
    leat_loop_leave(leat_embedded_loop(e));
    leat_bytebuf *written = leat_embedded_take_written(e);
    ck_assert(oracle_is_whole(written, LEAT_ZLIB_GZIP));
    assert_bytes(oracle_inflate(written, LEAT_ZLIB_GZIP, (leat_span){0}), "last words", 10);
    leat_bytebuf_release(written);
    ck_assert(leat_embedded_is_shut_down(e));
    finish(e);
}
END_TEST

START_TEST(a_removed_deflater_ends_its_stream_and_what_follows_is_plain) {
    leat_embedded *e = deflating_channel(&(config){.format = LEAT_ZLIB_RAW});
    leat_loop_enter(leat_embedded_loop(e));
    leat_channel_write(leat_embedded_channel(e), text_msg(e, "hello"), NULL);
    leat_ctx_remove(leat_channel_find(leat_embedded_channel(e), "zlib_deflater"));
    leat_channel_write(leat_embedded_channel(e), text_msg(e, "\xff"), NULL);
    leat_loop_leave(leat_embedded_loop(e));
    assert_hex(leat_embedded_take_written(e), "cb48cdc9c90700 ff");
    finish(e);
}
END_TEST

START_TEST(an_aborted_stream_gives_its_memory_back_and_fails_what_it_held) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_embedded_options options = {.alloc = &counting.alloc};
    const config at_end = {.flush = LEAT_ZLIB_FLUSH_END};
    leat_embedded *e =
        leat_embedded_new_with((leat_stage[]){{&leat_zlib_deflater, &at_end, NULL}, {0}}, &options, NULL);
    uint64_t before = counting.counted.live_bytes;
    struct numbered held;
    leat_embedded_write(e, text_msg(e, "held"), numbered(&held, 0));
    ck_assert_uint_gt(counting.counted.live_bytes, before + 250000);
    leat_embedded_break(e, LEAT_ERESET);
    ck_assert(completed == 1 && statuses[0] == LEAT_ERESET);
    ck_assert_int_eq(leat_embedded_take_error(e), LEAT_ERESET);
    finish(e);
    ck_assert_uint_eq(counting.counted.live_bytes, 0);
}
END_TEST

/* ---- back-pressure ---- */

START_TEST(bytes_not_yet_flushed_count_as_pending) {
    leat_embedded *e = deflating_channel(NULL);
    leat_channel *channel = leat_embedded_channel(e);
    static const uint8_t zeros[100000];
    leat_bytebuf *in = leat_bytebuf_wrap_static(leat_embedded_alloc(e), zeros, sizeof zeros);
    leat_loop_enter(leat_embedded_loop(e));
    leat_channel_write(channel, leat_msg_of_bytebuf(in), NULL);
    ck_assert(!leat_channel_is_writable(channel));
    leat_loop_leave(leat_embedded_loop(e));
    ck_assert(leat_channel_is_writable(channel));
    ck_assert_uint_eq(leat_channel_pending(channel), 0);
    leat_bytebuf_release(leat_embedded_take_written(e));
    finish_stream(e);
}
END_TEST

START_TEST(a_small_output_keeps_no_large_block) {
    leat_embedded *e = deflating_channel(&(config){.flush = LEAT_ZLIB_FLUSH_MESSAGE});
    static const uint8_t zeros[16000];
    leat_embedded_limit_writes(e, 1, 0);
    leat_embedded_write(e, leat_msg_of_bytebuf(leat_bytebuf_wrap_static(leat_embedded_alloc(e), zeros, sizeof zeros)),
                        NULL);
    ck_assert_uint_gt(leat_channel_pending(leat_embedded_channel(e)), 0);
    leat_embedded_allow_writes(e, UINT64_MAX);
    leat_bytebuf_release(leat_embedded_take_written(e));
    finish_stream(e);
}
END_TEST

/* ---- memory ---- */

static leat_embedded *without_memory(leat_failing_alloc *failing, const config *how) {
    leat_failing_alloc_init(failing, leat_unpooled());
    leat_embedded_options options = {.alloc = &failing->alloc};
    leat_embedded *e = leat_embedded_new_with(
        (leat_stage[]){{&leat_zlib_deflater, how, NULL}, {&tolerant, NULL, NULL}, {0}}, &options, NULL);
    ck_assert_ptr_nonnull(e);
    return e;
}

START_TEST(out_of_memory_a_torn_stream_takes_no_more) {
    leat_failing_alloc failing;
    leat_embedded *e = without_memory(&failing, NULL);
    struct numbered first, second;
    leat_msg one = text_msg(e, "one"), two = text_msg(e, "two");
    failing.fail_at = failing.asked + 1;
    leat_embedded_write(e, one, numbered(&first, 0));
    ck_assert(completed == 1 && statuses[0] == LEAT_ENOMEM);
    ck_assert_int_eq(take_tolerated(e), LEAT_ENOMEM);
    leat_embedded_write(e, two, numbered(&second, 1));
    ck_assert(completed == 2 && statuses[1] == LEAT_ENOMEM);
    leat_embedded_close(e);
    finish(e);
}
END_TEST

START_TEST(out_of_memory_a_stream_a_message_goes_on_with_the_next) {
    leat_failing_alloc failing;
    leat_embedded *e = without_memory(&failing, &(config){.each_message = true});
    struct numbered first;
    leat_msg one = text_msg(e, "one");
    failing.fail_at = failing.asked + 1;
    leat_embedded_write(e, one, numbered(&first, 0));
    ck_assert(completed == 1 && statuses[0] == LEAT_ENOMEM);
    leat_embedded_write_text(e, "two");
    leat_bytebuf *written = leat_embedded_take_written(e);
    assert_bytes(oracle_inflate(written, LEAT_ZLIB_GZIP, (leat_span){0}), "two", 3);
    leat_bytebuf_release(written);
    finish(e);
}
END_TEST

int main(void) {
    return suite_run(
        "zlib_deflater",
        (const TTest *const[]){
            a_message_leaves_at_the_end_of_its_turn, messages_of_a_turn_share_one_flush_and_complete_in_order,
            writes_complete_only_when_the_transport_took_what_they_became, flushed_by_message_each_message_stays_one,
            flushed_at_the_end_nothing_leaves_or_completes_before, nothing_new_makes_no_bytes,
            no_event_waits_inside_for_the_next_one, a_stream_without_a_byte_is_a_stream_all_the_same,
            each_message_can_be_a_stream_of_its_own, the_trailer_leaves_before_the_close_and_behind_what_was_written,
            a_removed_deflater_ends_its_stream_and_what_follows_is_plain,
            an_aborted_stream_gives_its_memory_back_and_fails_what_it_held, bytes_not_yet_flushed_count_as_pending,
            a_small_output_keeps_no_large_block, out_of_memory_a_torn_stream_takes_no_more,
            out_of_memory_a_stream_a_message_goes_on_with_the_next, NULL});
}
