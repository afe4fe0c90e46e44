/** Birth and death of a channel: its block, what it shares with others, how it begins and how it ends. */
#include "core/channel_internal.h"
#include "core/probe_internal.h"

static uint64_t or_default(uint64_t value, uint64_t standard) {
    return value ? value : standard;
}

static leat_channel_options with_defaults(const leat_channel_options *given) {
    leat_channel_options options = given ? *given : (leat_channel_options){0};
    options.write_high = or_default(options.write_high, 64 * 1024);
    options.write_low = or_default(options.write_low, options.write_high / 2);
    options.write_limit = or_default(options.write_limit, 16 * 1024 * 1024);
    options.read_high = or_default(options.read_high, 256 * 1024);
    options.read_low = or_default(options.read_low, options.read_high / 4);
    options.close_timeout_ms = or_default(options.close_timeout_ms, 5000);
    return options;
}

static bool same_options(const leat_channel_options *a, const leat_channel_options *b) {
    return a->write_low == b->write_low && a->write_high == b->write_high && a->write_limit == b->write_limit &&
           a->read_low == b->read_low && a->read_high == b->read_high && a->close_timeout_ms == b->close_timeout_ms &&
           a->count_handlers == b->count_handlers && a->manual_read == b->manual_read;
}

static void release_settings(leat_loop *loop, channel_settings *settings) {
    if (settings && --settings->refs == 0)
        leat_alloc_give(loop->internal_alloc, settings, sizeof *settings);
}

void leat_channel_forget_settings(leat_loop *loop) {
    release_settings(loop, loop->settings);
    loop->settings = NULL;
}

/* The settings of the channel made last are mostly the ones that are wanted again. */
static channel_settings *settings_for(leat_loop *loop, const leat_channel_options *options) {
    if (!loop->settings || !same_options(&loop->settings->options, options)) {
        channel_settings *settings = leat_alloc_take(loop->internal_alloc, sizeof *settings, NULL);
        if (!settings)
            return NULL;
        *settings = (channel_settings){.refs = 1, .options = *options};
        leat_channel_forget_settings(loop);
        loop->settings = settings;
    }
    loop->settings->refs++;
    return loop->settings;
}

static void close_timed_out(leat_timer *timer) {
    channel_extras *extras = (channel_extras *)(void *)((char *)timer - offsetof(channel_extras, close_timer));
    leat_channel_abort(extras->channel, LEAT_ETIMEDOUT);
}

channel_extras *leat_channel_extras(leat_channel *channel) {
    if (channel->extras)
        return channel->extras;
    channel_extras *extras = leat_alloc_take(channel->loop->internal_alloc, sizeof *extras, NULL);
    if (extras)
        *extras = (channel_extras){.close_timer.fn = close_timed_out, .channel = channel};
    return channel->extras = extras;
}

static void place(leat_channel *channel, uint32_t at, leat_ctx *ctx, const leat_handler *handler) {
    leat_ctx_init(ctx, channel, handler);
    channel->places[at] = ctx;
}

/* The ends are there from the beginning; a handler sees nothing before it was added. */
static void place_all(leat_channel *channel, const leat_pipeline *pipeline) {
    uint32_t count = (uint32_t)pipeline->count;
    uint8_t *base = (uint8_t *)channel;
    channel->places = (leat_ctx **)(void *)(base + pipeline->places);
    channel->live = channel->room = (uint16_t)(count + 2);
    place(channel, 0, head_of(channel), &leat_head_handler);
    for (uint32_t i = 0; i < count; i++)
        place(channel, i + 1, (leat_ctx *)(void *)(base + pipeline->stages[i].offset), pipeline->stages[i].handler);
    place(channel, count + 1, tail_of(channel), &leat_tail_handler);
    head_of(channel)->flags = tail_of(channel)->flags = CTX_ENTERED;
    leat_channel_resolve(channel);
}

static size_t size_of_counts(const leat_channel *channel) {
    return (channel->pipeline->count + 1) * sizeof(leat_handler_counts);
}

static bool make_counts(leat_channel *channel) {
    channel_extras *extras = leat_channel_extras(channel);
    if (extras)
        extras->counts = leat_alloc_take_zeroed(channel->loop->internal_alloc, size_of_counts(channel));
    return extras && extras->counts;
}

static void free_extras(leat_channel *channel) {
    leat_alloc *alloc = channel->loop->internal_alloc;
    if (!channel->extras)
        return;
    leat_channel_release_attributes(channel);
    leat_alloc_give(alloc, channel->extras->counts, size_of_counts(channel));
    leat_alloc_give(alloc, channel->extras, sizeof *channel->extras);
}

static void free_memory(leat_channel *channel) {
    leat_alloc *alloc = channel->loop->internal_alloc;
    leat_pipeline *pipeline = channel->pipeline;
    free_extras(channel);
    leat_outbound_clean_up(channel);
    if (channel_has(channel, CHANNEL_PLACED))
        leat_alloc_give(alloc, channel->places, channel->room * sizeof *channel->places);
    release_settings(channel->loop, channel->settings);
    leat_alloc_give(alloc, channel, pipeline->block_size);
    leat_pipeline_release(pipeline);
}

