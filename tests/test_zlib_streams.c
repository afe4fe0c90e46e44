#include "core/transport.h"
#include "core/verify.h"
#include "handlers/zlib_deflater.h"
#include "tests/support/finish.h"
#include "tests/support/tolerant.h"
#include "tests/support/zlib_inflate.h"
#include "tests/support/zlib_oracle.h"

#include <string.h>

enum { STREAMS = EVERY_NTH > 1 ? 20 : 5000, LONGEST = 400, LONG_STREAMS = 200 / EVERY_NTH, LONGEST_LONG = 100000 };

typedef leat_zlib_inflater_config config;

/* ---- held against zlib called in one go ---- */

/* A fresh stream for each number: which format, level and bytes follows from it. */
static leat_bytebuf *random_stream(uint64_t number, uint8_t *plain, size_t *length, leat_zlib_format *format) {
    uint64_t random = 0x5eed0000 + number;
    *length = oracle_random(&random) % *length;
    *format = (leat_zlib_format)(LEAT_ZLIB_GZIP + number % 3);
    oracle_fill(&random, plain, *length);
    const oracle_options options = {.format = *format, .level = (int)(oracle_random(&random) % 11) - 1};
    return oracle_deflate(plain, *length, &options);
}

static void assert_at_every_split(uint64_t number) {
    uint8_t plain[LONGEST];
    size_t length = LONGEST;
    config how = {.chunk = number % 2 ? 64 : 0};
    leat_bytebuf *in = random_stream(number, plain, &length, &how.format);
    for (size_t at = 0; at <= leat_bytebuf_readable(in); at++)
        assert_inflated(&how, span_of(in), at, 0, (leat_span){plain, length}, 0);
    assert_inflated(&how, span_of(in), 0, 1, (leat_span){plain, length}, 0);
    leat_bytebuf_release(in);
}

/* Every third stream is of the same format. */
static void assert_third(uint64_t first) {
    for (uint64_t number = first; number < STREAMS; number += 3)
        assert_at_every_split(number);
}

START_TEST(random_gzip_streams_inflate_to_what_they_were_at_every_split) {
    assert_third(0);
}
END_TEST

START_TEST(random_zlib_streams_inflate_to_what_they_were_at_every_split) {
    assert_third(1);
}
END_TEST

START_TEST(random_raw_streams_inflate_to_what_they_were_at_every_split) {
    assert_third(2);
}
END_TEST

START_TEST(long_random_streams_inflate_to_what_they_were_in_pieces_of_any_size) {
    static uint8_t plain[LONGEST_LONG];
    for (uint64_t number = 0; number < LONG_STREAMS; number++) {
        size_t length = LONGEST_LONG;
        config how = {.chunk = number % 2 ? 1000 : 0};
        leat_bytebuf *in = random_stream(number, plain, &length, &how.format);
        for (size_t piece = 7; piece < 70000; piece *= 9)
            assert_inflated(&how, span_of(in), 0, piece, (leat_span){plain, length}, 0);
        leat_bytebuf_release(in);
    }
}
END_TEST

/* ---- there and back ---- */

static void write_random(leat_embedded *from, uint64_t *random, leat_bytebuf *expected) {
    uint8_t bytes[3000];
    leat_loop_enter(leat_embedded_loop(from));
    for (uint32_t writes = oracle_random(random) % 4; writes > 0; writes--) {
        size_t length = oracle_random(random) % sizeof bytes;
        oracle_fill(random, bytes, length);
        leat_bytebuf *message = leat_bytebuf_from_bytes(leat_embedded_alloc(from), bytes, length);
        leat_channel_write(leat_embedded_channel(from), leat_msg_of_bytebuf(message), NULL);
        ck_assert(leat_bytebuf_write_bytes(expected, bytes, length));
    }
    leat_loop_leave(leat_embedded_loop(from));
}

static void move(leat_embedded *from, leat_embedded *to) {
    leat_bytebuf *wire = leat_embedded_take_written(from);
    leat_embedded_feed(to, leat_bytebuf_data(wire), (size_t)leat_bytebuf_readable(wire));
    leat_bytebuf_release(wire);
}

