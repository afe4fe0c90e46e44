/** Handlers and their contexts: the part of Leat that users write against. */
#ifndef LEAT_CORE_HANDLER_H
#define LEAT_CORE_HANDLER_H

#include "core/done.h"
#include "core/msg.h"

LEAT_BEGIN_DECLS

typedef struct leat_channel leat_channel;
typedef struct leat_ctx leat_ctx;
typedef struct leat_handler leat_handler;

/**
 * A handler: a read-only table and `state_size` zeroed bytes beside its context in each channel (leat_state).
 * Every entry is optional; an absent one passes the event on and costs nothing.
 * Inbound events run from the transport (first stage) to the application (last), outbound ones the other way.
 * Who is given a message owns it: pass it on, keep it, or release it.
 */
struct leat_handler {
    const char *name;
    size_t state_size;  /**< bytes, at most 1 MiB */
    size_t config_size; /**< bytes of the config struct, copied once a pipeline; 0 = none */
    bool decodes;       /**< turns bytes into messages: counts and obeys demand (see leat_ctx_demand) */

    /** Contracts, NULL-terminated lists of types; NULL = passes anything. Checked when the pipeline is built. */
    const leat_type *const *reads;  /**< inbound messages it is given */
    const leat_type *const *fires;  /**< inbound messages it passes on */
    const leat_type *const *takes;  /**< outbound messages it is given */
    const leat_type *const *writes; /**< outbound messages it passes on or writes itself */

    /** Refuses nonsense in a config (NULL = none was given): 0, or a code with one line in `problem`. */
    int (*check)(const void *config, leat_problem *problem);

    /** The handler joined a pipeline; 0, or a code that refuses it (then `removed` does not run). `config` stays valid.
     */
    int (*added)(leat_ctx *ctx, const void *config);
    /** The handler left: hand on or release all it holds, complete what it owes, stop its timers. Runs exactly once. */
    void (*removed)(leat_ctx *ctx);

    void (*active)(leat_ctx *ctx);             /**< the channel can be written to; at most once */
    void (*read)(leat_ctx *ctx, leat_msg msg); /**< a message; ours */
    void (*read_done)(leat_ctx *ctx);          /**< no more for now */
    void (*eof)(leat_ctx *ctx);                /**< the peer ended its side; unhandled, the channel closes */
    void (*inactive)(leat_ctx *ctx);           /**< the channel is gone; exactly once after `active` */
    void (*writable)(leat_ctx *ctx); /**< leat_channel_is_writable changed, for good or for a moment; once a turn */
    void (*error)(leat_ctx *ctx, int code); /**< something failed; unhandled, the channel closes and keeps the code */
    void (*event)(leat_ctx *ctx, leat_msg msg); /**< a user event; ours */
    void (*wake)(leat_ctx *ctx);                /**< end of the turn, after leat_ctx_wake or when demand returned */

    void (*write)(leat_ctx *ctx, leat_msg msg, leat_done *done); /**< a message; ours, and `done` is ours to complete */
    void (*flush)(leat_ctx *ctx);                                /**< write out what was held for company */
    void (*close)(leat_ctx *ctx);                                /**< write a footer, then pass it on */

    void *reserved[6];
};

/**
 * A handler's place in a channel. One cache line; laid out for the inline hops below only, never touch a field.
 */
struct leat_ctx {
    leat_ctx *next_read;
    void (*read)(leat_ctx *ctx, leat_msg msg);
    leat_ctx *next_write;
    void (*write)(leat_ctx *ctx, leat_msg msg, leat_done *done);
    const leat_handler *handler;
    leat_channel *channel;
    uint16_t position;
    uint16_t pins;
    int16_t failure;
    uint16_t flags;
    uint32_t held;
    uint32_t held_out;
};

/** Returns the handler's `state_size` bytes in this channel, zeroed before `added`. */
static inline void *leat_state(leat_ctx *ctx) {
    return ctx + 1;
}

/** Returns the context whose state this is. */
static inline leat_ctx *leat_ctx_of_state(void *state) {
    return (leat_ctx *)state - 1;
}

/** Returns the channel. */
static inline leat_channel *leat_ctx_channel(const leat_ctx *ctx) {
    return ctx->channel;
}

/** Passes a message to the next handler towards the application; gives it away. */
static inline void leat_ctx_fire_read(leat_ctx *ctx, leat_msg msg) {
    leat_ctx *next = ctx->next_read;
    next->read(next, msg);
}

/** A completion that lies in this handler's state keeps the state until it ran; leat_ctx_write calls it. */
LEAT_API void leat_ctx_pin(leat_ctx *ctx, leat_done *done);

