/**
 * The push server of a loop: events are offered, cut into chunks, given to every connection without a group and to one
 * connection of each group, and leave as one write a connection and window. A handler that is written to may close
 * channels, join, leave, offer, close and release the server: what it asks for happens when the delivery is over.
 *
 *     leat_push_server *server = leat_push_server_new(loop, &(leat_push_options){.with_ids = true}, &problem);
 *     leat_push_join(server, channel, &(leat_push_join_options){.codec = &leat_push_codec_sse}, NULL);
 *     leat_push_offer(server, leat_push_event_of_bytes(alloc, "hello", 5));
 */
#ifndef LEAT_HANDLERS_PUSH_SERVER_H
#define LEAT_HANDLERS_PUSH_SERVER_H

#include "core/channel.h"
#include "core/loop.h"
#include "handlers/push/codec.h"
#include "handlers/push/ledger.h"

LEAT_BEGIN_DECLS

typedef struct leat_push_server leat_push_server;
typedef struct leat_push_connection leat_push_connection;

/** The bounds and times of a server; a zero field means its default. Bytes are of payload. */
typedef struct leat_push_options {
    uint32_t queue_events;      /**< events that may wait for their chunk; 25,000 */
    uint64_t queue_bytes;       /**< bytes that may; 16 MiB */
    uint32_t chunk_events;      /**< events of a chunk; 1,000 */
    uint64_t chunk_bytes;       /**< bytes that end a chunk; 256 KiB */
    uint32_t chunk_ms;          /**< how long an event waits for its chunk to fill; 0 = until the turn is over */
    uint32_t batch_events;      /**< events that close a window early; 1,000 */
    uint64_t batch_bytes;       /**< bytes that do; 64 KiB */
    uint64_t max_event_bytes;   /**< a larger event is refused; 1 MiB */
    uint64_t max_pending_bytes; /**< bytes on the way to all destinations, as if nothing were shared; 1 GiB */
    uint32_t max_connections;   /**< 100,000 */
    bool with_ids;              /**< number the accepted events: first_id and on */
    uint64_t first_id;          /**< 1; above all ids of an earlier run (the time, say), it tells the two apart */
    uint32_t keep_events;       /**< with_ids: routed events that are kept for leat_push_replay; 0 = none */
    uint64_t keep_bytes;        /**< bytes of them; 1 MiB */
    bool random_start;          /**< routers begin each call anywhere instead of behind the last one */
    uint64_t seed;              /**< of what is random in the server */
    /** NULL, or told once, after leat_push_server_close, when no connection is left. May stop the loop. */
    void (*on_empty)(void *context);
    void *context;
} leat_push_options;

/** What to do with a connection that does not keep up. */
typedef enum leat_push_slow {
    LEAT_PUSH_DROP_NEWEST, /**< drop what is due while it is not writable, and go on with what comes later */
    LEAT_PUSH_DISCONNECT   /**< drop it and abort the channel with LEAT_EWRITABLE */
} leat_push_slow;

/** How a channel takes part; zero it, set the codec. Texts are copied. */
typedef struct leat_push_join_options {
    const leat_push_codec *codec; /**< outlives the server */
    const char *group;            /**< the connections of a group share the stream; NULL = gets everything */
    const char *slot;             /**< the same slot of a group replaces and closes its connection; NULL = its own */
    uint32_t window_ms;           /**< from the first event of a batch to its write; 200, or LEAT_PUSH_NO_WINDOW */
    uint64_t max_pending;         /**< bytes that may wait in the channel behind which nothing is written; 1 MiB */
    leat_push_slow slow;
    /** NULL, or which events it wants; one that is refused is dropped, not given to another. */
    bool (*accepts)(void *context, const leat_push_event *event);
    void *context;
} leat_push_join_options;

/** A window that closes as soon as the turn is over. */
#define LEAT_PUSH_NO_WINDOW UINT32_MAX

