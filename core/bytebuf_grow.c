/* Room: growth behind the writer, headroom before the reader. */
#include "core/bytebuf_internal.h"

#include "core/composite_internal.h"

#include <assert.h>
#include <string.h>

#define DOUBLES_UNTIL ((uint64_t)4 << 20)

/* Doubles small buffers; large ones grow by half, so that the waste stays bounded and growth stays linear. */
static uint64_t grown_capacity(uint64_t capacity, uint64_t needed, uint64_t max_capacity) {
    uint64_t step = capacity < DOUBLES_UNTIL ? capacity : capacity / 2;
    uint64_t grown = leat_bytebuf_max(leat_bytebuf_max(needed, 64), capacity + step);
    return leat_bytebuf_min(grown, max_capacity);
}

static bool grow_in_place(leat_bytebuf *buf, uint64_t capacity) {
    if (!leat_bytebuf_has_flag(buf, LEAT_BYTEBUF_TAIL))
        return false;
    leat_storage *storage = leat_storage_of(buf);
    uint64_t before = (uint64_t)(storage->memory - (uint8_t *)leat_storage_block(storage));
    size_t usable;
    if (!storage->alloc->ops->grow_in_place(storage->alloc, leat_storage_block(storage), storage->block_size,
                                            (size_t)(before + capacity), &usable))
        return false;
    storage->block_size = usable;
    __atomic_store_n(&storage->size, usable - before, __ATOMIC_RELAXED);
    buf->end = leat_bytebuf_min(usable - before, leat_handle_of(buf)->max_capacity);
    return true;
}

static leat_storage *new_storage(leat_alloc *alloc, uint64_t capacity) {
    size_t usable;
    leat_storage *storage = leat_alloc_take(alloc, (size_t)(sizeof(leat_storage) + capacity), &usable);
    if (!storage)
        return NULL;
    *storage = (leat_storage){.memory = (uint8_t *)(storage + 1),
                              .size = usable - sizeof *storage,
                              .handles = 1,
                              .alloc = alloc,
                              .block_size = usable};
    return storage;
}

/* The bytes move to storage of the handle's own; what others see of the old one stays as it is. */
static int move_to_new_storage(leat_bytebuf *buf, uint64_t capacity) {
    leat_handle *handle = leat_handle_of(buf);
    leat_storage *storage = new_storage(handle->alloc, capacity);
    if (!storage)
        return LEAT_ENOMEM;
    if (buf->writer > 0)
        memcpy(storage->memory, buf->bytes, (size_t)buf->writer);
    leat_count_copied(handle->alloc, buf->writer);
    if (handle->storage != leat_home_of(handle))
        leat_storage_drop(handle->storage);
    handle->storage = storage;
    buf->bytes = storage->memory;
    buf->end = leat_bytebuf_min(storage->size, handle->max_capacity);
    buf->flags = (uint8_t)((buf->flags & LEAT_BYTEBUF_NOTED) | LEAT_BYTEBUF_TAIL);
    handle->floor = 0;
    return 0;
}

static int grow(leat_bytebuf *buf, uint64_t needed) {
    leat_handle *handle = leat_handle_of(buf);
    uint64_t capacity = grown_capacity(buf->end, needed, handle->max_capacity);
    if (!grow_in_place(buf, capacity)) {
        int status = move_to_new_storage(buf, capacity);
        if (status != 0)
            return status;
    }
    leat_count_growth(handle->alloc);
    leat_bytebuf_refresh_limits(buf);
    return 0;
}

int leat_bytebuf_reserve(leat_bytebuf *buf, uint64_t n) {
    if (leat_bytebuf_can_write(buf, n))
        return 0;
    if (!leat_bytebuf_may_move(buf, __func__) || leat_bytebuf_has_flag(buf, LEAT_BYTEBUF_FROZEN))
        return LEAT_ESHARED;
    if (n > leat_handle_of(buf)->max_capacity - buf->writer)
        return LEAT_ELIMIT;
    if (leat_bytebuf_is_composite(buf))
        return leat_composite_reserve(buf, n);
    leat_bytebuf_refresh_limits(buf);
    if (leat_bytebuf_can_write(buf, n))
        return 0;
    if (buf->writer < leat_floor_of(buf))
        return LEAT_ESHARED;
    return grow(buf, buf->writer + n);
}

uint8_t *leat_bytebuf_room(leat_bytebuf *buf, uint64_t n) {
    return leat_bytebuf_reserve(buf, n) == 0 && buf->bytes ? buf->bytes + buf->writer : NULL;
}

/* A look at another component of a composite has moved the window off its tail, or others held a reference. */
static bool has_room(leat_bytebuf *buf, uint64_t n) {
    if (leat_bytebuf_can_write(buf, n))
        return true;
    if (!leat_bytebuf_is_sole(buf))
        return false;
    if (leat_bytebuf_is_composite(buf))
        leat_composite_cover_tail(buf);
    else
        leat_bytebuf_refresh_limits(buf);
    return leat_bytebuf_can_write(buf, n);
}

bool leat_bytebuf_wrote(leat_bytebuf *buf, uint64_t n) {
    if (!has_room(buf, n))
        return false;
    buf->writer += n;
    leat_bytebuf_open_reading(buf);
    return true;
}

void leat_bytebuf_put_bytes(leat_bytebuf *buf, const void *data, size_t n) {
    bool reserved = has_room(buf, n);
    assert(reserved && "put needs room that leat_bytebuf_reserve made");
    if (!reserved || n == 0)
        return;
    memcpy(buf->bytes + buf->writer, data, n);
    buf->writer += n;
}

uint64_t leat_bytebuf_headroom(const leat_bytebuf *buf) {
    if (!leat_bytebuf_is_sole(buf))
        return 0;
    if (leat_bytebuf_is_composite(buf))
        return leat_composite_headroom(buf);
    uint64_t floor = leat_floor_of(buf);
    return buf->reader > floor ? buf->reader - floor : 0;
}

bool leat_bytebuf_prepend(leat_bytebuf *buf, const void *data, size_t n) {
    if (!leat_bytebuf_may_move(buf, __func__))
        return false;
    if (leat_bytebuf_is_composite(buf))
        return leat_composite_prepend_bytes(leat_composite_of(buf), data, n) == 0;
    if (n > leat_bytebuf_headroom(buf))
        return false;
    if (n > 0)
        memmove(buf->bytes + buf->reader - n, data, n); /* may be the bytes that were read from there */
    buf->reader -= n;
    return true;
}
