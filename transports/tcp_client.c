#include "transports/tcp_internal.h"

#include <errno.h>
#include <string.h>

enum { DEFAULT_TIMEOUT_MS = 10000, MOST_ADDRESSES = 8 };

/** What a connection needs until it is connected. */
struct leat_tcp_attempt {
    leat_loop *loop;
    leat_tcp_connection *connection;
    leat_timer timeout;
    leat_tcp_options options; /* for sockets only: holds no reference */
    leat_address addresses[MOST_ADDRESSES];
    int count;
    int next;
};

void leat_tcp_attempt_free(leat_tcp_attempt *attempt) {
    if (!attempt)
        return;
    leat_timer_stop(attempt->loop, &attempt->timeout);
    leat_alloc_give(leat_loop_alloc(attempt->loop), attempt, sizeof *attempt);
}

/** Begins to connect: a descriptor, or a negated errno value. An interrupted connect goes on as one in progress does.
 */
static int begin_to_connect(const leat_tcp_options *options, const leat_address *address) {
    const leat_syscalls *calls = leat_tcp_calls(options);
    int descriptor = leat_tcp_socket(options, address->family);
    if (descriptor < 0)
        return descriptor;
    leat_system_address system;
    socklen_t length = leat_address_to_system(address, &system);
    int code = calls->connect(calls, descriptor, &system.any, length);
    if (code == 0 || code == -EINPROGRESS || code == -EINTR)
        return descriptor;
    calls->close(calls, descriptor);
    return code;
}

/** Goes on to the next address that does not refuse at once: a descriptor, or the last failure. */
static int try_next(leat_tcp_attempt *attempt, leat_address *peer) {
    int descriptor = -ECONNREFUSED;
    while (attempt->next < attempt->count) {
        *peer = attempt->addresses[attempt->next++];
        descriptor = begin_to_connect(&attempt->options, peer);
        if (descriptor >= 0)
            break;
    }
    return descriptor;
}

static void ready(void *context, unsigned bits);

static void watch_socket(leat_tcp_connection *connection, int descriptor) {
    connection->descriptor = descriptor;
    leat_watch_init(&connection->watch, connection->attempt->loop, descriptor, ready, connection);
    leat_watch_interest(&connection->watch, LEAT_INTEREST_WRITE);
}

/**
 * Tells whether the socket reached itself: a connect to a port of this machine that nobody listens on may be given that
 * very port as its own, and TCP then opens both ends at once.
 */
static bool met_itself(const leat_tcp_connection *connection) {
    leat_system_address system = {0};
    socklen_t length = sizeof system;
    if (connection->calls->own_address(connection->calls, connection->descriptor, &system.any, &length) < 0)
        return false;
    leat_address own = leat_address_from_system(&system);
    const leat_address *peer = &connection->peer;
    return own.port == peer->port && own.family == peer->family &&
           memcmp(own.bytes, peer->bytes, sizeof own.bytes) == 0;
}

/** How the connect ended: 0 or a negated errno value. */
static int outcome(const leat_tcp_connection *connection) {
    int error = 0;
    socklen_t length = sizeof error;
    int code =
        connection->calls->get_option(connection->calls, connection->descriptor, SOL_SOCKET, SO_ERROR, &error, &length);
    if (code < 0 || error != 0)
        return code < 0 ? code : -error;
    return met_itself(connection) ? -ECONNREFUSED : 0;
}

static void try_another(leat_tcp_connection *connection, int failed) {
    leat_watch_interest(&connection->watch, 0);
    connection->calls->close(connection->calls, connection->descriptor);
    connection->descriptor = -1;
    if (connection->attempt->next < connection->attempt->count)
        failed = try_next(connection->attempt, &connection->peer);
    if (failed >= 0)
        watch_socket(connection, failed);
    else
        leat_channel_broke(connection->transport.channel, leat_syscalls_code(failed));
}

static void ready(void *context, unsigned bits) {
    (void)bits;
    leat_tcp_connection *connection = context;
    int code = outcome(connection);
    if (code == 0)
        leat_tcp_connection_begin(connection);
    else
        try_another(connection, code);
}

static void timed_out(leat_timer *timer) {
    leat_tcp_attempt *attempt = (leat_tcp_attempt *)(void *)((char *)timer - offsetof(leat_tcp_attempt, timeout));
    leat_tcp_connection *connection = attempt->connection;
    leat_watch_interest(&connection->watch, 0);
    leat_channel_broke(connection->transport.channel, LEAT_ETIMEDOUT);
}

/** Makes the channel of a connection that is on its way; it frees itself on failure. */
static int open_channel(leat_tcp_attempt *attempt, int descriptor, const leat_address *peer) {
    const leat_tcp_options *options = &attempt->options;
    leat_tcp_connection *connection = leat_tcp_connection_new(attempt->loop, leat_tcp_calls(options), descriptor, peer);
    if (!connection) {
        leat_tcp_calls(options)->close(leat_tcp_calls(options), descriptor);
        leat_tcp_attempt_free(attempt);
        return LEAT_ENOMEM;
    }
    attempt->connection = connection;
    connection->attempt = attempt;
    int code = leat_timer_start(attempt->loop, &attempt->timeout, options->connect_timeout_ms);
    if (code == 0)
        code = leat_tcp_connection_open(connection, options->pipeline, &options->channel);
    if (code == 0)
        watch_socket(connection, descriptor);
    else
        leat_tcp_connection_free(connection, true);
    return code;
}

static int start(leat_tcp_attempt *attempt, const char *address, leat_channel **channel, leat_problem *problem) {
    leat_address peer;
    int descriptor = try_next(attempt, &peer);
    int code = leat_syscalls_code(descriptor);
    if (descriptor < 0)
        leat_tcp_attempt_free(attempt);
    else
        code = open_channel(attempt, descriptor, &peer);
    if (code < 0)
        return leat_problem_set(problem, code, "cannot connect to %.100s: %s", address, leat_error_message(code));
    *channel = attempt->connection->transport.channel;
    return 0;
}

static leat_tcp_attempt *new_attempt(leat_loop *loop, const leat_tcp_options *options) {
    leat_tcp_attempt *attempt = leat_alloc_take_zeroed(leat_loop_alloc(loop), sizeof *attempt);
    if (!attempt)
        return NULL;
    attempt->loop = loop;
    attempt->options = *options;
    attempt->timeout.fn = timed_out;
    if (options->connect_timeout_ms == 0)
        attempt->options.connect_timeout_ms = DEFAULT_TIMEOUT_MS;
    return attempt;
}

int leat_tcp_connect(leat_loop *loop, const char *address, const leat_tcp_options *options, leat_channel **channel,
                     leat_problem *problem) {
    leat_channel *made = NULL;
    if (channel)
        *channel = NULL;
    if (!leat_evloop_native(loop) || !options || !options->pipeline)
        return leat_problem_set(problem, LEAT_EINVAL, "a connection needs a libev loop and a pipeline");
    leat_tcp_attempt *attempt = new_attempt(loop, options);
    if (!attempt)
        return leat_problem_set(problem, LEAT_ENOMEM, "out of memory");
    attempt->count = leat_address_resolve(address, attempt->addresses, MOST_ADDRESSES, problem);
    if (attempt->count < 0) {
        int code = attempt->count;
        leat_tcp_attempt_free(attempt);
        return code;
    }
    leat_loop_enter(loop);
    int code = start(attempt, address, &made, problem);
    made = leat_evloop_leave_with(loop, made);
    if (channel)
        *channel = made;
    return code;
}
