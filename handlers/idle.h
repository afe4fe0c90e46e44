/**
 * Idle channels: fires a user event when nothing was read, written, or either, for a while.
 *
 *     {&leat_idle, &(const leat_idle_config){.read_ms = 10000, .write_ms = 2000}}
 *
 *     static void on_event(leat_ctx *ctx, leat_msg event) {
 *         const leat_idle_event *idle = leat_msg_as(event, &leat_type_idle);
 *         if (idle && idle->kind == LEAT_IDLE_WRITE)
 *             write_heartbeat(ctx);
 *         leat_ctx_fire_event(ctx, event);
 *     }
 *
 * Any byte that the transport delivers or accepts is activity; what only waits in a queue is none. One timer a channel,
 * re-armed lazily: a busy channel costs nothing a message.
 */
#ifndef LEAT_HANDLERS_IDLE_H
#define LEAT_HANDLERS_IDLE_H

#include "core/handler.h"

LEAT_BEGIN_DECLS

/** How long is idle, in milliseconds; 0 = never. At most 2^40. */
typedef struct leat_idle_config {
    uint64_t read_ms;  /**< no byte came in */
    uint64_t write_ms; /**< the transport accepted no byte */
    uint64_t all_ms;   /**< neither */
    bool close; /**< when read_ms or all_ms is over, fire the error LEAT_ETIMEDOUT instead of an event: unhandled,
                     it closes the channel */
} leat_idle_config;

/** Which kind of activity was missing. */
typedef enum leat_idle_kind { LEAT_IDLE_READ, LEAT_IDLE_WRITE, LEAT_IDLE_ALL } leat_idle_kind;

/** What a user event of leat_type_idle points to; static, nothing to release. */
typedef struct leat_idle_event {
    leat_idle_kind kind;
} leat_idle_event;

/** The type of idle events. */
LEAT_API extern const leat_type leat_type_idle;

/** Fires an idle event at exactly the period after the last activity, then again every period without activity. */
LEAT_API extern const leat_handler leat_idle;

LEAT_END_DECLS

#endif
