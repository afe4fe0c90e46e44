#include "handlers/base64.h"

/* Bytes that are encoded at once where the input is not contiguous: a multiple of three. */
enum { STEP = 3 * 256, NO_DIGIT = 64 };

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

uint64_t leat_base64_length(uint64_t n) {
    uint64_t groups = n / 3 + (n % 3 != 0);
    return groups > UINT64_MAX / 4 ? 0 : groups * 4;
}

/* ---- encoding ---- */

static uint8_t *encode_group(uint8_t *to, uint32_t bits) {
    to[0] = (uint8_t)alphabet[bits >> 18];
    to[1] = (uint8_t)alphabet[bits >> 12 & 63];
    to[2] = (uint8_t)alphabet[bits >> 6 & 63];
    to[3] = (uint8_t)alphabet[bits & 63];
    return to + 4;
}

/* One or two bytes at the end; what is missing is padding. */
static uint8_t *encode_rest(uint8_t *to, const uint8_t *from, size_t n) {
    encode_group(to, (uint32_t)from[0] << 16 | (n > 1 ? (uint32_t)from[1] << 8 : 0));
    to[3] = '=';
    if (n == 1)
        to[2] = '=';
    return to + 4;
}

static uint8_t *encode(uint8_t *to, const uint8_t *from, size_t n) {
    size_t whole = n - n % 3;
    for (size_t i = 0; i < whole; i += 3)
        to = encode_group(to, (uint32_t)from[i] << 16 | (uint32_t)from[i + 1] << 8 | from[i + 2]);
    return n > whole ? encode_rest(to, from + whole, n - whole) : to;
}

leat_bytebuf *leat_base64_encode(leat_alloc *alloc, const leat_bytebuf *in) {
    uint64_t left = leat_bytebuf_readable(in), at = leat_bytebuf_reader_index(in), length = leat_base64_length(left);
    leat_bytebuf *text = length || !left ? leat_bytebuf_new(alloc, length) : NULL;
    uint8_t *to = text ? leat_bytebuf_room(text, length) : NULL;
    if (!text || (length && !to)) {
        leat_bytebuf_release(text);
        return NULL;
    }
    while (left > 0) {
        uint8_t copy[STEP];
        size_t n = left < STEP ? (size_t)left : STEP;
        const uint8_t *from = leat_bytebuf_contiguous(in, at, n);
        if (!from)
            leat_bytebuf_get_bytes(in, at, copy, n);
        to = encode(to, from ? from : copy, n);
        at += n;
        left -= n;
    }
    leat_bytebuf_wrote(text, length);
    return text;
}

/* ---- decoding ---- */

static unsigned digit_of(uint8_t character) {
    if (character >= 'A' && character <= 'Z')
        return character - (unsigned)'A';
    if (character >= 'a' && character <= 'z')
        return character - (unsigned)'a' + 26;
    if (character >= '0' && character <= '9')
        return character - (unsigned)'0' + 52;
    return character == '+' ? 62 : character == '/' ? 63 : NO_DIGIT;
}

/* Decodes four characters, of which the last `padding` are padding, into 3 - padding bytes; false = they are corrupt.
 */
static bool decode_group(uint8_t *to, const uint8_t *from, unsigned padding) {
    uint32_t bits = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned digit = i < 4 - padding ? digit_of(from[i]) : 0;
        if (digit == NO_DIGIT)
            return false;
        bits = bits << 6 | digit;
    }
    for (unsigned i = 0; i < 3 - padding; i++)
        to[i] = (uint8_t)(bits >> (16 - 8 * i));
    return (bits & ((1u << 8 * padding) - 1)) == 0;
}

static unsigned padding_of(const uint8_t *text, size_t n) {
    if (n == 0 || text[n - 1] != '=')
        return 0;
    return text[n - 2] == '=' ? 2 : 1;
}

static bool decode(uint8_t *to, const uint8_t *from, size_t n) {
    unsigned padding = padding_of(from, n);
    bool sound = true;
    for (size_t i = 0; sound && i < n; i += 4, to += 3)
        sound = decode_group(to, from + i, i + 4 == n ? padding : 0);
    return sound;
}

int leat_base64_decode(leat_alloc *alloc, const void *text, size_t n, leat_bytebuf **out) {
    *out = NULL;
    if (n % 4 != 0)
        return LEAT_ECORRUPT;
    uint64_t length = (uint64_t)n / 4 * 3 - padding_of(text, n);
    leat_bytebuf *bytes = leat_bytebuf_new(alloc, length);
    uint8_t *to = bytes ? leat_bytebuf_room(bytes, length) : NULL;
    bool room = bytes && (to || length == 0);
    if (!room || (length && !decode(to, text, n))) {
        leat_bytebuf_release(bytes);
        return room ? LEAT_ECORRUPT : LEAT_ENOMEM;
    }
    leat_bytebuf_wrote(bytes, length);
    *out = bytes;
    return 0;
}
