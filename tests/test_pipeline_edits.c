/* Pipelines that change while they run: who sees what, in which order, whoever comes or goes at whatever place. */
#include "core/transport.h"
#include "tests/support/record.h"

#include <stdio.h>

static const char *const names[] = {"a", "b", "c"};
enum { PLACES = 3, MOST_TEXT = 600 };

/* Calls that travel: how a test brings one about, and which way it goes. */
typedef struct traveller {
    const char *call;
    bool inbound;
    void (*provoke)(const recorded *r);
    const char *without; /* what comes along with it */
} traveller;

static const leat_type ping = {.name = "Ping"};

static void provoke_read(const recorded *r) {
    leat_embedded_feed_text(r->e, "x");
}

static void provoke_event(const recorded *r) {
    static int object;
    leat_loop_enter(leat_embedded_loop(r->e));
    leat_channel_fire_event(r->channel, leat_msg_of(&ping, &object));
    leat_loop_leave(leat_embedded_loop(r->e));
}

static void provoke_write(const recorded *r) {
    leat_embedded_write_text(r->e, "x");
}

static void provoke_flush(const recorded *r) {
    leat_loop_enter(leat_embedded_loop(r->e));
    leat_channel_flush(r->channel);
    leat_loop_leave(leat_embedded_loop(r->e));
}

static void provoke_read_done(const recorded *r) {
    leat_loop_enter(leat_embedded_loop(r->e));
    leat_channel_received_all(r->channel);
    leat_loop_leave(leat_embedded_loop(r->e));
}

static const traveller travellers[] = {{"read 'x'", true, provoke_read, "read_done"},
                                       {"event Ping", true, provoke_event, ""},
                                       {"read_done", true, provoke_read_done, ""},
                                       {"write 'x'", false, provoke_write, "flush"},
                                       {"flush", false, provoke_flush, ""}};
enum { TRAVELLERS = sizeof travellers / sizeof *travellers };

/* What somebody does amid a call, to whom: `placed` says how the pipeline reads afterwards. */
typedef struct edit {
    const recorded *r;
    const char *victim; /* NULL = the transport's end */
    bool adds, removes;
} edit;

static void do_edit(leat_ctx *ctx, void *argument) {
    const edit *what = argument;
    leat_channel *channel = leat_ctx_channel(ctx);
    leat_ctx *victim = what->victim ? leat_channel_find(channel, what->victim) : NULL;
    leat_stage stage = leat_recorder_stage(what->r->recorder, "n");
    int code = LEAT_OK;
    if (what->adds && what->removes)
        code = leat_channel_replace(channel, victim, &stage, NULL);
    else if (what->adds)
        code = leat_channel_add_after(channel, victim, &stage, NULL);
    else
        leat_ctx_remove(victim);
    ck_assert_int_eq(code, LEAT_OK);
}

static void say(char *text, const char *who, const char *what) {
    size_t used = strlen(text);
    snprintf(text + used, MOST_TEXT - used, "%s %s\n", who, what);
}

/* The row after the edit, from the transport on; returns its length. */
static int row_after(const edit *what, const char *row[PLACES + 1]) {
    int count = 0;
    if (what->adds && !what->victim)
        row[count++] = "n";
    for (int i = 0; i < PLACES; i++) {
        bool hit = what->victim && strcmp(names[i], what->victim) == 0;
        if (!(hit && what->removes))
            row[count++] = names[i];
        if (hit && what->adds)
            row[count++] = "n";
    }
    return count;
}

/* Who is to be met behind the gap or place of `actor`: everybody of the new row whom the call has not come to. */
static void say_rest(char *text, const edit *what, int actor, const traveller *call) {
    const char *row[PLACES + 1];
    int count = row_after(what, row);
    int place[PLACES + 1];
    for (int i = 0; i < count; i++) {
        place[i] = -1; /* the new one stands just behind its victim */
        for (int k = 0; k < PLACES; k++)
            if (strcmp(row[i], names[k]) == 0)
                place[i] = 2 * k;
            else if (what->victim && strcmp(row[i], "n") == 0 && strcmp(what->victim, names[k]) == 0)
                place[i] = 2 * k + 1;
    }
    for (int i = 0; call->inbound && i < count; i++)
        if (place[i] > 2 * actor)
            say(text, row[i], call->call);
    for (int i = count - 1; !call->inbound && i >= 0; i--)
        if (place[i] < 2 * actor)
            say(text, row[i], call->call);
}

