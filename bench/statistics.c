#include "bench/statistics.h"

#include <stdlib.h>
#include <string.h>

static const double TAIL = 0.025; /* what a 95 % interval leaves on each side */

size_t bench_interval_rank(size_t count) {
    double term = 1; /* the probability that exactly `below` of `count` samples lie below the median */
    for (size_t i = 0; i < count; i++)
        term /= 2;
    double tail = term;
    size_t below = 0;
    while (tail <= TAIL && below < count / 2) {
        below++;
        term *= (double)(count - below + 1) / (double)below;
        tail += term;
    }
    return below > 0 ? below : 1;
}

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double middle(const double *sorted, size_t count) {
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* The median of the samples between the rank-th smallest and the rank-th largest. */
static bench_summary summary(const double *samples, size_t count, size_t rank) {
    double sorted[BENCH_MOST_SAMPLES];
    memcpy(sorted, samples, count * sizeof *samples);
    qsort(sorted, count, sizeof *sorted, ascending);
    return (bench_summary){middle(sorted, count), sorted[rank - 1], sorted[count - rank]};
}

bench_summary bench_spread(const double *samples, size_t count) {
    return summary(samples, count, 1);
}

bench_summary bench_paired_ratio(const double *over, const double *under, size_t count) {
    double ratios[BENCH_MOST_SAMPLES];
    for (size_t i = 0; i < count; i++)
        ratios[i] = over[i] / under[i];
    return summary(ratios, count, bench_interval_rank(count));
}

bench_verdict bench_judge(bench_summary ratio, double at_most) {
    if (at_most <= 0)
        return BENCH_NOT_REQUIRED;
    if (ratio.high <= at_most)
        return BENCH_PASS;
    return ratio.low > at_most ? BENCH_FAIL : BENCH_UNRESOLVED;
}

const char *bench_verdict_name(bench_verdict verdict) {
    static const char *const names[] = {"", "PASS", "FAIL", "UNRESOLVED"};
    return names[verdict];
}
