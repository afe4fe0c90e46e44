#include "core/verify.h"
#include "handlers/legacy_tcp_decoder.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

#include <string.h>

/* Turns each event into text "name/opcode/payload", for tests that compare bytes. */
static void print_event(leat_ctx *ctx, leat_msg msg) {
    const leat_legacy_tcp_message *event = leat_msg_as(msg, &leat_type_legacy_tcp);
    leat_bytebuf *text = leat_bytebuf_new(leat_bytebuf_alloc_of(event->payload), 0);
    bool whole = text && leat_bytebuf_write_bytes(text, event->name.bytes, event->name.length) &&
                 leat_bytebuf_write_format(text, "/%d/", event->opcode) &&
                 leat_bytebuf_write_buffer(text, event->payload);
    leat_msg_release(msg);
    if (whole) {
        leat_ctx_fire_read(ctx, leat_msg_of_bytebuf(text));
        return;
    }
    leat_bytebuf_release(text);
    leat_ctx_fire_error(ctx, LEAT_ENOMEM);
}

static const leat_handler printer = {.name = "printer", .fires = leat_only_bytebuf, .read = print_event};

static const leat_stage printed[] = {
    {.handler = &leat_legacy_tcp_decoder}, {.handler = &printer}, {.handler = &tolerant}, {0}};

/* Two frames: "obs" with a value, a heartbeat and the end; one without a name, with a subscription without a map. */
static const char two_frames[] = "\0\0\0\x17\1\3obs\0\0\0\4\1abc\0\0\0\1\6\0\0\0\1\3\0\0\0\x0b\1\0\0\0\0\2\4\0\0\0\0";
enum { TWO_FRAMES = sizeof two_frames - 1 };

START_TEST(every_split_gives_the_same_events) {
    static const leat_span expected[] = {{(const uint8_t *)"obs/1/abc", 9},
                                         {(const uint8_t *)"obs/6/", 6},
                                         {(const uint8_t *)"obs/3/", 6},
                                         {(const uint8_t *)"/4/\0\0\0\0", 7}};
    leat_problem problem;
    ck_assert_msg(leat_verify_decoder(printed, two_frames, TWO_FRAMES, expected, 4, &problem) == 0, "%s", problem.text);
}
END_TEST

START_TEST(no_failed_allocation_leaks) {
    leat_problem problem;
    ck_assert_msg(leat_verify_oom_fed(printed, two_frames, TWO_FRAMES, &problem) == 0, "%s", problem.text);
}
END_TEST

