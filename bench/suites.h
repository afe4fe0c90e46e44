/** The suites that leat-bench runs, each in a file of its own. */
#ifndef LEAT_BENCH_SUITES_H
#define LEAT_BENCH_SUITES_H

#include "bench/harness.h"

extern const bench_suite alloc_suite;
extern const bench_suite array_suite;
extern const bench_suite buffer_suite;
extern const bench_suite framing_suite;
extern const bench_suite gather_suite;
extern const bench_suite hop_suite;
extern const bench_suite loop_suite;
extern const bench_suite memory_suite;
extern const bench_suite noise_suite;
extern const bench_suite opcua_suite;
extern const bench_suite router_suite;
extern const bench_suite sse_suite;
extern const bench_suite text_suite;
extern const bench_suite threshold_suite;
extern const bench_suite zlib_suite;

#endif
