/* Looking at decoded arrays where they lie, and copying from them, over plain and composite buffers. */
#include "core/composite.h"
#include "handlers/opcua/decode.h"
#include "handlers/opcua/encode.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 300 };

static uint8_t memory[ELEMENTS * 16];

static leat_bytebuf *message_of(uint8_t type) {
    for (size_t i = 0; i < sizeof memory; i++)
        memory[i] = (uint8_t)(i * 31 + 7);
    leat_opcua_value value = leat_opcua_array(type, memory, ELEMENTS);
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 0);
    ck_assert_int_eq(leat_opcua_encode_variant(buf, &value, NULL), 0);
    return buf;
}

/* Pieces of 7 bytes: every element of 2 bytes and more is torn somewhere. */
static leat_bytebuf *torn(leat_bytebuf *message) {
    leat_composite *pieces = leat_composite_new(leat_unpooled(), 2);
    uint64_t size = leat_bytebuf_readable(message);
    for (uint64_t at = 0; at < size; at += 7)
        ck_assert_int_eq(
            leat_composite_add_flattened(pieces, leat_bytebuf_retain(message), at, size - at < 7 ? size - at : 7), 0);
    leat_bytebuf_release(message);
    return leat_composite_buffer(pieces);
}

static leat_opcua_value view_of(leat_opcua_decoder *decoder, leat_bytebuf *buf) {
    leat_opcua_value view;
    ck_assert_int_eq(leat_opcua_decoder_init(decoder, buf, leat_unpooled(), NULL), 0);
    ck_assert_int_eq(leat_opcua_decode_variant(decoder, &view), 0);
    ck_assert_uint_eq(leat_opcua_count(&view), ELEMENTS);
    return view;
}

static void assert_elements(uint8_t type, leat_bytebuf *buf) {
    size_t width = leat_opcua_width(type);
    uint8_t expected[sizeof memory], all[sizeof memory], one[16];
    leat_opcua_decoder decoder;
    leat_opcua_value view = view_of(&decoder, buf);
    for (size_t i = 0; i < sizeof memory; i++)
        expected[i] = type == LEAT_OPCUA_BOOLEAN ? memory[i] != 0 : memory[i];
    ck_assert_int_eq(leat_opcua_copy(&view, 0, ELEMENTS, all), 0);
    ck_assert_mem_eq(all, expected, ELEMENTS * width);
    ck_assert_int_eq(leat_opcua_copy(&view, 3, ELEMENTS - 5, all), 0);
    ck_assert_mem_eq(all, expected + 3 * width, (ELEMENTS - 5) * width);
    for (size_t i = 0; i < ELEMENTS; i++) {
        ck_assert_int_eq(leat_opcua_get(&view, i, one), 0);
        ck_assert_mem_eq(one, expected + i * width, width);
    }
    ck_assert_int_eq(leat_opcua_get(&view, ELEMENTS, one), LEAT_ERANGE);
    ck_assert_int_eq(leat_opcua_copy(&view, 1, ELEMENTS, all), LEAT_ERANGE);
    leat_opcua_decoder_clean_up(&decoder);
    leat_bytebuf_release(buf);
}

START_TEST(elements_are_read_singly_and_in_ranges_also_across_borders) {
    for (uint8_t type = 0; type < LEAT_OPCUA_TYPES; type++)
        if (leat_opcua_width(type) > 0) {
            assert_elements(type, message_of(type));
            assert_elements(type, torn(message_of(type)));
        }
}
END_TEST

/* ---- where they lie ---- */

START_TEST(spans_are_the_bytes_of_the_buffer_and_nothing_else) {
    leat_opcua_decoder decoder;
    leat_bytebuf *buf = torn(message_of(LEAT_OPCUA_INT32));
    leat_opcua_value view = view_of(&decoder, buf);
    leat_span spans[200];
    uint8_t all[4 * ELEMENTS];
    size_t count = leat_opcua_spans(&view, spans, 200), length = 0;
    ck_assert_uint_eq(leat_opcua_spans(&view, spans, 1), count);
    ck_assert_uint_eq(count, (4 * ELEMENTS - 2 + 6) / 7 + 1);
    for (size_t i = 0; i < count; length += spans[i++].length)
        memcpy(all + length, spans[i].bytes, spans[i].length);
    ck_assert_uint_eq(length, sizeof all);
    ck_assert_mem_eq(all, memory, sizeof all);
    leat_opcua_decoder_clean_up(&decoder);
    leat_bytebuf_release(buf);
}
END_TEST

/* The elements stand 5 bytes behind the beginning; `shift` bytes before them decide how they are aligned. */
static const void *data_after(uint8_t type, size_t shift, leat_bytebuf **keep, leat_opcua_value *view) {
    leat_bytebuf *message = message_of(type), *buf = leat_bytebuf_new(leat_unpooled(), 8192);
    leat_opcua_decoder decoder;
    leat_bytebuf_write_zero(buf, shift);
    leat_bytebuf_write_buffer(buf, message);
    leat_bytebuf_release(message);
    ck_assert(leat_bytebuf_skip(buf, shift));
    *view = view_of(&decoder, buf);
    leat_opcua_decoder_clean_up(&decoder);
    *keep = buf;
    return leat_opcua_data(view);
}

