/** How results are shown: a table for people, JSON lines for programs. */
#ifndef LEAT_BENCH_REPORT_H
#define LEAT_BENCH_REPORT_H

#include "bench/harness.h"

/** Prints a result as a small table. */
void bench_print(FILE *out, const bench_result *result);

/** Prints a result as one line: the medians of its arms, then those of its ratios. */
void bench_print_line(FILE *out, const bench_result *result);

/**
 * Prints a result as one line of JSON: {"suite","case","arms":{name:{"median","low","high","unit","allocs","bytes",
 * "growths","copied"}},"ratios":{"a/b":{"median","low","high","required","verdict"}}}. The arm that is the best of
 * others also has "is". A ratio of which nothing is required has null for "required" and "verdict".
 */
void bench_print_json(FILE *out, const bench_result *result);

/** Prints a row as `suite/case arm/arm <= x`, a line a ratio; a row that requires nothing has only its name. */
void bench_print_row(FILE *out, const bench_row *row);

#endif
