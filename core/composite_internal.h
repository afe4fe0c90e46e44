/** The inside of a composite, for the buffer sources only. Not installed. */
#ifndef LEAT_CORE_COMPOSITE_INTERNAL_H
#define LEAT_CORE_COMPOSITE_INTERNAL_H

#include "core/bytebuf_internal.h"
#include "core/composite.h"

/* A plain buffer that composites append to: each range of it belongs to one component, its references only keep it. */
#define LEAT_BYTEBUF_STAGING 16

/** One run of bytes. `owner` keeps it alive; NULL = static, or the composite's own inline bytes. */
typedef struct leat_component {
    const uint8_t *bytes;
    uint64_t end; /* position after the last byte: index + origin */
    leat_bytebuf *owner;
} leat_component;

/*
 * Components stand in slots[first .. first + count). Positions are indices plus `origin`, which wraps: what is put in
 * front or discarded moves the origin, not every component. The writer is always the end of the last component.
 *
 * The inline bytes fill up from `middle` in both directions: prepended bytes down to `inside`, appended ones up to
 * `tail_end`, until a staging buffer takes over. While the tail is open, relative writes extend the last component
 * without our help, so its `end` and `tail` are stale until leat_composite_settle.
 */
struct leat_composite {
    leat_handle handle;
    leat_component *slots;
    uint32_t first;
    uint32_t count;
    uint32_t slot_count;
    uint32_t window; /* the component that the hot line covers, when it covers one */
    uint64_t origin;
    uint8_t *inside; /* inline bytes, to the end of the block */
    uint8_t *middle; /* where they fill up from */
    uint8_t *front;  /* the lowest used of them */
    uint8_t *tail;   /* next byte to append to */
    uint8_t *tail_end;
    leat_bytebuf *tail_owner; /* NULL = the inline bytes */
    bool tail_open;
    size_t slots_size; /* of slots in a block of their own, else 0 */
};

/** Makes a composite with exactly `components` slots and `bytes` inline bytes behind the front ones. */
leat_composite *leat_composite_new_with(leat_alloc *alloc, uint32_t components, size_t bytes);

static inline leat_composite *leat_composite_in(const leat_bytebuf *buf) {
    return (leat_composite *)(uintptr_t)buf;
}

static inline leat_component *leat_component_of(const leat_composite *composite, uint32_t i) {
    return composite->slots + composite->first + i;
}

static inline uint64_t leat_component_start(const leat_composite *composite, uint32_t i) {
    return i == 0 ? 0 : leat_component_of(composite, i - 1)->end - composite->origin;
}

static inline uint64_t leat_component_end(const leat_composite *composite, uint32_t i) {
    if (i + 1 == composite->count)
        return composite->handle.hot.writer;
    return leat_component_of(composite, i)->end - composite->origin;
}

static inline uint64_t leat_component_length(const leat_composite *composite, uint32_t i) {
    return leat_component_end(composite, i) - leat_component_start(composite, i);
}

/** Returns how many components hold something or were added: room that nothing was written to is none yet. */
static inline uint32_t leat_composite_count_of(const leat_composite *composite) {
    bool opened = composite->tail_open && leat_component_length(composite, composite->count - 1) == 0;
    return composite->count - (opened ? 1 : 0);
}

static inline bool leat_component_is_inline(const leat_composite *composite, const leat_component *component) {
    uintptr_t at = (uintptr_t)component->bytes;
    return !component->owner && at >= (uintptr_t)composite->inside &&
           at < (uintptr_t)composite + composite->handle.block_size;
}

/** Forgets the window of the hot line: after every change of structure. */
static inline void leat_composite_unwindow(leat_composite *composite) {
    leat_bytebuf *hot = &composite->handle.hot;
    hot->begin = hot->end = hot->read_limit = 0;
    hot->write_limit = hot->writer;
}

/** Lets a composite append to a plain buffer from `at` on: what is free in it is used up as far as the buffer knows. */
static inline void leat_composite_take_tail(leat_composite *composite, leat_bytebuf *tail, uint64_t at) {
    tail->flags |= LEAT_BYTEBUF_STAGING;
    tail->writer = tail->write_limit = tail->end;
    composite->tail_owner = tail;
    composite->tail = tail->bytes + at;
    composite->tail_end = tail->bytes + tail->end;
}

