#include "handlers/fixed.h"

#include "handlers/codec.h"

#define DEFAULT_LENGTH 1024
#define LARGEST_LENGTH ((uint64_t)1 << 30)

struct fixed {
    leat_decoder decoder;
    uint64_t length;
};

static int check(const void *config, leat_problem *problem) {
    const leat_fixed_config *fixed = config;
    if (fixed && fixed->length > LARGEST_LENGTH)
        return leat_problem_set(problem, LEAT_EINVAL, "fixed_decoder: length is above 1 GiB");
    return 0;
}

static int decode(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    struct fixed *fixed = leat_state(ctx);
    if (leat_bytebuf_readable(in) >= fixed->length)
        return leat_decoder_frame(in, fixed->length, out);
    leat_decoder_need(&fixed->decoder, fixed->length);
    return 0;
}

static int decode_last(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    (void)ctx;
    return leat_decoder_frame(in, leat_bytebuf_readable(in), out);
}

static int added(leat_ctx *ctx, const void *given) {
    const leat_fixed_config *config = given;
    struct fixed *fixed = leat_state(ctx);
    fixed->length = config && config->length ? config->length : DEFAULT_LENGTH;
    leat_decoder_init(&fixed->decoder, decode, fixed->length);
    if (config && config->last_frame)
        leat_decoder_take_last(&fixed->decoder, decode_last);
    return 0;
}

const leat_handler leat_fixed_decoder = {
    .name = "fixed_decoder",
    .state_size = sizeof(struct fixed),
    .config_size = sizeof(leat_fixed_config),
    LEAT_DECODER_ENTRIES,
    .reads = leat_only_bytebuf,
    .fires = leat_only_bytebuf,
    .check = check,
    .added = added,
};
