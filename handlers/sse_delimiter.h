/**
 * Server-Sent Events out, as WHATWG HTML 9.2 has them. The handler turns each outbound ByteBuf "x" into "data: x\n\n",
 * and frames each event with its fields (handlers/sse_event.h):
 *
 *     {&leat_sse_delimiter}
 *
 *     leat_sse_event event = {.id = leat_sse_text("7"), .data = leat_sse_text("two\nlines")};
 *     leat_channel_write(channel, leat_sse_event_msg(alloc, &event), NULL);
 *
 * writes "id: 7\ndata: two\ndata: lines\n\n".
 */
#ifndef LEAT_HANDLERS_SSE_DELIMITER_H
#define LEAT_HANDLERS_SSE_DELIMITER_H

#include "core/handler.h"
#include "handlers/sse_event.h"

LEAT_BEGIN_DECLS

/** What stands before and behind an event of one line, and what stands between two of them: one static span. */
#define LEAT_SSE_PREFIX "data: "
#define LEAT_SSE_SUFFIX "\n\n"
#define LEAT_SSE_SEPARATOR LEAT_SSE_SUFFIX LEAT_SSE_PREFIX

/** A comment that only keeps the connection alive. */
#define LEAT_SSE_KEEP_ALIVE ":\n\n"

/**
 * Delimits an event of one line without copying it: prefix, event, suffix as three spans. Takes `event`; the caller
 * owns the result. NULL = no memory. This is also how a compressed and encoded batch becomes one event.
 */
LEAT_API leat_bytebuf *leat_sse_delimit(leat_alloc *alloc, leat_bytebuf *event);

/**
 * Delimits `count` events of one line each as one buffer, without copying them: the end of one and the beginning of the
 * next are one span. The events are shared: they stay the caller's, and may not be changed while the result lives. The
 * caller owns the result. NULL = no memory.
 */
LEAT_API leat_bytebuf *leat_sse_delimit_list(leat_alloc *alloc, leat_bytebuf *const *events, size_t count);

/** Makes a keep-alive comment on static bytes; the caller owns it. NULL = no memory. */
LEAT_API leat_bytebuf *leat_sse_keep_alive(leat_alloc *alloc);

/** How bare events are delimited; all zero is a sane default. */
typedef struct leat_sse_delimiter_config {
    bool trusted; /**< events are known to be single lines: do not look for line ends in them */
} leat_sse_delimiter_config;

/**
 * Delimits each outbound ByteBuf as leat_sse_delimit does. One that has line ends is framed as several data lines (a
 * copy), so that an event can never forge another. An event with fields is framed by leat_sse_frame, whose error
 * completes its write. Every other message passes unchanged.
 */
LEAT_API extern const leat_handler leat_sse_delimiter;

LEAT_END_DECLS

#endif
