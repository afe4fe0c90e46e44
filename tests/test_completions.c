/* Completions: each write's comes once, in order, with what became of it, whoever ended the write. */
#include "core/transport.h"
#include "core/verify.h"
#include "tests/support/record.h"

/* A bare channel, and a recorder for its completions. */
typedef struct stand {
    leat_recorder *recorder;
    leat_embedded *e;
    leat_channel *channel;
} stand;

static stand stand_with(const leat_embedded_options *options) {
    stand s = {.recorder = leat_recorder_new(leat_unpooled())};
    s.e = leat_embedded_new_with((const leat_stage[]){{0}}, options, NULL);
    ck_assert_ptr_nonnull(s.e);
    s.channel = leat_embedded_channel(s.e);
    return s;
}

static void end_stand(stand *s) {
    while (leat_embedded_take_error(s->e) != 0)
        continue;
    finish(s->e);
    leat_recorder_free(s->recorder);
}

static void expect_lines(const stand *s, const char *lines) {
    ck_assert_str_eq(leat_recorder_take(s->recorder), lines);
}

static void write_as(const stand *s, const char *text, const char *name) {
    leat_embedded_write(s->e, text_msg(s->e, text), leat_recorder_done(s->recorder, name));
}

/* Three writes of which the first is half taken. */
static stand with_three_queued(void) {
    stand s = stand_with(NULL);
    leat_embedded_limit_writes(s.e, SIZE_MAX, 2);
    write_as(&s, "1111", "first");
    write_as(&s, "2222", "second");
    write_as(&s, "3333", "third");
    expect_lines(&s, "");
    return s;
}

START_TEST(writes_that_are_taken_piece_by_piece_complete_in_order_each_with_its_last_byte) {
    enum { LENGTH = 300 };
    char text[LENGTH + 1] = "";
    memset(text, 'x', LENGTH);
    stand s = stand_with(NULL);
    leat_embedded_limit_writes(s.e, SIZE_MAX, 0);
    write_as(&s, text, "first");
    write_as(&s, text, "second");
    write_as(&s, text, "third");
    leat_embedded_allow_writes(s.e, LENGTH - 1);
    expect_lines(&s, "");
    leat_embedded_allow_writes(s.e, LENGTH + 1);
    expect_lines(&s, "first done LEAT_OK\nsecond done LEAT_OK\n");
    leat_embedded_allow_writes(s.e, LENGTH);
    expect_lines(&s, "third done LEAT_OK\n");
    ck_assert_uint_eq(strlen(leat_embedded_written_text(s.e)), 3 * LENGTH);
    end_stand(&s);
}
END_TEST

START_TEST(small_writes_that_were_merged_complete_together_in_order) {
    stand s = with_three_queued();
    leat_embedded_allow_writes(s.e, 2);
    expect_lines(&s, "first done LEAT_OK\n");
    leat_embedded_allow_writes(s.e, 8);
    expect_lines(&s, "second done LEAT_OK\nthird done LEAT_OK\n");
    ck_assert_str_eq(leat_embedded_written_text(s.e), "111122223333");
    end_stand(&s);
}
END_TEST

static void abort_with(stand *s, int code) {
    leat_loop_enter(leat_embedded_loop(s->e));
    leat_channel_abort(s->channel, code);
    leat_loop_leave(leat_embedded_loop(s->e));
}

START_TEST(an_abort_ends_what_is_queued_with_its_code_in_order) {
    stand s = with_three_queued();
    abort_with(&s, LEAT_EREFUSED);
    expect_lines(&s, "first done LEAT_EREFUSED\nsecond done LEAT_EREFUSED\nthird done LEAT_EREFUSED\n");
    leat_embedded_written_text(s.e);
    end_stand(&s);
}
END_TEST

START_TEST(a_reset_ends_what_is_queued_with_the_reset) {
    stand s = with_three_queued();
    leat_embedded_break(s.e, LEAT_ERESET);
    expect_lines(&s, "first done LEAT_ERESET\nsecond done LEAT_ERESET\nthird done LEAT_ERESET\n");
    leat_embedded_written_text(s.e);
    end_stand(&s);
}
END_TEST