static void expect_interrupted(char *text, const edit *what, int actor, const traveller *call) {
    for (int i = call->inbound ? 0 : PLACES - 1; i != actor; i += call->inbound ? 1 : -1)
        say(text, names[i], call->call);
    say(text, names[actor], call->call);
    if (what->adds)
        say(text, "n", "added");
    if (what->removes)
        say(text, what->victim, "removed");
    say_rest(text, what, actor, call);
}

static void expect_next(char *text, const edit *what, const traveller *call) {
    const char *row[PLACES + 1];
    int count = row_after(what, row);
    for (int i = 0; i < count; i++)
        say(text, row[call->inbound ? i : count - 1 - i], call->call);
}

/* `actor` edits the pipeline amid a call; that call and the next one go where the rules say. */
static void edit_amid(edit what, int actor, const traveller *call) {
    recorded r = record_abc(NULL);
    leat_recorder_leave_out(r.recorder, call->without);
    char trigger[40], expected[MOST_TEXT] = "";
    snprintf(trigger, sizeof trigger, "%s %s", names[actor], call->call);
    what.r = &r;
    when(&r, trigger, do_edit, &what);
    call->provoke(&r);
    expect_interrupted(expected, &what, actor, call);
    assert_recorded(&r, expected);
    expected[0] = '\0';
    call->provoke(&r);
    expect_next(expected, &what, call);
    assert_recorded(&r, expected);
    end_recorded_anyhow(&r);
}

static void edit_amid_every_call(edit what) {
    for (int actor = 0; actor < PLACES; actor++)
        for (int i = 0; i < TRAVELLERS; i++)
            edit_amid(what, actor, &travellers[i]);
}

START_TEST(whoever_is_removed_amid_a_call_it_goes_on_to_those_that_are_left) {
    for (int victim = 0; victim < PLACES; victim++)
        edit_amid_every_call((edit){.victim = names[victim], .removes = true});
}
END_TEST

START_TEST(a_handler_added_amid_a_call_sees_it_if_it_stands_where_the_call_still_goes) {
    edit_amid_every_call((edit){.victim = NULL, .adds = true});
    for (int victim = 0; victim < PLACES; victim++)
        edit_amid_every_call((edit){.victim = names[victim], .adds = true});
}
END_TEST

START_TEST(a_replacement_takes_the_place_of_the_one_that_goes_amid_a_call) {
    for (int victim = 0; victim < PLACES; victim++)
        edit_amid_every_call((edit){.victim = names[victim], .adds = true, .removes = true});
}
END_TEST

static void remove_all_others(leat_ctx *ctx, void *argument) {
    (void)argument;
    leat_ctx_remove(named(leat_ctx_channel(ctx), "a"));
    leat_ctx_remove(named(leat_ctx_channel(ctx), "c"));
}

START_TEST(when_all_others_are_removed_a_message_goes_straight_to_the_application) {
    recorded r = record_abc(NULL);
    when(&r, "b read", remove_all_others, NULL);
    leat_embedded_feed_text(r.e, "x");
    assert_recorded(&r, "a read 'x'\nb read 'x'\na removed\nc removed\n");
    ck_assert_str_eq(leat_embedded_read_text(r.e), "x");
    ck_assert_ptr_null(leat_embedded_read_text(r.e));
    end_recorded(&r);
}
END_TEST

static void remove_twice(leat_ctx *ctx, void *argument) {
    leat_stage stage = leat_recorder_stage(((const recorded *)argument)->recorder, "n");
    leat_ctx_remove(ctx);
    leat_ctx_remove(ctx);
    ck_assert(leat_ctx_is_removed(ctx));
    ck_assert_int_eq(leat_channel_add_after(leat_ctx_channel(ctx), ctx, &stage, NULL), LEAT_EINVAL);
    ck_assert_int_eq(leat_channel_replace(leat_ctx_channel(ctx), ctx, &stage, NULL), LEAT_EINVAL);
}

START_TEST(removing_twice_is_once_and_nothing_is_placed_behind_who_is_gone) {
    recorded r = record_abc(NULL);
    when(&r, "b read", remove_twice, &r);
    leat_embedded_feed_text(r.e, "x");
    assert_recorded(&r, "a read 'x'\nb read 'x'\nb removed\nc read 'x'\n");
    ck_assert_str_eq(leat_embedded_read_text(r.e), "x");
    end_recorded(&r);
}
END_TEST

static void remove_in(leat_ctx *ctx, void *other) {
    (void)ctx;
    leat_ctx_remove(other);
}

