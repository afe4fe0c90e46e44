/* Making and ending handles and storage, indices, growth. */
#include "core/bytebuf_internal.h"

#include "core/composite_internal.h"

#include <stdio.h>
#include <string.h>

#define LARGEST_SIZE ((uint64_t)INT64_MAX / 2)
#define MOST_HANDLES (UINT32_C(1) << 31) /* of one storage; threads that pass this at the same time are few */

/* ---- the ledger ---- */

void leat_handle_note(const leat_bytebuf *buf, leat_alloc_event what, const char *where) {
    leat_alloc *alloc = leat_handle_of(buf)->alloc;
    if (alloc->ops->note)
        alloc->ops->note(alloc, buf, what, where);
}

bool leat_bytebuf_report_dead(const leat_bytebuf *buf, const char *where) {
    leat_handle_note(buf, LEAT_ALLOC_MISUSED, where);
    return false;
}

bool leat_bytebuf_refuse_skip(const leat_bytebuf *buf) {
    leat_bytebuf_is_alive(buf, "leat_bytebuf_skip");
    return false;
}

leat_bytebuf *leat_bytebuf_retain_noted(leat_bytebuf *buf, const char *where) {
    if (!leat_bytebuf_is_alive(buf, where))
        return buf;
    leat_bytebuf_retain_quietly(buf);
    leat_handle_note(buf, LEAT_ALLOC_RETAINED, where);
    return buf;
}

/* Who else retains it at the same time stores the same limits. */
leat_bytebuf *leat_bytebuf_retain_inside(leat_bytebuf *buf, const char *where) {
    __atomic_store_n(&buf->read_limit, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&buf->write_limit, buf->writer, __ATOMIC_RELAXED);
    if (__atomic_fetch_add(&buf->refs, 1, __ATOMIC_RELAXED) >= LEAT_BYTEBUF_MOST_REFS)
        leat_bytebuf_pin(buf);
    if (leat_bytebuf_has_flag(buf, LEAT_BYTEBUF_NOTED))
        leat_handle_note(buf, LEAT_ALLOC_RETAINED, where);
    return buf;
}

void leat_bytebuf_release_noted(leat_bytebuf *buf, const char *where) {
    if (!leat_bytebuf_is_alive(buf, where))
        return;
    leat_handle_note(buf, LEAT_ALLOC_RELEASED, where);
    uint32_t before = __atomic_fetch_sub(&buf->refs, 1, __ATOMIC_ACQ_REL);
    if (before == 1)
        leat_handle_note(buf, LEAT_ALLOC_DIED, where);
    if (before == 1 || before > LEAT_BYTEBUF_MOST_REFS)
        leat_bytebuf_release_oddly(buf, before);
}

void leat_bytebuf_touch_noted(leat_bytebuf *buf, const char *where) {
    if (leat_bytebuf_is_alive(buf, where))
        leat_handle_note(buf, LEAT_ALLOC_TOUCHED, where);
}

leat_bytebuf *(leat_bytebuf_retain)(leat_bytebuf *buf) {
    return leat_bytebuf_retain_at(buf, NULL);
}

void(leat_bytebuf_release)(leat_bytebuf *buf) {
    leat_bytebuf_release_at(buf, NULL);
}

leat_bytebuf *(leat_bytebuf_touch)(leat_bytebuf *buf) {
    return leat_bytebuf_touch_at(buf, NULL);
}

bool leat_bytebuf_may_move(const leat_bytebuf *buf, const char *where) {
    if (leat_bytebuf_is_sole(buf))
        return true;
    leat_bytebuf_is_alive(buf, where);
    return false;
}

/* ---- counts that must not overflow ---- */

#define PINNED (LEAT_BYTEBUF_MOST_REFS + LEAT_BYTEBUF_MOST_REFS / 2) /* too far from both ends to leave by counting */

void leat_bytebuf_pin(leat_bytebuf *buf) {
    uint32_t before = __atomic_exchange_n(&buf->refs, PINNED, __ATOMIC_RELAXED);
    if (before > PINNED - LEAT_BYTEBUF_MOST_REFS / 4)
        return;
    leat_handle_note(buf, LEAT_ALLOC_MISUSED, "leat_bytebuf_retain: too many references");
    fprintf(stderr, "leat: a buffer has %lu references and is never freed\n", (unsigned long)before);
}

