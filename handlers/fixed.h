/**
 * Frames of one fixed length. Outbound nothing happens.
 *
 *     {&leat_fixed_decoder, &(const leat_fixed_config){.length = 3}}
 *
 * fed "abcdefgh" fires "abc" and "def" and waits for the rest of "gh".
 */
#ifndef LEAT_HANDLERS_FIXED_H
#define LEAT_HANDLERS_FIXED_H

#include "core/handler.h"

LEAT_BEGIN_DECLS

/** How frames are cut; all zero is a sane default. */
typedef struct leat_fixed_config {
    uint64_t length; /**< bytes of a frame; 0 = 1024. At most 1 GiB. */
    bool last_frame; /**< at `eof`, fewer bytes are a frame too, not an error */
} leat_fixed_config;

/**
 * ByteBufs in, a ByteBuf a frame out. A frame cut off by `eof` is reported as LEAT_ETRUNCATED, unless last_frame is
 * set.
 */
LEAT_API extern const leat_handler leat_fixed_decoder;

LEAT_END_DECLS

#endif
