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

size_t leat_composite_spans_at(const leat_bytebuf *buf, leat_bytebuf_position position, leat_span *spans, size_t max,
                               uint64_t *bytes) {
    const leat_composite *composite = leat_composite_in(buf);
    uint64_t begin = buf->reader + position.offset;
    uint32_t i = leat_composite_component_from(buf, position.component, begin);
    uint64_t skipped = begin - leat_component_start(composite, i);
    uint64_t index = begin;
    size_t count = 0;
    for (; i < composite->count && count < max; i++) {
        uint64_t end = leat_component_end(composite, i);
        spans[count] = (leat_span){leat_component_of(composite, i)->bytes + skipped, (size_t)(end - index)};
        count += end > index;
        index = end;
        skipped = 0;
    }
    *bytes = index - begin;
    return count;
}
