#include "bench/idle.h"

typedef struct counter_state {
    uint64_t messages;
} counter_state;

static void counter_read(leat_ctx *ctx, leat_msg msg) {
    counter_state *state = leat_state(ctx);
    state->messages++;
    leat_ctx_fire_read(ctx, msg);
}

static void counter_write(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    counter_state *state = leat_state(ctx);
    state->messages++;
    leat_ctx_write(ctx, msg, done);
}

static const leat_handler counter = {
    .name = "counter", .state_size = sizeof(counter_state), .read = counter_read, .write = counter_write};

leat_pipeline *bench_idle_pipeline(void) {
    leat_stage stages[BENCH_IDLE_HANDLERS + 1] = {{0}};
    for (size_t i = 0; i < BENCH_IDLE_HANDLERS; i++)
        stages[i].handler = &counter;
    return leat_pipeline_new(leat_unpooled(), stages, NULL);
}
