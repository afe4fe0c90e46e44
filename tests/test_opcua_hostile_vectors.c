/* Every input of tests/vectors/opcua-hostile.jsonl: answered as the file expects, or as the list below says and why. */
#include "handlers/opcua/decode.h"
#include "handlers/opcua/encode.h"
#include "tests/support/opcua_vectors.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { VECTORS_IN_FILE = 77, MOST_MEMORY = 100 };

/* What the file leaves open ("limit"): 0 = accepted. */
static const struct {
    const char *name;
    int code;
} answers[] = {
    {"array_len_minus_2", LEAT_ECORRUPT},     /* only -1 is null */
    {"array_len_int32_min", LEAT_ECORRUPT},   /* only -1 is null */
    {"string_len_minus_2", LEAT_ECORRUPT},    /* only -1 is null */
    {"scalar_with_dims_flag", LEAT_ECORRUPT}, /* a scalar has no dimensions to read */
    {"dims_zero", 0},                         /* an empty matrix is an empty array */
    {"dims_zero_huge", 0},                    /* wherever the 0 stands */
    {"dims_huge_zero", 0},                    /* wherever the 0 stands */
    {"dims_none", LEAT_ECORRUPT},             /* no dimension holds no element */
    {"dims_none_len1", LEAT_ECORRUPT},        /* no dimension holds no element */
    {"dims_null", LEAT_ECORRUPT},             /* no dimension holds no element */
    {"dims_many_ones", LEAT_ELIMIT},          /* the rank has a limit */
    {"null_array_with_dims", 0},              /* the dimensions are read, and nothing is lost */
    {"nest_variant_200", LEAT_ELIMIT},        /* one budget of 128 levels */
    {"nest_diag_variant_mix", 0},             /* 120 of 128 levels */
    {"nodeid_flags", LEAT_ECORRUPT},          /* these flags belong to an ExpandedNodeId */
    {"xo_body_minus_1", 0},                   /* real servers send a null body */
    {"localizedtext_reserved_bits", 0},       /* reserved bits mean nothing */
    {"datavalue_reserved_bits", 0},           /* reserved bits mean nothing */
    {"string_bad_utf8", 0},                   /* bytes are handed on as they stand */
    {"trailing_bytes", 0},                    /* the decoder says how many bytes it took */
};

static int answer_to(const json_t *vector) {
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (strcmp(answers[i].name, vector_text(vector, "name")) == 0)
            return answers[i].code;
    ck_abort_msg("no answer to %s", vector_text(vector, "name"));
    return 0;
}

static int decode(const json_t *vector, leat_opcua_decoder *decoder, leat_opcua_value *value) {
    const char *type = vector_text(vector, "type");
    return strcmp(type, "Variant") == 0
               ? leat_opcua_decode_variant(decoder, value)
               : leat_opcua_decode_field(decoder, opcua_type_of(type), LEAT_OPCUA_SCALAR, value);
}

static void assert_code(const json_t *vector, int code) {
    const char *expected = vector_text(vector, "expect"), *name = vector_text(vector, "name");
    if (strcmp(expected, "accept") == 0)
        ck_assert_msg(code == 0, "%s: %s", name, leat_error_message(code));
    else if (strcmp(expected, "reject") == 0)
        ck_assert_msg(code == LEAT_ECORRUPT || code == LEAT_ETRUNCATED || code == LEAT_ELIMIT || code == LEAT_ETOOLONG,
                      "%s: %d", name, code);
    else
        ck_assert_msg(code == answer_to(vector), "%s: %d", name, code);
}

/* Accepted input is written, read and written again without a change. */
static void assert_stable(const leat_opcua_value *value) {
    leat_bytebuf *first = leat_bytebuf_new(leat_unpooled(), 0), *second = leat_bytebuf_new(leat_unpooled(), 0);
    leat_opcua_decoder decoder;
    leat_opcua_value again;
    ck_assert_int_eq(leat_opcua_encode_field(first, value, NULL), 0);
    ck_assert_int_eq(leat_opcua_decoder_init(&decoder, first, leat_unpooled(), NULL), 0);
    ck_assert_int_eq(leat_opcua_decode_field(&decoder, value->type, value->shape, &again), 0);
    ck_assert(opcua_equal(value, &again));
    ck_assert_int_eq(leat_opcua_encode_field(second, &again, NULL), 0);
    ck_assert(leat_bytebuf_equals(first, second));
    leat_opcua_decoder_clean_up(&decoder);
    leat_bytebuf_release(first);
    leat_bytebuf_release(second);
}

/* Decodes with an allocator of its own: what lives when it returns is the most there was. */
static void check(const json_t *vector) {
    leat_span bytes = bytes_of_hex(vector_text(vector, "hex"));
    leat_bytebuf *input = leat_bytebuf_from_bytes(leat_unpooled(), bytes.bytes, bytes.length);
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_opcua_decoder decoder;
    leat_opcua_value value;
    ck_assert_int_eq(leat_opcua_decoder_init(&decoder, input, &counting.alloc, NULL), 0);
    int code = decode(vector, &decoder, &value);
    assert_code(vector, code);
    ck_assert_msg(counting.counted.live_bytes <= MOST_MEMORY * bytes.length, "%s: %d bytes of memory",
                  vector_text(vector, "name"), (int)counting.counted.live_bytes);
    if (code == 0 && value.type != LEAT_OPCUA_NULL)
        assert_stable(&value);
    leat_opcua_decoder_clean_up(&decoder);
    ck_assert_uint_eq(counting.counted.live, 0);
    leat_bytebuf_release(input);
    free((void *)(uintptr_t)bytes.bytes);
}

START_TEST(every_hostile_input_gets_its_answer_within_100_times_its_memory) {
    ck_assert_uint_eq(vectors_each("opcua-hostile.jsonl", check), VECTORS_IN_FILE);
}
END_TEST

int main(void) {
    return suite_run("opcua_hostile_vectors",
                     (const TTest *const[]){every_hostile_input_gets_its_answer_within_100_times_its_memory, NULL});
}
