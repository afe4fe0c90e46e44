/** The seam between core and the outside: what transports and loop back ends implement, and what they call. */
#ifndef LEAT_CORE_TRANSPORT_H
#define LEAT_CORE_TRANSPORT_H

#include "core/channel.h"
#include "core/loop.h"

LEAT_BEGIN_DECLS

typedef struct leat_transport leat_transport;

/** What a channel waits for. */
enum { LEAT_INTEREST_READ = 1, LEAT_INTEREST_WRITE = 2 };

/** What a channel asks of its transport. Never calls back into the channel from inside. */
typedef struct leat_transport_ops {
    const char *name;
    size_t max_spans; /**< spans a call of `writev` takes at the most */
    /** Watches for these bits from now on; 0, or a code that ends the channel. */
    int (*interest)(leat_transport *transport, unsigned bits);
    /** Writes from the front of `spans`: the bytes taken (> 0), LEAT_EAGAIN (watch for WRITE), or a code that ends the
     * channel. */
    int64_t (*writev)(leat_transport *transport, const leat_span *spans, size_t count);
    /** Half-closes: no more will be written. */
    void (*shutdown)(leat_transport *transport);
    /** Stops watching, closes (with a reset if `reset`) and frees itself. The channel does not use it again. */
    void (*close)(leat_transport *transport, bool reset);
    void *reserved[4];
} leat_transport_ops;

/** A transport; embed it as the first member of your own. */
struct leat_transport {
    const leat_transport_ops *ops;
    leat_channel *channel; /**< set by leat_channel_new */
};

/**
 * Makes a channel on `loop` of a pipeline (retained) and a transport: one block for channel, contexts and states; every
 * `added` runs. The loop owns the channel until it is closed; the caller gets no reference. `options` may be NULL. On
 * failure (LEAT_EINVAL: a low watermark above its high one; LEAT_ENOMEM; the code of an `added`) `*channel` is NULL and
 * the transport is still the caller's.
 */
LEAT_API int leat_channel_new(leat_loop *loop, leat_pipeline *pipeline, leat_transport *transport,
                              const leat_channel_options *options, leat_channel **channel);

/** Returns the channel's transport, or NULL once it was closed. */
LEAT_API leat_transport *leat_channel_transport(const leat_channel *channel);

/*
 * What a transport calls. Each lies in an entry from outside, between leat_loop_enter and leat_loop_leave; after the
 * leave the channel may have closed the transport, which is gone then.
 */

/** The transport is connected: fires `active`. */
LEAT_API void leat_channel_connected(leat_channel *channel);

/** Bytes came in: fires `read`; gives the buffer away. */
LEAT_API void leat_channel_received(leat_channel *channel, leat_bytebuf *buf);

/** No more bytes for now: fires `read_done`. */
LEAT_API void leat_channel_received_all(leat_channel *channel);

/** The peer ended its side: fires `eof`. */
LEAT_API void leat_channel_received_eof(leat_channel *channel);

/** The transport takes bytes again. */
LEAT_API void leat_channel_can_write(leat_channel *channel);

/** The transport failed: fires `error`, then the channel ends. */
LEAT_API void leat_channel_broke(leat_channel *channel, int code);

/** Fires a user event from the transport's side through every handler; gives the event away. */
LEAT_API void leat_channel_fire_event(leat_channel *channel, leat_msg event);

/** Tells whether the transport should go on reading in this turn. */
LEAT_API bool leat_channel_wants_read(const leat_channel *channel);

/* What a loop back end implements and calls. */

/** A loop's way to the outside. */
typedef struct leat_loop_ops {
    /** Returns the clock in nanoseconds, monotonic. */
    uint64_t (*now)(leat_loop *loop);
    /** Waits for the outside until `deadline` (UINT64_MAX = for ever) and dispatches it; 0 or a code that ends
     * leat_loop_run. */
    int (*wait)(leat_loop *loop, uint64_t deadline);
    /** Makes `wait` return soon. Any thread. */
    void (*wake)(leat_loop *loop);
    /** Frees the back end with the loop in it, after leat_loop_clean_up. */
    void (*destroy)(leat_loop *loop);
} leat_loop_ops;

struct leat_receive;

/** The core of a loop; a back end embeds it as its first member. Fields belong to core. */
struct leat_loop {
    const leat_loop_ops *ops;
    leat_alloc *alloc;                   /**< for buffers and whatever handlers make */
    leat_alloc *internal_alloc;          /**< for channels and the loop's own blocks */
    struct leat_tracking_alloc *tracker; /**< the ledger behind `alloc`, told who acts; or NULL */
    const char *actor;
    bool hand_over; /* each hop of the test kit hands on a fresh handle */
    leat_mailbox *mailbox;
    uint64_t now;
    unsigned depth;
    bool stopping;
    bool stale; /**< `now` is of an earlier turn: this one has not asked for the time */
    bool measures;
    bool ending;
    leat_channel *dirty_first, *dirty_last;
    leat_channel *all;
    leat_timer **timers;
    size_t timer_count, timer_room;
    uint64_t timer_order;
    struct leat_receive *receive;
    struct leat_pool *pool; /**< the loop's own, trimmed on its clock; NULL = it was given an allocator */
    leat_span *spans;
    leat_loop_stats stats;
    const void *thread;
    struct channel_settings *settings; /* of the channel made last */
};

/** Initialises the core of a loop; `alloc` NULL = a pool of its own, which outlives it as long as blocks are lent. 0 or
 * LEAT_ENOMEM. */
LEAT_API int leat_loop_init(leat_loop *loop, const leat_loop_ops *ops, leat_alloc *alloc);

/** Ends channels, tasks and timers and frees what leat_loop_init made. */
LEAT_API void leat_loop_clean_up(leat_loop *loop);

/** An entry from outside begins: reads the clock. Nests. */
LEAT_API void leat_loop_enter(leat_loop *loop);

/** An entry from outside ends: the outermost one ends the turn of each dirty channel. */
LEAT_API void leat_loop_leave(leat_loop *loop);

/** Runs what is due: posted tasks, timers, continued turns. The back end calls it after each wait. */
LEAT_API void leat_loop_run_due(leat_loop *loop);

/** Returns when leat_loop_run_due should run next without an event from outside; UINT64_MAX = never. */
LEAT_API uint64_t leat_loop_deadline(const leat_loop *loop);

/* The receive block: where a transport reads to. */

/** Returns where to read to, at least 64 KiB, and its size in `*room`; NULL = no memory. Valid until the next call. */
LEAT_API uint8_t *leat_loop_receive_room(leat_loop *loop, size_t *room);

/** Makes a buffer of the first `length` bytes read to that place: a copy if they are few, else an exclusive split. NULL
 * = no memory. */
LEAT_API leat_bytebuf *leat_loop_receive_take(leat_loop *loop, size_t length);

LEAT_END_DECLS

#endif
