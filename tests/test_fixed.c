#include "core/embedded.h"
#include "core/verify.h"
#include "handlers/fixed.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

static const leat_stage threes[] = {{&leat_fixed_decoder, &(const leat_fixed_config){.length = 3}, NULL}, {0}};
static const leat_stage last_too[] = {
    {&leat_fixed_decoder, &(const leat_fixed_config){.length = 3, .last_frame = true}, NULL}, {0}};

START_TEST(frames_have_just_the_length_at_every_split) {
    leat_problem problem;
    const char *const expected[] = {"abc", "def", "ghi", NULL};
    ck_assert_msg(leat_verify_decoder_text(threes, "abcdefghi", expected, &problem) == 0, "%s", problem.text);
}
END_TEST

START_TEST(a_frame_cut_off_by_the_end_is_truncated) {
    leat_embedded *embedded = leat_embedded_new(threes);
    leat_embedded_feed_text(embedded, "abcde");
    ck_assert_str_eq(leat_embedded_read_text(embedded), "abc");
    leat_embedded_feed_eof(embedded);
    ck_assert_int_eq(leat_embedded_take_error(embedded), LEAT_ETRUNCATED);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_shorter_last_frame_can_be_a_frame_too) {
    leat_embedded *embedded = leat_embedded_new(last_too);
    leat_embedded_feed_text(embedded, "abcde");
    leat_embedded_feed_eof(embedded);
    ck_assert_str_eq(leat_embedded_read_text(embedded), "abc");
    ck_assert_str_eq(leat_embedded_read_text(embedded), "de");
    ck_assert_int_eq(leat_embedded_take_error(embedded), 0);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(the_default_is_1024_bytes) {
    static const char input[2048];
    leat_span frames[] = {{(const uint8_t *)input, 1024}, {(const uint8_t *)input, 1024}};
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{.handler = &leat_fixed_decoder}, {0}});
    leat_embedded_feed(embedded, input, sizeof input);
    for (size_t i = 0; i < 2; i++) {
        leat_msg msg;
        ck_assert(leat_embedded_take_read(embedded, &msg));
        ck_assert(leat_bytebuf_equals_bytes(leat_msg_bytebuf(msg), frames[i].bytes, frames[i].length));
        leat_msg_release(msg);
    }
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_nonsensical_length_is_refused) {
    leat_fixed_config config = {.length = ((uint64_t)1 << 30) + 1};
    leat_problem problem;
    leat_stage stages[] = {{&leat_fixed_decoder, &config, NULL}, {0}};
    ck_assert_ptr_null(leat_embedded_new_with(stages, NULL, &problem));
    ck_assert_int_eq(problem.code, LEAT_EINVAL);
}
END_TEST

START_TEST(no_failed_allocation_leaks) {
    leat_problem problem;
    ck_assert_msg(leat_verify_oom_fed(last_too, "abcdefgh", 8, &problem) == 0, "%s", problem.text);
}
END_TEST

int main(void) {
    return suite_run("fixed", (const TTest *const[]){
                                  frames_have_just_the_length_at_every_split, a_frame_cut_off_by_the_end_is_truncated,
                                  a_shorter_last_frame_can_be_a_frame_too, the_default_is_1024_bytes,
                                  a_nonsensical_length_is_refused, no_failed_allocation_leaks, NULL});
}
