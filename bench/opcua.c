/* What it costs to encode, wrap, view and decode arrays of OPC UA Binary, beside moving their bytes. */
#include "bench/opcua.h"
#include "bench/suites.h"
#include "handlers/opcua/decode.h"
#include "handlers/opcua/encode.h"

#include <string.h>

enum { FRAME = 921600, SMALL = 1000, HEAD = 5, SHOWN = 1000 };

typedef struct array_work {
    uint8_t type;
    int64_t count;
} array_work;

/* The caller's array, the message it is, and room to write either. */
typedef struct array_state {
    leat_alloc *alloc;
    leat_opcua_value value;
    size_t bytes;
    uint8_t *elements;
    const void **boxes; /* a pointer to each element */
    leat_bytebuf *message;
    leat_bytebuf *target;
    uint8_t *plain;
} array_state;

/* ---- states ---- */

static void fill(uint8_t type, uint8_t *elements, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        elements[i] = type == LEAT_OPCUA_BOOLEAN ? i % 3 == 0 : (uint8_t)(i * 7);
}

static void *set_up(const void *argument, leat_alloc *alloc) {
    const array_work *work = argument;
    array_state *state = leat_alloc_take_zeroed(alloc, sizeof *state);
    bench_need(state);
    state->alloc = alloc;
    state->bytes = (size_t)work->count * leat_opcua_width(work->type);
    state->elements = leat_alloc_take(alloc, state->bytes, NULL);
    state->plain = leat_alloc_take(alloc, state->bytes, NULL);
    state->message = leat_bytebuf_new(alloc, state->bytes + HEAD);
    state->target = leat_bytebuf_new(alloc, state->bytes + HEAD);
    bench_need(state->elements);
    bench_need(state->plain);
    bench_need(state->message);
    bench_need(state->target);
    fill(work->type, state->elements, state->bytes);
    memset(state->plain, 1, state->bytes);
    state->value = leat_opcua_array(work->type, state->elements, work->count);
    bench_need(leat_opcua_encode_variant(state->message, &state->value, NULL) == 0 ? state : NULL);
    return state;
}

static void *boxed_set_up(const void *argument, leat_alloc *alloc) {
    array_state *state = set_up(argument, alloc);
    size_t count = (size_t)state->value.count;
    state->boxes = leat_alloc_take(alloc, count * sizeof *state->boxes, NULL);
    bench_need(state->boxes);
    for (size_t i = 0; i < count; i++) /* each thousandth is missing */
        state->boxes[i] = i % 1000 == 999 ? NULL : state->elements + 4 * i;
    state->value.source = LEAT_OPCUA_POINTERS;
    state->value.of.elements.at.pointers = state->boxes;
    return state;
}

static void tear_down(void *argument) {
    array_state *state = argument;
    if (state->boxes)
        leat_alloc_give(state->alloc, state->boxes, (size_t)state->value.count * sizeof *state->boxes);
    leat_alloc_give(state->alloc, state->elements, state->bytes);
    leat_alloc_give(state->alloc, state->plain, state->bytes);
    leat_bytebuf_release(state->message);
    leat_bytebuf_release(state->target);
    leat_alloc_give(state->alloc, state, sizeof *state);
}

/* ---- encoding ---- */

static void encode(array_state *state) {
    leat_bytebuf_clear(state->target);
    bench_need(leat_opcua_encode_variant(state->target, &state->value, NULL) == 0 ? state : NULL);
    bench_use(state->target);
}

static void encode_run(void *state, uint64_t times) {
    while (times-- > 0)
        encode(state);
}

/* The elements alone: an arm that only moves memory has nothing else. */
static void encode_output(void *argument, bench_output *output) {
    array_state *state = argument;
    encode(state);
    bench_output_add(output, leat_bytebuf_data(state->target) + HEAD, state->bytes);
}

static void copy_run(void *argument, uint64_t times) {
    array_state *state = argument;
    while (times-- > 0) {
        memcpy(state->plain, state->elements, state->bytes);
        bench_use(state->plain);
    }
}

static void copy_output(void *argument, bench_output *output) {
    array_state *state = argument;
    copy_run(state, 1);
    bench_output_add(output, state->plain, state->bytes);
}

static void pointers_run(void *argument, uint64_t times) {
    array_state *state = argument;
    int32_t *to = (int32_t *)(void *)state->plain;
    size_t count = (size_t)state->value.count;
    while (times-- > 0) {
        for (size_t i = 0; i < count; i++)
            to[i] = state->boxes[i] ? *(const int32_t *)state->boxes[i] : 0;
        bench_use(state->plain);
    }
}

static void pointers_output(void *argument, bench_output *output) {
    array_state *state = argument;
    pointers_run(state, 1);
    bench_output_add(output, state->plain, state->bytes);
}

/* ---- wrapping ---- */

static leat_bytebuf *wrapped(const array_state *state) {
    leat_composite *composite = leat_composite_new(state->alloc, 4);
    bench_need(composite);
    bench_need(leat_opcua_wrap_variant(composite, &state->value, NULL, NULL, NULL) == 0 ? state : NULL);
    return leat_composite_buffer(composite);
}

static void wrap_run(void *state, uint64_t times) {
    while (times-- > 0) {
        leat_bytebuf *buf = wrapped(state);
        bench_use(buf);
        leat_bytebuf_release(buf);
    }
}

