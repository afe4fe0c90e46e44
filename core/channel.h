/** Channels: a transport, a pipeline, and the rules of the turn. */
#ifndef LEAT_CORE_CHANNEL_H
#define LEAT_CORE_CHANNEL_H

#include "core/pipeline.h"

LEAT_BEGIN_DECLS

typedef struct leat_loop leat_loop;

/** What a channel is allowed to use. A zero field means its default; sizes are in bytes, times in milliseconds. */
typedef struct leat_channel_options {
    uint64_t write_low;        /**< writable again below this, at most write_high; half of it */
    uint64_t write_high;       /**< not writable above this; 64 KiB */
    uint64_t write_limit;      /**< outbound hard cap, crossing it aborts the channel; 16 MiB */
    uint64_t read_low;         /**< reading goes on below this many held bytes, at most read_high; a quarter of it */
    uint64_t read_high;        /**< reading pauses above this many held bytes; 256 KiB */
    uint64_t close_timeout_ms; /**< from close to the end, whatever happens; 5,000 */
    bool count_handlers;       /**< count the messages of each handler, for leat_channel_counts; costs a call a hop */
    bool manual_read;          /**< deliver only what leat_channel_request asks for */
} leat_channel_options;

/** Returns the loop that the channel lives on. */
LEAT_API leat_loop *leat_channel_loop(const leat_channel *channel);

/** Returns the allocator of the channel: for buffers that its handlers make. */
LEAT_API leat_alloc *leat_channel_alloc(const leat_channel *channel);

/** Takes one more reference: the memory stays valid after the channel closed, at most until its loop is released. */
LEAT_API leat_channel *leat_channel_retain(leat_channel *channel);

/** Gives a reference back; NULL is fine. */
LEAT_API void leat_channel_release(leat_channel *channel);

/**
 * Writes a message through every handler; gives the message and `done` (may be NULL) away. It leaves at the end of the
 * turn. `done` gets 0, LEAT_ECLOSED (closed or closing), LEAT_ETYPE (reached the transport as no ByteBuf), LEAT_ENOMEM,
 * LEAT_ELIMIT (the hard cap was crossed: the channel is aborted), a handler's code or the transport's.
 */
LEAT_API void leat_channel_write(leat_channel *channel, leat_msg msg, leat_done *done);

/** Passes `flush` through the handlers now; each turn does so by itself at its end. */
LEAT_API void leat_channel_flush(leat_channel *channel);

/**
 * Closes gracefully: through the handlers, then flush, half-close, the peer's end or the close timeout. Later writes
 * complete with LEAT_ECLOSED, inbound bytes are dropped. Closing twice is fine.
 */
LEAT_API void leat_channel_close(leat_channel *channel);

/**
 * Closes our side only: through the handlers as leat_channel_close, then flush and half-close; what the peer sends goes
 * on being delivered, until its end reaches the application's end of the pipeline or leat_channel_close is called.
 * There is no timeout before that. Does nothing on a channel that closes already.
 */
LEAT_API void leat_channel_half_close(leat_channel *channel);

/** Ends the channel at the end of this turn, past the handlers; what is queued completes with `code` (LEAT_EABORTED if
 * 0). */
LEAT_API void leat_channel_abort(leat_channel *channel, int code);

/** Asks for `count` more messages, with manual_read; decoders are woken at the end of the turn. */
LEAT_API void leat_channel_request(leat_channel *channel, uint64_t count);

/** Switches between delivering everything (true) and delivering what leat_channel_request asks for. */
LEAT_API void leat_channel_set_auto_read(leat_channel *channel, bool on);

/** Tells whether less than write_high bytes wait (and since crossing it, less than write_low). */
LEAT_API bool leat_channel_is_writable(const leat_channel *channel);

/** Tells whether `active` came and neither the end nor a close did. */
LEAT_API bool leat_channel_is_open(const leat_channel *channel);

/** Tells whether what comes in is delivered: `active` came and neither the end nor a whole close did. */
LEAT_API bool leat_channel_is_readable(const leat_channel *channel);

