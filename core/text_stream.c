/* Text in pieces that are cut anywhere. */
#include "core/text_internal.h"

enum { SPANS = 16 };

static int write_replacement(leat_bytebuf *buf, leat_text_mode mode) {
    uint8_t bytes[4];
    if (mode == LEAT_TEXT_STRICT)
        return LEAT_ECORRUPT;
    leat_text_put(bytes, TEXT_REPLACEMENT);
    return leat_text_write_utf8(buf, bytes, TEXT_REPLACEMENT_LENGTH, mode);
}

/* ---- UTF-8 ---- */

/* Adds bytes to the character that was cut, until it is whole or turns out wrong; returns how many were used. */
static int complete_held(leat_text_stream *stream, leat_bytebuf *buf, const uint8_t *bytes, size_t n, size_t *used,
                         leat_text_mode mode) {
    while (stream->count > 0 && *used < n) {
        stream->held[stream->count] = bytes[*used];
        int length = leat_text_next_utf8(stream->held, stream->count + 1u);
        if (length < 0) { /* the new byte is looked at again */
            stream->count = 0;
            return write_replacement(buf, mode);
        }
        ++*used;
        ++stream->count;
        if (length > 0) {
            stream->count = 0;
            return leat_text_write_utf8(buf, stream->held, (size_t)length, mode);
        }
    }
    return 0;
}

/* How many bytes at the end begin a character that is cut there. */
static size_t cut_at_end(const uint8_t *bytes, size_t n) {
    for (size_t tail = 1; tail <= 3 && tail <= n; tail++) {
        const uint8_t *at = bytes + n - tail;
        if ((*at & 0xc0) != 0x80)
            return *at >= 0xc0 && leat_text_next_utf8(at, tail) == 0 ? tail : 0;
    }
    return 0;
}

static int write_up_to_fault(leat_bytebuf *buf, const uint8_t *bytes, size_t n, leat_text_mode mode) {
    int code = leat_text_write_utf8(buf, bytes, n, mode);
    if (code != LEAT_ECORRUPT)
        return code;
    int prefix = leat_text_write_utf8(buf, bytes, leat_text_utf8_valid(bytes, n), LEAT_TEXT_STRICT);
    return prefix != 0 ? prefix : LEAT_ECORRUPT;
}

int leat_text_stream_utf8(leat_text_stream *stream, leat_bytebuf *buf, const void *bytes, size_t n,
                          leat_text_mode mode) {
    const uint8_t *from = bytes;
    size_t used = 0;
    if (n == 0)
        return 0;
    int code = complete_held(stream, buf, from, n, &used, mode);
    if (code != 0 || stream->count > 0)
        return code;
    size_t tail = cut_at_end(from + used, n - used);
    code = write_up_to_fault(buf, from + used, n - used - tail, mode);
    if (code != 0)
        return code;
    memcpy(stream->held, from + n - tail, tail);
    stream->count = (uint8_t)tail;
    return 0;
}

int leat_text_stream_buffer(leat_text_stream *stream, leat_bytebuf *buf, const leat_bytebuf *piece,
                            leat_text_mode mode) {
    leat_bytebuf_position position = {0};
    leat_span spans[SPANS];
    uint64_t bytes;
    for (size_t count; (count = leat_bytebuf_spans_at(piece, position, spans, SPANS, &bytes)) > 0;) {
        for (size_t i = 0; i < count; i++) {
            int code = leat_text_stream_utf8(stream, buf, spans[i].bytes, spans[i].length, mode);
            if (code != 0)
                return code;
        }
        leat_bytebuf_position_advance(piece, &position, bytes);
    }
    return 0;
}

/* ---- UTF-16 ---- */

static int complete_pair(leat_text_stream *stream, leat_bytebuf *buf, const uint16_t *units, size_t *used,
                         leat_text_mode mode) {
    const uint16_t pair[2] = {stream->high, units[0]};
    stream->high = 0;
    if (!text_is_low(pair[1]))
        return write_replacement(buf, mode);
    *used = 1;
    return leat_text_write_utf16(buf, pair, 2, mode);
}

int leat_text_stream_utf16(leat_text_stream *stream, leat_bytebuf *buf, const uint16_t *units, size_t n,
                           leat_text_mode mode) {
    size_t used = 0;
    if (n == 0)
        return 0;
    int code = stream->high ? complete_pair(stream, buf, units, &used, mode) : 0;
    if (code != 0 || used == n)
        return code;
    uint16_t high = text_is_high(units[n - 1]) ? units[n - 1] : 0;
    size_t whole = n - used - (high ? 1 : 0);
    code = leat_text_write_utf16(buf, units + used, whole, mode);
    if (code == LEAT_ECORRUPT) {
        int prefix = leat_text_write_utf16(buf, units + used, leat_text_utf16_valid(units + used, whole), mode);
        return prefix != 0 ? prefix : code;
    }
    stream->high = high;
    return code;
}

int leat_text_stream_end(leat_text_stream *stream, leat_bytebuf *buf, leat_text_mode mode) {
    bool cut = stream->count > 0 || stream->high;
    *stream = (leat_text_stream){0};
    return cut ? write_replacement(buf, mode) : 0;
}
