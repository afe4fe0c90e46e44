/** Conformance vectors: files of tests/vectors, one JSON object a line, and what a decoder must make of one. */
#ifndef LEAT_TESTS_SUPPORT_VECTORS_H
#define LEAT_TESTS_SUPPORT_VECTORS_H

#include "core/embedded.h"

#include <jansson.h>

/** Runs `check` for each vector of a file of tests/vectors; checked. Returns how many there were. */
size_t vectors_each(const char *file, void (*check)(const json_t *vector));

/** Returns the number, flag or text under a key (0, false or "" if there is none); for numbers, negative ones wrap. */
uint64_t vector_number(const json_t *vector, const char *key);
bool vector_flag(const json_t *vector, const char *key);        /**< see above */
const char *vector_text(const json_t *vector, const char *key); /**< see above */

/** Returns the bytes that a text in hex stands for; the caller frees them. */
leat_span bytes_of_hex(const char *hex);

/** Feeds the input cut into `reads`, or into pieces of `size` bytes when that is NULL. */
void feed_pieces(leat_embedded *embedded, leat_span input, const json_t *reads, size_t size);

/** Tells whether a vector, or the ideal it names, refuses its setting. */
bool vector_is_refused(const json_t *vector);

/** Asserts that a pipeline of this handler is refused. */
void assert_vector_refused(const json_t *vector, const leat_handler *handler, const void *config);

/**
 * Asserts that the handler fires the frames and errors of the vector, in this order, for the input whole, byte by byte
 * and at its reads; and, where the vector says what is left over, that the end truncates just that.
 */
void assert_vector_decoded(const json_t *vector, const leat_handler *handler, const void *config);

#endif
