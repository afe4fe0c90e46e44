/* Blocking work on a pool of threads, whose end is told on a loop. */
#include "tests/support/recorder.h"
#include "tests/support/suite.h"
#include "transports/evloop.h"
#include "transports/offload.h"

#include <errno.h>
#include <pthread.h>

enum { JOBS = 1000, POSTERS = 2 };

/* A piece of work and what became of it. */
typedef struct job {
    leat_work work;
    pthread_mutex_t *gate; /* held by the test as long as the work shall block */
    pthread_t worker, told;
    size_t *over; /* counts those that are told */
    size_t began; /* atomic */
    int worked, done, status;
    leat_workers *stops; /* the pool that it tries to stop from inside */
    int stop_code;
} job;

static void work(leat_work *piece) {
    job *self = (job *)(void *)piece;
    self->worker = pthread_self();
    self->worked++;
    __atomic_store_n(&self->began, 1, __ATOMIC_RELEASE);
    if (self->stops)
        self->stop_code = leat_workers_stop(self->stops);
    if (!self->gate)
        return;
    pthread_mutex_lock(self->gate);
    pthread_mutex_unlock(self->gate);
}

static void done(leat_work *piece, int status) {
    job *self = (job *)(void *)piece;
    self->told = pthread_self();
    self->done++;
    self->status = status;
    __atomic_fetch_add(self->over, 1, __ATOMIC_RELEASE);
}

static void init(job *self, size_t *over) {
    *self = (job){.work = {.work = work, .done = done}, .over = over};
}

static void wait_until_begun(const job *self) {
    while (!__atomic_load_n(&self->began, __ATOMIC_ACQUIRE))
        sched_yield();
}

/* A loop, and a pool of one thread, which a first job keeps busy until the gate is opened. */
typedef struct office {
    leat_loop *loop;
    leat_workers *workers;
    pthread_mutex_t gate;
    job first;
    size_t over;
} office;

static void open_office(office *self, const leat_workers_options *options) {
    leat_problem problem = {0};
    self->over = 0;
    self->loop = leat_evloop_new(NULL);
    ck_assert_msg(leat_workers_new(options, &self->workers, &problem) == 0, "%s", problem.text);
    pthread_mutex_init(&self->gate, NULL);
    pthread_mutex_lock(&self->gate);
    init(&self->first, &self->over);
    self->first.gate = &self->gate;
    leat_offload(self->workers, self->loop, &self->first.work);
    wait_until_begun(&self->first);
}

static void close_office(office *self) {
    leat_workers_release(self->workers);
    leat_loop_release(self->loop);
    pthread_mutex_destroy(&self->gate);
}

START_TEST(work_runs_elsewhere_and_its_end_is_told_on_the_loop) {
    office self;
    open_office(&self, NULL);
    ck_assert(!pthread_equal(self.first.worker, pthread_self()));
    ck_assert_int_eq(self.first.done, 0);
    pthread_mutex_unlock(&self.gate);
    run_until(self.loop, &self.over, 1);
    ck_assert(pthread_equal(self.first.told, pthread_self()));
    ck_assert_int_eq(self.first.worked, 1);
    ck_assert_int_eq(self.first.status, 0);
    close_office(&self);
}
END_TEST

START_TEST(more_than_may_wait_is_refused_by_its_completion_in_a_later_turn) {
    office self;
    job jobs[3];
    open_office(&self, &(leat_workers_options){.threads = 1, .most_waiting = 2});
    for (int i = 0; i < 3; i++) {
        init(&jobs[i], &self.over);
        leat_offload(self.workers, self.loop, &jobs[i].work);
        ck_assert_int_eq(jobs[i].done, 0);
    }
    run_until(self.loop, &self.over, 1);
    ck_assert_int_eq(jobs[2].status, LEAT_ELIMIT);
    pthread_mutex_unlock(&self.gate);
    run_until(self.loop, &self.over, 4);
    ck_assert_int_eq(jobs[2].worked, 0);
    ck_assert_int_eq(jobs[0].worked + jobs[1].worked, 2);
    leat_offload(self.workers, self.loop, &jobs[2].work); /* the memory may be used again */
    run_until(self.loop, &self.over, 5);
    ck_assert_int_eq(jobs[2].status, 0);
    close_office(&self);
}
END_TEST

START_TEST(the_bytes_that_wait_are_bounded_too) {
    office self;
    job jobs[3];
    open_office(&self, &(leat_workers_options){.threads = 1, .most_bytes = 100});
    const uint64_t bytes[] = {60, 41, 40};
    for (int i = 0; i < 3; i++) {
        init(&jobs[i], &self.over);
        jobs[i].work.bytes = bytes[i];
        leat_offload(self.workers, self.loop, &jobs[i].work);
    }
    run_until(self.loop, &self.over, 1);
    ck_assert_int_eq(jobs[1].status, LEAT_ELIMIT);
    init(&jobs[1], &self.over);
    jobs[1].work.bytes = UINT64_MAX;
    leat_offload(self.workers, self.loop, &jobs[1].work);
    run_until(self.loop, &self.over, 2);
    ck_assert_int_eq(jobs[1].status, LEAT_ELIMIT);
    pthread_mutex_unlock(&self.gate);
    run_until(self.loop, &self.over, 5);
    ck_assert_int_eq(jobs[0].status + jobs[2].status, 0);
    close_office(&self);
}
END_TEST

