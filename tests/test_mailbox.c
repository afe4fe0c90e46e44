/* Mailboxes: a million posts of each of two threads, no lost wake-up, posts to a loop that is gone. */
#include "core/transport.h"
#include "tests/support/suite.h"
#include "transports/evloop.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { POSTS = 1000000, POSTERS = 2, TASKS = 1024, ROUNDS = 20000 };

/* A loop that sleeps on a condition: the mailbox without any system call of a back end. */
typedef struct sleeper {
    leat_loop loop;
    pthread_mutex_t lock;
    pthread_cond_t woken;
    bool awake;
} sleeper;

static uint64_t sleeper_now(leat_loop *loop) {
    (void)loop;
    return 0;
}

static int sleeper_wait(leat_loop *loop, uint64_t deadline) {
    sleeper *self = (sleeper *)loop;
    if (deadline == 0)
        return LEAT_OK;
    pthread_mutex_lock(&self->lock);
    while (!self->awake)
        pthread_cond_wait(&self->woken, &self->lock);
    self->awake = false;
    pthread_mutex_unlock(&self->lock);
    return LEAT_OK;
}

static void sleeper_wake(leat_loop *loop) {
    sleeper *self = (sleeper *)loop;
    pthread_mutex_lock(&self->lock);
    self->awake = true;
    pthread_cond_signal(&self->woken);
    pthread_mutex_unlock(&self->lock);
}

static void sleeper_destroy(leat_loop *loop) {
    free(loop);
}

static leat_loop *sleeper_new(void) {
    static const leat_loop_ops ops = {
        .now = sleeper_now, .wait = sleeper_wait, .wake = sleeper_wake, .destroy = sleeper_destroy};
    sleeper *self = calloc(1, sizeof *self);
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->woken, NULL);
    ck_assert_int_eq(leat_loop_init(&self->loop, &ops, leat_unpooled()), LEAT_OK);
    return &self->loop;
}

static leat_loop *evloop_new(void) {
    leat_loop *loop = leat_evloop_new(NULL);
    ck_assert_ptr_nonnull(loop);
    return loop;
}

static void on_both_loops(void (*check)(leat_loop *(*make)(void))) {
    check(sleeper_new);
    check(evloop_new);
}

/* A thread that posts numbers, by tasks that it uses again and again. */
typedef struct numbered {
    leat_task task;
    struct poster *poster;
    size_t number;
} numbered;

typedef struct poster {
    pthread_t thread;
    leat_loop *loop;
    size_t *left; /* posts of all posters that are still to come */
    size_t ran;   /* atomic: so many of its tasks ran */
    bool in_order;
    numbered tasks[TASKS];
} poster;

static void arrive(leat_task *task, int status) {
    numbered *self = (numbered *)(void *)task;
    poster *from = self->poster;
    from->in_order &= status == LEAT_OK && self->number == from->ran;
    if (--*from->left == 0)
        leat_loop_stop(from->loop);
    __atomic_store_n(&from->ran, from->ran + 1, __ATOMIC_RELEASE);
}

static void *post_all(void *argument) {
    poster *self = argument;
    for (size_t i = 0; i < POSTS; i++) {
        while (i - __atomic_load_n(&self->ran, __ATOMIC_ACQUIRE) >= TASKS)
            sched_yield();
        numbered *one = &self->tasks[i % TASKS];
        *one = (numbered){.task = {.fn = arrive, .bytes = 100}, .poster = self, .number = i};
        leat_loop_post(self->loop, &one->task);
    }
    return NULL;
}

static void check_million(leat_loop *(*make)(void)) {
    static poster posters[POSTERS];
    leat_loop *loop = make();
    size_t left = (size_t)POSTS * POSTERS;
    for (int i = 0; i < POSTERS; i++) {
        posters[i] = (poster){.loop = loop, .left = &left, .in_order = true};
        pthread_create(&posters[i].thread, NULL, post_all, &posters[i]);
    }
    ck_assert_int_eq(leat_loop_run(loop), LEAT_OK);
    for (int i = 0; i < POSTERS; i++) {
        pthread_join(posters[i].thread, NULL);
        ck_assert(posters[i].in_order);
        ck_assert_uint_eq(posters[i].ran, POSTS);
    }
    ck_assert_uint_eq(leat_loop_statistics(loop).tasks, POSTS * POSTERS);
    leat_loop_release(loop);
}

START_TEST(a_million_posts_of_each_of_two_threads_arrive_in_order) {
    on_both_loops(check_million);
}
END_TEST

/* Posts one task, waits until it ran, and again: each post meets a loop that sleeps, or is about to. */
typedef struct caller {
    leat_task task;
    leat_loop *loop;
    size_t ran; /* atomic */
} caller;

static void answer(leat_task *task, int status) {
    caller *self = (caller *)(void *)task;
    (void)status;
    __atomic_fetch_add(&self->ran, 1, __ATOMIC_RELEASE);
}

static void *call_and_wait(void *argument) {
    caller *self = argument;
    for (size_t i = 0; i < ROUNDS; i++) {
        leat_loop_post(self->loop, &self->task);
        while (__atomic_load_n(&self->ran, __ATOMIC_ACQUIRE) == i)
            sched_yield();
    }
    leat_loop_stop(self->loop);
    return NULL;
}

