/* Lines and length fields: whatever the config and the input, every split gives the same frames and errors. */
#include "core/embedded.h"
#include "handlers/length_field_decoder.h"
#include "handlers/line.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static leat_bytebuf *seen;

static void note_frame(leat_ctx *ctx, leat_msg msg) {
    (void)ctx;
    leat_bytebuf_write_format(seen, "frame of %llu:", (unsigned long long)leat_msg_size(msg));
    leat_bytebuf_write_buffer(seen, leat_msg_bytebuf(msg));
    leat_msg_release(msg);
}

static void note_error(leat_ctx *ctx, int code) {
    (void)ctx;
    leat_bytebuf_write_format(seen, "error %d;", code);
}

static const leat_handler notes = {.name = "notes", .read = note_frame, .error = note_error};

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

static void assert_same(const leat_stage *stages, const uint8_t *data, size_t size) {
    leat_bytebuf *whole = seen_of(stages, data, size, size ? size : 1);
    for (size_t step = 1; step < 4; step++) {
        leat_bytebuf *split = seen_of(stages, data, size, step);
        if (!leat_bytebuf_equals(whole, split))
            abort();
        leat_bytebuf_release(split);
    }
    leat_bytebuf_release(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 6 || size > 2048)
        return 0;
    leat_line_config line = {.max_length = data[0], .keep_end = data[1] & 1, .last_line = data[1] & 2};
    leat_length_field_decoder_config field = {.max_frame = 1u + data[0],
                                              .offset = data[2] % 4,
                                              .field_length = data[3] % 9,
                                              .little_endian = data[1] & 1,
                                              .report_late = data[1] & 2,
                                              .adjustment = (int8_t)data[4],
                                              .strip = data[5] % 16};
    assert_same((leat_stage[]){{&leat_line_decoder, &line, NULL}, {.handler = &notes}, {0}}, data + 6, size - 6);
    assert_same((leat_stage[]){{&leat_length_field_decoder, &field, NULL}, {.handler = &notes}, {0}}, data + 6,
                size - 6);
    return 0;
}
