/** What a push batch of shared events costs: built, its spans walked, released; and built, sent, released. */
#include "bench/gather.h"
#include "bench/batch.h"
#include "bench/suites.h"

#include <string.h>

enum { MOST_BATCH = 2 << 20 }; /* bytes of the largest batch whose threshold is asked for */

/* An event, or static bytes, as code that does everything by hand knows it. */
typedef struct part {
    leat_span span;
    leat_bytebuf *owner; /* NULL for static bytes */
} part;

/* What every arm works on. */
typedef struct walk_state {
    batch_events batch;
    part *events;   /* of the arms by hand */
    uint8_t *block; /* reused by the arm `copy`, sized beforehand */
    size_t length;  /* of the last batch */
} walk_state;

static void tear_down(void *argument) {
    walk_state *state = argument;
    leat_alloc *below = state->batch.below;
    leat_alloc_give(below, state->events, state->batch.work.events * sizeof(part));
    leat_alloc_give(below, state->block, batch_length(&state->batch.work));
    batch_end(&state->batch);
    leat_alloc_give(below, state, sizeof *state);
}

static bool prepare(walk_state *state, const batch_work *work, leat_alloc *below) {
    if (!batch_begin(&state->batch, work, below))
        return false;
    state->block = leat_alloc_take(below, batch_length(work), NULL);
    state->events = leat_alloc_take(below, work->events * sizeof(part), NULL);
    if (!state->block || !state->events)
        return false;
    for (size_t i = 0; i < work->events; i++) {
        leat_bytebuf *event = state->batch.buffers[i];
        state->events[i] = (part){{leat_bytebuf_data(event), work->size}, event};
    }
    return true;
}

static void *set_up(const void *work, leat_alloc *below) {
    walk_state *state = leat_alloc_take_zeroed(below, sizeof *state);
    if (state && prepare(state, work, below))
        return state;
    if (state)
        tear_down(state);
    return NULL;
}

/* What every arm does with the spans of its batch. */
static void walk(walk_state *state, size_t count) {
    const leat_span *spans = state->batch.spans;
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        length += spans[i].length;
    state->length = length;
    bench_use(state);
    bench_use(spans);
}

static void output_spans(walk_state *state, size_t count, bench_output *out) {
    walk(state, count);
    for (size_t i = 0; i < count; i++)
        bench_output_add(out, state->batch.spans[i].bytes, state->batch.spans[i].length);
    if (state->length != batch_length(&state->batch.work))
        out->failed = true;
}

/* The arm `auto`: leat_gather decides what to copy. */
static size_t auto_spans(walk_state *state, leat_bytebuf *whole) {
    return leat_bytebuf_spans(whole, state->batch.spans, state->batch.most_spans);
}

static void auto_run(void *argument, uint64_t times) {
    walk_state *state = argument;
    for (uint64_t i = 0; i < times; i++) {
        leat_bytebuf *whole = batch_gather(&state->batch, LEAT_GATHER_AUTO);
        walk(state, auto_spans(state, whole));
        leat_bytebuf_release(whole);
    }
}

static void auto_output(void *argument, bench_output *out) {
    walk_state *state = argument;
    leat_bytebuf *whole = batch_gather(&state->batch, LEAT_GATHER_AUTO);
    output_spans(state, auto_spans(state, whole), out);
    leat_bytebuf_release(whole);
}

/* The arm `copy`, by hand: everything goes into one block. */
static uint8_t *append(uint8_t *to, const void *bytes, size_t length) {
    memcpy(to, bytes, length);
    return to + length;
}

static uint8_t *append_all(uint8_t *to, const walk_state *state) {
    const part *events = state->events;
    size_t count = state->batch.work.events;
    if (!state->batch.work.delimited) {
        for (size_t i = 0; i < count; i++)
            to = append(to, events[i].span.bytes, events[i].span.length);
        return to;
    }
    to = append(to, BATCH_PREFIX, BATCH_PREFIX_LENGTH);
    to = append(to, events[0].span.bytes, events[0].span.length);
    for (size_t i = 1; i < count; i++) {
        to = append(to, BATCH_BETWEEN, BATCH_BETWEEN_LENGTH);
        to = append(to, events[i].span.bytes, events[i].span.length);
    }
    return append(to, BATCH_SUFFIX, BATCH_SUFFIX_LENGTH);
}

static size_t copied(walk_state *state) {
    size_t length = (size_t)(append_all(state->block, state) - state->block);
    if (state->batch.below->stats)
        state->batch.below->stats->copied += length;
    state->batch.spans[0] = (leat_span){state->block, length};
    return 1;
}

static void copy_run(void *argument, uint64_t times) {
    walk_state *state = argument;
    for (uint64_t i = 0; i < times; i++)
        walk(state, copied(state));
}

static void copy_output(void *argument, bench_output *out) {
    output_spans(argument, copied(argument), out);
}

/* The arm `copy-owned`, by hand: into a block of its own, from the pool, that could outlive the next batch. */
static uint8_t *copied_into_new(walk_state *state) {
    uint8_t *block = leat_alloc_take(state->batch.alloc, batch_length(&state->batch.work), NULL);
    bench_need(block);
    state->batch.spans[0] = (leat_span){block, (size_t)(append_all(block, state) - block)};
    return block;
}

static void copy_owned_run(void *argument, uint64_t times) {
    walk_state *state = argument;
    for (uint64_t i = 0; i < times; i++) {
        uint8_t *block = copied_into_new(state);
        walk(state, 1);
        leat_alloc_give(state->batch.alloc, block, batch_length(&state->batch.work));
    }
}

