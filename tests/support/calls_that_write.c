/* Calls that make and share buffers, move their indices and append to them. */
#include "core/bytebuf_array.h"
#include "core/composite.h"
#include "core/cursor.h"
#include "core/text.h"
#include "tests/support/calls.h"

#include <check.h>
#include <stdio.h>

/* ---- making ---- */

static bool make_bounded(call_model *of, slot *one, slot *other) {
    (void)other;
    leat_bytebuf *buf = leat_bytebuf_new_with(of->alloc, below(of, 40), 40 + below(of, 100), below(of, 9));
    return renew(one, buf, "", 0);
}

static bool make_from_bytes(call_model *of, slot *one, slot *other) {
    (void)other;
    return renew(one, leat_bytebuf_from_bytes(of->alloc, of->bytes, of->n), of->bytes, of->n);
}

static bool make_read_only(call_model *of, slot *one, slot *other) {
    (void)other;
    static const char constant[] = "abcabcabc";
    return renew(one, leat_bytebuf_wrap_read_only(of->alloc, constant, 9, NULL, NULL), constant, 9);
}

static bool make_composite(call_model *of, slot *one, slot *other) {
    (void)other;
    return renew(one, leat_composite_buffer(leat_composite_new(of->alloc, (uint32_t)below(of, 4))), "", 0);
}

static bool make_copy(call_model *of, slot *one, slot *other) {
    return renew(one, leat_bytebuf_copy(other->buf, of->alloc), other->bytes, other->length);
}

/* ---- sharing ---- */

static bool slice(call_model *of, slot *one, slot *other) {
    size_t at = below(of, other->length + 1), n = below(of, other->length - at + 1);
    leat_bytebuf *part = leat_bytebuf_slice(other->buf, leat_bytebuf_reader_index(other->buf) + at, n);
    return renew(one, part, other->bytes + at, n);
}

static bool split(call_model *of, slot *one, slot *other) {
    size_t n = below(of, other->length + 1);
    if (!renew(one, leat_bytebuf_split(other->buf, n), other->bytes, n))
        return false;
    drop_front(other, n);
    return true;
}

static bool retain(call_model *of, slot *one, slot *other) {
    (void)of;
    return renew(one, leat_bytebuf_retain(other->buf), other->bytes, other->length);
}

static bool own(call_model *of, slot *one, slot *other) {
    (void)of, (void)other;
    return leat_bytebuf_own(&one->buf) == 0;
}

static bool keep(call_model *of, slot *one, slot *other) {
    (void)of, (void)other;
    return leat_bytebuf_keep(&one->buf) == 0;
}

/* ---- indices ---- */

static bool move_writer_back(call_model *of, slot *one, slot *other) {
    (void)other;
    size_t n = below(of, one->length + 1);
    if (!leat_bytebuf_set_writer_index(one->buf, leat_bytebuf_reader_index(one->buf) + n))
        return false;
    one->length = n;
    return true;
}

/* Forwards, and a part of the way back. */
static bool move_reader(call_model *of, slot *one, slot *other) {
    (void)other;
    size_t n = below(of, one->length + 1), back = below(of, n + 1);
    uint64_t to = leat_bytebuf_reader_index(one->buf) + n;
    if (!(below(of, 2) ? leat_bytebuf_skip(one->buf, n) : leat_bytebuf_set_reader_index(one->buf, to)))
        return false;
    ck_assert(leat_bytebuf_set_reader_index(one->buf, to - back));
    drop_front(one, n - back);
    return true;
}

static bool clear(call_model *of, slot *one, slot *other) {
    (void)of, (void)other;
    if (!leat_bytebuf_clear(one->buf))
        return false;
    one->length = 0;
    return true;
}

static bool discard(call_model *of, slot *one, slot *other) {
    (void)of, (void)other;
    return leat_bytebuf_discard_read(one->buf) == 0;
}

static bool prepend(call_model *of, slot *one, slot *other) {
    (void)other;
    if (!leat_bytebuf_prepend(one->buf, of->bytes, of->n))
        return false;
    put_before(one, 0, of->bytes, of->n);
    return true;
}

/* ---- appending ---- */

static bool write_varint(call_model *of, slot *one, slot *other) {
    (void)other;
    uint64_t value = (uint64_t)next_random(of) << below(of, 33), rest = value;
    uint8_t bytes[10];
    size_t n = 0;
    for (; rest >= 128; rest /= 128)
        bytes[n++] = (uint8_t)(rest % 128 + 128);
    bytes[n++] = (uint8_t)rest;
    return appended(one, leat_bytebuf_write_varint(one->buf, value), bytes, n);
}

static bool write_buffer(call_model *of, slot *one, slot *other) {
    (void)of;
    uint8_t bytes[2 * LARGEST];
    memcpy(bytes, other->bytes, other->length);
    return appended(one, leat_bytebuf_write_buffer(one->buf, other->buf), bytes, other->length);
}

