/* HTTP requests: whatever comes, whole and byte by byte get the same answers, and nothing leaks. */
#include "core/embedded.h"
#include "handlers/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void answer(leat_ctx *ctx, leat_msg msg) {
    const leat_http_request *request = leat_msg_as(msg, &leat_type_http_request);
    char value[16];
    if (leat_http_request_query(request, "s", value, sizeof value) >= 0) {
        leat_http_stream(ctx, 200, NULL);
        leat_http_end(ctx, NULL);
    } else {
        leat_http_respond_text(ctx, 200, request->path);
    }
    leat_msg_release(msg);
}

static const leat_handler site = {.name = "site", .read = answer};
/* Above what an input can hold: of two faults in one read, which one is reported may depend on the splits. */
static const leat_http_config limits = {.max_count = 1024};
static const leat_stage stages[] = {{&leat_http, &limits, NULL}, {.handler = &site}, {0}};

static leat_bytebuf *answers_to(const uint8_t *data, size_t size, size_t step) {
    leat_embedded *embedded = leat_embedded_new(stages);
    for (size_t at = 0; at < size; at += step)
        leat_embedded_feed(embedded, data + at, size - at < step ? size - at : step);
    leat_embedded_feed_eof(embedded);
    leat_bytebuf *written = leat_embedded_take_written(embedded);
    leat_bytebuf *answers = leat_bytebuf_copy(written, leat_unpooled());
    leat_bytebuf_release(written);
    while (leat_embedded_take_error(embedded)) {
    }
    if (leat_embedded_finish(embedded) != 0) {
        puts(leat_embedded_report(embedded));
        abort();
    }
    leat_embedded_free(embedded);
    return answers;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 2048)
        return 0;
    leat_bytebuf *whole = answers_to(data, size, size ? size : 1), *bytewise = answers_to(data, size, 1);
    if (!leat_bytebuf_equals(whole, bytewise))
        abort();
    leat_bytebuf_release(whole);
    leat_bytebuf_release(bytewise);
    return 0;
}
