/* Deflates the input in messages of many sizes, inflates what came out in other pieces, and aborts at any difference.
 */
#include "handlers/zlib_deflater.h"
#include "handlers/zlib_inflater.h"
#include "tests/fuzz/feed.h"

#include <stdlib.h>

static void write_all(leat_embedded *from, const uint8_t *data, size_t size) {
    for (size_t at = 0, length; at < size; at += length) {
        length = 1 + data[at] * 7u;
        length = length < size - at ? length : size - at;
        leat_bytebuf *message = leat_bytebuf_from_bytes(leat_embedded_alloc(from), data + at, length);
        leat_embedded_write(from, leat_msg_of_bytebuf(message), NULL);
    }
    leat_embedded_close(from);
}

static void feed_all(leat_embedded *to, leat_bytebuf *wire, size_t piece) {
    while (leat_bytebuf_readable(wire) > 0) {
        uint64_t left = leat_bytebuf_readable(wire);
        leat_embedded_feed_bytebuf(to, leat_bytebuf_split(wire, piece < left ? piece : left));
    }
    leat_embedded_feed_eof(to);
    leat_bytebuf_release(wire);
}

static void compare(leat_embedded *to, const uint8_t *data, size_t size) {
    size_t at = 0;
    for (leat_msg msg; leat_embedded_take_read(to, &msg); leat_msg_release(msg)) {
        size_t length = (size_t)leat_bytebuf_readable(msg.obj);
        if (length > size - at || !leat_bytebuf_equals_bytes(msg.obj, data + at, length))
            abort();
        at += length;
    }
    if (at != size || leat_embedded_take_error(to) != 0)
        abort();
}

static void end(leat_embedded *e) {
    if (leat_embedded_finish(e) != 0)
        abort();
    leat_embedded_free(e);
}

/* The first four bytes choose the configuration. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 4)
        return 0;
    const leat_zlib_deflater_config how = {.format = (leat_zlib_format)(1 + data[0] % 3),
                                           .flush = (leat_zlib_flush)(data[0] / 3 % 3),
                                           .level = data[1] % 11 - 1,
                                           .window_bits = 9 + data[2] % 7,
                                           .memory_level = 1 + data[2] / 7 % 9,
                                           .chunk = data[1] & 128 ? 64 : 0};
    const leat_zlib_inflater_config back = {.format = how.format, .chunk = data[2] & 128 ? 64 : 0};
    leat_embedded *from = leat_embedded_new((const leat_stage[]){{&leat_zlib_deflater, &how, NULL}, {0}});
    leat_embedded *to = leat_embedded_new((const leat_stage[]){{&leat_zlib_inflater, &back, NULL}, {0}});
    write_all(from, data + 4, size - 4);
    feed_all(to, leat_embedded_take_written(from), 1 + data[3] * 3u);
    compare(to, data + 4, size - 4);
    end(from);
    end(to);
    return 0;
}