void leat_bytebuf_release_oddly(leat_bytebuf *buf, uint32_t before) {
    if (before == 1)
        leat_bytebuf_end_life(buf);
    else if (before > LEAT_BYTEBUF_MOST_REFS)
        leat_bytebuf_pin(buf);
}

/* ---- storage ---- */

bool leat_storage_is_sole(const leat_storage *storage) {
    return __atomic_load_n(&storage->handles, __ATOMIC_ACQUIRE) == 1;
}

static void end_storage(leat_storage *storage) {
    if (storage->foreign) {
        leat_foreign_storage *foreign = (leat_foreign_storage *)storage;
        if (foreign->release)
            foreign->release(storage->memory, (size_t)storage->size, foreign->context);
    }
    leat_alloc_give(storage->alloc, leat_storage_block(storage), storage->block_size);
}

void leat_storage_drop(leat_storage *storage) {
    if (leat_storage_is_sole(storage) || __atomic_fetch_sub(&storage->handles, 1, __ATOMIC_ACQ_REL) == 1)
        end_storage(storage);
}

/* Begins a storage that lies behind its handle. */
static void init_storage(leat_storage *storage, leat_alloc *alloc, size_t block_size) {
    storage->handles = 1;
    storage->read_only = false;
    storage->foreign = false;
    storage->has_host = true;
    storage->alloc = alloc;
    storage->block_size = block_size;
}

/* ---- handles ---- */

_Static_assert(sizeof(leat_handle) % _Alignof(leat_storage) == 0, "a storage stands right behind its handle");
_Static_assert(sizeof(leat_handle) + offsetof(leat_storage, memory) <= 128, "two cache lines are enough to end both");

void leat_handle_begin_ledger(leat_handle *handle, const char *where) {
    handle->hot.flags = LEAT_BYTEBUF_NOTED;
    handle->alloc->ops->note(handle->alloc, handle, LEAT_ALLOC_MADE, where);
}

/* One block: handle, storage, bytes. */
typedef struct whole {
    leat_handle handle;
    leat_storage storage;
} whole;

#define WHOLE_SIZE ((sizeof(whole) + 31) & ~(size_t)31) /* wide stores into the bytes do not cross lines */

static leat_bytebuf *begin_whole(whole *block, leat_alloc *alloc, size_t usable) {
    init_storage(&block->storage, alloc, usable);
    leat_handle_init(&block->handle, alloc, LEAT_BYTEBUF_PLAIN, "leat_bytebuf_new");
    leat_bytebuf *buf = &block->handle.hot;
    block->handle.storage = &block->storage;
    buf->bytes = (uint8_t *)block + WHOLE_SIZE;
    block->storage.memory = buf->bytes;
    block->storage.size = usable - WHOLE_SIZE;
    buf->flags |= LEAT_BYTEBUF_TAIL;
    return buf;
}

leat_bytebuf *leat_bytebuf_new(leat_alloc *alloc, uint64_t capacity) {
    return leat_bytebuf_new_with(alloc, capacity, LEAT_BYTEBUF_UNBOUNDED, 0);
}

leat_bytebuf *leat_bytebuf_new_with(leat_alloc *alloc, uint64_t capacity, uint64_t max_capacity, uint64_t headroom) {
    if (max_capacity == 0 || max_capacity > LEAT_BYTEBUF_UNBOUNDED)
        max_capacity = LEAT_BYTEBUF_UNBOUNDED;
    if (capacity > LARGEST_SIZE || headroom > LARGEST_SIZE / 2 || capacity > max_capacity)
        return NULL;
    size_t usable;
    whole *block = leat_alloc_take(alloc, (size_t)(WHOLE_SIZE + headroom + capacity), &usable);
    if (!block)
        return NULL;
    leat_bytebuf *buf = begin_whole(block, alloc, usable);
    if (max_capacity != LEAT_BYTEBUF_UNBOUNDED)
        block->handle.max_capacity = leat_bytebuf_min(max_capacity + headroom, LEAT_BYTEBUF_UNBOUNDED);
    buf->end = leat_bytebuf_min(block->storage.size, block->handle.max_capacity);
    buf->write_limit = buf->end;
    buf->reader = headroom;
    buf->writer = headroom;
    return buf;
}

