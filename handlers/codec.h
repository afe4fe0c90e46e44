/**
 * What decoders and encoders share: cumulation, demand, re-entrancy, removal, errors, and headers in front of buffers.
 *
 * A decoder of your own is a state that begins with a leat_decoder, an `added` that calls leat_decoder_init, a decode
 * function, and a table that takes its entries from here:
 *
 *     struct pairs { leat_decoder decoder; };
 *
 *     static int decode(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
 *         (void)ctx;
 *         if (leat_bytebuf_readable(in) < 2)
 *             return 0;
 *         return leat_decoder_frame(in, 2, out);
 *     }
 *
 *     static int added(leat_ctx *ctx, const void *config) {
 *         (void)config;
 *         leat_decoder_init(leat_state(ctx), decode, 0);
 *         return 0;
 *     }
 *
 *     const leat_handler pairs = {
 *         .name = "pairs", .state_size = sizeof(struct pairs), LEAT_DECODER_ENTRIES,
 *         .reads = leat_only_bytebuf, .fires = leat_only_bytebuf, .added = added,
 *     };
 */
#ifndef LEAT_HANDLERS_CODEC_H
#define LEAT_HANDLERS_CODEC_H

#include "core/handler.h"

LEAT_BEGIN_DECLS

/** Bytes of an unfinished frame that a decoder keeps at the most when its limit is 0. */
#define LEAT_DECODER_LIMIT ((uint64_t)8 << 20)

/**
 * Takes at most one message off `in`, which is not empty, contiguous, and stays the decoder's. Returns 1 with the
 * message in `*out`; 0 when it needs more bytes (it may have consumed some); a negative code when the input is bad.
 * After an error nothing more is decoded, unless the code comes from leat_decoder_recovered.
 */
typedef int (*leat_decode)(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out);

/** The base of a decoder: the first member of its state. The fields belong to the functions below. */
typedef struct leat_decoder {
    leat_decode decode;
    leat_decode decode_last;
    uint64_t limit;
    leat_bytebuf *held;  /**< bytes of earlier reads */
    leat_bytebuf *input; /**< the read behind them, while it is being decoded */
    uint64_t borrowed;   /**< bytes at the end of `held` that are copies of the first of `input` */
    uint64_t needed;     /**< bytes that the decode function waits for; 0 = it did not say */
    uint64_t counted;    /**< bytes told to leat_ctx_hold */
    bool busy;
    bool again;   /**< the decode function has more to fire, whatever comes in */
    bool starved; /**< the decode function asked for more than `held` has */
    bool stopped; /**< demand ran out, or it is paused */
    bool paused;
    bool failed;
    bool recovered;
    bool read_done;
    bool eof;
    bool expecting; /**< an end now would be in the middle of something */
    bool fired;     /**< messages went out since the last `read_done` */
} leat_decoder;

/** Prepares the decoder; `limit` is the bytes an unfinished frame may have (0 = LEAT_DECODER_LIMIT). */
LEAT_API void leat_decoder_init(leat_decoder *decoder, leat_decode decode, uint64_t limit);

/** Sets a function that takes the unfinished bytes at `eof`, as a decode function does; without one they are an error.
 */
LEAT_API void leat_decoder_take_last(leat_decoder *decoder, leat_decode decode_last);

/**
 * Says from a decode function that returns 1 that it has another message to give, though the bytes it took may be all
 * there are: it is called again, with an empty `in` if so.
 */
LEAT_API void leat_decoder_again(leat_decoder *decoder);

/** Says from a decode function that returns 0 that it is no use calling it with less than `bytes` readable bytes. */
LEAT_API void leat_decoder_need(leat_decoder *decoder, uint64_t bytes);

/**
 * Says from a decode function whether the stream may not end here although no byte is left over, as between the parts
 * of a frame that are fired one by one: `eof` is LEAT_ETRUNCATED then.
 */
LEAT_API void leat_decoder_expect_more(leat_decoder *decoder, bool expecting);

/**
 * Returns `code`, for a decode function that returns an error but has skipped what was bad: the error is fired and
 * decoding goes on in the same turn. It must have consumed something.
 */
LEAT_API int leat_decoder_recovered(leat_decoder *decoder, int code);

/**
 * Stops decoding after the message that is being decoded, until leat_decoder_resume; for protocols that take turns. An
 * `eof` waits meanwhile.
 */
LEAT_API void leat_decoder_pause(leat_decoder *decoder);

/** Goes on after leat_decoder_pause, at the latest at the end of this turn. */
LEAT_API void leat_decoder_resume(leat_ctx *ctx);

/** Returns the bytes that came and wait to be decoded. */
LEAT_API uint64_t leat_decoder_waiting(const leat_decoder *decoder);

/** Splits the first `length` readable bytes of `in` off as the message: returns 1, or LEAT_ENOMEM. */
LEAT_API int leat_decoder_frame(leat_bytebuf *in, uint64_t length, leat_msg *out);

/**
 * Entries for the table of a decoder whose state begins with a leat_decoder. A ByteBuf that came in one piece is
 * decoded where it lies; what is left over moves into a buffer of the decoder's own. A message that is no ByteBuf is
 * passed on at once. Decoding stops while leat_ctx_demand is 0, and when the channel closes. Bytes left over at `eof`
 * are reported as LEAT_ETRUNCATED before it is passed on; an unfinished frame above the limit as LEAT_ETOOLONG.
 */
LEAT_API void leat_decoder_read(leat_ctx *ctx, leat_msg msg);
LEAT_API void leat_decoder_read_done(leat_ctx *ctx); /**< see above */
LEAT_API void leat_decoder_eof(leat_ctx *ctx);       /**< see above */
LEAT_API void leat_decoder_wake(leat_ctx *ctx);      /**< see above */
LEAT_API void leat_decoder_removed(leat_ctx *ctx);   /**< hands the bytes left over on, if the channel is open */

/** The entries, for a table's initialiser. */
#define LEAT_DECODER_ENTRIES                                                                                           \
    .decodes = true, .read = leat_decoder_read, .read_done = leat_decoder_read_done, .eof = leat_decoder_eof,          \
    .wake = leat_decoder_wake, .removed = leat_decoder_removed

/**
 * Puts a header in front of a buffer without copying the buffer: into its headroom if that is ours, into the front of a
 * composite that is ours, else by a new composite of both. Takes the buffer; NULL = no memory, and it is released.
 */
LEAT_API leat_bytebuf *leat_encoder_prepend(leat_alloc *alloc, const void *header, size_t length, leat_bytebuf *buf);

/**
 * Writes a header and a buffer as leat_encoder_prepend would join them, but as two writes where joining would allocate:
 * for encoders behind which bytes need no borders. Gives `buf` and `done` away.
 */
LEAT_API void leat_encoder_write(leat_ctx *ctx, const void *header, size_t length, leat_bytebuf *buf, leat_done *done);

LEAT_END_DECLS

#endif
