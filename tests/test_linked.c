/* Two embedded channels that are linked behave as two ends of a socket do. */
#include "core/transport.h"
#include "tests/support/record.h"

/* Two linked channels of one loop. */
typedef struct link {
    leat_embedded *one, *other;
} link;

static link linked_with(const leat_channel_options *channel, uint64_t limit) {
    const leat_stage bare[] = {{0}};
    leat_embedded_options options = {.link_limit = limit};
    if (channel)
        options.channel = *channel;
    link two = {.one = leat_embedded_new_with(bare, &options, NULL)};
    options.loop = leat_embedded_loop(two.one);
    two.other = leat_embedded_new_with(bare, &options, NULL);
    leat_embedded_link(two.one, two.other);
    return two;
}

static void end_link(link *two) {
    finish(two->other);
    finish(two->one);
}

static void write_bytes(leat_embedded *e, size_t from, size_t length, leat_done *done) {
    leat_bytebuf *buf = leat_bytebuf_new(leat_embedded_alloc(e), length);
    bool whole = true;
    for (size_t i = 0; i < length; i++)
        whole &= leat_bytebuf_write_u8(buf, (uint8_t)(from + i));
    ck_assert(whole);
    leat_embedded_write(e, leat_msg_of_bytebuf(buf), done);
}

/* Takes everything that reached the channel; the bytes are the sequence from `from` on. Returns how many came. */
static uint64_t take_sequence(leat_embedded *e, uint64_t from) {
    uint64_t taken = 0;
    for (leat_msg msg; leat_embedded_take_read(e, &msg); leat_msg_release(msg)) {
        leat_bytebuf *buf = leat_msg_bytebuf(msg);
        uint64_t reader = leat_bytebuf_reader_index(buf), length = leat_bytebuf_readable(buf);
        bool same = true;
        for (uint64_t i = 0; i < length; i++)
            same &= leat_bytebuf_get_u8(buf, reader + i) == (uint8_t)(from + taken + i);
        ck_assert_msg(same, "other bytes than the sequence from %llu", (unsigned long long)(from + taken));
        taken += length;
    }
    return taken;
}

START_TEST(what_one_writes_comes_in_at_the_other_both_ways) {
    link two = linked_with(NULL, 0);
    leat_embedded_write_text(two.one, "there");
    leat_embedded_write_text(two.other, "back");
    ck_assert_str_eq(leat_embedded_read_text(two.other), "there");
    ck_assert_str_eq(leat_embedded_read_text(two.one), "back");
    end_link(&two);
}
END_TEST

START_TEST(a_peer_that_does_not_read_holds_the_writer_up_and_lets_it_go_on) {
    link two = linked_with(&(leat_channel_options){.manual_read = true}, 100);
    leat_recorder *recorder = leat_recorder_new(leat_unpooled());
    write_bytes(two.one, 0, 250, leat_recorder_done(recorder, "w"));
    ck_assert_uint_eq(leat_channel_pending(leat_embedded_channel(two.one)), 150);
    ck_assert_uint_eq(take_sequence(two.other, 0), 0);
    for (uint64_t came = 0; came < 250;) {
        ck_assert_str_eq(leat_recorder_take(recorder), "");
        leat_channel_request(leat_embedded_channel(two.other), 1);
        leat_embedded_run(two.one);
        uint64_t more = take_sequence(two.other, came);
        ck_assert_uint_gt(more, 0);
        ck_assert_uint_le(more, 100);
        came += more;
        if (came == 200) /* the rest waits at the other side: it was taken */
            ck_assert_str_eq(leat_recorder_take(recorder), "w done LEAT_OK\n");
    }
    end_link(&two);
    leat_recorder_free(recorder);
}
END_TEST

START_TEST(back_pressure_crosses_the_link_and_comes_back) {
    leat_channel_options options = {.write_low = 10, .write_high = 20, .manual_read = true};
    link two = linked_with(&options, 50);
    leat_channel *writer = leat_embedded_channel(two.one);
    write_bytes(two.one, 0, 50, NULL);
    ck_assert_uint_eq(leat_channel_bytes_before_unwritable(writer), 21);
    write_bytes(two.one, 50, 21, NULL);
    ck_assert(!leat_channel_is_writable(writer));
    leat_channel_set_auto_read(leat_embedded_channel(two.other), true);
    leat_embedded_run(two.one);
    ck_assert(leat_channel_is_writable(writer));
    ck_assert_uint_eq(leat_channel_pending(writer), 0);
    take_sequence(two.other, 0);
    ck_assert_uint_eq(leat_embedded_count_writable(two.one), 3); /* the first: it was unwritable while it wrote */
    end_link(&two);
}
END_TEST

