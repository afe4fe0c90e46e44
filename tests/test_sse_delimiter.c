#include "core/composite.h"
#include "core/embedded.h"
#include "core/gather.h"
#include "core/verify.h"
#include "handlers/sse_delimiter.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

#include <string.h>

static const leat_stage plain[] = {{.handler = &leat_sse_delimiter}, {0}};
static const leat_stage trusted[] = {{&leat_sse_delimiter, &(const leat_sse_delimiter_config){.trusted = true}, NULL},
                                     {0}};

static void assert_framed(leat_sse_event event, const char *expected) {
    leat_bytebuf *framed;
    ck_assert_int_eq(leat_sse_frame(leat_unpooled(), &event, &framed), 0);
    ck_assert_uint_eq(leat_bytebuf_readable(framed), strlen(expected));
    ck_assert_msg(leat_bytebuf_equals_bytes(framed, expected, strlen(expected)), "not %s", expected);
    leat_bytebuf_release(framed);
}

#define TEXT(text) leat_sse_text(text)

START_TEST(fields_come_in_their_order) {
    leat_sse_event event = {
        .id = TEXT("7"), .event = TEXT("tick"), .data = TEXT("x"), .retry_ms = 250, .has_retry = true};
    assert_framed(event, "event: tick\nid: 7\nretry: 250\ndata: x\n\n");
}
END_TEST

START_TEST(absent_and_empty_fields_are_told_apart) {
    assert_framed((leat_sse_event){0}, "\n");
    assert_framed((leat_sse_event){.id = TEXT("")}, "id: \n\n");
    assert_framed((leat_sse_event){.event = TEXT(""), .data = TEXT("")}, "data: \n\n");
    assert_framed((leat_sse_event){.data = TEXT(" x")}, "data:  x\n\n");
    assert_framed((leat_sse_event){.has_retry = true}, "retry: 0\n\n");
}
END_TEST

START_TEST(every_line_of_data_is_a_field) {
    assert_framed((leat_sse_event){.data = TEXT("a\nb\rc\r\nd")}, "data: a\ndata: b\ndata: c\ndata: d\n\n");
    assert_framed((leat_sse_event){.data = TEXT("\n\r\r\n")}, "data: \ndata: \ndata: \ndata: \n\n");
}
END_TEST

static void assert_refused(leat_span id, leat_span event) {
    leat_sse_event forged = {.id = id, .event = event, .data = TEXT("x")};
    leat_bytebuf *framed;
    ck_assert_int_eq(leat_sse_frame(leat_unpooled(), &forged, &framed), LEAT_EINVAL);
    ck_assert_ptr_null(framed);
}

START_TEST(line_ends_in_id_or_event_and_nul_in_id_are_refused) {
    assert_refused(TEXT("1\ndata: forged"), TEXT("e"));
    assert_refused(TEXT("1\r"), TEXT("e"));
    assert_refused((leat_span){(const uint8_t *)"1\0", 2}, TEXT("e"));
    assert_refused(TEXT("1"), TEXT("e\n"));
    assert_refused(TEXT("1"), TEXT("\re"));
}
END_TEST

START_TEST(framing_takes_one_exact_allocation) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_sse_event event = {.id = TEXT("12345"), .data = TEXT("one\ntwo")};
    leat_bytebuf *framed;
    ck_assert_int_eq(leat_sse_frame(&counting.alloc, &event, &framed), 0);
    ck_assert_uint_eq(counting.counted.allocations, 1);
    ck_assert_uint_eq(counting.counted.growths, 0);
    leat_bytebuf_release(framed);
}
END_TEST

START_TEST(a_bare_event_leaves_as_three_spans) {
    leat_embedded *embedded = leat_embedded_new(plain);
    leat_bytebuf *blob = leat_bytebuf_from_text(leat_embedded_alloc(embedded), "H4sIAAAAAAAA");
    leat_bytebuf *delimited = leat_sse_delimit(leat_embedded_alloc(embedded), blob);
    leat_span spans[4];
    ck_assert_uint_eq(leat_bytebuf_spans(delimited, spans, 4), 3);
    ck_assert_uint_eq(spans[0].length, 6);
    ck_assert_mem_eq(spans[0].bytes, "\x64\x61\x74\x61\x3a\x20", 6);
    ck_assert_uint_eq(spans[1].length, 12);
    ck_assert_mem_eq(spans[1].bytes, "H4sIAAAAAAAA", 12);
    ck_assert_uint_eq(spans[2].length, 2);
    ck_assert_mem_eq(spans[2].bytes, "\x0a\x0a", 2);
    leat_bytebuf_release(delimited);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_list_of_events_leaves_as_two_spans_each_and_one) {
    leat_bytebuf *events[3], *list;
    for (size_t i = 0; i < 3; i++)
        events[i] = leat_bytebuf_from_text(leat_unpooled(), i == 0 ? "one" : i == 1 ? "two" : "three");
    const char *expected[] = {"", "data: one\n\n", "data: one\n\ndata: two\n\n",
                              "data: one\n\ndata: two\n\ndata: three\n\n"};
    for (size_t count = 0; count <= 3; count++) {
        list = leat_sse_delimit_list(leat_unpooled(), events, count);
        ck_assert(leat_bytebuf_equals_bytes(list, expected[count], strlen(expected[count])));
        ck_assert_uint_eq(leat_bytebuf_span_count(list), count ? 2 * count + 1 : 0);
        leat_bytebuf_release(list);
    }
    for (size_t i = 0; i < 3; i++)
        leat_bytebuf_release(events[i]);
}
END_TEST

