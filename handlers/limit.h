/**
 * Rate limits: at most so many bytes a second, with a burst, for a channel by itself or for many together.
 *
 *     {&leat_limit, &(const leat_limit_config){.read_rate = 1 << 20, .write_rate = 1 << 20, .write_burst = 64 << 10}}
 *
 * Inbound, a message is passed on at once, and reading pauses until it is paid for; outbound, messages wait their turn
 * here and count for `writable`. A token bucket: what was not used in a quiet time, up to the burst, may go at once.
 */
#ifndef LEAT_HANDLERS_LIMIT_H
#define LEAT_HANDLERS_LIMIT_H

#include "core/alloc.h"
#include "core/handler.h"

LEAT_BEGIN_DECLS

/** A bucket that channels share, also of several loops. */
typedef struct leat_limit_bucket leat_limit_bucket;

/**
 * Makes a bucket of `rate` bytes a second (1 to 2^34) with `burst` bytes (0 = a tenth of a second's, at most 2^34).
 * NULL = no memory, or out of range. The caller owns a reference; pipelines whose configs name it do not: release it
 * after them. Any thread, if `alloc` is for any thread.
 */
LEAT_API leat_limit_bucket *leat_limit_bucket_new(leat_alloc *alloc, uint64_t rate, uint64_t burst);

/** Takes one more reference. Any thread. */
LEAT_API leat_limit_bucket *leat_limit_bucket_retain(leat_limit_bucket *bucket);

/** Gives a reference back; NULL is fine. Any thread. */
LEAT_API void leat_limit_bucket_release(leat_limit_bucket *bucket);

/** How fast; all zero passes everything at once. Rates are bytes a second, at most 2^34; 0 = not limited. */
typedef struct leat_limit_config {
    uint64_t read_rate;
    uint64_t read_burst; /**< bytes; 0 = a tenth of a second's */
    uint64_t write_rate;
    uint64_t write_burst;            /**< bytes; 0 = a tenth of a second's */
    leat_limit_bucket *read_shared;  /**< limits too, together with other channels; NULL = none */
    leat_limit_bucket *write_shared; /**< limits too, together with other channels; NULL = none */
    uint64_t max_held;               /**< bytes that may wait here outbound (beyond, the channel is aborted with
                                          LEAT_ELIMIT); 0 = 16 MiB */
} leat_limit_config;

/**
 * Passes messages on no faster than that. A message that is larger than the burst passes when the bucket is full and is
 * paid for afterwards. Messages leave in order; `close` waits for them as long as the channel's close timeout lasts.
 * Removed, it passes on at once what it holds.
 */
LEAT_API extern const leat_handler leat_limit;

LEAT_END_DECLS

#endif
