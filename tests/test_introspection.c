/* What one can see of a pipeline, a channel and a loop while they run. */
#include "core/embedded.h"
#include "core/transport.h"
#include "tests/support/finish.h"

#include <string.h>

static const leat_type frame = {.name = "Frame"}, number = {.name = "Number"};
static const leat_type *const frames[] = {&frame, &number, NULL};

static void pass_read(leat_ctx *ctx, leat_msg msg) {
    leat_ctx_fire_read(ctx, msg);
}

static void pass_write(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    leat_ctx_write(ctx, msg, done);
}

static const leat_handler codec = {.name = "codec",
                                   .reads = leat_only_bytebuf,
                                   .fires = frames,
                                   .takes = frames,
                                   .writes = leat_only_bytebuf,
                                   .read = pass_read,
                                   .write = pass_write};
static const leat_handler both = {.name = "both", .read = pass_read, .write = pass_write};

static const leat_stage plan[] = {{&codec}, {&both, NULL, "a \"quoted\" one"}, {0}};

START_TEST(a_plan_is_written_as_text_before_any_channel_is) {
    leat_pipeline *pipeline = leat_pipeline_new(leat_unpooled(), plan, NULL);
    char text[100];
    const char *expected = "transport | codec | a \"quoted\" one | application";
    ck_assert_uint_eq(leat_pipeline_dump(pipeline, text, sizeof text), strlen(expected));
    ck_assert_str_eq(text, expected);
    ck_assert_uint_eq(leat_pipeline_dump(pipeline, text, 10), strlen(expected));
    ck_assert_str_eq(text, "transport");
    ck_assert_uint_eq(leat_pipeline_dump(pipeline, NULL, 0), strlen(expected));
    leat_pipeline_release(pipeline);
}
END_TEST

START_TEST(a_plan_is_drawn_with_the_types_on_its_edges) {
    leat_pipeline *pipeline = leat_pipeline_new(leat_unpooled(), plan, NULL);
    char text[1000];
    size_t length = leat_pipeline_dump_dot(pipeline, text, sizeof text);
    ck_assert_str_eq(text, "digraph pipeline {\n    rankdir=LR; node [shape=box];\n"
                           "    h0 [label=\"transport\"];\n    h1 [label=\"codec\"];\n"
                           "    h2 [label=\"a \\\"quoted\\\" one\"];\n    h3 [label=\"application\"];\n"
                           "    h0 -> h1 [label=\"ByteBuf\"];\n    h1 -> h0 [label=\"ByteBuf\"];\n"
                           "    h1 -> h2 [label=\"Frame, Number\"];\n    h2 -> h1 [label=\"any\"];\n"
                           "    h2 -> h3 [label=\"any\"];\n    h3 -> h2 [label=\"any\"];\n}\n");
    ck_assert_uint_eq(length, strlen(text));
    leat_pipeline_release(pipeline);
}
END_TEST

START_TEST(a_channel_s_dump_shows_the_handlers_that_came_and_went) {
    leat_embedded *e = leat_embedded_new((const leat_stage[]){{&both, NULL, "one"}, {&both, NULL, "two"}, {0}});
    leat_channel *channel = leat_embedded_channel(e);
    leat_ctx_remove(leat_channel_find(channel, "one"));
    leat_channel_add_after(channel, leat_channel_find(channel, "two"), &(leat_stage){&both, NULL, "three"}, NULL);
    char text[100];
    leat_channel_dump(channel, text, sizeof text);
    ck_assert_str_eq(text, "transport | two | three | collector | application");
    finish(e);
}
END_TEST

static leat_handler_counts counts_of(leat_embedded *e, const char *name) {
    leat_handler_counts counts = {0};
    ck_assert(leat_channel_counts(leat_embedded_channel(e), name, &counts));
    return counts;
}

