/* Loops on threads: beginning, end, posts. */
#include "tests/support/suite.h"
#include "transports/loops.h"

#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>

enum { LOOPS = 4, POSTERS = 2, POSTS = 5000 };

/* What `begin` and `end` saw, each on its own thread. */
typedef struct seen {
    pthread_t thread[LOOPS];
    char name[LOOPS][16];
    leat_loop *loop[LOOPS];
    size_t begun, ended; /* atomic */
    size_t fails;        /* the index whose `begin` fails, counted from 1 */
} seen;

static int begin(void *context, leat_loop *loop, size_t index) {
    seen *self = context;
    self->thread[index] = pthread_self();
    self->loop[index] = loop;
    prctl(PR_GET_NAME, self->name[index]);
    if (self->fails == index + 1)
        return LEAT_EREFUSED;
    __atomic_fetch_add(&self->begun, 1, __ATOMIC_RELAXED);
    return 0;
}

static void end(void *context, leat_loop *loop, size_t index) {
    seen *self = context;
    ck_assert(pthread_equal(self->thread[index], pthread_self()));
    ck_assert_ptr_eq(self->loop[index], loop);
    __atomic_fetch_add(&self->ended, 1, __ATOMIC_RELAXED);
}

static leat_loops *make(seen *saw) {
    const leat_loops_options options = {
        .count = LOOPS, .name = "loop", .begin = saw ? begin : NULL, .end = saw ? end : NULL, .context = saw};
    leat_loops *loops = NULL;
    leat_problem problem = {0};
    ck_assert_msg(leat_loops_new(&options, &loops, &problem) == 0, "%s", problem.text);
    return loops;
}

static leat_loops *start(seen *saw) {
    leat_loops *loops = make(saw);
    leat_problem problem = {0};
    ck_assert_msg(leat_loops_start(loops, &problem) == 0, "%s", problem.text);
    return loops;
}

START_TEST(each_loop_runs_on_a_named_thread_of_its_own) {
    seen saw = {0};
    leat_loops *loops = start(&saw);
    ck_assert_uint_eq(leat_loops_count(loops), LOOPS);
    ck_assert_uint_eq(saw.begun, LOOPS);
    for (size_t i = 0; i < LOOPS; i++) {
        char name[16];
        snprintf(name, sizeof name, "loop-%zu", i);
        ck_assert_str_eq(saw.name[i], name);
        ck_assert_ptr_eq(saw.loop[i], leat_loops_at(loops, i));
        for (size_t j = 0; j < i; j++)
            ck_assert(!pthread_equal(saw.thread[i], saw.thread[j]));
    }
    ck_assert_ptr_null(leat_loops_at(loops, LOOPS));
    ck_assert_int_eq(leat_loops_stop(loops), 0);
    ck_assert_uint_eq(saw.ended, LOOPS);
    leat_loops_release(loops);
}
END_TEST

START_TEST(loops_are_given_out_in_turn) {
    leat_loops *loops = make(NULL);
    for (size_t i = 0; i < (size_t)3 * LOOPS; i++)
        ck_assert_ptr_eq(leat_loops_next(loops), leat_loops_at(loops, i % LOOPS));
    leat_loops_release(loops);
}
END_TEST

START_TEST(without_options_there_is_a_loop_for_each_processor) {
    leat_loops *loops = NULL;
    ck_assert_int_eq(leat_loops_new(NULL, &loops, NULL), 0);
    ck_assert_uint_ge(leat_loops_count(loops), 1);
    ck_assert_int_eq(leat_loops_start(loops, NULL), 0);
    leat_loops_release(loops);
    leat_loops_release(NULL);
}
END_TEST

START_TEST(a_begin_that_fails_ends_the_start_and_what_had_begun) {
    for (size_t fails = 1; fails <= LOOPS; fails++) {
        seen saw = {.fails = fails};
        leat_loops *loops = make(&saw);
        leat_problem problem = {0};
        ck_assert_int_eq(leat_loops_start(loops, &problem), LEAT_EREFUSED);
        ck_assert_str_eq(problem.text, "cannot start the loops: refused");
        ck_assert_uint_eq(saw.begun, LOOPS - 1);
        ck_assert_uint_eq(saw.ended, saw.begun);
        leat_loops_release(loops);
    }
}
END_TEST

START_TEST(what_cannot_be_made_or_started_says_why) {
    leat_loops *loops = NULL;
    leat_problem problem = {0};
    ck_assert_int_eq(leat_loops_new(&(leat_loops_options){.count = 1025}, &loops, &problem), LEAT_EINVAL);
    ck_assert_str_eq(problem.text, "1025 loops are too many, 1024 are the most");
    ck_assert_ptr_null(loops);
    ck_assert_int_eq(leat_loops_new(&(leat_loops_options){.count = 2, .stack_size = 1}, &loops, NULL), 0);
    ck_assert_int_eq(leat_loops_start(loops, &problem), -EINVAL); /* what pthread says of a stack of one byte */
    ck_assert_int_eq(leat_loops_start(loops, NULL), LEAT_EINVAL);
    leat_loops_release(loops);
    loops = start(NULL);
    ck_assert_int_eq(leat_loops_start(loops, NULL), LEAT_EINVAL);
    leat_loops_release(loops);
    loops = make(NULL);
    leat_loops_request_stop(loops);
    ck_assert_int_eq(leat_loops_start(loops, NULL), LEAT_ECLOSED);
    leat_loops_release(loops);
}
END_TEST

