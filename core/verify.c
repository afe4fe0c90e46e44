#include "core/verify.h"

#include "core/embedded_internal.h"

#include <stdio.h>
#include <string.h>

/* ---- every split ---- */

/** One way to cut the input: at two points, or (cut_bytes) after each byte, or as a slice amid other bytes. */
typedef struct feeding {
    const leat_stage *stages;
    const uint8_t *input;
    size_t length;
    size_t first_cut, second_cut;
    bool cut_bytes, surrounded;
    const leat_span *expected;
    size_t expected_count;
    leat_problem *problem;
} feeding;

static const char *name_feeding(const feeding *way, char *text, size_t size) {
    if (way->cut_bytes)
        snprintf(text, size, "fed byte by byte");
    else if (way->surrounded)
        snprintf(text, size, "fed as a slice with other bytes around it");
    else if (way->first_cut == way->length)
        snprintf(text, size, "fed at once");
    else if (way->second_cut == way->length)
        snprintf(text, size, "split at %zu", way->first_cut);
    else
        snprintf(text, size, "split at %zu and %zu", way->first_cut, way->second_cut);
    return text;
}

static void feed_surrounded(leat_embedded *embedded, const feeding *way) {
    leat_alloc *alloc = leat_embedded_alloc(embedded);
    leat_bytebuf *all = leat_bytebuf_new(alloc, way->length + 16);
    bool made = all && leat_bytebuf_write_bytes(all, "\n\r,{\0\xff:=", 8) &&
                leat_bytebuf_write_bytes(all, way->input, way->length) &&
                leat_bytebuf_write_bytes(all, "\n\n\0\0\xff\xff!!", 8);
    leat_bytebuf *slice = made ? leat_bytebuf_slice(all, 8, way->length) : NULL;
    leat_bytebuf_release(all);
    if (slice)
        leat_embedded_feed_bytebuf(embedded, slice);
}

static void feed(leat_embedded *embedded, const feeding *way) {
    if (way->surrounded) {
        feed_surrounded(embedded, way);
        return;
    }
    if (way->cut_bytes) {
        for (size_t i = 0; i < way->length; i++)
            leat_embedded_feed(embedded, way->input + i, 1);
        return;
    }
    leat_embedded_feed(embedded, way->input, way->first_cut);
    if (way->first_cut == way->length)
        return;
    leat_embedded_feed(embedded, way->input + way->first_cut, way->second_cut - way->first_cut);
    if (way->second_cut == way->length)
        return;
    leat_embedded_feed(embedded, way->input + way->second_cut, way->length - way->second_cut);
}

static bool same_bytes(leat_embedded *embedded, leat_msg msg, leat_span expected) {
    leat_bytebuf *buf = leat_msg_bytebuf(msg);
    leat_bytebuf *flat = buf ? leat_bytebuf_copy(buf, embedded->alloc) : NULL;
    bool same = flat && leat_bytebuf_readable(flat) == expected.length &&
                (expected.length == 0 || memcmp(leat_bytebuf_data(flat), expected.bytes, expected.length) == 0);
    leat_bytebuf_release(flat);
    return same;
}

static int compare(leat_embedded *embedded, const feeding *way) {
    char how[80];
    name_feeding(way, how, sizeof how);
    for (size_t i = 0; i < way->expected_count; i++) {
        leat_msg msg;
        if (!leat_embedded_take_read(embedded, &msg))
            return leat_problem_set(way->problem, LEAT_ECORRUPT, "%s: frame %zu of %zu did not come", how, i + 1,
                                    way->expected_count);
        bool same = same_bytes(embedded, msg, way->expected[i]);
        unsigned long long size = leat_msg_size(msg);
        leat_msg_release(msg);
        if (!same)
            return leat_problem_set(way->problem, LEAT_ECORRUPT, "%s: frame %zu differs (%llu bytes for %zu)", how,
                                    i + 1, size, way->expected[i].length);
    }
    if (leat_embedded_finish(embedded) == 0)
        return LEAT_OK;
    const char *line = leat_embedded_report(embedded);
    return leat_problem_set(way->problem, LEAT_ECORRUPT, "%s: %.*s", how, (int)strcspn(line, "\n"), line);
}

static int try_feeding(const feeding *way) {
    leat_embedded *embedded = leat_embedded_new_with(way->stages, NULL, way->problem);
    if (!embedded)
        return LEAT_EINVAL;
    feed(embedded, way);
    int code = compare(embedded, way);
    leat_embedded_free(embedded);
    return code;
}

static int try_cuts(feeding way) {
    int code = LEAT_OK;
    for (size_t i = 0; i <= way.length && code == LEAT_OK; i++) {
        way.first_cut = i;
        way.second_cut = way.length;
        code = try_feeding(&way);
        way.second_cut = i + 1;
        if (code == LEAT_OK && i + 1 < way.length)
            code = try_feeding(&way);
    }
    return code;
}

