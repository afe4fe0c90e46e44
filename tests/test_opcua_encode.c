/* Blocks of every type of fixed width, byte for byte against one element at a time, from every source into every
 * target. */
#include "core/composite.h"
#include "core/pool.h"
#include "handlers/opcua/encode.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 10000, LARGEST_WIDTH = 16, STRIDE = 19 };

static const uint8_t fixed_types[] = {
    LEAT_OPCUA_BOOLEAN, LEAT_OPCUA_SBYTE,     LEAT_OPCUA_BYTE,  LEAT_OPCUA_INT16,      LEAT_OPCUA_UINT16,
    LEAT_OPCUA_INT32,   LEAT_OPCUA_UINT32,    LEAT_OPCUA_INT64, LEAT_OPCUA_UINT64,     LEAT_OPCUA_FLOAT,
    LEAT_OPCUA_DOUBLE,  LEAT_OPCUA_DATE_TIME, LEAT_OPCUA_GUID,  LEAT_OPCUA_STATUS_CODE};
enum { FIXED_TYPES = sizeof fixed_types };

/* Bit patterns of 64 bits whose halves are extremes too: of integers, zeros, infinities and NaNs with payloads. */
static const uint64_t extremes[] = {0,
                                    1,
                                    UINT64_MAX,
                                    (uint64_t)INT64_MAX,
                                    (uint64_t)INT64_MAX + 1,
                                    0x8000000080000000,
                                    0x7fffffff7fffffff,
                                    0x7ff0000000000000,
                                    0xfff0000000000000,
                                    0x7ff0123456789abc,
                                    0xfff8000000000001,
                                    0x7f8123457fc12345,
                                    0xffedcba9ffc00000,
                                    0x00ff00ff80017ffe};
enum { EXTREMES = sizeof extremes / sizeof *extremes };

/* 10,000 elements: the extremes, then numbers that differ in every byte. */
static uint8_t memory[ELEMENTS * LARGEST_WIDTH + 1];

static void fill(size_t width) {
    for (size_t i = 0; i < ELEMENTS * width; i += 8) {
        uint64_t bits = i / 8 < EXTREMES ? extremes[i / 8] : (i + 1) * 0x9e3779b97f4a7c15;
        memcpy(memory + i, &bits, 8);
    }
}

/* The reference: one element at a time, by the calls that write one value. */
static void write_element(leat_bytebuf *buf, uint8_t type, const uint8_t *element) {
    leat_opcua_guid guid;
    uint64_t bits = 0;
    size_t width = leat_opcua_width(type);
    memcpy(&bits, element, width < 8 ? width : 8);
    if (type == LEAT_OPCUA_BOOLEAN)
        leat_bytebuf_write_u8(buf, bits != 0);
    else if (width == 1)
        leat_bytebuf_write_u8(buf, (uint8_t)bits);
    else if (width == 2)
        leat_bytebuf_write_u16_le(buf, (uint16_t)bits);
    else if (width == 4)
        leat_bytebuf_write_u32_le(buf, (uint32_t)bits);
    else if (width == 8)
        leat_bytebuf_write_u64_le(buf, bits);
    else {
        memcpy(&guid, element, sizeof guid);
        leat_bytebuf_write_u32_le(buf, guid.data1);
        leat_bytebuf_write_u16_le(buf, guid.data2);
        leat_bytebuf_write_u16_le(buf, guid.data3);
        leat_bytebuf_write_bytes(buf, guid.data4, 8);
    }
}

static leat_bytebuf *reference(uint8_t type, const uint8_t *elements, size_t count) {
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 0);
    leat_bytebuf_write_u8(buf, type | 0x80);
    leat_bytebuf_write_i32_le(buf, (int32_t)count);
    for (size_t i = 0; i < count; i++)
        write_element(buf, type, elements + i * leat_opcua_width(type));
    return buf;
}

static void assert_written(leat_bytebuf *buf, const leat_opcua_value *value, const leat_bytebuf *expected) {
    uint64_t size;
    ck_assert_int_eq(leat_opcua_variant_size(value, NULL, &size), 0);
    ck_assert_uint_eq(size, leat_bytebuf_readable(expected));
    ck_assert_int_eq(leat_opcua_encode_variant(buf, value, NULL), 0);
    ck_assert_msg(leat_bytebuf_equals(buf, expected), "%s", leat_opcua_type_name(value->type));
    leat_bytebuf_release(buf);
}

