#include "core/bytebuf_array.h"

#include "core/bytebuf_internal.h"
#include "core/wide_internal.h"

enum { LARGEST_WIDTH = 8 };

/* ---- the other order ---- */

/* One loop for each width over memory that lies anywhere: compilers make shuffles of whole registers of it. */
#define SWAP(bits)                                                                                                     \
    LEAT_WIDE static void swap##bits(uint8_t *restrict to, const uint8_t *restrict from, size_t n) {                   \
        for (size_t i = 0; i < n; i++) {                                                                               \
            uint##bits##_t value;                                                                                      \
            memcpy(&value, from + i * sizeof value, sizeof value);                                                     \
            value = __builtin_bswap##bits(value);                                                                      \
            memcpy(to + i * sizeof value, &value, sizeof value);                                                       \
        }                                                                                                              \
    }

SWAP(16)
SWAP(32)
SWAP(64)

static void swap(void *to, const void *from, uint64_t bytes, unsigned width) {
    size_t n = (size_t)bytes / width;
    if (width == 2)
        swap16(to, from, n);
    else if (width == 4)
        swap32(to, from, n);
    else
        swap64(to, from, n);
}

static bool is_swapped(unsigned width, leat_byte_order order) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return width > 1 && order == LEAT_BIG_ENDIAN;
#else
    return width > 1 && order == LEAT_LITTLE_ENDIAN;
#endif
}

/* How many bytes `n` elements have; false = there is no such width, or no such memory. */
static bool measure(size_t n, unsigned width, size_t *bytes) {
    bool known = width == 1 || width == 2 || width == 4 || width == LARGEST_WIDTH;
    return known && !__builtin_mul_overflow(n, width, bytes);
}

static bool holds(const leat_bytebuf *buf, uint64_t index, uint64_t n) {
    return leat_bytebuf_is_alive(buf, "an array of leat_bytebuf") && index <= buf->writer && n <= buf->writer - index;
}

/* How many of `have` bytes belong to whole elements of the `left` that are missing. */
static uint64_t whole(uint64_t have, uint64_t left, unsigned width) {
    return leat_bytebuf_min(have, left) & ~(uint64_t)(width - 1);
}

/* ---- out ---- */

/* Fragment by fragment; an element that a border tears is put together first. */
static void swap_out(const leat_bytebuf *buf, uint64_t index, uint8_t *to, uint64_t left, unsigned width) {
    while (left > 0) {
        uint64_t have;
        uint8_t torn[LARGEST_WIDTH];
        const uint8_t *from = leat_bytebuf_at(buf, index, &have);
        uint64_t n = whole(have, left, width);
        if (n == 0) {
            leat_bytebuf_copy_out(buf, index, torn, n = width);
            from = torn;
        }
        swap(to, from, n, width);
        to += n;
        index += n;
        left -= n;
    }
}

static void copy_out(const leat_bytebuf *buf, uint64_t index, void *to, uint64_t bytes, bool swapped, unsigned width) {
    if (swapped)
        swap_out(buf, index, to, bytes, width);
    else
        leat_bytebuf_copy_out(buf, index, to, bytes);
}

bool leat_bytebuf_get_array(const leat_bytebuf *buf, uint64_t index, void *values, size_t n, unsigned width,
                            leat_byte_order order) {
    size_t bytes;
    if (!measure(n, width, &bytes) || !holds(buf, index, bytes))
        return false;
    copy_out(buf, index, values, bytes, is_swapped(width, order), width);
    return true;
}

bool leat_bytebuf_read_array(leat_bytebuf *buf, void *values, size_t n, unsigned width, leat_byte_order order) {
    if (!leat_bytebuf_may_move(buf, __func__) || !leat_bytebuf_get_array(buf, buf->reader, values, n, width, order))
        return false;
    buf->reader += (uint64_t)n * width;
    leat_bytebuf_open_reading(buf);
    return true;
}

bool leat_bytebuf_read_bool_array(leat_bytebuf *buf, bool *values, size_t n) {
    uint8_t *bytes = (uint8_t *)values;
    if (!leat_bytebuf_read_array(buf, bytes, n, 1, LEAT_BIG_ENDIAN))
        return false;
    for (size_t i = 0; i < n; i++)
        bytes[i] = bytes[i] != 0;
    return true;
}

bool leat_reader_array(leat_reader *reader, void *values, size_t n, unsigned width, leat_byte_order order) {
    uint64_t index = leat_reader_index(reader);
    if (!leat_bytebuf_get_array(reader->buf, index, values, n, width, order))
        return false;
    leat_reader_aim(reader, index + (uint64_t)n * width);
    return true;
}

/* ---- in ---- */

bool leat_bytebuf_write_array(leat_bytebuf *buf, const void *values, size_t n, unsigned width, leat_byte_order order) {
    size_t bytes;
    if (!measure(n, width, &bytes))
        return false;
    if (!is_swapped(width, order))
        return leat_bytebuf_write_bytes(buf, values, bytes);
    if (leat_bytebuf_reserve_from(buf, &values, bytes) != 0)
        return false;
    swap(buf->bytes + buf->writer, values, bytes, width);
    buf->writer += bytes;
    return true;
}

bool leat_bytebuf_write_bool_array(leat_bytebuf *buf, const bool *values, size_t n) {
    return leat_bytebuf_write_bytes(buf, values, n);
}

bool leat_writer_array(leat_writer *writer, const void *values, size_t n, unsigned width, leat_byte_order order) {
    leat_writer_finish(writer);
    bool done = leat_bytebuf_write_array(writer->buf, values, n, width, order);
    *writer = leat_writer_begin(writer->buf);
    return done;
}

/* As swap_out; the caller has checked that every byte may be changed. */
static void swap_in(leat_bytebuf *buf, uint64_t index, const uint8_t *from, uint64_t left, unsigned width) {
    while (left > 0) {
        uint64_t have;
        uint8_t torn[LARGEST_WIDTH];
        uint8_t *to = leat_bytebuf_change_at(buf, index, &have);
        uint64_t n = whole(have, left, width);
        if (n > 0) {
            swap(to, from, n, width);
        } else {
            swap(torn, from, n = width, width);
            leat_bytebuf_set_bytes(buf, index, torn, width);
        }
        from += n;
        index += n;
        left -= n;
    }
}

bool leat_bytebuf_set_array(leat_bytebuf *buf, uint64_t index, const void *values, size_t n, unsigned width,
                            leat_byte_order order) {
    size_t bytes;
    if (!measure(n, width, &bytes) || !holds(buf, index, bytes))
        return false;
    if (!is_swapped(width, order))
        return leat_bytebuf_set_bytes(buf, index, values, bytes);
    if (!leat_bytebuf_may_change(buf, index, bytes))
        return false;
    swap_in(buf, index, values, bytes, width);
    return true;
}
