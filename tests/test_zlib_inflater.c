#include "core/transport.h"
#include "core/verify.h"
#include "handlers/zlib_deflater.h"
#include "tests/support/finish.h"
#include "tests/support/tolerant.h"
#include "tests/support/zlib_inflate.h"
#include "tests/support/zlib_oracle.h"

#include <stdlib.h>
#include <string.h>

typedef leat_zlib_inflater_config config;

#define BYTES(text)                                                                                                    \
    (leat_span) {                                                                                                      \
        (const uint8_t *)(text), sizeof(text) - 1                                                                      \
    }

static const uint8_t zeros[10 << 20];

/* gzip of "A": as another implementation wrote it. */
#define GZIP_A "\x1f\x8b\x08\0\0\0\0\0\0\x03\x73\x04\0\x8b\x9e\xd9\xd3\x01\0\0\0"

/* ---- what comes out, and when ---- */

START_TEST(what_can_be_inflated_is_fired_in_the_same_turn) {
    leat_embedded *e = inflating_channel(NULL);
    leat_embedded_feed(e, "\x78\x9c\xca\x48\xcd\xc9\xc9\x07\0\0\0\xff\xff", 13);
    ck_assert_str_eq(leat_embedded_read_text(e), "hello");
    leat_embedded_feed(e, "\xca\0\x11\0\0\0\0\xff\xff", 9);
    ck_assert_str_eq(leat_embedded_read_text(e), "hello");
    leat_embedded_feed_eof(e);
    ck_assert_int_eq(take_tolerated(e), LEAT_ETRUNCATED);
    assert_nothing_left(e);
}
END_TEST

/* zlib swallows the last byte of input while it still holds output: room that is left tells, not input. */
START_TEST(runs_of_any_length_come_out_whole_whatever_the_room) {
    static const uint32_t chunks[] = {64, 1000, 49999, 0};
    for (size_t length = 1; length < 200000; length += 1 + length / 40 * EVERY_NTH)
        for (size_t i = 0; i < 4; i++) {
            const config how = {.format = LEAT_ZLIB_RAW, .chunk = chunks[i]};
            leat_bytebuf *in = oracle_deflate(zeros, length, &(oracle_options){.format = LEAT_ZLIB_RAW});
            assert_inflated(&how, span_of(in), 0, 0, (leat_span){zeros, length}, 0);
            assert_inflated(&how, span_of(in), 0, 1, (leat_span){zeros, length}, 0);
            leat_bytebuf_release(in);
        }
}
END_TEST

START_TEST(buffers_are_no_larger_than_a_chunk_and_small_ones_keep_no_large_block) {
    const config how = {.chunk = 5000};
    leat_bytebuf *in = oracle_deflate(zeros, 100000, &(oracle_options){0});
    leat_embedded *e = inflating_channel(&how);
    leat_embedded_feed(e, leat_bytebuf_data(in), (size_t)leat_bytebuf_readable(in));
    uint64_t total = 0;
    for (leat_msg msg; leat_embedded_take_read(e, &msg); leat_msg_release(msg)) {
        uint64_t length = leat_bytebuf_readable(msg.obj);
        ck_assert_uint_le(length, 5000);
        ck_assert_uint_le(leat_bytebuf_storage_size(msg.obj), 4 * length + 512);
        total += length;
    }
    ck_assert_uint_eq(total, 100000);
    leat_bytebuf_release(in);
    assert_nothing_left(e);
}
END_TEST

START_TEST(formats_are_told_apart_by_their_first_two_bytes) {
    for (int format = LEAT_ZLIB_GZIP; format <= LEAT_ZLIB_RAW; format++) {
        leat_bytebuf *in = oracle_deflate("told apart", 10, &(oracle_options){.format = (leat_zlib_format)format});
        for (size_t at = 0; at <= leat_bytebuf_readable(in); at++)
            assert_inflated(NULL, span_of(in), at, 0, BYTES("told apart"), 0);
        leat_bytebuf_release(in);
    }
}
END_TEST

START_TEST(a_stream_with_a_small_window_is_no_raw_one) {
    leat_embedded *e = leat_embedded_new((leat_stage[]){
        {&leat_zlib_deflater, &(const leat_zlib_deflater_config){.format = LEAT_ZLIB_ZLIB, .window_bits = 9}, NULL},
        {0}});
    leat_embedded_write_text(e, "small window");
    leat_embedded_close(e);
    leat_bytebuf *in = leat_embedded_take_written(e);
    ck_assert_uint_eq(leat_bytebuf_get_u8(in, 0), 0x18);
    assert_inflated(NULL, span_of(in), 0, 1, BYTES("small window"), 0);
    leat_bytebuf_release(in);
    finish(e);
}
END_TEST

