/** Loads and stores of every fixed-width value at any address, big-endian by name and little-endian with `_le`. */
#ifndef LEAT_CORE_BYTES_H
#define LEAT_CORE_BYTES_H

#include "core/base.h"

#include <string.h>

#ifdef __cplusplus
#define LEAT_INLINE inline
#else
#define LEAT_INLINE static inline
#endif

/**
 * Every value that buffers carry: X(name, C type, width in bytes). A name without suffix is big-endian (network order);
 * `_le` is little-endian. Integers of 24 bits take the low bits of what is stored; floats keep their raw bits.
 */
#define LEAT_VALUES(X)                                                                                                 \
    X(u8, uint8_t, 1)                                                                                                  \
    X(i8, int8_t, 1)                                                                                                   \
    X(bool, bool, 1)                                                                                                   \
    X(u16, uint16_t, 2)                                                                                                \
    X(i16, int16_t, 2)                                                                                                 \
    X(u24, uint32_t, 3)                                                                                                \
    X(i24, int32_t, 3)                                                                                                 \
    X(u32, uint32_t, 4)                                                                                                \
    X(i32, int32_t, 4)                                                                                                 \
    X(u64, uint64_t, 8)                                                                                                \
    X(i64, int64_t, 8)                                                                                                 \
    X(f32, float, 4)                                                                                                   \
    X(f64, double, 8)                                                                                                  \
    X(u16_le, uint16_t, 2)                                                                                             \
    X(i16_le, int16_t, 2)                                                                                              \
    X(u24_le, uint32_t, 3)                                                                                             \
    X(i24_le, int32_t, 3)                                                                                              \
    X(u32_le, uint32_t, 4)                                                                                             \
    X(i32_le, int32_t, 4)                                                                                              \
    X(u64_le, uint64_t, 8)                                                                                             \
    X(i64_le, int64_t, 8)                                                                                              \
    X(f32_le, float, 4)                                                                                                \
    X(f64_le, double, 8)

LEAT_BEGIN_DECLS

LEAT_INLINE uint8_t leat_load_u8(const uint8_t *at) {
    return *at;
}

LEAT_INLINE void leat_store_u8(uint8_t *at, uint8_t value) {
    *at = value;
}

LEAT_INLINE bool leat_load_bool(const uint8_t *at) {
    return *at != 0;
}

LEAT_INLINE void leat_store_bool(uint8_t *at, bool value) {
    *at = value ? 1 : 0;
}

LEAT_INLINE uint32_t leat_load_u24(const uint8_t *at) {
    return (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
}

LEAT_INLINE void leat_store_u24(uint8_t *at, uint32_t value) {
    at[0] = (uint8_t)(value >> 16);
    at[1] = (uint8_t)(value >> 8);
    at[2] = (uint8_t)value;
}

LEAT_INLINE uint32_t leat_load_u24_le(const uint8_t *at) {
    return (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

LEAT_INLINE void leat_store_u24_le(uint8_t *at, uint32_t value) {
    at[2] = (uint8_t)(value >> 16);
    at[1] = (uint8_t)(value >> 8);
    at[0] = (uint8_t)value;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LEAT_BYTES_BIG(bits, value) __builtin_bswap##bits(value)
#define LEAT_BYTES_LITTLE(bits, value) (value)
#else
#define LEAT_BYTES_BIG(bits, value) (value)
#define LEAT_BYTES_LITTLE(bits, value) __builtin_bswap##bits(value)
#endif

/* One load and one store of an unsigned integer in the order that `swap` gives. */
#define LEAT_BYTES_UNSIGNED(name, bits, swap)                                                                          \
    LEAT_INLINE uint##bits##_t leat_load_##name(const uint8_t *at) {                                                   \
        uint##bits##_t value;                                                                                          \
        memcpy(&value, at, sizeof value);                                                                              \
        return swap(bits, value);                                                                                      \
    }                                                                                                                  \
    LEAT_INLINE void leat_store_##name(uint8_t *at, uint##bits##_t value) {                                            \
        value = swap(bits, value);                                                                                     \
        memcpy(at, &value, sizeof value);                                                                              \
    }

LEAT_BYTES_UNSIGNED(u16, 16, LEAT_BYTES_BIG)
LEAT_BYTES_UNSIGNED(u32, 32, LEAT_BYTES_BIG)
LEAT_BYTES_UNSIGNED(u64, 64, LEAT_BYTES_BIG)
LEAT_BYTES_UNSIGNED(u16_le, 16, LEAT_BYTES_LITTLE)
LEAT_BYTES_UNSIGNED(u32_le, 32, LEAT_BYTES_LITTLE)
LEAT_BYTES_UNSIGNED(u64_le, 64, LEAT_BYTES_LITTLE)

/* The same bits under another type of the same size: signed integers and floats. */
#define LEAT_BYTES_SAME_BITS(name, type, carrier, carrier_type)                                                        \
    LEAT_INLINE type leat_load_##name(const uint8_t *at) {                                                             \
        carrier_type bits = leat_load_##carrier(at);                                                                   \
        type value;                                                                                                    \
        memcpy(&value, &bits, sizeof value);                                                                           \
        return value;                                                                                                  \
    }                                                                                                                  \
    LEAT_INLINE void leat_store_##name(uint8_t *at, type value) {                                                      \
        carrier_type bits;                                                                                             \
        memcpy(&bits, &value, sizeof bits);                                                                            \
        leat_store_##carrier(at, bits);                                                                                \
    }

LEAT_BYTES_SAME_BITS(i8, int8_t, u8, uint8_t)
LEAT_BYTES_SAME_BITS(i16, int16_t, u16, uint16_t)
LEAT_BYTES_SAME_BITS(i32, int32_t, u32, uint32_t)
LEAT_BYTES_SAME_BITS(i64, int64_t, u64, uint64_t)
LEAT_BYTES_SAME_BITS(f32, float, u32, uint32_t)
LEAT_BYTES_SAME_BITS(f64, double, u64, uint64_t)
LEAT_BYTES_SAME_BITS(i16_le, int16_t, u16_le, uint16_t)
LEAT_BYTES_SAME_BITS(i32_le, int32_t, u32_le, uint32_t)
LEAT_BYTES_SAME_BITS(i64_le, int64_t, u64_le, uint64_t)
LEAT_BYTES_SAME_BITS(f32_le, float, u32_le, uint32_t)
LEAT_BYTES_SAME_BITS(f64_le, double, u64_le, uint64_t)

LEAT_INLINE int32_t leat_load_i24(const uint8_t *at) {
    return (int32_t)(leat_load_u24(at) ^ 0x800000) - 0x800000;
}

LEAT_INLINE void leat_store_i24(uint8_t *at, int32_t value) {
    leat_store_u24(at, (uint32_t)value);
}

LEAT_INLINE int32_t leat_load_i24_le(const uint8_t *at) {
    return (int32_t)(leat_load_u24_le(at) ^ 0x800000) - 0x800000;
}

LEAT_INLINE void leat_store_i24_le(uint8_t *at, int32_t value) {
    leat_store_u24_le(at, (uint32_t)value);
}

LEAT_END_DECLS

#endif
