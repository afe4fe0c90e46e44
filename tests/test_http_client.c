#include "core/transport.h"
#include "core/verify.h"
#include "handlers/http_client.h"
#include "tests/support/http_site.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

#include <stdio.h>
#include <string.h>

static const leat_stage stages[] = {{.handler = &leat_http_client}, {.handler = &tolerant}, {0}};

static int send_with(leat_embedded *e, leat_http_client_request request, leat_done *done) {
    leat_loop_enter(leat_embedded_loop(e));
    leat_ctx *last = leat_channel_find(leat_embedded_channel(e), "tolerant");
    int code = leat_http_client_send(last, &request, done);
    leat_loop_leave(leat_embedded_loop(e));
    return code;
}

static leat_embedded *asking(const leat_stage *by, const char *method) {
    leat_embedded *e = leat_embedded_new(by);
    const leat_http_client_request request = {.method = method, .host = "h", .target = "/x"};
    ck_assert_int_eq(send_with(e, request, NULL), 0);
    leat_bytebuf_release(leat_embedded_take_written(e));
    return e;
}

static void print_response(FILE *words, const leat_http_client_response *response) {
    fprintf(words, "%u %s", response->status, response->reason);
    for (size_t i = 0; i < response->field_count; i++)
        fprintf(words, "|%s=%s", response->fields[i].name, response->fields[i].value);
    fputs("\n", words);
}

/* What came out of a channel: a line for the header, the body, "." for the end. */
static const char *came(leat_embedded *e) {
    static char text[4096];
    FILE *words = fmemopen(text, sizeof text, "w");
    for (leat_msg msg; leat_embedded_take_read(e, &msg); leat_msg_release(msg)) {
        const leat_bytebuf *body = leat_msg_bytebuf(msg);
        if (msg.type == &leat_type_http_client_response)
            print_response(words, msg.obj);
        else if (body)
            fwrite(leat_bytebuf_data(body), 1, (size_t)leat_bytebuf_readable(body), words);
        else
            fputs(".", words);
    }
    fputc(0, words);
    fclose(words);
    return text;
}

/* ---- requests ---- */

START_TEST(a_request_is_written_with_its_fields_and_body) {
    leat_embedded *e = leat_embedded_new(stages);
    static const leat_http_field fields[] = {{"Accept", "text/event-stream"}, {"Last-Event-ID", "7"}, {0}};
    leat_http_client_request request = {
        .method = "POST", .host = "h:1", .target = "/x?y=1", .fields = fields, .body = NULL};
    request.body = leat_bytebuf_from_text(leat_embedded_alloc(e), "body");
    ck_assert_int_eq(send_with(e, request, NULL), 0);
    assert_written(e, "POST /x?y=1 HTTP/1.1\r\nHost: h:1\r\nContent-Length: 4\r\nAccept: text/event-stream\r\n"
                      "Last-Event-ID: 7\r\n\r\nbody");
    leat_embedded_feed_text(e, "HTTP/1.1 204 No Content\r\n\r\n");
    ck_assert_str_eq(came(e), "204 No Content\n.");
    assert_nothing_left(e);
}
END_TEST

static void assert_forged(leat_http_client_request request) {
    leat_embedded *e = leat_embedded_new(stages);
    request.body = leat_bytebuf_from_text(leat_embedded_alloc(e), "lost");
    ck_assert_int_eq(send_with(e, request, NULL), LEAT_EINVAL);
    assert_written(e, "");
    assert_nothing_left(e);
}

START_TEST(what_would_forge_a_request_is_refused) {
    assert_forged((leat_http_client_request){.host = "h", .target = "/x HTTP/1.1\r\nX: y"});
    assert_forged((leat_http_client_request){.host = "h", .target = ""});
    assert_forged((leat_http_client_request){.host = "h", .target = "/a b"});
    assert_forged((leat_http_client_request){.host = "h\r\nX: y", .target = "/"});
    assert_forged((leat_http_client_request){.target = "/"});
    assert_forged((leat_http_client_request){.method = "GET /", .host = "h", .target = "/"});
    for (int i = 0; i < 4; i++) {
        static const char *const names[] = {"Host", "content-length", "X", "X Y"};
        const leat_http_field fields[] = {{names[i], i == 2 ? "a\r\nb" : "v"}, {0}};
        assert_forged((leat_http_client_request){.host = "h", .target = "/", .fields = fields});
    }
}
END_TEST

struct outcome {
    leat_done done;
    int status;
};

static void note_status(leat_done *done, int status) {
    ((struct outcome *)(void *)done)->status = status;
}

