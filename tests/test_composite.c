#include "core/composite.h"
#include "core/cursor.h"
#include "tests/support/composites.h"
#include "tests/support/suite.h"

#include <string.h>

START_TEST(its_components_read_as_one_buffer) {
    leat_composite *composite = three();
    assert_text(composite, "abcdefghi");
    ck_assert_uint_eq(leat_composite_component_count(composite), 3);
    ck_assert_uint_eq(leat_composite_component_at(composite, 3), 1);
    ck_assert_uint_eq(leat_composite_component_at(composite, 9), 3);
    ck_assert_uint_eq(leat_composite_component_index(composite, 2), 7);
    ck_assert_mem_eq(leat_composite_component(composite, 1).bytes, "defg", 4);
    ck_assert_ptr_null(leat_composite_component(composite, 3).bytes);
    ck_assert_ptr_eq(leat_composite_of(leat_composite_buffer(composite)), composite);
    end(composite);
}
END_TEST

START_TEST(a_plain_buffer_is_no_composite) {
    leat_bytebuf *buf = text("x");
    ck_assert_ptr_null(leat_composite_of(buf));
    ck_assert_ptr_null(leat_composite_of(NULL));
    ck_assert_ptr_null(leat_composite_buffer(NULL));
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(values_are_read_and_changed_across_borders) {
    for (size_t cut = 0; cut <= 8; cut++) {
        leat_composite *composite = leat_composite_new(leat_unpooled(), 2);
        leat_composite_add(composite, leat_bytebuf_from_bytes(leat_unpooled(), "\1\2\3\4\5\6\7\10", cut));
        leat_composite_add(composite, leat_bytebuf_from_bytes(leat_unpooled(), &"\1\2\3\4\5\6\7\10"[cut], 8 - cut));
        leat_bytebuf *buf = leat_composite_buffer(composite);
        ck_assert_uint_eq(leat_bytebuf_get_u64(buf, 0), 0x0102030405060708);
        ck_assert_uint_eq(leat_bytebuf_get_u24_le(buf, 2), 0x050403);
        ck_assert(leat_bytebuf_set_u32(buf, 2, 0xa0b0c0d0));
        uint64_t value;
        ck_assert(leat_bytebuf_read_u64_le(buf, &value));
        ck_assert_uint_eq(value, 0x0807d0c0b0a00201);
        end(composite);
    }
}
END_TEST

START_TEST(searches_and_comparisons_ignore_borders) {
    leat_composite *composite = three();
    leat_bytebuf *buf = leat_composite_buffer(composite);
    leat_bytebuf *flat = text("abcdefghi");
    ck_assert_int_eq(leat_bytebuf_find(buf, 0, "cdefgh", 6), 2);
    ck_assert_int_eq(leat_bytebuf_find(buf, 0, "gi", 2), -1);
    ck_assert_int_eq(leat_bytebuf_find(buf, 3, "hi", 2), 7);
    ck_assert_int_eq(leat_bytebuf_find_byte(buf, 4, 'h'), 7);
    ck_assert_int_eq(leat_bytebuf_find_any(buf, 1, "zih", 3), 7);
    ck_assert(leat_bytebuf_equals(buf, flat));
    ck_assert_uint_eq(leat_bytebuf_hash(buf), leat_bytebuf_hash(flat));
    ck_assert_ptr_null(leat_bytebuf_data(buf));
    ck_assert_ptr_nonnull(leat_bytebuf_contiguous(buf, 3, 4));
    ck_assert_ptr_null(leat_bytebuf_contiguous(buf, 3, 5));
    leat_bytebuf_release(flat);
    end(composite);
}
END_TEST

START_TEST(writes_append_to_a_component_of_its_own) {
    leat_composite *composite = three();
    leat_bytebuf *buf = leat_composite_buffer(composite);
    for (uint32_t i = 0; i < 1000; i++)
        ck_assert(leat_bytebuf_write_u32(buf, i));
    ck_assert_uint_eq(leat_bytebuf_readable(buf), 4009);
    leat_composite_add(composite, text("end"));
    ck_assert(leat_bytebuf_write_u8(buf, '!'));
    for (uint32_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(leat_bytebuf_get_u32(buf, 9 + 4 * i), i);
    ck_assert_int_eq(leat_bytebuf_find(buf, 0, "end!", 4), 4009);
    ck_assert(leat_bytebuf_set_u32(buf, 9, 77));
    ck_assert(leat_bytebuf_is_valid(buf));
    end(composite);
}
END_TEST

START_TEST(reserved_room_is_contiguous_and_kept_over_reads) {
    leat_composite *composite = three();
    leat_bytebuf *buf = leat_composite_buffer(composite);
    ck_assert_int_eq(leat_bytebuf_reserve(buf, 300), 0);
    ck_assert_uint_ge(leat_bytebuf_writable(buf), 300);
    ck_assert_uint_eq(leat_bytebuf_get_u8(buf, 0), 'a');
    uint8_t *room = leat_bytebuf_room(buf, 300);
    memset(room, 'r', 300);
    ck_assert(leat_bytebuf_set_writer_index(buf, 309));
    ck_assert_uint_eq(leat_bytebuf_get_u8(buf, 308), 'r');
    ck_assert(leat_bytebuf_is_valid(buf));
    end(composite);
}
END_TEST

START_TEST(looking_elsewhere_does_not_lose_reserved_room) {
    leat_composite *composite = three();
    leat_bytebuf *buf = leat_composite_buffer(composite);
    ck_assert_int_eq(leat_bytebuf_reserve(buf, 8), 0);
    leat_bytebuf_put_u16(buf, 0x4142);
    ck_assert_uint_eq(leat_bytebuf_get_u8(buf, 4), 'e');
    leat_bytebuf_put_u16(buf, 0x4344);
    leat_writer writer = leat_writer_begin(buf);
    ck_assert(leat_writer_u8(&writer, 'E'));
    ck_assert_uint_eq(leat_bytebuf_get_u8(buf, 0), 'a');
    ck_assert(leat_writer_u8(&writer, 'F'));
    leat_writer_finish(&writer);
    assert_text(composite, "abcdefghiABCDEF");
    end(composite);
}
END_TEST

START_TEST(moving_the_writer_back_drops_what_is_behind_it) {
    leat_composite *composite = three();
    leat_bytebuf *buf = leat_composite_buffer(composite);
    ck_assert(leat_bytebuf_set_writer_index(buf, 5));
    assert_text(composite, "abcde");
    ck_assert(leat_bytebuf_write_bytes(buf, "XY", 2));
    assert_text(composite, "abcdeXY");
    ck_assert(leat_bytebuf_set_writer_index(buf, 3));
    ck_assert_uint_eq(leat_composite_component_count(composite), 1);
    ck_assert(leat_bytebuf_clear(buf));
    ck_assert_uint_eq(leat_composite_component_count(composite), 0);
    ck_assert(leat_bytebuf_write_bytes(buf, "anew", 4));
    assert_text(composite, "anew");
    end(composite);
}
END_TEST

START_TEST(it_never_consolidates_and_adding_is_linear) {
    enum { MANY = 100000 };
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_bytebuf *piece = text("0123456789");
    leat_composite *composite = leat_composite_new(&counting.alloc, 0);
    int failures = 0;
    for (int i = 0; i < MANY; i++)
        failures += leat_composite_add(composite, leat_bytebuf_retain(piece)) != 0;
    ck_assert_int_eq(failures, 0);
    leat_bytebuf *buf = leat_composite_buffer(composite);
    ck_assert_uint_eq(leat_bytebuf_span_count(buf), MANY);
    ck_assert_uint_eq(leat_bytebuf_readable(buf), 10 * MANY);
    ck_assert_uint_eq(counting.counted.copied, 0);
    ck_assert_uint_lt(counting.counted.bytes, 16 * 24 * MANY);
    for (uint64_t i = 0; i < 10 * MANY; i += 99)
        failures += leat_bytebuf_get_u8(buf, i) != '0' + i % 10;
    ck_assert_int_eq(failures, 0);
    end(composite);
    leat_bytebuf_release(piece);
}
END_TEST

START_TEST(a_queue_of_components_does_not_grow_for_ever) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_composite *composite = leat_composite_new(&counting.alloc, 8);
    leat_bytebuf *buf = leat_composite_buffer(composite);
    for (int i = 0; i < 10000; i++) {
        leat_composite_add(composite, text("frame"));
        leat_bytebuf_skip(buf, i < 3 ? 0 : 5);
        leat_composite_discard_read(composite);
    }
    assert_text(composite, "frameframeframe");
    ck_assert_uint_lt(counting.counted.allocations, 4);
    end(composite);
}
END_TEST

START_TEST(empty_components_are_legal_and_give_no_span) {
    leat_composite *composite = composite_of((const char *const[]){"", "ab", "", "", "cd", "", NULL});
    leat_bytebuf *buf = leat_composite_buffer(composite);
    ck_assert_uint_eq(leat_composite_component_count(composite), 6);
    ck_assert_uint_eq(leat_bytebuf_span_count(buf), 2);
    ck_assert_uint_eq(leat_bytebuf_get_u32(buf, 0), 0x61626364);
    ck_assert_int_eq(leat_composite_insert(composite, 3, text("-")), 0);
    assert_text(composite, "ab-cd");
    ck_assert_int_eq(leat_composite_remove(composite, 0, 1), 0);
    ck_assert_int_eq(leat_composite_remove(composite, 5, 1), 0);
    assert_text(composite, "ab-cd");
    ck_assert(leat_bytebuf_skip(buf, 5));
    ck_assert_int_eq(leat_composite_discard_read(composite), 0);
    ck_assert_uint_eq(leat_composite_component_count(composite), 0);
    end(composite);
}
END_TEST

START_TEST(insert_keeps_the_reader_on_its_byte) {
    leat_composite *composite = three();
    leat_bytebuf *buf = leat_composite_buffer(composite);
    ck_assert(leat_bytebuf_skip(buf, 4));
    ck_assert_int_eq(leat_composite_insert(composite, 1, text("XYZ")), 0);
    assert_text(composite, "efghi");
    ck_assert_uint_eq(leat_bytebuf_get_u24(buf, 3), 0x58595a);
    ck_assert_int_eq(leat_composite_insert(composite, 4, text("!")), 0);
    ck_assert_int_eq(leat_composite_insert(composite, 3, text("?")), 0);
    assert_text(composite, "efg?hi!");
    ck_assert_int_eq(leat_composite_insert(composite, 7, text("lost")), LEAT_ERANGE);
    assert_text(composite, "efg?hi!");
    end(composite);
}
END_TEST

START_TEST(remove_clamps_the_indices) {
    leat_composite *composite = three();
    leat_bytebuf *buf = leat_composite_buffer(composite);
    ck_assert(leat_bytebuf_skip(buf, 5));
    ck_assert_uint_eq(leat_bytebuf_get_u8(buf, 8), 'i');
    ck_assert_int_eq(leat_composite_remove(composite, 1, 1), 0);
    ck_assert_uint_eq(leat_bytebuf_reader_index(buf), 3);
    assert_text(composite, "hi");
    ck_assert_int_eq(leat_composite_remove(composite, 1, 1), 0);
    ck_assert_uint_eq(leat_bytebuf_writer_index(buf), 3);
    assert_text(composite, "");
    ck_assert_int_eq(leat_composite_remove(composite, 0, 2), LEAT_ERANGE);
    ck_assert_int_eq(leat_composite_remove(composite, UINT32_MAX, UINT32_MAX), LEAT_ERANGE);
    end(composite);
}
END_TEST

START_TEST(discard_read_releases_what_was_read) {
    leat_bytebuf *first = text("first");
    leat_composite *composite = leat_composite_new(leat_unpooled(), 2);
    leat_composite_add(composite, leat_bytebuf_retain(first));
    leat_composite_add(composite, text("second"));
    leat_bytebuf *buf = leat_composite_buffer(composite);
    ck_assert(leat_bytebuf_skip(buf, 7));
    ck_assert_int_eq(leat_bytebuf_discard_read(buf), 0);
    ck_assert_uint_eq(first->refs, 1);
    ck_assert_uint_eq(leat_bytebuf_reader_index(buf), 0);
    assert_text(composite, "cond");
    leat_bytebuf_release(first);
    end(composite);
}
END_TEST

START_TEST(consolidate_merges_a_range_and_only_when_asked) {
    leat_composite *composite = three();
    leat_bytebuf *buf = leat_composite_buffer(composite);
    ck_assert(leat_bytebuf_skip(buf, 1));
    ck_assert_int_eq(leat_composite_consolidate(composite, 1, 2), 0);
    ck_assert_uint_eq(leat_composite_component_count(composite), 2);
    assert_text(composite, "bcdefghi");
    ck_assert_int_eq(leat_composite_consolidate(composite, 1, 1), 0);
    ck_assert_int_eq(leat_composite_consolidate(composite, 1, 2), LEAT_ERANGE);
    ck_assert(leat_bytebuf_write_bytes(buf, "jk", 2));
    assert_text(composite, "bcdefghijk");
    end(composite);
}
END_TEST

START_TEST(headers_in_front_allocate_nothing_and_are_one_span) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_composite *composite = leat_composite_new(&counting.alloc, 1);
    leat_bytebuf *buf = leat_composite_buffer(composite);
    leat_composite_add(composite, text("payload"));
    uint64_t before = counting.counted.allocations;
    ck_assert_int_eq(leat_composite_prepend_bytes(composite, "name", 4), 0);
    ck_assert(leat_bytebuf_prepend(buf, "\x01\x04", 2));
    ck_assert_int_eq(leat_composite_prepend_bytes(composite, "\x01\x02\x03\x04", 4), 0);
    ck_assert_uint_eq(counting.counted.allocations, before);
    ck_assert_uint_eq(leat_bytebuf_span_count(buf), 2);
    assert_text(composite, "\x01\x02\x03\x04\x01\x04namepayload");
    end(composite);
}
END_TEST

