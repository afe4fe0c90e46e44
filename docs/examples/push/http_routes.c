/* What HTTP requests get: the page, the stream of events, and a way to publish. */
#include "app.h"

#include <leat/handlers/http.h>
#include <leat/handlers/idle.h>
#include <leat/handlers/sse_delimiter.h>
#include <leat/handlers/zlib_deflater.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct routes {
    push_app *app;
    bool is_stream;
} routes;

static int added(leat_ctx *ctx, const void *config) {
    routes *state = leat_state(ctx);
    state->app = ((const push_app_config *)config)->app;
    return 0;
}

static void active(leat_ctx *ctx) {
    routes *state = leat_state(ctx);
    if (leat_group_add(state->app->channels, leat_ctx_channel(ctx)) != 0)
        leat_ctx_fail(ctx, LEAT_ENOMEM);
    leat_ctx_fire_active(ctx);
}

/* ---- GET / ----------------------------------------------------------------------------------------------------------
 */

static void show_page(leat_ctx *ctx) {
    static const leat_http_field fields[] = {{"Content-Type", "text/html; charset=utf-8"},
                                             {"Cache-Control", "no-cache"},
                                             {"Content-Security-Policy", "default-src 'self' 'unsafe-inline'"},
                                             {"X-Content-Type-Options", "nosniff"},
                                             {0}};
    leat_bytebuf *body = leat_bytebuf_wrap_static(leat_channel_alloc(leat_ctx_channel(ctx)), push_page, push_page_size);
    if (!body || leat_http_respond(ctx, 200, fields, body, NULL) != 0)
        leat_ctx_fail(ctx, LEAT_ENOMEM);
}

/* ---- GET /events ----------------------------------------------------------------------------------------------------
 */

static const leat_http_field stream_fields[] = {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"},
                                                {"Vary", "Accept-Encoding"},           {"X-Accel-Buffering", "no"},
                                                {"X-Content-Type-Options", "nosniff"}, {0}};

static const leat_http_field compressed_fields[] = {{"Content-Type", "text/event-stream"},
                                                    {"Content-Encoding", "gzip"},
                                                    {"Cache-Control", "no-store"},
                                                    {"Vary", "Accept-Encoding"},
                                                    {"X-Accel-Buffering", "no"},
                                                    {"X-Content-Type-Options", "nosniff"},
                                                    {0}};

/* Starts the answer. Each turn's events are deflated and flushed together, so none waits for the next. A small window
 * is enough for events that look alike, and makes a client cost 64 KiB instead of 256. */
static int answer_with_stream(leat_ctx *ctx, bool compressed) {
    static const leat_zlib_deflater_config gzip = {.format = LEAT_ZLIB_GZIP, .window_bits = 13, .memory_level = 6};
    const leat_stage stage = {.handler = &leat_zlib_deflater, .config = &gzip};
    leat_channel *channel = leat_ctx_channel(ctx);
    int code = leat_http_stream(ctx, 200, compressed ? compressed_fields : stream_fields);
    if (code != 0 || !compressed)
        return code;
    return leat_channel_add_after(channel, leat_channel_find(channel, "http"), &stage, NULL);
}

/* Something to read at once, for clients and proxies that wait for a first byte. */
static void greet(leat_ctx *ctx) {
    static const char greeting[] = ":ok\n\n";
    leat_bytebuf *comment =
        leat_bytebuf_wrap_static(leat_channel_alloc(leat_ctx_channel(ctx)), greeting, sizeof greeting - 1);
    if (comment)
        leat_ctx_write(ctx, leat_msg_of_bytebuf(comment), NULL);
}

/* What the client saw last; false = nothing, or nothing of ours. */
static bool saw(const leat_http_request *request, uint64_t *id) {
    const char *text = leat_http_request_field(request, "Last-Event-ID");
    char *end = NULL;
    if (!text || *text < '0' || *text > '9')
        return false;
    errno = 0;
    *id = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

/* Tells of events that it will never get, by the last one that it did. */
static void tell_gap(leat_ctx *ctx, uint64_t seen) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, seen);
    const leat_sse_event gap = {.event = leat_sse_text("gap"), .data = leat_sse_text(text)};
    leat_bytebuf *framed = NULL;
    if (leat_sse_frame(leat_channel_alloc(leat_ctx_channel(ctx)), &gap, &framed) == 0)
        leat_ctx_write(ctx, leat_msg_of_bytebuf(framed), NULL);
}

