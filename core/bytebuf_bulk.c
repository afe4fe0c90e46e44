/* Runs of bytes in and out, across the borders of components. */
#include "core/bytebuf_internal.h"

#include "core/composite_internal.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

const uint8_t *leat_bytebuf_at(const leat_bytebuf *buf, uint64_t index, uint64_t *have) {
    if (index >= buf->begin && index < buf->end) {
        *have = buf->end - index;
        return buf->bytes + index;
    }
    if (leat_bytebuf_is_composite(buf))
        return leat_composite_at(buf, index, have);
    *have = 0;
    return NULL;
}

uint8_t *leat_bytebuf_change_at(leat_bytebuf *buf, uint64_t index, uint64_t *have) {
    *have = 0;
    if (!leat_bytebuf_may_move(buf, __func__))
        return NULL;
    if (leat_bytebuf_is_composite(buf))
        return leat_composite_change_at(buf, index, have);
    if (index < leat_floor_of(buf) || index >= buf->end)
        return NULL;
    *have = buf->end - index;
    return buf->bytes + index;
}

void leat_bytebuf_copy_out(const leat_bytebuf *buf, uint64_t index, void *out, uint64_t n) {
    uint8_t *to = out;
    while (n > 0) {
        uint64_t have;
        const uint8_t *from = leat_bytebuf_at(buf, index, &have);
        have = leat_bytebuf_min(have, n);
        memcpy(to, from, (size_t)have);
        to += have;
        index += have;
        n -= have;
    }
}

bool leat_bytebuf_read_bytes(leat_bytebuf *buf, void *out, size_t n) {
    if (!leat_bytebuf_may_move(buf, __func__) || n > leat_bytebuf_readable(buf))
        return false;
    leat_bytebuf_copy_out(buf, buf->reader, out, n);
    buf->reader += n;
    leat_bytebuf_open_reading(buf);
    return true;
}

/* A plain buffer has bytes up to its capacity, a composite up to its writer. */
static bool is_in_range(const leat_bytebuf *buf, uint64_t index, uint64_t n) {
    uint64_t end = leat_bytebuf_is_composite(buf) ? buf->writer : buf->end;
    return index <= end && n <= end - index;
}

bool leat_bytebuf_get_bytes(const leat_bytebuf *buf, uint64_t index, void *out, size_t n) {
    if (!leat_bytebuf_is_alive(buf, "leat_bytebuf_get"))
        return false;
    bool fits = is_in_range(buf, index, n);
    assert(fits && "get beyond the bytes of the buffer");
    if (!fits)
        return false;
    leat_bytebuf_copy_out(buf, index, out, n);
    return true;
}

bool leat_bytebuf_may_change(leat_bytebuf *buf, uint64_t index, uint64_t n) {
    while (n > 0) {
        uint64_t have;
        if (!leat_bytebuf_change_at(buf, index, &have))
            return false;
        have = leat_bytebuf_min(have, n);
        index += have;
        n -= have;
    }
    return leat_bytebuf_may_move(buf, __func__);
}

bool leat_bytebuf_set_bytes(leat_bytebuf *buf, uint64_t index, const void *data, size_t n) {
    if (!leat_bytebuf_may_move(buf, __func__))
        return false;
    bool fits = is_in_range(buf, index, n);
    assert(fits && "set beyond the bytes of the buffer");
    if (!fits || !leat_bytebuf_may_change(buf, index, n))
        return false;
    for (const uint8_t *from = data; n > 0;) {
        uint64_t have;
        uint8_t *to = leat_bytebuf_change_at(buf, index, &have);
        have = leat_bytebuf_min(have, n);
        memmove(to, from, (size_t)have);
        from += have;
        index += have;
        n -= (size_t)have;
    }
    return true;
}

/* The source may lie in the buffer itself, whose bytes move when it grows. */
static bool lies_inside(const leat_bytebuf *buf, const void *data) {
    uintptr_t at = (uintptr_t)data;
    return buf->begin == 0 && at >= (uintptr_t)buf->bytes && at < (uintptr_t)buf->bytes + buf->end;
}

