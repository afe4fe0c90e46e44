/** What posting to a loop costs from two threads, against a hand-written queue that wakes by an eventfd. */
#define _GNU_SOURCE /* eventfd, sem_t */

#include "bench/clock.h"
#include "bench/suites.h"
#include "transports/evloop.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { POSTERS = 2, TASKS = 8192, POSTS = 10000, LINE = 64 };

/* A node of the hand-written queue. */
typedef struct node {
    struct node *next;
} node;

typedef struct post_state post_state;

/* What is posted; `from` is the poster's, who may use it again when it ran. */
typedef struct errand {
    leat_task task;
    node node;
    struct poster *from;
    uint64_t number;
} errand;

typedef struct poster {
    post_state *state;
    pthread_t thread;
    sem_t begin;
    uint64_t times; /* posts to make; 0 = end */
    char apart[LINE];
    uint64_t ran; /* atomic: so many errands of this round ran */
    char apart_too[LINE];
    errand errands[TASKS];
} poster;

/* Many producers push, one consumer takes; `asleep` tells the producers that it waits at the eventfd. */
typedef struct mpsc {
    node *head;
    char apart[LINE];
    node *tail;
    node sentinel;
    int asleep;
    int wake;
} mpsc;

struct post_state {
    leat_alloc *alloc;
    leat_loop *loop;
    mpsc queue;
    void (*post)(post_state *state, errand *one);
    void (*consume)(post_state *state);
    uint64_t left; /* errands that are still to run */
    uint64_t sum;  /* of the numbers of those that ran */
    poster posters[POSTERS];
};

/* The posters. */

static void post_round(poster *self) {
    for (uint64_t i = 0; i < self->times; i++) {
        while (i - __atomic_load_n(&self->ran, __ATOMIC_ACQUIRE) >= TASKS)
            sched_yield();
        errand *one = &self->errands[i % TASKS];
        one->number = i;
        self->state->post(self->state, one);
    }
}

static void *post_rounds(void *argument) {
    poster *self = argument;
    for (;;) {
        sem_wait(&self->begin);
        if (self->times == 0)
            return NULL;
        post_round(self);
    }
}

/* An errand does next to nothing: what is measured is how it gets there. */
static void run_errand(errand *one) {
    post_state *state = one->from->state;
    state->sum += one->number;
    state->left--;
    __atomic_store_n(&one->from->ran, one->from->ran + 1, __ATOMIC_RELEASE);
}

/* The arm `leat`. */

static void run_task(leat_task *task, int status) {
    errand *one = (errand *)(void *)task;
    post_state *state = one->from->state;
    (void)status;
    run_errand(one);
    if (state->left == 0)
        leat_loop_stop(state->loop);
}

static void leat_post(post_state *state, errand *one) {
    one->task = (leat_task){.fn = run_task, .bytes = sizeof *one};
    leat_loop_post(state->loop, &one->task);
}

static void leat_consume(post_state *state) {
    leat_loop_run(state->loop);
}

/* The arm `mpsc`. */

static void mpsc_init(mpsc *self) {
    self->head = self->tail = &self->sentinel;
    self->wake = eventfd(0, EFD_CLOEXEC);
}

static void push(mpsc *self, node *one) {
    __atomic_store_n(&one->next, NULL, __ATOMIC_RELAXED);
    node *before = __atomic_exchange_n(&self->head, one, __ATOMIC_ACQ_REL);
    __atomic_store_n(&before->next, one, __ATOMIC_SEQ_CST); /* before `asleep` is looked at */
}

/* Takes the oldest, or NULL: there is none, or its producer is not through. */
static node *take(mpsc *self) {
    node *tail = self->tail, *next = __atomic_load_n(&tail->next, __ATOMIC_SEQ_CST);
    if (tail == &self->sentinel) {
        if (!next)
            return NULL;
        self->tail = tail = next;
        next = __atomic_load_n(&tail->next, __ATOMIC_SEQ_CST);
    }
    if (!next && tail == __atomic_load_n(&self->head, __ATOMIC_ACQUIRE)) {
        push(self, &self->sentinel);
        next = __atomic_load_n(&tail->next, __ATOMIC_SEQ_CST);
    }
    if (next)
        self->tail = next;
    return next ? tail : NULL;
}

