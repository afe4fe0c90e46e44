/** Pipelines as text and as graphs, of a plan and of a channel. */
#include "core/channel_internal.h"

#include <stdarg.h>
#include <stdio.h>

/* A text that grows as snprintf counts: what does not fit is only counted. */
typedef struct dump {
    char *text;
    size_t size, length;
} dump;

/* The handlers between the two ends, of whatever. */
typedef struct dump_row {
    const char *(*name_at)(const void *of, size_t index);
    const leat_handler *(*handler_at)(const void *of, size_t index);
    const void *of;
    size_t count;
} dump_row;

static void say(dump *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(dump *to, const char *format, ...) {
    size_t room = to->length < to->size ? to->size - to->length : 0;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(room ? to->text + to->length : NULL, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        to->length += (size_t)length;
}

static size_t dump_text(const dump_row *row, char *text, size_t size) {
    dump to = {text, size, 0};
    say(&to, "%s", leat_head_handler.name);
    for (size_t i = 0; i < row->count; i++)
        say(&to, " | %s", row->name_at(row->of, i));
    say(&to, " | %s", leat_tail_handler.name);
    return to.length;
}

static void say_types(dump *to, const leat_type *const *types) {
    if (!types)
        say(to, "any");
    for (size_t i = 0; types && types[i]; i++)
        say(to, "%s%s", i ? ", " : "", types[i]->name);
}

static void say_node(dump *to, size_t number, const char *name) {
    say(to, "    h%zu [label=\"", number);
    for (; *name; name++)
        say(to, *name == '"' || *name == '\\' ? "\\%c" : "%c", *name);
    say(to, "\"];\n");
}

static void say_edge(dump *to, size_t from, size_t into, const leat_type *const *types) {
    say(to, "    h%zu -> h%zu [label=\"", from, into);
    say_types(to, types);
    say(to, "\"];\n");
}

/* Node 0 is the transport, the last one the application; what an edge is labelled with is what its beginning says. */
static size_t dump_dot(const dump_row *row, char *text, size_t size) {
    dump to = {text, size, 0};
    say(&to, "digraph pipeline {\n    rankdir=LR; node [shape=box];\n");
    say_node(&to, 0, leat_head_handler.name);
    for (size_t i = 0; i < row->count; i++)
        say_node(&to, i + 1, row->name_at(row->of, i));
    say_node(&to, row->count + 1, leat_tail_handler.name);
    for (size_t i = 0; i <= row->count; i++) {
        say_edge(&to, i, i + 1, i == 0 ? leat_only_bytebuf : row->handler_at(row->of, i - 1)->fires);
        say_edge(&to, i + 1, i, i == row->count ? NULL : row->handler_at(row->of, i)->writes);
    }
    say(&to, "}\n");
    return to.length;
}

static const char *channel_name(const void *of, size_t index) {
    return leat_ctx_name(((const leat_channel *)of)->places[index + 1]);
}

static const leat_handler *channel_handler(const void *of, size_t index) {
    return ((const leat_channel *)of)->places[index + 1]->handler;
}

static dump_row row_of_channel(const leat_channel *channel) {
    return (dump_row){channel_name, channel_handler, channel, channel->live - 2u};
}

static const char *pipeline_name(const void *of, size_t index) {
    return ((const leat_pipeline *)of)->stages[index].name;
}

static const leat_handler *pipeline_handler(const void *of, size_t index) {
    return ((const leat_pipeline *)of)->stages[index].handler;
}

static dump_row row_of_pipeline(const leat_pipeline *pipeline) {
    return (dump_row){pipeline_name, pipeline_handler, pipeline, pipeline->count};
}

size_t leat_channel_dump(const leat_channel *channel, char *text, size_t size) {
    const dump_row row = row_of_channel(channel);
    return dump_text(&row, text, size);
}

size_t leat_channel_dump_dot(const leat_channel *channel, char *text, size_t size) {
    const dump_row row = row_of_channel(channel);
    return dump_dot(&row, text, size);
}

size_t leat_pipeline_dump(const leat_pipeline *pipeline, char *text, size_t size) {
    const dump_row row = row_of_pipeline(pipeline);
    return dump_text(&row, text, size);
}

size_t leat_pipeline_dump_dot(const leat_pipeline *pipeline, char *text, size_t size) {
    const dump_row row = row_of_pipeline(pipeline);
    return dump_dot(&row, text, size);
}
