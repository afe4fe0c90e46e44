/* Ten typical mistakes of handler authors, and what the test kit tells them. */
#include "core/embedded.h"
#include "core/transport.h"
#include "core/verify.h"
#include "tests/support/suite.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void expect_report(leat_embedded *e, const char *words) {
    ck_assert_uint_gt(leat_embedded_finish(e), 0);
    ck_assert_msg(strstr(leat_embedded_report(e), words) != NULL, "%s", leat_embedded_report(e));
    leat_embedded_free(e);
}

static leat_embedded *with(const leat_handler *handler) {
    const leat_stage stages[] = {{handler}, {0}};
    return leat_embedded_new(stages);
}

static void forget(leat_ctx *ctx, leat_msg msg) {
    (void)ctx;
    (void)msg;
}

START_TEST(a_message_that_was_not_released_is_named_with_its_handler) {
    static const leat_handler forgetful = {.name = "forgetful", .read = forget};
    leat_embedded *e = with(&forgetful);
    leat_embedded_feed_text(e, "x");
    expect_report(e, "touched by forgetful");
}
END_TEST

static void release_twice(leat_ctx *ctx, leat_msg msg) {
    (void)ctx;
    leat_msg_release(msg);
    leat_bytebuf_release(leat_msg_bytebuf(msg));
}

START_TEST(a_second_release_names_both_places) {
    static const leat_handler twice = {.name = "twice", .read = release_twice};
    leat_embedded *e = with(&twice);
    leat_embedded_feed_text(e, "x");
    expect_report(e, "used again by twice at ");
}
END_TEST

static void read_after_passing_on(leat_ctx *ctx, leat_msg msg) {
    leat_ctx_fire_read(ctx, msg);
    uint8_t byte;
    leat_bytebuf_read_u8(leat_msg_bytebuf(msg), &byte);
}

START_TEST(a_use_after_passing_on_is_named) {
    static const leat_handler greedy = {.name = "greedy", .read = read_after_passing_on};
    const leat_stage stages[] = {{&greedy}, {0}};
    leat_embedded *e = leat_embedded_new_with(stages, &(leat_embedded_options){.hand_over = true}, NULL);
    leat_embedded_feed_text(e, "x");
    ck_assert_str_eq(leat_embedded_read_text(e), "x");
    expect_report(e, "used again by greedy");
}
END_TEST

static const leat_type number = {.name = "Number"};
static const leat_type *const numbers[] = {&number, NULL};

static void pass(leat_ctx *ctx, leat_msg msg) {
    leat_ctx_fire_read(ctx, msg);
}

START_TEST(a_wrong_neighbour_is_refused_when_the_pipeline_is_built) {
    static const leat_handler adder = {.name = "adder", .reads = numbers, .read = pass};
    static const leat_handler splitter = {.name = "splitter", .reads = leat_only_bytebuf, .read = pass};
    const leat_stage stages[] = {{&splitter}, {&adder}, {0}};
    leat_problem problem;
    ck_assert_ptr_null(leat_embedded_new_with(stages, NULL, &problem));
    ck_assert_str_eq(problem.text, "the transport fires a ByteBuf, which adder does not read");
}
END_TEST

static void fire_number(leat_ctx *ctx, leat_msg msg) {
    static int seven = 7;
    leat_msg_release(msg);
    leat_ctx_fire_read(ctx, leat_msg_of(&number, &seven));
}

START_TEST(a_message_of_the_wrong_type_is_stopped_and_named) {
    static const leat_handler liar = {.name = "liar", .read = fire_number};
    static const leat_handler strict = {.name = "strict", .reads = leat_only_bytebuf, .read = pass};
    const leat_stage stages[] = {{&liar}, {&strict}, {0}};
    leat_embedded *e = leat_embedded_new(stages);
    leat_embedded_feed_text(e, "x");
    ck_assert_int_eq(leat_embedded_take_error(e), LEAT_ETYPE);
    expect_report(e, "strict was given what it does not read: a Number");
}
END_TEST

static void remove_and_go_on(leat_ctx *ctx, leat_msg msg) {
    leat_ctx_remove(ctx);
    leat_ctx_write_copy(ctx, "bye", 3, NULL);
    *(int *)leat_state(ctx) = 7;
    leat_ctx_fire_read(ctx, msg);
}

START_TEST(going_on_after_removing_itself_is_no_mistake_here) {
    static const leat_handler hasty = {.name = "hasty", .state_size = sizeof(int), .read = remove_and_go_on};
    leat_embedded *e = with(&hasty);
    leat_embedded_feed_text(e, "x");
    ck_assert_str_eq(leat_embedded_written_text(e), "bye");
    ck_assert_str_eq(leat_embedded_read_text(e), "x");
    ck_assert_msg(leat_embedded_finish(e) == 0, "%s", leat_embedded_report(e));
    leat_embedded_free(e);
}
END_TEST

typedef struct again {
    leat_done done;
    leat_ctx *ctx;
    int left;
} again;

static void write_again(leat_done *done, int status) {
    again *self = (again *)(void *)done;
    if (status == LEAT_OK && self->left-- > 0)
        leat_ctx_write_copy(self->ctx, "+", 1, done);
}

static void write_from_completions(leat_ctx *ctx, leat_msg msg) {
    again *self = leat_state(ctx);
    *self = (again){.done = {.fn = write_again}, .ctx = ctx, .left = 100};
    leat_ctx_write(ctx, msg, &self->done);
}

