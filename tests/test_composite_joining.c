/* Composites that take, give and share components, and lose nothing when they cannot. */
#include "core/composite.h"
#include "tests/support/composites.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

START_TEST(decompose_gives_a_slice_of_each_part) {
    leat_composite *composite = three();
    leat_bytebuf *slices[3];
    ck_assert_int_eq(leat_composite_decompose(composite, 1, 7, slices, 2), LEAT_ERANGE);
    ck_assert_int_eq(leat_composite_decompose(composite, 1, 9, slices, 3), LEAT_ERANGE);
    ck_assert_int_eq(leat_composite_decompose(composite, 4, 0, slices, 3), 0);
    ck_assert_int_eq(leat_composite_decompose(composite, 1, 7, slices, 3), 3);
    end(composite);
    ck_assert(leat_bytebuf_equals_bytes(slices[0], "bc", 2));
    ck_assert(leat_bytebuf_equals_bytes(slices[1], "defg", 4));
    ck_assert(leat_bytebuf_equals_bytes(slices[2], "h", 1));
    for (int i = 0; i < 3; i++)
        leat_bytebuf_release(slices[i]);
}
END_TEST

START_TEST(a_composite_added_gives_its_components_over) {
    leat_composite *outer = three();
    leat_composite *inner = composite_of((const char *const[]){"--", "jkl", NULL});
    leat_bytebuf_write_bytes(leat_composite_buffer(inner), "mno", 3);
    leat_composite_add_static(inner, "pq", 2);
    ck_assert(leat_bytebuf_skip(leat_composite_buffer(inner), 3));
    ck_assert_int_eq(leat_composite_add(outer, leat_composite_buffer(inner)), 0);
    assert_text(outer, "abcdefghiklmnopq");
    ck_assert_uint_eq(leat_composite_component_count(outer), 6);
    ck_assert_int_eq(leat_composite_prepend(outer, leat_composite_buffer(three())), 0);
    assert_text(outer, "abcdefghiabcdefghiklmnopq");
    end(outer);
}
END_TEST

START_TEST(a_shared_composite_added_stays_as_it_is) {
    leat_composite *inner = three();
    leat_bytebuf_write_bytes(leat_composite_buffer(inner), "own", 3);
    leat_composite *outer = leat_composite_new(leat_unpooled(), 1);
    ck_assert_int_eq(leat_composite_add(outer, leat_bytebuf_retain(leat_composite_buffer(inner))), 0);
    assert_text(inner, "abcdefghiown");
    assert_text(outer, "abcdefghiown");
    ck_assert(!leat_bytebuf_set_u8(leat_composite_buffer(outer), 0, 'X'));
    end(inner);
    assert_text(outer, "abcdefghiown");
    end(outer);
}
END_TEST

START_TEST(flattened_takes_a_part_of_the_argument) {
    leat_composite *composite = leat_composite_new(leat_unpooled(), 4);
    ck_assert_int_eq(leat_composite_add_flattened(composite, text("0123456789"), 3, 4), 0);
    ck_assert_int_eq(leat_composite_add_flattened(composite, leat_composite_buffer(three()), 2, 6), 0);
    assert_text(composite, "3456cdefgh");
    ck_assert_int_eq(leat_composite_add_flattened(composite, text("short"), 3, 3), LEAT_ERANGE);
    ck_assert_int_eq(leat_composite_add_flattened(composite, text("short"), UINT64_MAX, 3), LEAT_ERANGE);
    ck_assert_int_eq(leat_composite_add_flattened(composite, NULL, 0, 0), LEAT_EINVAL);
    assert_text(composite, "3456cdefgh");
    end(composite);
}
END_TEST

START_TEST(null_and_the_composite_itself_are_errors_that_lose_nothing) {
    leat_composite *composite = three();
    ck_assert_int_eq(leat_composite_add(composite, NULL), LEAT_EINVAL);
    ck_assert_int_eq(leat_composite_add(composite, leat_composite_buffer(composite)), LEAT_EINVAL);
    ck_assert_int_eq(leat_composite_prepend(composite, NULL), LEAT_EINVAL);
    ck_assert_int_eq(leat_composite_insert(composite, 0, NULL), LEAT_EINVAL);
    leat_bytebuf *list[] = {text("one"), NULL, text("two")};
    ck_assert_int_eq(leat_composite_add_list(composite, list, 3), LEAT_EINVAL);
    assert_text(composite, "abcdefghi");
    end(composite);
}
END_TEST

START_TEST(a_list_is_added_as_a_whole) {
    leat_composite *composite = three();
    leat_bytebuf *list[] = {text("one"), text(""), leat_composite_buffer(three()), text("two")};
    ck_assert_int_eq(leat_composite_add_list(composite, list, 4), 0);
    ck_assert_int_eq(leat_composite_add_list(composite, NULL, 0), 0);
    assert_text(composite, "abcdefghioneabcdefghitwo");
    end(composite);
}
END_TEST

