/**
 * Events of Server-Sent Events (WHATWG HTML 9.2): the fields, their framing, and the message that the handlers share.
 *
 *     leat_sse_event event = {.id = leat_sse_text("7"), .data = leat_sse_text("two\nlines")};
 *     leat_bytebuf *framed;
 *     int code = leat_sse_frame(alloc, &event, &framed);
 *
 * makes "id: 7\ndata: two\ndata: lines\n\n".
 */
#ifndef LEAT_HANDLERS_SSE_EVENT_H
#define LEAT_HANDLERS_SSE_EVENT_H

#include "core/msg.h"

#include <string.h>

LEAT_BEGIN_DECLS

/** An event. A field whose `bytes` is NULL is absent; an empty id is written, and makes clients forget theirs. */
typedef struct leat_sse_event {
    leat_span id;
    leat_span event;   /**< type; not written when empty */
    leat_span data;    /**< may have several lines, ended by CR, LF or CR LF; absent: clients dispatch nothing */
    uint64_t retry_ms; /**< reconnection time, written if has_retry */
    bool has_retry;
    leat_span comment; /**< first, a comment for each line of it, which clients ignore; not told by the decoder */
} leat_sse_event;

/** Makes a field of a C string (NULL = absent), without its NUL. */
static inline leat_span leat_sse_text(const char *text) {
    leat_span span;
    span.bytes = (const uint8_t *)text;
    span.length = text ? strlen(text) : 0;
    return span;
}

/**
 * Frames an event once, in one exactly sized buffer that the caller owns. Returns 0, LEAT_ENOMEM, or LEAT_EINVAL: a CR
 * or LF in `event` or `id`, or a NUL in `id` (they would forge fields); `*framed` is NULL then. Any thread.
 */
LEAT_API int leat_sse_frame(leat_alloc *alloc, const leat_sse_event *event, leat_bytebuf **framed);

/**
 * The type of events as messages: `obj` is a leat_sse_event of leat_sse_event_new. leat_sse_decoder fires them,
 * leat_sse_delimiter takes them.
 */
LEAT_API extern const leat_type leat_type_sse_event;

/**
 * Makes a message of a copy of `fields`, in one allocation; each field that is there is followed by a NUL. The caller
 * owns one reference of the message. Its type is NULL when there is no memory. Any thread, if `alloc` is for any
 * thread.
 */
LEAT_API leat_msg leat_sse_event_msg(leat_alloc *alloc, const leat_sse_event *fields);

LEAT_END_DECLS

#endif
