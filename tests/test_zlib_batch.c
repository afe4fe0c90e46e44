#include "handlers/zlib_batch.h"

#include "core/embedded.h"
#include "core/verify.h"
#include "handlers/base64.h"
#include "handlers/sse_decoder.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

#include <string.h>

enum { MOST = 8 };

static size_t make_events(leat_alloc *alloc, const char *const *texts, leat_bytebuf **events) {
    size_t count = 0;
    for (; texts[count]; count++)
        events[count] = leat_bytebuf_from_text(alloc, texts[count]);
    return count;
}

static void release_events(leat_bytebuf **events, size_t count) {
    for (size_t i = 0; i < count; i++)
        leat_bytebuf_release(events[i]);
}

static int encode(const leat_zlib_batch_config *config, const char *const *texts, leat_bytebuf **framed) {
    leat_bytebuf *events[MOST];
    size_t count = make_events(leat_unpooled(), texts, events);
    int code = leat_zlib_batch_encode(leat_unpooled(), config, events, count, framed);
    release_events(events, count);
    return code;
}

/* A client's side: what the decoder of server-sent events fires, taken apart. */
static void assert_comes_back(const leat_zlib_batch_config *config, leat_bytebuf *framed, const char *const *texts) {
    leat_embedded *client = leat_embedded_new((leat_stage[]){{.handler = &leat_sse_decoder}, {0}});
    leat_msg msg;
    leat_bytebuf *joined, *one;
    leat_embedded_feed_bytebuf(client, framed);
    ck_assert(leat_embedded_take_read(client, &msg));
    leat_span data = ((const leat_sse_event *)leat_msg_as(msg, &leat_type_sse_event))->data;
    ck_assert(leat_zlib_batch_is(data));
    ck_assert_int_eq(leat_zlib_batch_decode(leat_unpooled(), config, data, &joined), 0);
    for (; *texts; texts++) {
        ck_assert_int_eq(leat_zlib_batch_next(config, joined, &one), 1);
        ck_assert(leat_bytebuf_equals_bytes(one, *texts, strlen(*texts)));
        leat_bytebuf_release(one);
    }
    ck_assert_int_eq(leat_zlib_batch_next(config, joined, &one), 0);
    leat_bytebuf_release(joined);
    leat_msg_release(msg);
    assert_nothing_left(client);
}

#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

START_TEST(a_batch_is_one_event_and_comes_back) {
    leat_bytebuf *framed;
    const char *const *texts = TEXTS("one", "", "l1\nl2\r\n", "{\"a\":1}", "ping");
    ck_assert_int_eq(encode(NULL, texts, &framed), 0);
    ck_assert(leat_bytebuf_find(framed, 0, "data: H4sI", 10) == 0);
    assert_comes_back(NULL, framed, texts);
}
END_TEST

START_TEST(a_delimiter_of_ones_own_may_overlap_itself) {
    const leat_zlib_batch_config config = {.delimiter = leat_sse_text("aabaac|"), .level = 9};
    const char *const *texts = TEXTS("aab", "aabaab", "x");
    leat_bytebuf *framed;
    ck_assert_int_eq(encode(&config, texts, &framed), 0);
    assert_comes_back(&config, framed, texts);
}
END_TEST

START_TEST(an_event_that_the_delimiter_would_cut_is_refused) {
    leat_bytebuf *framed;
    ck_assert_int_eq(encode(NULL, TEXTS("a$$$b"), &framed), LEAT_EINVAL);
    ck_assert_ptr_null(framed);
    ck_assert_int_eq(encode(NULL, TEXTS("a$"), &framed), LEAT_EINVAL);
    ck_assert_int_eq(encode(NULL, (const char *const[]){NULL}, &framed), LEAT_EINVAL);
    ck_assert_int_eq(encode(NULL, TEXTS("a$ ", "$b"), &framed), 0);
    leat_bytebuf_release(framed);
}
END_TEST

