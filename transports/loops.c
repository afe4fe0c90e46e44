#include "transports/loops_internal.h"
#include "transports/threads_internal.h"

#include <stdio.h>
#include <unistd.h>

enum { MOST_LOOPS = 1024, MOST_NAME = 16 };

typedef enum loops_state { LOOPS_NEW, LOOPS_STARTED, LOOPS_STOPPED } loops_state;

/** One loop and its thread. */
typedef struct loop_thread {
    leat_loops *loops;
    leat_loop *loop;
    leat_mailbox *mailbox; /* ours, so that who posts after the loop ended hears of it */
    leat_task first;       /* runs `begin` */
    pthread_t thread;      /* to join */
    pthread_t self;        /* the same, known to itself at once; under `lock` */
    size_t index;
    int code;
    bool knows_self; /* under `lock` */
    bool running;    /* to be joined; under `joining` once the start is through */
    bool begun;      /* `end` is owed */
    bool cleaned;    /* the loop ended; only its memory is left */
} loop_thread;

struct leat_loops {
    leat_loops_options options;
    char name[MOST_NAME];
    size_t count;
    size_t next;             /* atomic */
    bool stopping;           /* atomic */
    pthread_mutex_t lock;    /* what threads tell each other */
    pthread_mutex_t joining; /* one joins, the others wait for it */
    pthread_cond_t changed;
    loops_state state;
    size_t not_begun;
    leat_loops_listener *listeners;
    loop_thread threads[];
};

static size_t size_of(size_t count) {
    return sizeof(leat_loops) + count * sizeof(loop_thread);
}

static loops_state state_of(leat_loops *self) {
    pthread_mutex_lock(&self->lock);
    loops_state state = self->state;
    pthread_mutex_unlock(&self->lock);
    return state;
}

/* Making. */

static size_t processors(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > MOST_LOOPS ? (size_t)MOST_LOOPS : (size_t)count;
}

static void give_back(leat_loops *self) {
    for (size_t i = 0; i < self->count; i++) {
        loop_thread *one = &self->threads[i];
        leat_mailbox_release(one->mailbox);
        if (one->cleaned)
            one->loop->ops->destroy(one->loop);
        else
            leat_loop_release(one->loop);
    }
    pthread_mutex_destroy(&self->lock);
    pthread_mutex_destroy(&self->joining);
    pthread_cond_destroy(&self->changed);
    leat_alloc_give(leat_unpooled(), self, size_of(self->count));
}

static bool make_loop(leat_loops *self, size_t index) {
    loop_thread *one = &self->threads[index];
    one->loops = self;
    one->index = index;
    one->loop = leat_evloop_new(NULL);
    one->mailbox = one->loop ? leat_mailbox_retain(leat_loop_mailbox(one->loop)) : NULL;
    return one->loop != NULL;
}

static leat_loops *make(const leat_loops_options *options, size_t count) {
    leat_loops *self = leat_alloc_take_zeroed(leat_unpooled(), size_of(count));
    if (!self)
        return NULL;
    self->options = *options;
    self->options.name = NULL; /* the caller's; ours is the copy */
    self->count = count;
    snprintf(self->name, sizeof self->name, "%s", options->name ? options->name : "leat");
    pthread_mutex_init(&self->lock, NULL);
    pthread_mutex_init(&self->joining, NULL);
    pthread_cond_init(&self->changed, NULL);
    for (size_t i = 0; i < count; i++) {
        if (make_loop(self, i))
            continue;
        give_back(self);
        return NULL;
    }
    return self;
}

int leat_loops_new(const leat_loops_options *options, leat_loops **loops, leat_problem *problem) {
    const leat_loops_options none = {0};
    const leat_loops_options *given = options ? options : &none;
    *loops = NULL;
    if (given->count > MOST_LOOPS)
        return leat_problem_set(problem, LEAT_EINVAL, "%zu loops are too many, %d are the most", given->count,
                                MOST_LOOPS);
    *loops = make(given, given->count ? given->count : processors());
    return *loops ? 0 : leat_problem_set(problem, LEAT_ENOMEM, "cannot make loops: out of memory");
}

/* A thread. */

