#include "handlers/length_field_decoder.h"
#include "tests/fuzz/feed.h"

enum { CONFIG_BYTES = 6 };

static leat_length_field_decoder_config config_of(const uint8_t *bytes) {
    static const unsigned lengths[] = {0, 1, 2, 3, 4, 8};
    return (leat_length_field_decoder_config){
        .field_length = lengths[bytes[0] % 6],
        .little_endian = bytes[1] & 1,
        .report_late = bytes[1] & 2,
        .max_frame = bytes[1] & 4 ? 0 : (uint64_t)bytes[2] * 8,
        .offset = bytes[3] % 16,
        .adjustment = (int8_t)bytes[4],
        .strip = bytes[5] % 32,
    };
}

/* The first bytes choose the configuration; one that is refused is fine. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < CONFIG_BYTES)
        return 0;
    leat_length_field_decoder_config config = config_of(data);
    const leat_stage stages[] = {{.handler = &leat_length_field_decoder, .config = &config}, {0}};
    fuzz_feed(stages, data + CONFIG_BYTES, size - CONFIG_BYTES, NULL);
    return 0;
}
