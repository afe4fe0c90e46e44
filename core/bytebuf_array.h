/**
 * Arrays of numbers in and out of buffers, in either byte order: room is made once and whole blocks move, whatever kind
 * the buffer is. Where the order is the machine's the bytes are copied as they are.
 */
#ifndef LEAT_CORE_BYTEBUF_ARRAY_H
#define LEAT_CORE_BYTEBUF_ARRAY_H

#include "core/cursor.h"

/**
 * Every element that an array may have: X(name, C type, width in bytes, order). As in LEAT_VALUES, a name without
 * suffix is big-endian and `_le` is little-endian.
 */
#define LEAT_ARRAYS(X)                                                                                                 \
    X(u8, uint8_t, 1, LEAT_BIG_ENDIAN)                                                                                 \
    X(i8, int8_t, 1, LEAT_BIG_ENDIAN)                                                                                  \
    X(u16, uint16_t, 2, LEAT_BIG_ENDIAN)                                                                               \
    X(i16, int16_t, 2, LEAT_BIG_ENDIAN)                                                                                \
    X(u32, uint32_t, 4, LEAT_BIG_ENDIAN)                                                                               \
    X(i32, int32_t, 4, LEAT_BIG_ENDIAN)                                                                                \
    X(u64, uint64_t, 8, LEAT_BIG_ENDIAN)                                                                               \
    X(i64, int64_t, 8, LEAT_BIG_ENDIAN)                                                                                \
    X(f32, float, 4, LEAT_BIG_ENDIAN)                                                                                  \
    X(f64, double, 8, LEAT_BIG_ENDIAN)                                                                                 \
    X(u16_le, uint16_t, 2, LEAT_LITTLE_ENDIAN)                                                                         \
    X(i16_le, int16_t, 2, LEAT_LITTLE_ENDIAN)                                                                          \
    X(u32_le, uint32_t, 4, LEAT_LITTLE_ENDIAN)                                                                         \
    X(i32_le, int32_t, 4, LEAT_LITTLE_ENDIAN)                                                                          \
    X(u64_le, uint64_t, 8, LEAT_LITTLE_ENDIAN)                                                                         \
    X(i64_le, int64_t, 8, LEAT_LITTLE_ENDIAN)                                                                          \
    X(f32_le, float, 4, LEAT_LITTLE_ENDIAN)                                                                            \
    X(f64_le, double, 8, LEAT_LITTLE_ENDIAN)

LEAT_BEGIN_DECLS

/** In which order the bytes of an element stand in a buffer. */
typedef enum leat_byte_order { LEAT_BIG_ENDIAN, LEAT_LITTLE_ENDIAN } leat_byte_order;

/**
 * Appends `n` elements of `width` bytes (1, 2, 4 or 8) from `values`, which may lie anywhere, also misaligned. They
 * stay the caller's. false = no room, no memory, shared or another width, nothing written.
 */
LEAT_API bool leat_bytebuf_write_array(leat_bytebuf *buf, const void *values, size_t n, unsigned width,
                                       leat_byte_order order);

/** Takes `n` elements of `width` bytes off to `values`. false = too short, shared or another width, nothing moved. */
LEAT_API bool leat_bytebuf_read_array(leat_bytebuf *buf, void *values, size_t n, unsigned width, leat_byte_order order);

/**
 * Copies `n` elements of `width` bytes from `index` on to `values`. false = beyond the writer, or another width; then
 * `values` is untouched.
 */
LEAT_API bool leat_bytebuf_get_array(const leat_bytebuf *buf, uint64_t index, void *values, size_t n, unsigned width,
                                     leat_byte_order order);

/**
 * Changes `n` elements of `width` bytes from `index` on; `values` must not lie in the bytes changed. false = beyond the
 * writer, shared or another width, nothing changed.
 */
LEAT_API bool leat_bytebuf_set_array(leat_bytebuf *buf, uint64_t index, const void *values, size_t n, unsigned width,
                                     leat_byte_order order);

/** Takes `n` elements of `width` bytes; false = too short or another width, nothing moved. */
LEAT_API bool leat_reader_array(leat_reader *reader, void *values, size_t n, unsigned width, leat_byte_order order);

/** Appends `n` elements of `width` bytes; false = no room, no memory, shared or another width, nothing written. */
LEAT_API bool leat_writer_array(leat_writer *writer, const void *values, size_t n, unsigned width,
                                leat_byte_order order);

/** Appends `n` truth values, a byte 0 or 1 each; false = no room, no memory or shared, nothing written. */
LEAT_API bool leat_bytebuf_write_bool_array(leat_bytebuf *buf, const bool *values, size_t n);

/** Takes `n` truth values off, any byte but 0 for true; false = too short or shared, nothing moved. */
LEAT_API bool leat_bytebuf_read_bool_array(leat_bytebuf *buf, bool *values, size_t n);

/*
 * For each element of LEAT_ARRAYS what the functions above do:
 *   bool leat_bytebuf_write_x_array(buf, values, n)        bool leat_bytebuf_read_x_array(buf, values, n)
 *   bool leat_bytebuf_get_x_array(buf, index, values, n)   bool leat_bytebuf_set_x_array(buf, index, values, n)
 *   bool leat_reader_x_array(reader, values, n)            bool leat_writer_x_array(writer, values, n)
 * Those of cursors work on a copy, so that the address of the caller's cursor never escapes.
 */
#define LEAT_ARRAY_FAMILY(name, type, width, order)                                                                    \
    LEAT_INLINE bool leat_bytebuf_write_##name##_array(leat_bytebuf *buf, const type *values, size_t n) {              \
        return leat_bytebuf_write_array(buf, values, n, width, order);                                                 \
    }                                                                                                                  \
    LEAT_INLINE bool leat_bytebuf_read_##name##_array(leat_bytebuf *buf, type *values, size_t n) {                     \
        return leat_bytebuf_read_array(buf, values, n, width, order);                                                  \
    }                                                                                                                  \
    LEAT_INLINE bool leat_bytebuf_get_##name##_array(const leat_bytebuf *buf, uint64_t index, type *values,            \
                                                     size_t n) {                                                       \
        return leat_bytebuf_get_array(buf, index, values, n, width, order);                                            \
    }                                                                                                                  \
    LEAT_INLINE bool leat_bytebuf_set_##name##_array(leat_bytebuf *buf, uint64_t index, const type *values,            \
                                                     size_t n) {                                                       \
        return leat_bytebuf_set_array(buf, index, values, n, width, order);                                            \
    }                                                                                                                  \
    LEAT_INLINE bool leat_reader_##name##_array(leat_reader *reader, type *values, size_t n) {                         \
        leat_reader slow = *reader;                                                                                    \
        bool done = leat_reader_array(&slow, values, n, width, order);                                                 \
        *reader = slow;                                                                                                \
        return done;                                                                                                   \
    }                                                                                                                  \
    LEAT_INLINE bool leat_writer_##name##_array(leat_writer *writer, const type *values, size_t n) {                   \
        leat_writer slow = *writer;                                                                                    \
        bool done = leat_writer_array(&slow, values, n, width, order);                                                 \
        *writer = slow;                                                                                                \
        return done;                                                                                                   \
    }

LEAT_ARRAYS(LEAT_ARRAY_FAMILY)

LEAT_END_DECLS

#endif
