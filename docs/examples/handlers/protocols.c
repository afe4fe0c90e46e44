#include "catalogue.h"

#include <leat/handlers/legacy_tcp_decoder.h>
#include <leat/handlers/legacy_tcp_framer.h>
#include <leat/handlers/length_field_prepender.h>
#include <leat/handlers/sse_decoder.h>
#include <leat/handlers/sse_delimiter.h>

/* Written "x", sends "data: x\n\n". */
const leat_stage events_out[] = {{&leat_sse_delimiter}, {0}};

/* An event with fields is a message of its own. */
leat_msg tick(leat_alloc *alloc) {
    leat_sse_event fields = {
        .event = leat_sse_text("tick"), .id = leat_sse_text("7"), .data = leat_sse_text("two\nlines")};
    return leat_sse_event_msg(alloc, &fields);
}

/* Fed ": hi\nid: 7\ndata: x\n\n", fires the event's data. */
static void data_read(leat_ctx *ctx, leat_msg msg) {
    const leat_sse_event *event = leat_msg_as(msg, &leat_type_sse_event);
    leat_alloc *alloc = leat_channel_alloc(leat_ctx_channel(ctx));
    leat_bytebuf *data = leat_bytebuf_from_bytes(alloc, event->data.bytes, event->data.length);
    leat_msg_release(msg);
    if (data)
        leat_ctx_fire_read(ctx, leat_msg_of_bytebuf(data));
    else
        leat_ctx_fire_error(ctx, LEAT_ENOMEM);
}

static const leat_handler data_of = {.name = "data_of", .read = data_read, .fires = leat_only_bytebuf};
const leat_stage events_in[] = {
    {&leat_sse_decoder, &(const leat_sse_decoder_config){.max_event = 64 << 10}}, {&data_of}, {0}};

/* Written an event of leat_legacy_tcp_event, sends it as a frame that is named. */
const leat_stage legacy_out[] = {{&leat_length_field_prepender},
                                 {&leat_legacy_tcp_framer, &(const leat_legacy_tcp_framer_config){.name = "obs"}},
                                 {0}};

/* Fed such a frame, fires the payloads of its values. */
static void payload_read(leat_ctx *ctx, leat_msg msg) {
    const leat_legacy_tcp_message *event = leat_msg_as(msg, &leat_type_legacy_tcp);
    leat_bytebuf *payload = event->opcode == LEAT_LEGACY_TCP_NEXT ? leat_bytebuf_retain(event->payload) : NULL;
    leat_msg_release(msg);
    if (payload)
        leat_ctx_fire_read(ctx, leat_msg_of_bytebuf(payload));
}

static const leat_handler payload_of = {.name = "payload_of", .read = payload_read, .fires = leat_only_bytebuf};
const leat_stage legacy_in[] = {
    {&leat_legacy_tcp_decoder, &(const leat_legacy_tcp_decoder_config){.drop_heartbeats = true}}, {&payload_of}, {0}};
