#include "handlers/line.h"
#include "tests/fuzz/feed.h"

/* The first byte chooses the configuration. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    leat_line_config config = {
        .keep_end = data[0] & 1, .last_line = data[0] & 2, .report_late = data[0] & 4, .max_length = data[0] >> 3};
    fuzz_feed((const leat_stage[]){{.handler = &leat_line_decoder, .config = &config}, {0}}, data + 1, size - 1, NULL);
    return 0;
}
