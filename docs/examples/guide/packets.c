#include "guide.h"

#include <leat/handlers/codec.h>

/* A packet: one byte of length, then so many bytes. */
static int decode(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    (void)ctx;
    uint8_t length = leat_bytebuf_get_u8(in, leat_bytebuf_reader_index(in));
    if (leat_bytebuf_readable(in) < 1u + length)
        return 0; /* more bytes have to come */
    leat_bytebuf_skip(in, 1);
    return leat_decoder_frame(in, length, out);
}

static int added(leat_ctx *ctx, const void *config) {
    (void)config;
    leat_decoder_init(leat_state(ctx), decode, 256);
    return LEAT_OK;
}

const leat_handler packets = {
    .name = "packets",
    .state_size = sizeof(leat_decoder),
    LEAT_DECODER_ENTRIES,
    .reads = leat_only_bytebuf,
    .fires = leat_only_bytebuf,
    .added = added,
};
