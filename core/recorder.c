#include "core/recorder.h"

#include "core/embedded_internal.h"

#include <stdio.h>
#include <string.h>

enum { MOST_TEXT = 1 << 20, MOST_LINE = 320, MOST_BYTES_SHOWN = 40 };

typedef enum call {
    ADDED,
    REMOVED,
    ACTIVE,
    READ,
    READ_DONE,
    EOF_CAME,
    INACTIVE,
    WRITABLE,
    ERROR,
    EVENT,
    WAKE,
    WRITE,
    FLUSH,
    CLOSE,
    DONE,
    CALLS
} call;

static const char *const call_names[CALLS] = {"added", "removed",  "active",   "read",  "read_done",
                                              "eof",   "inactive", "writable", "error", "event",
                                              "wake",  "write",    "flush",    "close", "done"};

typedef struct recorder_done {
    leat_done done;
    leat_recorder *recorder;
    const char *name;
    struct recorder_done *next;
} recorder_done;

/* Something to do once, in the next call whose line begins so. */
typedef struct wish {
    const char *line;
    leat_recorder_action action;
    void *argument;
    struct wish *next;
} wish;

struct leat_recorder {
    leat_recorder *self; /* what a stage's config points to */
    leat_alloc *alloc;
    unsigned left_out; /* a bit a call */
    item_list text, taken;
    bool full, lost; /* lines were dropped: too many, or no memory */
    recorder_done *completions;
    wish *wishes;
};

/* What the state of a stage holds. */
typedef struct place {
    leat_recorder *recorder;
    const char *name;
} place;

/* ---- lines ---- */

static void keep_text(leat_recorder *recorder, const char *text) {
    if (!leat_items_add(recorder->alloc, &recorder->text, text, 1, strlen(text)))
        recorder->lost = true;
}

static void add_line(leat_recorder *recorder, const char *line) {
    if (recorder->text.count < MOST_TEXT)
        keep_text(recorder, line);
    else
        recorder->full = true;
}

static bool is_said_by(const wish *one, const char *line) {
    size_t length = strlen(one->line);
    return strncmp(one->line, line, length) == 0 && (line[length] == ' ' || line[length] == '\n');
}

static void do_wish(leat_recorder *recorder, leat_ctx *ctx, const char *line) {
    wish **link = &recorder->wishes;
    while (*link && !is_said_by(*link, line))
        link = &(*link)->next;
    if (!*link)
        return;
    wish one = **link;
    leat_alloc_give(recorder->alloc, *link, sizeof one);
    *link = one.next;
    one.action(ctx, one.argument);
}

/* Writes the line and does what the test wants done there. */
static void say(leat_recorder *recorder, leat_ctx *ctx, const char *name, call what, const char *with) {
    char line[MOST_LINE];
    snprintf(line, sizeof line, "%.64s %s%s%s\n", name, call_names[what], *with ? " " : "", with);
    if (!(recorder->left_out & 1u << what))
        add_line(recorder, line);
    do_wish(recorder, ctx, line);
}

static void record(leat_ctx *ctx, call what, const char *with) {
    const place *at = leat_state(ctx);
    say(at->recorder, ctx, at->name, what, with);
}

/* ---- what came with a call, in words ---- */

static char *add_byte(char *at, uint8_t byte) {
    static const char digits[] = "0123456789abcdef";
    *at++ = byte >= ' ' && byte < 127 && byte != '\\' ? (char)byte : '\\';
    if (byte == '\r' || byte == '\n' || byte == '\\')
        *at++ = byte == '\r' ? 'r' : byte == '\n' ? 'n' : '\\';
    else if (byte < ' ' || byte >= 127) {
        *at++ = 'x';
        *at++ = digits[byte >> 4];
        *at++ = digits[byte & 15];
    }
    return at;
}

static void describe_bytes(const leat_bytebuf *buf, char *text) {
    uint64_t length = leat_bytebuf_readable(buf), reader = leat_bytebuf_reader_index(buf);
    *text++ = '\'';
    for (uint64_t i = 0; i < length && i < MOST_BYTES_SHOWN; i++)
        text = add_byte(text, leat_bytebuf_get_u8(buf, reader + i));
    *text++ = '\'';
    *text = '\0';
    if (length > MOST_BYTES_SHOWN)
        snprintf(text, 32, "... of %llu", (unsigned long long)length);
}

static void record_msg(leat_ctx *ctx, call what, leat_msg msg) {
    char text[MOST_BYTES_SHOWN * 4 + 40];
    const leat_bytebuf *buf = leat_msg_bytebuf(msg);
    if (buf)
        describe_bytes(buf, text);
    else
        snprintf(text, sizeof text, "%.100s", msg.type && msg.type->name ? msg.type->name : "?");
    record(ctx, what, text);
}

static const char *describe_code(int code, char *text, size_t size) {
    const char *name = leat_error_name(code);
    if (strncmp(name, "LEAT_", 5) == 0)
        return name;
    snprintf(text, size, "%d", code);
    return text;
}

/* ---- the calls ---- */

static int recorder_added(leat_ctx *ctx, const void *config) {
    place *at = leat_state(ctx);
    at->recorder = *(leat_recorder *const *)config;
    at->name = leat_ctx_name(ctx);
    record(ctx, ADDED, "");
    return LEAT_OK;
}

static void recorder_removed(leat_ctx *ctx) {
    record(ctx, REMOVED, "");
}

static void recorder_active(leat_ctx *ctx) {
    record(ctx, ACTIVE, "");
    leat_ctx_fire_active(ctx);
}

