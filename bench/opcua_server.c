/*
 * A server that answers reads over TCP on loopback: the CPU time of its thread for a response, by how the response is
 * encoded. Clients are threads of their own, which read whole responses and ask again; a run ends when each of its
 * responses has been read.
 */
#include "bench/opcua.h"
#include "core/channel.h"
#include "handlers/opcua/chunk.h"
#include "handlers/opcua/encode.h"
#include "transports/evloop.h"
#include "transports/tcp.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FRAME = 921600, BATCH = 100, MOST_CLIENTS = 10, PIECE = 256 << 10 };

typedef struct server_work {
    size_t clients;
    int64_t elements; /* of each result; 0 = a scalar */
    int64_t results;
} server_work;

/* Appends the results of a read to an empty composite, one of three ways. */
typedef int (*encode_fn)(leat_composite *message, const leat_opcua_value *results);

typedef struct server_state {
    leat_task go; /* first: the task is the state */
    leat_alloc *below;
    leat_loop *loop;
    leat_pipeline *pipeline;
    leat_tcp_listener *listener;
    server_work work;
    encode_fn encode;
    int32_t *frame;
    leat_opcua_value values[BATCH];
    leat_opcua_data_value results[BATCH];
    leat_opcua_value response;
    size_t response_bytes;
    leat_opcua_chunking chunking;
    uint64_t left;                   /* responses of this run that are not sent yet */
    uint64_t unread;                 /* and those that were sent, but not asked behind yet */
    leat_ctx *waiting[MOST_CLIENTS]; /* who asked, and gets an answer in the next run */
    size_t waiting_count;
    size_t client_count;
    pthread_t clients[MOST_CLIENTS];
    int sockets[MOST_CLIENTS];
    struct sockaddr_in address;
} server_state;

/* ---- three ways to encode ---- */

static bool write_result(leat_bytebuf *buf, const leat_opcua_data_value *result) {
    const leat_opcua_value *value = result->value;
    const int32_t *elements = value->of.elements.at.first;
    bool written = leat_bytebuf_write_u8(buf, result->fields);
    if (value->shape == LEAT_OPCUA_SCALAR) {
        written = written && leat_bytebuf_write_u8(buf, value->type);
        written = written && leat_bytebuf_write_i32_le(buf, value->of.scalar.int32);
    } else {
        written = written && leat_bytebuf_write_u8(buf, value->type | 0x80);
        written = written && leat_bytebuf_write_i32_le(buf, (int32_t)value->count);
        for (int64_t i = 0; i < value->count && written; i++)
            written = leat_bytebuf_write_i32_le(buf, elements[i]);
    }
    return written && leat_bytebuf_write_i64_le(buf, result->source_time);
}

/* One element at a time, each with its checks, into a buffer that grows. */
static int encode_loop(leat_composite *message, const leat_opcua_value *results) {
    leat_bytebuf *buf = leat_bytebuf_new(leat_bytebuf_alloc_of(leat_composite_buffer(message)), 256);
    bool written = buf && leat_bytebuf_write_i32_le(buf, (int32_t)results->count);
    const leat_opcua_data_value *result = results->of.elements.at.first;
    for (int64_t i = 0; i < results->count && written; i++)
        written = write_result(buf, result + i);
    if (written)
        return leat_composite_add(message, buf);
    leat_bytebuf_release(buf);
    return LEAT_ENOMEM;
}

static int encode_block(leat_composite *message, const leat_opcua_value *results) {
    return leat_opcua_encode_field(leat_composite_buffer(message), results, NULL);
}

static int encode_wrapped(leat_composite *message, const leat_opcua_value *results) {
    return leat_opcua_wrap_field(message, results, NULL, NULL, NULL);
}

/* ---- the server ---- */

static leat_bytebuf *respond(server_state *state, leat_alloc *alloc) {
    leat_composite *message = leat_composite_new(alloc, 4), *chunks = leat_composite_new(alloc, 4);
    bench_need(message);
    bench_need(chunks);
    bench_need(state->encode(message, &state->response) == 0 ? state : NULL);
    state->chunking.sequence = 1;
    int code = leat_opcua_chunk(chunks, leat_composite_buffer(message), &state->chunking);
    bench_need(code == 0 ? state : NULL);
    return leat_composite_buffer(chunks);
}

