/* Blocks of elements of fixed width, moved without looking at each where that is possible. */
#include "handlers/opcua/opcua_internal.h"

/* Compiled twice where the loader can choose, for wider registers; not under sanitizers, which start later. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__OPTIMIZE__) && !defined(__clang__) &&                       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif
#define ALWAYS_INLINE static inline __attribute__((always_inline))

WIDE static void normalise(uint8_t *to, const uint8_t *from, uint64_t n) {
    for (uint64_t i = 0; i < n; i++)
        to[i] = from[i] != 0;
}

void leat_opcua_block_booleans(uint8_t *to, const uint8_t *from, uint64_t n) {
    normalise(to, from, n);
}

/* ---- copies ---- */

/*
 * Behind a head of 5 bytes every access of a 64-byte register crosses a cache line, and so glibc's memcpy takes up
 * to 1.8 times as long as between aligned blocks. Halves of that register lose less: 4,000 bytes from there 40 ns,
 * not 59, and a frame of 7 MiB a fifth less, for which glibc takes rep movsb. Small blocks are not worth the look; what
 * no cache holds is glibc's.
 */
#if defined(__x86_64__) && defined(__GNUC__) && defined(__OPTIMIZE__)
typedef uint8_t half_line __attribute__((vector_size(32), aligned(1), may_alias));

enum { LEAST_IN_HALVES = 512, MOST_IN_HALVES = 16 << 20, AT_ONCE = 4 * sizeof(half_line) };

__attribute__((target("avx2"))) static void copy_in_halves(uint8_t *to, const uint8_t *from, uint64_t n) {
    for (; n >= AT_ONCE; n -= AT_ONCE, to += AT_ONCE, from += AT_ONCE) {
        const half_line *source = (const half_line *)from;
        half_line first = source[0], second = source[1], third = source[2], fourth = source[3];
        half_line *target = (half_line *)to;
        target[0] = first;
        target[1] = second;
        target[2] = third;
        target[3] = fourth;
    }
    memcpy(to, from, (size_t)n);
}

static bool is_aligned_alike(const uint8_t *to, const uint8_t *from) {
    return (((uintptr_t)to ^ (uintptr_t)from) & 63) == 0;
}

static void copy(uint8_t *to, const uint8_t *from, uint64_t n) {
    if (n >= LEAST_IN_HALVES && n <= MOST_IN_HALVES && !is_aligned_alike(to, from) && __builtin_cpu_supports("avx2"))
        copy_in_halves(to, from, n);
    else
        memcpy(to, from, (size_t)n);
}
#else
static void copy(uint8_t *to, const uint8_t *from, uint64_t n) {
    memcpy(to, from, (size_t)n);
}
#endif

/* ---- order ---- */

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
static void swap_each(uint8_t *at, size_t width, uint64_t n) {
    for (; n > 0; n--, at += width)
        for (size_t i = 0; i < width / 2; i++) {
            uint8_t byte = at[i];
            at[i] = at[width - 1 - i];
            at[width - 1 - i] = byte;
        }
}

static void swap_guids(uint8_t *at, uint64_t n) {
    for (; n > 0; n--, at += 16) {
        swap_each(at, 4, 1);
        swap_each(at + 4, 2, 2);
    }
}

void leat_opcua_block_order(void *elements, uint8_t type, uint64_t n) {
    if (type == LEAT_OPCUA_GUID)
        swap_guids(elements, n);
    else
        swap_each(elements, leat_opcua_type_infos[type].width, n);
}
#endif

/* ---- NaN (Part 6, 5.2.2.3) ---- */

WIDE static void quiet_floats(uint8_t *at, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        uint32_t bits = leat_load_u32_le(at + 4 * i);
        bits = (bits & 0x7fffffff) > 0x7f800000 ? 0xffc00000 : bits;
        leat_store_u32_le(at + 4 * i, bits);
    }
}

WIDE static void quiet_doubles(uint8_t *at, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        uint64_t bits = leat_load_u64_le(at + 8 * i);
        bits = (bits & INT64_MAX) > 0x7ff0000000000000 ? 0xfff8000000000000 : bits;
        leat_store_u64_le(at + 8 * i, bits);
    }
}

static void quiet(uint8_t *at, uint8_t type, uint64_t n) {
    if (type == LEAT_OPCUA_FLOAT)
        quiet_floats(at, n);
    else if (type == LEAT_OPCUA_DOUBLE)
        quiet_doubles(at, n);
}

