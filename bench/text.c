/** What it costs to write text into a buffer of exactly its length, and to append more of it. */
#include "core/text.h"
#include "bench/suites.h"
#include "bench/text.h"
#include "core/pool.h"

#include <stdlib.h>
#include <string.h>

enum { FOREIGN_EVERY = 1024 };

typedef struct text_state {
    leat_alloc *below;
    leat_alloc *alloc;
    leat_pool *pool;
    text_work work;
    char *text;
} text_state;

char *text_make(const text_work *work) {
    char *text = malloc(work->length);
    if (!text)
        bench_need(NULL);
    for (size_t i = 0; i < work->length; i++)
        text[i] = (char)(' ' + i * 7 % 95);
    for (size_t i = 500; work->foreign && i + 1 < work->length; i += FOREIGN_EVERY)
        memcpy(text + i, "\xc3\xa9", 2);
    return text;
}

static text_state *state_new(const text_work *work, leat_alloc *below) {
    text_state *state = leat_alloc_take_zeroed(below, sizeof *state);
    if (!state)
        return NULL;
    *state = (text_state){.below = below, .alloc = below, .work = *work, .text = text_make(work)};
    if (work->unpooled)
        return state;
    state->pool = leat_pool_new(below, NULL);
    bench_need(state->pool);
    state->alloc = leat_pool_alloc(state->pool);
    return state;
}

static void *set_up(const void *work, leat_alloc *below) {
    return state_new(work, below);
}

static void tear_down(void *argument) {
    text_state *state = argument;
    free(state->text);
    leat_pool_release(state->pool);
    leat_alloc_give(state->below, state, sizeof *state);
}

/* The arm `leat`: known ASCII needs no look at it. */
static int append(leat_bytebuf *buf, const text_state *state) {
    const text_work *work = &state->work;
    if (work->foreign)
        return leat_text_write_utf8(buf, state->text, work->length, LEAT_TEXT_STRICT);
    if (work->checked)
        return leat_text_write_ascii(buf, state->text, work->length);
    return leat_bytebuf_write_bytes(buf, state->text, work->length) ? 0 : LEAT_ENOMEM;
}

static leat_bytebuf *written(const text_state *state) {
    leat_bytebuf *buf = leat_bytebuf_new(state->alloc, state->work.length);
    bench_need(buf);
    bench_need(append(buf, state) == 0 ? buf : NULL);
    return buf;
}

static void leat_run(void *state, uint64_t times) {
    for (uint64_t i = 0; i < times; i++) {
        leat_bytebuf *buf = written(state);
        bench_use(buf);
        leat_bytebuf_release(buf);
    }
}

static void output(leat_bytebuf *buf, bench_output *out) {
    bench_output_add(out, leat_bytebuf_data(buf), (size_t)leat_bytebuf_readable(buf));
    leat_bytebuf_release(buf);
}

static void leat_output(void *state, bench_output *out) {
    output(written(state), out);
}

/* The arm `malloc-memcpy`. */
static void malloc_run(void *argument, uint64_t times) {
    const text_state *state = argument;
    for (uint64_t i = 0; i < times; i++) {
        char *copy = malloc(state->work.length);
        if (!copy)
            bench_need(NULL);
        memcpy(copy, state->text, state->work.length);
        bench_use(copy);
        free(copy);
    }
}

static void malloc_output(void *argument, bench_output *out) {
    const text_state *state = argument;
    bench_output_add(out, state->text, state->work.length);
}

/* A text and three more into a buffer of exactly their length; the arm `reserve3n` asks for the worst case first. */
static leat_bytebuf *appended(const text_state *state) {
    leat_bytebuf *buf = leat_bytebuf_new(state->alloc, TEXT_APPENDS * state->work.length);
    bench_need(buf);
    for (int i = 0; i < TEXT_APPENDS; i++) {
        bench_need(leat_bytebuf_reserve(buf, state->work.reserve) == 0 ? buf : NULL);
        bench_need(append(buf, state) == 0 ? buf : NULL);
    }
    return buf;
}

static void append_run(void *state, uint64_t times) {
    for (uint64_t i = 0; i < times; i++) {
        leat_bytebuf *buf = appended(state);
        bench_use(buf);
        leat_bytebuf_release(buf);
    }
}

static void append_output(void *state, bench_output *out) {
    output(appended(state), out);
}

static void *reserving_set_up(const void *work, leat_alloc *below) {
    text_work reserving = *(const text_work *)work;
    reserving.reserve = 3 * reserving.length;
    return state_new(&reserving, below);
}

static const bench_arm leat_arm = {"leat", set_up, leat_run, leat_output, tear_down, NULL};
static const bench_arm malloc_arm = {"malloc-memcpy", set_up, malloc_run, malloc_output, tear_down, NULL};
static const bench_arm append_arm = {"leat", set_up, append_run, append_output, tear_down, NULL};
static const bench_arm reserve_arm = {"reserve3n", reserving_set_up, append_run, append_output, tear_down, NULL};

static void write_row(bench_visitor *visitor, const char *kind, text_work work, double at_most) {
    char name[64];
    snprintf(name, sizeof name, "%s-%zu", kind, work.length);
    const bench_row row = {.suite = "text",
                           .name = name,
                           .work = &work,
                           .arms = {&leat_arm, &malloc_arm},
                           .ratios = {{"leat", "malloc-memcpy", at_most}}};
    visitor->visit(visitor, &row);
}

static void append_row(bench_visitor *visitor, size_t length, bool unpooled) {
    const text_work work = {.length = length, .checked = true, .unpooled = unpooled};
    char name[64];
    snprintf(name, sizeof name, "append3-%zu-%s", length, unpooled ? "unpooled" : "pooled");
    const bench_row row = {.suite = "text",
                           .name = name,
                           .work = &work,
                           .arms = {&append_arm, &reserve_arm},
                           .ratios = {{"leat", "reserve3n", 0.9}}};
    visitor->visit(visitor, &row);
}

static void rows(bench_visitor *visitor) {
    write_row(visitor, "ascii-known", (text_work){.length = 1024}, 1.6);
    write_row(visitor, "ascii-known", (text_work){.length = 16384}, 1.25);
    write_row(visitor, "ascii-known", (text_work){.length = 65536}, 1.25);
    write_row(visitor, "ascii-checked", (text_work){.length = 16384, .checked = true}, 2);
    write_row(visitor, "utf8-mostly-ascii", (text_work){.length = 16384, .checked = true, .foreign = true}, 2.5);
    for (int unpooled = 0; unpooled < 2; unpooled++) {
        append_row(visitor, 1024, unpooled);
        append_row(visitor, 65536, unpooled);
    }
}

const bench_suite text_suite = {"text", "text written into a buffer of its length, and appended", rows};
