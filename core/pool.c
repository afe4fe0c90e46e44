/* What runs for every block: lending and taking back, on the thread that the pool belongs to and on others. */
#include "core/pool_internal.h"

/* The address of a thread's own variable tells threads apart without a call. */
static const void *this_thread(void) {
    static _Thread_local char mark __attribute__((tls_model("initial-exec")));
    return &mark;
}

static leat_pool *pool_of(leat_alloc *alloc) {
    return (leat_pool *)alloc;
}

static bool is_mine(const leat_pool *pool) {
    return __atomic_load_n(&pool->owner, __ATOMIC_RELAXED) == this_thread();
}

static bool is_kept(const leat_pool *pool, size_t size) {
    return size < pool->end;
}

/* The whole block is usable to who asks for its usable size; else what was not asked for is nobody's. */
static void unpoison_asked(void *block, size_t held, size_t size, const size_t *usable) {
    leat_unpoison(block, held);
    if (!usable)
        leat_poison((char *)block + size, held - size);
}

static inline void *hand_out(const leat_pool *pool, void *block, size_t held, size_t size, size_t *usable) {
    if (usable)
        *usable = held;
    if (pool->watched && block)
        unpoison_asked(block, held, size, usable);
    return block;
}

/* ---- lending ---- */

static void *take_kept(leat_pool *pool, pool_class *of) {
    pool_block *block = of->first;
    pool_show_link(pool, block);
    of->first = block->next;
    if (--of->count < of->unneeded)
        of->unneeded = of->count;
    pool->cached -= of->size;
    return block;
}

/* Takes what other threads released, in one go. */
static void take_off(leat_pool *pool, pool_class *of) {
    pool_block **back = &pool->back[of - pool->classes];
    of->lent = 0;
    if (__atomic_load_n(back, __ATOMIC_RELAXED))
        of->came_back = __atomic_exchange_n(back, NULL, __ATOMIC_ACQUIRE);
}

/* The next one is fetched while this one is used: another thread had it last. */
static void *take_what_came_back(leat_pool *pool, pool_class *of) {
    pool_block *block = of->came_back;
    if (!block)
        return NULL;
    of->came_back = block->next;
    __builtin_prefetch(of->came_back, 1);
    __builtin_prefetch((const void *)((uintptr_t)of->came_back + 64), 1); /* a handle and its storage have two lines */
    pool->returned++;
    return block;
}

static void *take_or_drain(leat_pool *pool, size_t size, size_t *usable) {
    pool->misses++;
    void *block = leat_pool_take_from_inner(pool, size, usable);
    if (!block && pool_holds_blocks(pool)) {
        leat_pool_drain(pool);
        block = leat_pool_take_from_inner(pool, size, usable);
    }
    return block ? block : leat_pool_refuse(pool);
}

/* A thread that releases as fast as this one takes would hand over the list block by block, each a line that travels
   twice: with a few blocks more under way it is taken off once for many. */
static void *wait_for_batch(leat_pool *pool, const pool_class *of) {
    if (of->lent >= pool_batch_of(of) || !__atomic_load_n(&pool->sent, __ATOMIC_RELAXED))
        return NULL;
    void *block = leat_pool_take_from_inner(pool, of->size, NULL);
    if (block)
        pool->misses++;
    return block;
}

__attribute__((noinline)) static void *lend_new(leat_pool *pool, pool_class *of) {
    void *block = take_what_came_back(pool, of);
    if (!block)
        block = wait_for_batch(pool, of);
    if (!block) {
        take_off(pool, of);
        block = take_what_came_back(pool, of);
    }
    of->lent++;
    return block ? block : take_or_drain(pool, of->size, NULL);
}

static void *lend(leat_pool *pool, size_t size, size_t *usable) {
    pool_class *of = &pool->classes[pool_class_of(size)];
    void *block = of->first ? take_kept(pool, of) : lend_new(pool, of);
    if (block)
        pool->allocations++;
    return hand_out(pool, block, of->size, size, usable);
}

static void *lend_large(leat_pool *pool, size_t size, size_t *usable) {
    void *block = take_or_drain(pool, size, usable);
    if (block)
        pool->allocations++;
    return block;
}

static void *lend_elsewhere(leat_pool *pool, size_t size, size_t *usable) {
    bool kept = is_kept(pool, size);
    size_t held = kept ? pool_size_of_class(pool_class_of(size)) : size;
    void *block = leat_pool_take_from_inner(pool, held, kept ? NULL : usable);
    if (!block)
        return leat_pool_refuse(pool);
    __atomic_fetch_add(&pool->foreign, 1, __ATOMIC_RELAXED);
    return kept ? hand_out(pool, block, held, size, usable) : block;
}

__attribute__((noinline)) static void *allocate_slowly(leat_pool *pool, size_t size, size_t *usable) {
    if (!is_mine(pool))
        return lend_elsewhere(pool, size, usable);
    return is_kept(pool, size) ? lend(pool, size, usable) : lend_large(pool, size, usable);
}

/* Says whether nothing but its own lists has to do with a block of that size. */
static inline bool is_simple(const leat_pool *pool, size_t size) {
    return is_mine(pool) && is_kept(pool, size) && !pool->watched;
}

/* What happens nearly always needs no frame and no call. */
static void *allocate(leat_alloc *alloc, size_t size, size_t *usable) {
    leat_pool *pool = pool_of(alloc);
    if (!is_simple(pool, size))
        return allocate_slowly(pool, size, usable);
    pool_class *of = &pool->classes[pool_class_of(size)];
    if (!of->first)
        return allocate_slowly(pool, size, usable);
    if (usable)
        *usable = of->size;
    pool->allocations++;
    return take_kept(pool, of);
}

