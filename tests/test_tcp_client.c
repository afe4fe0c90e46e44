#include "tests/support/faults.h"
#include "tests/support/suite.h"
#include "tests/support/tcp_fixture.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/** A fixture, faulty calls for its clients, and a listener that never answers. */
typedef struct client_fixture {
    tcp_fixture tcp;
    faults calls;
    int deaf, only;
    char nobody[32]; /* the address that nobody answers at */
    char target[32]; /* the address of the fixture's listener */
} client_fixture;

static void open_clients(client_fixture *self) {
    faults_init(&self->calls);
    tcp_open(&self->tcp, NULL);
    uint16_t port;
    self->deaf = peer_deaf_listener(&port);
    self->only = peer_connect(4, port);
    snprintf(self->nobody, sizeof self->nobody, "127.0.0.1:%u", port);
    snprintf(self->target, sizeof self->target, "127.0.0.1:%u", leat_tcp_listener_port(self->tcp.listener));
}

static void end_clients(client_fixture *self) {
    tcp_end(&self->tcp);
    close(self->only);
    close(self->deaf);
}

static int try_to_connect(client_fixture *self, const char *address, uint64_t timeout_ms, leat_channel **channel) {
    const leat_tcp_options options = {
        .pipeline = self->tcp.client_pipeline, .syscalls = &self->calls.table, .connect_timeout_ms = timeout_ms};
    return leat_tcp_connect(self->tcp.loop, address, &options, channel, NULL);
}

/** Runs until the client's channel is gone and checks that it never was active. */
static void never_active(client_fixture *self, int code) {
    run_until(self->tcp.loop, &self->tcp.client.removed, 1);
    ck_assert_int_eq(self->tcp.client.error, code);
    ck_assert_uint_eq(self->tcp.client.active + self->tcp.client.inactives, 0);
}

START_TEST(a_port_that_nobody_listens_on_refuses) {
    client_fixture self = {0};
    open_clients(&self);
    leat_tcp_listener_close(self.tcp.listener);
    ck_assert_int_eq(try_to_connect(&self, self.target, 0, NULL), 0);
    never_active(&self, LEAT_EREFUSED);
    end_clients(&self);
}
END_TEST

START_TEST(a_connect_refused_at_once_is_the_result) {
    client_fixture self = {0};
    open_clients(&self);
    faults_plan(&self.calls, CALL_CONNECT, -ENETUNREACH, 1);
    ck_assert_int_eq(try_to_connect(&self, self.target, 0, NULL), -ENETUNREACH);
    faults_plan(&self.calls, CALL_SOCKET, -EMFILE, 1);
    ck_assert_int_eq(try_to_connect(&self, self.target, 0, NULL), -EMFILE);
    ck_assert_uint_eq(self.tcp.client.active + self.tcp.client.removed, 0);
    end_clients(&self);
}
END_TEST

START_TEST(a_connect_that_nobody_answers_times_out) {
    client_fixture self = {0};
    open_clients(&self);
    ck_assert_int_eq(try_to_connect(&self, self.nobody, 20, NULL), 0);
    never_active(&self, LEAT_ETIMEDOUT);
    end_clients(&self);
}
END_TEST

START_TEST(an_interrupted_connect_goes_on) {
    client_fixture self = {0};
    open_clients(&self);
    faults_plan(&self.calls, CALL_CONNECT, -EINTR, 1);
    ck_assert_int_eq(try_to_connect(&self, self.target, 0, NULL), 0);
    run_until(self.tcp.loop, &self.tcp.client.active, 1);
    end_clients(&self);
}
END_TEST

START_TEST(the_next_address_is_tried_when_one_fails) {
    client_fixture self = {0};
    open_clients(&self);
    /* "*" is [::], which nobody listens on, then 0.0.0.0, which reaches the listener. */
    char target[32];
    snprintf(target, sizeof target, "*:%u", leat_tcp_listener_port(self.tcp.listener));
    ck_assert_int_eq(try_to_connect(&self, target, 0, NULL), 0);
    run_until(self.tcp.loop, &self.tcp.client.active, 1);
    ck_assert_uint_eq(self.calls.made[CALL_SOCKET], 2);
    end_clients(&self);
}
END_TEST

