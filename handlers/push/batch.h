/** Batches: events that wait for their window, and become one message. */
#ifndef LEAT_HANDLERS_PUSH_BATCH_H
#define LEAT_HANDLERS_PUSH_BATCH_H

#include "handlers/push/codec.h"

LEAT_BEGIN_DECLS

/** A batch; embed it. Fields belong to it; `events`, `count` and `bytes` (of payload) may be read. */
typedef struct leat_push_batch {
    leat_push_event **events;
    uint32_t count, room;
    uint64_t bytes;
    uint64_t deadline; /* nanoseconds of the loop's clock; meaningful when count > 0 */
} leat_push_batch;

/** Adds an event, which it retains: 0 or LEAT_ENOMEM. A zeroed batch is empty. */
LEAT_API int leat_push_batch_add(leat_push_batch *batch, leat_alloc *alloc, leat_push_event *event);

/** Releases the events; room for a usual batch is kept. */
LEAT_API void leat_push_batch_clear(leat_push_batch *batch, leat_alloc *alloc);

/** Releases the events and frees what the batch holds. */
LEAT_API void leat_push_batch_clean_up(leat_push_batch *batch, leat_alloc *alloc);

/**
 * Builds one message of the events from index `from` on. Each event is framed at the most once for a codec: the framed
 * buffer is kept in the event's place number `codec_slot`. The caller owns the message; NULL = no memory.
 */
LEAT_API leat_bytebuf *leat_push_batch_build(const leat_push_batch *batch, uint32_t from, const leat_push_codec *codec,
                                             unsigned codec_slot, leat_alloc *alloc);

LEAT_END_DECLS

#endif