/** Returns how many more bytes may be written before the channel stops being writable; 0 when it is not or is closing.
 */
LEAT_API uint64_t leat_channel_bytes_before_unwritable(const leat_channel *channel);

/** Returns the bytes that wait outbound: queued or kept by handlers. */
LEAT_API uint64_t leat_channel_pending(const leat_channel *channel);

/** Returns the inbound bytes that handlers keep. */
LEAT_API uint64_t leat_channel_held(const leat_channel *channel);

/** Returns every byte that the transport has accepted so far. */
LEAT_API uint64_t leat_channel_bytes_written(const leat_channel *channel);

/** Returns every byte that the transport has delivered so far. */
LEAT_API uint64_t leat_channel_bytes_read(const leat_channel *channel);

/** Returns when the transport last delivered bytes (or the channel became active), in nanoseconds of leat_loop_now. */
LEAT_API uint64_t leat_channel_last_read(const leat_channel *channel);

/** Returns when the transport last accepted bytes (or the channel became active), in nanoseconds of leat_loop_now. */
LEAT_API uint64_t leat_channel_last_written(const leat_channel *channel);

/** Returns the first error that nobody handled or that ended the channel, or 0. */
LEAT_API int leat_channel_error(const leat_channel *channel);

/** Returns the first handler's context of that stage name, or NULL. */
LEAT_API leat_ctx *leat_channel_find(leat_channel *channel, const char *name);

/**
 * Adds a handler behind `after` (NULL = first, next to the transport). Returns 0 and the context in `*added` (may be
 * NULL), or LEAT_EINVAL, LEAT_ETYPE, LEAT_ENOMEM, LEAT_ECLOSED, or the code of its `added`.
 */
LEAT_API int leat_channel_add_after(leat_channel *channel, leat_ctx *after, const leat_stage *stage, leat_ctx **added);

/** Adds a handler as the last one, next to the application; errors as leat_channel_add_after. */
LEAT_API int leat_channel_add_last(leat_channel *channel, const leat_stage *stage, leat_ctx **added);

/** Puts a handler in the place of another: it is added behind it, then the old one is removed; errors as
 * leat_channel_add_after. */
LEAT_API int leat_channel_replace(leat_channel *channel, leat_ctx *old, const leat_stage *stage, leat_ctx **added);

/** Names a value that users keep with a channel; its address is its identity. */
typedef struct leat_key {
    const char *name;
    void (*release)(
        void *value); /**< runs when the value is replaced or the channel's memory goes; NULL = nothing to do */
} leat_key;

/** Keeps `value` (NULL = none) with the channel under `key`; gives it away, also on failure. 0 or LEAT_ENOMEM. */
LEAT_API int leat_channel_set_attribute(leat_channel *channel, const leat_key *key, void *value);

/** Returns the value under `key`, still the channel's, or NULL. Valid as long as the channel's memory. */
LEAT_API void *leat_channel_attribute(const leat_channel *channel, const leat_key *key);

/** What passed through a handler. */
typedef struct leat_handler_counts {
    uint64_t reads;  /**< messages it was given inbound */
    uint64_t writes; /**< messages it was given outbound */
} leat_handler_counts;

/** Gets the counts of the first handler of that stage name; false = no such handler, or made without count_handlers. */
LEAT_API bool leat_channel_counts(const leat_channel *channel, const char *name, leat_handler_counts *counts);

/**
 * Writes the names of the handlers as they are now, from transport to application, as text: at most `size` bytes with
 * the final NUL. Returns the length of the whole text, as snprintf does.
 */
LEAT_API size_t leat_channel_dump(const leat_channel *channel, char *text, size_t size);

/** Writes the pipeline as a graph in the DOT language, with the types that its contracts name; length as
 * leat_channel_dump. */
LEAT_API size_t leat_channel_dump_dot(const leat_channel *channel, char *text, size_t size);

LEAT_END_DECLS

#endif
