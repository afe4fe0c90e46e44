#include "handlers/push/chunker.h"
#include "handlers/push/queue.h"
#include "tests/support/suite.h"

#include <string.h>

static leat_counting_alloc counting;
static leat_push_queue queue;
static leat_push_chunker chunker;

static void begin(size_t max_events, uint64_t max_bytes) {
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_push_queue_init(&queue, &counting.alloc, max_events, max_bytes);
    memset(&chunker, 0, sizeof chunker);
}

static void end(void) {
    leat_push_queue_clean_up(&queue);
    leat_push_chunker_clean_up(&chunker);
    ck_assert_uint_eq(counting.counted.live, 0);
}

static int add(const char *text) {
    leat_push_event *event = leat_push_event_of_bytes(&counting.alloc, text, strlen(text));
    ck_assert_ptr_nonnull(event);
    int code = leat_push_queue_add(&queue, event);
    if (code == 0)
        leat_push_chunker_added(&chunker, &queue, 0);
    return code;
}

static void takes(const char *text) {
    leat_push_event *event = leat_push_queue_take(&queue);
    ck_assert_ptr_nonnull(event);
    ck_assert(leat_bytebuf_equals_bytes(event->payload, text, strlen(text)));
    leat_push_event_release(event);
}

START_TEST(events_leave_in_the_order_they_came) {
    begin(100, 1000);
    char text[8];
    for (int i = 0; i < 5; i++) { /* moves the head, so that growing meets a ring that is bent */
        ck_assert_int_eq(add("x"), 0);
        takes("x");
    }
    for (int i = 0; i < 40; i++) {
        snprintf(text, sizeof text, "%d", i);
        ck_assert_int_eq(add(text), 0);
    }
    for (int i = 0; i < 40; i++) {
        snprintf(text, sizeof text, "%d", i);
        takes(text);
    }
    ck_assert_ptr_null(leat_push_queue_take(&queue));
    end();
}
END_TEST

START_TEST(a_full_queue_refuses_and_releases) {
    begin(2, 5);
    ck_assert_int_eq(add("abc"), 0);
    ck_assert_int_eq(add("abc"), LEAT_ELIMIT); /* too many bytes */
    ck_assert_int_eq(add("ab"), 0);
    ck_assert_int_eq(add(""), LEAT_ELIMIT); /* too many events */
    ck_assert_uint_eq(queue.bytes, 5);
    end();
}
END_TEST

START_TEST(a_queue_without_memory_releases_the_event) {
    leat_failing_alloc failing;
    leat_failing_alloc_init(&failing, leat_unpooled());
    begin(2, 5);
    leat_push_queue_init(&queue, &failing.alloc, 10, 10);
    failing.fail_at = 1;
    ck_assert_int_eq(add("abc"), LEAT_ENOMEM);
    ck_assert_uint_eq(queue.count, 0);
    end();
}
END_TEST

static void chunk_by(size_t max_events, uint64_t max_bytes, uint64_t interval_ms) {
    begin(100, 1000);
    ck_assert_int_eq(leat_push_chunker_init(&chunker, &counting.alloc, max_events, max_bytes, interval_ms), 0);
}

static void cuts(size_t expected) {
    size_t count = leat_push_chunker_cut(&chunker, &queue);
    ck_assert_uint_eq(count, expected);
    for (size_t i = 0; i < count; i++)
        leat_push_event_release(chunker.chunk[i]);
}

START_TEST(a_chunk_is_full_by_count_or_by_bytes) {
    chunk_by(3, 10, 1000);
    add("ab");
    add("ab");
    ck_assert(!leat_push_chunker_is_full(&chunker, &queue));
    add("ab");
    ck_assert(leat_push_chunker_is_full(&chunker, &queue));
    cuts(3);
    add("0123456789");
    add("a");
    ck_assert(leat_push_chunker_is_full(&chunker, &queue));
    cuts(1); /* one that fills the bytes alone is a chunk of its own */
    cuts(1);
    cuts(0);
    end();
}
END_TEST

START_TEST(a_chunk_is_due_when_its_first_event_waited_long_enough) {
    chunk_by(3, 10, 2);
    ck_assert_uint_eq(leat_push_chunker_deadline(&chunker, &queue), UINT64_MAX);
    add("a");
    leat_push_chunker_added(&chunker, &queue, 500);
    add("b");
    leat_push_chunker_added(&chunker, &queue, 900);
    ck_assert_uint_eq(leat_push_chunker_deadline(&chunker, &queue), 2000500);
    ck_assert(!leat_push_chunker_is_due(&chunker, &queue, 2000499));
    ck_assert(leat_push_chunker_is_due(&chunker, &queue, 2000500));
    cuts(2);
    ck_assert_uint_eq(leat_push_chunker_deadline(&chunker, &queue), UINT64_MAX);
    end();
}
END_TEST

int main(void) {
    return suite_run("push_queue", (const TTest *const[]){
                                       events_leave_in_the_order_they_came, a_full_queue_refuses_and_releases,
                                       a_queue_without_memory_releases_the_event, a_chunk_is_full_by_count_or_by_bytes,
                                       a_chunk_is_due_when_its_first_event_waited_long_enough, NULL});
}
