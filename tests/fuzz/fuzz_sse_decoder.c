/* Events: whatever the stream, every way to cut it gives the same events and errors, and framed again they come back.
 */
#include "core/embedded.h"
#include "handlers/sse_decoder.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static leat_bytebuf *seen;

static void note_field(char name, leat_span field) {
    leat_bytebuf_write_format(seen, "%c%zu:", name, field.length);
    if (field.length)
        leat_bytebuf_write_bytes(seen, field.bytes, field.length);
}

/* No field of an event can hold what would forge another, so framing takes every one. */
static void assert_framed(const leat_sse_event *event) {
    leat_bytebuf *framed;
    if (leat_sse_frame(leat_unpooled(), event, &framed) != 0)
        abort();
    leat_bytebuf_release(framed);
}

static void note_event(leat_ctx *ctx, leat_msg msg) {
    const leat_sse_event *event = leat_msg_as(msg, &leat_type_sse_event);
    (void)ctx;
    note_field('e', event->event);
    note_field('i', event->id);
    note_field('d', event->data);
    assert_framed(event);
    leat_msg_release(msg);
}

static void note_error(leat_ctx *ctx, int code) {
    (void)ctx;
    leat_bytebuf_write_format(seen, "error %d;", code);
}

static const leat_handler notes = {.name = "notes", .read = note_event, .error = note_error};

static leat_bytebuf *seen_of(const leat_stage *stages, const uint8_t *data, size_t size, size_t step) {
    seen = leat_bytebuf_new(leat_unpooled(), 256);
    leat_embedded *embedded = leat_embedded_new(stages);
    for (size_t at = 0; embedded && at < size; at += step)
        leat_embedded_feed(embedded, data + at, size - at < step ? size - at : step);
    if (embedded)
        leat_embedded_feed_eof(embedded);
    if (embedded && leat_embedded_finish(embedded) != 0) {
        puts(leat_embedded_report(embedded));
        abort();
    }
    leat_embedded_free(embedded);
    return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2 || size > 2048)
        return 0;
    leat_sse_decoder_config config = {.max_event = data[0]};
    leat_stage stages[] = {{&leat_sse_decoder, &config, NULL}, {.handler = &notes}, {0}};
    leat_bytebuf *whole = seen_of(stages, data + 1, size - 1, size);
    for (size_t step = 1; step < 4; step++) {
        leat_bytebuf *split = seen_of(stages, data + 1, size - 1, step);
        if (!leat_bytebuf_equals(whole, split))
            abort();
        leat_bytebuf_release(split);
    }
    leat_bytebuf_release(whole);
    return 0;
}
