#include "handlers/legacy_tcp_decoder.h"
#include "tests/fuzz/feed.h"

#include <stdlib.h>

/* Whatever the frame says, an event lies inside it. */
static void read_events(leat_bytebuf *frame) {
    leat_legacy_tcp_read_event event;
    uint64_t end = leat_bytebuf_writer_index(frame);
    if (leat_legacy_tcp_read_header(frame, &event) != 0)
        return;
    while (leat_legacy_tcp_read_next(frame, &event) == 1)
        if (event.payload > end || event.payload_length > end - event.payload)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    leat_bytebuf *frame = leat_bytebuf_from_bytes(leat_unpooled(), data, size);
    if (frame)
        read_events(frame);
    leat_bytebuf_release(frame);
    fuzz_feed((const leat_stage[]){{.handler = &leat_legacy_tcp_decoder}, {0}}, data, size, NULL);
    return 0;
}
