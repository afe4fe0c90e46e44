/** What server-sent events cost: delimited for writing, and read. */
#include "bench/suites.h"
#include "core/embedded.h"
#include "core/gather.h"
#include "core/pool.h"
#include "core/transport.h"
#include "handlers/sse_decoder.h"
#include "handlers/sse_delimiter.h"

#include <string.h>

enum { MOST_EVENTS = 64, MOST_SPANS = 2 * MOST_EVENTS + 1, PREFIX_LENGTH = 6, SUFFIX_LENGTH = 2 };

typedef struct sse_work {
    size_t events;
    size_t size; /* bytes of data of each */
} sse_work;

/* What every arm works on. */
typedef struct sse_state {
    leat_alloc *below;
    leat_alloc *alloc; /* a pool's, as loops have one */
    leat_pool *pool;
    sse_work work;
    leat_bytebuf *events[MOST_EVENTS];
    leat_embedded *embedded; /* of the arm that decodes */
    leat_bytebuf *stream;    /* the events, delimited */
    uint8_t *block;          /* reused by the arm `copy` */
    leat_span spans[MOST_SPANS];
    size_t span_count;
    uint64_t seen; /* bytes of data that came out */
    bench_output *out;
} sse_state;

static size_t delimited_length(const sse_work *work) {
    return work->events * (PREFIX_LENGTH + work->size + SUFFIX_LENGTH);
}

static void tear_down(void *argument) {
    sse_state *state = argument;
    leat_embedded_free(state->embedded);
    leat_bytebuf_release(state->stream);
    for (size_t i = 0; i < MOST_EVENTS; i++)
        leat_bytebuf_release(state->events[i]);
    leat_alloc_give(state->below, state->block, delimited_length(&state->work));
    leat_pool_release(state->pool);
    leat_alloc_give(state->below, state, sizeof *state);
}

static leat_bytebuf *event_new(leat_alloc *alloc, size_t size) {
    leat_bytebuf *event = leat_bytebuf_new(alloc, size);
    bench_need(event);
    for (size_t i = 0; i < size; i++)
        leat_bytebuf_write_u8(event, (uint8_t)(' ' + i * 7 % 95));
    return event;
}

static void *set_up(const void *work, leat_alloc *below) {
    sse_state *state = leat_alloc_take_zeroed(below, sizeof *state);
    bench_need(state);
    state->below = below;
    state->work = *(const sse_work *)work;
    state->pool = leat_pool_new(below, NULL);
    bench_need(state->pool);
    state->alloc = leat_pool_alloc(state->pool);
    for (size_t i = 0; i < state->work.events; i++)
        state->events[i] = event_new(state->alloc, state->work.size);
    state->block = leat_alloc_take(below, delimited_length(&state->work), NULL);
    bench_need(state->block);
    return state;
}

/* ---- delimit: the arm `leat` refers to shared events, the arm `copy` builds the same bytes in a block ---- */

static leat_bytebuf *delimited(const sse_state *state) {
    leat_bytebuf *batch = leat_sse_delimit_list(state->alloc, state->events, state->work.events);
    bench_need(batch);
    return batch;
}

/* What a gathering write would be given. */
static void walk(sse_state *state) {
    for (size_t i = 0; i < state->span_count; i++)
        state->seen += state->spans[i].length;
    bench_use(state);
}

static void delimit_run(void *argument, uint64_t times) {
    sse_state *state = argument;
    for (uint64_t i = 0; i < times; i++) {
        leat_bytebuf *batch = delimited(state);
        state->span_count = leat_bytebuf_spans(batch, state->spans, MOST_SPANS);
        walk(state);
        leat_bytebuf_release(batch);
    }
}

static void delimit_output(void *argument, bench_output *out) {
    const sse_state *state = argument;
    leat_bytebuf *batch = delimited(state);
    leat_span spans[MOST_SPANS];
    size_t count = leat_bytebuf_spans(batch, spans, MOST_SPANS);
    for (size_t i = 0; i < count; i++)
        bench_output_add(out, spans[i].bytes, spans[i].length);
    leat_bytebuf_release(batch);
}

static uint8_t *append(uint8_t *to, const void *bytes, size_t length) {
    memcpy(to, bytes, length);
    return to + length;
}

static void copy_all(sse_state *state) {
    uint8_t *to = state->block;
    for (size_t i = 0; i < state->work.events; i++) {
        to = append(to, LEAT_SSE_PREFIX, PREFIX_LENGTH);
        to = append(to, leat_bytebuf_data(state->events[i]), (size_t)leat_bytebuf_readable(state->events[i]));
        to = append(to, LEAT_SSE_SUFFIX, SUFFIX_LENGTH);
    }
    state->spans[0] = (leat_span){state->block, (size_t)(to - state->block)};
    state->span_count = 1;
    if (state->below->stats)
        state->below->stats->copied += state->spans[0].length;
}

