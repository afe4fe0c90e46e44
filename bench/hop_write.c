/** What a write costs through handlers, to the transport's hands and through its completion phase. */
#include "bench/hop.h"
#include "core/embedded.h"
#include "core/transport.h"

enum { MOST_HANDLERS = 8 };

typedef struct counter_state {
    uint64_t seen;
} counter_state;

/* Where a counter makes itself known, so that the output can show what each saw. */
typedef struct counter_config {
    counter_state **place;
} counter_config;

static int counter_added(leat_ctx *ctx, const void *argument) {
    const counter_config *config = argument;
    *config->place = leat_state(ctx);
    return 0;
}

static void counter_write(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    counter_state *state = leat_state(ctx);
    state->seen++;
    leat_ctx_write(ctx, msg, done);
}

static const leat_handler counter = {
    .name = "counter",
    .state_size = sizeof(counter_state),
    .config_size = sizeof(counter_config),
    .added = counter_added,
    .write = counter_write,
};

/* A transport that takes everything and remembers where the last bytes were. */
typedef struct taking {
    leat_transport transport;
    leat_span last;
} taking;

static int take_interest(leat_transport *transport, unsigned bits) {
    (void)transport, (void)bits;
    return LEAT_OK;
}

static int64_t take_all(leat_transport *transport, const leat_span *spans, size_t count) {
    int64_t taken = 0;
    for (size_t i = 0; i < count; i++)
        taken += (int64_t)spans[i].length;
    ((taking *)transport)->last = spans[count - 1];
    return taken;
}

static void take_shutdown(leat_transport *transport) {
    (void)transport;
}

static void take_close(leat_transport *transport, bool reset) {
    (void)transport, (void)reset;
}

static const leat_transport_ops taking_ops = {.name = "taking",
                                              .max_spans = 64,
                                              .interest = take_interest,
                                              .writev = take_all,
                                              .shutdown = take_shutdown,
                                              .close = take_close};

/* The arm `leat`: a channel on the loop of an embedded one, which is the real core on a clock that stands. */
typedef struct write_state {
    leat_done done;
    uint64_t completions;
    leat_alloc *alloc;
    size_t count;
    leat_embedded *host;
    leat_loop *loop;
    taking transport;
    leat_channel *channel;
    leat_msg msg;
    counter_state *counters[MOST_HANDLERS];
} write_state;

static void count_completion(leat_done *done, int status) {
    write_state *state = (write_state *)(void *)done;
    state->completions += status == LEAT_OK;
}

static leat_msg payload(leat_alloc *alloc) {
    return leat_msg_of_bytebuf(leat_bytebuf_from_text(alloc, "a message on its way"));
}

static void release(leat_msg msg) {
    if (msg.obj)
        leat_msg_release(msg);
}

static bool make_channel(write_state *state) {
    leat_stage stages[MOST_HANDLERS + 1] = {{0}};
    counter_config configs[MOST_HANDLERS];
    for (size_t i = 0; i < state->count; i++) {
        configs[i] = (counter_config){&state->counters[i]};
        stages[i] = (leat_stage){.handler = &counter, .config = &configs[i]};
    }
    leat_pipeline *pipeline = leat_pipeline_new(state->alloc, stages, NULL);
    if (!pipeline)
        return false;
    state->transport.transport.ops = &taking_ops;
    int code = leat_channel_new(state->loop, pipeline, &state->transport.transport, NULL, &state->channel);
    leat_pipeline_release(pipeline);
    return code == LEAT_OK;
}

static void leat_tear_down(void *argument) {
    write_state *state = argument;
    release(state->msg);
    leat_embedded_free(state->host);
    leat_alloc_give(state->alloc, state, sizeof *state);
}

static void connect(write_state *state) {
    leat_loop_enter(state->loop);
    leat_channel_connected(state->channel);
    leat_loop_leave(state->loop);
}

