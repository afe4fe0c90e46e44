/* Demand, held bytes, watermarks: what slows whom down, and that nothing is lost by it. */
#include "core/transport.h"
#include "handlers/line.h"
#include "tests/support/finish.h"

#include <stdlib.h>
#include <string.h>

START_TEST(a_decoder_delivers_just_the_messages_asked_for) {
    const leat_stage stages[] = {{&leat_line_decoder}, {0}};
    leat_embedded_options options = {.channel = {.manual_read = true}};
    leat_embedded *e = leat_embedded_new_with(stages, &options, NULL);
    leat_channel_request(leat_embedded_channel(e), 2);
    leat_embedded_feed_text(e, "1\n2\n3\n4\n5\n");
    ck_assert_str_eq(leat_embedded_read_text(e), "1");
    ck_assert_str_eq(leat_embedded_read_text(e), "2");
    ck_assert_ptr_null(leat_embedded_read_text(e));
    ck_assert_uint_gt(leat_channel_held(leat_embedded_channel(e)), 0);
    leat_channel_request(leat_embedded_channel(e), 3);
    leat_embedded_run(e);
    for (const char *expected = "345"; *expected; expected++)
        ck_assert_int_eq(leat_embedded_read_text(e)[0], *expected);
    ck_assert_uint_eq(leat_channel_held(leat_embedded_channel(e)), 0);
    finish(e);
}
END_TEST

START_TEST(with_two_decoders_the_inner_one_counts) {
    const leat_stage stages[] = {{&leat_line_decoder, NULL, "outer"}, {&leat_line_decoder, NULL, "inner"}, {0}};
    leat_embedded_options options = {.channel = {.manual_read = true}};
    leat_embedded *e = leat_embedded_new_with(stages, &options, NULL);
    leat_embedded_feed_text(e, "a\nb\n");
    leat_channel_request(leat_embedded_channel(e), 5);
    leat_embedded_run(e);
    ck_assert_ptr_null(leat_embedded_read_text(e)); /* the outer one takes the line ends away */
    leat_ctx_remove(leat_channel_find(leat_embedded_channel(e), "inner"));
    ck_assert_str_eq(leat_embedded_read_text(e), "ab");
    leat_embedded_feed_text(e, "c\n");
    ck_assert_str_eq(leat_embedded_read_text(e), "c");
    finish(e);
}
END_TEST

/* Keeps what it reads until it is told to let go. */
typedef struct dam {
    leat_bytebuf *kept[64];
    size_t count;
} dam;

static void dam_read(leat_ctx *ctx, leat_msg msg) {
    dam *self = leat_state(ctx);
    ck_assert_uint_lt(self->count, 64);
    self->kept[self->count++] = leat_msg_bytebuf(msg);
    leat_ctx_hold(ctx, leat_msg_size(msg));
}

static void open_dam(leat_ctx *ctx) {
    dam *self = leat_state(ctx);
    for (size_t i = 0; i < self->count; i++) {
        leat_ctx_unhold(ctx, leat_bytebuf_readable(self->kept[i]));
        leat_ctx_fire_read(ctx, leat_msg_of_bytebuf(self->kept[i]));
    }
    self->count = 0;
}

static const leat_handler damming = {
    .name = "dam", .state_size = sizeof(dam), .removed = open_dam, .read = dam_read, .wake = open_dam};

START_TEST(held_bytes_pause_reading_and_letting_go_resumes_it) {
    leat_embedded_options options = {.channel = {.read_high = 10, .read_low = 5}};
    leat_embedded *e = leat_embedded_new_with((const leat_stage[]){{&damming}, {0}}, &options, NULL);
    leat_channel *channel = leat_embedded_channel(e);
    leat_embedded_feed_text(e, "0123456789");
    ck_assert(leat_channel_wants_read(channel));
    leat_embedded_feed_text(e, "x");
    ck_assert(!leat_channel_wants_read(channel));
    leat_embedded_feed_text(e, "waits");
    ck_assert_uint_eq(leat_channel_held(channel), 11);
    leat_ctx_wake(leat_channel_find(channel, "dam"));
    leat_embedded_run(e);
    leat_ctx_wake(leat_channel_find(channel, "dam"));
    leat_embedded_run(e);
    ck_assert_str_eq(leat_embedded_read_text(e), "0123456789");
    ck_assert_str_eq(leat_embedded_read_text(e), "x");
    ck_assert_str_eq(leat_embedded_read_text(e), "waits");
    finish(e);
}
END_TEST

