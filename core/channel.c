#include "core/channel_internal.h"
#include "core/probe_internal.h"

#include <string.h>

/* ---- the two ends of every pipeline ---- */

static void head_write(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    leat_bytebuf *buf = leat_msg_bytebuf(msg);
    if (buf)
        leat_outbound_add(ctx->channel, buf, done);
    else
        leat_ctx_refuse(ctx, msg, done, LEAT_ETYPE);
}

static void head_flush(leat_ctx *ctx) {
    if (!channel_has(ctx->channel, CHANNEL_BLOCKED))
        leat_channel_mark(ctx->channel, WORK_WRITE);
}

static void head_close(leat_ctx *ctx) {
    leat_channel *channel = ctx->channel;
    if (channel_has(channel, CHANNEL_CLOSING))
        return;
    channel->flags |= CHANNEL_CLOSING;
    leat_channel_mark(channel, WORK_WRITE | WORK_CLOSE | WORK_INTEREST);
}

const leat_handler leat_head_handler = {
    .name = "transport", .write = head_write, .flush = head_flush, .close = head_close};

static void tail_ignore(leat_ctx *ctx) {
    (void)ctx;
}

static void tail_release(leat_ctx *ctx, leat_msg msg) {
    (void)ctx;
    leat_msg_release(msg);
}

static void tail_eof(leat_ctx *ctx) {
    leat_channel_close(ctx->channel);
}

static void tail_error(leat_ctx *ctx, int code) {
    LEAT_PROBE(unhandled_error, ctx->channel, code);
    if (ctx->channel->error == 0)
        ctx->channel->error = code;
    leat_channel_close(ctx->channel);
}

const leat_handler leat_tail_handler = {
    .name = "application",
    .active = tail_ignore,
    .read = tail_release,
    .read_done = tail_ignore,
    .eof = tail_eof,
    .inactive = tail_ignore,
    .writable = tail_ignore,
    .error = tail_error,
    .event = tail_release,
};

/* ---- birth and death ---- */

static uint64_t or_default(uint64_t value, uint64_t standard) {
    return value ? value : standard;
}

static leat_channel_options with_defaults(const leat_channel_options *given) {
    leat_channel_options options = given ? *given : (leat_channel_options){0};
    options.write_high = or_default(options.write_high, 64 * 1024);
    options.write_low = or_default(options.write_low, options.write_high / 2);
    options.write_limit = or_default(options.write_limit, 16 * 1024 * 1024);
    options.read_high = or_default(options.read_high, 256 * 1024);
    options.read_low = or_default(options.read_low, options.read_high / 4);
    options.close_timeout_ms = or_default(options.close_timeout_ms, 5000);
    return options;
}

static void close_timed_out(leat_timer *timer) {
    leat_channel *channel = (leat_channel *)(void *)((char *)timer - offsetof(leat_channel, close_timer));
    leat_channel_abort(channel, LEAT_ETIMEDOUT);
}

static void place(leat_channel *channel, uint32_t at, leat_ctx *ctx, const leat_handler *handler, const char *name) {
    leat_ctx_init(ctx, channel, handler);
    channel->places[at] = (channel_place){ctx, name, leat_channel_new_counts(channel)};
}

static leat_channel *lay_out(leat_loop *loop, leat_pipeline *pipeline, const leat_channel_options *options) {
    uint8_t *block = leat_alloc_take_zeroed(loop->internal_alloc, pipeline->block_size);
    if (!block)
        return NULL;
    uint8_t *base = block + (align_to_line((uintptr_t)block) - (uintptr_t)block);
    leat_channel *channel = (leat_channel *)(void *)base;
    uint32_t count = (uint32_t)pipeline->count;
    *channel = (leat_channel){.loop = loop, .block = block, .block_size = pipeline->block_size};
    channel->pipeline = leat_pipeline_retain(pipeline);
    channel->options = with_defaults(options);
    channel->places = (channel_place *)(void *)(channel + 1);
    channel->live = channel->room = count + 2;
    channel->head = (leat_ctx *)(void *)(base + align_to_line(sizeof *channel + (count + 2) * sizeof(channel_place)));
    channel->tail = channel->head + 1;
    /* The ends are there from the beginning; a handler sees nothing before it was added. */
    place(channel, 0, channel->head, &leat_head_handler, leat_head_handler.name);
    for (uint32_t i = 0; i < count; i++) {
        const pipeline_stage *stage = &pipeline->stages[i];
        place(channel, i + 1, (leat_ctx *)(void *)(base + stage->offset), stage->handler, stage->name);
    }
    place(channel, count + 1, channel->tail, &leat_tail_handler, leat_tail_handler.name);
    channel->head->flags = channel->tail->flags = CTX_ENTERED;
    leat_channel_resolve(channel);
    return channel;
}

