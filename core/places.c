/** Places: which handlers a channel has, in which order, and how that changes while it runs. */
#include "core/channel_internal.h"

#include <string.h>

static void resolve_reads(leat_channel *channel) {
    leat_ctx *next = tail_of(channel);
    leat_ctx *innermost = NULL;
    for (uint32_t i = channel->live - 1; i-- > 0;) {
        leat_ctx *ctx = channel->places[i];
        ctx->next_read = next;
        ctx->flags &= (uint16_t)~CTX_INNERMOST;
        if (!(ctx->flags & CTX_ENTERED))
            continue;
        if (ctx->handler->read)
            next = ctx;
        if (ctx->handler->decodes && !innermost)
            innermost = ctx;
    }
    if (innermost)
        innermost->flags |= CTX_INNERMOST;
    channel->flags = innermost ? channel->flags & ~(uint32_t)CHANNEL_COUNTS : channel->flags | CHANNEL_COUNTS;
}

static void resolve_writes(leat_channel *channel) {
    leat_ctx *next = head_of(channel);
    for (uint32_t i = 1; i < channel->live; i++) {
        leat_ctx *ctx = channel->places[i];
        ctx->next_write = next;
        if (ctx->handler->write && (ctx->flags & CTX_ENTERED))
            next = ctx;
    }
}

/* A removed handler may still pass on: from the gap where it stood. */
static void resolve_removed(leat_channel *channel) {
    for (uint32_t i = 0; i < channel->removed; i++) {
        leat_ctx *ctx = channel->places[channel->live + i];
        leat_ctx *const *up = &channel->places[ctx->position];
        while (!(*up)->handler->read || !((*up)->flags & CTX_ENTERED))
            up++;
        leat_ctx *const *down = &channel->places[ctx->position - 1];
        while (!(*down)->handler->write || !((*down)->flags & CTX_ENTERED))
            down--;
        ctx->next_read = *up;
        ctx->next_write = *down;
    }
}

void leat_channel_resolve(leat_channel *channel) {
    for (uint32_t i = 0; i < channel->live; i++)
        channel->places[i]->position = (uint16_t)i;
    resolve_reads(channel);
    resolve_writes(channel);
    resolve_removed(channel);
}

/* Moves the gaps of removed handlers when a place at `at` opened (+1) or closed (-1). */
static void shift_removed(leat_channel *channel, uint32_t at, int by) {
    for (uint32_t i = 0; i < channel->removed; i++) {
        leat_ctx *ctx = channel->places[channel->live + i];
        if (ctx->position > at)
            ctx->position = (uint16_t)(ctx->position + by);
    }
}

static int make_room(leat_channel *channel) {
    uint32_t used = (uint32_t)channel->live + channel->removed;
    if (used < channel->room)
        return LEAT_OK;
    if (used > 2 * MAX_STAGES)
        return LEAT_ELIMIT;
    uint32_t room = channel->room * 2u + 4;
    leat_ctx **places = leat_alloc_take(channel->loop->internal_alloc, room * sizeof *places, NULL);
    if (!places)
        return LEAT_ENOMEM;
    memcpy(places, channel->places, used * sizeof *places);
    if (channel_has(channel, CHANNEL_PLACED))
        leat_alloc_give(channel->loop->internal_alloc, channel->places, channel->room * sizeof *places);
    channel->places = places;
    channel->room = (uint16_t)room;
    channel->flags |= CHANNEL_PLACED;
    return LEAT_OK;
}

static void open_place(leat_channel *channel, uint32_t at, leat_ctx *ctx) {
    leat_ctx **places = channel->places;
    shift_removed(channel, at, 1);
    memmove(&places[at + 1], &places[at], ((uint32_t)channel->live + channel->removed - at) * sizeof *places);
    places[at] = ctx;
    channel->live++;
    leat_channel_resolve(channel);
}

/* Takes the place away; the context goes behind the live ones until its state may be freed. */
static void close_place(leat_channel *channel, leat_ctx *ctx) {
    leat_ctx **places = channel->places;
    uint32_t at = ctx->position, last = (uint32_t)channel->live + channel->removed - 1;
    memmove(&places[at], &places[at + 1], (last - at) * sizeof *places);
    places[last] = ctx;
    channel->live--;
    shift_removed(channel, at, -1);
    channel->removed++;
    ctx->flags |= CTX_REMOVED;
    leat_channel_resolve(channel);
}

/* What a removed handler forgot to let go of does not stay counted, and the test kit says so. */
static void settle(leat_ctx *ctx) {
    if (ctx->held > 0 || ctx->held_out > 0) {
        leat_complain(ctx->channel->loop, ctx->handler->name, "was removed while it held bytes", "");
        leat_ctx_unhold(ctx, ctx->held);
        leat_ctx_unhold_out(ctx, ctx->held_out);
    }
    if (ctx->flags & CTX_PAUSES) {
        leat_complain(ctx->channel->loop, ctx->handler->name, "was removed while it had paused reading", "");
        leat_ctx_resume_reading(ctx);
    }
}

void leat_ctx_remove(leat_ctx *ctx) {
    leat_channel *channel = ctx->channel;
    leat_assert_thread(channel->loop);
    if ((ctx->flags & CTX_REMOVED) || ctx == head_of(channel) || ctx == tail_of(channel))
        return;
    close_place(channel, ctx);
    const char *before = leat_loop_act(channel->loop, ctx->handler->name);
    if ((ctx->flags & CTX_ENTERED) && ctx->handler->removed)
        ctx->handler->removed(ctx);
    leat_loop_act(channel->loop, before);
    leat_channel_mark(channel, WORK_FREE);
}