/* ---- growing ---- */

static bool grow_large(leat_pool *pool, void *block, size_t old_usable, size_t size, size_t *usable) {
    if (size < old_usable || !leat_pool_reserve(pool, size - old_usable))
        return false;
    bool grew = pool->inner->ops->grow_in_place(pool->inner, block, old_usable, size, usable);
    uint64_t by = grew ? *usable - old_usable : 0;
    __atomic_fetch_add(&pool->reserved, by - (size - old_usable), __ATOMIC_RELAXED);
    return grew;
}

static bool grow_in_place(leat_alloc *alloc, void *block, size_t old_usable, size_t size, size_t *usable) {
    leat_pool *pool = pool_of(alloc);
    if (!is_kept(pool, old_usable))
        return grow_large(pool, block, old_usable, size, usable);
    size_t held = pool_size_of_class(pool_class_of(old_usable));
    if (size > held)
        return false;
    if (pool->watched)
        leat_unpoison((char *)block + old_usable, held - old_usable);
    *usable = held;
    return true;
}

/* ---- taking back ---- */

static void poison_all_but_link(leat_pool *pool, pool_block *block, size_t size) {
    if (!pool->watched)
        return;
    leat_poison(block, size);
    leat_unpoison(block, sizeof *block);
}

/* Once the block is in the list, the pool is no longer ours to look at. */
static void send_back(leat_pool *pool, void *released, unsigned index) {
    pool_block *block = released;
    poison_all_but_link(pool, block, pool_size_of_class(index));
    if (!__atomic_load_n(&pool->sent, __ATOMIC_RELAXED))
        __atomic_store_n(&pool->sent, true, __ATOMIC_RELAXED);
    pool_block *first = __atomic_load_n(&pool->back[index], __ATOMIC_RELAXED);
    do {
        if (first == &pool->closed) {
            leat_pool_give_to_inner(pool, block, pool_size_of_class(index));
            return;
        }
        block->next = first;
    } while (!__atomic_compare_exchange_n(&pool->back[index], &first, block, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

__attribute__((noinline)) static void release_slowly(leat_pool *pool, void *block, size_t usable) {
    if (!is_kept(pool, usable)) {
        leat_pool_give_to_inner(pool, block, usable);
        return;
    }
    unsigned index = pool_class_of(usable);
    if (is_mine(pool))
        pool_keep(pool, block, &pool->classes[index]);
    else
        send_back(pool, block, index);
}

static void release(leat_alloc *alloc, void *block, size_t usable) {
    leat_pool *pool = pool_of(alloc);
    if (!is_simple(pool, usable) || pool->cached + usable > pool->most_cached)
        release_slowly(pool, block, usable);
    else
        pool_push(pool, block, &pool->classes[pool_class_of(usable)]);
}

/* ---- life ---- */

static void note(leat_alloc *alloc, const void *buffer, leat_alloc_event what, const char *where) {
    leat_alloc *inner = pool_of(alloc)->inner;
    inner->ops->note(inner, buffer, what, where);
}

static uint64_t or_else(uint64_t chosen, uint64_t otherwise) {
    return chosen ? chosen : otherwise;
}

static void set_limits(leat_pool *pool, const leat_pool_limits *limits) {
    uint64_t largest = or_else(limits->largest, 8 << 20);
    if (largest > POOL_LARGEST_EVER)
        largest = POOL_LARGEST_EVER;
    pool->end = pool_size_of_class(pool_class_of((size_t)largest)) + 1;
    pool->most_cached = or_else(limits->most_cached, 64 << 20);
    pool->most_reserved = or_else(limits->most_reserved, UINT64_C(8) << 30);
    pool->step = or_else(limits->trim_age, UINT64_C(10000000000)) / POOL_STEPS_OF_AGE;
    for (unsigned i = 0; i < POOL_CLASSES; i++)
        pool->classes[i].size = (uint32_t)pool_size_of_class(i);
}

leat_pool *leat_pool_new(leat_alloc *inner, const leat_pool_limits *limits) {
    static const leat_alloc_ops silent = {.allocate = allocate, .grow_in_place = grow_in_place, .release = release};
    static const leat_alloc_ops noting = {
        .allocate = allocate, .grow_in_place = grow_in_place, .release = release, .note = note};
    static const leat_pool_limits none = {0};
    if (!inner)
        inner = leat_unpooled();
    leat_pool *pool = leat_alloc_take_zeroed(inner, sizeof *pool);
    if (!pool)
        return NULL;
    pool->alloc = (leat_alloc){.ops = inner->ops->note ? &noting : &silent, .stats = inner->stats};
    pool->inner = inner;
    pool->owner = this_thread();
    pool->watched = leat_memory_is_watched();
    pool->blocks = pool->refs = 1;
    set_limits(pool, limits ? limits : &none);
    if (inner->ops->note)
        pool->end = 0;
    return pool;
}

leat_pool *leat_pool_retain(leat_pool *pool) {
    __atomic_fetch_add(&pool->refs, 1, __ATOMIC_RELAXED);
    return pool;
}

void leat_pool_release(leat_pool *pool) {
    if (!pool || __atomic_sub_fetch(&pool->refs, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    __atomic_store_n(&pool->owner, NULL, __ATOMIC_RELAXED);
    leat_pool_close(pool);
    leat_pool_count_down(pool);
}

leat_alloc *leat_pool_alloc(leat_pool *pool) {
    return &pool->alloc;
}

void leat_pool_adopt(leat_pool *pool) {
    __atomic_store_n(&pool->owner, this_thread(), __ATOMIC_RELAXED);
}
