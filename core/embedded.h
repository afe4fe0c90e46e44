/** Embedded channels: the same core over a scripted transport and a virtual clock, for tests of handlers and pipelines.
 */
#ifndef LEAT_CORE_EMBEDDED_H
#define LEAT_CORE_EMBEDDED_H

#include "core/channel.h"
#include "core/loop.h"

LEAT_BEGIN_DECLS

typedef struct leat_embedded leat_embedded;

/** How to make an embedded channel; a zero field means its default. */
typedef struct leat_embedded_options {
    leat_channel_options channel; /**< options of the channel */
    leat_alloc *alloc;            /**< allocator below the ledger; leat_unpooled() */
    leat_loop *loop;    /**< loop of another embedded channel (leat_embedded_loop) to share; a virtual one of its own */
    bool not_connected; /**< do not fire `active` yet: leat_embedded_connect does */
    bool without_ledger; /**< take memory straight from `alloc`, untracked */
    bool hand_over;      /**< each hop hands on a fresh handle, so that the ledger sees who uses what it passed on */
    uint64_t link_limit; /**< bytes that wait for this channel when it is linked and does not read; 64 KiB */
} leat_embedded_options;

/**
 * Makes an embedded channel of `stages`, connected, on a virtual loop, with a tracking allocator; the caller owns it
 * until leat_embedded_free. Behind the last stage a collector keeps what reaches the application. NULL with the reason
 * in `problem` (may be NULL) as leat_pipeline_new and leat_channel_new; `options` may be NULL.
 */
LEAT_API leat_embedded *leat_embedded_new_with(const leat_stage *stages, const leat_embedded_options *options,
                                               leat_problem *problem);

/** leat_embedded_new_with without options; NULL on failure. */
LEAT_API leat_embedded *leat_embedded_new(const leat_stage *stages);

/** Ends the channel (aborting it if it is open), and frees everything, whatever leaked included. NULL is fine. */
LEAT_API void leat_embedded_free(leat_embedded *embedded);

/** Returns the channel: valid until leat_embedded_free, also after it closed. */
LEAT_API leat_channel *leat_embedded_channel(leat_embedded *embedded);

/** Returns the loop. */
LEAT_API leat_loop *leat_embedded_loop(leat_embedded *embedded);

/** Returns the allocator with the ledger: make test buffers and messages from it. */
LEAT_API leat_alloc *leat_embedded_alloc(leat_embedded *embedded);

/** Fires `active`, for channels made with not_connected. */
LEAT_API void leat_embedded_connect(leat_embedded *embedded);

/** One turn: these bytes come in, then `read_done`. Bytes fed while the channel does not read wait until it does. */
LEAT_API void leat_embedded_feed(leat_embedded *embedded, const void *bytes, size_t length);

/** leat_embedded_feed of a C string, without its NUL. */
LEAT_API void leat_embedded_feed_text(leat_embedded *embedded, const char *text);

/** One turn: this buffer comes in as it is, then `read_done`; gives it away. */
LEAT_API void leat_embedded_feed_bytebuf(leat_embedded *embedded, leat_bytebuf *buf);

/** One turn: the peer ends its side. */
LEAT_API void leat_embedded_feed_eof(leat_embedded *embedded);

/** One turn: the transport breaks with this code. */
LEAT_API void leat_embedded_break(leat_embedded *embedded, int code);

/** One turn: writes a message at the application's end; gives it and `done` (may be NULL) away. */
LEAT_API void leat_embedded_write(leat_embedded *embedded, leat_msg msg, leat_done *done);

/** One turn: writes a C string at the application's end. */
LEAT_API void leat_embedded_write_text(leat_embedded *embedded, const char *text);

/** One turn: closes gracefully. */
LEAT_API void leat_embedded_close(leat_embedded *embedded);

/** Runs what is due now: posted tasks, timers, continued turns. */
LEAT_API void leat_embedded_run(leat_embedded *embedded);

/** Advances the clock by `ms` milliseconds, stopping at each deadline on the way. */
LEAT_API void leat_embedded_advance(leat_embedded *embedded, uint64_t ms);

/** What the transport does with writes from now on: takes at most `bytes` a call and `total` in all (then LEAT_EAGAIN).
 */
LEAT_API void leat_embedded_limit_writes(leat_embedded *embedded, size_t bytes, uint64_t total);

/** The transport fails writes with this code from now on (0 = no more). */
LEAT_API void leat_embedded_fail_writes(leat_embedded *embedded, int code);

/** One turn: the transport takes `total` more bytes (UINT64_MAX = any number). */
LEAT_API void leat_embedded_allow_writes(leat_embedded *embedded, uint64_t total);

/** Takes everything written since the last call: one buffer, maybe empty, owned by the caller. NULL = no memory. */
LEAT_API leat_bytebuf *leat_embedded_take_written(leat_embedded *embedded);

/** Takes what was written as text: NUL-terminated, valid until the next call for this channel. */
LEAT_API const char *leat_embedded_written_text(leat_embedded *embedded);

/** Returns the lengths of the spans of the last write that the transport took, and their count. */
LEAT_API const size_t *leat_embedded_last_spans(const leat_embedded *embedded, size_t *count);

/** Returns how often the transport was written to. */
LEAT_API size_t leat_embedded_write_calls(const leat_embedded *embedded);

/** Takes the next message that reached the application: owned by the caller; false = there is none. */
LEAT_API bool leat_embedded_take_read(leat_embedded *embedded, leat_msg *msg);

/** Takes the next message, a ByteBuf, as text: NUL-terminated, valid until the next call; NULL = none, or not a
 * ByteBuf. */
LEAT_API const char *leat_embedded_read_text(leat_embedded *embedded);

/** Takes the next user event that reached the application: owned by the caller; false = there is none. */
LEAT_API bool leat_embedded_take_event(leat_embedded *embedded, leat_msg *event);

/** Takes the next error that reached the application, oldest first; 0 = none. */
LEAT_API int leat_embedded_take_error(leat_embedded *embedded);

/** Returns how often `writable`, `read_done` and `eof` reached the application. */
LEAT_API size_t leat_embedded_count_writable(const leat_embedded *embedded);
LEAT_API size_t leat_embedded_count_read_done(const leat_embedded *embedded); /**< see above */
LEAT_API size_t leat_embedded_count_eof(const leat_embedded *embedded);       /**< see above */

/** Tells whether the channel half-closed its side. */
LEAT_API bool leat_embedded_is_shut_down(const leat_embedded *embedded);

/** Tells whether the transport was closed. */
LEAT_API bool leat_embedded_is_closed(const leat_embedded *embedded);

/**
 * Links two embedded channels of one loop, as a socket would: what one writes comes in at the other, as does its end. A
 * channel whose peer does not read gets LEAT_EAGAIN once `link_limit` bytes wait there, and writes on when the peer has
 * read; one whose peer is closed gets LEAT_ERESET. Limits and failures of writes stay in force.
 */
LEAT_API void leat_embedded_link(leat_embedded *one, leat_embedded *other);

/**
 * Ends the test: the peer ends its side, the channel closes. Returns 0, or how many things were left over: messages,
 * events, errors and bytes that the test did not take, bytes that handlers still held, small slices that keep large
 * blocks, buffers and blocks that leaked, misuses. leat_embedded_report names them.
 */
LEAT_API size_t leat_embedded_finish(leat_embedded *embedded);

/** Returns what leat_embedded_finish found, a line each, with the handler that is to blame; "" = nothing. */
LEAT_API const char *leat_embedded_report(const leat_embedded *embedded);

LEAT_END_DECLS

#endif
