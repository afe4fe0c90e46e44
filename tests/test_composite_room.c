/* Room, slots and refusals of composites: what is free stays free, and what fails changes nothing. */
#include "core/text.h"
#include "tests/support/composites.h"
#include "tests/support/suite.h"

START_TEST(room_stays_when_more_of_it_is_refused) {
    leat_failing_alloc failing;
    leat_failing_alloc_init(&failing, leat_unpooled());
    leat_composite *composite = leat_composite_new(&failing.alloc, 2);
    leat_bytebuf *buf = leat_composite_buffer(composite);
    ck_assert_int_eq(leat_composite_add(composite, text("abc")), 0);
    memcpy(leat_bytebuf_room(buf, 8), "12345678", 8);
    failing.from_then_on = true;
    failing.fail_at = 1;
    ck_assert_int_eq(leat_bytebuf_reserve(buf, 100000), LEAT_ENOMEM);
    ck_assert_int_eq(leat_bytebuf_reserve(buf, UINT64_MAX), LEAT_ELIMIT);
    ck_assert(leat_bytebuf_wrote(buf, 4));
    ck_assert_int_eq(leat_bytebuf_reserve(buf, 100000), LEAT_ENOMEM);
    leat_bytebuf_put_u16(buf, 0x2b2b);
    assert_text(composite, "abc1234++");
    end(composite);
}
END_TEST

/* However the room came about, what is asked of components before and after it agrees. */
START_TEST(room_is_no_component_until_something_is_in_it) {
    for (int way = 0; way < 3; way++) {
        leat_composite *composite = three();
        leat_bytebuf *buf = leat_composite_buffer(composite);
        if (way < 2)
            ck_assert_int_eq(leat_bytebuf_reserve(buf, way ? 3000 : 8), 0);
        else
            ck_assert_int_eq(leat_text_write_utf8(buf, "fault: \xff", 8, LEAT_TEXT_STRICT), LEAT_ECORRUPT);
        ck_assert_uint_eq(leat_composite_component_count(composite), 3);
        ck_assert_uint_eq(leat_composite_component_at(composite, 9), 3);
        ck_assert_uint_eq(leat_composite_component_index(composite, 3), 9);
        ck_assert_ptr_null(leat_composite_component(composite, 3).bytes);
        ck_assert_int_eq(leat_composite_insert(composite, 3, text("!")), 0);
        ck_assert_int_eq(leat_composite_remove(composite, 2, 1), 0);
        assert_text(composite, "abcdefg!");
        ck_assert(leat_bytebuf_write_u8(buf, '+') && leat_composite_component_count(composite) == 4);
        end(composite);
    }
}
END_TEST

START_TEST(clear_drops_every_component_also_empty_ones) {
    static const char *const rows[][4] = {{NULL}, {"", NULL}, {"", "ab", NULL}, {"ab", "", NULL}, {"a", "", "b", NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        leat_composite *composite = composite_of(rows[i]);
        leat_bytebuf *buf = leat_composite_buffer(composite);
        ck_assert(leat_bytebuf_skip(buf, leat_bytebuf_readable(buf) / 2));
        ck_assert(leat_bytebuf_clear(buf));
        ck_assert_uint_eq(leat_composite_component_count(composite), 0);
        ck_assert(leat_bytebuf_write_u8(buf, 'x') && leat_bytebuf_prepend(buf, "y", 1));
        assert_text(composite, "yx");
        end(composite);
    }
}
END_TEST

START_TEST(a_stack_of_components_does_not_grow_for_ever) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_composite *composite = leat_composite_new(&counting.alloc, 4);
    leat_composite_add(composite, text("body"));
    for (int i = 0; i < 10000; i++) {
        for (int n = 0; n < 3; n++)
            ck_assert_int_eq(leat_composite_prepend(composite, text("h")), 0);
        ck_assert_int_eq(leat_composite_remove(composite, 0, i < 2 ? 2 : 3), 0);
    }
    assert_text(composite, "hhbody");
    ck_assert_uint_lt(counting.counted.allocations, 4);
    end(composite);
}
END_TEST

