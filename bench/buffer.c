/** What it costs to write and read numbers one by one through a buffer, and to share it. */
#include "bench/suites.h"
#include "core/composite.h"
#include "core/cursor.h"

#include <string.h>

enum { COUNT = 1024, SIZE = 4 * COUNT, COMPONENTS = 64 };

typedef struct buffer_state {
    leat_alloc *alloc;
    leat_bytebuf *buf;
    uint32_t sum; /* of what was read last */
    uint32_t refs;
} buffer_state;

static uint32_t value_of(uint32_t i) {
    return i * 2654435761u;
}

static void *state_of(leat_alloc *alloc, leat_bytebuf *buf) {
    buffer_state *state = leat_alloc_take(alloc, sizeof *state, NULL);
    bench_need(buf);
    bench_need(state);
    *state = (buffer_state){.alloc = alloc, .buf = buf, .refs = 2};
    return state;
}

static void *set_up(const void *work, leat_alloc *alloc) {
    (void)work;
    return state_of(alloc, leat_bytebuf_new(alloc, SIZE));
}

static void tear_down(void *argument) {
    buffer_state *state = argument;
    leat_bytebuf_release(state->buf);
    leat_alloc_give(state->alloc, state, sizeof *state);
}

static void output_of(const buffer_state *state, bench_output *out) {
    bench_output_add(out, state->buf->bytes, SIZE);
    bench_output_add(out, &state->sum, sizeof state->sum);
}

/* ---- through the handle ---- */

static bool write_all(leat_bytebuf *buf) {
    for (uint32_t i = 0; i < COUNT; i++)
        if (!leat_bytebuf_write_u32(buf, value_of(i)))
            return false;
    return true;
}

static uint32_t read_all(leat_bytebuf *buf) {
    uint32_t sum = 0, value;
    while (leat_bytebuf_read_u32(buf, &value))
        sum += value;
    return sum;
}

static void handle_run(void *argument, uint64_t times) {
    buffer_state *state = argument;
    for (uint64_t i = 0; i < times; i++) {
        leat_bytebuf_clear(state->buf);
        bench_need(write_all(state->buf) ? state : NULL);
        state->sum = read_all(state->buf);
        bench_use(state);
    }
}

static void handle_output(void *state, bench_output *out) {
    handle_run(state, 1);
    output_of(state, out);
}

/* ---- through cursors ---- */

static bool write_all_by_cursor(leat_bytebuf *buf) {
    leat_writer writer = leat_writer_begin(buf);
    for (uint32_t i = 0; i < COUNT; i++)
        if (!leat_writer_u32(&writer, value_of(i)))
            return false;
    leat_writer_finish(&writer);
    return true;
}

static uint32_t read_all_by_cursor(leat_bytebuf *buf) {
    leat_reader reader = leat_reader_begin(buf);
    uint32_t sum = 0, value;
    while (leat_reader_u32(&reader, &value))
        sum += value;
    leat_reader_finish(&reader);
    return sum;
}

static void cursor_run(void *argument, uint64_t times) {
    buffer_state *state = argument;
    for (uint64_t i = 0; i < times; i++) {
        leat_bytebuf_clear(state->buf);
        bench_need(write_all_by_cursor(state->buf) ? state : NULL);
        state->sum = read_all_by_cursor(state->buf);
        bench_use(state);
    }
}

static void cursor_output(void *state, bench_output *out) {
    cursor_run(state, 1);
    output_of(state, out);
}

/* ---- the limit: a pointer in a register, and a look at the end before each number ---- */

static bool write_all_bare(uint8_t *at, const uint8_t *end) {
    for (uint32_t i = 0; i < COUNT; i++) {
        if (end - at < 4)
            return false;
        leat_store_u32(at, value_of(i));
        at += 4;
    }
    return true;
}

static uint32_t read_all_bare(const uint8_t *at, const uint8_t *end) {
    uint32_t sum = 0;
    for (; end - at >= 4; at += 4)
        sum += leat_load_u32(at);
    return sum;
}

static void loop_run(void *argument, uint64_t times) {
    buffer_state *state = argument;
    uint8_t *bytes = state->buf->bytes;
    for (uint64_t i = 0; i < times; i++) {
        bench_use(&bytes);
        bench_need(write_all_bare(bytes, bytes + SIZE) ? state : NULL);
        state->sum = read_all_bare(bytes, bytes + SIZE);
        bench_use(state);
    }
}

