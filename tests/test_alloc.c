#include "core/bytebuf.h"
#include "core/composite.h"
#include "tests/support/suite.h"

#include <pthread.h>
#include <string.h>

START_TEST(blocks_are_aligned_and_hold_what_was_said) {
    for (size_t size = 0; size < 5000; size += 7) {
        size_t usable = 0;
        void *block = leat_alloc_take(leat_unpooled(), size, &usable);
        ck_assert_uint_eq((uintptr_t)block % 16, 0);
        ck_assert_uint_ge(usable, size);
        memset(block, 0xab, usable);
        leat_alloc_give(leat_unpooled(), block, usable);
    }
    leat_alloc_give(leat_unpooled(), NULL, 0);
    ck_assert_ptr_null(leat_alloc_take(leat_unpooled(), SIZE_MAX, NULL));
}
END_TEST

/* jemalloc's, when the program has it: the class of a size. */
extern size_t nallocx(size_t size, int flags) __attribute__((weak));

/* It lends what came back last, so a block that came back to another class than it was taken from would not be it. */
START_TEST(small_blocks_go_back_to_where_jemalloc_has_them_from) {
    for (size_t size = 0; nallocx && size < 300; size++) {
        void *block = leat_alloc_take(leat_unpooled(), size, NULL);
        leat_alloc_give(leat_unpooled(), block, size);
        void *again = leat_alloc_take(leat_unpooled(), size, NULL);
        ck_assert_msg(again == block, "%zu bytes", size);
        leat_alloc_give(leat_unpooled(), again, size);
    }
}
END_TEST

START_TEST(zeroed_blocks_are_zero) {
    uint8_t *block = leat_alloc_take_zeroed(leat_unpooled(), 1000);
    for (size_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(block[i], 0);
    leat_alloc_give(leat_unpooled(), block, 1000);
}
END_TEST

START_TEST(the_failing_allocator_fails_the_chosen_block_only_or_all_from_there) {
    leat_failing_alloc failing;
    leat_failing_alloc_init(&failing, leat_unpooled());
    failing.fail_at = 2;
    void *first = leat_alloc_take(&failing.alloc, 1, NULL);
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_null(leat_alloc_take(&failing.alloc, 1, NULL));
    void *third = leat_alloc_take(&failing.alloc, 1, NULL);
    ck_assert_ptr_nonnull(third);
    failing.from_then_on = true;
    ck_assert_ptr_null(leat_alloc_take(&failing.alloc, 1, NULL));
    ck_assert_uint_eq(failing.asked, 4);
    leat_alloc_give(&failing.alloc, first, 1);
    leat_alloc_give(&failing.alloc, third, 1);
}
END_TEST

START_TEST(the_counting_allocator_comes_back_to_zero_live) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    size_t usable;
    void *known = leat_alloc_take(&counting.alloc, 100, NULL);
    void *rounded = leat_alloc_take(&counting.alloc, 100, &usable);
    ck_assert_uint_eq(counting.counted.allocations, 2);
    ck_assert_uint_eq(counting.counted.live_bytes, 100 + usable);
    leat_alloc_give(&counting.alloc, known, 100);
    leat_alloc_give(&counting.alloc, rounded, usable);
    ck_assert_uint_eq(counting.counted.live, 0);
    ck_assert_uint_eq(counting.counted.live_bytes, 0);
    ck_assert_uint_eq(counting.counted.bytes, 100 + usable);
}
END_TEST

static void assert_report(leat_tracking_alloc *tracking, const char *const *parts) {
    char text[4096];
    size_t length = leat_tracking_alloc_report(tracking, text, sizeof text);
    ck_assert_uint_eq(length, strlen(text));
    for (; *parts; parts++)
        ck_assert_msg(strstr(text, *parts), "\"%s\" is not in the report:\n%s", *parts, text);
}

START_TEST(the_ledger_names_a_leak_with_its_maker_and_its_last_touch) {
    leat_tracking_alloc *tracking = leat_tracking_alloc_new(leat_unpooled());
    leat_tracking_alloc_actor(tracking, "maker");
    leat_bytebuf *buf = leat_bytebuf_new(leat_tracking_alloc_base(tracking), 100);
    leat_tracking_alloc_actor(tracking, "keeper");
    leat_bytebuf_release_at(leat_bytebuf_retain_at(buf, "first.c:1"), "second.c:2");
    leat_bytebuf_touch_at(buf, "third.c:3");
    ck_assert_uint_eq(leat_tracking_alloc_live(tracking), 1);
    assert_report(tracking,
                  (const char *const[]){"leak: buffer", "made by maker", "last touched by keeper at third.c:3",
                                        "released by keeper at second.c:2", "retained by keeper at first.c:1", NULL});
    leat_bytebuf_release(buf);
    ck_assert_uint_eq(leat_tracking_alloc_live(tracking), 0);
    ck_assert_uint_eq(leat_tracking_alloc_report(tracking, NULL, 0), 0);
    leat_tracking_alloc_free(tracking);
}
END_TEST

