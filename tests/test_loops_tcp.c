/* One address served by several loops: who accepts, who serves, and how it ends. */
#include "tests/support/peer.h"
#include "tests/support/suite.h"
#include "transports/loops.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

enum { LOOPS = 4, CLIENTS = 8 };

/* Loops that echo, a listener, and what the handlers of all loops count; the counters are atomic. */
typedef struct site {
    leat_loops *loops;
    leat_loops_listener *listener;
    leat_pipeline *pipeline;
    leat_tcp_options options;
    size_t active[LOOPS], chosen[LOOPS], removed, ended;
    pthread_t threads[LOOPS];
} site;

typedef struct echo_config {
    site *at;
} echo_config;

static void bump(size_t *counter) {
    __atomic_fetch_add(counter, 1, __ATOMIC_RELEASE);
}

static size_t value(const size_t *counter) {
    return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

static void wait_for(const size_t *counter, size_t least) {
    while (value(counter) < least)
        sched_yield();
}

static site *site_of(leat_ctx *ctx) {
    return *(site **)leat_state(ctx);
}

static int echo_added(leat_ctx *ctx, const void *config) {
    *(site **)leat_state(ctx) = ((const echo_config *)config)->at;
    return 0;
}

static void echo_removed(leat_ctx *ctx) {
    bump(&site_of(ctx)->removed);
}

static void echo_active(leat_ctx *ctx) {
    site *self = site_of(ctx);
    leat_loop *loop = leat_channel_loop(leat_ctx_channel(ctx));
    for (size_t i = 0; i < LOOPS; i++) {
        if (leat_loops_at(self->loops, i) != loop)
            continue;
        ck_assert(pthread_equal(self->threads[i], pthread_self()));
        bump(&self->active[i]);
    }
    leat_ctx_fire_active(ctx);
}

static void echo_read(leat_ctx *ctx, leat_msg msg) {
    leat_ctx_write(ctx, msg, NULL);
}

static const leat_handler echo = {.name = "echo",
                                  .state_size = sizeof(site *),
                                  .config_size = sizeof(echo_config),
                                  .added = echo_added,
                                  .removed = echo_removed,
                                  .active = echo_active,
                                  .read = echo_read};

static int note_thread(void *context, leat_loop *loop, size_t index) {
    (void)loop;
    ((site *)context)->threads[index] = pthread_self();
    return 0;
}

static void note_end(void *context, leat_loop *loop, size_t index) {
    (void)loop, (void)index;
    bump(&((site *)context)->ended);
}

static leat_pipeline *choose(void *context, const leat_address *peer) {
    site *self = context;
    ck_assert_uint_eq(peer->family, 4);
    for (size_t i = 0; i < LOOPS; i++)
        if (pthread_equal(self->threads[i], pthread_self()))
            bump(&self->chosen[i]);
    return self->pipeline;
}

static void make(site *self) {
    const leat_loops_options options = {.count = LOOPS, .begin = note_thread, .end = note_end, .context = self};
    ck_assert_int_eq(leat_loops_new(&options, &self->loops, NULL), 0);
    const echo_config config = {self};
    self->pipeline = leat_pipeline_new(leat_unpooled(), (const leat_stage[]){{&echo, &config, NULL}, {0}}, NULL);
    ck_assert_ptr_nonnull(self->pipeline);
    if (!self->options.initialise)
        self->options.pipeline = self->pipeline;
}

static void listen_at(site *self, const char *address) {
    leat_problem problem = {0};
    int code = leat_loops_listen(self->loops, address, &self->options, &self->listener, &problem);
    ck_assert_msg(code == 0, "%s", problem.text);
}

/* Set options first. */
static void open_site(site *self) {
    make(self);
    ck_assert_int_eq(leat_loops_start(self->loops, NULL), 0);
    listen_at(self, "127.0.0.1:0");
}

static void close_site(site *self) {
    leat_loops_listener_release(self->listener);
    leat_loops_release(self->loops);
    leat_pipeline_release(self->pipeline);
}

static int join(site *self) {
    int peer = peer_connect(4, leat_loops_listener_address(self->listener).port);
    ck_assert_int_ge(peer, 0);
    return peer;
}

static void talk(int peer) {
    peer_write(peer, "hello");
    ck_assert_str_eq(peer_read(peer, 5), "hello");
}

static void join_all(site *self, int *peers) {
    for (int i = 0; i < CLIENTS; i++) {
        peers[i] = join(self);
        talk(peers[i]);
    }
}

static void part_all(const int *peers) {
    for (int i = 0; i < CLIENTS; i++)
        close(peers[i]);
}

START_TEST(connections_are_handed_out_in_turn_and_initialised_where_they_live) {
    site self = {.options = {.initialise = choose, .context = &self}};
    int peers[CLIENTS];
    open_site(&self);
    join_all(&self, peers);
    for (size_t i = 0; i < LOOPS; i++) {
        ck_assert_uint_eq(value(&self.active[i]), CLIENTS / LOOPS);
        ck_assert_uint_eq(value(&self.chosen[i]), CLIENTS / LOOPS);
    }
    part_all(peers);
    close_site(&self);
    ck_assert_uint_eq(self.removed, CLIENTS);
}
END_TEST

START_TEST(with_reuse_port_every_loop_listens_on_the_same_port) {
    site self = {.options = {.reuse_port = true}};
    int peers[CLIENTS];
    open_site(&self);
    join_all(&self, peers);
    size_t active = 0;
    for (size_t i = 0; i < LOOPS; i++)
        active += value(&self.active[i]);
    ck_assert_uint_eq(active, CLIENTS);
    leat_tcp_listener_stats stats;
    ck_assert_int_eq(leat_loops_listener_statistics(self.listener, &stats), 0);
    ck_assert_uint_eq(stats.accepted, CLIENTS);
    ck_assert_uint_eq(stats.connections, CLIENTS);
    part_all(peers);
    close_site(&self);
}
END_TEST

START_TEST(a_listener_may_be_opened_before_the_loops_start) {
    for (int reuse = 0; reuse < 2; reuse++) {
        site self = {.options = {.reuse_port = reuse}};
        make(&self);
        listen_at(&self, "127.0.0.1:0");
        int peer = join(&self);
        ck_assert_int_eq(leat_loops_start(self.loops, NULL), 0);
        talk(peer);
        close(peer);
        close_site(&self);
    }
}
END_TEST

START_TEST(the_most_connections_are_those_of_all_loops_together) {
    site self = {.options = {.max_connections = 2}};
    open_site(&self);
    int first = join(&self), second = join(&self);
    talk(first);
    talk(second);
    for (size_t round = 1; round <= 20; round++) {
        int third = join(&self); /* waits in the backlog until one goes */
        peer_write(third, "hello");
        leat_tcp_listener_stats stats;
        ck_assert_int_eq(leat_loops_listener_statistics(self.listener, &stats), 0);
        ck_assert_uint_eq(stats.accepted, round + 1);
        close(first);
        ck_assert_str_eq(peer_read(third, 5), "hello");
        first = second;
        second = third;
    }
    close(first);
    close(second);
    close_site(&self);
}
END_TEST

START_TEST(a_closed_listener_accepts_nobody_and_its_channels_stay) {
    for (int reuse = 0; reuse < 2; reuse++) {
        site self = {.options = {.reuse_port = reuse}};
        open_site(&self);
        int peer = join(&self);
        talk(peer);
        ck_assert_int_eq(leat_loops_listener_close(self.listener), 0);
        ck_assert_int_eq(leat_loops_listener_close(self.listener), 0);
        ck_assert_int_eq(peer_connect(4, leat_loops_listener_address(self.listener).port), -1);
        talk(peer);
        leat_loops_listener_release(self.listener);
        self.listener = NULL;
        talk(peer);
        close(peer);
        wait_for(&self.removed, 1);
        close_site(&self);
    }
}
END_TEST

static leat_pipeline *refuse_all(void *context, const leat_address *peer) {
    (void)peer;
    bump(context);
    return NULL;
}

START_TEST(a_connection_that_the_initialiser_refuses_makes_room_again) {
    size_t refused = 0;
    site self = {.options = {.initialise = refuse_all, .context = &refused, .max_connections = 1}};
    open_site(&self);
    for (size_t i = 0; i < CLIENTS; i++) {
        int peer = join(&self);
        ck_assert_int_le(peer_drain(peer), 0);
        close(peer);
    }
    ck_assert_uint_eq(value(&refused), CLIENTS);
    close_site(&self);
}
END_TEST

START_TEST(a_loop_that_ended_leaves_its_connections_to_the_next) {
    site self = {0};
    int peers[CLIENTS];
    open_site(&self);
    leat_loop_stop(leat_loops_at(self.loops, 1));
    wait_for(&self.ended, 1);
    join_all(&self, peers);
    ck_assert_uint_eq(value(&self.active[0]) + value(&self.active[2]) + value(&self.active[3]), CLIENTS);
    part_all(peers);
    close_site(&self);
}
END_TEST

/* Listens, or closes a listener, where it may not. */
typedef struct insider {
    leat_task task;
    site *at;
    size_t done;
} insider;

static void try_from_inside(leat_task *task, int status) {
    insider *self = (insider *)(void *)task;
    leat_loops_listener *another = NULL;
    leat_tcp_listener_stats stats;
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(leat_loops_listener_close(self->at->listener), LEAT_EINVAL);
    ck_assert_int_eq(leat_loops_listener_statistics(self->at->listener, &stats), LEAT_EINVAL);
    ck_assert_int_eq(leat_loops_listen(self->at->loops, "127.0.0.1:0", &self->at->options, &another, NULL),
                     LEAT_EINVAL);
    bump(&self->done);
}

START_TEST(what_would_wait_is_refused_on_the_loops_threads) {
    site self = {0};
    open_site(&self);
    insider task = {.task.fn = try_from_inside, .at = &self};
    leat_loop_post(leat_loops_at(self.loops, 2), &task.task);
    wait_for(&task.done, 1);
    close_site(&self);
}
END_TEST

START_TEST(an_address_in_use_and_loops_that_stopped_say_so) {
    for (int reuse = 0; reuse < 2; reuse++) {
        site self = {0};
        leat_loops_listener *other = NULL;
        leat_problem problem = {0};
        open_site(&self);
        char text[LEAT_ADDRESS_TEXT];
        leat_address bound = leat_loops_listener_address(self.listener);
        leat_address_format(&bound, text, sizeof text);
        leat_tcp_options options = {.pipeline = self.pipeline, .reuse_port = reuse};
        ck_assert_int_lt(leat_loops_listen(self.loops, text, &options, &other, &problem), 0);
        ck_assert_ptr_nonnull(strstr(problem.text, "ddress already in use"));
        ck_assert_int_eq(leat_loops_stop(self.loops), 0);
        ck_assert_int_eq(leat_loops_listen(self.loops, "127.0.0.1:0", &options, &other, &problem), LEAT_ECLOSED);
        ck_assert_ptr_null(other);
        close_site(&self);
    }
}
END_TEST

/* A client that writes and reads until the server ends it. */
typedef struct busy_client {
    site *at;
    pthread_t thread;
    size_t rounds; /* atomic */
} busy_client;

static void *be_busy(void *argument) {
    busy_client *self = argument;
    char text[1024] = {0};
    int peer = join(self->at);
    while (send(peer, text, sizeof text, MSG_NOSIGNAL) > 0 && recv(peer, text, sizeof text, 0) > 0)
        bump(&self->rounds);
    close(peer);
    return NULL;
}

START_TEST(loops_stop_while_their_channels_are_busy) {
    for (int reuse = 0; reuse < 2; reuse++) {
        site self = {.options = {.reuse_port = reuse}};
        busy_client clients[CLIENTS] = {{0}};
        open_site(&self);
        for (int i = 0; i < CLIENTS; i++) {
            clients[i].at = &self;
            ck_assert_int_eq(pthread_create(&clients[i].thread, NULL, be_busy, &clients[i]), 0);
        }
        for (int i = 0; i < CLIENTS; i++)
            wait_for(&clients[i].rounds, 10);
        ck_assert_int_eq(leat_loops_stop(self.loops), 0);
        for (int i = 0; i < CLIENTS; i++)
            pthread_join(clients[i].thread, NULL);
        ck_assert_uint_eq(self.removed, CLIENTS);
        close_site(&self);
    }
}
END_TEST

int main(void) {
    return suite_run(
        "loops_tcp",
        (const TTest *const[]){
            connections_are_handed_out_in_turn_and_initialised_where_they_live,
            with_reuse_port_every_loop_listens_on_the_same_port, a_listener_may_be_opened_before_the_loops_start,
            the_most_connections_are_those_of_all_loops_together,
            a_closed_listener_accepts_nobody_and_its_channels_stay,
            a_connection_that_the_initialiser_refuses_makes_room_again,
            a_loop_that_ended_leaves_its_connections_to_the_next, what_would_wait_is_refused_on_the_loops_threads,
            an_address_in_use_and_loops_that_stopped_say_so, loops_stop_while_their_channels_are_busy, NULL});
}
