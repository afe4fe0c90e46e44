#include "handlers/delimiter.h"
#include "handlers/line.h"
#include "tests/support/suite.h"
#include "tests/support/vectors.h"

#include <stdlib.h>
#include <string.h>

static void check_line(const json_t *vector) {
    if (strcmp(vector_text(vector, "decoder"), "line") != 0)
        return;
    leat_line_config config = {
        .max_length = vector_number(vector, "maxFrame"),
        .keep_end = !vector_flag(vector, "strip"),
        .report_late = !vector_flag(vector, "failFast"),
    };
    assert_vector_decoded(vector, &leat_line_decoder, &config);
}

START_TEST(lines_are_those_of_netty_or_the_ideal) {
    ck_assert_uint_eq(vectors_each("delimiter-line.jsonl", check_line), 177);
}
END_TEST

static size_t delimiters_of(const json_t *vector, leat_span *ends) {
    const json_t *list = json_object_get(vector, "delims");
    for (size_t i = 0; i < json_array_size(list); i++)
        ends[i] = bytes_of_hex(json_string_value(json_array_get(list, i)));
    return json_array_size(list);
}

/* A limit of 0, which Netty refuses, is Leat's word for the default. */
static void assert_accepted(const leat_delimiter_config *config) {
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{&leat_delimiter_decoder, config, NULL}, {0}});
    ck_assert_ptr_nonnull(embedded);
    leat_embedded_free(embedded);
}

static void check_with_delimiters(const json_t *vector, const leat_delimiter_config *config) {
    if (config->max_length == 0)
        assert_accepted(config);
    else if (vector_is_refused(vector))
        assert_vector_refused(vector, &leat_delimiter_decoder, config);
    else
        assert_vector_decoded(vector, &leat_delimiter_decoder, config);
}

static void check_delimiter(const json_t *vector) {
    if (strcmp(vector_text(vector, "decoder"), "delimiter") != 0)
        return;
    leat_span ends[LEAT_DELIMITERS];
    leat_delimiter_config config = {
        .delimiters = ends,
        .count = delimiters_of(vector, ends),
        .max_length = vector_number(vector, "maxFrame"),
        .keep_delimiter = !vector_flag(vector, "strip"),
        .report_late = !vector_flag(vector, "failFast"),
    };
    check_with_delimiters(vector, &config);
    for (size_t i = 0; i < config.count; i++)
        free((void *)(uintptr_t)ends[i].bytes);
}

START_TEST(delimited_frames_are_those_of_netty_or_the_ideal_except_for_a_limit_of_zero_which_is_the_default) {
    ck_assert_uint_eq(vectors_each("delimiter-line.jsonl", check_delimiter), 177);
}
END_TEST

/* Line vectors hold for the delimiters CR LF and LF too. */
static void check_line_ends(const json_t *vector) {
    if (strcmp(vector_text(vector, "decoder"), "line") != 0)
        return;
    leat_delimiter_config config = {
        .max_length = vector_number(vector, "maxFrame"),
        .keep_delimiter = !vector_flag(vector, "strip"),
        .report_late = !vector_flag(vector, "failFast"),
    };
    assert_vector_decoded(vector, &leat_delimiter_decoder, &config);
}

START_TEST(the_default_delimiters_make_the_lines_of_the_line_decoder) {
    ck_assert_uint_eq(vectors_each("delimiter-line.jsonl", check_line_ends), 177);
}
END_TEST

int main(void) {
    return suite_run(
        "line_vectors",
        (const TTest *const[]){
            lines_are_those_of_netty_or_the_ideal,
            delimited_frames_are_those_of_netty_or_the_ideal_except_for_a_limit_of_zero_which_is_the_default,
            the_default_delimiters_make_the_lines_of_the_line_decoder, NULL});
}
