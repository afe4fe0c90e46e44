/**
 * Server-Sent Events in: the event stream of WHATWG HTML 9.2.6, byte for byte. Outbound nothing happens.
 *
 *     {&leat_sse_decoder}
 *
 *     static void on_read(leat_ctx *ctx, leat_msg msg) {
 *         const leat_sse_event *event = leat_msg_as(msg, &leat_type_sse_event);
 *         printf("%s\n", (const char *)event->data.bytes);
 *         leat_msg_release(msg);
 *     }
 *
 * fed ": hello\r\ndata: two\ndata: lines\n\n" fires one event, whose data is "two\nlines". A client that reconnects
 * asks for the id to go on from, and how long to wait, in its `inactive`.
 */
#ifndef LEAT_HANDLERS_SSE_DECODER_H
#define LEAT_HANDLERS_SSE_DECODER_H

#include "core/handler.h"
#include "handlers/sse_event.h"

LEAT_BEGIN_DECLS

/** How events are read; all zero is a sane default. */
typedef struct leat_sse_decoder_config {
    uint64_t max_event;  /**< bytes of an event: of its data, or of one of its lines; 0 = 1 MiB. At most 1 GiB. */
    const char *last_id; /**< the id that an earlier connection ended with, copied by each channel; NULL = none */
} leat_sse_decoder_config;

/**
 * ByteBufs in, a message of leat_type_sse_event an event out: `data` is there, ends without a line end, and a NUL
 * stands behind it; `event` is absent when it was empty (which means "message"); `id` is the last id of the stream,
 * absent when that is empty; has_retry says that a reconnection time came since the event before. Comments, unknown
 * fields and blocks without data fire nothing; ill-formed UTF-8 becomes U+FFFD. An event that is too long is reported
 * once, as LEAT_ETOOLONG, skipped, and decoding goes on behind it. What is unfinished at `eof` is dropped, as the
 * standard wants.
 */
LEAT_API extern const leat_handler leat_sse_decoder;

/**
 * Returns the last id of the stream of this decoder's context (empty = none): what a client sends as Last-Event-ID.
 * Valid until the decoder reads more or is gone.
 */
LEAT_API leat_span leat_sse_decoder_last_id(leat_ctx *ctx);

/** Gets the last reconnection time of the stream, in milliseconds; false = none came. */
LEAT_API bool leat_sse_decoder_retry(leat_ctx *ctx, uint64_t *retry_ms);

LEAT_END_DECLS

#endif
