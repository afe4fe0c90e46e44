/* What a pool keeps: the lists of its classes, what comes back from other threads, budget, trimming, statistics. */
#include "core/pool_internal.h"

/* ---- the inner allocator ---- */

bool leat_pool_reserve(leat_pool *pool, uint64_t bytes) {
    uint64_t before = __atomic_fetch_add(&pool->reserved, bytes, __ATOMIC_RELAXED);
    if (before <= pool->most_reserved && bytes <= pool->most_reserved - before)
        return true;
    __atomic_fetch_sub(&pool->reserved, bytes, __ATOMIC_RELAXED);
    return false;
}

void *leat_pool_refuse(leat_pool *pool) {
    __atomic_fetch_add(&pool->refused, 1, __ATOMIC_RELAXED);
    return NULL;
}

void *leat_pool_take_from_inner(leat_pool *pool, size_t size, size_t *usable) {
    if (!leat_pool_reserve(pool, size))
        return NULL;
    void *block = leat_alloc_take(pool->inner, size, usable);
    if (!block) {
        __atomic_fetch_sub(&pool->reserved, size, __ATOMIC_RELAXED);
        return NULL;
    }
    if (usable)
        __atomic_fetch_add(&pool->reserved, *usable - size, __ATOMIC_RELAXED);
    __atomic_fetch_add(&pool->blocks, 1, __ATOMIC_RELAXED);
    return block;
}

void leat_pool_count_down(leat_pool *pool) {
    if (__atomic_sub_fetch(&pool->blocks, 1, __ATOMIC_ACQ_REL) == 0)
        leat_alloc_give(pool->inner, pool, sizeof *pool);
}

void leat_pool_give_to_inner(leat_pool *pool, void *block, size_t size) {
    if (pool->watched)
        leat_unpoison(block, size);
    leat_alloc_give(pool->inner, block, size);
    __atomic_fetch_sub(&pool->reserved, size, __ATOMIC_RELAXED);
    leat_pool_count_down(pool);
}

/* ---- classes ---- */

/* The list of a block that is kept: readable only for who looks at it. */
static pool_block *next_of(const leat_pool *pool, pool_block *block) {
    if (!pool->watched)
        return block->next;
    leat_unpoison_as_it_is(block, sizeof *block);
    pool_block *next = block->next;
    leat_poison(block, sizeof *block);
    return next;
}

static void end_after(const leat_pool *pool, pool_block *block) {
    if (pool->watched)
        leat_unpoison(block, sizeof *block);
    block->next = NULL;
    if (pool->watched)
        leat_poison(block, sizeof *block);
}

/* Cuts the list behind the `left` blocks that were kept last and returns the others. */
static pool_block *cut(leat_pool *pool, pool_class *of, uint32_t left) {
    pool_block *rest = of->first, *last = NULL;
    for (uint32_t i = 0; i < left; i++) {
        last = rest;
        rest = next_of(pool, rest);
    }
    if (last)
        end_after(pool, last);
    else
        of->first = NULL;
    return rest;
}

static void shrink(leat_pool *pool, pool_class *of, uint32_t left) {
    if (of->count <= left)
        return;
    pool_block *block = cut(pool, of, left);
    pool->cached -= (of->count - left) * (uint64_t)of->size;
    of->count = left;
    while (block) {
        pool_block *next = next_of(pool, block);
        leat_pool_give_to_inner(pool, block, of->size);
        block = next;
    }
}

/* ---- from other threads ---- */

/* What came back is counted, and kept as far as the limit allows. */
static void count_came_back(leat_pool *pool, pool_class *of) {
    while (of->came_back) {
        pool_block *block = of->came_back;
        of->came_back = block->next;
        pool->returned++;
        pool_keep(pool, block, of);
    }
}

static void take_all_back(leat_pool *pool) {
    bool sent = __atomic_exchange_n(&pool->sent, false, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < POOL_CLASSES; i++) {
        count_came_back(pool, &pool->classes[i]);
        if (sent)
            pool->classes[i].came_back = __atomic_exchange_n(&pool->back[i], NULL, __ATOMIC_ACQUIRE);
        count_came_back(pool, &pool->classes[i]);
    }
}

static void drain_kept(leat_pool *pool) {
    for (unsigned i = 0; i < POOL_CLASSES; i++) {
        shrink(pool, &pool->classes[i], 0);
        pool->classes[i].unneeded = 0;
    }
}

void leat_pool_drain(leat_pool *pool) {
    take_all_back(pool);
    drain_kept(pool);
}

static void close_class(leat_pool *pool, unsigned index) {
    count_came_back(pool, &pool->classes[index]);
    pool_block *block = __atomic_exchange_n(&pool->back[index], &pool->closed, __ATOMIC_ACQ_REL);
    while (block) {
        pool_block *next = block->next;
        leat_pool_give_to_inner(pool, block, pool->classes[index].size);
        block = next;
    }
}

void leat_pool_close(leat_pool *pool) {
    for (unsigned i = 0; i < POOL_CLASSES; i++)
        close_class(pool, i);
    drain_kept(pool);
}

/* ---- trimming ---- */

/* What nobody needed since the step before goes. */
static void trim_class(leat_pool *pool, pool_class *of) {
    shrink(pool, of, of->count - of->unneeded);
    of->unneeded = of->count;
}

void leat_pool_trim(leat_pool *pool, uint64_t now) {
    if (now < pool->next_step)
        return;
    pool->next_step = now + pool->step;
    take_all_back(pool);
    uint64_t before = pool->cached;
    for (unsigned i = 0; i < POOL_CLASSES; i++)
        trim_class(pool, &pool->classes[i]);
    if (before - pool->cached >= POOL_WORTH_A_CALL && pool->inner->ops->trim)
        pool->inner->ops->trim(pool->inner);
}

uint64_t leat_pool_next_trim(const leat_pool *pool) {
    return pool_holds_blocks(pool) ? pool->next_step : UINT64_MAX;
}

static uint64_t count_kept(const leat_pool *pool) {
    uint64_t count = 0;
    for (unsigned i = 0; i < POOL_CLASSES; i++)
        count += pool->classes[i].count;
    return count;
}

leat_pool_stats leat_pool_statistics(leat_pool *pool) {
    take_all_back(pool);
    uint64_t reserved = __atomic_load_n(&pool->reserved, __ATOMIC_RELAXED);
    uint64_t foreign = __atomic_load_n(&pool->foreign, __ATOMIC_RELAXED);
    uint64_t cached = count_kept(pool);
    return (leat_pool_stats){.allocations = pool->allocations + foreign,
                             .misses = pool->misses + foreign,
                             .refused = __atomic_load_n(&pool->refused, __ATOMIC_RELAXED),
                             .returned = pool->returned,
                             .live = __atomic_load_n(&pool->blocks, __ATOMIC_RELAXED) - 1 - cached,
                             .live_bytes = reserved - pool->cached,
                             .cached = cached,
                             .cached_bytes = pool->cached,
                             .reserved_bytes = reserved};
}
