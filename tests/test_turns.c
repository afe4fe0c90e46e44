/* Every call from inside every call-back: whatever a handler does there, the promises of the turn hold. */
#include "core/embedded.h"
#include "core/transport.h"
#include "tests/support/finish.h"

#include <string.h>

enum callback {
    IN_ADDED,
    IN_ACTIVE,
    IN_READ,
    IN_READ_DONE,
    IN_EOF,
    IN_INACTIVE,
    IN_WRITABLE,
    IN_ERROR,
    IN_EVENT,
    IN_WAKE,
    IN_WRITE,
    IN_FLUSH,
    IN_CLOSE,
    IN_REMOVED,
    IN_COMPLETION,
    CALLBACKS
};

static const char *const callback_names[CALLBACKS] = {"added",    "active",   "read",  "read_done", "eof",
                                                      "inactive", "writable", "error", "event",     "wake",
                                                      "write",    "flush",    "close", "removed",   "completion"};

enum action {
    DO_WRITE,
    DO_CLOSE,
    DO_ABORT,
    DO_REMOVE_SELF,
    DO_REMOVE_NEXT,
    DO_REMOVE_PREVIOUS,
    DO_ADD_BEHIND,
    DO_REPLACE,
    DO_FAIL,
    DO_WAKE,
    DO_FIRE_ERROR,
    DO_FLUSH,
    DO_WRITE_AND_CLOSE,
    DO_RELEASE_AND_RETAIN,
    ACTIONS
};

static const char *const action_names[ACTIONS] = {
    "write",   "close", "abort", "remove_self", "remove_next", "remove_previous", "add_behind",
    "replace", "fail",  "wake",  "fire_error",  "flush",       "write_and_close", "retain_and_release"};

/* What the test counts; a handler acts once, in the call-back that is asked for. */
typedef struct scene {
    enum callback where;
    enum action what;
    int acted;
    int writes, completions;
    int active, inactive, added, removed, after_removed;
} scene;

typedef struct write_record {
    leat_done done;
    scene *in;
    leat_ctx *ctx;
} write_record;

typedef struct actor {
    scene *in;
    bool gone;
    write_record records[8];
    int used;
} actor;

static const leat_handler acting;
static void act_in(leat_ctx *ctx, enum callback where);

static void completed(leat_done *done, int status) {
    write_record *record = (write_record *)(void *)done;
    (void)status;
    record->in->completions++;
    act_in(record->ctx, IN_COMPLETION);
}

static void write_one(leat_ctx *ctx) {
    actor *self = leat_state(ctx);
    if (self->used == 8)
        return;
    write_record *record = &self->records[self->used++];
    *record = (write_record){.done = {.fn = completed}, .in = self->in, .ctx = ctx};
    leat_bytebuf *buf = leat_bytebuf_from_text(leat_channel_alloc(leat_ctx_channel(ctx)), "written");
    self->in->writes++;
    leat_ctx_write(ctx, leat_msg_of_bytebuf(buf), &record->done);
}

static void remove_named(leat_ctx *ctx, const char *name) {
    leat_ctx *other = leat_channel_find(leat_ctx_channel(ctx), name);
    if (other)
        leat_ctx_remove(other);
}

static void edit(leat_ctx *ctx, bool replace) {
    scene *in = ((actor *)leat_state(ctx))->in;
    leat_stage stage = {&acting, &in, "new"};
    int code = replace ? leat_channel_replace(leat_ctx_channel(ctx), ctx, &stage, NULL)
                       : leat_channel_add_after(leat_ctx_channel(ctx), ctx, &stage, NULL);
    ck_assert(code == LEAT_OK || code == LEAT_ECLOSED || code == LEAT_EINVAL);
}

static void do_action(leat_ctx *ctx, enum action what) {
    leat_channel *channel = leat_ctx_channel(ctx);
    switch (what) {
    case DO_WRITE:
        write_one(ctx);
        break;
    case DO_CLOSE:
        leat_channel_close(channel);
        break;
    case DO_ABORT:
        leat_channel_abort(channel, 0);
        break;
    case DO_REMOVE_SELF:
        leat_ctx_remove(ctx);
        break;
    case DO_REMOVE_NEXT:
        remove_named(ctx, "third");
        break;
    case DO_REMOVE_PREVIOUS:
        remove_named(ctx, "first");
        break;
    case DO_ADD_BEHIND:
        edit(ctx, false);
        break;
    case DO_REPLACE:
        edit(ctx, true);
        break;
    case DO_FAIL:
        leat_ctx_fail(ctx, LEAT_ECORRUPT);
        break;
    case DO_WAKE:
        leat_ctx_wake(ctx);
        break;
    case DO_FIRE_ERROR:
        leat_ctx_fire_error(ctx, LEAT_ECORRUPT);
        break;
    case DO_FLUSH:
        leat_channel_flush(channel);
        break;
    case DO_WRITE_AND_CLOSE:
        write_one(ctx);
        leat_channel_close(channel);
        write_one(ctx);
        break;
    default:
        leat_channel_release(leat_channel_retain(channel));
        break;
    }
}

