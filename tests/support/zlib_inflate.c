#include "tests/support/zlib_inflate.h"

#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

leat_embedded *inflating_channel(const leat_zlib_inflater_config *config) {
    const leat_stage stages[] = {{&leat_zlib_inflater, config, NULL}, {&tolerant, NULL, NULL}, {0}};
    leat_embedded *e = leat_embedded_new(stages);
    ck_assert_ptr_nonnull(e);
    return e;
}

void collect_reads(leat_embedded *e, leat_bytebuf *out) {
    for (leat_msg msg; leat_embedded_take_read(e, &msg); leat_msg_release(msg))
        ck_assert(leat_bytebuf_write_buffer(out, leat_msg_bytebuf(msg)));
}

/* Each piece is a block of exactly its size, so that a sanitizer sees a read past it. */
static void feed_piece(leat_embedded *e, const uint8_t *bytes, size_t length) {
    leat_embedded_feed_bytebuf(e, leat_bytebuf_from_bytes(leat_embedded_alloc(e), bytes, length));
}

inflation inflate_in(const leat_zlib_inflater_config *config, leat_span in, size_t first, size_t piece) {
    leat_embedded *e = inflating_channel(config);
    feed_piece(e, in.bytes, first);
    for (size_t at = first, length; at < in.length; at += length) {
        length = piece && piece < in.length - at ? piece : in.length - at;
        feed_piece(e, in.bytes + at, length);
    }
    leat_embedded_feed_eof(e);
    inflation result = {leat_bytebuf_new(leat_unpooled(), 4096), take_tolerated(e)};
    collect_reads(e, result.bytes);
    assert_nothing_left(e);
    return result;
}

void assert_inflated(const leat_zlib_inflater_config *config, leat_span in, size_t first, size_t piece,
                     leat_span expected, int code) {
    inflation result = inflate_in(config, in, first, piece);
    ck_assert_msg(result.code == code, "cut at %zu and in pieces of %zu: %s, not %s", first, piece,
                  leat_error_name(result.code), leat_error_name(code));
    ck_assert_msg(leat_bytebuf_equals_bytes(result.bytes, expected.bytes, expected.length),
                  "cut at %zu and in pieces of %zu: %llu bytes came, not these %zu", first, piece,
                  (unsigned long long)leat_bytebuf_readable(result.bytes), expected.length);
    leat_bytebuf_release(result.bytes);
}

leat_span span_of(const leat_bytebuf *buf) {
    return (leat_span){leat_bytebuf_data(buf), (size_t)leat_bytebuf_readable(buf)};
}