START_TEST(each_handler_s_messages_are_counted_whenever_it_came) {
    leat_embedded_options options = {.channel.count_handlers = true};
    const leat_stage stages[] = {{&both, NULL, "one"}, {&both, NULL, "two"}, {0}};
    leat_embedded *e = leat_embedded_new_with(stages, &options, NULL);
    leat_channel *channel = leat_embedded_channel(e);
    leat_embedded_feed_text(e, "x");
    leat_embedded_write_text(e, "y");
    ck_assert_int_eq(leat_channel_add_after(channel, NULL, &(leat_stage){&both, NULL, "late"}, NULL), LEAT_OK);
    leat_embedded_feed_text(e, "x");
    leat_ctx_remove(leat_channel_find(channel, "one"));
    leat_embedded_feed_text(e, "x");
    ck_assert_uint_eq(counts_of(e, "two").reads, 3);
    ck_assert_uint_eq(counts_of(e, "two").writes, 1);
    ck_assert_uint_eq(counts_of(e, "late").reads, 2);
    ck_assert_uint_eq(counts_of(e, "late").writes, 0);
    leat_embedded_free(e);
}
END_TEST

START_TEST(nothing_is_counted_unless_it_was_asked_for) {
    leat_embedded *e = leat_embedded_new((const leat_stage[]){{&both}, {0}});
    leat_handler_counts counts;
    ck_assert(!leat_channel_counts(leat_embedded_channel(e), "both", &counts));
    finish(e);
}
END_TEST

/* A loop whose clock the test turns, also inside a turn. */
typedef struct clockwork {
    leat_loop loop;
    uint64_t clock;
} clockwork;

static uint64_t clockwork_now(leat_loop *loop) {
    return ((clockwork *)loop)->clock;
}

static void clockwork_wake(leat_loop *loop) {
    (void)loop;
}

static const leat_loop_ops clockwork_ops = {.now = clockwork_now, .wake = clockwork_wake};

static void take_turn(clockwork *self, uint64_t nanos) {
    leat_loop_enter(&self->loop);
    self->clock += nanos;
    leat_loop_leave(&self->loop);
}

START_TEST(the_longest_turn_is_told_while_it_is_measured) {
    clockwork self = {.clock = 1000};
    ck_assert_int_eq(leat_loop_init(&self.loop, &clockwork_ops, leat_unpooled()), LEAT_OK);
    take_turn(&self, 500);
    ck_assert_uint_eq(leat_loop_statistics(&self.loop).longest_turn, 0);
    leat_loop_measure_turns(&self.loop, true);
    take_turn(&self, 70);
    take_turn(&self, 90);
    take_turn(&self, 80);
    leat_loop_measure_turns(&self.loop, false);
    take_turn(&self, 1000);
    ck_assert_uint_eq(leat_loop_statistics(&self.loop).longest_turn, 90);
    ck_assert_uint_eq(leat_loop_statistics(&self.loop).turns, 5);
    leat_loop_clean_up(&self.loop);
}
END_TEST

static void count_task(leat_task *task, int status) {
    (void)task;
    ck_assert_int_eq(status, LEAT_OK);
}

START_TEST(tasks_that_wait_are_told_until_they_ran) {
    leat_embedded *e = leat_embedded_new((const leat_stage[]){{0}});
    leat_loop *loop = leat_embedded_loop(e);
    leat_task task = {.fn = count_task, .bytes = sizeof task};
    uint64_t ran = leat_loop_statistics(loop).tasks;
    leat_loop_post(loop, &task);
    ck_assert(leat_loop_statistics(loop).tasks_waiting);
    leat_embedded_run(e);
    ck_assert(!leat_loop_statistics(loop).tasks_waiting);
    ck_assert_uint_eq(leat_loop_statistics(loop).tasks, ran + 1);
    finish(e);
}
END_TEST

int main(void) {
    return suite_run("introspection", (const TTest *const[]){a_plan_is_written_as_text_before_any_channel_is,
                                                             a_plan_is_drawn_with_the_types_on_its_edges,
                                                             a_channel_s_dump_shows_the_handlers_that_came_and_went,
                                                             each_handler_s_messages_are_counted_whenever_it_came,
                                                             nothing_is_counted_unless_it_was_asked_for,
                                                             the_longest_turn_is_told_while_it_is_measured,
                                                             tasks_that_wait_are_told_until_they_ran, NULL});
}
