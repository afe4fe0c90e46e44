#include "core/composite.h"
#include "core/pool.h"
#include "core/text.h"
#include "tests/support/suite.h"

#include <string.h>

static const size_t KIB[] = {1024, 4096, 16384, 65536};

static leat_bytebuf *fresh(uint64_t capacity) {
    return leat_bytebuf_new(leat_unpooled(), capacity);
}

static char *ascii(size_t n) {
    static char text[65536];
    for (size_t i = 0; i < n; i++)
        text[i] = (char)(' ' + i % 95);
    return text;
}

/* ---- no growth after an exact allocation ---- */

/* ASCII characters, written by the function for each kind of text in turn. */
static int write_some_way(leat_bytebuf *buf, size_t n, int way) {
    static uint16_t units[64 * 1024];
    const char *text = ascii(n);
    if (way == 0)
        return leat_text_write_ascii(buf, text, n);
    if (way == 1)
        return leat_text_write_utf8(buf, text, n, LEAT_TEXT_REPLACE);
    if (way == 2)
        return leat_text_write_latin1(buf, (const uint8_t *)text, n);
    for (size_t i = 0; i < n; i++)
        units[i] = (uint8_t)text[i];
    return leat_text_write_utf16(buf, units, n, LEAT_TEXT_STRICT);
}

/* Writes `times` texts of `n` characters into a buffer made for exactly that; `reserve` bytes are asked for before
 * each. */
static leat_alloc_stats exact(leat_alloc *below, size_t n, int times, uint64_t reserve, int way) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, below);
    leat_bytebuf *buf = leat_bytebuf_new(&counting.alloc, n * (uint64_t)times);
    for (int i = 0; i < times; i++) {
        ck_assert_int_eq(leat_bytebuf_reserve(buf, reserve), 0);
        ck_assert_int_eq(write_some_way(buf, n, (way + i) % 4), 0);
    }
    ck_assert_uint_eq(leat_bytebuf_readable(buf), n * (uint64_t)times);
    leat_bytebuf_release(buf);
    ck_assert_uint_eq(counting.counted.live, 0);
    return counting.counted;
}

static void assert_never_grown(leat_alloc *below) {
    for (int i = 0; i < 32; i++) {
        leat_alloc_stats stats = exact(below, KIB[i / 8], i / 4 % 2 ? 4 : 1, 0, i % 4);
        ck_assert_uint_eq(stats.allocations, 1);
        ck_assert_uint_eq(stats.growths, 0);
        ck_assert_uint_eq(stats.copied, 0);
    }
}

START_TEST(an_exactly_sized_buffer_is_written_without_growing) {
    leat_pool *pool = leat_pool_new(NULL, NULL);
    assert_never_grown(leat_unpooled());
    assert_never_grown(leat_pool_alloc(pool));
    leat_pool_release(pool);
}
END_TEST

/* The control: were three bytes reserved for each character, the counters would show it. jemalloc may grow in place. */
static void assert_grown(leat_alloc *below, bool moves) {
    for (int i = 0; i < 8; i++) {
        leat_alloc_stats stats = exact(below, KIB[i / 2], i % 2 ? 4 : 1, 3 * KIB[i / 2], 0);
        ck_assert_uint_ge(stats.growths, 1);
        ck_assert(!moves || i % 2 == 0 || stats.copied >= KIB[i / 2]);
    }
}

START_TEST(reserving_the_worst_case_grows_it) {
    leat_pool *pool = leat_pool_new(NULL, NULL);
    assert_grown(leat_unpooled(), false);
    assert_grown(leat_pool_alloc(pool), true);
    leat_pool_release(pool);
}
END_TEST

START_TEST(texts_become_buffers_with_one_allocation) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    uint16_t units[500];
    uint8_t latin[500];
    for (size_t i = 0; i < 500; i++) {
        units[i] = (uint16_t)(i * 131);
        latin[i] = (uint8_t)i;
    }
    leat_bytebuf_release(leat_text_from_utf16(&counting.alloc, units, 500));
    leat_bytebuf_release(leat_text_from_latin1(&counting.alloc, latin, 500));
    ck_assert_uint_eq(counting.counted.allocations, 2);
    ck_assert_uint_eq(counting.counted.growths, 0);
}
END_TEST

/* ---- ASCII and Latin-1 ---- */

