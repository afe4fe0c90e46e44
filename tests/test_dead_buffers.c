/* The ledger and every call on a buffer whose last reference is gone: reported, refused, and nothing else happens. */
#include "core/bytebuf_array.h"
#include "core/composite.h"
#include "core/text.h"
#include "tests/support/suite.h"

#include <string.h>

/** A call on a dead buffer; true = it was refused, as far as it can say so. */
typedef struct use {
    bool (*is_refused)(leat_bytebuf *dead);
    const char *name;
} use;

#define USE(name, refused)                                                                                             \
    static bool name(leat_bytebuf *dead) {                                                                             \
        return (refused);                                                                                              \
    }

static uint8_t bytes[16];
static leat_span spans[2];

/* ---- references and sharing ---- */

USE(retains, leat_bytebuf_retain(dead) == dead)
USE(touches, leat_bytebuf_touch(dead) == dead)
USE(slices, !leat_bytebuf_slice(dead, 0, 0))
USE(slices_what_was_there, !leat_bytebuf_slice(dead, 1, 2))
USE(slices_all, !leat_bytebuf_slice_readable(dead))
USE(splits, !leat_bytebuf_split(dead, 0))
USE(splits_what_was_there, !leat_bytebuf_split(dead, 2))
USE(copies, !leat_bytebuf_copy(dead, leat_unpooled()))
USE(owns, leat_bytebuf_own(&dead) != 0)
USE(keeps, leat_bytebuf_keep(&dead) != 0)

static bool releases(leat_bytebuf *dead) {
    leat_bytebuf_release(dead);
    return true;
}

/* ---- indices and room ---- */

USE(moves_the_reader, !leat_bytebuf_set_reader_index(dead, 0))
USE(moves_the_reader_far, !leat_bytebuf_set_reader_index(dead, 3))
USE(moves_the_writer, !leat_bytebuf_set_writer_index(dead, 0))
USE(skips, !leat_bytebuf_skip(dead, 2))
USE(clears, !leat_bytebuf_clear(dead))
USE(discards, leat_bytebuf_discard_read(dead) != 0)
USE(reserves, leat_bytebuf_reserve(dead, 3) != 0)
USE(wants_room, !leat_bytebuf_room(dead, 0))
USE(prepends, !leat_bytebuf_prepend(dead, bytes, 2))

/* ---- values and bulk ---- */

USE(reads, !leat_bytebuf_read_u16(dead, (uint16_t[]){0}))
USE(writes, !leat_bytebuf_write_u16(dead, 1))
USE(gets, leat_bytebuf_get_u16(dead, 0) == 0)
USE(sets, !leat_bytebuf_set_u16(dead, 0, 1))
USE(reads_bytes, !leat_bytebuf_read_bytes(dead, bytes, 3))
USE(writes_bytes, !leat_bytebuf_write_bytes(dead, bytes, 3))
USE(writes_no_bytes, !leat_bytebuf_write_bytes(dead, bytes, 0))
USE(gets_bytes, !leat_bytebuf_get_bytes(dead, 0, bytes, 3))
USE(sets_bytes, !leat_bytebuf_set_bytes(dead, 0, bytes, 3))
USE(writes_a_buffer, !leat_bytebuf_write_buffer(dead, dead))
USE(writes_zeros, !leat_bytebuf_write_zero(dead, 3))
USE(writes_a_format, !leat_bytebuf_write_format(dead, "%d", 3))
USE(reads_a_varint, !leat_bytebuf_read_varint(dead, (uint64_t[]){0}))
USE(writes_a_varint, !leat_bytebuf_write_varint(dead, 3))
USE(reads_an_array, !leat_bytebuf_read_u16_array(dead, (uint16_t[]){0}, 1))
USE(writes_an_array, !leat_bytebuf_write_u16_array(dead, (uint16_t[]){0}, 1))
USE(gets_an_array, !leat_bytebuf_get_u16_array(dead, 0, (uint16_t[]){0}, 1))
USE(sets_an_array, !leat_bytebuf_set_u16_array(dead, 0, (uint16_t[]){0}, 1))
USE(writes_text, leat_text_write_utf8(dead, bytes, 1, LEAT_TEXT_STRICT) != 0)

/* ---- looking ---- */