static void assert_from(uint8_t type, const leat_opcua_value *value) {
    leat_bytebuf *expected = reference(type, memory, ELEMENTS);
    assert_written(leat_bytebuf_new(leat_unpooled(), 0), value, expected);
    leat_bytebuf_release(expected);
}

/* ---- targets ---- */

static uint8_t foreign[ELEMENTS * LARGEST_WIDTH + 5];

static leat_bytebuf *wrapped_target(void) {
    leat_bytebuf *buf = leat_bytebuf_wrap(leat_unpooled(), foreign, sizeof foreign, NULL, NULL);
    ck_assert(leat_bytebuf_clear(buf));
    return buf;
}

START_TEST(blocks_equal_single_elements_in_every_target) {
    leat_pool *pool = leat_pool_new(NULL, NULL);
    for (size_t i = 0; i < FIXED_TYPES; i++) {
        uint8_t type = fixed_types[i];
        fill(leat_opcua_width(type));
        leat_opcua_value value = leat_opcua_array(type, memory, ELEMENTS);
        leat_bytebuf *expected = reference(type, memory, ELEMENTS);
        assert_written(leat_bytebuf_new(leat_unpooled(), 0), &value, expected);
        assert_written(leat_bytebuf_new(leat_unpooled(), leat_bytebuf_readable(expected)), &value, expected);
        assert_written(leat_bytebuf_new(leat_pool_alloc(pool), 16), &value, expected);
        assert_written(leat_composite_buffer(leat_composite_new(leat_unpooled(), 1)), &value, expected);
        assert_written(wrapped_target(), &value, expected);
        leat_bytebuf_release(expected);
    }
    leat_pool_release(pool);
}
END_TEST

/* ---- sources ---- */

START_TEST(elements_may_lie_at_any_address) {
    for (size_t i = 0; i < FIXED_TYPES; i++) {
        size_t width = leat_opcua_width(fixed_types[i]);
        fill(width);
        uint8_t *shifted = malloc(ELEMENTS * width + 1);
        memcpy(shifted + 1, memory, ELEMENTS * width);
        leat_opcua_value value = leat_opcua_array(fixed_types[i], shifted + 1, ELEMENTS);
        assert_from(fixed_types[i], &value);
        free(shifted);
    }
}
END_TEST

START_TEST(elements_may_lie_a_stride_apart_also_backwards) {
    static uint8_t apart[ELEMENTS * STRIDE];
    for (size_t i = 0; i < FIXED_TYPES; i++) {
        size_t width = leat_opcua_width(fixed_types[i]);
        fill(width);
        for (size_t j = 0; j < ELEMENTS; j++)
            memcpy(apart + (ELEMENTS - 1 - j) * STRIDE, memory + j * width, width);
        leat_opcua_value value = leat_opcua_array(fixed_types[i], apart + (ELEMENTS - 1) * STRIDE, ELEMENTS);
        value.source = LEAT_OPCUA_STRIDED;
        value.of.elements.by.stride = -STRIDE;
        assert_from(fixed_types[i], &value);
    }
}
END_TEST

/* Each third element is missing, and zero where it is compared. */
START_TEST(elements_may_lie_behind_pointers_and_a_null_is_zero) {
    static const void *pointers[ELEMENTS];
    static uint8_t kept[sizeof memory];
    for (size_t i = 0; i < FIXED_TYPES; i++) {
        size_t width = leat_opcua_width(fixed_types[i]);
        fill(width);
        memcpy(kept, memory, sizeof memory);
        for (size_t j = 0; j < ELEMENTS; j++) {
            pointers[j] = j % 3 ? kept + j * width : NULL;
            memset(memory + j * width, 0, j % 3 ? 0 : width);
        }
        leat_opcua_value value = leat_opcua_array(fixed_types[i], pointers, ELEMENTS);
        value.source = LEAT_OPCUA_POINTERS;
        assert_from(fixed_types[i], &value);
    }
}
END_TEST

