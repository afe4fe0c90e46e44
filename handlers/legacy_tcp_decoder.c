#include "handlers/legacy_tcp_decoder.h"

#include "core/channel.h"
#include "handlers/codec.h"

#include <string.h>

#define LARGEST_MAX_FRAME ((uint64_t)1 << 32)

enum { LENGTH_FIELD = 4, FRAME_HEADER = 2, EVENT_HEADER = 5, SUBSCRIPTION_HEADER = 9, LONGEST_NAME = 127 };

struct reader {
    leat_decoder decoder;
    uint64_t max_frame;
    uint64_t left; /* bytes of the frame behind what was read of it; 0 = between frames */
    bool drop_heartbeats;
    uint8_t name_length;
    uint8_t name[LONGEST_NAME];
};

static int check(const void *config, leat_problem *problem) {
    const leat_legacy_tcp_decoder_config *given = config;
    uint64_t most = given ? given->max_frame : 0;
    if (most > LARGEST_MAX_FRAME || (most > 0 && most < LENGTH_FIELD + FRAME_HEADER))
        return leat_problem_set(problem, LEAT_EINVAL, "legacy_tcp_decoder: max_frame is below 6 or above 2^32");
    return 0;
}

/* ---- events as messages: the name lies behind ---- */

struct message {
    leat_legacy_tcp_message event;
    leat_alloc *alloc;
    size_t size;
    uint32_t refs;
};

static void retain_message(void *obj) {
    struct message *message = obj;
    __atomic_add_fetch(&message->refs, 1, __ATOMIC_RELAXED);
}