static bool write_itself(call_model *of, slot *one, slot *other) {
    return write_buffer(of, one, one) || other == NULL;
}

static bool write_zero(call_model *of, slot *one, slot *other) {
    (void)other;
    static const uint8_t zeros[1024];
    return appended(one, leat_bytebuf_write_zero(one->buf, of->n), zeros, of->n);
}

static bool write_format(call_model *of, slot *one, slot *other) {
    (void)other;
    char text[32];
    int n = snprintf(text, sizeof text, "%zu-%s", of->n, "abc");
    return appended(one, leat_bytebuf_write_format(one->buf, "%zu-%s", of->n, "abc"), text, (size_t)n);
}

static bool write_latin1(call_model *of, slot *one, slot *other) {
    (void)other;
    uint8_t text[1024];
    size_t n = 0;
    for (size_t i = 0; i < of->n && n < 1000; i++)
        if (i % 3 == 0 && (of->bytes[i] |= 0x80))
            text[n++] = 0xc3, text[n++] = of->bytes[i] & 0xbf;
        else
            text[n++] = of->bytes[i];
    for (size_t i = 0; i < of->n; i += 3)
        of->bytes[i] |= 0xc0;
    size_t units = n < 1000 ? of->n : 0;
    return appended(one, leat_text_write_latin1(one->buf, of->bytes, units) == 0, text, units ? n : 0);
}

static bool write_text(call_model *of, slot *one, slot *other) {
    (void)other;
    uint16_t units[1024];
    for (size_t i = 0; i < of->n; i++)
        units[i] = of->bytes[i];
    if (below(of, 3) == 0 && of->n > 0) { /* refused, and nothing was written */
        units[of->n - 1] = 0xd800;
        return leat_text_write_utf16(one->buf, units, of->n, LEAT_TEXT_STRICT) == 0;
    }
    bool done = below(of, 2) ? leat_text_write_utf16(one->buf, units, of->n, LEAT_TEXT_STRICT) == 0
                             : leat_text_write_utf8(one->buf, of->bytes, of->n, LEAT_TEXT_REPLACE) == 0;
    return appended(one, done, of->bytes, of->n);
}

static bool put_some(call_model *of, slot *one, slot *other) {
    (void)other;
    if (leat_bytebuf_reserve(one->buf, of->n + 2) != 0)
        return false;
    if (one->length > 0) /* a look elsewhere does not lose the room */
        ck_assert_uint_eq(leat_bytebuf_get_u8(one->buf, leat_bytebuf_reader_index(one->buf)), one->bytes[0]);
    leat_bytebuf_put_u16(one->buf, 0x6162);
    put_behind(one, "ab", 2);
    leat_bytebuf_put_bytes(one->buf, of->bytes, of->n);
    return appended(one, true, of->bytes, of->n);
}

static bool write_room(call_model *of, slot *one, slot *other) {
    (void)other;
    uint8_t *room = leat_bytebuf_room(one->buf, of->n + 1);
    if (!room)
        return false;
    memcpy(room, of->bytes, of->n);
    return appended(one, leat_bytebuf_wrote(one->buf, of->n), of->bytes, of->n);
}

static bool write_with_cursor(call_model *of, slot *one, slot *other) {
    (void)other;
    leat_writer writer = leat_writer_begin(one->buf);
    size_t n = 0;
    while (n + 3 <= of->n && leat_writer_u24(&writer, leat_load_u24(of->bytes + n)))
        n += 3;
    if (n + 3 > of->n && leat_writer_u8_array(&writer, of->bytes + n, of->n - n))
        n = of->n;
    return appended(one, leat_writer_finish(&writer), of->bytes, n);
}

void call_refill(call_model *of, slot *given) {
    uint64_t fail_at = of->failing.fail_at;
    of->failing.fail_at = 0;
    given->length = 0;
    make_from_bytes(of, given, NULL);
    of->failing.fail_at = fail_at;
}

const call_entry calls_that_write[] = {CALL(make_bounded),
                                       CALL(make_from_bytes),
                                       CALL(make_read_only),
                                       CALL(make_composite),
                                       CALL(make_composite),
                                       CALL(make_copy),
                                       CALL(slice),
                                       CALL(split),
                                       CALL(split),
                                       CALL(retain),
                                       CALL(own),
                                       CALL(own),
                                       CALL(keep),
                                       CALL(move_writer_back),
                                       CALL(move_reader),

                                       CALL(clear),
                                       CALL(discard),
                                       CALL(prepend),
                                       CALL(prepend),
                                       CALL(write_varint),
                                       CALL(write_buffer),
                                       CALL(write_itself),
                                       CALL(write_zero),
                                       CALL(write_format),
                                       CALL(write_latin1),
                                       CALL(write_text),
                                       CALL(put_some),
                                       CALL(write_room),
                                       CALL(write_with_cursor),
                                       {NULL, NULL}};
