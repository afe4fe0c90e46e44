/* Batches of more spans than one system call takes: as many gathering writes as it needs, and no copy. */
#include "core/embedded.h"
#include "core/gather.h"
#include "tests/support/suite.h"
#include "tests/support/tcp_fixture.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE = 300, MOST_SPANS = 1024 };

static const size_t COUNTS[] = {1024, 1029, 4096};
static const char BETWEEN[] = "\n\ndata: ";

/* ---- a batch ---- */

typedef struct batch {
    leat_counting_alloc counting;
    leat_bytebuf **events;
    size_t count;
} batch;

static void batch_begin(batch *self, size_t count) {
    leat_counting_alloc_init(&self->counting, leat_unpooled());
    self->count = count;
    self->events = malloc(count * sizeof *self->events);
    ck_assert_ptr_nonnull(self->events);
    for (size_t i = 0; i < count; i++)
        self->events[i] = pattern_buffer(&self->counting.alloc, i * SIZE, SIZE);
}

static void batch_end(batch *self) {
    for (size_t i = 0; i < self->count; i++)
        leat_bytebuf_release(self->events[i]);
    free(self->events);
    ck_assert_uint_eq(self->counting.counted.live, 0);
}

static leat_bytebuf *gathered(batch *self, leat_gather_mode mode, bool delimited) {
    leat_gather gather;
    leat_gather_init(&gather, &self->counting.alloc, mode, (uint32_t)(delimited ? 2 * self->count : self->count));
    if (delimited)
        leat_gather_add_joined(&gather, self->events, self->count, BETWEEN, sizeof BETWEEN - 1);
    else
        leat_gather_add_shared_list(&gather, self->events, self->count);
    leat_bytebuf *whole = leat_gather_finish(&gather);
    ck_assert_ptr_nonnull(whole);
    return whole;
}

static leat_bytebuf *concatenated(const batch *self, bool delimited) {
    leat_bytebuf *whole = leat_bytebuf_new(leat_unpooled(), 0);
    for (size_t i = 0; i < self->count; i++) {
        if (delimited && i > 0)
            ck_assert(leat_bytebuf_write_bytes(whole, BETWEEN, sizeof BETWEEN - 1));
        ck_assert(leat_bytebuf_write_buffer(whole, self->events[i]));
    }
    return whole;
}

/* ---- at the embedded transport ---- */

static void assert_spans_leave(size_t count, bool delimited) {
    batch self;
    batch_begin(&self, count);
    leat_embedded *embedded = leat_embedded_new((const leat_stage[]){{0}});
    leat_bytebuf *whole = gathered(&self, LEAT_GATHER_WRAP, delimited), *expected = concatenated(&self, delimited);
    size_t spans = delimited ? 2 * count - 1 : count, last;
    ck_assert_uint_eq(leat_bytebuf_span_count(whole), spans);
    leat_embedded_write(embedded, leat_msg_of_bytebuf(whole), NULL);
    ck_assert_uint_eq(leat_embedded_write_calls(embedded), (spans + MOST_SPANS - 1) / MOST_SPANS);
    leat_embedded_last_spans(embedded, &last);
    ck_assert_uint_eq(last, (spans - 1) % MOST_SPANS + 1);
    ck_assert_uint_eq(self.counting.counted.copied, 0);
    leat_bytebuf *written = leat_embedded_take_written(embedded);
    ck_assert(leat_bytebuf_equals(written, expected));
    leat_bytebuf_release(written);
    leat_bytebuf_release(expected);
    leat_embedded_free(embedded);
    batch_end(&self);
}

START_TEST(more_spans_than_a_call_takes_leave_in_successive_gathering_writes_without_a_copy) {
    for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++) {
        assert_spans_leave(COUNTS[i], false);
        assert_spans_leave(COUNTS[i], true);
    }
}
END_TEST

