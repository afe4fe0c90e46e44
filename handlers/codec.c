#include "handlers/codec.h"

#include "core/channel.h"
#include "core/composite.h"

/* Of a frame that waits for its rest only this much counts as held: more would pause the reading that it waits for. */
enum { COUNTED_OF_PARTIAL = 1024, SMALLEST_STEP = 256, TIGHT_SLACK = 512 };

void leat_decoder_init(leat_decoder *decoder, leat_decode decode, uint64_t limit) {
    *decoder = (leat_decoder){.decode = decode, .limit = limit ? limit : LEAT_DECODER_LIMIT};
}

void leat_decoder_take_last(leat_decoder *decoder, leat_decode decode_last) {
    decoder->decode_last = decode_last;
}

void leat_decoder_again(leat_decoder *decoder) {
    decoder->again = true;
}

void leat_decoder_need(leat_decoder *decoder, uint64_t bytes) {
    decoder->needed = bytes;
}

void leat_decoder_expect_more(leat_decoder *decoder, bool expecting) {
    decoder->expecting = expecting;
}

int leat_decoder_recovered(leat_decoder *decoder, int code) {
    decoder->recovered = true;
    return code;
}

void leat_decoder_pause(leat_decoder *decoder) {
    decoder->paused = decoder->stopped = true;
}

void leat_decoder_resume(leat_ctx *ctx) {
    leat_decoder *decoder = leat_state(ctx);
    decoder->paused = false;
    leat_ctx_wake(ctx);
}

int leat_decoder_frame(leat_bytebuf *in, uint64_t length, leat_msg *out) {
    leat_bytebuf *frame = leat_bytebuf_split(in, length);
    if (!frame)
        return LEAT_ENOMEM;
    *out = leat_msg_of_bytebuf(frame);
    return 1;
}

static uint64_t readable(const leat_bytebuf *buf) {
    return buf ? leat_bytebuf_readable(buf) : 0;
}

uint64_t leat_decoder_waiting(const leat_decoder *decoder) {
    return readable(decoder->held) + readable(decoder->input) - decoder->borrowed;
}

/* Whole frames may wait here for demand; and who pauses has not done with the last one. */
static bool is_stopped(const leat_decoder *decoder) {
    return decoder->paused || (decoder->stopped && (decoder->again || leat_decoder_waiting(decoder) > 0));
}

static void forget(leat_bytebuf **buf) {
    leat_bytebuf_release(*buf);
    *buf = NULL;
}

static void drop_all(leat_decoder *decoder) {
    forget(&decoder->held);
    forget(&decoder->input);
    decoder->borrowed = 0;
    decoder->again = false;
}

static void count_held(leat_ctx *ctx, leat_decoder *decoder) {
    uint64_t now = leat_decoder_waiting(decoder);
    if (!decoder->stopped && !decoder->busy && now > COUNTED_OF_PARTIAL)
        now = COUNTED_OF_PARTIAL;
    if (now > decoder->counted)
        leat_ctx_hold(ctx, now - decoder->counted);
    else if (now < decoder->counted)
        leat_ctx_unhold(ctx, decoder->counted - now);
    decoder->counted = now;
}

/* The stream is torn here: what is held has no meaning any more, nor has what comes later. */
static void fail(leat_ctx *ctx, leat_decoder *decoder, int code) {
    decoder->failed = true;
    drop_all(decoder);
    count_held(ctx, decoder);
    leat_ctx_fire_error(ctx, code);
}

static bool is_over(const leat_ctx *ctx, const leat_decoder *decoder) {
    return decoder->failed || leat_ctx_is_removed(ctx) || !leat_channel_is_readable(leat_ctx_channel(ctx));
}

/* Replaces `*buf` by a compact copy that is ours alone, with room for `length` more bytes. */
static bool renew(leat_bytebuf **buf, size_t length) {
    leat_bytebuf *fresh = leat_bytebuf_new(leat_bytebuf_alloc_of(*buf), readable(*buf) + length);
    if (!fresh || !leat_bytebuf_write_buffer(fresh, *buf)) {
        leat_bytebuf_release(fresh);
        return false;
    }
    leat_bytebuf_release(*buf);
    *buf = fresh;
    return true;
}

/* What is appended to stays contiguous, as decode functions want it. */
static bool append(leat_bytebuf **buf, const uint8_t *bytes, size_t length) {
    bool mostly_consumed = leat_bytebuf_reader_index(*buf) > readable(*buf) + TIGHT_SLACK;
    bool unfit = mostly_consumed || leat_composite_of(*buf);
    if ((unfit || leat_bytebuf_reserve(*buf, length) != 0) && !renew(buf, length))
        return false;
    return leat_bytebuf_write_bytes(*buf, bytes, length);
}

/* ---- one step: decode at the front of what is held, which continues in the input ---- */

static uint64_t step_length(const leat_decoder *decoder) {
    uint64_t have = readable(decoder->held), step = have > SMALLEST_STEP ? have : SMALLEST_STEP;
    return decoder->needed > have ? decoder->needed - have : step;
}

