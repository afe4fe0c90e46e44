/** The work of the rows of buffers that are made and released, for arms of other libraries too. */
#ifndef LEAT_BENCH_ALLOC_H
#define LEAT_BENCH_ALLOC_H

#include "bench/harness.h"

typedef struct alloc_work {
    size_t size;
    bool pooled;
} alloc_work;

#endif
