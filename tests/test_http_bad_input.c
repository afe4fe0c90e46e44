#include "tests/support/http_site.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

#include <string.h>

static const leat_http_config tight = {.max_target = 16, .max_fields = 32, .max_count = 2, .max_body = 8};
static const leat_stage tight_stages[] = {{&leat_http, &tight, NULL}, {.handler = &site}, {0}};

static void assert_turned_away(const leat_stage *stages, const char *input, const char *status, int code) {
    for (int bytewise = 0; bytewise < 2; bytewise++) {
        leat_embedded *embedded = leat_embedded_new(stages);
        if (bytewise)
            site_feed_bytewise(embedded, input);
        else
            leat_embedded_feed_text(embedded, input);
        const char *written = leat_embedded_written_text(embedded);
        ck_assert_msg(strncmp(written, status, strlen(status)) == 0, "%s: %s", input, written);
        ck_assert_ptr_nonnull(strstr(written, "Connection: close\r\n"));
        ck_assert_int_eq(leat_embedded_take_error(embedded), code);
        ck_assert(leat_embedded_is_shut_down(embedded));
        assert_nothing_left(embedded);
    }
}

START_TEST(what_is_no_http_is_a_bad_request) {
    const char *inputs[] = {"\x16\x03\x01\x02garbage",
                            "hello world\r\n\r\n",
                            "GET /a HTTP/9.9\r\nHost: h\r\n\r\n",
                            "GET /a HTTP/1.1\r\n\r\n",
                            "GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                            "GET /a HTTP/1.1\r\nHost h\r\n\r\n",
                            "CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n",
                            "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                            "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
                            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        assert_turned_away(site_stages, inputs[i], "HTTP/1.1 400 Bad Request\r\n", LEAT_ECORRUPT);
}
END_TEST

#define POST_CHUNKED "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"

START_TEST(what_two_servers_could_take_apart_differently_is_a_bad_request) {
    const char *inputs[] = {POST_CHUNKED "\r\n3\r\nabcXX0\r\n\r\n",
                            POST_CHUNKED "\r\n3\nabc\r\n0\r\n\r\n",
                            POST_CHUNKED "\r\n3\r\nabc\n0\r\n\r\n",
                            POST_CHUNKED "\r\n3 \r\nabc\r\n0\r\n\r\n",
                            POST_CHUNKED "\r\n10000000000000003\r\nabc\r\n0\r\n\r\n",
                            POST_CHUNKED "Content-Length: 3\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
                            POST_CHUNKED "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                            POST_CHUNKED ": x\r\n\r\n0\r\n\r\n",
                            "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
                            "POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                            "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
                            "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 1\r\n\r\na",
                            "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length : 1\r\n\r\na",
                            "GET /a HTTP/1.1\nHost: h\n\n",
                            "GET /a HTTP/1.1\r\nHost: h\rA: b\r\n\r\n"};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        assert_turned_away(site_stages, inputs[i], "HTTP/1.1 400 Bad Request\r\n", LEAT_ECORRUPT);
}
END_TEST

START_TEST(a_transfer_coding_that_is_not_known_is_not_implemented) {
    const char *inputs[] = {"gzip", "gzip, chunked", "identity", "xchunked"};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        char input[128];
        snprintf(input, sizeof input, "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: %s\r\n\r\n0\r\n\r\n",
                 inputs[i]);
        assert_turned_away(site_stages, input, "HTTP/1.1 501 Not Implemented\r\n", LEAT_ECORRUPT);
    }
}
END_TEST

START_TEST(a_nul_is_a_bad_request_wherever_it_stands) {
    const leat_span inputs[] = {{(const uint8_t *)"GET /a\0b HTTP/1.1\r\nHost: h\r\n\r\n", 30},
                                {(const uint8_t *)"GET /a HTTP/1.1\r\nHost: h\0i\r\n\r\n", 30},
                                {(const uint8_t *)"GET /a HTTP/1.1\r\nHo\0st: h\r\n\r\n", 30}};
    for (size_t i = 0; i < 3; i++) {
        leat_embedded *embedded = leat_embedded_new(site_stages);
        leat_embedded_feed(embedded, inputs[i].bytes, inputs[i].length);
        ck_assert_int_eq(strncmp(leat_embedded_written_text(embedded), "HTTP/1.1 400", 12), 0);
        ck_assert_int_eq(leat_embedded_take_error(embedded), LEAT_ECORRUPT);
        assert_nothing_left(embedded);
    }
}
END_TEST

