#include "tests/support/suite.h"
#include "tests/support/tcp_fixture.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MEBIBYTES = 4, CROWD = 200, SMALL = 32768 };

/* Both ways, both versions. */

static void echo_over(const char *address, int version) {
    tcp_fixture self = {.record.echo = true};
    tcp_open(&self, address);
    int peer = peer_connect(version, leat_tcp_listener_port(self.listener));
    ck_assert_int_ge(peer, 0);
    peer_write(peer, "hello");
    run_until(self.loop, &self.record.read_dones, 1);
    ck_assert_str_eq(peer_read(peer, 5), "hello");
    close(peer);
    run_until(self.loop, &self.record.inactives, 1);
    ck_assert_uint_eq(self.record.removed, 1);
    ck_assert_int_eq(self.record.error, 0);
    tcp_end(&self);
}

START_TEST(what_comes_over_ipv4_goes_back) {
    echo_over("127.0.0.1:0", 4);
}
END_TEST

START_TEST(what_comes_over_ipv6_goes_back) {
    if (peer_has(6))
        echo_over("[::1]:0", 6);
}
END_TEST

START_TEST(a_name_is_listened_on_and_connected_to) {
    tcp_fixture self = {.client.greeting = "by name"};
    tcp_open(&self, "localhost:0");
    char address[32];
    snprintf(address, sizeof address, "localhost:%u", leat_tcp_listener_port(self.listener));
    const leat_tcp_options options = {.pipeline = self.client_pipeline};
    ck_assert_int_eq(leat_tcp_connect(self.loop, address, &options, NULL, NULL), 0);
    run_until_bytes(self.loop, &self.record.bytes, 7);
    ck_assert_str_eq(self.record.text, "by name");
    tcp_end(&self);
}
END_TEST

START_TEST(every_interface_takes_both_versions) {
    echo_over("*:0", 4);
    if (!peer_has(6))
        return;
    echo_over("*:0", 6);
    echo_over("[::]:0", 4);
}
END_TEST

START_TEST(a_channel_of_ours_talks_to_a_channel_of_ours) {
    tcp_fixture self = {.record.echo = true, .client.greeting = "from a client"};
    tcp_open(&self, NULL);
    leat_channel *client = tcp_client(&self, NULL);
    ck_assert_uint_eq(self.client.active, 0);
    run_until_bytes(self.loop, &self.client.bytes, 13);
    ck_assert_str_eq(self.client.text, "from a client");
    tcp_close(client);
    run_until(self.loop, &self.client.inactives, 1);
    run_until(self.loop, &self.record.inactives, 1);
    ck_assert_int_eq(self.client.error, 0);
    ck_assert_int_eq(self.record.error, 0);
    tcp_end(&self);
}
END_TEST

START_TEST(both_ends_know_each_others_address) {
    tcp_fixture self = {0};
    tcp_open(&self, NULL);
    leat_channel *client = tcp_client(&self, NULL);
    run_until(self.loop, &self.record.active, 1);
    leat_address peer = {0};
    ck_assert_int_eq(leat_tcp_peer(client, &peer), 0);
    ck_assert_uint_eq(peer.port, leat_tcp_listener_port(self.listener));
    ck_assert_int_eq(leat_tcp_peer(self.record.channel, &peer), 0);
    ck_assert(leat_address_is_loopback(&peer));
    ck_assert_uint_ne(peer.port, 0);
    tcp_end(&self);
}
END_TEST

/* Much. */

static void write_pattern(leat_channel *channel, size_t pieces, size_t size) {
    leat_loop *loop = leat_channel_loop(channel);
    leat_loop_enter(loop);
    for (size_t i = 0; i < pieces; i++)
        leat_channel_write(channel, leat_msg_of_bytebuf(pattern_buffer(leat_loop_alloc(loop), i * size, size)), NULL);
    leat_loop_leave(loop);
}

static void pieces_arrive(size_t pieces, size_t size) {
    tcp_fixture self = {.options.receive_buffer = SMALL};
    tcp_open(&self, NULL);
    leat_channel *client = tcp_client(&self, &(leat_tcp_options){.send_buffer = SMALL});
    run_until(self.loop, &self.client.active, 1);
    write_pattern(client, pieces, size);
    run_until_bytes(self.loop, &self.record.bytes, pieces * size);
    ck_assert(self.record.in_order);
    ck_assert_uint_eq(leat_channel_pending(client), 0);
    ck_assert_uint_eq(leat_channel_bytes_written(client), pieces * size);
    tcp_end(&self);
}

START_TEST(mebibytes_arrive_whole_through_small_socket_buffers) {
    pieces_arrive(1, MEBIBYTES << 20);
    pieces_arrive(100, 41943);
}
END_TEST

