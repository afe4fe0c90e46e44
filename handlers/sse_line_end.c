/* The end of a line, found many bytes at a time: what decoding and framing of events spend their time on. */
#include "handlers/sse_internal.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { PART = 16, BLOCK = 4 * PART };

#ifdef __SSE2__
static __m128i load(const uint8_t *bytes) {
    return _mm_loadu_si128((const __m128i *)(const void *)bytes);
}

static __m128i ends_of(__m128i part) {
    return _mm_or_si128(_mm_cmpeq_epi8(part, _mm_set1_epi8('\n')), _mm_cmpeq_epi8(part, _mm_set1_epi8('\r')));
}

/* Passes blocks without an end by. */
static size_t pass_blocks(const uint8_t *bytes, size_t n, unsigned *high) {
    size_t at = 0;
    for (; at + BLOCK <= n; at += BLOCK) {
        const __m128i a = load(bytes + at), b = load(bytes + at + PART), c = load(bytes + at + 2 * PART),
                      d = load(bytes + at + 3 * PART);
        const __m128i ends = _mm_or_si128(_mm_or_si128(ends_of(a), ends_of(b)), _mm_or_si128(ends_of(c), ends_of(d)));
        if (_mm_movemask_epi8(ends))
            break;
        *high |= (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d)));
    }
    return at;
}

/* Goes on part by part; `*found` tells whether it stopped at an end. */
static size_t pass_parts(const uint8_t *bytes, size_t at, size_t n, unsigned *high, bool *found) {
    for (; at + PART <= n; at += PART) {
        const __m128i part = load(bytes + at);
        unsigned ends = (unsigned)_mm_movemask_epi8(ends_of(part)), bits = (unsigned)_mm_movemask_epi8(part);
        *found = ends != 0;
        if (*found)
            bits &= (ends & -ends) - 1;
        *high |= bits;
        if (*found)
            return at + (unsigned)__builtin_ctz(ends);
    }
    return at;
}
#endif

size_t leat_sse_line_end(const uint8_t *bytes, size_t n, bool *high) {
    size_t at = 0;
    unsigned bits = 0;
    bool found = false;
#ifdef __SSE2__
    at = pass_blocks(bytes, n, &bits);
    at = pass_parts(bytes, at, n, &bits, &found);
#endif
    for (; !found && at < n; at++) {
        found = bytes[at] == '\n' || bytes[at] == '\r';
        if (found)
            break;
        bits |= bytes[at] & 0x80u;
    }
    *high = *high || bits != 0;
    return at;
}
