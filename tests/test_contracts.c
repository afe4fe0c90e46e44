/* Contracts: neighbours that do not fit are refused when a pipeline is built or changed, and stopped at the hop. */
#include "core/transport.h"
#include "tests/support/finish.h"

#include <string.h>

static const leat_type frame = {.name = "Frame"}, number = {.name = "Number"};
static const leat_type *const frames[] = {&frame, NULL};
static const leat_type *const both[] = {&frame, &number, NULL};

static void pass_read(leat_ctx *ctx, leat_msg msg) {
    leat_ctx_fire_read(ctx, msg);
}

static void pass_write(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    leat_ctx_write(ctx, msg, done);
}

static const leat_handler framer = {.name = "framer",
                                    .reads = leat_only_bytebuf,
                                    .fires = frames,
                                    .takes = frames,
                                    .writes = leat_only_bytebuf,
                                    .read = pass_read,
                                    .write = pass_write};
static const leat_handler bytes = {.name = "bytes", .reads = leat_only_bytebuf, .read = pass_read};
static const leat_handler taker = {
    .name = "taker", .reads = frames, .fires = leat_no_type, .writes = frames, .read = pass_read};
static const leat_handler generous = {.name = "generous", .reads = both, .fires = leat_no_type, .read = pass_read};
static const leat_handler numbers = {.name = "numbers", .writes = both};
static const leat_handler passing = {.name = "passing", .read = pass_read, .write = pass_write};

static void expect_refusal(const leat_stage *stages, const char *words) {
    leat_problem problem = {0};
    ck_assert_ptr_null(leat_pipeline_new(leat_unpooled(), stages, &problem));
    ck_assert_int_eq(problem.code, LEAT_ETYPE);
    ck_assert_str_eq(problem.text, words);
}

static void expect_fit(const leat_stage *stages) {
    leat_problem problem = {0};
    leat_pipeline *pipeline = leat_pipeline_new(leat_unpooled(), stages, &problem);
    ck_assert_msg(pipeline != NULL, "%s", problem.text);
    leat_pipeline_release(pipeline);
}

START_TEST(neighbours_that_do_not_fit_inbound_are_named) {
    expect_refusal((const leat_stage[]){{&framer}, {&bytes}, {0}}, "framer fires a Frame, which bytes does not read");
    expect_refusal((const leat_stage[]){{&taker}, {0}}, "the transport fires a ByteBuf, which taker does not read");
    expect_refusal((const leat_stage[]){{&framer}, {&passing}, {&bytes}, {0}},
                   "framer fires a Frame, which bytes does not read");
    expect_fit((const leat_stage[]){{&framer}, {&passing}, {&generous}, {0}});
}
END_TEST

START_TEST(neighbours_that_do_not_fit_outbound_are_named) {
    expect_refusal((const leat_stage[]){{&framer}, {&numbers}, {0}},
                   "numbers writes a Number, which framer does not take");
    expect_refusal((const leat_stage[]){{&numbers}, {0}}, "numbers writes a Frame, which the transport does not take");
    expect_refusal((const leat_stage[]){{&passing}, {&numbers}, {0}},
                   "numbers writes a Frame, which the transport does not take");
    expect_fit((const leat_stage[]){{&framer}, {&passing}, {&taker}, {0}});
}
END_TEST

static leat_embedded *framed(void) {
    return leat_embedded_new((const leat_stage[]){{&framer}, {&passing}, {&taker}, {0}});
}

START_TEST(a_handler_that_does_not_fit_is_not_added_wherever_it_is_put) {
    leat_embedded *e = framed();
    leat_channel *channel = leat_embedded_channel(e);
    leat_ctx *first = leat_channel_find(channel, "framer"), *between = leat_channel_find(channel, "passing");
    const leat_stage wrong = {&bytes}, eager = {&taker};
    ck_assert_int_eq(leat_channel_add_after(channel, first, &wrong, NULL), LEAT_ETYPE);
    ck_assert_int_eq(leat_channel_add_after(channel, between, &wrong, NULL), LEAT_ETYPE);
    ck_assert_int_eq(leat_channel_replace(channel, between, &wrong, NULL), LEAT_ETYPE);
    ck_assert_int_eq(leat_channel_add_after(channel, NULL, &eager, NULL), LEAT_ETYPE);
    ck_assert_int_eq(leat_channel_add_after(channel, NULL, &wrong, NULL), LEAT_OK);
    ck_assert_int_eq(leat_channel_add_after(channel, between, &(leat_stage){&passing}, NULL), LEAT_OK);
    char names[100];
    leat_channel_dump(channel, names, sizeof names);
    ck_assert_str_eq(names, "transport | bytes | framer | passing | passing | taker | collector | application");
    finish(e);
}
END_TEST

START_TEST(a_codec_is_replaced_by_another_of_the_same_contract) {
    leat_embedded *e = framed();
    leat_channel *channel = leat_embedded_channel(e);
    const leat_stage other = {&framer, NULL, "other"}, wrong = {&bytes};
    ck_assert_int_eq(leat_channel_replace(channel, leat_channel_find(channel, "framer"), &wrong, NULL), LEAT_ETYPE);
    ck_assert_int_eq(leat_channel_replace(channel, leat_channel_find(channel, "framer"), &other, NULL), LEAT_OK);
    ck_assert_ptr_nonnull(leat_channel_find(channel, "other"));
    ck_assert_ptr_null(leat_channel_find(channel, "framer"));
    finish(e);
}
END_TEST

START_TEST(neighbours_that_do_not_fit_for_a_moment_do_not_stop_others_from_being_added) {
    leat_embedded *e = framed();
    leat_channel *channel = leat_embedded_channel(e);
    leat_ctx_remove(leat_channel_find(channel, "framer"));
    ck_assert_int_eq(leat_channel_add_last(channel, &(leat_stage){&passing}, NULL), LEAT_OK);
    ck_assert_int_eq(leat_channel_add_after(channel, NULL, &(leat_stage){&framer}, NULL), LEAT_OK);
    finish(e);
}
END_TEST

static void write_number(leat_ctx *ctx, leat_msg msg) {
    static int seven = 7;
    leat_msg_release(msg);
    leat_ctx_write(ctx, leat_msg_of(&number, &seven), NULL);
}

START_TEST(a_write_of_the_wrong_type_is_stopped_at_the_hop_and_named) {
    static const leat_handler liar = {.name = "liar", .read = write_number};
    static const leat_handler strict = {.name = "strict", .takes = leat_only_bytebuf, .write = pass_write};
    leat_embedded *e = leat_embedded_new((const leat_stage[]){{&strict}, {&liar}, {0}});
    leat_embedded_feed_text(e, "x");
    ck_assert_int_eq(leat_embedded_take_error(e), LEAT_ETYPE);
    ck_assert_uint_eq(leat_embedded_finish(e), 1);
    ck_assert_ptr_nonnull(strstr(leat_embedded_report(e), "strict was given what it does not take: a Number"));
    leat_embedded_free(e);
}
END_TEST

int main(void) {
    return suite_run("contracts",
                     (const TTest *const[]){neighbours_that_do_not_fit_inbound_are_named,
                                            neighbours_that_do_not_fit_outbound_are_named,
                                            a_handler_that_does_not_fit_is_not_added_wherever_it_is_put,
                                            a_codec_is_replaced_by_another_of_the_same_contract,
                                            neighbours_that_do_not_fit_for_a_moment_do_not_stop_others_from_being_added,
                                            a_write_of_the_wrong_type_is_stopped_at_the_hop_and_named, NULL});
}
