/** The channels of which bench/memory.c measures what an idle one keeps resident. */
#ifndef LEAT_BENCH_IDLE_H
#define LEAT_BENCH_IDLE_H

#include "core/pipeline.h"

enum { BENCH_IDLE_CHANNELS = 10000, BENCH_IDLE_HANDLERS = 5 };

/** The program that makes them, beside leat-bench, and what it prints: a count and bytes. */
#define BENCH_IDLE_PROGRAM "leat-bench-idle"
#define BENCH_IDLE_FORMAT "%" PRIu64 " channels, %" PRIu64 " resident bytes\n"

/** Makes the pipeline of five handlers, each with a counter of its own in every channel; NULL = no memory. */
leat_pipeline *bench_idle_pipeline(void);

#endif
