/* Who may write where: after new, split, slice, retain, own, and appending to the tail. */
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

START_TEST(what_one_handle_writes_no_other_sees) {
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 100);
    leat_bytebuf_write_bytes(buf, "onetwothree", 11);
    leat_bytebuf *one = leat_bytebuf_split(buf, 3);
    leat_bytebuf *two = leat_bytebuf_slice(buf, 3, 3);
    ck_assert(leat_bytebuf_write_bytes(one, "!!!", 3));
    ck_assert(leat_bytebuf_write_bytes(buf, "four", 4));
    ck_assert(leat_bytebuf_set_u8(one, 0, 'O'));
    ck_assert(!leat_bytebuf_set_u8(buf, 3, 'x'));
    ck_assert(leat_bytebuf_equals_bytes(one, "One!!!", 6));
    ck_assert(leat_bytebuf_equals_bytes(two, "two", 3));
    ck_assert(leat_bytebuf_equals_bytes(buf, "twothreefour", 12));
    leat_bytebuf_release(buf);
    leat_bytebuf_release(one);
    leat_bytebuf_release(two);
}
END_TEST

START_TEST(growth_leaves_slices_on_the_old_storage) {
    leat_bytebuf *buf = text("0123456789abcdef");
    leat_bytebuf *slice = leat_bytebuf_slice(buf, 0, 16);
    while (leat_bytebuf_capacity(buf) < 1000)
        ck_assert(leat_bytebuf_write_zero(buf, 100));
    ck_assert(leat_bytebuf_set_u8(buf, 0, 'X'));
    ck_assert(leat_bytebuf_equals_bytes(slice, "0123456789abcdef", 16));
    leat_bytebuf_release(buf);
    ck_assert(leat_bytebuf_equals_bytes(slice, "0123456789abcdef", 16));
    leat_bytebuf_release(slice);
}
END_TEST

