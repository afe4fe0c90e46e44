/* Compressed batches: whatever the text, taking it apart ends; and what comes apart is put together to the same events.
 */
#include "handlers/zlib_batch.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const leat_zlib_batch_config config = {.max_total = 1 << 16, .delimiter = {(const uint8_t *)"$$", 2}};

static void take_apart(leat_bytebuf *joined) {
    leat_bytebuf *event;
    uint64_t before = leat_bytebuf_readable(joined) + 1;
    while (leat_zlib_batch_next(&config, joined, &event) == 1) {
        if (leat_bytebuf_readable(joined) >= before)
            abort();
        before = leat_bytebuf_readable(joined);
        leat_bytebuf_release(event);
    }
}

static void read_text(const uint8_t *data, size_t size) {
    leat_bytebuf *joined;
    if (leat_zlib_batch_decode(leat_unpooled(), &config, (leat_span){data, size}, &joined) != 0)
        return;
    if (leat_bytebuf_readable(joined) > config.max_total)
        abort();
    take_apart(joined);
    leat_bytebuf_release(joined);
}

/* What is made of an event, "data: " and line ends apart, is read as that event. */
static void assert_comes_back(const leat_bytebuf *event, leat_bytebuf *framed) {
    leat_bytebuf *flat = leat_bytebuf_copy(framed, leat_unpooled()), *joined, *back;
    leat_span text = {leat_bytebuf_data(flat) + 6, (size_t)leat_bytebuf_readable(flat) - 8};
    if (leat_zlib_batch_decode(leat_unpooled(), &config, text, &joined) != 0 ||
        leat_zlib_batch_next(&config, joined, &back) != 1 || !leat_bytebuf_equals(event, back))
        abort();
    leat_bytebuf_release(back);
    leat_bytebuf_release(joined);
    leat_bytebuf_release(flat);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    leat_bytebuf *event = leat_bytebuf_from_bytes(leat_unpooled(), data, size), *framed;
    read_text(data, size);
    if (event && leat_zlib_batch_encode(leat_unpooled(), &config, &event, 1, &framed) == 0) {
        assert_comes_back(event, framed);
        leat_bytebuf_release(framed);
    }
    leat_bytebuf_release(event);
    return 0;
}
