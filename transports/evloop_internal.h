/** A watch to embed: what transports keep in their own blocks. */
#ifndef LEAT_TRANSPORTS_EVLOOP_INTERNAL_H
#define LEAT_TRANSPORTS_EVLOOP_INTERNAL_H

#include "transports/evloop.h"

#include <ev.h>

struct leat_watch {
    ev_io io; /* its `data` is the context */
    leat_loop *loop;
    void (*fn)(void *context, unsigned ready);
};

/** Initialises an embedded watch, for nothing yet; `loop` is a libev loop. leat_watch_interest(0) is its clean-up. */
void leat_watch_init(leat_watch *watch, leat_loop *loop, int descriptor, void (*fn)(void *context, unsigned ready),
                     void *context);

/** Ends the turn in which `made` (may be NULL) was made; returns it, or NULL if a handler ended it in that turn. */
leat_channel *leat_evloop_leave_with(leat_loop *loop, leat_channel *made);

#endif
