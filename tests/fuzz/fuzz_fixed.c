#include "handlers/fixed.h"
#include "tests/fuzz/feed.h"

/* The first byte chooses the configuration. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    leat_fixed_config config = {.last_frame = data[0] & 1, .length = data[0] >> 1};
    fuzz_feed((const leat_stage[]){{.handler = &leat_fixed_decoder, .config = &config}, {0}}, data + 1, size - 1, NULL);
    return 0;
}
