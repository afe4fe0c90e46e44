#include "core/embedded.h"
#include "core/group.h"
#include "core/transport.h"
#include "tests/support/suite.h"

#include <string.h>

enum { MEMBERS = 5 };

/* Channels of one loop in a group. */
typedef struct crowd {
    leat_embedded *all[MEMBERS];
    leat_group *group;
} crowd;

static crowd gather_crowd_of(const leat_stage *stages) {
    crowd c = {.all = {leat_embedded_new(stages)}};
    leat_embedded_options shared = {.loop = leat_embedded_loop(c.all[0])};
    for (int i = 1; i < MEMBERS; i++)
        c.all[i] = leat_embedded_new_with(stages, &shared, NULL);
    c.group = leat_group_new(leat_unpooled());
    for (int i = 0; i < MEMBERS; i++)
        ck_assert_int_eq(leat_group_add(c.group, leat_embedded_channel(c.all[i])), LEAT_OK);
    return c;
}

static crowd gather_crowd(void) {
    static const leat_stage bare[] = {{0}};
    return gather_crowd_of(bare);
}

static void disperse(crowd *c) {
    leat_group_free(c->group);
    for (int i = MEMBERS - 1; i >= 0; i--) {
        ck_assert_msg(leat_embedded_finish(c->all[i]) == 0, "%s", leat_embedded_report(c->all[i]));
        leat_embedded_free(c->all[i]);
    }
}

static size_t broadcast(crowd *c, const char *text) {
    leat_loop *loop = leat_embedded_loop(c->all[0]);
    leat_loop_enter(loop);
    size_t written =
        leat_group_write(c->group, leat_msg_of_bytebuf(leat_bytebuf_from_text(leat_loop_alloc(loop), text)));
    leat_loop_leave(loop);
    return written;
}

START_TEST(a_broadcast_reaches_every_member) {
    crowd c = gather_crowd();
    ck_assert_uint_eq(broadcast(&c, "all"), MEMBERS);
    for (int i = 0; i < MEMBERS; i++)
        ck_assert_str_eq(leat_embedded_written_text(c.all[i]), "all");
    disperse(&c);
}
END_TEST

START_TEST(members_leave_by_themselves_when_they_end) {
    crowd c = gather_crowd();
    leat_embedded_break(c.all[1], LEAT_ERESET);
    leat_embedded_feed_eof(c.all[3]);
    ck_assert_int_eq(leat_embedded_take_error(c.all[1]), LEAT_ERESET);
    ck_assert_uint_eq(leat_group_size(c.group), MEMBERS - 2);
    ck_assert_uint_eq(broadcast(&c, "rest"), MEMBERS - 2);
    ck_assert_str_eq(leat_embedded_written_text(c.all[4]), "rest");
    ck_assert_str_eq(leat_embedded_written_text(c.all[3]), "");
    ck_assert_str_eq(leat_embedded_written_text(c.all[0]), "rest");
    ck_assert_str_eq(leat_embedded_written_text(c.all[2]), "rest");
    disperse(&c);
}
END_TEST

START_TEST(a_channel_is_in_a_group_once) {
    crowd c = gather_crowd();
    leat_channel *channel = leat_embedded_channel(c.all[2]);
    ck_assert_int_eq(leat_group_add(c.group, channel), LEAT_OK);
    ck_assert_uint_eq(leat_group_size(c.group), MEMBERS);
    leat_group_remove(c.group, channel);
    leat_group_remove(c.group, channel);
    ck_assert_uint_eq(leat_group_size(c.group), MEMBERS - 1);
    for (size_t i = 0; i < leat_group_size(c.group); i++)
        ck_assert_ptr_ne(leat_group_at(c.group, i), channel);
    disperse(&c);
}
END_TEST

