/* Defects that Netty 4.1 has or had, in the numbering of the study that this library began with: here they are not. */
#include "handlers/delimiter.h"
#include "handlers/length_field_decoder.h"
#include "handlers/length_field_prepender.h"
#include "handlers/line.h"
#include "tests/support/pairs.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

/* ---- the decoder's base ---- */

static const leat_type note = {.name = "note"};

/* On the pair "X1" it reads a message that is no ByteBuf from inside; others are `obey`'s. */
static void nest_note(leat_ctx *ctx, leat_msg msg) {
    const leat_bytebuf *pair = leat_msg_bytebuf(msg);
    leat_ctx *decoder = leat_channel_find(leat_ctx_channel(ctx), "pairs");
    bool asked = pair && leat_bytebuf_equals_bytes(pair, "X1", 2);
    leat_ctx_fire_read(ctx, msg);
    if (asked)
        decoder->handler->read(decoder, leat_msg_of(&note, NULL));
}

static const leat_handler nester = {.name = "nester", .read = nest_note};

START_TEST(d7_a_message_that_is_no_buffer_read_from_inside_does_not_stall_the_decoder) {
    const leat_stage stages[] = {{.handler = &pairs}, {.handler = &nester}, {0}};
    leat_embedded *embedded = leat_embedded_new(stages);
    leat_embedded_feed_text(embedded, "X1aa");
    leat_embedded_feed_text(embedded, "bb");
    const char *const expected[] = {"X1", NULL, "aa", "bb"};
    for (size_t i = 0; i < 4; i++) {
        leat_msg msg;
        ck_assert(leat_embedded_take_read(embedded, &msg));
        ck_assert(expected[i] ? leat_bytebuf_equals_bytes(leat_msg_bytebuf(msg), expected[i], 2) : msg.type == &note);
        leat_msg_release(msg);
    }
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(d7_an_empty_buffer_read_from_inside_does_not_either) {
    leat_embedded *embedded = leat_embedded_new(obeyed_pairs);
    leat_embedded_feed_text(embedded, "E1aaE1");
    leat_embedded_feed_text(embedded, "bb");
    assert_texts(embedded, TEXTS("E1", "aa", "E1", "bb"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(d7_nor_does_a_read_that_waits_when_decoding_fails) {
    const leat_stage stages[] = {{.handler = &pairs}, {.handler = &obey}, {.handler = &tolerant}, {0}};
    leat_embedded *embedded = leat_embedded_new(stages);
    leat_embedded_feed_text(embedded, "N1!aa");
    leat_embedded_feed_text(embedded, "bb");
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ERANGE);
    assert_texts(embedded, TEXTS("N1", "aa", "nn", "bb"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(d8_removed_while_a_read_from_inside_waits_it_hands_on_and_decodes_no_more) {
    leat_embedded *embedded = leat_embedded_new(obeyed_pairs);
    leat_embedded_feed_text(embedded, "NRaabb");
    leat_embedded_feed_text(embedded, "cc");
    assert_texts(embedded, TEXTS("NR", "aabbnn", "cc"));
    ck_assert_ptr_null(leat_channel_find(leat_embedded_channel(embedded), "pairs"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(d9_frames_behind_an_error_do_not_wait_for_the_next_read) {
    leat_embedded *embedded = leat_embedded_new(tolerant_pairs);
    leat_embedded_feed_text(embedded, "aa!bb!cc");
    assert_texts(embedded, TEXTS("aa", "bb", "cc"));
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ERANGE);
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ERANGE);
    assert_nothing_left(embedded);
}
END_TEST

/* ---- length fields ---- */

static leat_embedded *length_field(leat_length_field_decoder_config config) {
    leat_stage stages[] = {{&leat_length_field_decoder, &config, NULL}, {.handler = &tolerant}, {0}};
    return leat_embedded_new(stages);
}

START_TEST(d10_a_frame_shorter_than_what_is_stripped_is_skipped_and_the_next_is_read) {
    leat_embedded *embedded = length_field((leat_length_field_decoder_config){.field_length = 1, .strip = 3});
    leat_embedded_feed(embedded, "\1x\4abcd\4efgh", 12);
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ECORRUPT);
    ck_assert_int_eq(take_tolerated(embedded), 0);
    assert_texts(embedded, TEXTS("cd", "gh"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(d11_widths_that_do_not_exist_are_refused_when_the_pipeline_is_built) {
    const unsigned widths[] = {5, 6, 7, 9, UINT32_MAX};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        ck_assert_ptr_null(length_field((leat_length_field_decoder_config){.field_length = widths[i]}));
}
END_TEST

START_TEST(d11_lengths_are_added_up_without_overflow) {
    static const uint8_t lengths[][8] = {{0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
                                         {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
                                         {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf8},
                                         {0x80}};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        leat_embedded *embedded =
            length_field((leat_length_field_decoder_config){.field_length = 8, .adjustment = INT32_MAX});
        leat_embedded_feed(embedded, lengths[i], 8);
        ck_assert_int_eq(take_tolerated(embedded), LEAT_ETOOLONG);
        assert_nothing_left(embedded);
    }
}
END_TEST

/* ---- delimiters and lines ---- */

static leat_embedded *ended_by_two_dollars(uint64_t max_length) {
    static const leat_span end = {(const uint8_t *)"$$", 2};
    leat_delimiter_config config = {.delimiters = &end, .count = 1, .max_length = max_length};
    leat_stage stages[] = {{&leat_delimiter_decoder, &config, NULL}, {.handler = &tolerant}, {0}};
    return leat_embedded_new(stages);
}

START_TEST(d12_a_delimiter_that_is_cut_while_a_frame_is_discarded_still_ends_it) {
    leat_embedded *embedded = ended_by_two_dollars(4);
    leat_embedded_feed_text(embedded, "too long$");
    leat_embedded_feed_text(embedded, "$good$$");
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ETOOLONG);
    ck_assert_int_eq(take_tolerated(embedded), 0);
    assert_texts(embedded, TEXTS("good"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(d12_half_a_delimiter_does_not_count_against_the_limit) {
    leat_embedded *embedded = ended_by_two_dollars(4);
    leat_embedded_feed_text(embedded, "four$");
    leat_embedded_feed_text(embedded, "$");
    ck_assert_int_eq(take_tolerated(embedded), 0);
    assert_texts(embedded, TEXTS("four"));
    assert_nothing_left(embedded);
}
END_TEST

static leat_embedded *lines_of(uint64_t max_length) {
    leat_line_config config = {.max_length = max_length};
    leat_stage stages[] = {{&leat_line_decoder, &config, NULL}, {.handler = &tolerant}, {0}};
    return leat_embedded_new(stages);
}

START_TEST(d13_the_cr_of_a_cut_line_end_does_not_count_against_the_limit) {
    leat_embedded *embedded = lines_of(4);
    leat_embedded_feed_text(embedded, "four\r");
    leat_embedded_feed_text(embedded, "\n");
    ck_assert_int_eq(take_tolerated(embedded), 0);
    assert_texts(embedded, TEXTS("four"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(d13_an_empty_line_does_not_look_at_the_byte_before_it) {
    leat_embedded *embedded = lines_of(4);
    leat_bytebuf *buf = leat_bytebuf_from_text(leat_embedded_alloc(embedded), "\r\nab\n");
    ck_assert(leat_bytebuf_skip(buf, 1));
    leat_embedded_feed_bytebuf(embedded, buf);
    assert_texts(embedded, TEXTS("", "ab"));
    assert_nothing_left(embedded);
}
END_TEST

/* ---- encoders ---- */

struct outcome {
    leat_done done;
    int status;
    int runs;
};

static void note_status(leat_done *done, int status) {
    struct outcome *outcome = (struct outcome *)(void *)done;
    outcome->status = status;
    outcome->runs++;
}

START_TEST(d14_a_write_that_cannot_be_encoded_leaves_nothing_and_completes_once_with_its_error) {
    leat_length_field_prepender_config config = {.field_length = 1};
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{&leat_length_field_prepender, &config, NULL}, {0}});
    struct outcome outcome = {.done.fn = note_status};
    leat_bytebuf *body = leat_bytebuf_new(leat_embedded_alloc(embedded), 256);
    ck_assert(leat_bytebuf_write_zero(body, 256));
    leat_embedded_write(embedded, leat_msg_of_bytebuf(body), &outcome.done);
    ck_assert_int_eq(outcome.status, LEAT_ETOOLONG);
    ck_assert_int_eq(outcome.runs, 1);
    ck_assert_str_eq(leat_embedded_written_text(embedded), "");
    assert_nothing_left(embedded);
}
END_TEST

int main(void) {
    return suite_run("netty_defects",
                     (const TTest *const[]){
                         d7_a_message_that_is_no_buffer_read_from_inside_does_not_stall_the_decoder,
                         d7_an_empty_buffer_read_from_inside_does_not_either,
                         d7_nor_does_a_read_that_waits_when_decoding_fails,
                         d8_removed_while_a_read_from_inside_waits_it_hands_on_and_decodes_no_more,
                         d9_frames_behind_an_error_do_not_wait_for_the_next_read,
                         d10_a_frame_shorter_than_what_is_stripped_is_skipped_and_the_next_is_read,
                         d11_widths_that_do_not_exist_are_refused_when_the_pipeline_is_built,
                         d11_lengths_are_added_up_without_overflow,
                         d12_a_delimiter_that_is_cut_while_a_frame_is_discarded_still_ends_it,
                         d12_half_a_delimiter_does_not_count_against_the_limit,
                         d13_the_cr_of_a_cut_line_end_does_not_count_against_the_limit,
                         d13_an_empty_line_does_not_look_at_the_byte_before_it,
                         d14_a_write_that_cannot_be_encoded_leaves_nothing_and_completes_once_with_its_error, NULL});
}
