/** What the buffer sources share with each other and nobody else sees. Not installed. */
#ifndef LEAT_CORE_BYTEBUF_INTERNAL_H
#define LEAT_CORE_BYTEBUF_INTERNAL_H

#include "core/bytebuf.h"

#include <string.h>

/**
 * Memory that handles share. It lies in a block of its own, or right behind the handle that was born with it; then all
 * that the end of both has to know lies in two cache lines, which another thread may have to fetch.
 */
typedef struct leat_storage {
    uint32_t handles; /* atomic; a handle that lies in the same block counts as long as it lives */
    bool read_only;
    bool foreign;  /* a leat_foreign_storage */
    bool has_host; /* lies behind a handle, in its block */
    leat_alloc *alloc;
    size_t block_size;
    uint8_t *memory;
    uint64_t size; /* atomic: who owns the tail may grow it in place while others look */
} leat_storage;

typedef struct leat_foreign_storage {
    leat_storage storage;
    leat_bytebuf_release_fn release;
    void *context;
} leat_foreign_storage;

/* Every composite has this flag, so that one test of the flags tells what is plain and unnoted. */
#define LEAT_BYTEBUF_PARTED 32

/** The cold half of every handle, right behind its hot line. */
typedef struct leat_handle {
    leat_bytebuf hot;
    struct leat_storage *storage; /* where the bytes live; NULL for a composite */
    uint64_t floor;               /* lowest index that this handle may change; atomic while others hold references */
    uint64_t max_capacity;
    leat_alloc *alloc;
    size_t block_size; /* 0 = its block is that of the storage behind it */
} leat_handle;

_Static_assert(sizeof(leat_bytebuf) == 64, "a handle is one cache line");
_Static_assert(offsetof(leat_handle, hot) == 0, "a handle begins with its hot line");

/** Gives the writable view of a handle that is only looked at: caches move although nothing else changes. */
static inline leat_handle *leat_handle_of(const leat_bytebuf *buf) {
    return (leat_handle *)(uintptr_t)buf;
}

static inline bool leat_bytebuf_is_composite(const leat_bytebuf *buf) {
    return buf->kind == LEAT_BYTEBUF_COMPOSITE;
}

static inline uint64_t leat_floor_of(const leat_bytebuf *buf) {
    return __atomic_load_n(&leat_handle_of(buf)->floor, __ATOMIC_RELAXED);
}

