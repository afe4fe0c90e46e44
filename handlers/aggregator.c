#include "handlers/aggregator.h"

#include "core/channel.h"
#include "core/composite.h"

#define DEFAULT_MAX_LENGTH ((uint64_t)1 << 20)
#define LARGEST_MAX_LENGTH ((uint64_t)1 << 40)

/* Parts below COPIED bytes cost less copied than referred to. Of what waits for its rest only this much counts as held:
 * more would pause the reading that it waits for. */
enum { COPIED = 512, COUNTED_OF_PARTIAL = 1024, EXPECTED_PARTS = 8 };

struct aggregator {
    leat_aggregator_config config;
    leat_bytebuf *joined; /* NULL = between messages */
    uint64_t counted;     /* bytes told to leat_ctx_hold */
    bool dropping;        /* up to the last part of a message that is too long */
};

static int check(const void *config, leat_problem *problem) {
    const leat_aggregator_config *given = config;
    if (!given || !given->part_of)
        return leat_problem_set(problem, LEAT_EINVAL, "aggregator: part_of is missing");
    if (given->max_length > LARGEST_MAX_LENGTH)
        return leat_problem_set(problem, LEAT_EINVAL, "aggregator: max_length is above 2^40");
    return 0;
}

static int added(leat_ctx *ctx, const void *config) {
    struct aggregator *aggregator = leat_state(ctx);
    aggregator->config = *(const leat_aggregator_config *)config;
    if (aggregator->config.max_length == 0)
        aggregator->config.max_length = DEFAULT_MAX_LENGTH;
    return 0;
}

static void count_held(leat_ctx *ctx, struct aggregator *aggregator) {
    uint64_t now = aggregator->joined ? leat_bytebuf_readable(aggregator->joined) : 0;
    if (now > COUNTED_OF_PARTIAL)
        now = COUNTED_OF_PARTIAL;
    if (now > aggregator->counted)
        leat_ctx_hold(ctx, now - aggregator->counted);
    else if (now < aggregator->counted)
        leat_ctx_unhold(ctx, aggregator->counted - now);
    aggregator->counted = now;
}

static leat_bytebuf *take_joined(leat_ctx *ctx, struct aggregator *aggregator) {
    leat_bytebuf *joined = aggregator->joined;
    aggregator->joined = NULL;
    count_held(ctx, aggregator);
    return joined;
}

/* What was joined so far is of no use any more; nor is what follows up to the last part, if that is yet to come. */
static void fail(leat_ctx *ctx, struct aggregator *aggregator, int code, leat_part part) {
    leat_bytebuf_release(take_joined(ctx, aggregator));
    aggregator->dropping = part == LEAT_PART_MORE;
    leat_ctx_fire_error(ctx, code);
}

static int begin(leat_ctx *ctx, struct aggregator *aggregator) {
    if (aggregator->joined)
        return 0;
    leat_composite *composite = leat_composite_new(leat_channel_alloc(leat_ctx_channel(ctx)), EXPECTED_PARTS);
    if (!composite)
        return LEAT_ENOMEM;
    aggregator->joined = leat_composite_buffer(composite);
    return 0;
}

/* Takes the part's bytes. */
static int join(leat_ctx *ctx, struct aggregator *aggregator, leat_bytebuf *bytes) {
    uint64_t length = leat_bytebuf_readable(bytes), before = 0;
    if (aggregator->joined)
        before = leat_bytebuf_readable(aggregator->joined);
    int code = length > aggregator->config.max_length - before ? LEAT_ETOOLONG : begin(ctx, aggregator);
    if (code == 0 && length < COPIED)
        code = leat_bytebuf_write_buffer(aggregator->joined, bytes) ? 0 : LEAT_ENOMEM;
    else if (code == 0)
        code = leat_bytebuf_keep(&bytes);
    if (code != 0 || length < COPIED) {
        leat_bytebuf_release(bytes);
        return code;
    }
    return leat_composite_add(leat_composite_of(aggregator->joined), bytes);
}

static void fire_whole(leat_ctx *ctx, struct aggregator *aggregator) {
    leat_bytebuf *joined = take_joined(ctx, aggregator);
    leat_msg whole = leat_msg_of_bytebuf(joined);
    if (aggregator->config.whole_of)
        whole = aggregator->config.whole_of(joined, aggregator->config.context);
    if (whole.type)
        leat_ctx_fire_read(ctx, whole);
    else
        leat_ctx_fire_error(ctx, LEAT_ENOMEM);
}

static void take_part(leat_ctx *ctx, struct aggregator *aggregator, leat_msg msg, leat_part part) {
    leat_bytebuf *bytes = leat_msg_bytebuf(msg);
    if (aggregator->config.bytes_of)
        bytes = aggregator->config.bytes_of(msg, aggregator->config.context);
    else if (!bytes)
        leat_msg_release(msg);
    int code = bytes ? join(ctx, aggregator, bytes) : aggregator->config.bytes_of ? LEAT_ENOMEM : LEAT_ETYPE;
    if (code != 0)
        fail(ctx, aggregator, code, part);
    else if (part == LEAT_PART_LAST)
        fire_whole(ctx, aggregator);
    else
        count_held(ctx, aggregator);
}

static void read_part(leat_ctx *ctx, leat_msg msg) {
    struct aggregator *aggregator = leat_state(ctx);
    leat_part part = aggregator->config.part_of(msg, aggregator->config.context);
    if (part == LEAT_PART_NONE) {
        leat_ctx_fire_read(ctx, msg);
    } else if (aggregator->dropping) {
        aggregator->dropping = part == LEAT_PART_MORE;
        leat_msg_release(msg);
    } else {
        take_part(ctx, aggregator, msg, part);
    }
}

static void eof(leat_ctx *ctx) {
    struct aggregator *aggregator = leat_state(ctx);
    if (aggregator->joined)
        fail(ctx, aggregator, LEAT_ETRUNCATED, LEAT_PART_LAST);
    leat_ctx_fire_eof(ctx);
}

static void removed(leat_ctx *ctx) {
    struct aggregator *aggregator = leat_state(ctx);
    leat_bytebuf *joined = take_joined(ctx, aggregator);
    bool wanted = !aggregator->config.whole_of && leat_channel_is_readable(leat_ctx_channel(ctx));
    if (!joined || !wanted) {
        leat_bytebuf_release(joined);
        return;
    }
    leat_ctx_fire_read(ctx, leat_msg_of_bytebuf(joined));
    leat_ctx_fire_read_done(ctx);
}

const leat_handler leat_aggregator = {
    .name = "aggregator",
    .state_size = sizeof(struct aggregator),
    .config_size = sizeof(leat_aggregator_config),
    .check = check,
    .added = added,
    .removed = removed,
    .read = read_part,
    .eof = eof,
};
