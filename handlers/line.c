#include "handlers/line.h"

#include "handlers/codec.h"

#define DEFAULT_MAX_LENGTH 8192
#define LARGEST_MAX_LENGTH ((uint64_t)1 << 30)

struct lines {
    leat_decoder decoder;
    uint64_t max_length;
    uint64_t scanned; /* readable bytes that hold no LF */
    bool keep_end;
    bool report_late;
    bool discarding;
};

static int check(const void *config, leat_problem *problem) {
    const leat_line_config *line = config;
    if (line && line->max_length > LARGEST_MAX_LENGTH)
        return leat_problem_set(problem, LEAT_EINVAL, "line: max_length is above 1 GiB");
    return 0;
}

static int too_long(struct lines *lines) {
    return leat_decoder_recovered(&lines->decoder, LEAT_ETOOLONG);
}

static void skip(struct lines *lines, leat_bytebuf *in, uint64_t length) {
    leat_bytebuf_skip(in, length);
    lines->scanned = 0;
}

/* The CR before an LF belongs to the line's end. */
static uint64_t content_length(const leat_bytebuf *in, uint64_t length) {
    uint64_t first = leat_bytebuf_reader_index(in);
    return length > 0 && leat_bytebuf_get_u8(in, first + length - 1) == '\r' ? length - 1 : length;
}

static int without_end(struct lines *lines, leat_bytebuf *in) {
    uint64_t length = leat_bytebuf_readable(in);
    lines->scanned = length;
    if (content_length(in, length) <= lines->max_length)
        return 0;
    lines->discarding = true;
    skip(lines, in, length);
    return lines->report_late ? 0 : too_long(lines);
}

static int with_end(struct lines *lines, leat_bytebuf *in, uint64_t length, leat_msg *out) {
    uint64_t content = content_length(in, length);
    if (content > lines->max_length) {
        skip(lines, in, length + 1);
        return too_long(lines);
    }
    int result = leat_decoder_frame(in, lines->keep_end ? length + 1 : content, out);
    if (result > 0 && !lines->keep_end)
        leat_bytebuf_skip(in, length + 1 - content);
    if (result > 0)
        lines->scanned = 0;
    return result;
}

/* Skips to behind the end of a line that was too long, if that is here. */
static int discard(struct lines *lines, leat_bytebuf *in) {
    uint64_t first = leat_bytebuf_reader_index(in);
    int64_t end = leat_bytebuf_find_byte(in, first, '\n');
    leat_bytebuf_skip(in, end < 0 ? leat_bytebuf_readable(in) : (uint64_t)end + 1 - first);
    lines->discarding = end < 0;
    return end >= 0 && lines->report_late ? too_long(lines) : 0;
}

static int decode(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    struct lines *lines = leat_state(ctx);
    if (lines->discarding) {
        int result = discard(lines, in);
        if (result != 0 || leat_bytebuf_readable(in) == 0)
            return result;
    }
    uint64_t first = leat_bytebuf_reader_index(in);
    int64_t end = leat_bytebuf_find_byte(in, first + lines->scanned, '\n');
    return end < 0 ? without_end(lines, in) : with_end(lines, in, (uint64_t)end - first, out);
}

static int decode_last(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    (void)ctx;
    return leat_decoder_frame(in, leat_bytebuf_readable(in), out);
}

static int added(leat_ctx *ctx, const void *config) {
    static const leat_line_config defaults;
    const leat_line_config *line = config ? config : &defaults;
    struct lines *lines = leat_state(ctx);
    lines->max_length = line->max_length ? line->max_length : DEFAULT_MAX_LENGTH;
    lines->keep_end = line->keep_end;
    lines->report_late = line->report_late;
    leat_decoder_init(&lines->decoder, decode, lines->max_length + 2);
    if (line->last_line)
        leat_decoder_take_last(&lines->decoder, decode_last);
    return 0;
}

const leat_handler leat_line_decoder = {
    .name = "line_decoder",
    .state_size = sizeof(struct lines),
    .config_size = sizeof(leat_line_config),
    LEAT_DECODER_ENTRIES,
    .reads = leat_only_bytebuf,
    .fires = leat_only_bytebuf,
    .check = check,
    .added = added,
};
