#include "tests/support/suite.h"
#include "tests/support/tcp_fixture.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void connect_to_port(tcp_fixture *self, uint16_t port) {
    char address[32];
    snprintf(address, sizeof address, "127.0.0.1:%u", port);
    const leat_tcp_options options = {.pipeline = self->client_pipeline};
    ck_assert_int_eq(leat_tcp_connect(self->loop, address, &options, NULL, NULL), 0);
}

START_TEST(a_closed_listener_refuses_new_clients_and_keeps_those_it_has) {
    tcp_fixture self = {.record.echo = true};
    tcp_open(&self, NULL);
    int peer = tcp_peer(&self);
    uint16_t port = leat_tcp_listener_port(self.listener);
    leat_tcp_listener_close(self.listener);
    leat_tcp_listener_close(self.listener);
    connect_to_port(&self, port);
    run_until(self.loop, &self.client.removed, 1);
    ck_assert_int_eq(self.client.error, LEAT_EREFUSED);
    ck_assert_uint_eq(self.client.active + self.client.inactives, 0);
    peer_write(peer, "still here");
    run_until_bytes(self.loop, &self.record.bytes, 10);
    ck_assert_str_eq(peer_read(peer, 10), "still here");
    close(peer);
    tcp_end(&self);
}
END_TEST

START_TEST(a_released_listener_lets_its_channels_end_later) {
    tcp_fixture self = {0};
    tcp_open(&self, NULL);
    int peer = tcp_peer(&self);
    leat_tcp_listener_release(self.listener);
    self.listener = NULL;
    close(peer);
    run_until(self.loop, &self.record.inactives, 1);
    tcp_end(&self);
}
END_TEST

START_TEST(a_port_in_use_is_named_in_one_line) {
    tcp_fixture self = {0};
    tcp_open(&self, NULL);
    char address[32];
    snprintf(address, sizeof address, "127.0.0.1:%u", leat_tcp_listener_port(self.listener));
    leat_tcp_listener *second;
    leat_problem problem = {0};
    ck_assert_int_eq(leat_tcp_listen(self.loop, address, &self.options, &second, &problem), -EADDRINUSE);
    ck_assert_ptr_null(second);
    ck_assert_ptr_nonnull(strstr(problem.text, address));
    ck_assert_ptr_nonnull(strstr(problem.text, strerror(EADDRINUSE)));
    tcp_end(&self);
}
END_TEST

START_TEST(listeners_may_share_a_port) {
    tcp_fixture self = {.options.reuse_port = true};
    tcp_open(&self, NULL);
    char address[32];
    snprintf(address, sizeof address, "127.0.0.1:%u", leat_tcp_listener_port(self.listener));
    leat_tcp_listener *second;
    ck_assert_int_eq(leat_tcp_listen(self.loop, address, &self.options, &second, NULL), 0);
    ck_assert_uint_eq(leat_tcp_listener_port(second), leat_tcp_listener_port(self.listener));
    leat_tcp_listener_release(second);
    tcp_end(&self);
}
END_TEST

/** What an initialiser is asked, and what it answers. */
typedef struct chooser {
    leat_pipeline *pipeline;
    leat_address peer;
    size_t asked;
} chooser;

static leat_pipeline *choose(void *context, const leat_address *peer) {
    chooser *self = context;
    self->peer = *peer;
    self->asked++;
    return self->pipeline;
}

START_TEST(an_initialiser_chooses_the_pipeline_knowing_the_peer) {
    test_record chosen = {0};
    chooser choice = {.pipeline = recorder_pipeline(&chosen)};
    tcp_fixture self = {.options = {.initialise = choose, .context = &choice}};
    tcp_open(&self, NULL);
    int peer = peer_connect(4, leat_tcp_listener_port(self.listener));
    run_until(self.loop, &chosen.active, 1);
    ck_assert(leat_address_is_loopback(&choice.peer));
    ck_assert_uint_eq(self.record.active, 0);
    close(peer);
    tcp_end(&self);
    leat_pipeline_release(choice.pipeline);
}
END_TEST