static void release_message(void *obj) {
    struct message *message = obj;
    bool sole = __atomic_load_n(&message->refs, __ATOMIC_ACQUIRE) == 1; /* nobody else can share it meanwhile */
    if (!sole && __atomic_sub_fetch(&message->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    leat_bytebuf_release(message->event.payload);
    leat_alloc_give(message->alloc, message, message->size);
}

static uint64_t size_of_message(const void *obj) {
    const leat_legacy_tcp_message *event = obj;
    return leat_bytebuf_readable(event->payload);
}

const leat_type leat_type_legacy_tcp = {
    .name = "legacy_tcp", .retain = retain_message, .release = release_message, .size = size_of_message};

static struct message *message_new(leat_ctx *ctx, const struct reader *reader, int opcode) {
    leat_alloc *alloc = leat_channel_alloc(leat_ctx_channel(ctx));
    size_t size = sizeof(struct message) + reader->name_length;
    struct message *message = leat_alloc_take(alloc, size, NULL);
    if (!message)
        return NULL;
    uint8_t *name = memcpy(message + 1, reader->name, reader->name_length);
    *message = (struct message){.alloc = alloc, .size = size, .refs = 1};
    message->event = (leat_legacy_tcp_message){.opcode = opcode, .name = {name, reader->name_length}};
    return message;
}

/* ---- decoding ---- */

static int wait_for(struct reader *reader, uint64_t bytes) {
    leat_decoder_need(&reader->decoder, bytes);
    return 0;
}

static int check_length(const struct reader *reader, uint64_t length) {
    if (length < FRAME_HEADER)
        return LEAT_ECORRUPT;
    return length > reader->max_frame - LENGTH_FIELD ? LEAT_ETOOLONG : 0;
}

/* What a frame begins with has `*length` bytes; 0 = this is not known yet. */
static int measure_header(const struct reader *reader, const leat_bytebuf *in, uint64_t *length) {
    const uint8_t *bytes = leat_bytebuf_data(in);
    uint64_t here = leat_bytebuf_readable(in);
    *length = 0;
    if (here < LENGTH_FIELD)
        return 0;
    uint64_t frame = leat_load_u32(bytes);
    int code = check_length(reader, frame);
    if (code != 0 || here < LENGTH_FIELD + FRAME_HEADER)
        return code;
    uint64_t name = bytes[LENGTH_FIELD + 1];
    *length = LENGTH_FIELD + FRAME_HEADER + name;
    bool sound = bytes[LENGTH_FIELD] == LEAT_LEGACY_TCP_VERSION && name <= LONGEST_NAME && name <= frame - FRAME_HEADER;
    return sound ? 0 : LEAT_ECORRUPT;
}

/* Takes length, version and name: 1, 0 when some of it is missing, or what is wrong. */
static int begin_frame(struct reader *reader, leat_bytebuf *in) {
    uint64_t header;
    int code = measure_header(reader, in, &header);
    if (code != 0)
        return code;
    if (header == 0 || leat_bytebuf_readable(in) < header)
        return wait_for(reader, header ? header : LENGTH_FIELD + FRAME_HEADER);
    const uint8_t *bytes = leat_bytebuf_data(in);
    reader->name_length = bytes[LENGTH_FIELD + 1];
    memcpy(reader->name, bytes + LENGTH_FIELD + FRAME_HEADER, reader->name_length);
    reader->left = leat_load_u32(bytes) + LENGTH_FIELD - header;
    leat_bytebuf_skip(in, header);
    return 1;
}

/* The payload is split off where it lies; without memory nothing is lost but the message. */
static int take_event(leat_ctx *ctx, leat_bytebuf *in, leat_legacy_tcp_read_event seen, leat_msg *out) {
    const struct reader *reader = leat_state(ctx);
    struct message *message = message_new(ctx, reader, seen.opcode);
    if (!message)
        return LEAT_ENOMEM;
    leat_bytebuf_skip(in, EVENT_HEADER);
    message->event.payload = leat_bytebuf_split(in, seen.payload_length);
    if (!message->event.payload) {
        leat_alloc_give(message->alloc, message, message->size);
        return LEAT_ENOMEM;
    }
    *out = leat_msg_of(&leat_type_legacy_tcp, message);
    return 1;
}

/* Takes the next event of the frame: 1, 0 when some of it is missing (or it was dropped), or what is wrong. */
static int next_event(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    struct reader *reader = leat_state(ctx);
    leat_legacy_tcp_read_event seen = {0};
    int result = leat_legacy_tcp_look(in, reader->left, &seen);
    if (result < 0)
        return result;
    uint64_t whole = EVENT_HEADER + seen.payload_length;
    if (result == 0)
        whole = seen.opcode ? SUBSCRIPTION_HEADER : EVENT_HEADER;
    if (leat_bytebuf_readable(in) < whole)
        return wait_for(reader, whole);
    reader->left -= whole;
    if (!reader->drop_heartbeats || seen.opcode != LEAT_LEGACY_TCP_HEARTBEAT)
        return take_event(ctx, in, seen, out);
    leat_bytebuf_skip(in, whole);
    return 0;
}

/* One step; 0 with nothing consumed means that bytes are missing. */
static int step(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    struct reader *reader = leat_state(ctx);
    if (reader->left > 0)
        return next_event(ctx, in, out);
    int begun = begin_frame(reader, in);
    return begun > 0 ? 0 : begun;
}

static int decode(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    struct reader *reader = leat_state(ctx);
    int result = 0;
    for (uint64_t left = leat_bytebuf_readable(in), before = left + 1; result == 0 && left > 0 && left < before;) {
        before = left;
        result = step(ctx, in, out);
        left = leat_bytebuf_readable(in);
    }
    leat_decoder_expect_more(&reader->decoder, reader->left > 0);
    return result;
}

static int added(leat_ctx *ctx, const void *config) {
    const leat_legacy_tcp_decoder_config *given = config;
    struct reader *reader = leat_state(ctx);
    reader->max_frame = given && given->max_frame ? given->max_frame : LEAT_LEGACY_TCP_FRAME_MAX;
    reader->drop_heartbeats = given && given->drop_heartbeats;
    leat_decoder_init(&reader->decoder, decode, reader->max_frame);
    return 0;
}

static const leat_type *const fires[] = {&leat_type_legacy_tcp, NULL};

const leat_handler leat_legacy_tcp_decoder = {
    .name = "legacy_tcp_decoder",
    .state_size = sizeof(struct reader),
    .config_size = sizeof(leat_legacy_tcp_decoder_config),
    .decodes = true,
    .read = leat_decoder_read,
    .read_done = leat_decoder_read_done,
    .eof = leat_decoder_eof,
    .wake = leat_decoder_wake,
    .removed = leat_decoder_removed,
    .reads = leat_only_bytebuf,
    .fires = fires,
    .check = check,
    .added = added,
};
