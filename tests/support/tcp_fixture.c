#include "tests/support/tcp_fixture.h"

#include <check.h>
#include <stdio.h>

void tcp_open(tcp_fixture *self, const char *address) {
    leat_problem problem = {0};
    self->loop = leat_evloop_new(NULL);
    ck_assert_ptr_nonnull(self->loop);
    self->pipeline = recorder_pipeline(&self->record);
    self->client_pipeline = recorder_pipeline(&self->client);
    if (!self->options.pipeline && !self->options.initialise)
        self->options.pipeline = self->pipeline;
    int code =
        leat_tcp_listen(self->loop, address ? address : "127.0.0.1:0", &self->options, &self->listener, &problem);
    ck_assert_msg(code == 0, "%s", problem.text);
}

void tcp_end(tcp_fixture *self) {
    leat_tcp_listener_release(self->listener);
    leat_loop_release(self->loop);
    leat_pipeline_release(self->pipeline);
    leat_pipeline_release(self->client_pipeline);
}

int tcp_peer(tcp_fixture *self) {
    size_t active = self->record.active;
    leat_address address = leat_tcp_listener_address(self->listener);
    int peer = peer_connect(address.family, address.port);
    ck_assert_int_ge(peer, 0);
    run_until(self->loop, &self->record.active, active + 1);
    return peer;
}

leat_channel *tcp_client(tcp_fixture *self, const leat_tcp_options *options) {
    leat_address address = leat_tcp_listener_address(self->listener);
    leat_tcp_options full = options ? *options : (leat_tcp_options){0};
    full.pipeline = self->client_pipeline;
    char text[LEAT_ADDRESS_TEXT];
    leat_address_format(&address, text, sizeof text);
    leat_channel *channel = NULL;
    leat_problem problem = {0};
    ck_assert_msg(leat_tcp_connect(self->loop, text, &full, &channel, &problem) == 0, "%s", problem.text);
    ck_assert_ptr_nonnull(channel);
    return channel;
}

void tcp_close(leat_channel *channel) {
    leat_loop *loop = leat_channel_loop(channel);
    leat_loop_enter(loop);
    leat_channel_close(channel);
    leat_loop_leave(loop);
}

void tcp_abort(leat_channel *channel) {
    leat_loop *loop = leat_channel_loop(channel);
    leat_loop_enter(loop);
    leat_channel_abort(channel, 0);
    leat_loop_leave(loop);
}
