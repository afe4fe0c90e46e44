/** What it costs to write an array of numbers into a buffer, against the copy of its bytes. */
#include "bench/suites.h"
#include "core/bytebuf_array.h"

#include <stdlib.h>
#include <string.h>

typedef struct array_work {
    size_t count;
    bool swapped; /* else in the machine's order */
} array_work;

typedef struct array_state {
    leat_alloc *alloc;
    array_work work;
    leat_bytebuf *buf; /* of the arm `leat` */
    uint8_t *block;    /* of the arm `memcpy` */
    int32_t values[];
} array_state;

static size_t bytes_of(const array_state *state) {
    return state->work.count * sizeof(int32_t);
}

static array_state *state_new(const array_work *work, leat_alloc *alloc) {
    array_state *state = leat_alloc_take(alloc, sizeof *state + work->count * sizeof(int32_t), NULL);
    bench_need(state);
    *state = (array_state){.alloc = alloc, .work = *work};
    for (size_t i = 0; i < work->count; i++)
        state->values[i] = (int32_t)((uint32_t)i * 2654435761u);
    return state;
}

static void tear_down(void *argument) {
    array_state *state = argument;
    leat_bytebuf_release(state->buf);
    leat_alloc_give(state->alloc, state->block, bytes_of(state));
    leat_alloc_give(state->alloc, state, sizeof *state + bytes_of(state));
}

/* The arm `leat`. */
static void *leat_set_up(const void *work, leat_alloc *alloc) {
    array_state *state = state_new(work, alloc);
    state->buf = leat_bytebuf_new(alloc, bytes_of(state));
    bench_need(state->buf);
    return state;
}

static bool write_array(const array_state *state) {
    leat_bytebuf_clear(state->buf);
    return state->work.swapped ? leat_bytebuf_write_i32_array(state->buf, state->values, state->work.count)
                               : leat_bytebuf_write_i32_le_array(state->buf, state->values, state->work.count);
}

static void leat_run(void *argument, uint64_t times) {
    const array_state *state = argument;
    for (uint64_t i = 0; i < times; i++) {
        bench_need(write_array(state) ? state : NULL);
        bench_use(state);
    }
}

static void leat_output(void *argument, bench_output *out) {
    const array_state *state = argument;
    leat_run(argument, 1);
    bench_output_add(out, leat_bytebuf_data(state->buf), bytes_of(state));
}

/* The arm `memcpy`: the bytes as they are, into memory that is there. */
static void *memcpy_set_up(const void *work, leat_alloc *alloc) {
    array_state *state = state_new(work, alloc);
    state->block = leat_alloc_take(alloc, bytes_of(state), NULL);
    bench_need(state->block);
    return state;
}

static void memcpy_run(void *argument, uint64_t times) {
    const array_state *state = argument;
    for (uint64_t i = 0; i < times; i++) {
        memcpy(state->block, state->values, bytes_of(state));
        bench_use(state);
    }
}

/* What the other arm writes; a copy does not swap. */
static void memcpy_output(void *argument, bench_output *out) {
    const array_state *state = argument;
    for (size_t i = 0; i < state->work.count; i++) {
        uint8_t bytes[4];
        if (state->work.swapped)
            leat_store_i32(bytes, state->values[i]);
        else
            leat_store_i32_le(bytes, state->values[i]);
        bench_output_add(out, bytes, sizeof bytes);
    }
}

static const bench_arm leat_arm = {"leat", leat_set_up, leat_run, leat_output, tear_down, NULL};
static const bench_arm memcpy_arm = {"memcpy", memcpy_set_up, memcpy_run, memcpy_output, tear_down, NULL};

static void row(bench_visitor *visitor, const char *name, array_work work, double at_most) {
    const bench_row shown = {.suite = "array",
                             .name = name,
                             .work = &work,
                             .arms = {&leat_arm, &memcpy_arm},
                             .ratios = {{"leat", "memcpy", at_most}}};
    visitor->visit(visitor, &shown);
}

static void rows(bench_visitor *visitor) {
    row(visitor, "i32-1000", (array_work){.count = 1000}, 1.5);
    row(visitor, "i32-921600", (array_work){.count = 921600}, 1.05);
    row(visitor, "i32-swapped-921600", (array_work){.count = 921600, .swapped = true}, 1.3);
}

const bench_suite array_suite = {"array", "an array of numbers written into a buffer", rows};
