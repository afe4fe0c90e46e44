#include "shout.h"

#include <check.h>
#include <leat/handlers/line.h>
#include <stdio.h>
#include <stdlib.h>

static const leat_stage stages[] = {{.handler = &leat_line_decoder}, {.handler = &shout}, {0}};
static const char input[] = "hello\nworld\n";

START_TEST(each_line_goes_on_in_capitals) {
    leat_embedded *channel = leat_embedded_new(stages);
    leat_embedded_feed_text(channel, "hel");
    ck_assert_ptr_null(leat_embedded_read_text(channel));
    leat_embedded_feed_text(channel, "lo\nworld\n");
    ck_assert_str_eq(leat_embedded_read_text(channel), "HELLO");
    ck_assert_str_eq(leat_embedded_read_text(channel), "WORLD");
    ck_assert_msg(leat_embedded_finish(channel) == 0, "%s", leat_embedded_report(channel));
    leat_embedded_free(channel);
}
END_TEST

START_TEST(every_split_gives_the_same_lines) {
    const char *expected[] = {"HELLO", "WORLD", NULL};
    leat_problem problem;
    ck_assert_msg(leat_verify_decoder_text(stages, input, expected, &problem) == 0, "%s", problem.text);
    puts(problem.text);
}
END_TEST

START_TEST(no_failed_allocation_leaks_or_crashes) {
    leat_problem problem;
    ck_assert_msg(leat_verify_oom_fed(stages, input, sizeof input - 1, &problem) == 0, "%s", problem.text);
    puts(problem.text);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("shout");
    tcase_add_test(tests, each_line_goes_on_in_capitals);
    tcase_add_test(tests, every_split_gives_the_same_lines);
    tcase_add_test(tests, no_failed_allocation_leaks_or_crashes);
    Suite *suite = suite_create("shout");
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
