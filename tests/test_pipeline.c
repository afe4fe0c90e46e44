#include "core/embedded.h"
#include "core/transport.h"
#include "core/verify.h"
#include "tests/support/suite.h"

#include <string.h>

/* A handler that writes down the order of what happens to it, in the text its config points to. */
typedef struct recorder_config {
    char *text;
    const char *name;
    void (*on_read)(leat_ctx *ctx); /* NULL = passes on */
    int refuse;
} recorder_config;

typedef struct recorder {
    recorder_config config;
} recorder;

static void note(leat_ctx *ctx, const char *what) {
    recorder *self = leat_state(ctx);
    size_t used = strlen(self->config.text);
    snprintf(self->config.text + used, 500 - used, "%s.%s ", self->config.name, what);
}

static int recorder_added(leat_ctx *ctx, const void *config) {
    ((recorder *)leat_state(ctx))->config = *(const recorder_config *)config;
    note(ctx, "added");
    return ((const recorder_config *)config)->refuse;
}

static void recorder_removed(leat_ctx *ctx) {
    note(ctx, "removed");
}

static void recorder_active(leat_ctx *ctx) {
    note(ctx, "active");
    leat_ctx_fire_active(ctx);
}

static void recorder_inactive(leat_ctx *ctx) {
    note(ctx, "inactive");
    leat_ctx_fire_inactive(ctx);
}

static void recorder_read(leat_ctx *ctx, leat_msg msg) {
    recorder *self = leat_state(ctx);
    note(ctx, "read");
    if (self->config.on_read)
        self->config.on_read(ctx);
    leat_ctx_fire_read(ctx, msg);
}

static void recorder_wake(leat_ctx *ctx) {
    note(ctx, "wake");
}

static void recorder_write(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    note(ctx, "write");
    leat_ctx_write(ctx, msg, done);
}

static void recorder_close(leat_ctx *ctx) {
    note(ctx, "close");
    leat_ctx_close(ctx);
}

static void recorder_error(leat_ctx *ctx, int code) {
    note(ctx, "error");
    leat_ctx_fire_error(ctx, code);
}

static const leat_handler recording = {
    .name = "recorder",
    .state_size = sizeof(recorder),
    .config_size = sizeof(recorder_config),
    .added = recorder_added,
    .removed = recorder_removed,
    .active = recorder_active,
    .inactive = recorder_inactive,
    .read = recorder_read,
    .wake = recorder_wake,
    .write = recorder_write,
    .close = recorder_close,
    .error = recorder_error,
};

static leat_stage recorder_stage(const recorder_config *config) {
    return (leat_stage){&recording, config, config->name};
}

static void finish(leat_embedded *e) {
    size_t found = leat_embedded_finish(e);
    ck_assert_msg(found == 0, "%s", leat_embedded_report(e));
    leat_embedded_free(e);
}

static void expect(char *text, const char *expected) {
    ck_assert_str_eq(text, expected);
    text[0] = 0;
}

/* Two recorders, a and b, that write into one text. */
typedef struct pair {
    char text[512];
    recorder_config a, b;
    leat_stage stages[3];
} pair;

static leat_embedded *make_pair(pair *p, void (*on_read)(leat_ctx *)) {
    memset(p, 0, sizeof *p);
    p->a = (recorder_config){.text = p->text, .name = "a", .on_read = on_read};
    p->b = (recorder_config){.text = p->text, .name = "b"};
    p->stages[0] = recorder_stage(&p->a);
    p->stages[1] = recorder_stage(&p->b);
    return leat_embedded_new(p->stages);
}

START_TEST(events_pass_in_order_and_everything_is_removed_at_the_end) {
    pair p;
    leat_embedded *e = make_pair(&p, NULL);
    expect(p.text, "a.added b.added a.active b.active ");
    leat_embedded_feed_text(e, "x");
    leat_embedded_write_text(e, "y");
    expect(p.text, "a.read b.read b.write a.write ");
    ck_assert_str_eq(leat_embedded_read_text(e), "x");
    ck_assert_str_eq(leat_embedded_written_text(e), "y");
    finish(e);
    expect(p.text, "b.close a.close a.inactive b.inactive b.removed a.removed ");
}
END_TEST

static void remove_self(leat_ctx *ctx) {
    leat_ctx_remove(ctx);
}

START_TEST(a_handler_that_removed_itself_may_go_on_passing_on) {
    pair p;
    leat_embedded *e = make_pair(&p, remove_self);
    p.text[0] = 0;
    leat_embedded_feed_text(e, "x");
    leat_embedded_feed_text(e, "y");
    expect(p.text, "a.read a.removed b.read b.read ");
    ck_assert_str_eq(leat_embedded_read_text(e), "x");
    ck_assert_str_eq(leat_embedded_read_text(e), "y");
    finish(e);
}
END_TEST

static void write_twice_and_remove(leat_ctx *ctx) {
    leat_ctx_write_copy(ctx, "one ", 4, NULL);
    leat_ctx_remove(ctx);
    leat_ctx_write_copy(ctx, "two", 3, NULL);
}

START_TEST(a_removed_handler_may_still_write) {
    pair p;
    leat_embedded *e = make_pair(&p, write_twice_and_remove);
    leat_embedded_feed_text(e, "x");
    ck_assert_str_eq(leat_embedded_written_text(e), "one two");
    ck_assert_str_eq(leat_embedded_read_text(e), "x");
    finish(e);
}
END_TEST

static void remove_next(leat_ctx *ctx) {
    leat_ctx *next = leat_channel_find(leat_ctx_channel(ctx), "b");
    if (next)
        leat_ctx_remove(next);
}

