#include "handlers/sse_decoder.h"

#include "core/channel.h"
#include "core/text.h"
#include "handlers/codec.h"
#include "handlers/sse_internal.h"

#define DEFAULT_MAX_EVENT ((uint64_t)1 << 20)
#define LARGEST_MAX_EVENT ((uint64_t)1 << 30)

enum { LINE_END = 2, BOM_LENGTH = 3, KEPT_ROOM = 4096 };

struct stream {
    leat_decoder decoder;
    uint64_t max_event;
    uint64_t scanned; /* readable bytes that hold no line end */
    uint64_t retry_ms;
    leat_bytebuf *data;     /* lines of the unfinished event, joined; NULL = never needed */
    leat_bytebuf *type;     /* of the unfinished event */
    leat_bytebuf *id;       /* the last id, with what the unfinished block says */
    leat_bytebuf *last_id;  /* the last id of finished blocks */
    leat_bytebuf *repaired; /* a value whose UTF-8 was ill-formed */
    bool begun;             /* the byte order mark was looked for */
    bool after_cr;          /* an LF now belongs to the line end before it */
    bool high;              /* a byte among the scanned ones is not ASCII */
    bool has_data;
    bool has_retry;
    bool new_retry; /* since the last event */
    bool new_id;    /* `id` is not yet `last_id` */
    bool skipping;  /* up to the end of a block that is too long */
    bool mid_line;  /* of which the beginning was skipped */
};

static int check(const void *config, leat_problem *problem) {
    const leat_sse_decoder_config *given = config;
    if (given && given->max_event > LARGEST_MAX_EVENT)
        return leat_problem_set(problem, LEAT_EINVAL, "sse_decoder: max_event is above 1 GiB");
    return 0;
}

/* ---- values kept between lines ---- */

static leat_span span_of(const leat_bytebuf *buf) {
    leat_span span = {0};
    if (buf && leat_bytebuf_readable(buf) > 0)
        span = (leat_span){leat_bytebuf_data(buf), (size_t)leat_bytebuf_readable(buf)};
    return span;
}

/* Makes `*buf` empty; one that grew large goes. */
static void empty(leat_bytebuf **buf) {
    if (!*buf)
        return;
    if (leat_bytebuf_storage_size(*buf) <= KEPT_ROOM) {
        leat_bytebuf_clear(*buf);
        return;
    }
    leat_bytebuf_release(*buf);
    *buf = NULL;
}

static int append(leat_ctx *ctx, leat_bytebuf **buf, leat_span value) {
    if (!*buf)
        *buf = leat_bytebuf_new(leat_channel_alloc(leat_ctx_channel(ctx)), value.length + 1);
    bool written = *buf && (value.length == 0 || leat_bytebuf_write_bytes(*buf, value.bytes, value.length));
    return written ? 0 : LEAT_ENOMEM;
}

static int replace(leat_ctx *ctx, leat_bytebuf **buf, leat_span value) {
    empty(buf);
    return append(ctx, buf, value);
}

/* A value is text: what is no UTF-8 becomes U+FFFD. */
static int repair(leat_ctx *ctx, struct stream *stream, leat_span *value) {
    if (!stream->high || leat_text_utf8_valid(value->bytes, value->length) == value->length)
        return 0;
    int code = replace(ctx, &stream->repaired, (leat_span){value->bytes, 0});
    if (code == 0)
        code = leat_text_write_utf8(stream->repaired, value->bytes, value->length, LEAT_TEXT_REPLACE);
    *value = span_of(stream->repaired);
    return code;
}

/* ---- the end of a block ---- */

static int commit_id(leat_ctx *ctx, struct stream *stream) {
    if (!stream->new_id)
        return 0;
    stream->new_id = false;
    return replace(ctx, &stream->last_id, span_of(stream->id));
}

static int fire_event(leat_ctx *ctx, struct stream *stream, leat_span data, leat_msg *out) {
    leat_sse_event event = {.event = span_of(stream->type),
                            .id = span_of(stream->last_id),
                            .data = data,
                            .retry_ms = stream->new_retry ? stream->retry_ms : 0,
                            .has_retry = stream->new_retry};
    *out = leat_sse_event_msg(leat_channel_alloc(leat_ctx_channel(ctx)), &event);
    stream->new_retry = false;
    return out->type ? 1 : LEAT_ENOMEM;
}

/* A blank line dispatches what was gathered, if there was data. */
static int end_block(leat_ctx *ctx, struct stream *stream, leat_span data, leat_msg *out) {
    int result = commit_id(ctx, stream);
    if (result == 0 && stream->has_data && !stream->skipping)
        result = fire_event(ctx, stream, data, out);
    stream->has_data = stream->skipping = false;
    empty(&stream->type);
    empty(&stream->data);
    return result;
}

/* ---- fields ---- */