START_TEST(an_initialiser_may_refuse) {
    chooser choice = {0};
    tcp_fixture self = {.options = {.initialise = choose, .context = &choice}};
    tcp_open(&self, NULL);
    int peer = peer_connect(4, leat_tcp_listener_port(self.listener));
    run_until(self.loop, &choice.asked, 1);
    ck_assert_int_eq(peer_drain(peer), -ECONNRESET);
    ck_assert_uint_eq(leat_tcp_listener_statistics(self.listener).refused, 1);
    ck_assert_uint_eq(leat_tcp_listener_statistics(self.listener).connections, 0);
    close(peer);
    tcp_end(&self);
}
END_TEST

START_TEST(a_full_listener_lets_the_next_client_wait_until_one_leaves) {
    tcp_fixture self = {.options.max_connections = 2};
    tcp_open(&self, NULL);
    int first = tcp_peer(&self), second = tcp_peer(&self);
    int third = peer_connect(4, leat_tcp_listener_port(self.listener));
    run_ready(self.loop);
    ck_assert_uint_eq(self.record.active, 2);
    close(first);
    run_until(self.loop, &self.record.active, 3);
    ck_assert_uint_eq(leat_tcp_listener_statistics(self.listener).connections, 2);
    close(second);
    close(third);
    tcp_end(&self);
}
END_TEST

static leat_pipeline *release_listener(void *context, const leat_address *peer) {
    (void)peer;
    tcp_fixture *self = context;
    leat_tcp_listener_release(self->listener);
    self->listener = NULL;
    return self->pipeline;
}

START_TEST(a_listener_may_be_released_while_it_accepts) {
    tcp_fixture self = {.options.initialise = release_listener};
    self.options.context = &self;
    tcp_open(&self, NULL);
    int peer = tcp_peer(&self);
    ck_assert_ptr_null(self.listener);
    close(peer);
    run_until(self.loop, &self.record.inactives, 1);
    tcp_end(&self);
}
END_TEST

START_TEST(listening_without_a_pipeline_or_an_address_is_refused) {
    leat_loop *loop = leat_evloop_new(leat_unpooled());
    test_record record = {0};
    const leat_tcp_options options = {.pipeline = recorder_pipeline(&record)};
    leat_tcp_listener *listener;
    leat_problem problem = {0};
    ck_assert_int_eq(leat_tcp_listen(loop, "127.0.0.1:0", &(leat_tcp_options){0}, &listener, &problem), LEAT_EINVAL);
    ck_assert_int_eq(leat_tcp_listen(loop, "nonsense", &options, &listener, &problem), LEAT_EINVAL);
    ck_assert_int_eq(leat_tcp_listen(NULL, "127.0.0.1:0", &options, &listener, &problem), LEAT_EINVAL);
    ck_assert_int_eq(leat_tcp_connect(loop, "nonsense", &options, NULL, &problem), LEAT_EINVAL);
    ck_assert_int_eq(leat_tcp_connect(loop, "127.0.0.1:1", NULL, NULL, &problem), LEAT_EINVAL);
    leat_loop_release(loop);
    leat_pipeline_release(options.pipeline);
}
END_TEST

int main(void) {
    return suite_run(
        "tcp_listener",
        (const TTest *const[]){a_closed_listener_refuses_new_clients_and_keeps_those_it_has,
                               a_released_listener_lets_its_channels_end_later, a_port_in_use_is_named_in_one_line,
                               listeners_may_share_a_port, an_initialiser_chooses_the_pipeline_knowing_the_peer,
                               an_initialiser_may_refuse, a_full_listener_lets_the_next_client_wait_until_one_leaves,
                               a_listener_may_be_released_while_it_accepts,
                               listening_without_a_pipeline_or_an_address_is_refused, NULL});
}