START_TEST(a_batch_that_inflates_to_too_much_is_refused_by_both_sides) {
    static char text[100001];
    memset(text, 'x', sizeof text - 1);
    const leat_zlib_batch_config small = {.max_total = 100000};
    leat_bytebuf *framed, *joined;
    ck_assert_int_eq(encode(&small, TEXTS(text), &framed), LEAT_ELIMIT);
    ck_assert_int_eq(encode(NULL, TEXTS(text), &framed), 0);
    leat_bytebuf *flat = leat_bytebuf_copy(framed, leat_unpooled());
    leat_span data = {leat_bytebuf_data(flat) + 6, (size_t)leat_bytebuf_readable(flat) - 8};
    ck_assert_int_eq(leat_zlib_batch_decode(leat_unpooled(), &small, data, &joined), LEAT_ELIMIT);
    ck_assert_ptr_null(joined);
    leat_bytebuf_release(flat);
    leat_bytebuf_release(framed);
}
END_TEST

START_TEST(what_is_no_batch_is_corrupt_or_truncated) {
    leat_bytebuf *joined;
    const char *const corrupt[] = {"H4s", "H4sI!!!!", "ping", "AAAA"};
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(leat_zlib_batch_decode(leat_unpooled(), NULL, leat_sse_text(corrupt[i]), &joined),
                         LEAT_ECORRUPT);
    ck_assert_int_eq(leat_zlib_batch_decode(leat_unpooled(), NULL, leat_sse_text("H4sIAAAAAAAA"), &joined),
                     LEAT_ETRUNCATED);
    ck_assert(!leat_zlib_batch_is(leat_sse_text("ping")));
    ck_assert(!leat_zlib_batch_is(leat_sse_text("H4")));
}
END_TEST

START_TEST(a_last_event_without_its_delimiter_is_truncated) {
    leat_bytebuf *joined = leat_bytebuf_from_text(leat_unpooled(), "one$$$two$$"), *one;
    ck_assert_int_eq(leat_zlib_batch_next(NULL, joined, &one), 1);
    leat_bytebuf_release(one);
    ck_assert_int_eq(leat_zlib_batch_next(NULL, joined, &one), LEAT_ETRUNCATED);
    ck_assert_ptr_null(one);
    leat_bytebuf_release(joined);
}
END_TEST

static int there_and_back(leat_alloc *alloc, void *context) {
    (void)context;
    leat_bytebuf *event = leat_bytebuf_from_text(alloc, "event"), *framed = NULL, *flat = NULL, *joined = NULL;
    int code = event ? leat_zlib_batch_encode(alloc, NULL, &event, 1, &framed) : LEAT_ENOMEM;
    if (code == 0)
        flat = leat_bytebuf_copy(framed, alloc);
    if (flat) {
        leat_span data = {leat_bytebuf_data(flat) + 6, (size_t)leat_bytebuf_readable(flat) - 8};
        code = leat_zlib_batch_decode(alloc, NULL, data, &joined);
    }
    leat_bytebuf_release(joined);
    leat_bytebuf_release(flat);
    leat_bytebuf_release(framed);
    leat_bytebuf_release(event);
    return code == LEAT_ENOMEM ? 0 : code;
}

START_TEST(no_failed_allocation_leaks) {
    leat_problem problem;
    ck_assert_msg(leat_verify_oom(there_and_back, NULL, &problem) == 0, "%s", problem.text);
}
END_TEST

int main(void) {
    return suite_run("zlib_batch", (const TTest *const[]){a_batch_is_one_event_and_comes_back,
                                                          a_delimiter_of_ones_own_may_overlap_itself,
                                                          an_event_that_the_delimiter_would_cut_is_refused,
                                                          a_batch_that_inflates_to_too_much_is_refused_by_both_sides,
                                                          what_is_no_batch_is_corrupt_or_truncated,
                                                          a_last_event_without_its_delimiter_is_truncated,
                                                          no_failed_allocation_leaks, NULL});
}
