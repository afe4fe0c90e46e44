#include "core/channel_internal.h"

#include <stdio.h>
#include <string.h>

int leat_stage_check(const leat_stage *stage, leat_problem *problem) {
    const leat_handler *handler = stage->handler;
    if (!handler->name)
        return leat_problem_set(problem, LEAT_EINVAL, "a handler has no name");
    if (handler->state_size > MAX_STATE_SIZE)
        return leat_problem_set(problem, LEAT_EINVAL, "%s: a state of %zu bytes is over %d", handler->name,
                                handler->state_size, MAX_STATE_SIZE);
    if (stage->config && handler->config_size == 0)
        return leat_problem_set(problem, LEAT_EINVAL, "%s: takes no config", handler->name);
    return handler->check ? handler->check(stage->config, problem) : LEAT_OK;
}

/* The first type that flows but is not accepted, or NULL. */
static const leat_type *misfit(const leat_type *const *flow, const leat_type *const *accepted) {
    for (; *flow; flow++)
        if (!leat_types_accept(accepted, *flow))
            return *flow;
    return NULL;
}

static int refuse_types(const char *from, const char *verb, const leat_type *type, const char *to, const char *other,
                        leat_problem *problem) {
    return leat_problem_set(problem, LEAT_ETYPE, "%s %s a %s, which %s does not %s", from, verb, type->name, to, other);
}

static int check_inbound(const leat_stage *stages, size_t count, leat_problem *problem) {
    const leat_type *const *flow = leat_only_bytebuf;
    const char *from = "the transport";
    for (size_t i = 0; i < count; i++) {
        const leat_handler *handler = stages[i].handler;
        const leat_type *bad = flow && handler->reads && handler->read ? misfit(flow, handler->reads) : NULL;
        if (bad)
            return refuse_types(from, "fires", bad, handler->name, "read", problem);
        if (!handler->fires)
            continue;
        flow = handler->fires;
        from = handler->name;
    }
    return LEAT_OK;
}

/* What a handler writes goes to the next one towards the transport that takes writes, or to the transport itself. */
static int check_outbound(const leat_stage *stages, size_t count, leat_problem *problem) {
    const leat_type *const *takes = leat_only_bytebuf;
    const char *to = "the transport";
    for (size_t i = 0; i < count; i++) {
        const leat_handler *handler = stages[i].handler;
        const leat_type *bad = takes && handler->writes ? misfit(handler->writes, takes) : NULL;
        if (bad)
            return refuse_types(handler->name, "writes", bad, to, "take", problem);
        if (!handler->write)
            continue;
        takes = handler->takes;
        to = handler->name;
    }
    return LEAT_OK;
}

static int check_stages(const leat_stage *stages, size_t count, leat_problem *problem) {
    if (count > MAX_STAGES)
        return leat_problem_set(problem, LEAT_EINVAL, "more than %d handlers", MAX_STAGES);
    for (size_t i = 0; i < count; i++) {
        int code = leat_stage_check(&stages[i], problem);
        if (code != LEAT_OK)
            return code;
    }
    int code = check_inbound(stages, count, problem);
    return code == LEAT_OK ? check_outbound(stages, count, problem) : code;
}

static size_t config_room(const leat_stage *stage) {
    return stage->config ? (stage->handler->config_size + 15) & ~(size_t)15 : 0;
}

static size_t size_of_all(const leat_stage *stages, size_t count) {
    size_t size = sizeof(leat_pipeline) + count * sizeof(pipeline_stage);
    size = (size + 15) & ~(size_t)15;
    for (size_t i = 0; i < count; i++)
        size += config_room(&stages[i]);
    return size;
}

/* Lays out a channel's block: the channel and its ends, each context with its state behind it, the list of places. */
static void lay_out(leat_pipeline *pipeline, const leat_stage *stages) {
    size_t count = pipeline->count;
    uint8_t *config = (uint8_t *)pipeline + pipeline->size;
    for (size_t i = 0; i < count; i++)
        config -= config_room(&stages[i]);
    size_t offset = sizeof(channel_with_ends);
    for (size_t i = 0; i < count; i++) {
        pipeline_stage *stage = &pipeline->stages[i];
        stage->handler = stages[i].handler;
        stage->name = stages[i].name ? stages[i].name : stage->handler->name;
        if (stages[i].config)
            stage->config = memcpy(config, stages[i].config, stage->handler->config_size);
        config += config_room(&stages[i]);
        stage->offset = offset;
        offset += align_ctx(sizeof(leat_ctx) + stage->handler->state_size);
    }
    pipeline->places = offset;
    pipeline->block_size = offset + (count + 2) * sizeof(leat_ctx *);
}

leat_pipeline *leat_pipeline_new(leat_alloc *alloc, const leat_stage *stages, leat_problem *problem) {
    size_t count = 0;
    while (stages[count].handler)
        count++;
    if (check_stages(stages, count, problem) != LEAT_OK)
        return NULL;
    size_t size = size_of_all(stages, count);
    leat_pipeline *pipeline = leat_alloc_take_zeroed(alloc, size);
    if (!pipeline) {
        leat_problem_set(problem, LEAT_ENOMEM, "no memory for a pipeline");
        return NULL;
    }
    *pipeline = (leat_pipeline){.refs = 1, .count = count, .alloc = alloc, .size = size};
    lay_out(pipeline, stages);
    return pipeline;
}

leat_pipeline *leat_pipeline_retain(leat_pipeline *pipeline) {
    __atomic_fetch_add(&pipeline->refs, 1, __ATOMIC_RELAXED);
    return pipeline;
}

void leat_pipeline_release(leat_pipeline *pipeline) {
    if (!pipeline || __atomic_sub_fetch(&pipeline->refs, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    leat_alloc_give(pipeline->alloc, pipeline, pipeline->size);
}
