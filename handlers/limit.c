#include "handlers/limit.h"

#include "core/channel.h"
#include "core/loop.h"

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define LARGEST ((uint64_t)1 << 34) /* times NS_PER_S fits 64 bits */
#define DEFAULT_MAX_HELD ((uint64_t)16 << 20)

enum { FIRST_WAITING = 8 };

/* ---- buckets: one number says all, when the bucket will be full again ---- */

struct leat_limit_bucket {
    uint64_t rate;    /* bytes a second; 0 = not limited */
    uint64_t burst;   /* ns that filling it takes */
    uint64_t full_at; /* ns of the loops' clock */
    leat_alloc *alloc;
    uint32_t refs;
};

static uint64_t time_for(uint64_t bytes, uint64_t rate) {
    uint64_t whole = bytes / rate * NS_PER_S;
    return whole + bytes % rate * NS_PER_S / rate;
}

static void bucket_init(leat_limit_bucket *bucket, uint64_t rate, uint64_t burst) {
    uint64_t size = burst ? burst : rate / 10 + 1;
    *bucket = (leat_limit_bucket){.rate = rate, .burst = rate ? time_for(size, rate) : 0, .refs = 1};
}

/* How long until something may pass: until the bucket is not empty. */
static uint64_t bucket_wait(const leat_limit_bucket *bucket, uint64_t now) {
    if (!bucket || bucket->rate == 0)
        return 0;
    uint64_t full_at = __atomic_load_n(&bucket->full_at, __ATOMIC_RELAXED);
    return full_at >= now + bucket->burst ? full_at - now - bucket->burst + 1 : 0;
}

