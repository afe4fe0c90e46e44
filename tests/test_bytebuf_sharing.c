/* Handles that share storage: what one may do without the others noticing. */
#include "core/composite.h"
#include "tests/support/suite.h"

#include <string.h>

static leat_bytebuf *text(const char *characters) {
    return leat_bytebuf_from_text(leat_unpooled(), characters);
}

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

START_TEST(a_quarter_of_a_block_is_kept_as_it_is_and_less_is_copied) {
    for (uint64_t size = 100; size < 3000; size += 113)
        for (uint64_t less = 0; less < 2; less++) {
            leat_bytebuf *block = leat_bytebuf_new(leat_unpooled(), size);
            uint64_t storage = leat_bytebuf_storage_size(block);
            ck_assert(leat_bytebuf_write_zero(block, storage / 4));
            leat_bytebuf *part = leat_bytebuf_split(block, storage / 4 - less), *before = part;
            ck_assert_int_eq(leat_bytebuf_keep(&part), 0);
            ck_assert((part == before) == (less == 0 || storage <= 512));
            leat_bytebuf_release(part);
            leat_bytebuf_release(block);
        }
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
                         what_one_handle_writes_no_other_sees, growth_leaves_slices_on_the_old_storage,
                         the_writer_moved_back_over_shared_bytes_may_not_write,
                         shared_bytes_are_neither_moved_down_nor_prepended_over,
                         a_handle_with_two_references_refuses_everything_that_moves,
                         own_without_memory_leaves_the_buffer, a_small_slice_kept_from_a_large_block_does_not_pin_it,
                         a_quarter_of_a_block_is_kept_as_it_is_and_less_is_copied,
                         a_block_is_rewound_when_its_slices_are_gone, NULL});
}
