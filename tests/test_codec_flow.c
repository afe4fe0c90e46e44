#include "handlers/fixed.h"
#include "handlers/legacy_tcp_decoder.h"
#include "handlers/length_field_decoder.h"
#include "handlers/line.h"
#include "handlers/varint.h"
#include "tests/support/pairs.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

START_TEST(removed_while_decoding_it_hands_on_the_rest) {
    leat_embedded *embedded = leat_embedded_new(obeyed_pairs);
    leat_embedded_feed_text(embedded, "aaR1bbc");
    leat_embedded_feed_text(embedded, "dd");
    assert_texts(embedded, TEXTS("aa", "R1", "bbc", "dd"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(removed_between_reads_it_hands_on_the_rest) {
    leat_embedded *embedded = leat_embedded_new(just_pairs);
    leat_embedded_feed_text(embedded, "aab");
    leat_ctx_remove(leat_channel_find(leat_embedded_channel(embedded), "pairs"));
    leat_embedded_run(embedded);
    leat_embedded_feed_text(embedded, "bcc");
    assert_texts(embedded, TEXTS("aa", "b", "bcc"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(bytes_left_over_at_the_end_are_truncated) {
    leat_embedded *embedded = leat_embedded_new(just_pairs);
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
    leat_embedded *embedded = leat_embedded_new_with(just_pairs, &options, NULL);
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

/* Feeds "abcdefgh" cut at `cut`, its second part while nobody asks for messages. */
static void feed_across_a_stop(size_t cut) {
    const leat_fixed_config config = {.length = 4};
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{&leat_fixed_decoder, &config, NULL}, {0}});
    leat_channel *channel = leat_embedded_channel(embedded);
    leat_ctx *decoder = leat_channel_find(channel, "fixed_decoder");
    leat_bytebuf *rest = leat_bytebuf_from_text(leat_embedded_alloc(embedded), &"abcdefgh"[cut]);
    leat_embedded_feed(embedded, "abcdefgh", cut);
    leat_channel_set_auto_read(channel, false);
    decoder->handler->read(decoder, leat_msg_of_bytebuf(rest));
    decoder->handler->eof(decoder);
    leat_channel_set_auto_read(channel, true);
    leat_embedded_run(embedded);
    assert_texts(embedded, TEXTS("abcd", "efgh"));
    ck_assert_int_eq(leat_embedded_take_error(embedded), 0);
    ck_assert_uint_eq(leat_embedded_count_eof(embedded), 1);
    assert_nothing_left(embedded);
}

START_TEST(the_rest_of_a_frame_that_came_while_it_was_stopped_is_decoded_when_it_goes_on) {
    for (size_t cut = 1; cut < 8; cut++)
        feed_across_a_stop(cut);
}
END_TEST

START_TEST(the_end_waits_as_long_as_it_is_paused) {
    leat_embedded *embedded = leat_embedded_new(just_pairs);
    leat_ctx *decoder = leat_channel_find(leat_embedded_channel(embedded), "pairs");
    leat_decoder_pause(leat_state(decoder));
    leat_embedded_feed_text(embedded, "aab");
    ck_assert_uint_eq(leat_decoder_waiting(leat_state(decoder)), 3);
    leat_embedded_feed_text(embedded, "b");
    leat_embedded_feed_eof(embedded);
    assert_texts(embedded, TEXTS(NULL));
    ck_assert_uint_eq(leat_embedded_count_eof(embedded), 0);
    leat_decoder_resume(decoder);
    leat_embedded_run(embedded);
    ck_assert_uint_eq(leat_embedded_count_eof(embedded), 1);
    assert_texts(embedded, TEXTS("aa", "bb"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(paused_without_a_byte_it_passes_the_end_on_when_it_goes_on) {
    leat_embedded *embedded = leat_embedded_new(just_pairs);
    leat_ctx *decoder = leat_channel_find(leat_embedded_channel(embedded), "pairs");
    leat_decoder_pause(leat_state(decoder));
    leat_embedded_feed_eof(embedded);
    ck_assert_uint_eq(leat_embedded_count_eof(embedded), 0);
    leat_decoder_resume(decoder);
    leat_embedded_run(embedded);
    ck_assert_uint_eq(leat_embedded_count_eof(embedded), 1);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(an_end_that_waits_is_not_passed_on_behind_a_close) {
    for (int removed = 0; removed < 2; removed++) {
        leat_embedded *embedded = with_demand(1);
        leat_channel *channel = leat_embedded_channel(embedded);
        leat_ctx *decoder = leat_channel_find(channel, "pairs");
        leat_embedded_feed_text(embedded, "aabbc");
        decoder->handler->eof(decoder);
        leat_channel_close(channel);
        if (removed)
            leat_ctx_remove(decoder);
        leat_channel_request(channel, 9);
        leat_embedded_run(embedded);
        ck_assert_uint_eq(leat_embedded_count_eof(embedded), 0);
        ck_assert_int_eq(leat_channel_error(channel), 0);
        assert_texts(embedded, TEXTS("aa"));
        assert_nothing_left(embedded);
    }
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

START_TEST(removed_with_the_end_waiting_it_hands_on_both) {
    leat_embedded *embedded = with_demand(1);
    leat_embedded_feed_text(embedded, "aabb");
    leat_ctx *decoder = leat_channel_find(leat_embedded_channel(embedded), "pairs");
    decoder->handler->eof(decoder);
    ck_assert_uint_eq(leat_embedded_count_eof(embedded), 0);
    leat_ctx_remove(decoder);
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

START_TEST(a_message_that_is_no_buffer_is_passed_on_at_once) {
    static const leat_type note = {.name = "note"};
    uint64_t limit = 4;
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{&glutton, &limit, NULL}, {0}});
    leat_ctx *decoder = leat_channel_find(leat_embedded_channel(embedded), "glutton");
    decoder->handler->read(decoder, leat_msg_of(&note, NULL));
    leat_msg msg;
    ck_assert(leat_embedded_take_read(embedded, &msg));
    ck_assert_ptr_eq(msg.type, &note);
    assert_nothing_left(embedded);
}
END_TEST

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

/* A digit is so many messages: the last of them come when there are no bytes any more. */
struct counts {
    leat_decoder decoder;
    int left;
};

static int decode_count(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    struct counts *counts = leat_state(ctx);
    uint8_t digit;
    if (counts->left == 0 && leat_bytebuf_read_u8(in, &digit))
        counts->left = digit - '0';
    if (counts->left == 0)
        return 0;
    *out = leat_msg_of_bytebuf(leat_bytebuf_from_text(leat_channel_alloc(leat_ctx_channel(ctx)), "x"));
    if (--counts->left > 0)
        leat_decoder_again(&counts->decoder);
    return 1;
}

static int counts_added(leat_ctx *ctx, const void *config) {
    (void)config;
    struct counts *counts = leat_state(ctx);
    leat_decoder_init(&counts->decoder, decode_count, 0);
    return 0;
}

static const leat_handler counts_handler = {.name = "counts",
                                            .state_size = sizeof(struct counts),
                                            LEAT_DECODER_ENTRIES,
                                            .reads = leat_only_bytebuf,
                                            .fires = leat_only_bytebuf,
                                            .added = counts_added};

START_TEST(a_decoder_may_have_more_messages_than_bytes_and_the_end_waits_for_them) {
    leat_embedded_options options = {.channel.manual_read = true};
    leat_embedded *embedded = leat_embedded_new_with((leat_stage[]){{&counts_handler}, {0}}, &options, NULL);
    leat_channel *channel = leat_embedded_channel(embedded);
    leat_channel_request(channel, 2);
    leat_embedded_run(embedded);
    leat_embedded_feed_text(embedded, "3");
    leat_embedded_feed_eof(embedded);
    assert_texts(embedded, TEXTS("x", "x"));
    ck_assert_uint_eq(leat_embedded_count_eof(embedded), 0);
    leat_channel_request(channel, 9);
    leat_embedded_run(embedded);
    assert_texts(embedded, TEXTS("x"));
    ck_assert_uint_eq(leat_embedded_count_eof(embedded), 1);
    assert_nothing_left(embedded);
}
END_TEST

/* What a frame costs that comes one byte a read: bytes allocated, all in all. */
static uint64_t bytes_for(uint64_t length) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_embedded_options options = {.alloc = &counting.alloc, .without_ledger = true};
    leat_fixed_config config = {.length = length};
    leat_embedded *embedded =
        leat_embedded_new_with((leat_stage[]){{&leat_fixed_decoder, &config, NULL}, {0}}, &options, NULL);
    leat_embedded_feed(embedded, "x", 1);
    uint64_t before = counting.counted.bytes, copied = counting.counted.copied;
    for (uint64_t i = 1; i < length; i++)
        leat_embedded_feed_bytebuf(embedded, leat_bytebuf_from_text(leat_unpooled(), "x"));
    uint64_t cost = counting.counted.bytes - before + counting.counted.copied - copied;
    leat_msg msg;
    ck_assert(leat_embedded_take_read(embedded, &msg));
    ck_assert_uint_eq(leat_msg_size(msg), length);
    leat_msg_release(msg);
    assert_nothing_left(embedded);
    return cost;
}

START_TEST(a_frame_that_comes_one_byte_a_read_costs_in_proportion_to_its_length) {
    uint64_t once = bytes_for(8192), twice = bytes_for(16384);
    ck_assert_uint_le(once, 16 * 8192);
    ck_assert_uint_le(twice, 3 * once);
}
END_TEST

/* Removes the decoder in front of it with each message. */
static void remove_decoder(leat_ctx *ctx, leat_msg msg) {
    leat_ctx *decoder = leat_channel_find(leat_ctx_channel(ctx), "line_decoder");
    leat_ctx_fire_read(ctx, msg);
    if (decoder)
        leat_ctx_remove(decoder);
}

static const leat_handler remover = {.name = "remover", .read = remove_decoder};

START_TEST(removed_by_its_last_message_it_passes_the_end_on_once_and_nothing_twice) {
    const leat_line_config last_too = {.last_line = true};
    const leat_stage stages[] = {{&leat_line_decoder, &last_too, NULL}, {.handler = &remover}, {0}};
    leat_embedded *embedded = leat_embedded_new(stages);
    leat_embedded_feed_text(embedded, "half");
    leat_embedded_feed_eof(embedded);
    assert_texts(embedded, TEXTS("half"));
    ck_assert_uint_eq(leat_embedded_count_eof(embedded), 1);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(bytes_behind_the_line_that_removes_the_decoder_go_on_as_they_are) {
    const leat_stage stages[] = {{.handler = &leat_line_decoder}, {.handler = &remover}, {0}};
    leat_embedded *embedded = leat_embedded_new(stages);
    leat_embedded_feed_text(embedded, "UPGRADE\r\n\1\2");
    leat_embedded_feed_text(embedded, "\3\n");
    assert_texts(embedded, TEXTS("UPGRADE", "\1\2", "\3\n"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(an_end_between_frames_is_clean) {
    leat_embedded *embedded = leat_embedded_new(just_pairs);
    leat_embedded_feed_text(embedded, "aabb");
    leat_embedded_feed_eof(embedded);
    ck_assert_int_eq(leat_embedded_take_error(embedded), 0);
    ck_assert_uint_eq(leat_embedded_count_eof(embedded), 1);
    assert_texts(embedded, TEXTS("aa", "bb"));
    assert_nothing_left(embedded);
}
END_TEST

/* What a channel has allocated more once a peer announced 64 MiB and sent four bytes of them. */
static uint64_t memory_for_an_announcement(leat_stage decoder, const void *announced, size_t length) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    const leat_embedded_options options = {.alloc = &counting.alloc, .without_ledger = true};
    leat_embedded *embedded = leat_embedded_new_with((const leat_stage[]){decoder, {0}}, &options, NULL);
    ck_assert_ptr_nonnull(embedded);
    leat_embedded_feed(embedded, announced, 1); /* brings the receive block */
    uint64_t before = counting.counted.live_bytes;
    leat_embedded_feed(embedded, (const char *)announced + 1, length - 1);
    leat_embedded_feed(embedded, "abcd", 4);
    uint64_t after = counting.counted.live_bytes;
    ck_assert_int_eq(leat_embedded_take_error(embedded), 0);
    leat_embedded_free(embedded);
    return after - before;
}

START_TEST(a_frame_that_is_only_announced_takes_no_memory) {
    enum { MIB_64 = 64 << 20 };
    const leat_length_field_decoder_config fields = {.max_frame = 2 * MIB_64};
    const leat_varint_decoder_config varints = {.max_frame = 2 * MIB_64};
    const leat_legacy_tcp_decoder_config legacy = {.max_frame = 2 * MIB_64};
    const leat_fixed_config fixed = {.length = MIB_64};
    const leat_stage field = {&leat_length_field_decoder, &fields, NULL},
                     varint = {&leat_varint_decoder, &varints, NULL};
    ck_assert_uint_lt(memory_for_an_announcement(field, "\4\0\0\0", 4), 4096);
    ck_assert_uint_lt(memory_for_an_announcement(varint, "\x80\x80\x80\x20", 4), 4096);
    const leat_stage tcp = {&leat_legacy_tcp_decoder, &legacy, NULL}, block = {&leat_fixed_decoder, &fixed, NULL};
    ck_assert_uint_lt(memory_for_an_announcement(tcp, "\4\0\0\0\1\0\3\0\0\0\1", 11), 4096);
    ck_assert_uint_lt(memory_for_an_announcement(block, "ab", 2), 4096);
}
END_TEST

int main(void) {
    return suite_run("codec_flow", (const TTest *const[]){
                                       removed_while_decoding_it_hands_on_the_rest,
                                       removed_between_reads_it_hands_on_the_rest,
                                       bytes_left_over_at_the_end_are_truncated,
                                       it_stops_when_nobody_asks_for_more_and_goes_on_when_asked,
                                       the_rest_of_a_frame_that_came_while_it_was_stopped_is_decoded_when_it_goes_on,
                                       the_end_waits_as_long_as_it_is_paused,
                                       paused_without_a_byte_it_passes_the_end_on_when_it_goes_on,
                                       an_end_that_waits_is_not_passed_on_behind_a_close,
                                       the_end_waits_behind_frames_that_nobody_asked_for,
                                       removed_with_the_end_waiting_it_hands_on_both,
                                       a_message_that_is_no_buffer_is_passed_on_at_once,
                                       an_unfinished_frame_above_the_limit_is_too_long,
                                       a_frame_larger_than_the_read_watermark_does_not_pause_its_own_rest,
                                       a_decoder_may_have_more_messages_than_bytes_and_the_end_waits_for_them,
                                       a_frame_that_comes_one_byte_a_read_costs_in_proportion_to_its_length,
                                       removed_by_its_last_message_it_passes_the_end_on_once_and_nothing_twice,
                                       bytes_behind_the_line_that_removes_the_decoder_go_on_as_they_are,
                                       an_end_between_frames_is_clean,
                                       a_frame_that_is_only_announced_takes_no_memory,
                                       NULL});
}
