#include "core/embedded.h"
#include "handlers/legacy_tcp_decoder.h"
#include "handlers/legacy_tcp_framer.h"
#include "handlers/length_field_prepender.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"
#include "tests/support/vectors.h"

#include <stdlib.h>
#include <string.h>

/* ---- decoding: every event and error a word ---- */

static const leat_stage decoder[] = {{.handler = &leat_legacy_tcp_decoder}, {.handler = &tolerant}, {0}};

static void print_frame(FILE *words, const json_t *frame) {
    size_t i;
    json_t *event;
    json_array_foreach(json_object_get(frame, "events"), i, event) {
        fprintf(words, " %s:%d=%s", vector_text(frame, "name"), (int)vector_number(event, "op"),
                vector_text(event, "payload"));
    }
}

static bool is(const json_t *vector, const char *key, const char *value) {
    return strcmp(vector_text(vector, key), value) == 0;
}

static char *expected_words(const json_t *vector) {
    char *text;
    size_t length, i;
    json_t *frame;
    FILE *words = open_memstream(&text, &length);
    json_array_foreach(json_object_get(vector, "frames"), i, frame) {
        print_frame(words, frame);
    }
    bool refused = is(vector, "expect", "reject"), late = vector_text(vector, "leftover")[0] != '\0';
    const char *fault = is(vector, "reason", "frame_too_long") ? "LEAT_ETOOLONG" : "LEAT_ECORRUPT";
    fprintf(words, " | %d events of a bad frame, %s", (int)vector_number(vector, "eventsBefore"),
            refused ? fault
            : late  ? "LEAT_ETRUNCATED"
                    : "no error");
    fclose(words);
    return text;
}

static void print_hex(FILE *words, const uint8_t *bytes, uint64_t length) {
    for (uint64_t i = 0; i < length; i++)
        fprintf(words, "%02x", (unsigned)bytes[i]);
}

static void print_event(FILE *words, const leat_legacy_tcp_message *event) {
    fputs(" ", words);
    print_hex(words, event->name.bytes, event->name.length);
    fprintf(words, ":%d=", event->opcode);
    print_hex(words, leat_bytebuf_data(event->payload), leat_bytebuf_readable(event->payload));
}

static size_t events_of(const json_t *vector) {
    size_t i, count = 0;
    json_t *frame;
    json_array_foreach(json_object_get(vector, "frames"), i, frame) {
        count += json_array_size(json_object_get(frame, "events"));
    }
    return count;
}

/* Prints the first `whole` events; of the ones behind them only how many there are. */
static void print_events(FILE *words, leat_embedded *embedded, size_t whole) {
    size_t count = 0;
    for (leat_msg msg; leat_embedded_take_read(embedded, &msg); leat_msg_release(msg), count++)
        if (count < whole)
            print_event(words, leat_msg_as(msg, &leat_type_legacy_tcp));
    fprintf(words, " | %d events of a bad frame, ", count > whole ? (int)(count - whole) : 0);
}

static char *words_of(const json_t *vector, leat_span input, const json_t *reads, size_t size) {
    char *text;
    size_t length;
    FILE *words = open_memstream(&text, &length);
    leat_embedded *embedded = leat_embedded_new(decoder);
    feed_pieces(embedded, input, reads, size);
    leat_embedded_feed_eof(embedded);
    print_events(words, embedded, events_of(vector));
    int code = take_tolerated(embedded);
    fputs(code ? leat_error_name(code) : "no error", words);
    ck_assert_int_eq(take_tolerated(embedded), 0);
    assert_nothing_left(embedded);
    fclose(words);
    return text;
}

static void assert_decoded(const json_t *vector, leat_span input, const json_t *reads, size_t size) {
    char *expected = expected_words(vector), *got = words_of(vector, input, reads, size);
    ck_assert_msg(strcmp(got, expected) == 0, "vector %d, pieces of %zu: expected%s\ngot%s",
                  (int)vector_number(vector, "id"), size, expected, got);
    free(expected);
    free(got);
}

static void check_decoding(const json_t *vector) {
    if (!is(vector, "dir", "decode"))
        return;
    leat_span input = bytes_of_hex(vector_text(vector, "input"));
    assert_decoded(vector, input, NULL, input.length + 1);
    assert_decoded(vector, input, json_object_get(vector, "reads"), 0);
    for (size_t size = 1; size < 12; size++)
        assert_decoded(vector, input, NULL, size);
    free((void *)(uintptr_t)input.bytes);
}

START_TEST(frames_are_read_as_a_strict_reader_does) {
    ck_assert_uint_eq(vectors_each("legacy-tcp.jsonl", check_decoding), 86);
}
END_TEST

/* ---- encoding ---- */

static leat_bytebuf *batch_of(leat_alloc *alloc, const json_t *events) {
    size_t i;
    json_t *item;
    leat_bytebuf *batch = leat_bytebuf_new(alloc, 64);
    json_array_foreach(events, i, item) {
        leat_span payload = bytes_of_hex(vector_text(item, "payload"));
        leat_legacy_tcp_opcode opcode = (leat_legacy_tcp_opcode)vector_number(item, "op");
        leat_bytebuf *event = leat_legacy_tcp_event(alloc, opcode, payload.bytes, payload.length);
        ck_assert(leat_bytebuf_write_buffer(batch, event));
        leat_bytebuf_release(event);
        free((void *)(uintptr_t)payload.bytes);
    }
    return batch;
}

static void assert_written(const json_t *vector, const leat_stage *stages) {
    leat_span out = bytes_of_hex(vector_text(vector, "out"));
    leat_embedded *embedded = leat_embedded_new(stages);
    leat_bytebuf *batch = batch_of(leat_embedded_alloc(embedded), json_object_get(vector, "events"));
    leat_embedded_write(embedded, leat_msg_of_bytebuf(batch), NULL);
    leat_bytebuf *written = leat_embedded_take_written(embedded);
    ck_assert_msg(leat_bytebuf_equals_bytes(written, out.bytes, out.length), "vector %d is written otherwise",
                  (int)vector_number(vector, "id"));
    leat_bytebuf_release(written);
    assert_nothing_left(embedded);
    free((void *)(uintptr_t)out.bytes);
}

static void check_encoding(const json_t *vector) {
    if (!is(vector, "dir", "encode"))
        return;
    leat_span name = bytes_of_hex(vector_text(vector, "name"));
    char text[256] = {0};
    memcpy(text, name.bytes, name.length);
    leat_legacy_tcp_framer_config config = {text};
    leat_stage stages[] = {{.handler = &leat_length_field_prepender}, {&leat_legacy_tcp_framer, &config, NULL}, {0}};
    if (is(vector, "expect", "reject"))
        assert_vector_refused(vector, &leat_legacy_tcp_framer, &config);
    else
        assert_written(vector, stages);
    free((void *)(uintptr_t)name.bytes);
}

START_TEST(frames_are_written_as_the_layout_says) {
    ck_assert_uint_eq(vectors_each("legacy-tcp.jsonl", check_encoding), 86);
}
END_TEST

int main(void) {
    return suite_run("legacy_tcp_vectors", (const TTest *const[]){frames_are_read_as_a_strict_reader_does,
                                                                  frames_are_written_as_the_layout_says, NULL});
}
