#include "core/embedded_internal.h"

#include <stdio.h>
#include <string.h>

/* ---- the collector: keeps what reaches the application ---- */

enum { LINK_LIMIT = 64 * 1024 };

static leat_embedded *embedded_of(leat_ctx *ctx) {
    return *(leat_embedded **)leat_state(ctx);
}

static int collector_added(leat_ctx *ctx, const void *config) {
    memcpy(leat_state(ctx), config, sizeof(leat_embedded *));
    return LEAT_OK;
}

static void keep(leat_embedded *embedded, item_list *list, leat_msg msg) {
    if (leat_items_add(embedded->alloc, list, &msg, sizeof msg, 1))
        return;
    embedded->lost = true;
    leat_msg_release(msg);
}

static void collector_read(leat_ctx *ctx, leat_msg msg) {
    keep(embedded_of(ctx), &embedded_of(ctx)->reads, msg);
}

static void collector_event(leat_ctx *ctx, leat_msg event) {
    keep(embedded_of(ctx), &embedded_of(ctx)->events, event);
}

static void collector_read_done(leat_ctx *ctx) {
    embedded_of(ctx)->read_done_count++;
}

static void collector_eof(leat_ctx *ctx) {
    embedded_of(ctx)->eof_count++;
    leat_ctx_fire_eof(ctx);
}

static void collector_writable(leat_ctx *ctx) {
    embedded_of(ctx)->writable_count++;
}

static void collector_error(leat_ctx *ctx, int code) {
    leat_embedded *embedded = embedded_of(ctx);
    if (!leat_items_add(embedded->alloc, &embedded->errors, &code, sizeof code, 1))
        embedded->lost = true;
    leat_ctx_fire_error(ctx, code);
}

const leat_handler leat_collector_handler = {
    .name = "collector",
    .state_size = sizeof(leat_embedded *),
    .config_size = sizeof(leat_embedded *),
    .added = collector_added,
    .read = collector_read,
    .read_done = collector_read_done,
    .eof = collector_eof,
    .writable = collector_writable,
    .error = collector_error,
    .event = collector_event,
};

/* ---- making and freeing ---- */

static leat_pipeline *plan(leat_embedded *embedded, const leat_stage *stages, leat_problem *problem) {
    size_t count = 0;
    while (stages[count].handler)
        count++;
    size_t size = (count + 2) * sizeof *stages;
    leat_stage *all = leat_alloc_take_zeroed(embedded->alloc, size);
    if (!all) {
        leat_problem_set(problem, LEAT_ENOMEM, "no memory for an embedded channel");
        return NULL;
    }
    if (count > 0)
        memcpy(all, stages, count * sizeof *stages);
    all[count] = (leat_stage){.handler = &leat_collector_handler, .config = &embedded};
    leat_pipeline *pipeline = leat_pipeline_new(embedded->alloc, all, problem);
    leat_alloc_give(embedded->alloc, all, size);
    return pipeline;
}

static bool make_loop(leat_embedded *embedded, const leat_embedded_options *options) {
    if (options->loop) {
        embedded->loop = (virtual_loop *)options->loop;
        embedded->tracker = embedded->loop->loop.tracker;
    } else {
        if (!options->without_ledger)
            embedded->tracker = leat_tracking_alloc_new(embedded->alloc);
        if (!options->without_ledger && !embedded->tracker)
            return false;
        embedded->loop = leat_virtual_loop_new(embedded->alloc, embedded->tracker);
        if (!embedded->loop && embedded->tracker)
            leat_tracking_alloc_free(embedded->tracker);
    }
    if (!embedded->loop)
        return false;
    embedded->loop->users++;
    embedded->loop->loop.hand_over = options->hand_over;
    embedded->next = embedded->loop->members;
    embedded->loop->members = embedded;
    return true;
}