/* As a TLS handshake does: keeps writes back until the peer has sent three bytes, and greets first. */
typedef struct handshake {
    leat_msg kept[16];
    leat_done *done[16];
    size_t count, seen;
} handshake;

static void handshake_active(leat_ctx *ctx) {
    leat_ctx_write_copy(ctx, "HELLO ", 6, NULL);
    leat_ctx_fire_active(ctx);
}

static void handshake_write(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    handshake *self = leat_state(ctx);
    if (self->seen >= 3) {
        leat_ctx_write(ctx, msg, done);
    } else if (self->count == 16) {
        leat_ctx_refuse(ctx, msg, done, LEAT_ELIMIT);
    } else {
        self->kept[self->count] = msg;
        self->done[self->count++] = done;
        leat_ctx_hold_out(ctx, leat_msg_size(msg));
    }
}

static void let_go(leat_ctx *ctx, int status) {
    handshake *self = leat_state(ctx);
    for (size_t i = 0; i < self->count; i++) {
        leat_ctx_unhold_out(ctx, leat_msg_size(self->kept[i]));
        if (status == LEAT_OK)
            leat_ctx_write(ctx, self->kept[i], self->done[i]);
        else
            leat_ctx_refuse(ctx, self->kept[i], self->done[i], status);
    }
    self->count = 0;
}

static void handshake_read(leat_ctx *ctx, leat_msg msg) {
    handshake *self = leat_state(ctx);
    self->seen += (size_t)leat_msg_size(msg);
    leat_msg_release(msg);
    if (self->seen >= 3)
        let_go(ctx, LEAT_OK);
}

static void handshake_removed(leat_ctx *ctx) {
    let_go(ctx, LEAT_EREMOVED);
}

static const leat_handler handshaking = {.name = "handshake",
                                         .state_size = sizeof(handshake),
                                         .removed = handshake_removed,
                                         .active = handshake_active,
                                         .read = handshake_read,
                                         .write = handshake_write};

typedef struct outcome {
    leat_done done;
    int runs, status;
    char *order;
    char name;
} outcome;

static void note(leat_done *done, int status) {
    outcome *self = (outcome *)(void *)done;
    self->runs++;
    self->status = status;
    if (self->order)
        strncat(self->order, &self->name, 1);
}

START_TEST(writes_kept_by_a_handshake_count_and_leave_in_order) {
    leat_embedded_options options = {.channel = {.write_low = 2, .write_high = 4}};
    leat_embedded *e = leat_embedded_new_with((const leat_stage[]){{&handshaking}, {0}}, &options, NULL);
    outcome one = {.done = {.fn = note}}, two = {.done = {.fn = note}};
    leat_embedded_write(e, text_msg(e, "first "), &one.done);
    leat_embedded_write(e, text_msg(e, "second"), &two.done);
    ck_assert_str_eq(leat_embedded_written_text(e), "HELLO ");
    ck_assert(!leat_channel_is_writable(leat_embedded_channel(e)));
    ck_assert_uint_eq(leat_channel_pending(leat_embedded_channel(e)), 12);
    leat_embedded_feed_text(e, "abc");
    ck_assert_str_eq(leat_embedded_written_text(e), "first second");
    ck_assert(leat_channel_is_writable(leat_embedded_channel(e)));
    ck_assert_int_eq(one.runs + two.runs, 2);
    finish(e);
}
END_TEST

START_TEST(writes_kept_at_the_end_are_refused_once) {
    leat_embedded *e = leat_embedded_new((const leat_stage[]){{&handshaking}, {0}});
    outcome one = {.done = {.fn = note}};
    leat_embedded_write(e, text_msg(e, "never"), &one.done);
    ck_assert_str_eq(leat_embedded_written_text(e), "HELLO ");
    leat_embedded_break(e, LEAT_ERESET);
    ck_assert_int_eq(leat_embedded_take_error(e), LEAT_ERESET);
    ck_assert_int_eq(one.runs, 1);
    ck_assert_int_eq(one.status, LEAT_EREMOVED);
    finish(e);
}
END_TEST

/* Refuses what is too long and tells the application above it. */
static void censor_write(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    if (leat_msg_size(msg) <= 5) {
        leat_ctx_write(ctx, msg, done);
        return;
    }
    leat_ctx_refuse(ctx, msg, done, LEAT_ETOOLONG);
    leat_ctx_fail(ctx, LEAT_ETOOLONG);
}

static const leat_handler censor = {.name = "censor", .write = censor_write};

