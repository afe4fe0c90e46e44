/* Batches sent over a TCP connection on the loopback. The same thread takes them off at the other end, so that its CPU
   time is all that the connection costs, whichever side the kernel happens to work on; bytes are dropped there unread.
 */
#define _GNU_SOURCE

#include "bench/batch.h"
#include "bench/gather.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST_SPANS = 1024 /* IOV_MAX of Linux */, TAKEN = 1 << 20 /* bytes taken off at once */, BUFFERED = 2 << 20 };

typedef struct socket_state {
    batch_events batch;
    leat_gather_mode mode;
    leat_bytebuf *ready; /* of the arm `kernel`: built beforehand */
    int sender, receiver;
    uint64_t under_way; /* bytes sent and not yet taken off */
} socket_state;

/* ---- a connection ---- */

/* As Leat's own connections: a rest is not held back until the bytes before it are acknowledged. */
static void send_at_once(int sender) {
    const int yes = 1;
    setsockopt(sender, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

/* Room for the largest batch at both ends from the start: how far the kernel has tuned a connection does not matter. */
static void fix_buffers(int connection) {
    const int bytes = BUFFERED;
    setsockopt(connection, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    setsockopt(connection, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

static bool accept_own(socket_state *state, int listener, struct sockaddr *address, socklen_t length) {
    fix_buffers(listener); /* which what it accepts takes over */
    state->sender = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    fix_buffers(state->sender);
    if (state->sender < 0 || connect(state->sender, address, length) != 0)
        return false;
    state->receiver = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (state->receiver >= 0)
        send_at_once(state->sender);
    return state->receiver >= 0;
}

static bool connect_over(socket_state *state, int listener) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    return bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 1) == 0 &&
           getsockname(listener, (struct sockaddr *)&address, &length) == 0 &&
           accept_own(state, listener, (struct sockaddr *)&address, length);
}

static bool connect_both(socket_state *state) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0)
        return false;
    bool connected = connect_over(state, listener);
    close(listener);
    return connected;
}

static void disconnect(const socket_state *state) {
    if (state->sender >= 0)
        close(state->sender);
    if (state->receiver >= 0)
        close(state->receiver);
}

static uint64_t must_move(ssize_t bytes, const char *call) {
    if (bytes > 0)
        return (uint64_t)bytes;
    perror(call);
    exit(1);
}

static void take_off(socket_state *state) {
    while (state->under_way > 0)
        state->under_way -= must_move(recv(state->receiver, NULL, TAKEN, MSG_TRUNC), "leat-bench: recv");
}

/* A span is laid out as an iovec. When the connection is full, what is under way is taken off first. */
static uint64_t send_some(socket_state *state, const leat_span *spans, size_t count) {
    const struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)spans, .msg_iovlen = count};
    ssize_t sent;
    while ((sent = sendmsg(state->sender, &message, MSG_DONTWAIT | MSG_NOSIGNAL)) < 0 && errno == EAGAIN)
        take_off(state);
    uint64_t bytes = must_move(sent, "leat-bench: sendmsg");
    state->under_way += bytes;
    return bytes;
}

/* As many gathering writes as it takes, from byte to byte. */
static void send_whole(socket_state *state, const leat_bytebuf *whole) {
    leat_bytebuf_position position = {0, 0};
    leat_span spans[MOST_SPANS];
    while (position.offset < leat_bytebuf_readable(whole)) {
        size_t count = leat_bytebuf_spans_at(whole, position, spans, MOST_SPANS, NULL);
        leat_bytebuf_position_advance(whole, &position, send_some(state, spans, count));
    }
    take_off(state);
}

/* ---- arms ---- */

static void tear_down(void *argument) {
    socket_state *state = argument;
    disconnect(state);
    leat_bytebuf_release(state->ready);
    leat_alloc *below = state->batch.below;
    batch_end(&state->batch);
    leat_alloc_give(below, state, sizeof *state);
}

static socket_state *set_up(const batch_work *work, leat_alloc *below, leat_gather_mode mode) {
    socket_state *state = leat_alloc_take_zeroed(below, sizeof *state);
    if (!state)
        return NULL;
    state->mode = mode;
    state->sender = state->receiver = -1;
    if (batch_begin(&state->batch, work, below) && connect_both(state))
        return state;
    tear_down(state);
    return NULL;
}

static void *auto_set_up(const void *work, leat_alloc *below) {
    return set_up(work, below, LEAT_GATHER_AUTO);
}

static void *copy_set_up(const void *work, leat_alloc *below) {
    return set_up(work, below, LEAT_GATHER_COPY);
}

static void *wrap_set_up(const void *work, leat_alloc *below) {
    return set_up(work, below, LEAT_GATHER_WRAP);
}

static void *kernel_set_up(const void *work, leat_alloc *below) {
    socket_state *state = set_up(work, below, LEAT_GATHER_COPY);
    if (state)
        state->ready = batch_gather(&state->batch, LEAT_GATHER_COPY);
    return state;
}

static void run(void *argument, uint64_t times) {
    socket_state *state = argument;
    for (uint64_t i = 0; i < times; i++) {
        leat_bytebuf *whole = batch_gather(&state->batch, state->mode);
        send_whole(state, whole);
        leat_bytebuf_release(whole);
    }
}

static void kernel_run(void *argument, uint64_t times) {
    socket_state *state = argument;
    for (uint64_t i = 0; i < times; i++)
        send_whole(state, state->ready);
}

static void output(void *argument, bench_output *out) {
    socket_state *state = argument;
    leat_bytebuf *whole = batch_gather(&state->batch, state->mode);
    size_t count = leat_bytebuf_spans(whole, state->batch.spans, state->batch.most_spans);
    for (size_t i = 0; i < count; i++)
        bench_output_add(out, state->batch.spans[i].bytes, state->batch.spans[i].length);
    leat_bytebuf_release(whole);
}

static const bench_arm auto_arm = {"auto", auto_set_up, run, output, tear_down, NULL};
static const bench_arm copy_arm = {"copy", copy_set_up, run, output, tear_down, NULL};
static const bench_arm wrap_arm = {"wrap", wrap_set_up, run, output, tear_down, NULL};
static const bench_arm kernel_arm = {"kernel", kernel_set_up, kernel_run, output, tear_down, NULL};

void gather_socket_row(bench_visitor *visitor, const char *suite, const batch_work *work, double at_most) {
    char name[64];
    snprintf(name, sizeof name, "socket-%s-%zux%zu", work->delimited ? "delimited" : "bare", work->events, work->size);
    const bench_row row = {.suite = suite,
                           .name = name,
                           .work = work,
                           .arms = {&auto_arm, &copy_arm, &wrap_arm, &kernel_arm},
                           .best = {"best", {"copy", "wrap"}},
                           .ratios = {{"auto", "best", at_most}, {"auto", "kernel", 0}}};
    visitor->visit(visitor, &row);
}
