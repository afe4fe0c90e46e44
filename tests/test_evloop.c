#include "tests/support/recorder.h"
#include "tests/support/suite.h"
#include "transports/evloop.h"

#include <ev.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum { TIMERS = 20 };

static size_t arrived;

static leat_loop *new_loop(void) {
    arrived = 0;
    leat_loop *loop = leat_evloop_new(NULL);
    ck_assert_ptr_nonnull(loop);
    return loop;
}

/* Timers. */

typedef struct alarm {
    leat_timer timer;
    leat_loop *loop;
    uint64_t due;
    size_t *fired;
    size_t order;
} alarm_clock;

static uint64_t system_clock(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void ring(leat_timer *timer) {
    alarm_clock *alarm = (void *)timer;
    ck_assert_uint_ge(system_clock(), alarm->due);
    alarm->order = (*alarm->fired)++;
}

static void set_alarm(alarm_clock *alarm, leat_loop *loop, uint64_t delay_ms, size_t *fired) {
    *alarm = (alarm_clock){.timer.fn = ring, .loop = loop, .fired = fired};
    leat_loop_enter(loop);
    alarm->due = leat_loop_now(loop) + delay_ms * 1000000;
    ck_assert_int_eq(leat_timer_start(loop, &alarm->timer, delay_ms), 0);
    leat_loop_leave(loop);
}

START_TEST(timers_fire_in_order_and_never_early) {
    leat_loop *loop = new_loop();
    alarm_clock alarms[TIMERS];
    size_t fired = 0;
    leat_loop_enter(loop); /* in one turn, so that all delays count from the same moment */
    for (size_t i = 0; i < TIMERS; i++)
        set_alarm(&alarms[i], loop, TIMERS - i, &fired);
    leat_loop_leave(loop);
    run_until(loop, &fired, TIMERS);
    for (size_t i = 0; i < TIMERS; i++)
        ck_assert_uint_eq(alarms[i].order, TIMERS - 1 - i);
    leat_loop_release(loop);
}
END_TEST

START_TEST(a_stopped_timer_does_not_fire_and_a_later_one_still_does) {
    leat_loop *loop = new_loop();
    alarm_clock stopped, later;
    size_t fired = 0, never = 0;
    set_alarm(&stopped, loop, 1, &never);
    set_alarm(&later, loop, 5, &fired);
    leat_timer_stop(loop, &stopped.timer);
    run_until(loop, &fired, 1);
    ck_assert_uint_eq(never, 0);
    leat_loop_release(loop);
}
END_TEST

START_TEST(waiting_for_a_timer_takes_a_handful_of_turns) {
    leat_loop *loop = new_loop();
    alarm_clock alarm;
    size_t fired = 0;
    set_alarm(&alarm, loop, 30, &fired);
    uint64_t before = leat_loop_statistics(loop).turns;
    run_until(loop, &fired, 1);
    ck_assert_uint_le(leat_loop_statistics(loop).turns - before, 16);
    leat_loop_release(loop);
}
END_TEST

/* A task that takes 5 ms, or sets an alarm. */
typedef struct chore {
    leat_task task;
    alarm_clock *alarm;
    leat_loop *loop;
    size_t *fired;
} chore;

static void do_chore(leat_task *task, int status) {
    chore *self = (chore *)(void *)task;
    ck_assert_int_eq(status, 0);
    uint64_t before = system_clock();
    while (!self->alarm && system_clock() < before + 5000000)
        ;
    if (!self->alarm)
        return;
    set_alarm(self->alarm, self->loop, 3, self->fired);
    self->alarm->due = before + 3000000;
}

START_TEST(a_timer_started_behind_a_long_task_is_not_early) {
    leat_loop *loop = new_loop();
    alarm_clock alarm;
    size_t fired = 0;
    chore slow = {.task.fn = do_chore}, sets = {{.fn = do_chore}, &alarm, loop, &fired};
    leat_loop_post(loop, &slow.task);
    leat_loop_post(loop, &sets.task);
    run_until(loop, &fired, 1);
    leat_loop_release(loop);
}
END_TEST

/* Other threads. */

static void arrive(leat_task *task, int status) {
    (void)task;
    arrived += status == 0;
}

static void *stop_loop(void *loop) {
    leat_loop_stop(loop);
    return NULL;
}

START_TEST(a_stop_from_another_thread_ends_the_run) {
    leat_loop *loop = new_loop();
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        ck_assert_int_eq(pthread_create(&thread, NULL, stop_loop, loop), 0);
        ck_assert_int_eq(leat_loop_run(loop), 0);
        pthread_join(thread, NULL);
    }
    leat_loop_release(loop);
}
END_TEST

