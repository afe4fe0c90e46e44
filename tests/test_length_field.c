#include "core/composite.h"
#include "core/embedded.h"
#include "core/verify.h"
#include "handlers/length_field_decoder.h"
#include "handlers/length_field_prepender.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

#include <string.h>

typedef leat_length_field_decoder_config decoder_config;
typedef leat_length_field_prepender_config prepender_config;

#define SPAN(text) ((leat_span){(const uint8_t *)(text), sizeof(text) - 1})

/* ---- the decoder ---- */

static void assert_frames(decoder_config config, leat_span input, const leat_span *frames, size_t count) {
    leat_stage stages[] = {{&leat_length_field_decoder, &config, NULL}, {0}};
    leat_problem problem;
    int code = leat_verify_decoder(stages, input.bytes, input.length, frames, count, &problem);
    ck_assert_msg(code == 0, "%s", problem.text);
}

START_TEST(every_width_and_order_is_read) {
    const leat_span abc[] = {SPAN("abc"), SPAN("")};
    assert_frames((decoder_config){.field_length = 1, .strip = 1}, SPAN("\3abc\0"), abc, 2);
    assert_frames((decoder_config){.field_length = 2, .strip = 2}, SPAN("\0\3abc\0\0"), abc, 2);
    assert_frames((decoder_config){.field_length = 3, .strip = 3}, SPAN("\0\0\3abc\0\0\0"), abc, 2);
    assert_frames((decoder_config){.strip = 4}, SPAN("\0\0\0\3abc\0\0\0\0"), abc, 2);
    assert_frames((decoder_config){.field_length = 8, .strip = 8}, SPAN("\0\0\0\0\0\0\0\3abc\0\0\0\0\0\0\0\0"), abc, 2);
    assert_frames((decoder_config){.field_length = 2, .strip = 2, .little_endian = true}, SPAN("\3\0abc\0\0"), abc, 2);
    assert_frames((decoder_config){.field_length = 3, .strip = 3, .little_endian = true}, SPAN("\3\0\0abc\0\0\0"), abc,
                  2);
}
END_TEST

START_TEST(offset_adjustment_and_strip_shape_the_frame) {
    const leat_span whole[] = {SPAN("H\0\3abc")}, length_of_all[] = {SPAN("abc")}, behind[] = {SPAN("xabc")};
    assert_frames((decoder_config){.offset = 1, .field_length = 2}, SPAN("H\0\3abc"), whole, 1);
    assert_frames((decoder_config){.field_length = 2, .adjustment = -2, .strip = 2}, SPAN("\0\5abc"), length_of_all, 1);
    assert_frames((decoder_config){.offset = 1, .field_length = 1, .adjustment = 1, .strip = 2}, SPAN("H\3xabc"),
                  behind, 1);
}
END_TEST

static void feed(leat_embedded *embedded, leat_span input, bool bytewise) {
    for (size_t i = 0; bytewise && i < input.length; i++)
        leat_embedded_feed(embedded, input.bytes + i, 1);
    if (!bytewise)
        leat_embedded_feed(embedded, input.bytes, input.length);
}

static void assert_recovers(decoder_config config, leat_span input, int code, const char *next) {
    leat_stage stages[] = {{&leat_length_field_decoder, &config, NULL}, {&tolerant, NULL, NULL}, {0}};
    for (int bytewise = 0; bytewise < 2; bytewise++) {
        leat_embedded *embedded = leat_embedded_new(stages);
        feed(embedded, input, bytewise);
        ck_assert_int_eq(take_tolerated(embedded), code);
        ck_assert_int_eq(take_tolerated(embedded), 0);
        ck_assert_str_eq(leat_embedded_read_text(embedded), next);
        assert_nothing_left(embedded);
    }
}

