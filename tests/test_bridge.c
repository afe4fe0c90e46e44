/* Bridges between two embedded channels, each on a loop of its own: every order of what happens, without a thread. */
#include "core/transport.h"
#include "core/verify.h"
#include "tests/support/crossing.h"

#include <stdlib.h>
#include <string.h>

START_TEST(what_one_reads_the_other_writes_both_ways) {
    crossing self = joined(NULL);
    leat_embedded_feed_text(self.ends[0], "question");
    leat_embedded_feed_text(self.ends[1], "answer");
    settle(&self);
    ck_assert_str_eq(leat_embedded_written_text(self.ends[1]), "question");
    ck_assert_str_eq(leat_embedded_written_text(self.ends[0]), "answer");
    for (int i = 0; i < 100; i++)
        leat_embedded_feed_text(self.ends[0], i % 2 ? "b" : "a");
    settle(&self);
    const char *written = leat_embedded_written_text(self.ends[1]);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(written[i], i % 2 ? 'b' : 'a');
    end(&self);
}
END_TEST

START_TEST(bytes_are_held_where_they_were_read_until_they_are_written) {
    crossing self = joined(&(leat_channel_options){.read_high = 10, .read_low = 5});
    leat_embedded_limit_writes(self.ends[1], 1000, 0);
    leat_embedded_feed_text(self.ends[0], "0123456789");
    settle(&self);
    ck_assert_uint_eq(leat_channel_held(channel_of(&self, 0)), 10);
    ck_assert(leat_channel_wants_read(channel_of(&self, 0)));
    leat_embedded_feed_text(self.ends[0], "x");
    ck_assert(!leat_channel_wants_read(channel_of(&self, 0)));
    leat_embedded_allow_writes(self.ends[1], 10);
    settle(&self);
    ck_assert_uint_eq(leat_channel_held(channel_of(&self, 0)), 1);
    ck_assert(leat_channel_wants_read(channel_of(&self, 0)));
    leat_embedded_allow_writes(self.ends[1], UINT64_MAX);
    settle(&self);
    ck_assert_uint_eq(leat_channel_held(channel_of(&self, 0)), 0);
    ck_assert_str_eq(leat_embedded_written_text(self.ends[1]), "0123456789x");
    end(&self);
}
END_TEST

START_TEST(who_joins_late_gets_what_was_read_before) {
    for (int gone = 0; gone < 2; gone++) {
        crossing self = make(NULL);
        join(&self, 0);
        leat_embedded_feed_text(self.ends[0], "early ");
        leat_embedded_feed_text(self.ends[0], "bird");
        if (gone)
            leat_embedded_close(self.ends[0]);
        if (gone)
            leat_embedded_feed_eof(self.ends[0]);
        settle(&self);
        join(&self, 1);
        settle(&self);
        ck_assert_str_eq(leat_embedded_written_text(self.ends[1]), "early bird");
        ck_assert_int_eq(leat_embedded_is_shut_down(self.ends[1]), gone);
        end(&self);
    }
}
END_TEST

START_TEST(the_answer_comes_back_after_the_question_ended) {
    crossing self = joined(NULL);
    leat_embedded_feed_text(self.ends[0], "question");
    leat_embedded_feed_eof(self.ends[0]);
    settle(&self);
    ck_assert_str_eq(leat_embedded_written_text(self.ends[1]), "question");
    ck_assert(leat_embedded_is_shut_down(self.ends[1]) && !leat_embedded_is_shut_down(self.ends[0]));
    leat_embedded_feed_text(self.ends[1], "answer");
    leat_embedded_feed_eof(self.ends[1]);
    settle(&self);
    ck_assert_str_eq(leat_embedded_written_text(self.ends[0]), "answer");
    ck_assert(leat_embedded_is_closed(self.ends[0]) && leat_embedded_is_closed(self.ends[1]));
    ck_assert_int_eq(leat_channel_error(channel_of(&self, 0)), 0);
    ck_assert_int_eq(leat_channel_error(channel_of(&self, 1)), 0);
    end(&self);
}
END_TEST

START_TEST(a_bridge_has_two_ends) {
    crossing self = joined(NULL), other = make(NULL);
    ck_assert_int_eq(leat_bridge_join(self.bridge, channel_of(&other, 0)), LEAT_EEXIST);
    leat_embedded_feed_text(other.ends[0], "not ours");
    ck_assert_str_eq(leat_embedded_read_text(other.ends[0]), "not ours");
    end(&other);
    end(&self);
}
END_TEST

START_TEST(a_place_stays_free_when_joining_failed) {
    crossing self = make(NULL);
    leat_embedded *closed = leat_embedded_new(bare);
    leat_embedded_break(closed, LEAT_ERESET);
    ck_assert_int_eq(leat_embedded_take_error(closed), LEAT_ERESET);
    ck_assert_int_eq(leat_bridge_join(self.bridge, leat_embedded_channel(closed)), LEAT_ECLOSED);
    join(&self, 0);
    join(&self, 1);
    leat_embedded_feed_text(self.ends[0], "still");
    settle(&self);
    ck_assert_str_eq(leat_embedded_written_text(self.ends[1]), "still");
    finish(closed);
    end(&self);
}
END_TEST