static void act_in(leat_ctx *ctx, enum callback where) {
    actor *self = leat_state(ctx);
    if (self->gone && where != IN_COMPLETION && where != IN_REMOVED)
        self->in->after_removed++;
    if (self->in->where != where || self->in->acted > 0)
        return;
    self->in->acted++;
    do_action(ctx, self->in->what);
}

static int actor_added(leat_ctx *ctx, const void *config) {
    actor *self = leat_state(ctx);
    memcpy(&self->in, config, sizeof self->in);
    self->in->added++;
    act_in(ctx, IN_ADDED);
    return LEAT_OK;
}

static void actor_removed(leat_ctx *ctx) {
    actor *self = leat_state(ctx);
    self->in->removed++;
    self->gone = true;
    act_in(ctx, IN_REMOVED);
}

static void actor_active(leat_ctx *ctx) {
    ((actor *)leat_state(ctx))->in->active++;
    act_in(ctx, IN_ACTIVE);
    leat_ctx_fire_active(ctx);
}

static void actor_inactive(leat_ctx *ctx) {
    ((actor *)leat_state(ctx))->in->inactive++;
    act_in(ctx, IN_INACTIVE);
    leat_ctx_fire_inactive(ctx);
}

static void actor_read(leat_ctx *ctx, leat_msg msg) {
    act_in(ctx, IN_READ);
    leat_ctx_fire_read(ctx, msg);
}

static void actor_read_done(leat_ctx *ctx) {
    act_in(ctx, IN_READ_DONE);
    leat_ctx_fire_read_done(ctx);
}

static void actor_eof(leat_ctx *ctx) {
    act_in(ctx, IN_EOF);
    leat_ctx_fire_eof(ctx);
}

static void actor_writable(leat_ctx *ctx) {
    act_in(ctx, IN_WRITABLE);
    leat_ctx_fire_writable(ctx);
}

static void actor_error(leat_ctx *ctx, int code) {
    act_in(ctx, IN_ERROR);
    leat_ctx_fire_error(ctx, code);
}

static void actor_event(leat_ctx *ctx, leat_msg event) {
    act_in(ctx, IN_EVENT);
    leat_ctx_fire_event(ctx, event);
}

static void actor_wake(leat_ctx *ctx) {
    act_in(ctx, IN_WAKE);
}

static void actor_write(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    act_in(ctx, IN_WRITE);
    leat_ctx_write(ctx, msg, done);
}

static void actor_flush(leat_ctx *ctx) {
    act_in(ctx, IN_FLUSH);
    leat_ctx_flush(ctx);
}

static void actor_close(leat_ctx *ctx) {
    act_in(ctx, IN_CLOSE);
    leat_ctx_close(ctx);
}

static const leat_handler acting = {.name = "acting",
                                    .state_size = sizeof(actor),
                                    .config_size = sizeof(scene *),
                                    .added = actor_added,
                                    .removed = actor_removed,
                                    .active = actor_active,
                                    .read = actor_read,
                                    .read_done = actor_read_done,
                                    .eof = actor_eof,
                                    .inactive = actor_inactive,
                                    .writable = actor_writable,
                                    .error = actor_error,
                                    .event = actor_event,
                                    .wake = actor_wake,
                                    .write = actor_write,
                                    .flush = actor_flush,
                                    .close = actor_close};

static const leat_type ping = {.name = "Ping"};

/* Brings every call-back about: reads, writes, an event, watermarks crossed both ways, an error or an end. */
static void play(leat_embedded *e, bool with_error) {
    static int object;
    leat_channel *channel = leat_embedded_channel(e);
    leat_embedded_feed_text(e, "read");
    leat_ctx *second = leat_channel_find(channel, "second");
    if (second)
        write_one(second);
    if (second && !leat_ctx_is_removed(second))
        leat_ctx_wake(second);
    leat_embedded_run(e);
    leat_loop_enter(leat_embedded_loop(e));
    leat_channel_fire_event(channel, leat_msg_of(&ping, &object));
    leat_loop_leave(leat_embedded_loop(e));
    leat_embedded_limit_writes(e, 10, 0);
    leat_embedded_write_text(e, "more than the high watermark");
    leat_embedded_allow_writes(e, UINT64_MAX);
    if (with_error)
        leat_embedded_break(e, LEAT_ERESET);
    leat_embedded_feed_eof(e);
    leat_embedded_close(e);
    leat_embedded_advance(e, 10000);
}

static void check_promises(const scene *in, const char *what) {
    ck_assert_msg(in->writes == in->completions, "%s: %d writes, %d completions", what, in->writes, in->completions);
    ck_assert_msg(in->added == in->removed, "%s: %d added, %d removed", what, in->added, in->removed);
    ck_assert_msg(in->inactive <= in->active + 1, "%s: %d active, %d inactive", what, in->active, in->inactive);
    ck_assert_msg(in->after_removed == 0, "%s: %d events after removed", what, in->after_removed);
}

