/**
 * HTTP/1.1, client side, bounded (RFC 9112; parsed by llhttp): one request at a time goes out, its response comes in as
 * a message, then its body as ByteBufs as they arrive, then its end. Enough to follow a stream of events:
 *
 *     {&leat_http_client}, {&follower}
 *
 *     static void follower_active(leat_ctx *ctx) {
 *         static const leat_http_field fields[] = {{"Accept", "text/event-stream"}, {0}};
 *         leat_http_client_send(ctx, &(leat_http_client_request){.host = "h", .target = "/", .fields = fields}, NULL);
 *     }
 */
#ifndef LEAT_HANDLERS_HTTP_CLIENT_H
#define LEAT_HANDLERS_HTTP_CLIENT_H

#include "handlers/http.h"

LEAT_BEGIN_DECLS

/** Limits; all zero is a sane default. Sizes are in bytes, times in milliseconds. */
typedef struct leat_http_client_config {
    uint32_t max_fields;  /**< names and values of all header fields, and the reason; 8,192 */
    uint32_t max_count;   /**< header fields; 64 */
    uint64_t max_body;    /**< of a response; none, since a stream may last for days */
    uint64_t response_ms; /**< from the request to the end of the response's header; 30,000 */
} leat_http_client_config;

/** A request. What it points to is used only during the call, except for the body. */
typedef struct leat_http_client_request {
    const char *method; /**< NULL = GET */
    const char *host;   /**< the field Host: name, and port if it is not 80 */
    const char *target; /**< path and query: "/events?group=1" */
    const leat_http_field
        *fields;        /**< ended by {0}; Host, Content-Length, Transfer-Encoding, Connection are not among them */
    leat_bytebuf *body; /**< given away, also on failure; NULL = none */
} leat_http_client_request;

/** The header of a response. Read-only; valid until the message is released. */
typedef struct leat_http_client_response {
    unsigned status;
    const char *reason;            /**< as it came, maybe "" */
    const leat_http_field *fields; /**< in the order they came */
    size_t field_count;
    int minor; /**< 1 for HTTP/1.1, 0 for HTTP/1.0 */
} leat_http_client_response;

/** The types of messages: a request, written; the header of a response and its end, read. */
LEAT_API extern const leat_type leat_type_http_client_request;
LEAT_API extern const leat_type leat_type_http_client_response; /**< see above */
LEAT_API extern const leat_type leat_type_http_client_end;      /**< see above */

/** Returns the value of the first header field of that name, whatever the case of its letters; NULL = there is none. */
LEAT_API const char *leat_http_client_response_field(const leat_http_client_response *response, const char *name);

/**
 * Writes a request from `ctx`; gives its body and `done` (may be NULL) away. Returns 0, LEAT_ENOMEM, or LEAT_EINVAL: a
 * method or name that is no token, a target or host with blanks or control characters, a name that is reserved, a value
 * that would forge fields; then nothing was written and `done` completes with it. While the response to the last
 * request has not ended, `done` gets LEAT_EAGAIN.
 */
LEAT_API int leat_http_client_send(leat_ctx *ctx, const leat_http_client_request *request, leat_done *done);

/**
 * ByteBufs in; out come leat_type_http_client_response, the body in ByteBufs, leat_type_http_client_end. A body without
 * a length ends with the connection: then `eof` stands for the end. Interim responses (1xx) are dropped. Errors, after
 * which nothing more comes: LEAT_ECORRUPT (no HTTP, an upgrade, bytes that answer nothing), LEAT_ETOOLONG (a limit),
 * LEAT_ETIMEDOUT, LEAT_ETRUNCATED (at `eof`, before the end of the response that is due), LEAT_ENOMEM.
 */
LEAT_API extern const leat_handler leat_http_client;

LEAT_END_DECLS

#endif
