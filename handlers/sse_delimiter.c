#include "handlers/sse_delimiter.h"

#include "core/channel.h"
#include "core/composite.h"
#include "core/gather.h"

/* ---- delimiting ---- */

leat_bytebuf *leat_sse_delimit(leat_alloc *alloc, leat_bytebuf *event) {
    leat_composite *delimited = leat_composite_new(alloc, 3);
    if (!delimited) {
        leat_bytebuf_release(event);
        return NULL;
    }
    int code = leat_composite_add_static(delimited, LEAT_SSE_PREFIX, strlen(LEAT_SSE_PREFIX));
    int added = leat_composite_add(delimited, event);
    if (code == 0 && added == 0)
        code = leat_composite_add_static(delimited, LEAT_SSE_SUFFIX, strlen(LEAT_SSE_SUFFIX));
    if (code == 0 && added == 0)
        return leat_composite_buffer(delimited);
    leat_bytebuf_release(leat_composite_buffer(delimited));
    return NULL;
}

leat_bytebuf *leat_sse_delimit_list(leat_alloc *alloc, leat_bytebuf *const *events, size_t count) {
    leat_gather gather;
    leat_gather_init(&gather, alloc, LEAT_GATHER_WRAP, (uint32_t)(2 * count + 1));
    if (count > 0) {
        leat_gather_add_static(&gather, LEAT_SSE_PREFIX, strlen(LEAT_SSE_PREFIX));
        leat_gather_add_joined(&gather, events, count, LEAT_SSE_SEPARATOR, strlen(LEAT_SSE_SEPARATOR));
        leat_gather_add_static(&gather, LEAT_SSE_SUFFIX, strlen(LEAT_SSE_SUFFIX));
    }
    return leat_gather_finish(&gather);
}

leat_bytebuf *leat_sse_keep_alive(leat_alloc *alloc) {
    return leat_bytebuf_wrap_static(alloc, LEAT_SSE_KEEP_ALIVE, strlen(LEAT_SSE_KEEP_ALIVE));
}

/* Frames an event that has line ends: contiguous first, as framing looks at it twice. */
static leat_bytebuf *frame_lines(leat_alloc *alloc, leat_bytebuf *event) {
    leat_bytebuf *flat = leat_bytebuf_data(event) ? leat_bytebuf_retain(event) : leat_bytebuf_copy(event, alloc);
    leat_bytebuf_release(event);
    if (!flat)
        return NULL;
    leat_sse_event framing = {.data = {leat_bytebuf_data(flat), (size_t)leat_bytebuf_readable(flat)}};
    leat_bytebuf *framed;
    leat_sse_frame(alloc, &framing, &framed);
    leat_bytebuf_release(flat);
    return framed;
}

static bool has_line_end(const leat_bytebuf *event) {
    return leat_bytebuf_find_any(event, leat_bytebuf_reader_index(event), "\r\n", 2) >= 0;
}

struct delimiter {
    bool trusted;
};

static int added(leat_ctx *ctx, const void *config) {
    struct delimiter *delimiter = leat_state(ctx);
    delimiter->trusted = config && ((const leat_sse_delimiter_config *)config)->trusted;
    return 0;
}

/* Frames an event with its fields. */
static void write_fields(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    const leat_sse_event *event = leat_msg_as(msg, &leat_type_sse_event);
    leat_bytebuf *framed;
    int code = leat_sse_frame(leat_channel_alloc(leat_ctx_channel(ctx)), event, &framed);
    leat_msg_release(msg);
    if (code == 0)
        leat_ctx_write(ctx, leat_msg_of_bytebuf(framed), done);
    else
        leat_ctx_complete(ctx, done, code);
}

static void write_bare(leat_ctx *ctx, leat_bytebuf *event, leat_done *done) {
    const struct delimiter *delimiter = leat_state(ctx);
    leat_alloc *alloc = leat_channel_alloc(leat_ctx_channel(ctx));
    bool plain = delimiter->trusted || !has_line_end(event);
    event = plain ? leat_sse_delimit(alloc, event) : frame_lines(alloc, event);
    if (event)
        leat_ctx_write(ctx, leat_msg_of_bytebuf(event), done);
    else
        leat_ctx_complete(ctx, done, LEAT_ENOMEM);
}

static void write_event(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    if (leat_msg_bytebuf(msg))
        write_bare(ctx, leat_msg_bytebuf(msg), done);
    else if (leat_msg_as(msg, &leat_type_sse_event))
        write_fields(ctx, msg, done);
    else
        leat_ctx_write(ctx, msg, done);
}

static const leat_type *const takes[] = {&leat_type_bytebuf, &leat_type_sse_event, NULL};

const leat_handler leat_sse_delimiter = {
    .name = "sse_delimiter",
    .state_size = sizeof(struct delimiter),
    .config_size = sizeof(leat_sse_delimiter_config),
    .takes = takes,
    .writes = leat_only_bytebuf,
    .added = added,
    .write = write_event,
};
