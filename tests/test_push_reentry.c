/* A push server whose connections' handlers do something to it while it delivers to them. */
#include "tests/support/push_stand.h"

/* Does something once, when a message is written. */
typedef struct trap {
    void (*action)(void);
} trap;

static int set(leat_ctx *ctx, const void *config) {
    *(trap *)leat_state(ctx) = *(const trap *)config;
    return 0;
}

static void spring(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    trap *self = leat_state(ctx);
    void (*action)(void) = self->action;
    self->action = NULL;
    leat_ctx_write(ctx, msg, done);
    if (action)
        action();
}

static const leat_handler trapping = {
    .name = "trap", .state_size = sizeof(trap), .config_size = sizeof(trap), .added = set, .write = spring};

static void set_trap(size_t peer, void (*action)(void)) {
    const trap config = {action};
    const leat_stage stage = {.handler = &trapping, .config = &config};
    ck_assert_int_eq(leat_channel_add_last(leat_embedded_channel(peers[peer]), &stage, NULL), 0);
}

static leat_push_connection *joined[PEERS];

static void close_first(void) {
    leat_channel_close(leat_embedded_channel(peers[0]));
}

static void close_second(void) {
    leat_channel_close(leat_embedded_channel(peers[1]));
}

static void close_all(void) {
    for (size_t i = 0; i < PEERS; i++)
        leat_channel_close(leat_embedded_channel(peers[i]));
}

static void leave_first(void) {
    leat_push_leave(joined[0]);
}

static void leave_third(void) {
    leat_push_leave(joined[2]);
}

static void offer_more(void) {
    offer("+");
}

static void close_server(void) {
    leat_push_server_close(server);
}

static void join_first_group(void) {
    const leat_push_join_options options = {.codec = &leat_push_codec_bare, .group = "g"};
    leat_push_join(server, leat_embedded_channel(home), &options, NULL);
}

static void release_server(void) {
    leat_push_server_release(server);
}

/* What a write does, and whether the last connection goes on unharmed. */
static const struct {
    const char *name;
    void (*action)(void);
    bool last_goes_on;
} actions[] = {{"close_first", close_first, true},    {"close_second", close_second, true},
               {"close_all", close_all, false},       {"leave_first", leave_first, true},
               {"leave_third", leave_third, true},    {"offer_more", offer_more, true},
               {"close_server", close_server, false}, {"join", join_first_group, true}};

enum { ACTIONS = sizeof actions / sizeof *actions };

static const leat_push_options all_options[] = {
    {0}, {.batch_events = 1}, {.batch_events = 3}, {.chunk_events = 1}, {.chunk_events = 1, .batch_events = 1}};

enum { OPTIONS = sizeof all_options / sizeof *all_options };

static void join_all(const char *group, void (*action)(void)) {
    for (size_t i = 0; i < PEERS; i++) {
        joined[i] = join(i, group, NULL);
        if (i < 2)
            set_trap(i, action);
    }
}

static void offer_text(const char *text) {
    for (; *text; text++)
        offer((char[]){*text, 0});
}

static void discard_all(void) {
    for (size_t i = 0; i < PEERS; i++)
        discard_written(i);
    leat_bytebuf_release(leat_embedded_take_written(home));
}

START_TEST(whatever_a_write_does_to_the_server_no_amount_is_lost) {
    for (size_t i = 0; i < 2 * OPTIONS * ACTIONS; i++) {
        begin(all_options[i % OPTIONS]);
        join_all(i / OPTIONS % 2 ? "g" : NULL, actions[i / OPTIONS / 2].action);
        offer_text("abcdefgh");
        wait_ms(200);
        offer_text("z");
        wait_ms(400);
        leat_push_amount pending = ledger().destinations.pending;
        ck_assert_msg(pending.events == 0 && pending.bytes == 0, "%s, %zu", actions[i / OPTIONS / 2].name, i);
        discard_all();
        end();
    }
}
END_TEST

/* Only one letter for `+`, which a trap may offer at any time. */
static void remove_pluses(char *to, const char *text) {
    for (; *text; text++)
        if (*text != '+')
            *to++ = *text;
    *to = 0;
}

START_TEST(whatever_a_write_does_to_others_the_rest_get_everything_once_and_in_order) {
    for (size_t i = 0; i < OPTIONS * ACTIONS; i++) {
        char text[64];
        begin(all_options[i % OPTIONS]);
        join_all(NULL, actions[i / OPTIONS].action);
        offer_text("abcdefgh");
        wait_ms(200);
        offer_text("z");
        wait_ms(400);
        remove_pluses(text, leat_embedded_written_text(peers[PEERS - 1]));
        ck_assert_msg(!actions[i / OPTIONS].last_goes_on || strcmp(text, "abcdefghz") == 0, "%s, %zu: %s",
                      actions[i / OPTIONS].name, i, text);
        discard_all();
        end();
    }
}
END_TEST

START_TEST(the_server_may_be_released_while_it_delivers) {
    for (size_t i = 0; i < 2 * OPTIONS; i++) {
        begin(all_options[i % OPTIONS]);
        joined[0] = join(0, i / OPTIONS ? "g" : NULL, NULL);
        set_trap(0, release_server);
        offer_text("a");
        wait_ms(400);
        server = NULL;
        wrote(0, "a");
        for (size_t k = 0; k < PEERS; k++)
            leat_embedded_free(peers[k]);
        ck_assert_uint_eq(leat_embedded_finish(home), 0);
        leat_embedded_free(home);
    }
}
END_TEST

int main(void) {
    return suite_run("push_reentry",
                     (const TTest *const[]){whatever_a_write_does_to_the_server_no_amount_is_lost,
                                            whatever_a_write_does_to_others_the_rest_get_everything_once_and_in_order,
                                            the_server_may_be_released_while_it_delivers, NULL});
}