static void *stop(void *workers) {
    ck_assert_int_eq(leat_workers_stop(workers), 0);
    return NULL;
}

START_TEST(a_pool_that_stops_finishes_what_runs_and_refuses_what_waits) {
    office self;
    job jobs[2];
    pthread_t stopper;
    open_office(&self, &(leat_workers_options){.threads = 1});
    init(&jobs[0], &self.over);
    leat_offload(self.workers, self.loop, &jobs[0].work);
    pthread_create(&stopper, NULL, stop, self.workers);
    run_until(self.loop, &self.over, 1);
    ck_assert_int_eq(jobs[0].status, LEAT_ECLOSED);
    init(&jobs[1], &self.over);
    leat_offload(self.workers, self.loop, &jobs[1].work);
    run_until(self.loop, &self.over, 2);
    ck_assert_int_eq(jobs[1].status, LEAT_ECLOSED);
    pthread_mutex_unlock(&self.gate);
    run_until(self.loop, &self.over, 3);
    ck_assert_int_eq(self.first.status, 0);
    ck_assert_int_eq(jobs[0].worked + jobs[1].worked, 0);
    pthread_join(stopper, NULL);
    ck_assert_int_eq(leat_workers_stop(self.workers), 0);
    close_office(&self);
}
END_TEST

START_TEST(a_loop_may_go_while_its_work_is_done) {
    office self;
    job waits;
    open_office(&self, &(leat_workers_options){.threads = 1});
    init(&waits, &self.over);
    leat_offload(self.workers, self.loop, &waits.work);
    leat_loop_release(self.loop);
    ck_assert_uint_eq(__atomic_load_n(&self.over, __ATOMIC_ACQUIRE), 0);
    pthread_mutex_unlock(&self.gate);
    while (__atomic_load_n(&self.over, __ATOMIC_ACQUIRE) < 2)
        sched_yield();
    ck_assert_int_eq(self.first.status, LEAT_ECLOSED);
    ck_assert_int_eq(waits.status, LEAT_ECLOSED);
    ck_assert_int_eq(self.first.done + waits.done, 2);
    self.loop = NULL;
    close_office(&self);
}
END_TEST

START_TEST(a_thread_of_the_pool_may_not_wait_for_it) {
    office self;
    job insider;
    open_office(&self, &(leat_workers_options){.threads = 2});
    init(&insider, &self.over);
    insider.stops = self.workers;
    leat_offload(self.workers, self.loop, &insider.work);
    run_until(self.loop, &self.over, 1);
    ck_assert_int_eq(insider.stop_code, LEAT_EINVAL);
    pthread_mutex_unlock(&self.gate);
    close_office(&self);
}
END_TEST

START_TEST(what_cannot_be_made_says_why) {
    leat_workers *workers = NULL;
    leat_problem problem = {0};
    ck_assert_int_eq(leat_workers_new(&(leat_workers_options){.threads = 1025}, &workers, &problem), LEAT_EINVAL);
    ck_assert_str_eq(problem.text, "1025 threads are too many, 1024 are the most");
    ck_assert_int_eq(leat_workers_new(&(leat_workers_options){.stack_size = 1}, &workers, &problem), -EINVAL);
    ck_assert_ptr_null(workers);
    leat_workers_release(NULL);
}
END_TEST

/* One of several threads that offload at the same time. */
typedef struct boss {
    leat_loop *loop;
    leat_workers *workers;
    job *jobs;
} boss;

static void *offload_all(void *argument) {
    boss *self = argument;
    for (int i = 0; i < JOBS; i++)
        leat_offload(self->workers, self->loop, &self->jobs[i].work);
    return NULL;
}

START_TEST(work_from_several_threads_is_done_once_each) {
    static job jobs[POSTERS][JOBS];
    size_t over = 0;
    leat_loop *loop = leat_evloop_new(NULL);
    leat_workers *workers = NULL;
    ck_assert_int_eq(leat_workers_new(&(leat_workers_options){.threads = 3, .most_waiting = 50}, &workers, NULL), 0);
    boss bosses[POSTERS];
    pthread_t threads[POSTERS];
    for (int i = 0; i < POSTERS; i++) {
        for (int k = 0; k < JOBS; k++)
            init(&jobs[i][k], &over);
        bosses[i] = (boss){loop, workers, jobs[i]};
        pthread_create(&threads[i], NULL, offload_all, &bosses[i]);
    }
    run_until(loop, &over, POSTERS * JOBS);
    for (int i = 0; i < POSTERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < POSTERS * JOBS; i++) {
        const job *one = &jobs[i % POSTERS][i / POSTERS];
        ck_assert(one->done == 1 && one->worked == (one->status == 0));
        ck_assert(one->status == 0 || one->status == LEAT_ELIMIT);
    }
    leat_workers_release(workers);
    leat_loop_release(loop);
}
END_TEST

int main(void) {
    return suite_run("offload", (const TTest *const[]){
                                    work_runs_elsewhere_and_its_end_is_told_on_the_loop,
                                    more_than_may_wait_is_refused_by_its_completion_in_a_later_turn,
                                    the_bytes_that_wait_are_bounded_too,
                                    a_pool_that_stops_finishes_what_runs_and_refuses_what_waits,
                                    a_loop_may_go_while_its_work_is_done, a_thread_of_the_pool_may_not_wait_for_it,
                                    what_cannot_be_made_says_why, work_from_several_threads_is_done_once_each, NULL});
}
