/* Composites: their life, their slots, their tail, and where an index lies. */
#include "core/composite_internal.h"

#include <string.h>

#define FRONT_SLOTS 2
#define FRONT_BYTES 64
#define INLINE_BYTES 64
#define SMALLEST_TAIL 512
#define LARGEST_TAIL 65536
#define MOST_COMPONENTS (UINT32_MAX / 4)

/* ---- life ---- */

leat_composite *leat_composite_new_with(leat_alloc *alloc, uint32_t components, size_t bytes) {
    if (components > MOST_COMPONENTS)
        return NULL;
    size_t slots = (size_t)components + FRONT_SLOTS;
    size_t usable;
    leat_composite *composite =
        leat_alloc_take(alloc, sizeof *composite + slots * sizeof(leat_component) + FRONT_BYTES + bytes, &usable);
    if (!composite)
        return NULL;
    leat_handle_init(&composite->handle, alloc, LEAT_BYTEBUF_COMPOSITE, "leat_composite_new");
    composite->handle.block_size = usable;
    composite->handle.hot.flags |=
        LEAT_BYTEBUF_PARTED | LEAT_BYTEBUF_SHARED_BELOW; /* set calls look at the component */
    composite->slots = (leat_component *)(composite + 1);
    composite->slot_count = (uint32_t)slots;
    composite->slots_size = 0;
    composite->first = FRONT_SLOTS;
    composite->count = 0;
    composite->window = 0;
    composite->origin = 0;
    composite->inside = (uint8_t *)(composite->slots + slots);
    composite->middle = composite->inside + FRONT_BYTES;
    composite->front = composite->tail = composite->middle;
    composite->tail_end = (uint8_t *)composite + usable;
    composite->tail_owner = NULL;
    composite->tail_open = false;
    return composite;
}

leat_composite *leat_composite_new(leat_alloc *alloc, uint32_t components) {
    return leat_composite_new_with(alloc, components, INLINE_BYTES);
}

leat_bytebuf *leat_composite_buffer(leat_composite *composite) {
    return composite ? &composite->handle.hot : NULL;
}

leat_composite *leat_composite_of(leat_bytebuf *buf) {
    return buf && leat_bytebuf_is_composite(buf) ? leat_composite_in(buf) : NULL;
}

static void give_slots(leat_composite *composite) {
    if (composite->slots_size > 0)
        leat_alloc_give(composite->handle.alloc, composite->slots, composite->slots_size);
}

/* A dead handle shows nothing, for the ledger that keeps it. */
static void bury(leat_composite *composite) {
    leat_bytebuf *hot = &composite->handle.hot;
    __atomic_store_n(&hot->refs, 0, __ATOMIC_RELAXED);
    composite->count = 0;
    hot->reader = hot->writer = 0;
    leat_composite_unwindow(composite);
}

void leat_composite_end_life(leat_composite *composite) {
    const leat_component *component = leat_component_of(composite, 0), *stop = component + composite->count;
    for (; component < stop; component++)
        leat_bytebuf_release(component->owner);
    leat_bytebuf_release(composite->tail_owner);
    give_slots(composite);
    if (leat_bytebuf_has_flag(&composite->handle.hot, LEAT_BYTEBUF_NOTED))
        bury(composite);
    leat_alloc_give(composite->handle.alloc, composite, composite->handle.block_size);
}

/* ---- slots ---- */

static int move_slots(leat_composite *composite, size_t front, size_t slots) {
    size_t usable;
    leat_component *moved = leat_alloc_take(composite->handle.alloc, slots * sizeof *moved, &usable);
    if (!moved)
        return LEAT_ENOMEM;
    if (composite->count > 0)
        memcpy(moved + front, leat_component_of(composite, 0), composite->count * sizeof *moved);
    give_slots(composite);
    leat_count_growth(composite->handle.alloc);
    composite->slots = moved;
    composite->slots_size = usable;
    composite->slot_count = (uint32_t)slots;
    composite->first = (uint32_t)front;
    return 0;
}

