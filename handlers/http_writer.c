#include "core/channel.h"
#include "handlers/http_internal.h"

#include <stdio.h>
#include <string.h>

enum { HEAD_ROOM = 256, CHUNK_HEADER_ROOM = 24 };

/* ---- the end of a response ---- */

static void finish_response(leat_ctx *ctx, struct http *http) {
    http->phase = HTTP_READING;
    if (!http->keep_alive) {
        leat_ctx_close(ctx);
        leat_ctx_wake(ctx); /* lets go of what came behind */
        return;
    }
    leat_http_start_timer(ctx, http->limits.keep_alive_ms);
    leat_decoder_resume(ctx);
}

/* The peer ended its side, and asked for nothing more before. */
static bool is_last(const struct http *http) {
    return http->decoder.eof && leat_decoder_waiting(&http->decoder) == 0;
}

static bool has_body(const struct http *http, const http_response *response) {
    return !http->head && response->status != 204 && response->status != 304;
}

/* What is written out of turn: after a HEAD or a close the application cannot know better. */
static int code_outside(const leat_ctx *ctx, const struct http *http) {
    return http->head || !leat_channel_is_open(leat_ctx_channel(ctx)) ? LEAT_ECLOSED : LEAT_EINVAL;
}

/* ---- responses ---- */

static const char *connection_line(const struct http *http) {
    if (!http->keep_alive)
        return "Connection: close\r\n";
    return http->minor == 0 ? "Connection: keep-alive\r\n" : "";
}

static void length_line(const struct http *http, const http_response *response, char *line, size_t size) {
    unsigned long long length = response->body ? leat_bytebuf_readable(response->body) : 0;
    if (response->status == 204 || response->status == 304 || (response->stream && !http->chunked))
        line[0] = '\0';
    else if (response->stream)
        snprintf(line, size, "Transfer-Encoding: chunked\r\n");
    else
        snprintf(line, size, "Content-Length: %llu\r\n", length);
}

static void write_head(leat_ctx *ctx, const struct http *http, const http_response *response) {
    char head[HEAD_ROOM], length[64];
    length_line(http, response, length, sizeof length);
    int size = snprintf(head, sizeof head, "HTTP/1.1 %u %s\r\n%s%s", response->status,
                        leat_http_reason(response->status), length, connection_line(http));
    leat_ctx_write_copy(ctx, head, (size_t)size, NULL);
}

static void write_parts(leat_ctx *ctx, struct http *http, http_response *response, leat_done *done) {
    leat_bytebuf *fields = response->fields, *body = response->body;
    bool with_body = body && has_body(http, response);
    response->fields = NULL;
    write_head(ctx, http, response);
    leat_ctx_write(ctx, leat_msg_of_bytebuf(fields), with_body ? NULL : done);
    if (!with_body)
        return;
    response->body = NULL;
    leat_ctx_write(ctx, leat_msg_of_bytebuf(body), done);
}

static void write_response(leat_ctx *ctx, struct http *http, leat_msg msg, leat_done *done) {
    http_response *response = msg.obj;
    if (http->phase != HTTP_ANSWERING) {
        leat_ctx_refuse(ctx, msg, done, code_outside(ctx, http));
        return;
    }
    bool streams = response->stream && has_body(http, response);
    http->chunked = response->stream && http->minor == 1;
    http->keep_alive = http->keep_alive && !is_last(http) && (!streams || http->chunked);
    write_parts(ctx, http, response, done);
    leat_msg_release(msg);
    if (streams)
        http->phase = HTTP_STREAMING;
    else
        finish_response(ctx, http);
}

/* ---- streams (RFC 9112 7.1) ---- */

/* What makes no bytes completes in its turn: behind those before it. */
static void write_nothing(leat_ctx *ctx, leat_done *done) {
    leat_ctx_write_copy(ctx, "", 0, done);
}

static void write_chunk(leat_ctx *ctx, leat_bytebuf *bytes, leat_done *done) {
    char header[CHUNK_HEADER_ROOM];
    int length = snprintf(header, sizeof header, "%llx\r\n", (unsigned long long)leat_bytebuf_readable(bytes));
    leat_ctx_write_copy(ctx, header, (size_t)length, NULL);
    leat_ctx_write(ctx, leat_msg_of_bytebuf(bytes), NULL);
    leat_ctx_write_copy(ctx, "\r\n", 2, done);
}

static void write_bytes(leat_ctx *ctx, struct http *http, leat_msg msg, leat_done *done) {
    if (http->phase != HTTP_STREAMING) {
        leat_ctx_refuse(ctx, msg, done, code_outside(ctx, http));
    } else if (leat_msg_size(msg) == 0) { /* an empty chunk would end the stream */
        leat_msg_release(msg);
        write_nothing(ctx, done);
    } else if (http->chunked) {
        write_chunk(ctx, leat_msg_bytebuf(msg), done);
    } else {
        leat_ctx_write(ctx, msg, done);
    }
}

static void write_last_chunk(leat_ctx *ctx, const struct http *http, leat_done *done) {
    if (http->chunked)
        leat_ctx_write_copy(ctx, "0\r\n\r\n", 5, done);
    else
        write_nothing(ctx, done);
}

static void end_stream(leat_ctx *ctx, struct http *http, leat_done *done) {
    if (http->phase != HTTP_STREAMING) {
        leat_ctx_complete(ctx, done, code_outside(ctx, http));
        return;
    }
    write_last_chunk(ctx, http, done);
    finish_response(ctx, http);
}

/* ---- entries ---- */

void leat_http_write(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    struct http *http = leat_state(ctx);
    if (msg.type == &leat_type_bytebuf)
        write_bytes(ctx, http, msg, done);
    else if (msg.type == &leat_type_http_response)
        write_response(ctx, http, msg, done);
    else if (msg.type == &leat_type_http_end)
        end_stream(ctx, http, done);
    else
        leat_ctx_write(ctx, msg, done);
}

void leat_http_close(leat_ctx *ctx) {
    struct http *http = leat_state(ctx);
    if (http->phase == HTTP_STREAMING)
        write_last_chunk(ctx, http, NULL);
    http->phase = HTTP_READING;
    http->keep_alive = false;
    leat_ctx_close(ctx);
}

void leat_http_turn_away(leat_ctx *ctx, unsigned status) {
    char answer[HEAD_ROOM];
    const char *reason = leat_http_reason(status);
    int size = snprintf(answer, sizeof answer,
                        "HTTP/1.1 %u %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %zu\r\n"
                        "Connection: close\r\n\r\n%u %s\n",
                        status, reason, strlen(reason) + 5, status, reason);
    leat_ctx_write_copy(ctx, answer, (size_t)size, NULL);
    leat_ctx_close(ctx);
}
