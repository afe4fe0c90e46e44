/* Writes at the borders: text that fits exactly, and sources that lie in the buffer itself. */
#include "core/bytebuf_array.h"
#include "core/composite.h"
#include "core/text.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

START_TEST(a_format_that_fits_exactly_is_written_without_growing) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_bytebuf *bounded = leat_bytebuf_new_with(leat_unpooled(), 2, 5, 0),
                 *exact = leat_bytebuf_new(&counting.alloc, 10);
    ck_assert(leat_bytebuf_write_format(bounded, "%s", "hello"));
    ck_assert(leat_bytebuf_equals_bytes(bounded, "hello", 5));
    ck_assert(!leat_bytebuf_write_format(bounded, "!") && leat_bytebuf_write_format(bounded, "%s", ""));
    ck_assert(leat_bytebuf_write_format(exact, "%*d", (int)leat_bytebuf_writable(exact), 7));
    ck_assert_uint_eq(leat_bytebuf_get_u8(exact, leat_bytebuf_writer_index(exact) - 1), '7');
    ck_assert_uint_eq(leat_bytebuf_writable(exact), 0);
    ck_assert_uint_eq(counting.counted.growths, 0);
    leat_bytebuf_release(bounded);
    leat_bytebuf_release(exact);
}
END_TEST

/* ---- the source is the buffer's own: doubled again and again, it moves ---- */

typedef bool (*doubling)(leat_bytebuf *buf, const uint8_t *data, size_t n);

static bool as_bytes(leat_bytebuf *buf, const uint8_t *data, size_t n) {
    return leat_bytebuf_write_bytes(buf, data, n);
}

static bool as_ascii(leat_bytebuf *buf, const uint8_t *data, size_t n) {
    return leat_text_write_ascii(buf, (const char *)data, n) == 0;
}

static bool as_utf8(leat_bytebuf *buf, const uint8_t *data, size_t n) {
    return leat_text_write_utf8(buf, data, n, LEAT_TEXT_REPLACE) == 0;
}

static bool as_latin1(leat_bytebuf *buf, const uint8_t *data, size_t n) {
    return leat_text_write_latin1(buf, data, n) == 0;
}

static bool as_array(leat_bytebuf *buf, const uint8_t *data, size_t n) {
    return leat_bytebuf_write_array(buf, data, n / 2, 2, LEAT_LITTLE_ENDIAN);
}

static bool as_swapped_array(leat_bytebuf *buf, const uint8_t *data, size_t n) {
    return leat_bytebuf_write_array(buf, data, n / 2, 2, LEAT_BIG_ENDIAN);
}

/* Eight bytes are four units. */
static bool as_utf16(leat_bytebuf *buf, const uint8_t *data, size_t n) {
    return leat_text_write_utf16(buf, (const uint16_t *)(const void *)data, n / 2, LEAT_TEXT_STRICT) == 0;
}

static void double_itself(doubling append, leat_bytebuf *buf) {
    const char *begin = append == as_utf16 ? "s\0s\0s\0s" : "ssssssss";
    ck_assert(leat_bytebuf_write_bytes(buf, begin, 8));
    while (leat_bytebuf_readable(buf) < 5000)
        ck_assert(append(buf, leat_bytebuf_contiguous(buf, 0, 8), 8));
    for (uint64_t at = 8; at < leat_bytebuf_writer_index(buf); at++)
        ck_assert_uint_eq(leat_bytebuf_get_u8(buf, at), 's');
    leat_bytebuf_release(buf);
}

START_TEST(bytes_of_the_buffer_itself_may_be_appended_to_it) {
    static const doubling ways[] = {as_bytes, as_ascii, as_utf8, as_latin1, as_utf16, as_array, as_swapped_array};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        double_itself(ways[i], leat_bytebuf_new(leat_unpooled(), 1));
        double_itself(ways[i], leat_composite_buffer(leat_composite_new(leat_unpooled(), 1)));
    }
}
END_TEST

START_TEST(text_with_faults_may_lie_in_the_buffer_itself) {
    leat_bytebuf *buf = leat_bytebuf_from_bytes(leat_unpooled(), "\xff", 1);
    uint64_t length = 1;
    for (int i = 0; i < 10; i++, length += length + 2)
        ck_assert_int_eq(leat_text_write_utf8(buf, leat_bytebuf_data(buf), length, LEAT_TEXT_REPLACE), 0);
    ck_assert_uint_eq(leat_bytebuf_readable(buf), length);
    ck_assert_uint_eq(leat_text_utf8_valid(leat_bytebuf_data(buf) + 1, length - 1), length - 1);
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(bytes_that_were_read_may_be_put_in_front_again) {
    for (size_t n = 0; n <= 4; n++)
        for (size_t from = 0; from + n <= 6; from++) {
            leat_bytebuf *buf = leat_bytebuf_from_text(leat_unpooled(), "abcdefgh");
            char expected[16];
            snprintf(expected, sizeof expected, "%.*sefgh", (int)n, &"abcdefgh"[from]);
            const uint8_t *data = leat_bytebuf_contiguous(buf, from, n);
            ck_assert(leat_bytebuf_skip(buf, 4) && leat_bytebuf_prepend(buf, data, n));
            ck_assert(leat_bytebuf_equals_bytes(buf, expected, n + 4));
            leat_bytebuf_release(buf);
        }
}
END_TEST

START_TEST(a_writer_says_when_what_it_wrote_is_lost) {
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 64);
    leat_writer writer = leat_writer_begin(buf);
    ck_assert(leat_writer_u32(&writer, 1));
    leat_bytebuf_retain(buf);
    ck_assert(!leat_writer_finish(&writer));
    leat_bytebuf_release(buf);
    writer = leat_writer_begin(buf);
    ck_assert(leat_writer_u32(&writer, 2) && leat_writer_finish(&writer));
    ck_assert_uint_eq(leat_bytebuf_readable(buf), 4);
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(a_position_goes_no_further_than_the_end) {
    for (int parted = 0; parted < 2; parted++) {
        leat_bytebuf *buf = parted ? leat_composite_buffer(leat_composite_new(leat_unpooled(), 1))
                                   : leat_bytebuf_new(leat_unpooled(), 64);
        leat_bytebuf_position position = {0, 0};
        leat_span span;
        ck_assert(leat_bytebuf_write_bytes(buf, "seven..", 7));
        leat_bytebuf_position_advance(buf, &position, 5);
        leat_bytebuf_position_advance(buf, &position, UINT64_MAX);
        ck_assert_uint_eq(leat_bytebuf_spans_at(buf, position, &span, 1, NULL), 0);
        ck_assert(leat_bytebuf_write_bytes(buf, "more", 4));
        ck_assert_uint_eq(leat_bytebuf_spans_at(buf, position, &span, 1, NULL), 1);
        ck_assert(span.length == 4 && memcmp(span.bytes, "more", 4) == 0);
        leat_bytebuf_release(buf);
    }
}
END_TEST

int main(void) {
    return suite_run("bytebuf_borders", (const TTest *const[]){a_format_that_fits_exactly_is_written_without_growing,
                                                               bytes_of_the_buffer_itself_may_be_appended_to_it,
                                                               text_with_faults_may_lie_in_the_buffer_itself,
                                                               bytes_that_were_read_may_be_put_in_front_again,
                                                               a_writer_says_when_what_it_wrote_is_lost,
                                                               a_position_goes_no_further_than_the_end, NULL});
}