void leat_channel_remove_all(leat_channel *channel) {
    while (channel->live > 2)
        leat_ctx_remove(channel->places[channel->live - 2]);
}

static void free_own_block(leat_ctx *ctx) {
    if (!(ctx->flags & CTX_OWN_BLOCK))
        return;
    own_block own = ((own_block *)(void *)ctx)[-1];
    leat_alloc_give(ctx->channel->loop->internal_alloc, own.block, own.size);
}

void leat_channel_reap(leat_channel *channel) {
    uint16_t kept = 0;
    leat_ctx **removed = &channel->places[channel->live];
    for (uint32_t i = 0; i < channel->removed; i++) {
        if (removed[i]->pins > 0 || (removed[i]->flags & CTX_FAILED)) {
            removed[kept++] = removed[i];
        } else {
            settle(removed[i]);
            free_own_block(removed[i]);
        }
    }
    channel->removed = kept;
}

/* One block: own_block, context, state, copy of the config. */
static leat_ctx *new_own_ctx(leat_channel *channel, const leat_stage *stage, const void **config) {
    const leat_handler *handler = stage->handler;
    size_t body = align_ctx(sizeof(leat_ctx) + handler->state_size), front = align_ctx(sizeof(own_block));
    size_t size = front + body + (stage->config ? handler->config_size : 0);
    uint8_t *block = leat_alloc_take_zeroed(channel->loop->internal_alloc, size);
    if (!block)
        return NULL;
    uint8_t *place = block + front;
    leat_ctx *ctx = (leat_ctx *)(void *)place;
    const char *name = stage->name ? stage->name : handler->name;
    ((own_block *)(void *)ctx)[-1] = (own_block){.block = block, .size = size, .name = name};
    leat_ctx_init(ctx, channel, handler);
    ctx->flags = CTX_OWN_BLOCK;
    *config = stage->config ? memcpy(place + body, stage->config, handler->config_size) : NULL;
    return ctx;
}

/* The handlers as they are going to be: with a new one at a place, behind or instead of the one that is there. */
typedef struct planned_edit {
    const leat_channel *channel;
    const leat_handler *handler;
    uint32_t at;
    bool replaces;
} planned_edit;

static const leat_handler *handler_after_edit(const void *of, size_t index) {
    const planned_edit *edit = of;
    size_t at = index + 1; /* behind the transport's end */
    if (at == edit->at)
        return edit->handler;
    return edit->channel->places[at > edit->at && !edit->replaces ? at - 1 : at]->handler;
}

static int check_edit(const planned_edit *edit, const leat_stage *stage) {
    if (channel_has(edit->channel, CHANNEL_ENDED))
        return LEAT_ECLOSED;
    int code = leat_stage_check(stage, NULL);
    if (code != LEAT_OK)
        return code;
    const handler_row row = {.at = handler_after_edit,
                             .of = edit,
                             .count = edit->channel->live - 2u + (edit->replaces ? 0 : 1),
                             .about = edit->at - 1,
                             .replaced = edit->replaces};
    return leat_contracts_check(&row, NULL);
}

static int add_at(leat_channel *channel, uint32_t at, const leat_stage *stage, leat_ctx **added) {
    int code = make_room(channel);
    if (code != LEAT_OK)
        return code;
    const void *config = NULL;
    leat_ctx *ctx = new_own_ctx(channel, stage, &config);
    if (!ctx)
        return LEAT_ENOMEM;
    open_place(channel, at, ctx);
    code = leat_ctx_enter(ctx, config);
    if (code != LEAT_OK)
        leat_ctx_remove(ctx);
    if (code == LEAT_OK && added)
        *added = ctx;
    return code;
}

static int check_and_add(leat_channel *channel, uint32_t at, const leat_stage *stage, leat_ctx **added) {
    const planned_edit edit = {.channel = channel, .handler = stage->handler, .at = at};
    int code = check_edit(&edit, stage);
    return code == LEAT_OK ? add_at(channel, at, stage, added) : code;
}

/* Somebody who is in the channel, and not behind its end. */
static bool is_placed(const leat_channel *channel, const leat_ctx *ctx) {
    return ctx->channel == channel && !(ctx->flags & CTX_REMOVED) && ctx != tail_of(channel);
}

int leat_channel_add_after(leat_channel *channel, leat_ctx *after, const leat_stage *stage, leat_ctx **added) {
    leat_assert_thread(channel->loop);
    if (after && !is_placed(channel, after))
        return LEAT_EINVAL;
    return check_and_add(channel, after ? after->position + 1u : 1u, stage, added);
}

int leat_channel_add_last(leat_channel *channel, const leat_stage *stage, leat_ctx **added) {
    leat_assert_thread(channel->loop);
    return check_and_add(channel, channel->live - 1u, stage, added);
}

int leat_channel_replace(leat_channel *channel, leat_ctx *old, const leat_stage *stage, leat_ctx **added) {
    leat_assert_thread(channel->loop);
    if (!is_placed(channel, old) || old == head_of(channel))
        return LEAT_EINVAL;
    const planned_edit edit = {.channel = channel, .handler = stage->handler, .at = old->position, .replaces = true};
    int code = check_edit(&edit, stage);
    if (code == LEAT_OK)
        code = add_at(channel, old->position + 1u, stage, added);
    if (code == LEAT_OK)
        leat_ctx_remove(old);
    return code;
}
