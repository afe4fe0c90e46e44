#include "core/bytebuf.h"
#include "core/poison_internal.h"
#include "core/pool.h"
#include "tests/support/suite.h"

#include <string.h>
#include <sys/resource.h>

#define MIB ((size_t)1 << 20)
#define SECOND UINT64_C(1000000000)

static leat_pool *pool_with(leat_pool_limits limits) {
    leat_pool *pool = leat_pool_new(NULL, &limits);
    ck_assert_ptr_nonnull(pool);
    return pool;
}

static void *take(leat_pool *pool, size_t size) {
    void *block = leat_alloc_take(leat_pool_alloc(pool), size, NULL);
    ck_assert_ptr_nonnull(block);
    memset(block, 0x5a, size);
    return block;
}

static void give(leat_pool *pool, void *block, size_t size) {
    leat_alloc_give(leat_pool_alloc(pool), block, size);
}

START_TEST(a_block_is_at_most_a_quarter_larger_than_asked) {
    leat_pool *pool = leat_pool_new(NULL, NULL);
    for (size_t size = 1; size < 20 * MIB; size += 1 + size / 13) {
        size_t usable = 0;
        void *block = leat_alloc_take(leat_pool_alloc(pool), size, &usable);
        ck_assert_uint_eq((uintptr_t)block % 16, 0);
        ck_assert_uint_ge(usable, size);
        ck_assert_uint_le(usable, size <= 64 ? 64 : size + size / 4 + 16);
        give(pool, block, usable);
    }
    leat_pool_release(pool);
}
END_TEST

START_TEST(known_sizes_fall_into_their_classes) {
    static const size_t table[][2] = {{0, 64},
                                      {1, 64},
                                      {64, 64},
                                      {65, 80},
                                      {100, 112},
                                      {128, 128},
                                      {513, 640},
                                      {8193, 10240},
                                      {100000, 114688},
                                      {MIB, MIB},
                                      {MIB + 1, MIB + MIB / 4},
                                      {4 * MIB, 4 * MIB},
                                      {8 * MIB, 8 * MIB}};
    leat_pool *pool = leat_pool_new(NULL, NULL);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t usable;
        void *block = leat_alloc_take(leat_pool_alloc(pool), table[i][0], &usable);
        ck_assert_uint_eq(usable, table[i][1]);
        give(pool, block, usable);
    }
    leat_pool_release(pool);
}
END_TEST

START_TEST(the_block_released_last_is_lent_first) {
    leat_pool *pool = leat_pool_new(NULL, NULL);
    void *first = take(pool, 4 * MIB), *second = take(pool, 4 * MIB);
    give(pool, first, 4 * MIB);
    give(pool, second, 4 * MIB);
    ck_assert_ptr_eq(take(pool, 4 * MIB - 100), second);
    ck_assert_ptr_eq(take(pool, 4 * MIB), first);
    ck_assert_uint_eq(leat_pool_statistics(pool).misses, 2);
    give(pool, first, 4 * MIB);
    give(pool, second, 4 * MIB - 100);
    leat_pool_release(pool);
}
END_TEST

/* Blocks of many sizes at once, each filled with its number: nobody writes into another's. */
START_TEST(blocks_never_overlap) {
    enum { BLOCKS = 400 };
    leat_pool *pool = leat_pool_new(NULL, NULL);
    uint8_t *blocks[BLOCKS] = {NULL};
    size_t sizes[BLOCKS] = {0};
    uint32_t random = 7;
    for (int round = 0; round < 20000; round++) {
        random = random * 1664525 + 1013904223;
        size_t i = (random >> 8) % BLOCKS;
        for (size_t at = 0; at < sizes[i]; at += 97)
            ck_assert_uint_eq(blocks[i][at], i % 251);
        give(pool, blocks[i], sizes[i]);
        sizes[i] = (random >> 4) % 3000;
        blocks[i] = take(pool, sizes[i]);
        memset(blocks[i], (int)(i % 251), sizes[i]);
    }
    for (size_t i = 0; i < BLOCKS; i++)
        give(pool, blocks[i], sizes[i]);
    ck_assert_uint_eq(leat_pool_statistics(pool).live, 0);
    leat_pool_release(pool);
}
END_TEST

START_TEST(a_block_grows_in_place_up_to_its_class) {
    leat_pool *pool = leat_pool_new(NULL, NULL);
    leat_alloc *alloc = leat_pool_alloc(pool);
    size_t usable;
    void *block = take(pool, 1025);
    ck_assert(alloc->ops->grow_in_place(alloc, block, 1025, 1280, &usable));
    ck_assert_uint_eq(usable, 1280);
    memset(block, 1, usable);
    ck_assert(!alloc->ops->grow_in_place(alloc, block, 1280, 1281, &usable));
    give(pool, block, 1280);
    leat_pool_release(pool);
}
END_TEST