START_TEST(the_close_timeout_ends_what_could_not_be_sent) {
    stand s = with_three_queued();
    leat_embedded_close(s.e);
    write_as(&s, "late", "late");
    expect_lines(&s, "late done LEAT_ECLOSED\n");
    leat_embedded_advance(s.e, 5000);
    expect_lines(&s, "first done LEAT_ETIMEDOUT\nsecond done LEAT_ETIMEDOUT\nthird done LEAT_ETIMEDOUT\n");
    ck_assert(leat_embedded_is_closed(s.e));
    leat_embedded_written_text(s.e);
    end_stand(&s);
}
END_TEST

START_TEST(a_graceful_close_completes_what_was_queued_with_success) {
    stand s = with_three_queued();
    leat_embedded_close(s.e);
    leat_embedded_allow_writes(s.e, UINT64_MAX);
    expect_lines(&s, "first done LEAT_OK\nsecond done LEAT_OK\nthird done LEAT_OK\n");
    ck_assert_str_eq(leat_embedded_written_text(s.e), "111122223333");
    end_stand(&s);
}
END_TEST

START_TEST(the_hard_cap_ends_the_write_that_crosses_it_and_then_the_queued_ones) {
    stand s = stand_with(&(leat_embedded_options){.channel.write_limit = 200});
    leat_embedded_limit_writes(s.e, 1, 0);
    write_as(&s, "fits", "first");
    char large[201];
    memset(large, 'x', sizeof large);
    large[200] = '\0';
    write_as(&s, large, "second");
    expect_lines(&s, "second done LEAT_ELIMIT\nfirst done LEAT_ELIMIT\n");
    ck_assert(leat_embedded_is_closed(s.e));
    end_stand(&s);
}
END_TEST

START_TEST(writes_to_a_channel_that_is_gone_complete_and_are_released) {
    stand s = stand_with(NULL);
    abort_with(&s, 0);
    write_as(&s, "late", "late");
    expect_lines(&s, "late done LEAT_EABORTED\n");
    stand other = stand_with(NULL);
    leat_embedded_feed_eof(other.e);
    write_as(&other, "late", "late");
    expect_lines(&other, "late done LEAT_ECLOSED\n");
    end_stand(&other);
    end_stand(&s);
}
END_TEST

START_TEST(what_is_written_before_the_connection_stands_waits_and_fails_with_it) {
    stand s = stand_with(&(leat_embedded_options){.not_connected = true});
    write_as(&s, "early", "early");
    expect_lines(&s, "");
    leat_embedded_connect(s.e);
    expect_lines(&s, "early done LEAT_OK\n");
    ck_assert_str_eq(leat_embedded_written_text(s.e), "early");
    stand never = stand_with(&(leat_embedded_options){.not_connected = true});
    write_as(&never, "early", "early");
    leat_embedded_break(never.e, LEAT_EREFUSED);
    expect_lines(&never, "early done LEAT_EREFUSED\n");
    end_stand(&never);
    end_stand(&s);
}
END_TEST

static void write_more(leat_ctx *ctx, void *argument) {
    (void)ctx;
    stand *s = argument;
    leat_channel_write(s->channel, text_msg(s->e, "dddd"), leat_recorder_done(s->recorder, "fourth"));
    leat_channel_flush(s->channel);
}

START_TEST(a_completion_that_writes_and_flushes_sends_nothing_twice) {
    stand s = with_three_queued();
    leat_recorder_when(s.recorder, "first done", write_more, &s);
    leat_embedded_allow_writes(s.e, UINT64_MAX);
    expect_lines(&s, "first done LEAT_OK\nsecond done LEAT_OK\nthird done LEAT_OK\nfourth done LEAT_OK\n");
    ck_assert_str_eq(leat_embedded_written_text(s.e), "111122223333dddd");
    ck_assert_uint_eq(leat_channel_pending(s.channel), 0);
    end_stand(&s);
}
END_TEST

/* Writes that count how often they completed, on a channel whatever happens to it. */
typedef struct tally {
    leat_done done;
    int runs, last;
} tally;

