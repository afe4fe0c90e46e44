#include "handlers/push/batch.h"
#include "tests/support/suite.h"

#include <string.h>

static leat_counting_alloc counting;
static leat_push_batch batch;

static void begin(void) {
    leat_counting_alloc_init(&counting, leat_unpooled());
    memset(&batch, 0, sizeof batch);
}

static void end(void) {
    leat_push_batch_clean_up(&batch, &counting.alloc);
    ck_assert_uint_eq(counting.counted.live, 0);
}

static void add_bytes(const void *bytes, size_t length, uint64_t id) {
    leat_push_event *event = leat_push_event_of_bytes(&counting.alloc, bytes, length);
    ck_assert_ptr_nonnull(event);
    event->id = id;
    ck_assert_int_eq(leat_push_batch_add(&batch, &counting.alloc, event), 0);
    leat_push_event_release(event);
}

static void add(const char *text, uint64_t id) {
    add_bytes(text, strlen(text), id);
}

static void builds_bytes(const leat_push_codec *codec, uint32_t from, const void *bytes, size_t length) {
    leat_bytebuf *message = leat_push_batch_build(&batch, from, codec, 0, &counting.alloc);
    ck_assert_ptr_nonnull(message);
    ck_assert(leat_bytebuf_equals_bytes(message, bytes, length));
    leat_bytebuf_release(message);
}

static void builds(const leat_push_codec *codec, uint32_t from, const char *text) {
    builds_bytes(codec, from, text, strlen(text));
}

START_TEST(bare_events_stand_back_to_back) {
    begin();
    add("one", 1);
    add("", 2);
    add("three", 3);
    builds(&leat_push_codec_bare, 0, "onethree");
    end();
}
END_TEST

START_TEST(sse_events_without_an_id_are_delimited) {
    begin();
    add("one", 0);
    add("two", 0);
    builds(&leat_push_codec_sse, 0, "data: one\n\ndata: two\n\n");
    end();
}
END_TEST

START_TEST(sse_events_with_an_id_are_framed) {
    begin();
    add("one", 7);
    add("two", 8);
    builds(&leat_push_codec_sse, 0, "id: 7\ndata: one\n\nid: 8\ndata: two\n\n");
    end();
}
END_TEST

START_TEST(an_sse_event_of_several_lines_stands_between_delimited_ones) {
    begin();
    add("one", 0);
    add("l1\nl2", 0);
    add("three", 0);
    builds(&leat_push_codec_sse, 0, "data: one\n\ndata: l1\ndata: l2\n\ndata: three\n\n");
    end();
}
END_TEST

START_TEST(legacy_tcp_events_carry_length_and_opcode) {
    begin();
    add("abc", 1);
    add("", 2);
    builds_bytes(&leat_push_codec_legacy_tcp, 0, "\0\0\0\4\1abc\0\0\0\1\1", 13);
    end();
}
END_TEST

START_TEST(a_batch_can_be_built_from_a_later_event) {
    begin();
    add("one", 1);
    add("two", 2);
    add("three", 3);
    builds(&leat_push_codec_bare, 1, "twothree");
    end();
}
END_TEST

START_TEST(an_event_is_framed_once_for_a_codec) {
    begin();
    add("one", 1);
    builds(&leat_push_codec_sse, 0, "id: 1\ndata: one\n\n");
    leat_bytebuf *framed = batch.events[0]->framed[0];
    ck_assert_ptr_nonnull(framed);
    builds(&leat_push_codec_sse, 0, "id: 1\ndata: one\n\n");
    ck_assert_ptr_eq(batch.events[0]->framed[0], framed);
    end();
}
END_TEST

static size_t spans_of(size_t events, uint64_t id) {
    static char large[2000];
    memset(large, 'x', sizeof large);
    begin();
    for (size_t i = 0; i < events; i++)
        add_bytes(large, sizeof large, id);
    leat_bytebuf *message = leat_push_batch_build(&batch, 0, &leat_push_codec_sse, 0, &counting.alloc);
    size_t count = leat_bytebuf_span_count(message);
    leat_bytebuf_release(message);
    end();
    return count;
}

START_TEST(large_events_leave_by_reference_as_2n_plus_1_spans_or_n_with_ids) {
    ck_assert_uint_eq(spans_of(64, 0), 129);
    ck_assert_uint_eq(spans_of(64, 1), 64);
}
END_TEST

START_TEST(a_batch_without_memory_is_not_built_and_loses_nothing) {
    leat_failing_alloc failing;
    begin();
    leat_failing_alloc_init(&failing, &counting.alloc);
    add("one", 1);
    add("two", 0);
    failing.from_then_on = true;
    failing.fail_at = 1;
    ck_assert_ptr_null(leat_push_batch_build(&batch, 0, &leat_push_codec_sse, 0, &failing.alloc));
    builds(&leat_push_codec_sse, 0, "id: 1\ndata: one\n\ndata: two\n\n");
    end();
}
END_TEST

START_TEST(a_cleared_batch_keeps_the_room_of_a_usual_one_only) {
    begin();
    for (int i = 0; i < 100; i++)
        add("x", 1);
    leat_push_batch_clear(&batch, &counting.alloc);
    ck_assert_uint_eq(counting.counted.live, 0);
    add("x", 1);
    leat_push_batch_clear(&batch, &counting.alloc);
    ck_assert_uint_gt(batch.room, 0);
    end();
}
END_TEST

int main(void) {
    return suite_run("push_batch",
                     (const TTest *const[]){
                         bare_events_stand_back_to_back, sse_events_without_an_id_are_delimited,
                         sse_events_with_an_id_are_framed, an_sse_event_of_several_lines_stands_between_delimited_ones,
                         legacy_tcp_events_carry_length_and_opcode, a_batch_can_be_built_from_a_later_event,
                         an_event_is_framed_once_for_a_codec,
                         large_events_leave_by_reference_as_2n_plus_1_spans_or_n_with_ids,
                         a_batch_without_memory_is_not_built_and_loses_nothing,
                         a_cleared_batch_keeps_the_room_of_a_usual_one_only, NULL});
}
