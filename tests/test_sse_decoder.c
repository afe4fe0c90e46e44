#include "core/verify.h"
#include "handlers/sse_decoder.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

#include <string.h>

/* Turns each event into text "type/data/id", for tests that compare bytes. */
static void print_event(leat_ctx *ctx, leat_msg msg) {
    const leat_sse_event *event = leat_msg_as(msg, &leat_type_sse_event);
    leat_bytebuf *text = leat_bytebuf_new(leat_channel_alloc(leat_ctx_channel(ctx)), 0);
    bool whole = text && leat_bytebuf_write_bytes(text, event->event.bytes, event->event.length) &&
                 leat_bytebuf_write_u8(text, '/') &&
                 leat_bytebuf_write_bytes(text, event->data.bytes, event->data.length) &&
                 leat_bytebuf_write_u8(text, '/') && leat_bytebuf_write_bytes(text, event->id.bytes, event->id.length);
    leat_msg_release(msg);
    if (whole) {
        leat_ctx_fire_read(ctx, leat_msg_of_bytebuf(text));
        return;
    }
    leat_bytebuf_release(text);
    leat_ctx_fire_error(ctx, LEAT_ENOMEM);
}

static const leat_handler printer = {.name = "printer", .fires = leat_only_bytebuf, .read = print_event};

static const leat_stage printed[] = {{.handler = &leat_sse_decoder}, {.handler = &printer}, {0}};

static void assert_events(leat_embedded *embedded, const char *const *expected) {
    for (; *expected; expected++)
        ck_assert_str_eq(leat_embedded_read_text(embedded), *expected);
    ck_assert_ptr_null(leat_embedded_read_text(embedded));
}

#define EVENTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char stream[] =
    "\xef\xbb\xbf: hello\r\nid: 1\r\ndata: one\r\n\r\nevent: tick\ndata\ndata: two\n\nid\rdata:three\r\r";

START_TEST(every_split_gives_the_same_events) {
    leat_problem problem;
    const char *const expected[] = {"/one/1", "tick/\ntwo/1", "/three/", NULL};
    ck_assert_msg(leat_verify_decoder_text(printed, stream, expected, &problem) == 0, "%s", problem.text);
}
END_TEST

START_TEST(no_failed_allocation_leaks) {
    leat_problem problem;
    ck_assert_msg(leat_verify_oom_fed(printed, stream, sizeof stream - 1, &problem) == 0, "%s", problem.text);
}
END_TEST

START_TEST(ill_formed_text_is_replaced_in_every_field) {
    leat_embedded *embedded = leat_embedded_new(printed);
    leat_embedded_feed_text(embedded, "event: \xc3\nid: \x80\ndata: \xe2\x82\ndata: ok\n\n");
    assert_events(embedded, EVENTS("\xef\xbf\xbd/\xef\xbf\xbd\nok/\xef\xbf\xbd"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(an_event_takes_one_allocation) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_embedded_options options = {.alloc = &counting.alloc, .without_ledger = true};
    leat_embedded *embedded =
        leat_embedded_new_with((leat_stage[]){{.handler = &leat_sse_decoder}, {0}}, &options, NULL);
    leat_bytebuf *events = leat_bytebuf_from_text(leat_unpooled(), "data: one\n\ndata: two\n\ndata: three\n\n");
    leat_embedded_feed_text(embedded, "data: first\n\n");
    uint64_t before = counting.counted.allocations;
    leat_embedded_feed_bytebuf(embedded, events);
    ck_assert_uint_le(counting.counted.allocations - before, 3 + 1); /* and the collector's list */
    for (leat_msg msg; leat_embedded_take_read(embedded, &msg);)
        leat_msg_release(msg);
    assert_nothing_left(embedded);
}
END_TEST

/* Data of `length` bytes with a tab and an umlaut in it, between two line ends of that kind. */
static void assert_length_read(size_t length, const char *end) {
    char line[1024];
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{.handler = &leat_sse_decoder}, {0}});
    memset(line, 'x', length);
    line[length / 2] = '\t';
    memcpy(line + length / 3, "\xc3\xa4", 2);
    leat_embedded_feed_text(embedded, "data: ");
    leat_embedded_feed(embedded, line, length);
    leat_embedded_feed_text(embedded, end);
    leat_embedded_feed_text(embedded, end);
    leat_msg msg;
    ck_assert(leat_embedded_take_read(embedded, &msg));
    const leat_sse_event *event = leat_msg_as(msg, &leat_type_sse_event);
    ck_assert_uint_eq(event->data.length, length);
    ck_assert_mem_eq(event->data.bytes, line, length);
    leat_msg_release(msg);
    assert_nothing_left(embedded);
}

