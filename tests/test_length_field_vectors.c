#include "handlers/length_field_decoder.h"
#include "handlers/length_field_prepender.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"
#include "tests/support/vectors.h"

#include <stdlib.h>
#include <string.h>

static leat_length_field_decoder_config decoder_config_of(const json_t *vector) {
    return (leat_length_field_decoder_config){
        .max_frame = vector_number(vector, "maxFrame"),
        .offset = vector_number(vector, "offset"),
        .field_length = (unsigned)vector_number(vector, "fieldLen"),
        .little_endian = strcmp(vector_text(vector, "order"), "le") == 0,
        .adjustment = (int64_t)vector_number(vector, "adjust"),
        .strip = vector_number(vector, "strip"),
        .report_late = !vector_flag(vector, "failFast"),
    };
}

/* Netty takes a setting under which no frame can ever be long enough for what is stripped; Leat refuses it. */
static bool strips_more_than_a_frame(const leat_length_field_decoder_config *config) {
    return config->strip > config->max_frame;
}

static void check_decoder(const json_t *vector) {
    leat_length_field_decoder_config config = decoder_config_of(vector);
    if (vector_is_refused(vector) || strips_more_than_a_frame(&config))
        assert_vector_refused(vector, &leat_length_field_decoder, &config);
    else
        assert_vector_decoded(vector, &leat_length_field_decoder, &config);
}

START_TEST(frames_are_those_of_netty_except_for_four_that_strip_more_than_max_frame) {
    ck_assert_uint_eq(vectors_each("length-field.jsonl", check_decoder), 401);
}
END_TEST

static leat_length_field_prepender_config prepender_config_of(const json_t *vector) {
    return (leat_length_field_prepender_config){
        .field_length = (unsigned)vector_number(vector, "fieldLen"),
        .little_endian = strcmp(vector_text(vector, "order"), "le") == 0,
        .includes_field = vector_flag(vector, "includes"),
        .adjustment = (int64_t)vector_number(vector, "adjust"),
    };
}

struct outcome {
    leat_done done;
    int status;
};

static void note_status(leat_done *done, int status) {
    ((struct outcome *)(void *)done)->status = status;
}

static int expected_status(const json_t *vector) {
    const char *error = json_object_get(vector, "ideal") ? "" : vector_text(vector, "error");
    return strcmp(error, "negative") == 0 ? LEAT_ERANGE : strcmp(error, "too_large") == 0 ? LEAT_ETOOLONG : 0;
}

static void assert_prepended(const json_t *vector, const leat_length_field_prepender_config *config) {
    const json_t *ideal = json_object_get(vector, "ideal");
    leat_span body = bytes_of_hex(vector_text(vector, "body"));
    leat_span out = bytes_of_hex(vector_text(ideal ? ideal : vector, "out"));
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{&leat_length_field_prepender, config, NULL}, {0}});
    struct outcome outcome = {.done.fn = note_status, .status = 1};
    leat_bytebuf *buf = leat_bytebuf_from_bytes(leat_embedded_alloc(embedded), body.bytes, body.length);
    leat_embedded_write(embedded, leat_msg_of_bytebuf(buf), &outcome.done);
    leat_bytebuf *written = leat_embedded_take_written(embedded);
    int id = (int)vector_number(vector, "id");
    ck_assert_msg(outcome.status == expected_status(vector), "vector %d: status %d", id, outcome.status);
    ck_assert_msg(leat_bytebuf_equals_bytes(written, out.bytes, out.length), "vector %d differs", id);
    leat_bytebuf_release(written);
    assert_nothing_left(embedded);
    free((void *)(uintptr_t)body.bytes);
    free((void *)(uintptr_t)out.bytes);
}

/* A width of 0, which Netty refuses, is Leat's word for the default. */
static void assert_accepted(const leat_length_field_prepender_config *config) {
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{&leat_length_field_prepender, config, NULL}, {0}});
    ck_assert_ptr_nonnull(embedded);
    leat_embedded_free(embedded);
}

static void check_prepender(const json_t *vector) {
    leat_length_field_prepender_config config = prepender_config_of(vector);
    if (config.field_length == 0)
        assert_accepted(&config);
    else if (strcmp(vector_text(vector, "error"), "bad_width") == 0)
        assert_vector_refused(vector, &leat_length_field_prepender, &config);
    else
        assert_prepended(vector, &config);
}

START_TEST(lengths_are_those_of_netty_except_for_a_width_of_zero_which_is_the_default) {
    ck_assert_uint_eq(vectors_each("prepend.jsonl", check_prepender), 100);
}
END_TEST

int main(void) {
    return suite_run("length_field_vectors",
                     (const TTest *const[]){frames_are_those_of_netty_except_for_four_that_strip_more_than_max_frame,
                                            lengths_are_those_of_netty_except_for_a_width_of_zero_which_is_the_default,
                                            NULL});
}
