/**
 * Server-Sent Events, as WHATWG HTML 9.2 has them: framing of events, and a handler that delimits bare ones.
 *
 *     leat_sse_event event = {.id = leat_sse_text("7"), .data = leat_sse_text("two\nlines")};
 *     leat_bytebuf *framed;
 *     int code = leat_sse_frame(alloc, &event, &framed);
 *
 * makes "id: 7\ndata: two\ndata: lines\n\n". The handler turns each outbound ByteBuf "x" into "data: x\n\n":
 *
 *     {&leat_sse_delimiter}
 */
#ifndef LEAT_HANDLERS_SSE_DELIMITER_H
#define LEAT_HANDLERS_SSE_DELIMITER_H

#include "core/handler.h"

#include <string.h>

LEAT_BEGIN_DECLS

/** What stands before and behind an event of one line, and what stands between two of them: one static span. */
#define LEAT_SSE_PREFIX "data: "
#define LEAT_SSE_SUFFIX "\n\n"
#define LEAT_SSE_SEPARATOR LEAT_SSE_SUFFIX LEAT_SSE_PREFIX

/** A comment that only keeps the connection alive. */
#define LEAT_SSE_KEEP_ALIVE ":\n\n"

/** An event. A field whose `bytes` is NULL is absent; an empty id is written, and makes clients forget theirs. */
typedef struct leat_sse_event {
    leat_span id;
    leat_span event;   /**< type; not written when empty */
    leat_span data;    /**< may have several lines, ended by CR, LF or CR LF; absent: clients dispatch nothing */
    uint64_t retry_ms; /**< reconnection time, written if has_retry */
    bool has_retry;
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
 * Delimits an event of one line without copying it: prefix, event, suffix as three spans. Takes `event`; the caller
 * owns the result. NULL = no memory. This is also how a compressed and encoded batch becomes one event.
 */
LEAT_API leat_bytebuf *leat_sse_delimit(leat_alloc *alloc, leat_bytebuf *event);

/** Makes a keep-alive comment on static bytes; the caller owns it. NULL = no memory. */
LEAT_API leat_bytebuf *leat_sse_keep_alive(leat_alloc *alloc);

/** How bare events are delimited; all zero is a sane default. */
typedef struct leat_sse_delimiter_config {
    bool trusted; /**< events are known to be single lines: do not look for line ends in them */
} leat_sse_delimiter_config;

/**
 * Delimits each outbound ByteBuf as leat_sse_delimit does. One that has line ends is framed as several data lines (a
 * copy), so that an event can never forge another. A message that is no ByteBuf passes unchanged.
 */
LEAT_API extern const leat_handler leat_sse_delimiter;

LEAT_END_DECLS

#endif
