#include "transports/source.h"
#include "transports/evloop_internal.h"

#include <errno.h>

/** The transport: one read a turn, since another might block. */
typedef struct source {
    leat_transport transport;
    leat_watch watch;
    leat_timer later; /* what may not happen inside a call: the beginning, and the end after a close */
    const leat_syscalls *calls;
    int descriptor;
    bool close_descriptor;
    bool connected;
    bool ended;
} source;

static leat_loop *loop_of(const source *self) {
    return self->watch.loop;
}

static int interest(leat_transport *transport, unsigned bits) {
    source *self = (source *)transport;
    leat_watch_interest(&self->watch, self->ended ? 0 : bits & LEAT_INTEREST_READ);
    return 0;
}

static int64_t refuse_to_write(leat_transport *transport, const leat_span *spans, size_t count) {
    (void)transport, (void)spans, (void)count;
    return LEAT_EINVAL;
}

static void end(source *self) {
    if (self->ended)
        return;
    self->ended = true;
    leat_watch_interest(&self->watch, 0);
    leat_channel_received_eof(self->transport.channel);
}

/** There is no peer who would answer a half-close with its own. */
static void end_soon(leat_transport *transport) {
    source *self = (source *)transport;
    leat_timer_start(loop_of(self), &self->later, 0);
}

static void close_source(leat_transport *transport, bool reset) {
    (void)reset;
    source *self = (source *)transport;
    leat_watch_interest(&self->watch, 0);
    leat_timer_stop(loop_of(self), &self->later);
    if (self->close_descriptor)
        self->calls->close(self->calls, self->descriptor);
    leat_alloc_give(leat_loop_alloc(loop_of(self)), self, sizeof *self);
}

static const leat_transport_ops source_ops = {
    .name = "source",
    .max_spans = 1,
    .interest = interest,
    .writev = refuse_to_write,
    .shutdown = end_soon,
    .close = close_source,
};

static void later(leat_timer *timer) {
    source *self = (source *)(void *)((char *)timer - offsetof(source, later));
    if (self->connected) {
        end(self);
        return;
    }
    self->connected = true;
    leat_channel_connected(self->transport.channel);
}

static void deliver(source *self, size_t length) {
    leat_channel *channel = self->transport.channel;
    leat_bytebuf *buf = leat_loop_receive_take(loop_of(self), length);
    if (!buf) {
        leat_channel_broke(channel, LEAT_ENOMEM);
        return;
    }
    leat_channel_received(channel, buf);
    leat_channel_received_all(channel);
}

static void ready(void *context, unsigned bits) {
    (void)bits;
    source *self = context;
    size_t room = 0;
    uint8_t *bytes = leat_loop_receive_room(loop_of(self), &room);
    int64_t length = bytes ? self->calls->read(self->calls, self->descriptor, bytes, room) : LEAT_ENOMEM;
    if (length > 0)
        deliver(self, (size_t)length);
    else if (length == 0)
        end(self);
    else if (length != -EINTR && length != -EAGAIN)
        leat_channel_broke(self->transport.channel, leat_syscalls_code(length));
}

static source *make(leat_loop *loop, int descriptor, const leat_source_options *options) {
    source *self = leat_alloc_take_zeroed(leat_loop_alloc(loop), sizeof *self);
    if (!self)
        return NULL;
    self->transport.ops = &source_ops;
    self->calls = options->syscalls ? options->syscalls : leat_syscalls_kernel();
    self->descriptor = descriptor;
    self->later.fn = later;
    leat_watch_init(&self->watch, loop, descriptor, ready, self);
    return self;
}

static int open_in_turn(leat_loop *loop, int descriptor, const leat_source_options *options, leat_channel **channel) {
    source *self = make(loop, descriptor, options);
    if (!self)
        return LEAT_ENOMEM;
    int code = leat_timer_start(loop, &self->later, 0);
    if (code == 0)
        code = leat_channel_new(loop, options->pipeline, &self->transport, &options->channel, channel);
    self->close_descriptor = code == 0 && options->close_descriptor;
    if (code != 0)
        close_source(&self->transport, false);
    return code;
}

int leat_source_open(leat_loop *loop, int descriptor, const leat_source_options *options, leat_channel **channel,
                     leat_problem *problem) {
    leat_channel *made = NULL;
    if (channel)
        *channel = NULL;
    if (!leat_evloop_native(loop) || descriptor < 0 || !options || !options->pipeline)
        return leat_problem_set(problem, LEAT_EINVAL, "a source needs a libev loop, a descriptor and a pipeline");
    leat_loop_enter(loop);
    int code = open_in_turn(loop, descriptor, options, &made);
    made = leat_evloop_leave_with(loop, made);
    if (channel)
        *channel = made;
    return code == 0 ? 0
                     : leat_problem_set(problem, code, "cannot read from descriptor %d: %s", descriptor,
                                        leat_error_message(code));
}