USE(looks, !leat_bytebuf_data(dead))
USE(looks_at_a_part, !leat_bytebuf_contiguous(dead, 1, 2))
USE(looks_at_spans, leat_bytebuf_spans(dead, spans, 2) == 0)
USE(finds_a_byte, leat_bytebuf_find_byte(dead, 0, 't') == -1)
USE(finds_any, leat_bytebuf_find_any(dead, 0, "t", 1) == -1)
USE(finds, leat_bytebuf_find(dead, 0, "t", 1) == -1)
USE(hashes, leat_bytebuf_hash(dead) != 0)
USE(compares, leat_bytebuf_equals_bytes(dead, "text", 4) == false)

static const use uses[] = {
#define ROW(name)                                                                                                      \
    { name, #name }
    ROW(retains),
    ROW(touches),
    ROW(slices),
    ROW(slices_what_was_there),
    ROW(slices_all),
    ROW(splits),
    ROW(splits_what_was_there),
    ROW(copies),
    ROW(owns),
    ROW(keeps),
    ROW(releases),
    ROW(moves_the_reader),
    ROW(moves_the_reader_far),
    ROW(moves_the_writer),
    ROW(skips),
    ROW(clears),
    ROW(discards),
    ROW(reserves),
    ROW(wants_room),
    ROW(prepends),
    ROW(reads),
    ROW(writes),
    ROW(gets),
    ROW(sets),
    ROW(reads_bytes),
    ROW(writes_bytes),
    ROW(writes_no_bytes),
    ROW(gets_bytes),
    ROW(sets_bytes),
    ROW(writes_a_buffer),
    ROW(writes_zeros),
    ROW(writes_a_format),
    ROW(reads_a_varint),
    ROW(writes_a_varint),
    ROW(reads_an_array),
    ROW(writes_an_array),
    ROW(gets_an_array),
    ROW(sets_an_array),
    ROW(writes_text),
    ROW(looks),
    ROW(looks_at_a_part),
    ROW(looks_at_spans),
    ROW(finds_a_byte),
    ROW(finds_any),
    ROW(finds),
    ROW(hashes),
    ROW(compares),
};

static leat_bytebuf *make_plain(leat_alloc *alloc) {
    return leat_bytebuf_from_text(alloc, "text");
}

static leat_bytebuf *make_grown(leat_alloc *alloc) {
    leat_bytebuf *buf = make_plain(alloc);
    ck_assert(leat_bytebuf_write_zero(buf, 3000));
    return buf;
}

static leat_bytebuf *make_slice(leat_alloc *alloc) {
    leat_bytebuf *buf = make_plain(alloc);
    leat_bytebuf *slice = leat_bytebuf_slice_readable(buf);
    leat_bytebuf_release(buf);
    return slice;
}

static leat_bytebuf *make_composite(leat_alloc *alloc) {
    leat_composite *composite = leat_composite_new(alloc, 2);
    leat_composite_add(composite, make_plain(alloc));
    leat_composite_add(composite, make_plain(alloc));
    return leat_composite_buffer(composite);
}

static void check(const use *of, leat_bytebuf *(*make)(leat_alloc *alloc)) {
    leat_tracking_alloc *tracking = leat_tracking_alloc_new(leat_unpooled());
    leat_bytebuf *dead = make(leat_tracking_alloc_base(tracking));
    leat_bytebuf_release_at(dead, "right.c:1");
    bool refused = of->is_refused(dead);
    char report[2000];
    leat_tracking_alloc_report(tracking, report, sizeof report);
    ck_assert_msg(refused, "%s: not refused", of->name);
    ck_assert_msg(leat_tracking_alloc_misuses(tracking) > 0, "%s: not reported", of->name);
    ck_assert_msg(strstr(report, "right.c:1"), "%s: the report is %s", of->name, report);
    ck_assert_msg(leat_tracking_alloc_live(tracking) == 0, "%s: something lives on", of->name);
    leat_tracking_alloc_free(tracking);
}

START_TEST(every_call_on_a_dead_buffer_is_refused_and_reported_and_nothing_else_happens) {
    static leat_bytebuf *(*const kinds[])(leat_alloc * alloc) = {make_plain, make_grown, make_slice, make_composite};
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
            check(&uses[i], kinds[kind]);
}
END_TEST

int main(void) {
    return suite_run(
        "dead_buffers",
        (const TTest *const[]){every_call_on_a_dead_buffer_is_refused_and_reported_and_nothing_else_happens, NULL});
}
