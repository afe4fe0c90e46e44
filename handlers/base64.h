/**
 * Base64 (RFC 4648, 4): bytes as text of A-Z, a-z, 0-9, + and /, padded with =, without line ends.
 *
 *     leat_bytebuf *text = leat_base64_encode(alloc, bytes);
 *     int code = leat_base64_decode(alloc, leat_bytebuf_data(text), leat_bytebuf_readable(text), &back);
 */
#ifndef LEAT_HANDLERS_BASE64_H
#define LEAT_HANDLERS_BASE64_H

#include "core/bytebuf.h"

LEAT_BEGIN_DECLS

/** Returns how many characters `n` bytes become, 0 if that is more than a uint64_t holds. Any thread. */
LEAT_API uint64_t leat_base64_length(uint64_t n);

/**
 * Encodes the readable bytes of `in`, which stays the caller's and unchanged, into one exactly sized buffer that the
 * caller owns. NULL = no memory. Any thread, if `alloc` is.
 */
LEAT_API leat_bytebuf *leat_base64_encode(leat_alloc *alloc, const leat_bytebuf *in);

/**
 * Decodes `n` characters into one exactly sized buffer that the caller owns. Returns 0, LEAT_ENOMEM, or LEAT_ECORRUPT:
 * a character outside of the alphabet, a length that is no multiple of four, padding elsewhere than at the end, or bits
 * that padding leaves over and that are not zero; then `*out` is NULL. Any thread, if `alloc` is.
 */
LEAT_API int leat_base64_decode(leat_alloc *alloc, const void *text, size_t n, leat_bytebuf **out);

LEAT_END_DECLS

#endif
