/* Adding to a composite, behind and in front. */
#include "core/composite_internal.h"

#include <string.h>

int leat_composite_may_add(leat_composite *composite, uint64_t n) {
    leat_bytebuf *hot = &composite->handle.hot;
    if (!leat_bytebuf_may_move(hot, __func__))
        return LEAT_ESHARED;
    leat_composite_settle(composite);
    return n <= composite->handle.max_capacity - hot->writer ? 0 : LEAT_ELIMIT;
}

void leat_composite_truncate(leat_composite *composite, uint32_t count) {
    leat_bytebuf *hot = &composite->handle.hot;
    uint64_t end = leat_component_start(composite, count);
    for (uint32_t i = count; i < composite->count; i++)
        leat_bytebuf_release(leat_component_of(composite, i)->owner);
    composite->count = count;
    hot->writer = end;
    hot->reader = leat_bytebuf_min(hot->reader, end);
    leat_composite_unwindow(composite);
}

/* ---- a composite's components ---- */

static uint64_t inline_bytes_of(const leat_composite *source) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < source->count; i++)
        if (leat_component_is_inline(source, leat_component_of(source, i)))
            n += leat_component_length(source, i);
    return n;
}

/* Slots for all of them and room for the inline bytes, which are copied: then nothing can fail any more. */
static int prepare_for(leat_composite *composite, const leat_composite *source) {
    int status = leat_composite_need_slots(composite, source->count);
    return status != 0 ? status : leat_composite_need_tail(composite, inline_bytes_of(source));
}

/* The source has one reference and is about to end: its components change hands. */
static void move_components(leat_composite *composite, leat_composite *source) {
    for (uint32_t i = 0; i < source->count; i++) {
        leat_component *component = leat_component_of(source, i);
        uint64_t n = leat_component_length(source, i);
        if (leat_component_is_inline(source, component)) {
            leat_composite_stage(composite, component->bytes, n);
            leat_count_copied(composite->handle.alloc, n);
        } else {
            leat_composite_push(composite, component->bytes, n, component->owner);
        }
    }
    leat_bytebuf *hot = &source->handle.hot;
    source->count = 0;
    hot->reader = hot->writer = 0;
    leat_composite_unwindow(source);
}

static int add_sole_composite(leat_composite *composite, leat_composite *source) {
    leat_composite_discard_read(source);
    int status = prepare_for(composite, source);
    if (status == 0)
        move_components(composite, source);
    leat_bytebuf_release(&source->handle.hot);
    return status;
}

/* A shared composite keeps its components; a slice of it, which is ours alone, gives its own over. */
static int add_composite(leat_composite *composite, leat_composite *source) {
    leat_bytebuf *hot = &source->handle.hot;
    if (leat_bytebuf_is_sole(hot))
        return add_sole_composite(composite, source);
    leat_bytebuf *slice = leat_bytebuf_slice_readable(hot);
    leat_bytebuf_release(hot);
    return slice ? leat_composite_add(composite, slice) : LEAT_ENOMEM;
}

/* ---- behind ---- */

/* The bytes [index, index + n) of a plain buffer, which the composite owns from now on. */
static int add_range(leat_composite *composite, leat_bytebuf *buf, uint64_t index, uint64_t n) {
    int status = leat_composite_need_slots(composite, 1);
    if (status != 0) {
        leat_bytebuf_release(buf);
        return status;
    }
    leat_composite_push(composite, buf->bytes + index, n, buf);
    return 0;
}

static int refuse_buffer(const leat_composite *composite, const leat_bytebuf *buf) {
    return !buf || buf == &composite->handle.hot ? LEAT_EINVAL : 0;
}

int leat_composite_add(leat_composite *composite, leat_bytebuf *buf) {
    int status = refuse_buffer(composite, buf);
    if (status != 0)
        return status;
    status = leat_composite_may_add(composite, leat_bytebuf_readable(buf));
    if (status != 0) {
        leat_bytebuf_release(buf);
        return status;
    }
    leat_composite *source = leat_composite_of(buf);
    return source ? add_composite(composite, source)
                  : add_range(composite, buf, buf->reader, leat_bytebuf_readable(buf));
}

static int check_list(const leat_composite *composite, leat_bytebuf *const *bufs, size_t n) {
    for (size_t i = 0; i < n; i++) {
        int status = refuse_buffer(composite, bufs[i]);
        if (status != 0)
            return status;
    }
    return n > UINT32_MAX / 4 ? LEAT_ELIMIT : 0;
}

static void release_list(const leat_composite *composite, leat_bytebuf *const *bufs, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (bufs[i] != &composite->handle.hot)
            leat_bytebuf_release(bufs[i]);
}

int leat_composite_add_list(leat_composite *composite, leat_bytebuf *const *bufs, size_t n) {
    int status = check_list(composite, bufs, n);
    if (status == 0)
        status = leat_composite_may_add(composite, 0);
    if (status == 0)
        status = leat_composite_need_slots(composite, (uint32_t)n);
    uint32_t before = composite->count;
    size_t taken = 0;
    while (status == 0 && taken < n)
        status = leat_composite_add(composite, bufs[taken++]);
    if (status == 0)
        return 0;
    release_list(composite, bufs + taken, n - taken);
    if (taken > 0)
        leat_composite_truncate(composite, before);
    return status;
}

