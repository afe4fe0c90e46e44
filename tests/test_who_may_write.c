/* Who may write where: after new, split, slice, retain, own, wrap, and appending to the tail. */
#include "core/composite.h"
#include "tests/support/suite.h"

#include <string.h>

/** A handle under test, and the others that keep its situation up. */
typedef struct scene {
    leat_bytebuf *subject;
    leat_bytebuf *others[3];
} scene;

static leat_bytebuf *text(const char *characters) {
    return leat_bytebuf_from_text(leat_unpooled(), characters);
}

static const char eight[] = "01234567";

static scene after_new(void) {
    return (scene){text(eight), {NULL}};
}

static scene after_retain(void) {
    scene made = after_new();
    made.others[0] = leat_bytebuf_retain(made.subject);
    return made;
}

static scene after_retain_and_release(void) {
    scene made = after_retain();
    leat_bytebuf_release(made.others[0]);
    made.others[0] = NULL;
    return made;
}

static scene parent_of_a_slice(void) {
    scene made = after_new();
    made.others[0] = leat_bytebuf_slice(made.subject, 2, 4);
    return made;
}

static scene parent_of_a_dead_slice(void) {
    scene made = parent_of_a_slice();
    leat_bytebuf_release(made.others[0]);
    made.others[0] = NULL;
    return made;
}

static scene parent_of_a_dead_slice_owned(void) {
    scene made = parent_of_a_dead_slice();
    ck_assert_int_eq(leat_bytebuf_own(&made.subject), 0);
    return made;
}

static scene slice_of_a_parent(void) {
    scene made = after_new();
    leat_bytebuf *slice = leat_bytebuf_slice_readable(made.subject);
    return (scene){slice, {made.subject}};
}

static scene orphaned_slice(void) {
    scene made = slice_of_a_parent();
    leat_bytebuf_release(made.others[0]);
    made.others[0] = NULL;
    return made;
}

static scene slice_of_a_parent_owned(void) {
    scene made = slice_of_a_parent();
    ck_assert_int_eq(leat_bytebuf_own(&made.subject), 0);
    return made;
}

static scene orphaned_slice_owned(void) {
    scene made = orphaned_slice();
    ck_assert_int_eq(leat_bytebuf_own(&made.subject), 0);
    return made;
}

static scene split_from_a_parent(void) {
    leat_bytebuf *parent = text("01234567rest");
    leat_bytebuf *part = leat_bytebuf_split(parent, 8);
    return (scene){part, {parent}};
}

static scene parent_of_a_split(void) {
    leat_bytebuf *parent = text("part01234567");
    leat_bytebuf *part = leat_bytebuf_split(parent, 4);
    return (scene){parent, {part}};
}

static scene split_from_a_half_shared_parent(void) {
    leat_bytebuf *parent = text("01234567rest");
    leat_bytebuf *slice = leat_bytebuf_slice(parent, 0, 4);
    leat_bytebuf *part = leat_bytebuf_split(parent, 8);
    return (scene){part, {parent, slice}};
}

static scene static_bytes(void) {
    return (scene){leat_bytebuf_wrap_static(leat_unpooled(), eight, 8), {NULL}};
}

static scene static_bytes_owned(void) {
    scene made = static_bytes();
    ck_assert_int_eq(leat_bytebuf_own(&made.subject), 0);
    return made;
}

static leat_bytebuf *composite_of_two(void) {
    leat_composite *composite = leat_composite_new(leat_unpooled(), 2);
    leat_composite_add(composite, text("0123"));
    leat_composite_add(composite, text("4567"));
    return leat_composite_buffer(composite);
}

static scene composite_of_owned_buffers(void) {
    return (scene){composite_of_two(), {NULL}};
}

static scene composite_of_a_shared_and_an_owned_buffer(void) {
    leat_bytebuf *shared = text("0123");
    leat_composite *composite = leat_composite_new(leat_unpooled(), 2);
    leat_composite_add(composite, leat_bytebuf_retain(shared));
    leat_composite_add(composite, text("4567"));
    return (scene){leat_composite_buffer(composite), {shared}};
}

static scene composite_with_a_slice(void) {
    scene made = composite_of_owned_buffers();
    made.others[0] = leat_bytebuf_slice(made.subject, 1, 4);
    return made;
}

static scene slice_of_a_composite(void) {
    leat_bytebuf *composite = composite_of_two();
    return (scene){leat_bytebuf_slice(composite, 0, 8), {composite}};
}

static scene split_from_a_composite(void) {
    leat_composite *composite = leat_composite_new(leat_unpooled(), 2);
    leat_composite_add(composite, text("0123"));
    leat_composite_add(composite, text("4567rest"));
    leat_bytebuf *parent = leat_composite_buffer(composite);
    leat_bytebuf *part = leat_bytebuf_split(parent, 8);
    return (scene){part, {parent}};
}

static scene parent_of_a_split_from_a_composite(void) {
    leat_composite *composite = leat_composite_new(leat_unpooled(), 2);
    leat_composite_add(composite, text("part01"));
    leat_composite_add(composite, text("234567"));
    leat_bytebuf *parent = leat_composite_buffer(composite);
    leat_bytebuf *part = leat_bytebuf_split(parent, 4);
    return (scene){parent, {part}};
}