START_TEST(a_shared_composite_refuses_and_releases_what_it_is_given) {
    leat_composite *composite = three();
    leat_bytebuf *buf = leat_bytebuf_retain(leat_composite_buffer(composite));
    leat_bytebuf *list[] = {text("one"), text("two")};
    ck_assert_int_eq(leat_composite_add(composite, text("x")), LEAT_ESHARED);
    ck_assert_int_eq(leat_composite_add_list(composite, list, 2), LEAT_ESHARED);
    ck_assert_int_eq(leat_composite_add_static(composite, "x", 1), LEAT_ESHARED);
    ck_assert_int_eq(leat_composite_add_bytes(composite, "x", 1), LEAT_ESHARED);
    ck_assert_int_eq(leat_composite_insert(composite, 0, text("x")), LEAT_ESHARED);
    ck_assert_int_eq(leat_composite_prepend(composite, text("x")), LEAT_ESHARED);
    ck_assert_int_eq(leat_composite_prepend_bytes(composite, "x", 1), LEAT_ESHARED);
    ck_assert_int_eq(leat_composite_remove(composite, 0, 1), LEAT_ESHARED);
    ck_assert_int_eq(leat_composite_consolidate(composite, 0, 2), LEAT_ESHARED);
    assert_text(composite, "abcdefghi");
    leat_bytebuf_release(buf);
    end(composite);
}
END_TEST

START_TEST(a_slice_inside_one_component_is_plain) {
    leat_composite *composite = three();
    leat_bytebuf *plain = leat_bytebuf_slice(leat_composite_buffer(composite), 4, 2);
    leat_bytebuf *across = leat_bytebuf_slice(leat_composite_buffer(composite), 1, 7);
    ck_assert_ptr_null(leat_composite_of(plain));
    ck_assert_ptr_nonnull(leat_composite_of(across));
    end(composite);
    ck_assert(leat_bytebuf_equals_bytes(plain, "ef", 2));
    ck_assert(leat_bytebuf_equals_bytes(across, "bcdefgh", 7));
    leat_bytebuf_release(plain);
    leat_bytebuf_release(across);
}
END_TEST

START_TEST(splits_take_the_components_along) {
    for (uint64_t n = 0; n <= 12; n++) {
        leat_composite *composite = three();
        leat_bytebuf *buf = leat_composite_buffer(composite);
        leat_bytebuf_write_bytes(buf, "jklmn", 5);
        ck_assert(leat_bytebuf_skip(buf, 2));
        leat_bytebuf *part = leat_bytebuf_split(buf, n);
        ck_assert(leat_bytebuf_equals_bytes(part, "cdefghijklmn", n));
        ck_assert(leat_bytebuf_equals_bytes(buf, &"cdefghijklmn"[n], 12 - n));
        ck_assert(n == 0 || leat_bytebuf_set_u8(part, leat_bytebuf_writer_index(part) - 1, 'X'));
        ck_assert(leat_bytebuf_write_u8(buf, '!'));
        ck_assert(leat_bytebuf_is_valid(part) && leat_bytebuf_is_valid(buf));
        end(composite);
        leat_bytebuf_release(part);
    }
}
END_TEST

START_TEST(a_split_behind_an_empty_component_takes_all_of_its_bytes) {
    leat_composite *composite = composite_of((const char *const[]){"", "abc", "defg", "hi", NULL});
    leat_bytebuf *buf = leat_composite_buffer(composite);
    leat_bytebuf *part = leat_bytebuf_split(buf, 5);
    ck_assert(leat_bytebuf_equals_bytes(part, "abcde", 5));
    assert_text(composite, "fghi");
    leat_bytebuf_release(part);
    end(composite);
}
END_TEST

START_TEST(own_copies_a_composite_only_when_something_is_shared) {
    leat_bytebuf *buf = leat_composite_buffer(three());
    leat_bytebuf *before = buf;
    ck_assert_int_eq(leat_bytebuf_own(&buf), 0);
    ck_assert_ptr_eq(buf, before);
    leat_bytebuf *slice = leat_bytebuf_slice(buf, 1, 4);
    ck_assert_int_eq(leat_bytebuf_own(&slice), 0);
    ck_assert(leat_bytebuf_set_u8(slice, 0, 'X'));
    ck_assert(leat_bytebuf_equals_bytes(buf, "abcdefghi", 9));
    leat_bytebuf_release(slice);
    leat_bytebuf_release(buf);
}
END_TEST

/* ---- no stale window ---- */

/** A change of structure and what "abcdefghi" in three components becomes; the reader stands at 1. */
typedef struct change {
    bool (*make)(leat_composite *composite);
    const char *name;
    const char *expected;
} change;

