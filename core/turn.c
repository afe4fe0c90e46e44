/**
 * The end of a channel's turn: wakes, flush event, transport write, completions, again while these wrote; then
 * `writable`; then closing; then freeing.
 */
#include "core/channel_internal.h"
#include "core/probe_internal.h"

/* After so many rounds the other channels have their turn first. */
enum { MOST_ROUNDS = 16 };

void leat_channel_mark(leat_channel *channel, uint32_t work) {
    channel->work |= (uint8_t)work;
    if (channel_has(channel, CHANNEL_QUEUED | CHANNEL_IN_TURN))
        return;
    leat_loop *loop = channel->loop;
    channel->flags |= CHANNEL_QUEUED;
    channel->next_dirty = NULL;
    if (loop->dirty_last)
        loop->dirty_last->next_dirty = channel;
    else
        loop->dirty_first = channel;
    loop->dirty_last = channel;
}

static bool take(leat_channel *channel, uint32_t work) {
    bool due = (channel->work & work) != 0;
    channel->work &= (uint8_t)~work;
    return due;
}

static void wake_one(leat_ctx *ctx) {
    if (ctx->flags & CTX_FAILED) {
        ctx->flags &= (uint16_t)~CTX_FAILED;
        leat_ctx_fire_error(ctx, ctx->failure);
    }
    if (!(ctx->flags & CTX_WAKE))
        return;
    ctx->flags &= (uint16_t)~CTX_WAKE;
    if (!(ctx->flags & CTX_REMOVED) && ctx->handler->wake)
        ctx->handler->wake(ctx);
}

static leat_ctx *next_to_wake(const leat_channel *channel) {
    for (uint32_t i = 0; i < channel->live + channel->removed; i++)
        if (channel->places[i]->flags & (CTX_WAKE | CTX_FAILED))
            return channel->places[i];
    return NULL;
}

/* Handlers may come and go while others are woken, so each time the first due one is looked up anew. */
static void run_wakes(leat_channel *channel) {
    uint32_t most = channel->live + channel->removed;
    for (uint32_t i = 0; i < most; i++) {
        leat_ctx *ctx = next_to_wake(channel);
        if (!ctx)
            return;
        wake_one(ctx);
    }
    if (next_to_wake(channel))
        leat_channel_mark(channel, WORK_WAKE);
}

static void flush(leat_channel *channel) {
    if (!channel_has(channel, CHANNEL_ENDED))
        leat_ctx_flush(tail_of(channel));
}

static void run_rounds(leat_channel *channel) {
    for (int round = 0; round < MOST_ROUNDS && (channel->work & WORK_ROUNDS); round++) {
        if (take(channel, WORK_WAKE))
            run_wakes(channel);
        if (take(channel, WORK_FLUSH))
            flush(channel);
        if (take(channel, WORK_WRITE))
            leat_outbound_write(channel);
        if (take(channel, WORK_DONE))
            leat_channel_run_completions(channel);
    }
}

/* `writable` tells the state as it is now, if handlers were last told the other, or may have stopped writing because
 * they saw the other meanwhile. */
static void report_writable(leat_channel *channel) {
    bool unwritable = channel_has(channel, CHANNEL_UNWRITABLE);
    bool stopped = !unwritable && channel_has(channel, CHANNEL_DIPPED);
    if ((unwritable == channel_has(channel, CHANNEL_REPORTED) && !stopped) || channel_has(channel, CHANNEL_ENDED))
        return;
    channel->flags &= ~(uint32_t)(CHANNEL_REPORTED | CHANNEL_DIPPED);
    channel->flags |= unwritable ? CHANNEL_REPORTED : 0;
    leat_ctx_fire_writable(head_of(channel));
}

static void half_close(leat_channel *channel) {
    if (channel_has(channel, CHANNEL_SHUT_DOWN) || !channel->transport)
        return;
    channel->flags |= CHANNEL_SHUT_DOWN;
    channel->transport->ops->shutdown(channel->transport);
}

static void go_on_closing(leat_channel *channel) {
    if (channel_has(channel, CHANNEL_ENDED))
        return;
    bool reported = !(head_of(channel)->flags & CTX_FAILED);
    if (channel_has(channel, CHANNEL_ABORTED) || (channel_has(channel, CHANNEL_BROKEN) && reported)) {
        leat_channel_end(channel);
        return;
    }
    if (channel_has(channel, CHANNEL_BROKEN)) {
        leat_channel_mark(channel, WORK_CLOSE); /* behind its error, which had no round of this turn left */
        return;
    }
    if (!channel_has(channel, CHANNEL_CLOSING) || (queue_length(channel) > 0 && channel_has(channel, CHANNEL_ACTIVE)))
        return;
    bool whole = !channel_has(channel, CHANNEL_READS_ON);
    if (channel_has(channel, CHANNEL_ACTIVE))
        half_close(channel);
    else if (whole)
        leat_channel_end(channel);
    if (whole && channel_has(channel, CHANNEL_EOF))
        leat_channel_end(channel);
}

static void update_interest(leat_channel *channel) {
    if (!channel->transport || !channel_has(channel, CHANNEL_ACTIVE))
        return;
    unsigned wanted = leat_channel_wants_read(channel) ? LEAT_INTEREST_READ : 0;
    if (channel_has(channel, CHANNEL_BLOCKED))
        wanted |= LEAT_INTEREST_WRITE;
    if (wanted == channel->interest)
        return;
    channel->interest = (uint8_t)wanted;
    int code = channel->transport->ops->interest(channel->transport, wanted);
    if (code < 0)
        leat_channel_broke(channel, code);
}

void leat_channel_end_turn(leat_channel *channel) {
    LEAT_PROBE(turn, channel, channel->work);
    channel->loop->stats.channel_turns++;
    channel->flags |= CHANNEL_IN_TURN;
    run_rounds(channel);
    if (!(channel->work & WORK_ROUNDS) && take(channel, WORK_WRITABLE))
        report_writable(channel);
    if (take(channel, WORK_CLOSE))
        go_on_closing(channel);
    if (take(channel, WORK_INTEREST))
        update_interest(channel);
    if (channel->removed > 0)
        leat_channel_reap(channel);
    take(channel, WORK_FREE);
    channel->flags &= ~(uint32_t)CHANNEL_IN_TURN;
    if (channel->work) {
        channel->loop->stats.continuations++;
        leat_channel_mark(channel, channel->work);
    } else {
        leat_channel_free_if_done(channel);
    }
}