static int too_long(struct stream *stream) {
    stream->skipping = true;
    stream->has_data = false;
    empty(&stream->data);
    return leat_decoder_recovered(&stream->decoder, LEAT_ETOOLONG);
}

static int add_data(leat_ctx *ctx, struct stream *stream, leat_span value) {
    static const leat_span line_feed = {(const uint8_t *)"\n", 1};
    uint64_t length = span_of(stream->data).length + stream->has_data;
    if (value.length + length > stream->max_event)
        return too_long(stream);
    int code = stream->has_data ? append(ctx, &stream->data, line_feed) : 0;
    stream->has_data = true;
    return code == 0 ? append(ctx, &stream->data, value) : code;
}

static int set_id(leat_ctx *ctx, struct stream *stream, leat_span value) {
    if (value.length && memchr(value.bytes, '\0', value.length))
        return 0;
    stream->new_id = true;
    return replace(ctx, &stream->id, value);
}

/* Digits only, at least one; more than 64 bits are as good as for ever. */
static int set_retry(struct stream *stream, leat_span value) {
    uint64_t number = 0;
    for (size_t i = 0; i < value.length; i++) {
        unsigned digit = value.bytes[i] - (unsigned)'0';
        if (digit > 9)
            return 0;
        bool fits = number < UINT64_MAX / 10 || (number == UINT64_MAX / 10 && digit <= UINT64_MAX % 10);
        number = fits ? number * 10 + digit : UINT64_MAX;
    }
    if (value.length > 0) {
        stream->retry_ms = number;
        stream->has_retry = stream->new_retry = true;
    }
    return 0;
}

static bool is(leat_span name, const char *text) {
    return name.length == strlen(text) && memcmp(name.bytes, text, name.length) == 0;
}

static int take_field(leat_ctx *ctx, struct stream *stream, leat_span name, leat_span value) {
    int code = repair(ctx, stream, &value);
    if (code != 0)
        return code;
    if (is(name, "data"))
        return add_data(ctx, stream, value);
    if (is(name, "event"))
        return replace(ctx, &stream->type, value);
    if (is(name, "id"))
        return set_id(ctx, stream, value);
    return is(name, "retry") ? set_retry(stream, value) : 0;
}

/* A name, a colon, at most one space, a value; without a colon the line is a name. A comment has no name. */
static void part_line(leat_span line, leat_span *name, leat_span *value) {
    bool data = line.length > 4 && memcmp(line.bytes, "data:", 5) == 0; /* by far the most: spares the search */
    const uint8_t *colon = data ? line.bytes + 4 : memchr(line.bytes, ':', line.length);
    const uint8_t *end = line.bytes + line.length;
    *name = colon ? (leat_span){line.bytes, (size_t)(colon - line.bytes)} : line;
    const uint8_t *begin = colon ? colon + 1 : end;
    begin += begin < end && *begin == ' ';
    *value = (leat_span){begin, (size_t)(end - begin)};
}

/* ---- lines ---- */

static uint8_t next_byte(const leat_bytebuf *in) {
    return leat_bytebuf_get_u8(in, leat_bytebuf_reader_index(in));
}

static void pass_line_feed(struct stream *stream, leat_bytebuf *in) {
    if (!stream->after_cr || leat_bytebuf_readable(in) == 0)
        return;
    stream->after_cr = false;
    if (next_byte(in) == '\n')
        leat_bytebuf_skip(in, 1);
}

/* Takes a line off; false = its end is not here yet. The line's bytes stay where they are until `in` changes. */
static bool next_line(struct stream *stream, leat_bytebuf *in, leat_span *line) {
    pass_line_feed(stream, in);
    size_t length = (size_t)leat_bytebuf_readable(in), scanned = (size_t)stream->scanned;
    const uint8_t *bytes = leat_bytebuf_data(in);
    if (length > scanned)
        scanned += leat_sse_line_end(bytes + scanned, length - scanned, &stream->high);
    *line = (leat_span){bytes, scanned};
    if (scanned >= length) {
        stream->scanned = scanned;
        return false;
    }
    stream->scanned = 0;
    stream->after_cr = bytes[scanned] == '\r';
    leat_bytebuf_skip(in, scanned + 1);
    pass_line_feed(stream, in);
    return true;
}

/* The most frequent block by far ends with a line of data, its only one: that is fired from where it lies. */
static bool is_only_line_of_data(const struct stream *stream, const leat_bytebuf *in, leat_span name) {
    if (stream->has_data || stream->after_cr || !is(name, "data") || leat_bytebuf_readable(in) == 0)
        return false;
    return next_byte(in) == '\n' || next_byte(in) == '\r';
}

static int take_only_line(leat_ctx *ctx, struct stream *stream, leat_bytebuf *in, leat_span value, leat_msg *out) {
    int code = repair(ctx, stream, &value);
    if (code != 0)
        return code;
    if (value.length > stream->max_event)
        return too_long(stream); /* repaired text is longer */
    stream->after_cr = next_byte(in) == '\r';
    leat_bytebuf_skip(in, 1);
    pass_line_feed(stream, in);
    stream->has_data = true;
    return end_block(ctx, stream, value, out);
}

