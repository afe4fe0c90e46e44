#include "core/transport.h"
#include "core/verify.h"
#include "tests/support/finish.h"

#include <string.h>

static void count_release(void *value) {
    ++*(int *)value;
}

static const leat_key session = {.name = "session", .release = count_release};
static const leat_key user = {.name = "user"};

START_TEST(a_channel_keeps_a_value_for_each_key_and_releases_it_at_the_end) {
    leat_embedded *e = leat_embedded_new((const leat_stage[]){{0}});
    leat_channel *channel = leat_embedded_channel(e);
    int first = 0, second = 0;
    char name[] = "ann";
    ck_assert_int_eq(leat_channel_set_attribute(channel, &session, &first), LEAT_OK);
    ck_assert_int_eq(leat_channel_set_attribute(channel, &user, name), LEAT_OK);
    ck_assert_int_eq(leat_channel_set_attribute(channel, &session, &second), LEAT_OK);
    ck_assert_int_eq(first, 1);
    ck_assert_ptr_eq(leat_channel_attribute(channel, &session), &second);
    ck_assert_str_eq(leat_channel_attribute(channel, &user), "ann");
    ck_assert_uint_eq(leat_embedded_finish(e), 0);
    ck_assert_int_eq(second, 0);
    leat_embedded_free(e);
    ck_assert_int_eq(second, 1);
}
END_TEST

static void pass_read(leat_ctx *ctx, leat_msg msg) {
    leat_ctx_fire_read(ctx, msg);
}

static void pass_write(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    leat_ctx_write(ctx, msg, done);
}

static const leat_handler both = {
    .name = "both", .reads = leat_only_bytebuf, .fires = leat_only_bytebuf, .read = pass_read, .write = pass_write};

START_TEST(messages_of_a_handler_are_counted_when_asked_for) {
    leat_embedded_options options = {.channel = {.count_handlers = true}};
    leat_embedded *e = leat_embedded_new_with((const leat_stage[]){{&both}, {0}}, &options, NULL);
    leat_embedded_feed_text(e, "one");
    leat_embedded_feed_text(e, "two");
    leat_embedded_write_text(e, "three");
    leat_handler_counts counts;
    ck_assert(leat_channel_counts(leat_embedded_channel(e), "both", &counts));
    ck_assert_uint_eq(counts.reads, 2);
    ck_assert_uint_eq(counts.writes, 1);
    ck_assert(!leat_channel_counts(leat_embedded_channel(e), "nobody", &counts));
    leat_embedded_free(e);
}
END_TEST

START_TEST(a_pipeline_is_drawn_with_its_types) {
    leat_embedded *e = leat_embedded_new((const leat_stage[]){{&both}, {0}});
    char text[1000];
    size_t length = leat_channel_dump_dot(leat_embedded_channel(e), text, sizeof text);
    ck_assert_uint_eq(length, strlen(text));
    ck_assert_ptr_nonnull(strstr(text, "h1 [label=\"both\"];"));
    ck_assert_ptr_nonnull(strstr(text, "h0 -> h1 [label=\"ByteBuf\"];"));
    ck_assert_uint_eq(leat_channel_dump(leat_embedded_channel(e), text, 5),
                      strlen("transport | both | collector | application"));
    ck_assert_str_eq(text, "tran");
    leat_embedded_free(e);
}
END_TEST

START_TEST(a_loop_tells_what_it_did) {
    leat_embedded *e = leat_embedded_new((const leat_stage[]){{0}});
    leat_loop *loop = leat_embedded_loop(e);
    leat_loop_measure_turns(loop, true);
    leat_loop_stats before = leat_loop_statistics(loop);
    leat_embedded_write_text(e, "x");
    leat_loop_stats after = leat_loop_statistics(loop);
    ck_assert_uint_eq(after.channels, 1);
    ck_assert_uint_gt(after.turns, before.turns);
    ck_assert_uint_eq(after.channel_turns, before.channel_turns + 1);
    ck_assert(!after.tasks_waiting);
    leat_embedded_free(e);
}
END_TEST

START_TEST(every_channel_has_its_own_values_and_none_for_a_key_of_the_same_name) {
    static const leat_key namesake = {.name = "user"};
    leat_embedded *one = leat_embedded_new((const leat_stage[]){{0}});
    leat_embedded *two = leat_embedded_new((const leat_stage[]){{0}});
    char ann[] = "ann", bob[] = "bob";
    leat_channel_set_attribute(leat_embedded_channel(one), &user, ann);
    leat_channel_set_attribute(leat_embedded_channel(two), &user, bob);
    ck_assert_str_eq(leat_channel_attribute(leat_embedded_channel(one), &user), "ann");
    ck_assert_str_eq(leat_channel_attribute(leat_embedded_channel(two), &user), "bob");
    ck_assert_ptr_null(leat_channel_attribute(leat_embedded_channel(one), &namesake));
    ck_assert_int_eq(leat_channel_set_attribute(leat_embedded_channel(one), &user, NULL), LEAT_OK);
    ck_assert_ptr_null(leat_channel_attribute(leat_embedded_channel(one), &user));
    finish(two);
    finish(one);
}
END_TEST

static int keep_values(leat_alloc *alloc, void *context) {
    (void)context;
    leat_embedded_options options = {.alloc = alloc, .without_ledger = true};
    leat_embedded *e = leat_embedded_new_with((const leat_stage[]){{0}}, &options, NULL);
    if (!e)
        return LEAT_OK;
    int released = 0;
    int code = leat_channel_set_attribute(leat_embedded_channel(e), &session, &released);
    bool kept = leat_channel_attribute(leat_embedded_channel(e), &session) == &released;
    leat_embedded_free(e);
    return released == 1 && kept == (code == LEAT_OK) ? LEAT_OK : LEAT_ECORRUPT;
}

START_TEST(a_value_that_could_not_be_kept_is_released) {
    leat_problem problem = {0};
    ck_assert_msg(leat_verify_oom(keep_values, NULL, &problem) == LEAT_OK, "%s", problem.text);
}
END_TEST

int main(void) {
    return suite_run("attributes",
                     (const TTest *const[]){a_channel_keeps_a_value_for_each_key_and_releases_it_at_the_end,
                                            messages_of_a_handler_are_counted_when_asked_for,
                                            a_pipeline_is_drawn_with_its_types, a_loop_tells_what_it_did,
                                            every_channel_has_its_own_values_and_none_for_a_key_of_the_same_name,
                                            a_value_that_could_not_be_kept_is_released, NULL});
}
