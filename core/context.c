/** Contexts: how events go on from a handler's place. */
#include "core/channel_internal.h"

/* The place of the next live handler towards the application; a removed one stands just before its follower. */
static leat_ctx *const *place_after(const leat_ctx *ctx) {
    return &ctx->channel->places[ctx->position + ((ctx->flags & CTX_REMOVED) ? 0 : 1)];
}

/* Runs an inbound entry at the next handler that has it and was added; the tail has every one. Who acts is of interest
   to a ledger only: without one the call is the last thing, and a jump. */
#define FIRE(ctx, entry, ...)                                                                                          \
    do {                                                                                                               \
        leat_ctx *const *place = place_after(ctx);                                                                     \
        while (!(*place)->handler->entry || !((*place)->flags & CTX_ENTERED))                                          \
            place++;                                                                                                   \
        RUN(*place, entry, __VA_ARGS__);                                                                               \
    } while (0)

/* The same towards the transport; the head has every outbound entry. */
#define PASS_OUT(ctx, entry)                                                                                           \
    do {                                                                                                               \
        leat_ctx *const *place = &(ctx)->channel->places[(ctx)->position] - 1;                                         \
        while (!(*place)->handler->entry || !((*place)->flags & CTX_ENTERED))                                          \
            place--;                                                                                                   \
        RUN(*place, entry, next);                                                                                      \
    } while (0)

#define RUN(ctx, entry, ...)                                                                                           \
    do {                                                                                                               \
        leat_ctx *next = (ctx);                                                                                        \
        leat_loop *loop = next->channel->loop;                                                                         \
        if (!loop->tracker) {                                                                                          \
            next->handler->entry(__VA_ARGS__);                                                                         \
            return;                                                                                                    \
        }                                                                                                              \
        const char *before = leat_loop_act(loop, next->handler->name);                                                 \
        next->handler->entry(__VA_ARGS__);                                                                             \
        leat_loop_act(loop, before);                                                                                   \
    } while (0)

void leat_ctx_fire_active(leat_ctx *ctx) {
    FIRE(ctx, active, next);
}

static __attribute__((noinline)) void tell_read_done(leat_ctx *ctx) {
    FIRE(ctx, read_done, next);
}

/* Comes in every turn: apart from what a ledger needs it is a walk and a jump. */
void leat_ctx_fire_read_done(leat_ctx *ctx) {
    if (ctx->channel->loop->tracker) {
        tell_read_done(ctx);
        return;
    }
    leat_ctx *const *place = place_after(ctx);
    while (!(*place)->handler->read_done || !((*place)->flags & CTX_ENTERED))
        place++;
    (*place)->handler->read_done(*place);
}

void leat_ctx_fire_eof(leat_ctx *ctx) {
    FIRE(ctx, eof, next);
}

void leat_ctx_fire_inactive(leat_ctx *ctx) {
    FIRE(ctx, inactive, next);
}

void leat_ctx_fire_writable(leat_ctx *ctx) {
    FIRE(ctx, writable, next);
}

void leat_ctx_fire_error(leat_ctx *ctx, int code) {
    FIRE(ctx, error, next, code);
}

void leat_ctx_fire_event(leat_ctx *ctx, leat_msg event) {
    FIRE(ctx, event, next, event);
}

void leat_ctx_flush(leat_ctx *ctx) {
    PASS_OUT(ctx, flush);
}

void leat_ctx_close(leat_ctx *ctx) {
    leat_channel_begin_close(ctx->channel);
    PASS_OUT(ctx, close);
}

void leat_complain(leat_loop *loop, const char *handler, const char *what, const char *name) {
    if (loop->tracker)
        leat_tracking_alloc_complain(loop->tracker, "%s %s%s", handler, what, name);
    assert(loop->tracker && "a handler broke a rule: its test with an embedded channel says which");
}

/* A message that a handler's contract does not name goes no further, and becomes an error. */
static bool check_contract(leat_ctx *ctx, leat_msg msg, const leat_type *const *types, const char *what) {
    if (leat_types_accept(types, msg.type))
        return true;
    leat_complain(ctx->channel->loop, ctx->handler->name, what, msg.type ? msg.type->name : "message without type");
    leat_ctx_fail(ctx, LEAT_ETYPE);
    return false;
}