/* What arrays of both lengths have in common. */
static void wrap_output(void *state, bench_output *output) {
    leat_bytebuf *buf = wrapped(state);
    int32_t shown[SHOWN];
    leat_bytebuf_get_bytes(buf, HEAD, shown, sizeof shown);
    bench_output_add(output, shown, sizeof shown);
    leat_bytebuf_release(buf);
}

/* ---- decoding ---- */

static void begin(const array_state *state, leat_opcua_decoder *decoder, leat_opcua_value *view) {
    bench_need(leat_opcua_decoder_init(decoder, state->message, state->alloc, NULL) == 0 ? state : NULL);
    bench_need(leat_opcua_decode_variant(decoder, view) == 0 ? state : NULL);
}

static void decode_run(void *argument, uint64_t times) {
    array_state *state = argument;
    while (times-- > 0) {
        leat_opcua_decoder decoder;
        leat_opcua_value view;
        begin(state, &decoder, &view);
        leat_opcua_copy(&view, 0, leat_opcua_count(&view), state->plain);
        bench_use(state->plain);
        leat_opcua_decoder_clean_up(&decoder);
    }
}

static void decode_output(void *argument, bench_output *output) {
    array_state *state = argument;
    decode_run(state, 1);
    bench_output_add(output, state->plain, state->bytes);
}

static void view_run(void *argument, uint64_t times) {
    array_state *state = argument;
    while (times-- > 0) {
        leat_opcua_decoder decoder;
        leat_opcua_value view;
        int32_t last;
        begin(state, &decoder, &view);
        leat_opcua_get(&view, leat_opcua_count(&view) - 1, &last);
        bench_use(&last);
        leat_opcua_decoder_clean_up(&decoder);
    }
}

static void view_output(void *argument, bench_output *output) {
    array_state *state = argument;
    leat_opcua_decoder decoder;
    leat_opcua_value view;
    int32_t shown[SHOWN];
    begin(state, &decoder, &view);
    leat_opcua_copy(&view, 0, SHOWN, shown);
    bench_output_add(output, shown, sizeof shown);
    leat_opcua_decoder_clean_up(&decoder);
}

/* ---- rows ---- */

static void *small_set_up(const void *work, leat_alloc *alloc) {
    (void)work;
    return set_up(&(array_work){LEAT_OPCUA_INT32, SMALL}, alloc);
}

static const bench_arm encode_arm = {"leat", set_up, encode_run, encode_output, tear_down, NULL};
static const bench_arm boxed_arm = {"leat", boxed_set_up, encode_run, encode_output, tear_down, NULL};
static const bench_arm decode_arm = {"leat", set_up, decode_run, decode_output, tear_down, NULL};
static const bench_arm copy_arm = {"memcpy", set_up, copy_run, copy_output, tear_down, NULL};
static const bench_arm pointers_arm = {"pointer-loop", boxed_set_up, pointers_run, pointers_output, tear_down, NULL};
static const bench_arm wrap_arm = {"leat", set_up, wrap_run, wrap_output, tear_down, NULL};
static const bench_arm wrap_small_arm = {"wrap-i32-1000", small_set_up, wrap_run, wrap_output, tear_down, NULL};
static const bench_arm view_arm = {"leat", set_up, view_run, view_output, tear_down, NULL};
static const bench_arm view_small_arm = {"view-i32-1000", small_set_up, view_run, view_output, tear_down, NULL};

static void row(bench_visitor *visitor, const char *name, array_work work, const bench_arm *arm,
                const bench_arm *against, double at_most) {
    const bench_row one = {.suite = "opcua",
                           .name = name,
                           .work = &work,
                           .arms = {arm, against},
                           .ratios = {{arm->name, against->name, at_most}}};
    visitor->visit(visitor, &one);
}

static void rows(bench_visitor *visitor) {
    const array_work frame = {LEAT_OPCUA_INT32, FRAME}, small = {LEAT_OPCUA_INT32, SMALL},
                     doubles = {LEAT_OPCUA_DOUBLE, FRAME}, booleans = {LEAT_OPCUA_BOOLEAN, FRAME};
    row(visitor, "encode-i32-921600", frame, &encode_arm, &copy_arm, 1.05);
    row(visitor, "encode-i32-1000", small, &encode_arm, &copy_arm, 1.6);
    row(visitor, "encode-f64-921600", doubles, &encode_arm, &copy_arm, 1.05);
    row(visitor, "encode-boxed-i32-921600", frame, &boxed_arm, &pointers_arm, 1.1);
    row(visitor, "wrap-i32-921600", frame, &wrap_arm, &wrap_small_arm, 2);
    row(visitor, "view-i32-921600", frame, &view_arm, &view_small_arm, 2);
    row(visitor, "decode-i32-921600", frame, &decode_arm, &copy_arm, 1.05);
    row(visitor, "decode-i32-1000", small, &decode_arm, &copy_arm, 1.6);
    row(visitor, "encode-bool-921600", booleans, &encode_arm, &copy_arm, 2);
    row(visitor, "decode-bool-921600", booleans, &decode_arm, &copy_arm, 2);
    opcua_server_rows(visitor);
}

const bench_suite opcua_suite = {"opcua", "arrays in OPC UA Binary, and a server that answers with them", rows};
