/* Defects that were shown in Netty's buffers: none of them may be here. The numbers are those of DESIGN's references.
 */
#include "core/text.h"
#include "tests/support/composites.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static uint32_t next_random(uint64_t *random) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*random >> 33);
}

/* Two slices that do not begin where their buffers do, and an empty one between them. */
static leat_composite *slices(void) {
    leat_bytebuf *first = text("ABCDEF"), *second = text("FGHIJ");
    leat_composite *composite = leat_composite_new(leat_unpooled(), 3);
    ck_assert_int_eq(leat_composite_add(composite, leat_bytebuf_slice(first, 2, 3)), 0);
    ck_assert_int_eq(leat_composite_add(composite, leat_bytebuf_slice(first, 4, 0)), 0);
    ck_assert_int_eq(leat_composite_add(composite, leat_bytebuf_slice(second, 1, 3)), 0);
    leat_bytebuf_release(first);
    leat_bytebuf_release(second);
    return composite;
}

START_TEST(d1_bytes_of_slices_are_visited_backwards_inside_the_slices) {
    leat_composite *composite = slices();
    const leat_bytebuf *buf = leat_composite_buffer(composite);
    for (uint64_t i = 6; i-- > 0;)
        ck_assert_int_eq(leat_bytebuf_get_u8(buf, i), "CDEGHI"[i]);
    ck_assert_int_eq(leat_bytebuf_find_byte(buf, 0, 'D'), 1);
    ck_assert_int_eq(leat_bytebuf_find_byte(buf, 0, 'F'), -1);
    ck_assert_int_eq(leat_bytebuf_find_byte(buf, 0, 'B'), -1);
    assert_text(composite, "CDEGHI");
    end(composite);
}
END_TEST

static int64_t find_naively(const uint8_t *bytes, size_t length, size_t from, const uint8_t *needle, size_t n) {
    for (size_t i = from; i + n <= length; i++)
        if (memcmp(bytes + i, needle, n) == 0)
            return (int64_t)i;
    return -1;
}

/* The haystack in pieces of random length, the needle somewhere inside another buffer. */
static void check_search(uint64_t *random) {
    uint8_t bytes[64];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)("ab"[next_random(random) % 2]);
    leat_composite *composite = leat_composite_new(leat_unpooled(), 4);
    for (size_t at = 0, n; at < sizeof bytes; at += n) {
        n = 1 + next_random(random) % 20;
        n = n < sizeof bytes - at ? n : sizeof bytes - at;
        leat_composite_add(composite, leat_bytebuf_from_bytes(leat_unpooled(), bytes + at, n));
    }
    size_t offset = next_random(random) % 50, n = 2 + next_random(random) % 5, from = next_random(random) % 60;
    leat_bytebuf *needle = leat_bytebuf_from_bytes(leat_unpooled(), bytes, sizeof bytes);
    const uint8_t *sought = leat_bytebuf_contiguous(needle, offset, n);
    ck_assert_int_eq(leat_bytebuf_find(leat_composite_buffer(composite), from, sought, n),
                     find_naively(bytes, sizeof bytes, from, bytes + offset, n));
    leat_bytebuf_release(needle);
    end(composite);
}

START_TEST(d2_a_needle_from_the_middle_of_a_buffer_is_found_where_it_is) {
    uint64_t random = 2;
    for (int i = 0; i < 20000; i++)
        check_search(&random);
}
END_TEST

/* Gives a list to a composite and tells what came of it; the arguments must be gone, whatever it was. */
static int add_three(leat_composite *composite, leat_alloc *from, bool with_null) {
    leat_bytebuf *list[] = {leat_bytebuf_from_text(from, "one"), leat_bytebuf_from_text(from, "two"),
                            with_null ? NULL : leat_bytebuf_from_text(from, "three")};
    return leat_composite_add_list(composite, list, 3);
}

START_TEST(d3_a_list_that_is_refused_is_released_like_a_single_argument) {
    leat_counting_alloc counting;
    leat_failing_alloc failing;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_failing_alloc_init(&failing, leat_unpooled());
    leat_composite *composite = leat_composite_new(&failing.alloc, 0);
    leat_bytebuf *buf = leat_composite_buffer(composite);
    ck_assert_int_eq(add_three(composite, &counting.alloc, true), LEAT_EINVAL);
    failing.fail_at = failing.asked + 1;
    ck_assert_int_eq(add_three(composite, &counting.alloc, false), LEAT_ENOMEM);
    leat_bytebuf_retain(buf);
    ck_assert_int_eq(add_three(composite, &counting.alloc, false), LEAT_ESHARED);
    ck_assert_int_eq(leat_composite_add(composite, leat_bytebuf_from_text(&counting.alloc, "x")), LEAT_ESHARED);
    leat_bytebuf_release(buf);
    ck_assert_int_eq(leat_composite_insert(composite, 1, leat_bytebuf_from_text(&counting.alloc, "x")), LEAT_ERANGE);
    ck_assert_uint_eq(counting.counted.live, 0);
    ck_assert_uint_eq(leat_bytebuf_readable(buf), 0);
    end(composite);
}
END_TEST