static bool adds(leat_composite *composite) {
    return leat_composite_add(composite, text("!")) == 0;
}

static bool adds_bytes(leat_composite *composite) {
    return leat_composite_add_bytes(composite, "!", 1) == 0;
}

static bool prepends(leat_composite *composite) {
    return leat_composite_prepend(composite, text("!")) == 0;
}

static bool prepends_bytes(leat_composite *composite) {
    return leat_composite_prepend_bytes(composite, "!", 1) == 0;
}

static bool inserts(leat_composite *composite) {
    return leat_composite_insert(composite, 1, text("!")) == 0;
}

static bool removes(leat_composite *composite) {
    return leat_composite_remove(composite, 1, 1) == 0;
}

static bool discards(leat_composite *composite) {
    return leat_composite_discard_read(composite) == 0;
}

static bool consolidates(leat_composite *composite) {
    return leat_composite_consolidate(composite, 1, 2) == 0;
}

static bool shortens(leat_composite *composite) {
    return leat_bytebuf_set_writer_index(leat_composite_buffer(composite), 5);
}

static bool splits(leat_composite *composite) {
    leat_bytebuf *part = leat_bytebuf_split(leat_composite_buffer(composite), 4);
    leat_bytebuf_release(part);
    return part != NULL;
}

static bool owns(leat_composite *composite) {
    leat_bytebuf *buf = leat_composite_buffer(composite);
    return leat_bytebuf_own(&buf) == 0 && leat_bytebuf_set_u8(buf, 1, 'B');
}

static const change changes[] = {
    {adds, "add", "bcdefghi!"},
    {adds_bytes, "add_bytes", "bcdefghi!"},
    {prepends, "prepend", "!bcdefghi"},
    {prepends_bytes, "prepend_bytes", "!bcdefghi"},
    {inserts, "insert", "bc!defghi"},
    {removes, "remove", "bchi"},
    {discards, "discard_read", "bcdefghi"},
    {consolidates, "consolidate", "bcdefghi"},
    {shortens, "set_writer_index", "bcde"},
    {splits, "split", "fghi"},
    {owns, "own", "Bcdefghi"},
};

/* Looks at byte `looked` before the change, and at byte `first` of what is readable after it. */
static void assert_seen_anew(const change *of, uint64_t looked, uint64_t first) {
    leat_composite *composite = three();
    leat_bytebuf *buf = leat_composite_buffer(composite);
    uint8_t byte;
    ck_assert(leat_bytebuf_read_u8(buf, &byte));
    ck_assert_uint_eq(leat_bytebuf_get_u8(buf, looked), (uint8_t) "abcdefghi"[looked]);
    ck_assert_msg(of->make(composite), "%s", of->name);
    ck_assert_msg(leat_bytebuf_get_u8(buf, leat_bytebuf_reader_index(buf) + first) == (uint8_t)of->expected[first],
                  "first look after %s", of->name);
    for (const char *expected = of->expected; *expected; expected++) {
        uint64_t at = leat_bytebuf_reader_index(buf);
        ck_assert_msg(leat_bytebuf_get_u8(buf, at) == (uint8_t)*expected, "get after %s", of->name);
        ck_assert_msg(leat_bytebuf_read_u8(buf, &byte) && byte == (uint8_t)*expected, "read after %s", of->name);
    }
    ck_assert(!leat_bytebuf_read_u8(buf, &byte) && leat_bytebuf_write_u8(buf, '+'));
    ck_assert(leat_bytebuf_read_u8(buf, &byte) && byte == '+' && leat_bytebuf_is_valid(buf));
    end(composite);
}

START_TEST(every_change_of_structure_forgets_where_one_looked_last) {
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        for (uint64_t looked = 0; looked < 9; looked++)
            for (uint64_t first = 0; first < strlen(changes[i].expected); first++)
                assert_seen_anew(&changes[i], looked, first);
}
END_TEST

START_TEST(a_list_of_a_hundred_thousand_is_one_linear_operation) {
    enum { MANY = 100000 };
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_bytebuf *piece = text("0123456789"), **list = malloc(MANY * sizeof(leat_bytebuf *));
    ck_assert_ptr_nonnull(list);
    for (size_t i = 0; i < MANY; i++)
        list[i] = leat_bytebuf_retain(piece);
    leat_composite *composite = leat_composite_new(&counting.alloc, 0);
    ck_assert_int_eq(leat_composite_add_list(composite, list, MANY), 0);
    ck_assert_uint_eq(leat_composite_component_count(composite), MANY);
    ck_assert_uint_le(counting.counted.allocations, 2);
    ck_assert_uint_lt(counting.counted.bytes, 2 * 24 * MANY);
    ck_assert_uint_eq(counting.counted.copied, 0);
    free(list);
    end(composite);
    leat_bytebuf_release(piece);
}
END_TEST

