/* Legacy TCP connections: a client subscribes, gets frames of events, and both sides send heartbeats when quiet. */
#include "app.h"

#include <leat/handlers/idle.h>
#include <leat/handlers/legacy_tcp_framer.h>

typedef struct port {
    push_app *app;
    bool has_subscribed;
} port;

static int added(leat_ctx *ctx, const void *config) {
    ((port *)leat_state(ctx))->app = ((const push_app_config *)config)->app;
    return 0;
}

static void active(leat_ctx *ctx) {
    port *state = leat_state(ctx);
    if (leat_group_add(state->app->channels, leat_ctx_channel(ctx)) != 0)
        leat_ctx_fail(ctx, LEAT_ENOMEM);
    leat_ctx_fire_active(ctx);
}

/* A peer that is silent, broken or makes no sense is not waited for. */
static void give_up(leat_ctx *ctx, int code) {
    port *state = leat_state(ctx);
    push_report_client(state->app, leat_ctx_channel(ctx), leat_error_message(code));
    leat_channel_abort(leat_ctx_channel(ctx), code);
}

static void subscribe(leat_ctx *ctx) {
    port *state = leat_state(ctx);
    if (state->has_subscribed)
        return;
    state->has_subscribed = true;
    const push_options *options = &state->app->options;
    const leat_push_join_options joining = {.codec = &leat_push_codec_legacy_tcp,
                                            .window_ms = options->window_ms ? (uint32_t)options->window_ms
                                                                            : LEAT_PUSH_NO_WINDOW};
    int code = leat_push_join(state->app->push, leat_ctx_channel(ctx), &joining, NULL);
    if (code != 0)
        give_up(ctx, code);
}

/* What it says does not matter to us: that it came keeps the connection alive. */
static bool handle(leat_ctx *ctx, const leat_legacy_tcp_read_event *event) {
    if (event->opcode == LEAT_LEGACY_TCP_SUBSCRIBED)
        subscribe(ctx);
    if (event->opcode != LEAT_LEGACY_TCP_UNSUBSCRIBED)
        return true;
    leat_ctx_close(ctx);
    return false;
}

static int read_frame(leat_ctx *ctx, leat_bytebuf *frame) {
    leat_legacy_tcp_read_event event;
    int more = leat_legacy_tcp_read_header(frame, NULL);
    if (more < 0)
        return more;
    while ((more = leat_legacy_tcp_read_next(frame, &event)) > 0)
        if (!handle(ctx, &event))
            return 0;
    return more;
}

static void read_message(leat_ctx *ctx, leat_msg msg) {
    int code = read_frame(ctx, leat_msg_bytebuf(msg));
    leat_msg_release(msg);
    if (code < 0)
        give_up(ctx, code);
}

/* A heartbeat says that we live; behind bytes that wait it would only come later than they do. */
static void beat(leat_ctx *ctx) {
    leat_channel *channel = leat_ctx_channel(ctx);
    leat_bytebuf *heartbeat = NULL;
    if (leat_channel_pending(channel) == 0)
        heartbeat = leat_legacy_tcp_heartbeat(leat_channel_alloc(channel));
    if (heartbeat)
        leat_ctx_write(ctx, leat_msg_of_bytebuf(heartbeat), NULL);
}

static void event(leat_ctx *ctx, leat_msg msg) {
    const leat_idle_event *idle = leat_msg_as(msg, &leat_type_idle);
    if (idle && idle->kind == LEAT_IDLE_WRITE)
        beat(ctx);
    if (idle && idle->kind == LEAT_IDLE_READ)
        give_up(ctx, LEAT_ETIMEDOUT);
    leat_msg_release(msg);
}

const leat_handler push_tcp_port = {
    .name = "tcp_port",
    .state_size = sizeof(port),
    .config_size = sizeof(push_app_config),
    .reads = leat_only_bytebuf,
    .fires = leat_no_type,
    .added = added,
    .active = active,
    .read = read_message,
    .event = event,
    .error = give_up,
};
