/** The statistics of the benchmarks: medians, distribution-free intervals of paired ratios, verdicts. */
#ifndef LEAT_BENCH_STATISTICS_H
#define LEAT_BENCH_STATISTICS_H

#include <stddef.h>

/** A median with a lower and an upper end. */
typedef struct bench_summary {
    double median;
    double low;
    double high;
} bench_summary;

/** What a paired ratio says about its requirement. */
typedef enum bench_verdict {
    BENCH_NOT_REQUIRED, /**< nothing was required */
    BENCH_PASS,         /**< the whole range holds the requirement */
    BENCH_FAIL,         /**< the whole range misses it */
    BENCH_UNRESOLVED    /**< the range lies on both sides */
} bench_verdict;

/** The most samples that a summary takes. */
enum { BENCH_MOST_SAMPLES = 128 };

/**
 * Returns the rank k, from 1, of the order statistic that begins the 95 % interval of a median of `count` samples: the
 * largest k for which the k-th smallest and the k-th largest sample enclose the median of the distribution, whatever
 * the distribution is, with a probability of at least 95 %. Needs 6 samples; with fewer it returns 1, the whole range.
 */
size_t bench_interval_rank(size_t count);

/** Returns the median, the smallest and the largest of 1 to BENCH_MOST_SAMPLES samples. */
bench_summary bench_spread(const double *samples, size_t count);

/** Returns the median of the ratios over[i] / under[i] with its 95 % range; `count` as for bench_spread. */
bench_summary bench_paired_ratio(const double *over, const double *under, size_t count);

/** Returns what a ratio says about the requirement "at most `at_most`"; 0 = nothing is required. */
bench_verdict bench_judge(bench_summary ratio, double at_most);

/** Returns the name of a verdict, "PASS", "FAIL" or "UNRESOLVED"; "" when nothing was required. */
const char *bench_verdict_name(bench_verdict verdict);

#endif
