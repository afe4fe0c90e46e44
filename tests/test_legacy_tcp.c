#include "core/composite.h"
#include "core/embedded.h"
#include "core/gather.h"
#include "core/verify.h"
#include "handlers/legacy_tcp_framer.h"
#include "handlers/length_field_decoder.h"
#include "handlers/length_field_prepender.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

#include <string.h>

#define STAGES(title)                                                                                                  \
    ((const leat_stage[]){{.handler = &leat_length_field_prepender},                                                   \
                          {&leat_legacy_tcp_framer, &(const leat_legacy_tcp_framer_config){.name = title}, NULL},      \
                          {0}})

static void assert_written(leat_embedded *embedded, const void *expected, size_t length) {
    leat_bytebuf *written = leat_embedded_take_written(embedded);
    char dump[1024];
    leat_bytebuf_hex_dump(written, dump, sizeof dump);
    ck_assert_msg(leat_bytebuf_equals_bytes(written, expected, length), "%s", dump);
    leat_bytebuf_release(written);
}

static void write_out(leat_embedded *embedded, leat_bytebuf *buf) {
    leat_embedded_write(embedded, leat_msg_of_bytebuf(buf), NULL);
}

START_TEST(a_scalar_event_is_framed_as_the_original_does) {
    leat_embedded *embedded = leat_embedded_new(STAGES("obs"));
    write_out(embedded, leat_legacy_tcp_event(leat_embedded_alloc(embedded), LEAT_LEGACY_TCP_NEXT, "abc", 3));
    assert_written(embedded, "\0\0\0\x0d\1\3obs\0\0\0\4\1abc", 17);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(heartbeats_are_framed_as_the_original_does) {
    leat_embedded *embedded = leat_embedded_new(STAGES("obs"));
    write_out(embedded, leat_legacy_tcp_heartbeat(leat_embedded_alloc(embedded)));
    assert_written(embedded, "\0\0\0\x0a\1\3obs\0\0\0\1\6", 14);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_null_or_empty_name_has_length_0) {
    const leat_stage *pipelines[] = {STAGES(NULL), STAGES("")};
    for (int i = 0; i < 2; i++) {
        leat_embedded *embedded = leat_embedded_new(pipelines[i]);
        write_out(embedded, leat_legacy_tcp_heartbeat(leat_embedded_alloc(embedded)));
        assert_written(embedded, "\0\0\0\7\1\0\0\0\0\1\6", 11);
        assert_nothing_left(embedded);
    }
}
END_TEST

START_TEST(a_heartbeat_from_plain_bytes_is_framed_too) {
    leat_embedded *embedded = leat_embedded_new(STAGES("obs"));
    write_out(embedded, leat_bytebuf_from_bytes(leat_embedded_alloc(embedded), "\0\0\0\1\6", 5));
    assert_written(embedded, "\0\0\0\x0a\1\3obs\0\0\0\1\6", 14);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_composite_of_several_events_is_one_frame) {
    leat_embedded *embedded = leat_embedded_new(STAGES("n"));
    leat_alloc *alloc = leat_embedded_alloc(embedded);
    leat_composite *events = leat_composite_new(alloc, 2);
    leat_bytebuf *one = leat_legacy_tcp_event(alloc, LEAT_LEGACY_TCP_NEXT, "one", 3);
    leat_bytebuf *end = leat_legacy_tcp_event(alloc, LEAT_LEGACY_TCP_COMPLETED, NULL, 0);
    ck_assert_int_eq(leat_composite_add_list(events, (leat_bytebuf *const[]){one, end}, 2), 0);
    write_out(embedded, leat_composite_buffer(events));
    assert_written(embedded, "\0\0\0\x10\1\1n\0\0\0\4\1one\0\0\0\1\3", 20);
    assert_nothing_left(embedded);
}
END_TEST

static void fill(leat_bytebuf **events, size_t count, leat_alloc *alloc) {
    uint8_t payload[2000];
    memset(payload, 'x', sizeof payload);
    for (size_t i = 0; i < count; i++)
        events[i] = leat_legacy_tcp_event(alloc, LEAT_LEGACY_TCP_NEXT, payload, 1500 + i);
}

START_TEST(a_batch_of_64_leaves_as_its_own_spans_and_one_of_headers) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_embedded_options options = {.alloc = &counting.alloc, .without_ledger = true};
    leat_embedded *embedded = leat_embedded_new_with(STAGES("obs"), &options, NULL);
    leat_bytebuf *events[64];
    fill(events, 64, &counting.alloc);
    leat_gather gather;
    leat_gather_init(&gather, &counting.alloc, LEAT_GATHER_WRAP, 64);
    for (int i = 0; i < 64; i++)
        leat_gather_add(&gather, events[i]);
    leat_bytebuf *batch = leat_gather_finish(&gather);
    leat_alloc_stats before = counting.counted;
    write_out(embedded, batch);
    size_t count;
    const size_t *lengths = leat_embedded_last_spans(embedded, &count);
    ck_assert_uint_eq(count, 65);
    ck_assert_uint_eq(lengths[0], 4 + 5);
    for (size_t i = 0; i < 64; i++)
        ck_assert_uint_eq(lengths[i + 1], 5 + 1500 + i);
    ck_assert_uint_eq(counting.counted.copied, before.copied);
    leat_bytebuf_release(leat_embedded_take_written(embedded));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_shared_batch_is_framed_by_one_allocation_and_stays_as_it_is) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_bytebuf *shared = leat_legacy_tcp_event(leat_unpooled(), LEAT_LEGACY_TCP_NEXT, "abc", 3);
    leat_embedded_options options = {.alloc = &counting.alloc, .without_ledger = true};
    leat_embedded *embedded = leat_embedded_new_with(STAGES("obs"), &options, NULL);
    for (int i = 0; i < 3; i++)
        write_out(embedded, leat_bytebuf_retain(shared));
    ck_assert_uint_eq(counting.counted.copied, 0);
    ck_assert_uint_eq(counting.counted.growths, 0);
    ck_assert_uint_eq(leat_bytebuf_readable(shared), 8);
    leat_bytebuf *written = leat_embedded_take_written(embedded);
    ck_assert_uint_eq(leat_bytebuf_readable(written), 3 * 17);
    leat_bytebuf_release(written);
    leat_bytebuf_release(shared);
    assert_nothing_left(embedded);
}
END_TEST

