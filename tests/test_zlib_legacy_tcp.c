/* Legacy TCP as its servers speak it: frames in one gzip stream, each flushed so that the peer has it at once. */
#include "core/embedded.h"
#include "core/gather.h"
#include "handlers/legacy_tcp_decoder.h"
#include "handlers/legacy_tcp_framer.h"
#include "handlers/length_field_prepender.h"
#include "handlers/zlib_deflater.h"
#include "handlers/zlib_inflater.h"
#include "tests/support/suite.h"

#include <string.h>

static const leat_zlib_deflater_config each_frame = {.flush = LEAT_ZLIB_FLUSH_MESSAGE};
static const leat_stage server[] = {
    {&leat_zlib_deflater, &each_frame, NULL},
    {.handler = &leat_length_field_prepender},
    {&leat_legacy_tcp_framer, &(const leat_legacy_tcp_framer_config){.name = "obs"}, NULL},
    {0}};
static const leat_stage client[] = {{.handler = &leat_zlib_inflater}, {.handler = &leat_legacy_tcp_decoder}, {0}};

static size_t count_flushes(const leat_bytebuf *written) {
    size_t count = 0;
    int64_t at = 0;
    while ((at = leat_bytebuf_find(written, (uint64_t)at, "\0\0\xff\xff", 4)) >= 0) {
        count++;
        at += 4;
    }
    return count;
}

static void assert_event(leat_embedded *to, int opcode, const void *payload, size_t length) {
    leat_msg msg;
    ck_assert(leat_embedded_take_read(to, &msg));
    const leat_legacy_tcp_message *event = leat_msg_as(msg, &leat_type_legacy_tcp);
    ck_assert_int_eq(event->opcode, opcode);
    ck_assert_mem_eq(event->name.bytes, "obs", 3);
    ck_assert(leat_bytebuf_equals_bytes(event->payload, payload, length));
    leat_msg_release(msg);
}

/* Writes a batch: what leaves has one flush, and the peer has its events at once. Returns how long it was. */
static uint64_t write_batch(leat_embedded *from, leat_embedded *to, leat_bytebuf *batch) {
    leat_embedded_write(from, leat_msg_of_bytebuf(batch), NULL);
    leat_bytebuf *written = leat_embedded_take_written(from);
    uint64_t length = leat_bytebuf_readable(written);
    ck_assert_uint_eq(count_flushes(written), 1);
    leat_embedded_feed_bytebuf(to, written);
    return length;
}

START_TEST(a_frame_is_deflated_with_its_headers_and_flushed_once) {
    leat_embedded *from = leat_embedded_new(server), *to = leat_embedded_new(client);
    leat_alloc *alloc = leat_embedded_alloc(from);
    for (int i = 0; i < 4; i++) {
        write_batch(from, to, leat_legacy_tcp_event(alloc, LEAT_LEGACY_TCP_NEXT, "a value", 7));
        assert_event(to, LEAT_LEGACY_TCP_NEXT, "a value", 7);
    }
    leat_bytebuf *shared = leat_legacy_tcp_event(alloc, LEAT_LEGACY_TCP_NEXT, "shared", 6);
    write_batch(from, to, leat_bytebuf_retain(shared));
    assert_event(to, LEAT_LEGACY_TCP_NEXT, "shared", 6);
    leat_bytebuf_release(shared);
    leat_embedded_free(from);
    leat_embedded_free(to);
}
END_TEST

START_TEST(a_heartbeat_costs_half_of_what_two_flushes_would) {
    leat_embedded *from = leat_embedded_new(server), *to = leat_embedded_new(client);
    uint64_t length = 0;
    for (int i = 0; i < 5; i++) {
        length = write_batch(from, to, leat_legacy_tcp_heartbeat(leat_embedded_alloc(from)));
        assert_event(to, LEAT_LEGACY_TCP_HEARTBEAT, "", 0);
    }
    ck_assert_uint_le(length, 9); /* the original needs 9 + 8 */
    leat_embedded_free(from);
    leat_embedded_free(to);
}
END_TEST

START_TEST(a_batch_of_many_events_is_one_frame_and_one_flush) {
    leat_embedded *from = leat_embedded_new(server), *to = leat_embedded_new(client);
    leat_alloc *alloc = leat_embedded_alloc(from);
    char payload[2000];
    memset(payload, 'x', sizeof payload);
    leat_gather gather;
    leat_gather_init(&gather, alloc, LEAT_GATHER_WRAP, 30);
    for (size_t i = 0; i < 30; i++)
        leat_gather_add(&gather, leat_legacy_tcp_event(alloc, LEAT_LEGACY_TCP_NEXT, payload, sizeof payload));
    write_batch(from, to, leat_gather_finish(&gather));
    for (size_t i = 0; i < 30; i++)
        assert_event(to, LEAT_LEGACY_TCP_NEXT, payload, sizeof payload);
    leat_embedded_free(from);
    leat_embedded_free(to);
}
END_TEST

int main(void) {
    return suite_run("zlib_legacy_tcp",
                     (const TTest *const[]){a_frame_is_deflated_with_its_headers_and_flushed_once,
                                            a_heartbeat_costs_half_of_what_two_flushes_would,
                                            a_batch_of_many_events_is_one_frame_and_one_flush, NULL});
}
