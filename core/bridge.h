/** Bridges: what one channel reads, another one writes, whichever loops the two live on: what proxies are made of. */
#ifndef LEAT_CORE_BRIDGE_H
#define LEAT_CORE_BRIDGE_H

#include "core/channel.h"

LEAT_BEGIN_DECLS

/**
 * A bridge between two channels. A message that reaches the application's end of one is posted to the loop of the other
 * and written there. Its bytes count as held by the channel that read it (leat_channel_held) until the other transport
 * took them: so a slow end pauses the fast one, and what is on its way stays below read_high and what one turn reads.
 * Messages of types of your own must bear being released on another thread. What waits for an end that never joined
 * lies in memory of the first channel's allocator, which must outlive the bridge if it is not the loop's own.
 */
typedef struct leat_bridge leat_bridge;

/** Makes a bridge without ends; NULL = no memory. Owned by the caller; each end has a reference of its own. Any thread.
 */
LEAT_API leat_bridge *leat_bridge_new(void);

/** Takes one more reference. Any thread. */
LEAT_API leat_bridge *leat_bridge_retain(leat_bridge *bridge);

/** Gives a reference back; NULL is fine. Any thread. */
LEAT_API void leat_bridge_release(leat_bridge *bridge);

/**
 * Makes the channel an end of the bridge: adds a handler as the last one, on the thread of its loop. What the other end
 * has read before waits for it. When the peer of one ends its side, so does the other end, once everything sent to it
 * is written; when both did, or one end closes, both close; when one ends with an error, the other is aborted with its
 * code. Returns 0, LEAT_EEXIST (there are two ends already), or a code of leat_channel_add_last: then the place is
 * still free.
 */
LEAT_API int leat_bridge_join(leat_bridge *bridge, leat_channel *channel);

/**
 * Closes both ends (`code` 0) or aborts them with `code`, also one that joins later: for when the other channel cannot
 * be made. Any thread.
 */
LEAT_API void leat_bridge_end(leat_bridge *bridge, int code);

LEAT_END_DECLS

#endif
