#include "core/channel_ref.h"
#include "core/embedded.h"
#include "core/transport.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static const leat_stage bare[] = {{0}};

/* A timer that appends its letter to a text. */
typedef struct letter {
    leat_timer timer;
    char *text;
    char name;
    leat_loop *again; /* starts itself anew this many times */
    int times;
} letter;

static void append(leat_timer *timer) {
    letter *self = (letter *)(void *)timer;
    size_t length = strlen(self->text);
    self->text[length] = self->name;
    self->text[length + 1] = 0;
    if (self->again && self->times-- > 0)
        leat_timer_start(self->again, timer, 1);
}

static letter letter_of(char *text, char name) {
    return (letter){.timer = {.fn = append}, .text = text, .name = name};
}

START_TEST(timers_run_at_their_time_and_equal_ones_in_arming_order) {
    leat_embedded *e = leat_embedded_new(bare);
    char text[32] = "";
    letter a = letter_of(text, 'a'), b = letter_of(text, 'b'), c = letter_of(text, 'c');
    leat_timer_start(leat_embedded_loop(e), &c.timer, 20);
    leat_timer_start(leat_embedded_loop(e), &a.timer, 10);
    leat_timer_start(leat_embedded_loop(e), &b.timer, 20);
    leat_embedded_advance(e, 9);
    ck_assert_str_eq(text, "");
    leat_embedded_advance(e, 1);
    ck_assert_str_eq(text, "a");
    leat_embedded_advance(e, 10);
    ck_assert_str_eq(text, "acb");
    leat_embedded_free(e);
}
END_TEST

START_TEST(a_stopped_timer_never_runs_and_a_restarted_one_runs_once) {
    leat_embedded *e = leat_embedded_new(bare);
    char text[32] = "";
    letter a = letter_of(text, 'a'), b = letter_of(text, 'b');
    leat_timer_start(leat_embedded_loop(e), &a.timer, 10);
    leat_timer_start(leat_embedded_loop(e), &b.timer, 10);
    leat_timer_stop(leat_embedded_loop(e), &a.timer);
    leat_embedded_advance(e, 5);
    leat_timer_start(leat_embedded_loop(e), &b.timer, 10);
    leat_embedded_advance(e, 9);
    ck_assert_str_eq(text, "");
    leat_embedded_advance(e, 1);
    ck_assert_str_eq(text, "b");
    ck_assert(!leat_timer_is_running(&b.timer));
    leat_embedded_free(e);
}
END_TEST

START_TEST(a_timer_that_starts_itself_runs_at_each_of_its_times) {
    leat_embedded *e = leat_embedded_new(bare);
    char text[32] = "";
    letter a = letter_of(text, 'a');
    a.again = leat_embedded_loop(e);
    a.times = 4;
    leat_timer_start(a.again, &a.timer, 1);
    leat_embedded_advance(e, 3);
    ck_assert_str_eq(text, "aaa");
    leat_embedded_advance(e, 100);
    ck_assert_str_eq(text, "aaaaa");
    leat_embedded_free(e);
}
END_TEST

/* Checks that it does not run before its time. */
typedef struct punctual {
    leat_timer timer;
    leat_loop *loop;
    uint64_t due;
    uint64_t *last;
} punctual;

static void check_time(leat_timer *timer) {
    punctual *self = (punctual *)(void *)timer;
    ck_assert_uint_eq(leat_loop_now(self->loop), self->due);
    ck_assert_uint_ge(self->due, *self->last);
    *self->last = self->due;
}

static void start_or_stop(leat_loop *loop, punctual *one, uint64_t *last) {
    uint64_t delay = (uint64_t)(rand() % 1000 + 1);
    *one = (punctual){.timer = one->timer, .loop = loop, .last = last};
    one->timer.fn = check_time;
    one->due = leat_loop_now(loop) + delay * 1000000;
    if (rand() % 3 == 0)
        leat_timer_stop(loop, &one->timer);
    else
        leat_timer_start(loop, &one->timer, delay);
}

START_TEST(random_starts_and_stops_run_what_is_left_on_time) {
    enum { TIMERS = 500, STEPS = 5000, SEED = 7 };
    printf("seed %d\n", SEED);
    srand(SEED);
    leat_embedded *e = leat_embedded_new(bare);
    static punctual timers[TIMERS];
    uint64_t last = 0;
    for (int i = 0; i < STEPS; i++) {
        start_or_stop(leat_embedded_loop(e), &timers[rand() % TIMERS], &last);
        if (rand() % 4 == 0)
            leat_embedded_advance(e, (uint64_t)(rand() % 20));
    }
    leat_embedded_advance(e, 1000);
    for (int i = 0; i < TIMERS; i++)
        ck_assert(!leat_timer_is_running(&timers[i].timer));
    leat_embedded_free(e);
}
END_TEST

typedef struct outcome {
    leat_done done;
    int runs, status;
} outcome;

static void note_done(leat_done *done, int status) {
    outcome *self = (outcome *)(void *)((char *)done - offsetof(outcome, done));
    self->runs++;
    self->status = status;
}