static void answer(server_state *state, leat_ctx *ctx) {
    state->left--;
    state->unread++;
    leat_ctx_write(ctx, leat_msg_of_bytebuf(respond(state, leat_loop_alloc(state->loop))), NULL);
}

/* Begins a run: those who wait are answered. */
static void go(leat_task *task, int status) {
    server_state *state = (server_state *)task;
    bench_need(status == 0 ? state : NULL);
    while (state->waiting_count > 0 && state->left > 0)
        answer(state, state->waiting[--state->waiting_count]);
}

static int remember(leat_ctx *ctx, const void *config) {
    *(server_state **)leat_state(ctx) = *(server_state *const *)config;
    return 0;
}

/* A request says too that the response before it was read. */
static void requested(leat_ctx *ctx, leat_msg msg) {
    server_state *state = *(server_state **)leat_state(ctx);
    leat_msg_release(msg);
    state->unread--;
    if (state->left > 0)
        answer(state, ctx);
    else
        state->waiting[state->waiting_count++] = ctx;
    if (state->unread == 0)
        leat_loop_stop(state->loop);
}

static const leat_handler reads_handler = {.name = "reads",
                                           .state_size = sizeof(server_state *),
                                           .config_size = sizeof(server_state *),
                                           .added = remember,
                                           .read = requested};

static void run(void *argument, uint64_t times) {
    server_state *state = argument;
    state->left = times;
    state->go = (leat_task){.fn = go};
    leat_loop_post(state->loop, &state->go);
    leat_loop_run(state->loop);
}

static void output(void *argument, bench_output *output) {
    server_state *state = argument;
    leat_bytebuf *response = respond(state, state->below), *flat = leat_bytebuf_copy(response, state->below);
    bench_need(flat);
    bench_output_add(output, leat_bytebuf_data(flat), (size_t)leat_bytebuf_readable(flat));
    leat_bytebuf_release(flat);
    leat_bytebuf_release(response);
}

/* ---- clients ---- */

/* Reads a response; false = the server is gone. */
static bool read_response(int descriptor, uint8_t *piece, size_t left) {
    while (left > 0) {
        ssize_t n = recv(descriptor, piece, left < PIECE ? left : PIECE, 0);
        if (n <= 0)
            return false;
        left -= (size_t)n;
    }
    return true;
}

typedef struct client_start {
    int descriptor;
    size_t response_bytes;
} client_start;

static void *client(void *argument) {
    client_start start = *(client_start *)argument;
    uint8_t *piece = calloc(1, PIECE);
    free(argument);
    bench_need(piece);
    while (send(start.descriptor, "?", 1, MSG_NOSIGNAL) == 1 &&
           read_response(start.descriptor, piece, start.response_bytes)) {
    }
    free(piece);
    return NULL;
}

static void add_client(server_state *state) {
    int descriptor = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    client_start *start = malloc(sizeof *start);
    bench_need(start);
    *start = (client_start){descriptor, state->response_bytes};
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(descriptor, (struct sockaddr *)&state->address, sizeof state->address) != 0 ||
        pthread_create(&state->clients[state->client_count], NULL, client, start) != 0)
        bench_need(NULL);
    state->sockets[state->client_count++] = descriptor;
}

/* ---- set-up ---- */

static void fill(server_state *state) {
    const server_work *work = &state->work;
    size_t elements = work->elements > 0 ? (size_t)work->elements : 1;
    state->frame = leat_alloc_take(state->below, elements * sizeof *state->frame, NULL);
    bench_need(state->frame);
    for (size_t i = 0; i < elements; i++)
        state->frame[i] = (int32_t)i * 77;
    for (int32_t i = 0; i < work->results; i++) {
        state->values[i] = work->elements > 0 ? leat_opcua_array(LEAT_OPCUA_INT32, state->frame, work->elements)
                                              : leat_opcua_scalar_of(LEAT_OPCUA_INT32, (leat_opcua_scalar){.int32 = i});
        state->results[i] = (leat_opcua_data_value){.value = &state->values[i],
                                                    .source_time = 133485408001230000 + i,
                                                    .fields = LEAT_OPCUA_HAS_VALUE | LEAT_OPCUA_HAS_SOURCE_TIME};
    }
    state->response = leat_opcua_array(LEAT_OPCUA_DATA_VALUE, state->results, work->results);
    leat_bytebuf *response = respond(state, state->below);
    state->response_bytes = (size_t)leat_bytebuf_readable(response);
    leat_bytebuf_release(response);
}

