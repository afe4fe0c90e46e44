/** Cuts a queue into chunks: by count, by bytes, or when its first event has waited long enough. */
#ifndef LEAT_HANDLERS_PUSH_CHUNKER_H
#define LEAT_HANDLERS_PUSH_CHUNKER_H

#include "handlers/push/queue.h"

LEAT_BEGIN_DECLS

/** A chunker; embed it. Fields belong to it; times are nanoseconds of the loop's clock. */
typedef struct leat_push_chunker {
    leat_push_event **chunk; /**< the last chunk that was cut; the events are the caller's */
    size_t max_events;
    uint64_t max_bytes;
    uint64_t interval;
    uint64_t deadline;
    leat_alloc *alloc;
} leat_push_chunker;

/** Initialises a chunker: at most `max_events` (1 or more) and about `max_bytes` a chunk, after `interval_ms` at the
 * latest. 0 or LEAT_ENOMEM. */
LEAT_API int leat_push_chunker_init(leat_push_chunker *chunker, leat_alloc *alloc, size_t max_events,
                                    uint64_t max_bytes, uint64_t interval_ms);

/** Frees what the chunker holds. */
LEAT_API void leat_push_chunker_clean_up(leat_push_chunker *chunker);

/** An event was added to the queue at `now`: the first one starts the interval. */
LEAT_API void leat_push_chunker_added(leat_push_chunker *chunker, const leat_push_queue *queue, uint64_t now);

/** Returns when the next chunk is due; UINT64_MAX = the queue is empty. */
LEAT_API uint64_t leat_push_chunker_deadline(const leat_push_chunker *chunker, const leat_push_queue *queue);

/** Tells whether the queue fills a chunk. */
LEAT_API bool leat_push_chunker_is_full(const leat_push_chunker *chunker, const leat_push_queue *queue);

/** Tells whether a chunk is due at `now`: it is full, or old enough. */
LEAT_API bool leat_push_chunker_is_due(const leat_push_chunker *chunker, const leat_push_queue *queue, uint64_t now);

/** Moves the next chunk from the queue to `chunker->chunk` and returns how many events it has, at least one unless the
 * queue is empty. */
LEAT_API size_t leat_push_chunker_cut(leat_push_chunker *chunker, leat_push_queue *queue);

LEAT_END_DECLS

#endif
