/*
 * Arrays of Variants and DataValues against their elements, each written alone: elements like the one before them are
 * written another way than others, so every kind stands in runs of every length, also between kinds that are no
 * scalars.
 */
#include "handlers/opcua/encode.h"
#include "tests/support/suite.h"

#include <string.h>

enum { ELEMENTS = 4000, LONGEST_RUN = 5, KINDS = 18, STRIDE = 72 };

static const int32_t three[] = {1, 2, 3};
static const leat_opcua_options plain, quiet = {.quiet_nan = true};

static leat_opcua_value values[ELEMENTS];
static leat_opcua_data_value data_values[ELEMENTS];
static const void *pointers[ELEMENTS];
static _Alignas(8) uint8_t apart[ELEMENTS * STRIDE];

/* The kinds are the types of fixed width and null, a String, an array, and a scalar that holds a DataValue. */
static leat_opcua_value value_of_kind(size_t kind, uint64_t bits) {
    static const leat_opcua_data_value inner = {.fields = LEAT_OPCUA_HAS_STATUS, .status = 7};
    leat_opcua_scalar scalar = {.uint64 = bits};
    uint8_t type = kind <= LEAT_OPCUA_DOUBLE ? (uint8_t)kind : LEAT_OPCUA_STATUS_CODE;
    if (kind == 15)
        return leat_opcua_scalar_of(LEAT_OPCUA_STRING, (leat_opcua_scalar){.bytes = {(const uint8_t *)"text", 4}});
    if (kind == 16)
        return leat_opcua_array(LEAT_OPCUA_INT32, three, 3);
    if (kind == 17)
        return leat_opcua_scalar_of(LEAT_OPCUA_DATA_VALUE, (leat_opcua_scalar){.data_value = &inner});
    if (kind == 12 || kind == 13)
        type = kind == 12 ? LEAT_OPCUA_DATE_TIME : LEAT_OPCUA_GUID;
    if (type == LEAT_OPCUA_GUID)
        scalar.guid = (leat_opcua_guid){(uint32_t)bits, 0x1234, 0x5678, {(uint8_t)bits, 2, 3, 4, 5, 6, 7, 8}};
    return leat_opcua_scalar_of(type, scalar);
}

/* A fixed sequence of numbers whose bits are also NaNs, and Booleans other than 0 and 1. */
static void fill(void) {
    size_t kind = 0, fields = 0, left = 0;
    for (size_t i = 0; i < ELEMENTS; i++, left--) {
        uint64_t bits = (i + 1) * 0x9e3779b97f4a7c15;
        if (left == 0) {
            kind = (bits >> 32) % KINDS;
            left = 1 + (bits >> 50) % LONGEST_RUN;
        }
        fields = i % 4 ? fields : bits >> 40;
        values[i] = value_of_kind(kind, i % 3 ? bits : bits | 0x7ff000007f800000);
        data_values[i] = (leat_opcua_data_value){.value = i % 11 ? &values[i] : NULL,
                                                 .source_time = (int64_t)bits,
                                                 .server_time = (int64_t)(bits >> 1),
                                                 .status = (uint32_t)bits,
                                                 .source_picoseconds = (uint16_t)(bits >> 8),
                                                 .server_picoseconds = (uint16_t)(bits >> 16),
                                                 .fields = (uint8_t)fields};
    }
}

/* ---- the reference: one at a time ---- */

static void write_variant(leat_bytebuf *buf, const leat_opcua_value *value, const leat_opcua_options *options) {
    static const leat_opcua_value null;
    ck_assert_int_eq(leat_opcua_encode_variant(buf, value ? value : &null, options), 0);
}

static void write_picoseconds(leat_bytebuf *buf, uint16_t value) {
    leat_bytebuf_write_u16_le(buf, value < 9999 ? value : 9999);
}

static void write_data_value(leat_bytebuf *buf, const leat_opcua_data_value *value, const leat_opcua_options *options) {
    uint8_t fields = value ? value->fields & 0x3f : 0;
    leat_bytebuf_write_u8(buf, fields);
    if (fields & LEAT_OPCUA_HAS_VALUE)
        write_variant(buf, value->value, options);
    if (fields & LEAT_OPCUA_HAS_STATUS)
        leat_bytebuf_write_u32_le(buf, value->status);
    if (fields & LEAT_OPCUA_HAS_SOURCE_TIME)
        leat_bytebuf_write_i64_le(buf, value->source_time);
    if (fields & LEAT_OPCUA_HAS_SOURCE_PICOSECONDS)
        write_picoseconds(buf, value->source_picoseconds);
    if (fields & LEAT_OPCUA_HAS_SERVER_TIME)
        leat_bytebuf_write_i64_le(buf, value->server_time);
    if (fields & LEAT_OPCUA_HAS_SERVER_PICOSECONDS)
        write_picoseconds(buf, value->server_picoseconds);
}

static const void *element_of(const leat_opcua_value *array, size_t i) {
    const uint8_t *first = array->of.elements.at.first;
    if (array->source == LEAT_OPCUA_POINTERS)
        return array->of.elements.at.pointers[i];
    int64_t size = array->type == LEAT_OPCUA_VARIANT ? sizeof *values : sizeof *data_values;
    return first + (int64_t)i * (array->source == LEAT_OPCUA_STRIDED ? array->of.elements.by.stride : size);
}

