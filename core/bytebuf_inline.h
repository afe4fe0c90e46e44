/** The inline half of core/bytebuf.h: references, indices, and the read, write, get, set and put families. */
#ifndef LEAT_CORE_BYTEBUF_INLINE_H
#define LEAT_CORE_BYTEBUF_INLINE_H

#include "core/bytebuf.h"

LEAT_BEGIN_DECLS

/** Says whether this is the only reference; what it shows was written before the others were given back. */
LEAT_INLINE bool leat_bytebuf_is_sole(const leat_bytebuf *buf) {
    return __atomic_load_n(&buf->refs, __ATOMIC_ACQUIRE) == 1;
}

LEAT_INLINE bool leat_bytebuf_has_flag(const leat_bytebuf *buf, uint8_t flag) {
    return (__atomic_load_n(&buf->flags, __ATOMIC_RELAXED) & flag) != 0;
}

/** From so many references on a handle lives for ever. */
#define LEAT_BYTEBUF_MOST_REFS (UINT32_C(1) << 31)

/** Adds a reference to a buffer without a ledger. */
LEAT_INLINE void leat_bytebuf_retain_quietly(leat_bytebuf *buf) {
    if (leat_bytebuf_is_sole(buf)) { /* nobody else can count or move anything at the same time */
        buf->read_limit = 0;
        buf->write_limit = buf->writer;
        __atomic_store_n(&buf->refs, 2, __ATOMIC_RELAXED);
    } else if (__atomic_fetch_add(&buf->refs, 1, __ATOMIC_RELAXED) >= LEAT_BYTEBUF_MOST_REFS) {
        leat_bytebuf_pin(buf);
    }
}

/** Gives a reference to a buffer without a ledger back. */
LEAT_INLINE void leat_bytebuf_release_quietly(leat_bytebuf *buf) {
    if (leat_bytebuf_is_sole(buf)) {
        leat_bytebuf_end_life(buf);
        return;
    }
    uint32_t before = __atomic_fetch_sub(&buf->refs, 1, __ATOMIC_ACQ_REL);
    if (before - 2 >= LEAT_BYTEBUF_MOST_REFS - 2) /* the last one, none, or too many */
        leat_bytebuf_release_oddly(buf, before);
}

LEAT_INLINE leat_bytebuf *leat_bytebuf_retain_at(leat_bytebuf *buf, const char *where) {
    if (leat_bytebuf_has_flag(buf, LEAT_BYTEBUF_NOTED))
        return leat_bytebuf_retain_noted(buf, where);
    leat_bytebuf_retain_quietly(buf);
    return buf;
}

LEAT_INLINE void leat_bytebuf_release_at(leat_bytebuf *buf, const char *where) {
    if (!buf)
        return;
    if (leat_bytebuf_has_flag(buf, LEAT_BYTEBUF_NOTED))
        leat_bytebuf_release_noted(buf, where);
    else
        leat_bytebuf_release_quietly(buf);
}

LEAT_INLINE leat_bytebuf *leat_bytebuf_touch_at(leat_bytebuf *buf, const char *where) {
    if (leat_bytebuf_has_flag(buf, LEAT_BYTEBUF_NOTED))
        leat_bytebuf_touch_noted(buf, where);
    return buf;
}

LEAT_INLINE uint64_t leat_bytebuf_reader_index(const leat_bytebuf *buf) {
    return buf->reader;
}

LEAT_INLINE uint64_t leat_bytebuf_writer_index(const leat_bytebuf *buf) {
    return buf->writer;
}

LEAT_INLINE uint64_t leat_bytebuf_readable(const leat_bytebuf *buf) {
    return buf->writer - buf->reader;
}

/** The part of skip that is not inline: returns false; a use after the last release is reported. */
LEAT_API bool leat_bytebuf_refuse_skip(const leat_bytebuf *buf);

LEAT_INLINE bool leat_bytebuf_skip(leat_bytebuf *buf, uint64_t n) {
    if (n > buf->writer - buf->reader || !leat_bytebuf_is_sole(buf))
        return leat_bytebuf_refuse_skip(buf);
    buf->reader += n;
    return true;
}

/** Says whether a number of `width` bytes may be read without help: one comparison, which a shared handle fails too. */
LEAT_INLINE bool leat_bytebuf_can_read(const leat_bytebuf *buf, unsigned width) {
    return __builtin_expect(buf->reader + width <= buf->read_limit, 1);
}

/** Says the same of writing one behind the writer. */
LEAT_INLINE bool leat_bytebuf_can_append(const leat_bytebuf *buf, unsigned width) {
    return __builtin_expect(buf->writer + width <= buf->write_limit, 1);
}

/** Says whether `n` bytes may be written behind the writer without help; on a shared handle none. */
LEAT_INLINE bool leat_bytebuf_can_write(const leat_bytebuf *buf, uint64_t n) {
    return n <= buf->write_limit - buf->writer && (n > 0 || leat_bytebuf_is_sole(buf));
}