int leat_composite_need_slots(leat_composite *composite, uint32_t n) {
    if (n <= composite->slot_count - composite->first - composite->count)
        return 0;
    if (n > MOST_COMPONENTS - composite->count)
        return LEAT_ELIMIT;
    size_t needed = (size_t)composite->count + n;
    /* A queue that loses components in front as fast as it gets them behind needs no more slots. */
    if (composite->first > composite->slot_count / 2 && needed + FRONT_SLOTS <= composite->slot_count) {
        memmove(composite->slots + FRONT_SLOTS, leat_component_of(composite, 0),
                composite->count * sizeof(leat_component));
        composite->first = FRONT_SLOTS;
        return 0;
    }
    return move_slots(composite, FRONT_SLOTS, FRONT_SLOTS + needed + composite->count);
}

int leat_composite_need_front_slot(leat_composite *composite) {
    if (composite->first > 0)
        return 0;
    uint32_t front = FRONT_SLOTS + composite->count / 2;
    if (composite->count + front > composite->slot_count)
        return move_slots(composite, front, (size_t)front + composite->slot_count);
    /* A stack that loses components in front as fast as it gets them there needs no more slots. */
    memmove(composite->slots + front, composite->slots, composite->count * sizeof(leat_component));
    composite->first = front;
    return 0;
}

/* ---- the tail ---- */

void leat_composite_settle(leat_composite *composite) {
    if (!composite->tail_open)
        return;
    uint32_t last = composite->count - 1;
    leat_component *component = leat_component_of(composite, last);
    leat_bytebuf *hot = &composite->handle.hot;
    uint64_t length = leat_component_length(composite, last);
    composite->tail = (uint8_t *)(uintptr_t)component->bytes + length;
    composite->tail_open = false;
    component->end = composite->origin + hot->writer;
    leat_composite_unwindow(composite);
    if (length > 0)
        return;
    leat_bytebuf_release(component->owner);
    composite->count--;
}

static int new_tail(leat_composite *composite, uint64_t n) {
    uint64_t before = composite->tail_owner ? composite->tail_owner->end : SMALLEST_TAIL / 2;
    uint64_t capacity = leat_bytebuf_max(n, leat_bytebuf_min(before * 2, LARGEST_TAIL));
    leat_bytebuf *tail = leat_bytebuf_new(composite->handle.alloc, capacity);
    if (!tail)
        return LEAT_ENOMEM;
    leat_bytebuf_release(composite->tail_owner);
    leat_composite_take_tail(composite, tail, 0);
    return 0;
}

int leat_composite_need_tail(leat_composite *composite, uint64_t n) {
    return n <= (uint64_t)(composite->tail_end - composite->tail) ? 0 : new_tail(composite, n);
}

static void push_tail(leat_composite *composite, uint64_t n) {
    leat_bytebuf *owner = composite->tail_owner;
    leat_composite_push(composite, composite->tail, n, owner ? leat_bytebuf_retain(owner) : NULL);
    composite->tail += n;
}

void leat_composite_stage(leat_composite *composite, const void *bytes, uint64_t n) {
    memcpy(composite->tail, bytes, (size_t)n);
    push_tail(composite, n);
}

bool leat_composite_ends_at_tail(const leat_composite *composite) {
    if (composite->count == 0)
        return false;
    const leat_component *last = leat_component_of(composite, composite->count - 1);
    uint64_t length = leat_component_length(composite, composite->count - 1);
    return last->owner == composite->tail_owner && last->bytes + length == composite->tail;
}

static void open_tail(leat_composite *composite) {
    if (!leat_composite_ends_at_tail(composite))
        push_tail(composite, 0);
    composite->tail_open = true;
    leat_composite_cover(composite, composite->count - 1);
}

int leat_composite_reserve(leat_bytebuf *buf, uint64_t n) {
    leat_composite *composite = leat_composite_in(buf);
    bool was_open = composite->tail_open;
    leat_composite_settle(composite);
    int status = leat_composite_need_slots(composite, 1);
    if (status == 0)
        status = leat_composite_need_tail(composite, n);
    if (status == 0 || was_open) /* room that was there stays */
        open_tail(composite);
    return status;
}