/* What framing and writing this costs, the queue of the channel having grown before. */
static leat_alloc_stats cost_of_writing(leat_bytebuf *(*make)(leat_alloc *alloc)) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_embedded_options options = {.alloc = &counting.alloc, .without_ledger = true};
    leat_embedded *embedded = leat_embedded_new_with(STAGES("obs"), &options, NULL);
    leat_embedded_allow_writes(embedded, 0);
    write_out(embedded, leat_legacy_tcp_heartbeat(&counting.alloc));
    leat_bytebuf *events = make(&counting.alloc);
    leat_alloc_stats before = counting.counted;
    write_out(embedded, events);
    leat_alloc_stats cost = {.allocations = counting.counted.allocations - before.allocations,
                             .growths = counting.counted.growths - before.growths,
                             .copied = counting.counted.copied - before.copied};
    leat_embedded_allow_writes(embedded, UINT64_MAX);
    leat_bytebuf_release(leat_embedded_take_written(embedded));
    assert_nothing_left(embedded);
    return cost;
}

static leat_bytebuf *batch_of_30(leat_alloc *alloc) {
    leat_bytebuf *events[30];
    leat_gather gather;
    fill(events, 30, alloc);
    leat_gather_init(&gather, alloc, LEAT_GATHER_WRAP, 30);
    for (int i = 0; i < 30; i++)
        leat_gather_add(&gather, events[i]);
    return leat_gather_finish(&gather);
}

