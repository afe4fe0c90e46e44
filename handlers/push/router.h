/** Round robin: each chunk goes to one destination, the next one in turn. Costs the chunks, not the destinations. */
#ifndef LEAT_HANDLERS_PUSH_ROUTER_H
#define LEAT_HANDLERS_PUSH_ROUTER_H

#include "core/alloc.h"

LEAT_BEGIN_DECLS

/** Where in the router a destination is: kept by the router in memory of the destination. */
typedef struct leat_push_router_entry {
    void *destination;
    size_t *place;
} leat_push_router_entry;

/** How a router chooses where a call begins; zero it for the defaults. */
typedef struct leat_push_router_options {
    bool random_start; /**< begin each call at a random destination instead of behind the last one */
    uint64_t seed;     /**< of the random numbers for that */
} leat_push_router_options;

/** A router; embed it. Fields belong to it. */
typedef struct leat_push_router {
    leat_push_router_entry *entries;
    size_t count, room;
    size_t cursor;
    void **list;
    size_t list_room;
    leat_alloc *alloc;
    uint64_t random;
    bool random_start;
} leat_push_router;

/** What a routing call does with its chunks. Neither entry may add or remove destinations. */
typedef struct leat_push_routing {
    /** NULL = all are accepted; or tells whether the destination wants the chunk: if not, the chunk is dropped. */
    bool (*accepts)(void *context, void *destination, void *chunk);
    /** Is given all accepted chunks of one destination, in their order, at least one; the list is valid inside only. */
    void (*write)(void *context, void *destination, void *const *chunks, size_t count);
    void *context;
} leat_push_routing;

/** Initialises an empty router; `options` may be NULL. */
LEAT_API void leat_push_router_init(leat_push_router *router, leat_alloc *alloc,
                                    const leat_push_router_options *options);

/** Frees what the router holds; the destinations stay the caller's. */
LEAT_API void leat_push_router_clean_up(leat_push_router *router);

/**
 * Adds a destination; `*place` is its index from now on, kept right by the router until the destination is removed.
 * Returns 0, or LEAT_ENOMEM and nothing changed.
 */
LEAT_API int leat_push_router_add(leat_push_router *router, void *destination, size_t *place);

/** Removes the destination at `place`; costs the same however many there are, and leaves the others' turns as they
 * were. */
LEAT_API void leat_push_router_remove(leat_push_router *router, size_t place);

/** Returns how many destinations there are. */
static inline size_t leat_push_router_size(const leat_push_router *router) {
    return router->count;
}

/** Returns the destination at `place`, 0 <= place < size. */
static inline void *leat_push_router_at(const leat_push_router *router, size_t place) {
    return router->entries[place].destination;
}

/**
 * Deals `count` chunks out, one to each destination in turn, accepted or not; then calls `write` once for each
 * destination that accepted any, at most min(size, count) times. No chunks (`chunks` may be NULL) or no destinations:
 * nothing happens. Returns 0, or LEAT_ENOMEM and nothing was written: room for one destination's list is all it
 * allocates, and keeps.
 */
LEAT_API int leat_push_router_route(leat_push_router *router, void *const *chunks, size_t count,
                                    const leat_push_routing *routing);

LEAT_END_DECLS

#endif
