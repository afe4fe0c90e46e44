#include "handlers/push/router.h"
#include "tests/support/suite.h"

#include <string.h>

enum { MANY = 64 };

/* A destination that writes down what it was given, and refuses chunks of one value. */
typedef struct sink {
    size_t place;
    size_t writes;
    size_t count;
    int chunks[4096];
    int refused;
} sink;

typedef struct fixture {
    leat_push_router router;
    leat_counting_alloc counting;
    sink sinks[MANY];
    int values[4096];
    void *chunks[4096];
    size_t writes;
} fixture;

static fixture f;

static void take(void *context, void *destination, void *const *chunks, size_t count) {
    sink *to = destination;
    ((fixture *)context)->writes++;
    to->writes++;
    for (size_t i = 0; i < count; i++)
        to->chunks[to->count++] = *(int *)chunks[i];
}

static bool accepts(void *context, void *destination, void *chunk) {
    (void)context;
    return ((sink *)destination)->refused != *(int *)chunk;
}

static void begin(size_t sinks, const leat_push_router_options *options) {
    memset(&f, 0, sizeof f);
    leat_counting_alloc_init(&f.counting, leat_unpooled());
    leat_push_router_init(&f.router, &f.counting.alloc, options);
    for (int i = 0; i < 4096; i++) {
        f.values[i] = i + 1;
        f.chunks[i] = &f.values[i];
    }
    for (size_t i = 0; i < sinks; i++)
        ck_assert_int_eq(leat_push_router_add(&f.router, &f.sinks[i], &f.sinks[i].place), 0);
}

static void end(void) {
    leat_push_router_clean_up(&f.router);
    ck_assert_uint_eq(f.counting.counted.live, 0);
}

static void route(void *const *chunks, size_t count, bool choosy) {
    leat_push_routing routing = {.accepts = choosy ? accepts : NULL, .write = take, .context = &f};
    ck_assert_int_eq(leat_push_router_route(&f.router, chunks, count, &routing), 0);
}

static size_t given(void) {
    size_t sum = 0;
    for (size_t i = 0; i < MANY; i++)
        sum += f.sinks[i].count;
    return sum;
}

START_TEST(every_chunk_goes_to_exactly_one_destination) {
    begin(7, NULL);
    size_t seen[1001] = {0};
    route(f.chunks, 1000, false);
    for (size_t i = 0; i < 7; i++)
        for (size_t k = 0; k < f.sinks[i].count; k++)
            seen[f.sinks[i].chunks[k]]++;
    for (size_t value = 1; value <= 1000; value++)
        ck_assert_uint_eq(seen[value], 1);
    end();
}
END_TEST

START_TEST(ten_chunks_over_four_are_spread_3_3_2_2_wherever_they_begin) {
    for (size_t offset = 0; offset < 4; offset++) {
        begin(4, NULL);
        route(f.chunks, offset, false);
        for (size_t i = 0; i < 4; i++)
            f.sinks[i].count = 0;
        route(f.chunks, 10, false);
        const size_t expected[] = {3, 3, 2, 2};
        for (size_t i = 0; i < 4; i++)
            ck_assert_uint_eq(f.sinks[(offset + i) % 4].count, expected[i]);
        end();
    }
}
END_TEST

START_TEST(a_destination_is_written_to_once_a_call_in_the_order_of_the_chunks) {
    begin(3, NULL);
    route(f.chunks, 10, false);
    ck_assert_uint_eq(f.writes, 3);
    const int expected[] = {1, 4, 7, 10};
    ck_assert_mem_eq(f.sinks[0].chunks, expected, sizeof expected);
    end();
}
END_TEST

START_TEST(fewer_chunks_than_destinations_write_to_exactly_that_many) {
    begin(50, NULL);
    route(f.chunks, 8, false);
    ck_assert_uint_eq(f.writes, 8);
    ck_assert_uint_eq(given(), 8);
    end();
}
END_TEST

START_TEST(a_refused_chunk_is_dropped_and_offered_to_nobody_else) {
    begin(4, NULL);
    f.sinks[1].refused = 2;
    route(f.chunks, 4, true);
    ck_assert_uint_eq(f.writes, 3);
    ck_assert_uint_eq(given(), 3);
    route(f.chunks + 4, 1, true);
    ck_assert_int_eq(f.sinks[0].chunks[1], 5); /* the turn went on from the refused chunk too */
    end();
}
END_TEST

START_TEST(a_destination_that_refuses_all_it_gets_is_not_written_to) {
    begin(2, NULL);
    f.sinks[0].refused = 1;
    route(f.chunks, 1, true);
    ck_assert_uint_eq(f.writes, 0);
    end();
}
END_TEST