START_TEST(ascii_refuses_other_bytes_wherever_they_stand) {
    char text[300];
    for (size_t at = 0; at < sizeof text; at++) {
        memset(text, 'x', sizeof text);
        text[at] = (char)0x80;
        leat_bytebuf *buf = fresh(300);
        ck_assert_int_eq(leat_text_write_ascii(buf, text, sizeof text), LEAT_ECORRUPT);
        ck_assert_uint_eq(leat_bytebuf_readable(buf), 0);
        ck_assert_int_eq(leat_text_write_ascii(buf, text, at), 0);
        ck_assert(leat_bytebuf_equals_bytes(buf, text, at));
        leat_bytebuf_release(buf);
    }
}
END_TEST

START_TEST(latin1_becomes_the_characters_of_the_same_number) {
    static const uint8_t text[] = {'a', 0x7f, 0x80, 0xbf, 0xc0, 0xff, 0};
    static const uint8_t expected[] = {'a', 0x7f, 0xc2, 0x80, 0xc2, 0xbf, 0xc3, 0x80, 0xc3, 0xbf, 0};
    leat_bytebuf *buf = leat_text_from_latin1(leat_unpooled(), text, sizeof text);
    ck_assert(leat_bytebuf_equals_bytes(buf, expected, sizeof expected));
    ck_assert_int_eq(leat_text_write_latin1(buf, text, sizeof text), 0);
    ck_assert_uint_eq(leat_bytebuf_readable(buf), 2 * sizeof expected);
    leat_bytebuf_release(buf);
}
END_TEST

/* ---- every character ---- */

static size_t to_units(uint32_t character, uint16_t *units) {
    if (character < 0x10000) {
        units[0] = (uint16_t)character;
        return 1;
    }
    units[0] = (uint16_t)(0xd800 + ((character - 0x10000) >> 10));
    units[1] = (uint16_t)(0xdc00 + ((character - 0x10000) & 0x3ff));
    return 2;
}

/* Written strictly, a character is valid UTF-8 of the length that was told; a surrogate is refused. */
static bool is_written_right(leat_bytebuf *buf, uint32_t character) {
    uint16_t units[2];
    size_t n = to_units(character, units);
    leat_bytebuf_clear(buf);
    int code = leat_text_write_utf16(buf, units, n, LEAT_TEXT_STRICT);
    uint64_t length = leat_bytebuf_readable(buf);
    if (character >= 0xd800 && character < 0xe000)
        return code == LEAT_ECORRUPT && length == 0;
    return code == 0 && length == leat_text_utf16_length(units, n) &&
           leat_text_utf8_valid(leat_bytebuf_data(buf), (size_t)length) == length;
}