START_TEST(an_outcome_that_cannot_be_asked_for_is_an_error) {
    client_fixture self = {0};
    open_clients(&self);
    faults_plan(&self.calls, CALL_GET_OPTION, -ENOBUFS, 1);
    ck_assert_int_eq(try_to_connect(&self, self.target, 0, NULL), 0);
    never_active(&self, -ENOBUFS);
    end_clients(&self);
}
END_TEST

START_TEST(what_is_written_before_the_connection_stands_is_sent_then) {
    client_fixture self = {0};
    open_clients(&self);
    leat_channel *channel = NULL;
    ck_assert_int_eq(try_to_connect(&self, self.target, 0, &channel), 0);
    test_outcome outcome = {0};
    write_text(channel, "early", expect(&outcome));
    ck_assert_int_eq(outcome.runs, 0);
    run_until_bytes(self.tcp.loop, &self.tcp.record.bytes, 5);
    ck_assert_str_eq(self.tcp.record.text, "early");
    ck_assert_int_eq(outcome.runs, 1);
    ck_assert_int_eq(outcome.status, 0);
    end_clients(&self);
}
END_TEST

START_TEST(a_channel_may_end_while_it_connects) {
    client_fixture self = {0};
    open_clients(&self);
    leat_channel *closed = NULL, *aborted = NULL;
    ck_assert_int_eq(try_to_connect(&self, self.nobody, 0, &closed), 0);
    ck_assert_int_eq(try_to_connect(&self, self.nobody, 0, &aborted), 0);
    tcp_close(closed);
    tcp_abort(aborted);
    ck_assert_uint_eq(self.tcp.client.removed, 2);
    ck_assert_uint_eq(self.calls.made[CALL_CLOSE], 2);
    /* A third goes with the loop. */
    ck_assert_int_eq(try_to_connect(&self, self.nobody, 0, NULL), 0);
    end_clients(&self);
    ck_assert_uint_eq(self.calls.made[CALL_CLOSE], 3);
}
END_TEST

START_TEST(a_channel_that_ends_itself_while_it_is_made_is_not_handed_out) {
    client_fixture self = {.tcp.client.abort_in = "added"};
    open_clients(&self);
    leat_channel *channel = NULL;
    ck_assert_int_eq(try_to_connect(&self, self.target, 0, &channel), 0);
    ck_assert_ptr_null(channel);
    ck_assert_uint_eq(self.tcp.client.removed, 1);
    end_clients(&self);
}
END_TEST

START_TEST(a_client_may_end_itself_when_told_of_an_error) {
    static const char *const ways[] = {"error", NULL, "error"};
    for (int i = 0; i < 2; i++) {
        client_fixture self = {.tcp.client = {.abort_in = ways[i], .close_in = ways[i + 1]}};
        open_clients(&self);
        leat_tcp_listener_close(self.tcp.listener);
        ck_assert_int_eq(try_to_connect(&self, self.target, 0, NULL), 0);
        never_active(&self, LEAT_EREFUSED);
        end_clients(&self);
    }
}
END_TEST

/** Gives the socket the port that it connects to, as the kernel may when nobody listens there. */
static int connect_to_itself(const leat_syscalls *calls, int descriptor, const struct sockaddr *address,
                             socklen_t length) {
    const leat_syscalls *kernel = leat_syscalls_kernel();
    ck_assert_int_eq(kernel->bind(calls, descriptor, address, length), 0);
    return kernel->connect(calls, descriptor, address, length);
}

START_TEST(a_socket_that_reached_itself_is_refused) {
    client_fixture self = {0};
    open_clients(&self);
    leat_tcp_listener_close(self.tcp.listener);
    self.calls.table.connect = connect_to_itself;
    ck_assert_int_eq(try_to_connect(&self, self.target, 0, NULL), 0);
    never_active(&self, LEAT_EREFUSED);
    end_clients(&self);
}
END_TEST

int main(void) {
    return suite_run("tcp_client",
                     (const TTest *const[]){
                         a_port_that_nobody_listens_on_refuses, a_connect_refused_at_once_is_the_result,
                         a_connect_that_nobody_answers_times_out, an_interrupted_connect_goes_on,
                         the_next_address_is_tried_when_one_fails, an_outcome_that_cannot_be_asked_for_is_an_error,
                         what_is_written_before_the_connection_stands_is_sent_then, a_channel_may_end_while_it_connects,
                         a_channel_that_ends_itself_while_it_is_made_is_not_handed_out,
                         a_client_may_end_itself_when_told_of_an_error, a_socket_that_reached_itself_is_refused, NULL});
}
