/** What users keep with a channel, and what they can ask about its pipeline. */
#include "core/channel_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static channel_attribute *find_attribute(const leat_channel *channel, const leat_key *key) {
    channel_attribute *attribute = channel->attributes;
    while (attribute && attribute->key != key)
        attribute = attribute->next;
    return attribute;
}

static void release_value(const leat_key *key, void *value) {
    if (value && key->release)
        key->release(value);
}

int leat_channel_set_attribute(leat_channel *channel, const leat_key *key, void *value) {
    leat_assert_thread(channel->loop);
    channel_attribute *attribute = find_attribute(channel, key);
    if (!attribute) {
        attribute = leat_alloc_take(channel->loop->internal_alloc, sizeof *attribute, NULL);
        if (!attribute) {
            release_value(key, value);
            return LEAT_ENOMEM;
        }
        *attribute = (channel_attribute){.next = channel->attributes, .key = key};
        channel->attributes = attribute;
    }
    if (attribute->value != value)
        release_value(key, attribute->value);
    attribute->value = value;
    return LEAT_OK;
}

void *leat_channel_attribute(const leat_channel *channel, const leat_key *key) {
    const channel_attribute *attribute = find_attribute(channel, key);
    return attribute ? attribute->value : NULL;
}

void leat_channel_release_attributes(leat_channel *channel) {
    for (channel_attribute *attribute = channel->attributes, *next; attribute; attribute = next) {
        next = attribute->next;
        release_value(attribute->key, attribute->value);
        leat_alloc_give(channel->loop->internal_alloc, attribute, sizeof *attribute);
    }
    channel->attributes = NULL;
}

leat_handler_counts *leat_channel_new_counts(leat_channel *channel) {
    if (!channel->options.count_handlers)
        return NULL;
    return leat_alloc_take_zeroed(channel->loop->internal_alloc, sizeof(leat_handler_counts));
}

void leat_channel_release_counts(leat_channel *channel) {
    for (uint32_t i = 0; i < channel->live + channel->removed; i++)
        leat_alloc_give(channel->loop->internal_alloc, channel->places[i].counts, sizeof(leat_handler_counts));
}

static const channel_place *find_place(const leat_channel *channel, const char *name) {
    for (uint32_t i = 1; i + 1 < channel->live; i++)
        if (strcmp(channel->places[i].name, name) == 0)
            return &channel->places[i];
    return NULL;
}

leat_ctx *leat_channel_find(leat_channel *channel, const char *name) {
    const channel_place *place = find_place(channel, name);
    return place ? place->ctx : NULL;
}

bool leat_channel_counts(const leat_channel *channel, const char *name, leat_handler_counts *counts) {
    const channel_place *place = find_place(channel, name);
    if (!place || !place->counts)
        return false;
    *counts = *place->counts;
    return true;
}

/** A text that grows as snprintf counts: what does not fit is only counted. */
typedef struct dump {
    char *text;
    size_t size, length;
} dump;

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

size_t leat_channel_dump(const leat_channel *channel, char *text, size_t size) {
    dump to = {text, size, 0};
    for (uint32_t i = 0; i < channel->live; i++)
        say(&to, "%s%s", i ? " | " : "", channel->places[i].name);
    return to.length;
}

static void say_types(dump *to, const leat_type *const *types) {
    if (!types)
        say(to, "any");
    for (size_t i = 0; types && types[i]; i++)
        say(to, "%s%s", i ? ", " : "", types[i]->name);
}

static void say_edge(dump *to, uint32_t from, uint32_t into, const leat_type *const *types) {
    say(to, "    h%u -> h%u [label=\"", from, into);
    say_types(to, types);
    say(to, "\"];\n");
}

size_t leat_channel_dump_dot(const leat_channel *channel, char *text, size_t size) {
    dump to = {text, size, 0};
    say(&to, "digraph pipeline {\n    rankdir=LR; node [shape=box];\n");
    for (uint32_t i = 0; i < channel->live; i++)
        say(&to, "    h%u [label=\"%s\"];\n", i, channel->places[i].name);
    for (uint32_t i = 0; i + 1 < channel->live; i++) {
        say_edge(&to, i, i + 1, i == 0 ? leat_only_bytebuf : channel->places[i].ctx->handler->fires);
        say_edge(&to, i + 1, i, channel->places[i + 1].ctx->handler->writes);
    }
    say(&to, "}\n");
    return to.length;
}