START_TEST(null_elements_of_other_types_are_the_null_of_their_type) {
    static const struct {
        uint8_t type;
        const char *bytes;
        size_t length;
    } nulls[] = {{LEAT_OPCUA_STRING, "\xff\xff\xff\xff", 4},
                 {LEAT_OPCUA_NODE_ID, "\0\0", 2},
                 {LEAT_OPCUA_QUALIFIED_NAME, "\0\0\xff\xff\xff\xff", 6},
                 {LEAT_OPCUA_LOCALIZED_TEXT, "\0", 1},
                 {LEAT_OPCUA_EXTENSION_OBJECT, "\0\0\0", 3},
                 {LEAT_OPCUA_DATA_VALUE, "\0", 1},
                 {LEAT_OPCUA_VARIANT, "\0", 1}};
    static const void *const none[1];
    for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++) {
        leat_opcua_value value = leat_opcua_array(nulls[i].type, none, 1);
        value.source = LEAT_OPCUA_POINTERS;
        leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 0);
        ck_assert_int_eq(leat_opcua_encode_field(buf, &value, NULL), 0);
        ck_assert(leat_bytebuf_skip(buf, 4));
        ck_assert(leat_bytebuf_equals_bytes(buf, nulls[i].bytes, nulls[i].length));
        leat_bytebuf_release(buf);
    }
}
END_TEST

/* ---- lengths ---- */

static void assert_length(uint8_t type, size_t count) {
    leat_opcua_value value = leat_opcua_array(type, memory, (int64_t)count);
    leat_bytebuf *expected = reference(type, memory, count);
    assert_written(leat_bytebuf_new(leat_unpooled(), 0), &value, expected);
    leat_bytebuf_release(expected);
}

/* The lengths round a block of 8 KiB, and every short one, where registers end. */
START_TEST(lengths_round_blocks_and_registers_are_exact) {
    static const size_t blocks[] = {2047, 2048, 2049, 4096, 8191, 8192, 8193};
    fill(LARGEST_WIDTH);
    for (size_t i = 0; i < FIXED_TYPES; i++) {
        for (size_t count = 0; count < 100; count++)
            assert_length(fixed_types[i], count);
        for (size_t j = 0; j < sizeof blocks / sizeof *blocks; j++)
            assert_length(fixed_types[i], blocks[j]);
    }
    assert_length(LEAT_OPCUA_BOOLEAN, 16384);
}
END_TEST

/* ---- NaN ---- */

static uint64_t quiet_bits(uint8_t type, uint64_t bits) {
    float single;
    double number;
    memcpy(&single, &bits, sizeof single);
    memcpy(&number, &bits, sizeof number);
    if (type == LEAT_OPCUA_FLOAT)
        return single != single ? 0xffc00000 : (uint32_t)bits;
    return number != number ? 0xfff8000000000000 : bits;
}

static void assert_quiet(uint8_t type) {
    static const leat_opcua_options quiet = {.quiet_nan = true};
    size_t width = leat_opcua_width(type);
    fill(width);
    leat_opcua_value value = leat_opcua_array(type, memory, ELEMENTS);
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 0);
    ck_assert_int_eq(leat_opcua_encode_variant(buf, &value, &quiet), 0);
    for (size_t i = 0; i < ELEMENTS; i++) {
        uint64_t before = 0, after = 0;
        memcpy(&before, memory + i * width, width);
        leat_bytebuf_get_bytes(buf, 5 + i * width, &after, width);
        ck_assert_uint_eq(after, quiet_bits(type, before));
    }
    leat_bytebuf_release(buf);
}

START_TEST(every_nan_becomes_the_quiet_one_only_when_asked) {
    assert_quiet(LEAT_OPCUA_FLOAT);
    assert_quiet(LEAT_OPCUA_DOUBLE);
}
END_TEST

int main(void) {
    return suite_run("opcua_encode", (const TTest *const[]){blocks_equal_single_elements_in_every_target,
                                                            elements_may_lie_at_any_address,
                                                            elements_may_lie_a_stride_apart_also_backwards,
                                                            elements_may_lie_behind_pointers_and_a_null_is_zero,
                                                            null_elements_of_other_types_are_the_null_of_their_type,
                                                            lengths_round_blocks_and_registers_are_exact,
                                                            every_nan_becomes_the_quiet_one_only_when_asked, NULL});
}
