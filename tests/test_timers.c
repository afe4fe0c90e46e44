/* Timers: many idle ones under traffic, and stopping and starting from inside. */
#include "core/embedded.h"
#include "core/transport.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { IDLE = 100000, MESSAGES = 1000000, IDLE_MS = 30000 };

static const leat_stage bare[] = {{0}};

/* A timer that says when it ran. */
typedef struct idle_timer {
    leat_timer timer;
    leat_loop *loop;
    uint64_t due;
    uint32_t ran, wrong;
} idle_timer;

static void ring(leat_timer *timer) {
    idle_timer *self = (idle_timer *)(void *)timer;
    self->ran++;
    self->wrong += leat_loop_now(self->loop) != self->due;
}

static void push_back(leat_loop *loop, idle_timer *one, uint64_t delay_ms) {
    one->due = leat_loop_now(loop) + delay_ms * 1000000;
    ck_assert_int_eq(leat_timer_start(loop, &one->timer, delay_ms), 0);
}

/* A timer that was moved in the heap has another slot, or another deadline there, than before. */
typedef struct place {
    size_t slot;
    uint64_t queued_at;
} place;

static size_t count_moved(const idle_timer *timers, const place *places) {
    size_t moved = 0;
    for (size_t i = 0; i < IDLE; i++)
        moved += timers[i].timer.slot != places[i].slot || timers[i].timer.queued_at != places[i].queued_at;
    return moved;
}

static idle_timer *make_idle(leat_loop *loop, place *places) {
    idle_timer *timers = calloc(IDLE, sizeof *timers);
    for (size_t i = 0; i < IDLE; i++) {
        timers[i] = (idle_timer){.timer.fn = ring, .loop = loop};
        timers[i].due = leat_loop_now(loop) + (uint64_t)IDLE_MS * 1000000;
        leat_timer_start(loop, &timers[i].timer, IDLE_MS);
    }
    for (size_t i = 0; i < IDLE; i++)
        places[i] = (place){timers[i].timer.slot, timers[i].timer.queued_at};
    return timers;
}

/* Each message pushes one of the timers back, in a turn of its own. */
static void pass_traffic(leat_embedded *e, idle_timer *timers) {
    leat_loop *loop = leat_embedded_loop(e);
    for (size_t i = 0; i < MESSAGES; i++) {
        idle_timer *one = &timers[i * 7919 % IDLE];
        leat_loop_enter(loop);
        one->due = leat_loop_now(loop) + (uint64_t)IDLE_MS * 1000000;
        leat_timer_start(loop, &one->timer, IDLE_MS);
        leat_loop_leave(loop);
        if (i % 1000 == 0)
            leat_embedded_advance(e, 20);
    }
}

START_TEST(a_hundred_thousand_idle_timers_are_not_touched_by_traffic) {
    leat_embedded *e = leat_embedded_new(bare);
    static place places[IDLE];
    idle_timer *timers = make_idle(leat_embedded_loop(e), places);
    pass_traffic(e, timers);
    ck_assert_uint_eq(count_moved(timers, places), 0);
    ck_assert_uint_eq(leat_loop_statistics(leat_embedded_loop(e)).timers, 0);
    leat_embedded_advance(e, IDLE_MS);
    size_t ran = 0, wrong = 0;
    for (size_t i = 0; i < IDLE; i++) {
        ran += timers[i].ran;
        wrong += timers[i].wrong;
    }
    ck_assert_uint_eq(ran, IDLE);
    ck_assert_uint_eq(wrong, 0);
    leat_embedded_free(e);
    free(timers);
}
END_TEST

START_TEST(starting_and_stopping_the_last_of_many_moves_no_other) {
    leat_embedded *e = leat_embedded_new(bare);
    static place places[IDLE];
    leat_loop *loop = leat_embedded_loop(e);
    idle_timer *timers = make_idle(loop, places);
    idle_timer late = {.timer.fn = ring, .loop = loop};
    for (int i = 0; i < 1000; i++) {
        push_back(loop, &late, 2 * IDLE_MS);
        leat_timer_stop(loop, &late.timer);
    }
    ck_assert_uint_eq(count_moved(timers, places), 0);
    leat_embedded_free(e);
    free(timers);
}
END_TEST

