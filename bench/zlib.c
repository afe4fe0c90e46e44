/** What deflating and inflating in a pipeline costs beyond zlib itself, which is the limit. */
#include "bench/suites.h"
#include "core/embedded.h"
#include "core/pool.h"
#include "core/transport.h"
#include "handlers/zlib_deflater.h"
#include "handlers/zlib_inflater.h"

#include <stdlib.h>
#include <zlib.h>

/* Messages come round again only when they are far behind the window. */
enum { MESSAGES = 64, MARKER = 64 };

typedef struct zlib_work {
    size_t length; /* of a message, deflated or inflated */
    bool inflates;
} zlib_work;

/* What both arms work on: messages, and for inflating the stream that they become, message by message. */
typedef struct zlib_state {
    leat_alloc *below;
    zlib_work work;
    leat_bytebuf *in[MESSAGES];
    size_t next;
    z_stream hand; /* of the arm `zlib` */
    uint8_t *room; /* for what it makes */
    size_t room_size;
    leat_pool *pool; /* of the arm `leat` */
    leat_embedded *embedded;
    leat_channel *channel;
    bench_output *out; /* where what reaches the end of its pipeline is shown; NULL = nowhere */
} zlib_state;

/* ---- messages: events as a server sends them ---- */

static uint32_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static leat_bytebuf *make_message(uint64_t *random, size_t length) {
    leat_bytebuf *message = leat_bytebuf_new(leat_unpooled(), length + 256);
    bench_need(message);
    while (leat_bytebuf_readable(message) < length) {
        unsigned id = next_random(random), load = next_random(random) % 10000, free_bytes = next_random(random);
        leat_bytebuf_write_format(message, "data: {\"host\":\"node-%u\",\"load\":%u.%02u,\"free\":%u}\n\n", id % 500,
                                  load / 100, load % 100, free_bytes);
    }
    leat_bytebuf_set_writer_index(message, length);
    return message;
}

/* Deflates or inflates `in` by hand into the room, flushed; returns the bytes made. */
static size_t call_zlib(zlib_state *state, const leat_bytebuf *in) {
    z_stream *stream = &state->hand;
    stream->next_in = (z_const Bytef *)(uintptr_t)leat_bytebuf_data(in);
    stream->avail_in = (uInt)leat_bytebuf_readable(in);
    stream->next_out = state->room;
    stream->avail_out = (uInt)state->room_size;
    int status = state->work.inflates ? inflate(stream, Z_SYNC_FLUSH) : deflate(stream, Z_SYNC_FLUSH);
    bench_need(status == Z_OK ? stream : NULL);
    return state->room_size - stream->avail_out;
}

/* Replaces each message by what it becomes in a raw stream; round again, the distances still lead to the same bytes. */
static void deflate_messages(zlib_state *state) {
    state->work.inflates = false;
    bench_need(deflateInit2(&state->hand, 6, Z_DEFLATED, -15, 8, 0) == Z_OK ? state : NULL);
    for (size_t i = 0; i < MESSAGES; i++) {
        size_t length = call_zlib(state, state->in[i]);
        leat_bytebuf_release(state->in[i]);
        state->in[i] = leat_bytebuf_from_bytes(leat_unpooled(), state->room, length);
        bench_need(state->in[i]);
    }
    deflateEnd(&state->hand);
    state->work.inflates = true;
}

static zlib_state *state_new(const zlib_work *work, leat_alloc *below) {
    zlib_state *state = leat_alloc_take_zeroed(below, sizeof *state);
    bench_need(state);
    state->below = below;
    state->work = *work;
    state->room_size = 2 * work->length + MARKER;
    state->room = malloc(state->room_size);
    bench_need(state->room);
    uint64_t random = work->length;
    for (size_t i = 0; i < MESSAGES; i++)
        state->in[i] = make_message(&random, work->length);
    if (work->inflates)
        deflate_messages(state);
    return state;
}

static void state_free(zlib_state *state) {
    for (size_t i = 0; i < MESSAGES; i++)
        leat_bytebuf_release(state->in[i]);
    free(state->room);
    leat_alloc_give(state->below, state, sizeof *state);
}

static leat_bytebuf *next_message(zlib_state *state) {
    return state->in[state->next++ % MESSAGES];
}

/* ---- the arm `zlib`: one call into room that is there ---- */