START_TEST(prepending_more_than_the_inline_bytes_works_too) {
    leat_composite *composite = leat_composite_new(leat_unpooled(), 0);
    leat_bytebuf *buf = leat_composite_buffer(composite);
    char expected[1001] = "";
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(leat_composite_prepend_bytes(composite, "0123456789", 10), 0);
        memcpy(expected + 10 * i, "0123456789", 11);
    }
    assert_text(composite, expected);
    ck_assert(leat_bytebuf_skip(buf, 995));
    ck_assert_int_eq(leat_composite_prepend(composite, text("front")), 0);
    assert_text(composite, "front56789");
    end(composite);
}
END_TEST

static void assert_resumes(const leat_bytebuf *buf, const char *expected, uint64_t step, size_t max) {
    leat_bytebuf_position position = {0, 0};
    leat_span spans[4];
    char got[64];
    size_t length = 0;
    uint64_t bytes;
    while (leat_bytebuf_spans_at(buf, position, spans, max, &bytes) > 0) {
        uint64_t taken = step < bytes ? step : bytes;
        for (size_t i = 0, left = taken; left > 0; i++) {
            size_t n = spans[i].length < left ? spans[i].length : left;
            memcpy(got + length, spans[i].bytes, n);
            length += n;
            left -= n;
        }
        leat_bytebuf_position_advance(buf, &position, taken);
    }
    ck_assert_uint_eq(length, strlen(expected));
    ck_assert_mem_eq(got, expected, length);
}

