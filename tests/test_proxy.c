/* A TCP proxy over two loops, between plain sockets: nothing lost, memory bounded, whoever ends when. */
#include "core/bridge.h"
#include "core/pool.h"
#include "tests/support/peer.h"
#include "tests/support/suite.h"
#include "transports/loops.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#if defined(LEAT_ASAN) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MEBIBYTES = 32, ROUNDS = 60 };
#else
enum { MEBIBYTES = 1024, ROUNDS = 300 };
#endif

/* The proxy: connections come in on the first loop, and go on from the second. */
typedef struct proxy {
    leat_loops *loops;
    leat_loop *back;
    leat_tcp_listener *listener; /* on the first loop */
    leat_pipeline *pipelines[2];
    int target;             /* a plain listening socket */
    char address[64];       /* of `target` */
    uint64_t most[2];       /* bytes that the pool of each loop had reserved at the most */
    size_t opened, removed; /* atomic: channels of both loops */
} proxy;

/* The way from the first loop to the second. */
typedef struct passage {
    leat_task task;
    proxy *self;
    leat_bridge *bridge;
} passage;

typedef struct watch_config {
    proxy *self;
    size_t side;
} watch_config;

static void go_on(leat_task *task, int status) {
    passage *way = (passage *)(void *)task;
    leat_tcp_options options = {.pipeline = way->self->pipelines[1]};
    leat_channel *channel = NULL;
    int code = status;
    if (code == 0)
        code = leat_tcp_connect(way->self->back, way->self->address, &options, &channel, NULL);
    if (code == 0 && channel)
        code = leat_bridge_join(way->bridge, channel);
    if (code != 0 || !channel)
        leat_bridge_end(way->bridge, code);
    leat_bridge_release(way->bridge);
    free(way);
}

static void begin_bridge(proxy *self, leat_channel *channel) {
    passage *way = calloc(1, sizeof *way);
    *way = (passage){.task.fn = go_on, .self = self, .bridge = leat_bridge_new()};
    ck_assert_int_eq(leat_bridge_join(way->bridge, channel), 0);
    leat_loop_post(self->back, &way->task);
}

/* A handler on either side, which watches the memory of its loop. */

static const watch_config *watch_of(leat_ctx *ctx) {
    return leat_state(ctx);
}

static int watch_added(leat_ctx *ctx, const void *config) {
    memcpy(leat_state(ctx), config, sizeof(watch_config));
    __atomic_fetch_add(&watch_of(ctx)->self->opened, 1, __ATOMIC_RELAXED);
    return 0;
}

static void watch_removed(leat_ctx *ctx) {
    __atomic_fetch_add(&watch_of(ctx)->self->removed, 1, __ATOMIC_RELAXED);
}

static void watch_active(leat_ctx *ctx) {
    if (watch_of(ctx)->side == 0)
        begin_bridge(watch_of(ctx)->self, leat_ctx_channel(ctx));
    leat_ctx_fire_active(ctx);
}

static void watch_memory(leat_ctx *ctx) {
    uint64_t reserved = leat_pool_statistics(leat_channel_loop(leat_ctx_channel(ctx))->pool).reserved_bytes;
    uint64_t *most = &watch_of(ctx)->self->most[watch_of(ctx)->side];
    *most = reserved > *most ? reserved : *most;
}

static void watch_read(leat_ctx *ctx, leat_msg msg) {
    watch_memory(ctx);
    leat_ctx_fire_read(ctx, msg);
}

static void watch_write(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    watch_memory(ctx);
    leat_ctx_write(ctx, msg, done);
}

static const leat_handler watching = {.name = "watch",
                                      .state_size = sizeof(watch_config),
                                      .config_size = sizeof(watch_config),
                                      .added = watch_added,
                                      .removed = watch_removed,
                                      .active = watch_active,
                                      .read = watch_read,
                                      .write = watch_write};

