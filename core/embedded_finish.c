/** The end of a test: what is left over, and whose fault it is. */
#include "core/embedded_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void report(leat_embedded *embedded, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void report(leat_embedded *embedded, const char *format, ...) {
    size_t room = sizeof embedded->report - embedded->report_length;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(embedded->report + embedded->report_length, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        embedded->report_length += (size_t)length < room ? (size_t)length : room - 1;
}

/* A handle that keeps more than four times its bytes alive, as leat_bytebuf_keep judges it. */
static void report_pin(void *context, const void *buffer, const char *actor) {
    leat_embedded *embedded = context;
    uint64_t kept = leat_bytebuf_readable(buffer), storage = leat_bytebuf_storage_size(buffer);
    if (leat_receive_owns(&embedded->loop->loop, buffer) || storage <= 4096 || storage / 4 <= kept)
        return;
    report(embedded, "%s keeps %llu bytes of a block of %llu beyond the turn: use leat_bytebuf_keep\n",
           actor ? actor : "somebody", (unsigned long long)kept, (unsigned long long)storage);
    embedded->pins++;
}

/* What the test itself has not taken yet is not held by a handler. */
static size_t report_pins(leat_embedded *embedded) {
    bool shared = embedded->loop->users > 1 || embedded->reads.count > 0 || embedded->pending.count > 0;
    if (!embedded->tracker || shared || leat_channel_pending(embedded->channel) > 0)
        return 0;
    leat_tracking_alloc_each(embedded->tracker, report_pin, embedded);
    return embedded->pins;
}

static size_t report_held(leat_embedded *embedded) {
    size_t found = 0;
    const leat_channel *channel = embedded->channel;
    for (uint32_t i = 0; i < channel->live; i++) {
        const leat_ctx *ctx = channel->places[i];
        if (ctx->held > 0)
            report(embedded, "%s still holds %u inbound bytes\n", leat_ctx_name(ctx), ctx->held);
        if (ctx->held_out > 0)
            report(embedded, "%s still holds %u outbound bytes\n", leat_ctx_name(ctx), ctx->held_out);
        found += (size_t)(ctx->held > 0) + (size_t)(ctx->held_out > 0);
    }
    return found;
}

static size_t report_messages(leat_embedded *embedded, item_list *list, const char *what) {
    size_t found = list->count;
    for (leat_msg msg; leat_items_take(list, &msg, sizeof msg);) {
        report(embedded, "%s was not taken: a %s of %llu bytes\n", what, msg.type ? msg.type->name : "message",
               (unsigned long long)leat_msg_size(msg));
        leat_msg_release(msg);
    }
    return found;
}

static size_t report_errors(leat_embedded *embedded) {
    size_t found = embedded->errors.count;
    for (int code; leat_items_take(&embedded->errors, &code, sizeof code);)
        report(embedded, "an error was not taken: %s (%s)\n", leat_error_name(code), leat_error_message(code));
    return found;
}

static size_t report_unread(leat_embedded *embedded) {
    size_t found = embedded->pending.count;
    leat_bytebuf *buf;
    while (leat_items_take(&embedded->pending, &buf, sizeof buf)) {
        report(embedded, "%llu bytes were fed but not read\n", (unsigned long long)leat_bytebuf_readable(buf));
        leat_bytebuf_release(buf);
    }
    return found;
}

static size_t report_bytes(leat_embedded *embedded) {
    uint64_t unsent = leat_channel_pending(embedded->channel);
    size_t untaken = embedded->written.count;
    if (unsent > 0)
        report(embedded, "%llu bytes wait to be sent\n", (unsigned long long)unsent);
    if (untaken > 0)
        report(embedded, "%zu written bytes were not taken\n", untaken);
    embedded->written.first = embedded->written.count = 0;
    return (size_t)(unsent > 0) + (size_t)(untaken > 0);
}

static void end_channel(leat_embedded *embedded) {
    if (!embedded->closed)
        leat_embedded_feed_eof(embedded);
    if (!embedded->closed)
        leat_embedded_close(embedded);
    if (embedded->closed)
        return;
    leat_loop_enter(&embedded->loop->loop);
    leat_channel_abort(embedded->channel, 0);
    leat_loop_leave(&embedded->loop->loop);
    leat_virtual_loop_settle(embedded->loop);
}

/* The ledger belongs to all channels of the loop: only the last one can tell what leaked. */
static size_t report_leaks(leat_embedded *embedded) {
    if (!embedded->tracker || embedded->loop->users > 1)
        return 0;
    leat_receive_clean_up(&embedded->loop->loop);
    size_t found = leat_tracking_alloc_live(embedded->tracker) + leat_tracking_alloc_misuses(embedded->tracker);
    size_t room = sizeof embedded->report - embedded->report_length;
    size_t length = leat_tracking_alloc_report(embedded->tracker, embedded->report + embedded->report_length, room);
    embedded->report_length += length < room ? length : room - 1;
    return found;
}

size_t leat_embedded_finish(leat_embedded *embedded) {
    size_t found = report_pins(embedded) + report_held(embedded) + report_bytes(embedded) + report_unread(embedded);
    found += report_messages(embedded, &embedded->reads, "a message") + report_errors(embedded);
    found += report_messages(embedded, &embedded->events, "an event");
    end_channel(embedded);
    found += report_messages(embedded, &embedded->reads, "a message of the end") + report_errors(embedded);
    found += report_bytes(embedded) + report_leaks(embedded);
    if (embedded->lost)
        report(embedded, "the test kit ran out of memory\n");
    return found + embedded->lost;
}

const char *leat_embedded_report(const leat_embedded *embedded) {
    return embedded->report;
}
