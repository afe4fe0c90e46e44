#include "handlers/log.h"

#include "core/channel.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_LINE = 256, DUMPED = 1024, DUMP_ROOM = 8192 };

struct log {
    leat_log_config config;
};

static int check(const void *config, leat_problem *problem) {
    const leat_log_config *given = config;
    if (given && ((int)given->level < LEAT_LOG_DEFAULT || given->level > LEAT_LOG_TRACE))
        return leat_problem_set(problem, LEAT_EINVAL, "log: there is no level %d", (int)given->level);
    return 0;
}

static void print(void *context, leat_log_level level, const char *line) {
    (void)context, (void)level;
    fprintf(stderr, "%s\n", line);
}

static int added(leat_ctx *ctx, const void *config) {
    struct log *log = leat_state(ctx);
    if (config)
        log->config = *(const leat_log_config *)config;
    log->config.level = log->config.level ? log->config.level : LEAT_LOG_INFO;
    log->config.name = log->config.name ? log->config.name : "channel";
    log->config.sink = log->config.sink ? log->config.sink : print;
    return 0;
}

static bool says(leat_ctx *ctx, leat_log_level level) {
    const struct log *log = leat_state(ctx);
    return log->config.level >= level;
}

static void say(leat_ctx *ctx, leat_log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void say(leat_ctx *ctx, leat_log_level level, const char *format, ...) {
    const leat_log_config *config = &((const struct log *)leat_state(ctx))->config;
    char line[LONGEST_LINE];
    va_list arguments;
    int begin = snprintf(line, sizeof line, "%.64s: ", config->name);
    va_start(arguments, format);
    vsnprintf(line + begin, sizeof line - (size_t)begin, format, arguments);
    va_end(arguments);
    config->sink(config->context, level, line);
}

/* ---- messages ---- */

/* Says each whole line of `text`. */
static void say_lines(leat_ctx *ctx, char *text) {
    for (char *end; (end = strchr(text, '\n')); text = end + 1) {
        *end = '\0';
        say(ctx, LEAT_LOG_TRACE, "%s", text);
    }
}

/* The dump stops at the room; its last line may be cut, and is left out. */
static void dump(leat_ctx *ctx, const leat_bytebuf *buf) {
    char text[DUMP_ROOM];
    leat_bytebuf_hex_dump(buf, text, DUMP_ROOM);
    enum { LINE_OF_DUMP = 16 };
    char *cut = text;
    for (size_t lines = 0; lines < DUMPED / LINE_OF_DUMP && cut; lines++) {
        cut = strchr(cut, '\n');
        cut = cut ? cut + 1 : NULL;
    }
    if (cut)
        *cut = '\0';
    say_lines(ctx, text);
    if (leat_bytebuf_readable(buf) > DUMPED)
        say(ctx, LEAT_LOG_TRACE, "and %llu bytes more", (unsigned long long)(leat_bytebuf_readable(buf) - DUMPED));
}

static void say_message(leat_ctx *ctx, const char *what, leat_msg msg) {
    const char *type = msg.type && msg.type->name ? msg.type->name : "message";
    say(ctx, LEAT_LOG_DEBUG, "%s %s of %llu bytes", what, type, (unsigned long long)leat_msg_size(msg));
    if (says(ctx, LEAT_LOG_TRACE) && leat_msg_bytebuf(msg))
        dump(ctx, leat_msg_bytebuf(msg));
}

static void read_on(leat_ctx *ctx, leat_msg msg) {
    if (says(ctx, LEAT_LOG_DEBUG))
        say_message(ctx, "read", msg);
    leat_ctx_fire_read(ctx, msg);
}

static void write_on(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    if (says(ctx, LEAT_LOG_DEBUG))
        say_message(ctx, "write", msg);
    leat_ctx_write(ctx, msg, done);
}

static void event(leat_ctx *ctx, leat_msg msg) {
    if (says(ctx, LEAT_LOG_DEBUG))
        say_message(ctx, "event", msg);
    leat_ctx_fire_event(ctx, msg);
}

/* ---- what happens to the channel ---- */

static void say_plain(leat_ctx *ctx, leat_log_level level, const char *what) {
    if (says(ctx, level))
        say(ctx, level, "%s", what);
}

static void active(leat_ctx *ctx) {
    say_plain(ctx, LEAT_LOG_INFO, "active");
    leat_ctx_fire_active(ctx);
}

static void read_done(leat_ctx *ctx) {
    say_plain(ctx, LEAT_LOG_TRACE, "read done");
    leat_ctx_fire_read_done(ctx);
}

static void eof(leat_ctx *ctx) {
    say_plain(ctx, LEAT_LOG_INFO, "end of the peer's side");
    leat_ctx_fire_eof(ctx);
}

static void inactive(leat_ctx *ctx) {
    if (says(ctx, LEAT_LOG_INFO)) {
        const leat_channel *channel = leat_ctx_channel(ctx);
        say(ctx, LEAT_LOG_INFO, "inactive after %llu bytes in and %llu out",
            (unsigned long long)leat_channel_bytes_read(channel),
            (unsigned long long)leat_channel_bytes_written(channel));
    }
    leat_ctx_fire_inactive(ctx);
}

static void writable(leat_ctx *ctx) {
    bool now = leat_channel_is_writable(leat_ctx_channel(ctx));
    say_plain(ctx, LEAT_LOG_DEBUG, now ? "writable again" : "not writable");
    leat_ctx_fire_writable(ctx);
}

static void error(leat_ctx *ctx, int code) {
    say(ctx, LEAT_LOG_ERROR, "error %s: %s", leat_error_name(code), leat_error_message(code));
    leat_ctx_fire_error(ctx, code);
}

static void flush(leat_ctx *ctx) {
    say_plain(ctx, LEAT_LOG_TRACE, "flush");
    leat_ctx_flush(ctx);
}

static void close_on(leat_ctx *ctx) {
    say_plain(ctx, LEAT_LOG_INFO, "close");
    leat_ctx_close(ctx);
}

const leat_handler leat_log = {
    .name = "log",
    .state_size = sizeof(struct log),
    .config_size = sizeof(leat_log_config),
    .check = check,
    .added = added,
    .active = active,
    .read = read_on,
    .read_done = read_done,
    .eof = eof,
    .inactive = inactive,
    .writable = writable,
    .error = error,
    .event = event,
    .write = write_on,
    .flush = flush,
    .close = close_on,
};