/* Copies as much of the input behind the held bytes as the frame at their front may need; false = there is no more. */
static bool borrow(leat_ctx *ctx, leat_decoder *decoder) {
    uint64_t rest = readable(decoder->input) - decoder->borrowed, step = step_length(decoder);
    if (rest == 0)
        return false;
    size_t length = (size_t)(step < rest ? step : rest);
    if (!append(&decoder->held, leat_bytebuf_data(decoder->input) + decoder->borrowed, length)) {
        fail(ctx, decoder, LEAT_ENOMEM);
        return false;
    }
    decoder->borrowed += length;
    return true;
}

/* Once the bytes of earlier reads are gone, decoding goes on where the input lies. Who wants to be called again needs a
 * buffer, if an empty one. */
static void settle_front(leat_decoder *decoder) {
    uint64_t left = readable(decoder->held);
    bool only = decoder->again && !decoder->input;
    if (decoder->held && left <= decoder->borrowed && !only) {
        if (decoder->input)
            leat_bytebuf_skip(decoder->input, decoder->borrowed - left);
        decoder->borrowed = 0;
        forget(&decoder->held);
    }
    if (decoder->input && readable(decoder->input) == 0 && !decoder->again)
        forget(&decoder->input);
}

/* Returns what to decode next, or NULL when more bytes have to come. */
static leat_bytebuf *front(leat_ctx *ctx, leat_decoder *decoder) {
    if (!decoder->held)
        return decoder->starved ? NULL : decoder->input;
    if (decoder->starved && !borrow(ctx, decoder))
        return NULL;
    return decoder->held;
}

static void fire(leat_ctx *ctx, leat_decoder *decoder, leat_msg msg) {
    decoder->fired = true;
    leat_ctx_fire_read(ctx, msg);
    leat_ctx_spend(ctx);
}

static void report(leat_ctx *ctx, leat_decoder *decoder, int code) {
    bool recovered = decoder->recovered;
    decoder->recovered = false;
    if (recovered)
        leat_ctx_fire_error(ctx, code);
    else
        fail(ctx, decoder, code);
}

static bool decode_one(leat_ctx *ctx, leat_decoder *decoder) {
    leat_bytebuf *in = front(ctx, decoder);
    if (!in)
        return false;
    leat_msg msg = {0};
    decoder->needed = 0;
    decoder->again = false;
    int result = decoder->decode(ctx, in, &msg);
    bool was_held = in == decoder->held;
    settle_front(decoder);
    decoder->starved = result == 0 && was_held == (decoder->held != NULL);
    if (result > 0)
        fire(ctx, decoder, msg);
    else if (result < 0)
        report(ctx, decoder, result);
    return true;
}

static bool wants_more(leat_ctx *ctx, leat_decoder *decoder) {
    bool more = !decoder->failed && !decoder->paused && leat_ctx_wants_more(ctx);
    if (more || !is_over(ctx, decoder))
        decoder->stopped = !more;
    return more;
}

/* ---- the end of a round: what is left over moves into a buffer of our own ---- */

static bool is_tight(const leat_bytebuf *buf) {
    return leat_bytebuf_storage_size(buf) <= 2 * leat_bytebuf_readable(buf) + TIGHT_SLACK;
}

static bool keep_input(leat_decoder *decoder) {
    if (decoder->stopped)
        return leat_bytebuf_keep(&decoder->input) == 0;
    if (is_tight(decoder->input))
        return true;
    leat_bytebuf *own = leat_bytebuf_copy(decoder->input, leat_bytebuf_alloc_of(decoder->input));
    if (!own)
        return false;
    leat_bytebuf_release(decoder->input);
    decoder->input = own;
    return true;
}

static bool keep_left_over(leat_decoder *decoder) {
    if (!decoder->input)
        return true;
    if (decoder->held) {
        size_t rest = (size_t)(readable(decoder->input) - decoder->borrowed);
        decoder->starved = decoder->starved && rest == 0;
        if (rest && !append(&decoder->held, leat_bytebuf_data(decoder->input) + decoder->borrowed, rest))
            return false;
        forget(&decoder->input);
    } else {
        if (!keep_input(decoder))
            return false;
        decoder->held = decoder->input;
        decoder->input = NULL;
    }
    decoder->borrowed = 0;
    return true;
}

static void hand_on(leat_ctx *ctx, leat_decoder *decoder) {
    leat_bytebuf *held = decoder->held;
    decoder->held = NULL;
    count_held(ctx, decoder);
    bool open = leat_channel_is_readable(leat_ctx_channel(ctx));
    if (readable(held) > 0 && open) {
        leat_ctx_fire_read(ctx, leat_msg_of_bytebuf(held));
        leat_ctx_fire_read_done(ctx);
    } else {
        leat_bytebuf_release(held);
    }
    if (decoder->eof && leat_channel_is_readable(leat_ctx_channel(ctx)))
        leat_ctx_fire_eof(ctx);
}

static void decode_last(leat_ctx *ctx, leat_decoder *decoder) {
    leat_msg msg = {0};
    int result = decoder->decode_last(ctx, decoder->held, &msg);
    settle_front(decoder);
    count_held(ctx, decoder);
    if (result > 0)
        fire(ctx, decoder, msg);
    else if (result < 0)
        report(ctx, decoder, result);
}