START_TEST(an_outbound_failure_becomes_an_inbound_error_without_reentry) {
    leat_embedded *e = leat_embedded_new((const leat_stage[]){{&censor}, {0}});
    outcome bad = {.done = {.fn = note}};
    leat_embedded_write(e, text_msg(e, "much too long"), &bad.done);
    ck_assert_int_eq(bad.status, LEAT_ETOOLONG);
    ck_assert_int_eq(leat_embedded_take_error(e), LEAT_ETOOLONG);
    ck_assert_str_eq(leat_embedded_written_text(e), "");
    finish(e);
}
END_TEST

/* Merges writes until a flush, and splits what it writes in two. */
typedef struct merger {
    leat_bytebuf *all;
    leat_done_list done;
} merger;

static void merger_write(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    merger *self = leat_state(ctx);
    if (!self->all)
        self->all = leat_bytebuf_new(leat_channel_alloc(leat_ctx_channel(ctx)), 64);
    ck_assert(leat_bytebuf_write_buffer(self->all, leat_msg_bytebuf(msg)));
    leat_ctx_hold_out(ctx, leat_msg_size(msg));
    leat_msg_release(msg);
    leat_done_list_add(&self->done, done);
}

static void merged_done(leat_done *done, int status);

typedef struct merged {
    leat_done done;
    leat_done_list all;
    leat_ctx *ctx;
} merged;

static void merged_done(leat_done *done, int status) {
    merged *self = (merged *)(void *)done;
    leat_ctx_complete_list(self->ctx, &self->all, status);
    free(self);
}

static void merger_flush(leat_ctx *ctx) {
    merger *self = leat_state(ctx);
    if (self->all) {
        merged *record = calloc(1, sizeof *record);
        *record = (merged){.done = {.fn = merged_done}, .all = self->done, .ctx = ctx};
        self->done = (leat_done_list){0};
        leat_ctx_unhold_out(ctx, leat_bytebuf_readable(self->all));
        leat_bytebuf *half = leat_bytebuf_split(self->all, leat_bytebuf_readable(self->all) / 2);
        leat_ctx_write(ctx, leat_msg_of_bytebuf(half), NULL);
        leat_ctx_write(ctx, leat_msg_of_bytebuf(self->all), &record->done);
        self->all = NULL;
    }
    leat_ctx_flush(ctx);
}

static const leat_handler merging = {
    .name = "merger", .state_size = sizeof(merger), .write = merger_write, .flush = merger_flush};

START_TEST(merged_writes_complete_each_when_the_last_part_left) {
    leat_embedded *e = leat_embedded_new((const leat_stage[]){{&merging}, {0}});
    char order[8] = "";
    outcome all[3];
    leat_embedded_limit_writes(e, 100, 0);
    leat_loop_enter(leat_embedded_loop(e));
    for (int i = 0; i < 3; i++) {
        all[i] = (outcome){.done = {.fn = note}, .order = order, .name = (char)('a' + i)};
        leat_channel_write(leat_embedded_channel(e), text_msg(e, "part "), &all[i].done);
    }
    leat_loop_leave(leat_embedded_loop(e));
    leat_embedded_allow_writes(e, 14);
    ck_assert_str_eq(order, "");
    leat_embedded_allow_writes(e, UINT64_MAX);
    ck_assert_str_eq(order, "abc");
    ck_assert_str_eq(leat_embedded_written_text(e), "part part part ");
    finish(e);
}
END_TEST

/* A proxy: what one end reads the other writes; an end that cannot write stops the other from reading. */
typedef struct bridge {
    leat_channel *other;
} bridge;

static bridge *bridge_of(leat_ctx *ctx) {
    return leat_state(ctx);
}

static void bridge_read(leat_ctx *ctx, leat_msg msg) {
    leat_channel_write(bridge_of(ctx)->other, msg, NULL);
    if (!leat_channel_is_writable(bridge_of(ctx)->other))
        leat_channel_set_auto_read(leat_ctx_channel(ctx), false);
}

static void bridge_writable(leat_ctx *ctx) {
    if (bridge_of(ctx)->other && leat_channel_is_writable(leat_ctx_channel(ctx)))
        leat_channel_set_auto_read(bridge_of(ctx)->other, true);
}

static const leat_handler bridging = {
    .name = "bridge", .state_size = sizeof(bridge), .read = bridge_read, .writable = bridge_writable};

