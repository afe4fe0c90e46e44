/** What a message costs on its way through handlers, against the same number of indirect calls. */
#include "bench/hop.h"
#include "bench/suites.h"
#include "core/embedded.h"
#include "core/transport.h"

enum { MOST_HANDLERS = 32 };

/* The number of handlers; both arms also have a sink at the end. */
typedef struct hop_work {
    size_t handlers;
} hop_work;

/* Where the sink puts the message, from where the next operation takes it: so no arm pays for reference counts. */
typedef struct sink_state {
    leat_msg swallowed;
} sink_state;

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

static void counter_read(leat_ctx *ctx, leat_msg msg) {
    counter_state *state = leat_state(ctx);
    state->seen++;
    leat_ctx_fire_read(ctx, msg);
}

static void sink_read(leat_ctx *ctx, leat_msg msg) {
    sink_state *state = leat_state(ctx);
    state->swallowed = msg;
}

static const leat_handler counter = {
    .name = "counter",
    .state_size = sizeof(counter_state),
    .config_size = sizeof(counter_config),
    .added = counter_added,
    .read = counter_read,
};

static const leat_handler sink = {
    .name = "sink", .state_size = sizeof(sink_state), .read = sink_read, .fires = leat_no_type};

/* The arm `leat`: an embedded channel, which is the real core over a transport in memory. */
typedef struct hop_state {
    leat_alloc *alloc;
    size_t count;
    leat_embedded *embedded;
    leat_channel *channel;
    leat_loop *loop;
    sink_state *sink;
    leat_msg msg;
    counter_state *counters[MOST_HANDLERS];
} hop_state;

static leat_msg payload(leat_alloc *alloc) {
    return leat_msg_of_bytebuf(leat_bytebuf_from_text(alloc, "a message on its way"));
}

static void release(leat_msg msg) {
    if (msg.obj)
        leat_msg_release(msg);
}

/* Says what came out: the message's bytes. */
static void output_msg(leat_msg msg, bench_output *out) {
    const leat_bytebuf *buf = leat_msg_bytebuf(msg);
    bench_output_add(out, leat_bytebuf_data(buf), leat_bytebuf_readable(buf));
}

static leat_embedded *embedded_new(hop_state *state) {
    leat_stage stages[MOST_HANDLERS + 2] = {{0}};
    counter_config configs[MOST_HANDLERS];
    for (size_t i = 0; i < state->count; i++) {
        configs[i] = (counter_config){&state->counters[i]};
        stages[i] = (leat_stage){.handler = &counter, .config = &configs[i]};
    }
    stages[state->count] = (leat_stage){.handler = &sink};
    const leat_embedded_options options = {.alloc = state->alloc, .without_ledger = true};
    return leat_embedded_new_with(stages, &options, NULL);
}

static void leat_tear_down(void *argument) {
    hop_state *state = argument;
    release(state->msg);
    leat_embedded_free(state->embedded);
    leat_alloc_give(state->alloc, state, sizeof *state);
}

static void *leat_set_up(const void *work, leat_alloc *alloc) {
    const hop_work *hops = work;
    hop_state *state = leat_alloc_take_zeroed(alloc, sizeof *state);
    if (!state)
        return NULL;
    *state = (hop_state){.alloc = alloc, .count = hops->handlers, .msg = payload(alloc)};
    state->embedded = embedded_new(state);
    if (!state->embedded || !state->msg.obj) {
        leat_tear_down(state);
        return NULL;
    }
    state->channel = leat_embedded_channel(state->embedded);
    state->loop = leat_embedded_loop(state->embedded);
    state->sink = leat_state(leat_channel_find(state->channel, "sink"));
    return state;
}

static void receive(hop_state *state) {
    leat_loop_enter(state->loop);
    leat_channel_received(state->channel, leat_msg_bytebuf(state->msg));
    leat_channel_received_all(state->channel);
    leat_loop_leave(state->loop);
    state->msg = state->sink->swallowed;
}

static void leat_run(void *argument, uint64_t times) {
    for (uint64_t i = 0; i < times; i++)
        receive(argument);
}

static void leat_output(void *argument, bench_output *out) {
    hop_state *state = argument;
    receive(state);
    for (size_t i = 0; i < state->count; i++)
        bench_output_add(out, &state->counters[i]->seen, sizeof(uint64_t));
    output_msg(state->msg, out);
}

/* The arm `calls`: the same number of functions, called through pointers by a loop. */
typedef struct callee callee;
struct callee {
    void (*call)(callee *self, leat_msg msg);
    counter_state counter;
};

typedef struct calls_state {
    leat_alloc *alloc;
    size_t count;
    callee callees[MOST_HANDLERS];
    leat_msg msg;
} calls_state;

static void count_call(callee *self, leat_msg msg) {
    (void)msg;
    self->counter.seen++;
}

static void calls_tear_down(void *argument) {
    calls_state *state = argument;
    release(state->msg);
    leat_alloc_give(state->alloc, state, sizeof *state);
}

static void *calls_set_up(const void *work, leat_alloc *alloc) {
    const hop_work *hops = work;
    calls_state *state = leat_alloc_take_zeroed(alloc, sizeof *state);
    if (!state)
        return NULL;
    *state = (calls_state){.alloc = alloc, .count = hops->handlers, .msg = payload(alloc)};
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
            state->callees[k].call(&state->callees[k], state->msg);
    }
}

static void calls_output(void *argument, bench_output *out) {
    calls_state *state = argument;
    calls_run(state, 1);
    for (size_t i = 0; i < state->count; i++)
        bench_output_add(out, &state->callees[i].counter.seen, sizeof(uint64_t));
    output_msg(state->msg, out);
}

static const bench_arm leat_arm = {"leat", leat_set_up, leat_run, leat_output, leat_tear_down, NULL};
static const bench_arm calls_arm = {"calls", calls_set_up, calls_run, calls_output, calls_tear_down, NULL};

static void inbound(bench_visitor *visitor, const char *name, size_t handlers, double at_most) {
    const hop_work work = {handlers};
    const bench_row row = {.suite = "hop",
                           .name = name,
                           .work = &work,
                           .arms = {&leat_arm, &calls_arm},
                           .ratios = {{"leat", "calls", at_most}}};
    visitor->visit(visitor, &row);
}

static void rows(bench_visitor *visitor) {
    inbound(visitor, "inbound-1", 1, 6);
    inbound(visitor, "inbound-8", 8, 4.5);
    inbound(visitor, "inbound-32", 32, 4.5);
    bench_hop_write_rows(visitor);
}

const bench_suite hop_suite = {"hop", "a message through handlers, a whole turn, against indirect calls", rows};
