/** Timers: a binary heap by deadline and arming order. A timer moved later stays where it is until it comes up. */
#include "core/channel_internal.h"

static bool before(const leat_timer *a, const leat_timer *b) {
    return a->queued_at != b->queued_at ? a->queued_at < b->queued_at : a->queued_order < b->queued_order;
}

static void put(leat_loop *loop, size_t index, leat_timer *timer) {
    loop->timers[index] = timer;
    timer->slot = index + 1;
}

static void sift_up(leat_loop *loop, size_t index, leat_timer *timer) {
    while (index > 0 && before(timer, loop->timers[(index - 1) / 2])) {
        put(loop, index, loop->timers[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    put(loop, index, timer);
}

static void sift_down(leat_loop *loop, size_t index, leat_timer *timer) {
    for (size_t child = 2 * index + 1; child < loop->timer_count; child = 2 * index + 1) {
        if (child + 1 < loop->timer_count && before(loop->timers[child + 1], loop->timers[child]))
            child++;
        if (!before(loop->timers[child], timer))
            break;
        put(loop, index, loop->timers[child]);
        index = child;
    }
    put(loop, index, timer);
}

static void remove_at(leat_loop *loop, size_t index) {
    loop->timers[index]->slot = 0;
    leat_timer *last = loop->timers[--loop->timer_count];
    if (index == loop->timer_count)
        return;
    if (index > 0 && before(last, loop->timers[(index - 1) / 2]))
        sift_up(loop, index, last);
    else
        sift_down(loop, index, last);
}

static bool make_room(leat_loop *loop) {
    if (loop->timer_count < loop->timer_room)
        return true;
    size_t room = loop->timer_room ? loop->timer_room * 2 : 16;
    leat_timer **timers = leat_alloc_take(loop->internal_alloc, room * sizeof *timers, NULL);
    if (!timers)
        return false;
    for (size_t i = 0; i < loop->timer_count; i++)
        timers[i] = loop->timers[i];
    leat_alloc_give(loop->internal_alloc, loop->timers, loop->timer_room * sizeof(leat_timer *));
    loop->timers = timers;
    loop->timer_room = room;
    return true;
}

static void requeue(leat_timer *timer) {
    timer->queued_at = timer->deadline;
    timer->queued_order = timer->order;
}

int leat_timer_start(leat_loop *loop, leat_timer *timer, uint64_t delay_ms) {
    leat_assert_thread(loop);
    if (loop->depth == 0)
        leat_loop_read_clock(loop); /* outside a turn the time of the last one may be long ago */
    uint64_t now = leat_loop_time(loop), most = (UINT64_MAX - 1 - now) / 1000000;
    uint64_t deadline = now + (delay_ms < most ? delay_ms : most) * 1000000;
    if (timer->slot == 0 && !make_room(loop))
        return LEAT_ENOMEM;
    timer->deadline = deadline;
    timer->order = loop->timer_order++;
    timer->armed = true;
    if (timer->slot == 0) {
        requeue(timer);
        sift_up(loop, loop->timer_count++, timer);
    } else if (deadline < timer->queued_at) {
        requeue(timer);
        sift_up(loop, timer->slot - 1, timer);
    }
    return LEAT_OK;
}

void leat_timer_stop(leat_loop *loop, leat_timer *timer) {
    leat_assert_thread(loop);
    timer->armed = false;
    if (timer->slot > 0)
        remove_at(loop, timer->slot - 1);
}

static void run_one(leat_loop *loop, leat_timer *timer) {
    remove_at(loop, 0);
    timer->armed = false;
    loop->stats.timers++;
    leat_loop_enter(loop);
    timer->fn(timer);
    leat_loop_leave(loop);
}

/* Runs what was due when it began; what these start anew waits for the next time. */
int leat_timers_run(leat_loop *loop) {
    uint64_t now = loop->now, last_order = loop->timer_order;
    int ran = 0;
    while (loop->timer_count > 0 && loop->timers[0]->queued_at <= now && loop->timers[0]->queued_order < last_order) {
        leat_timer *timer = loop->timers[0];
        if (timer->deadline > timer->queued_at || timer->order != timer->queued_order) {
            requeue(timer);
            sift_down(loop, 0, timer);
        } else {
            run_one(loop, timer);
            ran++;
        }
    }
    return ran;
}

void leat_timers_clean_up(leat_loop *loop) {
    for (size_t i = 0; i < loop->timer_count; i++) {
        loop->timers[i]->slot = 0;
        loop->timers[i]->armed = false;
    }
    leat_alloc_give(loop->internal_alloc, loop->timers, loop->timer_room * sizeof(leat_timer *));
    loop->timers = NULL;
    loop->timer_count = loop->timer_room = 0;
}