static void *hand_set_up(const void *work, leat_alloc *below) {
    zlib_state *state = state_new(work, below);
    int status = state->work.inflates ? inflateInit2(&state->hand, -15)
                                      : deflateInit2(&state->hand, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
    bench_need(status == Z_OK ? state : NULL);
    return state;
}

static void hand_run(void *argument, uint64_t times) {
    zlib_state *state = argument;
    for (uint64_t i = 0; i < times; i++) {
        call_zlib(state, next_message(state));
        bench_use(state->room);
    }
}

static void hand_output(void *argument, bench_output *out) {
    zlib_state *state = argument;
    size_t length = call_zlib(state, next_message(state));
    bench_output_add(out, state->room, length);
}

static void hand_tear_down(void *argument) {
    zlib_state *state = argument;
    if (state->work.inflates)
        inflateEnd(&state->hand);
    else
        deflateEnd(&state->hand);
    state_free(state);
}

/* ---- the arm `leat`: a pipeline of the handler and an end that takes what it makes ---- */

typedef struct end_config {
    zlib_state *state;
} end_config;

static int end_added(leat_ctx *ctx, const void *config) {
    *(end_config *)leat_state(ctx) = *(const end_config *)config;
    return 0;
}

static void take(leat_ctx *ctx, leat_msg msg) {
    const zlib_state *state = ((end_config *)leat_state(ctx))->state;
    const leat_bytebuf *made = leat_msg_bytebuf(msg);
    if (state->out)
        bench_output_add(state->out, leat_bytebuf_data(made), (size_t)leat_bytebuf_readable(made));
    bench_use(made);
    leat_msg_release(msg);
}

static void take_written(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    take(ctx, msg);
    leat_ctx_complete(ctx, done, 0);
}

static const leat_handler end = {.name = "end",
                                 .state_size = sizeof(end_config),
                                 .config_size = sizeof(end_config),
                                 .added = end_added,
                                 .read = take,
                                 .write = take_written};

static void *leat_set_up(const void *work, leat_alloc *below) {
    zlib_state *state = state_new(work, below);
    const end_config config = {state};
    const leat_zlib_deflater_config deflater = {.format = LEAT_ZLIB_RAW, .flush = LEAT_ZLIB_FLUSH_MESSAGE};
    const leat_zlib_inflater_config inflater = {.format = LEAT_ZLIB_RAW};
    const leat_stage deflating[] = {{&end, &config, NULL}, {&leat_zlib_deflater, &deflater, NULL}, {0}};
    const leat_stage inflating[] = {{&leat_zlib_inflater, &inflater, NULL}, {&end, &config, NULL}, {0}};
    state->pool = leat_pool_new(below, NULL);
    bench_need(state->pool);
    leat_embedded_options options = {.alloc = leat_pool_alloc(state->pool), .without_ledger = true};
    state->embedded = leat_embedded_new_with(state->work.inflates ? inflating : deflating, &options, NULL);
    bench_need(state->embedded);
    state->channel = leat_embedded_channel(state->embedded);
    return state;
}

/* A turn for each message, as from a socket. */
static void pass_message(zlib_state *state) {
    leat_loop *loop = leat_embedded_loop(state->embedded);
    leat_loop_enter(loop);
    if (state->work.inflates)
        leat_channel_received(state->channel, leat_bytebuf_slice_readable(next_message(state)));
    else
        leat_channel_write(state->channel, leat_msg_of_bytebuf(leat_bytebuf_retain(next_message(state))), NULL);
    leat_loop_leave(loop);
}

static void leat_run(void *argument, uint64_t times) {
    zlib_state *state = argument;
    for (uint64_t i = 0; i < times; i++)
        pass_message(state);
}

static void leat_output(void *argument, bench_output *out) {
    zlib_state *state = argument;
    state->out = out;
    pass_message(state);
    state->out = NULL;
}

static void leat_tear_down(void *argument) {
    zlib_state *state = argument;
    leat_embedded_free(state->embedded);
    leat_pool_release(state->pool);
    state_free(state);
}

/* ---- rows ---- */

static const bench_arm leat_arm = {"leat", leat_set_up, leat_run, leat_output, leat_tear_down, NULL};
static const bench_arm hand_arm = {"zlib", hand_set_up, hand_run, hand_output, hand_tear_down, NULL};

static void row(bench_visitor *visitor, const char *name, zlib_work work, double at_most) {
    const bench_row shown = {.suite = "zlib",
                             .name = name,
                             .work = &work,
                             .arms = {&leat_arm, &hand_arm},
                             .ratios = {{"leat", "zlib", at_most}}};
    visitor->visit(visitor, &shown);
}

static void rows(bench_visitor *visitor) {
    row(visitor, "deflate-1024", (zlib_work){.length = 1024}, 1.05);
    row(visitor, "deflate-16384", (zlib_work){.length = 16384}, 1.03);
    row(visitor, "inflate-16384", (zlib_work){.length = 16384, .inflates = true}, 1.05);
}

const bench_suite zlib_suite = {"zlib", "messages deflated and inflated in a pipeline, and by zlib called by hand",
                                rows};