static void run_scene(enum callback where, enum action what, bool with_error) {
    char name[100];
    snprintf(name, sizeof name, "%s in %s%s", action_names[what], callback_names[where], with_error ? ", error" : "");
    scene in = {.where = where, .what = what};
    scene *config = &in;
    const leat_stage stages[] = {
        {&acting, &config, "first"}, {&acting, &config, "second"}, {&acting, &config, "third"}, {0}};
    leat_embedded_options options = {.channel = {.write_low = 4, .write_high = 8}};
    leat_embedded *e = leat_embedded_new_with(stages, &options, NULL);
    ck_assert(e || where == IN_ADDED);
    if (!e) {
        check_promises(&in, name);
        return;
    }
    play(e, with_error);
    ck_assert_msg(leat_embedded_is_closed(e), "%s: not closed", name);
    leat_embedded_finish(e);
    ck_assert_msg(strstr(leat_embedded_report(e), "leak") == NULL, "%s: %s", name, leat_embedded_report(e));
    ck_assert_msg(strstr(leat_embedded_report(e), "misuse") == NULL, "%s: %s", name, leat_embedded_report(e));
    leat_embedded_free(e);
    check_promises(&in, name);
    ck_assert_msg(in.acted == 1 || where == IN_ERROR || where == IN_EOF, "%s: never came about", name);
}

static void run_all_actions(enum callback where) {
    for (int what = 0; what < ACTIONS; what++) {
        run_scene(where, (enum action)what, false);
        run_scene(where, (enum action)what, true);
    }
}

#define EVERY_ACTION_IN(callback, where)                                                                               \
    START_TEST(every_action_in_##callback##_keeps_the_promises) {                                                      \
        run_all_actions(where);                                                                                        \
    }                                                                                                                  \
    END_TEST

EVERY_ACTION_IN(added, IN_ADDED)
EVERY_ACTION_IN(active, IN_ACTIVE)
EVERY_ACTION_IN(read, IN_READ)
EVERY_ACTION_IN(read_done, IN_READ_DONE)
EVERY_ACTION_IN(eof, IN_EOF)
EVERY_ACTION_IN(inactive, IN_INACTIVE)
EVERY_ACTION_IN(writable, IN_WRITABLE)
EVERY_ACTION_IN(error, IN_ERROR)
EVERY_ACTION_IN(event, IN_EVENT)
EVERY_ACTION_IN(wake, IN_WAKE)
EVERY_ACTION_IN(write, IN_WRITE)
EVERY_ACTION_IN(flush, IN_FLUSH)
EVERY_ACTION_IN(close, IN_CLOSE)
EVERY_ACTION_IN(removed, IN_REMOVED)
EVERY_ACTION_IN(completion, IN_COMPLETION)

/* Writes what there is as long as the channel is writable, and goes on in `writable`. */
struct producer {
    int left;
};

static void produce(leat_ctx *ctx) {
    struct producer *producer = leat_state(ctx);
    for (; producer->left > 0 && leat_channel_is_writable(leat_ctx_channel(ctx)); producer->left--)
        leat_ctx_write_copy(ctx, "123456789", 9, NULL);
}

static void start_producing(leat_ctx *ctx) {
    ((struct producer *)leat_state(ctx))->left = 10;
    produce(ctx);
}

static const leat_handler producer_handler = {
    .name = "producer", .state_size = sizeof(struct producer), .active = start_producing, .writable = produce};

START_TEST(who_stopped_at_unwritable_is_told_though_all_was_taken_in_the_same_turn) {
    leat_embedded_options options = {.channel = {.write_low = 10, .write_high = 20}};
    leat_embedded *e = leat_embedded_new_with((leat_stage[]){{&producer_handler}, {0}}, &options, NULL);
    leat_embedded_run(e);
    leat_bytebuf *written = leat_embedded_take_written(e);
    ck_assert_uint_eq(leat_bytebuf_readable(written), 90);
    leat_bytebuf_release(written);
    finish(e);
}
END_TEST

int main(void) {
    return suite_run("turns", (const TTest *const[]){
                                  every_action_in_added_keeps_the_promises, every_action_in_active_keeps_the_promises,
                                  every_action_in_read_keeps_the_promises, every_action_in_read_done_keeps_the_promises,
                                  every_action_in_eof_keeps_the_promises, every_action_in_inactive_keeps_the_promises,
                                  every_action_in_writable_keeps_the_promises, every_action_in_error_keeps_the_promises,
                                  every_action_in_event_keeps_the_promises, every_action_in_wake_keeps_the_promises,
                                  every_action_in_write_keeps_the_promises, every_action_in_flush_keeps_the_promises,
                                  every_action_in_close_keeps_the_promises, every_action_in_removed_keeps_the_promises,
                                  every_action_in_completion_keeps_the_promises,
                                  who_stopped_at_unwritable_is_told_though_all_was_taken_in_the_same_turn, NULL});
}