/* Whatever was written in a turn is there in the next, unless flushing waits for the end. */
static void assert_round_trip(const leat_zlib_deflater_config *how, uint64_t seed) {
    leat_embedded *from = leat_embedded_new((leat_stage[]){{&leat_zlib_deflater, how, NULL}, {0}});
    leat_embedded *to = inflating_channel(&(config){.format = how->format});
    leat_bytebuf *expected = leat_bytebuf_new(leat_unpooled(), 4096), *got = leat_bytebuf_new(leat_unpooled(), 4096);
    uint64_t random = seed;
    for (int turn = 0; turn < 20; turn++) {
        write_random(from, &random, expected);
        move(from, to);
        collect_reads(to, got);
        ck_assert(how->flush == LEAT_ZLIB_FLUSH_END || leat_bytebuf_equals(got, expected));
    }
    leat_embedded_close(from);
    move(from, to);
    leat_embedded_feed_eof(to);
    collect_reads(to, got);
    ck_assert_msg(leat_bytebuf_equals(got, expected), "seed %llu: other bytes came", (unsigned long long)seed);
    ck_assert_int_eq(take_tolerated(to), 0);
    leat_bytebuf_release(expected);
    leat_bytebuf_release(got);
    finish(from);
    assert_nothing_left(to);
}

START_TEST(what_was_deflated_inflates_to_what_was_written) {
    for (uint64_t seed = 0; seed < 400 / EVERY_NTH; seed++) {
        const leat_zlib_deflater_config how = {.format = (leat_zlib_format)(seed % 4),
                                               .flush = (leat_zlib_flush)(seed % 3),
                                               .level = (int)(seed % 11) - 1,
                                               .window_bits = 9 + (unsigned)(seed % 7),
                                               .chunk = seed % 5 ? 0 : 64};
        assert_round_trip(&how, seed);
    }
}
END_TEST

static void assert_each_message(const leat_zlib_deflater_config *deflater, const config *inflater, const char *text) {
    leat_embedded *e = leat_embedded_new((leat_stage[]){
        {&leat_zlib_deflater, deflater, NULL}, {&leat_zlib_inflater, inflater, NULL}, {&tolerant, NULL, NULL}, {0}});
    for (int i = 0; i < 3; i++) {
        leat_embedded_write_text(e, text);
        leat_embedded_feed_bytebuf(e, leat_embedded_take_written(e));
        ck_assert_str_eq(leat_embedded_read_text(e), text);
    }
    leat_embedded_feed_eof(e);
    ck_assert_int_eq(take_tolerated(e), 0);
    assert_nothing_left(e);
}

START_TEST(each_message_is_a_stream_there_and_back) {
    const leat_span dictionary = {(const uint8_t *)"message", 7};
    for (int format = LEAT_ZLIB_AUTO; format <= LEAT_ZLIB_RAW; format++) {
        leat_zlib_format as = (leat_zlib_format)format;
        leat_span words = format >= LEAT_ZLIB_ZLIB ? dictionary : (leat_span){0};
        const leat_zlib_deflater_config deflater = {.format = as, .each_message = true, .dictionary = words};
        const config inflater = {.format = as, .each_message = true, .dictionary = words};
        assert_each_message(&deflater, &inflater, "a message and a message");
        assert_each_message(&deflater, &inflater, "");
    }
}
END_TEST

/* ---- a stream in each message ---- */

static int code_of_message(const config *how, const void *bytes, size_t length) {
    leat_embedded *e = inflating_channel(how);
    leat_embedded_feed(e, bytes, length);
    int code = take_tolerated(e);
    leat_bytebuf *good = oracle_deflate("good", 4, &(oracle_options){0});
    leat_embedded_feed(e, leat_bytebuf_data(good), (size_t)leat_bytebuf_readable(good));
    ck_assert_str_eq(leat_embedded_read_text(e), "good");
    leat_bytebuf_release(good);
    assert_nothing_left(e);
    return code;
}