START_TEST(the_writer_moved_back_over_shared_bytes_may_not_write) {
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 64);
    leat_bytebuf_write_bytes(buf, "shared", 6);
    leat_bytebuf *slice = leat_bytebuf_slice(buf, 0, 6);
    ck_assert(leat_bytebuf_clear(buf));
    ck_assert(!leat_bytebuf_write_u8(buf, 'x'));
    ck_assert_int_eq(leat_bytebuf_reserve(buf, 1), LEAT_ESHARED);
    ck_assert_uint_eq(leat_bytebuf_writable(buf), 0);
    ck_assert_int_eq(leat_bytebuf_discard_read(buf), 0);
    leat_bytebuf_release(slice);
    ck_assert_int_eq(leat_bytebuf_own(&buf), 0);
    ck_assert(leat_bytebuf_write_u8(buf, 'x'));
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(shared_bytes_are_neither_moved_down_nor_prepended_over) {
    leat_bytebuf *buf = text("abcdef");
    leat_bytebuf_skip(buf, 2);
    leat_bytebuf *slice = leat_bytebuf_slice(buf, 0, 3);
    ck_assert_int_eq(leat_bytebuf_discard_read(buf), LEAT_ESHARED);
    ck_assert_uint_eq(leat_bytebuf_headroom(buf), 0);
    ck_assert(!leat_bytebuf_prepend(buf, "x", 1));
    ck_assert(leat_bytebuf_skip(buf, 2));
    ck_assert(leat_bytebuf_prepend(buf, "X", 1));
    ck_assert(leat_bytebuf_equals_bytes(buf, "Xef", 3));
    ck_assert(leat_bytebuf_equals_bytes(slice, "abc", 3));
    leat_bytebuf_release(slice);
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(a_handle_with_two_references_refuses_everything_that_moves) {
    leat_bytebuf *buf = text("abcdef");
    leat_bytebuf_retain(buf);
    uint8_t byte;
    ck_assert(!leat_bytebuf_read_u8(buf, &byte));
    ck_assert(!leat_bytebuf_clear(buf));
    ck_assert(!leat_bytebuf_set_reader_index(buf, 1));
    ck_assert(!leat_bytebuf_set_writer_index(buf, 1));
    ck_assert_int_eq(leat_bytebuf_discard_read(buf), LEAT_ESHARED);
    ck_assert_ptr_null(leat_bytebuf_split(buf, 1));
    ck_assert_int_eq(leat_bytebuf_reserve(buf, 1), LEAT_ESHARED);
    ck_assert_uint_eq(leat_bytebuf_get_u8(buf, 1), 'b');
    leat_bytebuf *mine = leat_bytebuf_retain(buf);
    ck_assert_int_eq(leat_bytebuf_own(&mine), 0);
    ck_assert_ptr_ne(mine, buf);
    ck_assert(leat_bytebuf_read_u8(mine, &byte));
    leat_bytebuf_release(mine);
    leat_bytebuf_release(buf);
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(own_without_memory_leaves_the_buffer) {
    leat_failing_alloc failing;
    leat_failing_alloc_init(&failing, leat_unpooled());
    leat_bytebuf *buf = leat_bytebuf_from_text(&failing.alloc, "abc");
    leat_bytebuf *slice = leat_bytebuf_slice(buf, 0, 3);
    failing.fail_at = failing.asked + 1;
    leat_bytebuf *before = slice;
    ck_assert_int_eq(leat_bytebuf_own(&slice), LEAT_ENOMEM);
    ck_assert_ptr_eq(slice, before);
    ck_assert(leat_bytebuf_equals(slice, buf));
    leat_bytebuf_release(slice);
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(a_small_slice_kept_from_a_large_block_does_not_pin_it) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_bytebuf *block = leat_bytebuf_new(&counting.alloc, 65536);
    leat_bytebuf_write_zero(block, 65536);
    leat_bytebuf *small = leat_bytebuf_split(block, 100);
    leat_bytebuf *large = leat_bytebuf_split(block, 30000);
    ck_assert_int_eq(leat_bytebuf_keep(&small), 0);
    ck_assert_int_eq(leat_bytebuf_keep(&large), 0);
    ck_assert_uint_lt(leat_bytebuf_storage_size(small), 400);
    ck_assert_uint_ge(leat_bytebuf_storage_size(large), 65536);
    leat_bytebuf_release(large);
    leat_bytebuf_release(block);
    ck_assert_uint_lt(counting.counted.live_bytes, 1000);
    leat_bytebuf_release(small);
    ck_assert_uint_eq(counting.counted.live_bytes, 0);
}
END_TEST

START_TEST(a_block_is_rewound_when_its_slices_are_gone) {
    leat_bytebuf *block = leat_bytebuf_new(leat_unpooled(), 1000);
    leat_bytebuf *before = block;
    for (int turn = 0; turn < 100; turn++) {
        ck_assert(leat_bytebuf_write_zero(block, 900));
        leat_bytebuf *frame = leat_bytebuf_split(block, 500);
        leat_bytebuf *rest = leat_bytebuf_split(block, 400);
        leat_bytebuf_release(frame);
        leat_bytebuf_release(rest);
        ck_assert_int_eq(leat_bytebuf_own(&block), 0);
        ck_assert(leat_bytebuf_clear(block));
        ck_assert_ptr_eq(block, before);
    }
    leat_bytebuf_release(block);
}
END_TEST

int main(void) {
    return suite_run("bytebuf_sharing",
                     (const TTest *const[]){
                         the_table_of_who_may_write_where_holds, what_one_handle_writes_no_other_sees,
                         growth_leaves_slices_on_the_old_storage, the_writer_moved_back_over_shared_bytes_may_not_write,
                         shared_bytes_are_neither_moved_down_nor_prepended_over,
                         a_handle_with_two_references_refuses_everything_that_moves,
                         own_without_memory_leaves_the_buffer, a_small_slice_kept_from_a_large_block_does_not_pin_it,
                         a_block_is_rewound_when_its_slices_are_gone, NULL});
}