/* Bytes that are said to be there and never looked at fill it up to 2^63 - 1. */
START_TEST(no_sum_of_components_goes_beyond_what_an_index_can_be) {
    leat_composite *composite = three();
    leat_bytebuf *buf = leat_composite_buffer(composite), *list[] = {text("one"), text("two")};
    ck_assert_int_eq(leat_composite_add_static(composite, "", (size_t)INT64_MAX - 9 - 5), 0);
    uint64_t writer = leat_bytebuf_writer_index(buf);
    ck_assert_int_eq(leat_composite_add_static(composite, "", SIZE_MAX), LEAT_ELIMIT);
    ck_assert_int_eq(leat_composite_add(composite, text("123456")), LEAT_ELIMIT);
    ck_assert_int_eq(leat_composite_add_list(composite, list, 2), LEAT_ELIMIT);
    ck_assert_int_eq(leat_composite_add_flattened(composite, text("123456789"), 1, 6), LEAT_ELIMIT);
    ck_assert_int_eq(leat_composite_insert(composite, 0, text("123456")), LEAT_ELIMIT);
    ck_assert_int_eq(leat_composite_prepend(composite, leat_composite_buffer(three())), LEAT_ELIMIT);
    ck_assert_int_eq(leat_composite_prepend_bytes(composite, "123456", 6), LEAT_ELIMIT);
    ck_assert_int_eq(leat_composite_add_bytes(composite, "123456", 6), LEAT_ELIMIT);
    ck_assert_int_eq(leat_bytebuf_reserve(buf, 6), LEAT_ELIMIT);
    ck_assert(leat_composite_component_count(composite) == 4 && leat_bytebuf_writer_index(buf) == writer);
    ck_assert_int_eq(leat_composite_add(composite, text("12345")), 0);
    end(composite);
}
END_TEST

/* ---- what fails changes nothing ---- */

static leat_composite *source(bool shared, leat_bytebuf **other) {
    leat_composite *made = composite_of((const char *const[]){"1", "2", "3", "4", "5", "6", "7", NULL});
    *other = shared ? leat_bytebuf_retain(leat_composite_buffer(made)) : NULL;
    return made;
}

/* A composite of seven goes in front of one with two bytes read and no free slots; the n-th allocation fails. */
static int prepend_with_failure(uint64_t fail_at, bool shared) {
    leat_failing_alloc failing;
    leat_failing_alloc_init(&failing, leat_unpooled());
    leat_composite *composite = leat_composite_new(&failing.alloc, 0);
    leat_bytebuf *buf = leat_composite_buffer(composite), *other;
    ck_assert_int_eq(leat_composite_add(composite, text("abcdef")), 0);
    ck_assert(leat_bytebuf_skip(buf, 2));
    leat_composite *given = source(shared, &other);
    failing.fail_at = failing.asked + fail_at;
    int status = leat_composite_prepend(composite, leat_composite_buffer(given));
    assert_text(composite, status == 0 ? "1234567cdef" : "cdef");
    ck_assert_uint_eq(leat_bytebuf_reader_index(buf), status == 0 ? 0 : 2);
    leat_bytebuf_release(other);
    end(composite);
    return status;
}

START_TEST(a_prepend_that_fails_leaves_the_indices_too) {
    for (int shared = 0; shared < 2; shared++) {
        ck_assert_int_eq(prepend_with_failure(1, shared), LEAT_ENOMEM);
        uint64_t n = 2;
        while (prepend_with_failure(n, shared) != 0)
            n++;
        ck_assert_uint_lt(n, 10);
    }
}
END_TEST

int main(void) {
    return suite_run("composite_room", (const TTest *const[]){room_stays_when_more_of_it_is_refused,
                                                              room_is_no_component_until_something_is_in_it,
                                                              clear_drops_every_component_also_empty_ones,
                                                              a_stack_of_components_does_not_grow_for_ever,
                                                              no_sum_of_components_goes_beyond_what_an_index_can_be,
                                                              a_prepend_that_fails_leaves_the_indices_too, NULL});
}
