/**
 * Compressed batches: many events as one server-sent event, "data: " base64 of their gzip "\n\n", as Mantis' push
 * server has them in its gzip form. Each event ends with a delimiter, which no event may contain.
 *
 *     leat_bytebuf *framed;
 *     int code = leat_zlib_batch_encode(alloc, NULL, events, count, &framed);
 *
 * and, where leat_sse_decoder fires what came of it:
 *
 *     leat_bytebuf *joined, *one;
 *     int code = leat_zlib_batch_decode(alloc, NULL, event->data, &joined);
 *     while (code == 0 && leat_zlib_batch_next(NULL, joined, &one) == 1)
 *         leat_ctx_fire_read(ctx, leat_msg_of_bytebuf(one));
 *     leat_bytebuf_release(joined);
 */
#ifndef LEAT_HANDLERS_ZLIB_BATCH_H
#define LEAT_HANDLERS_ZLIB_BATCH_H

#include "core/bytebuf.h"

LEAT_BEGIN_DECLS

/** What ends an event when nothing else is said. */
#define LEAT_ZLIB_BATCH_DELIMITER "$$$"

/** How batches are made; both sides have to agree on the delimiter. All zero (or NULL) is a sane default. */
typedef struct leat_zlib_batch_config {
    leat_span delimiter; /**< behind each event; NULL or empty = LEAT_ZLIB_BATCH_DELIMITER */
    int level;           /**< as in leat_zlib_deflater_config */
    uint64_t max_total;  /**< bytes that a batch may inflate to; 0 = 16 MiB */
} leat_zlib_batch_config;

/**
 * Makes one server-sent event of `count` events, which stay the caller's. Returns 0 with `*framed`, which the caller
 * owns; LEAT_EINVAL: no event, an event that contains the delimiter, alone or together with the one behind it, or a
 * config that makes no sense; LEAT_ELIMIT: more bytes than max_total, which nobody would take back; LEAT_ENOMEM. Any
 * thread, if `alloc` is.
 */
LEAT_API int leat_zlib_batch_encode(leat_alloc *alloc, const leat_zlib_batch_config *config,
                                    leat_bytebuf *const *events, size_t count, leat_bytebuf **framed);

/**
 * Tells whether the data of an event is a batch, and not a plain event between them: whether it begins as the base64 of
 * gzip does.
 */
LEAT_API bool leat_zlib_batch_is(leat_span data);

/**
 * Takes the data of an event apart into the joined events, for leat_zlib_batch_next; the caller owns them. Returns 0,
 * LEAT_ECORRUPT (no base64, no gzip, or something behind it), LEAT_ETRUNCATED, LEAT_ELIMIT or LEAT_ENOMEM; then
 * `*joined` is NULL. Any thread, if `alloc` is.
 */
LEAT_API int leat_zlib_batch_decode(leat_alloc *alloc, const leat_zlib_batch_config *config, leat_span data,
                                    leat_bytebuf **joined);

/**
 * Takes the next event off: returns 1 with `*event`, which the caller owns and which is not copied; 0 when there is no
 * more; LEAT_ETRUNCATED when the last one does not end with the delimiter, LEAT_ENOMEM.
 */
LEAT_API int leat_zlib_batch_next(const leat_zlib_batch_config *config, leat_bytebuf *joined, leat_bytebuf **event);

LEAT_END_DECLS

#endif
