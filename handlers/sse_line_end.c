/* The end of a line, found many bytes at a time: what decoding and framing of events spend their time on. */
#include "handlers/sse_internal.h"

#ifdef __x86_64__

#include <immintrin.h>

/*
 * Both ends of lines are small numbers: a block whose smallest byte is above them holds none, which takes one
 * comparison for the block. Other control characters only cost a second look.
 */
enum { LARGEST_END = '\r', PART = sizeof(__m128i), BLOCK = 4 * sizeof(__m256i) };

__attribute__((target("avx2"))) static __m256i wide_ends(__m256i bytes) {
    return _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\n')),
                           _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\r')));
}

__attribute__((target("avx2"))) static bool has_end(const __m256i *in) {
    __m256i ends = _mm256_setzero_si256();
    for (int i = 0; i < 4; i++)
        ends = _mm256_or_si256(ends, wide_ends(_mm256_loadu_si256(in + i)));
    return _mm256_movemask_epi8(ends) != 0;
}

/* Passes blocks without an end by, and notes whether their bytes were all ASCII. */
__attribute__((target("avx2"))) static size_t pass_blocks(const uint8_t *bytes, size_t n, unsigned *high) {
    const __m256i largest = _mm256_set1_epi8(LARGEST_END);
    __m256i bits = _mm256_setzero_si256();
    size_t at = 0;
    for (; at + BLOCK <= n; at += BLOCK) {
        const __m256i *in = (const __m256i *)(const void *)(bytes + at);
        const __m256i a = _mm256_loadu_si256(in), b = _mm256_loadu_si256(in + 1), c = _mm256_loadu_si256(in + 2),
                      d = _mm256_loadu_si256(in + 3);
        const __m256i least = _mm256_min_epu8(_mm256_min_epu8(a, b), _mm256_min_epu8(c, d));
        const __m256i small = _mm256_cmpeq_epi8(_mm256_min_epu8(least, largest), least);
        if (_mm256_movemask_epi8(small) && has_end(in))
            break;
        bits = _mm256_or_si256(bits, _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d)));
    }
    *high |= (unsigned)_mm256_movemask_epi8(bits);
    return at;
}

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

static size_t pass_many(const uint8_t *bytes, size_t n, unsigned *high, bool *found) {
    size_t at = n >= BLOCK && __builtin_cpu_supports("avx2") ? pass_blocks(bytes, n, high) : 0;
    return pass_parts(bytes, at, n, high, found);
}

#else

static size_t pass_many(const uint8_t *bytes, size_t n, unsigned *high, bool *found) {
    (void)bytes, (void)n, (void)high, (void)found;
    return 0;
}

#endif

size_t leat_sse_line_end(const uint8_t *bytes, size_t n, bool *high) {
    unsigned bits = 0;
    bool found = false;
    size_t at = pass_many(bytes, n, &bits, &found);
    for (; !found && at < n; at++) {
        if (bytes[at] == '\n' || bytes[at] == '\r')
            break;
        bits |= bytes[at] & 0x80u;
    }
    *high = *high || bits != 0;
    return at;
}
