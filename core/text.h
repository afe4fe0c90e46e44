/** Text: ASCII, Latin-1, UTF-16 and UTF-8 written as valid UTF-8 (RFC 3629), with exact lengths. */
#ifndef LEAT_CORE_TEXT_H
#define LEAT_CORE_TEXT_H

#include "core/bytebuf.h"

LEAT_BEGIN_DECLS

/** What to do with text that is ill-formed: bytes that are no UTF-8, surrogates without their other half. */
typedef enum leat_text_mode {
    LEAT_TEXT_STRICT, /**< refuse it with LEAT_ECORRUPT */
    LEAT_TEXT_REPLACE /**< write U+FFFD for each maximal ill-formed part, as the WHATWG Encoding standard does */
} leat_text_mode;

/*
 * The write functions append to `buf`, which stays the caller's. They reserve exactly what they write, never more: a
 * buffer that was made with the length of its text is written without growing. The text may lie in `buf` itself. They
 * return 0, LEAT_ECORRUPT, LEAT_ENOMEM, LEAT_ESHARED, or LEAT_ELIMIT when max_capacity forbids it; then nothing was
 * written. Text that is known to be ASCII or valid UTF-8 needs no more than leat_bytebuf_write_bytes.
 */

/** Appends `n` characters that must be ASCII; LEAT_ECORRUPT if one is not. */
LEAT_API int leat_text_write_ascii(leat_bytebuf *buf, const char *text, size_t n);

/** Appends `n` characters of Latin-1 (ISO 8859-1: U+0000 to U+00FF, one byte each). */
LEAT_API int leat_text_write_latin1(leat_bytebuf *buf, const uint8_t *text, size_t n);

/** Appends `n` UTF-16 code units in the machine's order; a byte order mark is a character like others. */
LEAT_API int leat_text_write_utf16(leat_bytebuf *buf, const uint16_t *units, size_t n, leat_text_mode mode);

/** Appends `n` bytes that should be UTF-8: checked and copied in one go. A byte order mark is kept. */
LEAT_API int leat_text_write_utf8(leat_bytebuf *buf, const void *bytes, size_t n, leat_text_mode mode);

/* Lengths: exactly what the write functions append. */

/** Returns how many bytes of UTF-8 these characters become. Any thread. */
LEAT_API uint64_t leat_text_latin1_length(const uint8_t *text, size_t n);

/** Returns how many bytes of UTF-8 these units become, each lone surrogate as U+FFFD. Any thread. */
LEAT_API uint64_t leat_text_utf16_length(const uint16_t *units, size_t n);

/** Returns how many bytes of UTF-8 these bytes become, ill-formed parts as U+FFFD. Any thread. */
LEAT_API uint64_t leat_text_utf8_length(const void *bytes, size_t n);

/** Returns how many bytes from the first on are whole, valid characters: `n` if all are. Any thread. */
LEAT_API size_t leat_text_utf8_valid(const void *bytes, size_t n);

/* Buffers of exactly the length of their text: measured once, allocated once, written once. */

/** Makes a buffer with these Latin-1 characters as UTF-8; NULL = no memory. The caller owns it. */
LEAT_API leat_bytebuf *leat_text_from_latin1(leat_alloc *alloc, const uint8_t *text, size_t n);

/** Makes a buffer with this UTF-16 as UTF-8, lone surrogates as U+FFFD; NULL = no memory. The caller owns it. */
LEAT_API leat_bytebuf *leat_text_from_utf16(leat_alloc *alloc, const uint16_t *units, size_t n);

/* Streams: text that arrives in pieces, cut anywhere, also inside a character. */

/** What is held between the pieces; begins as {0}. Needs no clean-up. */
typedef struct leat_text_stream {
    uint8_t held[4]; /**< the beginning of a character of UTF-8 */
    uint8_t count;   /**< bytes of it */
    uint16_t high;   /**< a high surrogate that waits for its low one; 0 = none */
} leat_text_stream;

/**
 * Appends the next `n` bytes of UTF-8 to `buf`, except the beginning of a character that the next piece may complete.
 * Returns 0 or an error as above, after which the stream is of no further use. In strict mode LEAT_ECORRUPT comes with
 * the byte that makes the fault certain; all valid characters before it are written then.
 */
LEAT_API int leat_text_stream_utf8(leat_text_stream *stream, leat_bytebuf *buf, const void *bytes, size_t n,
                                   leat_text_mode mode);

/** The same for the readable bytes of `piece`, whatever it is made of; `piece` is untouched. */
LEAT_API int leat_text_stream_buffer(leat_text_stream *stream, leat_bytebuf *buf, const leat_bytebuf *piece,
                                     leat_text_mode mode);

/** The same for the next `n` UTF-16 code units; a high surrogate at the end waits for the next piece. */
LEAT_API int leat_text_stream_utf16(leat_text_stream *stream, leat_bytebuf *buf, const uint16_t *units, size_t n,
                                    leat_text_mode mode);

/** The text ends: a character that was cut is LEAT_ECORRUPT, or is replaced. The stream may then begin again. */
LEAT_API int leat_text_stream_end(leat_text_stream *stream, leat_bytebuf *buf, leat_text_mode mode);

LEAT_END_DECLS

#endif
