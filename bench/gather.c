/** What a push batch of shared events costs: built, its spans walked, released. */
#include "core/gather.h"
#include "bench/suites.h"
#include "core/pool.h"

#include <string.h>

enum { MOST_EVENTS = 200, MOST_SPANS = 2 * MOST_EVENTS + 1 };

/* How Server-Sent Events are delimited; the end of one and the beginning of the next are one piece. */
static const char PREFIX[] = "data: ";
static const char BETWEEN[] = "\n\ndata: ";
static const char SUFFIX[] = "\n\n";
enum { PREFIX_LENGTH = sizeof PREFIX - 1, BETWEEN_LENGTH = sizeof BETWEEN - 1, SUFFIX_LENGTH = sizeof SUFFIX - 1 };

typedef struct batch_work {
    size_t events;
    size_t size; /* bytes an event */
    bool delimited;
} batch_work;

/* A piece of a batch that is built by hand, and each event as such code knows it. */
typedef struct part {
    leat_span span;
    leat_bytebuf *owner; /* NULL for static bytes */
} part;

/* What every arm works on. */
typedef struct batch_state {
    leat_alloc *below;
    leat_pool *pool; /* as a loop has one */
    leat_alloc *alloc;
    batch_work work;
    part events[MOST_EVENTS];
    leat_bytebuf *buffers[MOST_EVENTS]; /* of these events */
    uint8_t *block;                     /* reused by the arm `copy`, sized beforehand */
    size_t block_size;
    leat_span spans[MOST_SPANS]; /* what a gathering write would be given */
    size_t length;               /* of the last batch */
} batch_state;

static size_t part_count(const batch_work *work) {
    return work->delimited ? 2 * work->events + 1 : work->events;
}

static size_t whole_length(const batch_work *work) {
    size_t payload = work->events * work->size;
    if (!work->delimited)
        return payload;
    return payload + PREFIX_LENGTH + (work->events - 1) * BETWEEN_LENGTH + SUFFIX_LENGTH;
}

static leat_bytebuf *event_new(leat_alloc *alloc, size_t size, uint64_t *random) {
    leat_bytebuf *event = leat_bytebuf_new(alloc, size);
    for (size_t i = 0; event && i < size; i++) {
        *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
        leat_bytebuf_write_u8(event, (uint8_t)(*random >> 56));
    }
    return event;
}

static bool make_events(batch_state *state) {
    uint64_t random = 20240229;
    for (size_t i = 0; i < state->work.events; i++) {
        leat_bytebuf *event = event_new(state->alloc, state->work.size, &random);
        if (!event)
            return false;
        state->events[i] = (part){{leat_bytebuf_data(event), state->work.size}, event};
    }
    return true;
}

/* Events are shared: somebody else, here the other half of this state, holds each of them too. */
static void share_events(batch_state *state) {
    for (size_t i = 0; i < state->work.events; i++)
        state->buffers[i] = leat_bytebuf_retain(state->events[i].owner);
}

static void tear_down(void *argument) {
    batch_state *state = argument;
    for (size_t i = 0; i < state->work.events; i++) {
        leat_bytebuf_release(state->events[i].owner);
        leat_bytebuf_release(state->buffers[i]);
    }
    leat_alloc_give(state->alloc, state->block, state->block_size);
    leat_pool_release(state->pool);
    leat_alloc_give(state->below, state, sizeof *state);
}

static void *set_up(const void *work, leat_alloc *below) {
    batch_state *state = leat_alloc_take_zeroed(below, sizeof *state);
    if (!state)
        return NULL;
    state->below = below;
    state->pool = leat_pool_new(below, NULL);
    bench_need(state->pool);
    state->alloc = leat_pool_alloc(state->pool);
    state->work = *(const batch_work *)work;
    state->block_size = whole_length(&state->work);
    state->block = leat_alloc_take(state->alloc, state->block_size, NULL);
    if (!state->block || !make_events(state)) {
        tear_down(state);
        return NULL;
    }
    share_events(state);
    return state;
}

/* What every arm does with the spans of its batch. */
static void walk(batch_state *state, size_t count) {
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        length += state->spans[i].length;
    state->length = length;
    bench_use(state);
}

static void output_spans(batch_state *state, size_t count, bench_output *out) {
    walk(state, count);
    for (size_t i = 0; i < count; i++)
        bench_output_add(out, state->spans[i].bytes, state->spans[i].length);
    if (state->length != whole_length(&state->work))
        out->failed = true;
}

/* The arm `auto`: leat_gather decides what to copy. */
static void gather_pieces(leat_gather *gather, const batch_state *state) {
    if (!state->work.delimited) {
        leat_gather_add_shared_list(gather, state->buffers, state->work.events);
        return;
    }
    leat_gather_add_static(gather, PREFIX, PREFIX_LENGTH);
    leat_gather_add_joined(gather, state->buffers, state->work.events, BETWEEN, BETWEEN_LENGTH);
    leat_gather_add_static(gather, SUFFIX, SUFFIX_LENGTH);
}

static leat_bytebuf *gathered(const batch_state *state) {
    leat_gather gather;
    leat_gather_init(&gather, state->alloc, LEAT_GATHER_AUTO, (uint32_t)part_count(&state->work));
    gather_pieces(&gather, state);
    leat_bytebuf *batch = leat_gather_finish(&gather);
    bench_need(batch);
    return batch;
}

static void auto_run(void *argument, uint64_t times) {
    batch_state *state = argument;
    for (uint64_t i = 0; i < times; i++) {
        leat_bytebuf *batch = gathered(state);
        walk(state, leat_bytebuf_spans(batch, state->spans, MOST_SPANS));
        leat_bytebuf_release(batch);
    }
}