/* With hand_over, who passed a buffer on is left with a dead handle, so that the ledger sees its use. */
static leat_msg hand_over(const leat_loop *loop, leat_msg msg) {
    leat_bytebuf *buf = leat_msg_bytebuf(msg);
    if (!buf)
        return msg;
    leat_bytebuf_touch(buf);
    if (!loop->hand_over || __atomic_load_n(&buf->refs, __ATOMIC_ACQUIRE) != 1)
        return msg;
    leat_bytebuf *fresh = leat_bytebuf_split(buf, leat_bytebuf_readable(buf));
    if (!fresh)
        return msg;
    leat_bytebuf_release(buf);
    return leat_msg_of_bytebuf(fresh);
}

/* In debug builds and with a ledger, every hop checks the contract, says who acts and marks the buffer as having come
 * by. */
static void checked_read(leat_ctx *ctx, leat_msg msg) {
    leat_loop *loop = ctx->channel->loop;
    const char *before = leat_loop_act(loop, ctx->handler->name);
    leat_handler_counts *counts = leat_ctx_counts(ctx);
    if (counts)
        counts->reads++;
    if (check_contract(ctx, msg, ctx->handler->reads, "was given what it does not read: a "))
        ctx->handler->read(ctx, hand_over(loop, msg));
    else
        leat_msg_release(msg);
    leat_loop_act(loop, before);
}

static void checked_write(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    leat_loop *loop = ctx->channel->loop;
    const char *before = leat_loop_act(loop, ctx->handler->name);
    leat_handler_counts *counts = leat_ctx_counts(ctx);
    if (counts)
        counts->writes++;
    if (check_contract(ctx, msg, ctx->handler->takes, "was given what it does not take: a "))
        ctx->handler->write(ctx, hand_over(loop, msg), done);
    else
        leat_ctx_refuse(ctx, msg, done, LEAT_ETYPE);
    leat_loop_act(loop, before);
}

static bool checks_hops(const leat_channel *channel) {
#ifdef NDEBUG
    return channel->loop->tracker || options_of(channel)->count_handlers;
#else
    (void)channel;
    return true;
#endif
}

void leat_ctx_init(leat_ctx *ctx, leat_channel *channel, const leat_handler *handler) {
    bool checked = checks_hops(channel);
    ctx->handler = handler;
    ctx->channel = channel;
    ctx->read = checked && handler->read ? checked_read : handler->read;
    ctx->write = checked && handler->write ? checked_write : handler->write;
}

int leat_ctx_enter(leat_ctx *ctx, const void *config) {
    leat_loop *loop = ctx->channel->loop;
    const char *before = leat_loop_act(loop, ctx->handler->name);
    ctx->flags |= CTX_ENTERED;
    leat_channel_resolve(ctx->channel);
    int code = ctx->handler->added ? ctx->handler->added(ctx, config) : LEAT_OK;
    if (code != LEAT_OK)
        ctx->flags &= (uint16_t)~CTX_ENTERED;
    leat_loop_act(loop, before);
    return code;
}

void leat_ctx_wake(leat_ctx *ctx) {
    leat_assert_thread(ctx->channel->loop);
    ctx->flags |= CTX_WAKE;
    leat_channel_mark(ctx->channel, WORK_WAKE);
}

void leat_ctx_fail(leat_ctx *ctx, int code) {
    if (ctx->flags & CTX_FAILED)
        return;
    ctx->failure = (int16_t)(code < INT16_MIN || code >= 0 ? LEAT_EINVAL : code);
    ctx->flags |= CTX_FAILED;
    leat_channel_mark(ctx->channel, WORK_WAKE);
}

static uint32_t add_saturating(uint32_t sum, uint64_t bytes) {
    return bytes > UINT32_MAX - sum ? UINT32_MAX : sum + (uint32_t)bytes;
}

void leat_ctx_hold(leat_ctx *ctx, uint64_t bytes) {
    leat_channel *channel = ctx->channel;
    uint32_t held = add_saturating(ctx->held, bytes);
    channel->held += held - ctx->held;
    ctx->held = held;
    if (channel_has(channel, CHANNEL_PAUSED) || channel->held <= options_of(channel)->read_high)
        return;
    channel->flags |= CHANNEL_PAUSED;
    leat_channel_mark(channel, WORK_INTEREST);
}

