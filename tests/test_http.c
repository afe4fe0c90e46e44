#include "core/recorder.h"
#include "core/verify.h"
#include "tests/support/http_site.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

#include <string.h>

/* ---- requests ---- */

START_TEST(a_request_reaches_the_application_whole) {
    leat_embedded *embedded =
        site_fed(site_stages, "POST /p/q?name=a%20b+c&x=1 HTTP/1.1\r\nHost: h\r\nX-Test:  v w \t\r\n"
                              "Content-Length: 5\r\n\r\nhello");
    assert_written(embedded, TEXT_HEAD("28") TEXT_TYPE "POST|/p/q|a b c|v w|1|hello\n");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_request_in_single_bytes_is_the_same) {
    leat_embedded *embedded = leat_embedded_new(site_stages);
    site_feed_bytewise(embedded, "POST /p?name=n HTTP/1.1\r\nHost: h\r\nX-Test: v\r\nTransfer-Encoding: chunked\r\n\r\n"
                                 "3\r\nhel\r\n2;ext=1\r\nlo\r\n0\r\nTrailer: t\r\n\r\n");
    assert_written(embedded, TEXT_HEAD("20") TEXT_TYPE "POST|/p|n|v|1|hello\n");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(pipelined_requests_are_answered_in_order) {
    leat_embedded *embedded =
        site_fed(site_stages, "GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_written(embedded, TEXT_HEAD("14") TEXT_TYPE "GET|/a|-|-|1|\n" TEXT_HEAD("14") TEXT_TYPE "GET|/b|-|-|1|\n");
    ck_assert(leat_channel_is_open(leat_embedded_channel(embedded)));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(the_next_request_waits_for_the_answer_to_the_last) {
    leat_embedded *embedded =
        site_fed(site_stages, "GET /later HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_written(embedded, "");
    ck_assert_uint_gt(leat_channel_held(leat_embedded_channel(embedded)), 0);
    leat_http_respond(site_of(embedded), 404, NULL, NULL, NULL);
    leat_embedded_run(embedded);
    assert_written(embedded,
                   "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n" TEXT_HEAD("14") TEXT_TYPE "GET|/b|-|-|1|\n");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(connection_close_and_http_1_0_end_with_the_response) {
    const char *requests[] = {"GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "GET /a HTTP/1.0\r\n\r\n"};
    for (int i = 0; i < 2; i++) {
        leat_embedded *embedded = site_fed(site_stages, requests[i]);
        assert_written(embedded, TEXT_HEAD("14") "Connection: close\r\n" TEXT_TYPE "GET|/a|-|-|0|\n");
        ck_assert(leat_embedded_is_shut_down(embedded));
        assert_nothing_left(embedded);
    }
}
END_TEST

START_TEST(http_1_0_may_keep_the_connection) {
    leat_embedded *embedded = site_fed(site_stages, "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_written(embedded, TEXT_HEAD("14") "Connection: keep-alive\r\n" TEXT_TYPE "GET|/a|-|-|1|\n");
    ck_assert(!leat_embedded_is_shut_down(embedded));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(head_gets_the_header_only) {
    leat_embedded *embedded = site_fed(site_stages, "HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_written(embedded, TEXT_HEAD("15") TEXT_TYPE);
    leat_embedded_feed_text(embedded, "HEAD /stream HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_written(embedded, STREAM_HEAD);
    leat_embedded_write_text(embedded, "dropped");
    leat_embedded_feed_text(embedded, "GET /empty HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_written(embedded, "HTTP/1.1 204 No Content\r\n\r\n");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(an_absolute_target_is_its_path) {
    leat_embedded *embedded = site_fed(site_stages, "GET http://h:80/a?name=b HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_written(embedded, TEXT_HEAD("14") TEXT_TYPE "GET|/a|b|-|1|\n");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(an_upgrade_that_nobody_offers_is_ignored) {
    leat_embedded *embedded =
        site_fed(site_stages, "GET /a HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
                              "GET /b HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_written(embedded, TEXT_HEAD("14") TEXT_TYPE "GET|/a|-|-|1|\n" TEXT_HEAD("14") TEXT_TYPE "GET|/b|-|-|1|\n");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_body_that_is_announced_is_asked_for) {
    leat_embedded *embedded =
        site_fed(site_stages, "PUT /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_written(embedded, "HTTP/1.1 100 Continue\r\n\r\n");
    leat_embedded_feed_text(embedded, "ab");
    assert_written(embedded, TEXT_HEAD("16") TEXT_TYPE "PUT|/a|-|-|1|ab\n");
    assert_nothing_left(embedded);
}
END_TEST

/* Ends the parsing when the first bytes leave. */
static void takes_http_away(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    leat_ctx *http = leat_channel_find(leat_ctx_channel(ctx), "http");
    if (http)
        leat_ctx_remove(http);
    leat_ctx_write(ctx, msg, done);
}

static void assert_read(leat_embedded *embedded, const char *expected) {
    char got[16] = {0};
    leat_msg msg;
    while (leat_embedded_take_read(embedded, &msg)) {
        leat_bytebuf *buf = leat_msg_bytebuf(msg);
        ck_assert(leat_bytebuf_read_bytes(buf, got + strlen(got), leat_bytebuf_readable(buf)));
        leat_msg_release(msg);
    }
    ck_assert_str_eq(got, expected);
    assert_nothing_left(embedded);
}

static const leat_handler thief = {.name = "thief", .write = takes_http_away};

START_TEST(http_may_be_taken_away_while_it_asks_for_a_body) {
    static const leat_stage stages[] = {{&thief}, {&leat_http}, {0}};
    static const char *const bodies[] = {"", "a", "ab", "abGET"};
    for (int i = 0; i < 4; i++) {
        char request[128];
        snprintf(request, sizeof request,
                 "PUT /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n%s", bodies[i]);
        leat_embedded *embedded = site_fed(stages, request);
        assert_written(embedded, "HTTP/1.1 100 Continue\r\n\r\n");
        ck_assert_ptr_null(leat_channel_find(leat_embedded_channel(embedded), "http"));
        leat_embedded_feed_text(embedded, "rest");
        assert_read(embedded, i == 3 ? "GETrest" : "rest");
    }
}
END_TEST

/* ---- streams ---- */

START_TEST(a_stream_begins_at_once_and_writes_are_chunks) {
    leat_embedded *embedded = site_fed(site_stages, GET_STREAM);
    assert_written(embedded, STREAM_HEAD);
    leat_embedded_write_text(embedded, "data: hello world\n\n");
    leat_embedded_write_text(embedded, "");
    assert_written(embedded, "13\r\ndata: hello world\n\n\r\n");
    leat_http_end(site_of(embedded), NULL);
    leat_embedded_run(embedded);
    assert_written(embedded, "0\r\n\r\n");
    leat_embedded_feed_text(embedded, "GET /empty HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_written(embedded, "HTTP/1.1 204 No Content\r\n\r\n");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_shared_chunk_is_not_copied) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_embedded_options options = {.alloc = &counting.alloc, .without_ledger = true};
    leat_embedded *embedded = leat_embedded_new_with(site_stages, &options, NULL);
    leat_embedded_feed_text(embedded, GET_STREAM);
    leat_bytebuf_release(leat_embedded_take_written(embedded));
    leat_bytebuf *event = leat_bytebuf_from_text(&counting.alloc, "data: shared\n\n");
    uint64_t before = counting.counted.copied;
    leat_embedded_write(embedded, leat_msg_of_bytebuf(leat_bytebuf_retain(event)), NULL);
    ck_assert_uint_eq(counting.counted.copied, before);
    leat_embedded_close(embedded);
    assert_written(embedded, "e\r\ndata: shared\n\n\r\n0\r\n\r\n");
    leat_bytebuf_release(event);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(closing_ends_a_stream_properly) {
    leat_embedded *embedded = site_fed(site_stages, GET_STREAM);
    leat_embedded_close(embedded);
    assert_written(embedded, STREAM_HEAD "0\r\n\r\n");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_stream_for_http_1_0_is_plain_bytes_up_to_the_close) {
    leat_embedded *embedded = site_fed(site_stages, "GET /stream HTTP/1.0\r\n\r\n");
    leat_embedded_write_text(embedded, "x\n");
    leat_http_end(site_of(embedded), NULL);
    leat_embedded_run(embedded);
    assert_written(embedded, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\r\nx\n");
    ck_assert(leat_embedded_is_shut_down(embedded));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_stream_ends_when_its_client_does) {
    leat_embedded *embedded = site_fed(site_stages, GET_STREAM);
    leat_embedded_feed_eof(embedded);
    ck_assert(leat_embedded_is_closed(embedded));
    leat_embedded_written_text(embedded);
    assert_nothing_left(embedded);
}
END_TEST

static void write_nothing_and_end(leat_embedded *e, leat_recorder *recorder) {
    leat_ctx *last = site_of(e);
    leat_alloc *alloc = leat_embedded_alloc(e);
    leat_ctx_write(last, leat_msg_of_bytebuf(leat_bytebuf_from_text(alloc, "x")), leat_recorder_done(recorder, "x"));
    leat_ctx_write(last, leat_msg_of_bytebuf(leat_bytebuf_new(alloc, 0)), leat_recorder_done(recorder, "nothing"));
    leat_http_end(last, leat_recorder_done(recorder, "end"));
    leat_embedded_run(e);
}

START_TEST(what_makes_no_bytes_completes_behind_what_was_written_before) {
    for (int minor = 0; minor < 2; minor++) {
        leat_recorder *recorder = leat_recorder_new(leat_unpooled());
        leat_embedded *e = site_fed(site_stages, minor ? GET_STREAM : "GET /stream HTTP/1.0\r\n\r\n");
        leat_embedded_limit_writes(e, 100, 0);
        write_nothing_and_end(e, recorder);
        ck_assert_str_eq(leat_recorder_take(recorder), "");
        leat_embedded_allow_writes(e, UINT64_MAX);
        ck_assert_str_eq(leat_recorder_take(recorder), "x done LEAT_OK\nnothing done LEAT_OK\nend done LEAT_OK\n");
        leat_embedded_written_text(e);
        assert_nothing_left(e);
        leat_recorder_free(recorder);
    }
}
END_TEST

/* ---- misuse ---- */

static int last_status;

static void note_status(leat_done *done, int status) {
    (void)done;
    last_status = status;
}

START_TEST(writes_that_answer_nothing_are_refused) {
    leat_embedded *embedded = leat_embedded_new(site_stages);
    leat_done done = {.fn = note_status};
    leat_embedded_write(embedded, leat_msg_of_bytebuf(leat_bytebuf_from_text(leat_embedded_alloc(embedded), "x")),
                        &done);
    ck_assert_int_eq(last_status, LEAT_EINVAL);
    last_status = 0;
    leat_http_respond(site_of(embedded), 200, NULL, NULL, &done);
    leat_embedded_run(embedded);
    ck_assert_int_eq(last_status, LEAT_EINVAL);
    assert_written(embedded, "");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(an_answer_after_the_close_is_told_so) {
    leat_embedded *embedded = site_fed(site_stages, "GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
    leat_done done = {.fn = note_status};
    leat_embedded_close(embedded);
    leat_http_respond(site_of(embedded), 200, NULL, NULL, &done);
    leat_embedded_run(embedded);
    ck_assert_int_eq(last_status, LEAT_ECLOSED);
    assert_written(embedded, "");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(fields_that_would_forge_others_are_refused) {
    const leat_http_field bad[] = {
        {"X", "a\r\nSet-Cookie: b"}, {"X", "a\nb"}, {"X Y", "a"}, {"", "a"}, {"X:", "a"}, {"X", NULL},
        {"content-length", "1"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        leat_http_field fields[] = {bad[i], {0}};
        leat_msg response;
        ck_assert_int_eq(leat_http_response_new(leat_unpooled(), 200, fields, NULL, &response), LEAT_EINVAL);
    }
    leat_msg response;
    ck_assert_int_eq(leat_http_response_new(leat_unpooled(), 100, NULL, NULL, &response), LEAT_EINVAL);
}
END_TEST

static int query_of(const char *query, const char *name, char *value, size_t size) {
    leat_http_request request = {.query = query};
    return leat_http_request_query(&request, name, value, size);
}

START_TEST(query_values_are_decoded_and_bounded) {
    char value[8];
    ck_assert_int_eq(query_of("a=1&bb=2%2B3&c", "bb", value, sizeof value), 3);
    ck_assert_str_eq(value, "2+3");
    ck_assert_int_eq(query_of("a=1&c", "c", value, sizeof value), 0);
    ck_assert_int_eq(query_of("a=1", "b", value, sizeof value), LEAT_ENOTFOUND);
    ck_assert_int_eq(query_of(NULL, "b", value, sizeof value), LEAT_ENOTFOUND);
    ck_assert_int_eq(query_of("a=12345678", "a", value, sizeof value), LEAT_ETOOLONG);
    ck_assert_int_eq(query_of("a=%4", "a", value, sizeof value), LEAT_ECORRUPT);
    ck_assert_int_eq(query_of("a=%zz", "a", value, sizeof value), LEAT_ECORRUPT);
    ck_assert_int_eq(query_of("a=%00", "a", value, sizeof value), LEAT_ECORRUPT);
}
END_TEST

static int answer_and_stream(leat_alloc *alloc, void *context) {
    (void)context;
    leat_embedded_options options = {.alloc = alloc, .without_ledger = true};
    leat_embedded *embedded = leat_embedded_new_with(site_stages, &options, NULL);
    if (!embedded)
        return 0;
    leat_embedded_feed_text(embedded, "POST /a?name=b HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello");
    leat_embedded_feed_text(embedded, GET_STREAM);
    leat_bytebuf *event = leat_bytebuf_from_text(alloc, "data: x\n\n");
    for (int i = 0; event && i < 2; i++)
        leat_embedded_write(embedded, leat_msg_of_bytebuf(leat_bytebuf_retain(event)), NULL);
    leat_bytebuf_release(event);
    leat_embedded_close(embedded);
    leat_embedded_free(embedded);
    return 0;
}

START_TEST(no_failed_allocation_leaks) {
    leat_problem problem;
    ck_assert_msg(leat_verify_oom(answer_and_stream, NULL, &problem) == 0, "%s", problem.text);
}
END_TEST

int main(void) {
    return suite_run("http", (const TTest *const[]){a_request_reaches_the_application_whole,
                                                    a_request_in_single_bytes_is_the_same,
                                                    pipelined_requests_are_answered_in_order,
                                                    the_next_request_waits_for_the_answer_to_the_last,
                                                    connection_close_and_http_1_0_end_with_the_response,
                                                    http_1_0_may_keep_the_connection,
                                                    head_gets_the_header_only,
                                                    an_absolute_target_is_its_path,
                                                    an_upgrade_that_nobody_offers_is_ignored,
                                                    a_body_that_is_announced_is_asked_for,
                                                    http_may_be_taken_away_while_it_asks_for_a_body,
                                                    a_stream_begins_at_once_and_writes_are_chunks,
                                                    a_shared_chunk_is_not_copied,
                                                    closing_ends_a_stream_properly,
                                                    a_stream_for_http_1_0_is_plain_bytes_up_to_the_close,
                                                    what_makes_no_bytes_completes_behind_what_was_written_before,
                                                    a_stream_ends_when_its_client_does,
                                                    writes_that_answer_nothing_are_refused,
                                                    an_answer_after_the_close_is_told_so,
                                                    fields_that_would_forge_others_are_refused,
                                                    query_values_are_decoded_and_bounded,
                                                    no_failed_allocation_leaks,
                                                    NULL});
}