static scene composite_of_static_bytes(void) {
    leat_composite *composite = leat_composite_new(leat_unpooled(), 1);
    leat_composite_add_static(composite, eight, 8);
    return (scene){leat_composite_buffer(composite), {NULL}};
}

static scene composite_written_to(void) {
    leat_composite *composite = leat_composite_new(leat_unpooled(), 1);
    leat_bytebuf_write_bytes(leat_composite_buffer(composite), eight, 8);
    return (scene){leat_composite_buffer(composite), {NULL}};
}

static scene shared_composite(void) {
    scene made = composite_of_owned_buffers();
    made.others[0] = leat_bytebuf_retain(made.subject);
    return made;
}

/* ---- after appending to the tail ---- */

static scene parent_of_a_slice_appended_to(void) {
    leat_bytebuf *parent = text("0123");
    leat_bytebuf *slice = leat_bytebuf_slice_readable(parent);
    ck_assert(leat_bytebuf_write_bytes(parent, "4567", 4));
    return (scene){parent, {slice}};
}

static scene parent_that_outgrew_its_slice(void) {
    scene made = parent_of_a_slice();
    ck_assert_int_eq(leat_bytebuf_reserve(made.subject, 1000), 0);
    return made;
}

static scene composite_appended_to(void) {
    scene made = composite_of_owned_buffers();
    ck_assert(leat_bytebuf_set_writer_index(made.subject, 4));
    ck_assert(leat_bytebuf_write_bytes(made.subject, "4567", 4));
    return made;
}

/* Bytes of the tail that a slice took are copied or shared, and what is appended behind them is the composite's. */
static scene composite_whose_tail_was_sliced(void) {
    scene made = composite_appended_to();
    made.others[0] = leat_bytebuf_slice(made.subject, 2, 4);
    return made;
}

static scene composite_whose_staging_was_sliced(void) {
    leat_composite *composite = leat_composite_new(leat_unpooled(), 1);
    leat_bytebuf *buf = leat_composite_buffer(composite);
    ck_assert_int_eq(leat_bytebuf_reserve(buf, 600), 0);
    ck_assert(leat_bytebuf_write_bytes(buf, eight, 8));
    return (scene){buf, {leat_bytebuf_slice(buf, 0, 4)}};
}

static scene split_from_a_composites_tail(void) {
    leat_composite *composite = leat_composite_new(leat_unpooled(), 1);
    leat_bytebuf *buf = leat_composite_buffer(composite);
    ck_assert_int_eq(leat_bytebuf_reserve(buf, 600), 0);
    ck_assert(leat_bytebuf_write_bytes(buf, "01234567rest", 12));
    return (scene){leat_bytebuf_split(buf, 8), {buf}};
}

static scene parent_of_a_split_from_its_tail(void) {
    leat_composite *composite = leat_composite_new(leat_unpooled(), 1);
    leat_bytebuf *buf = leat_composite_buffer(composite);
    ck_assert_int_eq(leat_bytebuf_reserve(buf, 600), 0);
    ck_assert(leat_bytebuf_write_bytes(buf, "part01234567", 12));
    leat_bytebuf *part = leat_bytebuf_split(buf, 4);
    return (scene){buf, {part}};
}

static scene composite_appended_to_while_it_was_shared_before(void) {
    scene made = shared_composite();
    leat_bytebuf_release(made.others[0]);
    made.others[0] = NULL;
    return made;
}

/* ---- wrapped memory ---- */

static scene wrapped_memory(void) {
    static char memory[8];
    memcpy(memory, eight, 8);
    return (scene){leat_bytebuf_wrap(leat_unpooled(), memory, 8, NULL, NULL), {NULL}};
}

static scene slice_of_wrapped_memory(void) {
    scene made = wrapped_memory();
    return (scene){leat_bytebuf_slice_readable(made.subject), {made.subject}};
}

static scene split_from_a_slice(void) {
    leat_bytebuf *parent = text("01234567rest");
    leat_bytebuf *slice = leat_bytebuf_slice_readable(parent);
    return (scene){leat_bytebuf_split(slice, 8), {parent, slice}};
}

static scene split_from_static_bytes_owned(void) {
    leat_bytebuf *constant = leat_bytebuf_wrap_static(leat_unpooled(), "01234567rest", 12);
    scene made = {leat_bytebuf_split(constant, 8), {constant}};
    ck_assert_int_eq(leat_bytebuf_own(&made.subject), 0);
    return made;
}

/* A part of the only component, whose owner may not append. */
static scene split_from_a_composite_of(leat_bytebuf *component) {
    leat_composite *composite = leat_composite_new(leat_unpooled(), 1);
    leat_composite_add(composite, component);
    leat_bytebuf *parent = leat_composite_buffer(composite);
    return (scene){leat_bytebuf_split(parent, 8), {parent}};
}

static scene split_from_a_composite_of_static_bytes(void) {
    return split_from_a_composite_of(leat_bytebuf_wrap_static(leat_unpooled(), "01234567rest", 12));
}

