/* No stack grows with the number of messages, completions or turns: the last call stands no deeper than the first. */
#include "core/transport.h"
#include "handlers/line.h"
#include "tests/support/finish.h"

#include <string.h>

enum { MANY = 20000 };

/* Where the stack stood at the shallowest and the deepest call that was measured. */
typedef struct depth {
    uintptr_t low, high;
    size_t calls;
} depth;

static void measure(depth *at) {
    uintptr_t place = (uintptr_t)__builtin_frame_address(0); /* a local's address may be a checker's */
    at->low = at->calls == 0 || place < at->low ? place : at->low;
    at->high = place > at->high ? place : at->high;
    at->calls++;
}

/* All measured calls stood within one frame or so. */
static void assert_flat(const depth *at, size_t least_calls) {
    ck_assert_uint_ge(at->calls, least_calls);
    ck_assert_uint_le(at->high - at->low, 4096);
}

/* A completion that writes, again and again. */
typedef struct endless {
    leat_done done;
    depth at;
    leat_embedded *e;
    size_t left;
} endless;

static void write_again(leat_done *done, int status) {
    endless *self = (endless *)(void *)done;
    measure(&self->at);
    ck_assert_int_eq(status, LEAT_OK);
    if (self->left-- > 0)
        leat_channel_write(leat_embedded_channel(self->e), text_msg(self->e, "+"), done);
}

START_TEST(completions_that_write_do_not_nest) {
    leat_embedded *e = leat_embedded_new((const leat_stage[]){{0}});
    endless self = {.done.fn = write_again, .e = e, .left = MANY};
    leat_embedded_write(e, text_msg(e, "+"), &self.done);
    leat_embedded_run(e);
    assert_flat(&self.at, MANY);
    ck_assert_uint_eq(strlen(leat_embedded_written_text(e)), MANY + 1);
    finish(e);
}
END_TEST

/* Measures what it reads, and asks for the next message if `asks`. */
typedef struct reader {
    depth *at;
    bool asks, echoes;
} reader;

static int reader_added(leat_ctx *ctx, const void *config) {
    *(reader *)leat_state(ctx) = *(const reader *)config;
    return LEAT_OK;
}

static void reader_read(leat_ctx *ctx, leat_msg msg) {
    const reader *self = leat_state(ctx);
    measure(self->at);
    if (self->asks)
        leat_channel_request(leat_ctx_channel(ctx), 1);
    if (self->echoes && self->at->calls < MANY)
        leat_ctx_write(ctx, msg, NULL);
    else
        leat_msg_release(msg);
}

static const leat_handler reading = {.name = "reading",
                                     .state_size = sizeof(reader),
                                     .config_size = sizeof(reader),
                                     .reads = leat_only_bytebuf,
                                     .added = reader_added,
                                     .read = reader_read};

static void feed_lines(leat_embedded *e) {
    static char lines[2 * MANY];
    for (size_t i = 0; i < sizeof lines; i += 2)
        memcpy(lines + i, "x\n", 2);
    leat_embedded_feed(e, lines, sizeof lines);
}

START_TEST(many_frames_in_one_read_do_not_nest) {
    depth at = {0};
    const reader config = {.at = &at};
    leat_embedded *e = leat_embedded_new((const leat_stage[]){{&leat_line_decoder}, {&reading, &config}, {0}});
    feed_lines(e);
    assert_flat(&at, MANY);
    finish(e);
}
END_TEST

START_TEST(asking_for_the_next_message_inside_each_does_not_nest) {
    depth at = {0};
    const reader config = {.at = &at, .asks = true};
    const leat_stage stages[] = {{&leat_line_decoder}, {&reading, &config}, {0}};
    leat_embedded_options options = {.channel.manual_read = true};
    leat_embedded *e = leat_embedded_new_with(stages, &options, NULL);
    leat_channel_request(leat_embedded_channel(e), 1);
    feed_lines(e);
    leat_embedded_run(e);
    assert_flat(&at, MANY);
    finish(e);
}
END_TEST