START_TEST(small_events_are_copied_once_into_one_allocation_however_many_they_are) {
    for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++)
        for (int delimited = 0; delimited < 2; delimited++) {
            batch self;
            batch_begin(&self, COUNTS[i]);
            leat_alloc_stats before = self.counting.counted;
            leat_bytebuf *whole = gathered(&self, LEAT_GATHER_AUTO, delimited);
            ck_assert_uint_eq(leat_bytebuf_span_count(whole), 1);
            ck_assert_uint_eq(self.counting.counted.allocations, before.allocations + 1);
            ck_assert_uint_eq(self.counting.counted.growths, before.growths);
            ck_assert_uint_eq(self.counting.counted.copied, COUNTS[i] * SIZE);
            leat_bytebuf_release(whole);
            batch_end(&self);
        }
}
END_TEST

/* ---- at the other end of a real socket ---- */

typedef struct collector_config {
    leat_bytebuf *received;
    uint64_t *bytes;
} collector_config;

static int collect_into(leat_ctx *ctx, const void *config) {
    memcpy(leat_state(ctx), config, sizeof(collector_config));
    return 0;
}

static void collect(leat_ctx *ctx, leat_msg msg) {
    const collector_config *into = leat_state(ctx);
    ck_assert(leat_bytebuf_write_buffer(into->received, leat_msg_bytebuf(msg)));
    *into->bytes = leat_bytebuf_readable(into->received);
    leat_msg_release(msg);
}

static const leat_handler collector = {
    .name = "collector",
    .state_size = sizeof(collector_config),
    .config_size = sizeof(collector_config),
    .added = collect_into,
    .read = collect,
};

static void write_in_a_turn(leat_channel *channel, leat_bytebuf *whole) {
    leat_loop *loop = leat_channel_loop(channel);
    leat_loop_enter(loop);
    leat_channel_write(channel, leat_msg_of_bytebuf(whole), NULL);
    leat_loop_leave(loop);
}

/* Sends what a batch was gathered as over TCP and returns what arrived. */
static leat_bytebuf *sent(leat_bytebuf *whole) {
    uint64_t bytes = 0, length = leat_bytebuf_readable(whole);
    leat_bytebuf *received = leat_bytebuf_new(leat_unpooled(), length);
    const collector_config config = {received, &bytes};
    leat_pipeline *pipeline =
        leat_pipeline_new(leat_unpooled(), (const leat_stage[]){{&collector, &config, NULL}, {0}}, NULL);
    tcp_fixture self = {.options.pipeline = pipeline};
    tcp_open(&self, NULL);
    leat_channel *client = tcp_client(&self, NULL);
    run_until(self.loop, &self.client.active, 1);
    write_in_a_turn(client, whole);
    run_until_bytes(self.loop, &bytes, length);
    tcp_end(&self);
    leat_pipeline_release(pipeline);
    return received;
}

static void assert_arrives(size_t count, leat_gather_mode mode, bool delimited) {
    batch self;
    batch_begin(&self, count);
    leat_bytebuf *expected = concatenated(&self, delimited), *received = sent(gathered(&self, mode, delimited));
    ck_assert(leat_bytebuf_equals(received, expected));
    ck_assert_uint_eq(self.counting.counted.copied, mode == LEAT_GATHER_WRAP ? 0 : count * SIZE);
    leat_bytebuf_release(received);
    leat_bytebuf_release(expected);
    batch_end(&self);
}

START_TEST(batches_of_any_size_arrive_byte_for_byte_at_the_other_end_of_a_socket) {
    for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++)
        for (int delimited = 0; delimited < 2; delimited++) {
            assert_arrives(COUNTS[i], LEAT_GATHER_WRAP, delimited);
            assert_arrives(COUNTS[i], LEAT_GATHER_AUTO, delimited);
        }
}
END_TEST

int main(void) {
    return suite_run(
        "gather_sent",
        (const TTest *const[]){more_spans_than_a_call_takes_leave_in_successive_gathering_writes_without_a_copy,
                               small_events_are_copied_once_into_one_allocation_however_many_they_are,
                               batches_of_any_size_arrive_byte_for_byte_at_the_other_end_of_a_socket, NULL});
}
