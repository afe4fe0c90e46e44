/** What frames cost: cut from what was read, and put in front of what is written. */
#include "bench/suites.h"
#include "core/embedded.h"
#include "core/gather.h"
#include "core/pool.h"
#include "core/transport.h"
#include "handlers/legacy_tcp_framer.h"
#include "handlers/length_field_decoder.h"
#include "handlers/length_field_prepender.h"

#include <string.h>

enum { FIELD = 4, READ_LENGTH = 64 * 1024, MOST_PIECES = 64, MOST_SPANS = 2 * MOST_PIECES + 2 };

typedef struct framing_work {
    const leat_stage *stages; /* in front of, or behind, the sink */
    size_t pieces;            /* frames of a read, or events of a batch */
    size_t size;              /* bytes of each */
    bool in_place;            /* pieces have headroom and one owner */
} framing_work;

/* What every arm works on. Arms that need no channel have none. */
typedef struct framing_state {
    leat_alloc *below;
    leat_alloc *alloc; /* a pool's, as loops have one */
    leat_pool *pool;
    framing_work work;
    leat_embedded *embedded;
    leat_channel *channel;
    leat_bytebuf *read;                /* frames, one behind the other */
    leat_bytebuf *pieces[MOST_PIECES]; /* what is to be framed */
    uint8_t *block;                    /* reused by the arm `copy` */
    size_t block_size;
    leat_span spans[MOST_SPANS]; /* of what was framed */
    size_t span_count;
    uint64_t seen; /* bytes that reached the sink */
    bench_output *out;
} framing_state;

/* ---- the sink ---- */

typedef struct sink_config {
    framing_state *state;
} sink_config;

static int sink_added(leat_ctx *ctx, const void *config) {
    *(sink_config *)leat_state(ctx) = *(const sink_config *)config;
    return 0;
}

/* What both arms do with a frame. */
static void take_frame(framing_state *state, leat_bytebuf *frame) {
    state->seen += leat_bytebuf_readable(frame);
    if (state->out)
        bench_output_add(state->out, leat_bytebuf_data(frame), (size_t)leat_bytebuf_readable(frame));
    leat_bytebuf_release(frame);
}

static void sink_read(leat_ctx *ctx, leat_msg msg) {
    const sink_config *sink = leat_state(ctx);
    take_frame(sink->state, leat_msg_bytebuf(msg));
}

static void output_spans(const framing_state *state, size_t first) {
    for (size_t i = first; i < state->span_count; i++)
        bench_output_add(state->out, state->spans[i].bytes, state->spans[i].length);
}

/* Notes the spans that a gathering write would be given. A body that was framed in place goes back without its header,
 * for the next operation. */
static void sink_write(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    framing_state *state = ((const sink_config *)leat_state(ctx))->state;
    leat_bytebuf *frame = leat_msg_bytebuf(msg);
    size_t first = state->span_count;
    state->span_count += leat_bytebuf_spans(frame, state->spans + first, MOST_SPANS - first);
    if (state->out)
        output_spans(state, first);
    leat_ctx_complete(ctx, done, 0);
    if (state->work.in_place)
        leat_bytebuf_skip(frame, FIELD);
    else
        leat_bytebuf_release(frame);
}

static const leat_handler sink = {
    .name = "sink",
    .state_size = sizeof(sink_config),
    .config_size = sizeof(sink_config),
    .fires = leat_no_type,
    .takes = leat_only_bytebuf,
    .added = sink_added,
    .read = sink_read,
    .write = sink_write,
};

/* ---- states ---- */

static void tear_down(void *argument) {
    framing_state *state = argument;
    leat_embedded_free(state->embedded);
    leat_bytebuf_release(state->read);
    for (size_t i = 0; i < MOST_PIECES; i++)
        leat_bytebuf_release(state->pieces[i]);
    leat_alloc_give(state->below, state->block, state->block_size);
    leat_pool_release(state->pool);
    leat_alloc_give(state->below, state, sizeof *state);
}