/* A timer that stops, or starts, another one. */
typedef struct meddler {
    leat_timer timer;
    leat_loop *loop;
    idle_timer *other;
    bool stops;
    uint64_t delay_ms;
} meddler;

static void meddle(leat_timer *timer) {
    meddler *self = (meddler *)(void *)timer;
    if (self->stops)
        leat_timer_stop(self->loop, &self->other->timer);
    else
        push_back(self->loop, self->other, self->delay_ms);
}

START_TEST(a_timer_stopped_by_an_equal_one_before_it_never_runs) {
    leat_embedded *e = leat_embedded_new(bare);
    leat_loop *loop = leat_embedded_loop(e);
    idle_timer *other = calloc(1, sizeof *other);
    *other = (idle_timer){.timer.fn = ring, .loop = loop};
    meddler first = {{.fn = meddle}, loop, other, true, 0};
    leat_timer_start(loop, &first.timer, 5);
    push_back(loop, other, 5);
    leat_embedded_advance(e, 5);
    ck_assert_uint_eq(other->ran, 0);
    ck_assert(!leat_timer_is_running(&other->timer));
    free(other); /* nothing looks at it any more */
    leat_embedded_advance(e, 100);
    leat_embedded_free(e);
}
END_TEST

START_TEST(a_timer_moved_by_an_equal_one_runs_at_its_new_time_only) {
    static const uint64_t delays[] = {0, 1, 1000};
    for (size_t i = 0; i < 3; i++) {
        leat_embedded *e = leat_embedded_new(bare);
        leat_loop *loop = leat_embedded_loop(e);
        idle_timer other = {.timer.fn = ring, .loop = loop};
        meddler first = {{.fn = meddle}, loop, &other, false, delays[i]};
        leat_timer_start(loop, &first.timer, 5);
        push_back(loop, &other, 5);
        leat_embedded_advance(e, 5);
        leat_embedded_advance(e, 2000);
        ck_assert_uint_eq(other.ran, 1);
        ck_assert_uint_eq(other.wrong, 0);
        leat_embedded_free(e);
    }
}
END_TEST

START_TEST(a_timer_may_be_moved_forward_and_back_any_number_of_times) {
    leat_embedded *e = leat_embedded_new(bare);
    leat_loop *loop = leat_embedded_loop(e);
    idle_timer one = {.timer.fn = ring, .loop = loop};
    for (uint64_t i = 0; i < 1000; i++)
        push_back(loop, &one, i * 7919 % 1000 + 1);
    push_back(loop, &one, 500);
    leat_embedded_advance(e, 499);
    ck_assert_uint_eq(one.ran, 0);
    leat_embedded_advance(e, 5000);
    ck_assert_uint_eq(one.ran, 1);
    ck_assert_uint_eq(one.wrong, 0);
    leat_embedded_free(e);
}
END_TEST

START_TEST(a_delay_beyond_the_clock_never_ends) {
    leat_embedded *e = leat_embedded_new(bare);
    leat_loop *loop = leat_embedded_loop(e);
    idle_timer one = {.timer.fn = ring, .loop = loop};
    leat_embedded_advance(e, 1000);
    ck_assert_int_eq(leat_timer_start(loop, &one.timer, UINT64_MAX), 0);
    leat_embedded_advance(e, UINT32_MAX);
    ck_assert_uint_eq(one.ran, 0);
    ck_assert(leat_timer_is_running(&one.timer));
    leat_timer_stop(loop, &one.timer);
    leat_embedded_free(e);
}
END_TEST

int main(void) {
    return suite_run("timers", (const TTest *const[]){a_hundred_thousand_idle_timers_are_not_touched_by_traffic,
                                                      starting_and_stopping_the_last_of_many_moves_no_other,
                                                      a_timer_stopped_by_an_equal_one_before_it_never_runs,
                                                      a_timer_moved_by_an_equal_one_runs_at_its_new_time_only,
                                                      a_timer_may_be_moved_forward_and_back_any_number_of_times,
                                                      a_delay_beyond_the_clock_never_ends, NULL});
}