START_TEST(a_bridge_may_be_ended_before_the_second_channel_came) {
    for (int code = LEAT_ETIMEDOUT; code <= 0; code += -LEAT_ETIMEDOUT) {
        crossing self = make(NULL);
        join(&self, 0);
        leat_embedded_feed_text(self.ends[0], "for nobody");
        leat_bridge_end(self.bridge, code);
        leat_bridge_end(self.bridge, LEAT_ERESET); /* the first counts */
        settle(&self);
        ck_assert_int_eq(leat_channel_error(channel_of(&self, 0)), code);
        ck_assert(code ? leat_embedded_is_closed(self.ends[0]) : leat_embedded_is_shut_down(self.ends[0]));
        join(&self, 1);
        settle(&self);
        ck_assert_int_eq(leat_channel_error(channel_of(&self, 1)), code);
        leat_embedded_written_text(self.ends[1]);
        end(&self);
    }
}
END_TEST

/* The ways in which an end may die, and what the other one then keeps as its error. */
static void die_by_eof(leat_embedded *e) {
    leat_embedded_feed_eof(e);
}

static void die_by_close(leat_embedded *e) {
    leat_embedded_close(e);
    leat_embedded_feed_eof(e);
}

static void die_by_reset(leat_embedded *e) {
    leat_embedded_break(e, LEAT_ERESET);
}

static void die_by_abort(leat_embedded *e) {
    leat_loop_enter(leat_embedded_loop(e));
    leat_channel_abort(leat_embedded_channel(e), LEAT_EABORTED);
    leat_loop_leave(leat_embedded_loop(e));
}

static void die_by_failed_write(leat_embedded *e) {
    leat_embedded_fail_writes(e, LEAT_ERESET);
    leat_embedded_write_text(e, "never");
}

static void die_by_timeout(leat_embedded *e) {
    leat_embedded_close(e);
    leat_embedded_advance(e, 5000);
}

typedef struct death {
    void (*die)(leat_embedded *e);
    int error; /* that the other end keeps */
} death;

static const death deaths[] = {
    {die_by_eof, 0},
    {die_by_close, 0},
    {die_by_reset, LEAT_ERESET},
    {die_by_abort, LEAT_EABORTED},
    {die_by_failed_write, LEAT_ERESET},
    {die_by_timeout, LEAT_ETIMEDOUT},
};
enum { DEATHS = sizeof deaths / sizeof *deaths };

static void forget(leat_embedded *e) {
    while (leat_embedded_take_error(e))
        ;
    leat_embedded_written_text(e);
}

/* What is under way when an end dies. */
static void load(crossing *self, unsigned how) {
    for (int i = 0; i < 2; i++) {
        if (how & 1u << i)
            leat_embedded_limit_writes(self->ends[i], 3, 5);
        if (how & 4u << i)
            leat_embedded_feed_text(self->ends[1 - i], "under way");
        if (how & 16u << i)
            leat_embedded_run(self->ends[i]);
    }
}

static void check_death(const death *how, unsigned before, int first) {
    crossing self = joined(NULL);
    load(&self, before);
    how->die(self.ends[0]);
    settle_from(&self, first);
    leat_embedded_allow_writes(self.ends[0], UINT64_MAX);
    leat_embedded_allow_writes(self.ends[1], UINT64_MAX);
    settle_from(&self, first);
    leat_embedded_feed_eof(self.ends[1]); /* whose channel only waits for that, if it lives at all */
    settle_from(&self, first);
    ck_assert(leat_embedded_is_closed(self.ends[1]));
    ck_assert_int_eq(leat_channel_error(channel_of(&self, 1)), how->error);
    ck_assert_uint_eq(leat_channel_held(channel_of(&self, 1)), 0);
    forget(self.ends[0]);
    forget(self.ends[1]);
    end(&self);
}

START_TEST(ends_die_in_every_way_with_anything_under_way) {
    for (int i = 0; i < DEATHS; i++)
        for (unsigned before = 0; before < 64; before++)
            for (int first = 0; first < 2; first++)
                check_death(&deaths[i], before, first);
}
END_TEST

