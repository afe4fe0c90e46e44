/* The components of a composite as addresses. */
#include "core/composite_internal.h"

#define NEAR 8 /* steps to take before searching */

uint32_t leat_composite_component_count(const leat_composite *composite) {
    return composite->count;
}

leat_span leat_composite_component(const leat_composite *composite, uint32_t at) {
    if (at >= composite->count)
        return (leat_span){NULL, 0};
    return (leat_span){leat_component_of(composite, at)->bytes, (size_t)leat_component_length(composite, at)};
}

uint32_t leat_composite_component_at(const leat_composite *composite, uint64_t index) {
    return index < composite->handle.hot.writer ? leat_composite_locate(composite, index) : composite->count;
}

uint64_t leat_composite_component_index(const leat_composite *composite, uint32_t at) {
    return at < composite->count ? leat_component_start(composite, at) : composite->handle.hot.writer;
}

/* A hint that lies before the index is a few steps away at most, unless it is none. */
uint32_t leat_composite_component_from(const leat_bytebuf *buf, uint32_t hint, uint64_t index) {
    const leat_composite *composite = leat_composite_in(buf);
    uint32_t i = hint < composite->count && leat_component_start(composite, hint) <= index ? hint : 0;
    for (uint32_t steps = 0; i + 1 < composite->count && leat_component_end(composite, i) <= index; i++)
        if (steps++ == NEAR && index < buf->writer)
            return leat_composite_locate(composite, index);
    return i;
}

size_t leat_composite_span_count(const leat_bytebuf *buf) {
    const leat_composite *composite = leat_composite_in(buf);
    size_t count = 0;
    uint64_t index = buf->reader;
    for (uint32_t i = leat_composite_component_from(buf, 0, index); i < composite->count; i++) {
        uint64_t end = leat_component_end(composite, i);
        count += end > index;
        index = end;
    }
    return count;
}

/* Fills spans with whole components, the first of which begins at `*at`, and moves it; leaves out what is empty. */
static size_t fill_whole(const leat_component *component, const leat_component *stop, uint64_t *at, leat_span *spans,
                         size_t max) {
    leat_span *span = spans;
    uint64_t position = *at;
    for (; component < stop && span < spans + max; component++) {
        uint64_t end = component->end;
        span->bytes = component->bytes;
        span->length = (size_t)(end - position);
        if (end != position)
            span++;
        position = end;
    }
    *at = position;
    return (size_t)(span - spans);
}

/* The same when the first component begins `skipped` bytes before `*at`. */
static size_t fill_spans(const leat_component *component, const leat_component *stop, uint64_t skipped, uint64_t *at,
                         leat_span *spans, size_t max) {
    size_t count = fill_whole(component, component < stop ? component + 1 : stop, at, spans, max);
    if (count > 0)
        spans[0].bytes += skipped;
    return component < stop ? count + fill_whole(component + 1, stop, at, spans + count, max - count) : count;
}

/* The end of an open tail is the writer, not what its component says. */
static size_t fill_with_tail(const leat_composite *composite, uint32_t i, uint64_t skipped, uint64_t *at,
                             leat_span *spans, size_t max) {
    const leat_component *first = leat_component_of(composite, i);
    leat_component last = *leat_component_of(composite, composite->count - 1);
    last.end = composite->origin + composite->handle.hot.writer;
    size_t before = composite->count - 1 - i, count = fill_spans(first, first + before, skipped, at, spans, max);
    return count + fill_spans(&last, &last + 1, before == 0 ? skipped : 0, at, spans + count, max - count);
}

size_t leat_composite_spans_at(const leat_bytebuf *buf, leat_bytebuf_position position, leat_span *spans, size_t max,
                               uint64_t *bytes) {
    const leat_composite *composite = leat_composite_in(buf);
    uint64_t begin = buf->reader + position.offset, at = begin + composite->origin;
    uint32_t i = begin == 0 ? 0 : leat_composite_component_from(buf, position.component, begin);
    uint64_t skipped = begin - leat_component_start(composite, i);
    const leat_component *first = leat_component_of(composite, i);
    size_t count = composite->tail_open ? fill_with_tail(composite, i, skipped, &at, spans, max)
                                        : fill_spans(first, first + (composite->count - i), skipped, &at, spans, max);
    *bytes = at - composite->origin - begin;
    return count;
}
