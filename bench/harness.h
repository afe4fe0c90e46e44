/** The benchmark harness: rows of arms that do the same work, compared first, then measured in rotated order. */
#ifndef LEAT_BENCH_HARNESS_H
#define LEAT_BENCH_HARNESS_H

#include "bench/statistics.h"
#include "core/alloc.h"

#include <stdio.h>

enum {
    BENCH_MOST_ARMS = 8,   /**< arms of a row */
    BENCH_MOST_RATIOS = 8, /**< ratios of a row */
    BENCH_SLICES = 31      /**< slices of a sample */
};

/** What one operation of an arm produced: the bytes by which the harness compares arms. */
typedef struct bench_output {
    uint8_t *bytes;
    size_t length;
    size_t capacity;
    bool failed; /**< there was no memory, or the arm could not do its work */
} bench_output;

/** Adds a copy of `length` bytes to an output. */
void bench_output_add(bench_output *output, const void *bytes, size_t length);

/** One way to do a row's work. */
typedef struct bench_arm {
    const char *name;
    /** Makes what the arm works on, with memory from `alloc`; NULL = it cannot, which ends the run with an error. */
    void *(*set_up)(const void *work, leat_alloc *alloc);
    /** Does the operation `times` times. */
    void (*run)(void *state, uint64_t times);
    /** Does the operation once and adds what came out. */
    void (*output)(void *state, bench_output *output);
    /** Frees the state. */
    void (*tear_down)(void *state);
    /** NULL (the CPU time of the thread in `run`, in ns), or: does the operation `times` times, returns its whole cost.
     */
    double (*measure)(void *state, uint64_t times);
} bench_arm;

/** A ratio of two arms of a row and what it may be. */
typedef struct bench_ratio {
    const char *over;
    const char *under;
    double at_most; /**< the requirement; 0 = the ratio is only shown */
} bench_ratio;

/** An arm that is whichever of two others has the lower median. */
typedef struct bench_best {
    const char *name; /**< NULL = the row has none */
    const char *of[2];
} bench_best;

/** Some work and the arms that do it. */
typedef struct bench_row {
    const char *suite;
    const char *name;
    const char *unit; /**< of the cost of one operation; NULL = "ns" */
    const void *work; /**< handed to `set_up` */
    const bench_arm *arms[BENCH_MOST_ARMS];
    bench_best best;
    bench_ratio ratios[BENCH_MOST_RATIOS]; /**< ended by an entry without names, or full */
    const char *allocates_nothing;         /**< an arm whose operation may not allocate, or the row ends; NULL = none */
} bench_row;

/** Somebody to whom a suite shows its rows: the list, the search for a name, the measurement. */
typedef struct bench_visitor bench_visitor;
struct bench_visitor {
    void (*visit)(bench_visitor *visitor, const bench_row *row);
};

/** A named set of rows. */
typedef struct bench_suite {
    const char *name;
    const char *about;
    /** Shows every row to the visitor, in order. Rows live only as long as the visit. */
    void (*rows)(bench_visitor *visitor);
    bool on_request; /**< measured only when it is named */
} bench_suite;

/** Memory traffic of one operation, of the mean of several. */
typedef struct bench_traffic {
    double allocs;
    double bytes;
    double growths;
    double copied;
} bench_traffic;

/** What was measured of an arm. */
typedef struct bench_arm_result {
    const char *name;
    const char *is; /**< for the best of others: the arm that it is; else NULL */
    bench_summary cost;
    bench_traffic traffic;
} bench_arm_result;

/** What was measured of a ratio. */
typedef struct bench_ratio_result {
    bench_ratio ratio;
    bench_summary value;
    bench_verdict verdict;
} bench_ratio_result;

/** What was measured of a row. */
typedef struct bench_result {
    const bench_row *row;
    bench_arm_result arms[BENCH_MOST_ARMS + 2]; /**< the row's arms, `again`, and the best */
    size_t arm_count;
    bench_ratio_result ratios[BENCH_MOST_RATIOS + 1]; /**< the row's ratios, and `again` over the first arm */
    size_t ratio_count;
} bench_result;

/** How thoroughly to measure. */
typedef struct bench_effort {
    size_t pairs;        /**< samples an arm, 6 to BENCH_MOST_SAMPLES */
    double sample_nanos; /**< how long a sample should take */
} bench_effort;

/**
 * Measures a row: lets every arm produce its output and compares them, counts the memory traffic of each arm, then
 * samples the arms in rotated order, slice by slice; a sample is the median of its slices. A second instance of the
 * first arm, `again`, shows the noise. Returns false, with a line in `complaint`, when outputs differ, an arm leaks,
 * allocates though it may not, or cannot work, or a ratio names no arm.
 */
bool bench_measure(const bench_row *row, bench_effort effort, bench_result *result, char *complaint, size_t size);

/** Ends the program with a line when `pointer` is NULL: for arms, which have no way to say that memory ran out. */
void bench_need(const void *pointer);

/** Makes the compiler believe that everything `pointer` leads to is read and written here. */
static inline void bench_use(const void *pointer) {
    __asm__ volatile("" : : "r"(pointer) : "memory");
}

#endif
