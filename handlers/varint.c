#include "handlers/varint.h"

#include "handlers/codec.h"

#define DEFAULT_MAX_FRAME ((uint64_t)5 << 20)
#define LARGEST_MAX_FRAME ((uint64_t)1 << 40)
#define LONGEST_LENGTH 10

static uint64_t limit_of(uint64_t max_frame) {
    return max_frame ? max_frame : DEFAULT_MAX_FRAME;
}

static int check_limit(const char *handler, uint64_t max_frame, leat_problem *problem) {
    if (max_frame > LARGEST_MAX_FRAME)
        return leat_problem_set(problem, LEAT_EINVAL, "%s: max_frame is above 2^40", handler);
    return 0;
}

/* ---- the decoder ---- */

struct frames {
    leat_decoder decoder;
    uint64_t max_frame;
    uint64_t discard; /* bytes of a frame too long that are yet to be skipped */
    bool keep_length;
};

static int check_decoder(const void *given, leat_problem *problem) {
    const leat_varint_decoder_config *config = given;
    return config ? check_limit("varint_decoder", config->max_frame, problem) : 0;
}

static void discard(struct frames *frames, leat_bytebuf *in) {
    uint64_t here = leat_bytebuf_readable(in), now = frames->discard < here ? frames->discard : here;
    leat_bytebuf_skip(in, now);
    frames->discard -= now;
}

static int too_long(struct frames *frames, leat_bytebuf *in, uint64_t header, uint64_t length) {
    leat_bytebuf_skip(in, header);
    frames->discard = length;
    discard(frames, in);
    return leat_decoder_recovered(&frames->decoder, LEAT_ETOOLONG);
}

static int whole_frame(struct frames *frames, leat_bytebuf *in, uint64_t header, uint64_t length, leat_msg *out) {
    if (leat_bytebuf_readable(in) < header + length) {
        leat_decoder_need(&frames->decoder, header + length);
        return 0;
    }
    if (frames->keep_length)
        return leat_decoder_frame(in, header + length, out);
    leat_bytebuf_skip(in, header);
    return leat_decoder_frame(in, length, out);
}

static int decode(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    struct frames *frames = leat_state(ctx);
    discard(frames, in);
    if (leat_bytebuf_readable(in) == 0)
        return 0;
    uint64_t length;
    int header = leat_bytebuf_get_varint(in, leat_bytebuf_reader_index(in), &length);
    if (header <= 0)
        return header;
    if (length > frames->max_frame)
        return too_long(frames, in, (uint64_t)header, length);
    return whole_frame(frames, in, (uint64_t)header, length, out);
}

static int decoder_added(leat_ctx *ctx, const void *given) {
    const leat_varint_decoder_config *config = given;
    struct frames *frames = leat_state(ctx);
    frames->max_frame = limit_of(config ? config->max_frame : 0);
    frames->keep_length = config && config->keep_length;
    leat_decoder_init(&frames->decoder, decode, frames->max_frame + LONGEST_LENGTH);
    return 0;
}

const leat_handler leat_varint_decoder = {
    .name = "varint_decoder",
    .state_size = sizeof(struct frames),
    .config_size = sizeof(leat_varint_decoder_config),
    LEAT_DECODER_ENTRIES,
    .reads = leat_only_bytebuf,
    .fires = leat_only_bytebuf,
    .check = check_decoder,
    .added = decoder_added,
};

/* ---- the prepender ---- */

struct prepender {
    uint64_t max_frame;
};

static int check_prepender(const void *given, leat_problem *problem) {
    const leat_varint_prepender_config *config = given;
    return config ? check_limit("varint_prepender", config->max_frame, problem) : 0;
}

static int prepender_added(leat_ctx *ctx, const void *given) {
    const leat_varint_prepender_config *config = given;
    struct prepender *prepender = leat_state(ctx);
    prepender->max_frame = limit_of(config ? config->max_frame : 0);
    return 0;
}

static size_t store(uint8_t *header, uint64_t length) {
    size_t count = 0;
    for (; length >= 0x80; length >>= 7)
        header[count++] = (uint8_t)(length | 0x80);
    header[count++] = (uint8_t)length;
    return count;
}

static void write_frame(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    const struct prepender *prepender = leat_state(ctx);
    leat_bytebuf *body = leat_msg_bytebuf(msg);
    if (!body) {
        leat_ctx_write(ctx, msg, done);
        return;
    }
    uint64_t length = leat_bytebuf_readable(body);
    if (length > prepender->max_frame) {
        leat_ctx_refuse(ctx, msg, done, LEAT_ETOOLONG);
        return;
    }
    uint8_t header[LONGEST_LENGTH];
    leat_encoder_write(ctx, header, store(header, length), body, done);
}

const leat_handler leat_varint_prepender = {
    .name = "varint_prepender",
    .state_size = sizeof(struct prepender),
    .config_size = sizeof(leat_varint_prepender_config),
    .takes = leat_only_bytebuf,
    .writes = leat_only_bytebuf,
    .check = check_prepender,
    .added = prepender_added,
    .write = write_frame,
};