START_TEST(a_write_posted_to_a_channel_that_just_died_completes_with_closed) {
    leat_embedded *e = leat_embedded_new(bare);
    leat_ref *ref = leat_ref_new(leat_embedded_channel(e));
    outcome write = {.done = {.fn = note_done}};
    leat_ref_write(ref, leat_msg_of_bytebuf(leat_bytebuf_from_text(leat_unpooled(), "late")), &write.done);
    leat_loop_enter(leat_embedded_loop(e));
    leat_channel_abort(leat_embedded_channel(e), 0);
    leat_loop_leave(leat_embedded_loop(e));
    leat_embedded_run(e);
    ck_assert_int_eq(write.runs, 1);
    ck_assert_int_eq(write.status, LEAT_ECLOSED);
    ck_assert_ptr_null(leat_ref_channel(ref));
    leat_embedded_free(e);
    leat_ref_write(ref, leat_msg_of_bytebuf(leat_bytebuf_from_text(leat_unpooled(), "later")), &write.done);
    ck_assert_int_eq(write.runs, 2);
    leat_ref_release(ref);
}
END_TEST

START_TEST(a_write_posted_to_a_live_channel_leaves) {
    leat_embedded *e = leat_embedded_new(bare);
    leat_ref *ref = leat_ref_new(leat_embedded_channel(e));
    outcome write = {.done = {.fn = note_done}};
    leat_ref_write(ref, leat_msg_of_bytebuf(leat_bytebuf_from_text(leat_unpooled(), "posted")), &write.done);
    leat_embedded_run(e);
    ck_assert_int_eq(write.status, LEAT_OK);
    ck_assert_str_eq(leat_embedded_written_text(e), "posted");
    ck_assert_int_eq(leat_ref_close(ref), LEAT_OK);
    leat_embedded_run(e);
    ck_assert(leat_embedded_is_shut_down(e));
    leat_ref_release(ref);
    ck_assert_uint_eq(leat_embedded_finish(e), 0);
    leat_embedded_free(e);
}
END_TEST

START_TEST(large_reads_are_split_off_the_block_and_small_ones_copied) {
    leat_embedded *e = leat_embedded_new(bare);
    static char large[50000];
    memset(large, 'x', sizeof large);
    leat_embedded_feed(e, large, sizeof large);
    leat_embedded_feed(e, large, 100);
    leat_msg first, second;
    ck_assert(leat_embedded_take_read(e, &first) && leat_embedded_take_read(e, &second));
    ck_assert_uint_ge(leat_bytebuf_storage_size(first.obj), 200 * 1024);
    ck_assert_uint_lt(leat_bytebuf_storage_size(second.obj), 1024);
    leat_bytebuf *kept = first.obj;
    ck_assert(leat_bytebuf_skip(kept, 49990));
    ck_assert_int_eq(leat_bytebuf_keep(&kept), LEAT_OK);
    ck_assert_uint_lt(leat_bytebuf_storage_size(kept), 1024);
    leat_bytebuf_release(kept);
    leat_msg_release(second);
    ck_assert_uint_eq(leat_embedded_finish(e), 0);
    leat_embedded_free(e);
}
END_TEST

enum { KEPT = 100 };

static char large[60000];

/* More large reads than the loop has blocks for, of letters in turn. */
static void keep_large_reads(leat_embedded *e, leat_msg kept[KEPT]) {
    for (int i = 0; i < KEPT; i++) {
        memset(large, 'a' + i % 26, sizeof large);
        leat_embedded_feed(e, large, sizeof large);
        ck_assert(leat_embedded_take_read(e, &kept[i]));
    }
}

START_TEST(with_every_block_lent_the_loop_copies) {
    leat_embedded *e = leat_embedded_new(bare);
    leat_msg kept[KEPT];
    keep_large_reads(e, kept);
    ck_assert_uint_lt(leat_bytebuf_storage_size(kept[KEPT - 1].obj), 64 * 1024);
    for (int i = 0; i < KEPT; i++) {
        ck_assert_uint_eq(leat_bytebuf_get_u8(kept[i].obj, leat_bytebuf_writer_index(kept[i].obj) - 1),
                          (unsigned)((unsigned)('a' + i % 26)));
        leat_msg_release(kept[i]);
    }
    ck_assert_uint_eq(leat_embedded_finish(e), 0);
    leat_embedded_free(e);
}
END_TEST

START_TEST(once_blocks_come_back_the_loop_copies_no_more) {
    leat_embedded *e = leat_embedded_new(bare);
    leat_msg kept[KEPT];
    keep_large_reads(e, kept);
    for (int i = 0; i < KEPT; i++)
        leat_msg_release(kept[i]);
    leat_embedded_feed(e, large, sizeof large);
    ck_assert(leat_embedded_take_read(e, &kept[0]));
    ck_assert_uint_ge(leat_bytebuf_storage_size(kept[0].obj), 200 * 1024);
    leat_msg_release(kept[0]);
    ck_assert_uint_eq(leat_embedded_finish(e), 0);
    leat_embedded_free(e);
}
END_TEST

int main(void) {
    return suite_run("loop", (const TTest *const[]){timers_run_at_their_time_and_equal_ones_in_arming_order,
                                                    a_stopped_timer_never_runs_and_a_restarted_one_runs_once,
                                                    a_timer_that_starts_itself_runs_at_each_of_its_times,
                                                    random_starts_and_stops_run_what_is_left_on_time,
                                                    a_write_posted_to_a_channel_that_just_died_completes_with_closed,
                                                    a_write_posted_to_a_live_channel_leaves,
                                                    large_reads_are_split_off_the_block_and_small_ones_copied,
                                                    with_every_block_lent_the_loop_copies,
                                                    once_blocks_come_back_the_loop_copies_no_more, NULL});
}
