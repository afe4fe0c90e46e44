#include "core/gather.h"
#include "tests/support/suite.h"

#include <string.h>

enum { MOST_EVENTS = 40, ROUNDS = 300 };
static const uint32_t SEED = 20260118;

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Sizes around everything at which gathering changes its mind, and the way it copies. */
static size_t random_size(uint32_t *random) {
    static const size_t sizes[] = {
        0,    1,    7, 31, 32, 64, 65, 100, 128, 129, 256, 257, LEAT_GATHER_THRESHOLD - 1, LEAT_GATHER_THRESHOLD,
        3000, 20000};
    return sizes[next_random(random) % 16];
}

static leat_bytebuf *plain_event(uint32_t *random) {
    leat_bytebuf *event = leat_bytebuf_new(leat_unpooled(), 0);
    for (size_t n = random_size(random); n > 0; n--)
        leat_bytebuf_write_u8(event, (uint8_t)next_random(random));
    return event;
}

static leat_bytebuf *random_event(uint32_t *random) {
    if (next_random(random) % 8 != 0)
        return plain_event(random);
    leat_composite *composite = leat_composite_new(leat_unpooled(), 2);
    leat_composite_add(composite, plain_event(random));
    leat_composite_add(composite, plain_event(random));
    return leat_composite_buffer(composite);
}

typedef struct events {
    leat_bytebuf *list[MOST_EVENTS];
    size_t count;
} events;

static events random_events(uint32_t *random) {
    events made = {.count = next_random(random) % MOST_EVENTS};
    for (size_t i = 0; i < made.count; i++)
        made.list[i] = random_event(random);
    return made;
}

static void release_events(const events *made) {
    for (size_t i = 0; i < made->count; i++)
        leat_bytebuf_release(made->list[i]);
}

typedef struct joint {
    const char *bytes;
    size_t length;
} joint;

static joint random_joint(uint32_t *random) {
    static const char bytes[400] = "\n\ndata: and so on";
    static const size_t lengths[] = {0, 1, 8, 9, 12, 16, 17, 400};
    return (joint){bytes, lengths[next_random(random) % 8]};
}

static leat_bytebuf *one_by_one(const events *made, joint between, leat_gather_mode mode, leat_alloc *alloc) {
    leat_gather gather;
    leat_gather_init(&gather, alloc, mode, 16);
    for (size_t i = 0; i < made->count; i++) {
        if (i > 0)
            leat_gather_add_static(&gather, between.bytes, between.length);
        leat_gather_add_shared(&gather, made->list[i]);
    }
    return leat_gather_finish(&gather);
}

static leat_bytebuf *joined(const events *made, joint between, leat_gather_mode mode, leat_alloc *alloc) {
    leat_gather gather;
    leat_gather_init(&gather, alloc, mode, 16);
    leat_gather_add_joined(&gather, made->list, made->count, between.bytes, between.length);
    return leat_gather_finish(&gather);
}

static void assert_same(const events *made, joint between, leat_gather_mode mode) {
    leat_counting_alloc counting[2];
    leat_counting_alloc_init(&counting[0], leat_unpooled());
    leat_counting_alloc_init(&counting[1], leat_unpooled());
    leat_bytebuf *expected = one_by_one(made, between, mode, &counting[0].alloc);
    leat_bytebuf *got = joined(made, between, mode, &counting[1].alloc);
    ck_assert(leat_bytebuf_is_valid(got));
    ck_assert(leat_bytebuf_equals(got, expected));
    ck_assert_uint_eq(leat_bytebuf_span_count(got), leat_bytebuf_span_count(expected));
    if (counting[0].counted.growths + counting[1].counted.growths == 0) /* growing may copy or not */
        ck_assert_uint_eq(counting[1].counted.copied, counting[0].counted.copied);
    leat_bytebuf_release(expected);
    leat_bytebuf_release(got);
    ck_assert_uint_eq(counting[0].counted.live + counting[1].counted.live, 0);
}

START_TEST(joining_does_what_adding_one_by_one_does_in_every_mode) {
    printf("seed %u\n", SEED);
    uint32_t random = SEED;
    for (int round = 0; round < ROUNDS; round++) {
        events made = random_events(&random);
        assert_same(&made, random_joint(&random), (leat_gather_mode)(round % 3));
        release_events(&made);
    }
}
END_TEST

START_TEST(joined_events_are_told_to_the_ledger) {
    leat_tracking_alloc *tracking = leat_tracking_alloc_new(leat_unpooled());
    uint32_t random = SEED;
    events made = {.count = 3};
    for (size_t i = 0; i < made.count; i++) {
        made.list[i] = leat_bytebuf_new(leat_tracking_alloc_base(tracking), 2000);
        leat_bytebuf_write_zero(made.list[i], 2000);
    }
    leat_bytebuf *got = joined(&made, random_joint(&random), LEAT_GATHER_AUTO, leat_unpooled());
    release_events(&made);
    ck_assert_uint_eq(leat_tracking_alloc_live(tracking), 3);
    leat_bytebuf_release(got);
    ck_assert_uint_eq(leat_tracking_alloc_live(tracking), 0);
    ck_assert_uint_eq(leat_tracking_alloc_misuses(tracking), 0);
    leat_tracking_alloc_free(tracking);
}
END_TEST