START_TEST(statistics_tell_what_is_lent_and_kept) {
    leat_pool *pool = leat_pool_new(NULL, NULL);
    void *one = take(pool, 1000), *other = take(pool, 2000);
    give(pool, other, 2000);
    leat_pool_stats stats = leat_pool_statistics(pool);
    ck_assert_uint_eq(stats.allocations, 2);
    ck_assert_uint_eq(stats.live, 1);
    ck_assert_uint_eq(stats.live_bytes, 1024);
    ck_assert_uint_eq(stats.cached, 1);
    ck_assert_uint_eq(stats.cached_bytes, 2048);
    ck_assert_uint_eq(stats.reserved_bytes, 3072);
    give(pool, one, 1000);
    leat_pool_drain(pool);
    stats = leat_pool_statistics(pool);
    ck_assert_uint_eq(stats.live + stats.cached + stats.reserved_bytes, 0);
    leat_pool_release(pool);
}
END_TEST

START_TEST(beyond_the_budget_kept_blocks_go_first_then_blocks_are_refused) {
    leat_pool *pool = pool_with((leat_pool_limits){.most_reserved = 3 * MIB});
    void *large = take(pool, 2 * MIB);
    give(pool, large, 2 * MIB);
    large = take(pool, 3 * MIB);
    ck_assert_uint_eq(leat_pool_statistics(pool).cached, 0);
    ck_assert_ptr_null(leat_alloc_take(leat_pool_alloc(pool), 64, NULL));
    ck_assert_ptr_null(leat_alloc_take(leat_pool_alloc(pool), 100 * MIB, NULL));
    ck_assert_uint_ge(leat_pool_statistics(pool).refused, 2);
    give(pool, large, 3 * MIB);
    give(pool, take(pool, 64), 64);
    leat_pool_release(pool);
}
END_TEST

START_TEST(only_what_was_not_lent_in_the_end_counts_as_refused) {
    leat_pool *pool = pool_with((leat_pool_limits){.most_reserved = 3 * MIB});
    give(pool, take(pool, 2 * MIB), 2 * MIB);
    give(pool, take(pool, 3 * MIB), 3 * MIB);
    ck_assert_uint_eq(leat_pool_statistics(pool).refused, 0);
    ck_assert_ptr_null(leat_alloc_take(leat_pool_alloc(pool), 4 * MIB, NULL));
    ck_assert_uint_eq(leat_pool_statistics(pool).refused, 1);
    leat_pool_release(pool);
}
END_TEST

START_TEST(no_more_is_kept_than_allowed) {
    leat_pool *pool = pool_with((leat_pool_limits){.most_cached = 2 * MIB});
    void *blocks[4];
    for (int i = 0; i < 4; i++)
        blocks[i] = take(pool, MIB);
    for (int i = 0; i < 4; i++)
        give(pool, blocks[i], MIB);
    ck_assert_uint_eq(leat_pool_statistics(pool).cached_bytes, 2 * MIB);
    ck_assert_uint_eq(leat_pool_statistics(pool).reserved_bytes, 2 * MIB);
    leat_pool_release(pool);
}
END_TEST

START_TEST(huge_blocks_are_not_kept) {
    leat_pool *pool = pool_with((leat_pool_limits){.largest = MIB});
    size_t usable;
    leat_alloc *alloc = leat_pool_alloc(pool);
    void *huge = leat_alloc_take(alloc, 5 * MIB + 1, &usable);
    ck_assert_uint_eq(leat_pool_statistics(pool).live_bytes, usable);
    alloc->ops->grow_in_place(alloc, huge, usable, usable + MIB, &usable); /* it may, or not */
    ck_assert_uint_eq(leat_pool_statistics(pool).live_bytes, usable);
    give(pool, huge, usable);
    ck_assert_uint_eq(leat_pool_statistics(pool).reserved_bytes, 0);
    leat_pool_release(pool);
}
END_TEST

#ifdef LEAT_ASAN
START_TEST(kept_and_slack_bytes_are_poisoned) {
    leat_pool *pool = leat_pool_new(NULL, NULL);
    uint8_t *block = take(pool, 1030);
    ck_assert(!__asan_address_is_poisoned(block + 1029));
    ck_assert(__asan_address_is_poisoned(block + 1030));
    ck_assert(__asan_address_is_poisoned(block + 1279));
    give(pool, block, 1030);
    ck_assert(__asan_address_is_poisoned(block));
    ck_assert(__asan_address_is_poisoned(block + 1029));
    leat_pool_release(pool);
}
END_TEST
#define POISON_TEST kept_and_slack_bytes_are_poisoned,
#else
#define POISON_TEST
#endif

/* ---- trimming ---- */

START_TEST(a_block_that_nobody_needs_goes_within_the_trim_age) {
    leat_pool *pool = pool_with((leat_pool_limits){.trim_age = 8 * SECOND});
    leat_pool_trim(pool, 100 * SECOND);
    give(pool, take(pool, 1000), 1000);
    for (uint64_t now = 101; now < 108; now++)
        leat_pool_trim(pool, now * SECOND);
    ck_assert_uint_eq(leat_pool_statistics(pool).reserved_bytes, 0);
    ck_assert_uint_eq(leat_pool_next_trim(pool), UINT64_MAX);
    leat_pool_release(pool);
}
END_TEST

