#include "shout.h"

#include <ctype.h>

static void capitalise(leat_bytebuf *line) {
    for (uint64_t i = leat_bytebuf_reader_index(line); i < leat_bytebuf_writer_index(line); i++)
        leat_bytebuf_set_u8(line, i, (uint8_t)toupper(leat_bytebuf_get_u8(line, i)));
}

static void shout_read(leat_ctx *ctx, leat_msg msg) {
    leat_bytebuf *line = leat_msg_bytebuf(msg);
    int code = leat_bytebuf_own(&line); /* ours alone now: copies only if somebody shares the bytes */
    if (code) {
        leat_bytebuf_release(line);
        leat_ctx_fire_error(ctx, code);
        return;
    }
    capitalise(line);
    leat_ctx_fire_read(ctx, leat_msg_of_bytebuf(line)); /* gives the line away */
}

const leat_handler shout = {
    .name = "shout",
    .reads = leat_only_bytebuf,
    .fires = leat_only_bytebuf,
    .read = shout_read,
};
