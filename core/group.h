/** Groups: a dense set of channels of one loop, for broadcasts; members leave by themselves when they close. */
#ifndef LEAT_CORE_GROUP_H
#define LEAT_CORE_GROUP_H

#include "core/channel.h"

LEAT_BEGIN_DECLS

typedef struct leat_group leat_group;

/** Makes an empty group; NULL = no memory. The caller owns it until leat_group_free. */
LEAT_API leat_group *leat_group_new(leat_alloc *alloc);

/** Frees the group; its members stay open. NULL is fine. */
LEAT_API void leat_group_free(leat_group *group);

/** Adds a channel (once, however often it is added); 0, LEAT_ENOMEM, or LEAT_ECLOSED (it is closing or gone). */
LEAT_API int leat_group_add(leat_group *group, leat_channel *channel);

/** Takes a channel out; not being in is fine. */
LEAT_API void leat_group_remove(leat_group *group, leat_channel *channel);

/** Returns how many channels are in. */
LEAT_API size_t leat_group_size(const leat_group *group);

/** Returns a member, 0 <= index < size; the order changes when members leave. */
LEAT_API leat_channel *leat_group_at(const leat_group *group, size_t index);

/** Writes the message, by reference, to each member that is writable; gives it away. Returns to how many it was
 * written. */
LEAT_API size_t leat_group_write(leat_group *group, leat_msg msg);

/** Closes each member gracefully. */
LEAT_API void leat_group_close(leat_group *group);

LEAT_END_DECLS

#endif
