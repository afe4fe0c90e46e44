/* Searching, comparing, hashing and showing the readable bytes. */
#define _GNU_SOURCE /* memmem */
#include "core/bytebuf_internal.h"

#include <stdio.h>
#include <string.h>

/* The contiguous bytes from `index` on, cut at the writer. */
static const uint8_t *run_at(const leat_bytebuf *buf, uint64_t index, uint64_t *have) {
    const uint8_t *bytes = leat_bytebuf_at(buf, index, have);
    *have = leat_bytebuf_min(*have, buf->writer - index);
    return bytes;
}

int64_t leat_bytebuf_find_byte(const leat_bytebuf *buf, uint64_t from, uint8_t byte) {
    leat_bytebuf_is_alive(buf, __func__);
    for (uint64_t index = from; index < buf->writer;) {
        uint64_t have;
        const uint8_t *bytes = run_at(buf, index, &have);
        const uint8_t *found = memchr(bytes, byte, (size_t)have);
        if (found)
            return (int64_t)(index + (uint64_t)(found - bytes));
        index += have;
    }
    return -1;
}

int64_t leat_bytebuf_find_any(const leat_bytebuf *buf, uint64_t from, const void *set, size_t n) {
    bool wanted[256] = {false};
    leat_bytebuf_is_alive(buf, __func__);
    for (size_t i = 0; i < n; i++)
        wanted[((const uint8_t *)set)[i]] = true;
    for (uint64_t index = from; index < buf->writer;) {
        uint64_t have;
        const uint8_t *bytes = run_at(buf, index, &have);
        for (uint64_t i = 0; i < have; i++)
            if (wanted[bytes[i]])
                return (int64_t)(index + i);
        index += have;
    }
    return -1;
}

static bool stands_at(const leat_bytebuf *buf, uint64_t index, const uint8_t *data, uint64_t n) {
    while (n > 0) {
        uint64_t have;
        const uint8_t *bytes = run_at(buf, index, &have);
        have = leat_bytebuf_min(have, n);
        if (memcmp(bytes, data, (size_t)have) != 0)
            return false;
        data += have;
        index += have;
        n -= have;
    }
    return true;
}

/* Where `sequence` may first stand when the run holds it whole; memmem is linear whatever the input. */
static int64_t find_in_run(const uint8_t *bytes, uint64_t have, const void *sequence, size_t n) {
    const uint8_t *found = have >= n ? memmem(bytes, (size_t)have, sequence, n) : NULL;
    return found ? found - bytes : -1;
}

/* The sequence may lie across the end of the run: look at the last n - 1 places of it. */
static int64_t find_across(const leat_bytebuf *buf, uint64_t index, uint64_t have, const uint8_t *sequence, size_t n) {
    uint64_t start = have >= n ? index + have - n + 1 : index;
    for (; start < index + have && start + n <= buf->writer; start++)
        if (stands_at(buf, start, sequence, n))
            return (int64_t)start;
    return -1;
}

int64_t leat_bytebuf_find(const leat_bytebuf *buf, uint64_t from, const void *sequence, size_t n) {
    if (!leat_bytebuf_is_alive(buf, __func__) || from > buf->writer || n > buf->writer - from)
        return -1;
    if (n == 0)
        return (int64_t)from;
    for (uint64_t index = from; index + n <= buf->writer;) {
        uint64_t have;
        const uint8_t *bytes = run_at(buf, index, &have);
        int64_t inside = find_in_run(bytes, have, sequence, n);
        if (inside >= 0)
            return (int64_t)index + inside;
        int64_t across = find_across(buf, index, have, sequence, n);
        if (across >= 0)
            return across;
        index += have;
    }
    return -1;
}

int leat_bytebuf_compare(const leat_bytebuf *a, const leat_bytebuf *b) {
    uint64_t at = a->reader;
    uint64_t bt = b->reader;
    leat_bytebuf_is_alive(a, __func__);
    leat_bytebuf_is_alive(b, __func__);
    while (at < a->writer && bt < b->writer) {
        uint64_t a_have;
        uint64_t b_have;
        const uint8_t *a_bytes = run_at(a, at, &a_have);
        const uint8_t *b_bytes = run_at(b, bt, &b_have);
        uint64_t n = leat_bytebuf_min(a_have, b_have);
        int order = memcmp(a_bytes, b_bytes, (size_t)n);
        if (order != 0)
            return order;
        at += n;
        bt += n;
    }
    return (at < a->writer) - (bt < b->writer);
}

bool leat_bytebuf_equals(const leat_bytebuf *a, const leat_bytebuf *b) {
    return leat_bytebuf_readable(a) == leat_bytebuf_readable(b) && leat_bytebuf_compare(a, b) == 0;
}

bool leat_bytebuf_equals_bytes(const leat_bytebuf *buf, const void *data, size_t n) {
    return leat_bytebuf_is_alive(buf, __func__) && leat_bytebuf_readable(buf) == n &&
           stands_at(buf, buf->reader, data, n);
}

/* FNV-1a, 64 bits: it sees one byte after the other, so borders of components do not matter. */
uint64_t leat_bytebuf_hash(const leat_bytebuf *buf) {
    uint64_t hash = 0xcbf29ce484222325u;
    leat_bytebuf_is_alive(buf, __func__);
    for (uint64_t index = buf->reader; index < buf->writer;) {
        uint64_t have;
        const uint8_t *bytes = run_at(buf, index, &have);
        for (uint64_t i = 0; i < have; i++)
            hash = (hash ^ bytes[i]) * 0x100000001b3u;
        index += have;
    }
    return hash;
}

/* One line of a dump: "00000000  68 65 …  |he…|\n"; `line` holds at least 80 characters. */
static size_t dump_line(char *line, uint64_t offset, const uint8_t *bytes, uint64_t n) {
    size_t length = (size_t)snprintf(line, 80, "%08llx ", (unsigned long long)offset);
    for (uint64_t i = 0; i < 16; i++) {
        if (i < n)
            length += (size_t)snprintf(line + length, 80 - length, " %02x", bytes[i]);
        else
            length += (size_t)snprintf(line + length, 80 - length, "   ");
    }
    length += (size_t)snprintf(line + length, 80 - length, "  |");
    for (uint64_t i = 0; i < n; i++)
        line[length++] = bytes[i] >= 0x20 && bytes[i] < 0x7f ? (char)bytes[i] : '.';
    line[length++] = '|';
    line[length++] = '\n';
    return length;
}

size_t leat_bytebuf_hex_dump(const leat_bytebuf *buf, char *text, size_t size) {
    size_t total = 0;
    for (uint64_t index = buf->reader; index < buf->writer; index += 16) {
        uint8_t bytes[16];
        char line[96];
        uint64_t n = leat_bytebuf_min(16, buf->writer - index);
        leat_bytebuf_copy_out(buf, index, bytes, n);
        size_t length = dump_line(line, index - buf->reader, bytes, n);
        if (total < size)
            memcpy(text + total, line, (size_t)leat_bytebuf_min(length, size - total));
        total += length;
    }
    if (size > 0)
        text[leat_bytebuf_min(total, size - 1)] = '\0';
    return total;
}
