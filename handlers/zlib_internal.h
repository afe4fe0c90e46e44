/** What the sources of the zlib handlers share. Not installed. */
#ifndef LEAT_HANDLERS_ZLIB_INTERNAL_H
#define LEAT_HANDLERS_ZLIB_INTERNAL_H

#include "core/alloc.h"
#include "handlers/zlib.h"

#include <zlib.h>

/** Of a span that is larger than zlib can count, so much is given to it at once. */
#define LEAT_ZLIB_LARGEST_PIECE ((size_t)1 << 30)

/** Lets zlib take its memory from `alloc`: before deflateInit2 or inflateInit2. */
void leat_zlib_use_alloc(z_stream *stream, leat_alloc *alloc);

/** Returns what zlib calls windowBits: the size of the window with the format in it. */
int leat_zlib_window_bits(leat_zlib_format format, unsigned bits);

/** Returns what a status of zlib means as a code of ours; 0 for one that is no failure. */
int leat_zlib_code(int status);

/** Checks what both configs have; `who` is the handler. Returns 0 or LEAT_EINVAL. */
int leat_zlib_check(const char *who, leat_zlib_format format, unsigned window_bits, uint32_t chunk,
                    leat_problem *problem);

#endif