START_TEST(a_bad_message_is_an_error_and_the_next_one_is_inflated) {
    leat_bytebuf *in = oracle_deflate("inflated", 8, &(oracle_options){0});
    const uint8_t *bytes = leat_bytebuf_data(in);
    size_t length = (size_t)leat_bytebuf_readable(in);
    config how = {.each_message = true, .format = LEAT_ZLIB_GZIP};
    for (size_t cut = 1; cut < length; cut++)
        ck_assert_int_eq(code_of_message(&how, bytes, cut), LEAT_ETRUNCATED);
    ck_assert_int_eq(code_of_message(&how, bytes + 1, length - 1), LEAT_ECORRUPT);
    ck_assert_int_eq(code_of_message(&how, "\x1f", 1), LEAT_ETRUNCATED);
    leat_bytebuf_write_u8(in, 0x1f);
    ck_assert_int_eq(code_of_message(&how, leat_bytebuf_data(in), length + 1), LEAT_ECORRUPT);
    how.max_total = 7;
    ck_assert_int_eq(code_of_message(&how, leat_bytebuf_data(in), length), LEAT_ELIMIT);
    leat_bytebuf_release(in);
}
END_TEST

START_TEST(a_message_has_a_limit_by_default) {
    static const uint8_t zeros[(16 << 20) + 1];
    leat_bytebuf *in = oracle_deflate(zeros, sizeof zeros, &(oracle_options){0}), *out;
    const config how = {.max_ratio = UINT64_MAX};
    ck_assert_int_eq(leat_zlib_inflate(leat_unpooled(), &how, in, &out), LEAT_ELIMIT);
    leat_bytebuf_release(in);
    in = oracle_deflate(zeros, sizeof zeros - 1, &(oracle_options){0});
    ck_assert_int_eq(leat_zlib_inflate(leat_unpooled(), &how, in, &out), 0);
    ck_assert_uint_eq(leat_bytebuf_readable(out), sizeof zeros - 1);
    leat_bytebuf_release(out);
    leat_bytebuf_release(in);
}
END_TEST

/* ---- demand, removal, memory ---- */

START_TEST(inflating_stops_when_nobody_asks_and_the_end_waits) {
    static const uint8_t zeros[100000];
    leat_embedded_options options = {.channel.manual_read = true};
    leat_bytebuf *in = oracle_deflate(zeros, sizeof zeros, &(oracle_options){0});
    leat_embedded *e = leat_embedded_new_with((leat_stage[]){{.handler = &leat_zlib_inflater}, {0}}, &options, NULL);
    leat_channel_request(leat_embedded_channel(e), 1);
    leat_embedded_run(e);
    leat_embedded_feed(e, leat_bytebuf_data(in), (size_t)leat_bytebuf_readable(in));
    leat_embedded_feed_eof(e);
    size_t buffers = 0;
    uint64_t total = 0;
    for (leat_msg msg; leat_embedded_take_read(e, &msg); leat_msg_release(msg), buffers++) {
        total += leat_bytebuf_readable(msg.obj);
        ck_assert_uint_eq(leat_embedded_count_eof(e), total == sizeof zeros);
        leat_channel_request(leat_embedded_channel(e), 1);
        leat_embedded_run(e);
    }
    ck_assert_uint_gt(buffers, 5);
    ck_assert_uint_eq(total, sizeof zeros);
    ck_assert_uint_eq(leat_embedded_count_eof(e), 1);
    leat_bytebuf_release(in);
    finish(e);
}
END_TEST

START_TEST(removed_it_hands_on_what_it_holds_and_what_follows_is_plain) {
    static const uint8_t zeros[2000];
    const config small = {.chunk = 64};
    leat_embedded_options options = {.channel.manual_read = true};
    leat_bytebuf *in = oracle_deflate(zeros, sizeof zeros, &(oracle_options){.unfinished = true});
    leat_embedded *e = leat_embedded_new_with((leat_stage[]){{&leat_zlib_inflater, &small, NULL}, {0}}, &options, NULL);
    leat_channel_request(leat_embedded_channel(e), 1);
    leat_embedded_run(e);
    leat_embedded_feed(e, leat_bytebuf_data(in), (size_t)leat_bytebuf_readable(in));
    leat_ctx_remove(leat_channel_find(leat_embedded_channel(e), "zlib_inflater"));
    leat_embedded_run(e);
    leat_bytebuf *got = leat_bytebuf_new(leat_unpooled(), 4096);
    collect_reads(e, got);
    ck_assert_uint_gt(leat_bytebuf_readable(got), 64);
    leat_bytebuf_release(got);
    leat_bytebuf_release(in);
    finish(e);
}
END_TEST

