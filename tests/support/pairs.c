#include "tests/support/pairs.h"

#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

static int decode_pair(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    uint8_t first = leat_bytebuf_get_u8(in, leat_bytebuf_reader_index(in));
    if (first == '?')
        return LEAT_ECORRUPT;
    if (first == '!') {
        leat_bytebuf_skip(in, 1);
        return leat_decoder_recovered(leat_state(ctx), LEAT_ERANGE);
    }
    return leat_bytebuf_readable(in) < 2 ? 0 : leat_decoder_frame(in, 2, out);
}

static int pairs_added(leat_ctx *ctx, const void *config) {
    leat_decoder_init(leat_state(ctx), decode_pair, config ? *(const uint64_t *)config : 0);
    return 0;
}

const leat_handler pairs = {
    .name = "pairs",
    .state_size = sizeof(leat_decoder),
    .config_size = sizeof(uint64_t),
    LEAT_DECODER_ENTRIES,
    .reads = leat_only_bytebuf,
    .fires = leat_only_bytebuf,
    .added = pairs_added,
};

static void read_nested(leat_channel *channel, const char *text) {
    leat_ctx *decoder = leat_channel_find(channel, "pairs");
    decoder->handler->read(decoder, leat_msg_of_bytebuf(leat_bytebuf_from_text(leat_channel_alloc(channel), text)));
}

static void obey_one(leat_channel *channel, uint8_t order) {
    if (order == 'R')
        leat_ctx_remove(leat_channel_find(channel, "pairs"));
    if (order == 'C')
        leat_channel_close(channel);
    if (order == 'N')
        read_nested(channel, "nn");
    if (order == 'E')
        read_nested(channel, "");
    if (order == 'D')
        leat_channel_find(channel, "pairs")->handler->read_done(leat_channel_find(channel, "pairs"));
}

static void obey_read(leat_ctx *ctx, leat_msg msg) {
    uint8_t orders[2] = {0};
    leat_bytebuf *frame = leat_msg_bytebuf(msg);
    if (leat_bytebuf_readable(frame) == 2)
        leat_bytebuf_get_bytes(frame, leat_bytebuf_reader_index(frame), orders, 2);
    leat_ctx_fire_read(ctx, msg);
    obey_one(leat_ctx_channel(ctx), orders[0]);
    obey_one(leat_ctx_channel(ctx), orders[1]);
}

const leat_handler obey = {.name = "obey", .read = obey_read};

const leat_stage just_pairs[] = {{.handler = &pairs}, {0}};
const leat_stage tolerant_pairs[] = {{.handler = &pairs}, {.handler = &tolerant}, {0}};
const leat_stage obeyed_pairs[] = {{.handler = &pairs}, {.handler = &obey}, {0}};

void assert_texts(leat_embedded *embedded, const char *const *expected) {
    for (; *expected; expected++)
        ck_assert_str_eq(leat_embedded_read_text(embedded), *expected);
    ck_assert_ptr_null(leat_embedded_read_text(embedded));
}
