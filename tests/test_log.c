#include "core/embedded.h"
#include "core/verify.h"
#include "handlers/log.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

#include <string.h>

struct lines {
    char text[16384];
    size_t count;
};

static void keep_line(void *context, leat_log_level level, const char *line) {
    struct lines *lines = context;
    (void)level;
    ck_assert_uint_lt(strlen(lines->text) + strlen(line) + 2, sizeof lines->text);
    strcat(strcat(lines->text, line), "\n");
    lines->count++;
}

static leat_embedded *logged(leat_log_level level, struct lines *lines) {
    leat_log_config config = {.level = level, .name = "wire", .sink = keep_line, .context = lines};
    leat_stage stages[] = {{&leat_log, &config, NULL}, {.handler = &tolerant}, {0}};
    *lines = (struct lines){0};
    return leat_embedded_new(stages);
}

static void talk(leat_embedded *embedded) {
    leat_embedded_feed_text(embedded, "hello");
    leat_embedded_write_text(embedded, "hi");
    leat_embedded_break(embedded, LEAT_ERESET);
    ck_assert_str_eq(leat_embedded_read_text(embedded), "hello");
    leat_bytebuf_release(leat_embedded_take_written(embedded));
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ERESET);
    assert_nothing_left(embedded);
}

static void assert_said(leat_log_level level, const char *expected) {
    struct lines lines;
    talk(logged(level, &lines));
    ck_assert_str_eq(lines.text, expected);
}

START_TEST(each_level_says_what_it_promises) {
    assert_said(LEAT_LOG_ERROR, "wire: error LEAT_ERESET: the peer reset the connection\n");
    assert_said(LEAT_LOG_INFO, "wire: active\nwire: error LEAT_ERESET: the peer reset the connection\n"
                               "wire: inactive after 5 bytes in and 2 out\n");
    assert_said(LEAT_LOG_DEBUG, "wire: active\nwire: read ByteBuf of 5 bytes\nwire: write ByteBuf of 2 bytes\n"
                                "wire: error LEAT_ERESET: the peer reset the connection\n"
                                "wire: inactive after 5 bytes in and 2 out\n");
}
END_TEST

START_TEST(the_default_level_is_info) {
    struct lines by_default, info;
    talk(logged(LEAT_LOG_DEFAULT, &by_default));
    talk(logged(LEAT_LOG_INFO, &info));
    ck_assert_str_eq(by_default.text, info.text);
}
END_TEST

START_TEST(trace_shows_the_bytes) {
    struct lines lines;
    talk(logged(LEAT_LOG_TRACE, &lines));
    ck_assert_ptr_nonnull(strstr(lines.text, "68 65 6c 6c 6f"));
    ck_assert_ptr_nonnull(strstr(lines.text, "hello"));
    ck_assert_ptr_nonnull(strstr(lines.text, "wire: flush\n"));
}
END_TEST

START_TEST(a_dump_stops_at_1024_bytes) {
    struct lines lines;
    static uint8_t block[5000];
    leat_embedded *embedded = logged(LEAT_LOG_TRACE, &lines);
    lines.count = 0;
    leat_embedded_feed(embedded, block, sizeof block);
    ck_assert_uint_eq(lines.count, 1 + 64 + 1 + 1); /* the message, the dump, the rest, read done */
    ck_assert_ptr_nonnull(strstr(lines.text, "wire: and 3976 bytes more\n"));
    leat_msg msg;
    while (leat_embedded_take_read(embedded, &msg))
        leat_msg_release(msg);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(close_and_the_end_of_the_peer_are_said) {
    struct lines lines;
    leat_embedded *embedded = logged(LEAT_LOG_INFO, &lines);
    leat_embedded_feed_eof(embedded);
    assert_nothing_left(embedded);
    ck_assert_str_eq(lines.text, "wire: active\nwire: end of the peer's side\nwire: close\n"
                                 "wire: inactive after 0 bytes in and 0 out\n");
}
END_TEST

START_TEST(messages_pass_unchanged_and_nothing_is_allocated) {
    struct lines lines = {0};
    leat_log_config config = {.level = LEAT_LOG_TRACE, .sink = keep_line, .context = &lines};
    const leat_stage stages[] = {{&leat_log, &config, NULL}, {0}};
    leat_problem problem;
    const char *const expected[] = {"abc", NULL};
    ck_assert_msg(leat_verify_oom_fed(stages, "abc", 3, &problem) == 0, "%s", problem.text);
    leat_embedded *embedded = leat_embedded_new(stages);
    leat_bytebuf *buf = leat_bytebuf_from_text(leat_embedded_alloc(embedded), expected[0]);
    leat_embedded_feed_bytebuf(embedded, buf);
    leat_msg msg;
    ck_assert(leat_embedded_take_read(embedded, &msg));
    ck_assert_ptr_eq(msg.obj, buf);
    leat_msg_release(msg);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_level_that_does_not_exist_is_refused) {
    leat_log_config config = {.level = (leat_log_level)9};
    leat_problem problem;
    ck_assert_ptr_null(leat_embedded_new_with((leat_stage[]){{&leat_log, &config, NULL}, {0}}, NULL, &problem));
    ck_assert_int_eq(problem.code, LEAT_EINVAL);
}
END_TEST

int main(void) {
    return suite_run("log", (const TTest *const[]){each_level_says_what_it_promises, the_default_level_is_info,
                                                   trace_shows_the_bytes, a_dump_stops_at_1024_bytes,
                                                   close_and_the_end_of_the_peer_are_said,
                                                   messages_pass_unchanged_and_nothing_is_allocated,
                                                   a_level_that_does_not_exist_is_refused, NULL});
}
