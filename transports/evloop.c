#include "transports/evloop_internal.h"

#include <time.h>

/** The back end of a loop. */
typedef struct evloop {
    leat_loop loop;
    struct ev_loop *ev;
    leat_alloc *alloc; /* of this block */
    bool wrapped;      /* the libev loop is the caller's */
    bool waiting;      /* inside leat_loop_run, not the caller's ev_run */
    ev_async wake;
    ev_timer timer;
    ev_prepare prepare;
    ev_check check;
    uint64_t armed; /* the deadline that `timer` waits for; UINT64_MAX = none */
} evloop;

static uint64_t now(leat_loop *loop) {
    (void)loop;
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void stop_timer(evloop *self) {
    ev_timer_stop(self->ev, &self->timer);
    self->armed = UINT64_MAX;
}

/** Makes libev wake at `deadline`; costs nothing while that stays the same. */
static void wait_until(evloop *self, uint64_t deadline) {
    if (self->armed == deadline)
        return;
    stop_timer(self);
    if (deadline == UINT64_MAX)
        return;
    uint64_t time = now(&self->loop);
    /* libev counts from its own clock, as of its last wait. */
    ev_now_update(self->ev);
    ev_timer_set(&self->timer, deadline > time ? (double)(deadline - time) * 1e-9 : 0.0, 0.0);
    ev_timer_start(self->ev, &self->timer);
    self->armed = deadline;
}

static void timer_fired(struct ev_loop *ev, ev_timer *timer, int events) {
    (void)ev, (void)events;
    ((evloop *)timer->data)->armed = UINT64_MAX;
}

static void woken(struct ev_loop *ev, ev_async *async, int events) {
    (void)ev, (void)async, (void)events;
}

static void before_waiting(struct ev_loop *ev, ev_prepare *prepare, int events) {
    (void)ev, (void)events;
    evloop *self = prepare->data;
    wait_until(self, leat_loop_deadline(&self->loop));
}

/** The caller's ev_run never asks core whether to stop, so the check does. */
static void break_if_stopped(evloop *self) {
    if (!self->waiting && __atomic_exchange_n(&self->loop.stopping, false, __ATOMIC_ACQ_REL))
        ev_break(self->ev, EVBREAK_ONE);
}

static void after_events(struct ev_loop *ev, ev_check *check, int events) {
    (void)ev, (void)events;
    evloop *self = check->data;
    leat_loop_run_due(&self->loop);
    break_if_stopped(self);
}

static int wait_for_events(leat_loop *loop, uint64_t deadline) {
    evloop *self = (evloop *)loop;
    if (deadline > 0)
        wait_until(self, deadline);
    self->waiting = true;
    ev_run(self->ev, deadline > 0 ? EVRUN_ONCE : EVRUN_NOWAIT);
    self->waiting = false;
    return 0;
}

static void wake(leat_loop *loop) {
    evloop *self = (evloop *)loop;
    ev_async_send(self->ev, &self->wake);
}

static void destroy(leat_loop *loop) {
    evloop *self = (evloop *)loop;
    stop_timer(self);
    ev_async_stop(self->ev, &self->wake);
    ev_prepare_stop(self->ev, &self->prepare);
    ev_check_stop(self->ev, &self->check);
    if (!self->wrapped)
        ev_loop_destroy(self->ev);
    leat_alloc_give(self->alloc, self, sizeof *self);
}

static const leat_loop_ops evloop_ops = {.now = now, .wait = wait_for_events, .wake = wake, .destroy = destroy};

static void init_watchers(evloop *self) {
    ev_async_init(&self->wake, woken);
    ev_timer_init(&self->timer, timer_fired, 0.0, 0.0);
    ev_prepare_init(&self->prepare, before_waiting);
    ev_check_init(&self->check, after_events);
    /* Behind the events of this iteration, so that what they made due runs in it. */
    ev_set_priority(&self->check, EV_MINPRI);
    self->timer.data = self->prepare.data = self->check.data = self;
    self->armed = UINT64_MAX;
    ev_async_start(self->ev, &self->wake);
}

/* The block of the loop itself must outlive the loop's own pool. */
static evloop *make(struct ev_loop *ev, leat_alloc *alloc) {
    leat_alloc *below = alloc ? alloc : leat_unpooled();
    evloop *self = leat_alloc_take_zeroed(below, sizeof *self);
    if (!self)
        return NULL;
    if (leat_loop_init(&self->loop, &evloop_ops, alloc) != 0) {
        leat_alloc_give(below, self, sizeof *self);
        return NULL;
    }
    self->ev = ev;
    self->alloc = below;
    init_watchers(self);
    return self;
}

leat_loop *leat_evloop_new(leat_alloc *alloc) {
    struct ev_loop *ev = ev_loop_new(EVFLAG_AUTO);
    if (!ev)
        return NULL;
    evloop *self = make(ev, alloc);
    if (!self) {
        ev_loop_destroy(ev);
        return NULL;
    }
    return &self->loop;
}

leat_loop *leat_evloop_wrap(struct ev_loop *ev, leat_alloc *alloc) {
    evloop *self = ev ? make(ev, alloc) : NULL;
    if (!self)
        return NULL;
    self->wrapped = true;
    ev_prepare_start(ev, &self->prepare);
    ev_check_start(ev, &self->check);
    return &self->loop;
}

struct ev_loop *leat_evloop_native(leat_loop *loop) {
    return loop && loop->ops == &evloop_ops ? ((evloop *)loop)->ev : NULL;
}

leat_channel *leat_evloop_leave_with(leat_loop *loop, leat_channel *made) {
    if (made)
        leat_channel_retain(made);
    leat_loop_leave(loop);
    if (!made)
        return NULL;
    bool alive = leat_channel_transport(made) != NULL;
    leat_channel_release(made);
    return alive ? made : NULL;
}
