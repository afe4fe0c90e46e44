#include "transports/tcp_internal.h"

#include <errno.h>

enum {
    ACCEPTS_A_TURN = 64, /* then the other descriptors have theirs */
    DEFAULT_BACKLOG = 1024,
    DEFAULT_CONNECTIONS = 65536,
    FIRST_PAUSE_MS = 100,
    LONGEST_PAUSE_MS = 1600,
    MOST_ADDRESSES = 8
};

struct leat_tcp_listener {
    leat_loop *loop;
    leat_watch watch;
    leat_timer pause; /* until the system has descriptors and memory again */
    uint64_t pause_ms;
    leat_tcp_options options;
    const leat_syscalls *calls;
    leat_tcp_listener_stats stats;
    leat_address address;
    leat_tcp_spread *spread; /* NULL = it serves what it accepts */
    uint64_t references;     /* the caller's, and one for each connection */
    int descriptor;
    int reserve; /* a descriptor to give up when there is no other, so that a client hears a clear no */
};

static bool may_accept(const leat_tcp_listener *self) {
    return self->descriptor >= 0 && !leat_timer_is_running(&self->pause) &&
           (self->spread ? self->spread->has_room(self->spread)
                         : self->stats.connections < self->options.max_connections);
}

/** Watches as long as accepting makes sense. */
static void apply_interest(leat_tcp_listener *self) {
    if (self->descriptor >= 0)
        leat_watch_interest(&self->watch, may_accept(self) ? (unsigned)LEAT_INTEREST_READ : 0);
}

static void drop_reference(leat_tcp_listener *self) {
    if (--self->references > 0)
        return;
    leat_tcp_spread *spread = self->spread;
    leat_pipeline_release(self->options.pipeline);
    leat_alloc_give(leat_loop_alloc(self->loop), self, sizeof *self);
    if (spread)
        spread->let_go(spread);
}

void leat_tcp_listener_resume(leat_tcp_listener *self) {
    apply_interest(self);
}

void leat_tcp_listener_lost(leat_tcp_listener *self) {
    self->stats.connections--;
    if (self->spread)
        self->spread->lost(self->spread);
    apply_interest(self);
    drop_reference(self);
}

/* Accepting. */

