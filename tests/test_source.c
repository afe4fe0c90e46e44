#include "tests/support/faults.h"
#include "tests/support/recorder.h"
#include "tests/support/suite.h"
#include "transports/evloop.h"
#include "transports/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/** A pipe with a source at its reading end. */
typedef struct fixture {
    leat_loop *loop;
    leat_pipeline *pipeline;
    leat_channel *channel;
    test_record record;
    int read_end, write_end;
} fixture;

static void open_fixture(fixture *self, bool manual_read) {
    int pipes[2];
    ck_assert_int_eq(pipe(pipes), 0);
    self->read_end = pipes[0];
    self->write_end = pipes[1];
    self->loop = leat_evloop_new(leat_unpooled());
    self->pipeline = recorder_pipeline(&self->record);
    const leat_source_options options = {.pipeline = self->pipeline, .channel.manual_read = manual_read};
    ck_assert_int_eq(leat_source_open(self->loop, self->read_end, &options, &self->channel, NULL), 0);
    ck_assert_uint_eq(self->record.active, 0);
    run_until(self->loop, &self->record.active, 1);
}

static void close_fixture(fixture *self) {
    leat_loop_release(self->loop);
    leat_pipeline_release(self->pipeline);
    close(self->read_end);
    close(self->write_end);
}

static void feed(const fixture *self, const char *text) {
    ck_assert_int_eq(write(self->write_end, text, strlen(text)), (ssize_t)strlen(text));
}

START_TEST(what_comes_through_a_pipe_is_read) {
    fixture self = {0};
    open_fixture(&self, false);
    feed(&self, "one");
    run_until_bytes(self.loop, &self.record.bytes, 3);
    ck_assert_str_eq(self.record.text, "one");
    ck_assert_uint_eq(self.record.read_dones, 1);
    close_fixture(&self);
}
END_TEST

START_TEST(the_end_of_the_input_closes_the_channel) {
    fixture self = {0};
    open_fixture(&self, false);
    feed(&self, "last");
    close(self.write_end);
    run_until(self.loop, &self.record.inactives, 1);
    ck_assert_str_eq(self.record.text, "last");
    ck_assert_uint_eq(self.record.eofs, 1);
    ck_assert_int_eq(self.record.error, 0);
    close_fixture(&self);
}
END_TEST

START_TEST(nothing_is_read_while_nobody_asks) {
    fixture self = {0};
    open_fixture(&self, true);
    feed(&self, "wait");
    run_ready(self.loop);
    ck_assert_uint_eq(self.record.bytes, 0);
    leat_loop_enter(self.loop);
    leat_channel_request(self.channel, 1);
    leat_loop_leave(self.loop);
    run_until_bytes(self.loop, &self.record.bytes, 4);
    feed(&self, "more");
    run_ready(self.loop);
    ck_assert_uint_eq(self.record.bytes, 4);
    close_fixture(&self);
}
END_TEST

START_TEST(a_closed_source_ends_at_once_and_leaves_the_descriptor_open) {
    fixture self = {0};
    open_fixture(&self, false);
    leat_loop_enter(self.loop);
    leat_channel_close(self.channel);
    leat_loop_leave(self.loop);
    uint64_t before = leat_loop_now(self.loop);
    run_until(self.loop, &self.record.inactives, 1);
    ck_assert_uint_lt(leat_loop_now(self.loop) - before, 4000000000u);
    ck_assert_int_ge(fcntl(self.read_end, F_GETFD), 0);
    close_fixture(&self);
}
END_TEST

START_TEST(a_regular_file_is_read_to_its_end) {
    fixture self = {0};
    open_fixture(&self, false);
    test_record record = {0};
    leat_pipeline *pipeline = recorder_pipeline(&record);
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    const leat_source_options options = {.pipeline = pipeline, .close_descriptor = true};
    ck_assert_int_eq(leat_source_open(self.loop, file, &options, NULL, NULL), 0);
    run_until(self.loop, &record.inactives, 1);
    ck_assert_int_eq(strncmp(record.text, "Name:", 5), 0);
    ck_assert_int_eq(fcntl(file, F_GETFD), -1);
    leat_pipeline_release(pipeline);
    close_fixture(&self);
}
END_TEST

/** Reads "text" from a pipe through faulty calls and returns the error that ended the channel before it was read. */
static int read_with(int code, int times, size_t most_bytes) {
    fixture self = {0};
    open_fixture(&self, false);
    faults calls;
    faults_init(&calls);
    faults_plan(&calls, CALL_READ, code, times);
    calls.most_bytes = most_bytes;
    test_record record = {0};
    leat_pipeline *pipeline = recorder_pipeline(&record);
    int pipes[2];
    ck_assert_int_eq(pipe(pipes), 0);
    const leat_source_options options = {.pipeline = pipeline, .close_descriptor = true, .syscalls = &calls.table};
    ck_assert_int_eq(leat_source_open(self.loop, pipes[0], &options, NULL, NULL), 0);
    ck_assert_int_eq(write(pipes[1], "text", 4), 4);
    close(pipes[1]);
    run_until(self.loop, &record.inactives, 1);
    ck_assert_str_eq(record.text, record.error ? "" : "text");
    close_fixture(&self);
    leat_pipeline_release(pipeline);
    return record.error;
}

START_TEST(reads_may_be_short_interrupted_or_fail) {
    ck_assert_int_eq(read_with(0, 0, 1), 0);
    ck_assert_int_eq(read_with(-EINTR, 3, 0), 0);
    ck_assert_int_eq(read_with(-EAGAIN, 3, 0), 0);
    ck_assert_int_eq(read_with(-EIO, 1, 0), -EIO);
}
END_TEST

START_TEST(a_write_to_a_source_fails) {
    fixture self = {0};
    open_fixture(&self, false);
    test_outcome outcome = {0};
    write_text(self.channel, "back", expect(&outcome));
    ck_assert_int_eq(outcome.runs, 1);
    ck_assert_int_eq(outcome.status, LEAT_EINVAL);
    close_fixture(&self);
}
END_TEST

START_TEST(a_source_without_descriptor_or_pipeline_is_refused) {
    leat_loop *loop = leat_evloop_new(leat_unpooled());
    leat_problem problem = {0};
    ck_assert_int_eq(leat_source_open(loop, 0, &(leat_source_options){0}, NULL, &problem), LEAT_EINVAL);
    ck_assert_str_ne(problem.text, "");
    ck_assert_int_eq(leat_source_open(loop, -1, NULL, NULL, NULL), LEAT_EINVAL);
    leat_loop_release(loop);
}
END_TEST

int main(void) {
    return suite_run("source",
                     (const TTest *const[]){
                         what_comes_through_a_pipe_is_read, the_end_of_the_input_closes_the_channel,
                         nothing_is_read_while_nobody_asks, a_closed_source_ends_at_once_and_leaves_the_descriptor_open,
                         a_regular_file_is_read_to_its_end, reads_may_be_short_interrupted_or_fail,
                         a_write_to_a_source_fails, a_source_without_descriptor_or_pipeline_is_refused, NULL});
}
