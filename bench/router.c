/** What it costs to deal chunks out to connections, one to each in turn. */
#include "handlers/push/router.h"
#include "bench/suites.h"

enum { MOST_CHUNKS = 200, MOST_CONNECTIONS = 512, PENDING = 128 };

typedef struct dealing_work {
    size_t chunks;
    size_t connections;
} dealing_work;

typedef struct chunk {
    uint32_t number;
    uint32_t size;
} chunk;

/* A connection with its pending batch: what it counts to keep within its bounds, and a ring that forgets what is old.
 */
typedef struct connection {
    size_t place;
    uint64_t count;
    uint64_t bytes;
    const chunk *pending[PENDING];
} connection;

/* What both arms work on. */
typedef struct dealing {
    leat_alloc *alloc;
    dealing_work work;
    chunk made[MOST_CHUNKS];
    void *chunks[MOST_CHUNKS]; /* which point to those */
    connection connections[MOST_CONNECTIONS];
    leat_push_router router;             /* of the arm `leat` */
    connection *array[MOST_CONNECTIONS]; /* of the arm `array`, with its cursor */
    size_t cursor;
} dealing;

static void *dealing_new(const dealing_work *work, leat_alloc *alloc) {
    dealing *state = leat_alloc_take_zeroed(alloc, sizeof *state);
    if (!state)
        return NULL;
    state->alloc = alloc;
    state->work = *work;
    for (uint32_t i = 0; i < work->chunks; i++) {
        state->made[i] = (chunk){i, 1024 + i};
        state->chunks[i] = &state->made[i];
    }
    return state;
}

/* What happens to the chunks of one connection, in both arms: a call, as it is where connections are another file's. */
__attribute__((noinline)) static void append(void *context, void *destination, void *const *chunks, size_t count) {
    connection *one = destination;
    (void)context;
    for (size_t i = 0; i < count; i++) {
        const chunk *next = chunks[i];
        one->bytes += next->size;
        one->pending[one->count++ % PENDING] = next;
    }
}

/* Deals twice, so that the output shows where the second round began. */
static void output_of(dealing *state, void (*run)(void *, uint64_t), bench_output *out) {
    run(state, 2);
    for (size_t i = 0; i < state->work.connections; i++) {
        const connection *one = &state->connections[i];
        bench_output_add(out, &one->count, sizeof one->count);
        bench_output_add(out, &one->bytes, sizeof one->bytes);
        for (size_t k = 0; k < one->count && k < PENDING; k++)
            bench_output_add(out, one->pending[k], sizeof(chunk));
    }
}

/* The arm `leat`. */
static void leat_tear_down(void *argument) {
    dealing *state = argument;
    leat_push_router_clean_up(&state->router);
    leat_alloc_give(state->alloc, state, sizeof *state);
}

static void *leat_set_up(const void *work, leat_alloc *alloc) {
    dealing *state = dealing_new(work, alloc);
    if (!state)
        return NULL;
    leat_push_router_init(&state->router, alloc, NULL);
    for (size_t i = 0; i < state->work.connections; i++)
        if (leat_push_router_add(&state->router, &state->connections[i], &state->connections[i].place) != 0) {
            leat_tear_down(state);
            return NULL;
        }
    return state;
}

static void leat_run(void *argument, uint64_t times) {
    dealing *state = argument;
    const leat_push_routing routing = {.write = append};
    for (uint64_t i = 0; i < times; i++) {
        leat_push_router_route(&state->router, state->chunks, state->work.chunks, &routing);
        bench_use(state);
    }
}

static void leat_output(void *argument, bench_output *out) {
    output_of(argument, leat_run, out);
}

/* The arm `array`: what one would write by hand, with everything in sight of the compiler. */
static void array_tear_down(void *argument) {
    dealing *state = argument;
    leat_alloc_give(state->alloc, state, sizeof *state);
}

static void *array_set_up(const void *work, leat_alloc *alloc) {
    dealing *state = dealing_new(work, alloc);
    for (size_t i = 0; state && i < state->work.connections; i++)
        state->array[i] = &state->connections[i];
    return state;
}

static size_t next_place(size_t place, size_t connections) {
    return place + 1 < connections ? place + 1 : 0;
}

static void deal_one_each(dealing *state, size_t chunks, size_t connections) {
    size_t at = state->cursor;
    for (size_t i = 0; i < chunks; i++) {
        append(NULL, state->array[at], &state->chunks[i], 1);
        at = next_place(at, connections);
    }
    state->cursor = at;
}

static void deal_lists(dealing *state, size_t chunks, size_t connections) {
    size_t at = state->cursor;
    for (size_t first = 0; first < connections; first++) {
        void *list[MOST_CHUNKS];
        size_t length = 0;
        for (size_t i = first; i < chunks; i += connections)
            list[length++] = state->chunks[i];
        append(NULL, state->array[at], list, length);
        at = next_place(at, connections);
    }
    state->cursor = (at + chunks) % connections;
}

static void deal(dealing *state) {
    if (state->work.chunks <= state->work.connections)
        deal_one_each(state, state->work.chunks, state->work.connections);
    else
        deal_lists(state, state->work.chunks, state->work.connections);
}

static void array_run(void *argument, uint64_t times) {
    for (uint64_t i = 0; i < times; i++) {
        deal(argument);
        bench_use(argument);
    }
}

static void array_output(void *argument, bench_output *out) {
    output_of(argument, array_run, out);
}

static const bench_arm leat_arm = {"leat", leat_set_up, leat_run, leat_output, leat_tear_down, NULL};
static const bench_arm array_arm = {"array", array_set_up, array_run, array_output, array_tear_down, NULL};

static void round_robin(bench_visitor *visitor, size_t chunks, size_t connections, double at_most) {
    const dealing_work work = {chunks, connections};
    char name[32];
    snprintf(name, sizeof name, "rr-%zux%zu", chunks, connections);
    const bench_row row = {.suite = "router",
                           .name = name,
                           .work = &work,
                           .arms = {&leat_arm, &array_arm},
                           .ratios = {{"leat", "array", at_most}}};
    visitor->visit(visitor, &row);
}

static void rows(bench_visitor *visitor) {
    round_robin(visitor, 30, 2, 0);
    round_robin(visitor, 30, 8, 0);
    round_robin(visitor, 30, 64, 0);
    round_robin(visitor, 30, 512, 1.3);
    round_robin(visitor, 200, 512, 0);
}

const bench_suite router_suite = {"router", "chunks dealt out to connections, one to each in turn", rows};
