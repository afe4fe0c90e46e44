/**
 * Inflates inbound ByteBufs with zlib: one stream for the life of the channel, or one in each message; bounded.
 *
 *     {&leat_zlib_inflater, &(const leat_zlib_inflater_config){.format = LEAT_ZLIB_GZIP, .max_total = 1 << 20}}
 *
 * What comes out is the same however the bytes were cut on their way. Nothing waits inside: whatever the bytes that
 * came can be inflated to is fired in the same turn, if there is demand.
 */
#ifndef LEAT_HANDLERS_ZLIB_INFLATER_H
#define LEAT_HANDLERS_ZLIB_INFLATER_H

#include "core/bytebuf.h"
#include "core/handler.h"
#include "handlers/zlib.h"

LEAT_BEGIN_DECLS

/** What happens to bytes behind the end of the stream. */
typedef enum leat_zlib_trailing {
    LEAT_ZLIB_TRAILING_REFUSE, /**< LEAT_ECORRUPT */
    LEAT_ZLIB_TRAILING_IGNORE, /**< dropped */
    LEAT_ZLIB_TRAILING_PASS    /**< fired as they are: another protocol follows; not with each_message */
} leat_zlib_trailing;

/** How bytes are inflated; all zero is a sane default. UINT64_MAX in a limit means none. */
typedef struct leat_zlib_inflater_config {
    leat_zlib_format format;
    unsigned window_bits; /**< 9 to 15; a stream that needs more is corrupt; 0 = 15 */
    leat_span dictionary; /**< for zlib streams that ask for it and for raw ones. The bytes outlive the pipeline */
    bool each_message;    /**< each message is a whole stream and becomes one message */
    bool one_member;      /**< a gzip stream ends with its first member; else what begins with 1f 8b goes on */
    leat_zlib_trailing trailing;
    uint32_t chunk; /**< bytes of a buffer that is fired at most, 64 to 16 MiB; 0 = 16 KiB. Not with each_message */
    uint64_t
        max_total; /**< bytes that may come out, of the channel or of each message; 0 = 16 MiB a message, else none */
    uint64_t max_ratio; /**< how much larger the output may be than the input, beyond its first MiB; 0 = 250 */
} leat_zlib_inflater_config;

/**
 * ByteBufs in, inflated ByteBufs out. Errors, after which nothing more is inflated: LEAT_ECORRUPT (not the format, a
 * check that is wrong, another dictionary than asked for), LEAT_ENOTFOUND (a dictionary is asked for and none is
 * there), LEAT_ELIMIT, LEAT_ETRUNCATED (at `eof`, inside a stream or before it), LEAT_ENOMEM. What was inflated before
 * a fault in the input is fired before the error; what is over a limit is not. With each_message an error is that of
 * one message, and the next one is inflated again. The memory of zlib is the channel's, taken by the first bytes; a
 * stream takes up to 2^window_bits bytes and 8 KiB. Removed, the handler hands on what waits for demand.
 */
LEAT_API extern const leat_handler leat_zlib_inflater;

/**
 * Inflates the readable bytes of `in`, which stays the caller's and unchanged, one whole stream, into `*out`, which the
 * caller owns. `config` (NULL = defaults) as above, with each_message. Returns 0, one of the codes above, or
 * LEAT_EINVAL for a config that makes no sense; then `*out` is NULL. Any thread, if `alloc` is.
 */
LEAT_API int leat_zlib_inflate(leat_alloc *alloc, const leat_zlib_inflater_config *config, const leat_bytebuf *in,
                               leat_bytebuf **out);

LEAT_END_DECLS

#endif
