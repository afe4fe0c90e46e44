#include "bench/harness.h"
#include "bench/report.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { PAIRS = 6 };
static const bench_effort six_pairs = {.pairs = PAIRS, .sample_nanos = 0};

typedef struct player player;

/* What an arm of these tests costs an operation, what it says, and where it stays if it leaks. */
typedef struct script {
    double costs[PAIRS]; /* sample by sample if set-ups are counted, else the first one always */
    size_t *set_ups;
    const char *says;
    player **leaked;
} script;

struct player {
    leat_alloc *alloc;
    const script *plays;
    size_t round;
    size_t played;
    player *next_leaked;
};

/* Set up once for the output, once for the count, then `instances` times for the calibration and for each sample. */
static size_t round_of(const script *plays, size_t instances) {
    size_t number = plays->set_ups ? (*plays->set_ups)++ : 0;
    return number < 2 + instances ? 0 : (number - 2) / instances - 1;
}

static void *player_new(const script *plays, size_t instances, leat_alloc *alloc) {
    player *one = leat_alloc_take(alloc, sizeof *one, NULL);
    ck_assert_ptr_nonnull(one);
    *one = (player){.alloc = alloc, .plays = plays, .round = round_of(plays, instances)};
    return one;
}

static void *first_new(const void *work, leat_alloc *alloc) {
    return player_new((const script *)work, 2, alloc);
}

static void *second_new(const void *work, leat_alloc *alloc) {
    return player_new((const script *)work + 1, 1, alloc);
}

/* An operation takes a block of 100 bytes and gives it back. */
static double play(void *state, uint64_t times) {
    player *one = state;
    for (uint64_t i = 0; i < times; i++)
        leat_alloc_give(one->alloc, leat_alloc_take(one->alloc, 100, NULL), 100);
    return one->plays->costs[one->round] * (double)times;
}

static void say(void *state, bench_output *output) {
    const char *says = ((player *)state)->plays->says;
    bench_output_add(output, says, strlen(says));
}

static void player_free(void *state) {
    player *one = state;
    if (!one->plays->leaked) {
        leat_alloc_give(one->alloc, one, sizeof *one);
        return;
    }
    one->next_leaked = *one->plays->leaked;
    *one->plays->leaked = one;
}

static const bench_arm first = {"first", first_new, NULL, say, player_free, play};
static const bench_arm second = {"second", second_new, NULL, say, player_free, play};

static bench_row row_of(const script scripts[2], bench_ratio ratio) {
    return (bench_row){.suite = "suite",
                       .name = "case",
                       .unit = "points",
                       .work = scripts,
                       .arms = {&first, &second},
                       .best = {"best", {"first", "second"}},
                       .ratios = {ratio}};
}

static const script steady[2] = {{.costs = {4}, .says = "same"}, {.costs = {2}, .says = "same"}};

START_TEST(interval_of_the_median_encloses_it_in_95_of_100_cases) {
    ck_assert_uint_eq(bench_interval_rank(5), 1);
    ck_assert_uint_eq(bench_interval_rank(6), 1);
    ck_assert_uint_eq(bench_interval_rank(8), 1);
    ck_assert_uint_eq(bench_interval_rank(9), 2);
    ck_assert_uint_eq(bench_interval_rank(12), 3);
    ck_assert_uint_eq(bench_interval_rank(20), 6);
    ck_assert_uint_eq(bench_interval_rank(100), 40);
}
END_TEST

START_TEST(spread_is_the_median_between_the_smallest_and_the_largest) {
    bench_summary odd = bench_spread((const double[]){9, 1, 5}, 3);
    ck_assert(odd.median == 5 && odd.low == 1 && odd.high == 9);
    bench_summary even = bench_spread((const double[]){8, 2, 4, 6}, 4);
    ck_assert(even.median == 5 && even.low == 2 && even.high == 8);
}
END_TEST

