/* Latin-1 and UTF-16 to UTF-8. */
#include "core/text_internal.h"

/* ---- Latin-1 ---- */

uint64_t leat_text_latin1_length(const uint8_t *text, size_t n) {
    uint64_t length = n;
    for (size_t i = 0; i < n; i++)
        length += text[i] >> 7;
    return length;
}

static void encode_latin1(uint8_t *to, const uint8_t *text, size_t n) {
    for (size_t done = 0; done < n;) {
        size_t ascii = leat_text_copy_ascii(to, text + done, n - done);
        to += ascii;
        done += ascii;
        while (done < n && text[done] >= 0x80)
            to = leat_text_put(to, text[done++]);
    }
}

static int commit(leat_bytebuf *buf, uint64_t n) {
    return leat_bytebuf_wrote(buf, n) ? 0 : LEAT_ESHARED;
}

int leat_text_write_latin1(leat_bytebuf *buf, const uint8_t *text, size_t n) {
    uint64_t length = leat_text_latin1_length(text, n);
    const void *from = text;
    uint8_t *to;
    int code = leat_text_room(buf, &from, length, &to);
    if (code != 0)
        return code;
    encode_latin1(to, from, n);
    return commit(buf, length);
}

leat_bytebuf *leat_text_from_latin1(leat_alloc *alloc, const uint8_t *text, size_t n) {
    uint64_t length = leat_text_latin1_length(text, n);
    leat_bytebuf *buf = leat_bytebuf_new(alloc, length);
    if (!buf)
        return NULL;
    encode_latin1(buf->bytes, text, n);
    leat_bytebuf_wrote(buf, length);
    return buf;
}

/* ---- UTF-16 ---- */

/* Three bytes for each half of a pair would be six; a pair has four. */
uint64_t leat_text_utf16_length(const uint16_t *units, size_t n) {
    uint64_t length = n;
    for (size_t i = 0; i < n; i++)
        length += (uint64_t)(units[i] >= 0x80) + (uint64_t)(units[i] >= 0x800);
    for (size_t i = 1; i < n; i++)
        length -= text_is_high(units[i - 1]) && text_is_low(units[i]) ? 2 : 0;
    return length;
}

/* Takes a character off, U+FFFD for a lone surrogate; `*lone` tells that it was one. */
static uint32_t take_character(const uint16_t *units, size_t n, size_t *at, bool *lone) {
    uint16_t unit = units[(*at)++];
    if (!text_is_high(unit) && !text_is_low(unit))
        return unit;
    if (text_is_high(unit) && *at < n && text_is_low(units[*at]))
        return 0x10000 + ((uint32_t)(unit & 0x3ff) << 10) + (units[(*at)++] & 0x3ff);
    *lone = true;
    return TEXT_REPLACEMENT;
}

/* Four units at once, as long as they are ASCII. */
static size_t narrow_ascii(uint8_t *to, const uint16_t *units, size_t n) {
    size_t done = 0;
    for (; done + 4 <= n; done += 4) {
        const uint16_t *four = units + done;
        if ((four[0] | four[1] | four[2] | four[3]) >= 0x80)
            break;
        for (size_t i = 0; i < 4; i++)
            to[done + i] = (uint8_t)four[i];
    }
    return done;
}

/* Returns whether there was no lone surrogate. */
static bool encode_utf16(uint8_t *to, const uint16_t *units, size_t n) {
    bool lone = false;
    for (size_t done = 0; done < n;) {
        size_t ascii = narrow_ascii(to, units + done, n - done);
        to += ascii;
        done += ascii;
        if (done < n)
            to = leat_text_put(to, take_character(units, n, &done, &lone));
    }
    return !lone;
}

int leat_text_write_utf16(leat_bytebuf *buf, const uint16_t *units, size_t n, leat_text_mode mode) {
    uint64_t length = leat_text_utf16_length(units, n);
    const void *from = units;
    uint8_t *to;
    int code = leat_text_room(buf, &from, length, &to);
    if (code != 0)
        return code;
    if (!encode_utf16(to, from, n) && mode == LEAT_TEXT_STRICT)
        return LEAT_ECORRUPT;
    return commit(buf, length);
}

leat_bytebuf *leat_text_from_utf16(leat_alloc *alloc, const uint16_t *units, size_t n) {
    uint64_t length = leat_text_utf16_length(units, n);
    leat_bytebuf *buf = leat_bytebuf_new(alloc, length);
    if (!buf)
        return NULL;
    encode_utf16(buf->bytes, units, n);
    leat_bytebuf_wrote(buf, length);
    return buf;
}

size_t leat_text_utf16_valid(const uint16_t *units, size_t n) {
    bool lone = false;
    size_t valid = 0;
    for (size_t at = 0; at < n && !lone; valid = lone ? valid : at)
        take_character(units, n, &at, &lone);
    return valid;
}
