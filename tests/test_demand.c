/* Demand: as many messages are delivered as were asked for, whoever decodes, filters or stands between. */
#include "core/transport.h"
#include "handlers/fixed.h"
#include "handlers/line.h"
#include "tests/support/record.h"

enum { MESSAGES = 60 };

/* Numbered lines in random pieces, asked for in random numbers: never more come than were asked for, nor fewer than
   could. */
typedef struct flow {
    leat_embedded *e;
    unsigned dice;
    size_t asked, fed, taken; /* messages; fed counts whole ones */
    char input[MESSAGES * 4 + 1];
    size_t at;
} flow;

static unsigned roll(flow *f, unsigned sides) {
    f->dice = f->dice * 1103515245u + 12345u;
    return (f->dice >> 16) % sides;
}

static void feed_some(flow *f) {
    size_t length = roll(f, 9), left = strlen(f->input) - f->at;
    length = length < left ? length : left;
    for (size_t i = 0; i < length; i++)
        f->fed += f->input[f->at + i] == '\n';
    leat_embedded_feed(f->e, f->input + f->at, length);
    f->at += length;
}

static void ask_for_some(flow *f) {
    unsigned count = roll(f, 4);
    f->asked += count;
    leat_channel_request(leat_embedded_channel(f->e), count);
    leat_embedded_run(f->e);
}

static void take_all(flow *f) {
    char expected[8];
    for (const char *line = leat_embedded_read_text(f->e); line; line = leat_embedded_read_text(f->e)) {
        snprintf(expected, sizeof expected, "%03zu", f->taken++);
        ck_assert_str_eq(line, expected);
    }
    size_t possible = f->asked < f->fed ? f->asked : f->fed;
    ck_assert_uint_eq(f->taken, possible);
}

static void run_flow(const leat_stage *stages, unsigned seed) {
    flow f = {.dice = seed};
    for (size_t i = 0; i < MESSAGES; i++)
        snprintf(f.input + 4 * i, 5, "%03zu\n", i);
    f.e = leat_embedded_new_with(stages, &(leat_embedded_options){.channel.manual_read = true}, NULL);
    leat_channel *channel = leat_embedded_channel(f.e);
    for (int i = 0; i < 400 && f.taken < MESSAGES; i++) {
        if (roll(&f, 2))
            feed_some(&f);
        else
            ask_for_some(&f);
        take_all(&f);
    }
    leat_channel_set_auto_read(channel, true);
    leat_embedded_run(f.e);
    while (f.at < strlen(f.input))
        feed_some(&f);
    f.asked = MESSAGES;
    take_all(&f);
    ck_assert_uint_eq(leat_channel_held(channel), 0);
    finish(f.e);
}

START_TEST(a_decoder_fires_as_many_frames_as_were_asked_for_however_they_come) {
    const leat_stage stages[] = {{&leat_line_decoder}, {0}};
    for (unsigned seed = 1; seed <= 40; seed++)
        run_flow(stages, seed);
}
END_TEST

static void pass_read(leat_ctx *ctx, leat_msg msg) {
    leat_ctx_fire_read(ctx, msg);
}

static const leat_handler passing = {.name = "passing", .read = pass_read};

START_TEST(handlers_before_behind_and_between_decoders_change_nothing_about_demand) {
    const leat_fixed_config ones = {.length = 1};
    const leat_stage stages[] = {{&passing, NULL, "a"}, {&leat_fixed_decoder, &ones, "outer"},
                                 {&passing, NULL, "b"}, {&leat_line_decoder, NULL, "inner"},
                                 {&passing, NULL, "c"}, {0}};
    for (unsigned seed = 1; seed <= 40; seed++)
        run_flow(stages, seed);
}
END_TEST

/* Swallows every other message: its demand is given back. */
typedef struct filter {
    size_t seen;
} filter;

static void filter_read(leat_ctx *ctx, leat_msg msg) {
    filter *self = leat_state(ctx);
    if (self->seen++ % 2 == 0) {
        leat_ctx_fire_read(ctx, msg);
        return;
    }
    leat_msg_release(msg);
    leat_channel_request(leat_ctx_channel(ctx), 1);
}

static const leat_handler filtering = {.name = "filter", .state_size = sizeof(filter), .read = filter_read};

