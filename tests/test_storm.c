/* Two linked channels whose handlers do anything to either of them inside any call, at random: the promises hold. */
#include "core/transport.h"
#include "tests/support/finish.h"

#include <stdlib.h>
#include <string.h>

enum { RUNS = 400, MOST_ACTIONS = 40, MOST_WRITES = 100 };

typedef struct storm storm;

/* A write that counts how often it completed. */
typedef struct drop {
    leat_done done;
    storm *of;
    int runs;
} drop;

struct storm {
    unsigned seed, dice;
    leat_embedded *ends[2];
    int actions; /* left */
    bool nested;
    drop writes[MOST_WRITES];
    int written;
    int added, removed;
    int active[2], inactive[2];
};

static const leat_handler blowing;
static void blow(storm *self, leat_ctx *ctx);

static unsigned roll(storm *self, unsigned sides) {
    self->dice = self->dice * 1103515245u + 12345u;
    return (self->dice >> 16) % sides;
}

static void drop_done(leat_done *done, int status) {
    drop *one = (drop *)(void *)done;
    (void)status;
    one->runs++;
    blow(one->of, NULL);
}

static void write_drop(storm *self, leat_channel *channel, leat_ctx *ctx) {
    if (self->written == MOST_WRITES)
        return;
    char text[400];
    size_t length = roll(self, 2) ? roll(self, 10) : roll(self, sizeof text);
    memset(text, 'x', sizeof text);
    leat_bytebuf *buf = leat_bytebuf_from_bytes(leat_channel_alloc(channel), text, length);
    drop *one = &self->writes[self->written++];
    *one = (drop){.done.fn = drop_done, .of = self};
    if (ctx && leat_ctx_channel(ctx) == channel)
        leat_ctx_write(ctx, leat_msg_of_bytebuf(buf), &one->done);
    else
        leat_channel_write(channel, leat_msg_of_bytebuf(buf), &one->done);
}

static leat_ctx *somebody(storm *self, leat_channel *channel) {
    const char *const names[] = {"a", "b", "c", "n"};
    return leat_channel_find(channel, names[roll(self, 4)]);
}

static void edit(storm *self, leat_channel *channel) {
    const leat_stage stage = {&blowing, &self, "n"};
    leat_ctx *one = somebody(self, channel);
    unsigned what = roll(self, 4);
    if (what == 0 && one)
        leat_ctx_remove(one);
    else if (what == 1 && one)
        leat_channel_replace(channel, one, &stage, NULL);
    else if (what == 2)
        leat_channel_add_after(channel, one, &stage, NULL);
    else
        leat_channel_add_last(channel, &stage, NULL);
}

static void end_somehow(storm *self, leat_channel *channel, leat_ctx *ctx) {
    unsigned what = roll(self, 6);
    if (what == 0)
        leat_channel_abort(channel, LEAT_EREFUSED);
    else if (what == 1)
        leat_channel_close(channel);
    else if (what == 2 && ctx)
        leat_ctx_fail(ctx, LEAT_ECORRUPT);
    else if (what == 3 && ctx)
        leat_ctx_fire_error(ctx, LEAT_ECORRUPT);
    else if (what == 4 && ctx)
        leat_ctx_close(ctx);
}

static void flow(storm *self, leat_channel *channel, leat_ctx *ctx) {
    unsigned what = roll(self, 6);
    if (what == 0)
        leat_channel_set_auto_read(channel, roll(self, 2));
    else if (what == 1)
        leat_channel_request(channel, roll(self, 3));
    else if (what == 2)
        leat_channel_flush(channel);
    else if (what == 3 && ctx)
        leat_ctx_wake(ctx);
    else if (what == 4)
        leat_channel_release(leat_channel_retain(channel));
    else if (ctx)
        leat_ctx_fire_read_done(ctx);
}

/* Something, mostly nothing; what follows from it at once does nothing more. */
static void blow(storm *self, leat_ctx *ctx) {
    if (self->actions == 0 || self->nested || roll(self, 3) != 0)
        return;
    self->actions--;
    self->nested = roll(self, 2);
    leat_channel *channel = leat_embedded_channel(self->ends[roll(self, 2)]);
    unsigned what = roll(self, 10);
    if (what < 4)
        write_drop(self, channel, ctx);
    else if (what < 7)
        edit(self, channel);
    else if (what < 9)
        flow(self, channel, ctx);
    else if (roll(self, 3) == 0)
        end_somehow(self, channel, ctx);
    self->nested = false;
}

static storm *storm_of(leat_ctx *ctx) {
    return *(storm **)leat_state(ctx);
}

static int end_of(leat_ctx *ctx) {
    storm *self = storm_of(ctx);
    return self->ends[1] && leat_ctx_channel(ctx) == leat_embedded_channel(self->ends[1]);
}

static int added(leat_ctx *ctx, const void *config) {
    *(storm **)leat_state(ctx) = *(storm *const *)config;
    storm_of(ctx)->added++;
    if (storm_of(ctx)->ends[1])
        blow(storm_of(ctx), ctx);
    return LEAT_OK;
}

static void removed(leat_ctx *ctx) {
    storm_of(ctx)->removed++;
    blow(storm_of(ctx), ctx);
}

static void active(leat_ctx *ctx) {
    leat_ctx_fire_active(ctx);
}

static void read(leat_ctx *ctx, leat_msg msg) {
    blow(storm_of(ctx), ctx);
    leat_ctx_fire_read(ctx, msg);
    blow(storm_of(ctx), ctx);
}

