/** What the files about server-sent events share. */
#ifndef LEAT_HANDLERS_SSE_INTERNAL_H
#define LEAT_HANDLERS_SSE_INTERNAL_H

#include "core/base.h"

/**
 * Returns where the first CR or LF of `n` bytes stands, or `n`. `*high` becomes true if a byte looked at was not ASCII,
 * else stays as it is.
 */
size_t leat_sse_line_end(const uint8_t *bytes, size_t n, bool *high);

#endif
