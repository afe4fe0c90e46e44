#include "handlers/zlib_batch.h"

#include "core/gather.h"
#include "handlers/base64.h"
#include "handlers/sse_delimiter.h"
#include "handlers/zlib_deflater.h"
#include "handlers/zlib_inflater.h"

#include <string.h>

#define DEFAULT_MAX_TOTAL ((uint64_t)16 << 20)

static leat_span delimiter_of(const leat_zlib_batch_config *config) {
    bool given = config && config->delimiter.bytes && config->delimiter.length > 0;
    return given ? config->delimiter : leat_sse_text(LEAT_ZLIB_BATCH_DELIMITER);
}

static uint64_t max_total_of(const leat_zlib_batch_config *config) {
    return config && config->max_total ? config->max_total : DEFAULT_MAX_TOTAL;
}

/* ---- making ---- */

static leat_bytebuf *join(leat_alloc *alloc, leat_span delimiter, leat_bytebuf *const *events, size_t count) {
    leat_gather gather;
    leat_gather_init(&gather, alloc, LEAT_GATHER_COPY, 0);
    for (size_t i = 0; i < count; i++) {
        leat_gather_add_shared(&gather, events[i]);
        leat_gather_add_bytes(&gather, delimiter.bytes, delimiter.length);
    }
    return leat_gather_finish(&gather);
}

/* Whether the joined events come apart as they were put together. */
static bool comes_apart(const leat_bytebuf *joined, leat_span delimiter, leat_bytebuf *const *events, size_t count) {
    uint64_t at = leat_bytebuf_reader_index(joined);
    for (size_t i = 0; i < count; i++) {
        uint64_t end = at + leat_bytebuf_readable(events[i]);
        if (leat_bytebuf_find(joined, at, delimiter.bytes, delimiter.length) != (int64_t)end)
            return false;
        at = end + delimiter.length;
    }
    return true;
}

/* Takes the joined events. */
static int compress(leat_alloc *alloc, const leat_zlib_batch_config *config, leat_bytebuf *joined,
                    leat_bytebuf **framed) {
    const leat_zlib_deflater_config gzip = {.format = LEAT_ZLIB_GZIP, .level = config ? config->level : 0};
    leat_bytebuf *compressed;
    int code = leat_zlib_deflate(alloc, &gzip, joined, &compressed);
    leat_bytebuf_release(joined);
    if (code != 0)
        return code;
    leat_bytebuf *text = leat_base64_encode(alloc, compressed);
    leat_bytebuf_release(compressed);
    *framed = text ? leat_sse_delimit(alloc, text) : NULL;
    return *framed ? 0 : LEAT_ENOMEM;
}

int leat_zlib_batch_encode(leat_alloc *alloc, const leat_zlib_batch_config *config, leat_bytebuf *const *events,
                           size_t count, leat_bytebuf **framed) {
    leat_span delimiter = delimiter_of(config);
    *framed = NULL;
    if (count == 0)
        return LEAT_EINVAL;
    leat_bytebuf *joined = join(alloc, delimiter, events, count);
    if (!joined)
        return LEAT_ENOMEM;
    int code = comes_apart(joined, delimiter, events, count) ? 0 : LEAT_EINVAL;
    if (code == 0 && leat_bytebuf_readable(joined) > max_total_of(config))
        code = LEAT_ELIMIT;
    if (code == 0)
        return compress(alloc, config, joined, framed);
    leat_bytebuf_release(joined);
    return code;
}

/* ---- taking apart ---- */

/* 1f 8b 08: the magic number of gzip and its only method. */
bool leat_zlib_batch_is(leat_span data) {
    return data.length >= 4 && memcmp(data.bytes, "H4sI", 4) == 0;
}

int leat_zlib_batch_decode(leat_alloc *alloc, const leat_zlib_batch_config *config, leat_span data,
                           leat_bytebuf **joined) {
    const leat_zlib_inflater_config gzip = {
        .format = LEAT_ZLIB_GZIP, .max_total = max_total_of(config), .max_ratio = UINT64_MAX};
    leat_bytebuf *compressed;
    *joined = NULL;
    int code = leat_base64_decode(alloc, data.bytes, data.length, &compressed);
    if (code != 0)
        return code;
    code = leat_zlib_inflate(alloc, &gzip, compressed, joined);
    leat_bytebuf_release(compressed);
    return code;
}

int leat_zlib_batch_next(const leat_zlib_batch_config *config, leat_bytebuf *joined, leat_bytebuf **event) {
    leat_span delimiter = delimiter_of(config);
    uint64_t at = leat_bytebuf_reader_index(joined);
    *event = NULL;
    if (leat_bytebuf_readable(joined) == 0)
        return 0;
    int64_t end = leat_bytebuf_find(joined, at, delimiter.bytes, delimiter.length);
    if (end < 0)
        return LEAT_ETRUNCATED;
    *event = leat_bytebuf_split(joined, (uint64_t)end - at);
    if (!*event)
        return LEAT_ENOMEM;
    leat_bytebuf_skip(joined, delimiter.length);
    return 1;
}