static void read_done(leat_ctx *ctx) {
    blow(storm_of(ctx), ctx);
    leat_ctx_fire_read_done(ctx);
}

static void eof(leat_ctx *ctx) {
    blow(storm_of(ctx), ctx);
    leat_ctx_fire_eof(ctx);
}

static void inactive(leat_ctx *ctx) {
    blow(storm_of(ctx), ctx);
    leat_ctx_fire_inactive(ctx);
}

static void writable(leat_ctx *ctx) {
    blow(storm_of(ctx), ctx);
    leat_ctx_fire_writable(ctx);
}

static void error(leat_ctx *ctx, int code) {
    blow(storm_of(ctx), ctx);
    leat_ctx_fire_error(ctx, code);
}

static void wake(leat_ctx *ctx) {
    blow(storm_of(ctx), ctx);
}

static void write(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    blow(storm_of(ctx), ctx);
    leat_ctx_write(ctx, msg, done);
    blow(storm_of(ctx), ctx);
}

static void flush(leat_ctx *ctx) {
    blow(storm_of(ctx), ctx);
    leat_ctx_flush(ctx);
}

static void close(leat_ctx *ctx) {
    blow(storm_of(ctx), ctx);
    leat_ctx_close(ctx);
}

static const leat_handler blowing = {.name = "blowing",
                                     .state_size = sizeof(storm *),
                                     .config_size = sizeof(storm *),
                                     .added = added,
                                     .removed = removed,
                                     .active = active,
                                     .read = read,
                                     .read_done = read_done,
                                     .eof = eof,
                                     .inactive = inactive,
                                     .writable = writable,
                                     .error = error,
                                     .wake = wake,
                                     .write = write,
                                     .flush = flush,
                                     .close = close};

/* A handler nobody touches, next to the transport: it sees how the channel begins and ends. */
static void witness_active(leat_ctx *ctx) {
    storm_of(ctx)->active[end_of(ctx)]++;
    leat_ctx_fire_active(ctx);
}

static void witness_inactive(leat_ctx *ctx) {
    storm_of(ctx)->inactive[end_of(ctx)]++;
    leat_ctx_fire_inactive(ctx);
}

static const leat_handler witness = {.name = "witness",
                                     .state_size = sizeof(storm *),
                                     .config_size = sizeof(storm *),
                                     .added = added,
                                     .removed = removed,
                                     .active = witness_active,
                                     .inactive = witness_inactive};

static void make_ends(storm *self) {
    const leat_stage stages[] = {
        {&witness, &self, NULL}, {&blowing, &self, "a"}, {&blowing, &self, "b"}, {&blowing, &self, "c"}, {0}};
    leat_embedded_options options = {.link_limit = 300, .not_connected = true};
    options.channel = (leat_channel_options){.write_low = 50, .write_high = 200, .close_timeout_ms = 100};
    leat_embedded *one = leat_embedded_new_with(stages, &options, NULL);
    options.loop = leat_embedded_loop(one);
    leat_embedded *two = leat_embedded_new_with(stages, &options, NULL);
    leat_embedded_link(one, two);
    self->ends[0] = one;
    self->ends[1] = two;
    leat_embedded_connect(one);
    leat_embedded_connect(two);
}

static void play(storm *self) {
    self->actions = MOST_ACTIONS;
    for (int i = 0; i < 30; i++) {
        leat_embedded *e = self->ends[roll(self, 2)];
        if (roll(self, 4) == 0)
            leat_embedded_advance(e, roll(self, 50));
        else
            leat_embedded_write_text(e, "some words");
    }
    self->actions = 0;
    for (int i = 0; i < 2; i++)
        leat_embedded_close(self->ends[i]);
    leat_embedded_advance(self->ends[0], 200);
}

static void check_end(const storm *self) {
    for (int i = 0; i < self->written; i++)
        ck_assert_msg(self->writes[i].runs == 1, "seed %u: write %d completed %d times", self->seed, i,
                      self->writes[i].runs);
    ck_assert_msg(self->added == self->removed, "seed %u: %d added, %d removed", self->seed, self->added,
                  self->removed);
    for (int i = 0; i < 2; i++)
        ck_assert_msg(self->active[i] == self->inactive[i], "seed %u: %d active, %d inactive", self->seed,
                      self->active[i], self->inactive[i]);
}

static void run_storm(unsigned seed) {
    storm self = {.seed = seed, .dice = seed};
    make_ends(&self);
    play(&self);
    for (int i = 0; i < 2; i++)
        ck_assert_msg(leat_embedded_is_closed(self.ends[i]), "seed %u: end %d is open", seed, i);
    leat_embedded_finish(self.ends[1]);
    leat_embedded_free(self.ends[1]);
    leat_embedded_finish(self.ends[0]);
    const char *report = leat_embedded_report(self.ends[0]);
    ck_assert_msg(!strstr(report, "leak") && !strstr(report, "misuse"), "seed %u: %s", seed, report);
    leat_embedded_free(self.ends[0]);
    check_end(&self);
}

START_TEST(whatever_handlers_do_to_two_channels_everything_ends_once) {
    const char *given = getenv("LEAT_SEED");
    unsigned first = given ? (unsigned)strtoul(given, NULL, 10) : 1;
    printf("seeds from %u\n", first);
    for (unsigned seed = first; seed < first + RUNS; seed++)
        run_storm(seed);
}
END_TEST

int main(void) {
    return suite_run("storm", (const TTest *const[]){whatever_handlers_do_to_two_channels_everything_ends_once, NULL});
}