static void auto_output(void *argument, bench_output *out) {
    batch_state *state = argument;
    leat_bytebuf *batch = gathered(state);
    output_spans(state, leat_bytebuf_spans(batch, state->spans, MOST_SPANS), out);
    leat_bytebuf_release(batch);
}

/* The arm `copy`, by hand: everything goes into one block. */
static uint8_t *append(uint8_t *to, const void *bytes, size_t length) {
    memcpy(to, bytes, length);
    return to + length;
}

static uint8_t *append_all(uint8_t *to, const batch_state *state) {
    if (!state->work.delimited) {
        for (size_t i = 0; i < state->work.events; i++)
            to = append(to, state->events[i].span.bytes, state->events[i].span.length);
        return to;
    }
    to = append(to, PREFIX, PREFIX_LENGTH);
    to = append(to, state->events[0].span.bytes, state->events[0].span.length);
    for (size_t i = 1; i < state->work.events; i++) {
        to = append(to, BETWEEN, BETWEEN_LENGTH);
        to = append(to, state->events[i].span.bytes, state->events[i].span.length);
    }
    return append(to, SUFFIX, SUFFIX_LENGTH);
}

static size_t copied(batch_state *state) {
    size_t length = (size_t)(append_all(state->block, state) - state->block);
    if (state->alloc->stats)
        state->alloc->stats->copied += length;
    state->spans[0] = (leat_span){state->block, length};
    return 1;
}

static void copy_run(void *argument, uint64_t times) {
    batch_state *state = argument;
    for (uint64_t i = 0; i < times; i++)
        walk(state, copied(state));
}

static void copy_output(void *argument, bench_output *out) {
    output_spans(argument, copied(argument), out);
}

/* The arm `wrap`, by hand: an array of parts, each with a reference to what it points into. */
static part part_static(const char *bytes, size_t length) {
    return (part){{(const uint8_t *)bytes, length}, NULL};
}

static part part_event(part event) {
    leat_bytebuf_retain(event.owner);
    return event;
}

static void wrap_pieces(part *parts, const batch_state *state) {
    if (!state->work.delimited) {
        for (size_t i = 0; i < state->work.events; i++)
            *parts++ = part_event(state->events[i]);
        return;
    }
    *parts++ = part_static(PREFIX, PREFIX_LENGTH);
    *parts++ = part_event(state->events[0]);
    for (size_t i = 1; i < state->work.events; i++) {
        *parts++ = part_static(BETWEEN, BETWEEN_LENGTH);
        *parts++ = part_event(state->events[i]);
    }
    *parts = part_static(SUFFIX, SUFFIX_LENGTH);
}

static part *wrapped(const batch_state *state) {
    part *parts = leat_alloc_take(state->alloc, part_count(&state->work) * sizeof *parts, NULL);
    bench_need(parts);
    wrap_pieces(parts, state);
    return parts;
}

static size_t spans_of(const part *parts, batch_state *state) {
    size_t count = part_count(&state->work);
    for (size_t i = 0; i < count; i++)
        state->spans[i] = parts[i].span;
    return count;
}

static void unwrap(part *parts, const batch_state *state) {
    size_t count = part_count(&state->work);
    for (size_t i = 0; i < count; i++)
        if (parts[i].owner)
            leat_bytebuf_release(parts[i].owner);
    leat_alloc_give(state->alloc, parts, count * sizeof *parts);
}

static void wrap_run(void *argument, uint64_t times) {
    batch_state *state = argument;
    for (uint64_t i = 0; i < times; i++) {
        part *parts = wrapped(state);
        walk(state, spans_of(parts, state));
        unwrap(parts, state);
    }
}

static void wrap_output(void *argument, bench_output *out) {
    batch_state *state = argument;
    part *parts = wrapped(state);
    output_spans(state, spans_of(parts, state), out);
    unwrap(parts, state);
}

static const bench_arm auto_arm = {"auto", set_up, auto_run, auto_output, tear_down, NULL};
static const bench_arm copy_arm = {"copy", set_up, copy_run, copy_output, tear_down, NULL};
static const bench_arm wrap_arm = {"wrap", set_up, wrap_run, wrap_output, tear_down, NULL};

/* What is required of 30 events of that size; 0 = the ratio is only shown. */
static double at_most(size_t events, size_t size) {
    if (events != 30)
        return 0;
    return size == 128 ? 1.2 : size == 1024 || size == 16384 ? 1.1 : 0;
}

static void walk_row(bench_visitor *visitor, size_t events, size_t size, bool delimited) {
    const batch_work work = {events, size, delimited};
    char name[64];
    snprintf(name, sizeof name, "walk-%s-%zux%zu", delimited ? "delimited" : "bare", events, size);
    const bench_row row = {.suite = "gather",
                           .name = name,
                           .work = &work,
                           .arms = {&auto_arm, &copy_arm, &wrap_arm},
                           .best = {"best", {"copy", "wrap"}},
                           .ratios = {{"auto", "best", at_most(events, size)}}};
    visitor->visit(visitor, &row);
}

static void rows(bench_visitor *visitor) {
    static const size_t counts[] = {30, 200}, sizes[] = {128, 256, 512, 1024, 2048, 4096, 16384};
    for (size_t c = 0; c < 2; c++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            walk_row(visitor, counts[c], sizes[s], false);
            walk_row(visitor, counts[c], sizes[s], true);
        }
}

const bench_suite gather_suite = {"gather", "a push batch of shared events: built, its spans walked, released", rows};
