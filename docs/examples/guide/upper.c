#include "guide.h"

#include <ctype.h>

static void upper_read(leat_ctx *ctx, leat_msg msg) {
    leat_bytebuf *line = msg.obj; /* .reads promises a ByteBuf */
    for (size_t i = leat_bytebuf_reader_index(line); i < leat_bytebuf_writer_index(line); i++)
        leat_bytebuf_set_u8(line, i, (uint8_t)toupper(leat_bytebuf_get_u8(line, i)));
    leat_ctx_write(ctx, msg, NULL); /* gives the line away */
}

const leat_handler upper = {.name = "upper", .reads = leat_only_bytebuf, .read = upper_read};
