/* Calls that move arrays, read, search and compare. */
#include "core/bytebuf_array.h"
#include "tests/support/calls.h"

#include <check.h>

/* ---- arrays of every width ---- */

static void reorder(uint8_t *bytes, size_t n, unsigned width) {
    for (size_t i = 0; i + width <= n; i += width)
        for (unsigned k = 0; k < width / 2; k++) {
            uint8_t swapped = bytes[i + k];
            bytes[i + k] = bytes[i + width - 1 - k];
            bytes[i + width - 1 - k] = swapped;
        }
}

/* The order in which a width's bytes stand reversed. */
static leat_byte_order foreign(void) {
    const uint16_t one = 1;
    return *(const uint8_t *)&one ? LEAT_BIG_ENDIAN : LEAT_LITTLE_ENDIAN;
}

static bool write_array(call_model *of, slot *one, slot *other) {
    (void)other;
    unsigned width = 1u << below(of, 4);
    size_t n = of->n / width;
    bool done = leat_bytebuf_write_array(one->buf, of->bytes, n, width, foreign());
    reorder(of->bytes, n * width, width);
    return appended(one, done, of->bytes, n * width);
}

static bool read_array(call_model *of, slot *one, slot *other) {
    (void)other;
    unsigned width = 1u << below(of, 4);
    size_t n = below(of, (one->length < 800 ? one->length : 800) / width + 1);
    if (!leat_bytebuf_read_array(one->buf, of->bytes, n, width, foreign()))
        return false;
    reorder(of->bytes, n * width, width);
    ck_assert_mem_eq(of->bytes, one->bytes, n * width);
    drop_front(one, n * width);
    return true;
}

static bool change_array(call_model *of, slot *one, slot *other) {
    (void)other;
    unsigned width = 1u << below(of, 4);
    size_t n = of->n / width, bytes = n * width;
    if (bytes > one->length)
        return true;
    size_t at = below(of, one->length - bytes + 1);
    if (!leat_bytebuf_set_array(one->buf, leat_bytebuf_reader_index(one->buf) + at, of->bytes, n, width, foreign()))
        return false;
    reorder(of->bytes, bytes, width);
    memcpy(one->bytes + at, of->bytes, bytes);
    return true;
}

/* ---- reading and looking ---- */

static bool read_varint(call_model *of, slot *one, slot *other) {
    (void)of, (void)other;
    uint64_t value, seen;
    int length = leat_bytebuf_get_varint(one->buf, leat_bytebuf_reader_index(one->buf), &seen);
    bool done = leat_bytebuf_read_varint(one->buf, &value);
    ck_assert(!done || (length > 0 && value == seen && value % 128 == one->bytes[0] % 128u));
    if (done)
        drop_front(one, (size_t)length);
    return done;
}

static bool read_with_cursor(call_model *of, slot *one, slot *other) {
    (void)other;
    leat_reader reader = leat_reader_begin(one->buf);
    size_t n = below(of, one->length + 1), at = 0;
    uint32_t value;
    ck_assert_uint_eq(leat_reader_left(&reader), one->length);
    for (; at + 3 <= n && leat_reader_u24(&reader, &value); at += 3)
        ck_assert_uint_eq(value, leat_load_u24(one->bytes + at));
    ck_assert(leat_reader_skip(&reader, n - at));
    if (!leat_reader_finish(&reader))
        return false;
    drop_front(one, n);
    return true;
}

static int64_t find_naively(const slot *in, size_t from, const uint8_t *needle, size_t n) {
    for (size_t i = from; i + n <= in->length; i++)
        if (memcmp(in->bytes + i, needle, n) == 0)
            return (int64_t)i;
    return -1;
}

static void assert_found(const slot *in, int64_t found, int64_t expected) {
    int64_t reader = (int64_t)leat_bytebuf_reader_index(in->buf);
    ck_assert_int_eq(found, expected < 0 ? -1 : expected + reader);
}

static bool search(call_model *of, slot *one, slot *other) {
    (void)other;
    size_t from = below(of, one->length + 1), n = below(of, 5);
    uint64_t index = leat_bytebuf_reader_index(one->buf) + from;
    const uint8_t *needle = of->bytes;
    of->n = 0;
    for (size_t i = 0; i < n; i++)
        of->bytes[i] = (uint8_t)("abc"[below(of, 3)]);
    assert_found(one, leat_bytebuf_find(one->buf, index, needle, n), find_naively(one, from, needle, n));
    assert_found(one, leat_bytebuf_find_byte(one->buf, index, 'c'), find_naively(one, from, (const uint8_t *)"c", 1));
    int64_t a = find_naively(one, from, (const uint8_t *)"a", 1), b = find_naively(one, from, (const uint8_t *)"b", 1);
    assert_found(one, leat_bytebuf_find_any(one->buf, index, "ab", 2), a < 0 || (b >= 0 && b < a) ? b : a);
    return true;
}

static bool compare(call_model *of, slot *one, slot *other) {
    (void)of;
    size_t n = one->length < other->length ? one->length : other->length;
    int expected = memcmp(one->bytes, other->bytes, n);
    if (expected == 0)
        expected = (one->length > n) - (other->length > n);
    int order = leat_bytebuf_compare(one->buf, other->buf);
    ck_assert((order < 0) == (expected < 0) && (order > 0) == (expected > 0));
    ck_assert(leat_bytebuf_equals(one->buf, other->buf) == (expected == 0));
    ck_assert((leat_bytebuf_hash(one->buf) == leat_bytebuf_hash(other->buf)) == (expected == 0));
    return true;
}

const call_entry calls_that_look[] = {CALL(write_array),      CALL(read_array), CALL(change_array), CALL(read_varint),
                                      CALL(read_with_cursor), CALL(search),     CALL(compare),      {NULL, NULL}};