START_TEST(a_second_request_waits_for_the_end_of_the_first) {
    leat_embedded *e = asking(stages, NULL);
    struct outcome second = {.done.fn = note_status};
    const leat_http_client_request request = {.host = "h", .target = "/"};
    ck_assert_int_eq(send_with(e, request, &second.done), 0);
    ck_assert_int_eq(second.status, LEAT_EAGAIN);
    assert_written(e, "");
    leat_embedded_feed_text(e, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    ck_assert_str_eq(came(e), "200 OK|Content-Length=2\nok.");
    ck_assert_int_eq(send_with(e, request, NULL), 0);
    assert_written(e, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    leat_embedded_feed_text(e, "HTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n");
    ck_assert_str_eq(came(e), "404 |Content-Length=0\n.");
    assert_nothing_left(e);
}
END_TEST

/* ---- responses ---- */

/* The same comes out at every split, and the same error at the end. */
static void assert_comes(const char *method, const char *input, const char *expected, int code) {
    size_t length = strlen(input);
    for (size_t at = 0; at <= length + 1; at++) {
        leat_embedded *e = asking(stages, method);
        if (at <= length) {
            leat_embedded_feed(e, input, at);
            leat_embedded_feed(e, input + at, length - at);
        } else {
            site_feed_bytewise(e, input);
        }
        leat_embedded_feed_eof(e);
        const char *got = came(e);
        ck_assert_msg(strcmp(got, expected) == 0, "split at %zu: %s", at, got);
        ck_assert_int_eq(take_tolerated(e), code);
        assert_nothing_left(e);
    }
}

START_TEST(a_body_ends_with_its_length_its_last_chunk_or_the_connection) {
    assert_comes(NULL, "HTTP/1.1 200 OK\r\nX:  v w \r\nContent-Length: 5\r\n\r\nhello",
                 "200 OK|X=v w|Content-Length=5\nhello.", 0);
    assert_comes(NULL,
                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nT: t\r\n\r\n",
                 "200 OK|Transfer-Encoding=chunked\nhello.", 0);
    assert_comes(NULL, "HTTP/1.0 200 Fine\r\n\r\nup to the end", "200 Fine\nup to the end", 0);
    assert_comes("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "200 OK|Content-Length=5\n.", 0);
    assert_comes(NULL, "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "304 Not Modified|Content-Length=5\n.",
                 0);
}
END_TEST

START_TEST(interim_responses_are_dropped) {
    assert_comes(NULL,
                 "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
                 "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
                 "200 OK|Content-Length=2\nok.", 0);
}
END_TEST

START_TEST(a_response_cut_off_by_the_end_is_truncated) {
    assert_comes(NULL, "", "", LEAT_ETRUNCATED);
    assert_comes(NULL, "HTTP/1.1 200 OK\r\nX", "", LEAT_ETRUNCATED);
    assert_comes(NULL, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "200 OK|Content-Length=5\n", LEAT_ETRUNCATED);
    assert_comes(NULL, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
                 "200 OK|Transfer-Encoding=chunked\nab", LEAT_ETRUNCATED);
}
END_TEST

START_TEST(what_is_no_response_is_corrupt) {
    assert_comes(NULL, "SSH-2.0-OpenSSH\r\n", "", LEAT_ECORRUPT);
    assert_comes(NULL, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "",
                 LEAT_ECORRUPT);
    assert_comes(NULL, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "", LEAT_ECORRUPT);
    assert_comes(NULL, "HTTP/1.1 204 No Content\r\n\r\nmore", "204 No Content\n.", LEAT_ECORRUPT);
    leat_embedded *e = leat_embedded_new(stages);
    leat_embedded_feed_text(e, "HTTP/1.1 200 OK\r\n\r\n");
    ck_assert_int_eq(take_tolerated(e), LEAT_ECORRUPT);
    assert_nothing_left(e);
}
END_TEST

START_TEST(what_came_before_a_fault_comes_first_however_it_was_cut) {
    const char *head = "200 OK|Transfer-Encoding=chunked\nhel";
    assert_comes(NULL, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\nZ\r\n", head, LEAT_ECORRUPT);
    assert_comes(NULL, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhelXX", head, LEAT_ECORRUPT);
    assert_comes(NULL, "HTTP/1.1 200 OK\r\n: x\r\n\r\n", "", LEAT_ECORRUPT);
}
END_TEST

START_TEST(a_response_that_was_closed_upon_does_not_time_out_but_with_half_a_close_it_does) {
    static const leat_http_client_config hurried = {.response_ms = 100};
    for (int half = 0; half < 2; half++) {
        leat_embedded *e =
            asking((leat_stage[]){{&leat_http_client, &hurried, NULL}, {&tolerant, NULL, NULL}, {0}}, NULL);
        if (half)
            leat_channel_half_close(leat_embedded_channel(e));
        else
            leat_channel_close(leat_embedded_channel(e));
        leat_embedded_advance(e, 200);
        ck_assert_int_eq(take_tolerated(e), half ? LEAT_ETIMEDOUT : 0);
        leat_embedded_finish(e);
        leat_embedded_free(e);
    }
}
END_TEST

static void assert_too_long(leat_http_client_config config, const char *input) {
    leat_embedded *e = asking((leat_stage[]){{&leat_http_client, &config, NULL}, {.handler = &tolerant}, {0}}, NULL);
    leat_embedded_feed_text(e, input);
    came(e);
    ck_assert_int_eq(take_tolerated(e), LEAT_ETOOLONG);
    assert_nothing_left(e);
}

START_TEST(what_is_over_a_limit_is_too_long) {
    assert_too_long((leat_http_client_config){.max_fields = 10}, "HTTP/1.1 200 OK\r\nX: 12345678\r\n\r\n");
    assert_too_long((leat_http_client_config){.max_fields = 10}, "HTTP/1.1 200 123456789ab\r\n\r\n");
    assert_too_long((leat_http_client_config){.max_count = 1}, "HTTP/1.1 200 OK\r\nX: 1\r\nY: 2\r\n\r\n");
    assert_too_long((leat_http_client_config){.max_body = 4}, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
}
END_TEST

START_TEST(a_response_that_does_not_come_times_out_and_a_slow_body_does_not) {
    leat_embedded *e = asking(stages, NULL);
    leat_embedded_feed_text(e, "HTTP/1.1 200 OK\r\n");
    leat_embedded_advance(e, 29999);
    ck_assert_int_eq(take_tolerated(e), 0);
    leat_embedded_advance(e, 1);
    ck_assert_int_eq(take_tolerated(e), LEAT_ETIMEDOUT);
    leat_embedded_free(e);
    e = asking(stages, NULL);
    leat_embedded_feed_text(e, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n");
    leat_embedded_advance(e, 1000000);
    ck_assert_int_eq(take_tolerated(e), 0);
    leat_embedded_feed_text(e, "x");
    ck_assert_str_eq(came(e), "200 OK|Content-Length=1\nx.");
    assert_nothing_left(e);
}
END_TEST

/* ---- with our own server ---- */

START_TEST(our_own_server_is_understood) {
    leat_embedded *server = leat_embedded_new(site_stages);
    const leat_embedded_options shared = {.loop = leat_embedded_loop(server)};
    leat_embedded *client = leat_embedded_new_with(stages, &shared, NULL);
    leat_embedded_link(client, server);
    const leat_http_client_request requests[] = {{.host = "h", .target = "/a?name=n"},
                                                 {.host = "h", .target = "/empty"}};
    ck_assert_int_eq(send_with(client, requests[0], NULL), 0);
    leat_embedded_run(client);
    ck_assert_str_eq(came(client), "200 OK|Content-Length=14|Content-Type=text/plain; charset=utf-8\nGET|/a|n|-|1|\n.");
    ck_assert_int_eq(send_with(client, requests[1], NULL), 0);
    leat_embedded_run(client);
    ck_assert_str_eq(came(client), "204 No Content\n.");
    leat_embedded_close(client);
    leat_embedded_free(client);
    assert_nothing_left(server);
}
END_TEST

static int ask_and_hear(leat_alloc *alloc, void *context) {
    leat_embedded_options options = {.alloc = alloc, .without_ledger = true};
    leat_embedded *e = leat_embedded_new_with(stages, &options, NULL);
    if (!e)
        return 0;
    leat_http_client_request request = {.host = "h", .target = "/", .body = leat_bytebuf_from_text(alloc, "b")};
    send_with(e, request, NULL);
    leat_embedded_feed_text(e, context);
    leat_embedded_feed_eof(e);
    leat_embedded_free(e);
    return 0;
}

START_TEST(no_failed_allocation_leaks) {
    char input[] = "HTTP/1.1 200 OK\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n0\r\n\r\n";
    leat_problem problem;
    ck_assert_msg(leat_verify_oom(ask_and_hear, input, &problem) == 0, "%s", problem.text);
}
END_TEST

int main(void) {
    return suite_run(
        "http_client",
        (const TTest *const[]){a_request_is_written_with_its_fields_and_body, what_would_forge_a_request_is_refused,
                               a_second_request_waits_for_the_end_of_the_first,
                               a_body_ends_with_its_length_its_last_chunk_or_the_connection,
                               interim_responses_are_dropped, a_response_cut_off_by_the_end_is_truncated,
                               what_came_before_a_fault_comes_first_however_it_was_cut,
                               a_response_that_was_closed_upon_does_not_time_out_but_with_half_a_close_it_does,
                               what_is_no_response_is_corrupt, what_is_over_a_limit_is_too_long,
                               a_response_that_does_not_come_times_out_and_a_slow_body_does_not,
                               our_own_server_is_understood, no_failed_allocation_leaks, NULL});
}
