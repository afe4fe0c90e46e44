#include "handlers/zlib_deflater.h"

#include "core/channel.h"
#include "handlers/zlib_internal.h"

struct deflater {
    zlib_deflating deflating;
    leat_done_list held; /* completions of what has not been written yet */
    uint64_t counted;    /* bytes told to leat_ctx_hold_out */
    int over;            /* what later writes complete with; 0 = the stream goes on */
};

static int added(leat_ctx *ctx, const void *config) {
    struct deflater *self = leat_state(ctx);
    leat_zlib_deflating_init(&self->deflating, config, leat_channel_alloc(leat_ctx_channel(ctx)));
    return 0;
}

static void count_held(leat_ctx *ctx, struct deflater *self, uint64_t bytes) {
    uint64_t most = UINT32_MAX - self->counted;
    self->counted += bytes < most ? bytes : most;
    leat_ctx_hold_out(ctx, bytes < most ? bytes : most);
}

static void count_none(leat_ctx *ctx, struct deflater *self) {
    leat_ctx_unhold_out(ctx, self->counted);
    self->counted = 0;
}

/* The peer could not make sense of what would come behind a gap. */
static void tear(leat_ctx *ctx, struct deflater *self, int code) {
    self->over = code;
    leat_zlib_deflating_clean_up(&self->deflating);
    count_none(ctx, self);
    leat_ctx_complete_list(ctx, &self->held, code);
    leat_ctx_fail(ctx, code);
}

/* Writes output, if there is any, so that every held completion runs with it: the others ride on empty writes. */
static void leave(leat_ctx *ctx, struct deflater *self, leat_bytebuf *out) {
    count_none(ctx, self);
    if (out)
        leat_ctx_write(ctx, leat_msg_of_bytebuf(out), leat_done_list_take(&self->held));
    for (leat_done *done = leat_done_list_take(&self->held); done; done = leat_done_list_take(&self->held))
        leat_ctx_write_copy(ctx, "", 0, done);
}

static void leave_with_all(leat_ctx *ctx, struct deflater *self, int code) {
    leat_bytebuf *out = NULL;
    if (code == 0)
        code = leat_zlib_deflating_take_all(&self->deflating, &out);
    if (code == 0)
        leave(ctx, self, out);
    else
        tear(ctx, self, code);
}

static void flush_held(leat_ctx *ctx, struct deflater *self) {
    zlib_deflating *deflating = &self->deflating;
    if (self->over != 0 || (deflating->unflushed == 0 && !self->held.first))
        return;
    deflating->stream.avail_in = 0;
    leave_with_all(ctx, self, deflating->unflushed ? leat_zlib_deflating_flush(deflating) : 0);
}

static void end_stream(leat_ctx *ctx, struct deflater *self) {
    if (self->over == 0 && !self->deflating.config.each_message)
        leave_with_all(ctx, self, leat_zlib_deflating_finish(&self->deflating));
    if (self->over == 0)
        self->over = LEAT_ECLOSED;
    leat_zlib_deflating_clean_up(&self->deflating);
}

/* The message stays one message: what becomes of it has its completion. */
static void write_one(leat_ctx *ctx, struct deflater *self, leat_bytebuf *in, leat_done *done) {
    zlib_deflating *deflating = &self->deflating;
    bool whole = deflating->config.each_message;
    leat_bytebuf *out = NULL;
    int code = leat_zlib_deflating_feed(deflating, in, whole ? Z_FINISH : Z_SYNC_FLUSH);
    if (code == 0)
        code = leat_zlib_deflating_take_all(deflating, &out);
    leat_bytebuf_release(in);
    if (code == 0) {
        leat_ctx_write(ctx, leat_msg_of_bytebuf(out), done);
    } else {
        leat_ctx_complete(ctx, done, code);
        leat_zlib_deflating_drop(deflating);
        if (!whole)
            tear(ctx, self, code);
    }
    if (whole && deflating->begun)
        leat_zlib_deflating_restart(deflating);
}

/* The message joins others; blocks that it fills leave at once. */
static void write_with_others(leat_ctx *ctx, struct deflater *self, leat_bytebuf *in, leat_done *done) {
    zlib_deflating *deflating = &self->deflating;
    uint64_t length = leat_bytebuf_readable(in);
    int code = length ? leat_zlib_deflating_feed(deflating, in, Z_NO_FLUSH) : 0;
    leat_bytebuf_release(in);
    leat_done_list_add(&self->held, done);
    if (code != 0) {
        tear(ctx, self, code);
        return;
    }
    if (deflating->config.flush == LEAT_ZLIB_FLUSH_TURN)
        count_held(ctx, self, length);
    leat_bytebuf *full = leat_zlib_deflating_take_full(deflating);
    if (full)
        leat_ctx_write(ctx, leat_msg_of_bytebuf(full), NULL);
}

static void write_bytes(leat_ctx *ctx, struct deflater *self, leat_bytebuf *in, leat_done *done) {
    const leat_zlib_deflater_config *config = &self->deflating.config;
    if (!config->each_message && config->flush != LEAT_ZLIB_FLUSH_MESSAGE)
        write_with_others(ctx, self, in, done);
    else if (config->each_message || leat_bytebuf_readable(in) > 0)
        write_one(ctx, self, in, done);
    else
        leat_ctx_write(ctx, leat_msg_of_bytebuf(in), done);
}

static void write_message(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    struct deflater *self = leat_state(ctx);
    leat_bytebuf *in = leat_msg_bytebuf(msg);
    if (!in) {
        flush_held(ctx, self);
        leat_ctx_write(ctx, msg, done);
    } else if (self->over != 0) {
        leat_ctx_refuse(ctx, msg, done, self->over);
    } else {
        write_bytes(ctx, self, in, done);
    }
}

static void flush(leat_ctx *ctx) {
    struct deflater *self = leat_state(ctx);
    if (self->deflating.config.flush == LEAT_ZLIB_FLUSH_TURN)
        flush_held(ctx, self);
    leat_ctx_flush(ctx);
}

static void end(leat_ctx *ctx) {
    end_stream(ctx, leat_state(ctx));
    leat_ctx_close(ctx);
}

/* A channel that is gone without a message gets no stream: that would take memory for nothing. */
static void removed(leat_ctx *ctx) {
    struct deflater *self = leat_state(ctx);
    if (self->deflating.begun || leat_channel_is_open(leat_ctx_channel(ctx)))
        end_stream(ctx, self);
    else
        leave(ctx, self, NULL);
}

const leat_handler leat_zlib_deflater = {
    .name = "zlib_deflater",
    .state_size = sizeof(struct deflater),
    .config_size = sizeof(leat_zlib_deflater_config),
    .check = leat_zlib_deflater_check,
    .added = added,
    .removed = removed,
    .write = write_message,
    .flush = flush,
    .close = end,
};