START_TEST(each_write_is_delimited) {
    leat_embedded *embedded = leat_embedded_new(plain);
    leat_embedded_write_text(embedded, "one");
    leat_embedded_write_text(embedded, "two");
    ck_assert_str_eq(leat_embedded_written_text(embedded), "data: one\n\ndata: two\n\n");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_shared_event_is_delimited_without_a_copy) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_embedded_options options = {.alloc = &counting.alloc, .without_ledger = true};
    leat_embedded *embedded = leat_embedded_new_with(plain, &options, NULL);
    leat_bytebuf *event = leat_bytebuf_from_text(&counting.alloc, "shared");
    counting.counted.copied = 0;
    for (int i = 0; i < 3; i++)
        leat_embedded_write(embedded, leat_msg_of_bytebuf(leat_bytebuf_retain(event)), NULL);
    ck_assert_uint_eq(counting.counted.copied, 0);
    ck_assert_str_eq(leat_embedded_written_text(embedded), "data: shared\n\ndata: shared\n\ndata: shared\n\n");
    leat_bytebuf_release(event);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(an_event_with_line_ends_cannot_forge_another) {
    leat_embedded *embedded = leat_embedded_new(plain);
    leat_embedded_write_text(embedded, "x\n\nevent: forged\r\ndata: y");
    ck_assert_str_eq(leat_embedded_written_text(embedded), "data: x\ndata: \ndata: event: forged\ndata: data: y\n\n");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_composite_with_line_ends_is_framed_too) {
    leat_embedded *embedded = leat_embedded_new(plain);
    leat_alloc *alloc = leat_embedded_alloc(embedded);
    leat_composite *event = leat_composite_new(alloc, 2);
    ck_assert_int_eq(leat_composite_add(event, leat_bytebuf_from_text(alloc, "a\r")), 0);
    ck_assert_int_eq(leat_composite_add(event, leat_bytebuf_from_text(alloc, "\nb")), 0);
    leat_embedded_write(embedded, leat_msg_of_bytebuf(leat_composite_buffer(event)), NULL);
    ck_assert_str_eq(leat_embedded_written_text(embedded), "data: a\ndata: b\n\n");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(trusted_events_are_not_looked_at) {
    leat_embedded *embedded = leat_embedded_new(trusted);
    leat_embedded_write_text(embedded, "x\ndata: y");
    ck_assert_str_eq(leat_embedded_written_text(embedded), "data: x\ndata: y\n\n");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_comment_keeps_the_connection_alive) {
    leat_bytebuf *comment = leat_sse_keep_alive(leat_unpooled());
    ck_assert(leat_bytebuf_equals_bytes(comment, ":\n\n", 3));
    leat_bytebuf_release(comment);
}
END_TEST

START_TEST(a_comment_has_a_line_for_each_of_its_own_and_forges_nothing) {
    assert_framed((leat_sse_event){.comment = TEXT("hello")}, ": hello\n\n");
    assert_framed((leat_sse_event){.comment = TEXT("")}, ": \n\n");
    assert_framed((leat_sse_event){.comment = TEXT("a\rid: 1\r\n\ndata: b"), .data = TEXT("x")},
                  ": a\n: id: 1\n: \n: data: b\ndata: x\n\n");
}
END_TEST

START_TEST(a_comment_passes_through_the_handler_as_an_event) {
    leat_embedded *embedded = leat_embedded_new(plain);
    leat_sse_event event = {.comment = TEXT("hello")};
    leat_embedded_write(embedded, leat_sse_event_msg(leat_embedded_alloc(embedded), &event), NULL);
    ck_assert_str_eq(leat_embedded_written_text(embedded), ": hello\n\n");
    assert_nothing_left(embedded);
}
END_TEST

static int write_both_kinds(leat_alloc *alloc, void *context) {
    (void)context;
    leat_embedded_options options = {.alloc = alloc, .without_ledger = true};
    leat_embedded *embedded = leat_embedded_new_with(plain, &options, NULL);
    if (!embedded)
        return 0;
    const char *events[] = {"one", "two\nlines"};
    for (int i = 0; i < 2; i++) {
        leat_bytebuf *event = leat_bytebuf_from_text(alloc, events[i]);
        if (event)
            leat_embedded_write(embedded, leat_msg_of_bytebuf(event), NULL);
    }
    leat_embedded_free(embedded);
    return 0;
}

START_TEST(no_failed_allocation_leaks) {
    leat_problem problem;
    ck_assert_msg(leat_verify_oom(write_both_kinds, NULL, &problem) == 0, "%s", problem.text);
}
END_TEST

int main(void) {
    return suite_run(
        "sse_delimiter",
        (const TTest *const[]){fields_come_in_their_order, absent_and_empty_fields_are_told_apart,
                               every_line_of_data_is_a_field, line_ends_in_id_or_event_and_nul_in_id_are_refused,
                               framing_takes_one_exact_allocation, a_bare_event_leaves_as_three_spans,
                               a_list_of_events_leaves_as_two_spans_each_and_one, each_write_is_delimited,
                               a_shared_event_is_delimited_without_a_copy, an_event_with_line_ends_cannot_forge_another,
                               a_composite_with_line_ends_is_framed_too, trusted_events_are_not_looked_at,
                               a_comment_keeps_the_connection_alive,
                               a_comment_has_a_line_for_each_of_its_own_and_forges_nothing,
                               a_comment_passes_through_the_handler_as_an_event, no_failed_allocation_leaks, NULL});
}
