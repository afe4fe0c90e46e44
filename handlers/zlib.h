/** What the handlers that deflate and inflate have in common. They are in leat::zlib. */
#ifndef LEAT_HANDLERS_ZLIB_H
#define LEAT_HANDLERS_ZLIB_H

#include "core/base.h"

LEAT_BEGIN_DECLS

/** What stands around the deflated bytes (RFC 1951). */
typedef enum leat_zlib_format {
    LEAT_ZLIB_AUTO, /**< the inflater looks at the first two bytes; the deflater writes gzip */
    LEAT_ZLIB_GZIP, /**< header with optional fields, CRC-32 and length (RFC 1952) */
    LEAT_ZLIB_ZLIB, /**< two bytes in front, Adler-32 behind (RFC 1950); what HTTP calls deflate */
    LEAT_ZLIB_RAW   /**< nothing */
} leat_zlib_format;

LEAT_END_DECLS

#endif