static void copy_owned_output(void *argument, bench_output *out) {
    walk_state *state = argument;
    uint8_t *block = copied_into_new(state);
    output_spans(state, 1, out);
    leat_alloc_give(state->batch.alloc, block, batch_length(&state->batch.work));
}

/* The arm `wrap`, by hand: an array of parts, each with a reference to what it points into. */
static part part_static(const char *bytes, size_t length) {
    return (part){{(const uint8_t *)bytes, length}, NULL};
}

static part part_event(part event) {
    leat_bytebuf_retain(event.owner);
    return event;
}

static void wrap_pieces(part *parts, const walk_state *state) {
    const part *events = state->events;
    size_t count = state->batch.work.events;
    if (!state->batch.work.delimited) {
        for (size_t i = 0; i < count; i++)
            *parts++ = part_event(events[i]);
        return;
    }
    *parts++ = part_static(BATCH_PREFIX, BATCH_PREFIX_LENGTH);
    *parts++ = part_event(events[0]);
    for (size_t i = 1; i < count; i++) {
        *parts++ = part_static(BATCH_BETWEEN, BATCH_BETWEEN_LENGTH);
        *parts++ = part_event(events[i]);
    }
    *parts = part_static(BATCH_SUFFIX, BATCH_SUFFIX_LENGTH);
}

static part *wrapped(const walk_state *state) {
    part *parts = leat_alloc_take(state->batch.alloc, state->batch.most_spans * sizeof *parts, NULL);
    bench_need(parts);
    wrap_pieces(parts, state);
    return parts;
}

static size_t spans_of(const part *parts, walk_state *state) {
    for (size_t i = 0; i < state->batch.most_spans; i++)
        state->batch.spans[i] = parts[i].span;
    return state->batch.most_spans;
}

static void unwrap(part *parts, const walk_state *state) {
    size_t count = state->batch.most_spans;
    for (size_t i = 0; i < count; i++)
        if (parts[i].owner)
            leat_bytebuf_release(parts[i].owner);
    leat_alloc_give(state->batch.alloc, parts, count * sizeof *parts);
}

static void wrap_run(void *argument, uint64_t times) {
    walk_state *state = argument;
    for (uint64_t i = 0; i < times; i++) {
        part *parts = wrapped(state);
        walk(state, spans_of(parts, state));
        unwrap(parts, state);
    }
}

static void wrap_output(void *argument, bench_output *out) {
    walk_state *state = argument;
    part *parts = wrapped(state);
    output_spans(state, spans_of(parts, state), out);
    unwrap(parts, state);
}

static const bench_arm auto_arm = {"auto", set_up, auto_run, auto_output, tear_down, NULL};
static const bench_arm copy_arm = {"copy", set_up, copy_run, copy_output, tear_down, NULL};
static const bench_arm copy_owned_arm = {"copy-owned", set_up, copy_owned_run, copy_owned_output, tear_down, NULL};
static const bench_arm wrap_arm = {"wrap", set_up, wrap_run, wrap_output, tear_down, NULL};

void gather_walk_row(bench_visitor *visitor, const char *suite, const batch_work *work, double at_most) {
    char name[64];
    snprintf(name, sizeof name, "walk-%s-%zux%zu", work->delimited ? "delimited" : "bare", work->events, work->size);
    const bench_row row = {.suite = suite,
                           .name = name,
                           .work = work,
                           .arms = {&auto_arm, &copy_arm, &wrap_arm, &copy_owned_arm},
                           .best = {"best", {"copy", "wrap"}},
                           .ratios = {{"auto", "best", at_most}, {"auto", "copy-owned", 0}}};
    visitor->visit(visitor, &row);
}

/* What is required of 30 events of that size; 0 = the ratio is only shown. */
static double at_most(size_t events, size_t size) {
    if (events != 30)
        return 0;
    return size == 128 ? 1.2 : size == 1024 || size == 16384 ? 1.1 : 0;
}

static void walk_rows(bench_visitor *visitor) {
    static const size_t counts[] = {30, 200}, sizes[] = {128, 256, 512, 1024, 2048, 4096, 16384};
    for (size_t c = 0; c < 2; c++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int delimited = 0; delimited < 2; delimited++) {
                const batch_work work = {counts[c], sizes[s], delimited};
                gather_walk_row(visitor, "gather", &work, at_most(counts[c], sizes[s]));
            }
}

static void socket_rows(bench_visitor *visitor) {
    static const batch_work works[] = {{30, 128, false},  {30, 1024, false},  {30, 1024, true},
                                       {30, 10752, true}, {1029, 128, false}, {4096, 128, false}};
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        gather_socket_row(visitor, "gather", &works[i], 1.05);
}

static void rows(bench_visitor *visitor) {
    walk_rows(visitor);
    socket_rows(visitor);
}

const bench_suite gather_suite = {.name = "gather",
                                  .about = "a push batch of shared events: built, its spans walked or sent, released",
                                  .rows = rows};

/* Every size that AUTO has to decide about, where it decides: the table that LEAT_GATHER_THRESHOLD comes from. */
static void threshold_rows(bench_visitor *visitor) {
    static const size_t counts[] = {1, 30, 200, 1029, 4096};
    for (int delimited = 0; delimited < 2; delimited++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (size_t size = 16; size <= 65536 && size * counts[c] <= MOST_BATCH; size *= 2) {
                const batch_work work = {counts[c], size, delimited};
                gather_walk_row(visitor, "threshold", &work, 0);
                gather_socket_row(visitor, "threshold", &work, 0);
            }
}

const bench_suite threshold_suite = {.name = "threshold",
                                     .about = "what gathers of 1 to 4096 events cost, copied, wrapped and as chosen",
                                     .rows = threshold_rows,
                                     .on_request = true};
