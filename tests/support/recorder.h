/** A handler that records what reaches it, for tests over real transports; and how to run a loop until something holds.
 */
#ifndef LEAT_TESTS_SUPPORT_RECORDER_H
#define LEAT_TESTS_SUPPORT_RECORDER_H

#include "core/transport.h"

/** What the recorder saw; several channels may share one. Fields under "wishes" are the test's to set. */
typedef struct test_record {
    leat_channel *channel; /**< the one that became active last; NULL once it is gone */
    size_t active, reads, read_dones, eofs, writables, inactives, errors, removed;
    int error;      /**< the last */
    uint64_t bytes; /**< all that was read */
    bool in_order;  /**< every byte so far is the pattern's */
    char text[64];  /**< the first bytes, NUL-terminated */
    /* wishes */
    bool echo;                       /**< write back what comes */
    bool keep_open;                  /**< do not pass `eof` on */
    const char *abort_in, *close_in; /**< abort or close inside this entry: "active", "read" ... */
    const char *greeting;            /**< written in `active` */
} test_record;

/** A completion that keeps its status. */
typedef struct test_outcome {
    leat_done done;
    int runs;
    int status;
} test_outcome;

/** Makes a pipeline of one recorder that writes into `record`; checked, and owned by the caller. */
leat_pipeline *recorder_pipeline(test_record *record);

/** Returns byte `index` of an endless pattern without a short period. */
uint8_t pattern_byte(uint64_t index);

/** Makes a buffer with the pattern from `index`; checked. */
leat_bytebuf *pattern_buffer(leat_alloc *alloc, uint64_t index, size_t length);

/** Writes text to a channel in a turn of its own. */
void write_text(leat_channel *channel, const char *text, leat_done *done);

/** Returns a completion that keeps its status in `outcome`. */
leat_done *expect(test_outcome *outcome);

/** Runs the loop, turn by turn, until `*counter` is at least `least`; check's timeout ends one that never is. */
void run_until(leat_loop *loop, const size_t *counter, size_t least);

/** As run_until, for 64-bit counters. */
void run_until_bytes(leat_loop *loop, const uint64_t *counter, uint64_t least);

/** Runs one turn of the loop, which waits for whatever comes next. */
void run_once(leat_loop *loop);

/** Runs everything that is ready, without waiting. */
void run_ready(leat_loop *loop);

#endif
