#include "tests/support/faults.h"
#include "tests/support/suite.h"
#include "tests/support/tcp_fixture.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char text[] = "The quick brown fox jumps over the lazy dog.";

enum { TEXT = sizeof text - 1 };

/** A fixture whose accepted channels and listener use faulty calls. */
static void open_faulty(tcp_fixture *self, faults *calls) {
    faults_init(calls);
    self->options.syscalls = &calls->table;
    self->record.echo = true;
    tcp_open(self, NULL);
}

static void echo_works(tcp_fixture *self, int peer) {
    uint64_t before = self->record.bytes;
    peer_write(peer, text);
    run_until_bytes(self->loop, &self->record.bytes, before + TEXT);
    while (leat_channel_pending(self->record.channel) > 0)
        run_once(self->loop);
    ck_assert_str_eq(peer_read(peer, TEXT), text);
}

/* Reading and writing. */

START_TEST(one_byte_at_a_time_comes_whole_and_in_order) {
    tcp_fixture self = {0};
    faults calls;
    open_faulty(&self, &calls);
    calls.most_bytes = 1;
    int peer = tcp_peer(&self);
    echo_works(&self, peer);
    ck_assert_uint_ge(calls.made[CALL_SEND], TEXT);
    ck_assert_uint_ge(calls.made[CALL_RECEIVE], TEXT);
    close(peer);
    tcp_end(&self);
}
END_TEST

START_TEST(every_interrupted_call_is_made_again) {
    tcp_fixture self = {0};
    faults calls;
    open_faulty(&self, &calls);
    faults_plan(&calls, CALL_ACCEPT, -EINTR, 3);
    faults_plan(&calls, CALL_RECEIVE, -EINTR, 3);
    faults_plan(&calls, CALL_SEND, -EINTR, 3);
    faults_plan(&calls, CALL_CLOSE, -EINTR, 1);
    int peer = tcp_peer(&self);
    echo_works(&self, peer);
    close(peer);
    run_until(self.loop, &self.record.inactives, 1);
    ck_assert_int_eq(self.record.error, 0);
    ck_assert_uint_eq(leat_tcp_listener_statistics(self.listener).failures, 0);
    tcp_end(&self);
}
END_TEST

START_TEST(a_call_that_would_block_is_made_again_when_ready) {
    tcp_fixture self = {0};
    faults calls;
    open_faulty(&self, &calls);
    faults_plan(&calls, CALL_ACCEPT, -EAGAIN, 1);
    faults_plan(&calls, CALL_RECEIVE, -EAGAIN, 2);
    faults_plan(&calls, CALL_SEND, -EAGAIN, 2);
    int peer = tcp_peer(&self);
    echo_works(&self, peer);
    close(peer);
    tcp_end(&self);
}
END_TEST

static void write_survives(int code) {
    tcp_fixture self = {0};
    faults calls;
    open_faulty(&self, &calls);
    int peer = tcp_peer(&self);
    faults_plan(&calls, CALL_SEND, code, 2);
    uint64_t start = leat_loop_now(self.loop);
    echo_works(&self, peer);
    /* Two pauses, the second twice as long, and no call in between. */
    ck_assert_uint_eq(calls.made[CALL_SEND], 3);
    ck_assert_uint_ge(leat_loop_now(self.loop) - start, 30000000);
    close(peer);
    tcp_end(&self);
}

START_TEST(a_write_the_system_has_no_memory_for_is_tried_again_after_a_pause) {
    write_survives(-ENOBUFS);
    write_survives(-ENOMEM);
}
END_TEST

START_TEST(a_channel_may_end_while_its_write_pauses) {
    tcp_fixture self = {0};
    faults calls;
    open_faulty(&self, &calls);
    int peer = tcp_peer(&self);
    faults_plan(&calls, CALL_SEND, -ENOBUFS, 100);
    test_outcome outcome = {0};
    write_text(self.record.channel, text, expect(&outcome));
    tcp_abort(self.record.channel);
    ck_assert_int_eq(outcome.runs, 1);
    ck_assert_int_eq(outcome.status, LEAT_EABORTED);
    run_ready(self.loop);
    close(peer);
    tcp_end(&self);
}
END_TEST

static void write_fails(int code, int expected) {
    tcp_fixture self = {0};
    faults calls;
    open_faulty(&self, &calls);
    int peer = tcp_peer(&self);
    faults_plan(&calls, CALL_SEND, code, 1);
    test_outcome outcomes[2] = {0};
    write_text(self.record.channel, text, expect(&outcomes[0]));
    if (self.record.channel)
        write_text(self.record.channel, text, expect(&outcomes[1]));
    run_until(self.loop, &self.record.inactives, 1);
    ck_assert_int_eq(self.record.error, expected);
    ck_assert_int_eq(outcomes[0].status, expected);
    ck_assert_int_eq(outcomes[0].runs, 1);
    ck_assert_uint_eq(calls.made[CALL_SEND], 1);
    close(peer);
    tcp_end(&self);
}