static leat_bytebuf *begin_foreign(leat_alloc *alloc, void *memory, size_t size, const char *where) {
    struct block {
        leat_handle handle;
        leat_foreign_storage foreign;
    } * block;
    size_t usable;
    block = leat_alloc_take(alloc, sizeof *block, &usable);
    if (!block)
        return NULL;
    leat_storage *storage = &block->foreign.storage;
    init_storage(storage, alloc, usable);
    storage->memory = memory;
    storage->size = size;
    storage->foreign = true;
    block->foreign.release = NULL;
    leat_handle_init(&block->handle, alloc, LEAT_BYTEBUF_PLAIN, where);
    leat_bytebuf *buf = &block->handle.hot;
    block->handle.storage = storage;
    buf->bytes = memory;
    buf->writer = buf->end = buf->write_limit = buf->read_limit = size;
    return buf;
}

static leat_bytebuf *wrap(leat_alloc *alloc, const void *memory, size_t size, leat_bytebuf_release_fn release,
                          void *context, const char *where) {
    leat_bytebuf *buf = begin_foreign(alloc, (void *)(uintptr_t)memory, size, where);
    if (!buf)
        return NULL;
    leat_foreign_storage *foreign = (leat_foreign_storage *)leat_storage_of(buf);
    foreign->release = release;
    foreign->context = context;
    return buf;
}

leat_bytebuf *leat_bytebuf_wrap(leat_alloc *alloc, void *memory, size_t size, leat_bytebuf_release_fn release,
                                void *context) {
    return wrap(alloc, memory, size, release, context, "leat_bytebuf_wrap");
}

static leat_bytebuf *read_only(leat_bytebuf *buf, size_t size) {
    if (!buf)
        return NULL;
    leat_storage_of(buf)->read_only = true;
    buf->flags |= LEAT_BYTEBUF_FROZEN;
    leat_bytebuf_share_below(buf, size);
    return buf;
}

leat_bytebuf *leat_bytebuf_wrap_read_only(leat_alloc *alloc, const void *memory, size_t size,
                                          leat_bytebuf_release_fn release, void *context) {
    return read_only(wrap(alloc, memory, size, release, context, "leat_bytebuf_wrap_read_only"), size);
}

leat_bytebuf *leat_bytebuf_wrap_static(leat_alloc *alloc, const void *memory, size_t size) {
    return read_only(wrap(alloc, memory, size, NULL, NULL, "leat_bytebuf_wrap_static"), size);
}

leat_bytebuf *leat_bytebuf_view(leat_alloc *alloc, leat_storage *storage, uint8_t *bytes, uint64_t n, uint64_t floor,
                                const char *where) {
    size_t usable;
    if (__atomic_load_n(&storage->handles, __ATOMIC_RELAXED) >= MOST_HANDLES)
        return NULL;
    leat_handle *handle = leat_alloc_take(alloc, sizeof *handle, &usable);
    if (!handle)
        return NULL;
    leat_handle_init(handle, alloc, LEAT_BYTEBUF_PLAIN, where);
    handle->block_size = usable;
    handle->storage = storage;
    handle->hot.bytes = bytes;
    handle->hot.writer = handle->hot.end = handle->hot.write_limit = handle->hot.read_limit = n;
    leat_bytebuf_share_below(&handle->hot, floor);
    __atomic_fetch_add(&storage->handles, 1, __ATOMIC_RELAXED);
    return &handle->hot;
}

/* A dead handle shows nothing, so that a use after the last release ends in a slow path that can say so. */
static void bury(leat_bytebuf *buf) {
    __atomic_store_n(&buf->refs, 0, __ATOMIC_RELAXED);
    buf->reader = buf->writer = buf->begin = buf->end = buf->write_limit = buf->read_limit = 0;
}