int leat_bytebuf_reserve_from(leat_bytebuf *buf, const void **data, uint64_t n) {
    bool own = lies_inside(buf, *data) && !leat_bytebuf_is_composite(buf);
    uint64_t offset = own ? (uint64_t)((const uint8_t *)*data - buf->bytes) : 0;
    int status = leat_bytebuf_reserve(buf, n);
    if (status == 0 && own)
        *data = buf->bytes + offset;
    return status;
}

static void append(leat_bytebuf *buf, const void *data, size_t n) {
    memcpy(buf->bytes + buf->writer, data, n);
    buf->writer += n;
}

__attribute__((noinline)) static bool write_after_reserving(leat_bytebuf *buf, const void *data, size_t n) {
    if (leat_bytebuf_reserve_from(buf, &data, n) != 0)
        return false;
    if (n > 0)
        append(buf, data, n);
    return true;
}

bool leat_bytebuf_write_bytes(leat_bytebuf *buf, const void *data, size_t n) {
    if (n == 0 || !leat_bytebuf_can_write(buf, n))
        return write_after_reserving(buf, data, n);
    append(buf, data, n);
    return true;
}

bool leat_bytebuf_write_buffer(leat_bytebuf *buf, const leat_bytebuf *src) {
    uint64_t n = leat_bytebuf_readable(src);
    if (leat_bytebuf_reserve(buf, n) != 0)
        return false;
    if (n == 0)
        return true;
    uint8_t *to = buf->bytes + buf->writer;
    leat_bytebuf_copy_out(src, src->reader, to, n);
    return leat_bytebuf_wrote(buf, n);
}

bool leat_bytebuf_write_zero(leat_bytebuf *buf, uint64_t n) {
    uint8_t *room = leat_bytebuf_room(buf, n);
    if (!room)
        return n == 0 && leat_bytebuf_may_move(buf, __func__);
    memset(room, 0, (size_t)n);
    return leat_bytebuf_wrote(buf, n);
}

/* vsnprintf writes a NUL behind the text. */
static uint8_t *room_with_nul(leat_bytebuf *buf, size_t length) {
    return leat_bytebuf_writable(buf) == length ? NULL : leat_bytebuf_room(buf, (uint64_t)length + 1);
}

/* There is room for the text but none for a NUL, if there is any. */
static bool format_elsewhere(leat_bytebuf *buf, size_t length, const char *format, va_list arguments) {
    leat_bytebuf *text = leat_bytebuf_new(leat_bytebuf_alloc_of(buf), length + 1);
    if (!text)
        return false;
    vsnprintf((char *)text->bytes, length + 1, format, arguments);
    bool done = leat_bytebuf_write_bytes(buf, text->bytes, length);
    leat_bytebuf_release(text);
    return done;
}

bool leat_bytebuf_write_format_list(leat_bytebuf *buf, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int measured = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (measured < 0)
        return false;
    size_t length = (size_t)measured;
    uint8_t *room = room_with_nul(buf, length);
    if (!room)
        return format_elsewhere(buf, length, format, arguments);
    vsnprintf((char *)room, length + 1, format, arguments);
    return leat_bytebuf_wrote(buf, length);
}

bool leat_bytebuf_write_format(leat_bytebuf *buf, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    bool done = leat_bytebuf_write_format_list(buf, format, arguments);
    va_end(arguments);
    return done;
}

leat_bytebuf *leat_bytebuf_from_bytes(leat_alloc *alloc, const void *data, size_t size) {
    leat_bytebuf *buf = leat_bytebuf_new(alloc, size);
    if (!buf)
        return NULL;
    leat_bytebuf_write_bytes(buf, data, size);
    return buf;
}

leat_bytebuf *leat_bytebuf_from_text(leat_alloc *alloc, const char *text) {
    return leat_bytebuf_from_bytes(alloc, text, strlen(text));
}
