/* Real connections that are closed or aborted inside each call, and pipelines that change while bytes come in. */
#include "core/recorder.h"
#include "handlers/line.h"
#include "tests/support/suite.h"
#include "tests/support/tcp_fixture.h"

#include <string.h>

enum { ANSWER = 1 << 20, SMALL_BUFFER = 8 * 1024 };

/* Answers each read with much, so that the socket fills up. */
static void answer_read(leat_ctx *ctx, leat_msg msg) {
    leat_bytebuf *answer = pattern_buffer(leat_channel_alloc(leat_ctx_channel(ctx)), 0, ANSWER);
    leat_msg_release(msg);
    leat_recorder *recorder = *(leat_recorder **)leat_state(ctx);
    leat_ctx_write(ctx, leat_msg_of_bytebuf(answer), leat_recorder_done(recorder, "w"));
}

static int answer_added(leat_ctx *ctx, const void *config) {
    *(leat_recorder **)leat_state(ctx) = *(leat_recorder *const *)config;
    return LEAT_OK;
}

static const leat_handler answering = {.name = "answering",
                                       .state_size = sizeof(leat_recorder *),
                                       .config_size = sizeof(leat_recorder *),
                                       .added = answer_added,
                                       .read = answer_read};

/* A server whose channels a recorder watches, and a client of ours. */
typedef struct watched {
    tcp_fixture tcp;
    leat_recorder *recorder;
    leat_pipeline *pipeline;
    leat_channel *client;
    size_t removed;
} watched;

static void count_removed(leat_ctx *ctx, void *removed) {
    (void)ctx;
    ++*(size_t *)removed;
}

static void open_watched(watched *self, const leat_handler *handler) {
    self->recorder = leat_recorder_new(leat_unpooled());
    const leat_stage stages[] = {leat_recorder_stage(self->recorder, "b"),
                                 {handler, handler == &answering ? &self->recorder : NULL, NULL},
                                 leat_recorder_stage(self->recorder, "c"),
                                 {0}};
    self->pipeline = leat_pipeline_new(leat_unpooled(), stages, NULL);
    self->tcp.options.pipeline = self->pipeline;
    self->tcp.options.send_buffer = SMALL_BUFFER;
    leat_recorder_when(self->recorder, "b removed", count_removed, &self->removed);
    tcp_open(&self->tcp, NULL);
    self->client = tcp_client(&self->tcp, &(leat_tcp_options){.receive_buffer = SMALL_BUFFER});
}

static void end_watched(watched *self) {
    tcp_end(&self->tcp);
    leat_pipeline_release(self->pipeline);
    leat_recorder_free(self->recorder);
}

static void close_there(leat_ctx *ctx, void *unused) {
    (void)unused;
    leat_channel_close(leat_ctx_channel(ctx));
}

static void abort_there(leat_ctx *ctx, void *unused) {
    (void)unused;
    leat_channel_abort(leat_ctx_channel(ctx), 0);
}

static size_t count(const char *text, const char *line) {
    size_t found = 0;
    for (const char *at = strstr(text, line); at; at = strstr(at + 1, line))
        found++;
    return found;
}

/* The client reads until something came or it was ended, then ends its side (or resets, to bring an error about). */
static void end_inside(const char *call, leat_recorder_action action) {
    watched self = {.tcp.client.greeting = "hello"};
    open_watched(&self, &answering);
    leat_recorder_when(self.recorder, call, action, NULL);
    while (self.tcp.client.bytes == 0 && self.tcp.client.inactives == 0)
        run_once(self.tcp.loop);
    if (self.tcp.client.channel && strcmp(call, "b error") == 0)
        tcp_abort(self.client);
    else if (self.tcp.client.channel)
        tcp_close(self.client);
    run_until(self.tcp.loop, &self.removed, 1);
    const char *lines = leat_recorder_take(self.recorder);
    ck_assert_msg(count(lines, call) > 0, "%s never came: %s", call, lines);
    ck_assert_msg(count(lines, "b inactive\n") == count(lines, "b active\n"), "%s: %s", call, lines);
    ck_assert_msg(count(lines, "b write ") == count(lines, "w done "), "%s: %s", call, lines);
    end_watched(&self);
}

static const char *const calls[] = {"b active", "b read",  "b read_done", "b write",    "b flush",  "b writable no",
                                    "b eof",    "b close", "b error",     "b inactive", "b removed"};
enum { CALLS = sizeof calls / sizeof *calls };

START_TEST(a_connection_may_be_closed_inside_every_call) {
    for (size_t i = 0; i < CALLS; i++)
        end_inside(calls[i], close_there);
}
END_TEST

START_TEST(a_connection_may_be_aborted_inside_every_call) {
    for (size_t i = 0; i < CALLS; i++)
        end_inside(calls[i], abort_there);
}
END_TEST

static void remove_decoder(leat_ctx *ctx, void *unused) {
    (void)unused;
    leat_ctx_remove(leat_channel_find(leat_ctx_channel(ctx), leat_line_decoder.name));
}

/* As a protocol upgrade does: a line, then bytes that are none. */
START_TEST(a_decoder_that_goes_on_a_live_connection_leaves_no_byte_behind) {
    watched self = {.tcp.client.greeting = "UPGRADE\r\n\1\2\n\3"};
    open_watched(&self, &leat_line_decoder);
    leat_recorder_leave_out(self.recorder, "added active read_done flush writable eof close inactive removed");
    leat_recorder_when(self.recorder, "c read 'UPGRADE'", remove_decoder, NULL);
    run_until(self.tcp.loop, &self.tcp.client.active, 1);
    tcp_close(self.client);
    run_until(self.tcp.loop, &self.removed, 1);
    ck_assert_str_eq(leat_recorder_take(self.recorder),
                     "b read 'UPGRADE\\r\\n\\x01\\x02\\n\\x03'\nc read 'UPGRADE'\nc read '\\x01\\x02\\n\\x03'\n");
    end_watched(&self);
}
END_TEST

int main(void) {
    return suite_run("tcp_calls",
                     (const TTest *const[]){a_connection_may_be_closed_inside_every_call,
                                            a_connection_may_be_aborted_inside_every_call,
                                            a_decoder_that_goes_on_a_live_connection_leaves_no_byte_behind, NULL});
}
