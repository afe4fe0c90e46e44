/** Inbound: what a transport reports, and what becomes of it in each state of the channel. */
#include "core/channel_internal.h"
#include "core/probe_internal.h"

void leat_channel_connected(leat_channel *channel) {
    if (channel_has(channel, CHANNEL_ACTIVE) || channel_is_deaf(channel))
        return;
    channel->flags |= CHANNEL_ACTIVE;
    channel->last_read = channel->last_written = leat_loop_time(channel->loop);
    leat_channel_mark(channel, WORK_WRITE | WORK_INTEREST);
    leat_ctx_fire_active(head_of(channel));
}

/* What few messages need stands apart, so that the others need no frame. */
static __attribute__((noinline)) void receive_counted(leat_channel *channel, leat_bytebuf *buf) {
    channel->demand--;
    leat_channel_mark(channel, WORK_INTEREST);
    leat_ctx_fire_read(head_of(channel), leat_msg_of_bytebuf(buf));
}

static __attribute__((noinline)) void receive_first(leat_channel *channel, leat_bytebuf *buf) {
    leat_loop_read_clock(channel->loop);
    leat_channel_received(channel, buf);
}

void leat_channel_received(leat_channel *channel, leat_bytebuf *buf) {
    if (channel->loop->stale) {
        receive_first(channel, buf);
        return;
    }
    channel->received += leat_bytebuf_readable(buf);
    channel->last_read = channel->loop->now;
    LEAT_PROBE(received, channel, channel->received);
    if (channel_is_deaf(channel)) {
        leat_bytebuf_release(buf);
        return;
    }
    if (channel_has(channel, CHANNEL_COUNTS) && channel->demand != UINT64_MAX && channel->demand > 0) {
        receive_counted(channel, buf);
        return;
    }
    leat_ctx_fire_read(head_of(channel), leat_msg_of_bytebuf(buf));
}

void leat_channel_received_all(leat_channel *channel) {
    if (!channel_is_deaf(channel))
        leat_ctx_fire_read_done(head_of(channel));
}

void leat_channel_received_eof(leat_channel *channel) {
    if (channel_has(channel, CHANNEL_EOF | CHANNEL_ENDED))
        return;
    channel->flags |= CHANNEL_EOF;
    leat_channel_mark(channel, WORK_CLOSE | WORK_INTEREST);
    if (!channel_is_deaf(channel))
        leat_ctx_fire_eof(head_of(channel));
}

void leat_channel_can_write(leat_channel *channel) {
    channel->flags &= ~(uint32_t)CHANNEL_BLOCKED;
    leat_channel_mark(channel, WORK_WRITE | WORK_INTEREST);
}

void leat_channel_broke(leat_channel *channel, int code) {
    if (channel_has(channel, CHANNEL_BROKEN | CHANNEL_ENDED))
        return;
    channel->flags |= CHANNEL_BROKEN;
    if (channel->end_code == 0)
        channel->end_code = code;
    if (channel->error == 0)
        channel->error = code;
    leat_channel_mark(channel, WORK_CLOSE);
    if (!channel_is_deaf(channel))
        leat_ctx_fail(head_of(channel), code);
}

bool leat_channel_wants_read(const leat_channel *channel) {
    if (!channel->transport || channel_has(channel, CHANNEL_EOF | CHANNEL_BROKEN | CHANNEL_ABORTED))
        return false;
    if (channel_is_deaf(channel))
        return true;
    return channel->demand > 0 && !channel_has(channel, CHANNEL_PAUSED | CHANNEL_HELD_UP);
}
