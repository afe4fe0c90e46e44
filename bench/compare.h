/** What is done with arms before they are timed: their outputs are compared and their memory traffic is counted. */
#ifndef LEAT_BENCH_COMPARE_H
#define LEAT_BENCH_COMPARE_H

#include "bench/harness.h"

/**
 * Lets every arm of a row do its operation once and compares what came out with the first arm's, byte for byte.
 * Returns false with a line in `complaint` when they differ or an arm cannot work.
 */
bool bench_compare(const bench_row *row, char *complaint, size_t size);

/**
 * Counts the memory traffic of an arm's operation once it runs steadily. Returns false with a line in `complaint` when
 * the arm cannot work or leaves blocks behind.
 */
bool bench_count(const bench_row *row, const bench_arm *arm, bench_traffic *traffic, char *complaint, size_t size);

/** Does the operation `times` times and returns its whole cost in the row's unit. */
double bench_spend(const bench_arm *arm, void *state, uint64_t times);

#endif
