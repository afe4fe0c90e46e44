#include "core/composite.h"
#include "core/transport.h"
#include "core/verify.h"
#include "handlers/zlib_deflater.h"
#include "tests/support/finish.h"
#include "tests/support/tolerant.h"
#include "tests/support/zlib_oracle.h"

#include <stdlib.h>
#include <string.h>

typedef leat_zlib_deflater_config config;

static leat_embedded *channel_of(const config *how) {
    leat_embedded *e = leat_embedded_new((leat_stage[]){{&leat_zlib_deflater, how, NULL}, {0}});
    ck_assert_ptr_nonnull(e);
    return e;
}

/* Ends the stream and drops the trailer. */
static void finish_stream(leat_embedded *e) {
    leat_embedded_close(e);
    leat_bytebuf_release(leat_embedded_take_written(e));
    finish(e);
}

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
    leat_embedded *e = channel_of(&(config){.format = LEAT_ZLIB_ZLIB});
    leat_embedded_write_text(e, "hello");
    assert_hex(leat_embedded_take_written(e), "789c ca48cdc9c907 000000ffff");
    leat_embedded_write_text(e, "hello");
    assert_hex(leat_embedded_take_written(e), "ca001100 000000ffff");
    finish_stream(e);
}
END_TEST

START_TEST(messages_of_a_turn_share_one_flush_and_complete_in_order) {
    leat_embedded *e = channel_of(&(config){.format = LEAT_ZLIB_RAW});
    struct numbered first, second;
    write_both(e, "he", "llo", numbered(&first, 0), numbered(&second, 1));
    assert_hex(leat_embedded_take_written(e), "ca48cdc9c907 000000ffff");
    ck_assert_uint_eq(completed, 2);
    ck_assert(order[0] == 0 && order[1] == 1 && statuses[0] == 0 && statuses[1] == 0);
    finish_stream(e);
}
END_TEST

START_TEST(writes_complete_only_when_the_transport_took_what_they_became) {
    leat_embedded *e = channel_of(NULL);
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
    leat_embedded *e = channel_of(&(config){.format = LEAT_ZLIB_RAW, .flush = LEAT_ZLIB_FLUSH_MESSAGE});
    write_both(e, "hello", "hello", NULL, NULL);
    assert_hex(leat_embedded_take_written(e), "ca48cdc9c907 000000ffff ca001100 000000ffff");
    finish_stream(e);
}
END_TEST

START_TEST(flushed_at_the_end_nothing_leaves_or_completes_before) {
    leat_embedded *e = channel_of(&(config){.format = LEAT_ZLIB_RAW, .flush = LEAT_ZLIB_FLUSH_END});
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
    leat_embedded *e = channel_of(&(config){.format = LEAT_ZLIB_ZLIB});
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
    leat_embedded *e = channel_of(&(config){.flush = flush});
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
    leat_embedded *e = channel_of(&(config){.format = format});
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
    leat_embedded *e = channel_of(&(config){.format = LEAT_ZLIB_ZLIB, .each_message = true});
    write_both(e, "hello", "", NULL, NULL);
    assert_hex(leat_embedded_take_written(e), "789c cb48cdc9c90700 062c0215 789c 0300 00000001");
    leat_embedded_close(e);
    finish(e);
}
END_TEST

