#include "catalogue.h"

#include <check.h>
#include <leat/handlers/legacy_tcp_framer.h>
#include <string.h>

static void finish(leat_embedded *e) {
    ck_assert_msg(leat_embedded_finish(e) == 0, "%s", leat_embedded_report(e));
    leat_embedded_free(e);
}

static void assert_reads(const leat_stage *stages, const char *input, size_t length, const char *const *expected) {
    leat_embedded *e = leat_embedded_new(stages);
    leat_embedded_feed(e, input, length);
    for (; *expected; expected++)
        ck_assert_str_eq(leat_embedded_read_text(e), *expected);
    ck_assert_ptr_null(leat_embedded_read_text(e));
    leat_embedded_free(e);
}

#define READS(stages, input, ...)                                                                                      \
    assert_reads(stages, input, sizeof(input) - 1, (const char *const[]){__VA_ARGS__, NULL})

START_TEST(decoders_fire_what_they_say) {
    READS(lines, "hello\r\nwor", "hello");
    READS(threes, "abcdefgh", "abc", "def");
    READS(delimited, "a$$b;c", "a", "b");
    READS(length_fields, "\0\3abc", "abc");
    READS(varints, "\3abc", "abc");
    READS(joined_lines, "ab\ncd\n.\n", "abcd");
    READS(events_in, ": hi\nid: 7\ndata: x\n\n", "x");
    READS(legacy_in, "\0\0\0\x0d\1\3obs\0\0\0\4\1abc", "abc");
    READS(watched, "abc", "abc");
}
END_TEST

static void assert_writes(const leat_stage *stages, leat_bytebuf *buf, const char *expected, size_t length) {
    leat_embedded *e = leat_embedded_new(stages);
    leat_embedded_write(e, leat_msg_of_bytebuf(buf), NULL);
    leat_bytebuf *written = leat_embedded_take_written(e);
    ck_assert(leat_bytebuf_equals_bytes(written, expected, length));
    leat_bytebuf_release(written);
    finish(e);
}

#define TEXT(text) leat_bytebuf_from_text(leat_unpooled(), text)
#define WRITES(stages, buf, expected) assert_writes(stages, buf, expected, sizeof(expected) - 1)

START_TEST(encoders_send_what_they_say) {
    WRITES(length_fields, TEXT("abc"), "\0\3abc");
    WRITES(varints, TEXT("abc"), "\3abc");
    WRITES(events_out, TEXT("x"), "data: x\n\n");
    WRITES(legacy_out, leat_legacy_tcp_event(leat_unpooled(), LEAT_LEGACY_TCP_NEXT, "abc", 3),
           "\0\0\0\x0d\1\3obs\0\0\0\4\1abc");
}
END_TEST

START_TEST(an_event_with_fields_is_framed) {
    leat_embedded *e = leat_embedded_new(events_out);
    leat_embedded_write(e, tick(leat_embedded_alloc(e)), NULL);
    ck_assert_str_eq(leat_embedded_written_text(e), "event: tick\nid: 7\ndata: two\ndata: lines\n\n");
    finish(e);
}
END_TEST

START_TEST(a_heart_beats_every_two_seconds) {
    leat_embedded *e = leat_embedded_new(heartbeats);
    leat_embedded_advance(e, 4000);
    ck_assert_str_eq(leat_embedded_written_text(e), "beat\nbeat\n");
    for (leat_msg event; leat_embedded_take_event(e, &event);)
        leat_msg_release(event);
    finish(e);
}
END_TEST

START_TEST(a_silent_peer_is_given_up) {
    leat_embedded *e = leat_embedded_new(timed);
    leat_embedded_advance(e, 60000);
    ck_assert_int_eq(leat_embedded_take_error(e), LEAT_ETIMEDOUT);
    finish(e);
}
END_TEST

START_TEST(what_is_too_fast_waits) {
    char text[101] = {0};
    memset(text, 'x', 100);
    leat_embedded *e = leat_embedded_new(slow);
    for (int i = 0; i < 3; i++)
        leat_embedded_write_text(e, text);
    ck_assert_uint_eq(strlen(leat_embedded_written_text(e)), 100);
    leat_embedded_advance(e, 1000);
    ck_assert_uint_eq(strlen(leat_embedded_written_text(e)), 200);
    finish(e);
}
END_TEST

START_TEST(what_is_compressed_comes_back) {
    leat_embedded *e = leat_embedded_new(compressed);
    leat_embedded_write_text(e, "there and back");
    leat_embedded_feed_bytebuf(e, leat_embedded_take_written(e));
    ck_assert_str_eq(leat_embedded_read_text(e), "there and back");
    leat_embedded_close(e);
    leat_bytebuf_release(leat_embedded_take_written(e));
    finish(e);
}
END_TEST

START_TEST(the_body_of_an_answer_comes) {
    leat_embedded *e = leat_embedded_new(asking);
    ck_assert_str_eq(leat_embedded_written_text(e), "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n");
    leat_embedded_feed_text(e, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    ck_assert_str_eq(leat_embedded_read_text(e), "hello");
    finish(e);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("catalogue");
    TCase *all = tcase_create("all");
    tcase_add_test(all, decoders_fire_what_they_say);
    tcase_add_test(all, encoders_send_what_they_say);
    tcase_add_test(all, an_event_with_fields_is_framed);
    tcase_add_test(all, a_heart_beats_every_two_seconds);
    tcase_add_test(all, a_silent_peer_is_given_up);
    tcase_add_test(all, what_is_too_fast_waits);
    tcase_add_test(all, what_is_compressed_comes_back);
    tcase_add_test(all, the_body_of_an_answer_comes);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