static void loop_output(void *state, bench_output *out) {
    loop_run(state, 1);
    output_of(state, out);
}

static const bench_arm handle_arm = {"leat", set_up, handle_run, handle_output, tear_down, NULL};
static const bench_arm cursor_arm = {"leat", set_up, cursor_run, cursor_output, tear_down, NULL};
static const bench_arm loop_arm = {"loop", set_up, loop_run, loop_output, tear_down, NULL};

/* ---- across the borders of components ---- */

static void *plain_set_up(const void *work, leat_alloc *alloc) {
    buffer_state *state = set_up(work, alloc);
    bench_need(write_all(state->buf) ? state : NULL);
    return state;
}

/* The same bytes in components that end between numbers. */
static void *composite_set_up(const void *work, leat_alloc *alloc) {
    buffer_state *plain = plain_set_up(work, alloc);
    leat_composite *composite = leat_composite_new(alloc, COMPONENTS);
    bench_need(composite);
    for (int i = 0; i < COMPONENTS; i++)
        bench_need(leat_composite_add(composite, leat_bytebuf_split(plain->buf, SIZE / COMPONENTS)) == 0 ? plain
                                                                                                         : NULL);
    leat_bytebuf_release(plain->buf);
    plain->buf = leat_composite_buffer(composite);
    return plain;
}

static void read_run(void *argument, uint64_t times) {
    buffer_state *state = argument;
    for (uint64_t i = 0; i < times; i++) {
        leat_bytebuf_set_reader_index(state->buf, 0);
        state->sum = read_all(state->buf);
        bench_use(state);
    }
}

static void read_output(void *argument, bench_output *out) {
    buffer_state *state = argument;
    read_run(state, 1);
    bench_output_add(out, &state->sum, sizeof state->sum);
}

static const bench_arm composite_arm = {"leat", composite_set_up, read_run, read_output, tear_down, NULL};
static const bench_arm plain_arm = {"plain", plain_set_up, read_run, read_output, tear_down, NULL};

/* ---- a reference of a buffer that others hold too ---- */

static void *shared_set_up(const void *work, leat_alloc *alloc) {
    buffer_state *state = set_up(work, alloc);
    leat_bytebuf_retain(state->buf);
    return state;
}

static void share_run(void *argument, uint64_t times) {
    const buffer_state *state = argument;
    for (uint64_t i = 0; i < times; i++) {
        leat_bytebuf_retain(state->buf);
        leat_bytebuf_release(state->buf);
    }
}

/* What a count is changed by, once. */
static void atomic_add_run(void *argument, uint64_t times) {
    buffer_state *state = argument;
    for (uint64_t i = 0; i < times; i++)
        __atomic_fetch_add(&state->refs, 1, __ATOMIC_ACQ_REL);
}

static void share_output(void *argument, bench_output *out) {
    const buffer_state *state = argument;
    share_run(argument, 1);
    bench_output_add(out, &state->buf->refs, sizeof state->buf->refs);
}

static void atomic_add_output(void *argument, bench_output *out) {
    const buffer_state *state = argument;
    bench_output_add(out, &state->refs, sizeof state->refs);
}

static void shared_tear_down(void *argument) {
    const buffer_state *state = argument;
    leat_bytebuf_release(state->buf);
    tear_down(argument);
}

static const bench_arm share_arm = {"leat", shared_set_up, share_run, share_output, shared_tear_down, NULL};
static const bench_arm atomic_add_arm = {"atomic-add",      shared_set_up,    atomic_add_run,
                                         atomic_add_output, shared_tear_down, NULL};

static void row(bench_visitor *visitor, const char *name, const bench_arm *arm, const bench_arm *limit,
                double at_most) {
    const bench_row shown = {
        .suite = "buffer", .name = name, .arms = {arm, limit}, .ratios = {{arm->name, limit->name, at_most}}};
    visitor->visit(visitor, &shown);
}

static void rows(bench_visitor *visitor) {
    row(visitor, "u32-1024", &handle_arm, &loop_arm, 1.5);
    row(visitor, "u32-1024-cursor", &cursor_arm, &loop_arm, 1.1);
    row(visitor, "u32-composite-64", &composite_arm, &plain_arm, 2);
    row(visitor, "retain-release-shared", &share_arm, &atomic_add_arm, 2.5);
}

const bench_suite buffer_suite = {"buffer", "numbers through a buffer one by one, and references of it", rows};