static void name_thread(const loop_thread *one) {
    char name[MOST_NAME + 24];
    snprintf(name, sizeof name, "%s-%zu", one->loops->name, one->index);
    leat_thread_name(name);
}

static void introduce(loop_thread *one) {
    pthread_mutex_lock(&one->loops->lock);
    one->self = pthread_self();
    one->knows_self = true;
    pthread_mutex_unlock(&one->loops->lock);
    name_thread(one);
}

static void tell_begun(loop_thread *one, int code) {
    leat_loops *self = one->loops;
    pthread_mutex_lock(&self->lock);
    one->code = code;
    self->not_begun--;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

/* The first turn of the loop; `status` says if it was stopped before it came to that. */
static void begin(leat_task *task, int status) {
    loop_thread *one = (loop_thread *)(void *)((char *)task - offsetof(loop_thread, first));
    const leat_loops_options *options = &one->loops->options;
    int code = status;
    if (code == 0 && options->begin)
        code = options->begin(options->context, one->loop, one->index);
    one->begun = code == 0;
    if (code != 0)
        leat_loop_stop(one->loop);
    tell_begun(one, code);
}

static void end(loop_thread *one) {
    leat_loops *self = one->loops;
    leat_loop_enter(one->loop);
    if (one->begun && self->options.end)
        self->options.end(self->options.context, one->loop, one->index);
    pthread_mutex_lock(&self->lock);
    for (leat_loops_listener *i = self->listeners; i; i = *leat_loops_listener_next(i))
        leat_loops_listener_close_part(i, one->index);
    pthread_mutex_unlock(&self->lock);
    leat_loop_leave(one->loop);
}

static void *run(void *argument) {
    loop_thread *one = argument;
    introduce(one);
    one->first.fn = begin;
    leat_loop_post(one->loop, &one->first);
    int code = leat_loop_run(one->loop);
    end(one);
    leat_loop_clean_up(one->loop);
    one->cleaned = true;
    if (one->code == 0)
        one->code = code;
    pthread_mutex_lock(&one->loops->lock);
    one->knows_self = false; /* another thread may have its id from now on */
    pthread_mutex_unlock(&one->loops->lock);
    return NULL;
}

/* Starting. */

/* Starts one after another; those that were not started are not waited for. */
static int start_threads(leat_loops *self) {
    for (size_t i = 0; i < self->count; i++) {
        loop_thread *one = &self->threads[i];
        int code = leat_thread_start(&one->thread, self->options.stack_size, run, one);
        one->running = code == 0;
        if (code == 0)
            continue;
        pthread_mutex_lock(&self->lock);
        self->not_begun -= self->count - i;
        pthread_mutex_unlock(&self->lock);
        return code;
    }
    return 0;
}

/* Waits until every thread that was started began, or failed to; the first code that is not 0. */
static int wait_for_begins(leat_loops *self) {
    int code = 0;
    pthread_mutex_lock(&self->lock);
    while (self->not_begun > 0)
        pthread_cond_wait(&self->changed, &self->lock);
    for (size_t i = 0; i < self->count && code == 0; i++)
        code = self->threads[i].code;
    pthread_mutex_unlock(&self->lock);
    return code;
}

static int may_start(leat_loops *self) {
    pthread_mutex_lock(&self->lock);
    int code = self->state == LOOPS_NEW ? 0 : LEAT_EINVAL;
    if (code == 0 && __atomic_load_n(&self->stopping, __ATOMIC_ACQUIRE))
        code = LEAT_ECLOSED;
    if (code == 0) {
        self->state = LOOPS_STARTED;
        self->not_begun = self->count;
    }
    pthread_mutex_unlock(&self->lock);
    return code;
}

int leat_loops_start(leat_loops *self, leat_problem *problem) {
    int code = may_start(self);
    if (code != 0)
        return leat_problem_set(problem, code, "these loops were started or stopped before");
    int failed = start_threads(self);
    if (failed != 0)
        leat_loops_request_stop(self);
    code = wait_for_begins(self);
    if (failed != 0)
        code = failed;
    if (code == 0)
        return 0;
    leat_loops_stop(self);
    return leat_problem_set(problem, code, "cannot start the loops: %s", leat_error_message(code));
}

/* Stopping. */

bool leat_loops_is_inside(leat_loops *self) {
    bool inside = false;
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < self->count && !inside; i++)
        inside = self->threads[i].knows_self && pthread_equal(self->threads[i].self, pthread_self());
    pthread_mutex_unlock(&self->lock);
    return inside;
}

