/* Random operations on buffers of every kind that share storage, against flat arrays after every step. */
#include "core/bytebuf_array.h"
#include "core/composite.h"
#include "core/pool.h"
#include "tests/support/flat.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 8 };

/* Five runs: 10^6 operations in all where nothing slows them down. */
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
enum { STEPS = 200000 };
#else
enum { STEPS = 20000 };
#endif

typedef struct model {
    slot slots[SLOTS];
    leat_alloc *alloc;
    leat_pool *pool; /* of every second plain buffer */
    uint64_t random;
    size_t wrapped; /* memory that was lent to buffers and has not come back */
} model;

static uint32_t next_random(model *of) {
    of->random = of->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(of->random >> 33);
}

static size_t below(model *of, size_t n) {
    return n == 0 ? 0 : next_random(of) % n;
}

static size_t random_bytes(model *of, uint8_t *bytes) {
    size_t n = below(of, 8) == 0 ? below(of, 900) : below(of, 40);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)next_random(of);
    return n;
}

/* ---- operations: what succeeds is done to the array too ---- */

static void make_plain(model *of, slot *to) {
    uint8_t bytes[1000];
    size_t n = random_bytes(of, bytes);
    forget(to);
    leat_alloc *alloc = below(of, 2) ? of->alloc : leat_pool_alloc(of->pool);
    to->buf = leat_bytebuf_new_with(alloc, below(of, 200), 0, below(of, 20));
    ck_assert(leat_bytebuf_write_bytes(to->buf, bytes, n));
    put_behind(to, bytes, n);
}

static void make_composite(model *of, slot *to) {
    forget(to);
    to->buf = leat_composite_buffer(leat_composite_new(of->alloc, (uint32_t)below(of, 5)));
}

static void make_static(model *of, slot *to) {
    static const char text[] = "bytes that nobody may ever change";
    size_t n = below(of, sizeof text);
    forget(to);
    to->buf = leat_bytebuf_wrap_static(of->alloc, text, n);
    put_behind(to, text, n);
}

static void take_wrapped_back(void *memory, size_t size, void *context) {
    (void)size;
    free(memory);
    --*(size_t *)context;
}

static void make_wrapped(model *of, slot *to) {
    uint8_t bytes[1000];
    size_t n = random_bytes(of, bytes);
    void *memory = malloc(n + 1);
    ck_assert_ptr_nonnull(memory);
    memcpy(memory, bytes, n);
    forget(to);
    to->buf = leat_bytebuf_wrap(of->alloc, memory, n, take_wrapped_back, &of->wrapped);
    of->wrapped++;
    put_behind(to, bytes, n);
}

static void write_some(model *of, slot *to) {
    uint8_t bytes[1000] = {0};
    size_t n = random_bytes(of, bytes);
    if (leat_bytebuf_write_bytes(to->buf, bytes, n))
        put_behind(to, bytes, n);
    if (n >= 4 && leat_bytebuf_write_u32_le(to->buf, leat_load_u32_le(bytes)))
        put_behind(to, bytes, 4);
    uint16_t values[500];
    memcpy(values, bytes, n / 2 * 2);
    if (!leat_bytebuf_write_u16_array(to->buf, values, n / 2))
        return;
    for (size_t i = 0; i < n / 2; i++)
        leat_store_u16(bytes + 2 * i, values[i]);
    put_behind(to, bytes, n / 2 * 2);
}

/* A look anywhere moves the window of a composite; a step back and forth goes over what it covers. */
static void look_around(model *of, slot *at) {
    if (at->length < 2)
        return;
    uint64_t reader = leat_bytebuf_reader_index(at->buf);
    size_t offset = below(of, at->length - 1);
    ck_assert_uint_eq(leat_bytebuf_get_u16(at->buf, reader + offset), leat_load_u16(at->bytes + offset));
    size_t other = below(of, at->length - 1);
    uint16_t value;
    if (!leat_bytebuf_set_reader_index(at->buf, reader + other))
        return;
    ck_assert(leat_bytebuf_read_u16(at->buf, &value) && value == leat_load_u16(at->bytes + other));
    ck_assert(leat_bytebuf_is_valid(at->buf));
    ck_assert(leat_bytebuf_set_reader_index(at->buf, reader));
}

