#include "core/embedded.h"
#include "core/verify.h"
#include "handlers/delimiter.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

#define TEXT(text)                                                                                                     \
    { (const uint8_t *)(text), sizeof(text) - 1 }

static const leat_span ends[] = {TEXT("$$"), TEXT(";"), TEXT("END"), TEXT("BEND")};
static const leat_delimiter_config plain = {.delimiters = ends, .count = 4};
static const leat_delimiter_config kept = {.delimiters = ends, .count = 4, .keep_delimiter = true};
static const leat_delimiter_config last_too = {.delimiters = ends, .count = 4, .last_frame = true, .max_length = 3};
static const leat_delimiter_config small = {.delimiters = ends, .count = 4, .max_length = 3};
static const leat_delimiter_config late = {.delimiters = ends, .count = 4, .max_length = 3, .report_late = true};

static void assert_frames(const leat_delimiter_config *config, const char *input, const char *const *expected) {
    leat_stage stages[] = {{&leat_delimiter_decoder, config, NULL}, {&tolerant, NULL, NULL}, {0}};
    leat_problem problem;
    ck_assert_msg(leat_verify_decoder_text(stages, input, expected, &problem) == 0, "%s", problem.text);
}

static leat_embedded *channel_of(const leat_delimiter_config *config) {
    return leat_embedded_new((leat_stage[]){{&leat_delimiter_decoder, config, NULL}, {&tolerant, NULL, NULL}, {0}});
}

START_TEST(the_delimiter_completed_first_ends_the_frame_at_every_split) {
    assert_frames(&plain, "a$$b;$c$$;ENDxBEND", (const char *const[]){"a", "b", "$c", "", "", "x", NULL});
}
END_TEST

START_TEST(delimiters_can_be_kept) {
    assert_frames(&kept, "a$$b;BEND", (const char *const[]){"a$$", "b;", "BEND", NULL});
}
END_TEST

START_TEST(the_default_delimiters_are_line_ends) {
    assert_frames(NULL, "a\r\nb\n\n", (const char *const[]){"a", "b", "", NULL});
}
END_TEST

START_TEST(a_frame_of_just_the_limit_passes_however_its_delimiter_is_split) {
    assert_frames(&small, "abc$$abcEND", (const char *const[]){"abc", "abc", NULL});
}
END_TEST

START_TEST(a_frame_too_long_is_reported_once_and_a_torn_delimiter_ends_it) {
    leat_embedded *embedded = channel_of(&small);
    leat_embedded_feed_text(embedded, "abcdefBE");
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ETOOLONG);
    leat_embedded_feed_text(embedded, "NDok;");
    ck_assert_int_eq(take_tolerated(embedded), 0);
    ck_assert_str_eq(leat_embedded_read_text(embedded), "ok");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_late_report_comes_with_the_delimiter) {
    leat_embedded *embedded = channel_of(&late);
    leat_embedded_feed_text(embedded, "abcdef$");
    ck_assert_int_eq(take_tolerated(embedded), 0);
    leat_embedded_feed_text(embedded, "$ok;");
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ETOOLONG);
    ck_assert_str_eq(leat_embedded_read_text(embedded), "ok");
    assert_nothing_left(embedded);
}
END_TEST

static int error_at_end(const leat_delimiter_config *config, const char *text) {
    leat_embedded *embedded = channel_of(config);
    leat_embedded_feed_text(embedded, text);
    int known = take_tolerated(embedded);
    leat_embedded_feed_eof(embedded);
    int code = take_tolerated(embedded);
    ck_assert_uint_eq(leat_embedded_count_eof(embedded), 1);
    assert_nothing_left(embedded);
    return known ? 0 : code;
}

START_TEST(an_unfinished_last_frame_is_truncated_and_one_too_long_too_long) {
    ck_assert_int_eq(error_at_end(&small, "abc$"), LEAT_ETRUNCATED);
    ck_assert_int_eq(error_at_end(&last_too, "abc$"), LEAT_ETOOLONG);
    ck_assert_int_eq(error_at_end(&small, "abcdef$"), 0);
    ck_assert_int_eq(error_at_end(&late, "abcdef$"), 0);
}
END_TEST

START_TEST(a_last_frame_without_a_delimiter_can_be_a_frame_too) {
    leat_embedded *embedded = channel_of(&last_too);
    leat_embedded_feed_text(embedded, "a;bc");
    leat_embedded_feed_eof(embedded);
    ck_assert_str_eq(leat_embedded_read_text(embedded), "a");
    ck_assert_str_eq(leat_embedded_read_text(embedded), "bc");
    assert_nothing_left(embedded);
}
END_TEST

static void assert_refused(leat_delimiter_config config) {
    leat_problem problem;
    leat_stage stages[] = {{&leat_delimiter_decoder, &config, NULL}, {0}};
    ck_assert_ptr_null(leat_embedded_new_with(stages, NULL, &problem));
    ck_assert_int_eq(problem.code, LEAT_EINVAL);
}

START_TEST(nonsense_in_a_config_is_refused) {
    static const leat_span empty = {(const uint8_t *)"", 0}, endless = {(const uint8_t *)"", 33}, nothing = {NULL, 2};
    assert_refused((leat_delimiter_config){.max_length = (uint64_t)1 << 40});
    assert_refused((leat_delimiter_config){.delimiters = ends});
    assert_refused((leat_delimiter_config){.count = 1});
    assert_refused((leat_delimiter_config){.delimiters = ends, .count = LEAT_DELIMITERS + 1});
    assert_refused((leat_delimiter_config){.delimiters = &empty, .count = 1});
    assert_refused((leat_delimiter_config){.delimiters = &endless, .count = 1});
    assert_refused((leat_delimiter_config){.delimiters = &nothing, .count = 1});
}
END_TEST

START_TEST(no_failed_allocation_leaks) {
    leat_stage stages[] = {{&leat_delimiter_decoder, &last_too, NULL}, {&tolerant, NULL, NULL}, {0}};
    leat_problem problem;
    ck_assert_msg(leat_verify_oom_fed(stages, "ab;abcdef$$abc$$d", 17, &problem) == 0, "%s", problem.text);
}
END_TEST

int main(void) {
    return suite_run("delimiter",
                     (const TTest *const[]){the_delimiter_completed_first_ends_the_frame_at_every_split,
                                            delimiters_can_be_kept, the_default_delimiters_are_line_ends,
                                            a_frame_of_just_the_limit_passes_however_its_delimiter_is_split,
                                            a_frame_too_long_is_reported_once_and_a_torn_delimiter_ends_it,
                                            a_late_report_comes_with_the_delimiter,
                                            an_unfinished_last_frame_is_truncated_and_one_too_long_too_long,
                                            a_last_frame_without_a_delimiter_can_be_a_frame_too,
                                            nonsense_in_a_config_is_refused, no_failed_allocation_leaks, NULL});
}
