/** Pipelines: a checked, sized plan of handlers, made once and shared by every channel that is built from it. */
#ifndef LEAT_CORE_PIPELINE_H
#define LEAT_CORE_PIPELINE_H

#include "core/alloc.h"
#include "core/handler.h"

LEAT_BEGIN_DECLS

/** A place in a pipeline, from the transport (first) to the application (last); a list ends with {0}. */
typedef struct leat_stage {
    const leat_handler *handler;
    const void *config; /**< the handler's config struct, copied when the pipeline is made or the handler added; what it
                             points to is not, and outlives the pipeline or channel; NULL = defaults */
    const char *name;   /**< NULL = the handler's name; outlives the pipeline */
} leat_stage;

typedef struct leat_pipeline leat_pipeline;

/**
 * Makes a pipeline of `stages`: checks configs and that neighbours' types fit, and copies the configs.
 * Returns a reference that the caller owns, or NULL with the reason in `problem` (may be NULL): LEAT_EINVAL (a config,
 * too large a state, no handler), LEAT_ETYPE (names the two that do not fit), LEAT_ENOMEM.
 */
LEAT_API leat_pipeline *leat_pipeline_new(leat_alloc *alloc, const leat_stage *stages, leat_problem *problem);

/** Takes one more reference. Any thread. */
LEAT_API leat_pipeline *leat_pipeline_retain(leat_pipeline *pipeline);

/** Gives a reference back; NULL is fine. Any thread. */
LEAT_API void leat_pipeline_release(leat_pipeline *pipeline);

/** Writes the names of the stages, "transport | line | shout | application", as leat_channel_dump does. Any thread. */
LEAT_API size_t leat_pipeline_dump(const leat_pipeline *pipeline, char *text, size_t size);

/** Writes the plan as a graph, as leat_channel_dump_dot does. Any thread. */
LEAT_API size_t leat_pipeline_dump_dot(const leat_pipeline *pipeline, char *text, size_t size);

LEAT_END_DECLS

#endif
