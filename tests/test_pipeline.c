/* What happens to handlers from the time they are added until they are removed, and in which order. */
#include "core/transport.h"
#include "core/verify.h"
#include "tests/support/record.h"

START_TEST(events_pass_in_order_and_everything_is_removed_at_the_end) {
    leat_recorder *recorder = leat_recorder_new(leat_unpooled());
    const leat_stage stages[] = {leat_recorder_stage(recorder, "a"), leat_recorder_stage(recorder, "b"), {0}};
    leat_recorder_leave_out(recorder, "flush read_done");
    leat_embedded *e = leat_embedded_new(stages);
    ck_assert_str_eq(leat_recorder_take(recorder), "a added\nb added\na active\nb active\n");
    leat_embedded_feed_text(e, "x");
    leat_embedded_write_text(e, "y");
    ck_assert_str_eq(leat_recorder_take(recorder), "a read 'x'\nb read 'x'\nb write 'y'\na write 'y'\n");
    ck_assert_str_eq(leat_embedded_read_text(e), "x");
    ck_assert_str_eq(leat_embedded_written_text(e), "y");
    finish(e);
    ck_assert_str_eq(leat_recorder_take(recorder), "a eof\nb eof\nb close\na close\na inactive\nb inactive\n"
                                                   "b removed\na removed\n");
    leat_recorder_free(recorder);
}
END_TEST

static void write_around_removal(leat_ctx *ctx, void *argument) {
    (void)argument;
    leat_ctx_write_copy(ctx, "one ", 4, NULL);
    leat_ctx_remove(ctx);
    leat_ctx_write_copy(ctx, "two", 3, NULL);
}

START_TEST(a_removed_handler_may_still_write) {
    recorded r = record_abc(NULL);
    when(&r, "b read", write_around_removal, NULL);
    leat_embedded_feed_text(r.e, "x");
    assert_recorded(&r, "a read 'x'\nb read 'x'\na write 'one '\nb removed\na write 'two'\nc read 'x'\n");
    ck_assert_str_eq(leat_embedded_written_text(r.e), "one two");
    ck_assert_str_eq(leat_embedded_read_text(r.e), "x");
    end_recorded(&r);
}
END_TEST

static void fail_here(leat_ctx *ctx, void *again) {
    leat_ctx_fail(ctx, LEAT_ECORRUPT);
    leat_ctx_fail(ctx, LEAT_ERANGE);
    if (again)
        leat_ctx_remove(ctx);
}

START_TEST(the_first_stored_error_is_fired_once_at_the_end_of_the_turn) {
    recorded r = record_abc(NULL);
    when(&r, "b read", fail_here, NULL);
    leat_embedded_feed_text(r.e, "x");
    assert_recorded(&r, "a read 'x'\nb read 'x'\nc read 'x'\nc error LEAT_ECORRUPT\nc close\nb close\na close\n");
    ck_assert_int_eq(leat_embedded_take_error(r.e), LEAT_ECORRUPT);
    ck_assert_str_eq(leat_embedded_read_text(r.e), "x");
    end_recorded(&r);
}
END_TEST

START_TEST(a_stored_error_survives_the_removal_of_its_handler) {
    recorded r = record_abc(NULL);
    when(&r, "b write", fail_here, &r);
    leat_embedded_write_text(r.e, "x");
    assert_recorded(&r, "c write 'x'\nb write 'x'\nb removed\na write 'x'\nc error LEAT_ECORRUPT\nc close\na close\n");
    ck_assert_int_eq(leat_embedded_take_error(r.e), LEAT_ECORRUPT);
    ck_assert_str_eq(leat_embedded_written_text(r.e), "x");
    end_recorded(&r);
}
END_TEST

static void wake_twice(leat_ctx *ctx, void *other) {
    leat_ctx_wake(ctx);
    leat_ctx_wake(ctx);
    if (other)
        leat_ctx_wake(other);
}

START_TEST(wake_comes_once_at_the_end_of_the_turn_from_the_transport_on) {
    recorded r = record_abc(NULL);
    when(&r, "b read", wake_twice, named(r.channel, "a"));
    leat_embedded_feed_text(r.e, "x");
    assert_recorded(&r, "a read 'x'\nb read 'x'\nc read 'x'\na wake\nb wake\n");
    ck_assert_str_eq(leat_embedded_read_text(r.e), "x");
    end_recorded(&r);
}
END_TEST

static void wake_and_remove(leat_ctx *ctx, void *argument) {
    (void)argument;
    leat_ctx_wake(ctx);
    leat_ctx_remove(ctx);
}

START_TEST(wake_inside_wake_comes_again_and_a_removed_handler_is_not_woken) {
    recorded r = record_abc(NULL);
    when(&r, "b read", wake_twice, NULL);
    when(&r, "b wake", wake_twice, NULL);
    when(&r, "c read", wake_and_remove, NULL);
    leat_embedded_feed_text(r.e, "x");
    assert_recorded(&r, "a read 'x'\nb read 'x'\nc read 'x'\nc removed\nb wake\nb wake\n");
    ck_assert_str_eq(leat_embedded_read_text(r.e), "x");
    end_recorded(&r);
}
END_TEST

