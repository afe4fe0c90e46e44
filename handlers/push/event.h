/** Events: a payload that is offered once, framed once for each codec, and shared by every destination. */
#ifndef LEAT_HANDLERS_PUSH_EVENT_H
#define LEAT_HANDLERS_PUSH_EVENT_H

#include "core/bytebuf.h"
#include "core/mailbox.h"

LEAT_BEGIN_DECLS

/** How many codecs a server can use at the same time. */
enum { LEAT_PUSH_CODECS = 4 };

/** An event. Read its `id`, `payload` and `bytes`; the rest belongs to the server it is offered to. */
typedef struct leat_push_event {
    leat_task task;
    void *server;
    uint64_t id;           /**< given by the server when it accepts the event: 1, 2, 3 ...; 0 = none */
    leat_bytebuf *payload; /**< never changed again */
    uint64_t bytes;        /**< of the payload */
    leat_bytebuf *framed[LEAT_PUSH_CODECS];
    leat_alloc *alloc;
    uint32_t refs;
} leat_push_event;

/**
 * Makes an event of `payload`, which it takes, also when it fails. NULL = no memory (or `payload` is NULL: so the
 * result of a failed allocation may be passed in). The caller owns one reference. On another thread than the loop's
 * use an allocator for any thread, such as leat_unpooled(). Any thread.
 */
LEAT_API leat_push_event *leat_push_event_new(leat_alloc *alloc, leat_bytebuf *payload);

/** Makes an event with a copy of `length` bytes; NULL = no memory. Any thread, as leat_push_event_new. */
LEAT_API leat_push_event *leat_push_event_of_bytes(leat_alloc *alloc, const void *bytes, size_t length);

/** Takes one more reference. Once offered, an event is for the loop's thread. */
LEAT_API leat_push_event *leat_push_event_retain(leat_push_event *event);

/** Gives a reference back; NULL is fine. */
LEAT_API void leat_push_event_release(leat_push_event *event);

LEAT_END_DECLS

#endif
