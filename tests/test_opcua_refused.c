/* What is not written, and what is not read: nothing has moved, and the code says why. */
#include "core/verify.h"
#include "handlers/opcua/decode.h"
#include "handlers/opcua/encode.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static const int32_t six[] = {1, 2, 3, 4, 5, 6};
static const uint32_t two_by_three[] = {2, 3};

/* ---- encoding ---- */

static void assert_refused(const leat_opcua_value *value, bool variant, const leat_opcua_options *options, int code) {
    leat_bytebuf *buf = leat_bytebuf_from_text(leat_unpooled(), "before");
    int answer =
        variant ? leat_opcua_encode_variant(buf, value, options) : leat_opcua_encode_field(buf, value, options);
    ck_assert_int_eq(answer, code);
    ck_assert(leat_bytebuf_equals_bytes(buf, "before", 6));
    leat_bytebuf_release(buf);
}

static void assert_bytes(const leat_opcua_value *value, bool variant, const leat_opcua_options *options,
                         const char *expected, size_t length) {
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 0);
    ck_assert_int_eq(
        variant ? leat_opcua_encode_variant(buf, value, options) : leat_opcua_encode_field(buf, value, options), 0);
    ck_assert(leat_bytebuf_equals_bytes(buf, expected, length));
    leat_bytebuf_release(buf);
}

