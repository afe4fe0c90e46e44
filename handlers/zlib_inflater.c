#include "handlers/zlib_inflater.h"

#include "core/channel.h"
#include "handlers/codec.h"
#include "handlers/zlib_internal.h"

enum { LEAST_ROOM = 256, GUESS = 4 };

struct inflater {
    leat_decoder decoder;
    zlib_inflating inflating;
    uint64_t room; /* of the last buffer, if it was filled: there may be more without more input */
    int failure;   /* to be reported behind what was inflated before it */
    bool trailing; /* the streams are over: what comes is none of them */
};

/* ---- one stream ---- */

static int take_trailing(struct inflater *self, leat_bytebuf *in, leat_msg *out) {
    self->trailing = true;
    switch (self->inflating.config.trailing) {
    case LEAT_ZLIB_TRAILING_PASS:
        return leat_decoder_frame(in, leat_bytebuf_readable(in), out);
    case LEAT_ZLIB_TRAILING_IGNORE:
        leat_bytebuf_skip(in, leat_bytebuf_readable(in));
        return 0;
    default:
        return LEAT_ECORRUPT;
    }
}

/* Little input gets a small buffer; as long as buffers fill, the next is larger. */
static uint64_t next_room(const struct inflater *self, uint64_t input) {
    uint64_t most = self->inflating.config.chunk, guess = self->room ? self->room : input;
    guess = guess < most ? GUESS * guess : most;
    guess = guess > LEAST_ROOM ? guess : LEAST_ROOM;
    return guess < most ? guess : most;
}

/* Fires what was inflated; what else the step came to is seen by the next call. */
static int give(struct inflater *self, int result, leat_bytebuf *made, leat_msg *out) {
    if (leat_bytebuf_keep(&made) != 0) {
        leat_bytebuf_release(made);
        return LEAT_ENOMEM;
    }
    self->failure = result < 0 ? result : 0;
    if (result < 0 || result == ZLIB_NEEDS_ROOM)
        leat_decoder_again(&self->decoder);
    *out = leat_msg_of_bytebuf(made);
    return 1;
}

static int inflate_next(struct inflater *self, leat_bytebuf *in, leat_msg *out) {
    uint64_t length = leat_bytebuf_readable(in), room = next_room(self, length);
    leat_span left = {leat_bytebuf_data(in), (size_t)length};
    leat_bytebuf *made = leat_bytebuf_new_with(self->inflating.alloc, room, room, 0);
    if (!made)
        return LEAT_ENOMEM;
    int result = leat_zlib_inflating_step(&self->inflating, &left, made);
    leat_bytebuf_skip(in, length - left.length);
    self->room = result == ZLIB_NEEDS_ROOM ? room : 0;
    if (leat_bytebuf_readable(made) > 0 && result != LEAT_ELIMIT)
        return give(self, result, made, out);
    leat_bytebuf_release(made);
    return result == ZLIB_TRAILING ? take_trailing(self, in, out) : result;
}

static int decode(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    struct inflater *self = leat_state(ctx);
    if (self->trailing)
        return take_trailing(self, in, out);
    int result = self->failure ? self->failure : inflate_next(self, in, out);
    if (result < 0)
        leat_zlib_inflating_clean_up(&self->inflating);
    leat_decoder_expect_more(&self->decoder, self->inflating.phase != ZLIB_BEHIND);
    return result;
}

/* Bytes that could have begun a stream. */
static int decode_last(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    struct inflater *self = leat_state(ctx);
    return self->inflating.phase == ZLIB_BEHIND ? take_trailing(self, in, out) : LEAT_ETRUNCATED;
}

/* ---- a stream in each message ---- */

static void read_message(leat_ctx *ctx, struct inflater *self, leat_bytebuf *in) {
    leat_bytebuf *out;
    int code = leat_zlib_inflating_message(&self->inflating, in, &out);
    leat_bytebuf_release(in);
    if (code != 0) {
        leat_ctx_fire_error(ctx, code);
        return;
    }
    leat_ctx_fire_read(ctx, leat_msg_of_bytebuf(out));
    leat_ctx_spend(ctx);
}

/* ---- entries ---- */

static int added(leat_ctx *ctx, const void *config) {
    struct inflater *self = leat_state(ctx);
    leat_decoder_init(&self->decoder, decode, 0);
    leat_decoder_take_last(&self->decoder, decode_last);
    leat_zlib_inflating_init(&self->inflating, config, leat_channel_alloc(leat_ctx_channel(ctx)));
    leat_decoder_expect_more(&self->decoder, !self->inflating.config.each_message);
    return 0;
}

static void read_bytes(leat_ctx *ctx, leat_msg msg) {
    struct inflater *self = leat_state(ctx);
    leat_bytebuf *in = leat_msg_bytebuf(msg);
    if (in && self->inflating.config.each_message)
        read_message(ctx, self, in);
    else
        leat_decoder_read(ctx, msg);
}

/* What zlib still holds goes before the bytes that it has not seen. */
static void hand_on_inflated(leat_ctx *ctx, struct inflater *self) {
    int result = ZLIB_NEEDS_ROOM;
    while (result == ZLIB_NEEDS_ROOM) {
        leat_span nothing = {0};
        leat_bytebuf *made = leat_bytebuf_new(self->inflating.alloc, next_room(self, 0));
        result = made ? leat_zlib_inflating_step(&self->inflating, &nothing, made) : LEAT_ENOMEM;
        if (made && leat_bytebuf_readable(made) > 0 && result != LEAT_ELIMIT)
            leat_ctx_fire_read(ctx, leat_msg_of_bytebuf(made));
        else
            leat_bytebuf_release(made);
    }
    self->failure = result < 0 ? result : self->failure;
}

static void removed(leat_ctx *ctx) {
    struct inflater *self = leat_state(ctx);
    bool open = leat_channel_is_readable(leat_ctx_channel(ctx));
    if (open && self->room && self->inflating.begun)
        hand_on_inflated(ctx, self);
    leat_zlib_inflating_clean_up(&self->inflating);
    if (open && self->failure && !self->decoder.failed)
        leat_ctx_fire_error(ctx, self->failure);
    leat_decoder_removed(ctx);
}

const leat_handler leat_zlib_inflater = {
    .name = "zlib_inflater",
    .state_size = sizeof(struct inflater),
    .config_size = sizeof(leat_zlib_inflater_config),
    .decodes = true,
    .reads = leat_only_bytebuf,
    .fires = leat_only_bytebuf,
    .check = leat_zlib_inflater_check,
    .added = added,
    .removed = removed,
    .read = read_bytes,
    .read_done = leat_decoder_read_done,
    .eof = leat_decoder_eof,
    .wake = leat_decoder_wake,
};
