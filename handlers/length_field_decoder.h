/**
 * Length-field decoder: splits inbound bytes into frames by a length that each frame carries.
 *
 *     {&leat_length_field_decoder, &(const leat_length_field_decoder_config){.field_length = 2, .strip = 2}}
 *
 * fed 00 03 "abc" 00 01 "d" fires "abc" and "d". A frame is field value + adjustment + offset + field_length bytes
 * long, as in Netty's LengthFieldBasedFrameDecoder; all arithmetic is in 64 bits.
 */
#ifndef LEAT_HANDLERS_LENGTH_FIELD_DECODER_H
#define LEAT_HANDLERS_LENGTH_FIELD_DECODER_H

#include "core/handler.h"

LEAT_BEGIN_DECLS

/** Where the length is and what it counts; all zero is a sane default: 4 bytes, big endian, kept in the frame. */
typedef struct leat_length_field_decoder_config {
    uint64_t max_frame;    /**< bytes a frame may have, header included; 0 = 5 MiB. At most 2^40. */
    uint64_t offset;       /**< bytes before the length field; header within max_frame */
    unsigned field_length; /**< bytes of the length field: 1, 2, 3, 4 or 8; 0 = 4 */
    bool little_endian;    /**< byte order of the length field; false = big endian */
    int64_t adjustment;    /**< bytes behind the field = its value + adjustment; between -2^40 and 2^40 */
    uint64_t strip;        /**< bytes to take off the front of each frame; at most max_frame */
    bool report_late;      /**< report a frame that is too long after skipping it, not as soon as its length is known */
} leat_length_field_decoder_config;

/**
 * ByteBufs in, a ByteBuf a frame out. Bad frames are reported once and decoding goes on in the same turn: one above
 * max_frame (LEAT_ETOOLONG) is skipped; of one that would end inside its own header (LEAT_ECORRUPT) the header is
 * skipped; one shorter than what to strip (LEAT_ECORRUPT) is skipped. A frame cut off by `eof` is LEAT_ETRUNCATED.
 */
LEAT_API extern const leat_handler leat_length_field_decoder;

LEAT_END_DECLS

#endif
