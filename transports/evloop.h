/**
 * Loops on libev: one of our own, or one that the program has already.
 *
 * Processes: every descriptor of Leat's is closed on exec. A child of fork has the parent's loops in its memory and
 * shares their sockets and kernel queues. It may leave them alone, which is to say never run, release or touch them,
 * and make loops of its own; or go on with them in the parent's place: it calls ev_loop_fork(leat_evloop_native(loop))
 * first, and from then on the parent neither runs nor releases that loop but ends by _exit (a daemon does so). Threads
 * are not there in a child, so neither are leat_loops and leat_workers.
 */
#ifndef LEAT_TRANSPORTS_EVLOOP_H
#define LEAT_TRANSPORTS_EVLOOP_H

#include "core/loop.h"
#include "core/transport.h"

LEAT_BEGIN_DECLS

struct ev_loop;

/**
 * Makes a loop with a libev loop of its own. `alloc` NULL = a pool of its own (core/pool.h). The caller owns it until
 * leat_loop_release; listeners, watches and signals on it are released before. NULL = no memory, or libev found no back
 * end. libev itself ends the program when it finds no memory for its tables. Any thread; the loop then belongs to this
 * one until another runs it.
 */
LEAT_API leat_loop *leat_evloop_new(leat_alloc *alloc);

/**
 * Makes a loop on a libev loop that the caller has, keeps, and runs by ev_run (or by leat_loop_run). It keeps that loop
 * alive, as a started watcher does, until leat_loop_release; `ev` outlives it. leat_loop_stop breaks the innermost
 * ev_run; call-backs of the program's own may nest these, but handlers, tasks and timers of the loop may not, since
 * their turn has to end first. `alloc` as for leat_evloop_new. NULL = no memory. On the thread of `ev`.
 */
LEAT_API leat_loop *leat_evloop_wrap(struct ev_loop *ev, leat_alloc *alloc);

/** Returns the libev loop below, or NULL if `loop` is not one of these. */
LEAT_API struct ev_loop *leat_evloop_native(leat_loop *loop);

/** Something that watches a descriptor of the caller's. */
typedef struct leat_watch leat_watch;

/**
 * Watches a descriptor, for nothing yet: `fn` runs as a turn of its own with the LEAT_INTEREST_* bits that are ready,
 * and may release the watch. The caller owns the watch until leat_watch_release, and keeps the descriptor open until
 * then. NULL = no memory, or `loop` is not a libev loop.
 */
LEAT_API leat_watch *leat_evloop_watch(leat_loop *loop, int descriptor, void (*fn)(void *context, unsigned ready),
                                       void *context);

/** Watches for these LEAT_INTEREST_* bits from now on; 0 = for nothing. */
LEAT_API void leat_watch_interest(leat_watch *watch, unsigned bits);

/** Stops watching and frees the watch; NULL is fine. The descriptor stays open. */
LEAT_API void leat_watch_release(leat_watch *watch);

/** Something that waits for a signal. */
typedef struct leat_signal leat_signal;

/**
 * Runs `fn` as a turn of its own when the process gets the signal `number`; it may release the watch. A signal belongs
 * to one loop of a process at a time. The caller owns the result until leat_signal_release. NULL = no memory, no such
 * signal, or `loop` is not a libev loop.
 */
LEAT_API leat_signal *leat_evloop_on_signal(leat_loop *loop, int number, void (*fn)(void *context, int number),
                                            void *context);

/** Stops waiting, gives the signal its default action back and frees the watch; NULL is fine. */
LEAT_API void leat_signal_release(leat_signal *watch);

LEAT_END_DECLS

#endif
