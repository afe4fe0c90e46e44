/* Netty, in a Java process that does the work when told and says what CPU time it took (NettyPeer.java). A process
   stays as long as its row is measured, so that its code is compiled once and then measured warm. */
#define _GNU_SOURCE

#include "bench/alloc.h"
#include "bench/batch.h"
#include "bench/clock.h"
#include "bench/peers/peers.h"
#include "bench/text.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MOST_WORK = 96, MOST_ANSWER = 32, WARM_UP_NANOS = 2000000000, ASKED_NANOS = 5000000 };

/* A Java process at some work. There are two, since a row has up to two arms of Netty. */
typedef struct java {
    pid_t process; /* 0 = none */
    FILE *commands;
    FILE *answers;
    char work[MOST_WORK];
    uint64_t at_once; /* operations that it does for each that is asked for, so that asking hardly counts */
} java;

static java javas[2];

static void fail(const char *what) {
    fprintf(stderr, "leat-bench: Netty's process: %s\n", what);
    exit(1);
}

/* ---- the process ---- */

static void end(java *self) {
    if (self->process == 0)
        return;
    fclose(self->commands);
    fclose(self->answers);
    waitpid(self->process, NULL, 0);
    self->process = 0;
}

static void end_all(void) {
    end(&javas[0]);
    end(&javas[1]);
}

/* The words of a work become the arguments of the program. */
static void spawn(java *self, int descriptor) {
    const char *arguments[16] = {
        LEAT_PEER_JAVA, "-Xmx1g",        "-XX:+UseSerialGC", "-Dio.netty.leakDetectionLevel=disabled",
        "-cp",          LEAT_PEER_NETTY, "NettyPeer"};
    char words[MOST_WORK], *rest = NULL;
    memcpy(words, self->work, sizeof words);
    size_t count = 7;
    for (char *word = strtok_r(words, " ", &rest); word && count < 15; word = strtok_r(NULL, " ", &rest))
        arguments[count++] = word;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, descriptor, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, descriptor, STDOUT_FILENO);
    if (posix_spawn(&self->process, LEAT_PEER_JAVA, &actions, NULL, (char *const *)(uintptr_t)arguments, environ) != 0)
        fail("cannot be started");
    posix_spawn_file_actions_destroy(&actions);
}

static void start(java *self, const char *work) {
    int ends[2];
    snprintf(self->work, sizeof self->work, "%s", work);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        fail("no connection to it");
    spawn(self, ends[1]);
    close(ends[1]);
    self->commands = fdopen(ends[0], "w");
    self->answers = fdopen(fcntl(ends[0], F_DUPFD_CLOEXEC, 0), "r");
    if (!self->commands || !self->answers)
        fail("no memory");
}

static double answer(java *self) {
    char line[MOST_ANSWER];
    if (!fgets(line, sizeof line, self->answers))
        fail("does not answer");
    return strtod(line, NULL);
}

static double run_times(java *self, uint64_t times) {
    fprintf(self->commands, "run %llu\n", (unsigned long long)times);
    fflush(self->commands);
    return answer(self);
}

/* Until the compiler has done what it does. */
static void warm_up(java *self) {
    double until = bench_wall_nanos() + WARM_UP_NANOS, nanos = 0;
    uint64_t times = 64;
    while (bench_wall_nanos() < until) {
        if (nanos > 0 && nanos < WARM_UP_NANOS / 64)
            times *= 2;
        nanos = run_times(self, times);
    }
    self->at_once = 1 + (uint64_t)(ASKED_NANOS * (double)times / (nanos + 1));
}

/* The process of an arm, at that work. */
static java *at_work(size_t which, const char *work) {
    java *self = &javas[which];
    if (self->process != 0 && strcmp(self->work, work) == 0)
        return self;
    if (javas[0].process == 0 && javas[1].process == 0)
        atexit(end_all);
    end(self);
    start(self, work);
    warm_up(self);
    return self;
}

/* ---- arms ---- */

static double measure(void *argument, uint64_t times) {
    java *self = argument;
    return run_times(self, times * self->at_once) / (double)self->at_once;
}

static void run(void *self, uint64_t times) {
    measure(self, times);
}

static void output(void *argument, bench_output *out) {
    java *self = argument;
    fputs("output\n", self->commands);
    fflush(self->commands);
    size_t length = (size_t)answer(self);
    char *bytes = malloc(length + 1);
    bench_need(bytes);
    if (fread(bytes, 1, length, self->answers) != length)
        fail("ended in the middle of an answer");
    bench_output_add(out, bytes, length);
    free(bytes);
}

static void tear_down(void *self) {
    (void)self; /* it waits for the next round */
}

static void *alloc_set_up(const void *work, leat_alloc *below) {
    (void)below;
    const alloc_work *asked = work;
    char words[MOST_WORK];
    snprintf(words, sizeof words, "alloc %zu %s", asked->size, asked->pooled ? "pooled" : "unpooled");
    return at_work(0, words);
}

static java *text_at_work(const text_work *work, int times) {
    char words[MOST_WORK];
    snprintf(words, sizeof words, "text %zu %d %s %s", work->length, times, work->foreign ? "foreign" : "ascii",
             work->unpooled ? "unpooled" : "pooled");
    return at_work(0, words);
}

static void *text_set_up(const void *work, leat_alloc *below) {
    (void)below;
    return text_at_work(work, 1);
}

static void *append_set_up(const void *work, leat_alloc *below) {
    (void)below;
    return text_at_work(work, TEXT_APPENDS);
}

/* As the row has it: 1024 numbers in 64 components. */
static void *composite_set_up(const void *work, leat_alloc *below) {
    (void)work;
    (void)below;
    return at_work(0, "composite 64");
}

static java *batch_at_work(size_t which, const batch_work *work, const char *how) {
    char words[MOST_WORK];
    snprintf(words, sizeof words, "batch %zu %zu %s %s", work->events, work->size,
             work->delimited ? "delimited" : "bare", how);
    return at_work(which, words);
}

static void *copy_set_up(const void *work, leat_alloc *below) {
    (void)below;
    return batch_at_work(0, work, "copy");
}

static void *wrap_set_up(const void *work, leat_alloc *below) {
    (void)below;
    return batch_at_work(1, work, "wrap");
}

static const bench_arm alloc_arm = {"netty", alloc_set_up, run, output, tear_down, measure};
static const bench_arm text_arm = {"netty", text_set_up, run, output, tear_down, measure};
static const bench_arm append_arm = {"netty", append_set_up, run, output, tear_down, measure};
static const bench_arm composite_arm = {"netty", composite_set_up, run, output, tear_down, measure};
static const bench_arm copy_arm = {"netty-copy", copy_set_up, run, output, tear_down, measure};
static const bench_arm wrap_arm = {"netty-wrap", wrap_set_up, run, output, tear_down, measure};

void netty_join(bench_row *row) {
    if (peers_is(row, "alloc", "pooled-") || peers_is(row, "alloc", "unpooled-"))
        peers_add(row, &alloc_arm);
    else if (peers_is(row, "text", "append3-"))
        peers_add(row, &append_arm);
    else if (peers_is(row, "text", ""))
        peers_add(row, &text_arm);
    else if (peers_is(row, "buffer", "u32-composite-64"))
        peers_add(row, &composite_arm);
    else if (peers_is(row, "gather", "walk-")) {
        peers_add(row, &copy_arm);
        peers_add(row, &wrap_arm);
    }
}