START_TEST(heartbeats_and_batches_are_framed_without_growing_and_by_at_most_one_allocation) {
    leat_bytebuf *(*const makers[])(leat_alloc * alloc) = {leat_legacy_tcp_heartbeat, batch_of_30};
    for (size_t i = 0; i < 2; i++) {
        leat_alloc_stats cost = cost_of_writing(makers[i]);
        ck_assert_uint_le(cost.allocations, 1);
        ck_assert_uint_eq(cost.growths, 0);
        ck_assert_uint_eq(cost.copied, 0);
    }
}
END_TEST

START_TEST(a_subscription_without_a_map_is_written_as_the_original_does) {
    static const uint8_t expected[] = {0, 0, 0, 2, 4, 0, 0, 0, 0};
    for (size_t size = 0; size <= 4; size += 4) {
        leat_bytebuf *event = leat_legacy_tcp_event(leat_unpooled(), LEAT_LEGACY_TCP_SUBSCRIBED, "\0\0\0\0", size);
        ck_assert(leat_bytebuf_equals_bytes(event, expected, sizeof expected));
        leat_bytebuf_release(event);
    }
}
END_TEST

START_TEST(a_name_may_have_126_bytes_and_no_more) {
    char name[128] = {0};
    memset(name, 'n', 126);
    leat_legacy_tcp_framer_config config = {name};
    leat_stage stages[] = {{.handler = &leat_length_field_prepender}, {&leat_legacy_tcp_framer, &config, NULL}, {0}};
    leat_embedded_free(leat_embedded_new(stages));
    name[126] = 'n';
    leat_problem problem;
    ck_assert_ptr_null(leat_embedded_new_with(stages, NULL, &problem));
    ck_assert_int_eq(problem.code, LEAT_EINVAL);
}
END_TEST

/* ---- reading ---- */

static leat_bytebuf *frame_of(const char *bytes, size_t length) {
    return leat_bytebuf_from_bytes(leat_unpooled(), bytes, length);
}

START_TEST(the_events_of_a_frame_are_read_in_order) {
    leat_bytebuf *frame = frame_of("\1\3obs\0\0\0\4\1abc\0\0\0\1\6\0\0\0\1\5", 23);
    leat_legacy_tcp_read_event event;
    ck_assert_int_eq(leat_legacy_tcp_read_header(frame, &event), 0);
    ck_assert_uint_eq(event.payload_length, 3);
    ck_assert_mem_eq(leat_bytebuf_contiguous(frame, event.payload, 3), "obs", 3);
    ck_assert_int_eq(leat_legacy_tcp_read_next(frame, &event), 1);
    ck_assert_int_eq(event.opcode, LEAT_LEGACY_TCP_NEXT);
    ck_assert_mem_eq(leat_bytebuf_contiguous(frame, event.payload, event.payload_length), "abc", 3);
    ck_assert_int_eq(leat_legacy_tcp_read_next(frame, &event), 1);
    ck_assert_int_eq(event.opcode, LEAT_LEGACY_TCP_HEARTBEAT);
    ck_assert_int_eq(leat_legacy_tcp_read_next(frame, &event), 1);
    ck_assert_int_eq(event.opcode, LEAT_LEGACY_TCP_UNSUBSCRIBED);
    ck_assert_int_eq(leat_legacy_tcp_read_next(frame, &event), 0);
    leat_bytebuf_release(frame);
}
END_TEST

static int code_of(const char *bytes, size_t length) {
    leat_bytebuf *frame = frame_of(bytes, length);
    leat_legacy_tcp_read_event event;
    int code = leat_legacy_tcp_read_header(frame, NULL);
    while (code == 0 && (code = leat_legacy_tcp_read_next(frame, &event)) == 1)
        code = 0;
    leat_bytebuf_release(frame);
    return code;
}

