#include "core/composite.h"
#include "core/embedded.h"
#include "core/verify.h"
#include "handlers/codec.h"
#include "handlers/length_field_decoder.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

#include <string.h>

/* A decoder of pairs of bytes. '!' in front is an error it recovers from, '?' one it does not. */
static int decode_pair(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    uint8_t first = leat_bytebuf_get_u8(in, leat_bytebuf_reader_index(in));
    if (first == '?')
        return LEAT_ECORRUPT;
    if (first == '!') {
        leat_bytebuf_skip(in, 1);
        return leat_decoder_recovered(leat_state(ctx), LEAT_ERANGE);
    }
    return leat_bytebuf_readable(in) < 2 ? 0 : leat_decoder_frame(in, 2, out);
}

static int pairs_added(leat_ctx *ctx, const void *config) {
    leat_decoder_init(leat_state(ctx), decode_pair, config ? *(const uint64_t *)config : 0);
    return 0;
}

static const leat_handler pairs = {
    .name = "pairs",
    .state_size = sizeof(leat_decoder),
    .config_size = sizeof(uint64_t),
    LEAT_DECODER_ENTRIES,
    .reads = leat_only_bytebuf,
    .fires = leat_only_bytebuf,
    .added = pairs_added,
};

static void read_nested(leat_channel *channel, const char *text) {
    leat_ctx *decoder = leat_channel_find(channel, "pairs");
    decoder->handler->read(decoder, leat_msg_of_bytebuf(leat_bytebuf_from_text(leat_channel_alloc(channel), text)));
}

static void obey_one(leat_channel *channel, uint8_t order) {
    if (order == 'R')
        leat_ctx_remove(leat_channel_find(channel, "pairs"));
    if (order == 'C')
        leat_channel_close(channel);
    if (order == 'N')
        read_nested(channel, "nn");
    if (order == 'E')
        read_nested(channel, "");
}

/* Passes a frame on, then does what its bytes say: remove the decoder, close, read from inside this read. */
static void obey_read(leat_ctx *ctx, leat_msg msg) {
    uint8_t orders[2] = {0};
    leat_bytebuf *frame = leat_msg_bytebuf(msg);
    if (leat_bytebuf_readable(frame) == 2)
        leat_bytebuf_get_bytes(frame, leat_bytebuf_reader_index(frame), orders, 2);
    leat_ctx_fire_read(ctx, msg);
    obey_one(leat_ctx_channel(ctx), orders[0]);
    obey_one(leat_ctx_channel(ctx), orders[1]);
}

static const leat_handler obey = {.name = "obey", .read = obey_read};

static const leat_stage plain[] = {{.handler = &pairs}, {0}};
static const leat_stage going_on[] = {{.handler = &pairs}, {.handler = &tolerant}, {0}};
static const leat_stage obeying[] = {{.handler = &pairs}, {.handler = &obey}, {0}};

static void assert_texts(leat_embedded *embedded, const char *const *expected) {
    for (; *expected; expected++)
        ck_assert_str_eq(leat_embedded_read_text(embedded), *expected);
    ck_assert_ptr_null(leat_embedded_read_text(embedded));
}

#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

START_TEST(every_split_gives_the_same_frames) {
    leat_problem problem;
    ck_assert_msg(leat_verify_decoder_text(plain, "aabbccdd", TEXTS("aa", "bb", "cc", "dd"), &problem) == 0, "%s",
                  problem.text);
}
END_TEST

START_TEST(no_failed_allocation_leaks) {
    leat_problem problem;
    ck_assert_msg(leat_verify_oom_fed(plain, "aabbc", 5, &problem) == 0, "%s", problem.text);
}
END_TEST

