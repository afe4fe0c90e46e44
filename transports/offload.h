/** Blocking work (files, databases, long computations) on a small pool of threads; its end is told on a loop. */
#ifndef LEAT_TRANSPORTS_OFFLOAD_H
#define LEAT_TRANSPORTS_OFFLOAD_H

#include "core/loop.h"

LEAT_BEGIN_DECLS

typedef struct leat_work leat_work;

/** A pool of threads. */
typedef struct leat_workers leat_workers;

/** A piece of work, embedded in memory of the caller, which stays valid until `done` ran. Set `work`, `done` and
 * `bytes`, zero the rest. */
struct leat_work {
    /** Runs on a thread of the pool and may block; touches no channel and no loop but by what is marked "any thread".
     */
    void (*work)(leat_work *work);
    /**
     * Runs exactly once, as a turn of the loop: with 0 (`work` ran), LEAT_ELIMIT (too much waits already: `work` does
     * not run) or LEAT_ECLOSED (the pool stopped first: `work` does not run). If the loop is gone it runs with
     * LEAT_ECLOSED on whichever thread finds out, whether `work` ran or not. By then the memory is the caller's again.
     */
    void (*done)(leat_work *work, int status);
    uint64_t bytes;        /**< what it keeps alive while it waits, counted against the pool's bound */
    leat_task task;        /**< belongs to the pool */
    leat_mailbox *mailbox; /**< belongs to the pool */
    leat_work *next;       /**< belongs to the pool */
    int status;            /**< belongs to the pool */
};

/** How to make a pool. A zero field means its default. */
typedef struct leat_workers_options {
    size_t threads;      /**< at most 1,024; 4 */
    size_t most_waiting; /**< pieces of work that wait for a thread; 1,024 */
    uint64_t most_bytes; /**< `bytes` of all that wait; 64 MiB */
    size_t stack_size;   /**< bytes of the stack of each thread; the system's own choice */
    const char *name;    /**< of every thread, cut to 15 bytes; copied; "leat-work" */
} leat_workers_options;

/**
 * Makes a pool and starts its threads, which take no signals. The caller owns it until leat_workers_release. `options`
 * may be NULL. Returns 0, or with the reason in `problem` (may be NULL): LEAT_EINVAL (too many threads), LEAT_ENOMEM, a
 * negated errno value of pthread_create (-EAGAIN: the system has no more threads). Any thread.
 */
LEAT_API int leat_workers_new(const leat_workers_options *options, leat_workers **workers, leat_problem *problem);

/**
 * Gives a piece of work to the pool; first come, first served. However it ends, `done` tells it, never inside this call
 * unless the loop is gone. Any thread, as long as pool and loop exist; the loop may go before the work is done.
 */
LEAT_API void leat_offload(leat_workers *workers, leat_loop *loop, leat_work *work);

/**
 * Stops the pool: what waits completes with LEAT_ECLOSED, what runs is waited for. Returns 0, or LEAT_EINVAL, at once,
 * on a thread of the pool, which would wait for itself. Any other thread; stopping twice is fine.
 */
LEAT_API int leat_workers_stop(leat_workers *workers);

/** Stops the pool and frees it; NULL is fine. On none of its threads. */
LEAT_API void leat_workers_release(leat_workers *workers);

LEAT_END_DECLS

#endif