START_TEST(a_member_that_is_not_writable_is_passed_over) {
    crowd c = gather_crowd();
    leat_embedded_limit_writes(c.all[0], 1, 0);
    char large[70000];
    for (size_t i = 0; i < sizeof large - 1; i++)
        large[i] = 'x';
    large[sizeof large - 1] = 0;
    ck_assert_uint_eq(broadcast(&c, large), MEMBERS);
    ck_assert_uint_eq(broadcast(&c, "y"), MEMBERS - 1);
    leat_embedded_allow_writes(c.all[0], UINT64_MAX);
    for (int i = 0; i < MEMBERS; i++)
        leat_embedded_written_text(c.all[i]);
    leat_embedded_limit_writes(c.all[0], SIZE_MAX, UINT64_MAX);
    leat_embedded_allow_writes(c.all[0], UINT64_MAX);
    leat_embedded_written_text(c.all[0]);
    disperse(&c);
}
END_TEST

START_TEST(closing_a_group_closes_its_members) {
    crowd c = gather_crowd();
    leat_loop_enter(leat_embedded_loop(c.all[0]));
    leat_group_close(c.group);
    leat_loop_leave(leat_embedded_loop(c.all[0]));
    for (int i = 0; i < MEMBERS; i++)
        ck_assert(leat_embedded_is_shut_down(c.all[i]));
    disperse(&c);
}
END_TEST

/* What happens to whom while the group is written to: the member `at` does it when it is its turn. */
typedef struct interruption {
    crowd *all;
    int at, victim;
    void (*act)(crowd *all, leat_channel *victim);
} interruption;

static void interrupt_write(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    interruption *self = *(interruption **)leat_state(ctx);
    leat_ctx_write(ctx, msg, done);
    if (leat_ctx_channel(ctx) == leat_embedded_channel(self->all->all[self->at]))
        self->act(self->all, leat_embedded_channel(self->all->all[self->victim]));
}

static int interrupt_added(leat_ctx *ctx, const void *config) {
    *(interruption **)leat_state(ctx) = *(interruption *const *)config;
    return LEAT_OK;
}

static const leat_handler interrupting = {.name = "interrupting",
                                          .state_size = sizeof(interruption *),
                                          .config_size = sizeof(interruption *),
                                          .added = interrupt_added,
                                          .write = interrupt_write};

static void leave_group(crowd *all, leat_channel *victim) {
    leat_group_remove(all->group, victim);
}

static void abort_one(crowd *all, leat_channel *victim) {
    (void)all;
    leat_channel_abort(victim, 0);
}

/* Every member is written to once, but for a victim that was gone before its turn came. */
static void broadcast_interrupted(int at, int victim, void (*act)(crowd *, leat_channel *)) {
    interruption what = {.at = at, .victim = victim, .act = act}, *config = &what;
    const leat_stage stages[] = {{&interrupting, &config}, {0}};
    crowd c = gather_crowd_of(stages);
    what.all = &c;
    size_t written = broadcast(&c, "once");
    for (int i = 0; i < MEMBERS; i++) {
        const char *text = leat_embedded_written_text(c.all[i]);
        if (i != victim)
            ck_assert_msg(strcmp(text, "once") == 0, "%d interrupted by %d: %d got '%s'", victim, at, i, text);
    }
    ck_assert_uint_eq(written, victim > at ? MEMBERS - 1 : MEMBERS);
    ck_assert_uint_eq(leat_group_size(c.group), MEMBERS - 1);
    for (size_t i = 0; i < leat_group_size(c.group); i++)
        ck_assert_ptr_nonnull(leat_group_at(c.group, i));
    disperse(&c);
}

static void interrupt_everywhere(void (*act)(crowd *, leat_channel *)) {
    for (int at = 0; at < MEMBERS; at++)
        for (int victim = 0; victim < MEMBERS; victim++)
            broadcast_interrupted(at, victim, act);
}

START_TEST(whoever_leaves_during_a_broadcast_nobody_else_is_missed_or_met_twice) {
    interrupt_everywhere(leave_group);
}
END_TEST

START_TEST(a_member_may_die_during_a_broadcast) {
    interrupt_everywhere(abort_one);
}
END_TEST

int main(void) {
    return suite_run("group",
                     (const TTest *const[]){a_broadcast_reaches_every_member, members_leave_by_themselves_when_they_end,
                                            a_channel_is_in_a_group_once, a_member_that_is_not_writable_is_passed_over,
                                            closing_a_group_closes_its_members,
                                            whoever_leaves_during_a_broadcast_nobody_else_is_missed_or_met_twice,
                                            a_member_may_die_during_a_broadcast, NULL});
}