START_TEST(a_buffer_too_small_refuses_at_the_reservation) {
    leat_opcua_value value = leat_opcua_array(LEAT_OPCUA_INT32, six, 6);
    leat_bytebuf *buf = leat_bytebuf_new_with(leat_unpooled(), 0, 28, 0), *shared;
    ck_assert_int_eq(leat_opcua_encode_variant(buf, &value, NULL), LEAT_ELIMIT);
    ck_assert_uint_eq(leat_bytebuf_writer_index(buf), 0);
    ck_assert_int_eq(leat_opcua_encode_field(buf, &value, NULL), 0);
    ck_assert_uint_eq(leat_bytebuf_writer_index(buf), 28);
    shared = leat_bytebuf_retain(buf);
    ck_assert_int_eq(leat_opcua_encode_field(buf, &value, NULL), LEAT_ESHARED);
    leat_bytebuf_release(shared);
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(nonsensical_values_are_refused) {
    leat_opcua_value value = leat_opcua_array(32, six, 6);
    assert_refused(&value, true, NULL, LEAT_EINVAL);
    value = leat_opcua_array(LEAT_OPCUA_INT32, NULL, 6);
    assert_refused(&value, true, NULL, LEAT_EINVAL);
    value = leat_opcua_array(LEAT_OPCUA_INT32, six, -2);
    assert_refused(&value, true, NULL, LEAT_EINVAL);
    value = leat_opcua_array(LEAT_OPCUA_NULL, six, 6);
    assert_refused(&value, true, NULL, LEAT_EINVAL);
    value = leat_opcua_array(LEAT_OPCUA_STRING, six, 1);
    value.source = LEAT_OPCUA_WIRE;
    assert_refused(&value, true, NULL, LEAT_EINVAL);
    value = leat_opcua_scalar_of(LEAT_OPCUA_NULL, (leat_opcua_scalar){0});
    assert_refused(&value, false, NULL, LEAT_EINVAL);
    value = leat_opcua_scalar_of(LEAT_OPCUA_VARIANT, (leat_opcua_scalar){.variant = &value});
    assert_refused(&value, true, NULL, LEAT_EINVAL);
}
END_TEST

START_TEST(dimensions_must_multiply_to_the_count) {
    static const uint32_t overflowing[] = {61836419, 19950191, 14953};
    leat_opcua_value value = leat_opcua_matrix(LEAT_OPCUA_INT32, six, 5, two_by_three, 2);
    assert_refused(&value, true, NULL, LEAT_EINVAL);
    value = leat_opcua_matrix(LEAT_OPCUA_INT32, six, 6, NULL, 2);
    assert_refused(&value, true, NULL, LEAT_EINVAL);
    value = leat_opcua_matrix(LEAT_OPCUA_INT32, six, 21, overflowing, 3);
    assert_refused(&value, true, NULL, LEAT_EINVAL);
    value = leat_opcua_matrix(LEAT_OPCUA_INT32, six, 2, two_by_three, 1);
    assert_refused(&value, false, NULL, LEAT_EINVAL);
}
END_TEST

START_TEST(limits_hold_for_encoding_too) {
    leat_opcua_value value = leat_opcua_matrix(LEAT_OPCUA_INT32, six, 6, two_by_three, 2);
    assert_refused(&value, true, &(leat_opcua_options){.array_elements = 5}, LEAT_ETOOLONG);
    assert_refused(&value, true, &(leat_opcua_options){.rank = 1}, LEAT_ELIMIT);
    assert_refused(&value, true, &(leat_opcua_options){.message_bytes = 40}, LEAT_ETOOLONG);
    value = leat_opcua_scalar_of(LEAT_OPCUA_STRING, (leat_opcua_scalar){.bytes = {(const uint8_t *)"four", 4}});
    assert_refused(&value, true, &(leat_opcua_options){.string_bytes = 3}, LEAT_ETOOLONG);
}
END_TEST

/* Only sizes: what is refused is not looked at, so no element has to be there. */
static int size_code(leat_opcua_value value) {
    uint64_t size;
    return leat_opcua_variant_size(&value, NULL, &size);
}

static leat_opcua_value string_of(size_t length) {
    return leat_opcua_scalar_of(LEAT_OPCUA_STRING, (leat_opcua_scalar){.bytes = {(const uint8_t *)six, length}});
}

START_TEST(encoding_has_limits_by_default) {
    static const uint32_t ones[33] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                      1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    leat_opcua_value levels[130] = {0};
    for (size_t i = 129; i-- > 0;)
        levels[i] = leat_opcua_array(LEAT_OPCUA_VARIANT, levels + i + 1, 1);
    ck_assert_int_eq(size_code(leat_opcua_array(LEAT_OPCUA_BYTE, six, 16 << 20)), 0);
    ck_assert_int_eq(size_code(leat_opcua_array(LEAT_OPCUA_BYTE, six, (16 << 20) + 1)), LEAT_ETOOLONG);
    ck_assert_int_eq(size_code(string_of(16 << 20)), 0);
    ck_assert_int_eq(size_code(string_of((16 << 20) + 1)), LEAT_ETOOLONG);
    ck_assert_int_eq(size_code(leat_opcua_array(LEAT_OPCUA_INT64, six, (8 << 20) - 1)), 0);
    ck_assert_int_eq(size_code(leat_opcua_array(LEAT_OPCUA_INT64, six, 8 << 20)), LEAT_ETOOLONG);
    ck_assert_int_eq(size_code(leat_opcua_matrix(LEAT_OPCUA_INT32, six, 1, ones, 32)), 0);
    ck_assert_int_eq(size_code(leat_opcua_matrix(LEAT_OPCUA_INT32, six, 1, ones, 33)), LEAT_ELIMIT);
    ck_assert_int_eq(size_code(levels[1]), 0);
    ck_assert_int_eq(size_code(levels[0]), LEAT_ELIMIT);
}
END_TEST

START_TEST(a_length_that_the_wire_cannot_say_is_refused_without_looking) {
    static const leat_opcua_options wide = {.string_bytes = UINT32_MAX, .message_bytes = (uint64_t)8 << 30};
    leat_opcua_value value = string_of((size_t)INT32_MAX + 1);
    uint64_t size;
    assert_refused(&value, true, &wide, LEAT_ERANGE);
    value = string_of(INT32_MAX);
    ck_assert_int_eq(leat_opcua_variant_size(&value, &wide, &size), 0);
    ck_assert_uint_eq(size, 5 + (uint64_t)INT32_MAX);
}
END_TEST

START_TEST(a_view_beyond_its_buffer_is_refused) {
    leat_bytebuf *buf = leat_bytebuf_from_text(leat_unpooled(), "0123456789");
    leat_opcua_value view = leat_opcua_array(LEAT_OPCUA_INT16, NULL, 4);
    view.source = LEAT_OPCUA_WIRE;
    view.of.elements.at.buffer = buf;
    view.of.elements.by.index = 2;
    assert_bytes(&view, true, NULL, "\x84\4\0\0\00023456789", 13);
    view.of.elements.by.index = 3;
    assert_refused(&view, true, NULL, LEAT_EINVAL);
    view.of.elements.by.index = 11;
    assert_refused(&view, true, NULL, LEAT_EINVAL);
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(bytes_that_are_not_of_their_type_are_refused) {
    static const struct {
        uint8_t type;
        leat_span bytes;
    } wrong[] = {{LEAT_OPCUA_NODE_ID, {(const uint8_t *)"\6\0", 2}},
                 {LEAT_OPCUA_NODE_ID, {(const uint8_t *)"\1\0", 2}},
                 {LEAT_OPCUA_NODE_ID, {(const uint8_t *)"\0\1\2", 3}},
                 {LEAT_OPCUA_LOCALIZED_TEXT, {(const uint8_t *)"\1", 1}},
                 {LEAT_OPCUA_EXTENSION_OBJECT, {(const uint8_t *)"\0\1\3", 3}}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        leat_opcua_value value = leat_opcua_scalar_of(wrong[i].type, (leat_opcua_scalar){.bytes = wrong[i].bytes});
        assert_refused(&value, true, NULL, LEAT_EINVAL);
    }
}
END_TEST

/* ---- matrices ---- */

START_TEST(a_matrix_is_written_in_both_forms) {
    static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6};
    static const uint32_t no_row[] = {0, 2};
    leat_opcua_value value = leat_opcua_matrix(LEAT_OPCUA_BYTE, bytes, 6, two_by_three, 2);
    assert_bytes(&value, true, NULL, "\xc3\6\0\0\0\1\2\3\4\5\6\2\0\0\0\2\0\0\0\3\0\0\0", 23);
    assert_bytes(&value, false, NULL, "\2\0\0\0\2\0\0\0\3\0\0\0\1\2\3\4\5\6", 18);
    value = leat_opcua_matrix(LEAT_OPCUA_BYTE, bytes, 0, no_row, 2);
    assert_bytes(&value, true, NULL, "\x83\0\0\0\0", 5);
    assert_bytes(&value, true, &(leat_opcua_options){.keep_empty_dimensions = true},
                 "\xc3\0\0\0\0\2\0\0\0\0\0\0\0\2\0\0\0", 17);
    assert_bytes(&value, false, NULL, "\2\0\0\0\0\0\0\0\2\0\0\0", 12);
    value = leat_opcua_matrix(LEAT_OPCUA_BYTE, NULL, -1, NULL, 0);
    assert_bytes(&value, true, NULL, "\x83\xff\xff\xff\xff", 5);
    assert_bytes(&value, false, NULL, "\xff\xff\xff\xff", 4);
}
END_TEST

/* ---- decoding ---- */

static int decode_field(const char *bytes, size_t length, uint8_t type, uint8_t shape,
                        const leat_opcua_options *options, leat_opcua_value *value) {
    leat_bytebuf *buf = leat_bytebuf_from_bytes(leat_unpooled(), bytes, length);
    leat_opcua_decoder decoder;
    int code = leat_opcua_decoder_init(&decoder, buf, leat_unpooled(), options);
    if (code == 0) {
        code = shape > LEAT_OPCUA_MATRIX ? leat_opcua_decode_variant(&decoder, value)
                                         : leat_opcua_decode_field(&decoder, type, shape, value);
        ck_assert_uint_eq(leat_opcua_decoder_taken(&decoder), code == 0 ? length : 0);
        leat_opcua_decoder_clean_up(&decoder);
    }
    leat_bytebuf_release(buf);
    return code;
}

enum { AS_VARIANT = LEAT_OPCUA_MATRIX + 1 };

static int decode_matrix(const char *bytes, size_t length) {
    leat_opcua_value value;
    return decode_field(bytes, length, LEAT_OPCUA_BYTE, LEAT_OPCUA_MATRIX, NULL, &value);
}

START_TEST(a_matrix_field_has_two_dimensions_and_all_its_elements) {
    leat_opcua_value value;
    ck_assert_int_eq(
        decode_field("\2\0\0\0\1\0\0\0\2\0\0\0\7\10", 14, LEAT_OPCUA_BYTE, LEAT_OPCUA_MATRIX, NULL, &value), 0);
    ck_assert_int_eq(value.count, 2);
    ck_assert_uint_eq(value.rank, 2);
    ck_assert_int_eq(decode_matrix("\2\0\0\0\1\0\0\0\2\0\0\0\7", 13), LEAT_ETRUNCATED);
    ck_assert_int_eq(decode_matrix("\1\0\0\0\1\0\0\0\7", 9), LEAT_ECORRUPT);
    ck_assert_int_eq(decode_matrix("\2\0\0\0\0\0\1\0\0\0\1\0\7", 13), LEAT_ECORRUPT);
    ck_assert_int_eq(
        decode_field("\2\0\0\0\xff\xff\xff\xff\2\0\0\0", 12, LEAT_OPCUA_BYTE, LEAT_OPCUA_MATRIX, NULL, &value), 0);
    ck_assert_int_eq(value.count, 0);
    ck_assert_int_eq(decode_field("\xff\xff\xff\xff", 4, LEAT_OPCUA_BYTE, LEAT_OPCUA_MATRIX, NULL, &value), 0);
    ck_assert_int_eq(value.count, -1);
}
END_TEST

START_TEST(limits_hold_for_decoding) {
    static const char matrix[] = "\xc3\2\0\0\0\7\7\2\0\0\0\1\0\0\0\2\0\0", text[] = "\xc\4\0\0\0four";
    leat_opcua_value value;
    const leat_opcua_options few = {.array_elements = 1}, flat = {.rank = 1}, tight = {.memory = 20},
                             small = {.message_bytes = 5}, brief = {.string_bytes = 3};
    ck_assert_int_eq(decode_field(matrix, sizeof matrix, 0, AS_VARIANT, NULL, &value), 0);
    ck_assert_int_eq(decode_field(matrix, sizeof matrix, 0, AS_VARIANT, &few, &value), LEAT_ETOOLONG);
    ck_assert_int_eq(decode_field(matrix, sizeof matrix, 0, AS_VARIANT, &flat, &value), LEAT_ELIMIT);
    ck_assert_int_eq(decode_field(matrix, sizeof matrix, 0, AS_VARIANT, &tight, &value), LEAT_ELIMIT);
    ck_assert_int_eq(decode_field(matrix, sizeof matrix, 0, AS_VARIANT, &small, &value), LEAT_ETOOLONG);
    ck_assert_int_eq(decode_field(text, sizeof text - 1, 0, AS_VARIANT, &brief, &value), LEAT_ETOOLONG);
    ck_assert_int_eq(decode_field(text, sizeof text - 1, LEAT_OPCUA_TYPES, LEAT_OPCUA_SCALAR, NULL, &value),
                     LEAT_EINVAL);
}
END_TEST

/* Counts and lengths are refused before they are compared with what is left; memory before it is asked for. */
START_TEST(decoding_has_limits_by_default) {
    enum { VARIANTS = 7 << 20 }; /* 40 bytes of memory each: 280 MiB */
    leat_opcua_value value;
    uint8_t *nulls = calloc(1, 5 + VARIANTS);
    ck_assert(nulls);
    nulls[0] = 0x98;
    leat_store_u32_le(nulls + 1, VARIANTS);
    ck_assert_int_eq(decode_field("\x83\1\0\0\1", 5, 0, AS_VARIANT, NULL, &value), LEAT_ETOOLONG);
    ck_assert_int_eq(decode_field("\x83\0\0\0\1", 5, 0, AS_VARIANT, NULL, &value), LEAT_ETRUNCATED);
    ck_assert_int_eq(decode_field("\xc\1\0\0\1", 5, 0, AS_VARIANT, NULL, &value), LEAT_ETOOLONG);
    ck_assert_int_eq(decode_field("\xc\0\0\0\1", 5, 0, AS_VARIANT, NULL, &value), LEAT_ETRUNCATED);
    ck_assert_int_eq(decode_field((const char *)nulls, 5 + VARIANTS, 0, AS_VARIANT, NULL, &value), LEAT_ELIMIT);
    free(nulls);
    leat_bytebuf *large = leat_bytebuf_wrap_static(leat_unpooled(), six, (64 << 20) + 1);
    leat_opcua_decoder decoder;
    ck_assert_int_eq(leat_opcua_decoder_init(&decoder, large, leat_unpooled(), NULL), LEAT_ETOOLONG);
    leat_bytebuf_release(large);
}
END_TEST

static void assert_nothing_is_asked_for(const uint8_t *bytes, size_t length, uint8_t type, bool variant) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_bytebuf *buf = leat_bytebuf_wrap_static(leat_unpooled(), bytes, length);
    leat_opcua_decoder decoder;
    leat_opcua_value value;
    ck_assert_int_eq(leat_opcua_decoder_init(&decoder, buf, &counting.alloc, NULL), 0);
    int code = variant ? leat_opcua_decode_variant(&decoder, &value)
                       : leat_opcua_decode_field(&decoder, type, LEAT_OPCUA_ARRAY, &value);
    ck_assert_msg(code == LEAT_ETRUNCATED, "%s: %d", leat_opcua_type_name(type), code);
    ck_assert_msg(counting.counted.allocations == 0, "%s", leat_opcua_type_name(type));
    leat_opcua_decoder_clean_up(&decoder);
    leat_bytebuf_release(buf);
}