static void check_wake_ups(leat_loop *(*make)(void)) {
    leat_loop *loop = make();
    caller one = {.task.fn = answer, .loop = loop};
    pthread_t thread;
    pthread_create(&thread, NULL, call_and_wait, &one);
    ck_assert_int_eq(leat_loop_run(loop), LEAT_OK);
    pthread_join(thread, NULL);
    ck_assert_uint_eq(one.ran, ROUNDS);
    leat_loop_release(loop);
}

START_TEST(no_wake_up_of_a_sleeping_loop_is_lost) {
    on_both_loops(check_wake_ups);
}
END_TEST

typedef struct outcome {
    leat_task task;
    int runs, status;
} outcome;

static void note(leat_task *task, int status) {
    outcome *self = (outcome *)(void *)task;
    self->runs++;
    self->status = status;
}

static void check_gone(leat_loop *(*make)(void)) {
    leat_loop *loop = make();
    leat_mailbox *mailbox = leat_mailbox_retain(leat_loop_mailbox(loop));
    outcome before = {.task = {.fn = note}}, after = {.task = {.fn = note}};
    leat_mailbox_post(mailbox, &before.task);
    leat_loop_release(loop);
    leat_mailbox_post(mailbox, &after.task);
    ck_assert_int_eq(before.runs, 1);
    ck_assert_int_eq(before.status, LEAT_ECLOSED);
    ck_assert_int_eq(after.runs, 1);
    ck_assert_int_eq(after.status, LEAT_ECLOSED);
    leat_mailbox_release(mailbox);
}

START_TEST(a_post_to_a_loop_that_is_gone_completes_with_closed) {
    on_both_loops(check_gone);
}
END_TEST

/* Posts on, whatever becomes of the loop. */
typedef struct stubborn {
    pthread_t thread;
    leat_mailbox *mailbox;
    size_t begun; /* atomic */
    outcome posts[TASKS];
} stubborn;

static void *post_stubbornly(void *argument) {
    stubborn *self = argument;
    for (size_t i = 0; i < TASKS; i++) {
        self->posts[i].task.fn = note;
        leat_mailbox_post(self->mailbox, &self->posts[i].task);
        __atomic_store_n(&self->begun, i + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void check_going(leat_loop *(*make)(void)) {
    static stubborn posters[POSTERS];
    for (size_t round = 0; round < 50; round++) {
        leat_loop *loop = make();
        leat_mailbox *mailbox = leat_mailbox_retain(leat_loop_mailbox(loop));
        for (int i = 0; i < POSTERS; i++) {
            posters[i] = (stubborn){.mailbox = mailbox};
            pthread_create(&posters[i].thread, NULL, post_stubbornly, &posters[i]);
        }
        while (__atomic_load_n(&posters[0].begun, __ATOMIC_ACQUIRE) < round)
            leat_loop_run_due(loop);
        leat_loop_release(loop);
        size_t once = 0;
        for (int i = 0; i < POSTERS; i++)
            pthread_join(posters[i].thread, NULL);
        for (size_t i = 0; i < (size_t)TASKS * POSTERS; i++)
            once += posters[i % POSTERS].posts[i / POSTERS].runs == 1;
        ck_assert_uint_eq(once, TASKS * POSTERS);
        leat_mailbox_release(mailbox);
    }
}

START_TEST(a_loop_may_go_while_two_threads_post_to_it) {
    on_both_loops(check_going);
}
END_TEST

static void check_bound(leat_loop *(*make)(void)) {
    leat_loop *loop = make();
    outcome first = {.task = {.fn = note, .bytes = 40 << 20}}, second = {.task = {.fn = note, .bytes = 40 << 20}};
    leat_loop_post(loop, &first.task);
    leat_loop_post(loop, &second.task);
    ck_assert_int_eq(first.runs, 0);
    ck_assert_int_eq(second.status, LEAT_ELIMIT);
    second.task.bytes = UINT64_MAX;
    leat_loop_post(loop, &second.task);
    ck_assert_int_eq(second.status, LEAT_ELIMIT);
    leat_loop_run_due(loop);
    ck_assert_int_eq(first.status, LEAT_OK);
    second.task.bytes = 64 << 20;
    leat_loop_post(loop, &second.task);
    ck_assert_int_eq(second.runs, 2);
    leat_loop_release(loop);
    ck_assert_int_eq(second.runs, 3);
}

START_TEST(a_mailbox_refuses_what_crosses_its_bound) {
    on_both_loops(check_bound);
}
END_TEST

int main(void) {
    return suite_run("mailbox", (const TTest *const[]){a_million_posts_of_each_of_two_threads_arrive_in_order,
                                                       no_wake_up_of_a_sleeping_loop_is_lost,
                                                       a_post_to_a_loop_that_is_gone_completes_with_closed,
                                                       a_loop_may_go_while_two_threads_post_to_it,
                                                       a_mailbox_refuses_what_crosses_its_bound, NULL});
}
