/** Two embedded channels, each on a loop of its own, and a bridge between them. */
#ifndef LEAT_TESTS_SUPPORT_CROSSING_H
#define LEAT_TESTS_SUPPORT_CROSSING_H

#include "core/bridge.h"
#include "tests/support/finish.h"

static const leat_stage bare[] = {{0}};

/* Two channels and a bridge between them. */
typedef struct crossing {
    leat_embedded *ends[2];
    leat_bridge *bridge;
} crossing;

static inline crossing make(const leat_channel_options *channel) {
    leat_embedded_options options = {.channel = channel ? *channel : (leat_channel_options){0}};
    crossing self = {.bridge = leat_bridge_new()};
    ck_assert_ptr_nonnull(self.bridge);
    for (int i = 0; i < 2; i++)
        self.ends[i] = leat_embedded_new_with(bare, &options, NULL);
    return self;
}

static inline leat_channel *channel_of(const crossing *self, int end) {
    return leat_embedded_channel(self->ends[end]);
}

/* A bridge is the last handler: the embedded channel's collector makes way for it. */
static inline void join(crossing *self, int end) {
    leat_ctx_remove(leat_channel_find(channel_of(self, end), "collector"));
    ck_assert_int_eq(leat_bridge_join(self->bridge, channel_of(self, end)), 0);
}

static inline crossing joined(const leat_channel_options *channel) {
    crossing self = make(channel);
    join(&self, 0);
    join(&self, 1);
    return self;
}

/* Runs both loops, one first, until nothing goes on. */
static inline void settle_from(crossing *self, int first) {
    for (int i = 0; i < 12; i++)
        leat_embedded_run(self->ends[(first + i) % 2]);
}

static inline void settle(crossing *self) {
    settle_from(self, 0);
}

static inline void end(crossing *self) {
    for (int i = 0; i < 2; i++)
        if (!leat_embedded_is_closed(self->ends[i]))
            leat_embedded_feed_eof(self->ends[i]);
    settle(self);
    finish(self->ends[0]);
    finish(self->ends[1]);
    leat_bridge_release(self->bridge);
}

#endif
