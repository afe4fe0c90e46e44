/** The clock of the benchmarks. */
#ifndef LEAT_BENCH_CLOCK_H
#define LEAT_BENCH_CLOCK_H

/** Returns the CPU time of the calling thread in nanoseconds: what other programs do meanwhile hardly counts. */
double bench_cpu_nanos(void);

/** Returns the time in nanoseconds since some fixed moment. */
double bench_wall_nanos(void);

/** Returns the CPU time that all threads of the process have used, in nanoseconds. */
double bench_process_nanos(void);

#endif
