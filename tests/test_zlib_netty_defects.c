/* Defects that Netty 4.1 has or had in its zlib codecs, in the numbering of tests/test_netty_defects.c: here they are
 * not. */
#include "core/embedded.h"
#include "handlers/zlib_deflater.h"
#include "handlers/zlib_inflater.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"
#include "tests/support/zlib_oracle.h"

#include <stdlib.h>
#include <string.h>

static const leat_zlib_inflater_config raw = {.format = LEAT_ZLIB_RAW};

/* Feeds a stream, byte by byte or at once; returns how many bytes came out, and in how many buffers. */
static uint64_t inflated_length(leat_bytebuf *stream, bool at_once, size_t *buffers) {
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{&leat_zlib_inflater, &raw, NULL}, {0}});
    size_t size = (size_t)leat_bytebuf_readable(stream), step = at_once ? size : 1;
    uint64_t length = 0;
    for (size_t at = 0; at < size; at += step)
        leat_embedded_feed(embedded, leat_bytebuf_data(stream) + at, step);
    *buffers = 0;
    for (leat_msg msg; leat_embedded_take_read(embedded, &msg); leat_msg_release(msg), ++*buffers)
        length += leat_msg_size(msg);
    assert_nothing_left(embedded);
    return length;
}

static leat_bytebuf *run_of(size_t length) {
    uint8_t *bytes = calloc(1, length);
    ck_assert_ptr_nonnull(bytes);
    leat_bytebuf *stream = oracle_deflate(bytes, length, &(const oracle_options){.format = LEAT_ZLIB_RAW});
    free(bytes);
    return stream;
}

START_TEST(d15_output_that_is_pending_when_the_input_is_used_up_comes_out) {
    size_t buffers;
    for (size_t length = 1; length < 6000; length += 1 + 97 * (EVERY_NTH > 1)) {
        leat_bytebuf *stream = run_of(length);
        ck_assert_uint_eq(inflated_length(stream, true, &buffers), length);
        ck_assert_uint_eq(inflated_length(stream, false, &buffers), length);
        leat_bytebuf_release(stream);
    }
}
END_TEST

static void feed_gzip(leat_embedded *embedded, const char *header, size_t length) {
    static const uint8_t rest[] = {0x03, 0, 0, 0, 0, 0, 0, 0, 0, 0}; /* an empty block, CRC and length */
    leat_embedded_feed(embedded, header, length);
    leat_embedded_feed(embedded, rest, sizeof rest);
}

START_TEST(d16_the_extra_field_of_a_gzip_header_is_skipped) {
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{.handler = &leat_zlib_inflater}, {0}});
    feed_gzip(embedded, "\x1f\x8b\x08\x04\0\0\0\0\0\0\x03\0abc", 15);
    leat_embedded_feed_eof(embedded);
    ck_assert_int_eq(leat_embedded_take_error(embedded), 0);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(d16_both_bytes_of_the_magic_number_are_looked_at) {
    const leat_zlib_inflater_config gzip = {.format = LEAT_ZLIB_GZIP};
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{&leat_zlib_inflater, &gzip, NULL}, {0}});
    feed_gzip(embedded, "\x1f\x8c\x08\0\0\0\0\0\0\0", 10);
    ck_assert_int_eq(leat_embedded_take_error(embedded), LEAT_ECORRUPT);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(d16_a_stream_that_is_cut_off_is_reported) {
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{.handler = &leat_zlib_inflater}, {0}});
    leat_embedded_feed(embedded, "\x1f\x8b\x08\0\0\0\0\0\0\0\x03", 11);
    leat_embedded_feed_eof(embedded);
    ck_assert_int_eq(leat_embedded_take_error(embedded), LEAT_ETRUNCATED);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(d17_much_output_comes_in_few_buffers) {
    size_t buffers;
    leat_bytebuf *stream = run_of(100000);
    ck_assert_uint_eq(inflated_length(stream, true, &buffers), 100000);
    ck_assert_uint_le(buffers, 16); /* of 16 KiB, but for the first ones */
    leat_bytebuf_release(stream);
}
END_TEST

START_TEST(d18_the_memory_of_zlib_goes_with_a_removed_handler) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_embedded_options options = {.alloc = &counting.alloc, .without_ledger = true};
    leat_embedded *embedded =
        leat_embedded_new_with((leat_stage[]){{.handler = &leat_zlib_deflater}, {0}}, &options, NULL);
    leat_embedded_write_text(embedded, "text");
    ck_assert_uint_gt(counting.counted.live_bytes, 200000);
    leat_ctx_remove(leat_channel_find(leat_embedded_channel(embedded), "zlib_deflater"));
    leat_embedded_run(embedded);
    leat_bytebuf_release(leat_embedded_take_written(embedded));
    ck_assert_uint_lt(counting.counted.live_bytes, 100000);
    assert_nothing_left(embedded);
}
END_TEST

int main(void) {
    return suite_run("zlib_netty_defects",
                     (const TTest *const[]){d15_output_that_is_pending_when_the_input_is_used_up_comes_out,
                                            d16_the_extra_field_of_a_gzip_header_is_skipped,
                                            d16_both_bytes_of_the_magic_number_are_looked_at,
                                            d16_a_stream_that_is_cut_off_is_reported,
                                            d17_much_output_comes_in_few_buffers,
                                            d18_the_memory_of_zlib_goes_with_a_removed_handler, NULL});
}