static int make_channel(leat_embedded *embedded, const leat_stage *stages, const leat_embedded_options *options,
                        leat_problem *problem) {
    leat_pipeline *pipeline = plan(embedded, stages, problem);
    if (!pipeline)
        return problem->code;
    int code =
        leat_channel_new(&embedded->loop->loop, pipeline, &embedded->transport, &options->channel, &embedded->channel);
    leat_pipeline_release(pipeline);
    if (code != LEAT_OK)
        return leat_problem_set(problem, code, "no channel: %s", leat_error_message(code));
    leat_channel_retain(embedded->channel);
    return LEAT_OK;
}

leat_embedded *leat_embedded_new_with(const leat_stage *stages, const leat_embedded_options *given,
                                      leat_problem *problem) {
    leat_embedded_options options = given ? *given : (leat_embedded_options){0};
    leat_problem own;
    if (!problem)
        problem = &own;
    leat_alloc *alloc = options.alloc ? options.alloc : leat_unpooled();
    leat_embedded *embedded = leat_alloc_take_zeroed(alloc, sizeof *embedded);
    if (embedded)
        *embedded = (leat_embedded){.alloc = alloc,
                                    .most_a_call = SIZE_MAX,
                                    .allowance = UINT64_MAX,
                                    .link_limit = options.link_limit ? options.link_limit : LINK_LIMIT};
    if (!embedded || !make_loop(embedded, &options)) {
        leat_alloc_give(alloc, embedded, sizeof *embedded);
        leat_problem_set(problem, LEAT_ENOMEM, "no memory for an embedded channel");
        return NULL;
    }
    embedded->transport.ops = &leat_embedded_transport;
    if (make_channel(embedded, stages, &options, problem) != LEAT_OK) {
        leat_embedded_free(embedded);
        return NULL;
    }
    if (!options.not_connected)
        leat_embedded_connect(embedded);
    return embedded;
}

leat_embedded *leat_embedded_new(const leat_stage *stages) {
    return leat_embedded_new_with(stages, NULL, NULL);
}

static void drop_messages(leat_embedded *embedded) {
    leat_msg msg;
    while (leat_items_take(&embedded->reads, &msg, sizeof msg) || leat_items_take(&embedded->events, &msg, sizeof msg))
        leat_msg_release(msg);
    leat_bytebuf *buf;
    while (leat_items_take(&embedded->pending, &buf, sizeof buf))
        leat_bytebuf_release(buf);
}

static void abort_channel(leat_embedded *embedded) {
    if (!embedded->channel)
        return;
    leat_loop_enter(&embedded->loop->loop);
    leat_channel_abort(embedded->channel, 0);
    leat_loop_leave(&embedded->loop->loop);
    leat_virtual_loop_settle(embedded->loop);
}

static void leave_loop(leat_embedded *embedded) {
    virtual_loop *loop = embedded->loop;
    leat_embedded **link = &loop->members;
    while (*link != embedded)
        link = &(*link)->next;
    *link = embedded->next;
    if (--loop->users > 0)
        return;
    leat_loop_release(&loop->loop);
    if (embedded->tracker)
        leat_tracking_alloc_free(embedded->tracker);
}

void leat_embedded_free(leat_embedded *embedded) {
    if (!embedded)
        return;
    abort_channel(embedded);
    drop_messages(embedded);
    leat_channel_release(embedded->channel);
    leave_loop(embedded);
    item_list *lists[] = {&embedded->pending, &embedded->written, &embedded->spans, &embedded->reads,
                          &embedded->events,  &embedded->errors,  &embedded->text};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        leat_items_clean_up(embedded->alloc, lists[i]);
    leat_alloc_give(embedded->alloc, embedded, sizeof *embedded);
}

leat_channel *leat_embedded_channel(leat_embedded *embedded) {
    return embedded->channel;
}

leat_loop *leat_embedded_loop(leat_embedded *embedded) {
    return &embedded->loop->loop;
}

leat_alloc *leat_embedded_alloc(leat_embedded *embedded) {
    return embedded->loop->loop.alloc;
}

/* ---- what a test does ---- */

void leat_embedded_connect(leat_embedded *embedded) {
    leat_loop_enter(&embedded->loop->loop);
    leat_channel_connected(embedded->channel);
    leat_loop_leave(&embedded->loop->loop);
    leat_virtual_loop_settle(embedded->loop);
}