/* One element more than 60 bytes can hold, of the fewest bytes that its type has; and a DataValue without a byte. */
START_TEST(a_count_beyond_the_bytes_left_asks_for_no_memory) {
    static const uint8_t least[LEAT_OPCUA_TYPES] = {0, 1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 4, 8, 16, 4,
                                                    4, 2, 2, 4, 6, 1, 3, 1, 1, 1, 4, 4, 4, 4, 4,  4};
    for (uint8_t type = 1; type < LEAT_OPCUA_TYPES; type++) {
        uint8_t bytes[65] = {type | 0x80};
        leat_store_u32_le(bytes + 1, 60u / least[type] + 1);
        assert_nothing_is_asked_for(bytes, sizeof bytes, type, true);
        assert_nothing_is_asked_for(bytes + 1, sizeof bytes - 1, type, false);
    }
    assert_nothing_is_asked_for((const uint8_t *)"\x17", 1, LEAT_OPCUA_DATA_VALUE, true);
}
END_TEST

/* Four arrays of ten null Variants each: 400 bytes of memory an array. */
START_TEST(all_arrays_of_a_message_share_one_budget) {
    static const leat_opcua_options tight = {.memory = 1000}, wide = {.memory = 2500}, low = {.memory_factor = 15};
    char bytes[5 + 4 * 15] = "\x98\4\0\0";
    leat_opcua_value value;
    for (size_t i = 0; i < 4; i++)
        memcpy(bytes + 5 + 15 * i, "\x98\12\0\0", 5);
    ck_assert_int_eq(decode_field(bytes, sizeof bytes, 0, AS_VARIANT, &tight, &value), LEAT_ELIMIT);
    ck_assert_int_eq(decode_field(bytes, sizeof bytes, 0, AS_VARIANT, &low, &value), LEAT_ELIMIT);
    ck_assert_int_eq(decode_field(bytes, sizeof bytes, 0, AS_VARIANT, &wide, &value), 0);
}
END_TEST

