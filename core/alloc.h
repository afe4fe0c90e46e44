/** Allocators: where buffers, channels and handlers take their memory from. */
#ifndef LEAT_CORE_ALLOC_H
#define LEAT_CORE_ALLOC_H

#include "core/base.h"

LEAT_BEGIN_DECLS

/** What an allocator counted. Plain integers of the allocator's own thread. Sizes are in bytes. */
typedef struct leat_alloc_stats {
    uint64_t allocations; /**< blocks ever allocated */
    uint64_t bytes;       /**< bytes ever allocated */
    uint64_t growths;     /**< blocks that had to grow, in place or by moving */
    uint64_t copied;      /**< payload bytes that buffers copied: growth, consolidation, keep, own, gather */
    uint64_t live;        /**< blocks allocated and not yet released */
    uint64_t live_bytes;  /**< bytes allocated and not yet released */
} leat_alloc_stats;

/** What happened to a buffer, for allocators that keep a ledger. */
typedef enum leat_alloc_event {
    LEAT_ALLOC_MADE,
    LEAT_ALLOC_RETAINED,
    LEAT_ALLOC_RELEASED, /**< one reference less */
    LEAT_ALLOC_DIED,     /**< the last reference went; the handle's memory comes back by `release` */
    LEAT_ALLOC_TOUCHED,  /**< passed on, or marked by leat_bytebuf_touch */
    LEAT_ALLOC_MISUSED   /**< released again or used after its last release */
} leat_alloc_event;

typedef struct leat_alloc leat_alloc;

/** What an allocator can do. Blocks are aligned to 16 bytes. */
typedef struct leat_alloc_ops {
    /** Returns a block of at least `size` bytes and sets `*usable` to what it really holds; NULL = no memory. */
    void *(*allocate)(leat_alloc *alloc, size_t size, size_t *usable);
    /** Grows a block without moving it; false = it cannot, and nothing changed. */
    bool (*grow_in_place)(leat_alloc *alloc, void *block, size_t old_usable, size_t size, size_t *usable);
    /** Takes a block back; `usable` is what `allocate` or `grow_in_place` said. */
    void (*release)(leat_alloc *alloc, void *block, size_t usable);
    /** NULL, or: `what` happened to the buffer at `where` ("file:line", static, or NULL). */
    void (*note)(leat_alloc *alloc, const void *buffer, leat_alloc_event what, const char *where);
    /** NULL, or: gives memory that is free but still held back to the system; may take milliseconds. Any thread. */
    void (*trim)(leat_alloc *alloc);
    void *reserved[3];
} leat_alloc_ops;

/** An allocator. Embed it as the first member of your own. */
struct leat_alloc {
    const leat_alloc_ops *ops;
    leat_alloc_stats *stats; /**< where buffers count growths and copies; NULL = nobody counts */
};

/** Returns the allocator that takes every block from malloc (or jemalloc when the program has it). Any thread. */
LEAT_API leat_alloc *leat_unpooled(void);

/** Allocates `size` bytes; NULL = no memory. `usable` may be NULL. */
LEAT_API void *leat_alloc_take(leat_alloc *alloc, size_t size, size_t *usable);

/** Allocates `size` zeroed bytes; NULL = no memory. */
LEAT_API void *leat_alloc_take_zeroed(leat_alloc *alloc, size_t size);

/** Gives a block back; NULL is fine. `size` is its usable size if that was asked for, else what it was taken with. */
LEAT_API void leat_alloc_give(leat_alloc *alloc, void *block, size_t size);

/** An allocator that refuses: counts the blocks asked of it and fails the chosen one, or that and all later ones. */
typedef struct leat_failing_alloc {
    leat_alloc alloc;
    leat_alloc *inner;
    uint64_t asked;   /**< blocks (and growths in place) asked for so far */
    uint64_t fail_at; /**< the ordinal (from 1) that fails; 0 = none */
    bool from_then_on;
} leat_failing_alloc;

/** Initialises a failing allocator over `inner`; fails nothing until `fail_at` is set. Needs no clean-up. */
LEAT_API void leat_failing_alloc_init(leat_failing_alloc *failing, leat_alloc *inner);

/** An allocator that only counts, in `counted`, what passes through it. */
typedef struct leat_counting_alloc {
    leat_alloc alloc;
    leat_alloc *inner;
    leat_alloc_stats counted;
} leat_counting_alloc;

/** Initialises a counting allocator over `inner`. Needs no clean-up. */
LEAT_API void leat_counting_alloc_init(leat_counting_alloc *counting, leat_alloc *inner);

/**
 * An allocator with a ledger: it knows who made each buffer and who touched it last, keeps dead buffers for a while so
 * that a second release or a use after the last one is reported with both places, and names what leaked.
 */
typedef struct leat_tracking_alloc leat_tracking_alloc;

/** Makes a tracking allocator over `inner`; NULL = no memory. The caller owns it until leat_tracking_alloc_free. */
LEAT_API leat_tracking_alloc *leat_tracking_alloc_new(leat_alloc *inner);

/** Returns the allocator to hand to buffers and channels; it belongs to `tracking`. */
LEAT_API leat_alloc *leat_tracking_alloc_base(leat_tracking_alloc *tracking);

/** Says who acts from now on (a handler's name, static, or NULL), for the records that follow. */
LEAT_API void leat_tracking_alloc_actor(leat_tracking_alloc *tracking, const char *name);

/** Adds a complaint to the ledger: a line about a broken rule, counted and reported as a misuse. */
LEAT_API void leat_tracking_alloc_complain(leat_tracking_alloc *tracking, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** What the ledger tells of a live buffer: the handle, and who touched it last (NULL = nobody named). */
typedef void (*leat_tracking_alloc_visit)(void *context, const void *buffer, const char *actor);

/** Visits every live buffer, oldest first; `visit` must not make or release any. */
LEAT_API void leat_tracking_alloc_each(const leat_tracking_alloc *tracking, leat_tracking_alloc_visit visit,
                                       void *context);

/** Returns how many buffers and other blocks are live. */
LEAT_API size_t leat_tracking_alloc_live(const leat_tracking_alloc *tracking);

/** Returns how many misuses (second releases, uses after the last release, complaints) were seen. */
LEAT_API size_t leat_tracking_alloc_misuses(const leat_tracking_alloc *tracking);

/**
 * Writes the ledger as text, a line a leak or misuse: what, how large, who made it and who touched it last.
 * Writes at most `size` bytes with the final NUL and returns the length of the whole text, as snprintf does.
 */
LEAT_API size_t leat_tracking_alloc_report(const leat_tracking_alloc *tracking, char *text, size_t size);

/** Frees the allocator, dead buffers that it kept, and (so that a test can go on) everything that leaked. */
LEAT_API void leat_tracking_alloc_free(leat_tracking_alloc *tracking);

LEAT_END_DECLS

#endif
