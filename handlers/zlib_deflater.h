/**
 * Deflates outbound ByteBufs with zlib: one stream for the life of the channel, or one for each message.
 *
 *     {&leat_zlib_deflater, &(const leat_zlib_deflater_config){.format = LEAT_ZLIB_RAW, .level = 1}}
 *
 * By default all that is written in a turn is deflated together and flushed at its end (a sync flush: the peer can
 * inflate all of it), and the trailer is written when the channel closes or the handler is removed.
 */
#ifndef LEAT_HANDLERS_ZLIB_DEFLATER_H
#define LEAT_HANDLERS_ZLIB_DEFLATER_H

#include "core/bytebuf.h"
#include "core/handler.h"
#include "handlers/zlib.h"

LEAT_BEGIN_DECLS

/** The level that only wraps bytes in the format. */
#define LEAT_ZLIB_STORED (-1)

/** When what was deflated leaves, so that the peer can inflate it. */
typedef enum leat_zlib_flush {
    LEAT_ZLIB_FLUSH_TURN,    /**< at the end of each turn, or by leat_channel_flush; for a handler behind it that
                                  frames messages take another: further writes of the turn are empty messages there */
    LEAT_ZLIB_FLUSH_MESSAGE, /**< with each message, which stays one message */
    LEAT_ZLIB_FLUSH_END      /**< as blocks fill, the rest at the end; writes complete then */
} leat_zlib_flush;

/** How bytes are deflated; all zero is a sane default. */
typedef struct leat_zlib_deflater_config {
    leat_zlib_format format;
    int level;             /**< 1 (fast) to 9 (small), or LEAT_ZLIB_STORED; 0 = 6 */
    unsigned window_bits;  /**< 9 to 15: matches reach back 2^window_bits bytes; 0 = 15 */
    unsigned memory_level; /**< 1 to 9; 0 = 8. A stream takes 2^(window_bits + 2) + 2^(memory_level + 9) bytes */
    leat_span dictionary;  /**< what both sides begin with; not for gzip. The bytes outlive the pipeline */
    leat_zlib_flush flush;
    bool each_message; /**< each message becomes a stream of its own, and one message; `flush` has no meaning then */
    uint32_t chunk;    /**< bytes of a block of output at most, 64 to 16 MiB; 0 = 16 KiB */
} leat_zlib_deflater_config;

/**
 * Outbound ByteBufs are deflated; their writes complete when the transport took what they became. Messages of other
 * types pass behind what was written before them. An empty message makes no bytes, except as a stream of its own. The
 * memory of zlib is the channel's, taken by the first message. What was written in a turn and not flushed counts as
 * held outbound. At `close`, or removed from an open channel, the handler ends the stream, also one without a byte;
 * later writes complete with LEAT_ECLOSED. Out of memory the stream is torn: its writes complete with LEAT_ENOMEM,
 * which is fired as an error, too; with each_message only that message fails.
 */
LEAT_API extern const leat_handler leat_zlib_deflater;

/**
 * Deflates the readable bytes of `in`, which stays the caller's and unchanged, as one stream into `*out`, which the
 * caller owns. `config` (NULL = defaults) as above; `flush` and each_message have no meaning. Returns 0, LEAT_ENOMEM,
 * or LEAT_EINVAL for a config that makes no sense; then `*out` is NULL. Any thread, if `alloc` is.
 */
LEAT_API int leat_zlib_deflate(leat_alloc *alloc, const leat_zlib_deflater_config *config, const leat_bytebuf *in,
                               leat_bytebuf **out);

LEAT_END_DECLS

#endif
