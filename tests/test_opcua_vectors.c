/* Every vector of tests/vectors/opcua-vectors.jsonl, both ways, cut everywhere and in pieces of every size up to 64. */
#include "core/composite.h"
#include "handlers/opcua/chunk.h"
#include "handlers/opcua/decode.h"
#include "handlers/opcua/encode.h"
#include "tests/support/opcua_vectors.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { VECTORS_IN_FILE = 404, LARGEST_PIECE = 64, LARGE = 4096 };

/* Of the seven large vectors, each 21st cut and size of pieces under sanitizers: 1, 22, 43 and 64. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { LARGE_STEP = 21 };
#else
enum { LARGE_STEP = 1 };
#endif

static uint64_t step_for(const leat_bytebuf *message) {
    return leat_bytebuf_capacity(message) > LARGE ? LARGE_STEP : 1;
}

/* Vectors with an empty matrix are of version 1.04. */
static const leat_opcua_options options = {.keep_empty_dimensions = true};

static bool is_kind(const json_t *vector, const char *kind) {
    return strcmp(vector_text(vector, "kind"), kind) == 0;
}

static int encode(const json_t *vector, const leat_opcua_value *value, leat_bytebuf *buf) {
    return is_kind(vector, "variant") ? leat_opcua_encode_variant(buf, value, &options)
                                      : leat_opcua_encode_field(buf, value, &options);
}

static int decode(const json_t *vector, leat_opcua_decoder *decoder, leat_opcua_value *value) {
    bool is_array = is_kind(vector, "array");
    if (is_kind(vector, "variant"))
        return leat_opcua_decode_variant(decoder, value);
    return leat_opcua_decode_field(decoder, opcua_type_of(vector_text(vector, "type")),
                                   is_array ? LEAT_OPCUA_ARRAY : LEAT_OPCUA_SCALAR, value);
}

static leat_bytebuf *message_of(const json_t *vector) {
    leat_span bytes = bytes_of_hex(vector_text(vector, "hex"));
    leat_bytebuf *buf = leat_bytebuf_from_bytes(leat_unpooled(), bytes.bytes, bytes.length);
    free((void *)(uintptr_t)bytes.bytes);
    return buf;
}

/* ---- both ways ---- */

static size_t built;

static void assert_encoded(const json_t *vector) {
    opcua_memory memory = {0};
    leat_opcua_value value;
    if (opcua_build(vector, &memory, &value)) {
        leat_bytebuf *expected = message_of(vector), *buf = leat_bytebuf_new(leat_unpooled(), 0);
        int code = encode(vector, &value, buf);
        ck_assert_msg(code == 0 && leat_bytebuf_equals(buf, expected), "%s: %d", vector_text(vector, "name"), code);
        leat_bytebuf_release(buf);
        leat_bytebuf_release(expected);
        built++;
    }
    opcua_memory_free(&memory);
}

START_TEST(every_value_is_written_as_its_vector) {
    built = 0;
    ck_assert_uint_eq(vectors_each("opcua-vectors.jsonl", assert_encoded), VECTORS_IN_FILE);
    printf("%zu values written\n", built);
    ck_assert_uint_ge(built, 270);
}
END_TEST

/* What was read is the value of the vector, and is written as it was read. */
static void assert_value(const json_t *vector, const leat_opcua_value *value, const leat_bytebuf *message) {
    const char *name = vector_text(vector, "name");
    opcua_memory memory = {0};
    leat_opcua_value expected;
    if (opcua_build(vector, &memory, &expected))
        ck_assert_msg(opcua_equal(value, &expected), "%s is read as another value", name);
    opcua_memory_free(&memory);
    leat_bytebuf *again = leat_bytebuf_new(leat_unpooled(), 0);
    ck_assert_msg(encode(vector, value, again) == 0 && leat_bytebuf_equals(again, message), "%s: written again", name);
    leat_bytebuf_release(again);
}

static void assert_read_from(const json_t *vector, leat_bytebuf *from, const leat_bytebuf *message) {
    const char *name = vector_text(vector, "name");
    leat_opcua_decoder decoder;
    leat_opcua_value value;
    ck_assert_int_eq(leat_opcua_decoder_init(&decoder, from, leat_unpooled(), &options), 0);
    int code = decode(vector, &decoder, &value);
    ck_assert_msg(code == 0, "%s: %s", name, leat_error_message(code));
    ck_assert_uint_eq(leat_opcua_decoder_taken(&decoder), leat_bytebuf_readable(message));
    assert_value(vector, &value, message);
    leat_opcua_decoder_clean_up(&decoder);
}

static void assert_decoded(const json_t *vector) {
    leat_bytebuf *message = message_of(vector);
    assert_read_from(vector, message, message);
    leat_bytebuf_release(message);
}

START_TEST(every_vector_is_read_as_its_value_and_written_again) {
    ck_assert_uint_eq(vectors_each("opcua-vectors.jsonl", assert_decoded), VECTORS_IN_FILE);
}
END_TEST

/* ---- cut ---- */

