/**
 * Many pieces, one write: gathers pieces into one buffer, copying where that is cheaper than referring to them.
 *
 *     leat_gather gather;
 *     leat_gather_init(&gather, alloc, LEAT_GATHER_AUTO, n);
 *     for (size_t i = 0; i < n; i++)
 *         leat_gather_add_shared(&gather, events[i]);
 *     leat_bytebuf *batch = leat_gather_finish(&gather);
 *
 * Adding never fails by itself: the first error is kept and finish reports it.
 */
#ifndef LEAT_CORE_GATHER_H
#define LEAT_CORE_GATHER_H

#include "core/composite.h"

LEAT_BEGIN_DECLS

/**
 * Pieces of at least so many bytes are referred to by LEAT_GATHER_AUTO, smaller ones are copied.
 *
 * Judged at a socket, since the kernel pays for every span too: from 1 KiB on referring costs no more than copying
 * there, bare and delimited, whatever the number of events; at 512 bytes it costs up to a half more, at 2 KiB up to a
 * fifth less.
 * `./dev bench threshold --table` measures it; docs/design.md has the table.
 */
#define LEAT_GATHER_THRESHOLD 1024

typedef enum leat_gather_mode {
    LEAT_GATHER_AUTO, /**< copies pieces below the threshold, refers to the others */
    LEAT_GATHER_COPY, /**< copies everything into one plain buffer */
    LEAT_GATHER_WRAP  /**< refers to every buffer */
} leat_gather_mode;

struct leat_component;

/** A gather in progress. Embed it or keep it on the stack; `error` may be read, the rest is its own. */
typedef struct leat_gather {
    leat_alloc *alloc;
    leat_composite *composite;        /**< once something is referred to */
    leat_bytebuf *staging;            /**< while everything is copied */
    const uint8_t *static_bytes;      /**< a static piece not yet placed, to be merged with its neighbour */
    size_t static_length;             /**< of that */
    struct leat_component *slot;      /**< while references follow each other: the composite's next free slot */
    struct leat_component *slots_end; /**< behind the last one */
    uint64_t length;                  /**< bytes in the slots so far */
    uint8_t *room;                    /**< while copies follow each other: the next free byte of the staging */
    uint8_t *room_end;                /**< behind the last one */
    uint64_t copied;                  /**< payload bytes copied and not yet counted */
    uint64_t refer_from;              /**< pieces of at least so many bytes are referred to */
    uint32_t expected;
    uint8_t mode;
    int error; /**< 0, or the first error */
} leat_gather;

/**
 * Initialises a gather of about `expected_pieces` (0 = unknown; it may be wrong, and counts up to 65,536). Ends with
 * leat_gather_finish or leat_gather_clean_up.
 */
LEAT_API void leat_gather_init(leat_gather *gather, leat_alloc *alloc, leat_gather_mode mode, uint32_t expected_pieces);

/** Adds the readable bytes of `buf` and owns it, whatever happens. NULL is the error LEAT_EINVAL; nothing is lost. */
LEAT_API void leat_gather_add(leat_gather *gather, leat_bytebuf *buf);

/** Adds the readable bytes of `buf`, which stays the caller's: retained only if it is referred to. */
LEAT_API void leat_gather_add_shared(leat_gather *gather, leat_bytebuf *buf);

/** Adds `n` buffers as leat_gather_add_shared does, in one go. */
LEAT_API void leat_gather_add_shared_list(leat_gather *gather, leat_bytebuf *const *bufs, size_t n);

/**
 * Adds `n` buffers as leat_gather_add_shared does, and between each two of them the `length` bytes at `between` as
 * leat_gather_add_static does: how delimited events leave.
 */
LEAT_API void leat_gather_add_joined(leat_gather *gather, leat_bytebuf *const *bufs, size_t n, const void *between,
                                     size_t length);

/**
 * Adds bytes that outlive every handle and never change. Neighbouring ones leave as one span: for free when they are
 * neighbours in memory too, else copied while they are small.
 */
LEAT_API void leat_gather_add_static(leat_gather *gather, const void *bytes, size_t n);

/** Adds a copy of the bytes. */
LEAT_API void leat_gather_add_bytes(leat_gather *gather, const void *bytes, size_t n);

/**
 * Returns the one buffer that holds every piece in order; the caller owns it. NULL = something failed (`error` says
 * what) and everything taken was released. The gather is empty afterwards.
 */
LEAT_API leat_bytebuf *leat_gather_finish(leat_gather *gather);

/** Releases everything that was taken; fine after finish. */
LEAT_API void leat_gather_clean_up(leat_gather *gather);

LEAT_END_DECLS

#endif