START_TEST(every_character_of_utf16_is_valid_utf8_and_no_surrogate_is) {
    leat_bytebuf *buf = fresh(4);
    for (uint32_t character = 0; character < 0x110000; character++)
        if (!is_written_right(buf, character))
            ck_abort_msg("U+%04X", (unsigned)character);
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(whatever_is_written_has_the_length_that_was_told) {
    uint8_t bytes[200];
    uint32_t random = 99;
    for (int round = 0; round < 20000; round++) {
        size_t n = (random >> 16) % sizeof bytes;
        for (size_t i = 0; i < n; i++) {
            random = random * 1664525 + 1013904223;
            bytes[i] = (uint8_t)(random >> (round % 3 ? 24 : 25));
        }
        leat_bytebuf *buf = fresh(0);
        ck_assert_int_eq(leat_text_write_utf8(buf, bytes, n, LEAT_TEXT_REPLACE), 0);
        uint64_t length = leat_bytebuf_readable(buf);
        ck_assert_uint_eq(length, leat_text_utf8_length(bytes, n));
        ck_assert_uint_eq(leat_text_utf8_valid(leat_bytebuf_data(buf), (size_t)length), length);
        leat_bytebuf_release(buf);
    }
}
END_TEST

/* What the text before it is, a character of three bytes or part of one at every place of a few blocks. */
static void assert_found(const char *around, size_t at, const char *what, bool valid) {
    uint8_t text[400];
    const size_t n = sizeof text;
    memset(text, 'x', n);
    for (size_t i = 0; i < at; i++)
        text[i] = (uint8_t)around[i % strlen(around)];
    memcpy(text + at, what, strlen(what));
    leat_bytebuf *buf = fresh(sizeof text);
    ck_assert_int_eq(leat_text_write_utf8(buf, text, n, LEAT_TEXT_STRICT), valid ? 0 : LEAT_ECORRUPT);
    ck_assert(!valid || leat_bytebuf_equals_bytes(buf, text, n));
    leat_bytebuf_clear(buf);
    ck_assert_int_eq(leat_text_write_utf8(buf, text, n, LEAT_TEXT_REPLACE), 0);
    ck_assert_uint_eq(leat_bytebuf_readable(buf), leat_text_utf8_length(text, n));
    leat_bytebuf_release(buf);
}

START_TEST(characters_and_faults_are_found_wherever_they_stand) {
    for (size_t at = 0; at < 390; at++) {
        assert_found("plain ", at, "\xe2\x82\xac", true);
        assert_found("plain ", at, "\xe2\x82\xac\xf0\x9f\x98\x80", true);
        assert_found("plain ", at, "\xe2\x82", false);
        assert_found("plain ", at, "\x80", false);
        assert_found("\xc3\xa9", at / 2 * 2, "\xd0\xb6", true);
        assert_found("\xc3\xa9", at / 2 * 2, "\xf0\x9f\x98", false);
    }
}
END_TEST

/* ---- where it is written ---- */

START_TEST(limits_and_sharing_refuse_a_write_and_leave_the_buffer_alone) {
    leat_bytebuf *small = leat_bytebuf_new_with(leat_unpooled(), 4, 4, 0);
    ck_assert_int_eq(leat_text_write_utf8(small, "12345", 5, LEAT_TEXT_STRICT), LEAT_ELIMIT);
    ck_assert_int_eq(leat_text_write_utf8(small, "\xff\xff", 2, LEAT_TEXT_REPLACE), LEAT_ELIMIT);
    ck_assert_int_eq(leat_text_write_ascii(small, "1234", 4), 0);
    leat_bytebuf *shared = leat_bytebuf_retain(small);
    ck_assert_int_eq(leat_text_write_ascii(shared, "1", 1), LEAT_ESHARED);
    leat_bytebuf_release(shared);
    ck_assert(leat_bytebuf_equals_bytes(small, "1234", 4));
    leat_bytebuf_release(small);
}
END_TEST

START_TEST(a_stream_reads_characters_across_the_borders_of_a_composite) {
    static const char text[] = "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80";
    leat_composite *composite = leat_composite_new(leat_unpooled(), 8);
    for (size_t i = 0; i < sizeof text - 1; i++)
        ck_assert_int_eq(leat_composite_add(composite, leat_bytebuf_from_bytes(leat_unpooled(), text + i, 1)), 0);
    leat_text_stream stream = {0};
    leat_bytebuf *out = fresh(0), *pieces = leat_composite_buffer(composite);
    ck_assert_int_eq(leat_text_stream_buffer(&stream, out, pieces, LEAT_TEXT_STRICT), 0);
    ck_assert_int_eq(leat_text_stream_end(&stream, out, LEAT_TEXT_STRICT), 0);
    ck_assert(leat_bytebuf_equals_bytes(out, text, sizeof text - 1));
    leat_bytebuf_release(out);
    leat_bytebuf_release(pieces);
}
END_TEST

START_TEST(text_is_written_into_a_composite) {
    leat_composite *composite = leat_composite_new(leat_unpooled(), 4);
    ck_assert_int_eq(leat_composite_add(composite, leat_bytebuf_from_text(leat_unpooled(), "price: ")), 0);
    leat_bytebuf *buf = leat_composite_buffer(composite);
    ck_assert_int_eq(leat_text_write_latin1(buf, (const uint8_t *)"5\xa3", 2), 0);
    ck_assert(leat_bytebuf_equals_bytes(buf, "price: 5\xc2\xa3", 10));
    leat_bytebuf_release(buf);
}
END_TEST

int main(void) {
    return suite_run(
        "text",
        (const TTest *const[]){
            an_exactly_sized_buffer_is_written_without_growing, reserving_the_worst_case_grows_it,
            texts_become_buffers_with_one_allocation, ascii_refuses_other_bytes_wherever_they_stand,
            latin1_becomes_the_characters_of_the_same_number,
            every_character_of_utf16_is_valid_utf8_and_no_surrogate_is,
            whatever_is_written_has_the_length_that_was_told, characters_and_faults_are_found_wherever_they_stand,
            limits_and_sharing_refuse_a_write_and_leave_the_buffer_alone,
            a_stream_reads_characters_across_the_borders_of_a_composite, text_is_written_into_a_composite, NULL});
}