void leat_bytebuf_end_life(leat_bytebuf *buf) {
    leat_handle *handle = leat_handle_of(buf);
    if (leat_bytebuf_is_composite(buf)) {
        leat_composite_end_life(leat_composite_in(buf));
        return;
    }
    leat_storage *storage = handle->storage;
    leat_storage *home = leat_home_of(handle);
    bury(buf);
    if (home) {
        if (storage != home)
            leat_storage_drop(storage);
        leat_storage_drop(home);
    } else {
        leat_alloc_give(handle->alloc, handle, handle->block_size);
        leat_storage_drop(storage);
    }
}

leat_alloc *leat_bytebuf_alloc_of(const leat_bytebuf *buf) {
    return leat_handle_of(buf)->alloc;
}

/* ---- indices ---- */

void leat_bytebuf_share_below(leat_bytebuf *buf, uint64_t index) {
    leat_handle *handle = leat_handle_of(buf);
    uint64_t floor = __atomic_load_n(&handle->floor, __ATOMIC_RELAXED);
    while (floor < index &&
           !__atomic_compare_exchange_n(&handle->floor, &floor, index, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
    if (index > 0)
        __atomic_fetch_or(&buf->flags, LEAT_BYTEBUF_SHARED_BELOW, __ATOMIC_RELAXED);
}

/* Up to where a plain handle with one reference may write. */
static uint64_t write_limit_of(const leat_bytebuf *buf) {
    bool appends = buf->writer >= leat_floor_of(buf) && !leat_bytebuf_has_flag(buf, LEAT_BYTEBUF_FROZEN);
    return appends ? buf->end : buf->writer;
}

void leat_bytebuf_refresh_limits(leat_bytebuf *buf) {
    buf->write_limit = write_limit_of(buf);
    buf->read_limit = buf->writer;
}

uint64_t leat_bytebuf_writable(const leat_bytebuf *buf) {
    if (!leat_bytebuf_is_sole(buf))
        return 0;
    if (leat_bytebuf_is_composite(buf))
        return leat_composite_capacity(buf) - buf->writer;
    return write_limit_of(buf) - buf->writer;
}

uint64_t leat_bytebuf_capacity(const leat_bytebuf *buf) {
    return leat_bytebuf_is_composite(buf) ? leat_composite_capacity(buf) : buf->end;
}

uint64_t leat_bytebuf_max_capacity(const leat_bytebuf *buf) {
    return leat_handle_of(buf)->max_capacity;
}

bool leat_bytebuf_set_reader_index(leat_bytebuf *buf, uint64_t index) {
    if (!leat_bytebuf_may_move(buf, __func__) || index > buf->writer)
        return false;
    buf->reader = index;
    leat_bytebuf_open_reading(buf);
    return true;
}

bool leat_bytebuf_set_writer_index(leat_bytebuf *buf, uint64_t index) {
    if (!leat_bytebuf_may_move(buf, __func__) || index < buf->reader || index > leat_bytebuf_capacity(buf))
        return false;
    if (leat_bytebuf_is_composite(buf))
        return leat_composite_set_writer(buf, index);
    buf->writer = index;
    leat_bytebuf_refresh_limits(buf);
    return true;
}

bool leat_bytebuf_clear(leat_bytebuf *buf) {
    if (!leat_bytebuf_may_move(buf, __func__))
        return false;
    if (leat_bytebuf_is_composite(buf)) {
        leat_composite_clear(leat_composite_in(buf));
        return true;
    }
    buf->reader = buf->writer = 0;
    leat_bytebuf_refresh_limits(buf);
    return true;
}

int leat_bytebuf_discard_read(leat_bytebuf *buf) {
    if (!leat_bytebuf_may_move(buf, __func__))
        return LEAT_ESHARED;
    if (leat_bytebuf_is_composite(buf))
        return leat_composite_discard_read(leat_composite_of(buf));
    if (buf->reader == 0)
        return 0;
    if (leat_floor_of(buf) > 0)
        return LEAT_ESHARED;
    uint64_t n = leat_bytebuf_readable(buf);
    memmove(buf->bytes, buf->bytes + buf->reader, (size_t)n);
    buf->reader = 0;
    buf->writer = n;
    leat_bytebuf_refresh_limits(buf);
    return 0;
}