static void assert_cut(const json_t *vector, leat_bytebuf *message, uint64_t length) {
    leat_opcua_decoder decoder;
    leat_opcua_value value;
    ck_assert(leat_bytebuf_set_writer_index(message, length));
    ck_assert_int_eq(leat_opcua_decoder_init(&decoder, message, leat_unpooled(), &options), 0);
    int code = decode(vector, &decoder, &value);
    ck_assert_msg(code == LEAT_ETRUNCATED, "%s cut to %d bytes: %d", vector_text(vector, "name"), (int)length, code);
    ck_assert_uint_eq(leat_opcua_decoder_taken(&decoder), 0);
    ck_assert_int_eq(value.type, LEAT_OPCUA_NULL);
    leat_opcua_decoder_clean_up(&decoder);
}

static void assert_cut_everywhere(const json_t *vector) {
    leat_bytebuf *message = message_of(vector);
    uint64_t whole = leat_bytebuf_readable(message);
    for (uint64_t length = 0; length < whole; length += step_for(message))
        assert_cut(vector, message, length);
    leat_bytebuf_release(message);
}

START_TEST(a_vector_cut_at_any_byte_is_truncated_and_takes_nothing) {
    ck_assert_uint_eq(vectors_each("opcua-vectors.jsonl", assert_cut_everywhere), VECTORS_IN_FILE);
}
END_TEST

/* ---- in pieces ---- */

static leat_composite *fragments_of(leat_bytebuf *message, uint64_t piece) {
    leat_composite *fragments = leat_composite_new(leat_unpooled(), 2);
    uint64_t size = leat_bytebuf_readable(message);
    for (uint64_t at = 0; at < size; at += piece) {
        uint64_t n = size - at < piece ? size - at : piece;
        ck_assert_int_eq(leat_composite_add_flattened(fragments, leat_bytebuf_retain(message), at, n), 0);
    }
    return fragments;
}

static void assert_fragments(const json_t *vector) {
    leat_bytebuf *message = message_of(vector);
    uint64_t most = leat_bytebuf_readable(message);
    for (uint64_t piece = 1; piece <= LARGEST_PIECE && piece <= most; piece += step_for(message)) {
        leat_bytebuf *fragments = leat_composite_buffer(fragments_of(message, piece));
        assert_read_from(vector, fragments, message);
        leat_bytebuf_release(fragments);
    }
    leat_bytebuf_release(message);
}

START_TEST(every_vector_is_read_from_fragments_of_1_to_64_bytes) {
    ck_assert_uint_eq(vectors_each("opcua-vectors.jsonl", assert_fragments), VECTORS_IN_FILE);
}
END_TEST

/* Takes the headers off again, which must say what is there. */
static leat_composite *bodies_of(leat_bytebuf *chunks, uint32_t sequence) {
    leat_composite *bodies = leat_composite_new(leat_unpooled(), 2);
    uint64_t at = 0, end = leat_bytebuf_writer_index(chunks);
    while (at < end) {
        uint64_t n = leat_bytebuf_get_u32_le(chunks, at + 4);
        ck_assert_uint_eq(leat_bytebuf_get_u8(chunks, at + 3), at + n == end ? 'F' : 'C');
        ck_assert_uint_eq(leat_bytebuf_get_u32_le(chunks, at + 16), sequence++);
        ck_assert_int_eq(leat_composite_add_flattened(bodies, leat_bytebuf_retain(chunks), at + LEAT_OPCUA_CHUNK_HEADER,
                                                      n - LEAT_OPCUA_CHUNK_HEADER),
                         0);
        at += n;
    }
    return bodies;
}

static void assert_chunks_of(const json_t *vector, leat_bytebuf *message, uint32_t body) {
    leat_opcua_chunking chunking = {
        .chunk_bytes = body + LEAT_OPCUA_CHUNK_HEADER, .most_chunks = 1 << 20, .sequence = 7};
    leat_composite *chunks = leat_composite_new(leat_unpooled(), 2);
    ck_assert_int_eq(leat_opcua_chunk(chunks, leat_bytebuf_retain(message), &chunking), 0);
    leat_bytebuf *bodies = leat_composite_buffer(bodies_of(leat_composite_buffer(chunks), 7));
    ck_assert(leat_bytebuf_equals(bodies, message));
    assert_read_from(vector, bodies, message);
    leat_bytebuf_release(bodies);
    leat_bytebuf_release(leat_composite_buffer(chunks));
}

static void assert_chunks(const json_t *vector) {
    leat_bytebuf *message = message_of(vector);
    uint64_t most = leat_bytebuf_readable(message);
    for (uint32_t body = 1; body <= LARGEST_PIECE && body <= most; body += (uint32_t)step_for(message))
        assert_chunks_of(vector, message, body);
    leat_bytebuf_release(message);
}

START_TEST(every_vector_is_cut_into_chunks_of_1_to_64_bytes) {
    ck_assert_uint_eq(vectors_each("opcua-vectors.jsonl", assert_chunks), VECTORS_IN_FILE);
}
END_TEST

int main(void) {
    return suite_run("opcua_vectors", (const TTest *const[]){every_value_is_written_as_its_vector,
                                                             every_vector_is_read_as_its_value_and_written_again,
                                                             a_vector_cut_at_any_byte_is_truncated_and_takes_nothing,
                                                             every_vector_is_read_from_fragments_of_1_to_64_bytes,
                                                             every_vector_is_cut_into_chunks_of_1_to_64_bytes, NULL});
}
