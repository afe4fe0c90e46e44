#include "handlers/http_client.h"
#include "tests/fuzz/feed.h"

/* The first byte chooses the method and the limits. */
static void ask(leat_ctx *ctx) {
    const leat_http_client_request request = {.method = "GET", .host = "h", .target = "/"};
    leat_http_client_send(ctx, &request, NULL);
    leat_ctx_fire_active(ctx);
}

static void ask_for_head(leat_ctx *ctx) {
    const leat_http_client_request request = {.method = "HEAD", .host = "h", .target = "/"};
    leat_http_client_send(ctx, &request, NULL);
    leat_ctx_fire_active(ctx);
}

static const leat_handler askers[] = {{.name = "asker", .active = ask}, {.name = "asker", .active = ask_for_head}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    const leat_http_client_config limits = {
        .max_fields = data[0] & 2 ? 40 : 0, .max_count = data[0] & 4 ? 2 : 0, .max_body = data[0] & 8 ? 9 : 0};
    const leat_stage stages[] = {{&leat_http_client, &limits, NULL}, {.handler = &askers[data[0] & 1]}, {0}};
    fuzz_feed(stages, data + 1, size - 1, NULL);
    return 0;
}