START_TEST(a_filter_that_asks_again_for_what_it_swallowed_starves_nobody) {
    const leat_stage stages[] = {{&leat_line_decoder}, {&filtering}, {0}};
    leat_embedded *e = leat_embedded_new_with(stages, &(leat_embedded_options){.channel.manual_read = true}, NULL);
    leat_embedded_feed_text(e, "a\nb\nc\nd\ne\n");
    leat_channel_request(leat_embedded_channel(e), 1);
    leat_embedded_run(e);
    ck_assert_str_eq(leat_embedded_read_text(e), "a");
    leat_channel_request(leat_embedded_channel(e), 2);
    leat_embedded_run(e);
    ck_assert_str_eq(leat_embedded_read_text(e), "c");
    ck_assert_str_eq(leat_embedded_read_text(e), "e");
    finish(e);
}
END_TEST

static void ask_in_wake(leat_ctx *ctx, void *left) {
    if (--*(int *)left >= 0)
        leat_channel_request(leat_ctx_channel(ctx), 1);
    if (*(int *)left > 0)
        leat_ctx_wake(ctx);
}

static void wake_itself(leat_ctx *ctx, void *recorder) {
    static int left = 2;
    leat_recorder_when(recorder, "b wake", ask_in_wake, &left);
    leat_recorder_when(recorder, "b wake", ask_in_wake, &left);
    leat_ctx_wake(ctx);
}

START_TEST(demand_that_returns_inside_a_wake_wakes_the_decoder_again) {
    leat_recorder *recorder = leat_recorder_new(leat_unpooled());
    const leat_stage stages[] = {{&leat_line_decoder}, leat_recorder_stage(recorder, "b"), {0}};
    leat_embedded *e = leat_embedded_new_with(stages, &(leat_embedded_options){.channel.manual_read = true}, NULL);
    leat_recorder_when(recorder, "b read", wake_itself, recorder);
    leat_embedded_feed_text(e, "1\n2\n3\n4\n");
    leat_channel_request(leat_embedded_channel(e), 1);
    leat_embedded_run(e);
    ck_assert_str_eq(leat_embedded_read_text(e), "1");
    ck_assert_str_eq(leat_embedded_read_text(e), "2");
    ck_assert_str_eq(leat_embedded_read_text(e), "3");
    ck_assert_ptr_null(leat_embedded_read_text(e));
    leat_embedded_free(e);
    leat_recorder_free(recorder);
}
END_TEST

static void stop_reading(leat_ctx *ctx, void *unused) {
    (void)unused;
    leat_channel_set_auto_read(leat_ctx_channel(ctx), false);
}

START_TEST(turning_auto_read_off_inside_a_message_keeps_the_next_one_back) {
    leat_recorder *recorder = leat_recorder_new(leat_unpooled());
    const leat_stage stages[] = {{&leat_line_decoder}, leat_recorder_stage(recorder, "b"), {0}};
    leat_embedded *e = leat_embedded_new(stages);
    leat_recorder_when(recorder, "b read '1'", stop_reading, NULL);
    leat_embedded_feed_text(e, "1\n2\n");
    leat_embedded_feed_text(e, "3\n");
    ck_assert_str_eq(leat_embedded_read_text(e), "1");
    ck_assert_ptr_null(leat_embedded_read_text(e));
    leat_channel_set_auto_read(leat_embedded_channel(e), true);
    leat_embedded_run(e);
    ck_assert_str_eq(leat_embedded_read_text(e), "2");
    ck_assert_str_eq(leat_embedded_read_text(e), "3");
    finish(e);
    leat_recorder_free(recorder);
}
END_TEST

START_TEST(so_much_may_be_asked_for_that_it_never_wraps) {
    leat_embedded *e =
        leat_embedded_new_with((const leat_stage[]){{0}}, &(leat_embedded_options){.channel.manual_read = true}, NULL);
    leat_channel_request(leat_embedded_channel(e), UINT64_MAX);
    leat_channel_request(leat_embedded_channel(e), UINT64_MAX);
    leat_embedded_feed_text(e, "comes");
    leat_channel_request(leat_embedded_channel(e), UINT64_MAX);
    leat_embedded_feed_text(e, "too");
    ck_assert_str_eq(leat_embedded_read_text(e), "comes");
    ck_assert_str_eq(leat_embedded_read_text(e), "too");
    finish(e);
}
END_TEST

int main(void) {
    return suite_run("demand",
                     (const TTest *const[]){a_decoder_fires_as_many_frames_as_were_asked_for_however_they_come,
                                            handlers_before_behind_and_between_decoders_change_nothing_about_demand,
                                            a_filter_that_asks_again_for_what_it_swallowed_starves_nobody,
                                            demand_that_returns_inside_a_wake_wakes_the_decoder_again,
                                            turning_auto_read_off_inside_a_message_keeps_the_next_one_back,
                                            so_much_may_be_asked_for_that_it_never_wraps, NULL});
}
