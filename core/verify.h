/** Verifiers: run a handler through every split of its input and every failed allocation. */
#ifndef LEAT_CORE_VERIFY_H
#define LEAT_CORE_VERIFY_H

#include "core/embedded.h"

LEAT_BEGIN_DECLS

/**
 * Feeds `input` to a fresh embedded channel of `stages` at once, byte by byte, split in two at every point and in three
 * around every point, and as a slice with other bytes around it, and compares the frames (ByteBufs) that come out with
 * `expected`. Returns 0 with what was tried in `problem` (may be NULL), or a negative code with the first difference
 * there: which split, which frame, which bytes.
 */
LEAT_API int leat_verify_decoder(const leat_stage *stages, const void *input, size_t length, const leat_span *expected,
                                 size_t expected_count, leat_problem *problem);

/** leat_verify_decoder with C strings; `expected` ends with NULL. */
LEAT_API int leat_verify_decoder_text(const leat_stage *stages, const char *input, const char *const *expected,
                                      leat_problem *problem);

/**
 * What leat_verify_oom runs again and again. It makes everything from `alloc`, copes with what fails, and gives all
 * back. Returns 0, or a negative code if it saw something wrong.
 */
typedef int (*leat_verify_scenario)(leat_alloc *alloc, void *context);

/**
 * Runs `scenario` once counting allocations, then again with each of them failing alone, and again with all failing
 * from each one on. Returns 0 with what was tried in `problem` (may be NULL), or a negative code with the reason there:
 * which allocation leaked, misused or failed the scenario.
 */
LEAT_API int leat_verify_oom(leat_verify_scenario scenario, void *context, leat_problem *problem);

/** leat_verify_oom of an embedded channel of `stages` that is fed `input`, flushed, ended and freed. */
LEAT_API int leat_verify_oom_fed(const leat_stage *stages, const void *input, size_t length, leat_problem *problem);

LEAT_END_DECLS

#endif