START_TEST(paired_ratio_drops_the_two_most_extreme_of_twelve_on_each_side) {
    const double over[] = {12, 1, 11, 2, 10, 3, 9, 4, 8, 5, 7, 6};
    const double under[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    bench_summary ratio = bench_paired_ratio(over, under, 12);
    ck_assert(ratio.median == 6.5 && ratio.low == 3 && ratio.high == 10);
}
END_TEST

START_TEST(drift_that_both_arms_share_cancels_in_the_paired_ratio) {
    const double over[] = {2, 4, 8, 16, 32, 64}, under[] = {1, 2, 4, 8, 16, 32};
    bench_summary ratio = bench_paired_ratio(over, under, 6);
    ck_assert(ratio.median == 2 && ratio.low == 2 && ratio.high == 2);
}
END_TEST

START_TEST(verdict_needs_the_whole_range_on_one_side) {
    bench_summary ratio = {.median = 1.05, .low = 1.0, .high = 1.1};
    ck_assert_int_eq(bench_judge(ratio, 1.1), BENCH_PASS);
    ck_assert_int_eq(bench_judge(ratio, 1.09), BENCH_UNRESOLVED);
    ck_assert_int_eq(bench_judge(ratio, 1.0), BENCH_UNRESOLVED);
    ck_assert_int_eq(bench_judge(ratio, 0.99), BENCH_FAIL);
    ck_assert_int_eq(bench_judge(ratio, 0), BENCH_NOT_REQUIRED);
}
END_TEST

static bench_result measured(const bench_row *row) {
    bench_result result;
    char complaint[256] = "";
    ck_assert_msg(bench_measure(row, six_pairs, &result, complaint, sizeof complaint), "%s", complaint);
    return result;
}

START_TEST(ratio_is_taken_sample_by_sample) {
    size_t set_ups[2] = {0, 0};
    const script scripts[2] = {{.costs = {3, 4, 5, 6, 7, 8}, .set_ups = &set_ups[0], .says = "same"},
                               {.costs = {1, 2, 1, 2, 1, 2}, .set_ups = &set_ups[1], .says = "same"}};
    bench_row row = row_of(scripts, (bench_ratio){"first", "second", 2});
    bench_result result = measured(&row);
    ck_assert(result.ratios[0].value.low == 2 && result.ratios[0].value.high == 7);
    ck_assert(result.ratios[0].value.median == 3.5);
    ck_assert_int_eq(result.ratios[0].verdict, BENCH_UNRESOLVED);
}
END_TEST

/* Costs 1 an operation, but the warming slice and nearly half of the others are disturbed. */
static double play_disturbed(void *state, uint64_t times) {
    player *one = state;
    return one->played++ <= BENCH_SLICES / 2 ? 1000 * (double)times : (double)times;
}

START_TEST(slices_that_were_disturbed_do_not_count_while_most_were_not) {
    bench_arm disturbed = first;
    disturbed.measure = play_disturbed;
    bench_row row = row_of(steady, (bench_ratio){"first", "second", 2});
    row.arms[0] = &disturbed;
    bench_result result = measured(&row);
    ck_assert(result.arms[0].cost.low == 1 && result.arms[0].cost.high == 1);
}
END_TEST

START_TEST(best_is_the_arm_with_the_lower_median) {
    bench_row row = row_of(steady, (bench_ratio){"first", "best", 1.5});
    bench_result result = measured(&row);
    ck_assert_uint_eq(result.arm_count, 4);
    ck_assert_str_eq(result.arms[3].name, "best");
    ck_assert_str_eq(result.arms[3].is, "second");
    ck_assert(result.arms[3].cost.median == 2);
    ck_assert(result.ratios[0].value.median == 2);
    ck_assert_int_eq(result.ratios[0].verdict, BENCH_FAIL);
}
END_TEST

START_TEST(every_row_measures_its_first_arm_again) {
    bench_row row = row_of(steady, (bench_ratio){"second", "first", 0.5});
    bench_result result = measured(&row);
    ck_assert_int_eq(result.ratios[0].verdict, BENCH_PASS);
    ck_assert_uint_eq(result.ratio_count, 2);
    ck_assert_str_eq(result.ratios[1].ratio.over, "again");
    ck_assert_str_eq(result.ratios[1].ratio.under, "first");
    ck_assert(result.ratios[1].value.median == 1);
}
END_TEST

START_TEST(memory_traffic_is_counted_an_operation) {
    bench_row row = row_of(steady, (bench_ratio){"first", "second", 2});
    bench_result result = measured(&row);
    for (size_t i = 0; i < result.arm_count; i++) {
        ck_assert(result.arms[i].traffic.allocs == 1);
        ck_assert(result.arms[i].traffic.bytes >= 100);
        ck_assert(result.arms[i].traffic.growths == 0);
        ck_assert(result.arms[i].traffic.copied == 0);
    }
}
END_TEST

static void assert_complaint(const bench_row *row, const char *expected) {
    bench_result result;
    char complaint[256] = "";
    ck_assert(!bench_measure(row, six_pairs, &result, complaint, sizeof complaint));
    ck_assert_str_eq(complaint, expected);
}

START_TEST(outputs_that_differ_are_an_error_before_anything_is_timed) {
    const script scripts[2] = {{.says = "0123"}, {.says = "01x3"}};
    bench_row row = row_of(scripts, (bench_ratio){"first", "second", 2});
    assert_complaint(&row, "suite/case: arm second differs from first at byte 2 (4 bytes, not 4)");
}
END_TEST

START_TEST(output_that_is_cut_short_is_an_error) {
    const script scripts[2] = {{.says = "0123"}, {.says = "01"}};
    bench_row row = row_of(scripts, (bench_ratio){"first", "second", 2});
    assert_complaint(&row, "suite/case: arm second differs from first at byte 2 (2 bytes, not 4)");
}
END_TEST

START_TEST(arm_that_leaves_blocks_behind_is_an_error) {
    player *leaked = NULL;
    const script scripts[2] = {{.says = "same"}, {.says = "same", .leaked = &leaked}};
    bench_row row = row_of(scripts, (bench_ratio){"first", "second", 2});
    assert_complaint(&row, "suite/case: arm second leaves blocks behind");
    while (leaked) {
        player *next = leaked->next_leaked;
        leat_alloc_give(leat_unpooled(), leaked, sizeof *leaked);
        leaked = next;
    }
}
END_TEST

START_TEST(an_arm_that_allocates_though_it_may_not_is_an_error) {
    bench_row row = row_of(steady, (bench_ratio){"first", "second", 2});
    row.allocates_nothing = "second";
    assert_complaint(&row, "suite/case: second allocates 1 times an operation");
}
END_TEST

START_TEST(ratio_of_an_arm_that_does_not_exist_is_an_error) {
    bench_row row = row_of(steady, (bench_ratio){"first", "third", 2});
    assert_complaint(&row, "suite/case: a ratio names an arm that does not exist");
}
END_TEST

/* What `print` writes of a result; the caller frees it. */
static char *printed(void (*print)(FILE *, const bench_result *), const bench_result *result) {
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    print(file, result);
    size_t length = (size_t)ftell(file);
    char *text = calloc(1, length + 1);
    rewind(file);
    ck_assert_uint_eq(fread(text, 1, length, file), length);
    fclose(file);
    return text;
}

static const bench_row example_row = {.suite = "gather", .name = "walk"};

static bench_result example(void) {
    bench_arm_result copy = {"copy", NULL, {684, 680.5, 700}, {0, 0, 0, 30720}};
    bench_arm_result best = {"best", "copy", {684, 680.5, 700}, {1, 96, 0.5, 30720}};
    return (bench_result){
        .row = &example_row,
        .arms = {copy, best},
        .arm_count = 2,
        .ratios = {{{"auto", "best", 1.1}, {1.05, 1, 1.125}, BENCH_UNRESOLVED}, {{"again", "auto", 0}, {1, 1, 1}, 0}},
        .ratio_count = 2};
}

START_TEST(json_is_one_line_with_every_field) {
    bench_result result = example();
    char *text = printed(bench_print_json, &result);
    ck_assert_str_eq(text, "{\"suite\":\"gather\",\"case\":\"walk\",\"arms\":{"
                           "\"copy\":{\"median\":684,\"low\":680.5,\"high\":700,\"unit\":\"ns\","
                           "\"allocs\":0,\"bytes\":0,\"growths\":0,\"copied\":30720},"
                           "\"best\":{\"median\":684,\"low\":680.5,\"high\":700,\"unit\":\"ns\","
                           "\"allocs\":1,\"bytes\":96,\"growths\":0.5,\"copied\":30720,\"is\":\"copy\"}},\"ratios\":{"
                           "\"auto/best\":{\"median\":1.05,\"low\":1,\"high\":1.125,"
                           "\"required\":1.1,\"verdict\":\"UNRESOLVED\"},"
                           "\"again/auto\":{\"median\":1,\"low\":1,\"high\":1,\"required\":null,\"verdict\":null}}}\n");
    free(text);
}
END_TEST

START_TEST(table_shows_the_requirement_and_its_verdict) {
    bench_result result = example();
    char *text = printed(bench_print, &result);
    ck_assert_ptr_nonnull(strstr(text, "gather/walk\n"));
    ck_assert_ptr_nonnull(strstr(text, "auto/best"));
    ck_assert_ptr_nonnull(strstr(text, "<= 1.1    UNRESOLVED\n"));
    free(text);
}
END_TEST

int main(void) {
    return suite_run(
        "bench_harness",
        (const TTest *const[]){
            interval_of_the_median_encloses_it_in_95_of_100_cases,
            spread_is_the_median_between_the_smallest_and_the_largest,
            paired_ratio_drops_the_two_most_extreme_of_twelve_on_each_side,
            drift_that_both_arms_share_cancels_in_the_paired_ratio, verdict_needs_the_whole_range_on_one_side,
            ratio_is_taken_sample_by_sample, slices_that_were_disturbed_do_not_count_while_most_were_not,
            best_is_the_arm_with_the_lower_median, every_row_measures_its_first_arm_again,
            memory_traffic_is_counted_an_operation, outputs_that_differ_are_an_error_before_anything_is_timed,
            output_that_is_cut_short_is_an_error, arm_that_leaves_blocks_behind_is_an_error,
            an_arm_that_allocates_though_it_may_not_is_an_error, ratio_of_an_arm_that_does_not_exist_is_an_error,
            json_is_one_line_with_every_field, table_shows_the_requirement_and_its_verdict, NULL});
}