START_TEST(the_trailer_leaves_before_the_close_and_behind_what_was_written) {
    leat_embedded *e = channel_of(NULL);
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
    leat_embedded *e = channel_of(&(config){.format = LEAT_ZLIB_RAW});
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

/* ---- against zlib called by hand ---- */

static leat_bytebuf *deflated_by(const config *how, const uint8_t *bytes, size_t length) {
    leat_embedded *e = channel_of(how);
    leat_bytebuf *in = leat_bytebuf_from_bytes(leat_embedded_alloc(e), bytes, length);
    leat_embedded_write(e, leat_msg_of_bytebuf(in), NULL);
    leat_bytebuf *out = leat_embedded_take_written(e);
    leat_bytebuf *kept = leat_bytebuf_copy(out, leat_unpooled());
    leat_bytebuf_release(out);
    finish_stream(e);
    return kept;
}

static void assert_same(const config *how, oracle_options options, const uint8_t *bytes, size_t length) {
    leat_bytebuf *got = deflated_by(how, bytes, length), *expected = oracle_deflate(bytes, length, &options);
    ck_assert_msg(leat_bytebuf_equals(got, expected), "%zu bytes in chunks of %u differ: %llu bytes, not %llu", length,
                  how->chunk, (unsigned long long)leat_bytebuf_readable(got),
                  (unsigned long long)leat_bytebuf_readable(expected));
    leat_bytebuf_release(got);
    leat_bytebuf_release(expected);
}

/* Small blocks fill in the middle, at the end and inside the marker, which must come just once. */
START_TEST(the_marker_comes_once_wherever_a_block_ends) {
    uint8_t bytes[600];
    uint64_t random = 7;
    for (size_t length = 1; length <= sizeof bytes; length++) {
        oracle_fill(&random, bytes, length);
        const config how = {.format = LEAT_ZLIB_RAW, .flush = LEAT_ZLIB_FLUSH_MESSAGE, .chunk = 64};
        assert_same(&how, (oracle_options){.format = LEAT_ZLIB_RAW, .unfinished = true}, bytes, length);
    }
}
END_TEST

START_TEST(bytes_that_cannot_be_deflated_leave_whole_in_blocks_of_any_size) {
    size_t length = 1 << 20;
    uint8_t *noise = malloc(length);
    uint64_t random = 11;
    for (size_t i = 0; i < length; i++)
        noise[i] = (uint8_t)oracle_random(&random);
    static const uint32_t chunks[] = {64, 4096, 8192, 0};
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++)
        for (int flush = LEAT_ZLIB_FLUSH_TURN; flush <= LEAT_ZLIB_FLUSH_MESSAGE; flush++) {
            const config how = {.chunk = chunks[i], .flush = (leat_zlib_flush)flush, .level = 1};
            assert_same(&how, (oracle_options){.level = 1, .unfinished = true}, noise, length);
        }
    free(noise);
}
END_TEST

START_TEST(every_level_and_memory_level_gives_what_zlib_gives) {
    uint8_t bytes[5000];
    uint64_t random = 13;
    oracle_fill(&random, bytes, sizeof bytes);
    for (int level = LEAT_ZLIB_STORED; level <= 9; level++)
        for (unsigned memory = 1; memory <= 9; memory += 4) {
            const config how = {.level = level, .memory_level = memory, .each_message = true};
            const oracle_options options = {.level = level, .memory_level = (int)memory};
            assert_same(&how, options, bytes, sizeof bytes);
        }
}
END_TEST

START_TEST(a_dictionary_is_used_and_asked_for) {
    static const char words[] = "data: {\"key\": \"value\"}";
    const leat_span dictionary = {(const uint8_t *)words, sizeof words - 1};
    for (int format = LEAT_ZLIB_ZLIB; format <= LEAT_ZLIB_RAW; format++) {
        leat_zlib_format as = (leat_zlib_format)format;
        const config how = {.format = as, .dictionary = dictionary, .each_message = true};
        leat_embedded *e = channel_of(&how);
        for (int i = 0; i < 2; i++) {
            leat_embedded_write_text(e, words);
            leat_bytebuf *written = leat_embedded_take_written(e);
            ck_assert_uint_lt(leat_bytebuf_readable(written), 20);
            assert_bytes(oracle_inflate(written, as, dictionary), words, sizeof words - 1);
            leat_bytebuf_release(written);
        }
        finish(e);
    }
}
END_TEST

static leat_bytebuf *composite_of(leat_alloc *alloc, const uint8_t *bytes, size_t length, size_t piece) {
    leat_composite *composite = leat_composite_new(alloc, 4);
    for (size_t at = 0; at < length; at += piece) {
        size_t size = length - at < piece ? length - at : piece;
        ck_assert_int_eq(leat_composite_add(composite, leat_bytebuf_from_bytes(alloc, bytes + at, size)), 0);
    }
    return leat_composite_buffer(composite);
}

START_TEST(a_composite_is_deflated_where_its_pieces_lie) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    uint8_t bytes[9000];
    uint64_t random = 17;
    oracle_fill(&random, bytes, sizeof bytes);
    leat_bytebuf *in = composite_of(&counting.alloc, bytes, sizeof bytes, 100), *out;
    counting.counted.copied = 0;
    ck_assert_int_eq(leat_zlib_deflate(&counting.alloc, NULL, in, &out), 0);
    ck_assert_uint_le(counting.counted.copied, leat_bytebuf_readable(out));
    ck_assert(oracle_is_whole(out, LEAT_ZLIB_GZIP));
    assert_bytes(oracle_inflate(out, LEAT_ZLIB_GZIP, (leat_span){0}), bytes, sizeof bytes);
    leat_bytebuf_release(out);
    leat_bytebuf_release(in);
}
END_TEST

/* ---- back-pressure, other messages, memory ---- */

