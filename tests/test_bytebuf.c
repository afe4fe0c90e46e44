#include "core/bytebuf.h"
#include "core/cursor.h"
#include "tests/support/suite.h"

#include <string.h>

static leat_bytebuf *text(const char *characters) {
    return leat_bytebuf_from_text(leat_unpooled(), characters);
}

static void assert_text(const leat_bytebuf *buf, const char *expected) {
    ck_assert(leat_bytebuf_is_valid(buf));
    ck_assert_msg(leat_bytebuf_equals_bytes(buf, expected, strlen(expected)), "the buffer does not hold \"%s\"",
                  expected);
}

START_TEST(every_value_comes_back_as_it_was_written) {
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 0);
#define ROUND_TRIP(name, type, width)                                                                                  \
    {                                                                                                                  \
        type in = (type)(sizeof(type) == 1 ? 1 : -77);                                                                 \
        type out = (type)0;                                                                                            \
        if (strncmp(#name, "u24", 3) == 0)                                                                             \
            in = (type)0xabcdef;                                                                                       \
        ck_assert(leat_bytebuf_write_##name(buf, in));                                                                 \
        uint64_t at = leat_bytebuf_writer_index(buf) - width;                                                          \
        ck_assert(leat_bytebuf_get_##name(buf, at) == in);                                                             \
        ck_assert(leat_bytebuf_set_##name(buf, at, (type)0));                                                          \
        ck_assert(leat_bytebuf_set_##name(buf, at, in));                                                               \
        ck_assert(leat_bytebuf_read_##name(buf, &out) && out == in);                                                   \
    }
    LEAT_VALUES(ROUND_TRIP)
    ck_assert_uint_eq(leat_bytebuf_readable(buf), 0);
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(plain_names_are_big_endian_and_le_is_little) {
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 64);
    leat_bytebuf_write_u16(buf, 0x0102);
    leat_bytebuf_write_u24(buf, 0x030405);
    leat_bytebuf_write_u32(buf, 0x06070809);
    leat_bytebuf_write_u64_le(buf, 0x1112131415161718);
    leat_bytebuf_write_u24_le(buf, 0x212223);
    leat_bytebuf_write_f32(buf, 1.0f);
    static const uint8_t expected[] = {1,    2,    3,    4,    5,    6,    7,    8,    9,    0x18, 0x17, 0x16,
                                       0x15, 0x14, 0x13, 0x12, 0x11, 0x23, 0x22, 0x21, 0x3f, 0x80, 0,    0};
    ck_assert(leat_bytebuf_equals_bytes(buf, expected, sizeof expected));
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(a_read_past_the_writer_moves_nothing) {
    leat_bytebuf *buf = text("abc");
    uint32_t value = 7;
    ck_assert(!leat_bytebuf_read_u32(buf, &value));
    ck_assert_uint_eq(value, 7);
    ck_assert(!leat_bytebuf_skip(buf, 4));
    ck_assert(!leat_bytebuf_skip(buf, UINT64_MAX));
    ck_assert(!leat_bytebuf_set_reader_index(buf, 4));
    ck_assert(!leat_bytebuf_set_writer_index(buf, leat_bytebuf_capacity(buf) + 1));
    assert_text(buf, "abc");
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(a_buffer_grows_up_to_its_maximum_and_no_further) {
    leat_bytebuf *buf = leat_bytebuf_new_with(leat_unpooled(), 4, 10, 0);
    ck_assert(leat_bytebuf_write_bytes(buf, "0123456789", 10));
    ck_assert(!leat_bytebuf_write_u8(buf, 1));
    ck_assert_int_eq(leat_bytebuf_reserve(buf, 1), LEAT_ELIMIT);
    ck_assert_int_eq(leat_bytebuf_reserve(buf, UINT64_MAX), LEAT_ELIMIT);
    assert_text(buf, "0123456789");
    leat_bytebuf_release(buf);
    ck_assert_ptr_null(leat_bytebuf_new_with(leat_unpooled(), 11, 10, 0));
    ck_assert_ptr_null(leat_bytebuf_new(leat_unpooled(), UINT64_MAX));
}
END_TEST

START_TEST(growth_keeps_indices_and_bytes_and_is_counted) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_bytebuf *buf = leat_bytebuf_new(&counting.alloc, 0);
    for (uint32_t i = 0; i < 10000; i++)
        ck_assert(leat_bytebuf_write_u32(buf, i));
    for (uint32_t i = 0; i < 10000; i++)
        ck_assert_uint_eq(leat_bytebuf_get_u32(buf, 4 * i), i);
    ck_assert_uint_gt(counting.counted.growths, 5);
    ck_assert_uint_lt(counting.counted.growths, 20);
    ck_assert(leat_bytebuf_is_valid(buf));
    leat_bytebuf_release(buf);
    ck_assert_uint_eq(counting.counted.live, 0);
    ck_assert_uint_eq(counting.counted.live_bytes, 0);
}
END_TEST

START_TEST(a_failed_growth_changes_nothing) {
    leat_failing_alloc failing;
    leat_failing_alloc_init(&failing, leat_unpooled());
    leat_bytebuf *buf = leat_bytebuf_from_text(&failing.alloc, "0123456789abcdef");
    failing.from_then_on = true;
    failing.fail_at = failing.asked + 1;
    uint64_t capacity = leat_bytebuf_capacity(buf);
    while (leat_bytebuf_writable(buf) > 0)
        ck_assert(leat_bytebuf_write_u8(buf, '.'));
    ck_assert(!leat_bytebuf_write_u8(buf, 'x'));
    ck_assert_int_eq(leat_bytebuf_reserve(buf, 1), LEAT_ENOMEM);
    ck_assert_uint_eq(leat_bytebuf_capacity(buf), capacity);
    ck_assert_uint_eq(leat_bytebuf_readable(buf), capacity);
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(an_exactly_sized_buffer_is_one_allocation_and_never_grows) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_bytebuf *buf = leat_bytebuf_from_text(&counting.alloc, "exactly these bytes");
    ck_assert_uint_eq(counting.counted.allocations, 1);
    ck_assert_uint_eq(counting.counted.growths, 0);
    ck_assert_uint_eq(counting.counted.copied, 0);
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(put_writes_into_reserved_room) {
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 0);
    ck_assert_int_eq(leat_bytebuf_reserve(buf, 1000), 0);
    ck_assert_uint_ge(leat_bytebuf_writable(buf), 1000);
    for (int i = 0; i < 500; i++)
        leat_bytebuf_put_u16(buf, (uint16_t)i);
    ck_assert_uint_eq(leat_bytebuf_readable(buf), 1000);
    ck_assert_uint_eq(leat_bytebuf_get_u16(buf, 998), 499);
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(room_is_written_directly_and_then_counted) {
    leat_bytebuf *buf = text("ab");
    uint8_t *room = leat_bytebuf_room(buf, 100);
    memcpy(room, "cdef", 4);
    ck_assert(leat_bytebuf_wrote(buf, 4));
    ck_assert(!leat_bytebuf_wrote(buf, leat_bytebuf_writable(buf) + 1));
    assert_text(buf, "abcdef");
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(headroom_takes_what_is_put_in_front) {
    leat_bytebuf *buf = leat_bytebuf_new_with(leat_unpooled(), 8, 0, 4);
    ck_assert_uint_eq(leat_bytebuf_headroom(buf), 4);
    leat_bytebuf_write_bytes(buf, "body", 4);
    ck_assert(leat_bytebuf_prepend(buf, "hea", 3));
    ck_assert(!leat_bytebuf_prepend(buf, "xx", 2));
    assert_text(buf, "heabody");
    leat_bytebuf_skip(buf, 5);
    ck_assert_uint_eq(leat_bytebuf_headroom(buf), 6);
    ck_assert(leat_bytebuf_prepend(buf, "ANTI", 4));
    assert_text(buf, "ANTIdy");
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(discard_brings_the_readable_bytes_to_index_0) {
    leat_bytebuf *buf = text("read, not read");
    leat_bytebuf_skip(buf, 6);
    ck_assert_int_eq(leat_bytebuf_discard_read(buf), 0);
    ck_assert_uint_eq(leat_bytebuf_reader_index(buf), 0);
    assert_text(buf, "not read");
    ck_assert(leat_bytebuf_clear(buf));
    assert_text(buf, "");
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(a_varint_has_seven_bits_a_byte) {
    static const uint64_t values[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX};
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 0);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        ck_assert(leat_bytebuf_write_varint(buf, values[i]));
    ck_assert_uint_eq(leat_bytebuf_readable(buf), 1 + 1 + 1 + 2 + 2 + 3 + 5 + 10);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        uint64_t value;
        ck_assert(leat_bytebuf_read_varint(buf, &value));
        ck_assert_uint_eq(value, values[i]);
    }
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(a_varint_tells_incomplete_from_malformed) {
    uint64_t value;
    leat_bytebuf *buf = text("\x80\x80");
    ck_assert_int_eq(leat_bytebuf_get_varint(buf, 0, &value), 0);
    ck_assert(!leat_bytebuf_read_varint(buf, &value));
    leat_bytebuf_write_bytes(buf, "\x80\x80\x80\x80\x80\x80\x80", 7);
    ck_assert_int_eq(leat_bytebuf_get_varint(buf, 0, &value), 0);
    leat_bytebuf_write_u8(buf, 2);
    ck_assert_int_eq(leat_bytebuf_get_varint(buf, 0, &value), LEAT_ECORRUPT);
    ck_assert(!leat_bytebuf_read_varint(buf, &value));
    ck_assert_uint_eq(leat_bytebuf_readable(buf), 10);
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(format_appends_text_of_any_length) {
    leat_bytebuf *buf = text("n=");
    ck_assert(leat_bytebuf_write_format(buf, "%d, %s", 42, "ok"));
    assert_text(buf, "n=42, ok");
    ck_assert(leat_bytebuf_write_format(buf, "%5000d", 1));
    ck_assert_uint_eq(leat_bytebuf_readable(buf), 5008);
    ck_assert_uint_eq(leat_bytebuf_get_u8(buf, 5007), '1');
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(a_buffer_can_be_appended_to_itself) {
    leat_bytebuf *buf = text("0123456789abcdef");
    for (int i = 0; i < 4; i++)
        ck_assert(leat_bytebuf_write_buffer(buf, buf));
    ck_assert(leat_bytebuf_write_bytes(buf, leat_bytebuf_data(buf), 256));
    ck_assert_uint_eq(leat_bytebuf_readable(buf), 512);
    ck_assert_uint_eq(leat_bytebuf_get_u8(buf, 511), 'f');
    ck_assert(leat_bytebuf_write_zero(buf, 3));
    ck_assert_uint_eq(leat_bytebuf_get_u24(buf, 512), 0);
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(find_gives_absolute_indices_from_where_it_was_told) {
    leat_bytebuf *buf = text("xabcabd");
    leat_bytebuf_skip(buf, 1);
    ck_assert_int_eq(leat_bytebuf_find_byte(buf, 0, 'a'), 1);
    ck_assert_int_eq(leat_bytebuf_find_byte(buf, 2, 'a'), 4);
    ck_assert_int_eq(leat_bytebuf_find_byte(buf, 7, 'd'), -1);
    ck_assert_int_eq(leat_bytebuf_find_any(buf, 2, "dc", 2), 3);
    ck_assert_int_eq(leat_bytebuf_find_any(buf, 0, "", 0), -1);
    ck_assert_int_eq(leat_bytebuf_find(buf, 0, "abd", 3), 4);
    ck_assert_int_eq(leat_bytebuf_find(buf, 5, "abd", 3), -1);
    ck_assert_int_eq(leat_bytebuf_find(buf, 3, "", 0), 3);
    ck_assert_int_eq(leat_bytebuf_find(buf, 0, "longer than it", 14), -1);
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(order_is_by_unsigned_bytes_and_a_prefix_comes_first) {
    leat_bytebuf *low = text("ab");
    leat_bytebuf *high = text("ab\xff");
    leat_bytebuf *middle = text("abc");
    ck_assert_int_lt(leat_bytebuf_compare(low, middle), 0);
    ck_assert_int_gt(leat_bytebuf_compare(high, middle), 0);
    ck_assert_int_eq(leat_bytebuf_compare(low, low), 0);
    ck_assert(!leat_bytebuf_equals(low, middle));
    ck_assert(leat_bytebuf_hash(low) != leat_bytebuf_hash(middle));
    leat_bytebuf_release(low);
    leat_bytebuf_release(middle);
    leat_bytebuf_release(high);
}
END_TEST

START_TEST(a_hex_dump_shows_offset_bytes_and_characters) {
    leat_bytebuf *buf = text("GET / HTTP/1.1\r\n.");
    char dump[200];
    size_t length = leat_bytebuf_hex_dump(buf, dump, sizeof dump);
    ck_assert_str_eq(dump, "00000000  47 45 54 20 2f 20 48 54 54 50 2f 31 2e 31 0d 0a  |GET / HTTP/1.1..|\n"
                           "00000010  2e                                               |.|\n");
    ck_assert_uint_eq(length, strlen(dump));
    char small[10];
    ck_assert_uint_eq(leat_bytebuf_hex_dump(buf, small, sizeof small), length);
    ck_assert_str_eq(small, "00000000 ");
    ck_assert_uint_eq(leat_bytebuf_hex_dump(buf, NULL, 0), length);
    leat_bytebuf_release(buf);
}
END_TEST

static void count_release(void *memory, size_t size, void *context) {
    ck_assert_ptr_nonnull(memory);
    *(size_t *)context += size;
}

START_TEST(wrapped_memory_is_given_back_once_by_the_last_handle) {
    char memory[8] = "12345678";
    size_t released = 0;
    leat_bytebuf *buf = leat_bytebuf_wrap(leat_unpooled(), memory, sizeof memory, count_release, &released);
    leat_bytebuf *slice = leat_bytebuf_slice(buf, 2, 3);
    leat_bytebuf_release(buf);
    ck_assert_uint_eq(released, 0);
    ck_assert(leat_bytebuf_equals_bytes(slice, "345", 3));
    leat_bytebuf_release(slice);
    ck_assert_uint_eq(released, 8);
}
END_TEST

START_TEST(wrapped_memory_is_written_in_place_and_outgrown_by_copying) {
    char memory[4] = "1234";
    size_t released = 0;
    leat_bytebuf *buf = leat_bytebuf_wrap(leat_unpooled(), memory, sizeof memory, count_release, &released);
    ck_assert(leat_bytebuf_set_u8(buf, 0, 'X'));
    ck_assert_int_eq(memory[0], 'X');
    ck_assert(leat_bytebuf_write_u8(buf, '5'));
    assert_text(buf, "X2345");
    leat_bytebuf_release(buf);
    ck_assert_uint_eq(released, 4);
}
END_TEST

/* A slice that is the last handle must not make the memory its own either. */
START_TEST(wrapped_memory_that_is_read_only_is_copied_before_it_is_changed) {
    static const char memory[4] = "1234";
    size_t released = 0;
    leat_bytebuf *buf = leat_bytebuf_wrap_read_only(leat_unpooled(), memory, sizeof memory, count_release, &released);
    leat_bytebuf *slice = leat_bytebuf_slice(buf, 1, 2);
    ck_assert(!leat_bytebuf_set_u8(buf, 0, 'X'));
    ck_assert(!leat_bytebuf_write_u8(buf, '5'));
    leat_bytebuf_release(buf);
    ck_assert_int_eq(leat_bytebuf_own(&slice), 0);
    ck_assert_uint_eq(released, 4);
    ck_assert(leat_bytebuf_set_u8(slice, leat_bytebuf_reader_index(slice), 'X'));
    assert_text(slice, "X3");
    leat_bytebuf_release(slice);
}
END_TEST

START_TEST(plain_bytes_are_one_span_and_a_position_resumes_inside) {
    leat_bytebuf *buf = text("..payload");
    leat_bytebuf_skip(buf, 2);
    leat_bytebuf_position position = {0, 0};
    leat_span span;
    uint64_t bytes;
    leat_bytebuf_position_advance(buf, &position, 3);
    ck_assert_uint_eq(leat_bytebuf_spans_at(buf, position, &span, 1, &bytes), 1);
    ck_assert_uint_eq(bytes, 4);
    ck_assert_mem_eq(span.bytes, "load", 4);
    leat_bytebuf_position_advance(buf, &position, 100);
    ck_assert_uint_eq(leat_bytebuf_spans_at(buf, position, &span, 1, &bytes), 0);
    ck_assert_uint_eq(leat_bytebuf_span_count(buf), 1);
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(cursors_read_and_write_what_the_buffer_does) {
    leat_bytebuf *buf = text("-");
    leat_writer writer = leat_writer_begin(buf);
    for (uint32_t i = 0; i < 1000; i++)
        ck_assert(leat_writer_u32_le(&writer, i));
    ck_assert(leat_writer_finish(&writer));
    ck_assert_uint_eq(leat_bytebuf_readable(buf), 4001);
    leat_reader reader = leat_reader_begin(buf);
    ck_assert(leat_reader_skip(&reader, 1));
    for (uint32_t i = 0, value; i < 1000; i++)
        ck_assert(leat_reader_u32_le(&reader, &value) && value == i);
    uint8_t more;
    ck_assert(!leat_reader_u8(&reader, &more));
    ck_assert_uint_eq(leat_bytebuf_readable(buf), 4001);
    ck_assert(leat_reader_finish(&reader));
    ck_assert_uint_eq(leat_bytebuf_readable(buf), 0);
    leat_bytebuf_release(buf);
}
END_TEST

int main(void) {
    return suite_run("bytebuf", (const TTest *const[]){every_value_comes_back_as_it_was_written,
                                                       plain_names_are_big_endian_and_le_is_little,
                                                       a_read_past_the_writer_moves_nothing,
                                                       a_buffer_grows_up_to_its_maximum_and_no_further,
                                                       growth_keeps_indices_and_bytes_and_is_counted,
                                                       a_failed_growth_changes_nothing,
                                                       an_exactly_sized_buffer_is_one_allocation_and_never_grows,
                                                       put_writes_into_reserved_room,
                                                       room_is_written_directly_and_then_counted,
                                                       headroom_takes_what_is_put_in_front,
                                                       discard_brings_the_readable_bytes_to_index_0,
                                                       a_varint_has_seven_bits_a_byte,
                                                       a_varint_tells_incomplete_from_malformed,
                                                       format_appends_text_of_any_length,
                                                       a_buffer_can_be_appended_to_itself,
                                                       find_gives_absolute_indices_from_where_it_was_told,
                                                       order_is_by_unsigned_bytes_and_a_prefix_comes_first,
                                                       a_hex_dump_shows_offset_bytes_and_characters,
                                                       wrapped_memory_is_given_back_once_by_the_last_handle,
                                                       wrapped_memory_is_written_in_place_and_outgrown_by_copying,
                                                       wrapped_memory_that_is_read_only_is_copied_before_it_is_changed,
                                                       plain_bytes_are_one_span_and_a_position_resumes_inside,
                                                       cursors_read_and_write_what_the_buffer_does,
                                                       NULL});
}
