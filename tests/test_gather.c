#include "core/gather.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

#define SHAPES 16
#define MOST_EVENTS 64
#define SEED 20260117u

static const char prefix[] = "data: ";
static const char suffix[] = "\r\n\r\n";
static const char between[] = "\r\n\r\ndata: "; /* suffix and next prefix, neighbours in memory */

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/** A batch of events with random bytes. */
typedef struct batch {
    leat_bytebuf *events[MOST_EVENTS];
    size_t count;
} batch;

static void add_event(batch *events, size_t size, uint32_t *random) {
    leat_bytebuf *event = leat_bytebuf_new(leat_unpooled(), size);
    for (size_t i = 0; i < size; i++)
        leat_bytebuf_write_u8(event, (uint8_t)next_random(random));
    events->events[events->count++] = event;
}

static void add_random_lists(batch *events, uint32_t *random) {
    uint32_t lists = 1 + next_random(random) % 6;
    while (lists-- > 0)
        for (uint32_t n = next_random(random) % 8; n > 0; n--)
            add_event(events, next_random(random) % 512, random);
}

/** The 16 shapes: a singleton, nothing, empty-full-empty, zero-length payloads, 12 random ones of up to 6 x 7 events.
 */
static batch make_shape(int shape) {
    batch made = {.count = 0};
    uint32_t random = SEED + (uint32_t)shape;
    switch (shape) {
    case 0:
        add_event(&made, 5, &random);
        break;
    case 1:
        break;
    case 2:
        add_event(&made, 0, &random);
        add_event(&made, 300, &random);
        add_event(&made, 0, &random);
        break;
    case 3:
        add_event(&made, 0, &random);
        add_event(&made, 0, &random);
        break;
    default:
        add_random_lists(&made, &random);
    }
    return made;
}

static batch make_equal(size_t count, size_t size) {
    batch made = {.count = 0};
    uint32_t random = SEED;
    while (made.count < count)
        add_event(&made, size, &random);
    return made;
}

static void release_batch(batch *events) {
    for (size_t i = 0; i < events->count; i++)
        leat_bytebuf_release(events->events[i]);
}

static leat_bytebuf *concatenate(const batch *events, bool delimited) {
    leat_bytebuf *whole = leat_bytebuf_new(leat_unpooled(), 0);
    for (size_t i = 0; i < events->count; i++) {
        if (delimited)
            leat_bytebuf_write_bytes(whole, prefix, strlen(prefix));
        leat_bytebuf_write_buffer(whole, events->events[i]);
        if (delimited)
            leat_bytebuf_write_bytes(whole, suffix, strlen(suffix));
    }
    return whole;
}

static leat_bytebuf *gather_batch(const batch *events, bool delimited, leat_gather_mode mode, leat_alloc *alloc,
                                  uint32_t expected) {
    leat_gather gather;
    leat_gather_init(&gather, alloc, mode, expected);
    for (size_t i = 0; i < events->count; i++) {
        if (delimited)
            leat_gather_add_static(&gather, prefix, strlen(prefix));
        leat_gather_add_shared(&gather, events->events[i]);
        if (delimited)
            leat_gather_add_static(&gather, suffix, strlen(suffix));
    }
    return leat_gather_finish(&gather);
}

static void assert_same_as_concatenation(int shape, bool delimited, leat_gather_mode mode) {
    batch events = make_shape(shape);
    leat_bytebuf *expected = concatenate(&events, delimited);
    leat_bytebuf *got = gather_batch(&events, delimited, mode, leat_unpooled(), (uint32_t)events.count);
    ck_assert(leat_bytebuf_is_valid(got));
    ck_assert_msg(leat_bytebuf_equals(got, expected), "shape %d differs (seed %u, mode %d, delimited %d)", shape, SEED,
                  (int)mode, delimited);
    leat_bytebuf_release(got);
    leat_bytebuf_release(expected);
    release_batch(&events);
}

START_TEST(sixteen_batch_shapes_equal_their_concatenation_in_every_mode) {
    for (int shape = 0; shape < SHAPES; shape++)
        for (int mode = LEAT_GATHER_AUTO; mode <= LEAT_GATHER_WRAP; mode++) {
            assert_same_as_concatenation(shape, false, (leat_gather_mode)mode);
            assert_same_as_concatenation(shape, true, (leat_gather_mode)mode);
        }
}
END_TEST

static void assert_span_count(bool delimited, size_t size, leat_gather_mode mode, size_t spans, uint64_t copied) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    batch events = make_equal(64, size);
    leat_bytebuf *got = gather_batch(&events, delimited, mode, &counting.alloc, 64 * (delimited ? 3 : 1));
    ck_assert_uint_eq(leat_bytebuf_span_count(got), spans);
    ck_assert_uint_eq(counting.counted.copied, copied);
    ck_assert_uint_eq(counting.counted.growths, 0);
    leat_bytebuf_release(got);
    release_batch(&events);
}

START_TEST(wrapping_64_events_gives_64_spans_and_129_delimited_and_copies_no_payload) {
    assert_span_count(false, 100, LEAT_GATHER_WRAP, 64, 0);
    assert_span_count(true, 100, LEAT_GATHER_WRAP, 129, 0);
}
END_TEST

