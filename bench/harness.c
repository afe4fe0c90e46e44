#include "bench/harness.h"
#include "bench/clock.h"
#include "bench/compare.h"

#include <stdlib.h>
#include <string.h>

void bench_need(const void *pointer) {
    if (pointer)
        return;
    fputs("leat-bench: out of memory\n", stderr);
    exit(1);
}

static const char *const AGAIN = "again"; /* the second instance of the first arm */

static const uint64_t MOST_TIMES = UINT64_C(1) << 40; /* operations a slice */

/* An arm at work. */
typedef struct contestant {
    const char *name;
    const bench_arm *arm;
    void *state;
    uint64_t times; /* operations a slice of a sample */
    double samples[BENCH_MOST_SAMPLES];
} contestant;

/* The arms of a row at work: each once, the first one twice. */
typedef struct contest {
    const bench_row *row;
    contestant arms[BENCH_MOST_ARMS + 1];
    size_t count;
} contest;

static contest contest_of(const bench_row *row) {
    contest all = {.row = row};
    for (size_t i = 0; i < BENCH_MOST_ARMS && row->arms[i]; i++)
        all.arms[all.count++] = (contestant){.name = row->arms[i]->name, .arm = row->arms[i]};
    all.arms[all.count++] = (contestant){.name = AGAIN, .arm = row->arms[0]};
    return all;
}

/* Gives everybody a state, beginning with another one each round: so no arm always has the better place in memory.
   False = somebody cannot work; `leave` is right either way. */
static bool enter(contest *all, size_t round) {
    bool works = true;
    for (size_t i = 0; i < all->count; i++) {
        contestant *one = &all->arms[(round + i) % all->count];
        one->state = one->arm->set_up(all->row->work, leat_unpooled());
        works = works && one->state;
    }
    return works;
}

static void leave(contest *all) {
    for (size_t i = 0; i < all->count; i++)
        if (all->arms[i].state)
            all->arms[i].arm->tear_down(all->arms[i].state);
}

/* How long the operations take: CPU time if that is what is measured, else wall time. */
static double nanos_of(contestant *one) {
    double before = bench_wall_nanos(), spent = bench_spend(one->arm, one->state, one->times);
    return one->arm->measure ? bench_wall_nanos() - before : spent;
}

/* The least of three times: waiting for a processor only ever adds. */
static double least_nanos_of(contestant *one) {
    double first = nanos_of(one), second = nanos_of(one), third = nanos_of(one);
    double least = first < second ? first : second;
    return third < least ? third : least;
}

/* Finds how many operations fill a slice. */
static void calibrate(contestant *one, double slice_nanos) {
    double elapsed = 0;
    one->times = 1;
    while ((elapsed = least_nanos_of(one)) < slice_nanos / 4 && one->times < MOST_TIMES)
        one->times *= 2;
    if (elapsed < slice_nanos / 4)
        return;
    double wanted = (double)one->times * slice_nanos / elapsed;
    one->times = wanted > 1 ? (uint64_t)wanted : 1;
}

static double slice(contestant *one) {
    return bench_spend(one->arm, one->state, one->times) / (double)one->times;
}

/* Takes one sample of each arm: slices in turn, so that all arms meet the same weather, and the median of an arm's. */
static void sample(contest *all, size_t round) {
    double slices[BENCH_MOST_ARMS + 1][BENCH_SLICES];
    for (size_t i = 0; i < all->count; i++)
        slice(&all->arms[i]); /* warms up what is new */
    for (size_t at = 0; at < BENCH_SLICES; at++)
        for (size_t i = 0; i < all->count; i++) {
            size_t step = at % 2 ? all->count - 1 - i : i, which = (round + at + step) % all->count;
            slices[which][at] = slice(&all->arms[which]);
        }
    for (size_t i = 0; i < all->count; i++)
        all->arms[i].samples[round] = bench_spread(slices[i], BENCH_SLICES).median;
}

static bool calibrate_all(contest *all, double slice_nanos) {
    bool works = enter(all, 0);
    for (size_t i = 0; works && i + 1 < all->count; i++)
        calibrate(&all->arms[i], slice_nanos);
    all->arms[all->count - 1].times = all->arms[0].times; /* nothing but chance tells them apart */
    leave(all);
    return works;
}

