/** What the harness itself can see: the same work twice, and work that is twice as much. */
#include "bench/suites.h"

enum { STEPS = 1000 };

typedef struct busy {
    leat_alloc *alloc;
    uint64_t passes; /* over the steps, an operation */
    uint64_t value;
} busy;

static void *set_up(uint64_t passes, leat_alloc *alloc) {
    busy *state = leat_alloc_take(alloc, sizeof *state, NULL);
    if (state)
        *state = (busy){alloc, passes, 0};
    return state;
}

static void *set_up_once(const void *work, leat_alloc *alloc) {
    (void)work;
    return set_up(1, alloc);
}

static void *set_up_twice(const void *work, leat_alloc *alloc) {
    (void)work;
    return set_up(2, alloc);
}

/* A chain of dependent shifts, which no compiler shortens and no cache disturbs. */
static uint64_t pass(void) {
    uint64_t value = 88172645463325252;
    for (int i = 0; i < STEPS; i++) {
        value ^= value << 13;
        value ^= value >> 7;
        value ^= value << 17;
    }
    return value;
}

static void run(void *argument, uint64_t times) {
    busy *state = argument;
    for (uint64_t i = 0; i < times * state->passes; i++) {
        state->value = pass();
        bench_use(state);
    }
}

static void output(void *argument, bench_output *out) {
    busy *state = argument;
    run(state, 1);
    bench_output_add(out, &state->value, sizeof state->value);
}

static void tear_down(void *argument) {
    busy *state = argument;
    leat_alloc_give(state->alloc, state, sizeof *state);
}

static const bench_arm once = {"once", set_up_once, run, output, tear_down, NULL};
static const bench_arm twice = {"twice", set_up_twice, run, output, tear_down, NULL};

static void rows(bench_visitor *visitor) {
    const bench_row row = {
        .suite = "noise", .name = "steps-1000", .arms = {&once, &twice}, .ratios = {{"twice", "once", 2.1}}};
    visitor->visit(visitor, &row);
}

const bench_suite noise_suite = {"noise", "what the harness sees of the same work, and of twice as much", rows};
