/** What the loops and their listeners share. */
#ifndef LEAT_TRANSPORTS_LOOPS_INTERNAL_H
#define LEAT_TRANSPORTS_LOOPS_INTERNAL_H

#include "transports/loops.h"

/** Runs `fn` on the loop's thread and waits for it; 0, LEAT_ECLOSED (the loop ended: `fn` did not run), or LEAT_EINVAL
 * (on one of their threads). */
int leat_loops_call(leat_loops *loops, size_t index, void (*fn)(void *context, size_t index), void *context);

/** Tells whether this is one of the loops' threads. */
bool leat_loops_is_inside(leat_loops *loops);

/** Adds a listener to those that end with the loops. */
void leat_loops_add_listener(leat_loops *loops, leat_loops_listener *listener);

/** Takes it off again. */
void leat_loops_remove_listener(leat_loops *loops, leat_loops_listener *listener);

/** Closes a listener's part on one loop, on whose thread this is. */
void leat_loops_listener_close_part(leat_loops_listener *listener, size_t index);

/** Links the listeners of one set of loops. */
leat_loops_listener **leat_loops_listener_next(leat_loops_listener *listener);

#endif
