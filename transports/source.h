/** Sources: channels that read from a descriptor which is no socket: standard input, a pipe, a terminal, a file. */
#ifndef LEAT_TRANSPORTS_SOURCE_H
#define LEAT_TRANSPORTS_SOURCE_H

#include "core/transport.h"
#include "transports/syscalls.h"

LEAT_BEGIN_DECLS

/** How to read from a descriptor. A zero field means its default; `pipeline` is required. */
typedef struct leat_source_options {
    leat_pipeline *pipeline; /**< what the channel is built from: a line decoder and who takes the lines; retained */
    leat_channel_options channel;
    bool close_descriptor;         /**< close the descriptor with the channel; otherwise it stays the caller's */
    const leat_syscalls *syscalls; /**< leat_syscalls_kernel() */
} leat_source_options;

/**
 * Makes a channel that reads from `descriptor`, which stays in the mode it is in: it is read once a turn, when ready,
 * and not at all while handlers hold too much or ask for nothing. Writes fail with LEAT_EINVAL. `*channel` (may be
 * NULL) is borrowed as from leat_channel_new; `active` comes in a later turn. Returns 0, or with the reason in
 * `problem` (may be NULL): LEAT_EINVAL (no libev loop, descriptor or pipeline), LEAT_ENOMEM, the code of an `added`;
 * the descriptor is then still open.
 */
LEAT_API int leat_source_open(leat_loop *loop, int descriptor, const leat_source_options *options,
                              leat_channel **channel, leat_problem *problem);

LEAT_END_DECLS

#endif
