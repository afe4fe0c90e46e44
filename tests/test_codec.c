#include "core/composite.h"
#include "core/verify.h"
#include "handlers/length_field_decoder.h"
#include "tests/support/pairs.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

#include <string.h>

START_TEST(every_split_gives_the_same_frames) {
    leat_problem problem;
    ck_assert_msg(leat_verify_decoder_text(just_pairs, "aabbccdd", TEXTS("aa", "bb", "cc", "dd"), &problem) == 0, "%s",
                  problem.text);
}
END_TEST

START_TEST(no_failed_allocation_leaks) {
    leat_problem problem;
    ck_assert_msg(leat_verify_oom_fed(just_pairs, "aabbc", 5, &problem) == 0, "%s", problem.text);
}
END_TEST

START_TEST(a_frame_in_one_buffer_is_not_copied) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_embedded_options options = {.alloc = &counting.alloc, .without_ledger = true};
    leat_embedded *embedded = leat_embedded_new_with(just_pairs, &options, NULL);
    leat_bytebuf *block = leat_bytebuf_from_text(&counting.alloc, "aabbcc");
    const uint8_t *bytes = leat_bytebuf_data(block);
    counting.counted.copied = 0;
    leat_embedded_feed_bytebuf(embedded, block);
    for (int i = 0; i < 3; i++) {
        leat_msg msg;
        ck_assert(leat_embedded_take_read(embedded, &msg));
        ck_assert_ptr_eq(leat_bytebuf_data(leat_msg_bytebuf(msg)), bytes + 2 * i);
        leat_msg_release(msg);
    }
    ck_assert_uint_eq(counting.counted.copied, 0);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(after_a_frame_in_two_reads_the_next_ones_lie_in_the_second) {
    leat_embedded *embedded = leat_embedded_new(just_pairs);
    leat_embedded_feed_text(embedded, "a");
    leat_bytebuf *second = leat_bytebuf_from_text(leat_embedded_alloc(embedded), "abbcc");
    const uint8_t *bytes = leat_bytebuf_data(second);
    leat_embedded_feed_bytebuf(embedded, second);
    ck_assert_str_eq(leat_embedded_read_text(embedded), "aa");
    for (int i = 0; i < 2; i++) {
        leat_msg msg;
        ck_assert(leat_embedded_take_read(embedded, &msg));
        ck_assert_ptr_eq(leat_bytebuf_data(leat_msg_bytebuf(msg)), bytes + 1 + 2 * i);
        leat_msg_release(msg);
    }
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_shared_or_composite_read_is_decoded_too) {
    leat_embedded *embedded = leat_embedded_new(just_pairs);
    leat_alloc *alloc = leat_embedded_alloc(embedded);
    leat_bytebuf *shared = leat_bytebuf_from_text(alloc, "aab");
    leat_embedded_feed_bytebuf(embedded, leat_bytebuf_retain(shared));
    leat_composite *composite = leat_composite_new(alloc, 2);
    ck_assert_int_eq(leat_composite_add(composite, leat_bytebuf_from_text(alloc, "bc")), 0);
    ck_assert_int_eq(leat_composite_add(composite, leat_bytebuf_from_text(alloc, "cdd")), 0);
    leat_embedded_feed_bytebuf(embedded, leat_composite_buffer(composite));
    assert_texts(embedded, TEXTS("aa", "bb", "cc", "dd"));
    ck_assert_uint_eq(leat_bytebuf_readable(shared), 3);
    leat_bytebuf_release(shared);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_frame_that_begins_in_a_composite_is_contiguous_when_its_rest_came) {
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{.handler = &leat_length_field_decoder}, {0}});
    leat_composite *composite = leat_composite_new(leat_embedded_alloc(embedded), 1);
    leat_bytebuf *begin = leat_bytebuf_from_bytes(leat_embedded_alloc(embedded), "\0\0", 2);
    ck_assert_int_eq(leat_composite_add(composite, begin), 0);
    leat_embedded_feed_bytebuf(embedded, leat_composite_buffer(composite));
    leat_embedded_feed(embedded, "\0\1x", 3);
    leat_msg frame;
    ck_assert(leat_embedded_take_read(embedded, &frame));
    ck_assert_mem_eq(leat_bytebuf_data(leat_msg_bytebuf(frame)), "\0\0\0\1x", 5);
    leat_msg_release(frame);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(an_error_ends_decoding_for_good) {
    leat_embedded *embedded = leat_embedded_new(tolerant_pairs);
    leat_embedded_feed_text(embedded, "aa?bbcc");
    leat_embedded_feed_text(embedded, "dd");
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ECORRUPT);
    ck_assert_int_eq(take_tolerated(embedded), 0);
    assert_texts(embedded, TEXTS("aa"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(after_an_error_that_it_recovered_from_it_goes_on_in_the_same_turn) {
    leat_embedded *embedded = leat_embedded_new(tolerant_pairs);
    leat_embedded_feed_text(embedded, "aa!bbcc");
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ERANGE);
    assert_texts(embedded, TEXTS("aa", "bb", "cc"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(an_error_that_nobody_handles_closes_and_nothing_more_is_decoded) {
    leat_embedded *embedded = leat_embedded_new(just_pairs);
    leat_embedded_feed_text(embedded, "aa!bbcc");
    ck_assert_int_eq(leat_embedded_take_error(embedded), LEAT_ERANGE);
    ck_assert_int_eq(leat_channel_error(leat_embedded_channel(embedded)), LEAT_ERANGE);
    assert_texts(embedded, TEXTS("aa"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_nested_read_comes_after_what_is_being_decoded) {
    leat_embedded *embedded = leat_embedded_new(obeyed_pairs);
    leat_embedded_feed_text(embedded, "a");
    leat_embedded_feed_text(embedded, "aN1bbc");
    leat_embedded_feed_text(embedded, "c");
    assert_texts(embedded, TEXTS("aa", "N1", "bb", "cn", "nc"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_nested_read_behind_the_last_frame_is_decoded_too) {
    leat_embedded *embedded = leat_embedded_new(obeyed_pairs);
    leat_embedded_feed_text(embedded, "N1");
    assert_texts(embedded, TEXTS("N1", "nn"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_nested_read_done_waits_for_the_frames_before_it) {
    leat_embedded *embedded = leat_embedded_new(obeyed_pairs);
    leat_embedded_feed_text(embedded, "D1aa");
    ck_assert_uint_eq(leat_embedded_count_read_done(embedded), 2);
    assert_texts(embedded, TEXTS("D1", "aa"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(an_empty_nested_read_does_not_stall_the_later_ones) {
    leat_embedded *embedded = leat_embedded_new(obeyed_pairs);
    leat_embedded_feed_text(embedded, "E1aa");
    leat_embedded_feed_text(embedded, "bb");
    assert_texts(embedded, TEXTS("E1", "aa", "bb"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(an_error_behind_a_nested_read_loses_nothing_but_what_follows) {
    const leat_stage stages[] = {{.handler = &pairs}, {.handler = &obey}, {.handler = &tolerant}, {0}};
    leat_embedded *embedded = leat_embedded_new(stages);
    leat_embedded_feed_text(embedded, "N1?1");
    leat_embedded_feed_text(embedded, "bb");
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ECORRUPT);
    assert_texts(embedded, TEXTS("N1"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(removed_with_a_nested_read_queued_it_hands_both_on_in_order) {
    leat_embedded *embedded = leat_embedded_new(obeyed_pairs);
    leat_embedded_feed_text(embedded, "aaNRbbc");
    leat_embedded_feed_text(embedded, "dd");
    assert_texts(embedded, TEXTS("aa", "NR", "bbcnn", "dd"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(nothing_is_decoded_after_a_close) {
    leat_embedded *embedded = leat_embedded_new(obeyed_pairs);
    leat_embedded_feed_text(embedded, "aaC1bbc");
    assert_texts(embedded, TEXTS("aa", "C1"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_header_goes_where_it_costs_nothing) {
    leat_bytebuf *body = leat_bytebuf_new_with(leat_unpooled(), 4, 0, 2);
    ck_assert(leat_bytebuf_write_bytes(body, "body", 4));
    ck_assert_ptr_eq(leat_encoder_prepend(leat_unpooled(), "h:", 2, body), body);
    leat_bytebuf *joined = leat_encoder_prepend(leat_unpooled(), "g:", 2, leat_bytebuf_retain(body));
    ck_assert_ptr_ne(joined, body);
    ck_assert(leat_bytebuf_equals_bytes(joined, "g:h:body", 8));
    ck_assert(leat_bytebuf_equals_bytes(body, "h:body", 6));
    ck_assert_ptr_eq(leat_encoder_prepend(leat_unpooled(), "f:", 2, joined), joined);
    ck_assert_uint_eq(leat_bytebuf_span_count(joined), 2);
    leat_bytebuf_release(joined);
    leat_bytebuf_release(body);
}
END_TEST

static void assert_prepended(leat_bytebuf *body, const char *expected) {
    leat_bytebuf *framed = leat_encoder_prepend(leat_unpooled(), "hd", 2, body);
    ck_assert(leat_bytebuf_equals_bytes(framed, expected, strlen(expected)));
    leat_bytebuf_release(framed);
}

START_TEST(a_header_leaves_neighbours_alone) {
    leat_bytebuf *parent = leat_bytebuf_from_text(leat_unpooled(), "abcdef");
    assert_prepended(leat_bytebuf_slice(parent, 0, 2), "hdab");
    assert_prepended(leat_bytebuf_slice(parent, 2, 2), "hdcd");
    assert_prepended(leat_bytebuf_retain(parent), "hdabcdef");
    assert_prepended(leat_bytebuf_wrap_static(leat_unpooled(), "xyz", 3), "hdxyz");
    assert_prepended(leat_bytebuf_new(leat_unpooled(), 0), "hd");
    ck_assert(leat_bytebuf_skip(parent, 2));
    leat_bytebuf *other = leat_bytebuf_slice(parent, 0, 2);
    assert_prepended(leat_bytebuf_retain(parent), "hdcdef");
    ck_assert(leat_bytebuf_equals_bytes(other, "ab", 2));
    leat_bytebuf_release(other);
    ck_assert(leat_bytebuf_equals_bytes(parent, "cdef", 4));
    leat_bytebuf_release(parent);
}
END_TEST

static void feed_piece(leat_embedded *embedded, const uint8_t *bytes, size_t length, bool shared) {
    leat_bytebuf *piece = leat_bytebuf_from_bytes(leat_embedded_alloc(embedded), bytes, length);
    leat_bytebuf *other = piece && shared ? leat_bytebuf_retain(piece) : NULL;
    if (piece)
        leat_embedded_feed_bytebuf(embedded, piece);
    leat_bytebuf_release(other);
}

/* Three frames of 3,000 bytes in pieces of 700, every other piece shared; then the last one is cut off. */
static int decode_pieces(leat_alloc *alloc, void *context) {
    static uint8_t input[9000] = {[2] = 2996 >> 8,     [3] = 2996 & 255,   [3002] = 2996 >> 8,
                                  [3003] = 2996 & 255, [6002] = 2996 >> 8, [6003] = 2996 & 255};
    (void)context;
    leat_embedded_options options = {.alloc = alloc, .without_ledger = true};
    leat_stage stages[] = {{.handler = &leat_length_field_decoder}, {.handler = &tolerant}, {0}};
    leat_embedded *embedded = leat_embedded_new_with(stages, &options, NULL);
    for (size_t at = 0; embedded && at + 700 <= sizeof input; at += 700)
        feed_piece(embedded, input + at, 700, at % 1400 == 0);
    if (embedded)
        leat_embedded_feed_eof(embedded);
    leat_embedded_free(embedded);
    return 0;
}

START_TEST(no_failed_allocation_leaks_across_reads) {
    leat_problem problem;
    ck_assert_msg(leat_verify_oom(decode_pieces, NULL, &problem) == 0, "%s", problem.text);
}
END_TEST

int main(void) {
    return suite_run("codec",
                     (const TTest *const[]){every_split_gives_the_same_frames,
                                            no_failed_allocation_leaks,
                                            a_frame_in_one_buffer_is_not_copied,
                                            after_a_frame_in_two_reads_the_next_ones_lie_in_the_second,
                                            a_shared_or_composite_read_is_decoded_too,
                                            a_frame_that_begins_in_a_composite_is_contiguous_when_its_rest_came,
                                            an_error_ends_decoding_for_good,
                                            after_an_error_that_it_recovered_from_it_goes_on_in_the_same_turn,
                                            an_error_that_nobody_handles_closes_and_nothing_more_is_decoded,
                                            a_nested_read_comes_after_what_is_being_decoded,
                                            a_nested_read_behind_the_last_frame_is_decoded_too,
                                            a_nested_read_done_waits_for_the_frames_before_it,
                                            an_empty_nested_read_does_not_stall_the_later_ones,
                                            an_error_behind_a_nested_read_loses_nothing_but_what_follows,
                                            removed_with_a_nested_read_queued_it_hands_both_on_in_order,
                                            nothing_is_decoded_after_a_close,
                                            a_header_goes_where_it_costs_nothing,
                                            a_header_leaves_neighbours_alone,
                                            no_failed_allocation_leaks_across_reads,
                                            NULL});
}
