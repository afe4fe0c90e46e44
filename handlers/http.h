/**
 * HTTP/1.1, server side, bounded (RFC 9112; parsed by llhttp): requests come in as typed messages, one at a time; the
 * application answers with a whole response, or starts a stream and writes ByteBufs, which leave as chunks by
 * reference.
 *
 *     {&leat_http}, {&greeter}
 *
 *     static void greeter_read(leat_ctx *ctx, leat_msg msg) {
 *         const leat_http_request *request = leat_msg_as(msg, &leat_type_http_request);
 *         if (strcmp(request->path, "/") == 0)
 *             leat_http_respond_text(ctx, 200, "hello\n");
 *         else
 *             leat_http_respond_text(ctx, 404, "not found\n");
 *         leat_msg_release(msg);
 *     }
 */
#ifndef LEAT_HANDLERS_HTTP_H
#define LEAT_HANDLERS_HTTP_H

#include "core/handler.h"

LEAT_BEGIN_DECLS

/** Limits; all zero is a sane default. Sizes are in bytes, times in milliseconds. */
typedef struct leat_http_config {
    uint32_t max_target;    /**< request target; 4,096. Longer: 431 */
    uint32_t max_fields;    /**< names and values of all header fields; 8,192. Longer: 431 */
    uint32_t max_count;     /**< header fields; 64. More: 431 */
    uint64_t max_body;      /**< 1 MiB. Longer: 413 */
    uint64_t request_ms;    /**< from a request's first byte to its last; 10,000. Later: 408 */
    uint64_t keep_alive_ms; /**< from one request to the next, or to the first; 60,000. Then the channel closes */
} leat_http_config;

/** A name and its value: of a header field, or of a list that ends with {0}. */
typedef struct leat_http_field {
    const char *name;
    const char *value;
} leat_http_field;

/** A whole request. Read-only; valid until the message is released. */
typedef struct leat_http_request {
    const char *method;            /**< "GET" */
    const char *path;              /**< as it came: not percent-decoded */
    const char *query;             /**< what stands behind the '?', as it came; NULL = there is no '?' */
    const leat_http_field *fields; /**< header fields in the order they came */
    size_t field_count;
    leat_bytebuf *body; /**< belongs to the request: retain it to keep it; NULL = none */
    int minor;          /**< 1 for HTTP/1.1, 0 for HTTP/1.0 */
    bool keep_alive;    /**< the connection may go on after the response */
} leat_http_request;

/** The types of messages: a request, read; a response and the end of a stream, written. */
LEAT_API extern const leat_type leat_type_http_request;
LEAT_API extern const leat_type leat_type_http_response; /**< see above */
LEAT_API extern const leat_type leat_type_http_end;      /**< see above */

/** Returns the value of the first header field of that name, whatever the case of its letters; NULL = there is none. */
LEAT_API const char *leat_http_request_field(const leat_http_request *request, const char *name);

/**
 * Writes the percent-decoded value of a query parameter ('+' is a space) into `value` as text. Returns its length, or
 * LEAT_ENOTFOUND, LEAT_ETOOLONG (`size` bytes with the NUL are not enough), LEAT_ECORRUPT (bad escape, or a NUL).
 */
LEAT_API int leat_http_request_query(const leat_http_request *request, const char *name, char *value, size_t size);

/**
 * Tells whether the client takes a body in this content coding ("gzip"): its Accept-Encoding names it, or "*", with a
 * weight above 0. To send a stream so, answer with Content-Encoding and Vary, then add a deflater behind http:
 *
 *     leat_http_stream(ctx, 200, fields);
 *     leat_channel_add_after(channel, leat_channel_find(channel, "http"), &(leat_stage){&leat_zlib_deflater}, NULL);
 *
 * It ends its stream when the channel closes, or when it is removed before leat_http_end.
 */
LEAT_API bool leat_http_request_accepts_coding(const leat_http_request *request, const char *coding);

/** Returns the reason phrase of a status: "Not Found"; "" for one that is not known. */
LEAT_API const char *leat_http_reason(unsigned status);

/**
 * Makes a response. `fields` (NULL = none) are its header fields; Content-Length, Transfer-Encoding and Connection are
 * not among them, as the handler sets them. `body` (NULL = none) is given away, also on failure. Returns 0 with the
 * message in `*response`, LEAT_ENOMEM, or LEAT_EINVAL: status not 200..599, a name that is no token or is reserved, a
 * value with a control character (it would forge fields).
 */
LEAT_API int leat_http_response_new(leat_alloc *alloc, unsigned status, const leat_http_field *fields,
                                    leat_bytebuf *body, leat_msg *response);

/** As leat_http_response_new, for a response whose body is a stream: what is written from then on. */
LEAT_API int leat_http_stream_new(leat_alloc *alloc, unsigned status, const leat_http_field *fields,
                                  leat_msg *response);

/**
 * Answers the request: makes a response and writes it from `ctx`; gives `body` and `done` (may be NULL) away. Returns
 * 0, or what leat_http_response_new returns; then nothing was written and `done` completes with it. Out of memory is
 * fired as an error from `ctx`, too.
 */
LEAT_API int leat_http_respond(leat_ctx *ctx, unsigned status, const leat_http_field *fields, leat_bytebuf *body,
                               leat_done *done);

/** Answers the request with plain text in UTF-8; returns as leat_http_respond. */
LEAT_API int leat_http_respond_text(leat_ctx *ctx, unsigned status, const char *text);

/**
 * Answers the request with a stream: status and header fields leave at once, each ByteBuf written from then on is a
 * chunk (or, for HTTP/1.0, plain bytes up to the close). Returns as leat_http_respond.
 */
LEAT_API int leat_http_stream(leat_ctx *ctx, unsigned status, const leat_http_field *fields);

/** Ends the stream; the connection goes on with the next request. Closing the channel ends it too. */
LEAT_API void leat_http_end(leat_ctx *ctx, leat_done *done);

/**
 * ByteBufs in, leat_http_request messages out, the next one after the response to the last. Responses, stream ends and
 * ByteBufs of a stream are taken; a ByteBuf outside a stream and a response without a request complete with
 * LEAT_EINVAL, what comes for a HEAD request behind its header with LEAT_ECLOSED. A request that is no HTTP (400, also
 * when it lacks Host), over a limit (413, 431) or too slow (408) is answered with a line of text; the channel closes,
 * and the error (LEAT_ECORRUPT, LEAT_ETOOLONG, LEAT_ETIMEDOUT) is fired for whoever logs. Upgrades are ignored.
 */
LEAT_API extern const leat_handler leat_http;

LEAT_END_DECLS

#endif
