#include "tests/support/vectors.h"

#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

size_t vectors_each(const char *file, void (*check)(const json_t *vector)) {
    char path[4096], *line = NULL;
    size_t size = 0, count = 0;
    snprintf(path, sizeof path, "%s/%s", VECTORS, file);
    FILE *lines = fopen(path, "r");
    ck_assert_msg(lines != NULL, "cannot open %s", path);
    for (; getline(&line, &size, lines) > 0; count++) {
        json_error_t error;
        json_t *vector = json_loads(line, JSON_ALLOW_NUL, &error);
        ck_assert_msg(vector != NULL, "%s, vector %zu: %s", file, count + 1, error.text);
        check(vector);
        json_decref(vector);
    }
    free(line);
    fclose(lines);
    return count;
}

uint64_t vector_number(const json_t *vector, const char *key) {
    return (uint64_t)json_integer_value(json_object_get(vector, key));
}

bool vector_flag(const json_t *vector, const char *key) {
    return json_is_true(json_object_get(vector, key));
}

const char *vector_text(const json_t *vector, const char *key) {
    const char *text = json_string_value(json_object_get(vector, key));
    return text ? text : "";
}

leat_span bytes_of_hex(const char *hex) {
    size_t length = strlen(hex) / 2;
    uint8_t *bytes = malloc(length ? length : 1);
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < length; i++) {
        char digits[] = {hex[2 * i], hex[2 * i + 1], 0};
        bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return (leat_span){bytes, length};
}

/* ---- what should come out, and what did: a word a frame or error ---- */

static const json_t *answer_of(const json_t *vector) {
    const json_t *ideal = json_object_get(vector, "ideal");
    return ideal ? ideal : vector;
}

bool vector_is_refused(const json_t *vector) {
    return strcmp(vector_text(answer_of(vector), "config"), "refused") == 0;
}

static void print_errors(FILE *words, const json_t *errors, size_t after) {
    size_t i;
    json_t *error;
    json_array_foreach(errors, i, error) {
        if (vector_number(error, "afterFrames") == after)
            fprintf(words, " !%s", vector_text(error, "kind"));
    }
}

static char *expected_words(const json_t *answer) {
    const json_t *frames = json_object_get(answer, "frames"), *errors = json_object_get(answer, "errors");
    char *text;
    size_t length;
    FILE *words = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(words);
    for (size_t i = 0; i < json_array_size(frames); i++) {
        print_errors(words, errors, i);
        fprintf(words, " =%s", json_string_value(json_array_get(frames, i)));
    }
    print_errors(words, errors, json_array_size(frames));
    fputs(*vector_text(answer, "leftover") ? " !truncated" : "", words);
    fclose(words);
    return text;
}

struct listener {
    FILE *words;
};

static int listener_added(leat_ctx *ctx, const void *config) {
    *(struct listener *)leat_state(ctx) = *(const struct listener *)config;
    return 0;
}

static void note_frame(leat_ctx *ctx, leat_msg msg) {
    const struct listener *listener = leat_state(ctx);
    const leat_bytebuf *frame = leat_msg_bytebuf(msg);
    fputs(" =", listener->words);
    for (uint64_t i = 0; i < leat_bytebuf_readable(frame); i++)
        fprintf(listener->words, "%02x", (unsigned)leat_bytebuf_get_u8(frame, leat_bytebuf_reader_index(frame) + i));
    leat_msg_release(msg);
}

static void note_error(leat_ctx *ctx, int code) {
    const struct listener *listener = leat_state(ctx);
    const char *kind = code == LEAT_ETOOLONG     ? "too_long"
                       : code == LEAT_ECORRUPT   ? "corrupted"
                       : code == LEAT_ETRUNCATED ? "truncated"
                                                 : leat_error_name(code);
    fprintf(listener->words, " !%s", kind);
}

static const leat_handler listener_handler = {
    .name = "listener",
    .state_size = sizeof(struct listener),
    .config_size = sizeof(struct listener),
    .reads = leat_only_bytebuf,
    .added = listener_added,
    .read = note_frame,
    .error = note_error,
};

/* ---- asserting ---- */

void assert_vector_refused(const json_t *vector, const leat_handler *handler, const void *config) {
    leat_problem problem = {0};
    leat_embedded *embedded = leat_embedded_new_with((leat_stage[]){{handler, config, NULL}, {0}}, NULL, &problem);
    ck_assert_msg(!embedded && problem.code == LEAT_EINVAL, "vector %d is not refused",
                  (int)vector_number(vector, "id"));
}

void feed_pieces(leat_embedded *embedded, leat_span input, const json_t *reads, size_t size) {
    size_t at = 0;
    for (size_t i = 0; at < input.length || i < json_array_size(reads); i++) {
        size_t left = input.length - at, length = size < left ? size : left;
        if (reads)
            length = (size_t)json_integer_value(json_array_get(reads, i));
        ck_assert(length <= left);
        leat_embedded_feed(embedded, input.bytes + at, length);
        at += length;
    }
}

/* What a channel made of the input; the caller frees it. */
static char *words_of(const leat_stage *stage, leat_span input, const json_t *reads, size_t size, bool to_the_end) {
    char *text;
    size_t length;
    FILE *words = open_memstream(&text, &length);
    struct listener listener = {words};
    leat_problem problem = {0};
    leat_stage stages[] = {*stage, {&listener_handler, &listener, NULL}, {0}};
    leat_embedded *embedded = leat_embedded_new_with(stages, NULL, &problem);
    ck_assert_msg(embedded != NULL, "%s", problem.text);
    feed_pieces(embedded, input, reads, size);
    if (to_the_end)
        leat_embedded_feed_eof(embedded);
    fflush(words);
    char *copy = strdup(text);
    if (!to_the_end)
        leat_embedded_feed_eof(embedded);
    assert_nothing_left(embedded);
    fclose(words);
    free(text);
    return copy;
}

static void assert_words(const json_t *vector, const char *how, char *got) {
    char *expected = expected_words(answer_of(vector));
    ck_assert_msg(strcmp(got, expected) == 0, "vector %d %s: expected%s\ngot%s", (int)vector_number(vector, "id"), how,
                  expected, got);
    free(expected);
    free(got);
}

void assert_vector_decoded(const json_t *vector, const leat_handler *handler, const void *config) {
    leat_stage stage = {handler, config, NULL};
    leat_span input = bytes_of_hex(vector_text(vector, "input"));
    bool to_the_end = json_object_get(answer_of(vector), "leftover") != NULL;
    const json_t *reads = json_object_get(vector, "reads");
    assert_words(vector, "whole", words_of(&stage, input, NULL, input.length, to_the_end));
    assert_words(vector, "byte by byte", words_of(&stage, input, NULL, 1, to_the_end));
    assert_words(vector, "in pieces", words_of(&stage, input, reads, 0, to_the_end));
    free((void *)(uintptr_t)input.bytes);
}
