#include "core/transport.h"
#include "handlers/zlib_deflater.h"
#include "tests/support/http_site.h"
#include "tests/support/suite.h"
#include "tests/support/tolerant.h"
#include "tests/support/zlib_oracle.h"

#include <stdlib.h>
#include <string.h>

static bool accepts(const char *value, const char *coding) {
    const leat_http_field fields[] = {{"Accept-Encoding", value}};
    const leat_http_request request = {.fields = fields, .field_count = value ? 1 : 0};
    return leat_http_request_accepts_coding(&request, coding);
}

START_TEST(a_coding_is_accepted_if_it_is_named_with_a_weight_above_zero) {
    ck_assert(accepts("gzip", "gzip"));
    ck_assert(accepts("deflate, gzip;q=0.001, br", "gzip"));
    ck_assert(accepts("GZIP ; Q=1", "gzip"));
    ck_assert(accepts("br;level=4;q=1.0,\tgzip", "br"));
    ck_assert(accepts("*", "gzip"));
    ck_assert(accepts(" , ,gzip,", "gzip"));
}
END_TEST

START_TEST(a_coding_is_not_accepted_otherwise) {
    static const char *const values[] = {NULL,          "",        "identity",    "gzip;q=0",    "gzip; q=0.000",
                                         "*;q=0",       "x-gzip",  "gzi",         "gzipped",     "*, gzip;q=0",
                                         "gzip;q=0, *", "br;gzip", "deflate;q=1", "gzip;x=1;q=0"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        ck_assert_msg(!accepts(values[i], "gzip"), "%s", values[i] ? values[i] : "none");
}
END_TEST

START_TEST(lines_of_the_field_are_one_list) {
    const leat_http_field fields[] = {{"Accept-Encoding", "*;q=1"}, {"Host", "gzip"}, {"accept-encoding", "gzip;q=0"}};
    const leat_http_request request = {.fields = fields, .field_count = 3};
    ck_assert(!leat_http_request_accepts_coding(&request, "gzip"));
    ck_assert(leat_http_request_accepts_coding(&request, "br"));
}
END_TEST

/* Takes what was written as the chunks of a stream: their bytes, one behind the other. */
static leat_bytebuf *take_chunks(leat_embedded *e) {
    leat_bytebuf *written = leat_embedded_take_written(e), *bytes = leat_bytebuf_new(leat_unpooled(), 1024);
    for (int64_t end; (end = leat_bytebuf_find(written, leat_bytebuf_reader_index(written), "\r\n", 2)) >= 0;) {
        char line[20] = {0};
        uint64_t length = (uint64_t)end - leat_bytebuf_reader_index(written);
        ck_assert(length < sizeof line && leat_bytebuf_read_bytes(written, line, (size_t)length));
        length = strtoull(line, NULL, 16);
        ck_assert(leat_bytebuf_skip(written, 2));
        leat_bytebuf *chunk = leat_bytebuf_split(written, length);
        ck_assert(chunk && leat_bytebuf_write_buffer(bytes, chunk) && leat_bytebuf_skip(written, 2));
        leat_bytebuf_release(chunk);
    }
    leat_bytebuf_release(written);
    return bytes;
}

/* How a stream is compressed: once its header is on its way, a deflater joins between http and whoever writes. */
static leat_ctx *compress(leat_embedded *e) {
    leat_channel *channel = leat_embedded_channel(e);
    leat_ctx *deflater = NULL;
    const leat_stage stage = {.handler = &leat_zlib_deflater};
    ck_assert_int_eq(leat_channel_add_after(channel, leat_channel_find(channel, "http"), &stage, &deflater), 0);
    return deflater;
}

static void write_event(leat_embedded *e, const char *text) {
    leat_bytebuf *event = leat_bytebuf_from_text(leat_embedded_alloc(e), text);
    leat_loop_enter(leat_embedded_loop(e));
    leat_ctx_write(site_of(e), leat_msg_of_bytebuf(event), NULL);
    leat_loop_leave(leat_embedded_loop(e));
}

START_TEST(each_event_of_a_compressed_stream_is_a_chunk_of_its_own) {
    leat_embedded *e = site_fed(site_stages, GET_STREAM);
    assert_written(e, STREAM_HEAD);
    compress(e);
    leat_bytebuf *all = leat_bytebuf_new(leat_unpooled(), 1024);
    for (uint64_t i = 1; i <= 20; i++) {
        write_event(e, "data: x\n\n");
        leat_bytebuf *chunk = take_chunks(e);
        ck_assert(leat_bytebuf_write_buffer(all, chunk));
        leat_bytebuf_release(chunk);
        leat_bytebuf *plain = oracle_inflate(all, LEAT_ZLIB_GZIP, (leat_span){0});
        ck_assert_uint_eq(leat_bytebuf_readable(plain), 9 * i);
        leat_bytebuf_release(plain);
    }
    leat_embedded_close(e);
    leat_bytebuf *end = take_chunks(e);
    ck_assert(leat_bytebuf_write_buffer(all, end));
    ck_assert(oracle_is_whole(all, LEAT_ZLIB_GZIP));
    leat_bytebuf_release(end);
    leat_bytebuf_release(all);
    assert_nothing_left(e);
}
END_TEST

START_TEST(a_compressed_stream_may_end_and_the_connection_go_on) {
    leat_embedded *e = site_fed(site_stages, GET_STREAM);
    assert_written(e, STREAM_HEAD);
    leat_ctx *deflater = compress(e);
    leat_loop_enter(leat_embedded_loop(e));
    leat_ctx_write(site_of(e), leat_msg_of_bytebuf(leat_bytebuf_from_text(leat_embedded_alloc(e), "all")), NULL);
    leat_ctx_remove(deflater);
    leat_http_end(site_of(e), NULL);
    leat_loop_leave(leat_embedded_loop(e));
    leat_bytebuf *all = take_chunks(e);
    ck_assert(oracle_is_whole(all, LEAT_ZLIB_GZIP));
    leat_bytebuf_release(all);
    leat_embedded_feed_text(e, "GET /b HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_written(e, TEXT_HEAD("14") TEXT_TYPE "GET|/b|-|-|1|\n");
    assert_nothing_left(e);
}
END_TEST

int main(void) {
    return suite_run("http_coding",
                     (const TTest *const[]){a_coding_is_accepted_if_it_is_named_with_a_weight_above_zero,
                                            a_coding_is_not_accepted_otherwise, lines_of_the_field_are_one_list,
                                            each_event_of_a_compressed_stream_is_a_chunk_of_its_own,
                                            a_compressed_stream_may_end_and_the_connection_go_on, NULL});
}