static void link_to_loop(leat_channel *channel) {
    leat_loop *loop = channel->loop;
    channel->next = loop->all;
    if (loop->all)
        loop->all->previous = channel;
    loop->all = channel;
    loop->stats.channels++;
}

static void unlink_from_loop(leat_channel *channel) {
    leat_loop *loop = channel->loop;
    if (channel->next)
        channel->next->previous = channel->previous;
    if (channel->previous)
        channel->previous->next = channel->next;
    else
        loop->all = channel->next;
    loop->stats.channels--;
}

/* Each `added` in order; the first that refuses ends the channel. */
static int enter_all(leat_channel *channel) {
    leat_pipeline *pipeline = channel->pipeline;
    uint8_t *base = (uint8_t *)channel;
    for (size_t i = 0; i < pipeline->count; i++) {
        const pipeline_stage *stage = &pipeline->stages[i];
        leat_ctx *ctx = (leat_ctx *)(void *)(base + stage->offset);
        if (ctx->flags & CTX_REMOVED)
            continue;
        int code = leat_ctx_enter(ctx, stage->config);
        if (code != LEAT_OK)
            return code;
    }
    return LEAT_OK;
}

/* A handler may close or fail in `added`: then the channel ends before it ever sees its transport. */
static int begin(leat_channel *channel) {
    leat_loop *loop = channel->loop;
    leat_channel_retain(channel);
    leat_loop_enter(loop);
    int code = enter_all(channel);
    if (code != LEAT_OK)
        leat_channel_end(channel);
    leat_loop_leave(loop);
    if (code == LEAT_OK && channel_has(channel, CHANNEL_ENDED))
        code = channel->error ? channel->error : LEAT_ECLOSED;
    leat_channel_release(channel);
    return code;
}

int leat_channel_new(leat_loop *loop, leat_pipeline *pipeline, leat_transport *transport,
                     const leat_channel_options *options, leat_channel **created) {
    leat_assert_thread(loop);
    *created = NULL;
    if (loop->ending)
        return LEAT_ECLOSED;
    leat_channel *channel = lay_out(loop, pipeline, options);
    if (!channel)
        return LEAT_ENOMEM;
    channel->demand = channel->options.manual_read ? 0 : UINT64_MAX;
    channel->close_timer.fn = close_timed_out;
    link_to_loop(channel);
    LEAT_PROBE(channel_new, channel, pipeline->count);
    int code = begin(channel);
    if (code != LEAT_OK)
        return code;
    channel->transport = transport;
    transport->channel = channel;
    *created = channel;
    return LEAT_OK;
}

void leat_channel_end(leat_channel *channel) {
    if (channel_has(channel, CHANNEL_ENDED))
        return;
    LEAT_PROBE(channel_end, channel, channel->error);
    bool was_active = channel_has(channel, CHANNEL_ACTIVE);
    bool reset = channel_has(channel, CHANNEL_ABORTED);
    channel->flags |= CHANNEL_ABORTED | CHANNEL_ENDED;
    channel->flags &= ~(uint32_t)CHANNEL_ACTIVE;
    leat_timer_stop(channel->loop, &channel->close_timer);
    leat_outbound_fail(channel, channel->end_code ? channel->end_code : LEAT_ECLOSED);
    leat_transport *transport = channel->transport;
    channel->transport = NULL;
    if (transport)
        transport->ops->close(transport, reset);
    leat_channel_leave_groups(channel);
    leat_channel_detach_ref(channel);
    leat_channel_run_completions(channel);
    if (was_active)
        leat_ctx_fire_inactive(channel->head);
    leat_channel_remove_all(channel);
    unlink_from_loop(channel);
    leat_channel_mark(channel, WORK_FREE);
}

void leat_channel_free_if_done(leat_channel *channel) {
    if (!channel_has(channel, CHANNEL_ENDED) || channel_has(channel, CHANNEL_QUEUED))
        return;
    if (channel->refs > 0 || channel->pins > 0 || channel->completed.first)
        return;
    leat_alloc *alloc = channel->loop->internal_alloc;
    leat_channel_release_attributes(channel);
    leat_channel_release_counts(channel);
    leat_outbound_clean_up(channel);
    if (channel->own_places)
        leat_alloc_give(alloc, channel->places, channel->room * sizeof(channel_place));
    leat_pipeline_release(channel->pipeline);
    leat_alloc_give(alloc, channel->block, channel->block_size);
}

leat_channel *leat_channel_retain(leat_channel *channel) {
    leat_assert_thread(channel->loop);
    channel->refs++;
    return channel;
}

