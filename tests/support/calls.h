/** Calls on buffers in random order, with flat arrays beside them: what a model of all of them is made of. */
#ifndef LEAT_TESTS_SUPPORT_CALLS_H
#define LEAT_TESTS_SUPPORT_CALLS_H

#include "core/pool.h"
#include "tests/support/flat.h"

/** How many buffers there are at a time. */
enum { CALL_SLOTS = 6 };

/** Buffers and their arrays, an allocator that fails at times, and the bytes of a step. */
typedef struct call_model {
    slot slots[CALL_SLOTS];
    leat_failing_alloc failing;
    leat_pool *pool; /* over the failing allocator, too */
    leat_alloc *alloc;
    uint64_t random;
    uint8_t bytes[1024];
    size_t n; /* how many of them the step uses */
} call_model;

/** Does something to `one`, and perhaps with `other`, and the same to the arrays; false = refused, nothing changed. */
typedef bool (*call_fn)(call_model *of, slot *one, slot *other);

/** A call and its name. */
typedef struct call_entry {
    call_fn make;
    const char *name;
} call_entry;

#define CALL(name)                                                                                                     \
    { name, #name }

/** The calls that make and share buffers, move indices and append; those that read and look; those of composites. Each
 * list ends with NULL. */
extern const call_entry calls_that_write[], calls_that_look[], calls_on_composites[];

/** Puts a buffer with the bytes of the step into a slot; with all of its memory. */
void call_refill(call_model *of, slot *to);

static inline uint32_t next_random(call_model *of) {
    of->random = of->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(of->random >> 33);
}

static inline size_t below(call_model *of, size_t n) {
    return n == 0 ? 0 : next_random(of) % n;
}

/* What was done to the buffer is done to the array, if it was. */
static inline bool appended(slot *to, bool done, const void *bytes, size_t n) {
    if (done)
        put_behind(to, bytes, n);
    return done;
}

static inline bool renew(slot *to, leat_bytebuf *buf, const void *bytes, size_t n) {
    if (!buf)
        return false;
    forget(to);
    to->buf = buf;
    put_behind(to, bytes, n);
    return true;
}

#endif