START_TEST(both_ends_die_in_every_order) {
    for (int i = 0; i < DEATHS * DEATHS; i++)
        for (unsigned before = (unsigned)i % 5; before < 64; before += 5) {
            crossing self = joined(NULL);
            load(&self, before);
            deaths[i % DEATHS].die(self.ends[before & 1]);
            deaths[i / DEATHS].die(self.ends[1 - (before & 1)]);
            settle_from(&self, (int)(before >> 1 & 1));
            leat_embedded_allow_writes(self.ends[0], UINT64_MAX);
            leat_embedded_allow_writes(self.ends[1], UINT64_MAX);
            settle(&self);
            for (int k = 0; k < 2; k++)
                leat_embedded_feed_eof(self.ends[k]);
            settle(&self);
            ck_assert(leat_embedded_is_closed(self.ends[0]) && leat_embedded_is_closed(self.ends[1]));
            forget(self.ends[0]);
            forget(self.ends[1]);
            end(&self);
        }
}
END_TEST

START_TEST(the_loop_of_an_end_may_go_first) {
    for (int runs = 0; runs < 3; runs++) {
        crossing self = joined(NULL);
        leat_embedded_limit_writes(self.ends[1], 1, 3);
        leat_embedded_feed_text(self.ends[0], "under way");
        for (int i = 0; i < runs; i++)
            leat_embedded_run(self.ends[1 - i]);
        leat_embedded_free(self.ends[1]);
        leat_embedded_feed_text(self.ends[0], "and more");
        leat_embedded_run(self.ends[0]);
        ck_assert(leat_embedded_is_closed(self.ends[0]));
        ck_assert_int_lt(leat_channel_error(channel_of(&self, 0)), 0);
        finish(self.ends[0]);
        leat_bridge_release(self.bridge);
    }
}
END_TEST

static void join_if_there_is_memory(crossing *self, int end) {
    leat_ctx_remove(leat_channel_find(channel_of(self, end), "collector"));
    if (leat_bridge_join(self->bridge, channel_of(self, end)) != 0)
        leat_bridge_end(self->bridge, LEAT_ENOMEM);
}

/* Both ways; what arrives is a beginning of what was sent. */
static int pass(crossing *self) {
    join_if_there_is_memory(self, 0);
    join_if_there_is_memory(self, 1);
    leat_embedded_feed_text(self->ends[0], "there");
    leat_embedded_feed_text(self->ends[1], "back");
    settle(self);
    const char *written = leat_embedded_written_text(self->ends[1]);
    bool torn = written && strncmp(written, "there", strlen(written)) != 0;
    for (int i = 0; i < 2; i++) {
        leat_embedded_finish(self->ends[i]);
        settle(self);
    }
    return torn ? LEAT_ECORRUPT : LEAT_OK;
}

static int pass_without_memory(leat_alloc *alloc, void *context) {
    (void)context;
    leat_embedded_options options = {.alloc = alloc};
    crossing self = {.bridge = leat_bridge_new()};
    for (int i = 0; i < 2; i++)
        self.ends[i] = leat_embedded_new_with(bare, &options, NULL);
    int code = self.ends[0] && self.ends[1] ? pass(&self) : LEAT_OK;
    leat_bridge_release(self.bridge); /* before the ledgers that know what waits in it */
    leat_embedded_free(self.ends[0]);
    leat_embedded_free(self.ends[1]);
    return code;
}

START_TEST(no_failed_allocation_leaks_or_corrupts) {
    leat_problem problem = {0};
    ck_assert_msg(leat_verify_oom(pass_without_memory, NULL, &problem) == 0, "%s", problem.text);
}
END_TEST

/* Lets the bridge's end be removed while a parcel passes. */
static void cut_write(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    leat_ctx *last = leat_channel_find(leat_ctx_channel(ctx), "bridge");
    if (last)
        leat_ctx_remove(last);
    leat_ctx_write(ctx, msg, done);
}

static const leat_handler cutter = {.name = "cutter", .write = cut_write};

START_TEST(a_handler_on_the_way_may_remove_the_bridge) {
    crossing self = make(NULL);
    ck_assert_int_eq(leat_channel_add_last(channel_of(&self, 1), &(leat_stage){.handler = &cutter}, NULL), 0);
    join(&self, 0);
    join(&self, 1);
    leat_embedded_feed_text(self.ends[0], "passes");
    leat_embedded_feed_text(self.ends[0], "dropped");
    settle(&self);
    ck_assert_str_eq(leat_embedded_written_text(self.ends[1]), "passes");
    ck_assert(leat_embedded_is_shut_down(self.ends[0]));
    end(&self);
}
END_TEST

int main(void) {
    return suite_run(
        "bridge",
        (const TTest *const[]){
            what_one_reads_the_other_writes_both_ways, bytes_are_held_where_they_were_read_until_they_are_written,
            who_joins_late_gets_what_was_read_before, the_answer_comes_back_after_the_question_ended,
            a_bridge_has_two_ends, a_place_stays_free_when_joining_failed,
            a_bridge_may_be_ended_before_the_second_channel_came, ends_die_in_every_way_with_anything_under_way,
            both_ends_die_in_every_order, no_failed_allocation_leaks_or_corrupts, the_loop_of_an_end_may_go_first,
            a_handler_on_the_way_may_remove_the_bridge, NULL});
}
