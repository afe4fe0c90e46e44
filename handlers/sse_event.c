#include "handlers/sse_event.h"

#include "handlers/sse_internal.h"

#include <stdio.h>

enum { NUMBER_ROOM = 24 };

/* ---- framing ---- */

static bool has_any(leat_span field, const char *set, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (field.length && memchr(field.bytes, set[i], field.length))
            return true;
    return false;
}

static bool forges(const leat_sse_event *event) {
    return has_any(event->event, "\r\n", 2) || has_any(event->id, "\r\n\0", 3);
}

/* Takes the first line off `text`, which may end by CR, LF or CR LF; false = that was the last one. */
static bool next_line(leat_span *text, leat_span *line) {
    bool high = false;
    size_t length = leat_sse_line_end(text->bytes, text->length, &high);
    *line = (leat_span){text->bytes, length};
    if (length == text->length)
        return false;
    bool pair = text->bytes[length] == '\r' && length + 1 < text->length && text->bytes[length + 1] == '\n';
    size_t taken = length + (pair ? 2 : 1);
    *text = (leat_span){text->bytes + taken, text->length - taken};
    return true;
}

/* Appends to a buffer, or only counts when there is none. */
struct sink {
    leat_bytebuf *buf;
    uint64_t length;
};

static void put(struct sink *sink, const void *bytes, size_t length) {
    if (sink->buf && length)
        leat_bytebuf_write_bytes(sink->buf, bytes, length);
    sink->length += length;
}

static void put_field(struct sink *sink, const char *name, leat_span value) {
    put(sink, name, strlen(name));
    put(sink, ": ", 2);
    put(sink, value.bytes, value.length);
    put(sink, "\n", 1);
}

static void put_retry(struct sink *sink, uint64_t retry_ms) {
    char digits[NUMBER_ROOM];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)retry_ms);
    put_field(sink, "retry", leat_sse_text(digits));
}

static void put_lines(struct sink *sink, const char *name, leat_span text) {
    leat_span line;
    bool more;
    do {
        more = next_line(&text, &line);
        put_field(sink, name, line);
    } while (more);
}

static void put_event(struct sink *sink, const leat_sse_event *event) {
    if (event->comment.bytes)
        put_lines(sink, "", event->comment); /* a field without a name is a comment */
    if (event->event.length)
        put_field(sink, "event", event->event);
    if (event->id.bytes)
        put_field(sink, "id", event->id);
    if (event->has_retry)
        put_retry(sink, event->retry_ms);
    if (event->data.bytes)
        put_lines(sink, "data", event->data);
    put(sink, "\n", 1);
}

int leat_sse_frame(leat_alloc *alloc, const leat_sse_event *event, leat_bytebuf **framed) {
    *framed = NULL;
    if (forges(event))
        return LEAT_EINVAL;
    struct sink sink = {0};
    put_event(&sink, event);
    sink.buf = leat_bytebuf_new(alloc, sink.length);
    if (!sink.buf)
        return LEAT_ENOMEM;
    put_event(&sink, event);
    *framed = sink.buf;
    return 0;
}

/* ---- events as messages: the fields, and behind them their bytes ---- */

struct message {
    leat_sse_event event;
    leat_alloc *alloc;
    size_t size;
    uint32_t refs;
};

static void retain_event(void *obj) {
    struct message *message = obj;
    __atomic_add_fetch(&message->refs, 1, __ATOMIC_RELAXED);
}

static void release_event(void *obj) {
    struct message *message = obj;
    bool sole = __atomic_load_n(&message->refs, __ATOMIC_ACQUIRE) == 1; /* nobody else can share it meanwhile */
    if (sole || __atomic_sub_fetch(&message->refs, 1, __ATOMIC_ACQ_REL) == 0)
        leat_alloc_give(message->alloc, message, message->size);
}

static uint64_t size_of_event(const void *obj) {
    const leat_sse_event *event = obj;
    return event->id.length + event->event.length + event->data.length + event->comment.length;
}

const leat_type leat_type_sse_event = {
    .name = "sse_event", .retain = retain_event, .release = release_event, .size = size_of_event};

static size_t room_of(leat_span field) {
    return field.bytes ? field.length + 1 : 0;
}

static leat_span copy_field(uint8_t **to, leat_span field) {
    if (!field.bytes)
        return field;
    leat_span copy = {*to, field.length};
    memcpy(*to, field.bytes, field.length);
    (*to)[field.length] = '\0';
    *to += field.length + 1;
    return copy;
}

leat_msg leat_sse_event_msg(leat_alloc *alloc, const leat_sse_event *fields) {
    size_t size = sizeof(struct message) + room_of(fields->id) + room_of(fields->event) + room_of(fields->data) +
                  room_of(fields->comment);
    struct message *message = leat_alloc_take(alloc, size, NULL);
    if (!message)
        return (leat_msg){0};
    uint8_t *to = (uint8_t *)(message + 1);
    *message = (struct message){.event = *fields, .alloc = alloc, .size = size, .refs = 1};
    message->event.event = copy_field(&to, fields->event);
    message->event.id = copy_field(&to, fields->id);
    message->event.data = copy_field(&to, fields->data);
    message->event.comment = copy_field(&to, fields->comment);
    return leat_msg_of(&leat_type_sse_event, message);
}
