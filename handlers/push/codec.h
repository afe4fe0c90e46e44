/** Codecs: how the events of a batch look on the wire. Plain data and functions; nothing here needs a pipeline. */
#ifndef LEAT_HANDLERS_PUSH_CODEC_H
#define LEAT_HANDLERS_PUSH_CODEC_H

#include "core/bytebuf.h"
#include "handlers/push/event.h"

LEAT_BEGIN_DECLS

/**
 * A codec. An event that `is_bare` goes as its payload between static pieces: `prefix` before the first one, `joint`
 * (suffix and next prefix in one) between two, `suffix` behind the last. Any other is framed once and shared.
 */
typedef struct leat_push_codec {
    const char *name;
    /** NULL = every event is bare. */
    bool (*is_bare)(const leat_push_event *event);
    /** Returns the framed event as one buffer that the caller owns; NULL = no memory. */
    leat_bytebuf *(*frame)(leat_alloc *alloc, const leat_push_event *event);
    leat_span prefix, joint, suffix;
} leat_push_codec;

/** Payloads back to back, as they are. */
LEAT_API extern const leat_push_codec leat_push_codec_bare;

/**
 * Server-Sent Events (WHATWG HTML, 9.2): an event with an id, or with line ends in it, is framed as `id:` and `data:`
 * lines; any other goes as its payload between `data: ` and an empty line.
 */
LEAT_API extern const leat_push_codec leat_push_codec_sse;

/**
 * Events of the legacy TCP protocol: int32 length (1 + N, big-endian), opcode 1 (next), N bytes. Frame header and
 * length come from the pipeline: legacy_tcp_framer and length_field_prepender.
 */
LEAT_API extern const leat_push_codec leat_push_codec_legacy_tcp;

LEAT_END_DECLS

#endif
