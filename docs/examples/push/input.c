/* Standard input as a source: each line is an event; it is read no faster than the listeners follow. */
#include "app.h"

/* Lines asked for at once, and how long to wait for slow listeners before looking again. */
enum { LINES_AT_ONCE = 64, LOOK_AGAIN_MS = 5 };

/* What framing adds to a line at the most: an id of 20 digits, the names of two fields and their line ends. */
enum { FRAMING = 40 };

/* Bytes that may wait for each listener on average: above a batch, below the high watermark of its channel. */
enum { BYTES_A_LISTENER = 96 << 10 };

typedef struct input {
    leat_timer timer;
    leat_ctx *ctx;
    push_app *app;
    uint64_t asked;
} input;

static bool listeners_follow(const push_app *app) {
    leat_push_ledger ledger = leat_push_server_ledger(app->push);
    leat_push_amount pending = ledger.destinations.pending;
    uint64_t listeners = leat_push_server_connections(app->push);
    return leat_push_has_room(app->push, 1 << 20) &&
           (listeners == 0 || (pending.bytes + pending.events * FRAMING) / listeners < BYTES_A_LISTENER);
}

static void ask(input *state) {
    if (listeners_follow(state->app)) {
        state->asked = LINES_AT_ONCE;
        leat_channel_request(leat_ctx_channel(state->ctx), LINES_AT_ONCE);
        return;
    }
    if (leat_timer_start(state->app->loop, &state->timer, LOOK_AGAIN_MS) != 0)
        leat_ctx_fail(state->ctx, LEAT_ENOMEM);
}

static void look_again(leat_timer *timer) {
    ask((input *)timer);
}

static int added(leat_ctx *ctx, const void *config) {
    input *state = leat_state(ctx);
    state->app = ((const push_app_config *)config)->app;
    state->ctx = ctx;
    state->timer.fn = look_again;
    return 0;
}

static void removed(leat_ctx *ctx) {
    input *state = leat_state(ctx);
    leat_timer_stop(state->app->loop, &state->timer);
    state->app->input = NULL;
}

static void active(leat_ctx *ctx) {
    ask(leat_state(ctx));
    leat_ctx_fire_active(ctx);
}

static void read_line(leat_ctx *ctx, leat_msg msg) {
    input *state = leat_state(ctx);
    leat_push_offer(state->app->push, leat_push_event_new(leat_loop_alloc(state->app->loop), leat_msg_bytebuf(msg)));
    if (--state->asked == 0)
        ask(state);
}

/* A line that is too long is skipped by the decoder, and the next ones count. */
static void error(leat_ctx *ctx, int code) {
    input *state = leat_state(ctx);
    if (code == LEAT_ETOOLONG)
        push_report_client(state->app, NULL, "standard input: a line is longer than 1 MiB and was skipped");
    else
        leat_ctx_fire_error(ctx, code);
}

const leat_handler push_input = {
    .name = "input",
    .state_size = sizeof(input),
    .config_size = sizeof(push_app_config),
    .reads = leat_only_bytebuf,
    .fires = leat_no_type,
    .added = added,
    .removed = removed,
    .active = active,
    .read = read_line,
    .error = error,
};
