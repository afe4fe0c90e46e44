/** A last stage that survives errors, for tests of handlers that go on after one. */
#ifndef LEAT_TESTS_SUPPORT_TOLERANT_H
#define LEAT_TESTS_SUPPORT_TOLERANT_H

#include "core/embedded.h"

/** Turns each error into a user event, so that the tail does not close the channel. */
extern const leat_handler tolerant;

/** Takes the next error that `tolerant` swallowed; 0 = none. */
int take_tolerated(leat_embedded *embedded);

/** Asserts that nothing is left over, held or leaked, and frees the channel. */
void assert_nothing_left(leat_embedded *embedded);

#endif
