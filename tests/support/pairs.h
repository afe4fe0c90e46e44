/** A decoder of pairs of bytes, and a handler that obeys them, for tests of the codec base. */
#ifndef LEAT_TESTS_SUPPORT_PAIRS_H
#define LEAT_TESTS_SUPPORT_PAIRS_H

#include "core/embedded.h"
#include "handlers/codec.h"

/** Fires each two bytes. '!' in front of a pair is an error it recovers from, '?' one it does not. */
extern const leat_handler pairs;

/**
 * Passes each pair on, then does what its bytes say to the decoder: R removes it, C closes the channel, N and E read
 * "nn" and nothing from inside this read, D says `read_done`.
 */
extern const leat_handler obey;

/** Just the decoder; the decoder and `tolerant`; the decoder and `obey`. */
extern const leat_stage just_pairs[], tolerant_pairs[], obeyed_pairs[];

/** Asserts that these texts reached the application, and no more. */
void assert_texts(leat_embedded *embedded, const char *const *expected);

#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

#endif
