/** The queue of accepted events, bounded by count and bytes. */
#ifndef LEAT_HANDLERS_PUSH_QUEUE_H
#define LEAT_HANDLERS_PUSH_QUEUE_H

#include "handlers/push/event.h"

LEAT_BEGIN_DECLS

/** A queue of events; embed it. Fields belong to it; `count` and `bytes` may be read. */
typedef struct leat_push_queue {
    leat_push_event **ring;
    size_t room; /* a power of two, or 0 */
    size_t head;
    size_t count;
    uint64_t bytes;
    size_t max_events;
    uint64_t max_bytes;
    leat_alloc *alloc;
} leat_push_queue;

/** Initialises an empty queue that takes at most `max_events` with at most `max_bytes` of payload. */
LEAT_API void leat_push_queue_init(leat_push_queue *queue, leat_alloc *alloc, size_t max_events, uint64_t max_bytes);

/** Releases what is queued and frees what the queue holds. */
LEAT_API void leat_push_queue_clean_up(leat_push_queue *queue);

/** Takes the event, also when it fails: 0, LEAT_ELIMIT (full: the event is released), or LEAT_ENOMEM (the same). */
LEAT_API int leat_push_queue_add(leat_push_queue *queue, leat_push_event *event);

/** Returns the event at `index` from the oldest on, still the queue's; `index` is below `count`. */
LEAT_API leat_push_event *leat_push_queue_at(const leat_push_queue *queue, size_t index);

/** Takes the oldest event out, for the caller to release; NULL = the queue is empty. */
LEAT_API leat_push_event *leat_push_queue_take(leat_push_queue *queue);

LEAT_END_DECLS

#endif
