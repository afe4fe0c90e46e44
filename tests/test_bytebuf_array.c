/* Arrays of numbers against the same numbers one by one: every element, both orders, every kind of buffer. */
#include "core/bytebuf_array.h"
#include "core/composite.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1025, BYTES = MOST * 8, NUMBERS = 16 };

/* Around the widths of registers: a block less one, a block, a block and one. */
static const size_t lengths[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, MOST};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* Any bits, and not the same in any two bytes of an element. */
static void fill(void *memory, size_t n) {
    uint8_t *bytes = memory;
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(i * 37 + i / 256 + 1);
}

/* ---- every element, written and read, against its single form ---- */

#define SINGLE_FORM(name, type, width, order)                                                                          \
    static void check_##name(const type *values, size_t n) {                                                           \
        uint8_t expected[BYTES], back[BYTES];                                                                          \
        for (size_t i = 0; i < n; i++)                                                                                 \
            leat_store_##name(expected + i * (width), values[i]);                                                      \
        leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 0);                                                      \
        ck_assert(leat_bytebuf_write_##name##_array(buf, values, n));                                                  \
        ck_assert(leat_bytebuf_equals_bytes(buf, expected, n *(width)));                                               \
        ck_assert(leat_bytebuf_get_##name##_array(buf, 0, (type *)(void *)back, n));                                   \
        ck_assert(memcmp(back, values, n *(width)) == 0);                                                              \
        memset(back, 0, sizeof back);                                                                                  \
        ck_assert(leat_bytebuf_write_zero(buf, n *(width)));                                                           \
        ck_assert(leat_bytebuf_set_##name##_array(buf, n *(width), values, n));                                        \
        ck_assert(leat_bytebuf_skip(buf, n *(width)));                                                                 \
        ck_assert(leat_bytebuf_equals_bytes(buf, expected, n *(width)));                                               \
        ck_assert(leat_bytebuf_read_##name##_array(buf, (type *)(void *)back, n));                                     \
        ck_assert(memcmp(back, values, n *(width)) == 0);                                                              \
        ck_assert_uint_eq(leat_bytebuf_readable(buf), 0);                                                              \
        leat_bytebuf_release(buf);                                                                                     \
    }
LEAT_ARRAYS(SINGLE_FORM)

START_TEST(an_array_is_what_its_elements_are_one_by_one) {
    static uint64_t memory[MOST];
    fill(memory, sizeof memory);
    for (size_t i = 0; i < LENGTHS; i++) {
#define CHECK(name, type, width, order) check_##name((const type *)(void *)memory, lengths[i]);
        LEAT_ARRAYS(CHECK)
    }
}
END_TEST

/* ---- every kind of buffer ---- */

/* Splits [0, n) at every `step` bytes into components, some of them slices, one of them empty. */
static leat_bytebuf *pieces(const uint8_t *bytes, size_t n, size_t step) {
    leat_composite *composite = leat_composite_new(leat_unpooled(), 2);
    for (size_t at = 0; at < n; at += step) {
        size_t length = n - at < step ? n - at : step;
        leat_bytebuf *whole = leat_bytebuf_from_bytes(leat_unpooled(), bytes + at, length);
        ck_assert_int_eq(leat_composite_add(composite, leat_bytebuf_split(whole, length)), 0);
        leat_bytebuf_release(whole);
    }
    ck_assert_int_eq(leat_composite_add(composite, leat_bytebuf_new(leat_unpooled(), 0)), 0);
    return leat_composite_buffer(composite);
}

/* What a buffer of `n` elements gives, from an offset on, against the same elements of flat memory. */
static void assert_reads(leat_bytebuf *buf, const uint8_t *flat, size_t n, unsigned width) {
    uint8_t expected[512], got[512 + 1];
    for (size_t i = 0; i < n * width; i++)
        expected[i] = flat[i - i % width + (width - 1 - i % width)];
    leat_byte_order swapped = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? LEAT_BIG_ENDIAN : LEAT_LITTLE_ENDIAN;
    uint64_t reader = leat_bytebuf_reader_index(buf);
    ck_assert(leat_bytebuf_get_array(buf, reader, got + 1, n, width, swapped));
    ck_assert(memcmp(got + 1, expected, n * width) == 0);
    ck_assert(leat_bytebuf_get_array(buf, reader, got, n, width, !swapped));
    ck_assert(memcmp(got, flat, n * width) == 0);
    leat_reader cursor = leat_reader_begin(buf);
    ck_assert(leat_reader_array(&cursor, got, n, width, swapped));
    ck_assert(memcmp(got, expected, n * width) == 0);
    ck_assert_uint_eq(leat_reader_index(&cursor), reader + n * width);
}

START_TEST(borders_of_components_tear_no_element) {
    uint8_t flat[512];
    fill(flat, sizeof flat);
    for (unsigned width = 1; width <= 8; width *= 2)
        for (size_t step = 1; step <= 67; step += step < 20 ? 1 : 13)
            for (size_t offset = 0; offset < 3; offset++) {
                leat_bytebuf *buf = pieces(flat, sizeof flat, step);
                ck_assert(leat_bytebuf_skip(buf, offset));
                assert_reads(buf, flat + offset, (sizeof flat - offset) / width, width);
                leat_bytebuf_release(buf);
            }
}
END_TEST

START_TEST(an_array_is_changed_across_borders) {
    uint64_t values[NUMBERS], back[NUMBERS];
    uint8_t zero[NUMBERS * 8 + 2] = {0}, edge;
    fill(values, sizeof values);
    for (size_t step = 1; step < sizeof zero; step++) {
        leat_bytebuf *buf = pieces(zero, sizeof zero, step);
        ck_assert(leat_bytebuf_set_u64_array(buf, 1, values, NUMBERS));
        for (uint64_t i = 0; i < NUMBERS; i++)
            ck_assert_uint_eq(leat_bytebuf_get_u64(buf, 1 + 8 * i), values[i]);
        ck_assert(leat_bytebuf_set_u64_le_array(buf, 1, values, NUMBERS));
        ck_assert(leat_bytebuf_read_u8(buf, &edge) && edge == 0);
        ck_assert(leat_bytebuf_read_u64_le_array(buf, back, NUMBERS));
        ck_assert_mem_eq(back, values, sizeof back);
        ck_assert(leat_bytebuf_read_u8(buf, &edge) && edge == 0);
        ck_assert_uint_eq(leat_bytebuf_readable(buf), 0);
        leat_bytebuf_release(buf);
    }
}
END_TEST

START_TEST(slices_wrapped_and_static_memory_are_read_like_any) {
    uint8_t flat[66];
    fill(flat, sizeof flat);
    leat_bytebuf *wrapped = leat_bytebuf_wrap(leat_unpooled(), flat, sizeof flat, NULL, NULL);
    leat_bytebuf *slice = leat_bytebuf_slice(wrapped, 1, 64);
    leat_bytebuf *slice_of_slice = leat_bytebuf_slice(slice, 1, 40);
    leat_bytebuf *constant = leat_bytebuf_wrap_static(leat_unpooled(), flat, sizeof flat);
    leat_bytebuf *split = leat_bytebuf_split(wrapped, 33);
    for (unsigned width = 1; width <= 8; width *= 2) {
        assert_reads(slice, flat + 1, 64 / width, width);
        assert_reads(slice_of_slice, flat + 2, 40 / width, width);
        assert_reads(constant, flat, 64 / width, width);
        assert_reads(split, flat, 33 / width, width);
        assert_reads(wrapped, flat + 33, 33 / width, width);
    }
    leat_bytebuf *const all[] = {wrapped, slice, slice_of_slice, constant, split};
    for (size_t i = 0; i < 5; i++)
        leat_bytebuf_release(all[i]);
}
END_TEST

static void assert_appends(leat_bytebuf *buf, const uint32_t *values, size_t n) {
    uint64_t before = leat_bytebuf_writer_index(buf);
    ck_assert(leat_bytebuf_write_u32_array(buf, values, n));
    ck_assert(leat_bytebuf_write_u32_le_array(buf, values, n));
    leat_writer writer = leat_writer_begin(buf);
    ck_assert(leat_writer_u8(&writer, 7) && leat_writer_u32_array(&writer, values, n) && leat_writer_u8(&writer, 9));
    leat_writer_finish(&writer);
    for (size_t i = 0; i < n; i++) {
        ck_assert_uint_eq(leat_bytebuf_get_u32(buf, before + 4 * i), values[i]);
        ck_assert_uint_eq(leat_bytebuf_get_u32_le(buf, before + 4 * (n + i)), values[i]);
        ck_assert_uint_eq(leat_bytebuf_get_u32(buf, before + 8 * n + 1 + 4 * i), values[i]);
    }
    ck_assert_uint_eq(leat_bytebuf_writer_index(buf), before + 12 * n + 2);
    ck_assert(leat_bytebuf_is_valid(buf));
    leat_bytebuf_release(buf);
}

START_TEST(every_kind_that_may_grow_is_appended_to) {
    static uint32_t values[MOST];
    fill(values, sizeof values);
    char memory[8] = "12345678";
    for (size_t i = 0; i < LENGTHS; i++) {
        assert_appends(leat_bytebuf_new(leat_unpooled(), 0), values, lengths[i]);
        assert_appends(leat_bytebuf_new_with(leat_unpooled(), 3, 0, 5), values, lengths[i]);
        assert_appends(leat_bytebuf_wrap(leat_unpooled(), memory, sizeof memory, NULL, NULL), values, lengths[i]);
        assert_appends(pieces((const uint8_t *)"abcdefg", 7, 3), values, lengths[i]);
        leat_bytebuf *buf = leat_bytebuf_from_text(leat_unpooled(), "split off");
        assert_appends(leat_bytebuf_split(buf, 5), values, lengths[i]);
        leat_bytebuf_release(buf);
    }
}
END_TEST

START_TEST(misaligned_memory_is_as_good_as_any) {
    uint8_t in[NUMBERS * 8 + 8], out[NUMBERS * 8 + 8];
    fill(in, sizeof in);
    for (unsigned width = 1; width <= 8; width *= 2)
        for (size_t offset = 0; offset < 8; offset++) {
            leat_bytebuf *buf = leat_bytebuf_new_with(leat_unpooled(), 0, 0, offset);
            ck_assert(leat_bytebuf_write_array(buf, in + offset, NUMBERS, width, LEAT_BIG_ENDIAN));
            ck_assert(leat_bytebuf_read_array(buf, out + 7 - offset, NUMBERS, width, LEAT_BIG_ENDIAN));
            ck_assert(memcmp(in + offset, out + 7 - offset, NUMBERS * width) == 0);
            leat_bytebuf_release(buf);
        }
}
END_TEST

START_TEST(truth_values_are_0_or_1_and_read_from_any_byte) {
    static const bool values[] = {true, false, true};
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 0);
    ck_assert(leat_bytebuf_write_bool_array(buf, values, 3));
    ck_assert(leat_bytebuf_write_bytes(buf, "\x02\x00\xff", 3));
    ck_assert(leat_bytebuf_equals_bytes(buf, "\1\0\1\2\0\xff", 6));
    bool back[6];
    ck_assert(!leat_bytebuf_read_bool_array(buf, back, 7));
    ck_assert(leat_bytebuf_read_bool_array(buf, back, 6));
    for (size_t i = 0; i < 6; i++)
        ck_assert(back[i] == values[i % 3]);
    leat_bytebuf_release(buf);
}
END_TEST

/* ---- what fails moves nothing ---- */

START_TEST(too_few_bytes_move_nothing) {
    uint32_t values[4] = {1, 2, 3, 4};
    const uint32_t before[4] = {1, 2, 3, 4};
    leat_bytebuf *kinds[] = {leat_bytebuf_from_text(leat_unpooled(), "0123456789abcde"),
                             pieces((const uint8_t *)"0123456789abcde", 15, 4)};
    for (size_t i = 0; i < 2; i++) {
        leat_bytebuf *buf = kinds[i];
        leat_reader reader = leat_reader_begin(buf);
        ck_assert(!leat_bytebuf_read_u32_array(buf, values, 4));
        ck_assert(!leat_bytebuf_read_u32_le_array(buf, values, 4));
        ck_assert(!leat_bytebuf_get_u32_array(buf, 4, values, 3));
        ck_assert(!leat_bytebuf_get_u32_array(buf, 16, values, 0));
        ck_assert(!leat_bytebuf_set_u32_array(buf, 12, values, 1));
        ck_assert(!leat_reader_u32_array(&reader, values, 4) && leat_reader_index(&reader) == 0);
        ck_assert(leat_bytebuf_equals_bytes(buf, "0123456789abcde", 15));
        ck_assert_mem_eq(values, before, sizeof values);
        leat_bytebuf_release(buf);
    }
}
END_TEST

START_TEST(a_length_beyond_64_bits_is_refused) {
    uint64_t value = 0;
    leat_bytebuf *buf = leat_bytebuf_from_text(leat_unpooled(), "01234567");
    static const size_t counts[] = {SIZE_MAX, SIZE_MAX / 8 + 1, SIZE_MAX / 8 + 2, SIZE_MAX / 2};
    for (size_t i = 0; i < 4; i++) {
        ck_assert(!leat_bytebuf_write_u64_array(buf, &value, counts[i]));
        ck_assert(!leat_bytebuf_write_u64_le_array(buf, &value, counts[i]));
        ck_assert(!leat_bytebuf_read_u64_array(buf, &value, counts[i]));
        ck_assert(!leat_bytebuf_set_u64_array(buf, 0, &value, counts[i]));
    }
    static const unsigned widths[] = {0, 3, 5, 16, 256};
    for (size_t i = 0; i < 5; i++)
        ck_assert(!leat_bytebuf_read_array(buf, &value, 1, widths[i], LEAT_BIG_ENDIAN));
    ck_assert(leat_bytebuf_equals_bytes(buf, "01234567", 8));
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(no_room_and_no_memory_write_nothing) {
    static const uint32_t values[NUMBERS];
    leat_failing_alloc failing;
    leat_failing_alloc_init(&failing, leat_unpooled());
    leat_bytebuf *bounded = leat_bytebuf_new_with(&failing.alloc, 4, 4 * NUMBERS - 1, 0);
    leat_bytebuf *poor = leat_bytebuf_from_text(&failing.alloc, "poor");
    failing.fail_at = failing.asked + 1;
    failing.from_then_on = true;
    ck_assert(!leat_bytebuf_write_u32_array(bounded, values, NUMBERS));
    ck_assert(!leat_bytebuf_write_u32_array(poor, values, NUMBERS));
    ck_assert(!leat_bytebuf_write_u32_le_array(poor, values, NUMBERS));
    failing.fail_at = 0;
    ck_assert(!leat_bytebuf_write_u32_array(bounded, values, NUMBERS));
    ck_assert(leat_bytebuf_write_u32_array(bounded, values, NUMBERS - 1));
    ck_assert_uint_eq(leat_bytebuf_readable(bounded), 4 * (NUMBERS - 1));
    ck_assert(leat_bytebuf_equals_bytes(poor, "poor", 4));
    leat_bytebuf_release(bounded);
    leat_bytebuf_release(poor);
}
END_TEST

START_TEST(shared_bytes_are_neither_read_off_nor_changed_nor_appended_to) {
    uint16_t values[2] = {1, 2};
    leat_bytebuf *buf = leat_bytebuf_from_text(leat_unpooled(), "abcdef");
    leat_bytebuf *slice = leat_bytebuf_slice(buf, 0, 4);
    ck_assert(!leat_bytebuf_set_u16_array(buf, 2, values, 2));
    ck_assert(!leat_bytebuf_set_u16_array(slice, 0, values, 2));
    ck_assert(!leat_bytebuf_write_u16_array(slice, values, 2));
    leat_bytebuf_retain(buf);
    ck_assert(!leat_bytebuf_read_u16_array(buf, values, 2));
    ck_assert(!leat_bytebuf_write_u16_array(buf, values, 2));
    ck_assert(leat_bytebuf_get_u16_array(buf, 0, values, 2) && values[1] == 0x6364);
    ck_assert(leat_bytebuf_equals_bytes(buf, "abcdef", 6));
    leat_bytebuf_release(buf);
    leat_bytebuf_release(buf);
    leat_bytebuf_release(slice);
}
END_TEST

START_TEST(a_buffer_appends_elements_of_its_own) {
    leat_bytebuf *buf = leat_bytebuf_from_text(leat_unpooled(), "0123456789abcdef");
    ck_assert(leat_bytebuf_write_array(buf, leat_bytebuf_data(buf), 8, 2, LEAT_BIG_ENDIAN));
    ck_assert(leat_bytebuf_write_array(buf, leat_bytebuf_data(buf), 8, 4, LEAT_LITTLE_ENDIAN));
    ck_assert_uint_eq(leat_bytebuf_readable(buf), 64);
    ck_assert_uint_eq(leat_bytebuf_get_u16(buf, 16), 0x3130);
    ck_assert_uint_eq(leat_bytebuf_get_u16(buf, 62), leat_bytebuf_get_u16(buf, 30));
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(an_array_of_any_size_is_at_most_one_growth) {
    static const int32_t values[100000];
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_bytebuf *buf = leat_bytebuf_new(&counting.alloc, 1);
    ck_assert(leat_bytebuf_write_i32_array(buf, values, 100000));
    ck_assert_uint_eq(counting.counted.growths, 1);
    leat_bytebuf_release(buf);
    buf = leat_bytebuf_new(&counting.alloc, sizeof values);
    ck_assert(leat_bytebuf_write_i32_array(buf, values, 100000));
    ck_assert_uint_eq(counting.counted.growths, 1);
    leat_bytebuf_release(buf);
}
END_TEST

int main(void) {
    return suite_run(
        "bytebuf_array",
        (const TTest *const[]){an_array_is_what_its_elements_are_one_by_one, borders_of_components_tear_no_element,
                               an_array_is_changed_across_borders, slices_wrapped_and_static_memory_are_read_like_any,
                               every_kind_that_may_grow_is_appended_to, misaligned_memory_is_as_good_as_any,
                               truth_values_are_0_or_1_and_read_from_any_byte, too_few_bytes_move_nothing,
                               a_length_beyond_64_bits_is_refused, no_room_and_no_memory_write_nothing,
                               shared_bytes_are_neither_read_off_nor_changed_nor_appended_to,
                               a_buffer_appends_elements_of_its_own, an_array_of_any_size_is_at_most_one_growth, NULL});
}