/** Appends a component; there is a slot for it and the tail is settled. */
static inline void leat_composite_push(leat_composite *composite, const uint8_t *bytes, uint64_t n,
                                       leat_bytebuf *owner) {
    leat_bytebuf *hot = &composite->handle.hot;
    hot->writer += n;
    hot->write_limit = hot->writer;
    *leat_component_of(composite, composite->count++) = (leat_component){bytes, composite->origin + hot->writer, owner};
}

/** Closes the tail, if it is open: the last component's end is right again and relative writes need help. */
void leat_composite_settle(leat_composite *composite);

/** Makes sure of `n` slots behind the last component. Returns 0, LEAT_ENOMEM or LEAT_ELIMIT. */
int leat_composite_need_slots(leat_composite *composite, uint32_t n);

/** Makes sure of a slot before the first component. Returns 0 or LEAT_ENOMEM. */
int leat_composite_need_front_slot(leat_composite *composite);

/** Makes sure of `n` contiguous bytes at the tail, which is settled; pushes nothing. Returns 0 or LEAT_ENOMEM. */
int leat_composite_need_tail(leat_composite *composite, uint64_t n);

/** Copies bytes to the tail as a component of their own; slot and room are there. */
void leat_composite_stage(leat_composite *composite, const void *bytes, uint64_t n);

/** Says whether the last component ends where the tail begins, so that it can be extended. */
bool leat_composite_ends_at_tail(const leat_composite *composite);

/** Checks what every change of structure needs: one reference, and room below the capacity's limit. */
int leat_composite_may_add(leat_composite *composite, uint64_t n);

/** Drops the components from `count` on and everything behind their start. */
void leat_composite_truncate(leat_composite *composite, uint32_t count);

/** Returns the component that holds `index` < writer. */
uint32_t leat_composite_locate(const leat_composite *composite, uint64_t index);

/** Lets the hot line cover a component, if the composite has one reference. */
void leat_composite_cover(leat_composite *composite, uint32_t i);

/** Makes a plain handle on `n` bytes from `offset` on of a component: shared, or given away as far as it is ours. */
leat_bytebuf *leat_component_slice(leat_composite *composite, uint32_t i, uint64_t offset, uint64_t n);
leat_bytebuf *leat_component_split(leat_composite *composite, uint32_t i, uint64_t offset, uint64_t n);

/** Says whether the bytes of a component from `offset` on may be changed. */
bool leat_component_is_ours(const leat_composite *composite, uint32_t i, uint64_t offset);

/* The composite's half of the leat_bytebuf functions. */
void leat_composite_end_life(leat_composite *composite);
uint64_t leat_composite_capacity(const leat_bytebuf *buf);
void leat_composite_clear(leat_composite *composite);
bool leat_composite_set_writer(leat_bytebuf *buf, uint64_t index);
int leat_composite_reserve(leat_bytebuf *buf, uint64_t n);
void leat_composite_cover_tail(leat_bytebuf *buf);
uint64_t leat_composite_headroom(const leat_bytebuf *buf);
leat_bytebuf *leat_composite_slice(leat_composite *composite, uint64_t index, uint64_t n);
leat_bytebuf *leat_composite_split(leat_composite *composite, uint64_t n);
bool leat_composite_unshare(leat_bytebuf *buf);
uint64_t leat_composite_storage_size(const leat_bytebuf *buf);
bool leat_composite_is_valid(const leat_bytebuf *buf);
const uint8_t *leat_composite_at(const leat_bytebuf *buf, uint64_t index, uint64_t *have);
uint8_t *leat_composite_change_at(leat_bytebuf *buf, uint64_t index, uint64_t *have);
size_t leat_composite_span_count(const leat_bytebuf *buf);
size_t leat_composite_spans(const leat_bytebuf *buf, leat_span *spans, size_t max);
size_t leat_composite_spans_at(const leat_bytebuf *buf, leat_bytebuf_position position, leat_span *spans, size_t max,
                               uint64_t *bytes);
uint32_t leat_composite_component_from(const leat_bytebuf *buf, uint32_t hint, uint64_t index);

#endif