START_TEST(a_frame_in_one_buffer_is_not_copied) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_embedded_options options = {.alloc = &counting.alloc, .without_ledger = true};
    leat_embedded *embedded = leat_embedded_new_with(plain, &options, NULL);
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
    leat_embedded *embedded = leat_embedded_new(plain);
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
    leat_embedded *embedded = leat_embedded_new(plain);
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
    leat_embedded *embedded = leat_embedded_new(going_on);
    leat_embedded_feed_text(embedded, "aa?bbcc");
    leat_embedded_feed_text(embedded, "dd");
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ECORRUPT);
    ck_assert_int_eq(take_tolerated(embedded), 0);
    assert_texts(embedded, TEXTS("aa"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(after_an_error_that_it_recovered_from_it_goes_on_in_the_same_turn) {
    leat_embedded *embedded = leat_embedded_new(going_on);
    leat_embedded_feed_text(embedded, "aa!bbcc");
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ERANGE);
    assert_texts(embedded, TEXTS("aa", "bb", "cc"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(an_error_that_nobody_handles_closes_and_nothing_more_is_decoded) {
    leat_embedded *embedded = leat_embedded_new(plain);
    leat_embedded_feed_text(embedded, "aa!bbcc");
    ck_assert_int_eq(leat_embedded_take_error(embedded), LEAT_ERANGE);
    ck_assert_int_eq(leat_channel_error(leat_embedded_channel(embedded)), LEAT_ERANGE);
    assert_texts(embedded, TEXTS("aa"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_nested_read_comes_after_what_is_being_decoded) {
    leat_embedded *embedded = leat_embedded_new(obeying);
    leat_embedded_feed_text(embedded, "a");
    leat_embedded_feed_text(embedded, "aN1bbc");
    leat_embedded_feed_text(embedded, "c");
    assert_texts(embedded, TEXTS("aa", "N1", "bb", "cn", "nc"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(an_empty_nested_read_does_not_stall_the_later_ones) {
    leat_embedded *embedded = leat_embedded_new(obeying);
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
    leat_embedded *embedded = leat_embedded_new(obeying);
    leat_embedded_feed_text(embedded, "aaNRbbc");
    leat_embedded_feed_text(embedded, "dd");
    assert_texts(embedded, TEXTS("aa", "NR", "bbcnn", "dd"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(nothing_is_decoded_after_a_close) {
    leat_embedded *embedded = leat_embedded_new(obeying);
    leat_embedded_feed_text(embedded, "aaC1bbc");
    assert_texts(embedded, TEXTS("aa", "C1"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(removed_while_decoding_it_hands_on_the_rest) {
    leat_embedded *embedded = leat_embedded_new(obeying);
    leat_embedded_feed_text(embedded, "aaR1bbc");
    leat_embedded_feed_text(embedded, "dd");
    assert_texts(embedded, TEXTS("aa", "R1", "bbc", "dd"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(removed_between_reads_it_hands_on_the_rest) {
    leat_embedded *embedded = leat_embedded_new(plain);
    leat_embedded_feed_text(embedded, "aab");
    leat_ctx_remove(leat_channel_find(leat_embedded_channel(embedded), "pairs"));
    leat_embedded_run(embedded);
    leat_embedded_feed_text(embedded, "bcc");
    assert_texts(embedded, TEXTS("aa", "b", "bcc"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(bytes_left_over_at_the_end_are_truncated) {
    leat_embedded *embedded = leat_embedded_new(plain);
    leat_embedded_feed_text(embedded, "aab");
    ck_assert_uint_eq(leat_channel_held(leat_embedded_channel(embedded)), 1);
    leat_embedded_feed_eof(embedded);
    ck_assert_int_eq(leat_embedded_take_error(embedded), LEAT_ETRUNCATED);
    ck_assert_uint_eq(leat_embedded_count_eof(embedded), 1);
    assert_texts(embedded, TEXTS("aa"));
    assert_nothing_left(embedded);
}
END_TEST

static leat_embedded *with_demand(uint64_t count) {
    leat_embedded_options options = {.channel.manual_read = true};
    leat_embedded *embedded = leat_embedded_new_with(plain, &options, NULL);
    leat_channel_request(leat_embedded_channel(embedded), count);
    leat_embedded_run(embedded);
    return embedded;
}

START_TEST(it_stops_when_nobody_asks_for_more_and_goes_on_when_asked) {
    leat_embedded *embedded = with_demand(1);
    leat_embedded_feed_text(embedded, "aabbccd");
    assert_texts(embedded, TEXTS("aa"));
    ck_assert_uint_eq(leat_channel_held(leat_embedded_channel(embedded)), 5);
    leat_channel_request(leat_embedded_channel(embedded), 1);
    leat_embedded_run(embedded);
    assert_texts(embedded, TEXTS("bb"));
    leat_channel_request(leat_embedded_channel(embedded), 9);
    leat_embedded_run(embedded);
    leat_embedded_feed_text(embedded, "d");
    assert_texts(embedded, TEXTS("cc", "dd"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(the_end_waits_behind_frames_that_nobody_asked_for) {
    leat_embedded *embedded = with_demand(1);
    leat_embedded_feed_text(embedded, "aabb");
    leat_embedded_feed_eof(embedded);
    ck_assert_uint_eq(leat_embedded_count_eof(embedded), 0);
    leat_channel_request(leat_embedded_channel(embedded), 1);
    leat_embedded_run(embedded);
    ck_assert_uint_eq(leat_embedded_count_eof(embedded), 1);
    assert_texts(embedded, TEXTS("aa", "bb"));
    assert_nothing_left(embedded);
}
END_TEST

static int decode_never(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    (void)ctx, (void)in, (void)out;
    return 0;
}

static int glutton_added(leat_ctx *ctx, const void *config) {
    leat_decoder_init(leat_state(ctx), decode_never, *(const uint64_t *)config);
    return 0;
}

static const leat_handler glutton = {.name = "glutton",
                                     .state_size = sizeof(leat_decoder),
                                     .config_size = sizeof(uint64_t),
                                     LEAT_DECODER_ENTRIES,
                                     .added = glutton_added};

START_TEST(an_unfinished_frame_above_the_limit_is_too_long) {
    uint64_t limit = 4;
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{&glutton, &limit, NULL}, {0}});
    leat_embedded_feed_text(embedded, "aaaa");
    ck_assert_int_eq(leat_embedded_take_error(embedded), 0);
    leat_embedded_feed_text(embedded, "a");
    ck_assert_int_eq(leat_embedded_take_error(embedded), LEAT_ETOOLONG);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_frame_larger_than_the_read_watermark_does_not_pause_its_own_rest) {
    uint64_t limit = 1 << 20;
    static uint8_t block[64 * 1024];
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{&glutton, &limit, NULL}, {0}});
    for (int i = 0; i < 8; i++)
        leat_embedded_feed(embedded, block, sizeof block);
    ck_assert_uint_eq(leat_channel_bytes_read(leat_embedded_channel(embedded)), 8 * sizeof block);
    leat_embedded_feed_eof(embedded);
    ck_assert_int_eq(leat_embedded_take_error(embedded), LEAT_ETRUNCATED);
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
                                            an_empty_nested_read_does_not_stall_the_later_ones,
                                            an_error_behind_a_nested_read_loses_nothing_but_what_follows,
                                            removed_with_a_nested_read_queued_it_hands_both_on_in_order,
                                            nothing_is_decoded_after_a_close,
                                            removed_while_decoding_it_hands_on_the_rest,
                                            removed_between_reads_it_hands_on_the_rest,
                                            bytes_left_over_at_the_end_are_truncated,
                                            it_stops_when_nobody_asks_for_more_and_goes_on_when_asked,
                                            the_end_waits_behind_frames_that_nobody_asked_for,
                                            an_unfinished_frame_above_the_limit_is_too_long,
                                            a_frame_larger_than_the_read_watermark_does_not_pause_its_own_rest,
                                            a_header_goes_where_it_costs_nothing,
                                            NULL});
}