/* ---- depth: the last level that is allowed, and one more, both ways ---- */

enum { LEVELS = 5 };
static const leat_opcua_options five = {.depth = LEVELS}, four = {.depth = LEVELS - 1};

/* Variants in Variants, `LEVELS` deep, the innermost null. */
static void nest(leat_opcua_value *levels) {
    levels[LEVELS] = (leat_opcua_value){.type = LEAT_OPCUA_NULL};
    for (size_t i = LEVELS; i-- > 0;)
        levels[i] = leat_opcua_array(LEAT_OPCUA_VARIANT, levels + i + 1, 1);
}

START_TEST(depth_is_limited_exactly_both_ways) {
    leat_opcua_value levels[LEVELS + 1], value;
    nest(levels);
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 0);
    ck_assert_int_eq(leat_opcua_encode_variant(buf, levels, &four), LEAT_ELIMIT);
    ck_assert_int_eq(leat_opcua_encode_variant(buf, levels, &five), 0);
    const char *bytes = (const char *)leat_bytebuf_data(buf);
    ck_assert_int_eq(decode_field(bytes, 5 * LEVELS + 1, 0, AS_VARIANT, &four, &value), LEAT_ELIMIT);
    ck_assert_int_eq(decode_field(bytes, 5 * LEVELS + 1, 0, AS_VARIANT, &five, &value), 0);
    leat_bytebuf_release(buf);
}
END_TEST