/* Descriptors and signals. */

typedef struct pipe_end {
    leat_watch *watch;
    int descriptor;
    size_t calls;
    unsigned ready;
    bool release;
} pipe_end;

static void note_ready(void *context, unsigned ready) {
    pipe_end *end = context;
    end->calls++;
    end->ready = ready;
    if (end->release) {
        leat_watch_release(end->watch);
        end->watch = NULL;
        return;
    }
    char byte;
    ck_assert_int_eq(read(end->descriptor, &byte, 1), 1);
}

static void watch_pipe(pipe_end *end, leat_loop *loop, int pipes[2]) {
    ck_assert_int_eq(pipe(pipes), 0);
    end->descriptor = pipes[0];
    end->watch = leat_evloop_watch(loop, pipes[0], note_ready, end);
    ck_assert_ptr_nonnull(end->watch);
    ck_assert_int_eq(write(pipes[1], "x", 1), 1);
}

START_TEST(a_watch_tells_of_what_it_was_asked_for_only) {
    leat_loop *loop = new_loop();
    pipe_end end = {0};
    int pipes[2];
    watch_pipe(&end, loop, pipes);
    run_ready(loop);
    ck_assert_uint_eq(end.calls, 0);
    leat_watch_interest(end.watch, LEAT_INTEREST_READ);
    run_until(loop, &end.calls, 1);
    ck_assert_uint_eq(end.ready, LEAT_INTEREST_READ);
    leat_watch_release(end.watch);
    leat_loop_release(loop);
    close(pipes[0]);
    close(pipes[1]);
}
END_TEST

START_TEST(a_watch_may_release_itself) {
    leat_loop *loop = new_loop();
    pipe_end end = {.release = true};
    int pipes[2];
    watch_pipe(&end, loop, pipes);
    leat_watch_interest(end.watch, LEAT_INTEREST_READ);
    run_until(loop, &end.calls, 1);
    run_ready(loop);
    ck_assert_uint_eq(end.calls, 1);
    leat_loop_release(loop);
    close(pipes[0]);
    close(pipes[1]);
}
END_TEST

static size_t signals;

static void note_signal(void *context, int number) {
    ck_assert_int_eq(number, SIGUSR1);
    ck_assert_ptr_eq(context, &signals);
    signals++;
}

START_TEST(a_signal_comes_as_a_turn_of_the_loop) {
    leat_loop *loop = new_loop();
    leat_signal *watch = leat_evloop_on_signal(loop, SIGUSR1, note_signal, &signals);
    ck_assert_ptr_nonnull(watch);
    raise(SIGUSR1);
    run_until(loop, &signals, 1);
    leat_signal_release(watch);
    ck_assert_ptr_null(leat_evloop_on_signal(loop, -1, note_signal, NULL));
    leat_loop_release(loop);
}
END_TEST

/* A loop of the caller's. */

START_TEST(a_wrapped_loop_works_while_the_caller_runs_his_own) {
    struct ev_loop *ev = ev_loop_new(EVFLAG_AUTO);
    leat_loop *loop = leat_evloop_wrap(ev, leat_unpooled());
    arrived = 0;
    ck_assert_ptr_eq(leat_evloop_native(loop), ev);
    alarm_clock alarm;
    size_t fired = 0;
    set_alarm(&alarm, loop, 2, &fired);
    leat_task task = {.fn = arrive};
    leat_loop_post(loop, &task);
    while (fired == 0)
        ev_run(ev, EVRUN_ONCE);
    ck_assert_uint_eq(arrived, 1);
    leat_loop_release(loop);
    ck_assert_int_eq(ev_run(ev, 0), 0);
    ev_loop_destroy(ev);
}
END_TEST

START_TEST(a_stop_breaks_the_run_of_a_wrapped_loop_each_time) {
    struct ev_loop *ev = ev_loop_new(EVFLAG_AUTO);
    leat_loop *loop = leat_evloop_wrap(ev, leat_unpooled());
    for (int i = 0; i < 3; i++) {
        leat_loop_stop(loop);
        ev_run(ev, 0);
        leat_loop_stop(loop);
        ck_assert_int_eq(leat_loop_run(loop), 0);
    }
    leat_loop_release(loop);
    ev_loop_destroy(ev);
}
END_TEST

