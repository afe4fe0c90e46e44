/* Unsigned LEB128: seven bits a byte, lowest first, the top bit says that more follow. */
#include "core/bytebuf_internal.h"

#define LONGEST 10 /* bytes of 64 bits */

static int decode(const uint8_t *bytes, uint64_t have, uint64_t *out) {
    uint64_t value = 0;
    for (unsigned i = 0; i < LONGEST; i++) {
        if (i == have)
            return 0;
        if (i == LONGEST - 1 && bytes[i] > 1)
            return LEAT_ECORRUPT;
        value |= (uint64_t)(bytes[i] & 0x7f) << (7 * i);
        if (bytes[i] < 0x80) {
            *out = value;
            return (int)i + 1;
        }
    }
    return LEAT_ECORRUPT;
}

int leat_bytebuf_get_varint(const leat_bytebuf *buf, uint64_t index, uint64_t *out) {
    if (index >= buf->writer)
        return 0;
    uint8_t bytes[LONGEST];
    uint64_t have = leat_bytebuf_min(buf->writer - index, LONGEST);
    leat_bytebuf_copy_out(buf, index, bytes, have);
    return decode(bytes, have, out);
}

bool leat_bytebuf_read_varint(leat_bytebuf *buf, uint64_t *out) {
    if (!leat_bytebuf_may_move(buf, __func__))
        return false;
    int length = leat_bytebuf_get_varint(buf, buf->reader, out);
    return length > 0 && leat_bytebuf_skip(buf, (uint64_t)length);
}

bool leat_bytebuf_write_varint(leat_bytebuf *buf, uint64_t value) {
    uint8_t bytes[LONGEST];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (uint8_t)(value | 0x80);
    bytes[n++] = (uint8_t)value;
    return leat_bytebuf_write_bytes(buf, bytes, n);
}