START_TEST(more_pieces_than_one_system_call_takes_arrive_in_order) {
    static const size_t counts[] = {1023, 1024, 1025, 5000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        pieces_arrive(counts[i], 300);
}
END_TEST

START_TEST(a_drained_channel_costs_no_more_turns) {
    tcp_fixture self = {.options.receive_buffer = SMALL};
    tcp_open(&self, NULL);
    leat_channel *client = tcp_client(&self, &(leat_tcp_options){.send_buffer = SMALL});
    run_until(self.loop, &self.client.active, 1);
    write_pattern(client, 1, 1 << 20);
    run_until_bytes(self.loop, &self.record.bytes, 1 << 20);
    run_ready(self.loop);
    uint64_t before = leat_loop_statistics(self.loop).channel_turns;
    run_ready(self.loop);
    ck_assert_uint_eq(leat_loop_statistics(self.loop).channel_turns, before);
    tcp_end(&self);
}
END_TEST

START_TEST(two_hundred_connections_are_served_at_once) {
    tcp_fixture self = {.record.echo = true};
    int peers[CROWD];
    tcp_open(&self, NULL);
    for (int i = 0; i < CROWD; i++) {
        peers[i] = peer_connect(4, leat_tcp_listener_port(self.listener));
        peer_write(peers[i], "one of many");
    }
    run_until(self.loop, &self.record.read_dones, CROWD);
    ck_assert_uint_eq(leat_tcp_listener_statistics(self.listener).connections, CROWD);
    for (int i = 0; i < CROWD; i++) {
        ck_assert_str_eq(peer_read(peers[i], 11), "one of many");
        close(peers[i]);
    }
    run_until(self.loop, &self.record.inactives, CROWD);
    ck_assert_uint_eq(leat_tcp_listener_statistics(self.listener).connections, 0);
    ck_assert_uint_eq(leat_tcp_listener_statistics(self.listener).accepted, CROWD);
    tcp_end(&self);
}
END_TEST

/* Ends. */

START_TEST(a_peer_that_ended_its_side_still_receives) {
    tcp_fixture self = {.record.keep_open = true};
    tcp_open(&self, NULL);
    int peer = tcp_peer(&self);
    peer_write(peer, "question");
    shutdown(peer, SHUT_WR);
    run_until(self.loop, &self.record.eofs, 1);
    ck_assert_str_eq(self.record.text, "question");
    write_text(self.record.channel, "answer", NULL);
    ck_assert_str_eq(peer_read(peer, 6), "answer");
    run_ready(self.loop);
    ck_assert_uint_eq(self.record.inactives, 0);
    tcp_close(self.record.channel);
    run_until(self.loop, &self.record.inactives, 1);
    ck_assert_int_eq(peer_drain(peer), 0);
    close(peer);
    tcp_end(&self);
}
END_TEST

START_TEST(a_close_sends_everything_then_waits_for_the_peers_end) {
    tcp_fixture self = {0};
    tcp_open(&self, NULL);
    int peer = tcp_peer(&self);
    leat_loop_enter(self.loop);
    write_pattern(self.record.channel, 4, 1000);
    leat_channel_close(self.record.channel);
    leat_loop_leave(self.loop);
    ck_assert_int_eq(peer_drain(peer), 4000);
    run_ready(self.loop);
    ck_assert_uint_eq(self.record.inactives, 0);
    peer_write(peer, "dropped");
    close(peer);
    run_until(self.loop, &self.record.inactives, 1);
    ck_assert_uint_eq(self.record.bytes, 0);
    ck_assert_int_eq(self.record.error, 0);
    tcp_end(&self);
}
END_TEST

START_TEST(a_peer_that_never_ends_its_side_is_cut_off_by_the_close_timeout) {
    tcp_fixture self = {.options.channel.close_timeout_ms = 20};
    tcp_open(&self, NULL);
    int peer = tcp_peer(&self);
    tcp_close(self.record.channel);
    run_until(self.loop, &self.record.inactives, 1);
    close(peer);
    tcp_end(&self);
}
END_TEST

START_TEST(a_reset_is_an_error_of_its_own) {
    tcp_fixture self = {0};
    tcp_open(&self, NULL);
    int peer = tcp_peer(&self);
    peer_reset(peer);
    run_until(self.loop, &self.record.inactives, 1);
    ck_assert_int_eq(self.record.error, LEAT_ERESET);
    ck_assert_uint_eq(self.record.eofs, 0);
    tcp_end(&self);
}
END_TEST

START_TEST(an_abort_resets_the_peer) {
    tcp_fixture self = {0};
    tcp_open(&self, NULL);
    int peer = tcp_peer(&self);
    tcp_abort(self.record.channel);
    ck_assert_uint_eq(self.record.inactives, 1);
    ck_assert_int_eq(peer_drain(peer), -ECONNRESET);
    close(peer);
    tcp_end(&self);
}
END_TEST

START_TEST(what_a_peer_sent_before_it_died_is_delivered_though_a_write_fails_first) {
    tcp_fixture self = {0};
    tcp_open(&self, NULL);
    int peer = tcp_peer(&self);
    peer_write(peer, "last words");
    close(peer);
    /* The first write draws the reset, the second fails; nothing was read yet. */
    test_outcome first = {0}, second = {0};
    write_text(self.record.channel, "one", expect(&first));
    write_text(self.record.channel, "two", expect(&second));
    run_until(self.loop, &self.record.inactives, 1);
    ck_assert_str_eq(self.record.text, "last words");
    ck_assert_int_eq(self.record.error, LEAT_ERESET);
    ck_assert_int_eq(first.runs + second.runs, 2);
    ck_assert_int_ne(second.status, 0);
    tcp_end(&self);
}
END_TEST

START_TEST(a_dead_peer_of_a_channel_that_does_not_read_is_found_by_writing) {
    tcp_fixture self = {.options.channel.manual_read = true};
    tcp_open(&self, NULL);
    int peer = tcp_peer(&self);
    close(peer);
    write_text(self.record.channel, "heartbeat", NULL);
    write_text(self.record.channel, "heartbeat", NULL);
    run_until(self.loop, &self.record.inactives, 1);
    ck_assert_int_eq(self.record.error, LEAT_ERESET);
    tcp_end(&self);
}
END_TEST

START_TEST(nothing_is_read_while_nobody_asks) {
    tcp_fixture self = {.options.channel.manual_read = true};
    tcp_open(&self, NULL);
    int peer = tcp_peer(&self);
    peer_write(peer, "wait");
    run_ready(self.loop);
    ck_assert_uint_eq(self.record.bytes, 0);
    leat_loop_enter(self.loop);
    leat_channel_request(self.record.channel, 1);
    leat_loop_leave(self.loop);
    run_until_bytes(self.loop, &self.record.bytes, 4);
    close(peer);
    tcp_end(&self);
}
END_TEST

/* A channel that ends inside each of its entries: the sanitizer watches. */

static void end_in(const char *abort_in, const char *close_in) {
    tcp_fixture self = {.record = {.abort_in = abort_in, .close_in = close_in, .echo = true}};
    tcp_open(&self, NULL);
    int peer = peer_connect(4, leat_tcp_listener_port(self.listener));
    peer_write(peer, "hello");
    shutdown(peer, SHUT_WR);
    run_until(self.loop, &self.record.removed, 1);
    ck_assert_uint_eq(self.record.inactives, self.record.active);
    close(peer);
    tcp_end(&self);
}

START_TEST(a_channel_may_end_in_any_of_its_entries) {
    static const char *const entries[] = {"added", "active", "read", "read_done", "eof", "inactive"};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        end_in(entries[i], NULL);
        end_in(NULL, entries[i]);
    }
}
END_TEST