static int refuse_added(leat_ctx *ctx, const void *config) {
    (void)ctx, (void)config;
    return LEAT_EREFUSED;
}

static const leat_handler refusing = {.name = "refusing", .added = refuse_added};

START_TEST(a_handler_that_refuses_to_be_added_ends_the_channel) {
    leat_recorder *recorder = leat_recorder_new(leat_unpooled());
    const leat_stage stages[] = {
        leat_recorder_stage(recorder, "a"), {&refusing}, leat_recorder_stage(recorder, "c"), {0}};
    leat_problem problem;
    ck_assert_ptr_null(leat_embedded_new_with(stages, NULL, &problem));
    ck_assert_int_eq(problem.code, LEAT_EREFUSED);
    ck_assert_str_eq(leat_recorder_take(recorder), "a added\na removed\n");
    leat_recorder_free(recorder);
}
END_TEST

START_TEST(a_handler_that_refuses_to_be_added_later_leaves_the_pipeline_as_it_was) {
    recorded r = record_abc(NULL);
    leat_ctx *added = NULL;
    ck_assert_int_eq(leat_channel_add_after(r.channel, NULL, &(leat_stage){&refusing}, &added), LEAT_EREFUSED);
    ck_assert_int_eq(leat_channel_replace(r.channel, named(r.channel, "b"), &(leat_stage){&refusing}, &added),
                     LEAT_EREFUSED);
    ck_assert_ptr_null(added);
    char names[100];
    leat_channel_dump(r.channel, names, sizeof names);
    ck_assert_str_eq(names, "transport | a | b | c | collector | application");
    assert_recorded(&r, "");
    end_recorded(&r);
}
END_TEST

/* A write whose completion lies in the state of the handler that removes itself. */
typedef struct pinned {
    leat_done done;
    int *ran;
} pinned;

static void pinned_done(leat_done *done, int status) {
    *((pinned *)(void *)done)->ran += status == LEAT_OK ? 1 : 100;
}

static int pinned_added(leat_ctx *ctx, const void *config) {
    pinned *self = leat_state(ctx);
    self->done.fn = pinned_done;
    memcpy(&self->ran, config, sizeof self->ran);
    return LEAT_OK;
}

static void pinned_read(leat_ctx *ctx, leat_msg msg) {
    pinned *self = leat_state(ctx);
    leat_ctx_write(ctx, msg, &self->done);
    leat_ctx_remove(ctx);
}

static const leat_handler pinning = {.name = "pinning",
                                     .state_size = sizeof(pinned),
                                     .config_size = sizeof(int *),
                                     .added = pinned_added,
                                     .read = pinned_read};

START_TEST(the_state_of_a_removed_handler_waits_for_its_last_completion) {
    leat_embedded *e = leat_embedded_new((const leat_stage[]){{0}});
    int runs = 0, *ran = &runs;
    ck_assert_int_eq(leat_channel_add_last(leat_embedded_channel(e), &(leat_stage){&pinning, &ran, NULL}, NULL),
                     LEAT_OK);
    leat_embedded_limit_writes(e, 100, 1);
    leat_channel *channel = leat_embedded_channel(e);
    leat_ctx_remove(named(channel, "collector"));
    leat_embedded_feed_text(e, "kept");
    ck_assert_int_eq(runs, 0);
    leat_embedded_allow_writes(e, UINT64_MAX);
    ck_assert_int_eq(runs, 1);
    ck_assert_str_eq(leat_embedded_written_text(e), "kept");
    finish(e);
}
END_TEST

static int add_and_remove(leat_alloc *alloc, void *context) {
    (void)context;
    leat_embedded *e =
        leat_embedded_new_with((const leat_stage[]){{0}}, &(leat_embedded_options){.alloc = alloc}, NULL);
    if (!e)
        return LEAT_OK;
    static const leat_handler late = {.name = "late", .state_size = 100};
    const leat_stage stage = {&late};
    int code = leat_channel_add_last(leat_embedded_channel(e), &stage, NULL);
    leat_embedded_feed_text(e, "x");
    leat_embedded_write_text(e, "y");
    leat_embedded_free(e);
    return code == LEAT_OK || code == LEAT_ENOMEM ? LEAT_OK : code;
}

START_TEST(every_failed_allocation_of_a_channel_is_survived) {
    leat_problem problem = {0};
    ck_assert_msg(leat_verify_oom(add_and_remove, NULL, &problem) == LEAT_OK, "%s", problem.text);
}
END_TEST

int main(void) {
    return suite_run("pipeline",
                     (const TTest *const[]){events_pass_in_order_and_everything_is_removed_at_the_end,
                                            a_removed_handler_may_still_write,
                                            the_first_stored_error_is_fired_once_at_the_end_of_the_turn,
                                            a_stored_error_survives_the_removal_of_its_handler,
                                            wake_comes_once_at_the_end_of_the_turn_from_the_transport_on,
                                            wake_inside_wake_comes_again_and_a_removed_handler_is_not_woken,
                                            a_handler_that_refuses_to_be_added_ends_the_channel,
                                            a_handler_that_refuses_to_be_added_later_leaves_the_pipeline_as_it_was,
                                            the_state_of_a_removed_handler_waits_for_its_last_completion,
                                            every_failed_allocation_of_a_channel_is_survived, NULL});
}
