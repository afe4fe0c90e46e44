#include "handlers/length_field_prepender.h"

#include "handlers/codec.h"

#define LARGEST_ADJUSTMENT ((int64_t)1 << 32)

struct prepender {
    leat_length_field_prepender_config config;
    uint64_t largest;
};

static unsigned field_length_of(const leat_length_field_prepender_config *config) {
    return config->field_length ? config->field_length : 4;
}

static bool is_width(unsigned length) {
    return length == 1 || length == 2 || length == 3 || length == 4 || length == 8;
}

static int check(const void *config, leat_problem *problem) {
    const leat_length_field_prepender_config *field = config;
    if (field && !is_width(field_length_of(field)))
        return leat_problem_set(problem, LEAT_EINVAL, "length_field_prepender: field_length is %u, not 1, 2, 3, 4 or 8",
                                field->field_length);
    if (field && (field->adjustment > LARGEST_ADJUSTMENT || field->adjustment < -LARGEST_ADJUSTMENT))
        return leat_problem_set(problem, LEAT_EINVAL, "length_field_prepender: adjustment is beyond 2^32");
    return 0;
}

static int added(leat_ctx *ctx, const void *config) {
    struct prepender *prepender = leat_state(ctx);
    if (config)
        prepender->config = *(const leat_length_field_prepender_config *)config;
    prepender->config.field_length = field_length_of(&prepender->config);
    unsigned bits = 8 * prepender->config.field_length;
    prepender->largest = bits == 64 ? INT64_MAX : ((uint64_t)1 << bits) - 1;
    return 0;
}

/* Writes the low `length` bytes of `value` in the given order, all at once: they are copied on from here. */
static void store(uint8_t field[8], uint64_t value, unsigned length, bool little_endian) {
    if (little_endian)
        leat_store_u64_le(field, value);
    else
        leat_store_u64(field, value << (64 - 8 * length));
}

static int value_of(const struct prepender *prepender, const leat_bytebuf *body, uint64_t *value) {
    const leat_length_field_prepender_config *config = &prepender->config;
    int64_t length = (int64_t)leat_bytebuf_readable(body) + (config->includes_field ? config->field_length : 0);
    length += config->adjustment;
    *value = (uint64_t)length;
    if (length < 0)
        return LEAT_ERANGE;
    return *value > prepender->largest ? LEAT_ETOOLONG : 0;
}

static void write_frame(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    const struct prepender *prepender = leat_state(ctx);
    leat_bytebuf *body = leat_msg_bytebuf(msg);
    uint64_t value;
    if (!body) {
        leat_ctx_write(ctx, msg, done);
        return;
    }
    int code = value_of(prepender, body, &value);
    if (code != 0) {
        leat_ctx_refuse(ctx, msg, done, code);
        return;
    }
    uint8_t field[8];
    store(field, value, prepender->config.field_length, prepender->config.little_endian);
    leat_encoder_write(ctx, field, prepender->config.field_length, body, done);
}

const leat_handler leat_length_field_prepender = {
    .name = "length_field_prepender",
    .state_size = sizeof(struct prepender),
    .config_size = sizeof(leat_length_field_prepender_config),
    .takes = leat_only_bytebuf,
    .writes = leat_only_bytebuf,
    .check = check,
    .added = added,
    .write = write_frame,
};
