#include "handlers/push/codec.h"

#include "handlers/legacy_tcp_framer.h"
#include "handlers/sse_delimiter.h"

#include <inttypes.h>
#include <stdio.h>

#define SPAN(text)                                                                                                     \
    { (const uint8_t *)(text), sizeof(text) - 1 }

static leat_span payload_of(const leat_push_event *event) {
    leat_span span = {leat_bytebuf_data(event->payload), (size_t)event->bytes};
    return span;
}

static leat_bytebuf *share_payload(leat_alloc *alloc, const leat_push_event *event) {
    (void)alloc;
    return leat_bytebuf_retain(event->payload);
}

const leat_push_codec leat_push_codec_bare = {.name = "bare", .frame = share_payload};

/* An empty payload is framed too: it has no bytes between prefix and suffix to tell their lines apart. */
static bool is_one_line_without_id(const leat_push_event *event) {
    uint64_t begin = leat_bytebuf_reader_index(event->payload);
    return event->id == 0 && event->bytes > 0 && leat_bytebuf_find_any(event->payload, begin, "\r\n", 2) < 0;
}

static leat_bytebuf *frame_sse(leat_alloc *alloc, const leat_push_event *event) {
    char id[24];
    snprintf(id, sizeof id, "%" PRIu64, event->id);
    leat_sse_event fields = {.data = payload_of(event)};
    if (event->id)
        fields.id = leat_sse_text(id);
    leat_bytebuf *framed = NULL;
    return leat_sse_frame(alloc, &fields, &framed) == 0 ? framed : NULL;
}

const leat_push_codec leat_push_codec_sse = {.name = "sse",
                                             .is_bare = is_one_line_without_id,
                                             .frame = frame_sse,
                                             .prefix = SPAN(LEAT_SSE_PREFIX),
                                             .joint = SPAN(LEAT_SSE_SEPARATOR),
                                             .suffix = SPAN(LEAT_SSE_SUFFIX)};

static bool is_never_bare(const leat_push_event *event) {
    (void)event;
    return false;
}

static leat_bytebuf *frame_legacy_tcp(leat_alloc *alloc, const leat_push_event *event) {
    leat_span payload = payload_of(event);
    return leat_legacy_tcp_event(alloc, LEAT_LEGACY_TCP_NEXT, payload.bytes, payload.length);
}

const leat_push_codec leat_push_codec_legacy_tcp = {
    .name = "legacy_tcp", .is_bare = is_never_bare, .frame = frame_legacy_tcp};
