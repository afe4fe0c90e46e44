/* Slices and splits of composites, and when one is its holder's alone. */
#include "core/composite_internal.h"

/* ---- parts of one component ---- */

static uint64_t index_in_owner(const leat_component *component, uint64_t offset) {
    return (uint64_t)(component->bytes - component->owner->bytes) + offset;
}

/* Bytes without an owner: inline ones are copied, static ones are referred to. */
static leat_bytebuf *part_without_owner(const leat_composite *composite, const leat_component *component,
                                        uint64_t offset, uint64_t n) {
    leat_alloc *alloc = composite->handle.alloc;
    const uint8_t *bytes = component->bytes + offset;
    if (!leat_component_is_inline(composite, component))
        return leat_bytebuf_wrap_static(alloc, bytes, (size_t)n);
    leat_count_copied(alloc, n);
    return leat_bytebuf_from_bytes(alloc, bytes, (size_t)n);
}

leat_bytebuf *leat_component_slice(leat_composite *composite, uint32_t i, uint64_t offset, uint64_t n) {
    const leat_component *component = leat_component_of(composite, i);
    if (!component->owner)
        return part_without_owner(composite, component, offset, n);
    return leat_bytebuf_slice_range(component->owner, index_in_owner(component, offset), n, composite->handle.alloc);
}

leat_bytebuf *leat_component_split(leat_composite *composite, uint32_t i, uint64_t offset, uint64_t n) {
    const leat_component *component = leat_component_of(composite, i);
    leat_bytebuf *owner = component->owner;
    if (!owner)
        return part_without_owner(composite, component, offset, n);
    bool ours = leat_bytebuf_has_flag(owner, LEAT_BYTEBUF_STAGING) || leat_bytebuf_is_sole(owner);
    uint64_t index = index_in_owner(component, offset);
    if (!ours)
        return leat_bytebuf_slice_range(owner, index, n, composite->handle.alloc);
    leat_bytebuf *part = leat_bytebuf_split_range(owner, index, n, composite->handle.alloc);
    if (part && leat_bytebuf_has_flag(owner, LEAT_BYTEBUF_FROZEN))
        part->flags |= LEAT_BYTEBUF_FROZEN;
    return part;
}

/* ---- runs of components ---- */

/** What a slice or split takes: components [first, last], of which the outer two may be taken in part. */
typedef struct range {
    uint32_t first;
    uint32_t last;
    uint64_t index;
    uint64_t stop;
} range;

static range range_of(const leat_composite *composite, uint64_t index, uint64_t n) {
    return (range){leat_composite_locate(composite, index), leat_composite_locate(composite, index + n - 1), index,
                   index + n};
}

static uint64_t part_start(const leat_composite *composite, const range *taken, uint32_t i) {
    return leat_bytebuf_max(leat_component_start(composite, i), taken->index);
}

static uint64_t part_length(const leat_composite *composite, const range *taken, uint32_t i) {
    return leat_bytebuf_min(leat_component_end(composite, i), taken->stop) - part_start(composite, taken, i);
}

static leat_composite *child_for(const leat_composite *composite, const range *taken) {
    uint64_t copied = 0;
    for (uint32_t i = taken->first; i <= taken->last; i++)
        if (leat_component_is_inline(composite, leat_component_of(composite, i)))
            copied += part_length(composite, taken, i);
    return leat_composite_new_with(composite->handle.alloc, taken->last - taken->first + 1, (size_t)copied);
}

/* Staging is shared by slices of it, so that its references stay the composite's own affair. */
static leat_bytebuf *share_owner(leat_component *component, uint64_t offset, uint64_t n, leat_alloc *alloc) {
    if (leat_bytebuf_has_flag(component->owner, LEAT_BYTEBUF_STAGING))
        return leat_bytebuf_slice_range(component->owner, index_in_owner(component, offset), n, alloc);
    return leat_bytebuf_retain_inside(component->owner, "leat_bytebuf_slice");
}

/* Shares one component with the child; false = no memory. */
static bool share_component(leat_composite *composite, leat_composite *child, const range *taken, uint32_t i) {
    leat_component *component = leat_component_of(composite, i);
    uint64_t offset = part_start(composite, taken, i) - leat_component_start(composite, i);
    uint64_t n = part_length(composite, taken, i);
    if (leat_component_is_inline(composite, component)) {
        leat_composite_stage(child, component->bytes + offset, n);
        leat_count_copied(child->handle.alloc, n);
        return true;
    }
    leat_bytebuf *owner = component->owner;
    if (owner) {
        owner = share_owner(component, offset, n, composite->handle.alloc);
        if (!owner)
            return false;
    }
    leat_composite_push(child, component->bytes + offset, n, owner);
    return true;
}

leat_bytebuf *leat_composite_slice(leat_composite *composite, uint64_t index, uint64_t n) {
    if (n == 0)
        return leat_bytebuf_new(composite->handle.alloc, 0);
    range taken = range_of(composite, index, n);
    if (taken.first == taken.last)
        return leat_component_slice(composite, taken.first, index - leat_component_start(composite, taken.first), n);
    leat_composite *child = child_for(composite, &taken);
    bool shared = child != NULL;
    for (uint32_t i = taken.first; shared && i <= taken.last; i++)
        shared = share_component(composite, child, &taken, i);
    if (shared)
        return &child->handle.hot;
    leat_bytebuf_release(leat_composite_buffer(child));
    return NULL;
}