/* The first loop alone listens, so that each pair of channels spans both. */
static int begin(void *context, leat_loop *loop, size_t index) {
    proxy *self = context;
    leat_tcp_options options = {.pipeline = self->pipelines[0]};
    return index == 0 ? leat_tcp_listen(loop, "127.0.0.1:0", &options, &self->listener, NULL) : 0;
}

static void end(void *context, leat_loop *loop, size_t index) {
    (void)loop;
    proxy *self = context;
    if (index == 0)
        leat_tcp_listener_release(self->listener);
}

static leat_pipeline *watching_pipeline(proxy *self, size_t side) {
    const watch_config config = {self, side};
    return leat_pipeline_new(leat_unpooled(), (const leat_stage[]){{&watching, &config, NULL}, {0}}, NULL);
}

static void open_proxy(proxy *self) {
    uint16_t port = 0;
    self->target = peer_deaf_listener(&port);
    snprintf(self->address, sizeof self->address, "127.0.0.1:%u", port);
    self->pipelines[0] = watching_pipeline(self, 0);
    self->pipelines[1] = watching_pipeline(self, 1);
    const leat_loops_options options = {.count = 2, .begin = begin, .end = end, .context = self};
    ck_assert_int_eq(leat_loops_new(&options, &self->loops, NULL), 0);
    self->back = leat_loops_at(self->loops, 1);
    ck_assert_int_eq(leat_loops_start(self->loops, NULL), 0);
}

static void close_proxy(proxy *self) {
    leat_loops_release(self->loops);
    leat_pipeline_release(self->pipelines[0]);
    leat_pipeline_release(self->pipelines[1]);
    close(self->target);
    ck_assert_uint_eq(self->removed, self->opened);
}

/* A connection through the proxy: its two plain ends. */
static void connect_through(proxy *self, int ends[2]) {
    ends[0] = peer_connect(4, leat_tcp_listener_port(self->listener));
    ends[1] = accept(self->target, NULL, NULL);
    ck_assert(ends[0] >= 0 && ends[1] >= 0);
}

/* A stream of numbered words. */
enum { WORDS = 8192 };

static const uint64_t ALL_WORDS = (uint64_t)MEBIBYTES * 1024 * 1024 / sizeof(uint64_t);

typedef struct sender {
    int peer;
    size_t blocked; /* atomic: the proxy took no more for now */
} sender;

