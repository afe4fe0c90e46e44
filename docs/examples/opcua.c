/**
 * A TCP server of HD frames in OPC UA Binary: `opcua [HOST:PORT]`, ended by Ctrl-C. A request is a chunk of a message
 * whose body is a Variant; it is answered with a DataValue: 1280 x 720 pixels as a matrix of Int32, and the time. The
 * pixels are sent from where they lie; a frame is painted anew once nobody sends it any more.
 */
#include <leat/handlers/length_field_decoder.h>
#include <leat/handlers/opcua/chunk.h>
#include <leat/handlers/opcua/decode.h>
#include <leat/handlers/opcua/encode.h>
#include <leat/leat.h>
#include <leat/transports/evloop.h>
#include <leat/transports/tcp.h>

#include <signal.h>
#include <stdio.h>
#include <time.h>

enum { ROWS = 720, COLUMNS = 1280, PIXELS = ROWS * COLUMNS, FRAMES = 3, REQUEST_ID_AT = 20 };

typedef struct frame {
    int32_t pixels[PIXELS];
    int32_t number;
    unsigned senders; /* responses that still need the pixels */
} frame;

static struct {
    frame frames[FRAMES];
    frame *newest;
    int32_t painted;
} camera;

static void paint(frame *picture) {
    picture->number = camera.painted++;
    for (int32_t i = 0; i < PIXELS; i++)
        picture->pixels[i] = i + picture->number;
    camera.newest = picture;
}

/* A new frame if one of them is free, else the newest once more. */
static frame *take_picture(void) {
    for (size_t i = 0; i < FRAMES; i++)
        if (camera.frames[i].senders == 0) {
            paint(&camera.frames[i]);
            break;
        }
    camera.newest->senders++;
    return camera.newest;
}

static void sent(void *picture) {
    ((frame *)picture)->senders--;
}

/* 100 ns since 1601. */
static int64_t now(void) {
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return 116444736000000000 + (int64_t)time.tv_sec * 10000000 + time.tv_nsec / 100;
}

/* Appends a frame to `message`, which calls `sent` in any case. */
static int add_frame(leat_composite *message, frame *picture) {
    static const uint32_t size[] = {ROWS, COLUMNS};
    leat_opcua_value pixels = leat_opcua_matrix(LEAT_OPCUA_INT32, picture->pixels, PIXELS, size, 2);
    leat_opcua_data_value result = {
        .value = &pixels, .source_time = now(), .fields = LEAT_OPCUA_HAS_VALUE | LEAT_OPCUA_HAS_SOURCE_TIME};
    leat_opcua_value response = leat_opcua_scalar_of(LEAT_OPCUA_DATA_VALUE, (leat_opcua_scalar){.data_value = &result});
    return leat_opcua_wrap_field(message, &response, sent, picture, NULL);
}

/* The response to a request, in chunks; NULL = no memory. */
static leat_bytebuf *respond(leat_alloc *alloc, uint32_t request) {
    leat_opcua_chunking chunking = {.channel = 1, .token = 1, .sequence = 1, .request = request};
    leat_composite *message = leat_composite_new(alloc, 4), *chunks = leat_composite_new(alloc, 128);
    int code = message && chunks ? add_frame(message, take_picture()) : LEAT_ENOMEM;
    if (code == 0)
        code = leat_opcua_chunk(chunks, leat_bytebuf_retain(leat_composite_buffer(message)), &chunking);
    leat_bytebuf_release(leat_composite_buffer(message));
    if (code == 0)
        return leat_composite_buffer(chunks);
    leat_bytebuf_release(leat_composite_buffer(chunks));
    return NULL;
}

/* Says whether a request is one: a header, and a Variant behind it. */
static int check_request(leat_bytebuf *request, leat_alloc *alloc, uint32_t *id) {
    leat_opcua_decoder decoder;
    leat_opcua_value body;
    if (leat_bytebuf_readable(request) < LEAT_OPCUA_CHUNK_HEADER)
        return LEAT_ECORRUPT;
    *id = leat_bytebuf_get_u32_le(request, leat_bytebuf_reader_index(request) + REQUEST_ID_AT);
    leat_bytebuf_skip(request, LEAT_OPCUA_CHUNK_HEADER);
    int code = leat_opcua_decoder_init(&decoder, request, alloc, NULL);
    if (code != 0)
        return code;
    code = leat_opcua_decode_variant(&decoder, &body);
    leat_opcua_decoder_clean_up(&decoder);
    return code;
}

static void answer(leat_ctx *ctx, leat_msg msg) {
    leat_bytebuf *request = leat_msg_bytebuf(msg), *response = NULL;
    leat_alloc *alloc = leat_channel_alloc(leat_ctx_channel(ctx));
    uint32_t id;
    int code = check_request(request, alloc, &id);
    leat_msg_release(msg);
    if (code == 0)
        response = respond(alloc, id);
    if (response)
        leat_ctx_write(ctx, leat_msg_of_bytebuf(response), NULL);
    else
        leat_ctx_fire_error(ctx, code != 0 ? code : LEAT_ENOMEM);
}

/* A client that asks faster than it reads is read no further until it caught up. */
static void match_pace(leat_ctx *ctx) {
    leat_channel *channel = leat_ctx_channel(ctx);
    leat_channel_set_auto_read(channel, leat_channel_is_writable(channel));
}

static const leat_handler frames = {
    .name = "frames", .reads = leat_only_bytebuf, .read = answer, .writable = match_pace};

/* The length of a chunk stands behind its first 4 bytes and counts all of it. */
static const leat_length_field_decoder_config chunk = {
    .max_frame = 65535, .offset = 4, .field_length = 4, .little_endian = true, .adjustment = -8};

static void stop(void *loop, int number) {
    (void)number;
    leat_loop_stop(loop);
}

static int serve(leat_loop *loop, leat_pipeline *pipeline, const char *address) {
    leat_problem problem = {0};
    leat_tcp_listener *listener = NULL;
    if (leat_tcp_listen(loop, address, &(leat_tcp_options){.pipeline = pipeline}, &listener, &problem) != 0) {
        fprintf(stderr, "opcua: %s\n", problem.text);
        return 2;
    }
    char text[LEAT_ADDRESS_TEXT];
    leat_address bound = leat_tcp_listener_address(listener);
    leat_address_format(&bound, text, sizeof text);
    printf("opcua: listening on %s\n", text);
    fflush(stdout);
    leat_signal *interrupt = leat_evloop_on_signal(loop, SIGINT, stop, loop);
    leat_loop_run(loop);
    leat_signal_release(interrupt);
    leat_tcp_listener_release(listener);
    return 0;
}

int main(int argc, char **argv) {
    const leat_stage stages[] = {{&leat_length_field_decoder, &chunk, NULL}, {&frames, NULL, NULL}, {0}};
    leat_loop *loop = leat_evloop_new(NULL);
    leat_pipeline *pipeline = leat_pipeline_new(leat_unpooled(), stages, NULL);
    int code = loop && pipeline ? serve(loop, pipeline, argc > 1 ? argv[1] : "127.0.0.1:7001") : 1;
    leat_loop_release(loop);
    leat_pipeline_release(pipeline);
    return code;
}