void leat_embedded_write(leat_embedded *embedded, leat_msg msg, leat_done *done) {
    leat_loop_enter(&embedded->loop->loop);
    leat_channel_write(embedded->channel, msg, done);
    leat_loop_leave(&embedded->loop->loop);
    leat_virtual_loop_settle(embedded->loop);
}

void leat_embedded_write_text(leat_embedded *embedded, const char *text) {
    leat_bytebuf *buf = leat_bytebuf_from_text(leat_embedded_alloc(embedded), text);
    if (buf)
        leat_embedded_write(embedded, leat_msg_of_bytebuf(buf), NULL);
    else
        embedded->lost = true;
}

void leat_embedded_close(leat_embedded *embedded) {
    leat_loop_enter(&embedded->loop->loop);
    leat_channel_close(embedded->channel);
    leat_loop_leave(&embedded->loop->loop);
    leat_virtual_loop_settle(embedded->loop);
}

/* Nothing written: there is no block to point into. */
static const void *bytes_of(const item_list *list) {
    return list->count > 0 ? (const void *)(list->items + list->first) : "";
}

leat_bytebuf *leat_embedded_take_written(leat_embedded *embedded) {
    item_list *written = &embedded->written;
    leat_bytebuf *buf = leat_bytebuf_from_bytes(leat_embedded_alloc(embedded), bytes_of(written), written->count);
    if (buf)
        written->first = written->count = 0;
    return buf;
}

static const char *as_text(leat_embedded *embedded, const void *bytes, size_t length) {
    item_list *text = &embedded->text;
    text->first = text->count = 0;
    bool kept =
        leat_items_add(embedded->alloc, text, bytes, 1, length) && leat_items_add(embedded->alloc, text, "", 1, 1);
    return kept ? (const char *)text->items + text->first : NULL;
}

const char *leat_embedded_written_text(leat_embedded *embedded) {
    item_list *written = &embedded->written;
    const char *text = as_text(embedded, bytes_of(written), written->count);
    if (text)
        written->first = written->count = 0;
    return text;
}

const size_t *leat_embedded_last_spans(const leat_embedded *embedded, size_t *count) {
    *count = embedded->spans.count;
    return (const size_t *)(const void *)embedded->spans.items;
}

size_t leat_embedded_write_calls(const leat_embedded *embedded) {
    return embedded->write_calls;
}

bool leat_embedded_take_read(leat_embedded *embedded, leat_msg *msg) {
    return leat_items_take(&embedded->reads, msg, sizeof *msg);
}

const char *leat_embedded_read_text(leat_embedded *embedded) {
    leat_msg msg;
    if (!leat_embedded_take_read(embedded, &msg))
        return NULL;
    leat_bytebuf *buf = leat_msg_bytebuf(msg);
    leat_bytebuf *flat = buf ? leat_bytebuf_copy(buf, embedded->alloc) : NULL;
    const char *text = flat ? as_text(embedded, leat_bytebuf_data(flat), (size_t)leat_bytebuf_readable(flat)) : NULL;
    leat_bytebuf_release(flat);
    leat_msg_release(msg);
    return text;
}

bool leat_embedded_take_event(leat_embedded *embedded, leat_msg *event) {
    return leat_items_take(&embedded->events, event, sizeof *event);
}

int leat_embedded_take_error(leat_embedded *embedded) {
    int code = 0;
    leat_items_take(&embedded->errors, &code, sizeof code);
    return code;
}

size_t leat_embedded_count_writable(const leat_embedded *embedded) {
    return embedded->writable_count;
}

size_t leat_embedded_count_read_done(const leat_embedded *embedded) {
    return embedded->read_done_count;
}

size_t leat_embedded_count_eof(const leat_embedded *embedded) {
    return embedded->eof_count;
}

bool leat_embedded_is_shut_down(const leat_embedded *embedded) {
    return embedded->shut_down;
}

bool leat_embedded_is_closed(const leat_embedded *embedded) {
    return embedded->closed;
}
