#include "guide.h"

#include <check.h>
#include <leat/core/recorder.h>
#include <leat/handlers/line.h>

START_TEST(answers_each_line_in_upper_case) {
    static const leat_stage shout[] = {{&leat_line_decoder}, {&upper}, {0}};
    leat_embedded *e = leat_embedded_new(shout);
    leat_embedded_feed_text(e, "hel");
    ck_assert_str_eq(leat_embedded_written_text(e), "");
    leat_embedded_feed_text(e, "lo\nworld\n");
    ck_assert_str_eq(leat_embedded_written_text(e), "HELLOWORLD");
    ck_assert_msg(leat_embedded_finish(e) == 0, "%s", leat_embedded_report(e));
    leat_embedded_free(e);
}
END_TEST

START_TEST(packets_hold_at_every_split) {
    static const leat_stage stages[] = {{&packets}, {0}};
    const leat_span expected[] = {{(const uint8_t *)"abc", 3}, {(const uint8_t *)"", 0}, {(const uint8_t *)"d", 1}};
    leat_problem problem;
    ck_assert_msg(leat_verify_decoder(stages, "\3abc\0\1d", 7, expected, 3, &problem) == 0, "%s", problem.text);
    ck_assert_msg(leat_verify_oom_fed(stages, "\3abc\0\1d", 7, &problem) == 0, "%s", problem.text);
}
END_TEST

START_TEST(an_answer_goes_out_inside_the_read) {
    leat_recorder *recorder = leat_recorder_new(leat_unpooled());
    const leat_stage stages[] = {leat_recorder_stage(recorder, "below"), {&upper}, {0}};
    leat_embedded *e = leat_embedded_new(stages);
    leat_recorder_leave_out(recorder, "added active read_done flush");
    leat_recorder_take(recorder); /* what came so far */
    leat_embedded_feed_text(e, "hi");
    ck_assert_str_eq(leat_recorder_take(recorder), "below read 'hi'\nbelow write 'HI'\n");
    leat_embedded_free(e);
    leat_recorder_free(recorder);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("guide");
    TCase *all = tcase_create("all");
    tcase_add_test(all, answers_each_line_in_upper_case);
    tcase_add_test(all, packets_hold_at_every_split);
    tcase_add_test(all, an_answer_goes_out_inside_the_read);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