/* A DataValue in a Variant twice is two levels, then a DiagnosticInfo with three inner ones is three more. */
START_TEST(all_kinds_of_nesting_share_one_depth) {
    static const char mixed[] = "\x17\1\x17\1\x19\x40\x40\x40";
    leat_opcua_value value;
    ck_assert_int_eq(decode_field(mixed, sizeof mixed, 0, AS_VARIANT, &four, &value), LEAT_ELIMIT);
    ck_assert_int_eq(decode_field(mixed, sizeof mixed, 0, AS_VARIANT, &five, &value), 0);
    leat_bytebuf *buf = leat_bytebuf_from_bytes(leat_unpooled(), mixed, sizeof mixed),
                 *to = leat_bytebuf_new(leat_unpooled(), 0);
    leat_opcua_decoder decoder;
    ck_assert_int_eq(leat_opcua_decoder_init(&decoder, buf, leat_unpooled(), NULL), 0);
    ck_assert_int_eq(leat_opcua_decode_variant(&decoder, &value), 0);
    ck_assert_int_eq(leat_opcua_encode_variant(to, &value, &four), LEAT_ELIMIT);
    ck_assert_int_eq(leat_opcua_encode_variant(to, &value, &five), 0);
    ck_assert(leat_bytebuf_equals(to, buf));
    leat_opcua_decoder_clean_up(&decoder);
    leat_bytebuf_release(buf);
    leat_bytebuf_release(to);
}
END_TEST