START_TEST(a_fatal_write_ends_the_channel_with_its_code_and_is_not_repeated) {
    write_fails(-EPIPE, LEAT_ERESET);
    write_fails(-ECONNRESET, LEAT_ERESET);
    write_fails(-ETIMEDOUT, LEAT_ETIMEDOUT);
    write_fails(-EHOSTUNREACH, -EHOSTUNREACH);
}
END_TEST

static void read_fails(int code, int expected) {
    tcp_fixture self = {0};
    faults calls;
    open_faulty(&self, &calls);
    int peer = tcp_peer(&self);
    faults_plan(&calls, CALL_RECEIVE, code, 1);
    peer_write(peer, text);
    run_until(self.loop, &self.record.inactives, 1);
    ck_assert_int_eq(self.record.error, expected);
    ck_assert_uint_eq(self.record.bytes + self.record.eofs, 0);
    close(peer);
    tcp_end(&self);
}

START_TEST(a_fatal_read_ends_the_channel_with_its_code_and_is_no_end_of_stream) {
    read_fails(-ECONNRESET, LEAT_ERESET);
    read_fails(-ETIMEDOUT, LEAT_ETIMEDOUT);
    read_fails(-EHOSTUNREACH, -EHOSTUNREACH);
    read_fails(-ENOMEM, LEAT_ENOMEM);
}
END_TEST

START_TEST(refused_options_are_no_reason_not_to_serve) {
    tcp_fixture self = {.options = {.keep_alive = true, .send_buffer = 65536, .receive_buffer = 65536}};
    faults calls;
    faults_init(&calls);
    faults_plan(&calls, CALL_SET_OPTION, -ENOPROTOOPT, 4);
    self.options.syscalls = &calls.table;
    self.record.echo = true;
    tcp_open(&self, NULL);
    int peer = tcp_peer(&self);
    echo_works(&self, peer);
    close(peer);
    tcp_end(&self);
}
END_TEST

START_TEST(a_failed_half_close_still_ends_by_the_peers_end) {
    tcp_fixture self = {0};
    faults calls;
    open_faulty(&self, &calls);
    int peer = tcp_peer(&self);
    faults_plan(&calls, CALL_SHUTDOWN, -ENOTCONN, 1);
    tcp_close(self.record.channel);
    close(peer);
    run_until(self.loop, &self.record.inactives, 1);
    tcp_end(&self);
}
END_TEST

/* Accepting. */

static void accept_survives(int code) {
    tcp_fixture self = {0};
    faults calls;
    open_faulty(&self, &calls);
    faults_plan(&calls, CALL_ACCEPT, code, 2);
    int peer = tcp_peer(&self);
    echo_works(&self, peer);
    ck_assert_uint_eq(leat_tcp_listener_statistics(self.listener).failures, 2);
    ck_assert_uint_eq(leat_tcp_listener_statistics(self.listener).pauses, 0);
    close(peer);
    tcp_end(&self);
}

