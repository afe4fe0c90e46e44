#include "handlers/http.h"
#include "tests/fuzz/feed.h"

/* Answers every request, so that the next one of the connection is read. */
static void answer(leat_embedded *embedded, leat_msg msg) {
    leat_msg response;
    if (leat_http_response_new(leat_embedded_alloc(embedded), 200, NULL, NULL, &response) == 0)
        leat_embedded_write(embedded, response, NULL);
    leat_msg_release(msg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    leat_http_config config = {.max_target = 64, .max_fields = 256, .max_count = 8, .max_body = 512};
    fuzz_feed((const leat_stage[]){{.handler = &leat_http, .config = &config}, {0}}, data, size, answer);
    return 0;
}
