/* Changing the structure of a composite: insert, remove, discard, consolidate, shorten. */
#include "core/composite_internal.h"

#include <string.h>

static int may_edit(leat_composite *composite, uint32_t at, uint32_t n) {
    int status = leat_composite_may_add(composite, 0);
    if (status != 0)
        return status;
    return at <= composite->count && n <= composite->count - at ? 0 : LEAT_ERANGE;
}

/* ---- insert: add behind, then bring the new components to their place ---- */

static void ends_to_lengths(leat_composite *composite, uint32_t from) {
    for (uint32_t i = composite->count; i-- > from;)
        leat_component_of(composite, i)->end -= i == 0 ? composite->origin : leat_component_of(composite, i - 1)->end;
}

static void lengths_to_ends(leat_composite *composite, uint32_t from) {
    for (uint32_t i = from; i < composite->count; i++)
        leat_component_of(composite, i)->end += i == 0 ? composite->origin : leat_component_of(composite, i - 1)->end;
}

static void reverse(leat_component *components, uint32_t n) {
    for (uint32_t i = 0; i < n / 2; i++) {
        leat_component swapped = components[i];
        components[i] = components[n - 1 - i];
        components[n - 1 - i] = swapped;
    }
}

/* Brings [middle, count) before [at, middle). */
static void rotate(leat_composite *composite, uint32_t at, uint32_t middle) {
    leat_component *components = leat_component_of(composite, 0);
    ends_to_lengths(composite, at);
    reverse(components + at, middle - at);
    reverse(components + middle, composite->count - middle);
    reverse(components + at, composite->count - at);
    lengths_to_ends(composite, at);
    leat_composite_unwindow(composite);
}

int leat_composite_insert(leat_composite *composite, uint32_t at, leat_bytebuf *buf) {
    if (!buf || buf == &composite->handle.hot)
        return LEAT_EINVAL;
    int status = may_edit(composite, at, 0);
    if (status != 0) {
        leat_bytebuf_release(buf);
        return status;
    }
    leat_bytebuf *hot = &composite->handle.hot;
    uint32_t before = composite->count;
    uint64_t length = hot->writer;
    uint64_t index = leat_composite_component_index(composite, at);
    status = leat_composite_add(composite, buf);
    if (status != 0)
        return status;
    rotate(composite, at, before);
    if (index < hot->reader)
        hot->reader += hot->writer - length;
    return 0;
}

/* ---- remove ---- */

static void move_indices_over(leat_bytebuf *hot, uint64_t start, uint64_t n) {
    if (hot->reader > start)
        hot->reader -= leat_bytebuf_min(hot->reader - start, n);
    hot->writer -= n;
}

int leat_composite_remove(leat_composite *composite, uint32_t at, uint32_t n) {
    int status = may_edit(composite, at, n);
    if (status != 0 || n == 0)
        return status;
    uint64_t start = leat_component_start(composite, at);
    uint64_t removed = leat_component_end(composite, at + n - 1) - start;
    for (uint32_t i = at; i < at + n; i++)
        leat_bytebuf_release(leat_component_of(composite, i)->owner);
    for (uint32_t i = at + n; i < composite->count; i++)
        leat_component_of(composite, i)->end -= removed;
    memmove(leat_component_of(composite, at), leat_component_of(composite, at + n),
            (composite->count - at - n) * sizeof(leat_component));
    composite->count -= n;
    move_indices_over(&composite->handle.hot, start, removed);
    leat_composite_unwindow(composite);
    return 0;
}

/* ---- discard ---- */

/* Nothing is left that could lie in the inline bytes: they may fill up anew. */
static void reset_inline_bytes(leat_composite *composite) {
    composite->front = composite->middle;
    if (!composite->tail_owner)
        composite->tail = composite->middle;
}

