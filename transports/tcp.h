/** TCP: listeners, and channels to and from peers. */
#ifndef LEAT_TRANSPORTS_TCP_H
#define LEAT_TRANSPORTS_TCP_H

#include "core/transport.h"
#include "transports/address.h"
#include "transports/syscalls.h"

LEAT_BEGIN_DECLS

/** How to listen or connect. A zero field means its default; give `pipeline` or, for a listener, `initialise`. */
typedef struct leat_tcp_options {
    leat_pipeline *pipeline; /**< what channels are built from; retained */
    /** Chooses the pipeline (borrowed) for an accepted connection; NULL refuses it with a reset. */
    leat_pipeline *(*initialise)(void *context, const leat_address *peer);
    void *context; /**< for `initialise` */
    leat_channel_options channel;
    uint64_t connect_timeout_ms;   /**< from leat_tcp_connect to `active`, all addresses together; 10,000 */
    uint32_t max_connections;      /**< of a listener; others wait in the backlog until one ends; 65,536 */
    int backlog;                   /**< connections that the kernel keeps for the listener; 1,024 (it may cap that) */
    int send_buffer;               /**< bytes the kernel keeps outbound; the system's own choice */
    int receive_buffer;            /**< bytes the kernel keeps inbound; the system's own choice */
    bool reuse_port;               /**< several listeners share one port: the kernel spreads connections over them */
    bool v6_only;                  /**< [::] takes no IPv4 */
    bool merge_small_writes;       /**< Nagle's algorithm; off, since a turn gathers its writes already */
    bool keep_alive;               /**< probes of idle connections by the kernel; off */
    const leat_syscalls *syscalls; /**< leat_syscalls_kernel() */
} leat_tcp_options;

typedef struct leat_tcp_listener leat_tcp_listener;

/** What a listener did. */
typedef struct leat_tcp_listener_stats {
    uint64_t accepted;    /**< connections that became channels */
    uint64_t refused;     /**< connections closed at once: by `initialise`, or for want of memory or descriptors */
    uint64_t failures;    /**< accepts that failed: connections gone before they were accepted, or a full system */
    uint64_t pauses;      /**< times the listener waited because the system was full */
    uint32_t connections; /**< open now */
} leat_tcp_listener_stats;

/**
 * Listens on `address` (as leat_address_resolve; port 0 = any free one; a name: the first of its addresses that can be
 * bound; [::] and * take both versions). `loop` is a libev loop, on whose thread accepted channels live. The caller
 * owns the listener until leat_tcp_listener_release, which comes before the release of the loop. Returns 0, or with the
 * reason in `problem` (may be NULL): LEAT_EINVAL, LEAT_ENOTFOUND, LEAT_ENOMEM, or a negated errno value (-EADDRINUSE,
 * -EACCES and others). A system that runs out of descriptors or memory later pauses the listener for a moment.
 */
LEAT_API int leat_tcp_listen(leat_loop *loop, const char *address, const leat_tcp_options *options,
                             leat_tcp_listener **listener, leat_problem *problem);

/** Returns the address that the listener is bound to. */
LEAT_API leat_address leat_tcp_listener_address(const leat_tcp_listener *listener);

/** Returns the port that the listener is bound to. */
LEAT_API uint16_t leat_tcp_listener_port(const leat_tcp_listener *listener);

/** Returns what the listener did so far. */
LEAT_API leat_tcp_listener_stats leat_tcp_listener_statistics(const leat_tcp_listener *listener);

/** Stops listening; its channels stay. Closing twice is fine. */
LEAT_API void leat_tcp_listener_close(leat_tcp_listener *listener);

/** Closes the listener and gives it back; NULL is fine. Its channels stay. */
LEAT_API void leat_tcp_listener_release(leat_tcp_listener *listener);

/**
 * Connects to `address` (as leat_address_resolve; a name: its addresses one after another). `*channel` (may be NULL) is
 * borrowed as from leat_channel_new: `active` or `error` comes in a later turn. Returns 0, or with the reason in
 * `problem` (may be NULL) what leat_tcp_listen returns, LEAT_EREFUSED, or the code of an `added`. Later failures are
 * errors of the channel: LEAT_EREFUSED, LEAT_ETIMEDOUT, a negated errno value.
 */
LEAT_API int leat_tcp_connect(leat_loop *loop, const char *address, const leat_tcp_options *options,
                              leat_channel **channel, leat_problem *problem);

/** Puts the peer's address into `*peer`; LEAT_EINVAL = not a TCP channel, or its socket is closed already. */
LEAT_API int leat_tcp_peer(const leat_channel *channel, leat_address *peer);

LEAT_END_DECLS

#endif