/* ---- members and what stands behind ---- */

static void assert_in_threes(const config *how, leat_span in, leat_span expected, int code) {
    for (size_t first = 0; first <= in.length; first++)
        for (size_t piece = 1; piece <= in.length - first; piece += (EVERY_NTH + 1) / 2)
            assert_inflated(how, in, first, piece, expected, code);
}

START_TEST(members_follow_each_other_at_every_split) {
    assert_in_threes(NULL, BYTES(GZIP_A GZIP_A), BYTES("AA"), 0);
    assert_in_threes(NULL, BYTES(GZIP_A GZIP_A "bad"), BYTES("AA"), LEAT_ECORRUPT);
    assert_in_threes(NULL, BYTES(GZIP_A "\x1f"), BYTES("A"), LEAT_ECORRUPT);
    assert_in_threes(&(config){.trailing = LEAT_ZLIB_TRAILING_IGNORE}, BYTES(GZIP_A "\x1f\x8c"), BYTES("A"), 0);
    assert_in_threes(&(config){.trailing = LEAT_ZLIB_TRAILING_PASS}, BYTES(GZIP_A "\x1fx"), BYTES("A\x1fx"), 0);
    assert_in_threes(&(config){.one_member = true}, BYTES(GZIP_A GZIP_A), BYTES("A"), LEAT_ECORRUPT);
}
END_TEST

START_TEST(every_field_of_a_gzip_header_is_read_at_every_split) {
    static const char in[] =
        "\x1f\x8b\x08\x1f\1\2\3\4\2\3\x05\0extraname\0comment\0\xb3\xff\x73\x04\0\x8b\x9e\xd9\xd3\1\0\0\0";
    assert_in_threes(NULL, BYTES(in), BYTES("A"), 0);
    char wrong[sizeof in];
    memcpy(wrong, in, sizeof in);
    wrong[30] ^= 1; /* the check of the header */
    assert_inflated(NULL, BYTES(wrong), 0, 0, BYTES(""), LEAT_ECORRUPT);
    wrong[30] ^= 1;
    wrong[3] ^= 0x20; /* a flag that is reserved */
    assert_inflated(NULL, BYTES(wrong), 0, 0, BYTES(""), LEAT_ECORRUPT);
}
END_TEST

START_TEST(what_came_before_a_wrong_check_is_fired_before_the_error) {
    static const char in[] = GZIP_A;
    for (size_t at = sizeof in - 9; at < sizeof in - 1; at++) {
        char wrong[sizeof in];
        memcpy(wrong, in, sizeof in);
        wrong[at] ^= 1;
        assert_inflated(NULL, BYTES(wrong), 0, 1, BYTES("A"), LEAT_ECORRUPT);
    }
}
END_TEST

START_TEST(a_stream_cut_short_anywhere_is_truncated_at_the_end) {
    static const char zlib[] = "\x78\x9c\x73\x04\0\0\x42\0\x42";
    for (size_t length = 0; length < sizeof zlib - 1; length++) {
        inflation got = inflate_in(NULL, (leat_span){(const uint8_t *)zlib, length}, 0, 0);
        ck_assert_int_eq(got.code, LEAT_ETRUNCATED);
        ck_assert_uint_le(leat_bytebuf_readable(got.bytes), 1);
        leat_bytebuf_release(got.bytes);
    }
    assert_inflated(NULL, BYTES(zlib), 0, 0, BYTES("A"), 0);
}
END_TEST

START_TEST(after_an_error_nothing_more_comes_and_zlib_is_gone) {
    leat_embedded *e = inflating_channel(NULL);
    leat_embedded_feed(e, "\x1f\x8b\x09 not deflate", 15);
    ck_assert_int_eq(take_tolerated(e), LEAT_ECORRUPT);
    leat_embedded_feed(e, GZIP_A, sizeof GZIP_A - 1);
    ck_assert_int_eq(take_tolerated(e), 0);
    ck_assert_uint_eq(leat_channel_held(leat_embedded_channel(e)), 0);
    assert_nothing_left(e);
}
END_TEST

/* ---- limits ---- */

