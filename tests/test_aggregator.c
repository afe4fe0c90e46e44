#include "core/composite.h"
#include "core/verify.h"
#include "handlers/aggregator.h"
#include "handlers/line.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"

#include <string.h>

/* A line that begins with '.' ends a message, one with '#' is none of ours. */
static leat_part part_of_line(leat_msg msg, void *context) {
    const leat_bytebuf *line = leat_msg_bytebuf(msg);
    uint64_t first = leat_bytebuf_reader_index(line);
    (void)context;
    if (leat_bytebuf_readable(line) == 0)
        return LEAT_PART_MORE;
    uint8_t mark = leat_bytebuf_get_u8(line, first);
    return mark == '.' ? LEAT_PART_LAST : mark == '#' ? LEAT_PART_NONE : LEAT_PART_MORE;
}

static const leat_aggregator_config joining = {.part_of = part_of_line, .max_length = 16};
static const leat_stage joined_lines[] = {
    {.handler = &leat_line_decoder}, {&leat_aggregator, &joining, NULL}, {.handler = &tolerant}, {0}};

START_TEST(parts_are_joined_at_every_split) {
    const char *const expected[] = {"abcd.", ".", "#note", "ef.g", NULL};
    leat_problem problem;
    ck_assert_msg(leat_verify_decoder_text(joined_lines, "ab\ncd\n.\n.\nef\n#note\n.g\n", expected, &problem) == 0,
                  "%s", problem.text);
}
END_TEST

START_TEST(no_failed_allocation_leaks) {
    leat_problem problem;
    ck_assert_msg(leat_verify_oom_fed(joined_lines, "ab\ncd\n.\nef\n", 11, &problem) == 0, "%s", problem.text);
}
END_TEST