static leat_channel *lay_out(leat_loop *loop, leat_pipeline *pipeline, const leat_channel_options *options) {
    channel_settings *settings = settings_for(loop, options);
    leat_channel *channel = settings ? leat_alloc_take_zeroed(loop->internal_alloc, pipeline->block_size) : NULL;
    if (!channel) {
        release_settings(loop, settings);
        return NULL;
    }
    channel->loop = loop;
    channel->settings = settings;
    channel->pipeline = leat_pipeline_retain(pipeline);
    place_all(channel, pipeline);
    if (!options_of(channel)->count_handlers || make_counts(channel))
        return channel;
    free_memory(channel);
    return NULL;
}

static void link_to_loop(leat_channel *channel) {
    leat_loop *loop = channel->loop;
    channel->next = loop->all;
    if (loop->all)
        loop->all->previous = channel;
    loop->all = channel;
    loop->stats.channels++;
}

static void unlink_from_loop(leat_channel *channel) {
    leat_loop *loop = channel->loop;
    if (channel->next)
        channel->next->previous = channel->previous;
    if (channel->previous)
        channel->previous->next = channel->next;
    else
        loop->all = channel->next;
    loop->stats.channels--;
}

/* Each `added` in order; the first that refuses ends the channel. */
static int enter_all(leat_channel *channel) {
    leat_pipeline *pipeline = channel->pipeline;
    uint8_t *base = (uint8_t *)channel;
    for (size_t i = 0; i < pipeline->count; i++) {
        const pipeline_stage *stage = &pipeline->stages[i];
        leat_ctx *ctx = (leat_ctx *)(void *)(base + stage->offset);
        if (ctx->flags & CTX_REMOVED)
            continue;
        int code = leat_ctx_enter(ctx, stage->config);
        if (code != LEAT_OK)
            return code;
    }
    return LEAT_OK;
}

/* A handler may close or fail in `added`: then the channel ends before it ever sees its transport. */
static int begin(leat_channel *channel) {
    leat_loop *loop = channel->loop;
    leat_channel_retain(channel);
    leat_loop_enter(loop);
    int code = enter_all(channel);
    if (code != LEAT_OK)
        leat_channel_end(channel);
    leat_loop_leave(loop);
    if (code == LEAT_OK && channel_has(channel, CHANNEL_ENDED))
        code = channel->error ? channel->error : LEAT_ECLOSED;
    leat_channel_release(channel);
    return code;
}

int leat_channel_new(leat_loop *loop, leat_pipeline *pipeline, leat_transport *transport,
                     const leat_channel_options *options, leat_channel **created) {
    leat_assert_thread(loop);
    *created = NULL;
    if (loop->ending)
        return LEAT_ECLOSED;
    leat_channel_options wanted = with_defaults(options);
    if (wanted.write_low > wanted.write_high || wanted.read_low > wanted.read_high)
        return LEAT_EINVAL;
    leat_channel *channel = lay_out(loop, pipeline, &wanted);
    if (!channel)
        return LEAT_ENOMEM;
    channel->demand = options_of(channel)->manual_read ? 0 : UINT64_MAX;
    link_to_loop(channel);
    LEAT_PROBE(channel_new, channel, pipeline->count);
    int code = begin(channel);
    if (code != LEAT_OK)
        return code;
    channel->transport = transport;
    transport->channel = channel;
    *created = channel;
    return LEAT_OK;
}

void leat_channel_end(leat_channel *channel) {
    if (channel_has(channel, CHANNEL_ENDED))
        return;
    LEAT_PROBE(channel_end, channel, channel->error);
    bool was_active = channel_has(channel, CHANNEL_ACTIVE);
    bool reset = channel_has(channel, CHANNEL_ABORTED);
    channel->flags |= CHANNEL_ABORTED | CHANNEL_ENDED;
    channel->flags &= ~(uint32_t)CHANNEL_ACTIVE;
    if (channel->extras)
        leat_timer_stop(channel->loop, &channel->extras->close_timer);
    leat_outbound_fail(channel, channel->end_code ? channel->end_code : LEAT_ECLOSED);
    leat_transport *transport = channel->transport;
    channel->transport = NULL;
    if (transport)
        transport->ops->close(transport, reset);
    leat_channel_leave_groups(channel);
    leat_channel_detach_ref(channel);
    leat_channel_run_completions(channel);
    if (was_active)
        leat_ctx_fire_inactive(head_of(channel));
    leat_channel_remove_all(channel);
    unlink_from_loop(channel);
    leat_channel_mark(channel, WORK_FREE);
}

void leat_channel_free_if_done(leat_channel *channel) {
    if (!channel_has(channel, CHANNEL_ENDED) || channel_has(channel, CHANNEL_QUEUED))
        return;
    if (channel->refs > 0 || channel->removed > 0 || channel->completed)
        return;
    free_memory(channel);
}

leat_channel *leat_channel_retain(leat_channel *channel) {
    leat_assert_thread(channel->loop);
    channel->refs++;
    return channel;
}

void leat_channel_release(leat_channel *channel) {
    if (!channel)
        return;
    leat_loop *loop = channel->loop;
    leat_assert_thread(loop);
    assert(channel->refs > 0);
    if (--channel->refs > 0 || !channel_has(channel, CHANNEL_ENDED))
        return;
    leat_loop_enter(loop);
    leat_channel_mark(channel, WORK_FREE);
    leat_loop_leave(loop);
}