START_TEST(copying_gives_one_span) {
    assert_span_count(false, 100, LEAT_GATHER_COPY, 1, 6400);
    assert_span_count(true, 100, LEAT_GATHER_COPY, 1, 6400);
}
END_TEST

START_TEST(auto_copies_small_events_and_refers_to_large_ones) {
    assert_span_count(false, LEAT_GATHER_THRESHOLD - 1, LEAT_GATHER_AUTO, 1, 64 * (LEAT_GATHER_THRESHOLD - 1));
    assert_span_count(false, LEAT_GATHER_THRESHOLD, LEAT_GATHER_AUTO, 64, 0);
    assert_span_count(true, LEAT_GATHER_THRESHOLD, LEAT_GATHER_AUTO, 129, 0);
}
END_TEST

START_TEST(a_bare_batch_of_large_events_is_one_allocation) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    batch events = make_equal(30, 2048);
    leat_bytebuf *got = gather_batch(&events, false, LEAT_GATHER_AUTO, &counting.alloc, 30);
    ck_assert_uint_eq(counting.counted.allocations, 1);
    leat_bytebuf_release(got);
    got = gather_batch(&events, true, LEAT_GATHER_AUTO, &counting.alloc, 61);
    ck_assert_uint_eq(counting.counted.allocations, 2);
    leat_bytebuf_release(got);
    release_batch(&events);
}
END_TEST

START_TEST(static_neighbours_in_memory_become_one_span_without_a_copy) {
    leat_gather gather;
    leat_span spans[4];
    leat_gather_init(&gather, leat_unpooled(), LEAT_GATHER_WRAP, 3);
    leat_gather_add_static(&gather, between, 4);
    leat_gather_add_static(&gather, between + 4, 6);
    leat_bytebuf *got = leat_gather_finish(&gather);
    ck_assert_uint_eq(leat_bytebuf_spans(got, spans, 4), 1);
    ck_assert_ptr_eq(spans[0].bytes, between);
    ck_assert_uint_eq(spans[0].length, 10);
    leat_bytebuf_release(got);
}
END_TEST

START_TEST(a_compressed_frame_is_three_spans) {
    leat_bytebuf *blob = leat_bytebuf_from_text(leat_unpooled(), "compressed bytes");
    leat_gather gather;
    leat_span spans[4];
    leat_gather_init(&gather, leat_unpooled(), LEAT_GATHER_WRAP, 3);
    leat_gather_add_static(&gather, prefix, strlen(prefix));
    leat_gather_add(&gather, blob);
    leat_gather_add_static(&gather, suffix, strlen(suffix));
    leat_bytebuf *got = leat_gather_finish(&gather);
    ck_assert_uint_eq(leat_bytebuf_spans(got, spans, 4), 3);
    ck_assert_mem_eq(spans[0].bytes, prefix, spans[0].length);
    ck_assert_mem_eq(spans[1].bytes, "compressed bytes", spans[1].length);
    ck_assert_mem_eq(spans[2].bytes, suffix, spans[2].length);
    ck_assert(leat_bytebuf_equals_bytes(got, "data: compressed bytes\r\n\r\n", 26));
    leat_bytebuf_release(got);
}
END_TEST

START_TEST(a_batch_that_shrinks_or_grows_after_sizing_loses_nothing) {
    batch events = make_equal(20, 700);
    leat_bytebuf *expected = concatenate(&events, true);
    for (uint32_t sized_for = 0; sized_for < 200; sized_for += 9)
        for (int mode = LEAT_GATHER_AUTO; mode <= LEAT_GATHER_WRAP; mode++) {
            leat_bytebuf *got = gather_batch(&events, true, (leat_gather_mode)mode, leat_unpooled(), sized_for);
            ck_assert(leat_bytebuf_equals(got, expected));
            leat_bytebuf_release(got);
        }
    leat_bytebuf_release(expected);
    release_batch(&events);
}
END_TEST

START_TEST(a_null_piece_is_an_error_and_everything_taken_is_released) {
    leat_gather gather;
    leat_gather_init(&gather, leat_unpooled(), LEAT_GATHER_WRAP, 3);
    leat_gather_add(&gather, leat_bytebuf_from_text(leat_unpooled(), "one"));
    leat_gather_add(&gather, NULL);
    leat_gather_add(&gather, leat_bytebuf_from_text(leat_unpooled(), "two"));
    ck_assert_ptr_null(leat_gather_finish(&gather));
    ck_assert_int_eq(gather.error, LEAT_EINVAL);
}
END_TEST

START_TEST(events_are_retained_only_when_they_are_referred_to) {
    batch events = make_equal(2, 10);
    leat_bytebuf *got = gather_batch(&events, false, LEAT_GATHER_AUTO, leat_unpooled(), 2);
    ck_assert_uint_eq(events.events[0]->refs, 1);
    leat_bytebuf_release(got);
    got = gather_batch(&events, false, LEAT_GATHER_WRAP, leat_unpooled(), 2);
    ck_assert_uint_eq(events.events[0]->refs, 2);
    leat_bytebuf_release(got);
    ck_assert_uint_eq(events.events[0]->refs, 1);
    release_batch(&events);
}
END_TEST