/** Says whether the window covers `n` bytes from `index` on. */
LEAT_INLINE bool leat_bytebuf_covers(const leat_bytebuf *buf, uint64_t index, uint64_t n) {
    return index >= buf->begin && index < buf->end && n <= buf->end - index;
}

/** Says whether `n` bytes from `index` on may be changed without help. */
LEAT_INLINE bool leat_bytebuf_can_set(const leat_bytebuf *buf, uint64_t index, uint64_t n) {
    return leat_bytebuf_covers(buf, index, n) && !leat_bytebuf_has_flag(buf, LEAT_BYTEBUF_SHARED_BELOW) &&
           leat_bytebuf_is_sole(buf);
}

/** Brings the component that the reader lies in into the window; says whether a number of `width` bytes is there. */
LEAT_API bool leat_bytebuf_cover_reader(leat_bytebuf *buf, unsigned width);

/** Appends `n` bytes after leat_bytebuf_reserve made room for them; without room nothing happens but an assertion. */
LEAT_API void leat_bytebuf_put_bytes(leat_bytebuf *buf, const void *data, size_t n);

/*
 * For each value of LEAT_VALUES:
 *   bool read_x(buf, &value)        takes it from the reader on; false = too short or shared, nothing moved
 *   bool write_x(buf, value)        appends it; false = no room, no memory or shared, nothing written
 *   type get_x(buf, index)          looks at it; out of range is asserted in debug builds and gives 0
 *   bool set_x(buf, index, value)   changes it; false = shared, or out of range (asserted in debug builds)
 *   void put_x(buf, value)          appends it after leat_bytebuf_reserve made room; never grows
 */
#define LEAT_BYTEBUF_FAMILY(name, type, width)                                                                         \
    LEAT_INLINE bool leat_bytebuf_read_##name(leat_bytebuf *buf, type *value) {                                        \
        uint8_t bytes[width];                                                                                          \
        if (leat_bytebuf_can_read(buf, width) || leat_bytebuf_cover_reader(buf, width)) {                              \
            *value = leat_load_##name(buf->bytes + buf->reader);                                                       \
            buf->reader += width;                                                                                      \
            return true;                                                                                               \
        }                                                                                                              \
        if (!leat_bytebuf_read_bytes(buf, bytes, width))                                                               \
            return false;                                                                                              \
        *value = leat_load_##name(bytes);                                                                              \
        return true;                                                                                                   \
    }                                                                                                                  \
    LEAT_INLINE bool leat_bytebuf_write_##name(leat_bytebuf *buf, type value) {                                        \
        uint8_t bytes[width];                                                                                          \
        if (leat_bytebuf_can_append(buf, width)) {                                                                     \
            leat_store_##name(buf->bytes + buf->writer, value);                                                        \
            buf->writer += width;                                                                                      \
            return true;                                                                                               \
        }                                                                                                              \
        leat_store_##name(bytes, value);                                                                               \
        return leat_bytebuf_write_bytes(buf, bytes, width);                                                            \
    }                                                                                                                  \
    LEAT_INLINE type leat_bytebuf_get_##name(const leat_bytebuf *buf, uint64_t index) {                                \
        uint8_t bytes[width];                                                                                          \
        if (leat_bytebuf_covers(buf, index, width))                                                                    \
            return leat_load_##name(buf->bytes + index);                                                               \
        return leat_bytebuf_get_bytes(buf, index, bytes, width) ? leat_load_##name(bytes) : (type)0;                   \
    }                                                                                                                  \
    LEAT_INLINE bool leat_bytebuf_set_##name(leat_bytebuf *buf, uint64_t index, type value) {                          \
        uint8_t bytes[width];                                                                                          \
        if (leat_bytebuf_can_set(buf, index, width)) {                                                                 \
            leat_store_##name(buf->bytes + index, value);                                                              \
            return true;                                                                                               \
        }                                                                                                              \
        leat_store_##name(bytes, value);                                                                               \
        return leat_bytebuf_set_bytes(buf, index, bytes, width);                                                       \
    }                                                                                                                  \
    LEAT_INLINE void leat_bytebuf_put_##name(leat_bytebuf *buf, type value) {                                          \
        uint8_t bytes[width];                                                                                          \
        if (leat_bytebuf_can_append(buf, width)) {                                                                     \
            leat_store_##name(buf->bytes + buf->writer, value);                                                        \
            buf->writer += width;                                                                                      \
            return;                                                                                                    \
        }                                                                                                              \
        leat_store_##name(bytes, value);                                                                               \
        leat_bytebuf_put_bytes(buf, bytes, width);                                                                     \
    }

LEAT_VALUES(LEAT_BYTEBUF_FAMILY)

LEAT_END_DECLS

#endif
