/**
 * Frames behind their length as a varint (LEB128: seven bits a byte, lowest first, the top bit says that more follow),
 * as delimited Protocol Buffers messages are. Inbound the decoder splits, outbound the prepender puts lengths in front.
 *
 *     {.handler = &leat_varint_decoder}, {.handler = &leat_varint_prepender}
 *
 * fed 03 "abc" fires "abc", and turns a write of 300 bytes into AC 02 and those bytes.
 */
#ifndef LEAT_HANDLERS_VARINT_H
#define LEAT_HANDLERS_VARINT_H

#include "core/handler.h"

LEAT_BEGIN_DECLS

/** How frames are split; all zero is a sane default. */
typedef struct leat_varint_decoder_config {
    uint64_t max_frame; /**< bytes a frame may have, its length not counted; 0 = 5 MiB. At most 2^40. */
    bool keep_length;   /**< leave the length in front of what is fired */
} leat_varint_decoder_config;

/**
 * ByteBufs in, a ByteBuf a frame out. A frame above max_frame is reported once, as LEAT_ETOOLONG, and skipped; decoding
 * goes on in the same turn. A length that does not fit 64 bits is LEAT_ECORRUPT, and nothing more is decoded: nobody
 * knows where the next frame begins. A frame cut off by `eof` is LEAT_ETRUNCATED. Lengths may be longer than needed.
 */
LEAT_API extern const leat_handler leat_varint_decoder;

/** What may be written; all zero is a sane default. */
typedef struct leat_varint_prepender_config {
    uint64_t max_frame; /**< bytes a frame may have, its length not counted; 0 = 5 MiB. At most 2^40. */
} leat_varint_prepender_config;

/**
 * Puts the length of each outbound ByteBuf in front of it; the payload is never copied. A write above max_frame is
 * refused with LEAT_ETOOLONG. A message that is no ByteBuf passes unchanged.
 */
LEAT_API extern const leat_handler leat_varint_prepender;

LEAT_END_DECLS

#endif
