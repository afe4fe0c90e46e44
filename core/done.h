/** Completions: what happened to a write, told exactly once. */
#ifndef LEAT_CORE_DONE_H
#define LEAT_CORE_DONE_H

#include "core/base.h"

LEAT_BEGIN_DECLS

typedef struct leat_done leat_done;

/**
 * A completion, embedded in memory of the caller, which stays valid until `fn` ran. Set `fn`, zero the rest. `fn` runs
 * exactly once for each write it was given to, on the loop's thread at the end of a turn, with 0 (the transport took
 * every byte) or the error that ended the write. By then the completion may be used again; `fn` may write and close.
 * One that lies in a handler's state keeps that state alive; one anywhere else is the caller's to keep.
 */
struct leat_done {
    void (*fn)(leat_done *done, int status);
    leat_done *next;       /**< belongs to who holds the write */
    struct leat_ctx *home; /**< belongs to the channel */
    int status;            /**< belongs to the channel */
};

/** Completions of writes that a handler merged into one. Zero it to begin. */
typedef struct leat_done_list {
    leat_done *first;
    leat_done *last;
} leat_done_list;

/** Appends `done` (NULL is fine). */
static inline void leat_done_list_add(leat_done_list *list, leat_done *done) {
    if (!done)
        return;
    done->next = NULL;
    if (list->last)
        list->last->next = done;
    else
        list->first = done;
    list->last = done;
}

/** Moves all of `other` behind `list`; `other` is empty afterwards. */
static inline void leat_done_list_append(leat_done_list *list, leat_done_list *other) {
    if (!other->first)
        return;
    if (list->last)
        list->last->next = other->first;
    else
        list->first = other->first;
    list->last = other->last;
    other->first = other->last = NULL;
}

/** Takes the first completion off, or returns NULL. */
static inline leat_done *leat_done_list_take(leat_done_list *list) {
    leat_done *done = list->first;
    if (!done)
        return NULL;
    list->first = done->next;
    if (!list->first)
        list->last = NULL;
    done->next = NULL;
    return done;
}

LEAT_END_DECLS

#endif