/* ---- memory ---- */

/* An array of Variants with Strings that fragments tear, DataValues, and a matrix. */
static const char rich[] = "\x98\3\0\0\0"
                           "\x8c\2\0\0\0\5\0\0\0hello\xff\xff\xff\xff"
                           "\x97\2\0\0\0\1\6\7\0\0\0\0"
                           "\xc3\4\0\0\0\1\2\3\4\2\0\0\0\2\0\0\0\2\0\0";

static int copy_in_pieces(leat_alloc *alloc, void *context) {
    (void)context;
    leat_bytebuf *buf = leat_bytebuf_new(alloc, sizeof rich), *copy = leat_bytebuf_new(alloc, 0);
    leat_composite *pieces = leat_composite_new(alloc, 1);
    leat_opcua_decoder decoder;
    leat_opcua_value value;
    int code = buf && copy && pieces && leat_bytebuf_write_bytes(buf, rich, sizeof rich) ? 0 : LEAT_ENOMEM;
    for (size_t i = 0; i < sizeof rich && code == 0; i++)
        code = leat_composite_add_flattened(pieces, leat_bytebuf_retain(buf), i, 1);
    if (code == 0 && leat_opcua_decoder_init(&decoder, leat_composite_buffer(pieces), alloc, NULL) == 0) {
        code = leat_opcua_decode_variant(&decoder, &value);
        if (code == 0)
            code = leat_opcua_encode_variant(copy, &value, NULL);
        if (code == 0 && !leat_bytebuf_equals(copy, buf))
            code = LEAT_ECORRUPT;
        leat_opcua_decoder_clean_up(&decoder);
    }
    leat_bytebuf_release(leat_composite_buffer(pieces));
    leat_bytebuf_release(buf);
    leat_bytebuf_release(copy);
    return code == LEAT_ENOMEM ? 0 : code;
}

START_TEST(no_failed_allocation_leaks_or_changes_a_value) {
    leat_problem problem;
    ck_assert_int_eq(copy_in_pieces(leat_unpooled(), NULL), 0);
    ck_assert_msg(leat_verify_oom(copy_in_pieces, NULL, &problem) == 0, "%s", problem.text);
    puts(problem.text);
}
END_TEST

int main(void) {
    return suite_run("opcua_refused",
                     (const TTest *const[]){
                         a_buffer_too_small_refuses_at_the_reservation, nonsensical_values_are_refused,
                         dimensions_must_multiply_to_the_count, limits_hold_for_encoding_too,
                         encoding_has_limits_by_default, a_length_that_the_wire_cannot_say_is_refused_without_looking,
                         a_view_beyond_its_buffer_is_refused, decoding_has_limits_by_default,
                         bytes_that_are_not_of_their_type_are_refused, a_matrix_is_written_in_both_forms,
                         a_matrix_field_has_two_dimensions_and_all_its_elements, limits_hold_for_decoding,
                         a_count_beyond_the_bytes_left_asks_for_no_memory, all_arrays_of_a_message_share_one_budget,
                         depth_is_limited_exactly_both_ways, all_kinds_of_nesting_share_one_depth,
                         no_failed_allocation_leaks_or_changes_a_value, NULL});
}
