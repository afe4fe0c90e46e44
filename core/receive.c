/** The receive block: reads go into one large block; what is few is copied out, what is much leaves as an exclusive
 * split. */
#include "core/bytebuf_internal.h"
#include "core/channel_internal.h"

enum {
    BLOCK_SIZE = 256 * 1024 - 512, /* with its handle 256 KiB, a size class; smaller costs throughput: docs/design.md */
    LEAST_ROOM = 64 * 1024,
    COPY_BELOW = 2048, /* a split costs a handle and keeps the block lent; copying this much costs less */
    MOST_LENT = 16,
};

typedef struct leat_receive {
    leat_bytebuf *block;           /* where reads go */
    leat_bytebuf *lent[MOST_LENT]; /* full blocks whose splits are still about */
    size_t lent_count;
} leat_receive;

static bool came_back(const leat_bytebuf *block) {
    return leat_storage_is_sole(leat_storage_of(block));
}

static void rewind_block(leat_bytebuf **block) {
    leat_bytebuf_own(block);
    leat_bytebuf_clear(*block);
}

/* A lent block that came back, or NULL; further ones that came back are freed. */
static leat_bytebuf *take_back(leat_receive *receive) {
    leat_bytebuf *back = NULL;
    size_t kept = 0;
    for (size_t i = 0; i < receive->lent_count; i++) {
        leat_bytebuf *block = receive->lent[i];
        if (!came_back(block))
            receive->lent[kept++] = block;
        else if (back)
            leat_bytebuf_release(block);
        else
            back = block;
    }
    receive->lent_count = kept;
    return back;
}

/* With every block lent the current one is used again and again, and each read is copied out of it. */
static bool copies_all(const leat_receive *receive) {
    return receive->lent_count == MOST_LENT;
}

static leat_receive *receive_of(leat_loop *loop) {
    if (!loop->receive)
        loop->receive = leat_alloc_take_zeroed(loop->internal_alloc, sizeof(leat_receive));
    return loop->receive;
}

static void renew_block(leat_loop *loop, leat_receive *receive) {
    if (receive->block && copies_all(receive))
        leat_bytebuf_release(take_back(receive));
    if (receive->block && came_back(receive->block)) {
        rewind_block(&receive->block);
        return;
    }
    if (receive->block && leat_bytebuf_writable(receive->block) >= LEAST_ROOM)
        return;
    if (receive->block)
        receive->lent[receive->lent_count++] = receive->block;
    receive->block = take_back(receive);
    if (receive->block)
        rewind_block(&receive->block);
    else
        receive->block = leat_bytebuf_new(loop->alloc, BLOCK_SIZE);
}

uint8_t *leat_loop_receive_room(leat_loop *loop, size_t *room) {
    leat_receive *receive = receive_of(loop);
    if (!receive)
        return NULL;
    renew_block(loop, receive);
    if (!receive->block)
        return NULL;
    *room = (size_t)leat_bytebuf_writable(receive->block);
    return leat_bytebuf_room(receive->block, *room);
}

static leat_bytebuf *take_copy(leat_loop *loop, leat_receive *receive, size_t length) {
    const uint8_t *bytes = leat_bytebuf_room(receive->block, length);
    return bytes ? leat_bytebuf_from_bytes(loop->alloc, bytes, length) : NULL;
}

leat_bytebuf *leat_loop_receive_take(leat_loop *loop, size_t length) {
    leat_receive *receive = loop->receive;
    if (length < COPY_BELOW || copies_all(receive))
        return take_copy(loop, receive, length);
    if (!leat_bytebuf_wrote(receive->block, length))
        return NULL;
    leat_bytebuf *split = leat_bytebuf_split(receive->block, length);
    if (!split)
        leat_bytebuf_skip(receive->block, length);
    return split;
}

bool leat_receive_owns(const leat_loop *loop, const void *buffer) {
    const leat_receive *receive = loop->receive;
    if (!receive)
        return false;
    for (size_t i = 0; i < receive->lent_count; i++)
        if (receive->lent[i] == buffer)
            return true;
    return receive->block == buffer;
}

void leat_receive_clean_up(leat_loop *loop) {
    leat_receive *receive = loop->receive;
    if (!receive)
        return;
    for (size_t i = 0; i < receive->lent_count; i++)
        leat_bytebuf_release(receive->lent[i]);
    leat_bytebuf_release(receive->block);
    leat_alloc_give(loop->internal_alloc, receive, sizeof *receive);
    loop->receive = NULL;
}
