#include "tests/support/zlib_oracle.h"

#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static int bits_of(leat_zlib_format format) {
    return format == LEAT_ZLIB_RAW ? -15 : format == LEAT_ZLIB_ZLIB ? 15 : 31;
}

leat_bytebuf *oracle_deflate(const void *bytes, size_t length, const oracle_options *options) {
    z_stream stream = {0};
    int level = options->level == 0 ? 6 : options->level < 0 ? 0 : options->level;
    int memory = options->memory_level ? options->memory_level : 8;
    ck_assert_int_eq(deflateInit2(&stream, level, Z_DEFLATED, bits_of(options->format), memory, 0), Z_OK);
    if (options->dictionary.length)
        deflateSetDictionary(&stream, options->dictionary.bytes, (uInt)options->dictionary.length);
    size_t room = length + length / 4 + 1024;
    leat_bytebuf *out = leat_bytebuf_new(leat_unpooled(), room);
    stream.next_in = (z_const Bytef *)(uintptr_t)bytes;
    stream.avail_in = (uInt)length;
    stream.next_out = leat_bytebuf_room(out, room);
    stream.avail_out = (uInt)room;
    ck_assert_int_eq(deflate(&stream, options->unfinished ? Z_SYNC_FLUSH : Z_FINISH),
                     options->unfinished ? Z_OK : Z_STREAM_END);
    leat_bytebuf_wrote(out, room - stream.avail_out);
    deflateEnd(&stream);
    return out;
}

/* Returns zlib's last status. */
static int inflate_all(const leat_bytebuf *in, int bits, leat_span dictionary, leat_bytebuf *out, size_t *left) {
    z_stream stream = {0};
    ck_assert_int_eq(inflateInit2(&stream, bits), Z_OK);
    if (bits < 0 && dictionary.length)
        inflateSetDictionary(&stream, dictionary.bytes, (uInt)dictionary.length);
    stream.next_in = (z_const Bytef *)(uintptr_t)leat_bytebuf_data(in);
    stream.avail_in = (uInt)leat_bytebuf_readable(in);
    int status;
    do {
        stream.next_out = leat_bytebuf_room(out, 65536);
        stream.avail_out = 65536;
        status = inflate(&stream, Z_SYNC_FLUSH);
        leat_bytebuf_wrote(out, 65536 - stream.avail_out);
        if (status == Z_NEED_DICT)
            status = inflateSetDictionary(&stream, dictionary.bytes, (uInt)dictionary.length);
    } while (status == Z_OK);
    *left = stream.avail_in;
    inflateEnd(&stream);
    return status;
}

leat_bytebuf *oracle_inflate(const leat_bytebuf *in, leat_zlib_format format, leat_span dictionary) {
    leat_bytebuf *out = leat_bytebuf_new(leat_unpooled(), 65536);
    size_t left;
    int status = inflate_all(in, bits_of(format), dictionary, out, &left);
    ck_assert_msg(status == Z_STREAM_END || status == Z_BUF_ERROR, "zlib says %d", status);
    return out;
}

bool oracle_is_whole(const leat_bytebuf *in, leat_zlib_format format) {
    leat_bytebuf *out = leat_bytebuf_new(leat_unpooled(), 65536);
    size_t left;
    int status = inflate_all(in, bits_of(format), (leat_span){0}, out, &left);
    leat_bytebuf_release(out);
    return status == Z_STREAM_END && left == 0;
}

uint32_t oracle_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static size_t fill_piece(uint64_t *state, uint8_t *bytes, size_t at, size_t length) {
    static const char text[] = "data: {\"host\": \"leat\", \"load\": [0.25, 1.5], \"note\": \"quick brown fox\"}\n\n";
    size_t piece = 1 + oracle_random(state) % (length < 3000 ? length : 3000), kind = oracle_random(state) % 4;
    uint32_t salt = oracle_random(state), distance = at ? 1 + salt % (uint32_t)at : 1;
    for (size_t i = at; i < at + piece; i++)
        bytes[i] = kind == 0   ? (uint8_t)salt
                   : kind == 1 ? (uint8_t)text[(i + salt) % (sizeof text - 1)]
                   : kind == 2 ? (uint8_t)oracle_random(state)
                   : at        ? bytes[i - distance]
                               : 0;
    return piece;
}

void oracle_fill(uint64_t *state, uint8_t *bytes, size_t length) {
    for (size_t at = 0; at < length;)
        at += fill_piece(state, bytes, at, length - at);
}

void assert_bytes(leat_bytebuf *buf, const void *bytes, size_t length) {
    ck_assert_ptr_nonnull(buf);
    ck_assert_uint_eq(leat_bytebuf_readable(buf), length);
    ck_assert(leat_bytebuf_equals_bytes(buf, bytes, length));
    leat_bytebuf_release(buf);
}

void assert_hex(leat_bytebuf *buf, const char *hex) {
    uint8_t bytes[256];
    size_t length = 0;
    for (; *hex; hex += *hex == ' ' ? 1 : 2)
        if (*hex != ' ')
            bytes[length++] = (uint8_t)strtoul((const char[]){hex[0], hex[1], 0}, NULL, 16);
    assert_bytes(buf, bytes, length);
}