START_TEST(a_frame_at_the_limit_passes_and_one_above_it_is_skipped) {
    const leat_span frames[] = {SPAN("abc"), SPAN("abc")};
    assert_frames((decoder_config){.max_frame = 4, .field_length = 1, .strip = 1}, SPAN("\3abc\3abc"), frames, 2);
    decoder_config config = {.max_frame = 4, .field_length = 1, .strip = 1};
    assert_recovers(config, SPAN("\4abcd\2ok"), LEAT_ETOOLONG, "ok");
    config.report_late = true;
    assert_recovers(config, SPAN("\4abcd\2ok"), LEAT_ETOOLONG, "ok");
}
END_TEST

START_TEST(late_reports_come_when_the_frame_was_skipped) {
    decoder_config config = {.max_frame = 4, .field_length = 1, .strip = 1, .report_late = true};
    leat_stage stages[] = {{&leat_length_field_decoder, &config, NULL}, {&tolerant, NULL, NULL}, {0}};
    leat_embedded *embedded = leat_embedded_new(stages);
    leat_embedded_feed_text(embedded, "\4abc");
    ck_assert_int_eq(take_tolerated(embedded), 0);
    leat_embedded_feed_text(embedded, "d");
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ETOOLONG);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_length_inside_its_own_header_is_corrupt_and_the_header_is_skipped) {
    decoder_config config = {.field_length = 1, .adjustment = -1, .strip = 1};
    assert_recovers(config, SPAN("\0\3ok"), LEAT_ECORRUPT, "ok");
}
END_TEST

START_TEST(a_frame_shorter_than_what_to_strip_is_skipped) {
    decoder_config config = {.field_length = 1, .strip = 3};
    assert_recovers(config, SPAN("\1x\4yyok"), LEAT_ECORRUPT, "ok");
}
END_TEST

static void assert_too_long(decoder_config config, leat_span input) {
    leat_stage stages[] = {{&leat_length_field_decoder, &config, NULL}, {0}};
    leat_embedded *embedded = leat_embedded_new(stages);
    leat_embedded_feed(embedded, input.bytes, input.length);
    ck_assert_int_eq(leat_embedded_take_error(embedded), LEAT_ETOOLONG);
    ck_assert_ptr_null(leat_embedded_read_text(embedded));
    assert_nothing_left(embedded);
}

START_TEST(the_largest_lengths_are_too_long_and_never_overflow) {
    decoder_config config = {.field_length = 8, .adjustment = 1000000};
    assert_too_long(config, SPAN("\xff\xff\xff\xff\xff\xff\xff\xff"));
    assert_too_long(config, SPAN("\x7f\xff\xff\xff\xff\xff\xff\xff"));
    assert_too_long(config, SPAN("\x80\0\0\0\0\0\0\0"));
    config.field_length = 4;
    assert_too_long(config, SPAN("\xff\xff\xff\xff"));
}
END_TEST

START_TEST(a_frame_cut_off_by_the_end_is_truncated) {
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{.handler = &leat_length_field_decoder}, {0}});
    leat_embedded_feed(embedded, "\0\0\0\3ab", 6);
    leat_embedded_feed_eof(embedded);
    ck_assert_int_eq(leat_embedded_take_error(embedded), LEAT_ETRUNCATED);
    assert_nothing_left(embedded);
}
END_TEST

static void assert_refused(const leat_handler *handler, const void *config) {
    leat_problem problem;
    ck_assert_ptr_null(leat_embedded_new_with((leat_stage[]){{handler, config, NULL}, {0}}, NULL, &problem));
    ck_assert_int_eq(problem.code, LEAT_EINVAL);
}