int leat_composite_add_static(leat_composite *composite, const void *bytes, size_t n) {
    int status = leat_composite_may_add(composite, n);
    if (status == 0)
        status = leat_composite_need_slots(composite, 1);
    if (status == 0)
        leat_composite_push(composite, bytes, n, NULL);
    return status;
}

int leat_composite_add_bytes(leat_composite *composite, const void *bytes, size_t n) {
    leat_bytebuf *hot = &composite->handle.hot;
    int status = leat_bytebuf_reserve(hot, n);
    if (status != 0 || n == 0)
        return status;
    memcpy(hot->bytes + hot->writer, bytes, n);
    hot->writer += n;
    return 0;
}

int leat_composite_add_flattened(leat_composite *composite, leat_bytebuf *buf, uint64_t index, uint64_t n) {
    int status = refuse_buffer(composite, buf);
    if (status != 0)
        return status;
    status = leat_composite_may_add(composite, n);
    if (status == 0 && (index > buf->writer || n > buf->writer - index))
        status = LEAT_ERANGE;
    if (status == 0 && !leat_bytebuf_is_composite(buf))
        return add_range(composite, buf, index, n);
    leat_bytebuf *slice = status == 0 ? leat_bytebuf_slice(buf, index, n) : NULL;
    leat_bytebuf_release(buf);
    if (status != 0)
        return status;
    return slice ? leat_composite_add(composite, slice) : LEAT_ENOMEM;
}

/* ---- in front ---- */

static void push_front(leat_composite *composite, const uint8_t *bytes, uint64_t n, leat_bytebuf *owner) {
    composite->first--;
    composite->count++;
    *leat_component_of(composite, 0) = (leat_component){bytes, composite->origin, owner};
    composite->origin -= n;
    composite->handle.hot.writer += n;
    leat_composite_unwindow(composite);
}

/* What was read is dropped only once nothing can fail any more. */
static int prepend_sole_composite(leat_composite *composite, leat_composite *source) {
    int status = prepare_for(composite, source);
    if (status != 0) {
        leat_bytebuf_release(&source->handle.hot);
        return status;
    }
    leat_composite_discard_read(composite);
    return leat_composite_insert(composite, 0, &source->handle.hot);
}

static int prepend_composite(leat_composite *composite, leat_composite *source) {
    leat_bytebuf *hot = &source->handle.hot;
    if (leat_bytebuf_is_sole(hot))
        return prepend_sole_composite(composite, source);
    leat_bytebuf *slice = leat_bytebuf_slice_readable(hot);
    leat_bytebuf_release(hot);
    return slice ? leat_composite_prepend(composite, slice) : LEAT_ENOMEM;
}

int leat_composite_prepend(leat_composite *composite, leat_bytebuf *buf) {
    int status = refuse_buffer(composite, buf);
    if (status != 0)
        return status;
    status = leat_composite_may_add(composite, leat_bytebuf_readable(buf));
    if (status == 0 && leat_bytebuf_is_composite(buf))
        return prepend_composite(composite, leat_composite_in(buf));
    if (status == 0)
        status = leat_composite_need_front_slot(composite);
    if (status != 0) {
        leat_bytebuf_release(buf);
        return status;
    }
    leat_composite_discard_read(composite);
    push_front(composite, buf->bytes + buf->reader, leat_bytebuf_readable(buf), buf);
    return 0;
}

uint64_t leat_composite_headroom(const leat_bytebuf *buf) {
    const leat_composite *composite = leat_composite_in(buf);
    return (uint64_t)(composite->front - composite->inside);
}

static void extend_front(leat_composite *composite, uint64_t n) {
    leat_component_of(composite, 0)->bytes -= n;
    composite->origin -= n;
    composite->handle.hot.writer += n;
    leat_composite_unwindow(composite);
}

static bool begins_at_front(const leat_composite *composite) {
    if (composite->count == 0)
        return false;
    const leat_component *first = leat_component_of(composite, 0);
    return !first->owner && first->bytes == composite->front;
}

static int prepend_copy(leat_composite *composite, const void *bytes, size_t n) {
    leat_bytebuf *copy = leat_bytebuf_from_bytes(composite->handle.alloc, bytes, n);
    return copy ? leat_composite_prepend(composite, copy) : LEAT_ENOMEM;
}

int leat_composite_prepend_bytes(leat_composite *composite, const void *bytes, size_t n) {
    int status = leat_composite_may_add(composite, n);
    if (status != 0 || n == 0)
        return status;
    if (n > leat_composite_headroom(&composite->handle.hot))
        return prepend_copy(composite, bytes, n);
    status = leat_composite_need_front_slot(composite);
    if (status != 0)
        return status;
    leat_composite_discard_read(composite);
    bool extends = begins_at_front(composite);
    composite->front -= n;
    memcpy(composite->front, bytes, n);
    if (extends)
        extend_front(composite, n);
    else
        push_front(composite, composite->front, n, NULL);
    return 0;
}