static void assert_bounded(leat_zlib_format format, leat_zlib_format expected, size_t piece) {
    static const uint64_t limit = 1 << 20;
    leat_bytebuf *in = oracle_deflate(zeros, sizeof zeros, &(oracle_options){.format = format});
    const config how = {.format = expected, .max_total = limit, .max_ratio = UINT64_MAX};
    inflation got = inflate_in(&how, span_of(in), 0, piece);
    ck_assert_int_eq(got.code, LEAT_ELIMIT);
    ck_assert_uint_le(leat_bytebuf_readable(got.bytes), limit);
    leat_bytebuf_release(got.bytes);
    leat_bytebuf_release(in);
}

START_TEST(a_bomb_ends_at_the_limit_in_every_format) {
    for (int format = LEAT_ZLIB_GZIP; format <= LEAT_ZLIB_RAW; format++)
        for (size_t piece = 0; piece < 2; piece++) {
            assert_bounded((leat_zlib_format)format, (leat_zlib_format)format, piece);
            assert_bounded((leat_zlib_format)format, LEAT_ZLIB_AUTO, piece);
        }
}
END_TEST

START_TEST(just_the_limit_is_fine_and_one_byte_more_is_not) {
    leat_bytebuf *in = oracle_deflate(zeros, 5000, &(oracle_options){0});
    assert_inflated(&(config){.max_total = 5000}, span_of(in), 0, 0, (leat_span){zeros, 5000}, 0);
    inflation got = inflate_in(&(config){.max_total = 4999}, span_of(in), 0, 0);
    ck_assert_int_eq(got.code, LEAT_ELIMIT);
    ck_assert_uint_le(leat_bytebuf_readable(got.bytes), 4999);
    leat_bytebuf_release(got.bytes);
    leat_bytebuf_release(in);
}
END_TEST

START_TEST(the_limit_counts_all_members_together) {
    assert_inflated(&(config){.max_total = 2}, BYTES(GZIP_A GZIP_A), 0, 0, BYTES("AA"), 0);
    assert_inflated(&(config){.max_total = 2}, BYTES(GZIP_A GZIP_A GZIP_A), 0, 1, BYTES("AA"), LEAT_ELIMIT);
}
END_TEST

START_TEST(a_ratio_that_only_bombs_have_is_refused_by_default) {
    leat_bytebuf *in = oracle_deflate(zeros, sizeof zeros, &(oracle_options){0});
    inflation got = inflate_in(NULL, span_of(in), 0, 0);
    ck_assert_int_eq(got.code, LEAT_ELIMIT);
    ck_assert_uint_lt(leat_bytebuf_readable(got.bytes), 4 << 20);
    leat_bytebuf_release(got.bytes);
    assert_inflated(&(config){.max_ratio = 2000}, span_of(in), 0, 0, (leat_span){zeros, sizeof zeros}, 0);
    leat_bytebuf_release(in);
}
END_TEST

START_TEST(a_bomb_takes_little_memory) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_bytebuf *in = oracle_deflate(zeros, sizeof zeros, &(oracle_options){0}), *out;
    ck_assert_int_eq(leat_zlib_inflate(&counting.alloc, &(config){.max_total = 1 << 20}, in, &out), LEAT_ELIMIT);
    ck_assert_ptr_null(out);
    ck_assert_uint_lt(counting.counted.bytes, 4 << 20);
    ck_assert_uint_eq(counting.counted.live, 0);
    leat_bytebuf_release(in);
}
END_TEST

int main(void) {
    return suite_run("zlib_inflater",
                     (const TTest *const[]){
                         what_can_be_inflated_is_fired_in_the_same_turn,
                         runs_of_any_length_come_out_whole_whatever_the_room,
                         buffers_are_no_larger_than_a_chunk_and_small_ones_keep_no_large_block,
                         formats_are_told_apart_by_their_first_two_bytes, a_stream_with_a_small_window_is_no_raw_one,
                         members_follow_each_other_at_every_split, every_field_of_a_gzip_header_is_read_at_every_split,
                         what_came_before_a_wrong_check_is_fired_before_the_error,
                         a_stream_cut_short_anywhere_is_truncated_at_the_end,
                         after_an_error_nothing_more_comes_and_zlib_is_gone, a_bomb_ends_at_the_limit_in_every_format,
                         just_the_limit_is_fine_and_one_byte_more_is_not, the_limit_counts_all_members_together,
                         a_ratio_that_only_bombs_have_is_refused_by_default, a_bomb_takes_little_memory, NULL});
}
