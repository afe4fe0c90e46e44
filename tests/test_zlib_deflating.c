#include "core/composite.h"
#include "core/verify.h"
#include "tests/support/tolerant.h"
#include "tests/support/zlib_channel.h"

#include <stdlib.h>
#include <string.h>

typedef leat_zlib_deflater_config config;

static leat_bytebuf *deflated_by(const config *how, const uint8_t *bytes, size_t length) {
    leat_embedded *e = deflating_channel(how);
    leat_bytebuf *in = leat_bytebuf_from_bytes(leat_embedded_alloc(e), bytes, length);
    leat_embedded_write(e, leat_msg_of_bytebuf(in), NULL);
    leat_bytebuf *out = leat_embedded_take_written(e);
    leat_bytebuf *kept = leat_bytebuf_copy(out, leat_unpooled());
    leat_bytebuf_release(out);
    finish_stream(e);
    return kept;
}

static void assert_same(const config *how, oracle_options options, const uint8_t *bytes, size_t length) {
    leat_bytebuf *got = deflated_by(how, bytes, length), *expected = oracle_deflate(bytes, length, &options);
    ck_assert_msg(leat_bytebuf_equals(got, expected), "%zu bytes in chunks of %u differ: %llu bytes, not %llu", length,
                  how->chunk, (unsigned long long)leat_bytebuf_readable(got),
                  (unsigned long long)leat_bytebuf_readable(expected));
    leat_bytebuf_release(got);
    leat_bytebuf_release(expected);
}

/* Small blocks fill in the middle, at the end and inside the marker, which must come just once. */
START_TEST(the_marker_comes_once_wherever_a_block_ends) {
    uint8_t bytes[600];
    uint64_t random = 7;
    for (size_t length = 1; length <= sizeof bytes; length++) {
        oracle_fill(&random, bytes, length);
        const config how = {.format = LEAT_ZLIB_RAW, .flush = LEAT_ZLIB_FLUSH_MESSAGE, .chunk = 64};
        assert_same(&how, (oracle_options){.format = LEAT_ZLIB_RAW, .unfinished = true}, bytes, length);
    }
}
END_TEST

START_TEST(bytes_that_cannot_be_deflated_leave_whole_in_blocks_of_any_size) {
    size_t length = 1 << 20;
    uint8_t *noise = malloc(length);
    uint64_t random = 11;
    for (size_t i = 0; i < length; i++)
        noise[i] = (uint8_t)oracle_random(&random);
    static const uint32_t chunks[] = {64, 4096, 8192, 0};
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++)
        for (int flush = LEAT_ZLIB_FLUSH_TURN; flush <= LEAT_ZLIB_FLUSH_MESSAGE; flush++) {
            const config how = {.chunk = chunks[i], .flush = (leat_zlib_flush)flush, .level = 1};
            assert_same(&how, (oracle_options){.level = 1, .unfinished = true}, noise, length);
        }
    free(noise);
}
END_TEST

START_TEST(every_level_and_memory_level_gives_what_zlib_gives) {
    uint8_t bytes[5000];
    uint64_t random = 13;
    oracle_fill(&random, bytes, sizeof bytes);
    for (int level = LEAT_ZLIB_STORED; level <= 9; level++)
        for (unsigned memory = 1; memory <= 9; memory += 4) {
            const config how = {.level = level, .memory_level = memory, .each_message = true};
            const oracle_options options = {.level = level, .memory_level = (int)memory};
            assert_same(&how, options, bytes, sizeof bytes);
        }
}
END_TEST

START_TEST(a_dictionary_is_used_and_asked_for) {
    static const char words[] = "data: {\"key\": \"value\"}";
    const leat_span dictionary = {(const uint8_t *)words, sizeof words - 1};
    for (int format = LEAT_ZLIB_ZLIB; format <= LEAT_ZLIB_RAW; format++) {
        leat_zlib_format as = (leat_zlib_format)format;
        const config how = {.format = as, .dictionary = dictionary, .each_message = true};
        leat_embedded *e = deflating_channel(&how);
        for (int i = 0; i < 2; i++) {
            leat_embedded_write_text(e, words);
            leat_bytebuf *written = leat_embedded_take_written(e);
            ck_assert_uint_lt(leat_bytebuf_readable(written), 20);
            assert_bytes(oracle_inflate(written, as, dictionary), words, sizeof words - 1);
            leat_bytebuf_release(written);
        }
        finish(e);
    }
}
END_TEST