/* ---- gathering ---- */

ALWAYS_INLINE void strided(uint8_t *to, const uint8_t *from, int64_t stride, uint64_t n, size_t width) {
    for (; n > 0; n--, to += width, from += stride)
        memcpy(to, from, width);
}

ALWAYS_INLINE void behind_pointers(uint8_t *to, const void *const *from, uint64_t n, size_t width) {
    static const uint8_t zero[16];
    for (uint64_t i = 0; i < n; i++, to += width)
        memcpy(to, from[i] ? from[i] : zero, width);
}

/* One loop for each width, each with its width as a constant. */
#define EACH_WIDTH(width, loop)                                                                                        \
    switch (width) {                                                                                                   \
    case 1:                                                                                                            \
        loop(1);                                                                                                       \
        break;                                                                                                         \
    case 2:                                                                                                            \
        loop(2);                                                                                                       \
        break;                                                                                                         \
    case 4:                                                                                                            \
        loop(4);                                                                                                       \
        break;                                                                                                         \
    case 8:                                                                                                            \
        loop(8);                                                                                                       \
        break;                                                                                                         \
    default:                                                                                                           \
        loop(16);                                                                                                      \
        break;                                                                                                         \
    }

static void put_strided(uint8_t *to, const uint8_t *from, int64_t stride, uint64_t n, size_t width) {
#define STRIDED(constant) strided(to, from, stride, n, constant)
    EACH_WIDTH(width, STRIDED)
}

static void put_behind_pointers(uint8_t *to, const void *const *from, uint64_t n, size_t width) {
#define BEHIND_POINTERS(constant) behind_pointers(to, from, n, constant)
    EACH_WIDTH(width, BEHIND_POINTERS)
}

/* Moves the elements; what is left is to bring their bytes into order. */
static void gather(uint8_t *to, const leat_opcua_value *value, uint64_t first, uint64_t n) {
    const leat_opcua_elements *elements = &value->of.elements;
    size_t width = leat_opcua_type_infos[value->type].width;
    if (value->shape == LEAT_OPCUA_SCALAR)
        memcpy(to, &value->of.scalar, width);
    else if (value->source == LEAT_OPCUA_POINTERS)
        put_behind_pointers(to, elements->at.pointers + first, n, width);
    else if (value->source == LEAT_OPCUA_STRIDED)
        put_strided(to, (const uint8_t *)elements->at.first + (int64_t)first * elements->by.stride, elements->by.stride,
                    n, width);
    else
        leat_bytebuf_get_bytes(elements->at.buffer, elements->by.index + first * width, to, (size_t)(n * width));
}

/* The bytes of the elements if they lie in one piece, else NULL. */
static const uint8_t *piece_of(const leat_opcua_value *value, uint64_t first, uint64_t n) {
    const leat_opcua_elements *elements = &value->of.elements;
    uint64_t width = leat_opcua_type_infos[value->type].width;
    if (value->shape == LEAT_OPCUA_SCALAR)
        return NULL;
    if (value->source == LEAT_OPCUA_CONTIGUOUS)
        return (const uint8_t *)elements->at.first + first * width;
    if (value->source != LEAT_OPCUA_WIRE)
        return NULL;
    return leat_bytebuf_contiguous(elements->at.buffer, elements->by.index + first * width, n * width);
}

static void put(uint8_t *to, const leat_opcua_value *value, uint64_t first, uint64_t n) {
    const uint8_t *piece = piece_of(value, first, n);
    if (!piece)
        gather(to, value, first, n);
    if (value->type == LEAT_OPCUA_BOOLEAN)
        leat_opcua_block_booleans(to, piece ? piece : to, n);
    else if (piece)
        copy(to, piece, n * leat_opcua_type_infos[value->type].width);
}

void leat_opcua_block_put(uint8_t *to, const leat_opcua_value *value, uint64_t first, uint64_t n, bool quiet_nan) {
    if (n == 0)
        return;
    put(to, value, first, n);
    if (value->shape == LEAT_OPCUA_SCALAR || value->source != LEAT_OPCUA_WIRE)
        leat_opcua_block_order(to, value->type, n);
    if (quiet_nan)
        quiet(to, value->type, n);
}