START_TEST(the_ledger_frees_what_leaked) {
    leat_tracking_alloc *tracking = leat_tracking_alloc_new(leat_unpooled());
    leat_bytebuf *buf = leat_bytebuf_new(leat_tracking_alloc_base(tracking), 100);
    leat_bytebuf *slice = leat_bytebuf_slice(buf, 0, 0);
    ck_assert_ptr_nonnull(slice);
    leat_bytebuf_release(buf);
    assert_report(tracking, (const char *const[]){"buffer that slices still hold", "leat_bytebuf_slice", NULL});
    leat_tracking_alloc_free(tracking);
}
END_TEST

START_TEST(the_ledger_names_both_places_of_a_second_release) {
    leat_tracking_alloc *tracking = leat_tracking_alloc_new(leat_unpooled());
    leat_bytebuf *buf = leat_bytebuf_new(leat_tracking_alloc_base(tracking), 100);
    leat_bytebuf_release_at(buf, "right.c:1");
    leat_bytebuf_release_at(buf, "wrong.c:2");
    ck_assert_uint_eq(leat_tracking_alloc_misuses(tracking), 1);
    assert_report(tracking,
                  (const char *const[]){"misuse: buffer", "wrong.c:2", "right.c:1", "leat_bytebuf_new", NULL});
    leat_tracking_alloc_free(tracking);
}
END_TEST

START_TEST(every_use_after_the_last_release_is_refused_and_recorded) {
    leat_tracking_alloc *tracking = leat_tracking_alloc_new(leat_unpooled());
    leat_bytebuf *buf = leat_bytebuf_from_text(leat_tracking_alloc_base(tracking), "text");
    leat_bytebuf_release_at(buf, "right.c:1");
    uint8_t byte;
    ck_assert(!leat_bytebuf_read_u8(buf, &byte));
    ck_assert(!leat_bytebuf_write_u8(buf, 1));
    ck_assert(!leat_bytebuf_set_u8(buf, 0, 1));
    ck_assert_uint_eq(leat_bytebuf_get_u8(buf, 0), 0);
    leat_bytebuf_touch_at(buf, "late.c:9");
    ck_assert_uint_eq(leat_tracking_alloc_misuses(tracking), 5);
    assert_report(tracking, (const char *const[]){"late.c:9", "right.c:1", NULL});
    leat_tracking_alloc_free(tracking);
}
END_TEST

START_TEST(a_dead_composite_is_known_too) {
    leat_tracking_alloc *tracking = leat_tracking_alloc_new(leat_unpooled());
    leat_composite *composite = leat_composite_new(leat_tracking_alloc_base(tracking), 1);
    leat_bytebuf *buf = leat_composite_buffer(composite);
    leat_bytebuf_write_u32(buf, 1);
    leat_bytebuf_release(buf);
    ck_assert_int_eq(leat_composite_add_static(composite, "x", 1), LEAT_ESHARED);
    leat_bytebuf_release(buf);
    ck_assert_uint_eq(leat_tracking_alloc_misuses(tracking), 2);
    ck_assert_uint_eq(leat_tracking_alloc_live(tracking), 0);
    leat_tracking_alloc_free(tracking);
}
END_TEST

START_TEST(the_ledger_keeps_a_bounded_number_of_dead_buffers) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_tracking_alloc *tracking = leat_tracking_alloc_new(&counting.alloc);
    for (int i = 0; i < 5000; i++)
        leat_bytebuf_release(leat_bytebuf_new(leat_tracking_alloc_base(tracking), 10));
    ck_assert_uint_lt(counting.counted.live, 1100);
    leat_tracking_alloc_free(tracking);
    ck_assert_uint_eq(counting.counted.live, 0);
    ck_assert_uint_eq(counting.counted.live_bytes, 0);
}
END_TEST

static void *release_elsewhere(void *buf) {
    leat_bytebuf_release(buf);
    return NULL;
}

START_TEST(a_buffer_may_be_released_on_another_thread) {
    leat_tracking_alloc *tracking = leat_tracking_alloc_new(leat_unpooled());
    for (int i = 0; i < 50; i++) {
        leat_bytebuf *buf = leat_bytebuf_from_text(leat_tracking_alloc_base(tracking), "shared between threads");
        leat_bytebuf *slice = leat_bytebuf_slice(buf, 0, 6);
        pthread_t thread;
        ck_assert_int_eq(pthread_create(&thread, NULL, release_elsewhere, leat_bytebuf_retain(buf)), 0);
        leat_bytebuf_release(buf);
        ck_assert(leat_bytebuf_equals_bytes(slice, "shared", 6));
        leat_bytebuf_release(slice);
        pthread_join(thread, NULL);
    }
    ck_assert_uint_eq(leat_tracking_alloc_live(tracking), 0);
    leat_tracking_alloc_free(tracking);
}
END_TEST

int main(void) {
    return suite_run(
        "alloc",
        (const TTest *const[]){
            blocks_are_aligned_and_hold_what_was_said, small_blocks_go_back_to_where_jemalloc_has_them_from,
            zeroed_blocks_are_zero, the_failing_allocator_fails_the_chosen_block_only_or_all_from_there,
            the_counting_allocator_comes_back_to_zero_live, the_ledger_names_a_leak_with_its_maker_and_its_last_touch,
            the_ledger_frees_what_leaked, the_ledger_names_both_places_of_a_second_release,
            every_use_after_the_last_release_is_refused_and_recorded, a_dead_composite_is_known_too,
            the_ledger_keeps_a_bounded_number_of_dead_buffers, a_buffer_may_be_released_on_another_thread, NULL});
}