START_TEST(a_loop_may_go_while_its_channels_are_open) {
    tcp_fixture self = {0};
    tcp_open(&self, NULL);
    int peer = tcp_peer(&self);
    tcp_client(&self, NULL);
    tcp_end(&self);
    ck_assert_uint_eq(self.record.inactives, 1);
    ck_assert_int_eq(peer_drain(peer), -ECONNRESET);
    close(peer);
}
END_TEST

int main(void) {
    return suite_run("tcp",
                     (const TTest *const[]){what_comes_over_ipv4_goes_back,
                                            what_comes_over_ipv6_goes_back,
                                            a_name_is_listened_on_and_connected_to,
                                            every_interface_takes_both_versions,
                                            a_channel_of_ours_talks_to_a_channel_of_ours,
                                            both_ends_know_each_others_address,
                                            mebibytes_arrive_whole_through_small_socket_buffers,
                                            more_pieces_than_one_system_call_takes_arrive_in_order,
                                            a_drained_channel_costs_no_more_turns,
                                            two_hundred_connections_are_served_at_once,
                                            a_peer_that_ended_its_side_still_receives,
                                            a_close_sends_everything_then_waits_for_the_peers_end,
                                            a_peer_that_never_ends_its_side_is_cut_off_by_the_close_timeout,
                                            a_reset_is_an_error_of_its_own,
                                            an_abort_resets_the_peer,
                                            what_a_peer_sent_before_it_died_is_delivered_though_a_write_fails_first,
                                            a_dead_peer_of_a_channel_that_does_not_read_is_found_by_writing,
                                            nothing_is_read_while_nobody_asks,
                                            a_channel_may_end_in_any_of_its_entries,
                                            a_loop_may_go_while_its_channels_are_open,
                                            NULL});
}