void leat_loops_request_stop(leat_loops *self) {
    __atomic_store_n(&self->stopping, true, __ATOMIC_RELEASE);
    for (size_t i = 0; i < self->count; i++)
        leat_loop_stop(self->threads[i].loop);
}

static int join_one(loop_thread *one) {
    if (one->running)
        pthread_join(one->thread, NULL);
    one->running = false;
    return one->code;
}

int leat_loops_join(leat_loops *self) {
    if (leat_loops_is_inside(self))
        return LEAT_EINVAL;
    int code = 0;
    pthread_mutex_lock(&self->joining);
    for (size_t i = 0; i < self->count; i++) {
        int ended = join_one(&self->threads[i]);
        code = code ? code : ended;
    }
    pthread_mutex_lock(&self->lock);
    self->state = self->state == LOOPS_NEW ? LOOPS_NEW : LOOPS_STOPPED;
    pthread_mutex_unlock(&self->lock);
    pthread_mutex_unlock(&self->joining);
    return code;
}

int leat_loops_stop(leat_loops *self) {
    if (leat_loops_is_inside(self))
        return LEAT_EINVAL;
    leat_loops_request_stop(self);
    return leat_loops_join(self);
}

void leat_loops_release(leat_loops *self) {
    if (!self)
        return;
    leat_loops_stop(self);
    give_back(self);
}

/* Asking. */

size_t leat_loops_count(const leat_loops *self) {
    return self->count;
}

leat_loop *leat_loops_at(const leat_loops *self, size_t index) {
    return index < self->count ? self->threads[index].loop : NULL;
}

leat_loop *leat_loops_next(leat_loops *self) {
    return self->threads[__atomic_fetch_add(&self->next, 1, __ATOMIC_RELAXED) % self->count].loop;
}

/* A call that another thread waits for. */
typedef struct waited_call {
    leat_task task;
    leat_loops *loops;
    void (*fn)(void *context, size_t index);
    void *context;
    size_t index;
    bool over;
    int status;
} waited_call;

static void make_call(leat_task *task, int status) {
    waited_call *call = (waited_call *)(void *)task;
    leat_loops *loops = call->loops;
    if (status == 0)
        call->fn(call->context, call->index);
    pthread_mutex_lock(&loops->lock);
    call->status = status;
    call->over = true;
    pthread_cond_broadcast(&loops->changed);
    pthread_mutex_unlock(&loops->lock);
}

int leat_loops_call(leat_loops *self, size_t index, void (*fn)(void *context, size_t index), void *context) {
    if (leat_loops_is_inside(self))
        return LEAT_EINVAL;
    waited_call call = {.task.fn = make_call, .loops = self, .fn = fn, .context = context, .index = index};
    if (state_of(self) == LOOPS_NEW) {
        fn(context, index);
        return 0;
    }
    leat_loop_post(self->threads[index].loop, &call.task);
    pthread_mutex_lock(&self->lock);
    while (!call.over)
        pthread_cond_wait(&self->changed, &self->lock);
    pthread_mutex_unlock(&self->lock);
    return call.status;
}

void leat_loops_add_listener(leat_loops *self, leat_loops_listener *listener) {
    pthread_mutex_lock(&self->lock);
    *leat_loops_listener_next(listener) = self->listeners;
    self->listeners = listener;
    pthread_mutex_unlock(&self->lock);
}

void leat_loops_remove_listener(leat_loops *self, leat_loops_listener *listener) {
    pthread_mutex_lock(&self->lock);
    leat_loops_listener **at = &self->listeners;
    while (*at && *at != listener)
        at = leat_loops_listener_next(*at);
    if (*at)
        *at = *leat_loops_listener_next(listener);
    pthread_mutex_unlock(&self->lock);
}