START_TEST(two_thousand_single_chunks_reach_all_of_fifty_from_a_random_begin) {
    const leat_push_router_options options = {.random_start = true, .seed = 20240607};
    printf("seed %llu\n", (unsigned long long)options.seed);
    begin(50, &options);
    for (size_t i = 0; i < 2000; i++)
        route(f.chunks, 1, false);
    for (size_t i = 0; i < 50; i++)
        ck_assert_uint_gt(f.sinks[i].count, 0);
    end();
}
END_TEST

START_TEST(two_thousand_single_chunks_give_each_of_fifty_its_forty) {
    begin(50, NULL);
    for (size_t i = 0; i < 2000; i++)
        route(f.chunks, 1, false);
    for (size_t i = 0; i < 50; i++)
        ck_assert_uint_eq(f.sinks[i].count, 40);
    end();
}
END_TEST

START_TEST(no_chunks_and_no_destinations_do_nothing) {
    begin(0, NULL);
    route(f.chunks, 5, false);
    route(NULL, 5, false);
    ck_assert_int_eq(leat_push_router_add(&f.router, &f.sinks[0], &f.sinks[0].place), 0);
    route(NULL, 5, false);
    route(f.chunks, 0, false);
    ck_assert_uint_eq(f.writes, 0);
    end();
}
END_TEST

START_TEST(routing_again_allocates_nothing) {
    begin(8, NULL);
    route(f.chunks, 200, false);
    uint64_t before = f.counting.counted.allocations;
    for (size_t i = 0; i < 10; i++)
        route(f.chunks, 200 - i, i % 2);
    ck_assert_uint_eq(f.counting.counted.allocations, before);
    end();
}
END_TEST

static void remove_sink(size_t i) {
    leat_push_router_remove(&f.router, f.sinks[i].place);
    f.sinks[i].refused = -1; /* marks it as gone */
}

START_TEST(those_that_stay_keep_their_turn_when_others_leave) {
    begin(20, NULL);
    for (size_t round = 0; round < 9; round++) {
        route(f.chunks, 13, false);
        remove_sink((round * 7) % 20);
    }
    size_t low = SIZE_MAX, high = 0;
    for (size_t i = 0; i < 20; i++) {
        size_t count = f.sinks[i].count;
        if (f.sinks[i].refused == 0 && count < low)
            low = count;
        if (f.sinks[i].refused == 0 && count > high)
            high = count;
    }
    ck_assert_uint_le(high - low, 1);
    end();
}
END_TEST

START_TEST(places_stay_right_while_destinations_come_and_go) {
    begin(10, NULL);
    route(f.chunks, 4, false);
    remove_sink(1);
    remove_sink(9);
    remove_sink(5);
    for (size_t i = 0; i < 10; i++)
        if (f.sinks[i].refused == 0)
            ck_assert_ptr_eq(leat_push_router_at(&f.router, f.sinks[i].place), &f.sinks[i]);
    ck_assert_uint_eq(leat_push_router_size(&f.router), 7);
    end();
}
END_TEST

START_TEST(without_memory_for_a_list_nothing_is_written) {
    leat_failing_alloc failing;
    leat_failing_alloc_init(&failing, leat_unpooled());
    begin(0, NULL);
    leat_push_router_init(&f.router, &failing.alloc, NULL);
    ck_assert_int_eq(leat_push_router_add(&f.router, &f.sinks[0], &f.sinks[0].place), 0);
    failing.fail_at = failing.asked + 1;
    leat_push_routing routing = {.write = take, .context = &f};
    ck_assert_int_eq(leat_push_router_route(&f.router, f.chunks, 10, &routing), LEAT_ENOMEM);
    ck_assert_uint_eq(f.writes, 0);
    leat_push_router_clean_up(&f.router);
}
END_TEST

int main(void) {
    return suite_run(
        "push_router",
        (const TTest *const[]){
            every_chunk_goes_to_exactly_one_destination, ten_chunks_over_four_are_spread_3_3_2_2_wherever_they_begin,
            a_destination_is_written_to_once_a_call_in_the_order_of_the_chunks,
            fewer_chunks_than_destinations_write_to_exactly_that_many,
            a_refused_chunk_is_dropped_and_offered_to_nobody_else,
            a_destination_that_refuses_all_it_gets_is_not_written_to,
            two_thousand_single_chunks_reach_all_of_fifty_from_a_random_begin,
            two_thousand_single_chunks_give_each_of_fifty_its_forty, no_chunks_and_no_destinations_do_nothing,
            routing_again_allocates_nothing, those_that_stay_keep_their_turn_when_others_leave,
            places_stay_right_while_destinations_come_and_go, without_memory_for_a_list_nothing_is_written, NULL});
}
