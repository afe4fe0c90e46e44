#include "core/verify.h"
#include "handlers/sse_decoder.h"
#include "handlers/sse_delimiter.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"
#include "tests/support/vectors.h"

#include <stdlib.h>
#include <string.h>

static const leat_stage decoder[] = {{.handler = &leat_sse_decoder}, {0}};

/* ---- what should come out, and what did, in words ---- */

static void print_hex(FILE *words, leat_span span) {
    for (size_t i = 0; i < span.length; i++)
        fprintf(words, "%02x", (unsigned)span.bytes[i]);
}

static char *expected_words(const json_t *answer) {
    char *text;
    size_t length, i;
    json_t *event;
    FILE *words = open_memstream(&text, &length);
    json_array_foreach(json_object_get(answer, "events"), i, event) {
        fprintf(words, " [%s|%s|%s]", vector_text(event, "event"), vector_text(event, "data"),
                vector_text(event, "id"));
    }
    fprintf(words, " last id %s", vector_text(answer, "lastId"));
    const json_t *retry = json_object_get(answer, "retry");
    if (json_is_integer(retry))
        fprintf(words, " retry %lld", (long long)json_integer_value(retry));
    if (json_is_string(retry))
        fprintf(words, " retry %llu", strtoull(json_string_value(retry), NULL, 10));
    fclose(words);
    return text;
}

static void print_events(FILE *words, leat_embedded *embedded) {
    for (leat_msg msg; leat_embedded_take_read(embedded, &msg); leat_msg_release(msg)) {
        const leat_sse_event *event = leat_msg_as(msg, &leat_type_sse_event);
        ck_assert_uint_eq(event->data.bytes[event->data.length], 0);
        fputs(" [", words);
        print_hex(words, event->event);
        fputs("|", words);
        print_hex(words, event->data);
        fputs("|", words);
        print_hex(words, event->id);
        fputs("]", words);
    }
}

/* What a channel made of the input in pieces; the caller frees it. */
static char *words_of(leat_span input, const json_t *pieces, size_t first) {
    char *text;
    size_t length;
    uint64_t retry;
    FILE *words = open_memstream(&text, &length);
    leat_embedded *embedded = leat_embedded_new(decoder);
    leat_ctx *ctx = leat_channel_find(leat_embedded_channel(embedded), "sse_decoder");
    feed_pieces(embedded, input, pieces, first);
    print_events(words, embedded);
    fputs(" last id ", words);
    print_hex(words, leat_sse_decoder_last_id(ctx));
    if (leat_sse_decoder_retry(ctx, &retry))
        fprintf(words, " retry %llu", (unsigned long long)retry);
    leat_embedded_feed_eof(embedded);
    ck_assert_int_eq(leat_embedded_take_error(embedded), 0);
    assert_nothing_left(embedded);
    fclose(words);
    return text;
}

static void assert_decoded(int id, const char *expected, leat_span input, const json_t *pieces, size_t first) {
    char *got = words_of(input, pieces, first);
    ck_assert_msg(strcmp(got, expected) == 0, "vector %d, pieces of %zu: expected%s\ngot%s", id, first, expected, got);
    free(got);
}

static void assert_decoded_however_cut(const json_t *vector, const json_t *answer, const char *hex) {
    int id = (int)vector_number(vector, "id");
    leat_span input = bytes_of_hex(hex);
    char *expected = expected_words(answer);
    for (size_t size = 1; size < 4; size++)
        assert_decoded(id, expected, input, NULL, size);
    assert_decoded(id, expected, input, NULL, input.length + 1);
    if (json_object_get(vector, "splits"))
        assert_decoded(id, expected, input, json_object_get(vector, "splits"), 0);
    free(expected);
    free((void *)(uintptr_t)input.bytes);
}

static void check_stream(const json_t *vector) {
    assert_decoded_however_cut(vector, vector, vector_text(vector, "input"));
}

START_TEST(streams_give_the_events_of_the_standard) {
    ck_assert_uint_eq(vectors_each("sse.jsonl", check_stream), 294);
}
END_TEST

/* ---- encoding ---- */

static leat_span field_of(const json_t *fields, const char *key) {
    const json_t *value = json_object_get(fields, key);
    return json_is_string(value) ? bytes_of_hex(json_string_value(value)) : (leat_span){0};
}

static leat_sse_event event_of(const json_t *fields) {
    leat_sse_event event = {
        .event = field_of(fields, "event"), .data = field_of(fields, "data"), .id = field_of(fields, "id")};
    event.has_retry = json_is_integer(json_object_get(fields, "retry"));
    event.retry_ms = event.has_retry ? vector_number(fields, "retry") : 0;
    return event;
}

static void free_fields(const leat_sse_event *event) {
    free((void *)(uintptr_t)event->event.bytes);
    free((void *)(uintptr_t)event->data.bytes);
    free((void *)(uintptr_t)event->id.bytes);
}

static void note_status(leat_done *done, int status) {
    done->next = NULL;
    done->status = status;
}

/* What the handler writes for this event, which it must also be by itself. */
static leat_bytebuf *written_of(const leat_sse_event *event, int expected) {
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{.handler = &leat_sse_delimiter}, {0}});
    leat_done done = {.fn = note_status, .status = 1};
    leat_embedded_write(embedded, leat_sse_event_msg(leat_embedded_alloc(embedded), event), &done);
    ck_assert_int_eq(done.status, expected);
    leat_bytebuf *written = leat_embedded_take_written(embedded);
    leat_bytebuf *copy = leat_bytebuf_copy(written, leat_unpooled());
    leat_bytebuf_release(written);
    assert_nothing_left(embedded);
    return copy;
}

static void assert_framed(const json_t *vector, const leat_sse_event *event) {
    leat_span out = bytes_of_hex(vector_text(vector, "out"));
    bool refused = json_object_get(vector, "refuse") != NULL;
    leat_bytebuf *framed, *written = written_of(event, refused ? LEAT_EINVAL : 0);
    ck_assert_int_eq(leat_sse_frame(leat_unpooled(), event, &framed), refused ? LEAT_EINVAL : 0);
    int id = (int)vector_number(vector, "id");
    ck_assert_msg(refused || leat_bytebuf_equals_bytes(framed, out.bytes, out.length), "vector %d differs", id);
    ck_assert_msg(leat_bytebuf_equals_bytes(written, out.bytes, out.length), "vector %d is written otherwise", id);
    leat_bytebuf_release(framed);
    leat_bytebuf_release(written);
    free((void *)(uintptr_t)out.bytes);
}

/* A negative time has no place in the fields of an event. */
static bool is_possible(const json_t *vector) {
    return json_integer_value(json_object_get(json_object_get(vector, "in"), "retry")) >= 0;
}

static void check_encoding(const json_t *vector) {
    if (!is_possible(vector))
        return;
    leat_sse_event event = event_of(json_object_get(vector, "in"));
    assert_framed(vector, &event);
    const json_t *back = json_object_get(vector, "back");
    if (back)
        assert_decoded_however_cut(vector, back, vector_text(vector, "out"));
    free_fields(&event);
}

START_TEST(events_are_framed_canonically_and_read_back) {
    ck_assert_uint_eq(vectors_each("sse-encode.jsonl", check_encoding), 46);
}
END_TEST

int main(void) {
    return suite_run("sse_vectors", (const TTest *const[]){streams_give_the_events_of_the_standard,
                                                           events_are_framed_canonically_and_read_back, NULL});
}
