#include "handlers/delimiter.h"
#include "tests/fuzz/feed.h"

enum { CONFIG_BYTES = 4 };

/* The first bytes choose the configuration and the lengths of three delimiters, which the input begins with. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < CONFIG_BYTES + 12)
        return 0;
    const uint8_t *bytes = data + CONFIG_BYTES;
    const leat_span ends[] = {{bytes, data[1] % 5}, {bytes + 4, data[2] % 5}, {bytes + 8, data[3] % 5}};
    leat_delimiter_config config = {
        .delimiters = ends,
        .count = 1 + data[0] % 3,
        .keep_delimiter = data[0] & 4,
        .last_frame = data[0] & 8,
        .report_late = data[0] & 16,
        .max_length = data[0] >> 5,
    };
    const leat_stage stages[] = {{.handler = &leat_delimiter_decoder, .config = &config}, {0}};
    fuzz_feed(stages, bytes, size - CONFIG_BYTES, NULL);
    return 0;
}