START_TEST(removing_oneself_once_more_inside_removed_is_nothing) {
    recorded r = record_abc(NULL);
    leat_ctx *b = named(r.channel, "b"), *c = named(r.channel, "c");
    when(&r, "b removed", remove_in, b);
    when(&r, "c removed", remove_in, b);
    when(&r, "b read", remove_in, c);
    leat_embedded_feed_text(r.e, "x");
    assert_recorded(&r, "a read 'x'\nb read 'x'\nc removed\nb removed\n");
    ck_assert_str_eq(leat_embedded_read_text(r.e), "x");
    end_recorded(&r);
}
END_TEST

START_TEST(one_channel_s_call_may_edit_another_s_pipeline) {
    recorded one = record_abc(NULL);
    recorded two = record_abc(&(leat_embedded_options){.loop = leat_embedded_loop(one.e)});
    leat_ctx *b = named(two.channel, "b");
    when(&one, "b read", remove_in, b);
    when(&one, "c read", remove_in, named(two.channel, "a"));
    leat_embedded_feed_text(two.e, "x");
    leat_embedded_feed_text(one.e, "x");
    leat_embedded_feed_text(two.e, "y");
    assert_recorded(&one, "a read 'x'\nb read 'x'\nc read 'x'\n");
    assert_recorded(&two, "a read 'x'\nb read 'x'\nc read 'x'\nb removed\na removed\nc read 'y'\n");
    end_recorded_anyhow(&two);
    end_recorded_anyhow(&one);
}
END_TEST

/* What a removed handler may still do, from its gap. */
static void pass_everything_on(leat_ctx *ctx, void *argument) {
    static int object;
    (void)argument;
    leat_ctx_remove(ctx);
    leat_ctx_fire_active(ctx);
    leat_ctx_fire_eof(ctx);
    leat_ctx_fire_event(ctx, leat_msg_of(&ping, &object));
    leat_ctx_fire_writable(ctx);
    leat_ctx_fire_error(ctx, LEAT_ECORRUPT);
    leat_ctx_write_copy(ctx, "!", 1, NULL);
    leat_ctx_flush(ctx);
    leat_ctx_close(ctx);
}

START_TEST(a_removed_handler_passes_on_from_its_gap_whatever_it_is) {
    recorded r = record_abc(NULL);
    leat_ctx *b = named(r.channel, "b");
    when(&r, "b read", pass_everything_on, NULL);
    leat_embedded_feed_text(r.e, "x");
    ck_assert_ptr_ne(leat_channel_find(r.channel, "a"), b);
    assert_recorded(&r, "a read 'x'\nb read 'x'\nb removed\nc active\nc eof\nc close\na close\nc event Ping\n"
                        "c writable no\nc error LEAT_ECORRUPT\na write '!'\na close\nc read 'x'\n");
    end_recorded_anyhow(&r);
}
END_TEST

START_TEST(an_addition_that_does_not_work_changes_nothing) {
    static const leat_handler nameless = {.name = NULL};
    recorded r = record_abc(NULL);
    recorded other = record_abc(NULL);
    const leat_stage wrong = {.handler = &nameless}, right = leat_recorder_stage(r.recorder, "n");
    ck_assert_int_eq(leat_channel_add_last(r.channel, &wrong, NULL), LEAT_EINVAL);
    ck_assert_int_eq(leat_channel_replace(r.channel, named(r.channel, "b"), &wrong, NULL), LEAT_EINVAL);
    ck_assert_int_eq(leat_channel_add_after(r.channel, named(other.channel, "b"), &right, NULL), LEAT_EINVAL);
    leat_embedded_close(r.e);
    leat_embedded_feed_eof(r.e);
    leat_recorder_take(r.recorder);
    ck_assert_int_eq(leat_channel_add_last(r.channel, &right, NULL), LEAT_ECLOSED);
    assert_recorded(&r, "");
    end_recorded(&other);
    end_recorded(&r);
}
END_TEST

int main(void) {
    return suite_run("pipeline_edits",
                     (const TTest *const[]){whoever_is_removed_amid_a_call_it_goes_on_to_those_that_are_left,
                                            a_handler_added_amid_a_call_sees_it_if_it_stands_where_the_call_still_goes,
                                            a_replacement_takes_the_place_of_the_one_that_goes_amid_a_call,
                                            when_all_others_are_removed_a_message_goes_straight_to_the_application,
                                            removing_twice_is_once_and_nothing_is_placed_behind_who_is_gone,
                                            removing_oneself_once_more_inside_removed_is_nothing,
                                            one_channel_s_call_may_edit_another_s_pipeline,
                                            a_removed_handler_passes_on_from_its_gap_whatever_it_is,
                                            an_addition_that_does_not_work_changes_nothing, NULL});
}