START_TEST(subscriptions_are_read_with_and_without_a_map) {
    leat_bytebuf *frame = frame_of("\1\0\0\0\0\7\4\0\0\0\2mm\0\0\0\2\4\0\0\0\0\0\0\0\5\4\0\0\0\0", 31);
    const uint64_t lengths[] = {6, 4, 4};
    leat_legacy_tcp_read_event event;
    ck_assert_int_eq(leat_legacy_tcp_read_header(frame, NULL), 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(leat_legacy_tcp_read_next(frame, &event), 1);
        ck_assert_int_eq(event.opcode, LEAT_LEGACY_TCP_SUBSCRIBED);
        ck_assert_uint_eq(event.payload_length, lengths[i]);
    }
    ck_assert_int_eq(leat_legacy_tcp_read_next(frame, &event), 0);
    leat_bytebuf_release(frame);
}
END_TEST

START_TEST(lengths_beyond_the_frame_and_unknown_things_are_corrupt) {
    ck_assert_int_eq(code_of("", 0), LEAT_ECORRUPT);
    ck_assert_int_eq(code_of("\2\0", 2), LEAT_ECORRUPT);
    ck_assert_int_eq(code_of("\1\1", 2), LEAT_ECORRUPT);
    ck_assert_int_eq(code_of("\1\x81", 2), LEAT_ECORRUPT);
    ck_assert_int_eq(code_of("\1\0\0\0\0\0\1", 7), LEAT_ECORRUPT);
    ck_assert_int_eq(code_of("\1\0\x7f\xff\xff\xff\1", 7), LEAT_ECORRUPT);
    ck_assert_int_eq(code_of("\1\0\xff\xff\xff\xff\1", 7), LEAT_ECORRUPT);
    ck_assert_int_eq(code_of("\1\0\0\0\0\1\x8", 7), LEAT_ECORRUPT);
    ck_assert_int_eq(code_of("\1\0\0\0\0\1", 6), LEAT_ECORRUPT);
    ck_assert_int_eq(code_of("\1\0\0\0\0\5\4\xff\xff\xff\xff", 11), LEAT_ECORRUPT);
    ck_assert_int_eq(code_of("\1\0\0\0\0\6\4\0\0\0\0\0", 12), LEAT_ECORRUPT);
}
END_TEST

static int write_frames(leat_alloc *alloc, void *context) {
    (void)context;
    leat_embedded_options options = {.alloc = alloc, .without_ledger = true};
    leat_embedded *embedded = leat_embedded_new_with(STAGES("obs"), &options, NULL);
    leat_bytebuf *event = embedded ? leat_legacy_tcp_event(alloc, LEAT_LEGACY_TCP_NEXT, "abc", 3) : NULL;
    leat_bytebuf *heartbeat = event ? leat_legacy_tcp_heartbeat(alloc) : NULL;
    if (event)
        write_out(embedded, leat_bytebuf_retain(event));
    if (heartbeat)
        write_out(embedded, heartbeat);
    leat_bytebuf_release(event);
    leat_embedded_free(embedded);
    return 0;
}

START_TEST(no_failed_allocation_leaks) {
    leat_problem problem;
    ck_assert_msg(leat_verify_oom(write_frames, NULL, &problem) == 0, "%s", problem.text);
}
END_TEST

int main(void) {
    return suite_run(
        "legacy_tcp",
        (const TTest *const[]){
            a_scalar_event_is_framed_as_the_original_does, heartbeats_are_framed_as_the_original_does,
            a_null_or_empty_name_has_length_0, a_heartbeat_from_plain_bytes_is_framed_too,
            a_composite_of_several_events_is_one_frame, a_batch_of_64_leaves_as_its_own_spans_and_one_of_headers,
            a_shared_batch_is_framed_by_one_allocation_and_stays_as_it_is, a_name_may_have_126_bytes_and_no_more,
            heartbeats_and_batches_are_framed_without_growing_and_by_at_most_one_allocation,
            a_subscription_without_a_map_is_written_as_the_original_does, the_events_of_a_frame_are_read_in_order,
            subscriptions_are_read_with_and_without_a_map, lengths_beyond_the_frame_and_unknown_things_are_corrupt,
            no_failed_allocation_leaks, NULL});
}
