/* libevent's evbuffer: made and freed, filled with text, filled with events that are copied or referred to. */
#include "bench/alloc.h"
#include "bench/batch.h"
#include "bench/peers/peers.h"
#include "bench/text.h"

#include <event2/buffer.h>
#include <stdlib.h>
#include <string.h>

/* ---- a buffer, and text in it ---- */

typedef struct buffer_state {
    leat_alloc *below;
    size_t size;     /* bytes of the buffer */
    size_t appended; /* bytes written at once, `times` times */
    int times;
    char *text;
} buffer_state;

static buffer_state *state_new(leat_alloc *below) {
    buffer_state *state = leat_alloc_take_zeroed(below, sizeof *state);
    bench_need(state);
    state->below = below;
    return state;
}

static void *alloc_set_up(const void *work, leat_alloc *below) {
    buffer_state *state = state_new(below);
    state->size = ((const alloc_work *)work)->size;
    return state;
}

static void *text_set_up(const void *work, leat_alloc *below) {
    buffer_state *state = state_new(below);
    const text_work *asked = work;
    state->appended = state->size = asked->length;
    state->times = 1;
    state->text = text_make(asked);
    return state;
}

static void *append_set_up(const void *work, leat_alloc *below) {
    buffer_state *state = text_set_up(work, below);
    state->times = TEXT_APPENDS;
    state->size *= TEXT_APPENDS;
    return state;
}

static void tear_down(void *argument) {
    buffer_state *state = argument;
    free(state->text);
    leat_alloc_give(state->below, state, sizeof *state);
}

static struct evbuffer *filled(const buffer_state *state) {
    struct evbuffer *buffer = evbuffer_new();
    if (!buffer || evbuffer_expand(buffer, state->size) != 0)
        bench_need(NULL);
    for (int i = 0; i < state->times; i++)
        if (evbuffer_add(buffer, state->text, state->appended) != 0)
            bench_need(NULL);
    return buffer;
}

static void fill_run(void *state, uint64_t times) {
    for (uint64_t i = 0; i < times; i++) {
        struct evbuffer *buffer = filled(state);
        bench_use(buffer);
        evbuffer_free(buffer);
    }
}

/* As the other arms of these rows: the size of an empty buffer, or the text. */
static void fill_output(void *argument, bench_output *out) {
    const buffer_state *state = argument;
    struct evbuffer *buffer = filled(state);
    uint8_t size[8];
    leat_store_u64(size, state->size);
    if (state->times == 0)
        bench_output_add(out, size, sizeof size);
    else
        bench_output_add(out, evbuffer_pullup(buffer, -1), evbuffer_get_length(buffer));
    evbuffer_free(buffer);
}

/* ---- batches ---- */

typedef struct batch_state {
    batch_events batch;
    struct evbuffer_iovec *vectors;
    bool refers;
} batch_state;

static void batch_tear_down(void *argument) {
    batch_state *state = argument;
    leat_alloc *below = state->batch.below;
    free(state->vectors);
    batch_end(&state->batch);
    leat_alloc_give(below, state, sizeof *state);
}

static batch_state *batch_set_up(const void *work, leat_alloc *below) {
    batch_state *state = leat_alloc_take_zeroed(below, sizeof *state);
    bench_need(state);
    if (!batch_begin(&state->batch, work, below))
        bench_need(NULL);
    state->vectors = calloc(state->batch.most_spans, sizeof *state->vectors);
    bench_need(state->vectors);
    return state;
}

static void *copy_set_up(const void *work, leat_alloc *below) {
    return batch_set_up(work, below);
}

static void *wrap_set_up(const void *work, leat_alloc *below) {
    batch_state *state = batch_set_up(work, below);
    state->refers = true;
    return state;
}

static void release_event(const void *bytes, size_t length, void *event) {
    (void)bytes;
    (void)length;
    leat_bytebuf_release((leat_bytebuf *)event);
}

static void add_event(const batch_state *state, struct evbuffer *to, leat_bytebuf *event) {
    const uint8_t *bytes = leat_bytebuf_data(event);
    size_t length = state->batch.work.size;
    if (!state->refers)
        evbuffer_add(to, bytes, length);
    else
        evbuffer_add_reference(to, bytes, length, release_event, leat_bytebuf_retain(event));
}

static void add_static(const batch_state *state, struct evbuffer *to, const char *bytes) {
    if (!state->batch.work.delimited)
        return;
    if (state->refers)
        evbuffer_add_reference(to, bytes, strlen(bytes), NULL, NULL);
    else
        evbuffer_add(to, bytes, strlen(bytes));
}

static struct evbuffer *built(const batch_state *state) {
    struct evbuffer *whole = evbuffer_new();
    bench_need(whole);
    for (size_t i = 0; i < state->batch.work.events; i++) {
        add_static(state, whole, i == 0 ? BATCH_PREFIX : BATCH_BETWEEN);
        add_event(state, whole, state->batch.buffers[i]);
    }
    add_static(state, whole, BATCH_SUFFIX);
    return whole;
}

static size_t walked(batch_state *state, struct evbuffer *whole) {
    int most = (int)state->batch.most_spans, count = evbuffer_peek(whole, -1, NULL, state->vectors, most);
    bench_need(count <= most ? whole : NULL);
    size_t length = 0;
    for (int i = 0; i < count; i++)
        length += state->vectors[i].iov_len;
    bench_use(state->vectors);
    return length;
}

static void batch_run(void *argument, uint64_t times) {
    batch_state *state = argument;
    for (uint64_t i = 0; i < times; i++) {
        struct evbuffer *whole = built(state);
        size_t length = walked(state, whole);
        bench_use(&length);
        evbuffer_free(whole);
    }
}

static void batch_output(void *argument, bench_output *out) {
    batch_state *state = argument;
    struct evbuffer *whole = built(state);
    out->failed = out->failed || walked(state, whole) != batch_length(&state->batch.work);
    bench_output_add(out, evbuffer_pullup(whole, -1), evbuffer_get_length(whole));
    evbuffer_free(whole);
}

static const bench_arm alloc_arm = {"evbuffer", alloc_set_up, fill_run, fill_output, tear_down, NULL};
static const bench_arm text_arm = {"evbuffer", text_set_up, fill_run, fill_output, tear_down, NULL};
static const bench_arm append_arm = {"evbuffer", append_set_up, fill_run, fill_output, tear_down, NULL};
static const bench_arm copy_arm = {"ev-copy", copy_set_up, batch_run, batch_output, batch_tear_down, NULL};
static const bench_arm wrap_arm = {"ev-wrap", wrap_set_up, batch_run, batch_output, batch_tear_down, NULL};

void evbuffer_join(bench_row *row) {
    if (peers_is(row, "alloc", "pooled-") || peers_is(row, "alloc", "unpooled-"))
        peers_add(row, &alloc_arm);
    else if (peers_is(row, "text", "ascii-known-"))
        peers_add(row, &text_arm);
    else if (peers_is(row, "text", "append3-"))
        peers_add(row, &append_arm);
    else if (peers_is(row, "gather", "walk-")) {
        peers_add(row, &copy_arm);
        peers_add(row, &wrap_arm);
    }
}
