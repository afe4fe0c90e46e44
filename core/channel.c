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

/* ---- what the application asks ---- */

leat_loop *leat_channel_loop(const leat_channel *channel) {
    return channel->loop;
}

leat_alloc *leat_channel_alloc(const leat_channel *channel) {
    return channel->loop->alloc;
}

static bool lies_behind(const leat_ctx *ctx, const leat_done *done) {
    return (uintptr_t)done - (uintptr_t)ctx < sizeof *ctx + ctx->handler->state_size;
}

void leat_channel_write(leat_channel *channel, leat_msg msg, leat_done *done) {
    leat_assert_thread(channel->loop);
    for (uint32_t i = 0; done && i < (uint32_t)channel->live + channel->removed; i++)
        if (lies_behind(channel->places[i], done))
            leat_ctx_pin(channel->places[i], done);
    leat_ctx_write(tail_of(channel), msg, done);
}

void leat_channel_flush(leat_channel *channel) {
    leat_ctx_flush(tail_of(channel));
}

static void start_close_timer(leat_channel *channel) {
    channel_extras *extras = leat_channel_extras(channel);
    int code = LEAT_ENOMEM;
    if (extras)
        code = leat_timer_start(channel->loop, &extras->close_timer, options_of(channel)->close_timeout_ms);
    if (code != LEAT_OK)
        leat_channel_abort(channel, code);
}

/* Asked for the whole close after our side: handlers have seen it, only the peer's side is left. */
static void close_other_side(leat_channel *channel) {
    channel->flags &= ~(uint32_t)CHANNEL_READS_ON;
    leat_channel_mark(channel, WORK_CLOSE | WORK_INTEREST);
    start_close_timer(channel);
}

/* A handler that closes passes on the close of our side, or, once that has reached the transport, asks for the rest. */
void leat_channel_begin_close(leat_channel *channel) {
    leat_assert_thread(channel->loop);
    if (channel_has(channel, CHANNEL_ENDED))
        return;
    bool first = !channel_has(channel, CHANNEL_CLOSE_ASKED), half = channel_has(channel, CHANNEL_READS_ON);
    channel->flags |= CHANNEL_CLOSE_ASKED;
    if (first && !half)
        start_close_timer(channel);
    else if (half && channel_has(channel, CHANNEL_CLOSING))
        close_other_side(channel);
}

void leat_channel_close(leat_channel *channel) {
    if (channel_has(channel, CHANNEL_ENDED))
        return;
    leat_assert_thread(channel->loop);
    if (!channel_has(channel, CHANNEL_CLOSE_ASKED))
        leat_ctx_close(tail_of(channel));
    else if (channel_has(channel, CHANNEL_READS_ON))
        close_other_side(channel);
}

void leat_channel_half_close(leat_channel *channel) {
    if (channel_has(channel, CHANNEL_CLOSE_ASKED | CHANNEL_ENDED))
        return;
    channel->flags |= CHANNEL_READS_ON;
    leat_ctx_close(tail_of(channel));
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
    leat_ctx_fire_event(head_of(channel), event);
}

static void wake_decoders(leat_channel *channel) {
    for (uint32_t i = 0; i < channel->live; i++)
        if (channel->places[i]->handler->decodes)
            leat_ctx_wake(channel->places[i]);
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

bool leat_channel_is_readable(const leat_channel *channel) {
    return channel_has(channel, CHANNEL_ACTIVE) && !channel_has(channel, CHANNEL_BROKEN) && !channel_is_deaf(channel) &&
           (!channel_has(channel, CHANNEL_CLOSE_ASKED) || channel_has(channel, CHANNEL_READS_ON));
}

bool leat_channel_is_writable(const leat_channel *channel) {
    return leat_channel_is_open(channel) && !channel_has(channel, CHANNEL_UNWRITABLE);
}

uint64_t leat_channel_pending(const leat_channel *channel) {
    return channel->queued + channel->held_out;
}

uint64_t leat_channel_bytes_before_unwritable(const leat_channel *channel) {
    uint64_t pending = leat_channel_pending(channel);
    if (!leat_channel_is_writable(channel) || pending > options_of(channel)->write_high)
        return 0;
    return options_of(channel)->write_high - pending + 1;
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
