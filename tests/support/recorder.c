#include "tests/support/recorder.h"

#include <check.h>
#include <string.h>

typedef struct recorder_config {
    test_record *record;
} recorder_config;

typedef struct recorder_state {
    test_record *record;
} recorder_state;

static test_record *record_of(leat_ctx *ctx) {
    return ((recorder_state *)leat_state(ctx))->record;
}

static void do_wishes(leat_ctx *ctx, const char *entry) {
    test_record *record = record_of(ctx);
    if (record->abort_in && strcmp(record->abort_in, entry) == 0)
        leat_channel_abort(leat_ctx_channel(ctx), 0);
    if (record->close_in && strcmp(record->close_in, entry) == 0)
        leat_channel_close(leat_ctx_channel(ctx));
}

static int added(leat_ctx *ctx, const void *config) {
    ((recorder_state *)leat_state(ctx))->record = ((const recorder_config *)config)->record;
    do_wishes(ctx, "added");
    return 0;
}

static void removed(leat_ctx *ctx) {
    record_of(ctx)->removed++;
}

static void active(leat_ctx *ctx) {
    test_record *record = record_of(ctx);
    record->active++;
    record->channel = leat_ctx_channel(ctx);
    if (record->greeting)
        leat_ctx_write_copy(ctx, record->greeting, strlen(record->greeting), NULL);
    do_wishes(ctx, "active");
}

static void note_bytes(test_record *record, leat_bytebuf *buf) {
    if (record->bytes == 0)
        record->in_order = true;
    uint64_t reader = leat_bytebuf_reader_index(buf);
    for (uint64_t i = 0; i < leat_bytebuf_readable(buf); i++, record->bytes++) {
        uint8_t byte = leat_bytebuf_get_u8(buf, reader + i);
        record->in_order &= byte == pattern_byte(record->bytes);
        if (record->bytes < sizeof record->text - 1)
            record->text[record->bytes] = (char)byte;
    }
}

static void read(leat_ctx *ctx, leat_msg msg) {
    test_record *record = record_of(ctx);
    record->reads++;
    note_bytes(record, leat_msg_bytebuf(msg));
    if (record->echo)
        leat_ctx_write(ctx, msg, NULL);
    else
        leat_msg_release(msg);
    do_wishes(ctx, "read");
}

static void read_done(leat_ctx *ctx) {
    record_of(ctx)->read_dones++;
    do_wishes(ctx, "read_done");
}

static void eof(leat_ctx *ctx) {
    record_of(ctx)->eofs++;
    do_wishes(ctx, "eof");
    if (!record_of(ctx)->keep_open)
        leat_ctx_fire_eof(ctx);
}

static void inactive(leat_ctx *ctx) {
    test_record *record = record_of(ctx);
    record->inactives++;
    if (record->channel == leat_ctx_channel(ctx))
        record->channel = NULL;
    do_wishes(ctx, "inactive");
}

static void writable(leat_ctx *ctx) {
    record_of(ctx)->writables++;
    do_wishes(ctx, "writable");
}

static void error(leat_ctx *ctx, int code) {
    record_of(ctx)->errors++;
    record_of(ctx)->error = code;
    do_wishes(ctx, "error");
    leat_ctx_fire_error(ctx, code);
}

static const leat_handler recorder = {
    .name = "recorder",
    .state_size = sizeof(recorder_state),
    .config_size = sizeof(recorder_config),
    .added = added,
    .removed = removed,
    .active = active,
    .read = read,
    .read_done = read_done,
    .eof = eof,
    .inactive = inactive,
    .writable = writable,
    .error = error,
};

leat_pipeline *recorder_pipeline(test_record *record) {
    const recorder_config config = {record};
    leat_pipeline *pipeline =
        leat_pipeline_new(leat_unpooled(), (const leat_stage[]){{&recorder, &config, NULL}, {0}}, NULL);
    ck_assert_ptr_nonnull(pipeline);
    return pipeline;
}

uint8_t pattern_byte(uint64_t index) {
    return (uint8_t)(index * 31 + (index >> 8) * 7 + (index >> 16));
}

leat_bytebuf *pattern_buffer(leat_alloc *alloc, uint64_t index, size_t length) {
    leat_bytebuf *buf = leat_bytebuf_new(alloc, length);
    ck_assert_ptr_nonnull(buf);
    bool whole = true;
    for (size_t i = 0; i < length; i++)
        whole &= leat_bytebuf_write_u8(buf, pattern_byte(index + i));
    ck_assert(whole);
    return buf;
}

void write_text(leat_channel *channel, const char *text, leat_done *done) {
    leat_loop *loop = leat_channel_loop(channel);
    leat_bytebuf *buf = leat_bytebuf_from_bytes(leat_unpooled(), text, strlen(text));
    ck_assert_ptr_nonnull(buf);
    leat_loop_enter(loop);
    leat_channel_write(channel, leat_msg_of_bytebuf(buf), done);
    leat_loop_leave(loop);
}

static void note_outcome(leat_done *done, int status) {
    test_outcome *outcome = (void *)done;
    outcome->runs++;
    outcome->status = status;
}

leat_done *expect(test_outcome *outcome) {
    outcome->done = (leat_done){.fn = note_outcome};
    return &outcome->done;
}

static void run_to(leat_loop *loop, uint64_t latest) {
    uint64_t deadline = leat_loop_deadline(loop);
    ck_assert_int_eq(loop->ops->wait(loop, deadline < latest ? deadline : latest), 0);
    leat_loop_run_due(loop);
}

void run_once(leat_loop *loop) {
    run_to(loop, UINT64_MAX);
}

void run_ready(leat_loop *loop) {
    enum { ENOUGH = 20 };
    for (int i = 0; i < ENOUGH; i++)
        run_to(loop, 0);
}

void run_until(leat_loop *loop, const size_t *counter, size_t least) {
    while (*counter < least)
        run_once(loop);
}

void run_until_bytes(leat_loop *loop, const uint64_t *counter, uint64_t least) {
    while (*counter < least)
        run_once(loop);
}
