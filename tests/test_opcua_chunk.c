/* Chunks of a secure channel: headers, sequence numbers, what is refused. Every size is in test_opcua_vectors. */
#include "core/verify.h"
#include "handlers/opcua/chunk.h"
#include "handlers/opcua/encode.h"
#include "tests/support/composites.h"
#include "tests/support/suite.h"

START_TEST(a_message_becomes_chunks_with_headers_between_its_slices) {
    static const uint8_t expected[] = "MSGC\x1b\0\0\0\1\0\0\0\2\0\0\0\7\0\0\0\3\0\0\0abc"
                                      "MSGF\x1a\0\0\0\1\0\0\0\2\0\0\0\10\0\0\0\3\0\0\0de";
    leat_opcua_chunking chunking = {.chunk_bytes = 27, .channel = 1, .token = 2, .sequence = 7, .request = 3};
    leat_composite *chunks = composite_of((const char *const[]){NULL});
    leat_bytebuf *message = text("abcde");
    const uint8_t *bytes = leat_bytebuf_data(message);
    ck_assert_int_eq(leat_opcua_chunk(chunks, leat_bytebuf_retain(message), &chunking), 0);
    ck_assert(leat_bytebuf_equals_bytes(leat_composite_buffer(chunks), expected, sizeof expected - 1));
    ck_assert_ptr_eq(leat_composite_component(chunks, 1).bytes, bytes);
    ck_assert_uint_eq(chunking.sequence, 9);
    leat_bytebuf_release(message);
    end(chunks);
}
END_TEST

START_TEST(a_message_without_bytes_is_one_chunk) {
    leat_opcua_chunking chunking = {0};
    leat_composite *chunks = composite_of((const char *const[]){NULL});
    ck_assert_int_eq(leat_opcua_chunk(chunks, text(""), &chunking), 0);
    ck_assert_uint_eq(leat_bytebuf_readable(leat_composite_buffer(chunks)), LEAT_OPCUA_CHUNK_HEADER);
    ck_assert_uint_eq(leat_bytebuf_get_u8(leat_composite_buffer(chunks), 3), 'F');
    end(chunks);
}
END_TEST

START_TEST(sequence_numbers_begin_again_at_1) {
    leat_opcua_chunking chunking = {.chunk_bytes = 25, .sequence = UINT32_MAX - 1024};
    leat_composite *chunks = composite_of((const char *const[]){NULL});
    leat_bytebuf *buf = leat_composite_buffer(chunks);
    ck_assert_int_eq(leat_opcua_chunk(chunks, text("abc"), &chunking), 0);
    ck_assert_uint_eq(leat_bytebuf_get_u32_le(buf, 16), UINT32_MAX - 1024);
    ck_assert_uint_eq(leat_bytebuf_get_u32_le(buf, 25 + 16), UINT32_MAX - 1023);
    ck_assert_uint_eq(leat_bytebuf_get_u32_le(buf, 50 + 16), 1);
    ck_assert_uint_eq(chunking.sequence, 2);
    end(chunks);
}
END_TEST

START_TEST(what_is_refused_moves_nothing) {
    leat_opcua_chunking chunking = {.chunk_bytes = 25, .most_chunks = 2, .sequence = 5};
    leat_composite *chunks = composite_of((const char *const[]){"x", NULL});
    ck_assert_int_eq(leat_opcua_chunk(chunks, text("abc"), &chunking), LEAT_ETOOLONG);
    leat_bytebuf *shared = leat_bytebuf_retain(leat_composite_buffer(chunks));
    ck_assert_int_eq(leat_opcua_chunk(chunks, text("ab"), &chunking), LEAT_ESHARED);
    leat_bytebuf_release(shared);
    chunking.chunk_bytes = LEAT_OPCUA_CHUNK_HEADER;
    ck_assert_int_eq(leat_opcua_chunk(chunks, text("ab"), &chunking), LEAT_EINVAL);
    ck_assert_uint_eq(chunking.sequence, 5);
    assert_text(chunks, "x");
    end(chunks);
}
END_TEST

/* An HD frame: 57 chunks, 115 spans, none of its bytes copied. */
START_TEST(a_wrapped_frame_is_cut_without_copying_it) {
    static const int32_t frame[921600];
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_opcua_value value = leat_opcua_array(LEAT_OPCUA_INT32, frame, 921600);
    leat_opcua_chunking chunking = {0};
    leat_composite *message = leat_composite_new(&counting.alloc, 4), *chunks = leat_composite_new(&counting.alloc, 4);
    ck_assert_int_eq(leat_opcua_wrap_variant(message, &value, NULL, NULL, NULL), 0);
    ck_assert_int_eq(leat_opcua_chunk(chunks, leat_composite_buffer(message), &chunking), 0);
    ck_assert_uint_eq(chunking.sequence, 57);
    ck_assert_uint_eq(leat_bytebuf_span_count(leat_composite_buffer(chunks)), 57 * 2 + 1);
    ck_assert_uint_lt(counting.counted.copied, 64);
    end(chunks);
    ck_assert_uint_eq(counting.counted.live, 0);
}
END_TEST

static int chunk_behind_text(leat_alloc *alloc, void *context) {
    (void)context;
    leat_opcua_chunking chunking = {.chunk_bytes = 26, .sequence = 1};
    leat_composite *chunks = leat_composite_new(alloc, 1);
    leat_bytebuf *message = leat_bytebuf_from_text(alloc, "abcdefghi");
    int code = 0;
    if (chunks && message && leat_composite_add_bytes(chunks, "text", 4) == 0) {
        code = leat_opcua_chunk(chunks, leat_bytebuf_retain(message), &chunking);
        bool kept = leat_bytebuf_equals_bytes(leat_composite_buffer(chunks), "text", 4) && chunking.sequence == 1;
        code = code == 0 || (code == LEAT_ENOMEM && kept) ? 0 : LEAT_ECORRUPT;
    }
    leat_bytebuf_release(message);
    leat_bytebuf_release(leat_composite_buffer(chunks));
    return code;
}

START_TEST(no_failed_allocation_leaks_or_leaves_half_a_message) {
    leat_problem problem;
    ck_assert_msg(leat_verify_oom(chunk_behind_text, NULL, &problem) == 0, "%s", problem.text);
}
END_TEST

int main(void) {
    return suite_run("opcua_chunk",
                     (const TTest *const[]){a_message_becomes_chunks_with_headers_between_its_slices,
                                            a_message_without_bytes_is_one_chunk, sequence_numbers_begin_again_at_1,
                                            what_is_refused_moves_nothing, a_wrapped_frame_is_cut_without_copying_it,
                                            no_failed_allocation_leaks_or_leaves_half_a_message, NULL});
}