START_TEST(what_is_over_a_limit_is_turned_away) {
    const char *too_large = "HTTP/1.1 431 Request Header Fields Too Large\r\n";
    assert_turned_away(tight_stages, "GET /34567890123456xy HTTP/1.1\r\n", too_large, LEAT_ETOOLONG);
    assert_turned_away(tight_stages, "GET / HTTP/1.1\r\nHost: h\r\nA: 1\r\nB: 2\r\n\r\n", too_large, LEAT_ETOOLONG);
    assert_turned_away(tight_stages, "GET / HTTP/1.1\r\nHost: h\r\nA: 123456789012345678901234567890\r\n\r\n",
                       too_large, LEAT_ETOOLONG);
    assert_turned_away(tight_stages, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n",
                       "HTTP/1.1 413 Content Too Large\r\n", LEAT_ETOOLONG);
    const leat_http_config small_body = {.max_body = 8};
    const leat_stage with[] = {{&leat_http, &small_body, NULL}, {.handler = &site}, {0}};
    assert_turned_away(with,
                       "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n5\r\n12345\r\n",
                       "HTTP/1.1 413 Content Too Large\r\n", LEAT_ETOOLONG);
}
END_TEST

START_TEST(what_is_just_within_the_limits_passes) {
    leat_embedded *embedded = site_fed(tight_stages, "POST /34567890123456x HTTP/1.1\r\nHost: h\r\n"
                                                     "Content-Length: 8\r\n\r\n12345678");
    assert_written(embedded, TEXT_HEAD("37") TEXT_TYPE "POST|/34567890123456x|-|-|1|12345678\n");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(half_a_request_then_silence_times_out) {
    leat_embedded *embedded = site_fed(site_stages, "GET /a HTTP/1.1\r\nHo");
    leat_embedded_advance(embedded, 9999);
    ck_assert(!leat_embedded_is_shut_down(embedded));
    leat_embedded_advance(embedded, 1);
    const char *status = "HTTP/1.1 408 Request Timeout\r\n";
    ck_assert_int_eq(strncmp(leat_embedded_written_text(embedded), status, strlen(status)), 0);
    ck_assert_int_eq(leat_embedded_take_error(embedded), LEAT_ETIMEDOUT);
    ck_assert(leat_embedded_is_shut_down(embedded));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_trickle_of_bytes_does_not_put_the_time_out_off) {
    leat_embedded *embedded = site_fed(site_stages, "GET /a HTTP/1.1\r\nX: ");
    for (int i = 0; i < 10; i++) {
        leat_embedded_advance(embedded, 1000);
        leat_embedded_feed_text(embedded, "x");
    }
    ck_assert_int_eq(leat_embedded_take_error(embedded), LEAT_ETIMEDOUT);
    leat_embedded_written_text(embedded);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_connection_without_a_next_request_just_closes) {
    leat_embedded *embedded = site_fed(site_stages, "GET /empty HTTP/1.1\r\nHost: h\r\n\r\n");
    leat_embedded_written_text(embedded);
    leat_embedded_advance(embedded, 59999);
    ck_assert(!leat_embedded_is_shut_down(embedded));
    leat_embedded_advance(embedded, 1);
    ck_assert(leat_embedded_is_shut_down(embedded));
    assert_written(embedded, "");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_request_cut_off_by_the_end_is_truncated) {
    leat_embedded *embedded = site_fed(site_stages, "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab");
    leat_embedded_feed_eof(embedded);
    ck_assert_int_eq(leat_embedded_take_error(embedded), LEAT_ETRUNCATED);
    assert_written(embedded, "");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_peer_that_ended_its_side_still_gets_its_answer) {
    leat_embedded *embedded = site_fed(site_stages, "GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
    leat_embedded_feed_eof(embedded);
    leat_http_respond(site_of(embedded), 202, NULL, NULL, NULL);
    leat_embedded_run(embedded);
    assert_written(embedded, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    ck_assert(leat_embedded_is_closed(embedded));
    assert_nothing_left(embedded);
}
END_TEST

#define GET(path) "GET " path " HTTP/1.1\r\nHost: h\r\n\r\n"

START_TEST(requests_that_came_before_the_end_are_answered_before_it) {
    leat_embedded *embedded = site_fed(site_stages, GET("/later") GET("/empty") GET("/later"));
    leat_embedded_feed_eof(embedded);
    leat_http_respond(site_of(embedded), 202, NULL, NULL, NULL);
    leat_embedded_run(embedded);
    assert_written(embedded, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n");
    leat_http_respond(site_of(embedded), 202, NULL, NULL, NULL);
    leat_embedded_run(embedded);
    assert_written(embedded, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    ck_assert(leat_embedded_is_closed(embedded));
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_request_that_nobody_asked_for_before_the_end_is_answered_when_asked_for) {
    leat_embedded_options options = {.channel.manual_read = true};
    leat_embedded *embedded = leat_embedded_new_with(site_stages, &options, NULL);
    leat_channel *channel = leat_embedded_channel(embedded);
    leat_ctx *http = leat_channel_find(channel, "http");
    http->handler->read(http, leat_msg_of_bytebuf(leat_bytebuf_from_text(leat_unpooled(), GET("/later") "GET")));
    http->handler->eof(http);
    leat_channel_request(channel, 1);
    leat_embedded_run(embedded);
    leat_http_respond(site_of(embedded), 202, NULL, NULL, NULL);
    leat_embedded_run(embedded);
    assert_written(embedded, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
    leat_channel_request(channel, 1);
    leat_embedded_run(embedded);
    ck_assert_int_eq(leat_embedded_take_error(embedded), LEAT_ETRUNCATED);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(removed_while_the_end_waits_for_an_answer_it_passes_the_end_on) {
    leat_embedded *embedded = site_fed(site_stages, GET("/later"));
    leat_embedded_feed_eof(embedded);
    ck_assert_uint_eq(leat_embedded_count_eof(embedded), 0);
    leat_ctx_remove(leat_channel_find(leat_embedded_channel(embedded), "http"));
    leat_embedded_run(embedded);
    ck_assert_uint_eq(leat_embedded_count_eof(embedded), 1);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(what_came_behind_the_last_request_is_let_go_with_its_answer) {
    leat_embedded *embedded =
        site_fed(site_stages, "GET /later HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" GET("/a"));
    leat_http_respond(site_of(embedded), 202, NULL, NULL, NULL);
    leat_embedded_run(embedded);
    assert_written(embedded, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    ck_assert_uint_eq(leat_channel_held(leat_embedded_channel(embedded)), 0);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_request_that_was_closed_upon_does_not_time_out) {
    static const leat_http_config hurried = {.request_ms = 100};
    leat_embedded *embedded = site_fed((leat_stage[]){{&leat_http, &hurried, NULL}, {0}}, "GET /a");
    leat_embedded_close(embedded);
    leat_embedded_advance(embedded, 200);
    ck_assert_int_eq(leat_channel_error(leat_embedded_channel(embedded)), 0);
    assert_nothing_left(embedded);
}
END_TEST

int main(void) {
    return suite_run("http_bad_input",
                     (const TTest *const[]){
                         what_is_no_http_is_a_bad_request, a_nul_is_a_bad_request_wherever_it_stands,
                         what_is_over_a_limit_is_turned_away, what_is_just_within_the_limits_passes,
                         half_a_request_then_silence_times_out, a_trickle_of_bytes_does_not_put_the_time_out_off,
                         a_connection_without_a_next_request_just_closes, a_request_cut_off_by_the_end_is_truncated,
                         a_peer_that_ended_its_side_still_gets_its_answer,
                         what_two_servers_could_take_apart_differently_is_a_bad_request,
                         a_transfer_coding_that_is_not_known_is_not_implemented,
                         requests_that_came_before_the_end_are_answered_before_it,
                         a_request_that_nobody_asked_for_before_the_end_is_answered_when_asked_for,
                         removed_while_the_end_waits_for_an_answer_it_passes_the_end_on,
                         what_came_behind_the_last_request_is_let_go_with_its_answer,
                         a_request_that_was_closed_upon_does_not_time_out, NULL});
}
