#include "core/embedded.h"
#include "core/verify.h"
#include "handlers/varint.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

typedef leat_varint_decoder_config decoder_config;
typedef leat_varint_prepender_config prepender_config;

#define SPAN(text) ((leat_span){(const uint8_t *)(text), sizeof(text) - 1})

static void assert_frames(decoder_config config, leat_span input, const leat_span *frames, size_t count) {
    leat_stage stages[] = {{&leat_varint_decoder, &config, NULL}, {&tolerant, NULL, NULL}, {0}};
    leat_problem problem;
    int code = leat_verify_decoder(stages, input.bytes, input.length, frames, count, &problem);
    ck_assert_msg(code == 0, "%s", problem.text);
}

static leat_embedded *small_decoder(void) {
    static const decoder_config small = {.max_frame = 3};
    return leat_embedded_new((leat_stage[]){{&leat_varint_decoder, &small, NULL}, {&tolerant, NULL, NULL}, {0}});
}

static void feed(leat_embedded *embedded, leat_span input) {
    leat_embedded_feed(embedded, input.bytes, input.length);
}

/* ---- the decoder ---- */

START_TEST(frames_are_split_by_their_lengths_at_every_split) {
    const leat_span frames[] = {SPAN("abc"), SPAN(""), SPAN("de")};
    assert_frames((decoder_config){0}, SPAN("\3abc\0\2de"), frames, 3);
}
END_TEST

START_TEST(lengths_of_several_bytes_are_read_also_longer_than_needed) {
    static char input[302] = "\xac\2";
    const leat_span frames[] = {{(const uint8_t *)input + 2, 300}}, padded[] = {SPAN("a")};
    assert_frames((decoder_config){0}, (leat_span){(const uint8_t *)input, sizeof input}, frames, 1);
    assert_frames((decoder_config){0}, SPAN("\x81\x80\0a"), padded, 1);
}
END_TEST

START_TEST(lengths_can_be_kept) {
    const leat_span frames[] = {SPAN("\3abc"), SPAN("\0")};
    assert_frames((decoder_config){.keep_length = true}, SPAN("\3abc\0"), frames, 2);
}
END_TEST

START_TEST(a_frame_too_long_is_reported_once_and_skipped) {
    leat_embedded *embedded = small_decoder();
    feed(embedded, SPAN("\3abc\4de"));
    ck_assert_str_eq(leat_embedded_read_text(embedded), "abc");
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ETOOLONG);
    feed(embedded, SPAN("fg\1h"));
    ck_assert_int_eq(take_tolerated(embedded), 0);
    ck_assert_str_eq(leat_embedded_read_text(embedded), "h");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(the_largest_length_is_too_long_and_one_beyond_64_bits_is_corrupt) {
    leat_embedded *embedded = small_decoder();
    feed(embedded, SPAN("\xff\xff\xff\xff\xff\xff\xff\xff\xff\1abc"));
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ETOOLONG);
    assert_nothing_left(embedded);
    embedded = small_decoder();
    feed(embedded, SPAN("\1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\2\1b"));
    ck_assert_str_eq(leat_embedded_read_text(embedded), "a");
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ECORRUPT);
    ck_assert_ptr_null(leat_embedded_read_text(embedded));
    assert_nothing_left(embedded);
}
END_TEST

static void assert_truncated(leat_span input) {
    leat_embedded *embedded = small_decoder();
    feed(embedded, input);
    leat_embedded_feed_eof(embedded);
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ETRUNCATED);
    assert_nothing_left(embedded);
}

START_TEST(a_frame_or_length_cut_off_by_the_end_is_truncated) {
    assert_truncated(SPAN("\3ab"));
    assert_truncated(SPAN("\x83"));
}
END_TEST

/* ---- the prepender ---- */

static int last_status;

static void note_status(leat_done *done, int status) {
    (void)done;
    last_status = status;
}