/** Passes a message to the next handler towards the transport; gives the message and `done` (may be NULL) away. */
static inline void leat_ctx_write(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    leat_ctx *next = ctx->next_write;
    if (done)
        leat_ctx_pin(ctx, done);
    next->write(next, msg, done);
}

/**
 * Writes a copy of `length` bytes: without an allocation where the transport is next, for headers and small pieces.
 * Out of memory the write completes with LEAT_ENOMEM and the channel is aborted, as any torn stream is.
 */
LEAT_API void leat_ctx_write_copy(leat_ctx *ctx, const void *bytes, size_t length, leat_done *done);

LEAT_API void leat_ctx_fire_active(leat_ctx *ctx);                /**< Passes `active` on. */
LEAT_API void leat_ctx_fire_read_done(leat_ctx *ctx);             /**< Passes `read_done` on. */
LEAT_API void leat_ctx_fire_eof(leat_ctx *ctx);                   /**< Passes `eof` on. */
LEAT_API void leat_ctx_fire_inactive(leat_ctx *ctx);              /**< Passes `inactive` on. */
LEAT_API void leat_ctx_fire_writable(leat_ctx *ctx);              /**< Passes `writable` on. */
LEAT_API void leat_ctx_fire_error(leat_ctx *ctx, int code);       /**< Passes an error on, or reports one. */
LEAT_API void leat_ctx_fire_event(leat_ctx *ctx, leat_msg event); /**< Passes a user event on; gives it away. */
LEAT_API void leat_ctx_flush(leat_ctx *ctx);                      /**< Passes `flush` on towards the transport. */
LEAT_API void leat_ctx_close(leat_ctx *ctx);                      /**< Passes `close` on; starts the close timeout. */

/** Asks for `wake` at the end of this turn. Never calls back by itself. */
LEAT_API void leat_ctx_wake(leat_ctx *ctx);

/** Stores an error (a negative code; the first stays) that is fired from here at the end of this turn. */
LEAT_API void leat_ctx_fail(leat_ctx *ctx, int code);

/** Says that the handler keeps `bytes` more inbound bytes; many of them pause the transport. */
LEAT_API void leat_ctx_hold(leat_ctx *ctx, uint64_t bytes);

/** Says that the handler let go of `bytes` inbound bytes it had counted by leat_ctx_hold. */
LEAT_API void leat_ctx_unhold(leat_ctx *ctx, uint64_t bytes);

/** Stops the transport's reading, at the end of this turn, until this handler resumes it: for who paces what comes in.
 */
LEAT_API void leat_ctx_pause_reading(leat_ctx *ctx);

/** Ends leat_ctx_pause_reading; fine without one. A handler that paused must do so in `removed`. */
LEAT_API void leat_ctx_resume_reading(leat_ctx *ctx);

/** Says that the handler keeps `bytes` more outbound bytes: they count for `writable`, and `flush` comes this turn. */
LEAT_API void leat_ctx_hold_out(leat_ctx *ctx, uint64_t bytes);

/** Says that the handler let go of `bytes` outbound bytes it had counted by leat_ctx_hold_out. */
LEAT_API void leat_ctx_unhold_out(leat_ctx *ctx, uint64_t bytes);

/** Returns how many messages the application still wants: 0 = stop decoding; `wake` comes when demand returns. */
LEAT_API uint64_t leat_ctx_demand(const leat_ctx *ctx);

/**
 * Tells whether a decoder should go on: demand is not 0, the handler was not removed, and the channel is open. What
 * decoders ask before each message, in one call.
 */
LEAT_API bool leat_ctx_wants_more(const leat_ctx *ctx);

/** A decoder fired a message: takes one from the demand if it is the innermost decoder. */
LEAT_API void leat_ctx_spend(leat_ctx *ctx);

/** Completes a write that this handler dropped, refused or merged: `done` (NULL is fine) runs at the end of the turn.
 */
LEAT_API void leat_ctx_complete(leat_ctx *ctx, leat_done *done, int status);

/** Completes all of `list` in order at the end of the turn; `list` is empty afterwards. */
LEAT_API void leat_ctx_complete_list(leat_ctx *ctx, leat_done_list *list, int status);

/** Releases a message and completes its write with `status`: how to refuse a write. */
LEAT_API void leat_ctx_refuse(leat_ctx *ctx, leat_msg msg, leat_done *done, int status);

/** Removes the handler: `removed` runs inside; the state stays until the end of the turn and of its completions. */
LEAT_API void leat_ctx_remove(leat_ctx *ctx);

/** Tells whether the handler was removed (it may still pass on, write and close until its state goes). */
LEAT_API bool leat_ctx_is_removed(const leat_ctx *ctx);

LEAT_END_DECLS

#endif
