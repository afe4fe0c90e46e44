/** A TCP server that sends back whatever comes: `echo [HOST:PORT]`, ended by Ctrl-C. */
#include <leat/leat.h>
#include <leat/transports/evloop.h>
#include <leat/transports/tcp.h>

#include <signal.h>
#include <stdio.h>

/* The whole handler: a message that comes in goes out. The turn's end flushes it. */
static void send_back(leat_ctx *ctx, leat_msg msg) {
    leat_ctx_write(ctx, msg, NULL);
}

/* A client that sends faster than it reads is read no further until it caught up. */
static void match_pace(leat_ctx *ctx) {
    leat_channel *channel = leat_ctx_channel(ctx);
    leat_channel_set_auto_read(channel, leat_channel_is_writable(channel));
}

static const leat_handler echo = {.name = "echo", .read = send_back, .writable = match_pace};

static void stop(void *loop, int number) {
    (void)number;
    leat_loop_stop(loop);
}

static int serve(leat_loop *loop, leat_pipeline *pipeline, const char *address) {
    leat_problem problem = {0};
    leat_tcp_listener *listener = NULL;
    if (leat_tcp_listen(loop, address, &(leat_tcp_options){.pipeline = pipeline}, &listener, &problem) != 0) {
        fprintf(stderr, "echo: %s\n", problem.text);
        return 2;
    }
    char text[LEAT_ADDRESS_TEXT];
    leat_address bound = leat_tcp_listener_address(listener);
    leat_address_format(&bound, text, sizeof text);
    printf("echo: listening on %s\n", text);
    fflush(stdout);
    leat_signal *interrupt = leat_evloop_on_signal(loop, SIGINT, stop, loop);
    leat_loop_run(loop);
    leat_signal_release(interrupt);
    leat_tcp_listener_release(listener);
    return 0;
}

int main(int argc, char **argv) {
    leat_loop *loop = leat_evloop_new(NULL);
    leat_pipeline *pipeline = leat_pipeline_new(leat_unpooled(), (const leat_stage[]){{&echo, NULL, NULL}, {0}}, NULL);
    int code = loop && pipeline ? serve(loop, pipeline, argc > 1 ? argv[1] : "127.0.0.1:7000") : 1;
    leat_loop_release(loop);
    leat_pipeline_release(pipeline);
    return code;
}