static framing_state *state_new(const framing_work *work, leat_alloc *below) {
    framing_state *state = leat_alloc_take_zeroed(below, sizeof *state);
    bench_need(state);
    state->below = below;
    state->work = *work;
    state->pool = leat_pool_new(below, NULL);
    bench_need(state->pool);
    state->alloc = leat_pool_alloc(state->pool);
    return state;
}

/* Gives the state a channel of the row's stages with the sink in its place. */
static void add_channel(framing_state *state) {
    leat_stage stages[5] = {{0}};
    sink_config config = {state};
    size_t count = 0;
    for (; state->work.stages[count].handler; count++)
        stages[count] =
            state->work.stages[count].handler == &sink ? (leat_stage){&sink, &config, NULL} : state->work.stages[count];
    const leat_embedded_options options = {.alloc = state->alloc, .without_ledger = true};
    state->embedded = leat_embedded_new_with(stages, &options, NULL);
    bench_need(state->embedded);
    state->channel = leat_embedded_channel(state->embedded);
}

static void fill(leat_bytebuf *buf, size_t size) {
    for (size_t i = 0; i < size; i++)
        leat_bytebuf_write_u8(buf, (uint8_t)(i * 7 + 3));
}

/* ---- decode: the arm `leat` is the decoder in a channel, the arm `hand` a loop over the same bytes ---- */

static framing_state *decode_state(const void *work, leat_alloc *below) {
    framing_state *state = state_new(work, below);
    state->read = leat_bytebuf_new(state->alloc, state->work.pieces * (FIELD + state->work.size));
    bench_need(state->read);
    for (size_t i = 0; i < state->work.pieces; i++) {
        leat_bytebuf_write_u32(state->read, (uint32_t)state->work.size);
        fill(state->read, state->work.size);
    }
    return state;
}

static void *decode_set_up(const void *work, leat_alloc *below) {
    framing_state *state = decode_state(work, below);
    add_channel(state);
    return state;
}

static void *hand_set_up(const void *work, leat_alloc *below) {
    return decode_state(work, below);
}

/* A read as a transport makes it: a handle of its own on a part of a block. */
static void decode_one(framing_state *state) {
    leat_bytebuf *read = leat_bytebuf_slice_readable(state->read);
    bench_need(read);
    leat_loop *loop = leat_embedded_loop(state->embedded);
    leat_loop_enter(loop);
    leat_channel_received(state->channel, read);
    leat_channel_received_all(state->channel);
    leat_loop_leave(loop);
}

/* Does it once, and what reaches the sink is the output. */
static void once_into(bench_output *out, framing_state *state, void (*once)(framing_state *state)) {
    state->out = out;
    once(state);
    state->out = NULL;
}

static void decode_run(void *argument, uint64_t times) {
    for (uint64_t i = 0; i < times; i++)
        decode_one(argument);
}

static void decode_output(void *argument, bench_output *out) {
    once_into(out, argument, decode_one);
}

static void hand_one(framing_state *state) {
    void (*taker)(framing_state *, leat_bytebuf *) = take_frame; /* a call not seen through, as a handler's is */
    bench_use(&taker);
    leat_bytebuf *read = state->read;
    const uint8_t *bytes = leat_bytebuf_data(read);
    uint64_t length = leat_bytebuf_readable(read), at = 0;
    while (length - at >= FIELD) {
        uint64_t frame = leat_load_u32(bytes + at);
        if (frame > length - at - FIELD)
            break;
        leat_bytebuf *slice = leat_bytebuf_slice(read, at + FIELD, frame);
        bench_need(slice);
        taker(state, slice);
        at += FIELD + frame;
    }
}

static void hand_run(void *argument, uint64_t times) {
    for (uint64_t i = 0; i < times; i++)
        hand_one(argument);
}

static void hand_output(void *argument, bench_output *out) {
    once_into(out, argument, hand_one);
}

