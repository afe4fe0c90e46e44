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

/* Who of a row: a handler, or (before the first) the transport. */
static const char *name_at(const handler_row *row, size_t index) {
    return index == row->count ? "the transport" : row->at(row->of, index)->name;
}

/* Of a row that is changed in one place only that place has to fit: the others are what they were, but for those that
   had the replaced one between them. */
static bool concerns(const handler_row *row, size_t lower, size_t upper) {
    if (row->about == HANDLER_ROW_ALL || row->about == lower || row->about == upper)
        return true;
    return row->replaced && (lower == row->count || lower < row->about) && row->about < upper;
}

static int check_inbound(const handler_row *row, leat_problem *problem) {
    const leat_type *const *flow = leat_only_bytebuf;
    size_t from = row->count;
    for (size_t i = 0; i < row->count; i++) {
        const leat_handler *handler = row->at(row->of, i);
        const leat_type *bad = handler->reads && handler->read ? misfit(flow, handler->reads) : NULL;
        if (bad && concerns(row, from, i))
            return leat_problem_set(problem, LEAT_ETYPE, "%s fires a %s, which %s does not read", name_at(row, from),
                                    bad->name, handler->name);
        if (!handler->fires)
            continue;
        flow = handler->fires;
        from = i;
    }
    return LEAT_OK;
}

/* What a handler writes goes to the next one towards the transport that takes writes, or to the transport itself; one
   that states nothing about them passes them on. */
static int check_outbound(const handler_row *row, leat_problem *problem) {
    const leat_type *const *takes = leat_only_bytebuf;
    size_t to = row->count;
    for (size_t i = 0; i < row->count; i++) {
        const leat_handler *handler = row->at(row->of, i);
        const leat_type *bad = takes && handler->writes ? misfit(handler->writes, takes) : NULL;
        if (bad && concerns(row, to, i))
            return leat_problem_set(problem, LEAT_ETYPE, "%s writes a %s, which %s does not take", handler->name,
                                    bad->name, name_at(row, to));
        if (!handler->write || !(handler->takes || handler->writes))
            continue;
        takes = handler->takes;
        to = i;
    }
    return LEAT_OK;
}

int leat_contracts_check(const handler_row *row, leat_problem *problem) {
    int code = check_inbound(row, problem);
    return code == LEAT_OK ? check_outbound(row, problem) : code;
}

static const leat_handler *handler_of_stage(const void *stages, size_t index) {
    return ((const leat_stage *)stages)[index].handler;
}

static int check_stages(const leat_stage *stages, size_t count, leat_problem *problem) {
    if (count > MAX_STAGES)
        return leat_problem_set(problem, LEAT_EINVAL, "more than %d handlers", MAX_STAGES);
    for (size_t i = 0; i < count; i++) {
        int code = leat_stage_check(&stages[i], problem);
        if (code != LEAT_OK)
            return code;
    }
    const handler_row row = {.at = handler_of_stage, .of = stages, .count = count, .about = HANDLER_ROW_ALL};
    return leat_contracts_check(&row, problem);
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
