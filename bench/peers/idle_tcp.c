/**
 * Says what idle TCP channels keep resident in the process that accepted them: leat-bench-idle [COUNT]. A child process
 * holds the other ends, so that only the server is measured.
 */
#include "bench/idle.h"
#include "transports/evloop.h"
#include "transports/tcp.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void need(bool holds, const char *what) {
    if (holds)
        return;
    perror(what);
    exit(1);
}

static void allow_descriptors(rlim_t count) {
    struct rlimit limit;
    need(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
    if (limit.rlim_cur >= count)
        return;
    limit.rlim_cur = count;
    need(setrlimit(RLIMIT_NOFILE, &limit) == 0, "more descriptors than the system allows");
}

/* The other process: connects, resets all at its end so that no port waits for its time, and ends with the server. */
static void connect_once(uint16_t port) {
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    need(descriptor >= 0, "socket");
    need(setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0, "SO_LINGER");
    need(connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0, "connect");
}

static pid_t start_clients(uint16_t port, uint64_t count) {
    int wait_for[2];
    need(pipe(wait_for) == 0, "pipe");
    pid_t child = fork();
    need(child >= 0, "fork");
    if (child > 0) {
        close(wait_for[0]); /* the other end stays open as long as this process lives */
        return child;
    }
    close(wait_for[1]);
    for (uint64_t i = 0; i < count; i++)
        connect_once(port);
    char byte;
    (void)!read(wait_for[0], &byte, 1);
    _exit(0);
}

static uint64_t resident_bytes(void) {
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    need(file && fscanf(file, "%*u %llu", &pages) == 1, "/proc/self/statm");
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

typedef struct counting {
    leat_timer timer;
    leat_loop *loop;
    leat_tcp_listener *listener;
    uint64_t wanted;
} counting;

static void look(leat_timer *timer) {
    counting *self = (counting *)(void *)timer;
    if (leat_tcp_listener_statistics(self->listener).accepted >= self->wanted)
        leat_loop_stop(self->loop);
    else
        need(leat_timer_start(self->loop, timer, 10) == 0, "timer");
}

static void run_until_accepted(leat_loop *loop, leat_tcp_listener *listener, uint64_t count) {
    counting self = {.timer.fn = look, .loop = loop, .listener = listener, .wanted = count};
    need(leat_timer_start(loop, &self.timer, 1) == 0, "timer");
    need(leat_loop_run(loop) == 0, "loop");
}

int main(int arguments, char **argument) {
    uint64_t count = arguments > 1 ? strtoull(argument[1], NULL, 10) : BENCH_IDLE_CHANNELS;
    allow_descriptors(count + 64);
    leat_loop *loop = leat_evloop_new(NULL);
    leat_pipeline *pipeline = bench_idle_pipeline();
    need(loop && pipeline, "loop");
    leat_tcp_options options = {.pipeline = pipeline};
    leat_tcp_listener *listener = NULL;
    need(leat_tcp_listen(loop, "127.0.0.1:0", &options, &listener, NULL) == 0, "listen");
    pid_t child = start_clients(leat_tcp_listener_port(listener), count);
    uint64_t before = resident_bytes();
    run_until_accepted(loop, listener, count);
    printf(BENCH_IDLE_FORMAT, count, resident_bytes() - before);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    leat_tcp_listener_release(listener);
    leat_loop_release(loop);
    leat_pipeline_release(pipeline);
    return 0;
}
