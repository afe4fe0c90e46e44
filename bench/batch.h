/** Batches of shared events, as a push server sends them, for the suites that build, walk and send them. */
#ifndef LEAT_BENCH_BATCH_H
#define LEAT_BENCH_BATCH_H

#include "bench/harness.h"
#include "core/gather.h"
#include "core/pool.h"

/** A batch to build. */
typedef struct batch_work {
    size_t events;
    size_t size;    /**< bytes an event */
    bool delimited; /**< as Server-Sent Events are */
} batch_work;

/** How Server-Sent Events are delimited; the end of one and the beginning of the next are one piece. */
#define BATCH_PREFIX "data: "
#define BATCH_BETWEEN "\n\ndata: "
#define BATCH_SUFFIX "\n\n"
enum {
    BATCH_PREFIX_LENGTH = sizeof BATCH_PREFIX - 1,
    BATCH_BETWEEN_LENGTH = sizeof BATCH_BETWEEN - 1,
    BATCH_SUFFIX_LENGTH = sizeof BATCH_SUFFIX - 1
};

/** The events of a batch, each shared: somebody else holds it too, as each connection does. */
typedef struct batch_events {
    leat_alloc *below;
    leat_pool *pool;   /**< as a loop has one */
    leat_alloc *alloc; /**< of that pool */
    batch_work work;
    leat_bytebuf **buffers; /**< `work.events` of them */
    leat_span *spans;       /**< room for every span of the batch, for who walks them */
    size_t most_spans;
} batch_events;

/** Makes the events, with the same bytes each time, and room for spans; false = no memory, batch_end frees the rest. */
bool batch_begin(batch_events *batch, const batch_work *work, leat_alloc *below);

/** Frees everything. */
void batch_end(batch_events *batch);

/** Returns how many pieces a batch is wrapped as. */
size_t batch_parts(const batch_work *work);

/** Returns how many bytes a batch has. */
size_t batch_length(const batch_work *work);

/** Builds the batch with leat_gather; the caller owns it. Ends the program when memory runs out. */
leat_bytebuf *batch_gather(const batch_events *batch, leat_gather_mode mode);

#endif
