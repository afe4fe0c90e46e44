/*
 * One end of a conversation of random frames: frames_peer KIND COUNT SEED. Listens on a free port, which it prints, and
 * talks to the first that connects: sends COUNT frames that follow from SEED, and wants COUNT that follow from SEED
 * + 1. The other end, made with another library, does the same the other way round. KIND is plain              four
 * bytes of length, and the frame gzip, zlib, raw    the same inside a compressed stream each way legacy gzip around
 * legacy TCP frames, each of one event whose payload is the frame Both ends must come to an end that is whole. Exit
 * code 0 = every frame came, in order, and so did the end.
 */
#include <leat/handlers/legacy_tcp_decoder.h>
#include <leat/handlers/length_field_decoder.h>
#include <leat/handlers/length_field_prepender.h>
#include <leat/handlers/zlib_deflater.h>
#include <leat/handlers/zlib_inflater.h>
#include <leat/leat.h>
#include <leat/transports/evloop.h>
#include <leat/transports/tcp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 65536 };

typedef struct conversation {
    leat_loop *loop;
    bool legacy;
    long count, sent, received;
    uint32_t outgoing, incoming; /* states of the two random sequences */
    const char *fault;
    bool ended;
} conversation;

typedef struct talker {
    conversation *with;
} talker;

/* ---- frames: the same in every language ---- */