static inline uint64_t leat_bytebuf_min(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static inline uint64_t leat_bytebuf_max(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/** Counts payload bytes that a buffer copied. */
static inline void leat_count_copied(leat_alloc *alloc, uint64_t n) {
    if (alloc->stats)
        alloc->stats->copied += n;
}

static inline void leat_count_growth(leat_alloc *alloc) {
    if (alloc->stats)
        alloc->stats->growths++;
}

/** Tells the ledger of a handle what happened. */
void leat_handle_note(const leat_bytebuf *buf, leat_alloc_event what, const char *where);

/** Says in a fresh handle that its allocator keeps a ledger, and tells that it was made by `where`. */
void leat_handle_begin_ledger(leat_handle *handle, const char *where);

/** Prepares the fields of a fresh handle and tells the ledger that it was made by `where`. */
static inline void leat_handle_init(leat_handle *handle, leat_alloc *alloc, uint8_t kind, const char *where) {
    memset(&handle->hot, 0, sizeof handle->hot);
    handle->hot.refs = 1;
    handle->hot.kind = kind;
    handle->storage = NULL;
    handle->floor = 0;
    handle->max_capacity = LEAT_BYTEBUF_UNBOUNDED;
    handle->alloc = alloc;
    handle->block_size = 0;
    if (alloc->ops->note)
        leat_handle_begin_ledger(handle, where);
}

/**
 * Adds a reference to a buffer that may lie where several threads look at once, as a component of a shared composite
 * does: its one reference is not the caller's own.
 */
leat_bytebuf *leat_bytebuf_retain_inside(leat_bytebuf *buf, const char *where);

/** Tells the ledger of a dead handle that `where` used it; returns false. */
bool leat_bytebuf_report_dead(const leat_bytebuf *buf, const char *where);

/** Says whether a handle is alive; a dead one, of which only a ledger still has the memory, is reported. */
static inline bool leat_bytebuf_is_alive(const leat_bytebuf *buf, const char *where) {
    return __atomic_load_n(&buf->refs, __ATOMIC_RELAXED) > 0 || leat_bytebuf_report_dead(buf, where);
}

/** Says whether `where` may move indices: one reference. Reports a dead handle to the ledger. */
bool leat_bytebuf_may_move(const leat_bytebuf *buf, const char *where);

/** The storage that a handle was born with, or NULL. */
static inline leat_storage *leat_home_of(const leat_handle *handle) {
    return handle->block_size == 0 ? (leat_storage *)(uintptr_t)(handle + 1) : NULL;
}

static inline leat_storage *leat_storage_of(const leat_bytebuf *buf) {
    return leat_handle_of(buf)->storage;
}

/** Lets relative reads of the only reference go up to the end of the window, if the reader lies in it. */
static inline void leat_bytebuf_open_reading(leat_bytebuf *buf) {
    bool covered = buf->reader >= buf->begin && buf->reader < buf->end;
    buf->read_limit = covered ? leat_bytebuf_min(buf->end, buf->writer) : 0;
}

/** Recomputes both limits of a plain handle with one reference: its writer or floor moved, or others held it. */
void leat_bytebuf_refresh_limits(leat_bytebuf *buf);

/** Raises the floor: everything below `index` is shared from now on. Safe while others hold references. */
void leat_bytebuf_share_below(leat_bytebuf *buf, uint64_t index);

/** Makes a handle on `n` bytes at `bytes` of `storage` (which counts it); its floor is `floor`. NULL = no memory. */
leat_bytebuf *leat_bytebuf_view(leat_alloc *alloc, leat_storage *storage, uint8_t *bytes, uint64_t n, uint64_t floor,
                                const char *where);

/** Slices [index, index + n) of a plain handle without asking where its writer is. */
leat_bytebuf *leat_bytebuf_slice_range(leat_bytebuf *buf, uint64_t index, uint64_t n, leat_alloc *alloc);

/** Gives [index, index + n) of a plain handle away; exclusive as far as the handle had it to itself. */
leat_bytebuf *leat_bytebuf_split_range(leat_bytebuf *buf, uint64_t index, uint64_t n, leat_alloc *alloc);

/** Returns the block that a storage lies in. */
static inline void *leat_storage_block(leat_storage *storage) {
    return storage->has_host ? (uint8_t *)storage - sizeof(leat_handle) : (uint8_t *)storage;
}

/** Gives one handle's count of the storage back. */
void leat_storage_drop(leat_storage *storage);

/** Says whether nobody else can see the storage of a plain handle. */
bool leat_storage_is_sole(const leat_storage *storage);

/** Returns the address of `index` and how many bytes are contiguous from there; NULL and 0 = out of range. */
const uint8_t *leat_bytebuf_at(const leat_bytebuf *buf, uint64_t index, uint64_t *have);

/** The same for bytes that the caller wants to change; NULL = shared or out of range. */
uint8_t *leat_bytebuf_change_at(leat_bytebuf *buf, uint64_t index, uint64_t *have);

/** Says whether every byte of [index, index + n) may be changed. */
bool leat_bytebuf_may_change(leat_bytebuf *buf, uint64_t index, uint64_t n);

/**
 * Makes room for `n` bytes, as leat_bytebuf_reserve does. `*data` (NULL if there is none) is where they come from:
 * elsewhere afterwards if it lay in the buffer's own bytes and they moved.
 */
int leat_bytebuf_reserve_from(leat_bytebuf *buf, const void **data, uint64_t n);

/** Copies `n` bytes from `index` on, which the caller has checked. */
void leat_bytebuf_copy_out(const leat_bytebuf *buf, uint64_t index, void *out, uint64_t n);

#endif