void leat_channel_release(leat_channel *channel) {
    if (!channel)
        return;
    leat_loop *loop = channel->loop;
    leat_assert_thread(loop);
    assert(channel->refs > 0);
    if (--channel->refs > 0 || !channel_has(channel, CHANNEL_ENDED))
        return;
    leat_loop_enter(loop);
    leat_channel_mark(channel, WORK_FREE);
    leat_loop_leave(loop);
}

/* ---- what the application asks ---- */

leat_loop *leat_channel_loop(const leat_channel *channel) {
    return channel->loop;
}

leat_alloc *leat_channel_alloc(const leat_channel *channel) {
    return channel->loop->alloc;
}

void leat_channel_write(leat_channel *channel, leat_msg msg, leat_done *done) {
    leat_assert_thread(channel->loop);
    if (done) {
        for (uint32_t i = 0; i < channel->live; i++)
            leat_ctx_pin(channel->places[i].ctx, done);
    }
    leat_ctx_write(channel->tail, msg, done);
}

void leat_channel_flush(leat_channel *channel) {
    leat_ctx_flush(channel->tail);
}

void leat_channel_begin_close(leat_channel *channel) {
    leat_assert_thread(channel->loop);
    if (channel_has(channel, CHANNEL_CLOSE_ASKED | CHANNEL_ENDED))
        return;
    channel->flags |= CHANNEL_CLOSE_ASKED;
    int code = leat_timer_start(channel->loop, &channel->close_timer, channel->options.close_timeout_ms);
    if (code != LEAT_OK)
        leat_channel_abort(channel, code);
}

void leat_channel_close(leat_channel *channel) {
    if (channel_has(channel, CHANNEL_CLOSE_ASKED | CHANNEL_ENDED))
        return;
    leat_ctx_close(channel->tail);
}

void leat_channel_abort(leat_channel *channel, int code) {
    leat_assert_thread(channel->loop);
    if (channel_has(channel, CHANNEL_ABORTED | CHANNEL_ENDED))
        return;
    channel->flags |= CHANNEL_ABORTED;
    if (channel->end_code == 0)
        channel->end_code = code ? code : LEAT_EABORTED;
    if (channel->error == 0)
        channel->error = channel->end_code;
    leat_channel_mark(channel, WORK_CLOSE);
}

void leat_channel_fire_event(leat_channel *channel, leat_msg event) {
    leat_ctx_fire_event(channel->head, event);
}

static void wake_decoders(leat_channel *channel) {
    for (uint32_t i = 0; i < channel->live; i++)
        if (channel->places[i].ctx->handler->decodes)
            leat_ctx_wake(channel->places[i].ctx);
}

static void set_demand(leat_channel *channel, uint64_t demand) {
    leat_assert_thread(channel->loop);
    if (channel->demand == 0 && demand > 0)
        wake_decoders(channel);
    channel->demand = demand;
    leat_channel_mark(channel, WORK_INTEREST);
}

void leat_channel_request(leat_channel *channel, uint64_t count) {
    uint64_t room = UINT64_MAX - 1 - channel->demand;
    if (channel->demand != UINT64_MAX)
        set_demand(channel, channel->demand + (count < room ? count : room));
}

void leat_channel_set_auto_read(leat_channel *channel, bool on) {
    if (on != (channel->demand == UINT64_MAX))
        set_demand(channel, on ? UINT64_MAX : 0);
}

bool leat_channel_is_open(const leat_channel *channel) {
    enum { CLOSED = CHANNEL_CLOSE_ASKED | CHANNEL_ABORTED | CHANNEL_BROKEN | CHANNEL_ENDED };
    return channel_has(channel, CHANNEL_ACTIVE) && !channel_has(channel, CLOSED);
}

bool leat_channel_is_writable(const leat_channel *channel) {
    return leat_channel_is_open(channel) && !channel_has(channel, CHANNEL_UNWRITABLE);
}

uint64_t leat_channel_pending(const leat_channel *channel) {
    return channel->queued + channel->held_out;
}

uint64_t leat_channel_bytes_before_unwritable(const leat_channel *channel) {
    uint64_t pending = leat_channel_pending(channel);
    if (!leat_channel_is_writable(channel) || pending > channel->options.write_high)
        return 0;
    return channel->options.write_high - pending + 1;
}

uint64_t leat_channel_held(const leat_channel *channel) {
    return channel->held;
}

uint64_t leat_channel_bytes_written(const leat_channel *channel) {
    return channel->written;
}

uint64_t leat_channel_bytes_read(const leat_channel *channel) {
    return channel->received;
}

uint64_t leat_channel_last_read(const leat_channel *channel) {
    return channel->last_read;
}

uint64_t leat_channel_last_written(const leat_channel *channel) {
    return channel->last_written;
}

leat_transport *leat_channel_transport(const leat_channel *channel) {
    return channel->transport;
}

int leat_channel_error(const leat_channel *channel) {
    return channel->error;
}