static void *leat_set_up(const void *work, leat_alloc *alloc) {
    write_state *state = leat_alloc_take_zeroed(alloc, sizeof *state);
    if (!state)
        return NULL;
    *state = (write_state){
        .done.fn = count_completion, .alloc = alloc, .count = *(const size_t *)work, .msg = payload(alloc)};
    const leat_embedded_options options = {.alloc = alloc, .without_ledger = true};
    state->host = leat_embedded_new_with((const leat_stage[]){{0}}, &options, NULL);
    state->loop = state->host ? leat_embedded_loop(state->host) : NULL;
    if (!state->msg.obj || !state->host || !make_channel(state)) {
        leat_tear_down(state);
        return NULL;
    }
    connect(state);
    return state;
}

static void write_once(write_state *state) {
    leat_loop_enter(state->loop);
    leat_channel_write(state->channel, leat_msg_retain(state->msg), &state->done);
    leat_loop_leave(state->loop);
}

static void leat_run(void *argument, uint64_t times) {
    for (uint64_t i = 0; i < times; i++)
        write_once(argument);
}

static void leat_output(void *argument, bench_output *out) {
    write_state *state = argument;
    write_once(state);
    for (size_t i = 0; i < state->count; i++)
        bench_output_add(out, &state->counters[i]->seen, sizeof(uint64_t));
    bench_output_add(out, &state->completions, sizeof state->completions);
    bench_output_add(out, state->transport.last.bytes, state->transport.last.length);
}

/* The arm `calls`: the same number of functions, called through pointers by a loop. */
typedef struct callee callee;
struct callee {
    void (*call)(callee *self, leat_msg msg, leat_done *done);
    counter_state counter;
};

typedef struct calls_state {
    uint64_t rounds;
    leat_alloc *alloc;
    size_t count;
    callee callees[MOST_HANDLERS];
    leat_msg msg;
} calls_state;

static void count_call(callee *self, leat_msg msg, leat_done *done) {
    (void)msg, (void)done;
    self->counter.seen++;
}

static void calls_tear_down(void *argument) {
    calls_state *state = argument;
    release(state->msg);
    leat_alloc_give(state->alloc, state, sizeof *state);
}

static void *calls_set_up(const void *work, leat_alloc *alloc) {
    calls_state *state = leat_alloc_take_zeroed(alloc, sizeof *state);
    if (!state)
        return NULL;
    *state = (calls_state){.alloc = alloc, .count = *(const size_t *)work, .msg = payload(alloc)};
    for (size_t i = 0; i < state->count; i++)
        state->callees[i].call = count_call;
    if (state->msg.obj)
        return state;
    calls_tear_down(state);
    return NULL;
}

static void calls_run(void *argument, uint64_t times) {
    calls_state *state = argument;
    for (uint64_t i = 0; i < times; i++) {
        bench_use(state);
        for (size_t k = 0; k < state->count; k++)
            state->callees[k].call(&state->callees[k], state->msg, NULL);
        state->rounds++;
    }
}

static void calls_output(void *argument, bench_output *out) {
    calls_state *state = argument;
    const leat_bytebuf *buf = leat_msg_bytebuf(state->msg);
    calls_run(state, 1);
    for (size_t i = 0; i < state->count; i++)
        bench_output_add(out, &state->callees[i].counter.seen, sizeof(uint64_t));
    bench_output_add(out, &state->rounds, sizeof state->rounds);
    bench_output_add(out, leat_bytebuf_data(buf), leat_bytebuf_readable(buf));
}

static const bench_arm leat_arm = {"leat", leat_set_up, leat_run, leat_output, leat_tear_down, NULL};
static const bench_arm calls_arm = {"calls", calls_set_up, calls_run, calls_output, calls_tear_down, NULL};

void bench_hop_write_rows(bench_visitor *visitor) {
    const size_t handlers = 4;
    const bench_row row = {.suite = "hop",
                           .name = "write-4",
                           .work = &handlers,
                           .arms = {&leat_arm, &calls_arm},
                           .ratios = {{"leat", "calls", 15}},
                           .allocates_nothing = "leat"};
    visitor->visit(visitor, &row);
}
