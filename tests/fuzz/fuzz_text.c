#include "core/text.h"
#include "tests/fuzz/feed.h"

#include <stdlib.h>
#include <string.h>

static void must(bool what) {
    if (!what)
        abort();
}

static leat_bytebuf *replaced(const uint8_t *data, size_t size) {
    uint64_t length = leat_text_utf8_length(data, size);
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), length);
    must(leat_text_write_utf8(buf, data, size, LEAT_TEXT_REPLACE) == 0);
    must(leat_bytebuf_readable(buf) == length);
    must(leat_text_utf8_valid(leat_bytebuf_data(buf), (size_t)length) == length);
    return buf;
}

/* Strict text is refused, or comes out as it went in. */
static void check_strict(const uint8_t *data, size_t size) {
    bool valid = leat_text_utf8_valid(data, size) == size;
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), size);
    must(leat_text_write_utf8(buf, data, size, LEAT_TEXT_STRICT) == (valid ? 0 : LEAT_ECORRUPT));
    must(!valid || leat_bytebuf_equals_bytes(buf, data, size));
    leat_bytebuf_release(buf);
}

/* In pieces, whose length the first byte chooses, it becomes what it becomes as a whole. */
static void check_pieces(const uint8_t *data, size_t size, const leat_bytebuf *whole) {
    size_t piece = size > 0 ? 1 + data[0] % 7 : 1;
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 0);
    leat_text_stream stream = {0};
    for (size_t at = 0; at < size; at += piece) {
        size_t n = size - at < piece ? size - at : piece;
        must(leat_text_stream_utf8(&stream, buf, data + at, n, LEAT_TEXT_REPLACE) == 0);
    }
    must(leat_text_stream_end(&stream, buf, LEAT_TEXT_REPLACE) == 0);
    must(leat_bytebuf_equals(buf, whole));
    leat_bytebuf_release(buf);
}

static void check_utf16(const uint8_t *data, size_t size) {
    size_t n = size / 2;
    uint16_t *units = malloc(n * 2 + 1);
    must(units != NULL);
    if (n > 0)
        memcpy(units, data, n * 2);
    leat_bytebuf *whole = leat_text_from_utf16(leat_unpooled(), units, n);
    must(leat_bytebuf_readable(whole) == leat_text_utf16_length(units, n));
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 0);
    leat_text_stream stream = {0};
    for (size_t at = 0; at < n; at++)
        must(leat_text_stream_utf16(&stream, buf, units + at, 1, LEAT_TEXT_REPLACE) == 0);
    must(leat_text_stream_end(&stream, buf, LEAT_TEXT_REPLACE) == 0);
    must(leat_bytebuf_equals(buf, whole));
    leat_bytebuf_release(buf);
    leat_bytebuf_release(whole);
    free(units);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    leat_bytebuf *whole = replaced(data, size);
    check_strict(data, size);
    check_pieces(data, size, whole);
    check_utf16(data, size);
    leat_bytebuf_release(whole);
    leat_bytebuf *latin = leat_text_from_latin1(leat_unpooled(), data, size);
    must(leat_bytebuf_readable(latin) == leat_text_latin1_length(data, size));
    leat_bytebuf_release(latin);
    return 0;
}
