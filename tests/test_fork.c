/* What a child of fork may do with loops. */
#include "tests/support/suite.h"
#include "tests/support/tcp_fixture.h"

#include <ev.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_DESCRIPTORS = 1024 };

/* How the child ended; it never returns into check. */
static int wait_for(pid_t child) {
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void talk(int peer) {
    peer_write(peer, "hello");
    ck_assert_str_eq(peer_read(peer, 5), "hello");
}

/* Serves one peer to its end. */
static void serve_one(tcp_fixture *self) {
    run_until(self->loop, &self->record.inactives, self->record.inactives + 1);
}

START_TEST(a_child_may_go_on_with_the_loop_when_it_told_libev) {
    tcp_fixture self = {.record = {.echo = true}};
    tcp_open(&self, NULL);
    run_ready(self.loop); /* libev knows the listener */
    pid_t child = fork();
    if (child == 0) {
        ev_loop_fork(leat_evloop_native(self.loop));
        serve_one(&self);
        _exit(0);
    }
    int peer = peer_connect(4, leat_tcp_listener_port(self.listener));
    talk(peer);
    close(peer);
    ck_assert_int_eq(wait_for(child), 0);
    peer = tcp_peer(&self); /* the child is gone, and disturbed nothing of ours */
    peer_write(peer, "still");
    run_until_bytes(self.loop, &self.record.bytes, 5);
    ck_assert_str_eq(peer_read(peer, 5), "still");
    close(peer);
    tcp_end(&self);
}
END_TEST

static size_t ran;

static void run_out(leat_timer *timer) {
    (void)timer;
    ran++;
}

/* What a child does that leaves its parent's loops alone. */
static void work_alone(void) {
    leat_timer one = {.fn = run_out};
    leat_loop *loop = leat_evloop_new(NULL);
    leat_timer_start(loop, &one, 1);
    run_until(loop, &ran, 1);
    leat_loop_release(loop);
}

START_TEST(a_child_that_leaves_the_loop_alone_may_have_its_own) {
    tcp_fixture self = {.record = {.echo = true}};
    tcp_open(&self, NULL);
    int peer = tcp_peer(&self);
    pid_t child = fork();
    if (child == 0) {
        work_alone();
        _exit(0);
    }
    ck_assert_int_eq(wait_for(child), 0);
    peer_write(peer, "still");
    run_until_bytes(self.loop, &self.record.bytes, 5);
    ck_assert_str_eq(peer_read(peer, 5), "still");
    close(peer);
    tcp_end(&self);
}
END_TEST

START_TEST(no_descriptor_survives_an_exec) {
    static bool before[MOST_DESCRIPTORS];
    for (int i = 0; i < MOST_DESCRIPTORS; i++)
        before[i] = fcntl(i, F_GETFD) >= 0;
    tcp_fixture self = {0};
    tcp_open(&self, NULL);
    leat_channel *client = tcp_client(&self, NULL);
    run_until(self.loop, &self.client.active, 1);
    run_until(self.loop, &self.record.active, 1);
    int opened = 0;
    for (int i = 0; i < MOST_DESCRIPTORS; i++) {
        int flags = fcntl(i, F_GETFD);
        opened += !before[i] && flags >= 0;
        ck_assert_msg(before[i] || flags < 0 || flags & FD_CLOEXEC, "descriptor %d stays open", i);
    }
    ck_assert_int_ge(opened, 5); /* the loop's, the listener and its reserve, both ends */
    tcp_abort(client);
    tcp_end(&self);
}
END_TEST

int main(void) {
    return suite_run("fork", (const TTest *const[]){a_child_may_go_on_with_the_loop_when_it_told_libev,
                                                    a_child_that_leaves_the_loop_alone_may_have_its_own,
                                                    no_descriptor_survives_an_exec, NULL});
}