/* A call-back of the program's that runs its loop once more, from inside. */
typedef struct nested {
    ev_timer timer;
    leat_loop *loop;
    size_t *fired;
    size_t inside; /* alarms that fired in there */
    alarm_clock last;
} nested;

static void stop_on(leat_timer *timer) {
    ring(timer);
    leat_loop_stop(((alarm_clock *)(void *)timer)->loop);
}

static void run_nested(struct ev_loop *ev, ev_timer *timer, int events) {
    (void)events;
    nested *self = (nested *)(void *)timer;
    size_t before = *self->fired;
    ev_run(ev, 0);
    self->inside = *self->fired - before;
    set_alarm(&self->last, self->loop, 1, self->fired);
    self->last.timer.fn = stop_on;
}

START_TEST(a_program_may_run_its_loop_from_inside_its_own_call_back) {
    struct ev_loop *ev = ev_loop_new(EVFLAG_AUTO);
    leat_loop *loop = leat_evloop_wrap(ev, leat_unpooled());
    size_t fired = 0;
    alarm_clock first, second;
    set_alarm(&first, loop, 5, &fired);
    set_alarm(&second, loop, 6, &fired);
    second.timer.fn = stop_on;
    nested program = {.loop = loop, .fired = &fired};
    ev_timer_init(&program.timer, run_nested, 0.001, 0.0);
    ev_timer_start(ev, &program.timer);
    ev_run(ev, 0); /* the second alarm ends the inner run, the last one this */
    ck_assert_uint_eq(program.inside, 2);
    ck_assert_uint_eq(fired, 3);
    leat_loop_release(loop);
    ev_loop_destroy(ev);
}
END_TEST

static void break_off(struct ev_loop *ev, ev_timer *timer, int events) {
    (void)timer, (void)events;
    ev_break(ev, EVBREAK_ALL);
}

START_TEST(a_program_may_break_off_its_run_and_go_on) {
    struct ev_loop *ev = ev_loop_new(EVFLAG_AUTO);
    leat_loop *loop = leat_evloop_wrap(ev, leat_unpooled());
    size_t fired = 0;
    alarm_clock alarm;
    ev_timer breaker;
    set_alarm(&alarm, loop, 10, &fired);
    alarm.timer.fn = stop_on;
    for (int i = 0; i < 3; i++) {
        ev_timer_init(&breaker, break_off, 0.0, 0.0);
        ev_timer_start(ev, &breaker);
        ev_run(ev, 0);
    }
    if (fired == 0)
        ev_run(ev, 0); /* until the alarm stops it */
    ck_assert_uint_eq(fired, 1);
    leat_loop_release(loop);
    ck_assert_int_eq(ev_run(ev, 0), 0); /* nothing of ours keeps it alive */
    ev_loop_destroy(ev);
}
END_TEST

/* The loop's own pool. */

START_TEST(a_loop_without_allocator_lends_from_a_pool_that_outlives_it) {
    leat_loop *loop = new_loop();
    leat_bytebuf *buf = leat_bytebuf_from_text(leat_loop_alloc(loop), "still here");
    leat_bytebuf *other = leat_bytebuf_from_text(leat_loop_alloc(loop), "gone");
    leat_bytebuf_release(other);
    ck_assert_ptr_eq(leat_bytebuf_new(leat_loop_alloc(loop), 4), other);
    leat_bytebuf_release(other);
    leat_loop_release(loop);
    ck_assert(leat_bytebuf_equals_bytes(buf, "still here", 10));
    leat_bytebuf_release(buf);
}
END_TEST

int main(void) {
    return suite_run(
        "evloop",
        (const TTest *const[]){
            timers_fire_in_order_and_never_early, a_stopped_timer_does_not_fire_and_a_later_one_still_does,
            waiting_for_a_timer_takes_a_handful_of_turns, a_timer_started_behind_a_long_task_is_not_early,
            a_stop_from_another_thread_ends_the_run, a_watch_tells_of_what_it_was_asked_for_only,
            a_watch_may_release_itself, a_signal_comes_as_a_turn_of_the_loop,
            a_wrapped_loop_works_while_the_caller_runs_his_own, a_stop_breaks_the_run_of_a_wrapped_loop_each_time,
            a_program_may_run_its_loop_from_inside_its_own_call_back, a_program_may_break_off_its_run_and_go_on,
            a_loop_without_allocator_lends_from_a_pool_that_outlives_it, NULL});
}
