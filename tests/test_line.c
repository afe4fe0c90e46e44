#include "core/embedded.h"
#include "core/verify.h"
#include "handlers/line.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

static const leat_stage plain[] = {{.handler = &leat_line_decoder}, {0}};
static const leat_stage kept[] = {{&leat_line_decoder, &(const leat_line_config){.keep_end = true}, NULL}, {0}};
static const leat_stage short_lines[] = {
    {&leat_line_decoder, &(const leat_line_config){.max_length = 3}, NULL}, {&tolerant, NULL, NULL}, {0}};

static void assert_lines(const leat_stage *stages, const char *input, const char *const *expected) {
    leat_problem problem;
    ck_assert_msg(leat_verify_decoder_text(stages, input, expected, &problem) == 0, "%s", problem.text);
}

START_TEST(lines_end_with_lf_or_cr_lf_at_every_split) {
    assert_lines(plain, "a\n\nbc\r\n\r\nd\re\r\r\n", (const char *const[]){"a", "", "bc", "", "d\re\r", NULL});
}
END_TEST

START_TEST(ends_can_be_kept) {
    assert_lines(kept, "a\n\r\nbc\r\n", (const char *const[]){"a\n", "\r\n", "bc\r\n", NULL});
}
END_TEST

START_TEST(a_line_of_just_the_limit_passes_however_its_end_is_split) {
    assert_lines(short_lines, "abc\r\nabc\n", (const char *const[]){"abc", "abc", NULL});
}
END_TEST

static void feed_bytewise(leat_embedded *embedded, const char *text) {
    for (; *text; text++)
        leat_embedded_feed(embedded, text, 1);
}

static void assert_one_error_between(leat_embedded *embedded) {
    ck_assert_str_eq(leat_embedded_read_text(embedded), "ok");
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ETOOLONG);
    ck_assert_int_eq(take_tolerated(embedded), 0);
    ck_assert_str_eq(leat_embedded_read_text(embedded), "go");
    assert_nothing_left(embedded);
}

START_TEST(a_line_that_is_too_long_is_reported_once_and_decoding_goes_on) {
    leat_embedded *embedded = leat_embedded_new(short_lines);
    leat_embedded_feed_text(embedded, "ok\nabcd\ngo\n");
    assert_one_error_between(embedded);
    embedded = leat_embedded_new(short_lines);
    feed_bytewise(embedded, "ok\nabcdefghijklm\r\ngo\n");
    assert_one_error_between(embedded);
}
END_TEST

START_TEST(a_last_line_without_an_end_is_truncated) {
    leat_embedded *embedded = leat_embedded_new(plain);
    leat_embedded_feed_text(embedded, "a\nb");
    ck_assert_str_eq(leat_embedded_read_text(embedded), "a");
    leat_embedded_feed_eof(embedded);
    ck_assert_int_eq(leat_embedded_take_error(embedded), LEAT_ETRUNCATED);
    ck_assert_ptr_null(leat_embedded_read_text(embedded));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_last_line_without_an_end_can_be_a_line_too) {
    leat_line_config config = {.last_line = true};
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{&leat_line_decoder, &config, NULL}, {0}});
    leat_embedded_feed_text(embedded, "a\nb");
    leat_embedded_feed_eof(embedded);
    ck_assert_str_eq(leat_embedded_read_text(embedded), "a");
    ck_assert_str_eq(leat_embedded_read_text(embedded), "b");
    ck_assert_uint_eq(leat_embedded_count_eof(embedded), 1);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_nonsensical_limit_is_refused) {
    leat_line_config config = {.max_length = (uint64_t)1 << 40};
    leat_problem problem;
    ck_assert_ptr_null(
        leat_embedded_new_with((leat_stage[]){{&leat_line_decoder, &config, NULL}, {0}}, NULL, &problem));
    ck_assert_int_eq(problem.code, LEAT_EINVAL);
}
END_TEST

START_TEST(no_failed_allocation_leaks) {
    leat_problem problem;
    ck_assert_msg(leat_verify_oom_fed(short_lines, "ab\nabcde\r\nabc\nd", 15, &problem) == 0, "%s", problem.text);
}
END_TEST

int main(void) {
    return suite_run("line", (const TTest *const[]){lines_end_with_lf_or_cr_lf_at_every_split, ends_can_be_kept,
                                                    a_line_of_just_the_limit_passes_however_its_end_is_split,
                                                    a_line_that_is_too_long_is_reported_once_and_decoding_goes_on,
                                                    a_last_line_without_an_end_is_truncated,
                                                    a_last_line_without_an_end_can_be_a_line_too,
                                                    a_nonsensical_limit_is_refused, no_failed_allocation_leaks, NULL});
}