static leat_bytebuf *composite_of(leat_alloc *alloc, const uint8_t *bytes, size_t length, size_t piece) {
    leat_composite *composite = leat_composite_new(alloc, 4);
    for (size_t at = 0; at < length; at += piece) {
        size_t size = length - at < piece ? length - at : piece;
        ck_assert_int_eq(leat_composite_add(composite, leat_bytebuf_from_bytes(alloc, bytes + at, size)), 0);
    }
    return leat_composite_buffer(composite);
}

START_TEST(a_composite_is_deflated_where_its_pieces_lie) {
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    uint8_t bytes[9000];
    uint64_t random = 17;
    oracle_fill(&random, bytes, sizeof bytes);
    leat_bytebuf *in = composite_of(&counting.alloc, bytes, sizeof bytes, 100), *out;
    counting.counted.copied = 0;
    ck_assert_int_eq(leat_zlib_deflate(&counting.alloc, NULL, in, &out), 0);
    ck_assert_uint_le(counting.counted.copied, leat_bytebuf_readable(out));
    ck_assert(oracle_is_whole(out, LEAT_ZLIB_GZIP));
    assert_bytes(oracle_inflate(out, LEAT_ZLIB_GZIP, (leat_span){0}), bytes, sizeof bytes);
    leat_bytebuf_release(out);
    leat_bytebuf_release(in);
}
END_TEST

/* ---- settings and memory ---- */

static void assert_refused(config how, const char *why) {
    leat_problem problem = {0};
    leat_embedded *e = leat_embedded_new_with((leat_stage[]){{&leat_zlib_deflater, &how, NULL}, {0}}, NULL, &problem);
    ck_assert_ptr_null(e);
    ck_assert_int_eq(problem.code, LEAT_EINVAL);
    ck_assert_msg(strstr(problem.text, why) != NULL, "%s", problem.text);
}

START_TEST(settings_that_make_no_sense_are_refused) {
    assert_refused((config){.level = 10}, "level 10");
    assert_refused((config){.level = -2}, "level -2");
    assert_refused((config){.memory_level = 10}, "memory_level");
    assert_refused((config){.window_bits = 8}, "window_bits");
    assert_refused((config){.window_bits = 16}, "window_bits");
    assert_refused((config){.chunk = 63}, "chunk");
    assert_refused((config){.format = (leat_zlib_format)4}, "format 4");
    assert_refused((config){.flush = (leat_zlib_flush)3}, "flush 3");
    assert_refused((config){.dictionary = {(const uint8_t *)"x", 1}}, "gzip has no dictionary");
}
END_TEST

static int deflate_some(leat_alloc *alloc, void *context) {
    leat_embedded_options options = {.alloc = alloc, .without_ledger = true};
    leat_embedded *e =
        leat_embedded_new_with((leat_stage[]){{&leat_zlib_deflater, context, NULL}, {0}}, &options, NULL);
    if (!e)
        return 0;
    uint8_t bytes[700];
    uint64_t random = 19;
    oracle_fill(&random, bytes, sizeof bytes);
    for (int i = 0; i < 3; i++) {
        leat_bytebuf *in = leat_bytebuf_from_bytes(alloc, bytes, sizeof bytes);
        if (in)
            leat_embedded_write(e, leat_msg_of_bytebuf(in), NULL);
    }
    leat_embedded_close(e);
    leat_embedded_free(e);
    return 0;
}

START_TEST(no_failed_allocation_leaks) {
    config all[] = {{.chunk = 64, .window_bits = 9, .memory_level = 1},
                    {.chunk = 64, .flush = LEAT_ZLIB_FLUSH_MESSAGE, .window_bits = 9, .memory_level = 1},
                    {.chunk = 64, .flush = LEAT_ZLIB_FLUSH_END, .window_bits = 9, .memory_level = 1},
                    {.each_message = true, .window_bits = 9, .memory_level = 1}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        leat_problem problem;
        ck_assert_msg(leat_verify_oom(deflate_some, &all[i], &problem) == 0, "%zu: %s", i, problem.text);
    }
}
END_TEST

int main(void) {
    return suite_run("zlib_deflating",
                     (const TTest *const[]){the_marker_comes_once_wherever_a_block_ends,
                                            bytes_that_cannot_be_deflated_leave_whole_in_blocks_of_any_size,
                                            every_level_and_memory_level_gives_what_zlib_gives,
                                            a_dictionary_is_used_and_asked_for,
                                            a_composite_is_deflated_where_its_pieces_lie,
                                            settings_that_make_no_sense_are_refused, no_failed_allocation_leaks, NULL});
}