static void *stop(void *argument) {
    ck_assert_int_eq(leat_loops_stop(argument), 0);
    return NULL;
}

START_TEST(stopping_twice_and_from_two_threads_is_fine) {
    seen saw = {0};
    leat_loops *loops = start(&saw);
    pthread_t other;
    pthread_create(&other, NULL, stop, loops);
    ck_assert_int_eq(leat_loops_stop(loops), 0);
    ck_assert_uint_eq(__atomic_load_n(&saw.ended, __ATOMIC_RELAXED), LOOPS);
    pthread_join(other, NULL);
    ck_assert_int_eq(leat_loops_stop(loops), 0);
    ck_assert_int_eq(leat_loops_join(loops), 0);
    leat_loops_release(loops);
}
END_TEST

/* What a task on one of the loops' threads tries. */
typedef struct insider {
    leat_task task;
    leat_loops *loops;
    int codes[3];
    bool request;
} insider;

static void try_from_inside(leat_task *task, int status) {
    insider *self = (insider *)(void *)task;
    ck_assert_int_eq(status, 0);
    self->codes[0] = leat_loops_stop(self->loops);
    self->codes[1] = leat_loops_join(self->loops);
    self->codes[2] = leat_loops_start(self->loops, NULL);
    if (self->request)
        leat_loops_request_stop(self->loops);
    else
        leat_loop_stop(leat_loops_at(self->loops, 2));
}

START_TEST(their_own_threads_may_ask_for_the_end_but_not_wait_for_it) {
    seen saw = {0};
    leat_loops *loops = start(&saw);
    insider task = {.task.fn = try_from_inside, .loops = loops, .request = true};
    leat_loop_post(leat_loops_at(loops, 1), &task.task);
    ck_assert_int_eq(leat_loops_join(loops), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(task.codes[i], LEAT_EINVAL);
    ck_assert_uint_eq(saw.ended, LOOPS);
    leat_loops_release(loops);
}
END_TEST

static void note_status(leat_task *task, int status) {
    task->bytes = (uint64_t)-status; /* its memory is ours again */
}

START_TEST(one_loop_may_end_alone_and_tells_who_posts_to_it) {
    seen saw = {0};
    leat_loops *loops = start(&saw);
    insider task = {.task.fn = try_from_inside, .loops = loops};
    leat_loop_post(leat_loops_at(loops, 1), &task.task);
    while (__atomic_load_n(&saw.ended, __ATOMIC_ACQUIRE) == 0)
        sched_yield();
    ck_assert_uint_eq(__atomic_load_n(&saw.ended, __ATOMIC_ACQUIRE), 1);
    ck_assert_int_eq(leat_loops_stop(loops), 0);
    for (size_t i = 0; i < LOOPS; i++) {
        leat_task late = {.fn = note_status};
        leat_loop_post(leat_loops_at(loops, i), &late);
        ck_assert_uint_eq(late.bytes, (uint64_t)-LEAT_ECLOSED);
    }
    leat_loops_release(loops);
}
END_TEST

/* Posts to all loops while they are stopped. */
typedef struct storm {
    leat_loops *loops;
    size_t posted; /* atomic */
    struct drop {
        leat_task task;
        int runs;
    } drops[POSTS];
} storm;

static void count(leat_task *task, int status) {
    ck_assert(status == 0 || status == LEAT_ECLOSED);
    ((struct drop *)(void *)task)->runs++;
}

static void *post_all(void *argument) {
    storm *self = argument;
    for (size_t i = 0; i < POSTS; i++) {
        self->drops[i].task.fn = count;
        leat_loop_post(leat_loops_next(self->loops), &self->drops[i].task);
        __atomic_store_n(&self->posted, i + 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

START_TEST(every_post_completes_once_however_the_loops_end) {
    static storm storms[POSTERS];
    pthread_t threads[POSTERS];
    leat_loops *loops = start(NULL);
    for (int i = 0; i < POSTERS; i++) {
        storms[i].loops = loops;
        pthread_create(&threads[i], NULL, post_all, &storms[i]);
    }
    while (__atomic_load_n(&storms[0].posted, __ATOMIC_RELAXED) < POSTS / 3)
        sched_yield();
    ck_assert_int_eq(leat_loops_stop(loops), 0);
    for (int i = 0; i < POSTERS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < POSTS; i++)
        ck_assert(storms[0].drops[i].runs == 1 && storms[1].drops[i].runs == 1);
    leat_loops_release(loops);
}
END_TEST

int main(void) {
    return suite_run("loops", (const TTest *const[]){
                                  each_loop_runs_on_a_named_thread_of_its_own, loops_are_given_out_in_turn,
                                  without_options_there_is_a_loop_for_each_processor,
                                  a_begin_that_fails_ends_the_start_and_what_had_begun,
                                  what_cannot_be_made_or_started_says_why, stopping_twice_and_from_two_threads_is_fine,
                                  their_own_threads_may_ask_for_the_end_but_not_wait_for_it,
                                  one_loop_may_end_alone_and_tells_who_posts_to_it,
                                  every_post_completes_once_however_the_loops_end, NULL});
}
