/** Inflating channels: what comes out of bytes that were cut one way or another. */
#ifndef LEAT_TESTS_SUPPORT_ZLIB_INFLATE_H
#define LEAT_TESTS_SUPPORT_ZLIB_INFLATE_H

#include "core/embedded.h"
#include "handlers/zlib_inflater.h"

/** Makes a channel of an inflater that survives its errors; checked. */
leat_embedded *inflating_channel(const leat_zlib_inflater_config *config);

/** Appends all messages that came out of a channel to `out`. */
void collect_reads(leat_embedded *e, leat_bytebuf *out);

/** What a channel made of its input. */
typedef struct inflation {
    leat_bytebuf *bytes;
    int code; /* of the error; 0 = none */
} inflation;

/** Inflates `in`: its first `first` bytes, then pieces of `piece` (0 = the rest in one), then the end. */
inflation inflate_in(const leat_zlib_inflater_config *config, leat_span in, size_t first, size_t piece);

/** Asserts that just these bytes and this code come out of `in`, cut so. */
void assert_inflated(const leat_zlib_inflater_config *config, leat_span in, size_t first, size_t piece,
                     leat_span expected, int code);

/** The readable bytes of a buffer that is contiguous. */
leat_span span_of(const leat_bytebuf *buf);

#endif