START_TEST(a_message_that_is_too_long_is_reported_once_and_the_next_is_joined) {
    leat_embedded *embedded = leat_embedded_new(joined_lines);
    leat_embedded_feed_text(embedded, "0123456789\n0123456\nmore\nmore\n.\nab\n.\n");
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ETOOLONG);
    ck_assert_int_eq(take_tolerated(embedded), 0);
    ck_assert_str_eq(leat_embedded_read_text(embedded), "ab.");
    leat_embedded_feed_text(embedded, ".0123456789abcdef\n.next\n");
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ETOOLONG);
    ck_assert_str_eq(leat_embedded_read_text(embedded), ".next");
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_message_of_just_the_limit_is_joined) {
    leat_embedded *embedded = leat_embedded_new(joined_lines);
    leat_embedded_feed_text(embedded, "0123456789abcde\n.\n");
    ck_assert_str_eq(leat_embedded_read_text(embedded), "0123456789abcde.");
    ck_assert_int_eq(take_tolerated(embedded), 0);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_message_unfinished_at_the_end_is_truncated) {
    leat_embedded *embedded = leat_embedded_new(joined_lines);
    leat_embedded_feed_text(embedded, "ab\ncd\n");
    ck_assert_uint_eq(leat_channel_held(leat_embedded_channel(embedded)), 4);
    leat_embedded_feed_eof(embedded);
    ck_assert_int_eq(take_tolerated(embedded), LEAT_ETRUNCATED);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(removed_it_hands_on_what_it_has) {
    leat_embedded *embedded = leat_embedded_new(joined_lines);
    leat_embedded_feed_text(embedded, "ab\ncd\n");
    leat_ctx_remove(leat_channel_find(leat_embedded_channel(embedded), "aggregator"));
    leat_embedded_run(embedded);
    leat_embedded_feed_text(embedded, ".\n");
    ck_assert_str_eq(leat_embedded_read_text(embedded), "abcd");
    ck_assert_str_eq(leat_embedded_read_text(embedded), ".");
    assert_nothing_left(embedded);
}
END_TEST

/* ---- large parts, and parts that are no ByteBufs ---- */

static leat_part every_third_is_last(leat_msg msg, void *context) {
    unsigned *count = context;
    (void)msg;
    return ++*count % 3 == 0 ? LEAT_PART_LAST : LEAT_PART_MORE;
}

START_TEST(large_parts_are_not_copied_and_small_ones_are_one_span) {
    unsigned count = 0;
    leat_aggregator_config config = {.part_of = every_third_is_last, .context = &count};
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_embedded_options options = {.alloc = &counting.alloc, .without_ledger = true};
    leat_embedded *embedded =
        leat_embedded_new_with((leat_stage[]){{&leat_aggregator, &config, NULL}, {0}}, &options, NULL);
    const size_t sizes[] = {2000, 2000, 2000, 10, 10, 10}, spans[] = {3, 1};
    for (size_t i = 0; i < 6; i++) {
        leat_bytebuf *part = leat_bytebuf_new(&counting.alloc, sizes[i]);
        ck_assert(leat_bytebuf_write_zero(part, sizes[i]));
        counting.counted.copied = i < 3 ? counting.counted.copied : 0;
        leat_embedded_feed_bytebuf(embedded, part);
    }
    for (size_t i = 0; i < 2; i++) {
        leat_msg msg;
        ck_assert(leat_embedded_take_read(embedded, &msg));
        ck_assert_uint_eq(leat_bytebuf_span_count(leat_msg_bytebuf(msg)), spans[i]);
        leat_msg_release(msg);
    }
    ck_assert_uint_le(counting.counted.copied, 30);
    assert_nothing_left(embedded);
}
END_TEST

static const leat_type parcel = {.name = "parcel"};

static leat_bytebuf *unpack(leat_msg msg, void *context) {
    (void)context;
    return leat_bytebuf_from_text(leat_unpooled(), msg.obj);
}

static leat_msg pack(leat_bytebuf *bytes, void *context) {
    size_t *length = context;
    *length = (size_t)leat_bytebuf_readable(bytes);
    leat_bytebuf_release(bytes);
    return leat_msg_of(&parcel, length);
}

static leat_part part_of_parcel(leat_msg msg, void *context) {
    (void)context;
    const char *text = msg.obj;
    return strchr(text, '.') ? LEAT_PART_LAST : LEAT_PART_MORE;
}

START_TEST(parts_and_whole_may_be_of_your_own_types) {
    size_t length = 0;
    static char first[] = "first ", last[] = "last.";
    leat_aggregator_config config = {part_of_parcel, unpack, pack, &length, 0};
    leat_embedded *embedded = leat_embedded_new((leat_stage[]){{&leat_aggregator, &config, NULL}, {0}});
    leat_ctx *ctx = leat_channel_find(leat_embedded_channel(embedded), "aggregator");
    ctx->handler->read(ctx, leat_msg_of(&parcel, first));
    ctx->handler->read(ctx, leat_msg_of(&parcel, last));
    leat_msg whole;
    ck_assert(leat_embedded_take_read(embedded, &whole));
    ck_assert_ptr_eq(whole.type, &parcel);
    ck_assert_uint_eq(length, 11);
    assert_nothing_left(embedded);
}
END_TEST

START_TEST(a_config_without_a_predicate_or_with_a_nonsensical_limit_is_refused) {
    const leat_aggregator_config configs[] = {{0}, {.part_of = part_of_line, .max_length = UINT64_MAX}};
    for (size_t i = 0; i < 2; i++) {
        leat_problem problem;
        leat_stage stages[] = {{&leat_aggregator, &configs[i], NULL}, {0}};
        ck_assert_ptr_null(leat_embedded_new_with(stages, NULL, &problem));
        ck_assert_int_eq(problem.code, LEAT_EINVAL);
    }
}
END_TEST

int main(void) {
    return suite_run(
        "aggregator",
        (const TTest *const[]){parts_are_joined_at_every_split, no_failed_allocation_leaks,
                               a_message_that_is_too_long_is_reported_once_and_the_next_is_joined,
                               a_message_of_just_the_limit_is_joined, a_message_unfinished_at_the_end_is_truncated,
                               removed_it_hands_on_what_it_has, large_parts_are_not_copied_and_small_ones_are_one_span,
                               parts_and_whole_may_be_of_your_own_types,
                               a_config_without_a_predicate_or_with_a_nonsensical_limit_is_refused, NULL});
}
