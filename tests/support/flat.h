/** Buffers beside flat arrays: what was done to one is done to the other, and both must hold the same. */
#ifndef LEAT_TESTS_SUPPORT_FLAT_H
#define LEAT_TESTS_SUPPORT_FLAT_H

#include "core/bytebuf.h"

#include <string.h>

enum { LARGEST = 4000 };

/** A buffer and what its readable bytes must be. */
typedef struct slot {
    leat_bytebuf *buf;
    uint8_t bytes[2 * LARGEST];
    size_t length;
} slot;

static inline void put_behind(slot *to, const void *bytes, size_t n) {
    memcpy(to->bytes + to->length, bytes, n);
    to->length += n;
}

static inline void put_before(slot *to, size_t at, const void *bytes, size_t n) {
    memmove(to->bytes + at + n, to->bytes + at, to->length - at);
    memcpy(to->bytes + at, bytes, n);
    to->length += n;
}

static inline void drop_front(slot *from, size_t n) {
    memmove(from->bytes, from->bytes + n, from->length - n);
    from->length -= n;
}

static inline void forget(slot *of) {
    leat_bytebuf_release(of->buf);
    of->buf = NULL;
    of->length = 0;
}

/* ---- do both hold the same? ---- */

static inline bool spans_match(const slot *of) {
    leat_span spans[64];
    leat_bytebuf_position position = {0, 0};
    size_t length = 0;
    uint64_t bytes;
    for (size_t n; (n = leat_bytebuf_spans_at(of->buf, position, spans, 64, &bytes)) > 0;) {
        for (size_t i = 0; i < n; i++) {
            if (spans[i].length == 0 || memcmp(spans[i].bytes, of->bytes + length, spans[i].length) != 0)
                return false;
            length += spans[i].length;
        }
        leat_bytebuf_position_advance(of->buf, &position, bytes);
    }
    return length == of->length;
}

static inline bool matches(const slot *of) {
    return leat_bytebuf_is_valid(of->buf) && leat_bytebuf_equals_bytes(of->buf, of->bytes, of->length) &&
           spans_match(of);
}

#endif