static bool sample_all(contest *all, bench_effort effort) {
    bool works = calibrate_all(all, effort.sample_nanos / BENCH_SLICES);
    for (size_t round = 0; works && round < effort.pairs; round++) {
        works = enter(all, round);
        if (works)
            sample(all, round);
        leave(all);
    }
    return works;
}

static const contestant *find(const contest *all, const char *name) {
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->arms[i].name, name) == 0)
            return &all->arms[i];
    return NULL;
}

/* The better of the two arms that the row's derived arm stands for. */
static const contestant *best(const contest *all, size_t pairs) {
    const contestant *first = find(all, all->row->best.of[0]), *second = find(all, all->row->best.of[1]);
    if (!first || !second)
        return NULL;
    return bench_spread(first->samples, pairs).median <= bench_spread(second->samples, pairs).median ? first : second;
}

/* The arm of that name, seen through the derived one. */
static const contestant *resolve(const contest *all, const char *name, size_t pairs) {
    const bench_best *derived = &all->row->best;
    return derived->name && strcmp(derived->name, name) == 0 ? best(all, pairs) : find(all, name);
}

static void conclude_arms(const contest *all, size_t pairs, bench_result *result) {
    for (size_t i = 0; i < all->count; i++) {
        result->arms[i].name = all->arms[i].name;
        result->arms[i].cost = bench_spread(all->arms[i].samples, pairs);
    }
    result->arms[all->count - 1].traffic = result->arms[0].traffic;
    result->arm_count = all->count;
    const contestant *better = all->row->best.name ? best(all, pairs) : NULL;
    if (!better)
        return;
    bench_arm_result *derived = &result->arms[result->arm_count++];
    *derived = result->arms[better - all->arms];
    derived->name = all->row->best.name;
    derived->is = better->name;
}

static bool conclude_ratio(const contest *all, bench_ratio ratio, size_t pairs, bench_result *result) {
    const contestant *over = resolve(all, ratio.over, pairs), *under = resolve(all, ratio.under, pairs);
    if (!over || !under)
        return false;
    bench_summary value = bench_paired_ratio(over->samples, under->samples, pairs);
    result->ratios[result->ratio_count++] = (bench_ratio_result){ratio, value, bench_judge(value, ratio.at_most)};
    return true;
}

/* Works out everything that the samples say. False = a ratio names an arm that does not exist. */
static bool conclude(const contest *all, size_t pairs, bench_result *result) {
    conclude_arms(all, pairs, result);
    for (size_t i = 0; i < BENCH_MOST_RATIOS && all->row->ratios[i].over; i++)
        if (!conclude_ratio(all, all->row->ratios[i], pairs, result))
            return false;
    return conclude_ratio(all, (bench_ratio){AGAIN, all->row->arms[0]->name, 0}, pairs, result);
}

/* Whether the arm keeps the promise that the row makes for it. */
static bool allocates_as_promised(const bench_row *row, const char *arm, double allocs, char *complaint, size_t size) {
    if (!row->allocates_nothing || strcmp(row->allocates_nothing, arm) != 0 || allocs <= 0)
        return true;
    snprintf(complaint, size, "%s/%s: %s allocates %g times an operation", row->suite, row->name, arm, allocs);
    return false;
}

static bool count_all(const bench_row *row, bench_result *result, char *complaint, size_t size) {
    for (size_t i = 0; i < BENCH_MOST_ARMS && row->arms[i]; i++) {
        bench_traffic *traffic = &result->arms[i].traffic;
        if (!bench_count(row, row->arms[i], traffic, complaint, size))
            return false;
        if (!allocates_as_promised(row, row->arms[i]->name, traffic->allocs, complaint, size))
            return false;
    }
    return true;
}

static bool time_all(const bench_row *row, bench_effort effort, bench_result *result, char *complaint, size_t size) {
    contest all = contest_of(row);
    bool works = sample_all(&all, effort);
    if (works && conclude(&all, effort.pairs, result))
        return true;
    snprintf(complaint, size, "%s/%s: %s", row->suite, row->name,
             works ? "a ratio names an arm that does not exist" : "out of memory");
    return false;
}

bool bench_measure(const bench_row *row, bench_effort effort, bench_result *result, char *complaint, size_t size) {
    *result = (bench_result){.row = row};
    return bench_compare(row, complaint, size) && count_all(row, result, complaint, size) &&
           time_all(row, effort, result, complaint, size);
}
