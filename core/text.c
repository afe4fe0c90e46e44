/* ASCII and UTF-8: checked and copied in one go. */
#include "core/bytebuf_internal.h"
#include "core/text_internal.h"
#include "core/wide_internal.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { BLOCK = 4 * sizeof(leat_wide), HALF = BLOCK / 2 };

/* Copies whole blocks up to the first that is not all ASCII, of which it leaves a copy too. Registers of AVX2 halve the
   time. */
LEAT_WIDE static size_t copy_blocks(uint8_t *to, const uint8_t *from, size_t n) {
    size_t done = 0;
    for (; done + BLOCK <= n; done += BLOCK) {
        const leat_wide *in = (const leat_wide *)(const void *)(from + done);
        leat_wide *out = (leat_wide *)(void *)(to + done);
        const leat_wide first = in[0], second = in[1], third = in[2], fourth = in[3];
        out[0] = first;
        out[1] = second;
        out[2] = third;
        out[3] = fourth;
        const leat_wide bits = (first | second) | (third | fourth);
        if ((bits[0] | bits[1] | bits[2] | bits[3]) & TEXT_HIGH_BITS)
            break;
    }
    return done;
}

/* How many bytes of a word lie before the first whose high bit is set. */
static size_t ascii_before(uint64_t high) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (size_t)__builtin_ctzll(high) / 8;
#else
    return (size_t)__builtin_clzll(high) / 8;
#endif
}

/* Which of 64 bytes are not ASCII, a bit each. */
static uint64_t high_bits(const uint8_t *from) {
    uint64_t bits = 0;
#ifdef __SSE2__
    for (unsigned i = 0; i < 64; i += 16) {
        __m128i part = _mm_loadu_si128((const __m128i *)(const void *)(from + i));
        bits |= (uint64_t)(unsigned)_mm_movemask_epi8(part) << i;
    }
#else
    for (unsigned i = 0; i < 64; i++)
        bits |= (uint64_t)(from[i] >> 7) << i;
#endif
    return bits;
}

/* How many bytes of a block that is not all ASCII are: without a branch for each word. */
static size_t ascii_in_block(const uint8_t *from) {
    uint64_t low = high_bits(from), high = high_bits(from + HALF);
    return low ? (size_t)__builtin_ctzll(low) : HALF + (size_t)__builtin_ctzll(high);
}

/* The same for fewer bytes than a block. */
static size_t copy_ascii_short(uint8_t *to, const uint8_t *from, size_t n) {
    size_t done = 0;
    for (uint64_t word; done + sizeof word <= n; done += sizeof word) {
        memcpy(&word, from + done, sizeof word);
        memcpy(to + done, &word, sizeof word);
        if (word & TEXT_HIGH_BITS)
            return done + ascii_before(word & TEXT_HIGH_BITS);
    }
    for (; done < n && from[done] < 0x80; done++)
        to[done] = from[done];
    return done;
}

size_t leat_text_copy_ascii(uint8_t *to, const uint8_t *from, size_t n) {
    size_t done = n >= BLOCK ? copy_blocks(to, from, n) : 0;
    if (n - done >= BLOCK)
        return done + ascii_in_block(from + done);
    return done + copy_ascii_short(to + done, from + done, n - done);
}

/* ---- characters ---- */

/* How long a character is by its first byte, and what its second may be; the others are 80 to BF. RFC 3629, 4. */
typedef struct lead {
    uint8_t length; /* 0 = no character begins like this */
    uint8_t low, high;
} lead;

static lead lead_of(uint8_t byte) {
    if (byte < 0xc2 || byte > 0xf4)
        return (lead){0, 0, 0};
    if (byte < 0xe0)
        return (lead){2, 0x80, 0xbf};
    if (byte < 0xf0)
        return (lead){3, byte == 0xe0 ? 0xa0 : 0x80, byte == 0xed ? 0x9f : 0xbf};
    return (lead){4, byte == 0xf0 ? 0x90 : 0x80, byte == 0xf4 ? 0x8f : 0xbf};
}

int leat_text_next_utf8(const uint8_t *at, size_t left) {
    if (at[0] < 0x80)
        return 1;
    lead first = lead_of(at[0]);
    if (first.length == 0)
        return -1;
    if (left < 2)
        return 0;
    if (at[1] < first.low || at[1] > first.high)
        return -1;
    for (uint8_t i = 2; i < first.length; i++) {
        if (i == left)
            return 0;
        if ((at[i] & 0xc0) != 0x80)
            return -(int)i;
    }
    return first.length;
}

uint8_t *leat_text_put(uint8_t *to, uint32_t character) {
    if (character < 0x80) {
        *to++ = (uint8_t)character;
        return to;
    }
    if (character < 0x800) {
        *to++ = (uint8_t)(0xc0 | character >> 6);
    } else {
        if (character < 0x10000) {
            *to++ = (uint8_t)(0xe0 | character >> 12);
        } else {
            *to++ = (uint8_t)(0xf0 | character >> 18);
            *to++ = (uint8_t)(0x80 | (character >> 12 & 0x3f));
        }
        *to++ = (uint8_t)(0x80 | (character >> 6 & 0x3f));
    }
    *to++ = (uint8_t)(0x80 | (character & 0x3f));
    return to;
}

int leat_text_room(leat_bytebuf *buf, const void **from, uint64_t n, uint8_t **to) {
    int code = leat_bytebuf_reserve_from(buf, from, n);
    *to = code == 0 ? leat_bytebuf_room(buf, n) : NULL;
    return code;
}

static int commit(leat_bytebuf *buf, uint64_t n) {
    return leat_bytebuf_wrote(buf, n) ? 0 : LEAT_ESHARED;
}