START_TEST(two_channels_that_answer_each_other_do_not_nest) {
    depth at = {0};
    const reader config = {.at = &at, .echoes = true};
    const leat_stage stages[] = {{&reading, &config}, {0}};
    leat_embedded *one = leat_embedded_new(stages);
    leat_embedded_options options = {.loop = leat_embedded_loop(one)};
    leat_embedded *other = leat_embedded_new_with(stages, &options, NULL);
    leat_embedded_link(one, other);
    leat_embedded_write_text(one, "ping");
    leat_embedded_run(one);
    assert_flat(&at, MANY);
    finish(other);
    finish(one);
}
END_TEST

/* What one channel reads the other writes, in the other's own handlers: A's turn writes to B, B's completion to A. */
typedef struct crossing {
    leat_done done;
    depth at;
    leat_embedded *ends[2];
    size_t left;
} crossing;

static void write_across(leat_done *done, int status) {
    crossing *self = (crossing *)(void *)done;
    measure(&self->at);
    leat_embedded *to = self->ends[self->left % 2];
    if (status == LEAT_OK && self->left-- > 0)
        leat_channel_write(leat_embedded_channel(to), text_msg(to, "+"), done);
}

START_TEST(completions_that_write_to_each_other_s_channel_do_not_nest) {
    leat_embedded *one = leat_embedded_new((const leat_stage[]){{0}});
    leat_embedded_options options = {.loop = leat_embedded_loop(one)};
    leat_embedded *other = leat_embedded_new_with((const leat_stage[]){{0}}, &options, NULL);
    crossing self = {.done.fn = write_across, .ends = {one, other}, .left = MANY};
    leat_embedded_write(one, text_msg(one, "+"), &self.done);
    leat_embedded_run(one);
    assert_flat(&self.at, MANY);
    leat_embedded_written_text(one);
    leat_embedded_written_text(other);
    finish(other);
    finish(one);
}
END_TEST

/* A write that fails with its channel, whose completion tries again. */
typedef struct failing {
    leat_done done;
    depth *at;
    leat_embedded *e;
    bool tried;
} failing;

static void try_once_more(leat_done *done, int status) {
    failing *self = (failing *)(void *)done;
    ck_assert_int_lt(status, 0);
    measure(self->at);
    if (!self->tried)
        leat_channel_write(leat_embedded_channel(self->e), text_msg(self->e, "again"), done);
    self->tried = true;
}

START_TEST(many_queued_writes_that_fail_at_the_end_do_not_nest) {
    static failing all[MANY];
    depth at = {0};
    leat_embedded *e = leat_embedded_new((const leat_stage[]){{0}});
    leat_embedded_limit_writes(e, 1, 0);
    leat_loop_enter(leat_embedded_loop(e));
    for (size_t i = 0; i < MANY; i++) {
        all[i] = (failing){.done.fn = try_once_more, .at = &at, .e = e};
        leat_channel_write(leat_embedded_channel(e), text_msg(e, "x"), &all[i].done);
    }
    leat_loop_leave(leat_embedded_loop(e));
    leat_embedded_break(e, LEAT_ERESET);
    ck_assert_int_eq(leat_embedded_take_error(e), LEAT_ERESET);
    leat_embedded_run(e);
    assert_flat(&at, (size_t)2 * MANY);
    finish(e);
}
END_TEST

int main(void) {
    return suite_run("stack",
                     (const TTest *const[]){completions_that_write_do_not_nest, many_frames_in_one_read_do_not_nest,
                                            asking_for_the_next_message_inside_each_does_not_nest,
                                            two_channels_that_answer_each_other_do_not_nest,
                                            completions_that_write_to_each_other_s_channel_do_not_nest,
                                            many_queued_writes_that_fail_at_the_end_do_not_nest, NULL});
}