/* ---- split ---- */

/* The components [first, stop) change hands whole. */
static void move_whole(leat_composite *composite, leat_composite *child, uint32_t first, uint32_t stop) {
    for (uint32_t i = first; i < stop; i++) {
        leat_component *component = leat_component_of(composite, i);
        uint64_t length = leat_component_length(composite, i);
        if (leat_component_is_inline(composite, component)) {
            leat_composite_stage(child, component->bytes, length);
            leat_count_copied(child->handle.alloc, length);
        } else {
            leat_composite_push(child, component->bytes, length, component->owner);
        }
        component->owner = NULL;
    }
}

static leat_bytebuf *split_one(leat_composite *composite, uint32_t i, uint64_t n) {
    leat_bytebuf *hot = &composite->handle.hot;
    leat_bytebuf *part = leat_component_split(composite, i, hot->reader - leat_component_start(composite, i), n);
    if (!part)
        return NULL;
    hot->reader += n;
    leat_composite_discard_read(composite);
    return part;
}

/* The last component is taken in part: `border` is the handle on that part. */
static leat_bytebuf *split_many(leat_composite *composite, leat_composite *child, const range *taken,
                                leat_bytebuf *border) {
    leat_bytebuf *hot = &composite->handle.hot;
    uint64_t n = taken->stop - taken->index;
    uint32_t behind = composite->count - taken->first;
    leat_composite_discard_read(composite);
    uint32_t first = composite->count - behind; /* empty components may still stand before it */
    uint32_t whole = taken->last - taken->first + (border ? 0 : 1);
    move_whole(composite, child, first, first + whole);
    if (border)
        leat_composite_push(child, border->bytes, leat_bytebuf_readable(border), border);
    hot->reader = n;
    leat_composite_discard_read(composite);
    return &child->handle.hot;
}

leat_bytebuf *leat_composite_split(leat_composite *composite, uint64_t n) {
    if (n == 0)
        return leat_bytebuf_new(composite->handle.alloc, 0);
    leat_composite_settle(composite);
    range taken = range_of(composite, composite->handle.hot.reader, n);
    if (taken.first == taken.last)
        return split_one(composite, taken.first, n);
    leat_bytebuf *border = NULL;
    uint64_t start = leat_component_start(composite, taken.last);
    bool in_part = leat_component_end(composite, taken.last) > taken.stop;
    leat_composite *child = child_for(composite, &taken);
    if (child && in_part)
        border = leat_component_split(composite, taken.last, 0, taken.stop - start);
    if (child && (border || !in_part))
        return split_many(composite, child, &taken, border);
    leat_bytebuf_release(leat_composite_buffer(child));
    return NULL;
}

/* ---- whose it is ---- */

static bool unshare_component(const leat_composite *composite, uint32_t i) {
    if (leat_component_length(composite, i) == 0 || leat_component_is_ours(composite, i, 0))
        return true;
    leat_bytebuf *owner = leat_component_of(composite, i)->owner;
    if (!owner || !leat_bytebuf_is_sole(owner) || leat_storage_of(owner)->read_only ||
        !leat_storage_is_sole(leat_storage_of(owner)))
        return false;
    leat_handle_of(owner)->floor = 0;
    owner->flags &= (uint8_t) ~(LEAT_BYTEBUF_SHARED_BELOW | LEAT_BYTEBUF_FROZEN);
    return true;
}

bool leat_composite_unshare(leat_bytebuf *buf) {
    const leat_composite *composite = leat_composite_in(buf);
    for (uint32_t i = 0; i < composite->count; i++)
        if (!unshare_component(composite, i))
            return false;
    return true;
}

/* Neighbours often lie in the same storage, which counts once. */
uint64_t leat_composite_storage_size(const leat_bytebuf *buf) {
    const leat_composite *composite = leat_composite_in(buf);
    uint64_t size = composite->handle.block_size;
    const struct leat_storage *before = NULL;
    for (uint32_t i = 0; i < composite->count; i++) {
        const leat_bytebuf *owner = leat_component_of(composite, i)->owner;
        if (owner && leat_storage_of(owner) != before)
            size += leat_bytebuf_storage_size(owner);
        before = owner ? leat_storage_of(owner) : before;
    }
    return size;
}

bool leat_composite_is_valid(const leat_bytebuf *buf) {
    const leat_composite *composite = leat_composite_in(buf);
    if (composite->first + composite->count > composite->slot_count || (composite->count == 0 && buf->writer != 0))
        return false;
    for (uint32_t i = 0; i < composite->count; i++) {
        const leat_component *component = leat_component_of(composite, i);
        if (leat_component_end(composite, i) < leat_component_start(composite, i))
            return false;
        if (component->owner && !leat_bytebuf_is_valid(component->owner))
            return false;
    }
    return composite->front >= composite->inside && composite->tail <= composite->tail_end;
}
