#include "bench/compare.h"
#include "bench/clock.h"

#include <stdlib.h>
#include <string.h>

enum { COUNTED_OPERATIONS = 16 };

/* Makes room for `length` more bytes. */
static bool make_room(bench_output *output, size_t length) {
    if (length <= output->capacity - output->length)
        return true;
    size_t capacity = 2 * output->capacity + length;
    uint8_t *bytes = realloc(output->bytes, capacity);
    if (!bytes)
        return false;
    output->bytes = bytes;
    output->capacity = capacity;
    return true;
}

void bench_output_add(bench_output *output, const void *bytes, size_t length) {
    if (length == 0 || output->failed)
        return;
    if (!make_room(output, length)) {
        output->failed = true;
        return;
    }
    memcpy(output->bytes + output->length, bytes, length);
    output->length += length;
}

static bool complain(const bench_row *row, const bench_arm *arm, const char *what, char *complaint, size_t size) {
    snprintf(complaint, size, "%s/%s: arm %s %s", row->suite, row->name, arm->name, what);
    return false;
}

static bool output_of(const bench_row *row, const bench_arm *arm, bench_output *output) {
    void *state = arm->set_up(row->work, leat_unpooled());
    if (!state)
        return false;
    arm->output(state, output);
    arm->tear_down(state);
    return !output->failed;
}

/* Where two outputs part: the first byte that differs, or the length of the shorter one. */
static size_t first_difference(const bench_output *left, const bench_output *right) {
    size_t shorter = left->length < right->length ? left->length : right->length;
    size_t at = 0;
    while (at < shorter && left->bytes[at] == right->bytes[at])
        at++;
    return at;
}

static bool same(const bench_output *left, const bench_output *right) {
    return left->length == right->length && first_difference(left, right) == left->length;
}

/* Compares one arm with what the first arm produced. */
static bool agrees(const bench_row *row, const bench_arm *arm, const bench_output *expected, char *complaint,
                   size_t size) {
    bench_output output = {0};
    char what[160] = "cannot do its work";
    bool works = output_of(row, arm, &output);
    bool equal = works && same(expected, &output);
    if (works && !equal)
        snprintf(what, sizeof what, "differs from %s at byte %zu (%zu bytes, not %zu)", row->arms[0]->name,
                 first_difference(expected, &output), output.length, expected->length);
    free(output.bytes);
    return equal || complain(row, arm, what, complaint, size);
}

bool bench_compare(const bench_row *row, char *complaint, size_t size) {
    bench_output expected = {0};
    bool fine =
        output_of(row, row->arms[0], &expected) || complain(row, row->arms[0], "cannot do its work", complaint, size);
    for (size_t i = 1; fine && i < BENCH_MOST_ARMS && row->arms[i]; i++)
        fine = agrees(row, row->arms[i], &expected, complaint, size);
    free(expected.bytes);
    return fine;
}

double bench_spend(const bench_arm *arm, void *state, uint64_t times) {
    if (arm->measure)
        return arm->measure(state, times);
    double before = bench_cpu_nanos();
    arm->run(state, times);
    return bench_cpu_nanos() - before;
}

/* The mean traffic between two counts. */
static bench_traffic traffic_between(const leat_alloc_stats *before, const leat_alloc_stats *after) {
    const double operations = COUNTED_OPERATIONS;
    return (bench_traffic){(double)(after->allocations - before->allocations) / operations,
                           (double)(after->bytes - before->bytes) / operations,
                           (double)(after->growths - before->growths) / operations,
                           (double)(after->copied - before->copied) / operations};
}

bool bench_count(const bench_row *row, const bench_arm *arm, bench_traffic *traffic, char *complaint, size_t size) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    void *state = arm->set_up(row->work, &counting.alloc);
    if (!state)
        return complain(row, arm, "cannot do its work", complaint, size);
    bench_spend(arm, state, 1);
    leat_alloc_stats before = counting.counted;
    bench_spend(arm, state, COUNTED_OPERATIONS);
    *traffic = traffic_between(&before, &counting.counted);
    arm->tear_down(state);
    return counting.counted.live == 0 || complain(row, arm, "leaves blocks behind", complaint, size);
}