START_TEST(writing_from_a_completion_neither_recurses_nor_loses) {
    static const leat_handler eager = {.name = "eager", .state_size = sizeof(again), .read = write_from_completions};
    leat_embedded *e = with(&eager);
    leat_embedded_feed_text(e, "x");
    ck_assert_uint_eq(strlen(leat_embedded_written_text(e)), 101);
    ck_assert_msg(leat_embedded_finish(e) == 0, "%s", leat_embedded_report(e));
    leat_embedded_free(e);
}
END_TEST

static void trust_length(leat_ctx *ctx, leat_msg msg) {
    leat_bytebuf *buf = leat_msg_bytebuf(msg);
    uint8_t length = 0;
    leat_bytebuf *body = NULL;
    if (leat_bytebuf_read_u8(buf, &length))
        body = leat_bytebuf_slice(buf, leat_bytebuf_reader_index(buf), length);
    leat_msg_release(msg);
    if (body)
        leat_ctx_fire_read(ctx, leat_msg_of_bytebuf(body));
    else
        leat_ctx_fire_error(ctx, LEAT_ERANGE);
}

START_TEST(a_trusted_length_never_reaches_memory_and_fails_the_verifier) {
    static const leat_handler trusting = {.name = "trusting", .read = trust_length};
    const leat_stage stages[] = {{&trusting}, {0}};
    leat_problem problem;
    const char *frames[] = {"abc", NULL};
    ck_assert_int_lt(leat_verify_decoder_text(stages, "\003abc", frames, &problem), 0);
    ck_assert_msg(strstr(problem.text, "frame 1 of 1 did not come") != NULL, "%s", problem.text);
}
END_TEST

static void *call_channel(void *channel) {
    leat_channel_close(channel);
    return NULL;
}

static void close_from_another_thread(leat_embedded *e) {
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, call_channel, leat_embedded_channel(e)), 0);
    pthread_join(thread, NULL);
}

START_TEST(a_call_from_another_thread_is_named) {
    leat_embedded *e = leat_embedded_new((const leat_stage[]){{0}});
    close_from_another_thread(e);
    expect_report(e, "a channel was used on another thread than its loop's");
}
END_TEST

#ifndef NDEBUG
/* What a process that does so writes to its standard error before it ends. */
static void read_last_words(char *words, size_t size) {
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        close_from_another_thread(
            leat_embedded_new_with((const leat_stage[]){{0}}, &(leat_embedded_options){.without_ledger = true}, NULL));
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t more = 1; more > 0 && length < size - 1; length += (size_t)more) {
        more = read(ends[0], words + length, size - 1 - length);
        ck_assert_int_ge(more, 0);
    }
    words[length] = '\0';
    close(ends[0]);
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

START_TEST(a_call_from_another_thread_stops_a_debug_build_without_a_ledger) {
    char words[1000];
    read_last_words(words, sizeof words);
    ck_assert_msg(strstr(words, "a channel may only be used on the thread of its loop"), "%s", words);
}
END_TEST
#endif

typedef struct keeper {
    leat_bytebuf *kept;
} keeper;

static void keep_first(leat_ctx *ctx, leat_msg msg) {
    keeper *self = leat_state(ctx);
    leat_bytebuf *buf = leat_msg_bytebuf(msg);
    if (!self->kept)
        self->kept = leat_bytebuf_slice(buf, leat_bytebuf_reader_index(buf), 10);
    leat_msg_release(msg);
}

static void keeper_removed(leat_ctx *ctx) {
    leat_bytebuf_release(((keeper *)leat_state(ctx))->kept);
}

START_TEST(a_small_slice_that_keeps_a_large_block_is_named) {
    static const leat_handler hoarder = {
        .name = "hoarder", .state_size = sizeof(keeper), .removed = keeper_removed, .read = keep_first};
    leat_embedded *e = with(&hoarder);
    static char large[50000];
    leat_embedded_feed(e, large, sizeof large);
    expect_report(e, "hoarder keeps 10 bytes of a block of ");
}
END_TEST

static void hold_all(leat_ctx *ctx, leat_msg msg) {
    keeper *self = leat_state(ctx);
    leat_bytebuf_release(self->kept);
    self->kept = leat_msg_bytebuf(msg);
    leat_ctx_hold(ctx, leat_bytebuf_readable(self->kept));
}

START_TEST(forgotten_leftovers_are_named) {
    static const leat_handler loser = {
        .name = "loser", .state_size = sizeof(keeper), .removed = keeper_removed, .read = hold_all};
    leat_embedded *e = with(&loser);
    leat_embedded_feed_text(e, "rest");
    leat_loop_enter(leat_embedded_loop(e));
    leat_ctx_remove(leat_channel_find(leat_embedded_channel(e), "loser"));
    leat_loop_leave(leat_embedded_loop(e));
    expect_report(e, "loser was removed while it held bytes");
}
END_TEST

int main(void) {
    return suite_run("mistakes",
                     (const TTest *const[]){a_message_that_was_not_released_is_named_with_its_handler,
                                            a_second_release_names_both_places, a_use_after_passing_on_is_named,
                                            a_wrong_neighbour_is_refused_when_the_pipeline_is_built,
                                            a_message_of_the_wrong_type_is_stopped_and_named,
                                            going_on_after_removing_itself_is_no_mistake_here,
                                            writing_from_a_completion_neither_recurses_nor_loses,
                                            a_trusted_length_never_reaches_memory_and_fails_the_verifier,
                                            a_small_slice_that_keeps_a_large_block_is_named,
                                            forgotten_leftovers_are_named, a_call_from_another_thread_is_named,
#ifndef NDEBUG
                                            a_call_from_another_thread_stops_a_debug_build_without_a_ledger,
#endif
                                            NULL});
}
