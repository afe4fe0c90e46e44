/* What lets inline calls go without help is closed while others hold references, and opened again afterwards. */
#include "core/bytebuf_internal.h"
#include "core/composite.h"
#include "core/cursor.h"
#include "tests/support/suite.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

static const char *const digits = "0123456789abcdef";

static leat_bytebuf *plain(void) {
    return leat_bytebuf_from_text(leat_unpooled(), digits);
}

static leat_bytebuf *parted(void) {
    leat_composite *composite = leat_composite_new(leat_unpooled(), 4);
    for (size_t at = 0; at < 16; at += 4)
        ck_assert_int_eq(leat_composite_add(composite, leat_bytebuf_from_bytes(leat_unpooled(), digits + at, 4)), 0);
    return leat_composite_buffer(composite);
}

static void assert_is(leat_bytebuf *buf, const char *expected) {
    ck_assert(leat_bytebuf_is_valid(buf));
    ck_assert(leat_bytebuf_equals_bytes(buf, expected, strlen(expected)));
}

/* Everything that moves an index is refused; then one reference goes, on the way that `buf` reads on. */
static void share_for_a_moment(leat_bytebuf *buf) {
    uint8_t byte;
    leat_bytebuf_retain(buf);
    ck_assert(leat_bytebuf_is_valid(buf));
    ck_assert(!leat_bytebuf_read_u8(buf, &byte) && !leat_bytebuf_write_u8(buf, 1));
    ck_assert(!leat_bytebuf_read_bytes(buf, &byte, 0) && !leat_bytebuf_write_bytes(buf, &byte, 0));
    ck_assert(!leat_bytebuf_wrote(buf, 0));
    ck_assert_uint_eq(leat_bytebuf_writable(buf), 0);
    leat_bytebuf_release(buf);
    ck_assert(leat_bytebuf_is_valid(buf));
}

static void check_reading_on(leat_bytebuf *buf) {
    uint8_t byte;
    for (size_t i = 0; i < 16; i++) {
        share_for_a_moment(buf);
        ck_assert(leat_bytebuf_read_u8(buf, &byte) && byte == (uint8_t)digits[i]);
        ck_assert(leat_bytebuf_is_valid(buf));
    }
    ck_assert(!leat_bytebuf_read_u8(buf, &byte));
    leat_bytebuf_release(buf);
}

START_TEST(a_handle_reads_on_once_it_is_sole_again) {
    check_reading_on(plain());
    check_reading_on(parted());
}
END_TEST

static void check_writing_on(leat_bytebuf *buf) {
    ck_assert_int_eq(leat_bytebuf_reserve(buf, 64), 0);
    uint8_t *room = leat_bytebuf_room(buf, 64);
    memcpy(room, "xyz", 3);
    share_for_a_moment(buf);
    ck_assert(leat_bytebuf_wrote(buf, 3));
    share_for_a_moment(buf);
    leat_bytebuf_put_u16(buf, 0x4142);
    share_for_a_moment(buf);
    leat_writer writer = leat_writer_begin(buf);
    ck_assert(leat_writer_u8(&writer, 'C'));
    leat_writer_finish(&writer);
    share_for_a_moment(buf);
    ck_assert(leat_bytebuf_write_u8(buf, 'D'));
    ck_assert_uint_ge(leat_bytebuf_writable(buf), 57);
    assert_is(buf, "0123456789abcdefxyzABCD");
    leat_bytebuf_release(buf);
}

START_TEST(a_handle_writes_on_in_the_same_room_once_it_is_sole_again) {
    check_writing_on(plain());
    check_writing_on(parted());
}
END_TEST

START_TEST(what_was_written_is_readable_at_once) {
    leat_bytebuf *kinds[] = {leat_bytebuf_new(leat_unpooled(), 4),
                             leat_composite_buffer(leat_composite_new(leat_unpooled(), 0))};
    for (size_t kind = 0; kind < 2; kind++) {
        uint32_t value;
        for (uint32_t i = 0; i < 1000; i++) {
            ck_assert(!leat_bytebuf_read_u32(kinds[kind], &value));
            ck_assert(leat_bytebuf_write_u32(kinds[kind], i) && leat_bytebuf_write_u32(kinds[kind], ~i));
            ck_assert(leat_bytebuf_read_u32(kinds[kind], &value) && value == i);
            ck_assert(leat_bytebuf_read_u32(kinds[kind], &value) && value == ~i);
            ck_assert(leat_bytebuf_is_valid(kinds[kind]));
        }
        leat_bytebuf_release(kinds[kind]);
    }
}
END_TEST

