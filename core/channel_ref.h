/** References to channels for other threads: inert when the channel is gone. */
#ifndef LEAT_CORE_CHANNEL_REF_H
#define LEAT_CORE_CHANNEL_REF_H

#include "core/channel.h"

LEAT_BEGIN_DECLS

typedef struct leat_ref leat_ref;

/** Makes a reference to a channel, for any thread to use; NULL = no memory. Owned by the caller. */
LEAT_API leat_ref *leat_ref_new(leat_channel *channel);

/** Takes one more reference. Any thread. */
LEAT_API leat_ref *leat_ref_retain(leat_ref *ref);

/** Gives a reference back; NULL is fine. Any thread. */
LEAT_API void leat_ref_release(leat_ref *ref);

/**
 * Writes to the channel from any thread, as leat_channel_write; gives message and `done` (may be NULL) away. With
 * LEAT_ECLOSED (channel or loop is gone: the message is released), LEAT_ENOMEM and LEAT_ELIMIT (the mailbox is full)
 * `done` may run at once on this thread. Any thread.
 */
LEAT_API void leat_ref_write(leat_ref *ref, leat_msg msg, leat_done *done);

/**
 * Closes the channel from any thread, as leat_channel_close. 0 (asked; it may be gone by then), LEAT_ENOMEM,
 * LEAT_ELIMIT (the mailbox is full) or LEAT_ECLOSED (the loop is gone). Any thread.
 */
LEAT_API int leat_ref_close(leat_ref *ref);

/** Returns the channel, or NULL when it is gone. On the thread of its loop. */
LEAT_API leat_channel *leat_ref_channel(const leat_ref *ref);

LEAT_END_DECLS

#endif