static void catch_up(leat_ctx *ctx, leat_push_connection *connection, uint64_t seen) {
    bool whole = leat_push_keeps_all(((routes *)leat_state(ctx))->app->push, seen);
    if (!whole)
        tell_gap(ctx, seen);
    if (leat_push_replay(connection, seen) != 0 && whole)
        tell_gap(ctx, seen);
}

static void start_stream(leat_ctx *ctx, const leat_push_join_options *joining, const leat_http_request *request) {
    routes *state = leat_state(ctx);
    leat_channel *channel = leat_ctx_channel(ctx);
    leat_push_connection *connection = NULL;
    uint64_t seen;
    if (leat_push_join(state->app->push, channel, joining, &connection) != 0) {
        leat_http_respond_text(ctx, 503, "no room for one more stream\n");
        return;
    }
    if (answer_with_stream(ctx, leat_http_request_accepts_coding(request, "gzip")) != 0) {
        leat_push_leave(connection);
        leat_ctx_fail(ctx, LEAT_ENOMEM);
        return;
    }
    state->is_stream = true;
    greet(ctx);
    if (!joining->group && saw(request, &seen))
        catch_up(ctx, connection, seen);
}

/* A parameter's value, or NULL when it is absent or empty; a code < 0 when it is no text or too long. */
static int parameter(const leat_http_request *request, const char *name, char *value, size_t size, const char **found) {
    int length = leat_http_request_query(request, name, value, size);
    *found = length > 0 ? value : NULL;
    return length == LEAT_ENOTFOUND || length >= 0 ? 0 : length;
}

static void join_stream(leat_ctx *ctx, const leat_http_request *request) {
    routes *state = leat_state(ctx);
    char group[128], slot[128];
    uint64_t window = state->app->options.window_ms;
    leat_push_join_options joining = {.codec = &leat_push_codec_sse,
                                      .window_ms = window ? (uint32_t)window : LEAT_PUSH_NO_WINDOW};
    if (parameter(request, "group", group, sizeof group, &joining.group) < 0 ||
        parameter(request, "slot", slot, sizeof slot, &joining.slot) < 0 || (joining.slot && !joining.group))
        leat_http_respond_text(ctx, 400, "group and slot are texts of at most 127 bytes, and a slot needs a group\n");
    else
        start_stream(ctx, &joining, request);
}

/* ---- POST /events ---------------------------------------------------------------------------------------------------
 */

/* Compares every byte, so that the time tells nothing about the token. */
static bool is_token(const push_app *app, const char *given) {
    size_t length = strlen(app->token);
    unsigned difference = strlen(given) != length;
    for (size_t i = 0, end = strnlen(given, length); i < end; i++)
        difference |= (unsigned)(unsigned char)given[i] ^ (unsigned)(unsigned char)app->token[i];
    return difference == 0;
}

static bool has_token(const push_app *app, const leat_http_request *request) {
    static const char scheme[] = "Bearer ";
    const char *given = leat_http_request_field(request, "Authorization");
    return given && strncmp(given, scheme, sizeof scheme - 1) == 0 && is_token(app, given + sizeof scheme - 1);
}

/* A name that a page elsewhere cannot make the browser use for this machine. */
static bool is_local_host(const char *host) {
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; host && i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(host, names[i], length) == 0 && (host[length] == '\0' || host[length] == ':'))
            return true;
    }
    return false;
}

/* Browsers say where a page that posts comes from: only our own page may. */
static bool is_local_request(leat_ctx *ctx, const leat_http_request *request) {
    const char *host = leat_http_request_field(request, "Host"), *origin = leat_http_request_field(request, "Origin");
    leat_address peer;
    if (leat_tcp_peer(leat_ctx_channel(ctx), &peer) != 0 || !leat_address_is_loopback(&peer) || !is_local_host(host))
        return false;
    return !origin || (strncmp(origin, "http://", 7) == 0 && strcmp(origin + 7, host) == 0);
}

static void answer_publisher(leat_ctx *ctx, int code) {
    switch (code) {
    case 0:
        leat_http_respond_text(ctx, 202, "accepted\n");
        break;
    case LEAT_ETOOLONG:
        leat_http_respond_text(ctx, 413, "the event is too large\n");
        break;
    default:
        leat_http_respond_text(ctx, 503, "no room for one more event\n");
    }
}