static uint32_t next(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* Fills `bytes` with the next frame of a sequence: noise, or what can be deflated. Returns its length. */
static size_t make_frame(uint32_t *state, uint8_t *bytes) {
    uint32_t shape = next(state), salt = next(state);
    size_t length = shape % 64 == 0 ? salt % LARGEST : salt % 600;
    for (size_t i = 0; i < length; i++)
        bytes[i] = shape & 256 ? (uint8_t)next(state) : (uint8_t)((i * (salt & 15)) % 97);
    return length;
}

/* ---- talking ---- */

static void give_up(conversation *with, const char *fault) {
    if (!with->fault)
        with->fault = fault;
    leat_loop_stop(with->loop);
}

static leat_bytebuf *next_message(conversation *with, leat_alloc *alloc) {
    static uint8_t bytes[LARGEST];
    size_t length = make_frame(&with->outgoing, bytes);
    if (with->legacy)
        return leat_legacy_tcp_event(alloc, LEAT_LEGACY_TCP_NEXT, bytes, length);
    return leat_bytebuf_from_bytes(alloc, bytes, length);
}

static void send_some(leat_ctx *ctx) {
    conversation *with = ((talker *)leat_state(ctx))->with;
    leat_channel *channel = leat_ctx_channel(ctx);
    while (with->sent < with->count && leat_channel_is_writable(channel)) {
        leat_bytebuf *message = next_message(with, leat_channel_alloc(channel));
        if (!message) {
            give_up(with, "out of memory");
            return;
        }
        leat_ctx_write(ctx, leat_msg_of_bytebuf(message), NULL);
        with->sent++;
    }
}

static void take_frame(leat_ctx *ctx, leat_msg msg) {
    static uint8_t expected[LARGEST];
    conversation *with = ((talker *)leat_state(ctx))->with;
    const leat_legacy_tcp_message *event = leat_msg_as(msg, &leat_type_legacy_tcp);
    const leat_bytebuf *frame = event ? event->payload : leat_msg_bytebuf(msg);
    size_t length = make_frame(&with->incoming, expected);
    bool same = frame && leat_bytebuf_equals_bytes(frame, expected, length);
    leat_msg_release(msg);
    if (!same || ++with->received > with->count)
        give_up(with, "a frame came that was not sent");
}

static void come_to_an_end(leat_ctx *ctx) {
    conversation *with = ((talker *)leat_state(ctx))->with;
    with->ended = true;
    leat_ctx_close(ctx);
}

static void note_error(leat_ctx *ctx, int code) {
    give_up(((talker *)leat_state(ctx))->with, leat_error_message(code));
}

static void gone(leat_ctx *ctx) {
    leat_loop_stop(((talker *)leat_state(ctx))->with->loop);
}

static int added(leat_ctx *ctx, const void *config) {
    *(talker *)leat_state(ctx) = *(const talker *)config;
    return 0;
}

static const leat_handler talk = {.name = "talk",
                                  .state_size = sizeof(talker),
                                  .config_size = sizeof(talker),
                                  .fires = leat_no_type,
                                  .added = added,
                                  .active = send_some,
                                  .read = take_frame,
                                  .writable = send_some,
                                  .eof = come_to_an_end,
                                  .error = note_error,
                                  .inactive = gone};

/* ---- set-up ---- */

static leat_zlib_format format_of(const char *kind) {
    return strcmp(kind, "zlib") == 0 ? LEAT_ZLIB_ZLIB : strcmp(kind, "raw") == 0 ? LEAT_ZLIB_RAW : LEAT_ZLIB_GZIP;
}

static leat_pipeline *pipeline_of(const char *kind, conversation *with) {
    const leat_zlib_deflater_config deflater = {.format = format_of(kind)};
    const leat_zlib_inflater_config inflater = {.format = format_of(kind)};
    const leat_length_field_decoder_config decoder = {.strip = 4};
    const leat_legacy_tcp_framer_config framer = {.name = "leat"};
    const talker config = {with};
    const leat_stage all[] = {
        {&leat_zlib_deflater, &deflater, NULL},
        {&leat_zlib_inflater, &inflater, NULL},
        {&leat_length_field_prepender, NULL, NULL},
        with->legacy ? (leat_stage){&leat_legacy_tcp_framer, &framer, NULL}
                     : (leat_stage){&leat_length_field_decoder, &decoder, NULL},
        with->legacy ? (leat_stage){&leat_legacy_tcp_decoder, NULL, NULL} : (leat_stage){&talk, &config, NULL},
        with->legacy ? (leat_stage){&talk, &config, NULL} : (leat_stage){0},
        {0},
    };
    bool plain = strcmp(kind, "plain") == 0;
    leat_problem problem;
    leat_pipeline *pipeline = leat_pipeline_new(leat_loop_alloc(with->loop), all + (plain ? 2 : 0), &problem);
    if (!pipeline)
        fprintf(stderr, "frames_peer: %s\n", problem.text);
    return pipeline;
}

static int talk_to_one(conversation *with, leat_pipeline *pipeline) {
    leat_tcp_listener *listener = NULL;
    leat_problem problem = {0};
    const leat_tcp_options options = {.pipeline = pipeline, .max_connections = 1};
    if (leat_tcp_listen(with->loop, "127.0.0.1:0", &options, &listener, &problem) != 0) {
        fprintf(stderr, "frames_peer: %s\n", problem.text);
        return 2;
    }
    printf("%u\n", (unsigned)leat_tcp_listener_port(listener));
    fflush(stdout);
    leat_loop_run(with->loop);
    leat_tcp_listener_release(listener);
    printf("leat: sent %ld, received %ld%s\n", with->sent, with->received, with->ended ? " and the end" : "");
    if (with->fault)
        fprintf(stderr, "frames_peer: %s\n", with->fault);
    bool whole = with->sent == with->count && with->received == with->count && with->ended;
    return whole && !with->fault ? 0 : 1;
}

int main(int count, char **arguments) {
    if (count != 4) {
        fputs("usage: frames_peer plain|gzip|zlib|raw|legacy COUNT SEED\n", stderr);
        return 2;
    }
    uint32_t seed = (uint32_t)strtoul(arguments[3], NULL, 10);
    conversation with = {.loop = leat_evloop_new(NULL),
                         .legacy = strcmp(arguments[1], "legacy") == 0,
                         .count = strtol(arguments[2], NULL, 10),
                         .outgoing = seed,
                         .incoming = seed + 1};
    leat_pipeline *pipeline = with.loop ? pipeline_of(arguments[1], &with) : NULL;
    int code = pipeline ? talk_to_one(&with, pipeline) : 2;
    leat_pipeline_release(pipeline);
    leat_loop_release(with.loop);
    return code;
}
