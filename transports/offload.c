#include "transports/offload.h"
#include "transports/threads_internal.h"

#include <stdio.h>

enum { MOST_THREADS = 1024, DEFAULT_THREADS = 4, DEFAULT_WAITING = 1024, MOST_NAME = 16 };

static const uint64_t DEFAULT_BYTES = 64 * 1024 * 1024;

/** One thread of a pool. */
typedef struct worker {
    leat_workers *workers;
    pthread_t thread;
    bool over; /* under `lock`: another thread may have its id from now on */
} worker;

struct leat_workers {
    leat_workers_options options;
    char name[MOST_NAME];
    pthread_mutex_t lock;
    pthread_mutex_t joining; /* one joins, the others wait for it */
    pthread_cond_t changed;
    leat_work *first, *last; /* what waits */
    size_t waiting;
    uint64_t waiting_bytes;
    bool stopping;
    size_t running; /* threads to be joined; under `joining` once all were started */
    worker threads[];
};

static size_t size_of(size_t threads) {
    return sizeof(leat_workers) + threads * sizeof(worker);
}

/* The end of a piece of work. */

static void tell(leat_task *task, int status) {
    leat_work *work = (leat_work *)(void *)((char *)task - offsetof(leat_work, task));
    leat_mailbox_release(work->mailbox);
    work->mailbox = NULL;
    work->done(work, status ? status : work->status);
}

/* A task of no bytes is never refused for want of room. */
static void complete(leat_work *work, int status) {
    work->status = status;
    work->task = (leat_task){.fn = tell};
    leat_mailbox_post(work->mailbox, &work->task);
}

/* The queue. */

static int refusal(const leat_workers *self, const leat_work *work) {
    if (self->stopping)
        return LEAT_ECLOSED;
    if (self->waiting >= self->options.most_waiting || work->bytes > self->options.most_bytes - self->waiting_bytes)
        return LEAT_ELIMIT;
    return 0;
}

static void append(leat_workers *self, leat_work *work) {
    if (self->last)
        self->last->next = work;
    else
        self->first = work;
    self->last = work;
    self->waiting++;
    self->waiting_bytes += work->bytes;
}

static leat_work *take_first(leat_workers *self) {
    leat_work *work = self->first;
    if (!work)
        return NULL;
    self->first = work->next;
    if (!self->first)
        self->last = NULL;
    self->waiting--;
    self->waiting_bytes -= work->bytes;
    return work;
}

void leat_offload(leat_workers *self, leat_loop *loop, leat_work *work) {
    work->mailbox = leat_mailbox_retain(leat_loop_mailbox(loop));
    work->next = NULL;
    pthread_mutex_lock(&self->lock);
    int code = refusal(self, work);
    if (code == 0)
        append(self, work);
    pthread_mutex_unlock(&self->lock);
    if (code == 0)
        pthread_cond_signal(&self->changed);
    else
        complete(work, code);
}

/* The threads. */

static leat_work *wait_for_work(leat_workers *self) {
    pthread_mutex_lock(&self->lock);
    while (!self->first && !self->stopping)
        pthread_cond_wait(&self->changed, &self->lock);
    leat_work *work = self->stopping ? NULL : take_first(self);
    pthread_mutex_unlock(&self->lock);
    return work;
}

static void *run(void *argument) {
    worker *one = argument;
    leat_workers *self = one->workers;
    leat_thread_name(self->name);
    for (leat_work *work; (work = wait_for_work(self));) {
        work->work(work);
        complete(work, 0);
    }
    pthread_mutex_lock(&self->lock);
    one->over = true;
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

static int start_threads(leat_workers *self) {
    int code = 0;
    while (code == 0 && self->running < self->options.threads) {
        worker *one = &self->threads[self->running];
        *one = (worker){.workers = self};
        code = leat_thread_start_deaf(&one->thread, self->options.stack_size, run, one);
        self->running += code == 0;
    }
    return code;
}

static leat_workers_options with_defaults(const leat_workers_options *given) {
    leat_workers_options options = given ? *given : (leat_workers_options){0};
    options.threads = options.threads ? options.threads : DEFAULT_THREADS;
    options.most_waiting = options.most_waiting ? options.most_waiting : DEFAULT_WAITING;
    options.most_bytes = options.most_bytes ? options.most_bytes : DEFAULT_BYTES;
    return options;
}

int leat_workers_new(const leat_workers_options *given, leat_workers **workers, leat_problem *problem) {
    leat_workers_options options = with_defaults(given);
    *workers = NULL;
    if (options.threads > MOST_THREADS)
        return leat_problem_set(problem, LEAT_EINVAL, "%zu threads are too many, %d are the most", options.threads,
                                MOST_THREADS);
    leat_workers *self = leat_alloc_take_zeroed(leat_unpooled(), size_of(options.threads));
    if (!self)
        return leat_problem_set(problem, LEAT_ENOMEM, "cannot make a pool of threads: out of memory");
    self->options = options;
    for (size_t i = 0; i < options.threads; i++)
        self->threads[i].over = true; /* not started yet */
    snprintf(self->name, sizeof self->name, "%s", options.name ? options.name : "leat-work");
    pthread_mutex_init(&self->lock, NULL);
    pthread_mutex_init(&self->joining, NULL);
    pthread_cond_init(&self->changed, NULL);
    int code = start_threads(self);
    if (code != 0) {
        leat_workers_release(self);
        return leat_problem_set(problem, code, "cannot start a thread: %s", leat_error_message(code));
    }
    *workers = self;
    return 0;
}

static bool is_inside(leat_workers *self) {
    bool inside = false;
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < self->options.threads && !inside; i++)
        inside = !self->threads[i].over && pthread_equal(self->threads[i].thread, pthread_self());
    pthread_mutex_unlock(&self->lock);
    return inside;
}

/* Takes everything that waits. */
static leat_work *stop_taking(leat_workers *self) {
    pthread_mutex_lock(&self->lock);
    leat_work *left = self->first;
    self->first = self->last = NULL;
    self->waiting = 0;
    self->waiting_bytes = 0;
    self->stopping = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    return left;
}

int leat_workers_stop(leat_workers *self) {
    if (is_inside(self))
        return LEAT_EINVAL;
    for (leat_work *work = stop_taking(self), *next; work; work = next) {
        next = work->next;
        complete(work, LEAT_ECLOSED);
    }
    pthread_mutex_lock(&self->joining);
    while (self->running > 0)
        pthread_join(self->threads[--self->running].thread, NULL);
    pthread_mutex_unlock(&self->joining);
    return 0;
}

void leat_workers_release(leat_workers *self) {
    if (!self)
        return;
    leat_workers_stop(self);
    pthread_mutex_destroy(&self->lock);
    pthread_mutex_destroy(&self->joining);
    pthread_cond_destroy(&self->changed);
    leat_alloc_give(leat_unpooled(), self, size_of(self->options.threads));
}
