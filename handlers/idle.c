#include "handlers/idle.h"

#include "core/channel.h"
#include "core/loop.h"

#define LONGEST_MS ((uint64_t)1 << 40)
#define NS_PER_MS UINT64_C(1000000)

enum { KINDS = 3 };

const leat_type leat_type_idle = {.name = "idle"};

static const leat_idle_event events[KINDS] = {{LEAT_IDLE_READ}, {LEAT_IDLE_WRITE}, {LEAT_IDLE_ALL}};

struct idle {
    leat_timer timer;
    uint64_t period[KINDS]; /* ns; 0 = never */
    uint64_t since[KINDS];  /* when the channel became active, or the last event of the kind was due */
    bool close;
    bool running;
};

static int check(const void *config, leat_problem *problem) {
    const leat_idle_config *idle = config;
    if (idle && (idle->read_ms > LONGEST_MS || idle->write_ms > LONGEST_MS || idle->all_ms > LONGEST_MS))
        return leat_problem_set(problem, LEAT_EINVAL, "idle: a period is above 2^40 ms");
    return 0;
}

static uint64_t later(uint64_t one, uint64_t other) {
    return one > other ? one : other;
}

static uint64_t last_activity(const leat_channel *channel, leat_idle_kind kind) {
    uint64_t read = leat_channel_last_read(channel), written = leat_channel_last_written(channel);
    if (kind == LEAT_IDLE_ALL)
        return later(read, written);
    return kind == LEAT_IDLE_READ ? read : written;
}

static uint64_t due_at(const struct idle *idle, const leat_channel *channel, leat_idle_kind kind) {
    return later(last_activity(channel, kind), idle->since[kind]) + idle->period[kind];
}

/* Starts the timer for the first kind that can become due; activity in between is noticed when it fires. */
static int arm(struct idle *idle, leat_channel *channel) {
    uint64_t first = UINT64_MAX, now = leat_loop_now(leat_channel_loop(channel));
    for (int kind = 0; kind < KINDS; kind++) {
        uint64_t due = idle->period[kind] ? due_at(idle, channel, (leat_idle_kind)kind) : UINT64_MAX;
        first = due < first ? due : first;
    }
    if (first == UINT64_MAX)
        return 0;
    uint64_t wait = first > now ? first - now : 0;
    return leat_timer_start(leat_channel_loop(channel), &idle->timer, (wait + NS_PER_MS - 1) / NS_PER_MS);
}

static void tell(leat_ctx *ctx, const struct idle *idle, leat_idle_kind kind) {
    if (idle->close && kind != LEAT_IDLE_WRITE)
        leat_ctx_fire_error(ctx, LEAT_ETIMEDOUT);
    else
        leat_ctx_fire_event(ctx, leat_msg_of(&leat_type_idle, (void *)(uintptr_t)&events[kind]));
}

static bool take_due(struct idle *idle, const leat_channel *channel, leat_idle_kind kind, uint64_t now) {
    bool due = idle->period[kind] && due_at(idle, channel, kind) <= now;
    if (due)
        idle->since[kind] = now;
    return due;
}

static bool is_watching(const struct idle *idle, const leat_channel *channel) {
    return idle->running && leat_channel_is_readable(channel);
}

static void run(leat_timer *timer) {
    struct idle *idle = (struct idle *)timer;
    leat_ctx *ctx = leat_ctx_of_state(idle);
    leat_channel *channel = leat_ctx_channel(ctx);
    uint64_t now = leat_loop_now(leat_channel_loop(channel));
    bool due[KINDS];
    if (!is_watching(idle, channel))
        return;
    for (int kind = 0; kind < KINDS; kind++)
        due[kind] = take_due(idle, channel, (leat_idle_kind)kind, now);
    int code = arm(idle, channel);
    for (int kind = 0; kind < KINDS && is_watching(idle, channel); kind++)
        if (due[kind])
            tell(ctx, idle, (leat_idle_kind)kind);
    if (code != 0 && is_watching(idle, channel))
        leat_ctx_fire_error(ctx, code);
}

static int start(leat_ctx *ctx) {
    struct idle *idle = leat_state(ctx);
    leat_channel *channel = leat_ctx_channel(ctx);
    for (int kind = 0; kind < KINDS; kind++)
        idle->since[kind] = leat_loop_now(leat_channel_loop(channel));
    idle->running = true;
    return arm(idle, channel);
}

static void stop(leat_ctx *ctx) {
    struct idle *idle = leat_state(ctx);
    idle->running = false;
    leat_timer_stop(leat_channel_loop(leat_ctx_channel(ctx)), &idle->timer);
}

static int added(leat_ctx *ctx, const void *config) {
    struct idle *idle = leat_state(ctx);
    const leat_idle_config *given = config;
    idle->timer.fn = run;
    if (given) {
        idle->period[LEAT_IDLE_READ] = given->read_ms * NS_PER_MS;
        idle->period[LEAT_IDLE_WRITE] = given->write_ms * NS_PER_MS;
        idle->period[LEAT_IDLE_ALL] = given->all_ms * NS_PER_MS;
        idle->close = given->close;
    }
    return leat_channel_is_readable(leat_ctx_channel(ctx)) ? start(ctx) : 0;
}

static void active(leat_ctx *ctx) {
    struct idle *idle = leat_state(ctx);
    int code = idle->running ? 0 : start(ctx);
    if (code != 0)
        leat_ctx_fire_error(ctx, code);
    leat_ctx_fire_active(ctx);
}

static void inactive(leat_ctx *ctx) {
    stop(ctx);
    leat_ctx_fire_inactive(ctx);
}

const leat_handler leat_idle = {
    .name = "idle",
    .state_size = sizeof(struct idle),
    .config_size = sizeof(leat_idle_config),
    .check = check,
    .added = added,
    .removed = stop,
    .active = active,
    .inactive = inactive,
};
