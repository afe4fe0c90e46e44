/**
 * Timeouts: a peer that sends nothing, or takes nothing of what waits for it, for too long is an error.
 *
 *     {&leat_timeouts, &(const leat_timeouts_config){.read_ms = 30000, .write_ms = 10000}}
 *
 * fires LEAT_ETIMEDOUT, which closes the channel unless a handler deals with it. Every byte that the transport delivers
 * or accepts counts: a slow peer is not a dead one. One timer a channel, compared lazily. For heartbeats see
 * handlers/idle.h.
 */
#ifndef LEAT_HANDLERS_TIMEOUTS_H
#define LEAT_HANDLERS_TIMEOUTS_H

#include "core/handler.h"

LEAT_BEGIN_DECLS

/** A timeout that never comes. */
#define LEAT_TIMEOUT_NEVER UINT64_MAX

/** How long is too long, in milliseconds; at most 2^40. */
typedef struct leat_timeouts_config {
    uint64_t read_ms;  /**< no byte came in; 0 = 60,000 */
    uint64_t write_ms; /**< bytes waited and the transport accepted none of them; 0 = 30,000 */
} leat_timeouts_config;

/** What timed out last. */
typedef enum leat_timeout_kind { LEAT_TIMEOUT_NONE, LEAT_TIMEOUT_READ, LEAT_TIMEOUT_WRITE } leat_timeout_kind;

/**
 * Fires LEAT_ETIMEDOUT at exactly the time after the last byte, or, for writes, after the first byte began to wait; if
 * a handler deals with it, again each time after it. Messages pass unchanged.
 */
LEAT_API extern const leat_handler leat_timeouts;

/** Tells which of both the error was about: for handlers that deal with it, of the timeouts' context. */
LEAT_API leat_timeout_kind leat_timeouts_last(leat_ctx *ctx);

LEAT_END_DECLS

#endif
