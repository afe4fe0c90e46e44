/** What the files of text share. Not installed. */
#ifndef LEAT_CORE_TEXT_INTERNAL_H
#define LEAT_CORE_TEXT_INTERNAL_H

#include "core/text.h"

#include <string.h>

/* Eight bytes at once: the high bit of each is set when it is not ASCII. */
#define TEXT_HIGH_BITS UINT64_C(0x8080808080808080)

enum { TEXT_REPLACEMENT = 0xfffd, TEXT_REPLACEMENT_LENGTH = 3 };

/** Copies the ASCII characters that `from` begins with and returns how many; what it writes behind them, within `n`
 * bytes, means nothing. */
size_t leat_text_copy_ascii(uint8_t *to, const uint8_t *from, size_t n);

/**
 * Looks at the character that `left` > 0 bytes begin with. Returns its length; 0 = it is cut, what there is of it is
 * right; or minus the length of the maximal ill-formed part.
 */
int leat_text_next_utf8(const uint8_t *at, size_t left);

/** Writes a character as UTF-8 and returns the address behind it. */
uint8_t *leat_text_put(uint8_t *to, uint32_t character);

/** Makes exactly `n` bytes of room and sets `*to` to it. `*from` goes along if it lies in the buffer. */
int leat_text_room(leat_bytebuf *buf, const void **from, uint64_t n, uint8_t **to);

/** Returns how many units from the first on are whole, valid characters. */
size_t leat_text_utf16_valid(const uint16_t *units, size_t n);

static inline bool text_is_high(uint16_t unit) {
    return (unit & 0xfc00) == 0xd800;
}

static inline bool text_is_low(uint16_t unit) {
    return (unit & 0xfc00) == 0xdc00;
}

#endif
