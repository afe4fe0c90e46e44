#include "core/embedded_internal.h"

#include <string.h>

/* More rounds than this are a pipeline that feeds itself for ever. */
enum { MOST_ROUNDS = 100000 };

bool leat_items_add(leat_alloc *alloc, item_list *list, const void *items, size_t item_size, size_t count) {
    if (list->first + list->count + count > list->room) {
        size_t room = 2 * (list->count + count) + 8;
        uint8_t *more = leat_alloc_take(alloc, room * item_size, NULL);
        if (!more)
            return false;
        if (list->count > 0)
            memcpy(more, list->items + list->first * item_size, list->count * item_size);
        leat_alloc_give(alloc, list->items, list->room * item_size);
        *list = (item_list){.items = more, .size = item_size, .count = list->count, .room = room};
    }
    if (count > 0)
        memcpy(list->items + (list->first + list->count) * item_size, items, count * item_size);
    list->count += count;
    return true;
}

bool leat_items_take(item_list *list, void *item, size_t item_size) {
    if (list->count == 0)
        return false;
    memcpy(item, list->items + list->first * item_size, item_size);
    list->first++;
    list->count--;
    return true;
}

void leat_items_clean_up(leat_alloc *alloc, item_list *list) {
    leat_alloc_give(alloc, list->items, list->room * list->size);
    *list = (item_list){0};
}

static uint64_t virtual_now(leat_loop *loop) {
    return ((virtual_loop *)loop)->clock;
}

/* Nothing comes from outside: the clock goes to the deadline, or the loop has nothing more to do. */
static int virtual_wait(leat_loop *loop, uint64_t deadline) {
    virtual_loop *self = (virtual_loop *)loop;
    if (deadline == UINT64_MAX)
        return LEAT_EEOF;
    if (deadline > self->clock)
        self->clock = deadline;
    leat_virtual_loop_settle(self);
    return LEAT_OK;
}

static void virtual_wake(leat_loop *loop) {
    (void)loop;
}

static void virtual_destroy(leat_loop *loop) {
    leat_alloc_give(((virtual_loop *)loop)->alloc, loop, sizeof(virtual_loop));
}

static const leat_loop_ops virtual_ops = {
    .now = virtual_now, .wait = virtual_wait, .wake = virtual_wake, .destroy = virtual_destroy};

virtual_loop *leat_virtual_loop_new(leat_alloc *alloc, leat_tracking_alloc *tracker) {
    virtual_loop *loop = leat_alloc_take_zeroed(alloc, sizeof *loop);
    if (!loop)
        return NULL;
    loop->alloc = alloc;
    if (leat_loop_init(&loop->loop, &virtual_ops, alloc) != LEAT_OK) {
        leat_alloc_give(alloc, loop, sizeof *loop);
        return NULL;
    }
    loop->loop.tracker = tracker;
    if (tracker)
        loop->loop.alloc = leat_tracking_alloc_base(tracker);
    return loop;
}

static bool pump_all(virtual_loop *loop) {
    bool moved = false;
    for (leat_embedded *member = loop->members; member; member = member->next)
        moved = leat_embedded_pump(member) || moved;
    return moved;
}

static bool is_due(const virtual_loop *loop) {
    return leat_loop_deadline(&loop->loop) <= loop->clock;
}

void leat_virtual_loop_settle(virtual_loop *loop) {
    bool moved = true;
    for (int i = 0; moved && i < MOST_ROUNDS; i++) {
        moved = pump_all(loop);
        if (is_due(loop)) {
            leat_loop_run_due(&loop->loop);
            moved = true;
        }
    }
}

void leat_embedded_run(leat_embedded *embedded) {
    leat_virtual_loop_settle(embedded->loop);
}

void leat_embedded_advance(leat_embedded *embedded, uint64_t ms) {
    virtual_loop *loop = embedded->loop;
    uint64_t target = loop->clock + ms * 1000000;
    leat_virtual_loop_settle(loop);
    for (;;) {
        uint64_t deadline = leat_loop_deadline(&loop->loop);
        if (deadline > target)
            break;
        if (deadline > loop->clock)
            loop->clock = deadline;
        leat_virtual_loop_settle(loop);
    }
    loop->clock = target;
    leat_virtual_loop_settle(loop);
}
