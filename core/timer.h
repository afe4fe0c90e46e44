/** Timers of a loop: one heap, re-armed lazily. */
#ifndef LEAT_CORE_TIMER_H
#define LEAT_CORE_TIMER_H

#include "core/base.h"

LEAT_BEGIN_DECLS

typedef struct leat_loop leat_loop;
typedef struct leat_timer leat_timer;

/** A timer, embedded in memory of the caller. Zero it, set `fn`; stop it before its memory goes. */
struct leat_timer {
    void (*fn)(leat_timer *timer); /**< runs on the loop's thread as a turn of its own; may start the timer again */
    uint64_t deadline;             /**< belongs to the loop: nanoseconds of its clock */
    uint64_t queued_at;            /**< belongs to the loop: the deadline in the heap, never later than `deadline` */
    uint64_t order;                /**< belongs to the loop: arming order, for equal deadlines */
    uint64_t queued_order;         /**< belongs to the loop: the order in the heap */
    size_t slot;                   /**< belongs to the loop: 1 + index in the heap, 0 = not in it */
    bool armed;                    /**< belongs to the loop */
};

/**
 * Starts or re-starts a timer to run once, `delay_ms` milliseconds from the beginning of this turn (outside a turn:
 * from now); never early. Returns 0, or LEAT_ENOMEM (then the timer is not running).
 */
LEAT_API int leat_timer_start(leat_loop *loop, leat_timer *timer, uint64_t delay_ms);

/** Stops a timer: it will not run. Stopping one that does not run is fine. */
LEAT_API void leat_timer_stop(leat_loop *loop, leat_timer *timer);

/** Tells whether the timer is going to run. */
static inline bool leat_timer_is_running(const leat_timer *timer) {
    return timer->armed;
}

LEAT_END_DECLS

#endif
