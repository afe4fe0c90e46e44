#include "handlers/zlib_internal.h"

enum { SIZE_ROOM = 16, LEAST_WINDOW = 9, MOST_WINDOW = 15, LEAST_CHUNK = 64, MOST_CHUNK = 1 << 24 };

/* zlib does not tell the size of what it gives back, so each block begins with it. */
static void *take(void *alloc, unsigned items, unsigned size) {
    uint64_t wanted = (uint64_t)items * size + SIZE_ROOM;
    uint64_t *block = leat_alloc_take(alloc, (size_t)wanted, NULL);
    if (!block)
        return NULL;
    *block = wanted;
    return (char *)block + SIZE_ROOM;
}

static void give(void *alloc, void *address) {
    uint64_t *block = (uint64_t *)(void *)((char *)address - SIZE_ROOM);
    leat_alloc_give(alloc, block, (size_t)*block);
}

void leat_zlib_use_alloc(z_stream *stream, leat_alloc *alloc) {
    stream->zalloc = take;
    stream->zfree = give;
    stream->opaque = alloc;
}

int leat_zlib_window_bits(leat_zlib_format format, unsigned bits) {
    int size = bits ? (int)bits : MOST_WINDOW;
    switch (format) {
    case LEAT_ZLIB_RAW:
        return -size;
    case LEAT_ZLIB_ZLIB:
        return size;
    default:
        return size + 16;
    }
}

int leat_zlib_code(int status) {
    switch (status) {
    case Z_DATA_ERROR:
        return LEAT_ECORRUPT;
    case Z_MEM_ERROR:
        return LEAT_ENOMEM;
    case Z_NEED_DICT:
        return LEAT_ENOTFOUND;
    case Z_OK:
    case Z_STREAM_END:
    case Z_BUF_ERROR: /* no progress now, which more input or room will change */
        return 0;
    default:
        return LEAT_EINVAL;
    }
}

int leat_zlib_check(const char *who, leat_zlib_format format, unsigned window_bits, uint32_t chunk,
                    leat_problem *problem) {
    if ((unsigned)format > LEAT_ZLIB_RAW)
        return leat_problem_set(problem, LEAT_EINVAL, "%s: there is no format %d", who, (int)format);
    if (window_bits && (window_bits < LEAST_WINDOW || window_bits > MOST_WINDOW))
        return leat_problem_set(problem, LEAT_EINVAL, "%s: window_bits is %u, not 9 to 15", who, window_bits);
    if (chunk && (chunk < LEAST_CHUNK || chunk > MOST_CHUNK))
        return leat_problem_set(problem, LEAT_EINVAL, "%s: chunk is %u bytes, not 64 to 16 MiB", who, chunk);
    return 0;
}