static void recorder_read(leat_ctx *ctx, leat_msg msg) {
    record_msg(ctx, READ, msg);
    leat_ctx_fire_read(ctx, msg);
}

static void recorder_read_done(leat_ctx *ctx) {
    record(ctx, READ_DONE, "");
    leat_ctx_fire_read_done(ctx);
}

static void recorder_eof(leat_ctx *ctx) {
    record(ctx, EOF_CAME, "");
    leat_ctx_fire_eof(ctx);
}

static void recorder_inactive(leat_ctx *ctx) {
    record(ctx, INACTIVE, "");
    leat_ctx_fire_inactive(ctx);
}

static void recorder_writable(leat_ctx *ctx) {
    record(ctx, WRITABLE, leat_channel_is_writable(leat_ctx_channel(ctx)) ? "yes" : "no");
    leat_ctx_fire_writable(ctx);
}

static void recorder_error(leat_ctx *ctx, int code) {
    char text[16];
    record(ctx, ERROR, describe_code(code, text, sizeof text));
    leat_ctx_fire_error(ctx, code);
}

static void recorder_event(leat_ctx *ctx, leat_msg event) {
    record_msg(ctx, EVENT, event);
    leat_ctx_fire_event(ctx, event);
}

static void recorder_wake(leat_ctx *ctx) {
    record(ctx, WAKE, "");
}

static void recorder_write(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    record_msg(ctx, WRITE, msg);
    leat_ctx_write(ctx, msg, done);
}

static void recorder_flush(leat_ctx *ctx) {
    record(ctx, FLUSH, "");
    leat_ctx_flush(ctx);
}

static void recorder_close(leat_ctx *ctx) {
    record(ctx, CLOSE, "");
    leat_ctx_close(ctx);
}

static const leat_handler recording = {
    .name = "recorder",
    .state_size = sizeof(place),
    .config_size = sizeof(leat_recorder *),
    .added = recorder_added,
    .removed = recorder_removed,
    .active = recorder_active,
    .read = recorder_read,
    .read_done = recorder_read_done,
    .eof = recorder_eof,
    .inactive = recorder_inactive,
    .writable = recorder_writable,
    .error = recorder_error,
    .event = recorder_event,
    .wake = recorder_wake,
    .write = recorder_write,
    .flush = recorder_flush,
    .close = recorder_close,
};

/* ---- what a test asks ---- */

leat_recorder *leat_recorder_new(leat_alloc *alloc) {
    leat_recorder *recorder = leat_alloc_take(alloc, sizeof *recorder, NULL);
    if (recorder)
        *recorder = (leat_recorder){.self = recorder, .alloc = alloc};
    return recorder;
}

void leat_recorder_free(leat_recorder *recorder) {
    if (!recorder)
        return;
    for (recorder_done *one = recorder->completions, *next; one; one = next) {
        next = one->next;
        leat_alloc_give(recorder->alloc, one, sizeof *one);
    }
    for (wish *one = recorder->wishes, *next; one; one = next) {
        next = one->next;
        leat_alloc_give(recorder->alloc, one, sizeof *one);
    }
    leat_items_clean_up(recorder->alloc, &recorder->text);
    leat_items_clean_up(recorder->alloc, &recorder->taken);
    leat_alloc_give(recorder->alloc, recorder, sizeof *recorder);
}

leat_stage leat_recorder_stage(const leat_recorder *recorder, const char *name) {
    return (leat_stage){.handler = &recording, .config = &recorder->self, .name = name};
}

static bool names_call(const char *calls, const char *name) {
    size_t length = strlen(name);
    for (const char *at = strstr(calls, name); at; at = strstr(at + 1, name))
        if ((at == calls || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

void leat_recorder_leave_out(leat_recorder *recorder, const char *calls) {
    recorder->left_out = 0;
    for (unsigned what = 0; what < CALLS; what++)
        if (names_call(calls, call_names[what]))
            recorder->left_out |= 1u << what;
}

static void completed(leat_done *done, int status) {
    const recorder_done *one = (recorder_done *)(void *)done;
    char text[16];
    say(one->recorder, NULL, one->name, DONE, describe_code(status, text, sizeof text));
}

leat_done *leat_recorder_done(leat_recorder *recorder, const char *name) {
    recorder_done *one = leat_alloc_take(recorder->alloc, sizeof *one, NULL);
    if (!one)
        return NULL;
    *one =
        (recorder_done){.done = {.fn = completed}, .recorder = recorder, .name = name, .next = recorder->completions};
    recorder->completions = one;
    return &one->done;
}

int leat_recorder_when(leat_recorder *recorder, const char *line, leat_recorder_action action, void *argument) {
    wish *one = leat_alloc_take(recorder->alloc, sizeof *one, NULL);
    if (!one)
        return LEAT_ENOMEM;
    *one = (wish){.line = line, .action = action, .argument = argument};
    wish **link = &recorder->wishes;
    while (*link)
        link = &(*link)->next;
    *link = one;
    return LEAT_OK;
}

const char *leat_recorder_take(leat_recorder *recorder) {
    if (recorder->full)
        keep_text(recorder, "(more)\n");
    if (recorder->lost)
        keep_text(recorder, "(lost)\n");
    leat_items_clean_up(recorder->alloc, &recorder->taken);
    recorder->taken = recorder->text;
    recorder->text = (item_list){0};
    recorder->full = recorder->lost = false;
    bool ended = leat_items_add(recorder->alloc, &recorder->taken, "", 1, 1);
    return ended ? (const char *)recorder->taken.items + recorder->taken.first : "(lost)\n";
}