START_TEST(a_graceful_close_arrives_behind_the_last_byte_that_waits) {
    link two = linked_with(&(leat_channel_options){.manual_read = true}, 10);
    write_bytes(two.one, 0, 30, NULL);
    leat_embedded_close(two.one);
    ck_assert(!leat_embedded_is_shut_down(two.one));
    for (uint64_t came = 0; came < 30; came += take_sequence(two.other, came)) {
        ck_assert_uint_eq(leat_embedded_count_eof(two.other), 0);
        leat_channel_request(leat_embedded_channel(two.other), 1);
        leat_embedded_run(two.one);
    }
    leat_channel_set_auto_read(leat_embedded_channel(two.other), true);
    leat_embedded_run(two.one);
    ck_assert_uint_eq(leat_embedded_count_eof(two.other), 1);
    ck_assert(leat_embedded_is_closed(two.one) && leat_embedded_is_closed(two.other));
    end_link(&two);
}
END_TEST

START_TEST(a_reset_arrives_at_once_and_fails_what_was_on_its_way) {
    link two = linked_with(NULL, 0);
    leat_recorder *recorder = leat_recorder_new(leat_unpooled());
    leat_loop_enter(leat_embedded_loop(two.one));
    leat_channel_abort(leat_embedded_channel(two.other), 0);
    leat_channel_write(leat_embedded_channel(two.one), text_msg(two.one, "late"), leat_recorder_done(recorder, "w"));
    leat_loop_leave(leat_embedded_loop(two.one));
    ck_assert_str_eq(leat_recorder_take(recorder), "w done LEAT_ERESET\n");
    ck_assert_int_eq(leat_embedded_take_error(two.one), LEAT_ERESET);
    ck_assert(leat_embedded_is_closed(two.one));
    end_link(&two);
    leat_recorder_free(recorder);
}
END_TEST

static void keep_open(leat_ctx *ctx) {
    (void)ctx;
}

START_TEST(writing_to_a_peer_that_is_closed_is_a_reset) {
    static const leat_handler open = {.name = "open", .eof = keep_open};
    leat_embedded *one = leat_embedded_new((const leat_stage[]){{&open}, {0}});
    leat_embedded_options options = {.loop = leat_embedded_loop(one), .channel = {.close_timeout_ms = 10}};
    leat_embedded *other = leat_embedded_new_with((const leat_stage[]){{0}}, &options, NULL);
    leat_embedded_link(one, other);
    leat_embedded_close(other);
    ck_assert(!leat_embedded_is_closed(one));
    leat_embedded_write_text(one, "into the void");
    leat_embedded_advance(one, 10);
    ck_assert(leat_embedded_is_closed(other));
    ck_assert_int_eq(leat_embedded_take_error(one), LEAT_ERESET);
    finish(other);
    finish(one);
}
END_TEST

START_TEST(partial_writes_of_the_script_stay_in_force_on_a_link) {
    link two = linked_with(NULL, 1000);
    leat_embedded_limit_writes(two.one, 7, 100);
    write_bytes(two.one, 0, 150, NULL);
    ck_assert_uint_eq(take_sequence(two.other, 0), 100);
    leat_embedded_allow_writes(two.one, UINT64_MAX);
    ck_assert_uint_eq(take_sequence(two.other, 100), 50);
    end_link(&two);
}
END_TEST

static void echo_read(leat_ctx *ctx, leat_msg msg) {
    leat_ctx_write(ctx, msg, NULL);
}

START_TEST(a_mebibyte_goes_there_and_back_with_little_on_the_way) {
    static const leat_handler echo = {.name = "echo", .read = echo_read};
    leat_embedded *one = leat_embedded_new((const leat_stage[]){{0}});
    leat_embedded_options options = {.loop = leat_embedded_loop(one), .link_limit = 1000};
    leat_embedded *other = leat_embedded_new_with((const leat_stage[]){{&echo}, {0}}, &options, NULL);
    leat_embedded_link(one, other);
    for (uint64_t back = 0; back < 1 << 20;) {
        write_bytes(one, 0, 64 * 1024, NULL);
        uint64_t came = take_sequence(one, 0);
        ck_assert_uint_eq(came, 64 * 1024);
        ck_assert_uint_eq(leat_channel_pending(leat_embedded_channel(other)), 0);
        back += came;
    }
    leat_embedded_close(one);
    finish(other);
    finish(one);
}
END_TEST

int main(void) {
    return suite_run("linked", (const TTest *const[]){what_one_writes_comes_in_at_the_other_both_ways,
                                                      a_peer_that_does_not_read_holds_the_writer_up_and_lets_it_go_on,
                                                      back_pressure_crosses_the_link_and_comes_back,
                                                      a_graceful_close_arrives_behind_the_last_byte_that_waits,
                                                      a_reset_arrives_at_once_and_fails_what_was_on_its_way,
                                                      writing_to_a_peer_that_is_closed_is_a_reset,
                                                      partial_writes_of_the_script_stay_in_force_on_a_link,
                                                      a_mebibyte_goes_there_and_back_with_little_on_the_way, NULL});
}