void leat_ctx_unhold(leat_ctx *ctx, uint64_t bytes) {
    leat_channel *channel = ctx->channel;
    assert(bytes <= ctx->held);
    uint32_t less = bytes > ctx->held ? ctx->held : (uint32_t)bytes;
    ctx->held -= less;
    channel->held -= less;
    if (!channel_has(channel, CHANNEL_PAUSED) || channel->held >= options_of(channel)->read_low)
        return;
    channel->flags &= ~(uint32_t)CHANNEL_PAUSED;
    leat_channel_mark(channel, WORK_INTEREST);
}

void leat_ctx_pause_reading(leat_ctx *ctx) {
    ctx->flags |= CTX_PAUSES;
    ctx->channel->flags |= CHANNEL_HELD_UP;
    leat_channel_mark(ctx->channel, WORK_INTEREST);
}

void leat_ctx_resume_reading(leat_ctx *ctx) {
    leat_channel *channel = ctx->channel;
    ctx->flags &= (uint16_t)~CTX_PAUSES;
    for (uint32_t i = 0; i < channel->live; i++)
        if (channel->places[i]->flags & CTX_PAUSES)
            return;
    channel->flags &= ~(uint32_t)CHANNEL_HELD_UP;
    leat_channel_mark(channel, WORK_INTEREST);
}

void leat_ctx_hold_out(leat_ctx *ctx, uint64_t bytes) {
    uint32_t held = add_saturating(ctx->held_out, bytes);
    ctx->channel->held_out += held - ctx->held_out;
    ctx->held_out = held;
    leat_channel_mark(ctx->channel, WORK_FLUSH);
    leat_channel_update_writable(ctx->channel);
}

void leat_ctx_unhold_out(leat_ctx *ctx, uint64_t bytes) {
    assert(bytes <= ctx->held_out);
    uint32_t less = bytes > ctx->held_out ? ctx->held_out : (uint32_t)bytes;
    ctx->held_out -= less;
    ctx->channel->held_out -= less;
    leat_channel_update_writable(ctx->channel);
}

uint64_t leat_ctx_demand(const leat_ctx *ctx) {
    return ctx->channel->demand;
}

bool leat_ctx_wants_more(const leat_ctx *ctx) {
    return ctx->channel->demand > 0 && !(ctx->flags & CTX_REMOVED) && leat_channel_is_readable(ctx->channel);
}

void leat_ctx_spend(leat_ctx *ctx) {
    leat_channel *channel = ctx->channel;
    if (!(ctx->flags & CTX_INNERMOST) || channel->demand == UINT64_MAX || channel->demand == 0)
        return;
    channel->demand--;
    if (channel->demand == 0)
        leat_channel_mark(channel, WORK_INTEREST);
}

void leat_ctx_complete(leat_ctx *ctx, leat_done *done, int status) {
    leat_channel_complete(ctx->channel, done, status);
}

void leat_ctx_complete_list(leat_ctx *ctx, leat_done_list *list, int status) {
    for (leat_done *done = leat_done_list_take(list); done; done = leat_done_list_take(list))
        leat_channel_complete(ctx->channel, done, status);
}

void leat_ctx_refuse(leat_ctx *ctx, leat_msg msg, leat_done *done, int status) {
    leat_msg_release(msg);
    leat_channel_complete(ctx->channel, done, status);
}

void leat_ctx_pin(leat_ctx *ctx, leat_done *done) {
    uintptr_t from = (uintptr_t)ctx, at = (uintptr_t)done;
    if (at < from || at - from >= sizeof(leat_ctx) + ctx->handler->state_size || done->home)
        return;
    done->home = ctx;
    ctx->pins++;
}

void leat_ctx_write_copy(leat_ctx *ctx, const void *bytes, size_t length, leat_done *done) {
    if (done)
        leat_ctx_pin(ctx, done);
    leat_channel *channel = ctx->channel;
    leat_ctx *next = ctx->next_write;
    if (next == head_of(channel)) {
        leat_outbound_add_copy(channel, bytes, length, done);
        return;
    }
    leat_bytebuf *copy = leat_bytebuf_from_bytes(leat_channel_alloc(channel), bytes, length);
    if (copy) {
        next->write(next, leat_msg_of_bytebuf(copy), done);
        return;
    }
    leat_channel_complete(channel, done, LEAT_ENOMEM);
    leat_channel_abort(channel, LEAT_ENOMEM);
}

bool leat_ctx_is_removed(const leat_ctx *ctx) {
    return (ctx->flags & CTX_REMOVED) != 0;
}