/* Nobody is told of an end behind a close. */
static void end_stream(leat_ctx *ctx, leat_decoder *decoder) {
    decoder->eof = false;
    if (!leat_channel_is_readable(leat_ctx_channel(ctx)))
        return;
    if (decoder->held && decoder->decode_last)
        decode_last(ctx, decoder);
    if (decoder->held || (decoder->expecting && !decoder->failed))
        fail(ctx, decoder, LEAT_ETRUNCATED);
    leat_ctx_fire_eof(ctx);
}

static void pass_read_done(leat_ctx *ctx, leat_decoder *decoder) {
    decoder->read_done = decoder->fired = false;
    leat_ctx_fire_read_done(ctx);
}

static void finish_round(leat_ctx *ctx, leat_decoder *decoder) {
    if (!keep_left_over(decoder))
        fail(ctx, decoder, LEAT_ENOMEM);
    if (leat_ctx_is_removed(ctx)) {
        hand_on(ctx, decoder);
        return;
    }
    if (is_over(ctx, decoder))
        drop_all(decoder);
    count_held(ctx, decoder);
    if (!decoder->stopped && leat_decoder_waiting(decoder) > decoder->limit)
        fail(ctx, decoder, LEAT_ETOOLONG);
    if (decoder->read_done)
        pass_read_done(ctx, decoder);
    if (decoder->eof && !is_stopped(decoder))
        end_stream(ctx, decoder);
}

static void decode_round(leat_ctx *ctx, leat_decoder *decoder) {
    decoder->busy = true;
    while (wants_more(ctx, decoder) && decode_one(ctx, decoder)) {
    }
    decoder->busy = false;
    finish_round(ctx, decoder);
}

/* ---- entries ---- */

/* Gives `buf` back as one that can be decoded: contiguous, with indices of our own. NULL = no memory. */
static leat_bytebuf *prepare(leat_ctx *ctx, leat_bytebuf *buf) {
    leat_bytebuf *ready = buf;
    if (!leat_bytebuf_data(buf))
        ready = leat_bytebuf_copy(buf, leat_channel_alloc(leat_ctx_channel(ctx)));
    else if (__atomic_load_n(&buf->refs, __ATOMIC_ACQUIRE) != 1)
        ready = leat_bytebuf_slice_readable(buf);
    if (ready != buf)
        leat_bytebuf_release(buf);
    return ready;
}

/* A read from inside the loop, or while demand is 0: it goes behind everything that came before. */
static void queue(leat_ctx *ctx, leat_decoder *decoder, leat_bytebuf *buf) {
    leat_bytebuf **last = decoder->input ? &decoder->input : &decoder->held;
    bool queued = true;
    if (!*last) {
        decoder->input = buf;
        buf = NULL;
    } else {
        queued = append(last, leat_bytebuf_data(buf), (size_t)readable(buf));
    }
    leat_bytebuf_release(buf);
    if (queued)
        count_held(ctx, decoder);
    else
        fail(ctx, decoder, LEAT_ENOMEM);
}

static void take_in(leat_ctx *ctx, leat_decoder *decoder, leat_bytebuf *buf) {
    if (decoder->busy) {
        queue(ctx, decoder, buf);
        return;
    }
    decoder->starved = decoder->starved && decoder->held;
    decoder->input = buf;
    decode_round(ctx, decoder);
}

void leat_decoder_read(leat_ctx *ctx, leat_msg msg) {
    leat_decoder *decoder = leat_state(ctx);
    leat_bytebuf *buf = leat_msg_bytebuf(msg);
    if (!buf) {
        leat_ctx_fire_read(ctx, msg);
        return;
    }
    if (is_over(ctx, decoder) || leat_bytebuf_readable(buf) == 0) {
        leat_bytebuf_release(buf);
        return;
    }
    buf = prepare(ctx, buf);
    if (buf)
        take_in(ctx, decoder, buf);
    else
        fail(ctx, decoder, LEAT_ENOMEM);
}

void leat_decoder_read_done(leat_ctx *ctx) {
    leat_decoder *decoder = leat_state(ctx);
    if (decoder->busy)
        decoder->read_done = true;
    else
        pass_read_done(ctx, decoder);
}

void leat_decoder_eof(leat_ctx *ctx) {
    leat_decoder *decoder = leat_state(ctx);
    decoder->eof = true;
    if (!decoder->busy && !is_stopped(decoder))
        end_stream(ctx, decoder);
}

void leat_decoder_wake(leat_ctx *ctx) {
    leat_decoder *decoder = leat_state(ctx);
    if (decoder->busy || !decoder->stopped)
        return;
    decode_round(ctx, decoder);
    if (decoder->fired && !leat_ctx_is_removed(ctx))
        pass_read_done(ctx, decoder);
}

void leat_decoder_removed(leat_ctx *ctx) {
    leat_decoder *decoder = leat_state(ctx);
    if (!decoder->busy)
        hand_on(ctx, decoder);
}