/* ---- encode: the arm `leat` frames in a channel, the arm `copy` builds frames in a block that it reuses ---- */

static leat_bytebuf *piece_new(framing_state *state) {
    leat_bytebuf *piece = leat_bytebuf_new_with(state->alloc, state->work.size, 0, state->work.in_place ? FIELD : 0);
    bench_need(piece);
    fill(piece, state->work.size);
    return piece;
}

static framing_state *encode_state(const void *work, leat_alloc *below) {
    framing_state *state = state_new(work, below);
    for (size_t i = 0; i < state->work.pieces; i++)
        state->pieces[i] = piece_new(state);
    return state;
}

static void *encode_set_up(const void *work, leat_alloc *below) {
    framing_state *state = encode_state(work, below);
    add_channel(state);
    return state;
}

static void *copy_set_up(const void *work, leat_alloc *below) {
    framing_state *state = encode_state(work, below);
    state->block_size = state->work.pieces * (FIELD + state->work.size) + 64;
    state->block = leat_alloc_take(below, state->block_size, NULL);
    bench_need(state->block);
    return state;
}

/* Does it, and walks the spans, as a gathering write would. */
static void repeat(framing_state *state, uint64_t times, void (*once)(framing_state *state)) {
    for (uint64_t i = 0; i < times; i++) {
        once(state);
        for (size_t k = 0; k < state->span_count; k++)
            state->seen += state->spans[k].length;
        bench_use(state);
    }
}

static void copied(framing_state *state, const uint8_t *end) {
    state->spans[0] = (leat_span){state->block, (size_t)(end - state->block)}, state->span_count = 1;
    if (state->below->stats)
        state->below->stats->copied += state->spans[0].length;
}

static uint8_t *append(uint8_t *to, const void *bytes, size_t length) {
    memcpy(to, bytes, length);
    return to + length;
}

static uint8_t *append_piece(uint8_t *to, const framing_state *state, size_t i) {
    return append(to, leat_bytebuf_data(state->pieces[i]), (size_t)leat_bytebuf_readable(state->pieces[i]));
}

/* Each body behind its length. */
static void prepend_all(framing_state *state) {
    leat_loop *loop = leat_embedded_loop(state->embedded);
    state->span_count = 0;
    leat_loop_enter(loop);
    for (size_t i = 0; i < state->work.pieces; i++)
        leat_channel_write(state->channel, leat_msg_of_bytebuf(state->pieces[i]), NULL);
    leat_loop_leave(loop);
}

static void prepend_run(void *argument, uint64_t times) {
    repeat(argument, times, prepend_all);
}

static void prepend_output(void *argument, bench_output *out) {
    once_into(out, argument, prepend_all);
}

static void copy_frames(framing_state *state) {
    uint8_t *to = state->block;
    for (size_t i = 0; i < state->work.pieces; i++) {
        leat_store_u32(to, (uint32_t)state->work.size);
        to = append_piece(to + FIELD, state, i);
    }
    copied(state, to);
}

static void copy_run(void *argument, uint64_t times) {
    repeat(argument, times, copy_frames);
}

static void copy_output(void *argument, bench_output *out) {
    framing_state *state = argument;
    copy_frames(state);
    bench_output_add(out, state->spans[0].bytes, state->spans[0].length);
}

/* ---- legacy TCP: a batch of shared events as one frame ---- */

#define NAME "obs"
static const uint8_t frame_header[] = {LEAT_LEGACY_TCP_VERSION, sizeof NAME - 1, 'o', 'b', 's'};

/* Gathers the events, frames them, and hands the spans on. */
static leat_bytebuf *gathered(framing_state *state) {
    leat_gather gather;
    leat_gather_init(&gather, state->alloc, LEAT_GATHER_AUTO, (uint32_t)state->work.pieces);
    leat_gather_add_shared_list(&gather, state->pieces, state->work.pieces);
    leat_bytebuf *batch = leat_gather_finish(&gather);
    bench_need(batch);
    return batch;
}