static void count_run(leat_done *done, int status) {
    ((tally *)(void *)done)->runs++;
    ((tally *)(void *)done)->last = status;
}

enum { WRITES = 6 };

static void write_all(leat_embedded *e, leat_alloc *alloc, tally *all, int *given) {
    leat_loop_enter(leat_embedded_loop(e));
    for (int i = 0; i < WRITES; i++) {
        leat_bytebuf *buf = leat_bytebuf_from_text(alloc, i % 2 ? "small" : "also small");
        if (!buf)
            continue;
        all[i] = (tally){.done.fn = count_run};
        leat_channel_write(leat_embedded_channel(e), leat_msg_of_bytebuf(buf), &all[i].done);
        all[i].last = all[i].runs ? all[i].last : 1;
        *given |= 1 << i;
    }
    leat_loop_leave(leat_embedded_loop(e));
}

static int write_without_memory(leat_alloc *alloc, void *context) {
    (void)context;
    leat_embedded_options options = {.alloc = alloc, .without_ledger = true};
    leat_embedded *e = leat_embedded_new_with((const leat_stage[]){{0}}, &options, NULL);
    if (!e)
        return LEAT_OK;
    tally all[WRITES] = {{{0}}};
    int given = 0;
    leat_embedded_limit_writes(e, 7, 30);
    write_all(e, alloc, all, &given);
    leat_embedded_allow_writes(e, UINT64_MAX);
    leat_embedded_free(e);
    for (int i = 0; i < WRITES; i++)
        if (all[i].runs != ((given >> i) & 1))
            return LEAT_ECORRUPT;
    return LEAT_OK;
}

START_TEST(without_memory_each_write_still_completes_once) {
    leat_problem problem = {0};
    ck_assert_msg(leat_verify_oom(write_without_memory, NULL, &problem) == LEAT_OK, "%s", problem.text);
}
END_TEST

START_TEST(what_is_pending_is_what_is_queued_whatever_is_written_taken_or_failed) {
    for (unsigned seed = 1; seed <= 50; seed++) {
        leat_embedded *e = leat_embedded_new((const leat_stage[]){{0}});
        unsigned dice = seed;
        uint64_t given = 0, sent = 0;
        leat_embedded_limit_writes(e, 5, 0);
        for (int i = 0; i < 100; i++) {
            dice = dice * 1103515245u + 12345u;
            char text[300] = "";
            size_t length = (dice >> 8) % sizeof text;
            memset(text, 'x', length ? length - 1 : 0);
            leat_embedded_write_text(e, text);
            given += strlen(text);
            leat_embedded_allow_writes(e, (dice >> 20) % 300);
            sent += strlen(leat_embedded_written_text(e));
            ck_assert_msg(leat_channel_pending(leat_embedded_channel(e)) == given - sent, "seed %u, step %d", seed, i);
        }
        leat_embedded_break(e, LEAT_ERESET);
        leat_embedded_take_error(e);
        ck_assert_uint_eq(leat_channel_pending(leat_embedded_channel(e)), 0);
        finish(e);
    }
}
END_TEST

int main(void) {
    return suite_run(
        "completions",
        (const TTest *const[]){
            writes_that_are_taken_piece_by_piece_complete_in_order_each_with_its_last_byte,
            small_writes_that_were_merged_complete_together_in_order,
            an_abort_ends_what_is_queued_with_its_code_in_order, a_reset_ends_what_is_queued_with_the_reset,
            the_close_timeout_ends_what_could_not_be_sent, a_graceful_close_completes_what_was_queued_with_success,
            the_hard_cap_ends_the_write_that_crosses_it_and_then_the_queued_ones,
            writes_to_a_channel_that_is_gone_complete_and_are_released,
            what_is_written_before_the_connection_stands_waits_and_fails_with_it,
            a_completion_that_writes_and_flushes_sends_nothing_twice, without_memory_each_write_still_completes_once,
            what_is_pending_is_what_is_queued_whatever_is_written_taken_or_failed, NULL});
}