START_TEST(no_read_goes_beyond_a_writer_that_was_moved_back) {
    leat_bytebuf *kinds[] = {plain(), parted()};
    for (size_t kind = 0; kind < 2; kind++) {
        leat_bytebuf *buf = kinds[kind];
        uint16_t value;
        for (uint64_t index = 15; index > 2; index--) {
            ck_assert(leat_bytebuf_set_reader_index(buf, index - 3) && leat_bytebuf_read_u16(buf, &value));
            ck_assert(leat_bytebuf_set_writer_index(buf, index));
            ck_assert(!leat_bytebuf_read_u16(buf, &value));
            ck_assert(leat_bytebuf_is_valid(buf));
        }
        ck_assert(leat_bytebuf_clear(buf) && !leat_bytebuf_read_u16(buf, &value));
        leat_bytebuf_release(buf);
    }
}
END_TEST

START_TEST(a_look_anywhere_and_a_step_back_do_not_mislead_the_next_read) {
    leat_bytebuf *buf = parted();
    for (uint64_t looked = 0; looked < 16; looked++)
        for (uint64_t back = 0; back < 15; back++) {
            uint8_t byte;
            uint16_t pair;
            ck_assert(leat_bytebuf_set_reader_index(buf, 15));
            ck_assert(leat_bytebuf_read_u8(buf, &byte) && byte == 'f');
            ck_assert(leat_bytebuf_set_reader_index(buf, back));
            ck_assert_uint_eq(leat_bytebuf_get_u8(buf, looked), (uint8_t)digits[looked]);
            ck_assert(leat_bytebuf_is_valid(buf));
            ck_assert(leat_bytebuf_read_u16(buf, &pair) && pair == leat_load_u16((const uint8_t *)digits + back));
            ck_assert(leat_bytebuf_is_valid(buf));
        }
    leat_bytebuf_release(buf);
}
END_TEST

static void *look_and_release(void *shared) {
    leat_bytebuf *buf = shared;
    for (uint64_t i = 0; i < 16; i++)
        if (leat_bytebuf_get_u8(buf, i) != (uint8_t)digits[i])
            return shared; /* a complaint */
    leat_bytebuf_retain(buf);
    leat_bytebuf_release(buf);
    leat_bytebuf_release(buf);
    return NULL;
}

/* Tries again and again, as nobody should: the other thread may go at any moment. */
START_TEST(a_handle_writes_as_soon_as_another_thread_has_let_it_go) {
    leat_bytebuf *kinds[] = {plain(), parted()};
    for (int round = 0; round < 100; round++) {
        leat_bytebuf *buf = kinds[round % 2];
        pthread_t thread;
        void *complaint;
        uint8_t byte;
        ck_assert_int_eq(pthread_create(&thread, NULL, look_and_release, leat_bytebuf_retain(buf)), 0);
        while (!leat_bytebuf_write_u8(buf, (uint8_t)round))
            sched_yield();
        ck_assert(leat_bytebuf_set_u8(buf, 0, '0') && leat_bytebuf_set_reader_index(buf, 16 + (uint64_t)(round / 2)));
        ck_assert(leat_bytebuf_read_u8(buf, &byte) && byte == round);
        ck_assert_int_eq(pthread_join(thread, &complaint), 0);
        ck_assert_msg(complaint == NULL, "another thread saw other bytes");
    }
    leat_bytebuf_release(kinds[0]);
    leat_bytebuf_release(kinds[1]);
}
END_TEST

enum { COMPONENTS = 300, ROUNDS = 300 };

static void *slice_again_and_again(void *shared) {
    void *complaint = NULL;
    for (int i = 0; i < ROUNDS; i++) {
        leat_bytebuf *slice = leat_bytebuf_slice(shared, 2, COMPONENTS * 4 - 4);
        if (leat_bytebuf_get_u16(slice, 4) != leat_load_u16((const uint8_t *)digits + 2))
            complaint = shared;
        leat_bytebuf_release(slice);
    }
    leat_bytebuf_release(shared);
    return complaint;
}

