/** What the files of the pool share: its layout and the classes of size. Not installed. */
#ifndef LEAT_CORE_POOL_INTERNAL_H
#define LEAT_CORE_POOL_INTERNAL_H

#include "core/poison_internal.h"
#include "core/pool.h"

enum {
    POOL_SMALLEST = 64,          /* bytes of the first class */
    POOL_CLASSES = 81,           /* up to POOL_LARGEST_EVER */
    POOL_STEPS_OF_AGE = 4,       /* a block that two steps of trimming found unneeded goes */
    POOL_WORTH_A_CALL = 4 << 20, /* freed bytes after which the inner allocator is asked to give pages back */
    POOL_BATCH = 32,             /* blocks that should come back from other threads at once, if they are small */
    POOL_BATCH_BYTES = 64 << 10,
};
#define POOL_LARGEST_EVER ((uint64_t)64 << 20)

/** A block that is kept; the rest of it is poisoned. */
typedef struct pool_block {
    struct pool_block *next;
} pool_block;

/** The kept blocks of one size, the last one released first. */
typedef struct pool_class {
    pool_block *first;
    pool_block *came_back; /* from other threads, not counted yet: lent when the list above is empty */
    uint32_t size;
    uint32_t count;
    uint32_t unneeded; /* the fewest there were since the last step of trimming */
    uint32_t lent;     /* without either list above, or from what came back, since it was taken off last */
} pool_class;

struct leat_pool {
    leat_alloc alloc;
    leat_alloc *inner;
    const void *owner; /* the mark of the thread that it belongs to; atomic */
    bool watched;      /* by a checker of memory */
    uint64_t end;      /* blocks of fewer bytes are kept; 0 = none */
    uint64_t most_cached;
    uint64_t most_reserved;

    /* What the owner writes for each block, apart from what other threads read for each. */
    char own[64];
    uint64_t cached; /* bytes */
    uint64_t allocations;
    uint64_t misses;
    uint64_t returned;
    uint64_t step; /* nanoseconds */
    uint64_t next_step;
    pool_class classes[POOL_CLASSES];

    /* What other threads write, apart from what the owner reads for each block. */
    char apart[64];
    pool_block *back[POOL_CLASSES]; /* blocks released elsewhere; &closed once the last reference went */
    bool sent;                      /* something is in these lists */
    uint64_t blocks;                /* 1 for the references, 1 for each block from the inner allocator */
    uint64_t reserved;              /* bytes from the inner allocator */
    uint64_t refused;
    uint64_t foreign; /* blocks lent to other threads */
    uint32_t refs;
    pool_block closed;
};

/** The class whose blocks hold `size` bytes: sizes are 64, 80, 96, 112, 128, 160, ... */
static inline unsigned pool_class_of(size_t size) {
    if (size <= POOL_SMALLEST)
        return 0;
    uint64_t last = (uint64_t)size - 1;
    unsigned doubling = 63u - (unsigned)__builtin_clzll(last);
    return (doubling - 6) * 4 + (unsigned)((last >> (doubling - 2)) & 3) + 1;
}

static inline size_t pool_size_of_class(unsigned index) {
    if (index == 0)
        return POOL_SMALLEST;
    size_t quarter = (size_t)16 << ((index - 1) / 4);
    return quarter * (5 + (index - 1) % 4);
}

/** How many blocks of a class should come back from other threads before they are taken off their list. */
static inline uint32_t pool_batch_of(const pool_class *of) {
    uint32_t fits = POOL_BATCH_BYTES / of->size;
    return fits < POOL_BATCH ? fits : POOL_BATCH;
}

/** Makes the link of a kept block readable; the rest stays poisoned. */
static inline void pool_show_link(const leat_pool *pool, pool_block *block) {
    if (pool->watched)
        leat_unpoison_as_it_is(block, sizeof *block);
}

/** Says whether something is kept, or came back from other threads and is not counted yet. */
static inline bool pool_holds_blocks(const leat_pool *pool) {
    return pool->cached > 0 || __atomic_load_n(&pool->sent, __ATOMIC_RELAXED);
}

/** Takes a block from the inner allocator if the budget allows it; `usable` may be NULL. Any thread. */
void *leat_pool_take_from_inner(leat_pool *pool, size_t size, size_t *usable);

/** Counts that a block was refused for good; returns NULL. Any thread. */
void *leat_pool_refuse(leat_pool *pool);

/** Gives a block back to the inner allocator; the pool may be gone afterwards. Any thread. */
void leat_pool_give_to_inner(leat_pool *pool, void *block, size_t size);

/** Counts bytes that a block of the inner allocator grows by; false = beyond the budget. Any thread. */
bool leat_pool_reserve(leat_pool *pool, uint64_t bytes);

/** Frees the pool once neither a reference nor a block is left. */
void leat_pool_count_down(leat_pool *pool);

/** Ends the keeping of blocks: what is released from now on goes to the inner allocator. */
void leat_pool_close(leat_pool *pool);

/** Puts a block into its class. */
static inline void pool_push(leat_pool *pool, pool_block *block, pool_class *of) {
    block->next = of->first;
    of->first = block;
    of->count++;
    pool->cached += of->size;
}

/** Puts a block into its class, or gives it to the inner allocator when enough is kept. */
static inline void pool_keep(leat_pool *pool, void *released, pool_class *of) {
    pool_block *block = released;
    if (pool->cached + of->size > pool->most_cached) {
        leat_pool_give_to_inner(pool, block, of->size);
        return;
    }
    pool_show_link(pool, block);
    pool_push(pool, block, of);
    if (pool->watched)
        leat_poison(block, of->size);
}

#endif
