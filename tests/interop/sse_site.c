/* A site for clients of server-sent events: /events sends three events and closes, and goes on where the client says it
 * was; / is a page that reads nine of them and tells /seen, which ends the program. */
#include "handlers/http.h"
#include "handlers/sse_event.h"
#include "transports/evloop.h"
#include "transports/tcp.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_A_STREAM = 3, LONGEST_REPORT = 1024 };

typedef struct site {
    leat_loop *loop;
    leat_done reported;
    unsigned streams;
} site;

typedef struct site_config {
    site *site;
} site_config;

static const char page[] = "<!DOCTYPE html><title>events</title><script>\n"
                           "const seen = [], source = new EventSource('/events');\n"
                           "source.addEventListener('tick', event => {\n"
                           "  seen.push(event.lastEventId + '=' + event.data.replace('\\n', '|'));\n"
                           "  if (seen.length < 9) return;\n"
                           "  source.close();\n"
                           "  fetch('/seen?events=' + encodeURIComponent(seen.join(' ')));\n"
                           "});\n"
                           "</script>\n";

static int added(leat_ctx *ctx, const void *config) {
    *(site_config *)leat_state(ctx) = *(const site_config *)config;
    return 0;
}

static void write_event(leat_ctx *ctx, const leat_sse_event *event) {
    leat_bytebuf *framed;
    int code = leat_sse_frame(leat_channel_alloc(leat_ctx_channel(ctx)), event, &framed);
    if (code == 0)
        leat_ctx_write(ctx, leat_msg_of_bytebuf(framed), NULL);
    else
        leat_ctx_fail(ctx, code);
}

static void write_tick(leat_ctx *ctx, unsigned number) {
    char id[16], data[64];
    snprintf(id, sizeof id, "%u", number);
    snprintf(data, sizeof data, "value %u\nof \xc3\xa4nderung", number);
    write_event(
        ctx, &(leat_sse_event){.event = leat_sse_text("tick"), .id = leat_sse_text(id), .data = leat_sse_text(data)});
}

static void stream(leat_ctx *ctx, const leat_http_request *request) {
    static const leat_http_field fields[] = {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}, {0}};
    const char *last = leat_http_request_field(request, "Last-Event-ID");
    unsigned first = last ? (unsigned)strtoul(last, NULL, 10) + 1 : 1;
    ((const site_config *)leat_state(ctx))->site->streams++;
    if (leat_http_stream(ctx, 200, fields) != 0)
        return;
    write_event(ctx, &(leat_sse_event){.retry_ms = 20, .has_retry = true});
    for (unsigned i = 0; i < EVENTS_A_STREAM; i++)
        write_tick(ctx, first + i);
    leat_channel_close(leat_ctx_channel(ctx));
}

static void end_site(leat_done *done, int status) {
    site *ended = (site *)(void *)((char *)done - offsetof(site, reported));
    (void)status;
    leat_loop_stop(ended->loop);
}

static void report(leat_ctx *ctx, const leat_http_request *request) {
    site *reported = ((const site_config *)leat_state(ctx))->site;
    char seen[LONGEST_REPORT];
    if (leat_http_request_query(request, "events", seen, sizeof seen) > 0)
        printf("seen %s\nstreams %u\n", seen, reported->streams);
    leat_http_respond(ctx, 204, NULL, NULL, &reported->reported);
}

static void show_page(leat_ctx *ctx) {
    static const leat_http_field fields[] = {{"Content-Type", "text/html; charset=utf-8"}, {0}};
    leat_alloc *alloc = leat_channel_alloc(leat_ctx_channel(ctx));
    leat_http_respond(ctx, 200, fields, leat_bytebuf_wrap_static(alloc, page, sizeof page - 1), NULL);
}

static void answer(leat_ctx *ctx, leat_msg msg) {
    const leat_http_request *request = leat_msg_as(msg, &leat_type_http_request);
    if (strcmp(request->path, "/events") == 0)
        stream(ctx, request);
    else if (strcmp(request->path, "/seen") == 0)
        report(ctx, request);
    else if (strcmp(request->path, "/") == 0)
        show_page(ctx);
    else
        leat_http_respond_text(ctx, 404, "not found\n");
    leat_msg_release(msg);
}

static const leat_handler site_handler = {.name = "site",
                                          .state_size = sizeof(site_config),
                                          .config_size = sizeof(site_config),
                                          .added = added,
                                          .read = answer};

static void stop(void *loop, int number) {
    (void)number;
    leat_loop_stop(loop);
}

static int serve(site *served, leat_pipeline *pipeline) {
    leat_problem problem = {0};
    leat_tcp_listener *listener = NULL;
    if (leat_tcp_listen(served->loop, "127.0.0.1:0", &(leat_tcp_options){.pipeline = pipeline}, &listener, &problem)) {
        fprintf(stderr, "sse_site: %s\n", problem.text);
        return 2;
    }
    printf("page http://127.0.0.1:%u/\n", (unsigned)leat_tcp_listener_port(listener));
    fflush(stdout);
    leat_signal *interrupt = leat_evloop_on_signal(served->loop, SIGINT, stop, served->loop);
    leat_loop_run(served->loop);
    leat_signal_release(interrupt);
    leat_tcp_listener_release(listener);
    return 0;
}

int main(void) {
    site served = {.loop = leat_evloop_new(NULL), .reported.fn = end_site};
    const site_config config = {&served};
    const leat_stage stages[] = {{.handler = &leat_http}, {&site_handler, &config, NULL}, {0}};
    leat_pipeline *pipeline = leat_pipeline_new(leat_unpooled(), stages, NULL);
    int code = served.loop && pipeline ? serve(&served, pipeline) : 1;
    leat_loop_release(served.loop);
    leat_pipeline_release(pipeline);
    return code;
}
