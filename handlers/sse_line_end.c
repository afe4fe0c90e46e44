/* The end of a line, found many bytes at a time: what decoding and framing of events spend their time on. */
#include "handlers/sse_internal.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The search is compiled twice where the loader can choose at start: AVX2 halves its time. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__OPTIMIZE__) && !defined(__clang__) &&                       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

/* Bytes side by side, wherever they lie, and what comparing them gives. */
typedef int8_t wide __attribute__((vector_size(32), aligned(1), may_alias));
typedef uint64_t words __attribute__((vector_size(32), may_alias));

enum { PART = 16, BLOCK = 4 * sizeof(wide) };

/* Passes blocks without an end by, and notes whether their bytes were all ASCII. */
WIDE static size_t pass_blocks(const uint8_t *bytes, size_t n, unsigned *high) {
    words bits = {0};
    size_t at = 0;
    for (; at + BLOCK <= n; at += BLOCK) {
        const wide *in = (const wide *)(const void *)(bytes + at);
        const wide a = in[0], b = in[1], c = in[2], d = in[3];
        const wide ends = (wide)((a == '\n') | (a == '\r') | (b == '\n') | (b == '\r') | (c == '\n') | (c == '\r') |
                                 (d == '\n') | (d == '\r'));
        const words found = (words)ends;
        if (found[0] | found[1] | found[2] | found[3])
            break;
        bits |= (words)((a | b) | (c | d));
    }
    *high |= ((bits[0] | bits[1] | bits[2] | bits[3]) & UINT64_C(0x8080808080808080)) != 0;
    return at;
}

#ifdef __SSE2__
/* Goes on part by part; `*found` tells whether it stopped at an end. */
static size_t pass_parts(const uint8_t *bytes, size_t at, size_t n, unsigned *high, bool *found) {
    for (; at + PART <= n; at += PART) {
        const __m128i part = _mm_loadu_si128((const __m128i *)(const void *)(bytes + at));
        const __m128i lf = _mm_cmpeq_epi8(part, _mm_set1_epi8('\n')), cr = _mm_cmpeq_epi8(part, _mm_set1_epi8('\r'));
        unsigned ends = (unsigned)_mm_movemask_epi8(_mm_or_si128(lf, cr)), bits = (unsigned)_mm_movemask_epi8(part);
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
    unsigned bits = 0;
    bool found = false;
    size_t at = n >= BLOCK ? pass_blocks(bytes, n, &bits) : 0;
#ifdef __SSE2__
    at = pass_parts(bytes, at, n, &bits, &found);
#endif
    for (; !found && at < n; at++) {
        if (bytes[at] == '\n' || bytes[at] == '\r')
            break;
        bits |= bytes[at] & 0x80u;
    }
    *high = *high || bits != 0;
    return at;
}
