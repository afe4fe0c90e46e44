/*
 * The first byte says what is decoded (a Variant, or a field of a type and shape), the second into which pieces the
 * rest is cut. What is decoded is encoded, decoded and encoded again, copied and wrapped.
 */
#include "core/composite.h"
#include "handlers/opcua/decode.h"
#include "handlers/opcua/encode.h"
#include "tests/fuzz/feed.h"

#include <stdlib.h>

enum { MOST_MEMORY = 100, TYPE_BITS = 31, SHAPE_SHIFT = 5 };

static const leat_opcua_options keeping = {.keep_empty_dimensions = true, .wrap_bytes = 8};

static void must(bool what) {
    if (!what)
        abort();
}

/* Type 0 stands for a Variant. */
static int decode(leat_opcua_decoder *decoder, uint8_t what, leat_opcua_value *value) {
    uint8_t type = what & TYPE_BITS, shape = (uint8_t)(what >> SHAPE_SHIFT) & 3;
    return type == 0 ? leat_opcua_decode_variant(decoder, value) : leat_opcua_decode_field(decoder, type, shape, value);
}

static int encode(leat_bytebuf *buf, uint8_t what, const leat_opcua_value *value) {
    return (what & TYPE_BITS) == 0 ? leat_opcua_encode_variant(buf, value, &keeping)
                                   : leat_opcua_encode_field(buf, value, &keeping);
}

static void count_release(void *context) {
    ++*(int *)context;
}

/* Wrapped, it is the same bytes, and is given back once. */
static void check_wrapped(uint8_t what, const leat_opcua_value *value, const leat_bytebuf *expected) {
    leat_composite *composite = leat_composite_new(leat_unpooled(), 2);
    int released = 0;
    must((what & TYPE_BITS) == 0 ? leat_opcua_wrap_variant(composite, value, count_release, &released, &keeping) == 0
                                 : leat_opcua_wrap_field(composite, value, count_release, &released, &keeping) == 0);
    must(leat_bytebuf_equals(leat_composite_buffer(composite), expected));
    leat_bytebuf_release(leat_composite_buffer(composite));
    must(released == 1);
}

/* Decodes `buf`; returns what is encoded of it, or NULL with the code. */
static leat_bytebuf *recoded(leat_bytebuf *buf, uint8_t what, int *code) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_opcua_decoder decoder;
    leat_opcua_value value;
    leat_bytebuf *again = NULL;
    must(leat_opcua_decoder_init(&decoder, buf, &counting.alloc, &keeping) == 0);
    *code = decode(&decoder, what, &value);
    must(counting.counted.live_bytes <= MOST_MEMORY * leat_bytebuf_readable(buf));
    must(*code == 0 ? leat_opcua_decoder_taken(&decoder) > 0 : leat_opcua_decoder_taken(&decoder) == 0);
    if (*code == 0) {
        again = leat_bytebuf_new(leat_unpooled(), 0);
        must(encode(again, what, &value) == 0);
        must(leat_bytebuf_readable(again) <= leat_opcua_decoder_taken(&decoder));
        check_wrapped(what, &value, again);
    }
    leat_opcua_decoder_clean_up(&decoder);
    must(counting.counted.live == 0);
    return again;
}

static leat_bytebuf *in_pieces(leat_bytebuf *buf, uint64_t piece) {
    leat_composite *pieces = leat_composite_new(leat_unpooled(), 2);
    uint64_t size = leat_bytebuf_readable(buf);
    for (uint64_t at = 0; at < size; at += piece)
        must(leat_composite_add_flattened(pieces, leat_bytebuf_retain(buf), at,
                                          size - at < piece ? size - at : piece) == 0);
    return leat_composite_buffer(pieces);
}

static void check_stable(leat_bytebuf *first, uint8_t what) {
    int code;
    leat_bytebuf *second = recoded(first, what, &code);
    must(code == 0 && leat_bytebuf_equals(first, second));
    leat_bytebuf_release(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2)
        return 0;
    int code, torn_code;
    leat_bytebuf *whole = leat_bytebuf_from_bytes(leat_unpooled(), data + 2, size - 2);
    leat_bytebuf *pieces = in_pieces(whole, 1 + data[1] % 9);
    leat_bytebuf *first = recoded(whole, data[0], &code), *torn = recoded(pieces, data[0], &torn_code);
    must(code == torn_code || torn_code == LEAT_ELIMIT); /* torn text takes memory */
    if (first)
        check_stable(first, data[0]);
    must(!first || !torn || leat_bytebuf_equals(first, torn));
    leat_bytebuf_release(first);
    leat_bytebuf_release(torn);
    leat_bytebuf_release(pieces);
    leat_bytebuf_release(whole);
    return 0;
}
