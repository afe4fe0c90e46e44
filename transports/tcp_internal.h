/** What the parts of TCP share: a connection, and sockets with their options. */
#ifndef LEAT_TRANSPORTS_TCP_INTERNAL_H
#define LEAT_TRANSPORTS_TCP_INTERNAL_H

#include "transports/address_internal.h"
#include "transports/evloop_internal.h"
#include "transports/tcp.h"

typedef struct leat_tcp_attempt leat_tcp_attempt;
typedef struct leat_tcp_pause leat_tcp_pause;
typedef struct leat_tcp_spread leat_tcp_spread;

/** Where a listener hands its connections to, instead of serving them; its listeners of other loops serve them. */
struct leat_tcp_spread {
    /** Tells whether one more may be accepted; leat_tcp_listener_resume when that changes. */
    bool (*has_room)(leat_tcp_spread *spread);
    /** Takes a connection over; on the accepting loop. */
    void (*hand_out)(leat_tcp_spread *spread, int descriptor, const leat_address *peer);
    /** A connection that was served ended; on the loop that served it. */
    void (*lost)(leat_tcp_spread *spread);
    /** A listener of the spread needs it no more; on that listener's loop. */
    void (*let_go)(leat_tcp_spread *spread);
};

/** The transport of a channel: a socket, connected or (with an `attempt`) connecting. */
typedef struct leat_tcp_connection {
    leat_transport transport;
    leat_watch watch;
    const leat_syscalls *calls;
    leat_tcp_listener *listener; /**< where it was accepted; NULL = it was connected */
    leat_tcp_attempt *attempt;   /**< while connecting */
    leat_tcp_pause *pause;       /**< until the system has memory again; made when it first has none */
    leat_address peer;
    int descriptor;
    int write_failure; /**< fatal for writes; told once all that the peer sent is read */
    uint8_t interest;  /**< what the channel waits for */
    uint8_t shortages; /**< writes in a row that the system had no memory for */
    bool ended;        /**< the peer ended its side */
} leat_tcp_connection;

/** Makes a connection, which owns `descriptor` from then on; NULL = no memory (the descriptor is still the caller's).
 */
leat_tcp_connection *leat_tcp_connection_new(leat_loop *loop, const leat_syscalls *calls, int descriptor,
                                             const leat_address *peer);

/** Stops everything, closes the socket (with a reset if `reset`) and frees the connection. */
void leat_tcp_connection_free(leat_tcp_connection *connection, bool reset);

/** Makes the channel of a connection; on failure the connection is still the caller's. */
int leat_tcp_connection_open(leat_tcp_connection *connection, leat_pipeline *pipeline,
                             const leat_channel_options *options);

/** The socket is connected: reads and writes from now on, and tells the channel. */
void leat_tcp_connection_begin(leat_tcp_connection *connection);

/** Frees an attempt; NULL is fine. */
void leat_tcp_attempt_free(leat_tcp_attempt *attempt);

/** A connection of the listener ended. */
void leat_tcp_listener_lost(leat_tcp_listener *listener);

/** leat_tcp_listen for a spread, which outlives it: accepts and hands out; `address` NULL = only serves. */
int leat_tcp_listen_spread(leat_loop *loop, const char *address, const leat_tcp_options *options,
                           leat_tcp_spread *spread, leat_tcp_listener **listener, leat_problem *problem);

/** Serves a connection that was handed out, on the listener's loop: true = `lost` will tell its end. */
bool leat_tcp_listener_serve(leat_tcp_listener *listener, int descriptor, const leat_address *peer);

/** The spread may have room again. */
void leat_tcp_listener_resume(leat_tcp_listener *listener);

/** Closes a connection that cannot be served, with a reset: the peer hears of it at once. */
void leat_tcp_refuse(const leat_syscalls *calls, int descriptor);

/** Returns the table to use. */
const leat_syscalls *leat_tcp_calls(const leat_tcp_options *options);

/** Opens a socket with the options set; the descriptor or a negated errno value. */
int leat_tcp_socket(const leat_tcp_options *options, uint8_t family);

/** Sets an int option; a refusal is not an error where the option is a wish. */
int leat_tcp_set(const leat_syscalls *calls, int descriptor, int level, int name, int value);

#endif