START_TEST(nonsense_in_a_config_is_refused) {
    assert_refused(&leat_length_field_decoder, &(decoder_config){.field_length = 5});
    assert_refused(&leat_length_field_decoder, &(decoder_config){.max_frame = 3});
    assert_refused(&leat_length_field_decoder, &(decoder_config){.max_frame = 8, .offset = UINT64_MAX});
    assert_refused(&leat_length_field_decoder, &(decoder_config){.max_frame = 8, .strip = 9});
    assert_refused(&leat_length_field_decoder, &(decoder_config){.adjustment = INT64_MIN});
    assert_refused(&leat_length_field_prepender, &(prepender_config){.field_length = 7});
    assert_refused(&leat_length_field_prepender, &(prepender_config){.adjustment = INT64_MAX});
}
END_TEST

START_TEST(no_failed_allocation_leaks_when_decoding) {
    leat_stage stages[] = {{&leat_length_field_decoder, &(decoder_config){.field_length = 1}, NULL}, {0}};
    leat_problem problem;
    ck_assert_msg(leat_verify_oom_fed(stages, "\3abc\2de\5f", 9, &problem) == 0, "%s", problem.text);
}
END_TEST

START_TEST(a_large_frame_survives_any_cut) {
    static uint8_t input[70004];
    input[1] = 1, input[2] = 70000 % 65536 / 256, input[3] = 70000 % 256;
    for (size_t i = 4; i < sizeof input; i++)
        input[i] = (uint8_t)(i * 7);
    for (size_t cut = 1; cut < sizeof input; cut += 9973) {
        leat_embedded *embedded = leat_embedded_new((leat_stage[]){{.handler = &leat_length_field_decoder}, {0}});
        leat_embedded_feed(embedded, input, cut);
        leat_embedded_feed(embedded, input + cut, sizeof input - cut);
        leat_msg msg;
        ck_assert(leat_embedded_take_read(embedded, &msg));
        ck_assert(leat_bytebuf_equals_bytes(leat_msg_bytebuf(msg), input, sizeof input));
        leat_msg_release(msg);
        assert_nothing_left(embedded);
    }
}
END_TEST

/* ---- the prepender ---- */

static int last_status;

static void note_status(leat_done *done, int status) {
    (void)done;
    last_status = status;
}

static void write_sized(leat_embedded *embedded, size_t length, leat_done *done) {
    leat_bytebuf *body = leat_bytebuf_new(leat_embedded_alloc(embedded), length);
    ck_assert(leat_bytebuf_write_zero(body, length));
    leat_embedded_write(embedded, leat_msg_of_bytebuf(body), done);
}

static void assert_written(leat_embedded *embedded, leat_span expected) {
    leat_bytebuf *written = leat_embedded_take_written(embedded);
    char dump[512];
    leat_bytebuf_hex_dump(written, dump, sizeof dump);
    ck_assert_msg(leat_bytebuf_equals_bytes(written, expected.bytes, expected.length), "%s", dump);
    leat_bytebuf_release(written);
}

static void assert_prepended(prepender_config config, leat_span expected) {
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{&leat_length_field_prepender, &config, NULL}, {0}});
    leat_embedded_write_text(embedded, "abc");
    assert_written(embedded, expected);
    assert_nothing_left(embedded);
}

START_TEST(every_width_and_order_is_written) {
    assert_prepended((prepender_config){.field_length = 1}, SPAN("\3abc"));
    assert_prepended((prepender_config){.field_length = 2}, SPAN("\0\3abc"));
    assert_prepended((prepender_config){.field_length = 3}, SPAN("\0\0\3abc"));
    assert_prepended((prepender_config){0}, SPAN("\0\0\0\3abc"));
    assert_prepended((prepender_config){.field_length = 8}, SPAN("\0\0\0\0\0\0\0\3abc"));
    assert_prepended((prepender_config){.field_length = 3, .little_endian = true}, SPAN("\3\0\0abc"));
    assert_prepended((prepender_config){.field_length = 2, .includes_field = true}, SPAN("\0\5abc"));
    assert_prepended((prepender_config){.field_length = 1, .adjustment = -3}, SPAN("\0abc"));
}
END_TEST

