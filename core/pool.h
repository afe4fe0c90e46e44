/** Pools: allocators that keep released blocks for the next one who asks, each with a thread that it belongs to. */
#ifndef LEAT_CORE_POOL_H
#define LEAT_CORE_POOL_H

#include "core/alloc.h"

LEAT_BEGIN_DECLS

/** How much a pool may hold. 0 = the default. */
typedef struct leat_pool_limits {
    uint64_t
        most_reserved; /**< bytes taken from the inner allocator, lent and kept; beyond it blocks are refused; 8 GiB */
    uint64_t most_cached; /**< bytes kept for the next one who asks; beyond it blocks go back at once; 64 MiB */
    uint64_t largest;     /**< larger blocks are never kept; 8 MiB, at most 64 MiB */
    uint64_t trim_age;    /**< nanoseconds that a block is kept without being needed; 10 s */
} leat_pool_limits;

/** What a pool holds. Sizes are in bytes, of whole blocks. */
typedef struct leat_pool_stats {
    uint64_t allocations;    /**< blocks ever lent */
    uint64_t misses;         /**< of these, blocks that came from the inner allocator */
    uint64_t refused;        /**< blocks that the budget or the inner allocator refused */
    uint64_t returned;       /**< blocks that came back from other threads */
    uint64_t live;           /**< blocks lent now */
    uint64_t live_bytes;     /**< bytes lent now */
    uint64_t cached;         /**< blocks kept */
    uint64_t cached_bytes;   /**< bytes kept */
    uint64_t reserved_bytes; /**< live_bytes + cached_bytes: what the inner allocator is asked for */
} leat_pool_stats;

/**
 * A pool keeps released blocks by size: four sizes for each doubling, so that a block is at most a quarter (or, below
 * 64 bytes, 64 bytes) larger than what was asked for; the block released last is the next one lent. It belongs to one
 * thread, whose allocations and releases take no lock and no atomic instruction; blocks may be made and released on any
 * other thread too: what is released elsewhere comes back by a lock-free list, and counts as kept, within most_cached,
 * from the next step of trimming on.
 */
typedef struct leat_pool leat_pool;

/**
 * Makes a pool over `inner`, which must serve any thread and outlive the pool's last block (NULL = leat_unpooled). It
 * belongs to the calling thread. `limits` may be NULL. Over an allocator with a ledger it keeps nothing, so that the
 * ledger stays exact. NULL = no memory. The caller owns a reference.
 */
LEAT_API leat_pool *leat_pool_new(leat_alloc *inner, const leat_pool_limits *limits);

/** Adds a reference and returns `pool`. Any thread. */
LEAT_API leat_pool *leat_pool_retain(leat_pool *pool);

/**
 * Gives a reference back; NULL is fine. The last one frees what is kept; blocks that are still lent stay valid, and the
 * pool's own memory goes with the last of them. Any thread, but the last one only when the thread that the pool belongs
 * to uses it no more.
 */
LEAT_API void leat_pool_release(leat_pool *pool);

/** Returns the allocator to hand to buffers. It is valid as long as a reference or a block is. */
LEAT_API leat_alloc *leat_pool_alloc(leat_pool *pool);

/** Makes the pool belong to the calling thread. The thread that it belonged to must not use it at the same time. */
LEAT_API void leat_pool_adopt(leat_pool *pool);

/**
 * Gives back blocks that were not needed for a while. `now` is any clock in nanoseconds that never goes back. Called at
 * least each quarter of `trim_age`, it frees a block at the latest `trim_age` after it was last needed; called more
 * often it only compares two numbers. On the thread that the pool belongs to.
 */
LEAT_API void leat_pool_trim(leat_pool *pool, uint64_t now);

/** Returns when leat_pool_trim has something to do next; UINT64_MAX = nothing is kept. On the pool's thread. */
LEAT_API uint64_t leat_pool_next_trim(const leat_pool *pool);

/** Gives back everything that is kept. On the pool's thread. */
LEAT_API void leat_pool_drain(leat_pool *pool);

/** Returns what the pool holds, with what came back from other threads taken in. On the pool's thread. */
LEAT_API leat_pool_stats leat_pool_statistics(leat_pool *pool);

LEAT_END_DECLS

#endif
