#include "transports/tcp_internal.h"

#include <errno.h>
#include <limits.h>

enum {
    READS_A_TURN = 4, /* then the other descriptors have theirs */
    FIRST_PAUSE_MS = 10,
    MOST_DOUBLINGS = 6, /* of the first pause */
    MAX_SPANS = 1024    /* IOV_MAX of Linux */
};

/** Few connections ever meet a system without memory: the timer for it is a block of its own. */
struct leat_tcp_pause {
    leat_timer timer;
    leat_tcp_connection *connection;
};

static leat_loop *loop_of(const leat_tcp_connection *self) {
    return self->watch.loop;
}

static bool is_paused(const leat_tcp_connection *self) {
    return self->pause && leat_timer_is_running(&self->pause->timer);
}

/** Watches for what the channel waits for, as far as it makes sense now. */
static void apply_interest(leat_tcp_connection *self) {
    unsigned bits = self->interest;
    if (self->ended)
        bits &= ~(unsigned)LEAT_INTEREST_READ;
    if (is_paused(self))
        bits &= ~(unsigned)LEAT_INTEREST_WRITE;
    leat_watch_interest(&self->watch, bits);
}

static int interest(leat_transport *transport, unsigned bits) {
    leat_tcp_connection *self = (leat_tcp_connection *)transport;
    self->interest = (uint8_t)bits;
    if (self->attempt)
        return 0;
    if (self->write_failure && !(bits & LEAT_INTEREST_READ))
        return self->write_failure;
    apply_interest(self);
    return 0;
}

/* Writing. */

static void pause_over(leat_timer *timer) {
    leat_tcp_connection *self = ((leat_tcp_pause *)(void *)timer)->connection;
    apply_interest(self);
    leat_channel_can_write(self->transport.channel);
}

static bool start_pause(leat_tcp_connection *self) {
    if (!self->pause) {
        self->pause = leat_alloc_take(leat_loop_alloc(loop_of(self)), sizeof *self->pause, NULL);
        if (!self->pause)
            return false;
        *self->pause = (leat_tcp_pause){.timer.fn = pause_over, .connection = self};
    }
    uint64_t pause = (uint64_t)FIRST_PAUSE_MS << self->shortages;
    return leat_timer_start(loop_of(self), &self->pause->timer, pause) == 0;
}

static void free_pause(leat_tcp_connection *self) {
    if (!self->pause)
        return;
    leat_timer_stop(loop_of(self), &self->pause->timer);
    leat_alloc_give(leat_loop_alloc(loop_of(self)), self->pause, sizeof *self->pause);
}

/** The system has no memory for the bytes: tries again after a pause, which doubles each time. */
static int64_t try_later(leat_tcp_connection *self, int64_t failed) {
    if (!start_pause(self))
        return leat_syscalls_code(failed);
    if (self->shortages < MOST_DOUBLINGS)
        self->shortages++;
    apply_interest(self);
    return LEAT_EAGAIN;
}

/** The peer takes no more; what it sent before is read first, if anybody reads. */
static int64_t fail_writes(leat_tcp_connection *self, int code) {
    if (!leat_channel_wants_read(self->transport.channel))
        return code;
    self->write_failure = code;
    return LEAT_EAGAIN;
}

static int64_t send_once(leat_tcp_connection *self, const leat_span *spans, size_t count) {
    int64_t sent;
    do {
        sent = self->calls->send(self->calls, self->descriptor, spans, count);
    } while (sent == -EINTR);
    return sent;
}

static int64_t write_spans(leat_transport *transport, const leat_span *spans, size_t count) {
    leat_tcp_connection *self = (leat_tcp_connection *)transport;
    if (self->write_failure || is_paused(self))
        return LEAT_EAGAIN;
    int64_t sent = send_once(self, spans, count);
    if (sent > 0) {
        self->shortages = 0;
        return sent;
    }
    if (sent == -ENOBUFS || sent == -ENOMEM)
        return try_later(self, sent);
    int code = sent == 0 ? LEAT_EAGAIN : leat_syscalls_code(sent);
    return code == LEAT_ERESET ? fail_writes(self, code) : code;
}

static void half_close(leat_transport *transport) {
    leat_tcp_connection *self = (leat_tcp_connection *)transport;
    self->calls->shutdown(self->calls, self->descriptor, SHUT_WR);
}

static void close_connection(leat_transport *transport, bool reset) {
    leat_tcp_connection_free((leat_tcp_connection *)transport, reset);
}