/* Small, large, static and copied pieces and a composite, owned and shared: every way through. */
static leat_bytebuf *gather_mixture(leat_alloc *alloc, leat_gather_mode mode, int *error) {
    leat_bytebuf *shared = leat_bytebuf_new(leat_unpooled(), 3000);
    leat_bytebuf_write_zero(shared, 3000);
    leat_gather gather;
    leat_gather_init(&gather, alloc, mode, 0);
    for (int round = 0; round < 20; round++) {
        leat_gather_add_bytes(&gather, "head", 4);
        leat_gather_add_shared(&gather, shared);
        leat_gather_add_static(&gather, suffix, 4);
        leat_gather_add_static(&gather, prefix, 6);
        leat_gather_add(&gather, leat_bytebuf_from_text(leat_unpooled(), "small"));
        leat_composite *composite = leat_composite_new(leat_unpooled(), 2);
        leat_composite_add_bytes(composite, "inline", 6);
        leat_composite_add(composite, leat_bytebuf_copy(shared, leat_unpooled()));
        leat_gather_add(&gather, leat_composite_buffer(composite));
    }
    leat_bytebuf_release(shared);
    leat_bytebuf *got = leat_gather_finish(&gather);
    *error = gather.error;
    return got;
}

START_TEST(every_failed_allocation_loses_nothing_and_is_reported) {
    for (int mode = LEAT_GATHER_AUTO; mode <= LEAT_GATHER_WRAP; mode++) {
        leat_bytebuf *got = NULL;
        for (uint64_t fail_at = 1; !got; fail_at++) {
            leat_failing_alloc failing;
            int error;
            leat_failing_alloc_init(&failing, leat_unpooled());
            failing.fail_at = fail_at;
            got = gather_mixture(&failing.alloc, (leat_gather_mode)mode, &error);
            ck_assert(got ? error == 0 : error == LEAT_ENOMEM);
            ck_assert(!got || leat_bytebuf_readable(got) == 20 * (4 + 3000 + 10 + 5 + 3006));
            leat_bytebuf_release(got);
        }
    }
}
END_TEST

/* One piece after the other, as a list, as a list with joints, or static pieces. */
static void add_eight(leat_gather *gather, leat_bytebuf *piece, int how) {
    leat_bytebuf *pieces[8] = {piece, piece, piece, piece, piece, piece, piece, piece};
    if (how >= 2)
        leat_gather_add_joined(gather, pieces, 8, prefix, how == 2 ? 0 : 6);
    for (int i = 0; how < 2 && i < 8; i++) {
        if (how == 0)
            leat_gather_add_shared(gather, piece);
        else
            leat_gather_add_static(gather, prefix, (size_t)leat_bytebuf_readable(piece));
    }
}

START_TEST(pieces_that_come_to_more_than_a_buffer_may_have_are_an_error) {
    static const uint64_t sizes[] = {UINT64_C(1) << 61, UINT64_C(1) << 62, INT64_MAX};
    for (int i = 0; i < 3; i++)
        for (int how = 0; how < 4; how++) {
            leat_bytebuf *vast = leat_bytebuf_wrap_static(leat_unpooled(), prefix, (size_t)sizes[i]);
            leat_gather gather;
            leat_gather_init(&gather, leat_unpooled(), LEAT_GATHER_AUTO, 8);
            add_eight(&gather, vast, how);
            ck_assert_ptr_null(leat_gather_finish(&gather));
            ck_assert_int_eq(gather.error, LEAT_ELIMIT);
            leat_bytebuf_release(vast);
        }
}
END_TEST

START_TEST(a_gather_given_up_releases_what_it_took) {
    leat_gather gather;
    leat_gather_init(&gather, leat_unpooled(), LEAT_GATHER_WRAP, 3);
    leat_gather_add(&gather, leat_bytebuf_from_text(leat_unpooled(), "one"));
    leat_gather_add_bytes(&gather, "two", 3);
    leat_gather_clean_up(&gather);
    leat_gather_clean_up(&gather);
}
END_TEST

int main(void) {
    return suite_run(
        "gather",
        (const TTest *const[]){
            sixteen_batch_shapes_equal_their_concatenation_in_every_mode,
            wrapping_64_events_gives_64_spans_and_129_delimited_and_copies_no_payload, copying_gives_one_span,
            auto_copies_small_events_and_refers_to_large_ones, a_bare_batch_of_large_events_is_one_allocation,
            static_neighbours_in_memory_become_one_span_without_a_copy, a_compressed_frame_is_three_spans,
            a_batch_that_shrinks_or_grows_after_sizing_loses_nothing,
            a_null_piece_is_an_error_and_everything_taken_is_released,
            events_are_retained_only_when_they_are_referred_to, every_failed_allocation_loses_nothing_and_is_reported,
            pieces_that_come_to_more_than_a_buffer_may_have_are_an_error, a_gather_given_up_releases_what_it_took,
            NULL});
}
