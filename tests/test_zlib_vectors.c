#include "tests/support/suite.h"
#include "tests/support/tolerant.h"
#include "tests/support/vectors.h"
#include "tests/support/zlib_inflate.h"
#include "tests/support/zlib_oracle.h"

#include <stdlib.h>
#include <string.h>

static leat_zlib_format format_of(const json_t *vector) {
    const char *wrapper = vector_text(vector, "wrapper");
    return strcmp(wrapper, "gzip") == 0   ? LEAT_ZLIB_GZIP
           : strcmp(wrapper, "zlib") == 0 ? LEAT_ZLIB_ZLIB
                                          : LEAT_ZLIB_RAW;
}

static int code_of(const json_t *vector) {
    const char *error = vector_text(vector, "error");
    return strcmp(error, "truncated") == 0   ? LEAT_ETRUNCATED
           : strcmp(error, "need_dict") == 0 ? LEAT_ENOTFOUND
           : *error                          ? LEAT_ECORRUPT
                                             : 0;
}

/* What is asked of each way to cut a vector's bytes. */
typedef struct question {
    const json_t *vector;
    const leat_zlib_inflater_config *config;
    leat_span input, expected; /* of an error: what comes out in one piece */
    int code;
} question;

static void ask(const question *asked, size_t first, size_t piece) {
    inflation got = inflate_in(asked->config, asked->input, first, piece);
    int id = (int)vector_number(asked->vector, "id");
    ck_assert_msg(got.code == asked->code, "vector %d cut at %zu: %s, not %s", id, first, leat_error_name(got.code),
                  leat_error_name(asked->code));
    ck_assert_msg(leat_bytebuf_equals_bytes(got.bytes, asked->expected.bytes, asked->expected.length),
                  "vector %d cut at %zu: other bytes came out", id, first);
    leat_bytebuf_release(got.bytes);
}

/* Where `reads` cut, two-part splits cut too; several cuts at once come with the pieces. */
static void ask_all(const question *asked) {
    size_t length = asked->input.length;
    for (size_t at = 0; at <= length; at += length / (EVERY_NTH > 1 ? 8 : 1200) + 1)
        ask(asked, at, 0);
    const json_t *reads = json_object_get(asked->vector, "reads");
    for (size_t i = 0, at = 0; i < json_array_size(reads); i++)
        ask(asked, at += (size_t)json_integer_value(json_array_get(reads, i)), i + 2);
    ask(asked, 0, 1);
}

/* What comes out before an error, which vectors only hint at, comes out however the bytes are cut. */
static void assert_fails(question *asked) {
    inflation whole = inflate_in(asked->config, asked->input, 0, 0);
    asked->expected = span_of(whole.bytes);
    ask_all(asked);
    leat_bytebuf_release(whole.bytes);
}

/* Bytes behind the stream are passed on, dropped or refused. */
static void assert_inflates(question *asked, leat_zlib_inflater_config *config) {
    leat_span inflated = bytes_of_hex(vector_text(asked->vector, "inflated"));
    size_t trailing = vector_number(asked->vector, "trailing");
    uint8_t *both = malloc(inflated.length + trailing + 1);
    memcpy(both, inflated.bytes, inflated.length);
    memcpy(both + inflated.length, asked->input.bytes + asked->input.length - trailing, trailing);
    config->trailing = LEAT_ZLIB_TRAILING_PASS;
    asked->expected = (leat_span){both, inflated.length + trailing};
    ask_all(asked);
    config->trailing = LEAT_ZLIB_TRAILING_IGNORE;
    asked->expected.length = inflated.length;
    ask_all(asked);
    config->trailing = LEAT_ZLIB_TRAILING_REFUSE;
    asked->code = trailing ? LEAT_ECORRUPT : 0;
    ask_all(asked);
    free(both);
    free((void *)(uintptr_t)inflated.bytes);
}

static void check_inflate(const json_t *vector) {
    leat_span dictionary = bytes_of_hex(vector_text(vector, "dict"));
    leat_zlib_inflater_config config = {.format = format_of(vector), .dictionary = dictionary};
    question asked = {vector, &config, bytes_of_hex(vector_text(vector, "compressed")), {0}, code_of(vector)};
    if (asked.code)
        assert_fails(&asked);
    else
        assert_inflates(&asked, &config);
    free((void *)(uintptr_t)asked.input.bytes);
    free((void *)(uintptr_t)dictionary.bytes);
}

/* Each message is there as soon as its bytes are. */
static void check_messages(const json_t *vector) {
    const leat_zlib_inflater_config config = {.format = format_of(vector)};
    leat_embedded *e = inflating_channel(&config);
    json_t *message;
    size_t i;
    json_array_foreach(json_object_get(vector, "messages"), i, message) {
        leat_span compressed = bytes_of_hex(vector_text(message, "compressed"));
        leat_span inflated = bytes_of_hex(vector_text(message, "inflated"));
        leat_bytebuf *out = leat_bytebuf_new(leat_unpooled(), 4096);
        leat_embedded_feed(e, compressed.bytes, compressed.length);
        collect_reads(e, out);
        assert_bytes(out, inflated.bytes, inflated.length);
        free((void *)(uintptr_t)compressed.bytes);
        free((void *)(uintptr_t)inflated.bytes);
    }
    leat_span tail = bytes_of_hex(vector_text(vector, "tail"));
    leat_embedded_feed(e, tail.bytes, tail.length);
    leat_embedded_feed_eof(e);
    ck_assert_int_eq(take_tolerated(e), 0);
    free((void *)(uintptr_t)tail.bytes);
    assert_nothing_left(e);
}

static void check(const json_t *vector) {
    if (strcmp(vector_text(vector, "kind"), "messages") == 0)
        check_messages(vector);
    else
        check_inflate(vector);
}

START_TEST(every_stream_inflates_as_others_inflate_it_however_it_is_cut) {
    ck_assert_uint_eq(vectors_each("zlib.jsonl", check), 122);
}
END_TEST

int main(void) {
    return suite_run("zlib_vectors",
                     (const TTest *const[]){every_stream_inflates_as_others_inflate_it_however_it_is_cut, NULL});
}
