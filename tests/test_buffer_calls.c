/* Every call on buffers that share storage, in random order and with memory that runs out, against flat arrays: what a
 * call does is done to the array too, and a call that fails has changed nothing, not even an index. */
#include "core/composite.h"
#include "tests/support/calls.h"
#include "tests/support/suite.h"

#include <stdlib.h>

/* Four runs. */
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
enum { STEPS = 250000 };
#else
enum { STEPS = 25000 };
#endif

enum { MOST_CALLS = 64 };

/** All calls, and how often each was made and succeeded. */
typedef struct table {
    const call_entry *calls[MOST_CALLS];
    unsigned long succeeded[MOST_CALLS];
    size_t count;
} table;

static void append_calls(table *all, const call_entry *calls) {
    for (; calls->make; calls++) {
        ck_assert_uint_lt(all->count, MOST_CALLS);
        all->calls[all->count++] = calls;
    }
}

/* Few letters, so that searches find something. */
static void renew_bytes(call_model *of) {
    of->n = below(of, 12) == 0 ? below(of, 900) : below(of, 24);
    for (size_t i = 0; i < of->n; i++)
        of->bytes[i] = (uint8_t)("abc\0"[next_random(of) % 4]);
}

/* In every fourth step memory runs out, for a moment or for the rest of it. */
static bool make_call(call_model *of, const call_entry *which, slot *one, slot *other) {
    leat_bytebuf *buf = one->buf;
    uint64_t reader = leat_bytebuf_reader_index(buf), writer = leat_bytebuf_writer_index(buf);
    of->failing.from_then_on = below(of, 2);
    of->failing.fail_at = below(of, 4) == 0 ? of->failing.asked + 1 + below(of, 5) : 0;
    bool done = which->make(of, one, other);
    of->failing.fail_at = 0;
    if (done)
        return true;
    ck_assert_msg(one->buf == buf, "%s failed and took the buffer away", which->name);
    ck_assert_msg(leat_bytebuf_reader_index(buf) == reader && leat_bytebuf_writer_index(buf) == writer,
                  "%s failed and moved an index", which->name);
    return false;
}

static const char *step(call_model *of, table *all) {
    slot *one = &of->slots[below(of, CALL_SLOTS)], *other = one;
    while (other == one)
        other = &of->slots[below(of, CALL_SLOTS)];
    renew_bytes(of);
    for (int i = 0; i < CALL_SLOTS; i++)
        if (of->slots[i].length > LARGEST / 2)
            call_refill(of, &of->slots[i]);
    size_t which = below(of, all->count);
    all->succeeded[which] += make_call(of, all->calls[which], one, other);
    return all->calls[which]->name;
}

static void begin(call_model *of, uint64_t seed) {
    memset(of, 0, sizeof *of);
    leat_failing_alloc_init(&of->failing, leat_unpooled());
    of->pool = leat_pool_new(&of->failing.alloc, NULL);
    of->alloc = seed % 2 ? leat_pool_alloc(of->pool) : &of->failing.alloc;
    of->random = seed;
    for (int i = 0; i < CALL_SLOTS; i++)
        of->slots[i].buf = leat_composite_buffer(leat_composite_new(of->alloc, 0));
}

static void end(call_model *of) {
    for (int i = 0; i < CALL_SLOTS; i++)
        forget(&of->slots[i]);
    ck_assert_uint_eq(leat_pool_statistics(of->pool).live, 0);
    leat_pool_release(of->pool);
}

static void run(table *all, uint64_t seed, unsigned long long steps) {
    static call_model of;
    begin(&of, seed);
    for (unsigned long long n = 0; n < steps; n++) {
        const char *made = step(&of, all);
        for (int i = 0; i < CALL_SLOTS; i++)
            if (!matches(&of.slots[i]))
                ck_abort_msg("buffer %d differs after step %llu of seed %llu: %s", i, n, (unsigned long long)seed,
                             made);
    }
    end(&of);
}

START_TEST(every_call_does_all_or_nothing_whatever_the_buffers_share) {
    const char *steps = getenv("LEAT_STEPS"), *chosen = getenv("LEAT_SEED");
    table all = {.count = 0};
    append_calls(&all, calls_that_write);
    append_calls(&all, calls_that_look);
    append_calls(&all, calls_on_composites);
    uint64_t first = chosen ? strtoull(chosen, NULL, 10) : 1;
    for (uint64_t seed = first; seed < first + 4; seed++)
        run(&all, seed, steps ? strtoull(steps, NULL, 10) : STEPS);
    for (size_t i = 0; i < all.count; i++)
        ck_assert_msg(all.succeeded[i] > 0, "%s never succeeded", all.calls[i]->name);
}
END_TEST

int main(void) {
    return suite_run("buffer_calls",
                     (const TTest *const[]){every_call_does_all_or_nothing_whatever_the_buffers_share, NULL});
}
