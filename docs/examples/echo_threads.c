/** A TCP server with a loop for each processor that sends back whatever comes: `echo_threads [HOST:PORT]`, ended by
 * Ctrl-C. */
#include <leat/leat.h>
#include <leat/transports/loops.h>

#include <signal.h>
#include <stdio.h>

static void send_back(leat_ctx *ctx, leat_msg msg) {
    leat_ctx_write(ctx, msg, NULL);
}

/* A client that sends faster than it reads is read no further until it caught up. */
static void match_pace(leat_ctx *ctx) {
    leat_channel *channel = leat_ctx_channel(ctx);
    leat_channel_set_auto_read(channel, leat_channel_is_writable(channel));
}

static const leat_handler echo = {.name = "echo", .read = send_back, .writable = match_pace};

/* Every loop accepts and serves connections until one of `signals`, which all threads block, comes to this one. */
static int serve(leat_loops *loops, const leat_tcp_options *options, const char *address, const sigset_t *signals) {
    leat_problem problem = {0};
    leat_loops_listener *listener = NULL;
    int number = 0;
    int code = leat_loops_start(loops, &problem);
    if (code == 0)
        code = leat_loops_listen(loops, address, options, &listener, &problem);
    if (code == 0) {
        printf("echo: port %u, %zu loops\n", leat_loops_listener_address(listener).port, leat_loops_count(loops));
        fflush(stdout);
        sigwait(signals, &number);
    } else {
        fprintf(stderr, "echo: %s\n", problem.text);
    }
    leat_loops_listener_release(listener);
    return code;
}

int main(int argc, char **argv) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* the loops' threads inherit it */
    leat_pipeline *pipeline = leat_pipeline_new(leat_unpooled(), (const leat_stage[]){{&echo, NULL, NULL}, {0}}, NULL);
    leat_loops *loops = NULL;
    const leat_tcp_options options = {.pipeline = pipeline, .reuse_port = true};
    int code = pipeline ? leat_loops_new(NULL, &loops, NULL) : LEAT_ENOMEM;
    if (code == 0)
        code = serve(loops, &options, argc > 1 ? argv[1] : "127.0.0.1:7000", &signals);
    leat_loops_release(loops);
    leat_pipeline_release(pipeline);
    return code == 0 ? 0 : 1;
}
