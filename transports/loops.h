/** Loops on threads: N loops, each on a thread of its own, and listeners that spread connections over them. */
#ifndef LEAT_TRANSPORTS_LOOPS_H
#define LEAT_TRANSPORTS_LOOPS_H

#include "transports/evloop.h"
#include "transports/tcp.h"

LEAT_BEGIN_DECLS

/** A set of loops. "Their threads" are the ones that run them. */
typedef struct leat_loops leat_loops;

/** How to make loops. A zero field means its default. */
typedef struct leat_loops_options {
    size_t count;      /**< loops, at most 1,024; one a processor */
    const char *name;  /**< threads are called NAME-0, NAME-1 and so on, cut to 15 bytes; copied; "leat" */
    size_t stack_size; /**< bytes of the stack of each thread; the system's own choice */
    /** Runs on each loop's thread as its first turn: for signals, watches and timers of that loop; a code ends the
     * start. */
    int (*begin)(void *context, leat_loop *loop, size_t index);
    /** Runs on the loop's thread as its last turn, before its channels end, if its `begin` returned 0. */
    void (*end)(void *context, leat_loop *loop, size_t index);
    void *context; /**< for both, which run on several threads at the same time */
} leat_loops_options;

/**
 * Makes loops that do not run yet and belong to the calling thread, which may set them up; the caller owns them until
 * leat_loops_release. `options` may be NULL. Returns 0, or with the reason in `problem` (may be NULL): LEAT_EINVAL (too
 * many), LEAT_ENOMEM.
 */
LEAT_API int leat_loops_new(const leat_loops_options *options, leat_loops **loops, leat_problem *problem);

/**
 * Starts a thread for each loop and waits until every `begin` returned. Threads inherit the caller's signal mask. On
 * failure the loops are stopped: a code of `begin`, a negated errno value of pthread_create (-EAGAIN: the system has no
 * more threads), LEAT_EINVAL (started before, or on one of their threads), LEAT_ECLOSED (stopped before). Once.
 */
LEAT_API int leat_loops_start(leat_loops *loops, leat_problem *problem);

/** Asks every loop to stop, and returns at once; asking twice is fine. Any thread, theirs too. */
LEAT_API void leat_loops_request_stop(leat_loops *loops);

/**
 * Waits until every thread ended: each because somebody asked, or called leat_loop_stop for that loop alone. A loop
 * that ends aborts its channels and completes what was posted with LEAT_ECLOSED, both on its own thread; posts from
 * then on complete on the poster's. Returns 0, a loop's own code, or at once LEAT_EINVAL on one of their threads, which
 * would wait for itself. Any other thread; waiting twice is fine.
 */
LEAT_API int leat_loops_join(leat_loops *loops);

/** leat_loops_request_stop and leat_loops_join; on one of their threads it does nothing and returns LEAT_EINVAL. */
LEAT_API int leat_loops_stop(leat_loops *loops);

/** Stops the loops and frees them, with listeners released before; NULL is fine. On none of their threads. */
LEAT_API void leat_loops_release(leat_loops *loops);

/** Returns how many loops there are. Any thread. */
LEAT_API size_t leat_loops_count(const leat_loops *loops);

/** Returns a loop by its index, or NULL. It may be posted to until leat_loops_release. Any thread. */
LEAT_API leat_loop *leat_loops_at(const leat_loops *loops, size_t index);

/** Returns the loops in turn: where the next connection or piece of work may go. Any thread. */
LEAT_API leat_loop *leat_loops_next(leat_loops *loops);

/** One address, served by all loops. */
typedef struct leat_loops_listener leat_loops_listener;

/**
 * Listens on `address` for all loops. With `reuse_port` each loop has a listening socket and the kernel chooses by
 * hash; without it the first loop accepts and hands connections out in turn. `initialise`, and the channel's whole
 * life, are on the loop that serves it: so `initialise` runs on several threads at the same time. `max_connections` is
 * for all loops together; with `reuse_port` each may have its share. Otherwise as leat_tcp_listen, whose codes it
 * returns; also LEAT_ECLOSED (the loops stopped), LEAT_EINVAL (on one of their threads). Before leat_loops_start on the
 * thread that made them, later on any thread but theirs. The caller owns the listener until
 * leat_loops_listener_release; it stops listening when the loops stop.
 */
LEAT_API int leat_loops_listen(leat_loops *loops, const char *address, const leat_tcp_options *options,
                               leat_loops_listener **listener, leat_problem *problem);

/** Returns the address that the listener is bound to. Any thread. */
LEAT_API leat_address leat_loops_listener_address(const leat_loops_listener *listener);

/** Sums up what the listener did on every loop that still runs. Threads and codes as for leat_loops_listener_close. */
LEAT_API int leat_loops_listener_statistics(leat_loops_listener *listener, leat_tcp_listener_stats *stats);

/**
 * Stops listening: when it returns no connection is accepted any more; channels stay. 0, or LEAT_EINVAL on one of the
 * loops' threads, which must not wait for others. Closing twice is fine.
 */
LEAT_API int leat_loops_listener_close(leat_loops_listener *listener);

/** Closes the listener and gives it back, before leat_loops_release; NULL is fine. On none of the loops' threads. */
LEAT_API void leat_loops_listener_release(leat_loops_listener *listener);

LEAT_END_DECLS

#endif
