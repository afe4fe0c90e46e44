#define _POSIX_C_SOURCE 200809L

#include "bench/clock.h"

#include <time.h>

static double nanos(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

double bench_cpu_nanos(void) {
    return nanos(CLOCK_THREAD_CPUTIME_ID);
}

double bench_wall_nanos(void) {
    return nanos(CLOCK_MONOTONIC);
}

double bench_process_nanos(void) {
    return nanos(CLOCK_PROCESS_CPUTIME_ID);
}
