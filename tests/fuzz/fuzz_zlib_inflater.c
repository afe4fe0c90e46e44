#include "handlers/zlib_inflater.h"
#include "tests/fuzz/feed.h"

/* The first two bytes choose the configuration; hostile streams may inflate to at most a MiB here. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint8_t words[] = "data: {\"key\":\"value\"}";
    if (size < 2)
        return 0;
    leat_zlib_inflater_config config = {.format = (leat_zlib_format)(data[0] & 3),
                                        .each_message = data[0] & 4,
                                        .one_member = data[0] & 8,
                                        .trailing = (leat_zlib_trailing)(data[0] >> 4 & 3),
                                        .window_bits = data[1] & 15,
                                        .chunk = data[1] & 16 ? 64 : 0,
                                        .max_total = 1 << 20};
    if (data[1] & 32)
        config.dictionary = (leat_span){words, sizeof words - 1};
    fuzz_feed((const leat_stage[]){{.handler = &leat_zlib_inflater, .config = &config}, {0}}, data + 2, size - 2, NULL);
    return 0;
}