void leat_composite_cover_tail(leat_bytebuf *buf) {
    leat_composite *composite = leat_composite_in(buf);
    if (composite->tail_open)
        leat_composite_cover(composite, composite->count - 1);
}

uint64_t leat_composite_capacity(const leat_bytebuf *buf) {
    const leat_composite *composite = leat_composite_in(buf);
    const uint8_t *tail = composite->tail;
    if (composite->tail_open) {
        uint32_t last = composite->count - 1;
        tail = leat_component_of(composite, last)->bytes + leat_component_length(composite, last);
    }
    return buf->writer + (uint64_t)(composite->tail_end - tail);
}

/* ---- where an index lies ---- */

uint32_t leat_composite_locate(const leat_composite *composite, uint64_t index) {
    uint32_t low = 0;
    uint32_t high = composite->count - 1;
    uint32_t next = composite->window + 1;
    if (next < composite->count && leat_component_start(composite, next) <= index &&
        index < leat_component_end(composite, next))
        return next;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (leat_component_end(composite, middle) > index)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void leat_composite_cover(leat_composite *composite, uint32_t i) {
    leat_bytebuf *hot = &composite->handle.hot;
    if (!leat_bytebuf_is_sole(hot))
        return;
    const leat_component *component = leat_component_of(composite, i);
    uint64_t begin = leat_component_start(composite, i);
    bool writes = composite->tail_open && i + 1 == composite->count;
    composite->window = i;
    hot->begin = begin;
    hot->end = writes ? begin + (uint64_t)(composite->tail_end - component->bytes) : leat_component_end(composite, i);
    hot->write_limit = writes ? hot->end : hot->writer;
    hot->bytes = (uint8_t *)((uintptr_t)component->bytes - begin);
    leat_bytebuf_open_reading(hot);
}

bool leat_bytebuf_cover_reader(leat_bytebuf *buf, unsigned width) {
    if (!leat_bytebuf_is_sole(buf) || buf->writer - buf->reader < width)
        return false;
    if (leat_bytebuf_is_composite(buf) && !leat_bytebuf_covers(buf, buf->reader, 1))
        leat_composite_cover(leat_composite_in(buf), leat_composite_locate(leat_composite_in(buf), buf->reader));
    else
        leat_bytebuf_open_reading(buf);
    return leat_bytebuf_can_read(buf, width);
}

const uint8_t *leat_composite_at(const leat_bytebuf *buf, uint64_t index, uint64_t *have) {
    leat_composite *composite = leat_composite_in(buf);
    *have = 0;
    if (index >= buf->writer)
        return NULL;
    uint32_t i = leat_composite_locate(composite, index);
    leat_composite_cover(composite, i);
    *have = leat_component_end(composite, i) - index;
    return leat_component_of(composite, i)->bytes + (index - leat_component_start(composite, i));
}

bool leat_component_is_ours(const leat_composite *composite, uint32_t i, uint64_t offset) {
    const leat_component *component = leat_component_of(composite, i);
    const leat_bytebuf *owner = component->owner;
    if (!owner)
        return leat_component_is_inline(composite, component);
    if (!leat_bytebuf_has_flag(owner, LEAT_BYTEBUF_STAGING) && !leat_bytebuf_is_sole(owner))
        return false;
    return (uint64_t)(component->bytes - owner->bytes) + offset >= leat_floor_of(owner);
}

uint8_t *leat_composite_change_at(leat_bytebuf *buf, uint64_t index, uint64_t *have) {
    const leat_composite *composite = leat_composite_in(buf);
    if (index >= buf->writer)
        return NULL;
    uint32_t i = leat_composite_locate(composite, index);
    uint64_t offset = index - leat_component_start(composite, i);
    if (!leat_component_is_ours(composite, i, offset))
        return NULL;
    *have = leat_component_end(composite, i) - index;
    return (uint8_t *)(uintptr_t)leat_component_of(composite, i)->bytes + offset;
}
