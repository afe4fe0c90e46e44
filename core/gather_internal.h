/** The inside of a gather, for its two sources only. Not installed. */
#ifndef LEAT_CORE_GATHER_INTERNAL_H
#define LEAT_CORE_GATHER_INTERNAL_H

#include "core/composite_internal.h"
#include "core/gather.h"

#include <string.h>

#define LEAT_GATHER_MOST_GUESSED 65536 /* bytes that are taken for pieces which may turn out to be others */
#define LEAT_GATHER_MOST_IN_RUN                                                                                        \
    (UINT64_C(1) << 32)                 /* bytes of a piece: the sum of all the slots there may be holds it */
#define LEAT_GATHER_MOST_EXPECTED 65536 /* pieces that slots are made for beforehand */
#define LEAT_GATHER_SMALL_STATIC 256    /* static pieces up to here are copied to become one span with a neighbour */

/*
 * Runs: as long as pieces of one kind follow each other, a slot or room for each is all they need. A run is open while
 * `slot` or `room` is set; it begins with a piece that was added without it.
 */

/* Says whether a buffer may be part of a run: it is plain, and no ledger wants to hear of it. */
static inline bool leat_gather_is_simple(const leat_bytebuf *buf) {
    return !leat_bytebuf_has_flag(buf, LEAT_BYTEBUF_PARTED | LEAT_BYTEBUF_NOTED);
}

/* Says whether a static piece is better copied than referred to when what is beside it is copied. */
static inline bool leat_gather_joins_copies(const leat_gather *gather, size_t n) {
    return gather->mode == LEAT_GATHER_COPY || n <= LEAT_GATHER_SMALL_STATIC;
}

/* Says whether nothing was added yet, or only a static piece. */
static inline bool leat_gather_is_new(const leat_gather *gather) {
    return !gather->staging && !gather->composite && gather->error == 0;
}

/* Makes staging for what is expected when the pieces go on like the first, and for at least `all` bytes, puts the
   static piece that waits into it and begins a run of copies with a simple buffer. false = nothing was done. */
bool leat_gather_begin_copies(leat_gather *gather, const leat_bytebuf *first, uint64_t all);

/* Makes the composite, puts the static piece that waits into it and begins a run of references with a simple buffer,
   which is retained. false = no memory, which is kept as the error. */
bool leat_gather_begin_references(leat_gather *gather, leat_bytebuf *first);

#endif