static void publish(leat_ctx *ctx, const leat_http_request *request) {
    routes *state = leat_state(ctx);
    if (!request->body || leat_bytebuf_readable(request->body) == 0) {
        leat_http_respond_text(ctx, 400, "the body is the event, and it is empty\n");
        return;
    }
    leat_bytebuf *body = leat_bytebuf_slice_readable(request->body);
    leat_push_event *event = leat_push_event_new(leat_loop_alloc(state->app->loop), body);
    answer_publisher(ctx, leat_push_offer(state->app->push, event));
}

static void check_publisher(leat_ctx *ctx, const leat_http_request *request) {
    routes *state = leat_state(ctx);
    static const leat_http_field challenge[] = {{"WWW-Authenticate", "Bearer"}, {0}};
    if (state->app->options.token_file && !has_token(state->app, request))
        leat_http_respond(ctx, 401, challenge, NULL, NULL);
    else if (!state->app->options.token_file && !is_local_request(ctx, request))
        leat_http_respond_text(ctx, 403, "only this machine may publish, unless leat-push has a --token-file\n");
    else
        publish(ctx, request);
}

/* ---- which is which -------------------------------------------------------------------------------------------------
 */

static void refuse_method(leat_ctx *ctx, const char *allowed) {
    const leat_http_field fields[] = {{"Allow", allowed}, {0}};
    leat_http_respond(ctx, 405, fields, NULL, NULL);
}

static void route_events(leat_ctx *ctx, const leat_http_request *request) {
    if (strcmp(request->method, "GET") == 0)
        join_stream(ctx, request);
    else if (strcmp(request->method, "HEAD") == 0)
        leat_http_respond(ctx, 200, stream_fields, NULL, NULL);
    else if (strcmp(request->method, "POST") == 0)
        check_publisher(ctx, request);
    else
        refuse_method(ctx, "GET, HEAD, POST");
}

static void route_page(leat_ctx *ctx, const leat_http_request *request) {
    if (strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0)
        show_page(ctx);
    else
        refuse_method(ctx, "GET, HEAD");
}

static void read_request(leat_ctx *ctx, leat_msg msg) {
    const leat_http_request *request = leat_msg_as(msg, &leat_type_http_request);
    if (request && strcmp(request->path, "/events") == 0)
        route_events(ctx, request);
    else if (request && strcmp(request->path, "/") == 0)
        route_page(ctx, request);
    else if (request)
        leat_http_respond_text(ctx, 404, "here are / and /events\n");
    leat_msg_release(msg);
}

/* ---- quiet and broken connections -----------------------------------------------------------------------------------
 */

static void give_up(leat_ctx *ctx, int code) {
    routes *state = leat_state(ctx);
    push_report_client(state->app, leat_ctx_channel(ctx), leat_error_message(code));
    leat_ctx_fire_error(ctx, code);
}

/* Bytes that wait although none was taken for so long: nobody reads at the other end. */
static void keep_alive(leat_ctx *ctx) {
    leat_channel *channel = leat_ctx_channel(ctx);
    if (leat_channel_pending(channel) > 0) {
        push_report_client(((routes *)leat_state(ctx))->app, channel, "it does not read");
        leat_channel_abort(channel, LEAT_ETIMEDOUT);
        return;
    }
    leat_bytebuf *comment = leat_sse_keep_alive(leat_channel_alloc(channel));
    if (comment)
        leat_ctx_write(ctx, leat_msg_of_bytebuf(comment), NULL);
}

static void event(leat_ctx *ctx, leat_msg msg) {
    const leat_idle_event *idle = leat_msg_as(msg, &leat_type_idle);
    if (idle && idle->kind == LEAT_IDLE_WRITE && ((routes *)leat_state(ctx))->is_stream)
        keep_alive(ctx);
    leat_msg_release(msg);
}

static const leat_type *const requests[] = {&leat_type_http_request, NULL};

const leat_handler push_http_routes = {
    .name = "routes",
    .state_size = sizeof(routes),
    .config_size = sizeof(push_app_config),
    .reads = requests,
    .fires = leat_no_type,
    .added = added,
    .active = active,
    .read = read_request,
    .event = event,
    .error = give_up,
};
