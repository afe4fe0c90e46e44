/* The readable bytes as addresses: contiguous, or as spans for gathering writes. */
#include "core/bytebuf_internal.h"

#include "core/composite_internal.h"

const uint8_t *leat_bytebuf_data(const leat_bytebuf *buf) {
    return leat_bytebuf_contiguous(buf, buf->reader, leat_bytebuf_readable(buf));
}

const uint8_t *leat_bytebuf_contiguous(const leat_bytebuf *buf, uint64_t index, uint64_t n) {
    static const uint8_t nothing[1];
    if (!leat_bytebuf_is_alive(buf, __func__) || index > buf->writer || n > buf->writer - index)
        return NULL;
    if (n == 0)
        return nothing;
    uint64_t have;
    const uint8_t *bytes = leat_bytebuf_at(buf, index, &have);
    return have >= n ? bytes : NULL;
}

size_t leat_bytebuf_span_count(const leat_bytebuf *buf) {
    if (leat_bytebuf_is_composite(buf))
        return leat_composite_span_count(buf);
    return buf->writer > buf->reader ? 1 : 0;
}

size_t leat_bytebuf_spans(const leat_bytebuf *buf, leat_span *spans, size_t max) {
    if (!leat_bytebuf_is_alive(buf, __func__))
        return 0;
    if (leat_bytebuf_is_composite(buf))
        return leat_composite_spans(buf, spans, max);
    return leat_bytebuf_spans_at(buf, (leat_bytebuf_position){0, 0}, spans, max, NULL);
}

size_t leat_bytebuf_spans_at(const leat_bytebuf *buf, leat_bytebuf_position position, leat_span *spans, size_t max,
                             uint64_t *bytes) {
    uint64_t unused;
    if (!bytes)
        bytes = &unused;
    *bytes = 0;
    if (!leat_bytebuf_is_alive(buf, "leat_bytebuf_spans") || max == 0 || position.offset >= leat_bytebuf_readable(buf))
        return 0;
    if (leat_bytebuf_is_composite(buf))
        return leat_composite_spans_at(buf, position, spans, max, bytes);
    *bytes = leat_bytebuf_readable(buf) - position.offset;
    spans[0] = (leat_span){buf->bytes + buf->reader + position.offset, (size_t)*bytes};
    return 1;
}

void leat_bytebuf_position_advance(const leat_bytebuf *buf, leat_bytebuf_position *position, uint64_t n) {
    uint64_t readable = leat_bytebuf_readable(buf);
    uint64_t left = position->offset < readable ? readable - position->offset : 0;
    position->offset += leat_bytebuf_min(n, left);
    if (leat_bytebuf_is_composite(buf))
        position->component = leat_composite_component_from(buf, position->component, buf->reader + position->offset);
}
