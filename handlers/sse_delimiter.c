#include "handlers/sse_delimiter.h"

#include "core/channel.h"
#include "core/composite.h"

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
    size_t length = 0;
    while (length < text->length && text->bytes[length] != '\n' && text->bytes[length] != '\r')
        length++;
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

static void put_data(struct sink *sink, leat_span data) {
    leat_span line;
    bool more;
    do {
        more = next_line(&data, &line);
        put_field(sink, "data", line);
    } while (more);
}

static void put_event(struct sink *sink, const leat_sse_event *event) {
    if (event->event.length)
        put_field(sink, "event", event->event);
    if (event->id.bytes)
        put_field(sink, "id", event->id);
    if (event->has_retry)
        put_retry(sink, event->retry_ms);
    if (event->data.bytes)
        put_data(sink, event->data);
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

/* ---- delimiting ---- */

leat_bytebuf *leat_sse_delimit(leat_alloc *alloc, leat_bytebuf *event) {
    leat_composite *delimited = leat_composite_new(alloc, 3);
    if (!delimited) {
        leat_bytebuf_release(event);
        return NULL;
    }
    int code = leat_composite_add_static(delimited, LEAT_SSE_PREFIX, strlen(LEAT_SSE_PREFIX));
    int added = leat_composite_add(delimited, event);
    if (code == 0 && added == 0)
        code = leat_composite_add_static(delimited, LEAT_SSE_SUFFIX, strlen(LEAT_SSE_SUFFIX));
    if (code == 0 && added == 0)
        return leat_composite_buffer(delimited);
    leat_bytebuf_release(leat_composite_buffer(delimited));
    return NULL;
}

leat_bytebuf *leat_sse_keep_alive(leat_alloc *alloc) {
    return leat_bytebuf_wrap_static(alloc, LEAT_SSE_KEEP_ALIVE, strlen(LEAT_SSE_KEEP_ALIVE));
}

/* Frames an event that has line ends: contiguous first, as framing looks at it twice. */
static leat_bytebuf *frame_lines(leat_alloc *alloc, leat_bytebuf *event) {
    leat_bytebuf *flat = leat_bytebuf_data(event) ? leat_bytebuf_retain(event) : leat_bytebuf_copy(event, alloc);
    leat_bytebuf_release(event);
    if (!flat)
        return NULL;
    leat_sse_event framing = {.data = {leat_bytebuf_data(flat), (size_t)leat_bytebuf_readable(flat)}};
    leat_bytebuf *framed;
    leat_sse_frame(alloc, &framing, &framed);
    leat_bytebuf_release(flat);
    return framed;
}

static bool has_line_end(const leat_bytebuf *event) {
    return leat_bytebuf_find_any(event, leat_bytebuf_reader_index(event), "\r\n", 2) >= 0;
}

struct delimiter {
    bool trusted;
};

static int added(leat_ctx *ctx, const void *config) {
    struct delimiter *delimiter = leat_state(ctx);
    delimiter->trusted = config && ((const leat_sse_delimiter_config *)config)->trusted;
    return 0;
}

static void write_event(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    const struct delimiter *delimiter = leat_state(ctx);
    leat_alloc *alloc = leat_channel_alloc(leat_ctx_channel(ctx));
    leat_bytebuf *event = leat_msg_bytebuf(msg);
    if (!event) {
        leat_ctx_write(ctx, msg, done);
        return;
    }
    bool plain = delimiter->trusted || !has_line_end(event);
    event = plain ? leat_sse_delimit(alloc, event) : frame_lines(alloc, event);
    if (event)
        leat_ctx_write(ctx, leat_msg_of_bytebuf(event), done);
    else
        leat_ctx_complete(ctx, done, LEAT_ENOMEM);
}

const leat_handler leat_sse_delimiter = {
    .name = "sse_delimiter",
    .state_size = sizeof(struct delimiter),
    .config_size = sizeof(leat_sse_delimiter_config),
    .takes = leat_only_bytebuf,
    .writes = leat_only_bytebuf,
    .added = added,
    .write = write_event,
};
