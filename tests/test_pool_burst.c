/* A burst of 1 GiB, and what is left of it in resident memory: in a program of its own, since others leave theirs. */
#include "core/bytebuf.h"
#include "core/poison_internal.h"
#include "core/pool.h"
#include "tests/support/suite.h"

#include <string.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)
#if defined(LEAT_ASAN) || defined(__SANITIZE_THREAD__) /* which hold freed memory back, and make all of it slow */
#define GIB (64 * MIB)
enum { RESIDENT_TELLS = 0 };
#else
#define GIB (1024 * MIB)
enum { RESIDENT_TELLS = 1 };
#endif
#define SECOND UINT64_C(1000000000)

enum { MOST = 1 << 20 };

static uint64_t resident(void) {
    unsigned long long all = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%llu %llu", &all, &pages), 2);
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Makes buffers of `size` bytes, `bytes` in all, and touches each of their pages; returns how many. */
static size_t fill(leat_pool *pool, leat_bytebuf **bufs, uint64_t size, uint64_t bytes) {
    size_t count = 0;
    for (; count * size < bytes; count++) {
        bufs[count] = leat_bytebuf_new(leat_pool_alloc(pool), size);
        uint8_t *room = leat_bytebuf_room(bufs[count], size);
        ck_assert_ptr_nonnull(room);
        for (uint64_t at = 0; at < size; at += 4096)
            room[at] = 1;
    }
    return count;
}

/* All but one small buffer, made last, goes: as a connection that stays would keep it. */
static void burst(uint64_t size, uint64_t bytes, leat_pool_limits limits) {
    static leat_bytebuf *bufs[MOST];
    leat_pool *pool = leat_pool_new(NULL, &limits);
    leat_pool_trim(pool, SECOND);
    size_t count = fill(pool, bufs, size, bytes);
    leat_bytebuf *stays = leat_bytebuf_new(leat_pool_alloc(pool), 100);
    ck_assert(!RESIDENT_TELLS || resident() >= bytes);
    for (size_t i = 0; i < count; i++)
        leat_bytebuf_release(bufs[i]);
    for (uint64_t now = 2; now < 11; now++)
        leat_pool_trim(pool, now * SECOND);
    ck_assert(!RESIDENT_TELLS || resident() < 64 * MIB);
    ck_assert_uint_le(leat_pool_statistics(pool).reserved_bytes, 1024);
    leat_bytebuf_release(stays);
    leat_pool_release(pool);
}

START_TEST(small_buffers_leave_little_behind) {
    burst(2000, GIB, (leat_pool_limits){0});
}
END_TEST

START_TEST(large_buffers_leave_little_behind) {
    burst(4 * MIB, GIB / 4, (leat_pool_limits){0});
}
END_TEST

START_TEST(buffers_that_were_all_kept_leave_little_behind) {
    burst(60000, GIB / 4, (leat_pool_limits){.most_cached = 4 * GIB});
}
END_TEST

int main(void) {
    return suite_run("pool_burst",
                     (const TTest *const[]){large_buffers_leave_little_behind, small_buffers_leave_little_behind,
                                            buffers_that_were_all_kept_leave_little_behind, NULL});
}