START_TEST(a_block_in_use_again_and_again_stays) {
    leat_pool *pool = pool_with((leat_pool_limits){.trim_age = 8 * SECOND});
    void *both[2] = {take(pool, 1000), take(pool, 1000)};
    give(pool, both[0], 1000);
    give(pool, both[1], 1000);
    for (uint64_t now = 1; now < 40; now++) {
        give(pool, take(pool, 1000), 1000);
        leat_pool_trim(pool, now * SECOND);
    }
    ck_assert_uint_eq(leat_pool_statistics(pool).cached, 1);
    ck_assert_uint_eq(leat_pool_statistics(pool).misses, 2);
    leat_pool_release(pool);
}
END_TEST

START_TEST(the_next_trim_is_due_a_quarter_of_the_age_after_the_last) {
    leat_pool *pool = pool_with((leat_pool_limits){.trim_age = 8 * SECOND});
    ck_assert_uint_eq(leat_pool_next_trim(pool), UINT64_MAX);
    leat_pool_trim(pool, 50 * SECOND);
    give(pool, take(pool, 1000), 1000);
    ck_assert_uint_eq(leat_pool_next_trim(pool), 52 * SECOND);
    leat_pool_release(pool);
}
END_TEST

/* ---- the allocator below ---- */

START_TEST(a_refusal_below_is_passed_on_and_loses_nothing) {
    leat_failing_alloc failing;
    leat_failing_alloc_init(&failing, leat_unpooled());
    leat_pool *pool = leat_pool_new(&failing.alloc, NULL);
    failing.fail_at = failing.asked + 1;
    ck_assert_ptr_null(leat_alloc_take(leat_pool_alloc(pool), 100, NULL));
    ck_assert_uint_eq(leat_pool_statistics(pool).reserved_bytes, 0);
    give(pool, take(pool, 100), 100);
    leat_pool_release(pool);
    failing.fail_at = failing.asked + 1;
    ck_assert_ptr_null(leat_pool_new(&failing.alloc, NULL));
}
END_TEST

START_TEST(over_a_ledger_nothing_is_kept_and_leaks_are_named) {
    leat_tracking_alloc *tracking = leat_tracking_alloc_new(leat_unpooled());
    leat_pool *pool = leat_pool_new(leat_tracking_alloc_base(tracking), NULL);
    size_t before = leat_tracking_alloc_live(tracking);
    leat_bytebuf *buf = leat_bytebuf_new(leat_pool_alloc(pool), 100);
    leat_bytebuf_release(leat_bytebuf_new(leat_pool_alloc(pool), 100));
    ck_assert_uint_eq(leat_tracking_alloc_live(tracking), before + 1);
    leat_bytebuf_release(buf);
    leat_pool_release(pool);
    ck_assert_uint_eq(leat_tracking_alloc_live(tracking), 0);
    leat_tracking_alloc_free(tracking);
}
END_TEST

static long page_faults(void) {
    struct rusage usage;
    ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_minflt;
}

static void use_4_mib(leat_pool *pool) {
    leat_bytebuf *buf = leat_bytebuf_new(leat_pool_alloc(pool), 4 * MIB);
    ck_assert(leat_bytebuf_write_zero(buf, 4 * MIB));
    leat_bytebuf_release(buf);
}

START_TEST(a_buffer_of_4_mib_is_reused_without_a_page_fault) {
    leat_pool *pool = leat_pool_new(NULL, NULL);
    use_4_mib(pool);
    use_4_mib(pool);
    long before = page_faults();
    for (int i = 0; i < 10; i++)
        use_4_mib(pool);
    ck_assert_int_lt(page_faults() - before, 10); /* one for each use would be too many */
    ck_assert_uint_eq(leat_pool_statistics(pool).misses, 1);
    leat_pool_release(pool);
}
END_TEST

int main(void) {
    return suite_run(
        "pool",
        (const TTest *const[]){
            POISON_TEST a_block_is_at_most_a_quarter_larger_than_asked, known_sizes_fall_into_their_classes,
            the_block_released_last_is_lent_first, blocks_never_overlap, a_block_grows_in_place_up_to_its_class,
            statistics_tell_what_is_lent_and_kept, beyond_the_budget_kept_blocks_go_first_then_blocks_are_refused,
            only_what_was_not_lent_in_the_end_counts_as_refused, no_more_is_kept_than_allowed, huge_blocks_are_not_kept,
            a_block_that_nobody_needs_goes_within_the_trim_age, a_block_in_use_again_and_again_stays,
            the_next_trim_is_due_a_quarter_of_the_age_after_the_last, a_refusal_below_is_passed_on_and_loses_nothing,
            over_a_ledger_nothing_is_kept_and_leaks_are_named, a_buffer_of_4_mib_is_reused_without_a_page_fault, NULL});
}