static void assert_as_alone(const leat_opcua_value *array, const leat_opcua_options *options) {
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 0), *expected = leat_bytebuf_new(leat_unpooled(), 0);
    uint64_t size;
    leat_bytebuf_write_i32_le(expected, ELEMENTS);
    for (size_t i = 0; i < ELEMENTS; i++)
        if (array->type == LEAT_OPCUA_VARIANT)
            write_variant(expected, element_of(array, i), options);
        else
            write_data_value(expected, element_of(array, i), options);
    ck_assert_int_eq(leat_opcua_field_size(array, options, &size), 0);
    ck_assert_uint_eq(size, leat_bytebuf_readable(expected));
    ck_assert_int_eq(leat_opcua_encode_field(buf, array, options), 0);
    ck_assert(leat_bytebuf_equals(buf, expected));
    leat_bytebuf_release(buf);
    leat_bytebuf_release(expected);
}

static void assert_from_every_source(uint8_t type, const void *elements, size_t size) {
    leat_opcua_value array = leat_opcua_array(type, elements, ELEMENTS);
    assert_as_alone(&array, &plain);
    assert_as_alone(&array, &quiet);
    for (size_t i = 0; i < ELEMENTS; i++) {
        memcpy(apart + (ELEMENTS - 1 - i) * STRIDE, (const uint8_t *)elements + i * size, size);
        pointers[i] = i % 7 ? (const uint8_t *)elements + i * size : NULL;
    }
    array.source = LEAT_OPCUA_POINTERS;
    array.of.elements.at.pointers = pointers;
    assert_as_alone(&array, &plain);
    array.source = LEAT_OPCUA_STRIDED;
    array.of.elements.at.first = apart + (ELEMENTS - 1) * STRIDE;
    array.of.elements.by.stride = -STRIDE;
    assert_as_alone(&array, &plain);
}

START_TEST(variants_are_written_in_an_array_as_alone) {
    fill();
    assert_from_every_source(LEAT_OPCUA_VARIANT, values, sizeof *values);
}
END_TEST

START_TEST(data_values_are_written_in_an_array_as_alone) {
    fill();
    assert_from_every_source(LEAT_OPCUA_DATA_VALUE, data_values, sizeof *data_values);
}
END_TEST

/* ---- edges ---- */

START_TEST(a_value_that_a_data_value_does_not_have_is_not_looked_at) {
    const leat_opcua_value *nowhere = (const leat_opcua_value *)(uintptr_t)16;
    leat_opcua_data_value none[3];
    for (size_t i = 0; i < 3; i++)
        none[i] = (leat_opcua_data_value){.value = nowhere, .status = 5, .fields = LEAT_OPCUA_HAS_STATUS};
    leat_opcua_value array = leat_opcua_array(LEAT_OPCUA_DATA_VALUE, none, 3);
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 0);
    ck_assert_int_eq(leat_opcua_encode_field(buf, &array, NULL), 0);
    ck_assert(leat_bytebuf_equals_bytes(buf, "\3\0\0\0\2\5\0\0\0\2\5\0\0\0\2\5\0\0\0", 19));
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(a_scalar_without_its_data_value_is_an_empty_one) {
    leat_opcua_value value = leat_opcua_scalar_of(LEAT_OPCUA_DATA_VALUE, (leat_opcua_scalar){.data_value = NULL});
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 0);
    ck_assert_int_eq(leat_opcua_encode_variant(buf, &value, NULL), 0);
    ck_assert(leat_bytebuf_equals_bytes(buf, "\x17\0", 2));
    leat_bytebuf_release(buf);
}
END_TEST

/* Five bytes: no room for them, too many for a message, or in a buffer of others. */
START_TEST(a_scalar_that_is_refused_leaves_the_buffer_as_it_was) {
    leat_opcua_value value = leat_opcua_scalar_of(LEAT_OPCUA_INT32, (leat_opcua_scalar){.int32 = 1});
    leat_bytebuf *buf = leat_bytebuf_new_with(leat_unpooled(), 0, 5, 0);
    ck_assert_int_eq(leat_opcua_encode_variant(buf, &value, &(leat_opcua_options){.message_bytes = 4}), LEAT_ETOOLONG);
    ck_assert_uint_eq(leat_bytebuf_writer_index(buf), 0);
    ck_assert_int_eq(leat_opcua_encode_variant(buf, &value, &(leat_opcua_options){.message_bytes = 5}), 0);
    ck_assert_int_eq(leat_opcua_encode_variant(buf, &value, NULL), LEAT_ELIMIT);
    ck_assert(leat_bytebuf_equals_bytes(buf, "\6\1\0\0\0", 5));
    leat_bytebuf *shared = leat_bytebuf_retain(buf);
    ck_assert_int_eq(leat_opcua_encode_variant(buf, &value, NULL), LEAT_ESHARED);
    leat_bytebuf_release(shared);
    leat_bytebuf_release(buf);
}
END_TEST

int main(void) {
    return suite_run("opcua_small", (const TTest *const[]){variants_are_written_in_an_array_as_alone,
                                                           data_values_are_written_in_an_array_as_alone,
                                                           a_value_that_a_data_value_does_not_have_is_not_looked_at,
                                                           a_scalar_without_its_data_value_is_an_empty_one,
                                                           a_scalar_that_is_refused_leaves_the_buffer_as_it_was, NULL});
}
