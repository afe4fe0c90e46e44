#include "transports/evloop_internal.h"

#include <signal.h>

struct leat_signal {
    ev_signal signal;
    struct ev_loop *ev;
    leat_loop *loop;
    void (*fn)(void *context, int number);
    void *context;
};

static unsigned bits_of(int events) {
    return (events & EV_READ ? (unsigned)LEAT_INTEREST_READ : 0) |
           (events & EV_WRITE ? (unsigned)LEAT_INTEREST_WRITE : 0);
}

static int events_of(unsigned bits) {
    return (bits & LEAT_INTEREST_READ ? EV_READ : 0) | (bits & LEAT_INTEREST_WRITE ? EV_WRITE : 0);
}

static void ready(struct ev_loop *ev, ev_io *io, int events) {
    (void)ev;
    leat_watch *watch = (leat_watch *)io;
    leat_loop *loop = watch->loop;
    leat_loop_enter(loop);
    watch->fn(io->data, bits_of(events));
    leat_loop_leave(loop);
}

void leat_watch_init(leat_watch *watch, leat_loop *loop, int descriptor, void (*fn)(void *context, unsigned ready),
                     void *context) {
    ev_io_init(&watch->io, ready, descriptor, 0);
    watch->io.data = context;
    watch->loop = loop;
    watch->fn = fn;
}

void leat_watch_interest(leat_watch *watch, unsigned bits) {
    int events = events_of(bits);
    if ((watch->io.events & (EV_READ | EV_WRITE)) == events)
        return;
    struct ev_loop *ev = leat_evloop_native(watch->loop);
    ev_io_stop(ev, &watch->io);
    ev_io_modify(&watch->io, events);
    if (events)
        ev_io_start(ev, &watch->io);
}

leat_watch *leat_evloop_watch(leat_loop *loop, int descriptor, void (*fn)(void *context, unsigned ready),
                              void *context) {
    if (!leat_evloop_native(loop))
        return NULL;
    leat_watch *watch = leat_alloc_take(leat_loop_alloc(loop), sizeof *watch, NULL);
    if (watch)
        leat_watch_init(watch, loop, descriptor, fn, context);
    return watch;
}

void leat_watch_release(leat_watch *watch) {
    if (!watch)
        return;
    leat_watch_interest(watch, 0);
    leat_alloc_give(leat_loop_alloc(watch->loop), watch, sizeof *watch);
}

static void signalled(struct ev_loop *ev, ev_signal *signal, int events) {
    (void)ev, (void)events;
    leat_signal *watch = signal->data;
    leat_loop *loop = watch->loop;
    leat_loop_enter(loop);
    watch->fn(watch->context, signal->signum);
    leat_loop_leave(loop);
}

leat_signal *leat_evloop_on_signal(leat_loop *loop, int number, void (*fn)(void *context, int number), void *context) {
    struct ev_loop *ev = leat_evloop_native(loop);
    if (!ev || number <= 0 || number >= NSIG)
        return NULL;
    leat_signal *watch = leat_alloc_take(leat_loop_alloc(loop), sizeof *watch, NULL);
    if (!watch)
        return NULL;
    watch->ev = ev;
    watch->loop = loop;
    watch->fn = fn;
    watch->context = context;
    ev_signal_init(&watch->signal, signalled, number);
    watch->signal.data = watch;
    ev_signal_start(ev, &watch->signal);
    return watch;
}

void leat_signal_release(leat_signal *watch) {
    if (!watch)
        return;
    ev_signal_stop(watch->ev, &watch->signal);
    leat_alloc_give(leat_loop_alloc(watch->loop), watch, sizeof *watch);
}
