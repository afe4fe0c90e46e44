#include "handlers/length_field_decoder.h"

#include "handlers/codec.h"

#define DEFAULT_MAX_FRAME ((uint64_t)5 << 20)
#define LARGEST ((uint64_t)1 << 40)

struct frames {
    leat_decoder decoder;
    leat_length_field_decoder_config config;
    uint64_t header;  /* bytes up to the end of the length field */
    uint64_t discard; /* bytes of a bad frame that are yet to be skipped */
    int report;       /* the error to report when they are */
};

static leat_length_field_decoder_config with_defaults(const leat_length_field_decoder_config *given) {
    leat_length_field_decoder_config config = {0};
    if (given)
        config = *given;
    config.max_frame = config.max_frame ? config.max_frame : DEFAULT_MAX_FRAME;
    config.field_length = config.field_length ? config.field_length : 4;
    return config;
}

static bool is_width(unsigned length) {
    return length == 1 || length == 2 || length == 3 || length == 4 || length == 8;
}

static const char *fault_of(const leat_length_field_decoder_config *config) {
    if (!is_width(config->field_length))
        return "field_length is not 1, 2, 3, 4 or 8";
    if (config->max_frame > LARGEST)
        return "max_frame is above 2^40";
    if (config->offset > config->max_frame || config->field_length > config->max_frame - config->offset)
        return "the length field lies beyond max_frame";
    if (config->strip > config->max_frame)
        return "strip is above max_frame";
    if (config->adjustment > (int64_t)LARGEST || config->adjustment < -(int64_t)LARGEST)
        return "adjustment is beyond 2^40";
    return NULL;
}

static int check(const void *given, leat_problem *problem) {
    leat_length_field_decoder_config config = with_defaults(given);
    const char *fault = fault_of(&config);
    return fault ? leat_problem_set(problem, LEAT_EINVAL, "length_field_decoder: %s", fault) : 0;
}

static uint64_t load(const uint8_t *field, unsigned length, bool little_endian) {
    switch (length) {
    case 1:
        return *field;
    case 2:
        return little_endian ? leat_load_u16_le(field) : leat_load_u16(field);
    case 3:
        return little_endian ? leat_load_u24_le(field) : leat_load_u24(field);
    case 4:
        return little_endian ? leat_load_u32_le(field) : leat_load_u32(field);
    default:
        return little_endian ? leat_load_u64_le(field) : leat_load_u64(field);
    }
}

static uint64_t value_of(const struct frames *frames, const leat_bytebuf *in) {
    const uint8_t *field = leat_bytebuf_data(in) + frames->config.offset;
    return load(field, frames->config.field_length, frames->config.little_endian);
}

/* Skips what is here of a bad frame and remembers the rest; reports now, or when the last byte went. */
static int skip_frame(struct frames *frames, leat_bytebuf *in, uint64_t length, int code, bool late) {
    uint64_t here = leat_bytebuf_readable(in), now = length < here ? length : here;
    leat_bytebuf_skip(in, now);
    frames->discard = length - now;
    frames->report = late && frames->discard > 0 ? code : 0;
    return frames->report ? 0 : leat_decoder_recovered(&frames->decoder, code);
}

static int go_on_skipping(struct frames *frames, leat_bytebuf *in) {
    uint64_t here = leat_bytebuf_readable(in), now = frames->discard < here ? frames->discard : here;
    leat_bytebuf_skip(in, now);
    frames->discard -= now;
    if (frames->discard > 0 || !frames->report)
        return 0;
    int code = frames->report;
    frames->report = 0;
    return leat_decoder_recovered(&frames->decoder, code);
}

static int whole_frame(struct frames *frames, leat_bytebuf *in, uint64_t length, leat_msg *out) {
    if (leat_bytebuf_readable(in) < length) {
        leat_decoder_need(&frames->decoder, length);
        return 0;
    }
    uint64_t strip = frames->config.strip;
    if (strip > length)
        return skip_frame(frames, in, length, LEAT_ECORRUPT, false);
    leat_bytebuf_skip(in, strip);
    int result = leat_decoder_frame(in, length - strip, out);
    if (result < 0)
        leat_bytebuf_set_reader_index(in, leat_bytebuf_reader_index(in) - strip);
    return result;
}

static int next_frame(struct frames *frames, leat_bytebuf *in, leat_msg *out) {
    if (leat_bytebuf_readable(in) < frames->header) {
        leat_decoder_need(&frames->decoder, frames->header);
        return 0;
    }
    uint64_t value = value_of(frames, in);
    if (value > INT64_MAX - 2 * LARGEST - frames->header)
        return skip_frame(frames, in, value, LEAT_ETOOLONG, frames->config.report_late);
    int64_t length = (int64_t)(value + frames->header) + frames->config.adjustment;
    if (length < (int64_t)frames->header)
        return skip_frame(frames, in, frames->header, LEAT_ECORRUPT, false);
    if ((uint64_t)length > frames->config.max_frame)
        return skip_frame(frames, in, (uint64_t)length, LEAT_ETOOLONG, frames->config.report_late);
    return whole_frame(frames, in, (uint64_t)length, out);
}

static int decode(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    struct frames *frames = leat_state(ctx);
    if (frames->discard > 0) {
        int result = go_on_skipping(frames, in);
        if (result != 0 || leat_bytebuf_readable(in) == 0)
            return result;
    }
    return next_frame(frames, in, out);
}

static int added(leat_ctx *ctx, const void *config) {
    struct frames *frames = leat_state(ctx);
    frames->config = with_defaults(config);
    frames->header = frames->config.offset + frames->config.field_length;
    leat_decoder_init(&frames->decoder, decode, frames->config.max_frame);
    return 0;
}

const leat_handler leat_length_field_decoder = {
    .name = "length_field_decoder",
    .state_size = sizeof(struct frames),
    .config_size = sizeof(leat_length_field_decoder_config),
    LEAT_DECODER_ENTRIES,
    .reads = leat_only_bytebuf,
    .fires = leat_only_bytebuf,
    .check = check,
    .added = added,
};
