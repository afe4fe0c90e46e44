/** Mailboxes: how other threads reach a loop. Lock-free to post, refcounted, and outlive their loop. */
#ifndef LEAT_CORE_MAILBOX_H
#define LEAT_CORE_MAILBOX_H

#include "core/alloc.h"

LEAT_BEGIN_DECLS

typedef struct leat_task leat_task;
typedef struct leat_mailbox leat_mailbox;

/** A task, embedded in memory of the caller, which stays valid until `fn` ran. Set `fn` and `bytes`, zero the rest. */
struct leat_task {
    /** Runs exactly once a post: on the loop's thread with 0, or on the poster's thread with the error of the post. */
    void (*fn)(leat_task *task, int status);
    uint64_t bytes;  /**< what the task keeps alive, counted against the mailbox's bound */
    leat_task *next; /**< belongs to the mailbox */
};

/**
 * Posts a task. `task->fn` runs on the loop with 0; or at once, on this thread, with LEAT_ECLOSED (the loop is gone) or
 * LEAT_ELIMIT (the mailbox holds its bound of bytes). Any thread.
 */
LEAT_API void leat_mailbox_post(leat_mailbox *mailbox, leat_task *task);

/** Takes one more reference. Any thread. */
LEAT_API leat_mailbox *leat_mailbox_retain(leat_mailbox *mailbox);

/** Gives a reference back; NULL is fine. Any thread. */
LEAT_API void leat_mailbox_release(leat_mailbox *mailbox);

LEAT_END_DECLS

#endif