static void bucket_take(leat_limit_bucket *bucket, uint64_t now, uint64_t bytes) {
    if (!bucket || bucket->rate == 0)
        return;
    uint64_t before = __atomic_load_n(&bucket->full_at, __ATOMIC_RELAXED), after;
    do {
        after = (before > now ? before : now) + time_for(bytes, bucket->rate);
    } while (!__atomic_compare_exchange_n(&bucket->full_at, &before, after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

leat_limit_bucket *leat_limit_bucket_new(leat_alloc *alloc, uint64_t rate, uint64_t burst) {
    if (rate == 0 || rate > LARGEST || burst > LARGEST)
        return NULL;
    leat_limit_bucket *bucket = leat_alloc_take(alloc, sizeof *bucket, NULL);
    if (!bucket)
        return NULL;
    bucket_init(bucket, rate, burst);
    bucket->alloc = alloc;
    return bucket;
}

leat_limit_bucket *leat_limit_bucket_retain(leat_limit_bucket *bucket) {
    __atomic_add_fetch(&bucket->refs, 1, __ATOMIC_RELAXED);
    return bucket;
}

void leat_limit_bucket_release(leat_limit_bucket *bucket) {
    if (bucket && __atomic_sub_fetch(&bucket->refs, 1, __ATOMIC_ACQ_REL) == 0)
        leat_alloc_give(bucket->alloc, bucket, sizeof *bucket);
}

/* ---- a channel's state ---- */

struct direction {
    leat_timer timer; /* first: the timer leads to the direction */
    leat_ctx *ctx;
    leat_limit_bucket own;
    leat_limit_bucket *shared;
};

struct waiting {
    leat_msg msg;
    leat_done *done;
    uint64_t size;
};

struct limit {
    struct direction in, out;
    struct waiting *ring;
    uint32_t ring_size, first, count;
    uint64_t held, max_held; /* outbound bytes, with what keeping them costs */
    bool closing;            /* `close` waits behind what is held */
};

static int check(const void *config, leat_problem *problem) {
    const leat_limit_config *given = config;
    if (!given)
        return 0;
    if (given->read_rate > LARGEST || given->write_rate > LARGEST)
        return leat_problem_set(problem, LEAT_EINVAL, "limit: a rate is above 2^34");
    if (given->read_burst > LARGEST || given->write_burst > LARGEST)
        return leat_problem_set(problem, LEAT_EINVAL, "limit: a burst is above 2^34");
    return 0;
}

static uint64_t now_of(leat_ctx *ctx) {
    return leat_loop_now(leat_channel_loop(leat_ctx_channel(ctx)));
}

static uint64_t wait_of(const struct direction *direction) {
    uint64_t now = now_of(direction->ctx);
    uint64_t own = bucket_wait(&direction->own, now), shared = bucket_wait(direction->shared, now);
    return own > shared ? own : shared;
}

static void pay(struct direction *direction, uint64_t bytes) {
    uint64_t now = now_of(direction->ctx);
    bucket_take(&direction->own, now, bytes);
    bucket_take(direction->shared, now, bytes);
}

/* Without memory for the timer there is no going on: nobody would ever come back to what waits. */
static void come_back(struct direction *direction, uint64_t wait) {
    leat_channel *channel = leat_ctx_channel(direction->ctx);
    if (leat_timer_start(leat_channel_loop(channel), &direction->timer, (wait + NS_PER_MS - 1) / NS_PER_MS) != 0)
        leat_channel_abort(channel, LEAT_ENOMEM);
}

/* ---- inbound: what came is passed on, and paid for by a pause ---- */

static void pause_or_resume(struct direction *in) {
    uint64_t wait = wait_of(in);
    if (wait == 0) {
        leat_ctx_resume_reading(in->ctx);
        return;
    }
    leat_ctx_pause_reading(in->ctx);
    come_back(in, wait);
}

static void read_again(leat_timer *timer) {
    pause_or_resume((struct direction *)timer);
}

static void read_on(leat_ctx *ctx, leat_msg msg) {
    struct limit *limit = leat_state(ctx);
    pay(&limit->in, leat_msg_size(msg));
    if (!leat_timer_is_running(&limit->in.timer) && wait_of(&limit->in) > 0)
        pause_or_resume(&limit->in);
    leat_ctx_fire_read(ctx, msg);
}

/* ---- outbound: what is too early waits ---- */

static bool grow(leat_ctx *ctx, struct limit *limit) {
    leat_alloc *alloc = leat_channel_alloc(leat_ctx_channel(ctx));
    uint32_t size = limit->ring_size ? 2 * limit->ring_size : FIRST_WAITING;
    struct waiting *ring = leat_alloc_take(alloc, size * sizeof *ring, NULL);
    if (!ring)
        return false;
    for (uint32_t i = 0; i < limit->count; i++)
        ring[i] = limit->ring[(limit->first + i) & (limit->ring_size - 1)];
    leat_alloc_give(alloc, limit->ring, limit->ring_size * sizeof *ring);
    limit->ring = ring;
    limit->ring_size = size;
    limit->first = 0;
    return true;
}

/* A refused piece would tear the stream, so there is no going on. */
static void give_up(leat_ctx *ctx, leat_msg msg, leat_done *done, int code) {
    leat_ctx_refuse(ctx, msg, done, code);
    leat_channel_abort(leat_ctx_channel(ctx), code);
}

static void keep(leat_ctx *ctx, struct limit *limit, leat_msg msg, leat_done *done) {
    uint64_t size = leat_msg_size(msg), cost = size + sizeof(struct waiting);
    if (cost < size || cost > limit->max_held - limit->held) {
        give_up(ctx, msg, done, LEAT_ELIMIT);
        return;
    }
    if (limit->count == limit->ring_size && !grow(ctx, limit)) {
        give_up(ctx, msg, done, LEAT_ENOMEM);
        return;
    }
    limit->ring[(limit->first + limit->count++) & (limit->ring_size - 1)] = (struct waiting){msg, done, size};
    limit->held += cost;
    leat_ctx_hold_out(ctx, size);
}

static void pass_first(leat_ctx *ctx, struct limit *limit) {
    struct waiting first = limit->ring[limit->first];
    limit->first = (limit->first + 1) & (limit->ring_size - 1);
    limit->count--;
    limit->held -= first.size + sizeof first;
    leat_ctx_unhold_out(ctx, first.size);
    leat_ctx_write(ctx, first.msg, first.done);
}

static void end_if_empty(leat_ctx *ctx, struct limit *limit) {
    if (limit->count > 0 || !limit->closing)
        return;
    limit->closing = false;
    leat_ctx_close(ctx);
}

static void write_again(leat_timer *timer) {
    struct direction *out = (struct direction *)timer;
    leat_ctx *ctx = out->ctx;
    struct limit *limit = leat_state(ctx);
    uint64_t wait = 0;
    bool passed = false;
    for (; limit->count > 0 && (wait = wait_of(out)) == 0; passed = true) {
        pay(out, limit->ring[limit->first].size);
        pass_first(ctx, limit);
    }
    if (limit->count > 0)
        come_back(out, wait + (passed && out->shared ? NS_PER_MS : 0)); /* behind those who wait longer */
    end_if_empty(ctx, limit);
}

static void write_on(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    struct limit *limit = leat_state(ctx);
    uint64_t wait = limit->count > 0 ? 1 : wait_of(&limit->out);
    if (limit->closing) {
        leat_ctx_refuse(ctx, msg, done, LEAT_ECLOSED);
        return;
    }
    if (wait == 0) {
        pay(&limit->out, leat_msg_size(msg));
        leat_ctx_write(ctx, msg, done);
        return;
    }
    keep(ctx, limit, msg, done);
    if (limit->count == 1)
        come_back(&limit->out, wait);
}

static void close_behind(leat_ctx *ctx) {
    struct limit *limit = leat_state(ctx);
    limit->closing = true;
    end_if_empty(ctx, limit);
}

/* ---- coming and going ---- */

static void prepare(struct direction *direction, leat_ctx *ctx, void (*fn)(leat_timer *timer)) {
    direction->timer.fn = fn;
    direction->ctx = ctx;
    bucket_init(&direction->own, 0, 0);
}

static int added(leat_ctx *ctx, const void *config) {
    const leat_limit_config *given = config;
    struct limit *limit = leat_state(ctx);
    prepare(&limit->in, ctx, read_again);
    prepare(&limit->out, ctx, write_again);
    limit->max_held = given && given->max_held ? given->max_held : DEFAULT_MAX_HELD;
    if (!given)
        return 0;
    bucket_init(&limit->in.own, given->read_rate, given->read_burst);
    bucket_init(&limit->out.own, given->write_rate, given->write_burst);
    limit->in.shared = given->read_shared;
    limit->out.shared = given->write_shared;
    return 0;
}

static void removed(leat_ctx *ctx) {
    struct limit *limit = leat_state(ctx);
    leat_channel *channel = leat_ctx_channel(ctx);
    leat_timer_stop(leat_channel_loop(channel), &limit->in.timer);
    leat_timer_stop(leat_channel_loop(channel), &limit->out.timer);
    leat_ctx_resume_reading(ctx);
    while (limit->count > 0)
        pass_first(ctx, limit);
    leat_alloc_give(leat_channel_alloc(channel), limit->ring, limit->ring_size * sizeof *limit->ring);
    limit->ring = NULL;
    limit->ring_size = 0;
    end_if_empty(ctx, limit);
}

const leat_handler leat_limit = {
    .name = "limit",
    .state_size = sizeof(struct limit),
    .config_size = sizeof(leat_limit_config),
    .check = check,
    .added = added,
    .removed = removed,
    .read = read_on,
    .write = write_on,
    .close = close_behind,
};
