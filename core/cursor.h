/**
 * Cursors in local variables for tight loops: the compiler keeps them in registers, which it cannot do with indices
 * behind a pointer. A reader works on any handle and moves the buffer's index only in leat_reader_finish.
 */
#ifndef LEAT_CORE_CURSOR_H
#define LEAT_CORE_CURSOR_H

#include "core/bytebuf.h"

LEAT_BEGIN_DECLS

/** Reads on from a buffer's reader index. Valid until the buffer changes. */
typedef struct leat_reader {
    const uint8_t *at;
    const uint8_t *end;
    uint64_t end_index; /**< index of `end` in the buffer */
    leat_bytebuf *buf;
} leat_reader;

/** Writes on from a buffer's writer index. While it is open, nobody else may write to the buffer. */
typedef struct leat_writer {
    uint8_t *at;
    uint8_t *end;
    uint8_t *begin; /**< where the buffer's writer index stands */
    leat_bytebuf *buf;
} leat_writer;

/** Points a cursor at the contiguous bytes from `index` on. */
LEAT_API void leat_reader_aim(leat_reader *reader, uint64_t index);

/** Starts reading at the reader index; `buf` stays the caller's. */
LEAT_INLINE leat_reader leat_reader_begin(leat_bytebuf *buf) {
    leat_reader aimed = {NULL, NULL, 0, buf};
    leat_reader_aim(&aimed, buf->reader);
    leat_reader reader = {aimed.at, aimed.end, aimed.end_index, buf};
    return reader; /* a copy, whose address nobody has seen */
}

/** Reads `n` bytes; false = too short, nothing moved. */
LEAT_API bool leat_reader_bytes(leat_reader *reader, void *out, size_t n);

/** Moves `n` bytes on; false = too short, nothing moved. */
LEAT_API bool leat_reader_skip(leat_reader *reader, uint64_t n);

/** Returns the index in the buffer that is read next. */
LEAT_INLINE uint64_t leat_reader_index(const leat_reader *reader) {
    return reader->end_index - (uint64_t)(reader->end - reader->at);
}

/** Returns how many bytes are left to read. */
LEAT_INLINE uint64_t leat_reader_left(const leat_reader *reader) {
    return reader->buf->writer - leat_reader_index(reader);
}

/** Moves the buffer's reader index to where the cursor is; false = the buffer is shared, and it stays. */
LEAT_INLINE bool leat_reader_finish(const leat_reader *reader) {
    return leat_bytebuf_set_reader_index(reader->buf, leat_reader_index(reader));
}

/** Starts writing at the writer index; `buf` stays the caller's. */
LEAT_INLINE leat_writer leat_writer_begin(leat_bytebuf *buf) {
    leat_writer writer = {NULL, NULL, NULL, buf};
    if (leat_bytebuf_can_write(buf, 1)) {
        writer.begin = writer.at = buf->bytes + buf->writer;
        writer.end = buf->bytes + buf->write_limit;
    }
    return writer;
}

/** Appends `n` bytes; false = no room, no memory or shared, nothing written. */
LEAT_API bool leat_writer_bytes(leat_writer *writer, const void *data, size_t n);

/**
 * Moves the buffer's writer index to where the cursor is. Call it before the buffer is used otherwise. false = the
 * buffer has been shared since, and what the cursor wrote is lost.
 */
LEAT_INLINE bool leat_writer_finish(const leat_writer *writer) {
    return leat_bytebuf_wrote(writer->buf, (uint64_t)(writer->at - writer->begin));
}

/*
 * For each value of LEAT_VALUES:
 *   bool leat_reader_x(&reader, &value)   takes it; false = too short, nothing moved
 *   bool leat_writer_x(&writer, value)    appends it; false = no room, no memory or shared, nothing written
 * The slow paths work on a copy, so that the address of the caller's cursor never escapes.
 */
#define LEAT_CURSOR_FAMILY(name, type, width)                                                                          \
    LEAT_INLINE bool leat_reader_##name(leat_reader *reader, type *value) {                                            \
        if ((size_t)(reader->end - reader->at) < width) {                                                              \
            uint8_t bytes[width];                                                                                      \
            leat_reader slow = *reader;                                                                                \
            if (!leat_reader_bytes(&slow, bytes, width))                                                               \
                return false;                                                                                          \
            *reader = slow;                                                                                            \
            *value = leat_load_##name(bytes);                                                                          \
            return true;                                                                                               \
        }                                                                                                              \
        *value = leat_load_##name(reader->at);                                                                         \
        reader->at += width;                                                                                           \
        return true;                                                                                                   \
    }                                                                                                                  \
    LEAT_INLINE bool leat_writer_##name(leat_writer *writer, type value) {                                             \
        if ((size_t)(writer->end - writer->at) < width) {                                                              \
            uint8_t bytes[width];                                                                                      \
            leat_writer slow = *writer;                                                                                \
            leat_store_##name(bytes, value);                                                                           \
            bool done = leat_writer_bytes(&slow, bytes, width);                                                        \
            *writer = slow;                                                                                            \
            return done;                                                                                               \
        }                                                                                                              \
        leat_store_##name(writer->at, value);                                                                          \
        writer->at += width;                                                                                           \
        return true;                                                                                                   \
    }

LEAT_VALUES(LEAT_CURSOR_FAMILY)

LEAT_END_DECLS

#endif