static int status_of(prepender_config config, size_t length) {
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{&leat_length_field_prepender, &config, NULL}, {0}});
    leat_done done = {.fn = note_status};
    last_status = 1;
    write_sized(embedded, length, &done);
    leat_bytebuf_release(leat_embedded_take_written(embedded));
    assert_nothing_left(embedded);
    return last_status;
}

START_TEST(a_length_that_does_not_fit_is_refused) {
    ck_assert_int_eq(status_of((prepender_config){.field_length = 1}, 255), 0);
    ck_assert_int_eq(status_of((prepender_config){.field_length = 1}, 256), LEAT_ETOOLONG);
    ck_assert_int_eq(status_of((prepender_config){.field_length = 1, .includes_field = true}, 255), LEAT_ETOOLONG);
    ck_assert_int_eq(status_of((prepender_config){.field_length = 2}, 65535), 0);
    ck_assert_int_eq(status_of((prepender_config){.field_length = 2}, 65536), LEAT_ETOOLONG);
    ck_assert_int_eq(status_of((prepender_config){.field_length = 4, .adjustment = -2}, 1), LEAT_ERANGE);
    ck_assert_int_eq(status_of((prepender_config){.field_length = 4, .adjustment = (int64_t)1 << 32}, 1),
                     LEAT_ETOOLONG);
}
END_TEST

START_TEST(a_shared_body_is_framed_without_touching_or_copying_it) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_embedded_options options = {.alloc = &counting.alloc, .without_ledger = true};
    leat_embedded *embedded =
        leat_embedded_new_with((leat_stage[]){{.handler = &leat_length_field_prepender}, {0}}, &options, NULL);
    leat_bytebuf *body = leat_bytebuf_from_text(&counting.alloc, "shared");
    counting.counted.copied = 0;
    leat_embedded_write(embedded, leat_msg_of_bytebuf(leat_bytebuf_retain(body)), NULL);
    ck_assert_uint_eq(counting.counted.copied, 0);
    ck_assert(leat_bytebuf_equals_bytes(body, "shared", 6));
    assert_written(embedded, SPAN("\0\0\0\6shared"));
    leat_bytebuf_release(body);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(what_the_prepender_writes_the_decoder_reads) {
    leat_stage stages[] = {
        {.handler = &leat_length_field_decoder}, {&leat_length_field_prepender, &(prepender_config){0}, NULL}, {0}};
    leat_embedded *one = leat_embedded_new(stages);
    leat_embedded_options shared = {.loop = leat_embedded_loop(one)};
    leat_embedded *other = leat_embedded_new_with(stages, &shared, NULL);
    leat_embedded_link(one, other);
    leat_embedded_write_text(one, "hello");
    leat_embedded_run(one);
    leat_msg msg;
    ck_assert(leat_embedded_take_read(other, &msg));
    ck_assert(leat_bytebuf_equals_bytes(leat_msg_bytebuf(msg), "\0\0\0\5hello", 9));
    leat_msg_release(msg);
    leat_embedded_free(other);
    leat_embedded_free(one);
}
END_TEST

int main(void) {
    return suite_run(
        "length_field",
        (const TTest *const[]){
            every_width_and_order_is_read, offset_adjustment_and_strip_shape_the_frame,
            a_frame_at_the_limit_passes_and_one_above_it_is_skipped, late_reports_come_when_the_frame_was_skipped,
            a_length_inside_its_own_header_is_corrupt_and_the_header_is_skipped,
            a_frame_shorter_than_what_to_strip_is_skipped, the_largest_lengths_are_too_long_and_never_overflow,
            a_frame_cut_off_by_the_end_is_truncated, nonsense_in_a_config_is_refused,
            no_failed_allocation_leaks_when_decoding, a_large_frame_survives_any_cut, every_width_and_order_is_written,
            a_length_that_does_not_fit_is_refused, a_shared_body_is_framed_without_touching_or_copying_it,
            what_the_prepender_writes_the_decoder_reads, NULL});
}