/* Every kind of growth and sharing once, with memory that may run out at any point. */
static bool build(leat_alloc *alloc) {
    leat_composite *composite = leat_composite_new(alloc, 1);
    if (!composite)
        return false;
    leat_bytebuf *buf = leat_composite_buffer(composite);
    bool ok = true;
    for (int i = 0; i < 6; i++) {
        ok &= leat_composite_add(composite, text("0123456789")) == 0;
        ok &= leat_bytebuf_write_zero(buf, 300);
        ok &= leat_composite_prepend_bytes(composite, "0123456789abcdef", 16) == 0;
        ok &= leat_composite_insert(composite, 1, leat_composite_buffer(three())) == 0;
    }
    leat_bytebuf *list[] = {text("one"), leat_composite_buffer(three()), text("two")};
    ok &= leat_composite_add_list(composite, list, 3) == 0;
    leat_bytebuf *slice = leat_bytebuf_slice(buf, 5, leat_bytebuf_readable(buf) - 5);
    leat_bytebuf *part = leat_bytebuf_split(buf, leat_bytebuf_readable(buf) / 2);
    ok &= slice && part && leat_composite_consolidate(composite, 0, leat_composite_component_count(composite)) == 0;
    ck_assert(leat_bytebuf_is_valid(buf));
    leat_bytebuf_release(slice);
    leat_bytebuf_release(part);
    leat_bytebuf_release(buf);
    return ok;
}

START_TEST(every_failed_allocation_loses_nothing) {
    uint64_t fail_at = 1;
    for (bool built = false; !built; fail_at++) {
        leat_failing_alloc failing;
        leat_counting_alloc counting;
        leat_counting_alloc_init(&counting, leat_unpooled());
        leat_failing_alloc_init(&failing, &counting.alloc);
        failing.fail_at = fail_at;
        built = build(&failing.alloc);
        ck_assert_uint_eq(counting.counted.live, 0);
    }
    ck_assert_uint_gt(fail_at, 15);
}
END_TEST

START_TEST(components_that_come_to_more_than_a_buffer_may_have_are_refused_and_change_nothing) {
    leat_composite *composite = leat_composite_new(leat_unpooled(), 4);
    leat_bytebuf *vast = leat_bytebuf_wrap_static(leat_unpooled(), "", (size_t)INT64_MAX / 2);
    ck_assert_int_eq(leat_composite_add(composite, leat_bytebuf_retain(vast)), 0);
    ck_assert_int_eq(leat_composite_add(composite, leat_bytebuf_retain(vast)), 0);
    leat_bytebuf *pair[] = {leat_bytebuf_retain(vast), leat_bytebuf_retain(vast)};
    ck_assert_int_eq(leat_composite_add(composite, leat_bytebuf_retain(vast)), LEAT_ELIMIT);
    ck_assert_int_eq(leat_composite_add_list(composite, pair, 2), LEAT_ELIMIT);
    ck_assert_int_eq(leat_composite_add_static(composite, "xy", 2), LEAT_ELIMIT);
    ck_assert_int_eq(leat_composite_insert(composite, 1, leat_bytebuf_retain(vast)), LEAT_ELIMIT);
    ck_assert_int_eq(leat_composite_prepend(composite, leat_bytebuf_retain(vast)), LEAT_ELIMIT);
    ck_assert_int_eq(leat_composite_add_flattened(composite, leat_bytebuf_retain(vast), 5, 2), LEAT_ELIMIT);
    ck_assert_uint_eq(leat_composite_component_count(composite), 2);
    ck_assert_uint_eq(leat_bytebuf_readable(leat_composite_buffer(composite)), INT64_MAX - 1);
    ck_assert(leat_bytebuf_is_valid(leat_composite_buffer(composite)));
    leat_bytebuf_release(vast);
    leat_bytebuf_release(leat_composite_buffer(composite));
}
END_TEST

int main(void) {
    return suite_run("composite_joining",
                     (const TTest *const[]){
                         decompose_gives_a_slice_of_each_part, a_composite_added_gives_its_components_over,
                         a_shared_composite_added_stays_as_it_is, flattened_takes_a_part_of_the_argument,
                         null_and_the_composite_itself_are_errors_that_lose_nothing, a_list_is_added_as_a_whole,
                         a_shared_composite_refuses_and_releases_what_it_is_given,
                         a_slice_inside_one_component_is_plain, splits_take_the_components_along,
                         a_split_behind_an_empty_component_takes_all_of_its_bytes,
                         own_copies_a_composite_only_when_something_is_shared,
                         every_change_of_structure_forgets_where_one_looked_last,
                         a_list_of_a_hundred_thousand_is_one_linear_operation, every_failed_allocation_loses_nothing,
                         components_that_come_to_more_than_a_buffer_may_have_are_refused_and_change_nothing, NULL});
}