static scene split_from_a_composite_of_a_slice(void) {
    leat_bytebuf *parent = text("01234567rest");
    scene made = split_from_a_composite_of(leat_bytebuf_slice_readable(parent));
    made.others[1] = parent;
    return made;
}

/** What the rule says of the subject: change its first byte, its last, append, move an index. */
typedef struct row {
    scene (*make)(void);
    const char *name;
    bool first;
    bool last;
    bool append;
    bool move;
} row;

#define ROW(make, first, last, append, move)                                                                           \
    { make, #make, first, last, append, move }

static const row rows[] = {
    ROW(after_new, true, true, true, true),
    ROW(after_retain, false, false, false, false),
    ROW(after_retain_and_release, true, true, true, true),
    ROW(parent_of_a_slice, false, true, true, true),
    ROW(parent_of_a_dead_slice, false, true, true, true),
    ROW(parent_of_a_dead_slice_owned, true, true, true, true),
    ROW(slice_of_a_parent, false, false, false, true),
    ROW(orphaned_slice, false, false, false, true),
    ROW(slice_of_a_parent_owned, true, true, true, true),
    ROW(orphaned_slice_owned, true, true, true, true),
    ROW(split_from_a_parent, true, true, true, true),
    ROW(parent_of_a_split, true, true, true, true),
    ROW(split_from_a_half_shared_parent, false, true, true, true),
    ROW(static_bytes, false, false, false, true),
    ROW(static_bytes_owned, true, true, true, true),
    ROW(composite_of_owned_buffers, true, true, true, true),
    ROW(composite_of_a_shared_and_an_owned_buffer, false, true, true, true),
    ROW(composite_with_a_slice, false, false, true, true),
    ROW(slice_of_a_composite, false, false, true, true),
    ROW(split_from_a_composite, true, true, true, true),
    ROW(parent_of_a_split_from_a_composite, true, true, true, true),
    ROW(composite_of_static_bytes, false, false, true, true),
    ROW(composite_written_to, true, true, true, true),
    ROW(shared_composite, false, false, false, false),
    ROW(parent_of_a_slice_appended_to, false, true, true, true),
    ROW(parent_that_outgrew_its_slice, true, true, true, true),
    ROW(composite_appended_to, true, true, true, true),
    ROW(composite_whose_tail_was_sliced, false, true, true, true),
    ROW(composite_whose_staging_was_sliced, false, true, true, true),
    ROW(split_from_a_composites_tail, true, true, true, true),
    ROW(parent_of_a_split_from_its_tail, true, true, true, true),
    ROW(composite_appended_to_while_it_was_shared_before, true, true, true, true),
    ROW(wrapped_memory, true, true, true, true),
    ROW(slice_of_wrapped_memory, false, false, false, true),
    ROW(split_from_a_slice, false, false, false, true),
    ROW(split_from_static_bytes_owned, true, true, true, true),
    ROW(split_from_a_composite_of_static_bytes, false, false, false, true),
    ROW(split_from_a_composite_of_a_slice, false, false, false, true),
};

static void release_scene(scene *made) {
    leat_bytebuf_release(made->subject);
    for (int i = 0; i < 3; i++)
        leat_bytebuf_release(made->others[i]);
}

static void assert_readable_bytes(const row *of, const leat_bytebuf *buf, const char *expected) {
    char got[16];
    uint64_t n = leat_bytebuf_readable(buf);
    ck_assert_uint_le(n, sizeof got);
    ck_assert(leat_bytebuf_get_bytes(buf, leat_bytebuf_reader_index(buf), got, n));
    ck_assert_msg(n == strlen(expected) && memcmp(got, expected, n) == 0, "%s: \"%.*s\" instead of \"%s\"", of->name,
                  (int)n, got, expected);
}

static void assert_row(const row *of) {
    scene made = of->make();
    leat_bytebuf *buf = made.subject;
    uint64_t first = leat_bytebuf_reader_index(buf);
    assert_readable_bytes(of, buf, eight);
    ck_assert_msg(leat_bytebuf_set_u8(buf, first, 'F') == of->first, "%s: first byte", of->name);
    ck_assert_msg(leat_bytebuf_set_u8(buf, first + 7, 'L') == of->last, "%s: last byte", of->name);
    ck_assert_msg(leat_bytebuf_write_u8(buf, 'A') == of->append, "%s: append", of->name);
    char expected[] = "01234567A";
    expected[0] = of->first ? 'F' : '0';
    expected[7] = of->last ? 'L' : '7';
    expected[8] = of->append ? 'A' : '\0';
    assert_readable_bytes(of, buf, expected);
    ck_assert_msg(leat_bytebuf_skip(buf, 1) == of->move, "%s: skip", of->name);
    ck_assert(leat_bytebuf_is_valid(buf));
    release_scene(&made);
}

START_TEST(the_table_of_who_may_write_where_holds) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_row(&rows[i]);
}
END_TEST

int main(void) {
    return suite_run("who_may_write", (const TTest *const[]){the_table_of_who_may_write_where_holds, NULL});
}