START_TEST(d4_removing_components_leaves_indices_inside_what_is_left) {
    for (uint32_t at = 0; at < 3; at++)
        for (uint64_t reader = 0; reader <= 9; reader++) {
            leat_composite *composite = three();
            leat_bytebuf *buf = leat_composite_buffer(composite);
            uint64_t length = leat_composite_component(composite, at).length;
            ck_assert(leat_bytebuf_set_reader_index(buf, reader));
            ck_assert_int_eq(leat_composite_remove(composite, at, 1), 0);
            ck_assert_uint_eq(leat_bytebuf_writer_index(buf), 9 - length);
            ck_assert_uint_le(leat_bytebuf_reader_index(buf), leat_bytebuf_writer_index(buf));
            ck_assert_uint_le(leat_bytebuf_writer_index(buf), leat_bytebuf_capacity(buf));
            uint8_t byte;
            while (leat_bytebuf_read_u8(buf, &byte))
                continue;
            ck_assert_uint_eq(leat_bytebuf_readable(buf), 0);
            ck_assert(leat_bytebuf_is_valid(buf));
            end(composite);
        }
}
END_TEST

static void assert_utf8(const uint16_t *units, size_t n, const char *expected) {
    leat_bytebuf *buf = leat_text_from_utf16(leat_unpooled(), units, n);
    ck_assert_uint_eq(leat_text_utf16_length(units, n), strlen(expected));
    ck_assert(leat_bytebuf_equals_bytes(buf, expected, strlen(expected)));
    leat_bytebuf_release(buf);
}

START_TEST(d5_a_lone_surrogate_does_not_swallow_the_character_behind_it) {
    assert_utf8((const uint16_t[]){0xd83d, 0x20ac}, 2, "\xef\xbf\xbd\xe2\x82\xac");
    assert_utf8((const uint16_t[]){0xd83d, 0xd83d, 0xde00}, 3, "\xef\xbf\xbd\xf0\x9f\x98\x80");
    assert_utf8((const uint16_t[]){0xde00, 0xd83d}, 2, "\xef\xbf\xbd\xef\xbf\xbd");
    assert_utf8((const uint16_t[]){0xd83d, 'a', 0xe9}, 3,
                "\xef\xbf\xbd"
                "a\xc3\xa9");
    assert_utf8((const uint16_t[]){'a', 0xd83d}, 2, "a\xef\xbf\xbd");
}
END_TEST

START_TEST(d6_text_never_goes_past_the_room_that_there_is) {
    static const uint16_t euro[] = {0x20ac, 0x20ac};
    for (uint64_t most = 1; most < 6; most++) {
        leat_bytebuf *buf = leat_bytebuf_new_with(leat_unpooled(), 1, most, 0);
        ck_assert_int_eq(leat_bytebuf_reserve(buf, 1), 0);
        ck_assert_int_eq(leat_text_write_utf16(buf, euro, 2, LEAT_TEXT_STRICT), LEAT_ELIMIT);
        ck_assert_int_eq(leat_text_write_utf8(buf, "\xe2\x82\xac\xe2\x82\xac", 6, LEAT_TEXT_STRICT), LEAT_ELIMIT);
        ck_assert_uint_eq(leat_bytebuf_writer_index(buf), 0);
        ck_assert_uint_le(leat_bytebuf_capacity(buf), most);
        ck_assert(leat_bytebuf_is_valid(buf));
        leat_bytebuf_release(buf);
    }
    leat_bytebuf *grows = leat_bytebuf_new_with(leat_unpooled(), 2, 6, 0);
    ck_assert_int_eq(leat_text_write_utf16(grows, euro, 2, LEAT_TEXT_STRICT), 0);
    ck_assert(leat_bytebuf_equals_bytes(grows, "\xe2\x82\xac\xe2\x82\xac", 6));
    leat_bytebuf_release(grows);
}
END_TEST

int main(void) {
    return suite_run("buffer_defects",
                     (const TTest *const[]){d1_bytes_of_slices_are_visited_backwards_inside_the_slices,
                                            d2_a_needle_from_the_middle_of_a_buffer_is_found_where_it_is,
                                            d3_a_list_that_is_refused_is_released_like_a_single_argument,
                                            d4_removing_components_leaves_indices_inside_what_is_left,
                                            d5_a_lone_surrogate_does_not_swallow_the_character_behind_it,
                                            d6_text_never_goes_past_the_room_that_there_is, NULL});
}