static void mpsc_post(post_state *state, errand *one) {
    push(&state->queue, &one->node);
    if (__atomic_load_n(&state->queue.asleep, __ATOMIC_SEQ_CST) &&
        __atomic_exchange_n(&state->queue.asleep, 0, __ATOMIC_ACQ_REL))
        eventfd_write(state->queue.wake, 1);
}

static void run_node(node *one) {
    run_errand((errand *)(void *)((char *)one - offsetof(errand, node)));
}

static node *take_or_sleep(mpsc *self) {
    eventfd_t count;
    node *one = take(self);
    if (one)
        return one;
    __atomic_store_n(&self->asleep, 1, __ATOMIC_SEQ_CST);
    one = take(self);
    if (!one || !__atomic_exchange_n(&self->asleep, 0, __ATOMIC_ACQ_REL))
        eventfd_read(self->wake, &count);
    return one;
}

static void mpsc_consume(post_state *state) {
    while (state->left > 0) {
        node *one = take_or_sleep(&state->queue);
        if (one)
            run_node(one);
    }
}

/* Both arms. */

static void start(poster *self, post_state *state) {
    self->state = state;
    sem_init(&self->begin, 0, 0);
    for (size_t i = 0; i < TASKS; i++)
        self->errands[i].from = self;
    if (pthread_create(&self->thread, NULL, post_rounds, self) != 0)
        bench_need(NULL);
}

static post_state *set_up(leat_alloc *alloc, void (*post)(post_state *state, errand *one),
                          void (*consume)(post_state *state)) {
    post_state *state = leat_alloc_take_zeroed(alloc, sizeof *state);
    if (!state)
        return NULL;
    state->alloc = alloc;
    state->post = post;
    state->consume = consume;
    state->loop = leat_evloop_new(alloc);
    bench_need(state->loop);
    mpsc_init(&state->queue);
    for (size_t i = 0; i < POSTERS; i++)
        start(&state->posters[i], state);
    return state;
}

static void *leat_set_up(const void *work, leat_alloc *alloc) {
    (void)work;
    return set_up(alloc, leat_post, leat_consume);
}

static void *mpsc_set_up(const void *work, leat_alloc *alloc) {
    (void)work;
    return set_up(alloc, mpsc_post, mpsc_consume);
}

static void begin_round(poster *self, uint64_t times) {
    self->times = times;
    self->ran = 0;
    sem_post(&self->begin);
}

static void tear_down(void *argument) {
    post_state *state = argument;
    for (size_t i = 0; i < POSTERS; i++) {
        begin_round(&state->posters[i], 0);
        pthread_join(state->posters[i].thread, NULL);
        sem_destroy(&state->posters[i].begin);
    }
    close(state->queue.wake);
    leat_loop_release(state->loop);
    leat_alloc_give(state->alloc, state, sizeof *state);
}

/* One operation is so many posts from each thread that waking the threads for it hardly counts. */
static void run(void *argument, uint64_t times) {
    post_state *state = argument;
    state->left = POSTERS * POSTS * times;
    for (size_t i = 0; i < POSTERS; i++)
        begin_round(&state->posters[i], POSTS * times);
    state->consume(state);
}

/* Three threads on maybe two processors: what counts is the CPU time of all, whoever waited for whom. */
static double measure(void *state, uint64_t times) {
    double before = bench_process_nanos();
    run(state, times);
    return bench_process_nanos() - before;
}

static void output(void *argument, bench_output *out) {
    post_state *state = argument;
    state->sum = 0;
    run(state, 1);
    bench_output_add(out, &state->sum, sizeof state->sum);
}

static const bench_arm leat_arm = {"leat", leat_set_up, run, output, tear_down, measure};
static const bench_arm mpsc_arm = {"mpsc", mpsc_set_up, run, output, tear_down, measure};

static void rows(bench_visitor *visitor) {
    const bench_row row = {
        .suite = "loop", .name = "post-2-threads", .arms = {&leat_arm, &mpsc_arm}, .ratios = {{"leat", "mpsc", 2}}};
    visitor->visit(visitor, &row);
}

const bench_suite loop_suite = {"loop", "tasks posted to a loop by other threads", rows};