/* Two bridged channels of one loop; what their memory comes from is counted. */
typedef struct proxy {
    leat_counting_alloc counting;
    leat_embedded *front, *back;
    uint64_t fed, passed, most;
} proxy;

static void join(leat_embedded *from, leat_embedded *to) {
    leat_ctx *ctx = leat_channel_find(leat_embedded_channel(from), "bridge");
    ((bridge *)leat_state(ctx))->other = leat_embedded_channel(to);
}

static void make_proxy(proxy *p) {
    static const leat_stage stages[] = {{&bridging}, {0}};
    *p = (proxy){0};
    leat_counting_alloc_init(&p->counting, leat_unpooled());
    leat_embedded_options options = {.alloc = &p->counting.alloc, .without_ledger = true};
    p->front = leat_embedded_new_with(stages, &options, NULL);
    options.loop = leat_embedded_loop(p->front);
    p->back = leat_embedded_new_with(stages, &options, NULL);
    join(p->front, p->back);
    join(p->back, p->front);
    leat_embedded_limit_writes(p->back, SIZE_MAX, 0);
}

static void feed_while_it_reads(proxy *p, uint64_t total) {
    static char block[60000];
    while (p->fed < total && leat_channel_wants_read(leat_embedded_channel(p->front))) {
        leat_embedded_feed(p->front, block, sizeof block);
        p->fed += sizeof block;
    }
    uint64_t live = p->counting.counted.live_bytes;
    p->most = live > p->most ? live : p->most;
}

static void let_some_pass(proxy *p) {
    leat_embedded_allow_writes(p->back, 100000);
    leat_bytebuf *written = leat_embedded_take_written(p->back);
    p->passed += leat_bytebuf_readable(written);
    leat_bytebuf_release(written);
}

START_TEST(a_proxy_with_a_slow_end_holds_little_while_a_gibibyte_passes) {
    const uint64_t total = 1u << 30;
    proxy p;
    make_proxy(&p);
    while (p.passed < total) {
        feed_while_it_reads(&p, total);
        let_some_pass(&p);
    }
    ck_assert_uint_eq(p.fed, p.passed);
    ck_assert_uint_lt(p.most, 2 * 1024 * 1024);
    leat_embedded_free(p.back);
    leat_embedded_free(p.front);
}
END_TEST

static void write_for_ever(leat_done *done, int status) {
    outcome *self = (outcome *)(void *)done;
    self->runs++;
    leat_embedded *e = (leat_embedded *)(void *)self->order;
    if (status == LEAT_OK)
        leat_channel_write(leat_embedded_channel(e), text_msg(e, "x"), done);
}

START_TEST(a_completion_that_always_writes_does_not_stop_other_channels) {
    leat_embedded *busy = leat_embedded_new((const leat_stage[]){{0}});
    leat_embedded_options shared = {.loop = leat_embedded_loop(busy)};
    leat_embedded *other = leat_embedded_new_with((const leat_stage[]){{0}}, &shared, NULL);
    outcome endless = {.done = {.fn = write_for_ever}, .order = (char *)(void *)busy};
    leat_loop_enter(leat_embedded_loop(busy));
    leat_channel_write(leat_embedded_channel(busy), text_msg(busy, "x"), &endless.done);
    leat_channel_write(leat_embedded_channel(other), text_msg(other, "mine"), NULL);
    leat_loop_leave(leat_embedded_loop(busy));
    ck_assert_str_eq(leat_embedded_written_text(other), "mine");
    ck_assert_int_gt(endless.runs, 1);
    ck_assert_int_lt(endless.runs, 1000);
    ck_assert_uint_gt(leat_loop_statistics(leat_embedded_loop(busy)).continuations, 0);
    leat_embedded_fail_writes(busy, LEAT_ERESET);
    leat_embedded_run(busy);
    leat_embedded_free(other);
    leat_embedded_free(busy);
}
END_TEST

int main(void) {
    return suite_run("back_pressure",
                     (const TTest *const[]){
                         a_decoder_delivers_just_the_messages_asked_for, with_two_decoders_the_inner_one_counts,
                         held_bytes_pause_reading_and_letting_go_resumes_it,
                         writes_kept_by_a_handshake_count_and_leave_in_order, writes_kept_at_the_end_are_refused_once,
                         an_outbound_failure_becomes_an_inbound_error_without_reentry,
                         merged_writes_complete_each_when_the_last_part_left,
                         a_proxy_with_a_slow_end_holds_little_while_a_gibibyte_passes,
                         a_completion_that_always_writes_does_not_stop_other_channels, NULL});
}