static void read_some(model *of, slot *from) {
    uint8_t bytes[1000];
    uint32_t value;
    if (from->length >= 4 && leat_bytebuf_read_u32(from->buf, &value)) {
        ck_assert_uint_eq(value, leat_load_u32(from->bytes));
        drop_front(from, 4);
    }
    size_t n = below(of, from->length < 1000 ? from->length + 1 : 1000);
    if (leat_bytebuf_read_bytes(from->buf, bytes, n)) {
        ck_assert_mem_eq(bytes, from->bytes, n);
        drop_front(from, n);
    }
    uint32_t values[8];
    size_t count = below(of, 9);
    if (leat_bytebuf_read_u32_array(from->buf, values, count)) {
        for (size_t i = 0; i < count; i++)
            ck_assert_uint_eq(values[i], leat_load_u32(from->bytes + 4 * i));
        drop_front(from, 4 * count);
    }
}

static void change_some(model *of, slot *at) {
    uint8_t bytes[1000];
    size_t n = random_bytes(of, bytes);
    if (n > at->length)
        return;
    size_t offset = below(of, at->length - n + 1);
    uint64_t index = leat_bytebuf_reader_index(at->buf) + offset;
    if (leat_bytebuf_set_bytes(at->buf, index, bytes, n))
        memcpy(at->bytes + offset, bytes, n);
    if (n >= 2 && leat_bytebuf_set_u16_le(at->buf, index, 0x6261))
        memcpy(at->bytes + offset, "ab", 2);
}

static void share(model *of, slot *from, slot *to) {
    size_t offset = below(of, from->length + 1);
    size_t n = below(of, from->length - offset + 1);
    leat_bytebuf *slice = leat_bytebuf_slice(from->buf, leat_bytebuf_reader_index(from->buf) + offset, n);
    ck_assert_ptr_nonnull(slice);
    forget(to);
    to->buf = slice;
    put_behind(to, from->bytes + offset, n);
}

static void share_whole(model *of, slot *from, slot *to) {
    (void)of;
    leat_bytebuf *same = leat_bytebuf_retain(from->buf);
    forget(to);
    to->buf = same;
    put_behind(to, from->bytes, from->length);
}

static void split_off(model *of, slot *from, slot *to) {
    size_t n = below(of, from->length + 1);
    leat_bytebuf *part = leat_bytebuf_split(from->buf, n);
    if (!part)
        return;
    forget(to);
    to->buf = part;
    put_behind(to, from->bytes, n);
    drop_front(from, n);
}

static void take_over(model *with, slot *of) {
    (void)with;
    ck_assert_int_eq(leat_bytebuf_own(&of->buf), 0);
    ck_assert(of->length == 0 || leat_bytebuf_set_u8(of->buf, leat_bytebuf_reader_index(of->buf), of->bytes[0]));
    ck_assert(leat_bytebuf_write_u8(of->buf, 'w'));
    put_behind(of, "w", 1);
}

static void put_in_front(model *of, slot *to) {
    uint8_t bytes[1000];
    size_t n = random_bytes(of, bytes);
    if (leat_bytebuf_prepend(to->buf, bytes, n))
        put_before(to, 0, bytes, n);
}

/* A second composite operation takes the other slot's buffer away. */
static void join(model *of, slot *to, slot *from) {
    leat_composite *composite = leat_composite_of(to->buf);
    if (!composite || to->buf == from->buf)
        return;
    leat_bytebuf *given = from->buf;
    from->buf = NULL;
    uint32_t at = (uint32_t)below(of, leat_composite_component_count(composite) + 1);
    uint64_t index = leat_composite_component_index(composite, at);
    uint64_t reader = leat_bytebuf_reader_index(to->buf);
    switch (below(of, 4)) {
    case 0:
    case 3:
        if ((below(of, 2)
                 ? leat_composite_add(composite, given)
                 : leat_composite_add_flattened(composite, given, leat_bytebuf_reader_index(given), from->length)) == 0)
            put_behind(to, from->bytes, from->length);
        break;
    case 1:
        if (leat_composite_prepend(composite, given) == 0)
            put_before(to, 0, from->bytes, from->length);
        break;
    default:
        if (leat_composite_insert(composite, at, given) == 0 && index >= reader)
            put_before(to, (size_t)(index - reader), from->bytes, from->length);
    }
    make_plain(of, from);
}

