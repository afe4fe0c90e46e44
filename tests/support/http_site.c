#include "tests/support/http_site.h"

#include "tests/support/suite.h"

#include <string.h>

static const leat_http_field event_stream[] = {{"Content-Type", "text/event-stream"}, {0}};

static void answer_describing(leat_ctx *ctx, const leat_http_request *request) {
    char text[512], query[64];
    int length = leat_http_request_query(request, "name", query, sizeof query);
    int body = request->body ? (int)leat_bytebuf_readable(request->body) : 0;
    const char *field = leat_http_request_field(request, "x-test");
    snprintf(text, sizeof text, "%s|%s|%s|%s|%d|%.*s\n", request->method, request->path, length < 0 ? "-" : query,
             field ? field : "-", request->keep_alive, body,
             request->body ? (const char *)leat_bytebuf_data(request->body) : "");
    leat_http_respond_text(ctx, 200, text);
}

static void site_read(leat_ctx *ctx, leat_msg msg) {
    const leat_http_request *request = leat_msg_as(msg, &leat_type_http_request);
    if (strcmp(request->path, "/stream") == 0)
        leat_http_stream(ctx, 200, event_stream);
    else if (strcmp(request->path, "/empty") == 0)
        leat_http_respond(ctx, 204, NULL, NULL, NULL);
    else if (strcmp(request->path, "/later") != 0)
        answer_describing(ctx, request);
    leat_msg_release(msg);
}

const leat_handler site = {.name = "site", .read = site_read};
const leat_stage site_stages[] = {{.handler = &leat_http}, {.handler = &site}, {0}};

leat_embedded *site_fed(const leat_stage *stages, const char *text) {
    leat_embedded *embedded = leat_embedded_new(stages);
    leat_embedded_feed_text(embedded, text);
    return embedded;
}

void assert_written(leat_embedded *embedded, const char *expected) {
    ck_assert_str_eq(leat_embedded_written_text(embedded), expected);
}

leat_ctx *site_of(leat_embedded *embedded) {
    return leat_channel_find(leat_embedded_channel(embedded), "site");
}

void site_feed_bytewise(leat_embedded *embedded, const char *text) {
    for (; *text; text++)
        leat_embedded_feed(embedded, text, 1);
}