START_TEST(a_payload_is_not_copied) {
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{.handler = &leat_legacy_tcp_decoder}, {0}});
    leat_bytebuf *frame = leat_bytebuf_from_bytes(leat_embedded_alloc(embedded), two_frames, 17);
    const uint8_t *bytes = leat_bytebuf_data(frame);
    leat_embedded_feed_bytebuf(embedded, frame);
    leat_msg msg;
    ck_assert(leat_embedded_take_read(embedded, &msg));
    const leat_legacy_tcp_message *event = leat_msg_as(msg, &leat_type_legacy_tcp);
    ck_assert_ptr_eq(leat_bytebuf_data(event->payload), bytes + 14);
    leat_msg_release(msg);
    leat_embedded_feed(embedded, two_frames + 17, TWO_FRAMES - 17);
    while (leat_embedded_take_read(embedded, &msg))
        leat_msg_release(msg);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(an_event_outlives_its_frame) {
    leat_embedded *embedded = leat_embedded_new_with((leat_stage[]){{.handler = &leat_legacy_tcp_decoder}, {0}},
                                                     &(leat_embedded_options){.without_ledger = true}, NULL);
    leat_embedded_feed(embedded, "\0\0\0\x0d\1\3obs\0\0\0\4\1abc", 17);
    leat_msg msg;
    ck_assert(leat_embedded_take_read(embedded, &msg));
    leat_msg second = leat_msg_retain(msg);
    ck_assert_uint_eq(leat_msg_size(second), 3);
    leat_msg_release(msg);
    const leat_legacy_tcp_message *event = leat_msg_as(second, &leat_type_legacy_tcp);
    ck_assert_mem_eq(event->name.bytes, "obs", 3);
    ck_assert(leat_bytebuf_equals_bytes(event->payload, "abc", 3));
    leat_msg_release(second);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(an_event_does_not_wait_for_the_rest_of_its_frame) {
    leat_embedded *embedded = leat_embedded_new(printed);
    leat_embedded_feed(embedded, two_frames, 17);
    ck_assert_str_eq(leat_embedded_read_text(embedded), "obs/1/abc");
    ck_assert_uint_eq(leat_channel_held(leat_embedded_channel(embedded)), 0);
    leat_embedded_feed_eof(embedded);
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ETRUNCATED);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(heartbeats_can_be_dropped) {
    leat_legacy_tcp_decoder_config config = {.drop_heartbeats = true};
    leat_stage stages[] = {{&leat_legacy_tcp_decoder, &config, NULL}, {.handler = &printer}, {0}};
    leat_embedded *embedded = leat_embedded_new(stages);
    leat_embedded_feed(embedded, two_frames, TWO_FRAMES);
    ck_assert_str_eq(leat_embedded_read_text(embedded), "obs/1/abc");
    ck_assert_str_eq(leat_embedded_read_text(embedded), "obs/3/");
    ck_assert_str_eq(leat_embedded_read_text(embedded), "/4/");
    ck_assert_ptr_null(leat_embedded_read_text(embedded));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(foreign_bytes_are_refused_by_their_length_before_anything_is_allocated) {
    static const char *const greetings[] = {"GET / HTTP/1.1\r\n", "\x16\x03\x01\x02"};
    for (size_t i = 0; i < 2; i++) {
        leat_embedded *embedded = leat_embedded_new(printed);
        leat_embedded_feed(embedded, greetings[i], 4);
        ck_assert_int_eq(take_tolerated(embedded), LEAT_ETOOLONG);
        assert_nothing_left(embedded);
    }
}
END_TEST

START_TEST(an_announced_event_takes_no_memory_before_it_comes) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_embedded_options options = {.alloc = &counting.alloc, .without_ledger = true};
    leat_embedded *embedded = leat_embedded_new_with(printed, &options, NULL);
    uint64_t before = counting.counted.bytes;
    leat_embedded_feed(embedded, "\0\x4f\xff\xfc\1\0\0\x4f\xff\xf6\1x", 12);
    ck_assert_int_eq(take_tolerated(embedded), 0);
    ck_assert_uint_lt(counting.counted.bytes - before, 512 * 1024); /* the loop's receive block among it */
    leat_embedded_feed_eof(embedded);
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ETRUNCATED);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_fault_ends_decoding_behind_the_sound_events_of_its_frame) {
    leat_embedded *embedded = leat_embedded_new(printed);
    leat_embedded_feed(embedded, "\0\0\0\x0d\1\0\0\0\0\2\1a\0\0\0\1\x9", 17);
    leat_embedded_feed(embedded, two_frames, TWO_FRAMES);
    ck_assert_str_eq(leat_embedded_read_text(embedded), "/1/a");
    ck_assert_ptr_null(leat_embedded_read_text(embedded));
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ECORRUPT);
    ck_assert_int_eq(take_tolerated(embedded), 0);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(events_come_as_they_are_asked_for) {
    leat_embedded_options options = {.channel.manual_read = true};
    leat_embedded *embedded = leat_embedded_new_with(printed, &options, NULL);
    leat_channel_request(leat_embedded_channel(embedded), 2);
    leat_embedded_run(embedded);
    leat_embedded_feed(embedded, two_frames, TWO_FRAMES);
    ck_assert_str_eq(leat_embedded_read_text(embedded), "obs/1/abc");
    ck_assert_str_eq(leat_embedded_read_text(embedded), "obs/6/");
    ck_assert_ptr_null(leat_embedded_read_text(embedded));
    leat_channel_request(leat_embedded_channel(embedded), 2);
    leat_embedded_run(embedded);
    ck_assert_str_eq(leat_embedded_read_text(embedded), "obs/3/");
    ck_assert_str_eq(leat_embedded_read_text(embedded), "/4/");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(nonsensical_limits_are_refused) {
    const uint64_t limits[] = {1, 5, ((uint64_t)1 << 32) + 1};
    for (size_t i = 0; i < 3; i++) {
        leat_legacy_tcp_decoder_config config = {.max_frame = limits[i]};
        leat_problem problem;
        leat_stage stages[] = {{&leat_legacy_tcp_decoder, &config, NULL}, {0}};
        ck_assert_ptr_null(leat_embedded_new_with(stages, NULL, &problem));
        ck_assert_int_eq(problem.code, LEAT_EINVAL);
    }
}
END_TEST

int main(void) {
    return suite_run("legacy_tcp_decoder",
                     (const TTest *const[]){every_split_gives_the_same_events, no_failed_allocation_leaks,
                                            a_payload_is_not_copied, an_event_outlives_its_frame,
                                            an_event_does_not_wait_for_the_rest_of_its_frame, heartbeats_can_be_dropped,
                                            foreign_bytes_are_refused_by_their_length_before_anything_is_allocated,
                                            an_announced_event_takes_no_memory_before_it_comes,
                                            a_fault_ends_decoding_behind_the_sound_events_of_its_frame,
                                            events_come_as_they_are_asked_for, nonsensical_limits_are_refused, NULL});
}