START_TEST(bytes_not_yet_flushed_count_as_pending) {
    leat_embedded *e = channel_of(NULL);
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
    leat_embedded *e = channel_of(&(config){.flush = LEAT_ZLIB_FLUSH_MESSAGE});
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

static void assert_refused(config how, const char *why) {
    leat_problem problem = {0};
    leat_embedded *e = leat_embedded_new_with((leat_stage[]){{&leat_zlib_deflater, &how, NULL}, {0}}, NULL, &problem);
    ck_assert_ptr_null(e);
    ck_assert_int_eq(problem.code, LEAT_EINVAL);
    ck_assert_msg(strstr(problem.text, why) != NULL, "%s", problem.text);
}

START_TEST(settings_that_make_no_sense_are_refused) {
    assert_refused((config){.level = 10}, "level 10");
    assert_refused((config){.level = -2}, "level -2");
    assert_refused((config){.memory_level = 10}, "memory_level");
    assert_refused((config){.window_bits = 8}, "window_bits");
    assert_refused((config){.window_bits = 16}, "window_bits");
    assert_refused((config){.chunk = 63}, "chunk");
    assert_refused((config){.format = (leat_zlib_format)4}, "format 4");
    assert_refused((config){.flush = (leat_zlib_flush)3}, "flush 3");
    assert_refused((config){.dictionary = {(const uint8_t *)"x", 1}}, "gzip has no dictionary");
}
END_TEST

static int deflate_some(leat_alloc *alloc, void *context) {
    leat_embedded_options options = {.alloc = alloc, .without_ledger = true};
    leat_embedded *e =
        leat_embedded_new_with((leat_stage[]){{&leat_zlib_deflater, context, NULL}, {0}}, &options, NULL);
    if (!e)
        return 0;
    uint8_t bytes[700];
    uint64_t random = 19;
    oracle_fill(&random, bytes, sizeof bytes);
    for (int i = 0; i < 3; i++) {
        leat_bytebuf *in = leat_bytebuf_from_bytes(alloc, bytes, sizeof bytes);
        if (in)
            leat_embedded_write(e, leat_msg_of_bytebuf(in), NULL);
    }
    leat_embedded_close(e);
    leat_embedded_free(e);
    return 0;
}

START_TEST(no_failed_allocation_leaks) {
    config all[] = {{.chunk = 64, .window_bits = 9, .memory_level = 1},
                    {.chunk = 64, .flush = LEAT_ZLIB_FLUSH_MESSAGE, .window_bits = 9, .memory_level = 1},
                    {.chunk = 64, .flush = LEAT_ZLIB_FLUSH_END, .window_bits = 9, .memory_level = 1},
                    {.each_message = true, .window_bits = 9, .memory_level = 1}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        leat_problem problem;
        ck_assert_msg(leat_verify_oom(deflate_some, &all[i], &problem) == 0, "%zu: %s", i, problem.text);
    }
}
END_TEST

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
    return suite_run("zlib_deflater",
                     (const TTest *const[]){a_message_leaves_at_the_end_of_its_turn,
                                            messages_of_a_turn_share_one_flush_and_complete_in_order,
                                            writes_complete_only_when_the_transport_took_what_they_became,
                                            flushed_by_message_each_message_stays_one,
                                            flushed_at_the_end_nothing_leaves_or_completes_before,
                                            nothing_new_makes_no_bytes,
                                            no_event_waits_inside_for_the_next_one,
                                            a_stream_without_a_byte_is_a_stream_all_the_same,
                                            each_message_can_be_a_stream_of_its_own,
                                            the_trailer_leaves_before_the_close_and_behind_what_was_written,
                                            a_removed_deflater_ends_its_stream_and_what_follows_is_plain,
                                            an_aborted_stream_gives_its_memory_back_and_fails_what_it_held,
                                            the_marker_comes_once_wherever_a_block_ends,
                                            bytes_that_cannot_be_deflated_leave_whole_in_blocks_of_any_size,
                                            every_level_and_memory_level_gives_what_zlib_gives,
                                            a_dictionary_is_used_and_asked_for,
                                            a_composite_is_deflated_where_its_pieces_lie,
                                            bytes_not_yet_flushed_count_as_pending,
                                            a_small_output_keeps_no_large_block,
                                            settings_that_make_no_sense_are_refused,
                                            no_failed_allocation_leaks,
                                            out_of_memory_a_torn_stream_takes_no_more,
                                            out_of_memory_a_stream_a_message_goes_on_with_the_next,
                                            NULL});
}
