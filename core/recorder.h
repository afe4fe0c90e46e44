/** Recorders: stages that write down the order of calls, a line each, for tests to compare with what they expect. */
#ifndef LEAT_CORE_RECORDER_H
#define LEAT_CORE_RECORDER_H

#include "core/pipeline.h"

LEAT_BEGIN_DECLS

/**
 * A text that grows by a line for each call at its stages: the stage's name, the call, what came with it. Each call is
 * passed on, so a stage between two handlers shows what goes from one to the other.
 *
 *     a read 'hello'        bytes, the first 40 of them, with \r \n \xNN and the whole length where there are more
 *     a read Number         a message of another type
 *     a writable no         what leat_channel_is_writable says
 *     a error LEAT_ERESET   the code's name, or its number
 *     w done LEAT_OK        a completion made by leat_recorder_done
 *
 * The other calls (added, removed, active, read_done, eof, inactive, event, wake, write, flush, close) look alike.
 */
typedef struct leat_recorder leat_recorder;

/** Makes a recorder; NULL = no memory. The caller owns it until leat_recorder_free. */
LEAT_API leat_recorder *leat_recorder_new(leat_alloc *alloc);

/** Frees a recorder, after the channels that it stands in and the writes it waits for; NULL is fine. */
LEAT_API void leat_recorder_free(leat_recorder *recorder);

/** Returns a stage of that name (NULL = "recorder"; outlives the recorder), to put anywhere, as often as you like. */
LEAT_API leat_stage leat_recorder_stage(const leat_recorder *recorder, const char *name);

/** Chooses the calls that are passed on without a line: names, separated by blanks ("flush read_done"); "" = none. */
LEAT_API void leat_recorder_leave_out(leat_recorder *recorder, const char *calls);

/**
 * Returns a completion whose end is a line of that name (which outlives the recorder). It belongs to the recorder and
 * may be used for one write after another. NULL = no memory.
 */
LEAT_API struct leat_done *leat_recorder_done(leat_recorder *recorder, const char *name);

/** What a test does inside a call: `ctx` is the stage's context; NULL in a completion. */
typedef void (*leat_recorder_action)(leat_ctx *ctx, void *argument);

/**
 * Runs `action` once, right after the next line that is or begins with the words of `line` ("a read", "a read 'x'"; it
 * outlives the recorder), before the call is passed on. Returns 0 or LEAT_ENOMEM.
 */
LEAT_API int leat_recorder_when(leat_recorder *recorder, const char *line, leat_recorder_action action, void *argument);

/**
 * Takes the lines since the last call, each ended by '\n'; valid until the next call. At most a MiB: a last line says
 * "(more)" if there was more, and "(lost)" if there was no memory for a line.
 */
LEAT_API const char *leat_recorder_take(leat_recorder *recorder);

LEAT_END_DECLS

#endif