/**
 * Makes a server on `loop`. `options` may be NULL. The caller owns it until leat_push_server_release, which comes
 * before the end of the loop. NULL with the reason in `problem` (may be NULL): LEAT_ENOMEM.
 */
LEAT_API leat_push_server *leat_push_server_new(leat_loop *loop, const leat_push_options *options,
                                                leat_problem *problem);

/** Gives the server up: what is queued or batched is dropped, connections leave, their channels stay open. NULL is
 * fine. */
LEAT_API void leat_push_server_release(leat_push_server *server);

/**
 * Ends the server gracefully: refuses further events and joins, routes what is queued, closes every window and then
 * each channel. `on_empty` tells when all are gone.
 */
LEAT_API void leat_push_server_close(leat_push_server *server);

/**
 * Offers an event and gives it away. 0 = accepted; LEAT_ELIMIT = the queue is full; LEAT_ETOOLONG; LEAT_ECLOSED;
 * LEAT_ENOMEM (also for NULL, so that the result of leat_push_event_new may be passed in).
 */
LEAT_API int leat_push_offer(leat_push_server *server, leat_push_event *event);

/**
 * Offers an event from any thread and gives it away, through the loop's mailbox: one thread's events stay in order.
 * What becomes of it only the ledger tells; refused by the mailbox (full, or the loop is gone) it is counted there too.
 * Any thread that holds a reference: see leat_push_server_retain.
 */
LEAT_API void leat_push_post(leat_push_server *server, leat_push_event *event);

/** Takes one more reference, for another thread to post with; it is given back by leat_push_server_unretain. Any
 * thread.
 */
LEAT_API leat_push_server *leat_push_server_retain(leat_push_server *server);

/** Gives such a reference back. Any thread. */
LEAT_API void leat_push_server_unretain(leat_push_server *server);

/** Tells whether the queue has room for one more event of `bytes`: sources that can wait ask first. */
LEAT_API bool leat_push_has_room(const leat_push_server *server, uint64_t bytes);

/**
 * Lets the channel take part from now on: it gets what is routed after this. A handler is added at its application's
 * end; the connection leaves by itself when the channel closes. 0 and the connection in `*joined` (may be NULL; valid
 * while it takes part), or LEAT_EINVAL (no codec), LEAT_ECLOSED (server or channel), LEAT_ELIMIT (connections, or more
 * than LEAT_PUSH_CODECS codecs), LEAT_ENOMEM, or a code of leat_channel_add_last.
 */
LEAT_API int leat_push_join(leat_push_server *server, leat_channel *channel, const leat_push_join_options *options,
                            leat_push_connection **joined);

/**
 * Gives a connection without a group that was given nothing yet (call it in the turn of the join) the kept events
 * numbered above `after`, in one write, all of them if `after` is an id of another run; what is routed from the join on
 * comes behind them, so that nothing comes twice. 0 (also if there are none; the ledger tells what became of them), or
 * LEAT_EINVAL (in a group, too late, or inside a delivery), LEAT_ELIMIT (max_pending_bytes), LEAT_ENOMEM: then nothing
 * was written.
 */
LEAT_API int leat_push_replay(leat_push_connection *connection, uint64_t after);

/** Tells whether a replay after that id would bring all that was routed since: false = something is missing. */
LEAT_API bool leat_push_keeps_all(const leat_push_server *server, uint64_t after);

/** Ends the taking part; what waits in its batch is dropped, its channel stays open. */
LEAT_API void leat_push_leave(leat_push_connection *connection);

/** Returns the connection's own account. */
LEAT_API leat_push_account leat_push_connection_account(const leat_push_connection *connection);

/** Returns both ledgers as of now. */
LEAT_API leat_push_ledger leat_push_server_ledger(const leat_push_server *server);

/** Returns how many connections take part. */
LEAT_API size_t leat_push_server_connections(const leat_push_server *server);

/** Returns how many batches were built and how many times one was written: how much is shared. */
LEAT_API void leat_push_server_batches(const leat_push_server *server, uint64_t *built, uint64_t *written);

LEAT_END_DECLS

#endif