static void remove_component(model *of, slot *from) {
    leat_composite *composite = leat_composite_of(from->buf);
    uint32_t count = composite ? leat_composite_component_count(composite) : 0;
    if (count == 0)
        return;
    uint32_t at = (uint32_t)below(of, count);
    uint64_t reader = leat_bytebuf_reader_index(from->buf);
    uint64_t start = leat_composite_component_index(composite, at);
    uint64_t end = leat_composite_component_index(composite, at + 1);
    if (leat_composite_remove(composite, at, 1) != 0 || end <= reader)
        return;
    size_t offset = (size_t)(start > reader ? start - reader : 0);
    size_t n = (size_t)(end - (start > reader ? start : reader));
    memmove(from->bytes + offset, from->bytes + offset + n, from->length - offset - n);
    from->length -= n;
}

static void consolidate(model *of, slot *at) {
    leat_composite *composite = leat_composite_of(at->buf);
    if (!composite)
        return;
    uint32_t count = leat_composite_component_count(composite);
    uint32_t from = (uint32_t)below(of, count + 1);
    leat_composite_consolidate(composite, from, (uint32_t)below(of, count - from + 1));
}

static void make_one(model *of, slot *one) {
    static void (*const ways[])(model *, slot *) = {make_plain, make_composite, make_composite, make_static,
                                                    make_wrapped};
    ways[below(of, sizeof ways / sizeof *ways)](of, one);
}

static void keep(model *of, slot *one) {
    (void)of;
    ck_assert_int_eq(leat_bytebuf_keep(&one->buf), 0);
}

static void discard(model *of, slot *one) {
    (void)of;
    leat_bytebuf_discard_read(one->buf);
}

static void change_one(model *of, slot *one) {
    static void (*const ways[])(model *, slot *) = {take_over,        keep,        discard,     put_in_front,
                                                    remove_component, consolidate, change_some, read_some,
                                                    write_some,       write_some,  write_some,  look_around};
    ways[below(of, sizeof ways / sizeof *ways)](of, one);
}

static void change_two(model *of, slot *one, slot *other) {
    static void (*const ways[])(model *, slot *, slot *) = {share, share_whole, split_off, join, join};
    ways[below(of, sizeof ways / sizeof *ways)](of, one, other);
}

static void step(model *of) {
    slot *one = &of->slots[below(of, SLOTS)];
    slot *other = &of->slots[below(of, SLOTS)];
    size_t kind = below(of, 23);
    if (one == other || one->length > LARGEST || other->length > LARGEST)
        make_plain(of, one->length > LARGEST ? one : other);
    else if (kind < 5)
        make_one(of, one);
    else if (kind < 10)
        change_two(of, one, other);
    else
        change_one(of, one);
}

static void run(uint64_t seed) {
    leat_tracking_alloc *tracking = leat_tracking_alloc_new(leat_unpooled());
    model *of = calloc(1, sizeof *of);
    of->alloc = leat_tracking_alloc_base(tracking);
    of->pool = leat_pool_new(NULL, NULL);
    ck_assert_ptr_nonnull(of->pool);
    of->random = seed;
    for (int i = 0; i < SLOTS; i++)
        make_plain(of, &of->slots[i]);
    const char *steps = getenv("LEAT_STEPS");
    unsigned long long count = steps ? strtoull(steps, NULL, 10) : STEPS;
    for (unsigned long long n = 0; n < count; n++) {
        step(of);
        bool all = true;
        for (int i = 0; i < SLOTS; i++)
            all &= matches(&of->slots[i]);
        if (!all)
            ck_abort_msg("a buffer differs from its array after step %llu of seed %llu", n, (unsigned long long)seed);
    }
    for (int i = 0; i < SLOTS; i++)
        forget(&of->slots[i]);
    ck_assert_uint_eq(of->wrapped, 0);
    ck_assert_uint_eq(leat_pool_statistics(of->pool).live, 0);
    leat_pool_release(of->pool);
    free(of);
    ck_assert_uint_eq(leat_tracking_alloc_live(tracking), 0);
    ck_assert_uint_eq(leat_tracking_alloc_misuses(tracking), 0);
    leat_tracking_alloc_free(tracking);
}

START_TEST(random_operations_leave_every_buffer_as_its_array) {
    const char *chosen = getenv("LEAT_SEED");
    if (chosen) {
        run(strtoull(chosen, NULL, 10));
        return;
    }
    for (uint64_t seed = 1; seed <= 5; seed++)
        run(seed);
}
END_TEST

int main(void) {
    return suite_run("buffer_model", (const TTest *const[]){random_operations_leave_every_buffer_as_its_array, NULL});
}