START_TEST(the_end_of_a_line_is_found_wherever_it_stands) {
    for (size_t length = 6; length < 600; length++)
        assert_length_read(length, length % 3 == 0 ? "\r\n" : length % 3 == 1 ? "\n" : "\r");
}
END_TEST

/* ---- what outlives an event ---- */

START_TEST(the_last_id_and_the_retry_time_are_there_for_reconnecting) {
    leat_embedded *embedded = leat_embedded_new(printed);
    leat_ctx *ctx = leat_channel_find(leat_embedded_channel(embedded), "sse_decoder");
    uint64_t retry = 7;
    ck_assert(!leat_sse_decoder_retry(ctx, &retry));
    ck_assert_uint_eq(leat_sse_decoder_last_id(ctx).length, 0);
    leat_embedded_feed_text(embedded, "id: 42\nretry: 250\n\nid: unfinished\n");
    ck_assert(leat_sse_decoder_retry(ctx, &retry));
    ck_assert_uint_eq(retry, 250);
    ck_assert_mem_eq(leat_sse_decoder_last_id(ctx).bytes, "42", 2);
    ck_assert_uint_eq(leat_sse_decoder_last_id(ctx).length, 2);
    assert_events(embedded, (const char *const[]){NULL});
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_stream_goes_on_from_the_id_of_an_earlier_one) {
    leat_sse_decoder_config config = {.last_id = "41"};
    leat_stage stages[] = {{&leat_sse_decoder, &config, NULL}, {.handler = &printer}, {0}};
    leat_embedded *embedded = leat_embedded_new(stages);
    leat_embedded_feed_text(embedded, "data: x\n\nid: 42\ndata: y\n\n");
    assert_events(embedded, EVENTS("/x/41", "/y/42"));
    assert_nothing_left(embedded);
    leat_problem problem;
    ck_assert_msg(leat_verify_oom_fed(stages, "data: x\n\n", 9, &problem) == 0, "%s", problem.text);
}
END_TEST

START_TEST(the_retry_time_comes_with_the_event_behind_it) {
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{.handler = &leat_sse_decoder}, {0}});
    leat_embedded_feed_text(embedded, "retry: 9\n\ndata: x\n\ndata: y\n\n");
    for (int i = 0; i < 2; i++) {
        leat_msg msg;
        ck_assert(leat_embedded_take_read(embedded, &msg));
        const leat_sse_event *event = leat_msg_as(msg, &leat_type_sse_event);
        ck_assert(event->has_retry == (i == 0));
        ck_assert_uint_eq(event->retry_ms, i == 0 ? 9 : 0);
        leat_msg_release(msg);
    }
    assert_nothing_left(embedded);
}
END_TEST

/* ---- limits ---- */

static leat_embedded *limited(uint64_t max_event) {
    leat_sse_decoder_config config = {.max_event = max_event};
    leat_stage stages[] = {{&leat_sse_decoder, &config, NULL}, {.handler = &printer}, {.handler = &tolerant}, {0}};
    return leat_embedded_new(stages);
}