static void batch_write(framing_state *state) {
    leat_loop *loop = leat_embedded_loop(state->embedded);
    state->span_count = 0;
    leat_loop_enter(loop);
    leat_channel_write(state->channel, leat_msg_of_bytebuf(gathered(state)), NULL);
    leat_loop_leave(loop);
}

static void batch_run(void *argument, uint64_t times) {
    repeat(argument, times, batch_write);
}

static void batch_output(void *argument, bench_output *out) {
    once_into(out, argument, batch_write);
}

static void copy_batch(framing_state *state) {
    size_t length = sizeof frame_header + state->work.pieces * state->work.size;
    leat_store_u32(state->block, (uint32_t)length);
    uint8_t *to = append(state->block + FIELD, frame_header, sizeof frame_header);
    for (size_t i = 0; i < state->work.pieces; i++)
        to = append_piece(to, state, i);
    copied(state, to);
}

static void copy_batch_run(void *argument, uint64_t times) {
    repeat(argument, times, copy_batch);
}

static void copy_batch_output(void *argument, bench_output *out) {
    framing_state *state = argument;
    copy_batch(state);
    bench_output_add(out, state->spans[0].bytes, state->spans[0].length);
}

/* ---- rows ---- */

static const bench_arm decode_arm = {"leat", decode_set_up, decode_run, decode_output, tear_down, NULL};
static const bench_arm hand_arm = {"hand", hand_set_up, hand_run, hand_output, tear_down, NULL};
static const bench_arm prepend_arm = {"leat", encode_set_up, prepend_run, prepend_output, tear_down, NULL};
static const bench_arm copy_arm = {"copy", copy_set_up, copy_run, copy_output, tear_down, NULL};
static const bench_arm batch_arm = {"leat", encode_set_up, batch_run, batch_output, tear_down, NULL};
static const bench_arm copy_batch_arm = {"copy", copy_set_up, copy_batch_run, copy_batch_output, tear_down, NULL};

static const leat_length_field_decoder_config strip_field = {.strip = FIELD};
static const leat_legacy_tcp_framer_config named = {.name = NAME};
static const leat_stage decoding[] = {{&leat_length_field_decoder, &strip_field, NULL}, {.handler = &sink}, {0}};
static const leat_stage prepending[] = {{.handler = &sink}, {.handler = &leat_length_field_prepender}, {0}};
static const leat_stage batching[] = {
    {.handler = &sink}, {.handler = &leat_length_field_prepender}, {&leat_legacy_tcp_framer, &named, NULL}, {0}};

static void decode_row(bench_visitor *visitor, const char *name, size_t size, double at_most) {
    const framing_work work = {decoding, READ_LENGTH / (FIELD + size), size, false};
    const bench_row row = {.suite = "framing",
                           .name = name,
                           .work = &work,
                           .arms = {&decode_arm, &hand_arm},
                           .ratios = {{"leat", "hand", at_most}}};
    visitor->visit(visitor, &row);
}

static void encode_row(bench_visitor *visitor, const char *name, framing_work work, const bench_arm *leat,
                       const bench_arm *copy, double at_most) {
    const bench_row row = {
        .suite = "framing", .name = name, .work = &work, .arms = {leat, copy}, .ratios = {{"leat", "copy", at_most}}};
    visitor->visit(visitor, &row);
}

static void rows(bench_visitor *visitor) {
    decode_row(visitor, "decode-64", 64, 3);
    decode_row(visitor, "decode-1024", 1024, 1.3);
    encode_row(visitor, "prepend-64x1024", (framing_work){prepending, 64, 1024, true}, &prepend_arm, &copy_arm, 1);
    encode_row(visitor, "legacy-30x1024", (framing_work){batching, 30, 1024, false}, &batch_arm, &copy_batch_arm, 0.5);
}

const bench_suite framing_suite = {"framing", "frames cut from a read, and put in front of what is written", rows};
