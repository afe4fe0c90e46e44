/* Writing to a channel from other threads, whatever becomes of the channel and its loop. */
#include "core/channel_ref.h"
#include "tests/support/suite.h"
#include "tests/support/tcp_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

enum { WRITERS = 2, WRITES = 5000 };

/* A write and how it ended; `ran` is atomic, since it may end on any thread. */
typedef struct letter {
    leat_done done;
    int ran, status;
} letter;

typedef struct writer {
    pthread_t thread;
    leat_ref *ref;
    uint32_t name;
    size_t written; /* atomic */
    bool waits;     /* atomic: in the middle, until the test goes on */
    letter letters[WRITES];
} writer;

static void note(leat_done *done, int status) {
    letter *self = (letter *)(void *)done;
    self->status = status;
    __atomic_fetch_add(&self->ran, 1, __ATOMIC_RELEASE);
}

/* Each message is the writer's name and a number. */
static void *write_all(void *argument) {
    writer *self = argument;
    for (uint32_t i = 0; i < WRITES; i++) {
        while (i == WRITES / 2 && __atomic_load_n(&self->waits, __ATOMIC_ACQUIRE))
            sched_yield();
        leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 8);
        leat_bytebuf_write_u32_le(buf, self->name);
        leat_bytebuf_write_u32_le(buf, i);
        self->letters[i].done.fn = note;
        leat_ref_write(self->ref, leat_msg_of_bytebuf(buf), &self->letters[i].done);
        __atomic_store_n(&self->written, i + 1, __ATOMIC_RELEASE);
    }
    leat_ref_release(self->ref);
    return NULL;
}

static writer *start_writers(leat_channel *channel, bool wait) {
    writer *writers = calloc(WRITERS, sizeof *writers);
    for (uint32_t i = 0; i < WRITERS; i++) {
        writers[i].ref = leat_ref_new(channel);
        writers[i].name = i;
        writers[i].waits = wait;
        pthread_create(&writers[i].thread, NULL, write_all, &writers[i]);
    }
    return writers;
}

/* Waits for the writers; returns how many writes ended with 0, and checks that each ended once. */
static size_t end_writers(writer *writers) {
    size_t good = 0, once = 0;
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i].thread, NULL);
    for (size_t i = 0; i < (size_t)WRITERS * WRITES; i++) {
        const letter *one = &writers[i % WRITERS].letters[i / WRITERS];
        once += __atomic_load_n(&one->ran, __ATOMIC_ACQUIRE) == 1;
        good += one->status == 0;
    }
    ck_assert_uint_eq(once, WRITERS * WRITES);
    free(writers);
    return good;
}

/* Reads all messages of all writers; each writer's come in order. */
static void *read_all(void *argument) {
    uint32_t message[2], next[WRITERS] = {0};
    int peer = *(const int *)argument;
    for (int i = 0; i < WRITERS * WRITES; i++) {
        bool whole = recv(peer, message, sizeof message, MSG_WAITALL) == sizeof message;
        ck_assert(whole && message[0] < WRITERS && message[1] == next[message[0]]++);
    }
    return NULL;
}

START_TEST(writes_of_two_threads_leave_in_each_threads_order) {
    tcp_fixture self = {0};
    pthread_t reader;
    tcp_open(&self, NULL);
    int peer = tcp_peer(&self);
    pthread_create(&reader, NULL, read_all, &peer);
    leat_channel *channel = self.record.channel;
    writer *writers = start_writers(channel, false);
    while (leat_channel_bytes_written(channel) < (uint64_t)8 * WRITERS * WRITES)
        run_once(self.loop);
    pthread_join(reader, NULL);
    ck_assert_uint_eq(end_writers(writers), WRITERS * WRITES);
    close(peer);
    tcp_end(&self);
}
END_TEST

static size_t written(const writer *writers) {
    size_t sum = 0;
    for (int i = 0; i < WRITERS; i++)
        sum += __atomic_load_n(&writers[i].written, __ATOMIC_ACQUIRE);
    return sum;
}

static void go_on(writer *writers) {
    for (int i = 0; i < WRITERS; i++)
        __atomic_store_n(&writers[i].waits, false, __ATOMIC_RELEASE);
}

START_TEST(writes_to_a_channel_that_dies_meanwhile_end_once_each) {
    tcp_fixture self = {0};
    tcp_open(&self, NULL);
    int peer = tcp_peer(&self);
    writer *writers = start_writers(self.record.channel, true);
    while (written(writers) < WRITERS * (WRITES / 2))
        run_ready(self.loop);
    tcp_abort(self.record.channel);
    go_on(writers);
    while (written(writers) < WRITERS * WRITES)
        run_ready(self.loop);
    run_ready(self.loop);
    ck_assert_uint_le(end_writers(writers), WRITERS * (WRITES / 2));
    close(peer);
    tcp_end(&self);
}
END_TEST

START_TEST(writes_to_a_loop_that_goes_meanwhile_end_once_each) {
    for (size_t after = 0; after < WRITES; after += WRITES / 5) {
        tcp_fixture self = {0};
        tcp_open(&self, NULL);
        int peer = tcp_peer(&self);
        writer *writers = start_writers(self.record.channel, false);
        while (written(writers) < after)
            run_ready(self.loop);
        tcp_end(&self);
        end_writers(writers);
        close(peer);
    }
}
END_TEST

static void *close_it(void *ref) {
    ck_assert_int_eq(leat_ref_close(ref), 0);
    return NULL;
}

START_TEST(another_thread_may_close_a_channel_and_hears_when_the_loop_is_gone) {
    tcp_fixture self = {0};
    pthread_t closer;
    tcp_open(&self, NULL);
    int peer = tcp_peer(&self);
    leat_ref *ref = leat_ref_new(self.record.channel);
    pthread_create(&closer, NULL, close_it, ref);
    pthread_join(closer, NULL);
    run_once(self.loop);
    ck_assert_int_eq(peer_drain(peer), 0);
    close(peer);
    run_until(self.loop, &self.record.inactives, 1);
    ck_assert_ptr_null(leat_ref_channel(ref));
    ck_assert_int_eq(leat_ref_close(ref), 0);
    tcp_end(&self);
    ck_assert_int_eq(leat_ref_close(ref), LEAT_ECLOSED);
    leat_ref_release(ref);
}
END_TEST

int main(void) {
    return suite_run("channel_ref",
                     (const TTest *const[]){writes_of_two_threads_leave_in_each_threads_order,
                                            writes_to_a_channel_that_dies_meanwhile_end_once_each,
                                            writes_to_a_loop_that_goes_meanwhile_end_once_each,
                                            another_thread_may_close_a_channel_and_hears_when_the_loop_is_gone, NULL});
}