START_TEST(an_event_passes_over_the_next_handler_that_was_just_removed) {
    pair p;
    leat_embedded *e = make_pair(&p, remove_next);
    p.text[0] = 0;
    leat_embedded_feed_text(e, "x");
    expect(p.text, "a.read b.removed ");
    ck_assert_str_eq(leat_embedded_read_text(e), "x");
    finish(e);
}
END_TEST

START_TEST(handlers_are_added_and_replaced_at_any_place) {
    pair p;
    leat_embedded *e = make_pair(&p, NULL);
    leat_channel *channel = leat_embedded_channel(e);
    recorder_config first = {.text = p.text, .name = "first"}, second = {.text = p.text, .name = "second"};
    leat_stage one = recorder_stage(&first), two = recorder_stage(&second);
    ck_assert_int_eq(leat_channel_add_after(channel, NULL, &one, NULL), LEAT_OK);
    ck_assert_int_eq(leat_channel_replace(channel, leat_channel_find(channel, "a"), &two, NULL), LEAT_OK);
    char names[100];
    leat_channel_dump(channel, names, sizeof names);
    ck_assert_str_eq(names, "transport | first | second | b | collector | application");
    p.text[0] = 0;
    leat_embedded_feed_text(e, "x");
    expect(p.text, "first.read second.read b.read ");
    ck_assert_str_eq(leat_embedded_read_text(e), "x");
    finish(e);
}
END_TEST

static void add_behind(leat_ctx *ctx) {
    recorder *self = leat_state(ctx);
    static const char *const name = "new";
    recorder_config config = {.text = self->config.text, .name = name};
    leat_stage stage = recorder_stage(&config);
    ck_assert_int_eq(leat_channel_add_after(leat_ctx_channel(ctx), ctx, &stage, NULL), LEAT_OK);
    self->config.on_read = NULL;
}

START_TEST(a_handler_added_amid_an_event_sees_it) {
    pair p;
    leat_embedded *e = make_pair(&p, add_behind);
    p.text[0] = 0;
    leat_embedded_feed_text(e, "x");
    expect(p.text, "a.read new.added new.read b.read ");
    ck_assert_str_eq(leat_embedded_read_text(e), "x");
    finish(e);
}
END_TEST

static void fail_here(leat_ctx *ctx) {
    leat_ctx_fail(ctx, LEAT_ECORRUPT);
    note(ctx, "went-on");
}

START_TEST(a_stored_error_is_fired_at_the_end_of_the_turn) {
    pair p;
    leat_embedded *e = make_pair(&p, fail_here);
    p.text[0] = 0;
    leat_embedded_feed_text(e, "x");
    expect(p.text, "a.read a.went-on b.read b.error b.close a.close ");
    ck_assert_int_eq(leat_embedded_take_error(e), LEAT_ECORRUPT);
    ck_assert_str_eq(leat_embedded_read_text(e), "x");
    finish(e);
}
END_TEST

START_TEST(wake_comes_once_at_the_end_of_the_turn) {
    pair p;
    leat_embedded *e = make_pair(&p, leat_ctx_wake);
    p.text[0] = 0;
    leat_embedded_feed_text(e, "x");
    expect(p.text, "a.read b.read a.wake ");
    ck_assert_str_eq(leat_embedded_read_text(e), "x");
    finish(e);
}
END_TEST

START_TEST(a_handler_that_refuses_to_be_added_ends_the_channel) {
    char text[512] = "";
    recorder_config a = {.text = text, .name = "a"}, b = {.text = text, .name = "b", .refuse = LEAT_EREFUSED};
    leat_stage stages[] = {recorder_stage(&a), recorder_stage(&b), {0}};
    leat_problem problem;
    ck_assert_ptr_null(leat_embedded_new_with(stages, NULL, &problem));
    ck_assert_int_eq(problem.code, LEAT_EREFUSED);
    expect(text, "a.added b.added a.removed ");
}
END_TEST

START_TEST(neighbours_that_do_not_fit_are_named) {
    static const leat_type frame = {.name = "Frame"};
    static const leat_type *const frames[] = {&frame, NULL};
    static const leat_handler framer = {
        .name = "framer", .reads = leat_only_bytebuf, .fires = frames, .read = recorder_read};
    static const leat_handler bytes = {.name = "bytes", .reads = leat_only_bytebuf, .read = recorder_read};
    leat_problem problem;
    ck_assert_ptr_null(leat_pipeline_new(leat_unpooled(), (const leat_stage[]){{&framer}, {&bytes}, {0}}, &problem));
    ck_assert_int_eq(problem.code, LEAT_ETYPE);
    ck_assert_str_eq(problem.text, "framer fires a Frame, which bytes does not read");
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
    leat_ctx_remove(leat_channel_find(channel, "collector"));
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
    char text[512] = "";
    recorder_config config = {.text = text, .name = "late"};
    leat_stage stage = recorder_stage(&config);
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
                     (const TTest *const[]){
                         events_pass_in_order_and_everything_is_removed_at_the_end,
                         a_handler_that_removed_itself_may_go_on_passing_on, a_removed_handler_may_still_write,
                         an_event_passes_over_the_next_handler_that_was_just_removed,
                         handlers_are_added_and_replaced_at_any_place, a_handler_added_amid_an_event_sees_it,
                         a_stored_error_is_fired_at_the_end_of_the_turn, wake_comes_once_at_the_end_of_the_turn,
                         a_handler_that_refuses_to_be_added_ends_the_channel, neighbours_that_do_not_fit_are_named,
                         the_state_of_a_removed_handler_waits_for_its_last_completion,
                         every_failed_allocation_of_a_channel_is_survived, NULL});
}