static void copy_run(void *argument, uint64_t times) {
    for (uint64_t i = 0; i < times; i++) {
        copy_all(argument);
        walk(argument);
    }
}

static void copy_output(void *argument, bench_output *out) {
    sse_state *state = argument;
    copy_all(state);
    bench_output_add(out, state->block, state->spans[0].length);
}

/* ---- decode: the arm `leat` fires events in a channel, the arm `memchr` only finds lines and their data ---- */

typedef struct sink_config {
    sse_state *state;
} sink_config;

static int sink_added(leat_ctx *ctx, const void *config) {
    *(sink_config *)leat_state(ctx) = *(const sink_config *)config;
    return 0;
}

static void take_data(sse_state *state, leat_span data) {
    state->seen += data.length;
    if (state->out)
        bench_output_add(state->out, data.bytes, data.length);
}

static void sink_read(leat_ctx *ctx, leat_msg msg) {
    const sink_config *sink = leat_state(ctx);
    const leat_sse_event *event = leat_msg_as(msg, &leat_type_sse_event);
    take_data(sink->state, event->data);
    leat_msg_release(msg);
}

static const leat_handler sink = {
    .name = "sink",
    .state_size = sizeof(sink_config),
    .config_size = sizeof(sink_config),
    .fires = leat_no_type,
    .added = sink_added,
    .read = sink_read,
};

static void *decode_set_up(const void *work, leat_alloc *below) {
    sse_state *state = set_up(work, below);
    copy_all(state);
    state->stream = leat_bytebuf_from_bytes(state->alloc, state->block, state->spans[0].length);
    bench_need(state->stream);
    sink_config config = {state};
    leat_stage stages[] = {{.handler = &leat_sse_decoder}, {&sink, &config, NULL}, {0}};
    const leat_embedded_options options = {.alloc = state->alloc, .without_ledger = true};
    state->embedded = leat_embedded_new_with(stages, &options, NULL);
    bench_need(state->embedded);
    return state;
}

/* A read as a transport makes it: a handle of its own on a part of a block. */
static void decode_one(sse_state *state) {
    leat_bytebuf *read = leat_bytebuf_slice_readable(state->stream);
    bench_need(read);
    leat_loop *loop = leat_embedded_loop(state->embedded);
    leat_channel *channel = leat_embedded_channel(state->embedded);
    leat_loop_enter(loop);
    leat_channel_received(channel, read);
    leat_channel_received_all(channel);
    leat_loop_leave(loop);
}

static void decode_run(void *argument, uint64_t times) {
    for (uint64_t i = 0; i < times; i++)
        decode_one(argument);
}

static void decode_output(void *argument, bench_output *out) {
    sse_state *state = argument;
    state->out = out;
    decode_one(state);
    state->out = NULL;
}

static void find_one(sse_state *state) {
    const uint8_t *at = leat_bytebuf_data(state->stream), *end = at + leat_bytebuf_readable(state->stream);
    while (at < end) {
        const uint8_t *line_end = memchr(at, '\n', (size_t)(end - at));
        if (!line_end)
            break;
        if (line_end - at >= PREFIX_LENGTH && memcmp(at, LEAT_SSE_PREFIX, PREFIX_LENGTH) == 0)
            take_data(state, (leat_span){at + PREFIX_LENGTH, (size_t)(line_end - at - PREFIX_LENGTH)});
        at = line_end + 1;
    }
    bench_use(state);
}

static void find_run(void *argument, uint64_t times) {
    for (uint64_t i = 0; i < times; i++)
        find_one(argument);
}

static void find_output(void *argument, bench_output *out) {
    sse_state *state = argument;
    state->out = out;
    find_one(state);
    state->out = NULL;
}

/* ---- rows ---- */

static const bench_arm delimit_arm = {"leat", set_up, delimit_run, delimit_output, tear_down, NULL};
static const bench_arm copy_arm = {"copy", set_up, copy_run, copy_output, tear_down, NULL};
static const bench_arm decode_arm = {"leat", decode_set_up, decode_run, decode_output, tear_down, NULL};
static const bench_arm find_arm = {"memchr", decode_set_up, find_run, find_output, tear_down, NULL};

static void row(bench_visitor *visitor, const char *name, sse_work work, const bench_arm *leat, const bench_arm *other,
                double at_most) {
    const bench_row shown = {
        .suite = "sse", .name = name, .work = &work, .arms = {leat, other}, .ratios = {{"leat", other->name, at_most}}};
    visitor->visit(visitor, &shown);
}

static void rows(bench_visitor *visitor) {
    row(visitor, "delimit-30x1024", (sse_work){30, 1024}, &delimit_arm, &copy_arm, 0.5);
    row(visitor, "decode-1024", (sse_work){64, 1024}, &decode_arm, &find_arm, 3);
}

const bench_suite sse_suite = {"sse", "server-sent events delimited for writing, and read", rows};
