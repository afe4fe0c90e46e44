/** A listener, what its channels record, and a peer: what every TCP test begins with. */
#ifndef LEAT_TESTS_SUPPORT_TCP_FIXTURE_H
#define LEAT_TESTS_SUPPORT_TCP_FIXTURE_H

#include "tests/support/peer.h"
#include "tests/support/recorder.h"
#include "transports/evloop.h"
#include "transports/tcp.h"

/** Zero it, set wishes in `record` and `options`, then open it. */
typedef struct tcp_fixture {
    leat_loop *loop;
    leat_tcp_options options; /**< for the listener; `pipeline` is filled in if it has none */
    leat_tcp_listener *listener;
    leat_pipeline *pipeline;
    test_record record; /**< of accepted channels */
    test_record client; /**< of connected ones */
    leat_pipeline *client_pipeline;
} tcp_fixture;

/** Listens on `address` ("127.0.0.1:0" if NULL); checked. */
void tcp_open(tcp_fixture *self, const char *address);

/** Ends everything. */
void tcp_end(tcp_fixture *self);

/** Connects a plain socket and runs the loop until it is accepted; checked. */
int tcp_peer(tcp_fixture *self);

/** Connects a channel of our own, recorded in `client`, to the listener; `options` may be NULL. */
leat_channel *tcp_client(tcp_fixture *self, const leat_tcp_options *options);

/** Closes a channel in a turn of its own. */
void tcp_close(leat_channel *channel);

/** Aborts a channel in a turn of its own. */
void tcp_abort(leat_channel *channel);

#endif
