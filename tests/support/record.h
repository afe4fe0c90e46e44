/** Embedded channels of recorders, and how tests compare what happened in them. */
#ifndef LEAT_TESTS_SUPPORT_RECORD_H
#define LEAT_TESTS_SUPPORT_RECORD_H

#include "core/recorder.h"
#include "tests/support/finish.h"

#include <string.h>

/** A recorder and a channel that has it at three places, a, b and c. */
typedef struct recorded {
    leat_recorder *recorder;
    leat_embedded *e;
    leat_channel *channel;
} recorded;

/** Makes a channel of stages a, b and c; `flush` and `read_done` are left out. What was written so far is taken. */
static inline recorded record_abc(const leat_embedded_options *options) {
    recorded r = {.recorder = leat_recorder_new(leat_unpooled())};
    ck_assert_ptr_nonnull(r.recorder);
    const leat_stage stages[] = {leat_recorder_stage(r.recorder, "a"),
                                 leat_recorder_stage(r.recorder, "b"),
                                 leat_recorder_stage(r.recorder, "c"),
                                 {0}};
    leat_recorder_leave_out(r.recorder, "flush read_done");
    r.e = leat_embedded_new_with(stages, options, NULL);
    ck_assert_ptr_nonnull(r.e);
    r.channel = leat_embedded_channel(r.e);
    leat_recorder_take(r.recorder);
    return r;
}

/** Ends the channel, which may leave nothing over, and frees both. */
static inline void end_recorded(recorded *r) {
    finish(r->e);
    leat_recorder_free(r->recorder);
}

/** Ends the channel, whatever is left over but leaks and misuses, and frees both. */
static inline void end_recorded_anyhow(recorded *r) {
    leat_embedded_finish(r->e);
    const char *report = leat_embedded_report(r->e);
    ck_assert_msg(!strstr(report, "leak") && !strstr(report, "misuse"), "%s", report);
    leat_embedded_free(r->e);
    leat_recorder_free(r->recorder);
}

static inline void assert_recorded(const recorded *r, const char *lines) {
    ck_assert_str_eq(leat_recorder_take(r->recorder), lines);
}

static inline void when(const recorded *r, const char *line, leat_recorder_action action, void *argument) {
    ck_assert_int_eq(leat_recorder_when(r->recorder, line, action, argument), LEAT_OK);
}

static inline leat_ctx *named(leat_channel *channel, const char *name) {
    leat_ctx *ctx = leat_channel_find(channel, name);
    ck_assert_ptr_nonnull(ctx);
    return ctx;
}

#endif
