#include "handlers/push/event.h"

/* In one piece, for codecs; and not a small part of a large block, since events outlive the turn. */
static bool make_durable(leat_bytebuf **payload, leat_alloc *alloc) {
    if (leat_bytebuf_data(*payload) || leat_bytebuf_readable(*payload) == 0)
        return leat_bytebuf_keep(payload) == 0;
    leat_bytebuf *copy = leat_bytebuf_copy(*payload, alloc);
    leat_bytebuf_release(*payload);
    *payload = copy;
    return copy != NULL;
}

leat_push_event *leat_push_event_new(leat_alloc *alloc, leat_bytebuf *payload) {
    leat_push_event *event = NULL;
    if (payload && make_durable(&payload, alloc))
        event = leat_alloc_take_zeroed(alloc, sizeof *event);
    if (!event) {
        leat_bytebuf_release(payload);
        return NULL;
    }
    event->payload = payload;
    event->bytes = leat_bytebuf_readable(payload);
    event->alloc = alloc;
    event->refs = 1;
    return event;
}

leat_push_event *leat_push_event_of_bytes(leat_alloc *alloc, const void *bytes, size_t length) {
    return leat_push_event_new(alloc, leat_bytebuf_from_bytes(alloc, bytes, length));
}

leat_push_event *leat_push_event_retain(leat_push_event *event) {
    event->refs++;
    return event;
}

void leat_push_event_release(leat_push_event *event) {
    if (!event || --event->refs > 0)
        return;
    leat_bytebuf_release(event->payload);
    for (size_t i = 0; i < LEAT_PUSH_CODECS; i++)
        leat_bytebuf_release(event->framed[i]);
    leat_alloc_give(event->alloc, event, sizeof *event);
}