static void assert_only_short_ones(const char *text, size_t piece) {
    leat_embedded *embedded = limited(16);
    for (size_t at = 0, length = strlen(text); at < length; at += piece)
        leat_embedded_feed(embedded, text + at, length - at < piece ? length - at : piece);
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ETOOLONG);
    ck_assert_int_eq(take_tolerated(embedded), 0);
    assert_events(embedded, EVENTS("/short/", "/later/9"));
    assert_nothing_left(embedded);
}

START_TEST(an_event_that_is_too_long_is_reported_once_and_skipped) {
    static const char *const texts[] = {
        "data: short\n\nid: 9\ndata: longer than sixteen\n\ndata: later\n\n",
        "data: short\n\nid: 9\ndata: 123456\ndata: 123456\ndata: 123456\nevent: x\ndata: y\n\ndata: later\n\n",
        "data: short\r\n\r\nid: 9\r\n: a comment that is longer\r\ndata: y\r\n\r\ndata: later\r\n\r\n",
    };
    for (size_t i = 0; i < 3; i++)
        for (size_t piece = 1; piece < 100; piece += 3)
            assert_only_short_ones(texts[i], piece);
}
END_TEST

START_TEST(a_line_that_never_ends_is_not_kept) {
    static uint8_t block[4096];
    leat_embedded *embedded = limited(16);
    memset(block, 'x', sizeof block);
    for (int i = 0; i < 64; i++)
        leat_embedded_feed(embedded, block, sizeof block);
    ck_assert_uint_eq(leat_channel_held(leat_embedded_channel(embedded)), 0);
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ETOOLONG);
    ck_assert_int_eq(take_tolerated(embedded), 0);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(events_come_as_they_are_asked_for) {
    leat_embedded_options options = {.channel.manual_read = true};
    leat_embedded *embedded = leat_embedded_new_with(printed, &options, NULL);
    leat_channel_request(leat_embedded_channel(embedded), 2);
    leat_embedded_run(embedded);
    leat_embedded_feed_text(embedded, "data: a\n\ndata: b\n\ndata: c\n\n");
    assert_events(embedded, EVENTS("/a/", "/b/"));
    leat_channel_request(leat_embedded_channel(embedded), 2);
    leat_embedded_run(embedded);
    assert_events(embedded, EVENTS("/c/"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(what_is_unfinished_at_the_end_is_dropped_without_an_error) {
    leat_embedded *embedded = leat_embedded_new(printed);
    leat_embedded_feed_text(embedded, "data: whole\n\ndata: cut\nid: 5");
    leat_embedded_feed_eof(embedded);
    ck_assert_int_eq(leat_embedded_take_error(embedded), 0);
    assert_events(embedded, EVENTS("/whole/"));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_nonsensical_limit_is_refused) {
    leat_sse_decoder_config config = {.max_event = ((uint64_t)1 << 30) + 1};
    leat_problem problem;
    ck_assert_ptr_null(leat_embedded_new_with((leat_stage[]){{&leat_sse_decoder, &config, NULL}, {0}}, NULL, &problem));
    ck_assert_int_eq(problem.code, LEAT_EINVAL);
}
END_TEST

int main(void) {
    return suite_run(
        "sse_decoder",
        (const TTest *const[]){
            every_split_gives_the_same_events, no_failed_allocation_leaks, ill_formed_text_is_replaced_in_every_field,
            an_event_takes_one_allocation, the_end_of_a_line_is_found_wherever_it_stands,
            the_last_id_and_the_retry_time_are_there_for_reconnecting, a_stream_goes_on_from_the_id_of_an_earlier_one,
            the_retry_time_comes_with_the_event_behind_it, an_event_that_is_too_long_is_reported_once_and_skipped,
            a_line_that_never_ends_is_not_kept, events_come_as_they_are_asked_for,
            what_is_unfinished_at_the_end_is_dropped_without_an_error, a_nonsensical_limit_is_refused, NULL});
}
