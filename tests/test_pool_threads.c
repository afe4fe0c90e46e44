/* Pools and threads: what is made on one and released on another. */
#include "core/bytebuf.h"
#include "core/poison_internal.h"
#include "core/pool.h"
#include "tests/support/suite.h"

#include <pthread.h>

static void run_elsewhere(void *(*run)(void *), void *argument) {
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, run, argument), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

typedef struct bundle {
    leat_pool *pool;
    leat_bytebuf *bufs[1000];
} bundle;

static void *release_all(void *argument) {
    bundle *all = argument;
    for (int i = 0; i < 1000; i++)
        leat_bytebuf_release(all->bufs[i]);
    return NULL;
}

static void *make_all(void *argument) {
    bundle *all = argument;
    for (int i = 0; i < 1000; i++) {
        all->bufs[i] = leat_bytebuf_new(leat_pool_alloc(all->pool), 200);
        leat_bytebuf_write_u64(all->bufs[i], (uint64_t)i);
    }
    return NULL;
}

START_TEST(what_is_released_elsewhere_comes_back) {
    bundle all = {.pool = leat_pool_new(NULL, NULL)};
    make_all(&all);
    run_elsewhere(release_all, &all);
    ck_assert_uint_eq(leat_pool_statistics(all.pool).returned, 1000);
    ck_assert_uint_eq(leat_pool_statistics(all.pool).live, 0);
    make_all(&all);
    ck_assert_uint_eq(leat_pool_statistics(all.pool).misses, 1000);
    release_all(&all);
    leat_pool_release(all.pool);
}
END_TEST

START_TEST(a_thread_may_end_and_leave_live_buffers) {
    bundle all = {.pool = leat_pool_new(NULL, NULL)};
    run_elsewhere(make_all, &all);
    ck_assert_uint_eq(leat_pool_statistics(all.pool).live, 1000);
    for (int i = 0; i < 1000; i++)
        ck_assert_uint_eq(leat_bytebuf_get_u64(all.bufs[i], 0), (uint64_t)i);
    release_all(&all);
    ck_assert_uint_eq(leat_pool_statistics(all.pool).cached, 1000);
    leat_pool_release(all.pool);
}
END_TEST

static void *own_a_pool(void *argument) {
    bundle *all = argument;
    all->pool = leat_pool_new(NULL, NULL);
    make_all(all);
    leat_pool_release(all->pool);
    return NULL;
}

START_TEST(a_pool_outlives_its_last_block) {
    static bundle all;
    run_elsewhere(own_a_pool, &all);
    leat_bytebuf *slice = leat_bytebuf_slice(all.bufs[7], 0, 8);
    ck_assert_uint_eq(leat_bytebuf_get_u64(slice, 0), 7);
    run_elsewhere(release_all, &all);
    ck_assert_uint_eq(leat_bytebuf_get_u64(slice, 0), 7);
    leat_bytebuf_release(slice);
}
END_TEST

#ifdef LEAT_ASAN
START_TEST(what_is_released_elsewhere_is_poisoned_until_it_is_lent_again) {
    bundle all = {.pool = leat_pool_new(NULL, NULL)};
    make_all(&all);
    const uint8_t *byte = leat_bytebuf_data(all.bufs[500]);
    ck_assert(!__asan_address_is_poisoned(byte));
    run_elsewhere(release_all, &all);
    ck_assert(__asan_address_is_poisoned(byte));
    make_all(&all);
    ck_assert(!__asan_address_is_poisoned(byte));
    release_all(&all);
    leat_pool_release(all.pool);
}
END_TEST
#define POISON_TEST what_is_released_elsewhere_is_poisoned_until_it_is_lent_again,
#else
#define POISON_TEST
#endif

/* Nothing else is kept. */
START_TEST(what_came_back_goes_before_blocks_are_refused) {
    bundle all = {.pool = leat_pool_new(NULL, &(leat_pool_limits){.most_reserved = 600000})};
    make_all(&all);
    leat_alloc *alloc = leat_pool_alloc(all.pool);
    ck_assert_ptr_null(leat_alloc_take(alloc, 300000, NULL));
    run_elsewhere(release_all, &all);
    void *large = leat_alloc_take(alloc, 500000, NULL);
    ck_assert_ptr_nonnull(large);
    leat_alloc_give(alloc, large, 500000);
    leat_pool_release(all.pool);
}
END_TEST

static void *adopt(void *argument) {
    bundle *all = argument;
    leat_pool_adopt(all->pool);
    make_all(all);
    release_all(all);
    return NULL;
}

START_TEST(a_pool_may_move_to_another_thread) {
    bundle all = {.pool = leat_pool_new(NULL, NULL)};
    make_all(&all);
    release_all(&all);
    run_elsewhere(adopt, &all);
    leat_pool_adopt(all.pool);
    ck_assert_uint_eq(leat_pool_statistics(all.pool).misses, 1000);
    ck_assert_uint_eq(leat_pool_statistics(all.pool).returned, 0);
    leat_pool_release(all.pool);
}
END_TEST

/* Two threads hand buffers of their pools to each other while the pools go away. */
typedef struct exchange {
    leat_bytebuf *slots[64];
    pthread_barrier_t *start;
} exchange;

static void *swap_and_end(void *argument) {
    exchange *with = argument;
    leat_pool *pool = leat_pool_new(NULL, NULL);
    pthread_barrier_wait(with->start);
    for (size_t i = 0; i < 20000; i++) {
        leat_bytebuf *buf = leat_bytebuf_new(leat_pool_alloc(pool), i % 500);
        buf = __atomic_exchange_n(&with->slots[i % 64], buf, __ATOMIC_ACQ_REL);
        leat_bytebuf_release(buf);
    }
    leat_pool_release(pool);
    return NULL;
}

START_TEST(pools_end_while_others_release_their_blocks) {
    pthread_t threads[3];
    pthread_barrier_t start;
    exchange with = {.start = &start};
    pthread_barrier_init(&start, NULL, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, swap_and_end, &with), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 64; i++)
        leat_bytebuf_release(with.slots[i]);
    pthread_barrier_destroy(&start);
}
END_TEST

START_TEST(a_counting_allocator_below_gets_everything_back) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    bundle all = {.pool = leat_pool_new(&counting.alloc, NULL)};
    make_all(&all);
    release_all(&all);
    leat_pool_release(all.pool);
    ck_assert_uint_eq(counting.counted.live, 0);
    ck_assert_uint_eq(counting.counted.live_bytes, 0);
}
END_TEST

int main(void) {
    return suite_run("pool_threads", (const TTest *const[]){
                                         POISON_TEST

                                             what_is_released_elsewhere_comes_back,
                                         a_thread_may_end_and_leave_live_buffers, a_pool_outlives_its_last_block,
                                         what_came_back_goes_before_blocks_are_refused,
                                         a_pool_may_move_to_another_thread, pools_end_while_others_release_their_blocks,
                                         a_counting_allocator_below_gets_everything_back, NULL});
}
