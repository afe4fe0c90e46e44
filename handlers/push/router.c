#include "handlers/push/router.h"

#include <string.h>

/* A step of SplitMix64: a different number each time, evenly spread. */
static uint64_t next_random(leat_push_router *router) {
    uint64_t mixed = router->random += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

void leat_push_router_init(leat_push_router *router, leat_alloc *alloc, const leat_push_router_options *options) {
    memset(router, 0, sizeof *router);
    router->alloc = alloc;
    if (options) {
        router->random = options->seed;
        router->random_start = options->random_start;
    }
}

void leat_push_router_clean_up(leat_push_router *router) {
    leat_alloc_give(router->alloc, router->entries, router->room * sizeof *router->entries);
    leat_alloc_give(router->alloc, router->list, router->list_room * sizeof *router->list);
    memset(router, 0, sizeof *router);
}

static int make_room(leat_push_router *router) {
    size_t room = router->room ? router->room * 2 : 4;
    leat_push_router_entry *entries = leat_alloc_take(router->alloc, room * sizeof *entries, NULL);
    if (!entries)
        return LEAT_ENOMEM;
    if (router->count)
        memcpy(entries, router->entries, router->count * sizeof *entries);
    leat_alloc_give(router->alloc, router->entries, router->room * sizeof *router->entries);
    router->entries = entries;
    router->room = room;
    return 0;
}

static void put(leat_push_router *router, size_t place, leat_push_router_entry entry) {
    router->entries[place] = entry;
    *entry.place = place;
}

int leat_push_router_add(leat_push_router *router, void *destination, size_t *place) {
    if (router->count == router->room && make_room(router) != 0)
        return LEAT_ENOMEM;
    put(router, router->count++, (leat_push_router_entry){destination, place});
    return 0;
}

/* Those before the cursor had their turn in this round, the others have not: both stay true for all that stay. */
void leat_push_router_remove(leat_push_router *router, size_t place) {
    size_t hole = place;
    if (hole < router->cursor) {
        router->cursor--;
        put(router, hole, router->entries[router->cursor]);
        hole = router->cursor;
    }
    router->count--;
    if (hole != router->count)
        put(router, hole, router->entries[router->count]);
    if (router->cursor >= router->count)
        router->cursor = 0;
}

static int reserve_list(leat_push_router *router, size_t length) {
    if (length <= router->list_room)
        return 0;
    void **list = leat_alloc_take(router->alloc, length * sizeof *list, NULL);
    if (!list)
        return LEAT_ENOMEM;
    leat_alloc_give(router->alloc, router->list, router->list_room * sizeof *router->list);
    router->list = list;
    router->list_room = length;
    return 0;
}

/* A random begin costs a number a call; a cursor costs nothing and leaves no destination behind. */
static size_t begin_at(leat_push_router *router) {
    if (router->random_start)
        router->cursor = (size_t)(((next_random(router) >> 32) * (uint64_t)router->count) >> 32);
    return router->cursor;
}

static size_t next_place(size_t place, size_t size) {
    return place + 1 == size ? 0 : place + 1;
}

/* Each destination gets the chunk at its place in the list. */
static void deal_row(const leat_push_router *router, size_t place, void *const *chunks, size_t count,
                     leat_push_routing routing) {
    for (size_t i = 0; i < count; i++)
        routing.write(routing.context, router->entries[place + i].destination, &chunks[i], 1);
}

/* At most one chunk each, none refused: the chunks themselves are the lists. */
static void deal_one_each(leat_push_router *router, void *const *chunks, size_t count, leat_push_routing routing) {
    size_t place = begin_at(router), to_end = router->count - place;
    size_t first = count < to_end ? count : to_end, rest = count - first;
    deal_row(router, place, chunks, first, routing);
    deal_row(router, 0, chunks + first, rest, routing);
    router->cursor = count < to_end ? place + count : rest;
}

/* Every `step`th chunk is for this destination. */
static void deal_to(void *destination, void *const *chunks, size_t count, size_t step, void **list,
                    const leat_push_routing *routing) {
    size_t length = 0;
    for (size_t i = 0; i < count; i += step)
        if (!routing->accepts || routing->accepts(routing->context, destination, chunks[i]))
            list[length++] = chunks[i];
    if (length)
        routing->write(routing->context, destination, list, length);
}

/* Everybody gets `rounds` chunks, the first `more` destinations one more. */
static void deal_lists(leat_push_router *router, void *const *chunks, size_t rounds, size_t more,
                       leat_push_routing routing) {
    size_t size = router->count, count = rounds * size + more, touched = rounds ? size : more;
    size_t begin = begin_at(router), place = begin;
    for (size_t i = 0; i < touched; i++) {
        deal_to(router->entries[place].destination, chunks + i, count - i, size, router->list, &routing);
        place = next_place(place, size);
    }
    router->cursor = begin + more < size ? begin + more : begin + more - size;
}

int leat_push_router_route(leat_push_router *router, void *const *chunks, size_t count,
                           const leat_push_routing *routing) {
    if (!chunks || count == 0 || router->count == 0)
        return 0;
    if (count <= router->count && !routing->accepts) {
        deal_one_each(router, chunks, count, *routing);
        return 0;
    }
    size_t rounds = count / router->count;
    if (reserve_list(router, rounds + 1) != 0)
        return LEAT_ENOMEM;
    deal_lists(router, chunks, rounds, count % router->count, *routing);
    return 0;
}