int leat_verify_decoder(const leat_stage *stages, const void *input, size_t length, const leat_span *expected,
                        size_t expected_count, leat_problem *problem) {
    leat_problem own;
    feeding way = {.stages = stages, .input = input, .length = length, .first_cut = length, .second_cut = length};
    way.expected = expected;
    way.expected_count = expected_count;
    way.problem = problem ? problem : &own;
    int code = try_cuts(way);
    way.cut_bytes = true;
    if (code == LEAT_OK)
        code = try_feeding(&way);
    way.cut_bytes = false;
    way.surrounded = true;
    if (code == LEAT_OK)
        code = try_feeding(&way);
    if (code != LEAT_OK)
        return code;
    size_t ways = length + 1 + (length > 0 ? length - 1 : 0) + 2;
    return leat_problem_set(problem, LEAT_OK, "tried %zu ways to split %zu bytes", ways, length);
}

int leat_verify_decoder_text(const leat_stage *stages, const char *input, const char *const *expected,
                             leat_problem *problem) {
    enum { MOST_FRAMES = 256 };
    leat_span spans[MOST_FRAMES];
    size_t count = 0;
    for (; expected[count]; count++) {
        if (count == MOST_FRAMES)
            return leat_problem_set(problem, LEAT_ELIMIT, "more than %d frames", MOST_FRAMES);
        spans[count] = (leat_span){(const uint8_t *)expected[count], strlen(expected[count])};
    }
    return leat_verify_decoder(stages, input, strlen(input), spans, count, problem);
}

/* ---- every failed allocation ---- */

typedef struct trial {
    leat_verify_scenario scenario;
    void *context;
    leat_problem *problem;
    uint64_t fail_at;
    bool from_then_on;
    uint64_t asked;
} trial;

static int judge(trial *one, leat_tracking_alloc *tracker, int result) {
    const char *how = one->from_then_on ? " and all later ones" : "";
    unsigned long long at = one->fail_at;
    if (result != LEAT_OK)
        return leat_problem_set(one->problem, result, "with allocation %llu%s failing, the scenario says %s", at, how,
                                leat_error_name(result));
    if (leat_tracking_alloc_live(tracker) + leat_tracking_alloc_misuses(tracker) == 0)
        return LEAT_OK;
    char text[200];
    leat_tracking_alloc_report(tracker, text, sizeof text);
    text[strcspn(text, "\n")] = 0;
    return leat_problem_set(one->problem, LEAT_ECORRUPT, "with allocation %llu%s failing: %s", at, how, text);
}

/* The ledger lies above the allocator that fails and takes its own records from elsewhere, so that it never fails. */
static int try_failing(trial *one) {
    leat_failing_alloc failing;
    leat_failing_alloc_init(&failing, leat_unpooled());
    leat_tracking_alloc *tracker = leat_tracking_alloc_new(&failing.alloc);
    if (!tracker)
        return leat_problem_set(one->problem, LEAT_ENOMEM, "no memory for the ledger");
    uint64_t before = failing.asked;
    failing.fail_at = one->fail_at ? before + one->fail_at : 0;
    failing.from_then_on = one->from_then_on;
    int result = one->scenario(leat_tracking_alloc_base(tracker), one->context);
    one->asked = failing.asked - before;
    failing.fail_at = 0;
    int code = judge(one, tracker, result);
    leat_tracking_alloc_free(tracker);
    return code;
}

static int try_all(trial one, uint64_t count) {
    int code = LEAT_OK;
    for (one.fail_at = 1; one.fail_at <= count && code == LEAT_OK; one.fail_at++)
        code = try_failing(&one);
    return code;
}

int leat_verify_oom(leat_verify_scenario scenario, void *context, leat_problem *problem) {
    trial one = {.scenario = scenario, .context = context, .problem = problem};
    int code = try_failing(&one);
    if (code != LEAT_OK)
        return code;
    uint64_t count = one.asked;
    code = try_all(one, count);
    one.from_then_on = true;
    if (code == LEAT_OK)
        code = try_all(one, count);
    if (code != LEAT_OK)
        return code;
    return leat_problem_set(problem, LEAT_OK, "failed each of %llu allocations, alone and with all later ones",
                            (unsigned long long)count);
}

typedef struct fed {
    const leat_stage *stages;
    const void *input;
    size_t length;
} fed;

static int feed_and_end(leat_alloc *alloc, void *context) {
    const fed *what = context;
    leat_embedded_options options = {.alloc = alloc, .without_ledger = true};
    leat_problem problem = {0};
    leat_embedded *embedded = leat_embedded_new_with(what->stages, &options, &problem);
    if (!embedded)
        return problem.code == LEAT_ENOMEM ? LEAT_OK : problem.code;
    leat_embedded_feed(embedded, what->input, what->length / 2);
    leat_embedded_feed(embedded, (const uint8_t *)what->input + what->length / 2, what->length - what->length / 2);
    leat_embedded_feed_eof(embedded);
    leat_embedded_free(embedded);
    return LEAT_OK;
}

int leat_verify_oom_fed(const leat_stage *stages, const void *input, size_t length, leat_problem *problem) {
    fed what = {.stages = stages, .input = input, .length = length};
    return leat_verify_oom(feed_and_end, &what, problem);
}
