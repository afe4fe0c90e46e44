/* The components of a composite as addresses. */
#include "core/composite_internal.h"

#define NEAR 8 /* steps to take before searching */

uint32_t leat_composite_component_count(const leat_composite *composite) {
    return leat_composite_count_of(composite);
}

leat_span leat_composite_component(const leat_composite *composite, uint32_t at) {
    if (at >= leat_composite_count_of(composite))
        return (leat_span){NULL, 0};
    return (leat_span){leat_component_of(composite, at)->bytes, (size_t)leat_component_length(composite, at)};
}

uint32_t leat_composite_component_at(const leat_composite *composite, uint64_t index) {
    return index < composite->handle.hot.writer ? leat_composite_locate(composite, index)
                                                : leat_composite_count_of(composite);
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

/* Fills spans with whole components from position `*at` on, two at a time, and moves it; returns the next span. Empty
   components are rare, and have none. */
static leat_span *fill_run(const leat_component *component, const leat_component *stop, uint64_t *at, leat_span *span) {
    uint64_t position = *at;
    for (; stop - component >= 2; component += 2) {
        uint64_t middle = component[0].end, end = component[1].end;
        if (middle == position || end == middle)
            break;
        *span++ = (leat_span){component[0].bytes, (size_t)(middle - position)};
        *span++ = (leat_span){component[1].bytes, (size_t)(end - middle)};
        position = end;
    }
    for (; component < stop; component++) {
        uint64_t end = component->end;
        if (end != position) /* positions wrap */
            *span++ = (leat_span){component->bytes, (size_t)(end - position)};
        position = end;
    }
    *at = position;
    return span;
}

/* The same for `n` components and at most `max` spans; returns how many. Those that are empty leave room for more. */
static size_t fill_spans(const leat_component *component, size_t n, uint64_t *at, leat_span *spans, size_t max) {
    leat_span *span = spans;
    while (n > max) {
        leat_span *before = span;
        span = fill_run(component, component + max, at, span);
        component += max;
        n -= max;
        max -= (size_t)(span - before);
        if (max == 0)
            return (size_t)(span - spans);
    }
    return (size_t)(fill_run(component, component + n, at, span) - spans);
}

/* The end of an open tail is the writer, not what its component says. */
static size_t fill_with_tail(const leat_composite *composite, uint32_t i, uint64_t *at, leat_span *spans, size_t max) {
    leat_component last = *leat_component_of(composite, composite->count - 1);
    last.end = composite->origin + composite->handle.hot.writer;
    size_t count = fill_spans(leat_component_of(composite, i), composite->count - 1 - i, at, spans, max);
    return count < max ? count + fill_spans(&last, 1, at, spans + count, max - count) : count;
}

static bool is_whole(const leat_composite *composite, size_t max) {
    return composite->handle.hot.reader == 0 && composite->count <= max && !composite->tail_open;
}

size_t leat_composite_spans(const leat_bytebuf *buf, leat_span *spans, size_t max) {
    const leat_composite *composite = leat_composite_in(buf);
    uint64_t at = composite->origin;
    const leat_component *first = leat_component_of(composite, 0);
    if (is_whole(composite, max))
        return (size_t)(fill_run(first, first + composite->count, &at, spans) - spans);
    return leat_bytebuf_spans_at(buf, (leat_bytebuf_position){0, 0}, spans, max, NULL);
}

size_t leat_composite_spans_at(const leat_bytebuf *buf, leat_bytebuf_position position, leat_span *spans, size_t max,
                               uint64_t *bytes) {
    const leat_composite *composite = leat_composite_in(buf);
    uint64_t begin = buf->reader + position.offset;
    uint32_t i = begin == 0 ? 0 : leat_composite_component_from(buf, position.component, begin);
    uint64_t start = leat_component_start(composite, i), at = composite->origin + start;
    size_t count = composite->tail_open
                       ? fill_with_tail(composite, i, &at, spans, max)
                       : fill_spans(leat_component_of(composite, i), composite->count - i, &at, spans, max);
    spans[0].bytes += begin - start;
    spans[0].length -= (size_t)(begin - start);
    *bytes = at - composite->origin - begin;
    return count;
}
