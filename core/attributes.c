/** What users keep with a channel, and what they can ask about its handlers. */
#include "core/channel_internal.h"

#include <string.h>

static channel_attribute *find_attribute(const leat_channel *channel, const leat_key *key) {
    channel_attribute *attribute = channel->extras ? channel->extras->attributes : NULL;
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
        channel_extras *extras = leat_channel_extras(channel);
        attribute = extras ? leat_alloc_take(channel->loop->internal_alloc, sizeof *attribute, NULL) : NULL;
        if (!attribute) {
            release_value(key, value);
            return LEAT_ENOMEM;
        }
        *attribute = (channel_attribute){.next = extras->attributes, .key = key};
        extras->attributes = attribute;
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
    if (!channel->extras)
        return;
    for (channel_attribute *attribute = channel->extras->attributes, *next; attribute; attribute = next) {
        next = attribute->next;
        release_value(attribute->key, attribute->value);
        leat_alloc_give(channel->loop->internal_alloc, attribute, sizeof *attribute);
    }
    channel->extras->attributes = NULL;
}

static own_block *own_block_of(const leat_ctx *ctx) {
    return (own_block *)(void *)(uintptr_t)ctx - 1;
}

static bool is_end(const leat_ctx *ctx) {
    return ctx == head_of(ctx->channel) || ctx == tail_of(ctx->channel);
}

/* Which stage of the pipeline the handler was: the one that stands where the context does, mostly its position. */
static size_t stage_index(const leat_ctx *ctx) {
    const leat_pipeline *pipeline = ctx->channel->pipeline;
    size_t offset = (size_t)((const uint8_t *)ctx - (const uint8_t *)ctx->channel);
    size_t index = ctx->position - 1u;
    if (index < pipeline->count && pipeline->stages[index].offset == offset)
        return index;
    index = 0;
    while (pipeline->stages[index].offset != offset)
        index++;
    return index;
}

const char *leat_ctx_name(const leat_ctx *ctx) {
    if (is_end(ctx))
        return ctx->handler->name;
    if (ctx->flags & CTX_OWN_BLOCK)
        return own_block_of(ctx)->name;
    return ctx->channel->pipeline->stages[stage_index(ctx)].name;
}

leat_handler_counts *leat_ctx_counts(const leat_ctx *ctx) {
    if (!options_of(ctx->channel)->count_handlers || is_end(ctx))
        return NULL;
    if (ctx->flags & CTX_OWN_BLOCK)
        return &own_block_of(ctx)->counts;
    return &ctx->channel->extras->counts[stage_index(ctx)];
}

static leat_ctx *find(const leat_channel *channel, const char *name) {
    for (uint32_t i = 1; i + 1 < channel->live; i++)
        if (strcmp(leat_ctx_name(channel->places[i]), name) == 0)
            return channel->places[i];
    return NULL;
}

leat_ctx *leat_channel_find(leat_channel *channel, const char *name) {
    return find(channel, name);
}

bool leat_channel_counts(const leat_channel *channel, const char *name, leat_handler_counts *counts) {
    const leat_ctx *ctx = find(channel, name);
    if (!ctx || !leat_ctx_counts(ctx))
        return false;
    *counts = *leat_ctx_counts(ctx);
    return true;
}
