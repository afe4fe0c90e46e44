/** What an idle channel keeps resident, against the block that it cannot do without. */
#include "bench/idle.h"
#include "bench/suites.h"
#include "core/channel_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REQUIRED_BYTES = 1024 };

/* Bytes a channel, and how many channels they are the mean of. */
typedef struct memory_state {
    leat_alloc *alloc;
    uint64_t channels;
    double bytes;
} memory_state;

static memory_state *state_new(leat_alloc *alloc, double bytes) {
    memory_state *state = leat_alloc_take(alloc, sizeof *state, NULL);
    if (state)
        *state = (memory_state){.alloc = alloc, .channels = BENCH_IDLE_CHANNELS, .bytes = bytes};
    return state;
}

static void tear_down(void *argument) {
    memory_state *state = argument;
    leat_alloc_give(state->alloc, state, sizeof *state);
}

static double measure(void *argument, uint64_t times) {
    return ((memory_state *)argument)->bytes * (double)times;
}

static void output(void *argument, bench_output *out) {
    memory_state *state = argument;
    bench_output_add(out, &state->channels, sizeof state->channels);
}

/* The program stands beside this one: a fresh process, whose heap nobody used before. */
static FILE *start_program(void) {
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof BENCH_IDLE_PROGRAM - 2);
    if (length < 0)
        return NULL;
    path[length] = '\0';
    strcpy(strrchr(path, '/') + 1, BENCH_IDLE_PROGRAM);
    return popen(path, "r");
}

static void *idle_set_up(const void *work, leat_alloc *alloc) {
    (void)work;
    FILE *program = start_program();
    uint64_t channels = 0, bytes = 0;
    bool said = program && fscanf(program, BENCH_IDLE_FORMAT, &channels, &bytes) == 2;
    if (program)
        said = pclose(program) == 0 && said;
    if (!said || channels != BENCH_IDLE_CHANNELS)
        return NULL;
    return state_new(alloc, (double)bytes / (double)channels);
}

static void *limit_set_up(const void *work, leat_alloc *alloc) {
    (void)work;
    return state_new(alloc, REQUIRED_BYTES);
}

static void *block_set_up(const void *work, leat_alloc *alloc) {
    (void)work;
    leat_pipeline *pipeline = bench_idle_pipeline();
    memory_state *state = pipeline ? state_new(alloc, (double)pipeline->block_size) : NULL;
    leat_pipeline_release(pipeline);
    return state;
}

static const bench_arm idle_arm = {"leat", idle_set_up, NULL, output, tear_down, measure};
static const bench_arm limit_arm = {"1024-bytes", limit_set_up, NULL, output, tear_down, measure};
static const bench_arm block_arm = {"block", block_set_up, NULL, output, tear_down, measure};

static void rows(bench_visitor *visitor) {
    const bench_row row = {.suite = "memory",
                           .name = "idle-tcp-5-handlers",
                           .unit = "bytes",
                           .arms = {&idle_arm, &limit_arm, &block_arm},
                           .ratios = {{"leat", "1024-bytes", 1}, {"leat", "block", 0}}};
    visitor->visit(visitor, &row);
}

const bench_suite memory_suite = {"memory", "resident bytes of an idle TCP channel with five handlers", rows};