/* ---- ASCII ---- */

int leat_text_write_ascii(leat_bytebuf *buf, const char *text, size_t n) {
    const void *from = text;
    uint8_t *to;
    int code = leat_text_room(buf, &from, n, &to);
    if (code != 0 || n == 0)
        return code;
    if (leat_text_copy_ascii(to, from, n) != n)
        return LEAT_ECORRUPT;
    return commit(buf, n);
}

/* ---- UTF-8 ---- */

static inline void copy_short(uint8_t *to, const uint8_t *from, int n) {
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}

/* Skips valid characters that are not ASCII as long as they follow each other and begin before `stop`; returns where
   the next begins. False = there is a fault. */
static bool skip_foreign(const uint8_t *from, size_t n, size_t stop, size_t *at) {
    do {
        int length = leat_text_next_utf8(from + *at, n - *at);
        if (length <= 0)
            return false;
        *at += (size_t)length;
    } while (*at < stop && from[*at] >= 0x80);
    return true;
}

/* Looks at the characters of a block that are not ASCII. Returns how many bytes are whole, valid characters: as many as
   the block has or, since the last one may go on behind it, up to three more; fewer up to a fault. */
static size_t valid_in_block(const uint8_t *from, size_t left) {
    size_t done = 0;
    for (size_t part = 0; part < BLOCK; part += HALF) {
        uint64_t high = high_bits(from + part);
        if (done > part)
            high &= UINT64_MAX << (done - part);
        while (high) {
            done = part + (size_t)__builtin_ctzll(high);
            if (!skip_foreign(from, left, part + HALF, &done))
                return done;
            high = done < part + HALF ? high & UINT64_MAX << (done - part) : 0;
        }
    }
    return done > BLOCK ? done : BLOCK;
}

/* Copies whole blocks of characters up to the first fault, or the last block, and returns how many bytes that were;
   `*faulty` tells that it was a fault. A block that is not all ASCII is copied already when it is looked at. */
static size_t copy_valid_blocks(uint8_t *to, const uint8_t *from, size_t n, bool *faulty) {
    size_t done = 0;
    *faulty = false;
    while (!*faulty && n - done >= BLOCK) {
        done += copy_blocks(to + done, from + done, n - done);
        if (n - done < BLOCK)
            break;
        size_t valid = valid_in_block(from + done, n - done);
        *faulty = valid < BLOCK;
        for (size_t i = BLOCK; i < valid; i++)
            to[done + i] = from[done + i];
        done += valid;
    }
    return done;
}

/* Copies characters up to the first fault and returns how many bytes that were. */
static size_t copy_valid(uint8_t *to, const uint8_t *from, size_t n) {
    bool faulty;
    size_t done = copy_valid_blocks(to, from, n, &faulty);
    while (!faulty && done < n) {
        done += copy_ascii_short(to + done, from + done, n - done);
        int length = done < n ? leat_text_next_utf8(from + done, n - done) : 0;
        if (length <= 0)
            break;
        copy_short(to + done, from + done, length);
        done += (size_t)length;
    }
    return done;
}

static size_t ascii_run(const uint8_t *from, size_t n) {
    size_t done = 0;
    for (uint64_t word; done + sizeof word <= n; done += sizeof word) {
        memcpy(&word, from + done, sizeof word);
        if (word & TEXT_HIGH_BITS)
            break;
    }
    while (done < n && from[done] < 0x80)
        done++;
    return done;
}

size_t leat_text_utf8_valid(const void *bytes, size_t n) {
    const uint8_t *from = bytes;
    size_t done = 0;
    while (done < n) {
        done += ascii_run(from + done, n - done);
        int length = done < n ? leat_text_next_utf8(from + done, n - done) : 0;
        if (length <= 0)
            break;
        done += (size_t)length;
    }
    return done;
}

/* How many bytes the ill-formed part at a fault has: a character that the end cuts is one part. */
static size_t faulty_part(const uint8_t *at, size_t left) {
    int length = leat_text_next_utf8(at, left);
    return length == 0 ? left : (size_t)-length;
}

uint64_t leat_text_utf8_length(const void *bytes, size_t n) {
    const uint8_t *from = bytes;
    uint64_t length = 0;
    for (size_t done = 0; done < n;) {
        size_t valid = leat_text_utf8_valid(from + done, n - done);
        length += valid;
        done += valid;
        if (done == n)
            break;
        length += TEXT_REPLACEMENT_LENGTH;
        done += faulty_part(from + done, n - done);
    }
    return length;
}

static int write_replacing(leat_bytebuf *buf, const void *bytes, size_t n) {
    uint64_t length = leat_text_utf8_length(bytes, n);
    uint8_t *to;
    int code = leat_text_room(buf, &bytes, length, &to);
    if (code != 0)
        return code;
    const uint8_t *from = bytes;
    for (size_t done = 0; done < n;) {
        size_t valid = copy_valid(to, from + done, n - done);
        to += valid;
        done += valid;
        if (done == n)
            break;
        to = leat_text_put(to, TEXT_REPLACEMENT);
        done += faulty_part(from + done, n - done);
    }
    return commit(buf, length);
}

int leat_text_write_utf8(leat_bytebuf *buf, const void *bytes, size_t n, leat_text_mode mode) {
    uint8_t *to;
    int code = leat_text_room(buf, &bytes, n, &to);
    if (code != 0 || n == 0)
        return code;
    if (copy_valid(to, bytes, n) == n)
        return commit(buf, n);
    return mode == LEAT_TEXT_STRICT ? LEAT_ECORRUPT : write_replacing(buf, bytes, n);
}