int leat_composite_discard_read(leat_composite *composite) {
    int status = leat_composite_may_add(composite, 0);
    if (status != 0)
        return status;
    leat_bytebuf *hot = &composite->handle.hot;
    uint64_t read = hot->reader;
    if (read == 0)
        return 0;
    uint32_t dropped = 0;
    while (dropped < composite->count && leat_component_end(composite, dropped) <= read)
        leat_bytebuf_release(leat_component_of(composite, dropped++)->owner);
    uint64_t trimmed = read - leat_component_start(composite, dropped);
    composite->first += dropped;
    composite->count -= dropped;
    composite->origin += read;
    hot->reader = 0;
    hot->writer -= read;
    if (composite->count > 0)
        leat_component_of(composite, 0)->bytes += trimmed;
    else
        reset_inline_bytes(composite);
    leat_composite_unwindow(composite);
    return 0;
}

/* ---- shorten and lengthen ---- */

static void cut_behind(leat_composite *composite, uint64_t index) {
    leat_bytebuf *hot = &composite->handle.hot;
    uint32_t i = leat_composite_locate(composite, index);
    uint64_t kept = index - leat_component_start(composite, i);
    leat_composite_truncate(composite, kept > 0 ? i + 1 : i);
    hot->writer = index;
    if (kept > 0)
        leat_component_of(composite, i)->end = composite->origin + index;
    if (composite->count == 0)
        reset_inline_bytes(composite);
    leat_composite_unwindow(composite);
}

void leat_composite_clear(leat_composite *composite) {
    leat_composite_settle(composite);
    leat_composite_truncate(composite, 0);
    reset_inline_bytes(composite);
}

bool leat_composite_set_writer(leat_bytebuf *buf, uint64_t index) {
    leat_composite *composite = leat_composite_in(buf);
    if (index > buf->writer) {
        uint64_t n = index - buf->writer;
        return leat_composite_reserve(buf, n) == 0 && leat_bytebuf_wrote(buf, n);
    }
    leat_composite_settle(composite);
    if (index < buf->writer)
        cut_behind(composite, index);
    return true;
}

/* ---- consolidate and decompose ---- */

static void replace_components(leat_composite *composite, uint32_t at, uint32_t n, leat_bytebuf *merged) {
    uint64_t end = leat_component_of(composite, at + n - 1)->end;
    for (uint32_t i = at; i < at + n; i++)
        leat_bytebuf_release(leat_component_of(composite, i)->owner);
    memmove(leat_component_of(composite, at + 1), leat_component_of(composite, at + n),
            (composite->count - at - n) * sizeof(leat_component));
    *leat_component_of(composite, at) = (leat_component){merged->bytes, end, merged};
    composite->count -= n - 1;
    leat_composite_unwindow(composite);
}

int leat_composite_consolidate(leat_composite *composite, uint32_t at, uint32_t n) {
    int status = may_edit(composite, at, n);
    if (status != 0 || n <= 1)
        return status;
    leat_bytebuf *hot = &composite->handle.hot;
    uint64_t start = leat_component_start(composite, at);
    uint64_t length = leat_component_end(composite, at + n - 1) - start;
    leat_bytebuf *merged = leat_bytebuf_new(composite->handle.alloc, length);
    if (!merged)
        return LEAT_ENOMEM;
    leat_bytebuf_copy_out(hot, start, merged->bytes, length);
    merged->writer = length;
    leat_count_copied(composite->handle.alloc, length);
    replace_components(composite, at, n, merged);
    return 0;
}

static int give_up(leat_bytebuf **slices, size_t made, int status) {
    for (size_t i = 0; i < made; i++)
        leat_bytebuf_release(slices[i]);
    return status;
}

int leat_composite_decompose(leat_composite *composite, uint64_t index, uint64_t n, leat_bytebuf **slices, size_t max) {
    const leat_bytebuf *hot = &composite->handle.hot;
    if (index > hot->writer || n > hot->writer - index)
        return LEAT_ERANGE;
    size_t made = 0;
    for (uint64_t stop = index + n; index < stop;) {
        uint32_t i = leat_composite_locate(composite, index);
        uint64_t part = leat_bytebuf_min(leat_component_end(composite, i), stop) - index;
        if (made == max || made == INT32_MAX)
            return give_up(slices, made, LEAT_ERANGE);
        slices[made] = leat_component_slice(composite, i, index - leat_component_start(composite, i), part);
        if (!slices[made])
            return give_up(slices, made, LEAT_ENOMEM);
        made++;
        index += part;
    }
    return (int)made;
}