START_TEST(a_partial_write_resumes_at_the_byte_even_on_a_shared_composite) {
    leat_composite *composite = composite_of((const char *const[]){"", "abc", "d", "", "efgh", "ij", "", NULL});
    leat_bytebuf *buf = leat_composite_buffer(composite);
    ck_assert(leat_bytebuf_skip(buf, 1));
    leat_bytebuf_retain(buf);
    for (uint64_t step = 1; step < 11; step++)
        for (size_t max = 1; max <= 4; max++)
            assert_resumes(buf, "bcdefghij", step, max);
    leat_bytebuf_release(buf);
    end(composite);
}
END_TEST

START_TEST(a_cursor_reads_across_borders) {
    leat_composite *composite = three();
    leat_reader reader = leat_reader_begin(leat_composite_buffer(composite));
    uint16_t pair;
    uint8_t one;
    for (int i = 0; i < 4; i++)
        ck_assert(leat_reader_u16(&reader, &pair) && pair == (uint16_t)((('a' + 2 * i) << 8) + 'b' + 2 * i));
    ck_assert_uint_eq(leat_reader_left(&reader), 1);
    ck_assert(!leat_reader_u16(&reader, &pair));
    ck_assert(leat_reader_u8(&reader, &one) && one == 'i');
    ck_assert(leat_reader_finish(&reader));
    assert_text(composite, "");
    end(composite);
}
END_TEST

int main(void) {
    return suite_run("composite", (const TTest *const[]){its_components_read_as_one_buffer,
                                                         a_plain_buffer_is_no_composite,
                                                         values_are_read_and_changed_across_borders,
                                                         searches_and_comparisons_ignore_borders,
                                                         writes_append_to_a_component_of_its_own,
                                                         reserved_room_is_contiguous_and_kept_over_reads,
                                                         looking_elsewhere_does_not_lose_reserved_room,
                                                         moving_the_writer_back_drops_what_is_behind_it,
                                                         it_never_consolidates_and_adding_is_linear,
                                                         a_queue_of_components_does_not_grow_for_ever,
                                                         empty_components_are_legal_and_give_no_span,
                                                         insert_keeps_the_reader_on_its_byte,
                                                         remove_clamps_the_indices,
                                                         discard_read_releases_what_was_read,
                                                         consolidate_merges_a_range_and_only_when_asked,
                                                         headers_in_front_allocate_nothing_and_are_one_span,
                                                         prepending_more_than_the_inline_bytes_works_too,
                                                         a_partial_write_resumes_at_the_byte_even_on_a_shared_composite,
                                                         a_cursor_reads_across_borders,
                                                         NULL});
}