static const leat_transport_ops tcp_ops = {
    .name = "tcp",
    .max_spans = MAX_SPANS,
    .interest = interest,
    .writev = write_spans,
    .shutdown = half_close,
    .close = close_connection,
};

/* Reading. */

/** Reads once: the bytes delivered, 0 = all of them for now, or a code that ends reading (LEAT_EEOF = the peer's end).
 */
static int read_once(leat_tcp_connection *self, bool *more) {
    size_t room = 0;
    uint8_t *bytes = leat_loop_receive_room(loop_of(self), &room);
    if (!bytes)
        return LEAT_ENOMEM;
    int64_t length;
    do {
        length = self->calls->receive(self->calls, self->descriptor, bytes, room);
    } while (length == -EINTR);
    if (length <= 0)
        return length == 0 ? LEAT_EEOF : leat_syscalls_code(length);
    leat_bytebuf *buf = leat_loop_receive_take(loop_of(self), (size_t)length);
    if (!buf)
        return LEAT_ENOMEM;
    *more = (size_t)length == room;
    leat_channel_received(self->transport.channel, buf);
    return 0;
}

/** Tells the channel how reading ended. */
static void end_reading(leat_tcp_connection *self, int code) {
    leat_channel *channel = self->transport.channel;
    if (self->write_failure) {
        leat_channel_broke(channel, self->write_failure);
    } else if (code == LEAT_EEOF) {
        self->ended = true;
        apply_interest(self);
        leat_channel_received_eof(channel);
    } else if (code != LEAT_EAGAIN) {
        leat_channel_broke(channel, code);
    }
}

/** A read that did not fill its room took all there was: another would only say so. */
static void read_all(leat_tcp_connection *self) {
    leat_channel *channel = self->transport.channel;
    bool any = false, more = true;
    int code = 0;
    for (int reads = 0; reads < READS_A_TURN && more && code == 0 && leat_channel_wants_read(channel); reads++) {
        code = read_once(self, &more);
        any |= code == 0;
    }
    if (any)
        leat_channel_received_all(channel);
    if (code != 0 || (self->write_failure && !leat_channel_wants_read(channel)))
        end_reading(self, code);
}

static void ready(void *context, unsigned bits) {
    leat_tcp_connection *self = context;
    if (bits & LEAT_INTEREST_WRITE && !self->write_failure)
        leat_channel_can_write(self->transport.channel);
    if (bits & LEAT_INTEREST_READ || self->write_failure)
        read_all(self);
}

/* Beginning and end. */

leat_tcp_connection *leat_tcp_connection_new(leat_loop *loop, const leat_syscalls *calls, int descriptor,
                                             const leat_address *peer) {
    leat_tcp_connection *self = leat_alloc_take_zeroed(leat_loop_alloc(loop), sizeof *self);
    if (!self)
        return NULL;
    self->transport.ops = &tcp_ops;
    self->calls = calls;
    self->descriptor = descriptor;
    self->peer = *peer;
    leat_watch_init(&self->watch, loop, descriptor, ready, self);
    return self;
}

static void close_socket(leat_tcp_connection *self, bool reset) {
    /* Closing a socket that lingers for no time discards what is queued and resets. */
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    if (reset)
        self->calls->set_option(self->calls, self->descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    self->calls->close(self->calls, self->descriptor);
}

void leat_tcp_connection_free(leat_tcp_connection *self, bool reset) {
    leat_alloc *alloc = leat_loop_alloc(loop_of(self));
    leat_watch_interest(&self->watch, 0);
    free_pause(self);
    leat_tcp_attempt_free(self->attempt);
    if (self->descriptor >= 0)
        close_socket(self, reset);
    if (self->listener)
        leat_tcp_listener_lost(self->listener);
    leat_alloc_give(alloc, self, sizeof *self);
}

int leat_tcp_connection_open(leat_tcp_connection *self, leat_pipeline *pipeline, const leat_channel_options *options) {
    leat_channel *channel = NULL;
    return leat_channel_new(loop_of(self), pipeline, &self->transport, options, &channel);
}

void leat_tcp_connection_begin(leat_tcp_connection *self) {
    self->watch.fn = ready;
    leat_tcp_attempt_free(self->attempt);
    self->attempt = NULL;
    apply_interest(self);
    leat_channel_connected(self->transport.channel);
}

int leat_tcp_peer(const leat_channel *channel, leat_address *peer) {
    leat_transport *transport = leat_channel_transport(channel);
    if (!transport || transport->ops != &tcp_ops)
        return LEAT_EINVAL;
    *peer = ((leat_tcp_connection *)transport)->peer;
    return 0;
}
