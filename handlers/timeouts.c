#include "handlers/timeouts.h"

#include "core/channel.h"
#include "core/loop.h"

#define DEFAULT_READ_MS 60000
#define DEFAULT_WRITE_MS 30000
#define LONGEST_MS ((uint64_t)1 << 40)
#define NS_PER_MS UINT64_C(1000000)

struct timeouts {
    leat_timer timer;
    uint64_t read, write;   /* ns; UINT64_MAX = never */
    uint64_t read_since;    /* when the channel became active, or the last timeout came */
    uint64_t waiting_since; /* when the first of the bytes that wait began to, or the last timeout came */
    leat_timeout_kind last;
    bool waiting; /* bytes waited when it was last looked at */
    bool running;
};

static bool is_nonsense(uint64_t ms) {
    return ms > LONGEST_MS && ms != LEAT_TIMEOUT_NEVER;
}

static int check(const void *config, leat_problem *problem) {
    const leat_timeouts_config *given = config;
    if (given && (is_nonsense(given->read_ms) || is_nonsense(given->write_ms)))
        return leat_problem_set(problem, LEAT_EINVAL, "timeouts: a time is above 2^40 ms");
    return 0;
}

static uint64_t later(uint64_t one, uint64_t other) {
    return one > other ? one : other;
}

static uint64_t add(uint64_t since, uint64_t time) {
    return time == UINT64_MAX ? UINT64_MAX : since + time;
}

static uint64_t read_due(const struct timeouts *timeouts, const leat_channel *channel) {
    return add(later(leat_channel_last_read(channel), timeouts->read_since), timeouts->read);
}

static uint64_t write_due(const struct timeouts *timeouts, const leat_channel *channel) {
    if (!timeouts->waiting)
        return UINT64_MAX;
    return add(later(leat_channel_last_written(channel), timeouts->waiting_since), timeouts->write);
}

/* Starts the timer for what can time out first; activity in between is noticed when it fires. */
static int arm(struct timeouts *timeouts, leat_channel *channel) {
    uint64_t now = leat_loop_now(leat_channel_loop(channel));
    uint64_t reading = read_due(timeouts, channel), writing = write_due(timeouts, channel);
    uint64_t first = reading < writing ? reading : writing, wait = first > now ? first - now : 0;
    if (first == UINT64_MAX)
        return 0;
    return leat_timer_start(leat_channel_loop(channel), &timeouts->timer, (wait + NS_PER_MS - 1) / NS_PER_MS);
}

/* Takes what is due: what is still to come counts from now. */
static leat_timeout_kind take_due(struct timeouts *timeouts, leat_channel *channel) {
    uint64_t now = leat_loop_now(leat_channel_loop(channel));
    timeouts->waiting = leat_channel_pending(channel) > 0;
    if (write_due(timeouts, channel) <= now) {
        timeouts->waiting_since = now;
        return LEAT_TIMEOUT_WRITE;
    }
    if (read_due(timeouts, channel) > now)
        return LEAT_TIMEOUT_NONE;
    timeouts->read_since = now;
    return LEAT_TIMEOUT_READ;
}

static void run(leat_timer *timer) {
    struct timeouts *timeouts = (struct timeouts *)timer;
    leat_ctx *ctx = leat_ctx_of_state(timeouts);
    leat_channel *channel = leat_ctx_channel(ctx);
    if (!timeouts->running || !leat_channel_is_readable(channel))
        return;
    leat_timeout_kind due = take_due(timeouts, channel);
    int code = arm(timeouts, channel);
    if (due != LEAT_TIMEOUT_NONE) {
        timeouts->last = due;
        leat_ctx_fire_error(ctx, LEAT_ETIMEDOUT);
    } else if (code != 0) {
        leat_ctx_fire_error(ctx, code);
    }
}

static int start(leat_ctx *ctx) {
    struct timeouts *timeouts = leat_state(ctx);
    leat_channel *channel = leat_ctx_channel(ctx);
    timeouts->read_since = timeouts->waiting_since = leat_loop_now(leat_channel_loop(channel));
    timeouts->waiting = leat_channel_pending(channel) > 0;
    timeouts->running = true;
    return arm(timeouts, channel);
}

static uint64_t time_of(uint64_t given, uint64_t by_default) {
    if (given == LEAT_TIMEOUT_NEVER)
        return UINT64_MAX;
    return (given ? given : by_default) * NS_PER_MS;
}

static int added(leat_ctx *ctx, const void *config) {
    const leat_timeouts_config *given = config;
    struct timeouts *timeouts = leat_state(ctx);
    timeouts->timer.fn = run;
    timeouts->read = time_of(given ? given->read_ms : 0, DEFAULT_READ_MS);
    timeouts->write = time_of(given ? given->write_ms : 0, DEFAULT_WRITE_MS);
    return leat_channel_is_readable(leat_ctx_channel(ctx)) ? start(ctx) : 0;
}

static void stop(leat_ctx *ctx) {
    struct timeouts *timeouts = leat_state(ctx);
    timeouts->running = false;
    leat_timer_stop(leat_channel_loop(leat_ctx_channel(ctx)), &timeouts->timer);
}

static void active(leat_ctx *ctx) {
    struct timeouts *timeouts = leat_state(ctx);
    int code = timeouts->running ? 0 : start(ctx);
    if (code != 0)
        leat_ctx_fire_error(ctx, code);
    leat_ctx_fire_active(ctx);
}

static void inactive(leat_ctx *ctx) {
    stop(ctx);
    leat_ctx_fire_inactive(ctx);
}

/* The first write after nothing waited; the timer starts only if it does not look soon enough anyway. */
static void begin_to_wait(leat_ctx *ctx, struct timeouts *timeouts) {
    leat_channel *channel = leat_ctx_channel(ctx);
    bool looked_at = timeouts->waiting;
    timeouts->waiting_since = leat_loop_now(leat_channel_loop(channel));
    timeouts->waiting = true;
    int code = looked_at ? 0 : arm(timeouts, channel);
    if (code != 0)
        leat_ctx_fail(ctx, code);
}

static void write_on(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    struct timeouts *timeouts = leat_state(ctx);
    if (timeouts->running && timeouts->write != UINT64_MAX && leat_channel_pending(leat_ctx_channel(ctx)) == 0)
        begin_to_wait(ctx, timeouts);
    leat_ctx_write(ctx, msg, done);
}

const leat_handler leat_timeouts = {
    .name = "timeouts",
    .state_size = sizeof(struct timeouts),
    .config_size = sizeof(leat_timeouts_config),
    .check = check,
    .added = added,
    .removed = stop,
    .active = active,
    .inactive = inactive,
    .write = write_on,
};

leat_timeout_kind leat_timeouts_last(leat_ctx *ctx) {
    const struct timeouts *timeouts = leat_state(ctx);
    return timeouts->last;
}
