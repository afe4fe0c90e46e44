#include "handlers/push/batch.h"

#include "core/gather.h"

#include <string.h>

/* Room that a connection keeps between two batches, in events. */
enum { USUAL_ROOM = 64 };

static int grow(leat_push_batch *batch, leat_alloc *alloc) {
    uint32_t room = batch->room ? batch->room * 2 : 8;
    leat_push_event **events = leat_alloc_take(alloc, room * sizeof(*events), NULL);
    if (!events)
        return LEAT_ENOMEM;
    if (batch->count)
        memcpy(events, batch->events, batch->count * sizeof(*events));
    leat_alloc_give(alloc, batch->events, batch->room * sizeof(*events));
    batch->events = events;
    batch->room = room;
    return 0;
}

int leat_push_batch_add(leat_push_batch *batch, leat_alloc *alloc, leat_push_event *event) {
    if (batch->count == batch->room && grow(batch, alloc) != 0)
        return LEAT_ENOMEM;
    batch->events[batch->count++] = leat_push_event_retain(event);
    batch->bytes += event->bytes;
    return 0;
}

void leat_push_batch_clear(leat_push_batch *batch, leat_alloc *alloc) {
    for (uint32_t i = 0; i < batch->count; i++)
        leat_push_event_release(batch->events[i]);
    batch->count = 0;
    batch->bytes = 0;
    if (batch->room > USUAL_ROOM)
        leat_push_batch_clean_up(batch, alloc);
}

void leat_push_batch_clean_up(leat_push_batch *batch, leat_alloc *alloc) {
    for (uint32_t i = 0; i < batch->count; i++)
        leat_push_event_release(batch->events[i]);
    leat_alloc_give(alloc, batch->events, batch->room * sizeof(leat_push_event *));
    memset(batch, 0, sizeof *batch);
}

static bool goes_bare(const leat_push_codec *codec, const leat_push_event *event) {
    return !codec->is_bare || codec->is_bare(event);
}

/* Owes the suffix of a bare event until it is known what comes next. */
static bool add_bare(leat_gather *gather, const leat_push_codec *codec, const leat_push_event *event, bool owes) {
    const leat_span *before = owes ? &codec->joint : &codec->prefix;
    leat_gather_add_static(gather, before->bytes, before->length);
    leat_gather_add_shared(gather, event->payload);
    return true;
}

static void add_suffix(leat_gather *gather, const leat_push_codec *codec, bool owes) {
    if (owes)
        leat_gather_add_static(gather, codec->suffix.bytes, codec->suffix.length);
}

static leat_bytebuf *framed(leat_push_event *event, const leat_push_codec *codec, unsigned slot, leat_alloc *alloc) {
    if (!event->framed[slot])
        event->framed[slot] = codec->frame(alloc, event);
    return event->framed[slot];
}

leat_bytebuf *leat_push_batch_build(const leat_push_batch *batch, uint32_t from, const leat_push_codec *codec,
                                    unsigned codec_slot, leat_alloc *alloc) {
    leat_gather gather;
    leat_gather_init(&gather, alloc, LEAT_GATHER_AUTO, 2 * (batch->count - from) + 1);
    bool owes = false;
    for (uint32_t i = from; i < batch->count; i++) {
        leat_push_event *event = batch->events[i];
        if (goes_bare(codec, event)) {
            owes = add_bare(&gather, codec, event, owes);
            continue;
        }
        add_suffix(&gather, codec, owes);
        owes = false;
        leat_bytebuf *piece = framed(event, codec, codec_slot, alloc);
        if (!piece) {
            leat_gather_clean_up(&gather);
            return NULL;
        }
        leat_gather_add_shared(&gather, piece);
    }
    add_suffix(&gather, codec, owes);
    return leat_gather_finish(&gather);
}