START_TEST(threads_that_share_a_composite_may_slice_it_at_the_same_time) {
    leat_composite *composite = leat_composite_new(leat_unpooled(), COMPONENTS);
    leat_bytebuf *buf = leat_composite_buffer(composite);
    for (int i = 0; i < COMPONENTS; i++)
        ck_assert_int_eq(leat_composite_add(composite, leat_bytebuf_from_bytes(leat_unpooled(), digits, 4)), 0);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, slice_again_and_again, leat_bytebuf_retain(buf)), 0);
    for (int i = 0; i < 2; i++) {
        void *complaint;
        ck_assert_int_eq(pthread_join(threads[i], &complaint), 0);
        ck_assert_msg(complaint == NULL, "a thread saw other bytes");
    }
    ck_assert(leat_bytebuf_set_u8(buf, 0, '0') && leat_bytebuf_is_valid(buf));
    leat_bytebuf_release(buf);
}
END_TEST

/* ---- counts near their limit, which no test can count up to ---- */

START_TEST(references_beyond_2_to_the_31_stay_for_ever_and_are_reported) {
    leat_tracking_alloc *tracking = leat_tracking_alloc_new(leat_unpooled());
    leat_alloc *const allocs[] = {leat_unpooled(), leat_tracking_alloc_base(tracking)};
    for (size_t i = 0; i < 2; i++) {
        leat_bytebuf *buf = leat_bytebuf_from_text(allocs[i], "many");
        buf->write_limit = buf->writer;
        buf->read_limit = 0;
        buf->refs = LEAT_BYTEBUF_MOST_REFS - 1;
        for (int n = 0; n < 3; n++)
            ck_assert_ptr_eq(leat_bytebuf_retain(buf), buf);
        for (int n = 0; n < 100; n++)
            leat_bytebuf_release(buf);
        ck_assert_uint_gt(buf->refs, LEAT_BYTEBUF_MOST_REFS);
        assert_is(buf, "many");
        buf->refs = 1;
        leat_bytebuf_release(buf);
    }
    char report[1000];
    leat_tracking_alloc_report(tracking, report, sizeof report);
    ck_assert_uint_eq(leat_tracking_alloc_misuses(tracking), 1);
    ck_assert_ptr_nonnull(strstr(report, "too many references"));
    leat_tracking_alloc_free(tracking);
}
END_TEST

START_TEST(as_many_references_as_fit_are_counted_exactly) {
    leat_bytebuf *buf = plain();
    leat_bytebuf_retain(buf);
    buf->refs = LEAT_BYTEBUF_MOST_REFS - 1;
    leat_bytebuf_retain(buf);
    ck_assert_uint_eq(buf->refs, LEAT_BYTEBUF_MOST_REFS);
    leat_bytebuf_release(buf);
    leat_bytebuf_release(buf);
    ck_assert_uint_eq(buf->refs, LEAT_BYTEBUF_MOST_REFS - 2);
    buf->refs = 1;
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(storage_refuses_more_handles_than_it_can_count) {
    leat_bytebuf *buf = plain();
    leat_storage *storage = leat_storage_of(buf);
    uint32_t handles = storage->handles;
    storage->handles = LEAT_BYTEBUF_MOST_REFS;
    ck_assert_ptr_null(leat_bytebuf_slice(buf, 0, 4));
    ck_assert_ptr_null(leat_bytebuf_split(buf, 4));
    ck_assert_uint_eq(storage->handles, LEAT_BYTEBUF_MOST_REFS);
    storage->handles = handles;
    assert_is(buf, digits);
    leat_bytebuf_release(buf);
}
END_TEST

int main(void) {
    return suite_run(
        "bytebuf_limits",
        (const TTest *const[]){
            a_handle_reads_on_once_it_is_sole_again, a_handle_writes_on_in_the_same_room_once_it_is_sole_again,
            what_was_written_is_readable_at_once, no_read_goes_beyond_a_writer_that_was_moved_back,
            a_look_anywhere_and_a_step_back_do_not_mislead_the_next_read,
            a_handle_writes_as_soon_as_another_thread_has_let_it_go,
            threads_that_share_a_composite_may_slice_it_at_the_same_time,
            references_beyond_2_to_the_31_stay_for_ever_and_are_reported, as_many_references_as_fit_are_counted_exactly,
            storage_refuses_more_handles_than_it_can_count, NULL});
}
