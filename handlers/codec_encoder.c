#include "core/composite.h"
#include "handlers/codec.h"

static leat_bytebuf *join(leat_alloc *alloc, const void *header, size_t length, leat_bytebuf *buf) {
    leat_composite *both = leat_composite_new(alloc, 1);
    if (!both) {
        leat_bytebuf_release(buf);
        return NULL;
    }
    leat_bytebuf *joined = leat_composite_buffer(both);
    if (leat_composite_add(both, buf) == 0 && leat_bytebuf_prepend(joined, header, length))
        return joined;
    leat_bytebuf_release(joined);
    return NULL;
}

leat_bytebuf *leat_encoder_prepend(leat_alloc *alloc, const void *header, size_t length, leat_bytebuf *buf) {
    if (leat_bytebuf_prepend(buf, header, length))
        return buf;
    return join(alloc, header, length, buf);
}

void leat_encoder_write(leat_ctx *ctx, const void *header, size_t length, leat_bytebuf *buf, leat_done *done) {
    if (!leat_bytebuf_prepend(buf, header, length))
        leat_ctx_write_copy(ctx, header, length, NULL);
    leat_ctx_write(ctx, leat_msg_of_bytebuf(buf), done);
}