START_TEST(a_connection_that_is_gone_before_it_is_accepted_does_not_stop_the_others) {
    static const int codes[] = {ECONNABORTED, EPERM,  EPROTO,       ENETDOWN,   ENOPROTOOPT,
                                EHOSTDOWN,    ENONET, EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        accept_survives(-codes[i]);
}
END_TEST

static void accept_pauses(int code) {
    tcp_fixture self = {0};
    faults calls;
    open_faulty(&self, &calls);
    faults_plan(&calls, CALL_ACCEPT, code, 1);
    int peer = tcp_peer(&self);
    echo_works(&self, peer);
    ck_assert_uint_eq(leat_tcp_listener_statistics(self.listener).pauses, 1);
    ck_assert_uint_eq(leat_tcp_listener_statistics(self.listener).refused, 0);
    close(peer);
    tcp_end(&self);
}

START_TEST(a_listener_without_memory_pauses_and_goes_on) {
    accept_pauses(-ENOBUFS);
    accept_pauses(-ENOMEM);
    accept_pauses(-EIO);
}
END_TEST

START_TEST(a_listener_without_descriptors_refuses_one_client_pauses_and_serves_the_next) {
    tcp_fixture self = {0};
    faults calls;
    open_faulty(&self, &calls);
    faults_plan(&calls, CALL_ACCEPT, -EMFILE, 1);
    int unlucky = peer_connect(4, leat_tcp_listener_port(self.listener));
    int lucky = tcp_peer(&self);
    ck_assert_int_eq(peer_drain(unlucky), -ECONNRESET);
    echo_works(&self, lucky);
    ck_assert_uint_eq(leat_tcp_listener_statistics(self.listener).refused, 1);
    ck_assert_uint_eq(leat_tcp_listener_statistics(self.listener).pauses, 1);
    close(unlucky);
    close(lucky);
    tcp_end(&self);
}
END_TEST

/** Leaves this process `spare` more descriptors than it has open. */
static void limit_descriptors(int spare) {
    int lowest_free = dup(0);
    close(lowest_free);
    const struct rlimit limit = {(rlim_t)(lowest_free + spare), (rlim_t)(lowest_free + spare)};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

START_TEST(a_process_that_really_ran_out_of_descriptors_serves_again_when_it_has_some) {
    tcp_fixture self = {.record.echo = true};
    tcp_open(&self, NULL);
    int served = tcp_peer(&self);
    /* Room for the clients' ends, not for ours. */
    limit_descriptors(2);
    int refused = peer_connect(4, leat_tcp_listener_port(self.listener));
    int waiting = peer_connect(4, leat_tcp_listener_port(self.listener));
    while (leat_tcp_listener_statistics(self.listener).pauses == 0)
        run_once(self.loop);
    ck_assert_int_eq(peer_drain(refused), -ECONNRESET);
    echo_works(&self, served);
    close(refused);
    run_until(self.loop, &self.record.active, 2);
    echo_works(&self, waiting);
    close(served);
    close(waiting);
    tcp_end(&self);
}
END_TEST

/* Setting up. */

static int try_to_listen(fault_call call, int code, leat_problem *problem) {
    faults calls;
    faults_init(&calls);
    faults_plan(&calls, call, code, 100);
    test_record record = {0};
    leat_loop *loop = leat_evloop_new(leat_unpooled());
    leat_tcp_options options = {.pipeline = recorder_pipeline(&record), .syscalls = &calls.table};
    leat_tcp_listener *listener = NULL;
    int result = leat_tcp_listen(loop, "127.0.0.1:0", &options, &listener, problem);
    ck_assert((result == 0) == (listener != NULL));
    leat_tcp_listener_release(listener);
    leat_loop_release(loop);
    leat_pipeline_release(options.pipeline);
    return result;
}

START_TEST(a_refused_call_of_listening_is_named_in_one_line) {
    static const fault_call calls[] = {CALL_SOCKET, CALL_BIND, CALL_LISTEN};
    static const int codes[] = {-EMFILE, -EACCES, -EADDRINUSE};
    for (size_t i = 0; i < 3; i++) {
        leat_problem problem = {0};
        ck_assert_int_eq(try_to_listen(calls[i], codes[i], &problem), codes[i]);
        ck_assert_ptr_nonnull(strstr(problem.text, "127.0.0.1:0"));
        ck_assert_ptr_nonnull(strstr(problem.text, strerror(-codes[i])));
        ck_assert_ptr_null(strchr(problem.text, '\n'));
    }
}
END_TEST

/* No memory. */

/** One client talks to one server; the n-th allocation fails. Returns whether there was an n-th. */
static bool talk_with_failing(uint64_t nth, bool from_then_on) {
    leat_failing_alloc failing;
    leat_failing_alloc_init(&failing, leat_unpooled());
    tcp_fixture self = {.record.echo = true, .record.close_in = "read", .client.greeting = text};
    self.loop = leat_evloop_new(&failing.alloc);
    self.pipeline = recorder_pipeline(&self.record);
    self.client_pipeline = recorder_pipeline(&self.client);
    self.options.pipeline = self.pipeline;
    ck_assert_int_eq(leat_tcp_listen(self.loop, "127.0.0.1:0", &self.options, &self.listener, NULL), 0);
    failing.fail_at = failing.asked + nth;
    failing.from_then_on = from_then_on;
    char address[32];
    snprintf(address, sizeof address, "127.0.0.1:%u", leat_tcp_listener_port(self.listener));
    const leat_tcp_options options = {.pipeline = self.client_pipeline};
    int code = leat_tcp_connect(self.loop, address, &options, NULL, NULL);
    if (code == 0)
        run_until(self.loop, &self.client.removed, 1);
    else
        ck_assert_int_eq(code, LEAT_ENOMEM);
    bool failed = failing.asked >= failing.fail_at;
    tcp_end(&self);
    return failed;
}

START_TEST(any_failed_allocation_ends_in_an_error_and_leaks_nothing) {
    for (int from_then_on = 0; from_then_on < 2; from_then_on++) {
        uint64_t nth = 1;
        while (talk_with_failing(nth, from_then_on))
            nth++;
        ck_assert_uint_gt(nth, 5);
    }
}
END_TEST

int main(void) {
    return suite_run("tcp_faults",
                     (const TTest *const[]){
                         one_byte_at_a_time_comes_whole_and_in_order, every_interrupted_call_is_made_again,
                         a_call_that_would_block_is_made_again_when_ready,
                         a_write_the_system_has_no_memory_for_is_tried_again_after_a_pause,
                         a_channel_may_end_while_its_write_pauses,
                         a_fatal_write_ends_the_channel_with_its_code_and_is_not_repeated,
                         a_fatal_read_ends_the_channel_with_its_code_and_is_no_end_of_stream,
                         refused_options_are_no_reason_not_to_serve, a_failed_half_close_still_ends_by_the_peers_end,
                         a_connection_that_is_gone_before_it_is_accepted_does_not_stop_the_others,
                         a_listener_without_memory_pauses_and_goes_on,
                         a_listener_without_descriptors_refuses_one_client_pauses_and_serves_the_next,
                         a_process_that_really_ran_out_of_descriptors_serves_again_when_it_has_some,
                         a_refused_call_of_listening_is_named_in_one_line,
                         any_failed_allocation_ends_in_an_error_and_leaks_nothing, NULL});
}