static void send_words(sender *self, const uint64_t *words) {
    const char *bytes = (const char *)words;
    for (size_t sent = 0; sent < WORDS * sizeof *words;) {
        ssize_t length = send(self->peer, bytes + sent, WORDS * sizeof *words - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (length < 0 && errno == EAGAIN) {
            __atomic_store_n(&self->blocked, 1, __ATOMIC_RELEASE);
            length = send(self->peer, bytes + sent, 1, MSG_NOSIGNAL); /* waits until there is room */
        }
        if (length <= 0)
            return; /* the receiver will miss it */
        sent += (size_t)length;
    }
}

static void *send_all(void *argument) {
    static uint64_t words[WORDS];
    sender *self = argument;
    for (uint64_t first = 0; first < ALL_WORDS; first += WORDS) {
        for (uint64_t i = 0; i < WORDS; i++)
            words[i] = first + i;
        send_words(self, words);
    }
    shutdown(self->peer, SHUT_WR);
    return NULL;
}

/* Reads in small pieces, and begins when the sender could send no more. */
static uint64_t receive_slowly(int peer, const sender *from) {
    uint64_t words[512], received = 0;
    bool in_order = true;
    while (!__atomic_load_n(&from->blocked, __ATOMIC_ACQUIRE))
        sched_yield();
    for (ssize_t length; (length = recv(peer, words, sizeof words, MSG_WAITALL)) > 0;) {
        in_order &= length == sizeof words;
        for (size_t i = 0; i < 512; i++)
            in_order &= words[i] == received + i;
        received += 512;
    }
    ck_assert(in_order);
    return received;
}

START_TEST(a_stream_to_a_slow_end_passes_two_loops_in_bounded_memory) {
    proxy self = {0};
    sender from = {0};
    int ends[2];
    pthread_t thread;
    open_proxy(&self);
    connect_through(&self, ends);
    from.peer = ends[0];
    pthread_create(&thread, NULL, send_all, &from);
    ck_assert_uint_eq(receive_slowly(ends[1], &from), ALL_WORDS);
    close(ends[1]);
    pthread_join(thread, NULL);
    close(ends[0]);
    close_proxy(&self);
    printf("%d MiB passed; reserved at the most: %lu and %lu KiB\n", MEBIBYTES, (unsigned long)self.most[0] / 1024,
           (unsigned long)self.most[1] / 1024);
    ck_assert_uint_lt(self.most[0] + self.most[1], 8 * 1024 * 1024);
}
END_TEST

/* How an end goes. */
static void go(int peer, int how) {
    if (how == 0)
        close(peer);
    else if (how == 1)
        peer_reset(peer);
    else
        shutdown(peer, SHUT_WR);
}

static void talk(int one, int other) {
    peer_write(one, "there");
    ck_assert_str_eq(peer_read(other, 5), "there");
}

START_TEST(ends_go_in_every_way_and_order_while_bytes_are_under_way) {
    proxy self = {0};
    open_proxy(&self);
    for (int round = 0; round < ROUNDS; round++) {
        int ends[2], first = round % 2, how = round / 2 % 3, then = round / 6 % 3;
        connect_through(&self, ends);
        talk(ends[first], ends[1 - first]);
        talk(ends[1 - first], ends[first]);
        peer_write(ends[first], "under way");
        peer_write(ends[1 - first], "under way");
        go(ends[first], how);
        if (round % 4 < 2)
            peer_drain(ends[1 - first]);
        go(ends[1 - first], then);
        if (how == 2)
            close(ends[first]);
        if (then == 2)
            close(ends[1 - first]);
    }
    while (__atomic_load_n(&self.removed, __ATOMIC_RELAXED) < 2 * ROUNDS)
        sched_yield();
    close_proxy(&self);
}
END_TEST

START_TEST(a_client_that_ended_its_side_gets_its_answer) {
    proxy self = {0};
    int ends[2];
    open_proxy(&self);
    connect_through(&self, ends);
    peer_write(ends[0], "question");
    shutdown(ends[0], SHUT_WR);
    ck_assert_int_eq(peer_drain(ends[1]), 8);
    peer_write(ends[1], "answer");
    close(ends[1]);
    ck_assert_int_eq(peer_drain(ends[0]), 6);
    close(ends[0]);
    close_proxy(&self);
}
END_TEST

START_TEST(loops_stop_with_bridges_between_them) {
    for (int round = 0; round < ROUNDS / 10; round++) {
        proxy self = {0};
        int ends[4][2];
        open_proxy(&self);
        for (int i = 0; i < 4; i++) {
            connect_through(&self, ends[i]);
            talk(ends[i][0], ends[i][1]);
            peer_write(ends[i][1], "under way");
        }
        if (round % 2)
            leat_loop_stop(leat_loops_at(self.loops, (size_t)round / 2 % 2));
        close_proxy(&self);
        for (int i = 0; i < 8; i++)
            close(ends[i / 2][i % 2]);
    }
}
END_TEST

START_TEST(a_target_that_refuses_ends_the_client) {
    proxy self = {0};
    open_proxy(&self);
    snprintf(self.address, sizeof self.address, "127.0.0.1:1"); /* where nobody listens */
    int peer = peer_connect(4, leat_tcp_listener_port(self.listener));
    ck_assert_int_le(peer_drain(peer), 0);
    close(peer);
    close_proxy(&self);
}
END_TEST

int main(void) {
    return suite_run("proxy", (const TTest *const[]){a_stream_to_a_slow_end_passes_two_loops_in_bounded_memory,
                                                     ends_go_in_every_way_and_order_while_bytes_are_under_way,
                                                     a_client_that_ended_its_side_gets_its_answer,
                                                     loops_stop_with_bridges_between_them,
                                                     a_target_that_refuses_ends_the_client, NULL});
}