static void assert_header(size_t length, leat_span header) {
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{.handler = &leat_varint_prepender}, {0}});
    leat_bytebuf *body = leat_bytebuf_new(leat_embedded_alloc(embedded), length);
    ck_assert(leat_bytebuf_write_zero(body, length));
    leat_embedded_write(embedded, leat_msg_of_bytebuf(body), NULL);
    leat_bytebuf *written = leat_embedded_take_written(embedded);
    ck_assert_uint_eq(leat_bytebuf_readable(written), header.length + length);
    ck_assert(leat_bytebuf_set_writer_index(written, leat_bytebuf_reader_index(written) + header.length));
    ck_assert(leat_bytebuf_equals_bytes(written, header.bytes, header.length));
    leat_bytebuf_release(written);
    assert_nothing_left(embedded);
}

START_TEST(lengths_are_written_as_short_as_they_can_be) {
    assert_header(0, SPAN("\0"));
    assert_header(127, SPAN("\x7f"));
    assert_header(128, SPAN("\x80\1"));
    assert_header(300, SPAN("\xac\2"));
    assert_header(16384, SPAN("\x80\x80\1"));
}
END_TEST

START_TEST(a_write_above_the_limit_is_refused) {
    prepender_config config = {.max_frame = 3};
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{&leat_varint_prepender, &config, NULL}, {0}});
    leat_done done = {.fn = note_status};
    leat_bytebuf *body = leat_bytebuf_from_text(leat_embedded_alloc(embedded), "abcd");
    leat_embedded_write(embedded, leat_msg_of_bytebuf(body), &done);
    ck_assert_int_eq(last_status, LEAT_ETOOLONG);
    leat_embedded_write_text(embedded, "abc");
    ck_assert_str_eq(leat_embedded_written_text(embedded), "\3abc");
    assert_nothing_left(embedded);
}
END_TEST

/* ---- both ---- */

static void assert_refused(const leat_handler *handler, const void *config) {
    leat_problem problem;
    ck_assert_ptr_null(leat_embedded_new_with((leat_stage[]){{handler, config, NULL}, {0}}, NULL, &problem));
    ck_assert_int_eq(problem.code, LEAT_EINVAL);
}

START_TEST(nonsensical_limits_are_refused) {
    assert_refused(&leat_varint_decoder, &(decoder_config){.max_frame = ((uint64_t)1 << 40) + 1});
    assert_refused(&leat_varint_prepender, &(prepender_config){.max_frame = UINT64_MAX});
}
END_TEST

START_TEST(no_failed_allocation_leaks) {
    leat_stage stages[] = {{&leat_varint_decoder, NULL, NULL}, {&leat_varint_prepender, NULL, NULL}, {0}};
    leat_problem problem;
    ck_assert_msg(leat_verify_oom_fed(stages, "\3abc\2de\5f", 9, &problem) == 0, "%s", problem.text);
}
END_TEST

static int write_shared(leat_alloc *alloc, void *context) {
    (void)context;
    leat_embedded_options options = {.alloc = alloc};
    leat_stage stages[] = {{.handler = &leat_varint_prepender}, {0}};
    leat_embedded *embedded = leat_embedded_new_with(stages, &options, NULL);
    leat_bytebuf *body = embedded ? leat_bytebuf_from_text(leat_embedded_alloc(embedded), "shared") : NULL;
    if (body)
        leat_embedded_write(embedded, leat_msg_of_bytebuf(leat_bytebuf_retain(body)), NULL);
    leat_bytebuf_release(body);
    leat_embedded_free(embedded);
    return 0;
}

START_TEST(no_failed_allocation_leaks_when_writing) {
    leat_problem problem;
    ck_assert_msg(leat_verify_oom(write_shared, NULL, &problem) == 0, "%s", problem.text);
}
END_TEST

int main(void) {
    return suite_run("varint",
                     (const TTest *const[]){frames_are_split_by_their_lengths_at_every_split,
                                            lengths_of_several_bytes_are_read_also_longer_than_needed,
                                            lengths_can_be_kept, a_frame_too_long_is_reported_once_and_skipped,
                                            the_largest_length_is_too_long_and_one_beyond_64_bits_is_corrupt,
                                            a_frame_or_length_cut_off_by_the_end_is_truncated,
                                            lengths_are_written_as_short_as_they_can_be,
                                            a_write_above_the_limit_is_refused, nonsensical_limits_are_refused,
                                            no_failed_allocation_leaks, no_failed_allocation_leaks_when_writing, NULL});
}