void leat_tcp_refuse(const leat_syscalls *calls, int descriptor) {
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    calls->set_option(calls, descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    calls->close(calls, descriptor);
}

static void refuse(leat_tcp_listener *self, int descriptor) {
    leat_tcp_refuse(self->calls, descriptor);
    self->stats.refused++;
}

static leat_pipeline *choose_pipeline(leat_tcp_listener *self, const leat_address *peer) {
    return self->options.initialise ? self->options.initialise(self->options.context, peer) : self->options.pipeline;
}

/** Hands the listener a connection to count until it ends. */
static void count_in(leat_tcp_listener *self, leat_tcp_connection *connection) {
    connection->listener = self;
    self->references++;
    self->stats.connections++;
}

bool leat_tcp_listener_serve(leat_tcp_listener *self, int descriptor, const leat_address *peer) {
    leat_pipeline *pipeline = choose_pipeline(self, peer);
    leat_tcp_connection *connection =
        pipeline ? leat_tcp_connection_new(self->loop, self->calls, descriptor, peer) : NULL;
    if (!connection) {
        refuse(self, descriptor);
        return false;
    }
    count_in(self, connection);
    if (leat_tcp_connection_open(connection, pipeline, &self->options.channel) != 0) {
        self->stats.refused++;
        leat_tcp_connection_free(connection, true);
        return true;
    }
    self->stats.accepted++;
    leat_tcp_connection_begin(connection);
    return true;
}

static int accept_once(leat_tcp_listener *self, leat_address *peer) {
    leat_system_address system = {0};
    socklen_t length = sizeof system;
    int descriptor = self->calls->accept(self->calls, self->descriptor, &system.any, &length);
    *peer = leat_address_from_system(&system);
    return descriptor;
}

static int open_reserve(const leat_syscalls *calls) {
    return calls->socket(calls, AF_INET, SOCK_STREAM, IPPROTO_TCP);
}

/** Refuses one waiting client by means of the reserve: it would wait for ever if the system stays full. */
static void refuse_one(leat_tcp_listener *self) {
    if (self->reserve < 0)
        return;
    self->calls->close(self->calls, self->reserve);
    leat_address peer;
    int descriptor = accept_once(self, &peer);
    if (descriptor >= 0)
        refuse(self, descriptor);
    self->reserve = open_reserve(self->calls);
}

/** Accepts nothing for a moment, which doubles each time until an accept works. */
static void pause_accepting(leat_tcp_listener *self) {
    if (leat_timer_start(self->loop, &self->pause, self->pause_ms) != 0)
        return;
    self->stats.pauses++;
    if (self->pause_ms < LONGEST_PAUSE_MS)
        self->pause_ms *= 2;
    apply_interest(self);
}

static void pause_over(leat_timer *timer) {
    leat_tcp_listener *self = (leat_tcp_listener *)(void *)((char *)timer - offsetof(leat_tcp_listener, pause));
    if (self->reserve < 0)
        self->reserve = open_reserve(self->calls);
    apply_interest(self);
}

/** Tells whether another accept makes sense now: accept(2) lists errors that only concern the connection it was for. */
static bool survive(leat_tcp_listener *self, int failed) {
    if (failed == -EAGAIN)
        return false;
    if (failed == -EINTR)
        return true;
    self->stats.failures++;
    switch (failed) {
    case -ECONNABORTED:
    case -EPERM:
    case -EPROTO:
    case -ENETDOWN:
    case -ENOPROTOOPT:
    case -EHOSTDOWN:
    case -ENONET:
    case -EHOSTUNREACH:
    case -EOPNOTSUPP:
    case -ENETUNREACH:
        return true;
    case -EMFILE:
    case -ENFILE:
        refuse_one(self);
        break;
    default:
        break;
    }
    pause_accepting(self);
    return false;
}

static bool accept_one(leat_tcp_listener *self) {
    leat_address peer;
    int descriptor = accept_once(self, &peer);
    if (descriptor < 0)
        return survive(self, descriptor);
    self->pause_ms = FIRST_PAUSE_MS;
    if (self->spread)
        self->spread->hand_out(self->spread, descriptor, &peer);
    else
        leat_tcp_listener_serve(self, descriptor, &peer);
    return true;
}

static void ready(void *context, unsigned bits) {
    (void)bits;
    leat_tcp_listener *self = context;
    self->references++; /* a handler of an accepted connection may release the listener */
    for (int accepts = 0; accepts < ACCEPTS_A_TURN && may_accept(self) && accept_one(self); accepts++)
        ;
    apply_interest(self);
    drop_reference(self);
}

/* Listening. */

static int bind_socket(const leat_tcp_options *options, int descriptor, const leat_address *address) {
    const leat_syscalls *calls = leat_tcp_calls(options);
    int code = leat_tcp_set(calls, descriptor, SOL_SOCKET, SO_REUSEADDR, 1);
    if (code == 0 && options->reuse_port)
        code = leat_tcp_set(calls, descriptor, SOL_SOCKET, SO_REUSEPORT, 1);
    if (code == 0 && address->family == 6)
        code = leat_tcp_set(calls, descriptor, IPPROTO_IPV6, IPV6_V6ONLY, options->v6_only);
    leat_system_address system;
    socklen_t length = leat_address_to_system(address, &system);
    if (code == 0)
        code = calls->bind(calls, descriptor, &system.any, length);
    return code == 0 ? calls->listen(calls, descriptor, options->backlog) : code;
}

/** Returns a listening descriptor or a negated errno value. */
static int listen_on(const leat_tcp_options *options, const leat_address *address) {
    int descriptor = leat_tcp_socket(options, address->family);
    if (descriptor < 0)
        return descriptor;
    int code = bind_socket(options, descriptor, address);
    if (code == 0)
        return descriptor;
    leat_tcp_calls(options)->close(leat_tcp_calls(options), descriptor);
    return code;
}

static int listen_on_first(const leat_tcp_options *options, const char *text, leat_problem *problem) {
    leat_address addresses[MOST_ADDRESSES];
    int count = leat_address_resolve(text, addresses, MOST_ADDRESSES, problem);
    if (count < 0)
        return count;
    int descriptor = LEAT_ENOTFOUND;
    for (int i = 0; i < count && descriptor < 0; i++)
        descriptor = listen_on(options, &addresses[i]);
    if (descriptor >= 0)
        return descriptor;
    int code = leat_syscalls_code(descriptor);
    return leat_problem_set(problem, code, "cannot listen on %.100s: %s", text, leat_error_message(code));
}

static leat_tcp_options with_defaults(const leat_tcp_options *options) {
    leat_tcp_options full = *options;
    if (full.backlog <= 0)
        full.backlog = DEFAULT_BACKLOG;
    if (full.max_connections == 0)
        full.max_connections = DEFAULT_CONNECTIONS;
    return full;
}

static leat_address bound_address(const leat_syscalls *calls, int descriptor) {
    leat_system_address system = {0};
    socklen_t length = sizeof system;
    calls->own_address(calls, descriptor, &system.any, &length);
    return leat_address_from_system(&system);
}

static void start_accepting(leat_tcp_listener *self, int descriptor) {
    self->descriptor = descriptor;
    self->address = bound_address(self->calls, descriptor);
    self->reserve = open_reserve(self->calls);
    leat_watch_init(&self->watch, self->loop, descriptor, ready, self);
    apply_interest(self);
}

static leat_tcp_listener *make(leat_loop *loop, const leat_tcp_options *options, leat_tcp_spread *spread) {
    leat_tcp_listener *self = leat_alloc_take_zeroed(leat_loop_alloc(loop), sizeof *self);
    if (!self)
        return NULL;
    self->loop = loop;
    self->options = with_defaults(options);
    self->calls = leat_tcp_calls(options);
    self->spread = spread;
    self->references = 1;
    self->descriptor = self->reserve = -1;
    self->pause_ms = FIRST_PAUSE_MS;
    self->pause.fn = pause_over;
    if (options->pipeline)
        leat_pipeline_retain(options->pipeline);
    return self;
}

int leat_tcp_listen_spread(leat_loop *loop, const char *address, const leat_tcp_options *options,
                           leat_tcp_spread *spread, leat_tcp_listener **listener, leat_problem *problem) {
    *listener = NULL;
    if (!leat_evloop_native(loop) || !options || (!options->pipeline && !options->initialise))
        return leat_problem_set(problem, LEAT_EINVAL, "a listener needs a libev loop and a pipeline");
    leat_tcp_listener *self = make(loop, options, spread);
    if (!self)
        return leat_problem_set(problem, LEAT_ENOMEM, "out of memory");
    int descriptor = address ? listen_on_first(&self->options, address, problem) : -1;
    if (address && descriptor < 0) {
        self->spread = NULL; /* it never had it */
        drop_reference(self);
        return descriptor;
    }
    if (address)
        start_accepting(self, descriptor);
    *listener = self;
    return 0;
}

int leat_tcp_listen(leat_loop *loop, const char *address, const leat_tcp_options *options, leat_tcp_listener **listener,
                    leat_problem *problem) {
    *listener = NULL;
    if (!address)
        return leat_problem_set(problem, LEAT_EINVAL, "a listener needs an address");
    return leat_tcp_listen_spread(loop, address, options, NULL, listener, problem);
}

leat_address leat_tcp_listener_address(const leat_tcp_listener *self) {
    return self->address;
}

uint16_t leat_tcp_listener_port(const leat_tcp_listener *self) {
    return self->address.port;
}

leat_tcp_listener_stats leat_tcp_listener_statistics(const leat_tcp_listener *self) {
    return self->stats;
}

void leat_tcp_listener_close(leat_tcp_listener *self) {
    if (self->descriptor < 0)
        return;
    leat_watch_interest(&self->watch, 0);
    leat_timer_stop(self->loop, &self->pause);
    self->calls->close(self->calls, self->descriptor);
    if (self->reserve >= 0)
        self->calls->close(self->calls, self->reserve);
    self->descriptor = self->reserve = -1;
}

void leat_tcp_listener_release(leat_tcp_listener *self) {
    if (!self)
        return;
    leat_tcp_listener_close(self);
    drop_reference(self);
}
