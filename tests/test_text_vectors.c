/* tests/vectors/utf8.jsonl: what Node, WHATWG's decoders and Python agree on. */
#include "core/composite.h"
#include "core/text.h"
#include "tests/support/suite.h"

#include <jansson.h>
#include <string.h>

enum { MOST = 4096 };

/* The vector at hand: check forks, and a failed assertion shows the number of the line. */
static json_t *vector;

static json_int_t number(const char *name) {
    return json_integer_value(json_object_get(vector, name));
}

static size_t unhex(const char *name, uint8_t *out) {
    const char *hex = json_string_value(json_object_get(vector, name));
    ck_assert_ptr_nonnull(hex);
    size_t n = strlen(hex) / 2;
    ck_assert_uint_le(n, MOST);
    for (size_t i = 0; i < n; i++) {
        unsigned byte;
        ck_assert_int_eq(sscanf(hex + 2 * i, "%2x", &byte), 1);
        out[i] = (uint8_t)byte;
    }
    return n;
}

static void assert_holds(leat_bytebuf *buf, const char *name) {
    uint8_t expected[MOST];
    size_t n = unhex(name, expected);
    ck_assert_msg(leat_bytebuf_equals_bytes(buf, expected, n), "vector %d: not %s", (int)number("id"), name);
    leat_bytebuf_release(buf);
}

static leat_bytebuf *sized(uint64_t capacity) {
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), capacity);
    ck_assert_ptr_nonnull(buf);
    return buf;
}

static void each_vector(const char *kind, void (*check)(void)) {
    FILE *file = fopen(VECTORS "/utf8.jsonl", "r");
    ck_assert_ptr_nonnull(file);
    char line[1 << 16];
    int seen = 0;
    while (fgets(line, sizeof line, file)) {
        vector = json_loads(line, 0, NULL);
        ck_assert_ptr_nonnull(vector);
        if (strcmp(json_string_value(json_object_get(vector, "kind")), kind) == 0 && ++seen)
            check();
        json_decref(vector);
    }
    fclose(file);
    ck_assert_int_ge(seen, 75);
}

/* ---- whole texts ---- */

static void check_bytes(void) {
    uint8_t input[MOST];
    size_t n = unhex("input", input);
    bool valid = json_is_true(json_object_get(vector, "valid"));
    ck_assert_int_eq((json_int_t)leat_text_utf8_valid(input, n), number("validUpTo"));
    leat_bytebuf *strict = sized(n);
    ck_assert_int_eq(leat_text_write_utf8(strict, input, n, LEAT_TEXT_STRICT), valid ? 0 : LEAT_ECORRUPT);
    ck_assert_uint_eq(leat_bytebuf_readable(strict), valid ? n : 0);
    leat_bytebuf_release(strict);
    uint64_t length = leat_text_utf8_length(input, n);
    leat_bytebuf *lossy = sized(length);
    ck_assert_int_eq(leat_text_write_utf8(lossy, input, n, LEAT_TEXT_REPLACE), 0);
    ck_assert_uint_eq(leat_bytebuf_readable(lossy), length);
    assert_holds(lossy, "lossy");
}

START_TEST(bytes_are_valid_or_replaced_as_all_oracles_say) {
    each_vector("bytes", check_bytes);
}
END_TEST

static size_t take_units(uint16_t *units) {
    json_t *list = json_object_get(vector, "units"), *unit;
    size_t i;
    json_array_foreach(list, i, unit) units[i] = (uint16_t)json_integer_value(unit);
    return json_array_size(list);
}

static void check_units(void) {
    uint16_t units[MOST];
    size_t n = take_units(units);
    bool well_formed = json_is_true(json_object_get(vector, "wellFormed"));
    leat_bytebuf *strict = sized(1);
    ck_assert_int_eq(leat_text_write_utf16(strict, units, n, LEAT_TEXT_STRICT), well_formed ? 0 : LEAT_ECORRUPT);
    leat_bytebuf_release(strict);
    leat_bytebuf *buf = leat_text_from_utf16(leat_unpooled(), units, n);
    ck_assert_uint_eq(leat_bytebuf_readable(buf), leat_text_utf16_length(units, n));
    assert_holds(buf, "out");
}

START_TEST(units_become_the_bytes_that_all_oracles_say) {
    each_vector("utf16", check_units);
}
END_TEST

/* ---- pieces ---- */

static void check_split_units(void) {
    uint16_t units[MOST];
    take_units(units);
    leat_text_stream stream = {0};
    leat_bytebuf *buf = sized(0);
    json_t *split;
    size_t i, at = 0;
    json_array_foreach(json_object_get(vector, "splits"), i, split) {
        size_t n = (size_t)json_integer_value(split);
        ck_assert_int_eq(leat_text_stream_utf16(&stream, buf, units + at, n, LEAT_TEXT_REPLACE), 0);
        at += n;
    }
    ck_assert_int_eq(leat_text_stream_end(&stream, buf, LEAT_TEXT_REPLACE), 0);
    assert_holds(buf, "out");
}

START_TEST(units_in_pieces_become_the_same) {
    each_vector("utf16", check_split_units);
}
END_TEST

/* Feeds the pieces; returns the index of the one that was refused, or -1. */
static json_int_t feed(leat_bytebuf *out, leat_text_mode mode, int *code) {
    uint8_t input[MOST];
    unhex("input", input);
    leat_text_stream stream = {0};
    json_t *split;
    size_t i, at = 0;
    json_array_foreach(json_object_get(vector, "splits"), i, split) {
        size_t n = (size_t)json_integer_value(split);
        *code = leat_text_stream_utf8(&stream, out, input + at, n, mode);
        if (*code != 0)
            return (json_int_t)i;
        at += n;
    }
    *code = leat_text_stream_end(&stream, out, mode);
    return -1;
}

static void check_strict_stream(void) {
    int code;
    leat_bytebuf *buf = sized(0);
    json_int_t refused = feed(buf, LEAT_TEXT_STRICT, &code);
    bool faulty = strcmp(json_string_value(json_object_get(vector, "verdict")), "error") == 0;
    ck_assert_msg(code == (faulty ? LEAT_ECORRUPT : 0), "vector %d", (int)number("id"));
    if (!faulty) {
        assert_holds(buf, "input");
        return;
    }
    json_t *where = json_object_get(vector, "errorRead");
    ck_assert_int_eq(refused, json_is_integer(where) ? json_integer_value(where) : -1);
    assert_holds(buf, "outBeforeError");
}

START_TEST(a_fault_in_a_stream_shows_at_the_byte_that_makes_it_certain) {
    each_vector("stream", check_strict_stream);
}
END_TEST

static void check_lossy_stream(void) {
    int code;
    leat_bytebuf *buf = sized(0);
    feed(buf, LEAT_TEXT_REPLACE, &code);
    ck_assert_int_eq(code, 0);
    assert_holds(buf, "lossy");
}

START_TEST(a_stream_is_replaced_as_the_whole_would_be) {
    each_vector("stream", check_lossy_stream);
}
END_TEST

int main(void) {
    return suite_run("text_vectors", (const TTest *const[]){bytes_are_valid_or_replaced_as_all_oracles_say,
                                                            units_become_the_bytes_that_all_oracles_say,
                                                            units_in_pieces_become_the_same,
                                                            a_fault_in_a_stream_shows_at_the_byte_that_makes_it_certain,
                                                            a_stream_is_replaced_as_the_whole_would_be, NULL});
}
