/**
 * Length-field prepender: puts the length of each outbound ByteBuf in front of it.
 *
 *     {&leat_length_field_prepender, &(const leat_length_field_prepender_config){.field_length = 2}}
 *
 * turns a write of "abc" into 00 03 "abc". The payload is never copied: the field goes into the buffer's headroom or a
 * composite's front when the buffer is ours alone, else it is a small write of its own.
 */
#ifndef LEAT_HANDLERS_LENGTH_FIELD_PREPENDER_H
#define LEAT_HANDLERS_LENGTH_FIELD_PREPENDER_H

#include "core/handler.h"

LEAT_BEGIN_DECLS

/** How the length is written; all zero is a sane default. Lengths are in bytes. */
typedef struct leat_length_field_prepender_config {
    unsigned field_length; /**< 1, 2, 3, 4 or 8; 0 = 4 */
    bool little_endian;    /**< byte order; false = big endian */
    bool includes_field;   /**< the length counts the field too */
    int64_t adjustment;    /**< added to the length; between -2^32 and 2^32 */
} leat_length_field_prepender_config;

/**
 * A write whose length does not fit the field is refused with LEAT_ETOOLONG, one whose adjusted length is negative with
 * LEAT_ERANGE. A message that is no ByteBuf passes unchanged.
 */
LEAT_API extern const leat_handler leat_length_field_prepender;

LEAT_END_DECLS

#endif