static void listen_for_clients(server_state *state) {
    leat_problem problem = {0};
    state->loop = leat_evloop_new(NULL);
    bench_need(state->loop);
    state->pipeline =
        leat_pipeline_new(state->below, (leat_stage[]){{&reads_handler, &(server_state *){state}, NULL}, {0}}, NULL);
    bench_need(state->pipeline);
    leat_tcp_options options = {.pipeline = state->pipeline};
    if (leat_tcp_listen(state->loop, "127.0.0.1:0", &options, &state->listener, &problem) != 0) {
        fprintf(stderr, "leat-bench: %s\n", problem.text);
        exit(1);
    }
    state->address = (struct sockaddr_in){.sin_family = AF_INET,
                                          .sin_port = htons(leat_tcp_listener_port(state->listener)),
                                          .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void *set_up(const void *work, leat_alloc *below, encode_fn encode) {
    server_state *state = leat_alloc_take_zeroed(below, sizeof *state);
    bench_need(state);
    state->below = below;
    state->work = *(const server_work *)work;
    state->encode = encode;
    fill(state);
    listen_for_clients(state);
    state->unread = state->work.clients; /* whose first requests come */
    for (size_t i = 0; i < state->work.clients; i++)
        add_client(state);
    leat_loop_run(state->loop);
    return state;
}

static void *loop_set_up(const void *work, leat_alloc *below) {
    return set_up(work, below, encode_loop);
}

static void *block_set_up(const void *work, leat_alloc *below) {
    return set_up(work, below, encode_block);
}

static void *wrapped_set_up(const void *work, leat_alloc *below) {
    return set_up(work, below, encode_wrapped);
}

static void tear_down(void *argument) {
    server_state *state = argument;
    for (size_t i = 0; i < state->client_count; i++) {
        shutdown(state->sockets[i], SHUT_RDWR);
        pthread_join(state->clients[i], NULL);
        close(state->sockets[i]);
    }
    leat_tcp_listener_release(state->listener);
    leat_loop_release(state->loop);
    leat_pipeline_release(state->pipeline);
    size_t elements = state->work.elements > 0 ? (size_t)state->work.elements : 1;
    leat_alloc_give(state->below, state->frame, elements * sizeof *state->frame);
    leat_alloc_give(state->below, state, sizeof *state);
}

/* ---- rows ---- */

static const bench_arm loop_arm = {"loop", loop_set_up, run, output, tear_down, NULL};
static const bench_arm block_arm = {"block", block_set_up, run, output, tear_down, NULL};
static const bench_arm wrapped_arm = {"wrapped", wrapped_set_up, run, output, tear_down, NULL};

static void row(bench_visitor *visitor, const char *name, server_work work, double at_most) {
    const bench_row one = {.suite = "opcua",
                           .name = name,
                           .unit = "ns CPU",
                           .work = &work,
                           .arms = {&wrapped_arm, &block_arm, &loop_arm},
                           .ratios = {{"wrapped", "loop", at_most}, {"block", "loop", 0}}};
    visitor->visit(visitor, &one);
}

void opcua_server_rows(bench_visitor *visitor) {
    row(visitor, "server-hd-1", (server_work){.clients = 1, .elements = FRAME, .results = 1}, 0.6);
    row(visitor, "server-hd-10", (server_work){.clients = MOST_CLIENTS, .elements = FRAME, .results = 1}, 0);
    row(visitor, "server-batch-100", (server_work){.clients = MOST_CLIENTS, .results = BATCH}, 1.05);
    row(visitor, "server-scalar", (server_work){.clients = MOST_CLIENTS, .results = 1}, 1.05);
}
