/**
 * Frames that end with one of several delimiters. Outbound nothing happens.
 *
 *     static const leat_span ends[] = {{(const uint8_t *)"$$", 2}, {(const uint8_t *)";", 1}};
 *     {&leat_delimiter_decoder, &(const leat_delimiter_config){.delimiters = ends, .count = 2}}
 *
 * fed "a$$b;c" fires "a" and "b" and waits for the rest of "c". The delimiter that is complete first ends the frame; of
 * several that the same byte completes, the longest.
 */
#ifndef LEAT_HANDLERS_DELIMITER_H
#define LEAT_HANDLERS_DELIMITER_H

#include "core/handler.h"

LEAT_BEGIN_DECLS

/** The most delimiters, and the most bytes of one. */
#define LEAT_DELIMITERS 16
#define LEAT_DELIMITER_LENGTH 32 /**< see above */

/** What ends a frame; all zero is a sane default. */
typedef struct leat_delimiter_config {
    const leat_span *delimiters; /**< they and their bytes outlive the pipeline; NULL = CR LF and LF */
    size_t count;                /**< how many there are: 1 to LEAT_DELIMITERS, each 1 to LEAT_DELIMITER_LENGTH bytes */
    uint64_t max_length;         /**< bytes a frame may have, its delimiter not counted; 0 = 8192. At most 1 GiB. */
    bool keep_delimiter;         /**< leave the delimiter at the end of what is fired */
    bool last_frame;             /**< at `eof`, what has no delimiter is a frame too, not an error */
    bool report_late;            /**< report a frame that is too long at its end, not as soon as it is too long */
} leat_delimiter_config;

/**
 * ByteBufs in, a ByteBuf a frame out. A frame that is too long is reported once, as LEAT_ETOOLONG, skipped up to its
 * end, and decoding goes on behind it; the unfinished beginning of a delimiter does not make it too long. A last frame
 * without a delimiter is reported as LEAT_ETRUNCATED at `eof`, unless last_frame is set.
 */
LEAT_API extern const leat_handler leat_delimiter_decoder;

LEAT_END_DECLS

#endif