START_TEST(every_failed_allocation_of_a_joined_batch_is_reported_and_loses_nothing) {
    uint32_t random = SEED;
    events made = random_events(&random);
    leat_failing_alloc failing;
    leat_failing_alloc_init(&failing, leat_unpooled());
    leat_bytebuf *got = NULL;
    for (uint64_t at = 1; !got; at++) {
        failing.asked = 0;
        failing.fail_at = at;
        got = joined(&made, (joint){"--", 2}, LEAT_GATHER_AUTO, &failing.alloc);
        ck_assert(got || failing.asked >= at);
    }
    leat_bytebuf *expected = one_by_one(&made, (joint){"--", 2}, LEAT_GATHER_AUTO, leat_unpooled());
    ck_assert(leat_bytebuf_equals(got, expected));
    leat_bytebuf_release(got);
    leat_bytebuf_release(expected);
    release_events(&made);
}
END_TEST

START_TEST(null_among_joined_buffers_is_an_error_and_what_was_taken_is_released) {
    uint32_t random = SEED;
    for (size_t hole = 0; hole < 3; hole++) {
        events made = {.count = 3};
        for (size_t i = 0; i < made.count; i++)
            made.list[i] = i == hole ? NULL : plain_event(&random);
        ck_assert_ptr_null(joined(&made, (joint){"--", 2}, LEAT_GATHER_WRAP, leat_unpooled()));
        for (size_t i = 0; i < made.count; i++)
            ck_assert(i == hole || leat_bytebuf_is_sole(made.list[i]));
        release_events(&made);
    }
}
END_TEST

START_TEST(list_is_joined_with_nothing) {
    uint32_t random = SEED;
    events made = random_events(&random);
    leat_gather gather;
    leat_gather_init(&gather, leat_unpooled(), LEAT_GATHER_AUTO, (uint32_t)made.count);
    leat_gather_add_shared_list(&gather, made.list, made.count);
    leat_bytebuf *got = leat_gather_finish(&gather);
    leat_bytebuf *expected = one_by_one(&made, (joint){NULL, 0}, LEAT_GATHER_AUTO, leat_unpooled());
    ck_assert(leat_bytebuf_equals(got, expected));
    leat_bytebuf_release(got);
    leat_bytebuf_release(expected);
    release_events(&made);
}
END_TEST

/* Every way to ask for spans agrees with asking for all: from any byte, few at a time. */
static void assert_spans_from(const leat_bytebuf *buf, uint64_t offset, size_t at_a_time) {
    leat_bytebuf_position position = {0, 0};
    leat_bytebuf_position_advance(buf, &position, offset);
    while (position.offset < leat_bytebuf_readable(buf)) {
        leat_span spans[3];
        uint64_t bytes, sum = 0;
        size_t count = leat_bytebuf_spans_at(buf, position, spans, at_a_time, &bytes);
        ck_assert(count > 0 && count <= at_a_time);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < spans[i].length; k++)
                ck_assert_uint_eq(spans[i].bytes[k], leat_bytebuf_get_u8(buf, buf->reader + position.offset + sum++));
        ck_assert_uint_eq(sum, bytes);
        leat_bytebuf_position_advance(buf, &position, bytes);
    }
}

START_TEST(how_many_pieces_are_expected_may_be_wrong) {
    static const uint32_t expected[] = {0, 1, 70, UINT32_MAX - 3, UINT32_MAX - 2, UINT32_MAX - 1, UINT32_MAX};
    for (int i = 0; i < 7; i++) {
        leat_counting_alloc counting;
        leat_counting_alloc_init(&counting, leat_unpooled());
        leat_bytebuf *event = leat_bytebuf_new(leat_unpooled(), 2000);
        leat_bytebuf_write_zero(event, 2000);
        leat_gather gather;
        leat_gather_init(&gather, &counting.alloc, LEAT_GATHER_AUTO, expected[i]);
        for (int k = 0; k < 100; k++)
            leat_gather_add_shared(&gather, event);
        leat_bytebuf *whole = leat_gather_finish(&gather);
        ck_assert_uint_eq(leat_bytebuf_readable(whole), 200000);
        ck_assert_uint_lt(counting.counted.bytes, 2 << 20);
        leat_bytebuf_release(whole);
        leat_bytebuf_release(event);
    }
}
END_TEST

START_TEST(spans_are_right_from_any_byte_and_few_at_a_time_also_with_an_open_tail) {
    leat_composite *composite = leat_composite_new(leat_unpooled(), 0);
    leat_bytebuf *buf = leat_composite_buffer(composite);
    const char *const pieces[] = {"", "one", "", "", "two", "", "three", ""};
    for (size_t i = 0; i < 8; i++)
        leat_composite_add(composite, leat_bytebuf_from_text(leat_unpooled(), pieces[i]));
    leat_bytebuf_write_bytes(buf, "tail", 4);
    leat_bytebuf_skip(buf, 1);
    for (int settled = 0; settled < 2; settled++) {
        for (uint64_t offset = 0; offset < leat_bytebuf_readable(buf); offset++)
            for (size_t at_a_time = 1; at_a_time <= 3; at_a_time++)
                assert_spans_from(buf, offset, at_a_time);
        leat_composite_add(composite, leat_bytebuf_from_text(leat_unpooled(), "end"));
    }
    leat_bytebuf_release(buf);
}
END_TEST

int main(void) {
    return suite_run("gather_join",
                     (const TTest *const[]){
                         joining_does_what_adding_one_by_one_does_in_every_mode, joined_events_are_told_to_the_ledger,
                         every_failed_allocation_of_a_joined_batch_is_reported_and_loses_nothing,
                         null_among_joined_buffers_is_an_error_and_what_was_taken_is_released,
                         list_is_joined_with_nothing, how_many_pieces_are_expected_may_be_wrong,
                         spans_are_right_from_any_byte_and_few_at_a_time_also_with_an_open_tail, NULL});
}
