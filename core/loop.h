/** Loops: one thread, its channels, timers and mailbox. What waits for the outside is a back end (transports/evloop.h).
 */
#ifndef LEAT_CORE_LOOP_H
#define LEAT_CORE_LOOP_H

#include "core/alloc.h"
#include "core/mailbox.h"
#include "core/timer.h"

LEAT_BEGIN_DECLS

/** What a loop did. */
typedef struct leat_loop_stats {
    uint64_t turns;         /**< entries from outside */
    uint64_t channel_turns; /**< ends of a channel's turn */
    uint64_t continuations; /**< turns that hit their bound and went on behind the others */
    uint64_t tasks;         /**< posted tasks that ran */
    uint64_t timers;        /**< timers that ran */
    uint64_t channels;      /**< channels alive */
    uint64_t longest_turn;  /**< nanoseconds, while leat_loop_measure_turns is on */
    bool tasks_waiting;     /**< posted tasks wait */
} leat_loop_stats;

/**
 * Runs the loop on this thread until leat_loop_stop. Returns 0 or the back end's code. The loop belongs to the thread
 * that runs it; before that to the one that made it.
 */
LEAT_API int leat_loop_run(leat_loop *loop);

/** Makes leat_loop_run return after the turn it is in. Any thread, as long as the loop exists. */
LEAT_API void leat_loop_stop(leat_loop *loop);

/**
 * Ends the loop: aborts its channels, completes what is posted with LEAT_ECLOSED, and frees it. NULL is fine.
 * Not from inside a turn. Release the channels you retained first: their memory goes with the loop (a leat_ref may
 * stay).
 */
LEAT_API void leat_loop_release(leat_loop *loop);

/** Returns the loop's clock in nanoseconds, as of the beginning of this turn; it never goes back. */
LEAT_API uint64_t leat_loop_now(leat_loop *loop);

/** Returns the allocator of the loop: what its channels and their buffers are made from. */
LEAT_API leat_alloc *leat_loop_alloc(const leat_loop *loop);

/** Returns the mailbox; retain it to post after the loop may be gone. Any thread, as long as the loop exists. */
LEAT_API leat_mailbox *leat_loop_mailbox(const leat_loop *loop);

/** Posts a task to the loop, as leat_mailbox_post. Any thread, as long as the loop exists. */
LEAT_API void leat_loop_post(leat_loop *loop, leat_task *task);

/** Measures how long turns take from now on, or no more: two looks at the clock a turn. */
LEAT_API void leat_loop_measure_turns(leat_loop *loop, bool on);

/** Returns what the loop did so far. */
LEAT_API leat_loop_stats leat_loop_statistics(const leat_loop *loop);

LEAT_END_DECLS

#endif
