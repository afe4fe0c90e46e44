/** Follows a stream of server-sent events and prints their data: `sse_client HOST:PORT [PATH]`, up to its end. */
#include <leat/handlers/http_client.h>
#include <leat/handlers/sse_decoder.h>
#include <leat/handlers/zlib_inflater.h>
#include <leat/leat.h>
#include <leat/transports/evloop.h>
#include <leat/transports/tcp.h>

#include <stdio.h>
#include <string.h>

typedef struct client {
    leat_loop *loop;
    const char *host, *path;
    int code; /* of the program */
} client;

/* Each handler's config and state: whose it is. */
typedef struct place {
    client *of;
} place;

static client *client_of(leat_ctx *ctx) {
    return ((place *)leat_state(ctx))->of;
}

static int added(leat_ctx *ctx, const void *config) {
    *(place *)leat_state(ctx) = *(const place *)config;
    return 0;
}

/* ---- the follower: asks for the stream, and hands on nothing but its bytes ---- */

static void ask(leat_ctx *ctx) {
    static const leat_http_field fields[] = {
        {"Accept", "text/event-stream"}, {"Accept-Encoding", "gzip"}, {"Cache-Control", "no-store"}, {0}};
    const leat_http_client_request request = {
        .host = client_of(ctx)->host, .target = client_of(ctx)->path, .fields = fields};
    if (leat_http_client_send(ctx, &request, NULL) != 0)
        leat_ctx_fail(ctx, LEAT_EINVAL);
    leat_ctx_fire_active(ctx);
}

static bool field_begins(const leat_http_client_response *response, const char *name, const char *text) {
    const char *value = leat_http_client_response_field(response, name);
    return value && strncmp(value, text, strlen(text)) == 0;
}

static void look(leat_ctx *ctx, const leat_http_client_response *response) {
    leat_channel *channel = leat_ctx_channel(ctx);
    if (response->status != 200 || !field_begins(response, "Content-Type", "text/event-stream")) {
        fprintf(stderr, "sse_client: no stream of events: %u %s\n", response->status, response->reason);
        leat_channel_abort(channel, LEAT_EREFUSED);
        return;
    }
    const leat_stage inflater = {.handler = &leat_zlib_inflater};
    if (!field_begins(response, "Content-Encoding", "gzip"))
        return;
    int code = leat_channel_add_after(channel, ctx, &inflater, NULL);
    if (code != 0)
        leat_channel_abort(channel, code);
}

static void pass_bytes(leat_ctx *ctx, leat_msg msg) {
    const leat_http_client_response *response = leat_msg_as(msg, &leat_type_http_client_response);
    if (leat_msg_bytebuf(msg)) {
        leat_ctx_fire_read(ctx, msg);
        return;
    }
    if (response)
        look(ctx, response);
    else
        leat_channel_close(leat_ctx_channel(ctx)); /* the end of the stream */
    leat_msg_release(msg);
}

static const leat_handler follower = {.name = "follower",
                                      .state_size = sizeof(place),
                                      .config_size = sizeof(place),
                                      .fires = leat_only_bytebuf,
                                      .added = added,
                                      .active = ask,
                                      .read = pass_bytes};

/* ---- the printer ---- */

static void print_event(leat_ctx *ctx, leat_msg msg) {
    (void)ctx;
    const leat_sse_event *event = leat_msg_as(msg, &leat_type_sse_event);
    printf("%s\n", (const char *)event->data.bytes);
    fflush(stdout);
    leat_msg_release(msg);
}

static void note_error(leat_ctx *ctx, int code) {
    client_of(ctx)->code = 1;
    fprintf(stderr, "sse_client: %s\n", leat_error_message(code));
    leat_channel_abort(leat_ctx_channel(ctx), code);
}

static void stop(leat_ctx *ctx) {
    client *self = client_of(ctx);
    if (leat_channel_error(leat_ctx_channel(ctx)) != 0)
        self->code = 1;
    leat_loop_stop(self->loop);
}

static void removed(leat_ctx *ctx) {
    leat_loop_stop(client_of(ctx)->loop);
}

static const leat_handler printer = {.name = "printer",
                                     .state_size = sizeof(place),
                                     .config_size = sizeof(place),
                                     .fires = leat_no_type,
                                     .added = added,
                                     .removed = removed,
                                     .read = print_event,
                                     .error = note_error,
                                     .inactive = stop};

/* ---- set-up ---- */

static int follow(client *self, const char *address) {
    leat_problem problem = {0};
    const place config = {self};
    const leat_stage stages[] = {
        {.handler = &leat_http_client},
        {&follower, &config, NULL},
        {.handler = &leat_sse_decoder},
        {&printer, &config, NULL},
        {0},
    };
    leat_pipeline *pipeline = leat_pipeline_new(leat_loop_alloc(self->loop), stages, &problem);
    const leat_tcp_options options = {.pipeline = pipeline};
    if (!pipeline || leat_tcp_connect(self->loop, address, &options, NULL, &problem) != 0) {
        fprintf(stderr, "sse_client: %s\n", problem.text);
        self->code = 2;
    } else {
        leat_loop_run(self->loop);
    }
    leat_pipeline_release(pipeline);
    return self->code;
}

int main(int count, char **arguments) {
    if (count < 2) {
        fputs("usage: sse_client HOST:PORT [PATH]\n", stderr);
        return 2;
    }
    client self = {.loop = leat_evloop_new(NULL), .host = arguments[1], .path = count > 2 ? arguments[2] : "/events"};
    int code = self.loop ? follow(&self, arguments[1]) : 2;
    leat_loop_release(self.loop);
    return code;
}
