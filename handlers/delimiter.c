#include "handlers/delimiter.h"

#include "handlers/codec.h"

#include <string.h>

#define DEFAULT_MAX_LENGTH 8192
#define LARGEST_MAX_LENGTH ((uint64_t)1 << 30)

struct frames {
    leat_decoder decoder;
    leat_delimiter_config config;
    size_t longest;   /* bytes of the longest delimiter */
    uint64_t scanned; /* readable bytes in which no delimiter ends */
    bool discarding;
    uint8_t last_bytes[LEAT_DELIMITERS];
};

static const leat_span line_ends[] = {{(const uint8_t *)"\r\n", 2}, {(const uint8_t *)"\n", 1}};

static leat_delimiter_config with_defaults(const leat_delimiter_config *given) {
    leat_delimiter_config config = {0};
    if (given)
        config = *given;
    if (!config.delimiters && config.count == 0) {
        config.delimiters = line_ends;
        config.count = sizeof line_ends / sizeof *line_ends;
    }
    config.max_length = config.max_length ? config.max_length : DEFAULT_MAX_LENGTH;
    return config;
}

static bool is_sound(leat_span delimiter) {
    return delimiter.bytes && delimiter.length > 0 && delimiter.length <= LEAT_DELIMITER_LENGTH;
}

static const char *fault_of(const leat_delimiter_config *config) {
    if (config->max_length > LARGEST_MAX_LENGTH)
        return "max_length is above 1 GiB";
    if (!config->delimiters || config->count == 0 || config->count > LEAT_DELIMITERS)
        return "there are not 1 to 16 delimiters";
    for (size_t i = 0; i < config->count; i++) {
        if (!is_sound(config->delimiters[i]))
            return "a delimiter has not 1 to 32 bytes";
    }
    return NULL;
}

static int check(const void *given, leat_problem *problem) {
    leat_delimiter_config config = with_defaults(given);
    const char *fault = fault_of(&config);
    return fault ? leat_problem_set(problem, LEAT_EINVAL, "delimiter_decoder: %s", fault) : 0;
}

/* ---- looking for delimiters ---- */

/* Bytes of the longest delimiter that the first `length` bytes end with; 0 = they end with none. */
static size_t delimiter_before(const struct frames *frames, const uint8_t *bytes, uint64_t length) {
    size_t longest = 0;
    for (size_t i = 0; i < frames->config.count; i++) {
        leat_span delimiter = frames->config.delimiters[i];
        if (delimiter.length > longest && delimiter.length <= length &&
            memcmp(bytes + length - delimiter.length, delimiter.bytes, delimiter.length) == 0)
            longest = delimiter.length;
    }
    return longest;
}

/* Returns the bytes up to the end of the first delimiter, and its length; 0 = none is here. */
static uint64_t find_end(const struct frames *frames, const leat_bytebuf *in, size_t *delimiter) {
    const uint8_t *bytes = leat_bytebuf_data(in);
    uint64_t first = leat_bytebuf_reader_index(in), from = first + frames->scanned;
    int64_t at;
    while ((at = leat_bytebuf_find_any(in, from, frames->last_bytes, frames->config.count)) >= 0) {
        from = (uint64_t)at + 1;
        *delimiter = delimiter_before(frames, bytes, from - first);
        if (*delimiter > 0)
            return from - first;
    }
    return 0;
}

static bool begins_delimiter(const struct frames *frames, const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < frames->config.count; i++) {
        leat_span delimiter = frames->config.delimiters[i];
        if (delimiter.length > length && memcmp(bytes, delimiter.bytes, length) == 0)
            return true;
    }
    return false;
}

/* Bytes at the end of `in` that may turn out to be the beginning of a delimiter. */
static size_t begun(const struct frames *frames, const leat_bytebuf *in) {
    uint64_t have = leat_bytebuf_readable(in);
    const uint8_t *end = leat_bytebuf_data(in) + have;
    size_t length = have < frames->longest ? (size_t)have : frames->longest - 1;
    while (length > 0 && !begins_delimiter(frames, end - length, length))
        length--;
    return length;
}

/* ---- frames ---- */

static int too_long(struct frames *frames) {
    return leat_decoder_recovered(&frames->decoder, LEAT_ETOOLONG);
}

static void skip(struct frames *frames, leat_bytebuf *in, uint64_t length, uint64_t scanned) {
    leat_bytebuf_skip(in, length);
    frames->scanned = scanned;
}

static int without_end(struct frames *frames, leat_bytebuf *in) {
    uint64_t have = leat_bytebuf_readable(in), max = frames->config.max_length;
    frames->scanned = have;
    size_t kept = have > max ? begun(frames, in) : 0;
    if (have - kept <= max)
        return 0;
    skip(frames, in, have - kept, kept);
    frames->discarding = true;
    return frames->config.report_late ? 0 : too_long(frames);
}

static int with_end(struct frames *frames, leat_bytebuf *in, uint64_t length, size_t delimiter, leat_msg *out) {
    uint64_t content = length - delimiter;
    if (content > frames->config.max_length) {
        skip(frames, in, length, 0);
        return too_long(frames);
    }
    bool keep = frames->config.keep_delimiter;
    int result = leat_decoder_frame(in, keep ? length : content, out);
    if (result > 0)
        skip(frames, in, keep ? 0 : delimiter, 0);
    return result;
}

/* Skips a frame that is too long up to its end, or up to where its delimiter may have begun. */
static int discard(struct frames *frames, leat_bytebuf *in) {
    size_t delimiter, kept;
    uint64_t length = find_end(frames, in, &delimiter);
    frames->discarding = length == 0;
    if (length > 0) {
        skip(frames, in, length, 0);
        return frames->config.report_late ? too_long(frames) : 0;
    }
    kept = begun(frames, in);
    skip(frames, in, leat_bytebuf_readable(in) - kept, kept);
    return 0;
}

static int decode(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    struct frames *frames = leat_state(ctx);
    if (frames->discarding) {
        int result = discard(frames, in);
        if (result != 0 || frames->discarding || leat_bytebuf_readable(in) == 0)
            return result;
    }
    size_t delimiter;
    uint64_t length = find_end(frames, in, &delimiter);
    return length == 0 ? without_end(frames, in) : with_end(frames, in, length, delimiter, out);
}

static int decode_last(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    struct frames *frames = leat_state(ctx);
    uint64_t have = leat_bytebuf_readable(in);
    if (!frames->discarding && !frames->config.last_frame)
        return 0;
    if (!frames->discarding && have <= frames->config.max_length)
        return leat_decoder_frame(in, have, out);
    skip(frames, in, have, 0);
    return frames->discarding ? 0 : too_long(frames);
}

static int added(leat_ctx *ctx, const void *given) {
    struct frames *frames = leat_state(ctx);
    frames->config = with_defaults(given);
    for (size_t i = 0; i < frames->config.count; i++) {
        leat_span delimiter = frames->config.delimiters[i];
        frames->last_bytes[i] = delimiter.bytes[delimiter.length - 1];
        frames->longest = delimiter.length > frames->longest ? delimiter.length : frames->longest;
    }
    leat_decoder_init(&frames->decoder, decode, frames->config.max_length + frames->longest);
    leat_decoder_take_last(&frames->decoder, decode_last);
    return 0;
}

const leat_handler leat_delimiter_decoder = {
    .name = "delimiter_decoder",
    .state_size = sizeof(struct frames),
    .config_size = sizeof(leat_delimiter_config),
    LEAT_DECODER_ENTRIES,
    .reads = leat_only_bytebuf,
    .fires = leat_only_bytebuf,
    .check = check,
    .added = added,
};
