#include "handlers/legacy_tcp_framer.h"

#include "core/channel.h"
#include "handlers/codec.h"

#include <string.h>

enum { EVENT_HEADER = 5, FRAME_HEADER = 2, LONGEST_READABLE_NAME = 127, MAP_LENGTH = 4, BARE_SUBSCRIPTION = 2 };

struct framer {
    uint8_t header[FRAME_HEADER + LEAT_LEGACY_TCP_NAME_MAX];
    size_t length;
};

static size_t name_length(const leat_legacy_tcp_framer_config *config) {
    return config && config->name ? strlen(config->name) : 0;
}

static int check(const void *config, leat_problem *problem) {
    size_t length = name_length(config);
    if (length > LEAT_LEGACY_TCP_NAME_MAX)
        return leat_problem_set(problem, LEAT_EINVAL,
                                "legacy_tcp_framer: the name has %zu bytes, at most %d are possible", length,
                                LEAT_LEGACY_TCP_NAME_MAX);
    return 0;
}

static int added(leat_ctx *ctx, const void *config) {
    struct framer *framer = leat_state(ctx);
    size_t length = name_length(config);
    framer->header[0] = LEAT_LEGACY_TCP_VERSION;
    framer->header[1] = (uint8_t)length;
    if (length)
        memcpy(framer->header + FRAME_HEADER, ((const leat_legacy_tcp_framer_config *)config)->name, length);
    framer->length = FRAME_HEADER + length;
    return 0;
}

static void write_frame(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    const struct framer *framer = leat_state(ctx);
    leat_bytebuf *events = leat_msg_bytebuf(msg);
    if (!events) {
        leat_ctx_write(ctx, msg, done);
        return;
    }
    leat_alloc *alloc = leat_channel_alloc(leat_ctx_channel(ctx));
    leat_bytebuf *frame = leat_encoder_prepend(alloc, framer->header, framer->length, events);
    if (frame)
        leat_ctx_write(ctx, leat_msg_of_bytebuf(frame), done);
    else
        leat_ctx_complete(ctx, done, LEAT_ENOMEM);
}

const leat_handler leat_legacy_tcp_framer = {
    .name = "legacy_tcp_framer",
    .state_size = sizeof(struct framer),
    .config_size = sizeof(leat_legacy_tcp_framer_config),
    .takes = leat_only_bytebuf,
    .writes = leat_only_bytebuf,
    .check = check,
    .added = added,
    .write = write_frame,
};

/* ---- events without a pipeline ---- */

static const uint8_t no_map[MAP_LENGTH] = {0};

static bool is_empty_map(const void *payload, size_t size) {
    return size == 0 || (size == MAP_LENGTH && memcmp(payload, no_map, MAP_LENGTH) == 0);
}

/* What the length of an event says: the original writes 2 for a subscription without a map. */
static uint32_t stated_length(leat_legacy_tcp_opcode opcode, const void *payload, size_t size) {
    bool bare = opcode == LEAT_LEGACY_TCP_SUBSCRIBED && is_empty_map(payload, size);
    return bare ? BARE_SUBSCRIPTION : (uint32_t)size + 1;
}

leat_bytebuf *leat_legacy_tcp_event(leat_alloc *alloc, leat_legacy_tcp_opcode opcode, const void *payload,
                                    size_t size) {
    if (size >= UINT32_MAX)
        return NULL;
    uint32_t stated = stated_length(opcode, payload, size);
    if (opcode == LEAT_LEGACY_TCP_SUBSCRIBED && size == 0) {
        payload = no_map;
        size = MAP_LENGTH;
    }
    leat_bytebuf *event = leat_bytebuf_new(alloc, EVENT_HEADER + size);
    if (!event)
        return NULL;
    bool whole = leat_bytebuf_write_u32(event, stated) && leat_bytebuf_write_u8(event, (uint8_t)opcode) &&
                 (size == 0 || leat_bytebuf_write_bytes(event, payload, size));
    if (!whole) {
        leat_bytebuf_release(event);
        return NULL;
    }
    return event;
}

leat_bytebuf *leat_legacy_tcp_heartbeat(leat_alloc *alloc) {
    static const uint8_t heartbeat[] = {0, 0, 0, 1, LEAT_LEGACY_TCP_HEARTBEAT};
    return leat_bytebuf_wrap_static(alloc, heartbeat, sizeof heartbeat);
}

int leat_legacy_tcp_read_header(leat_bytebuf *frame, leat_legacy_tcp_read_event *name) {
    uint64_t first = leat_bytebuf_reader_index(frame), left = leat_bytebuf_readable(frame);
    if (left < FRAME_HEADER || leat_bytebuf_get_u8(frame, first) != LEAT_LEGACY_TCP_VERSION)
        return LEAT_ECORRUPT;
    uint64_t length = leat_bytebuf_get_u8(frame, first + 1);
    if (length > LONGEST_READABLE_NAME || !leat_bytebuf_skip(frame, FRAME_HEADER + length))
        return LEAT_ECORRUPT;
    if (name)
        *name = (leat_legacy_tcp_read_event){.payload = first + FRAME_HEADER, .payload_length = length};
    return 0;
}

/* A subscription's map says how long it is; the length of one without a map is 2 in the original. */
static int look_at_map(const leat_bytebuf *in, uint64_t room, uint64_t length, leat_legacy_tcp_read_event *event) {
    if (room < MAP_LENGTH)
        return LEAT_ECORRUPT;
    if (leat_bytebuf_writer_index(in) - event->payload < MAP_LENGTH)
        return 0;
    uint64_t map = leat_bytebuf_get_u32(in, event->payload);
    event->payload_length = MAP_LENGTH + map;
    bool sound = length == 1 + event->payload_length || (length == BARE_SUBSCRIPTION && map == 0);
    return sound && event->payload_length <= room ? 1 : LEAT_ECORRUPT;
}

int leat_legacy_tcp_look(const leat_bytebuf *in, uint64_t room, leat_legacy_tcp_read_event *event) {
    uint64_t first = leat_bytebuf_reader_index(in);
    if (room < EVENT_HEADER)
        return LEAT_ECORRUPT;
    if (leat_bytebuf_readable(in) < EVENT_HEADER)
        return 0;
    uint64_t length = leat_bytebuf_get_u32(in, first);
    int opcode = leat_bytebuf_get_u8(in, first + 4);
    if (length == 0 || opcode < LEAT_LEGACY_TCP_NEXT || opcode > LEAT_LEGACY_TCP_NON_DATA_ERROR)
        return LEAT_ECORRUPT;
    *event = (leat_legacy_tcp_read_event){opcode, first + EVENT_HEADER, length - 1};
    if (opcode == LEAT_LEGACY_TCP_SUBSCRIBED)
        return look_at_map(in, room - EVENT_HEADER, length, event);
    return event->payload_length <= room - EVENT_HEADER ? 1 : LEAT_ECORRUPT;
}

int leat_legacy_tcp_read_next(leat_bytebuf *frame, leat_legacy_tcp_read_event *event) {
    leat_legacy_tcp_read_event seen;
    if (leat_bytebuf_readable(frame) == 0)
        return 0;
    if (leat_legacy_tcp_look(frame, leat_bytebuf_readable(frame), &seen) != 1)
        return LEAT_ECORRUPT;
    if (!leat_bytebuf_skip(frame, EVENT_HEADER + seen.payload_length))
        return LEAT_ECORRUPT;
    *event = seen;
    return 1;
}