START_TEST(a_pointer_is_given_only_when_it_can_be_used) {
    leat_bytebuf *buf;
    leat_opcua_value view;
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    const int32_t *aligned = data_after(LEAT_OPCUA_INT32, 3, &buf, &view);
    ck_assert(!little || aligned != NULL);
    ck_assert(!aligned || memcmp(aligned, memory, 4 * ELEMENTS) == 0);
    leat_bytebuf_release(buf);
    ck_assert_ptr_null(data_after(LEAT_OPCUA_INT32, 4, &buf, &view));
    leat_bytebuf_release(buf);
    ck_assert_ptr_null(data_after(LEAT_OPCUA_BOOLEAN, 3, &buf, &view));
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(no_pointer_is_given_across_borders) {
    leat_opcua_decoder decoder;
    leat_bytebuf *buf = torn(message_of(LEAT_OPCUA_BYTE));
    leat_opcua_value view = view_of(&decoder, buf);
    ck_assert_ptr_null(leat_opcua_data(&view));
    leat_opcua_decoder_clean_up(&decoder);
    leat_bytebuf_release(buf);
}
END_TEST

/* ---- how long they live ---- */

START_TEST(a_held_view_outlives_its_decoder_and_the_callers_buffer) {
    leat_opcua_decoder decoder;
    leat_bytebuf *buf = message_of(LEAT_OPCUA_INT32);
    leat_opcua_value view = view_of(&decoder, buf);
    int32_t last;
    leat_opcua_hold(&view);
    leat_opcua_decoder_clean_up(&decoder);
    leat_bytebuf_release(buf);
    ck_assert_int_eq(leat_opcua_get(&view, ELEMENTS - 1, &last), 0);
    ck_assert_mem_eq(&last, memory + 4 * (ELEMENTS - 1), 4);
    leat_opcua_release(&view);
}
END_TEST

START_TEST(a_decoder_leaves_the_indices_to_the_caller) {
    leat_opcua_decoder decoder;
    leat_bytebuf *buf = message_of(LEAT_OPCUA_UINT16);
    uint64_t size = leat_bytebuf_readable(buf);
    leat_bytebuf_write_u8(buf, 0x5a);
    leat_opcua_value view = view_of(&decoder, buf);
    ck_assert_uint_eq(leat_opcua_decoder_taken(&decoder), size);
    leat_opcua_decoder_clean_up(&decoder);
    leat_opcua_hold(&view);
    ck_assert(!leat_bytebuf_skip(buf, size));
    leat_opcua_release(&view);
    ck_assert(leat_bytebuf_skip(buf, size));
    ck_assert_uint_eq(leat_bytebuf_get_u8(buf, leat_bytebuf_reader_index(buf)), 0x5a);
    leat_bytebuf_release(buf);
}
END_TEST

/* Text in one piece stays in the buffer; text that a border tears is put together in the arena. */
START_TEST(text_is_copied_only_across_borders) {
    static const uint8_t bytes[] = "\x8c\2\0\0\0\3\0\0\0one\3\0\0\0two";
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_bytebuf *buf = leat_bytebuf_wrap_static(leat_unpooled(), bytes, sizeof bytes - 1);
    leat_opcua_decoder decoder;
    leat_opcua_value value;
    leat_span text;
    ck_assert_int_eq(leat_opcua_decoder_init(&decoder, buf, &counting.alloc, NULL), 0);
    ck_assert_int_eq(leat_opcua_decode_variant(&decoder, &value), 0);
    ck_assert_int_eq(leat_opcua_get(&value, 1, &text), 0);
    ck_assert_ptr_eq(text.bytes, bytes + 16);
    ck_assert_uint_eq(counting.counted.live, 1);
    leat_opcua_decoder_clean_up(&decoder);
    ck_assert_uint_eq(counting.counted.live, 0);
    leat_bytebuf_release(buf);
}
END_TEST

/* ---- values that are no views ---- */

START_TEST(elements_of_every_source_are_read_alike) {
    static const int32_t row[] = {10, 20, 30};
    static const void *const pointers[] = {&row[0], NULL, &row[2]};
    int32_t out[3];
    leat_opcua_value value = leat_opcua_array(LEAT_OPCUA_INT32, row, 3);
    ck_assert_int_eq(leat_opcua_copy(&value, 1, 2, out), 0);
    ck_assert_mem_eq(out, row + 1, 8);
    ck_assert_ptr_eq(leat_opcua_data(&value), row);
    value = leat_opcua_array(LEAT_OPCUA_INT32, pointers, 3);
    value.source = LEAT_OPCUA_POINTERS;
    ck_assert_int_eq(leat_opcua_copy(&value, 0, 3, out), 0);
    ck_assert_mem_eq(out, ((int32_t[]){10, 0, 30}), 12);
    ck_assert_ptr_null(leat_opcua_data(&value));
    value = leat_opcua_array(LEAT_OPCUA_INT32, row, 2);
    value.source = LEAT_OPCUA_STRIDED;
    value.of.elements.by.stride = 8;
    ck_assert_int_eq(leat_opcua_get(&value, 1, out), 0);
    ck_assert_int_eq(out[0], 30);
    value = leat_opcua_scalar_of(LEAT_OPCUA_INT32, (leat_opcua_scalar){.int32 = 5});
    ck_assert_int_eq(leat_opcua_get(&value, 0, out), 0);
    ck_assert_int_eq(out[0], 5);
    ck_assert_int_eq(leat_opcua_get(&value, 1, out), LEAT_ERANGE);
}
END_TEST

int main(void) {
    return suite_run("opcua_view", (const TTest *const[]){
                                       elements_are_read_singly_and_in_ranges_also_across_borders,
                                       spans_are_the_bytes_of_the_buffer_and_nothing_else,
                                       a_pointer_is_given_only_when_it_can_be_used, no_pointer_is_given_across_borders,
                                       a_held_view_outlives_its_decoder_and_the_callers_buffer,
                                       a_decoder_leaves_the_indices_to_the_caller, text_is_copied_only_across_borders,
                                       elements_of_every_source_are_read_alike, NULL});
}