START_TEST(memory_of_zlib_is_the_channels_and_goes_with_it) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_embedded_options options = {.alloc = &counting.alloc};
    leat_embedded *e = leat_embedded_new_with((leat_stage[]){{.handler = &leat_zlib_inflater}, {0}}, &options, NULL);
    uint64_t before = counting.counted.live_bytes;
    leat_embedded_feed(e, "\x78\x9c\xca\x48\xcd\xc9\xc9\x07\0\0\0\xff\xff", 13);
    ck_assert_str_eq(leat_embedded_read_text(e), "hello");
    ck_assert_uint_gt(counting.counted.live_bytes, before + 7000);
    leat_embedded_break(e, LEAT_ERESET);
    ck_assert_int_eq(leat_embedded_take_error(e), LEAT_ERESET);
    finish(e);
    ck_assert_uint_eq(counting.counted.live_bytes, 0);
}
END_TEST

START_TEST(no_failed_allocation_leaks) {
    uint8_t plain[3000];
    uint64_t random = 23;
    oracle_fill(&random, plain, sizeof plain);
    leat_bytebuf *in = oracle_deflate(plain, sizeof plain, &(oracle_options){0});
    config all[] = {{.chunk = 64}, {.each_message = true}, {.trailing = LEAT_ZLIB_TRAILING_PASS}};
    leat_bytebuf_write_bytes(in, "\x1f", 1);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        leat_problem problem;
        const leat_stage stages[] = {{&leat_zlib_inflater, &all[i], NULL}, {0}};
        ck_assert_msg(leat_verify_oom_fed(stages, leat_bytebuf_data(in), (size_t)leat_bytebuf_readable(in), &problem) ==
                          0,
                      "%zu: %s", i, problem.text);
    }
    leat_bytebuf_release(in);
}
END_TEST

static void assert_refused(config how, const char *why) {
    leat_problem problem = {0};
    ck_assert_ptr_null(leat_embedded_new_with((leat_stage[]){{&leat_zlib_inflater, &how, NULL}, {0}}, NULL, &problem));
    ck_assert_int_eq(problem.code, LEAT_EINVAL);
    ck_assert_msg(strstr(problem.text, why) != NULL, "%s", problem.text);
}

START_TEST(settings_that_make_no_sense_are_refused) {
    const leat_span dictionary = {(const uint8_t *)"x", 1};
    assert_refused((config){.window_bits = 8}, "window_bits");
    assert_refused((config){.chunk = 1u << 25}, "chunk");
    assert_refused((config){.format = (leat_zlib_format)4}, "format 4");
    assert_refused((config){.trailing = (leat_zlib_trailing)3}, "trailing 3");
    assert_refused((config){.trailing = LEAT_ZLIB_TRAILING_PASS, .each_message = true}, "nothing more");
    assert_refused((config){.format = LEAT_ZLIB_GZIP, .dictionary = dictionary}, "no dictionary");
}
END_TEST

int main(void) {
    return suite_run(
        "zlib_streams",
        (const TTest *const[]){random_gzip_streams_inflate_to_what_they_were_at_every_split,
                               random_zlib_streams_inflate_to_what_they_were_at_every_split,
                               random_raw_streams_inflate_to_what_they_were_at_every_split,
                               long_random_streams_inflate_to_what_they_were_in_pieces_of_any_size,
                               what_was_deflated_inflates_to_what_was_written, each_message_is_a_stream_there_and_back,
                               a_bad_message_is_an_error_and_the_next_one_is_inflated, a_message_has_a_limit_by_default,
                               inflating_stops_when_nobody_asks_and_the_end_waits,
                               removed_it_hands_on_what_it_holds_and_what_follows_is_plain,
                               memory_of_zlib_is_the_channels_and_goes_with_it, no_failed_allocation_leaks,
                               settings_that_make_no_sense_are_refused, NULL});
}