static int take_line(leat_ctx *ctx, struct stream *stream, leat_bytebuf *in, leat_span line, leat_msg *out) {
    leat_span name, value, data = span_of(stream->data);
    bool whole = !stream->mid_line;
    stream->mid_line = false;
    if (line.length == 0 && whole)
        return end_block(ctx, stream, data.bytes ? data : (leat_span){(const uint8_t *)"", 0}, out);
    if (stream->skipping)
        return 0;
    if (line.length > stream->max_event)
        return too_long(stream);
    part_line(line, &name, &value);
    if (is_only_line_of_data(stream, in, name))
        return take_only_line(ctx, stream, in, value, out);
    return take_field(ctx, stream, name, value);
}

/* A line without an end may not grow for ever, and of one that is skipped nothing is kept. */
static int bound_line(struct stream *stream, leat_bytebuf *in) {
    if (stream->scanned <= stream->max_event && !stream->skipping)
        return 0;
    bool first = !stream->skipping;
    leat_bytebuf_skip(in, stream->scanned);
    stream->mid_line = stream->mid_line || stream->scanned > 0;
    stream->scanned = 0;
    return first ? too_long(stream) : 0;
}

/* ---- the stream ---- */

/* One byte order mark at the very beginning is no part of the text. False = there may be more of it to come. */
static bool begin(struct stream *stream, leat_bytebuf *in) {
    uint64_t length = leat_bytebuf_readable(in);
    size_t looked = length < BOM_LENGTH ? (size_t)length : BOM_LENGTH;
    if (stream->begun)
        return true;
    bool marked = memcmp(leat_bytebuf_data(in), "\xef\xbb\xbf", looked) == 0;
    if (marked && looked < BOM_LENGTH)
        return false;
    if (marked)
        leat_bytebuf_skip(in, BOM_LENGTH);
    stream->begun = true;
    return true;
}

static int decode(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    struct stream *stream = leat_state(ctx);
    leat_span line;
    int result = 0;
    if (!begin(stream, in))
        return 0;
    while (result == 0 && leat_bytebuf_readable(in) > 0) {
        if (!next_line(stream, in, &line))
            return bound_line(stream, in);
        result = take_line(ctx, stream, in, line, out);
        stream->high = false;
    }
    return result;
}

static int drop_unfinished(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    (void)ctx, (void)out;
    leat_bytebuf_skip(in, leat_bytebuf_readable(in));
    return 0;
}

static void forget_values(struct stream *stream) {
    leat_bytebuf **const kept[] = {&stream->data, &stream->type, &stream->id, &stream->last_id, &stream->repaired};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        leat_bytebuf_release(*kept[i]);
        *kept[i] = NULL;
    }
}

static int go_on_from(leat_ctx *ctx, struct stream *stream, leat_span id) {
    int code = append(ctx, &stream->id, id);
    if (code == 0)
        code = append(ctx, &stream->last_id, id);
    if (code != 0)
        forget_values(stream);
    return code;
}

static int added(leat_ctx *ctx, const void *config) {
    const leat_sse_decoder_config *given = config;
    struct stream *stream = leat_state(ctx);
    stream->max_event = given && given->max_event ? given->max_event : DEFAULT_MAX_EVENT;
    leat_decoder_init(&stream->decoder, decode, stream->max_event + LINE_END);
    leat_decoder_take_last(&stream->decoder, drop_unfinished);
    return given && given->last_id ? go_on_from(ctx, stream, leat_sse_text(given->last_id)) : 0;
}

static void removed(leat_ctx *ctx) {
    leat_decoder_removed(ctx);
    forget_values(leat_state(ctx));
}

static const leat_type *const fires[] = {&leat_type_sse_event, NULL};

const leat_handler leat_sse_decoder = {
    .name = "sse_decoder",
    .state_size = sizeof(struct stream),
    .config_size = sizeof(leat_sse_decoder_config),
    .decodes = true,
    .read = leat_decoder_read,
    .read_done = leat_decoder_read_done,
    .eof = leat_decoder_eof,
    .wake = leat_decoder_wake,
    .reads = leat_only_bytebuf,
    .fires = fires,
    .check = check,
    .added = added,
    .removed = removed,
};

/* ---- for reconnecting ---- */

leat_span leat_sse_decoder_last_id(leat_ctx *ctx) {
    const struct stream *stream = leat_state(ctx);
    leat_span id = span_of(stream->last_id);
    return id.bytes ? id : (leat_span){(const uint8_t *)"", 0};
}

bool leat_sse_decoder_retry(leat_ctx *ctx, uint64_t *retry_ms) {
    const struct stream *stream = leat_state(ctx);
    if (stream->has_retry)
        *retry_ms = stream->retry_ms;
    return stream->has_retry;
}
