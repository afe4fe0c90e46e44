#include "handlers/varint.h"
#include "tests/fuzz/feed.h"

static void write_back(leat_embedded *embedded, leat_msg msg) {
    leat_embedded_write(embedded, msg, NULL);
}

/* The first byte chooses the configuration; what is decoded is written back through the prepender. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    leat_varint_decoder_config decoder = {.keep_length = data[0] & 1, .max_frame = data[0] >> 2};
    leat_varint_prepender_config prepender = {.max_frame = data[0] & 2 ? 4 : 0};
    const leat_stage stages[] = {{.handler = &leat_varint_decoder, .config = &decoder},
                                 {.handler = &leat_varint_prepender, .config = &prepender},
                                 {0}};
    fuzz_feed(stages, data + 1, size - 1, write_back);
    return 0;
}
