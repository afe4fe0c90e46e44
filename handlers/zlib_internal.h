/** What the sources of the zlib handlers share. Not installed. */
#ifndef LEAT_HANDLERS_ZLIB_INTERNAL_H
#define LEAT_HANDLERS_ZLIB_INTERNAL_H

#include "core/composite.h"
#include "handlers/zlib_deflater.h"
#include "handlers/zlib_inflater.h"

#include <zlib.h>

/** Of a span that is larger than zlib can count, so much is given to it at once. */
#define LEAT_ZLIB_LARGEST_PIECE ((size_t)1 << 30)

/** Lets zlib take its memory from `alloc`: before deflateInit2 or inflateInit2. */
void leat_zlib_use_alloc(z_stream *stream, leat_alloc *alloc);

/** Returns what zlib calls windowBits: the size of the window with the format in it. */
int leat_zlib_window_bits(leat_zlib_format format, unsigned bits);

/** Returns what a status of zlib means as a code of ours; 0 for one that is no failure. */
int leat_zlib_code(int status);

/** Checks what both configs have; `who` is the handler. Returns 0 or LEAT_EINVAL. */
int leat_zlib_check(const char *who, leat_zlib_format format, unsigned window_bits, uint32_t chunk,
                    leat_problem *problem);

/** A stream, and the blocks it is deflated into. */
typedef struct zlib_deflating {
    leat_zlib_deflater_config config;
    leat_alloc *alloc;
    z_stream stream;
    leat_bytebuf *block;  /* the one being filled */
    leat_composite *full; /* those before it */
    uint64_t unflushed;   /* bytes that went in since the last flush */
    bool begun;           /* zlib has its memory */
} zlib_deflating;

/** Refuses a config that makes no sense; NULL is fine. */
int leat_zlib_deflater_check(const void *config, leat_problem *problem);

/** Initialises a zeroed stream; `config` may be NULL. zlib takes its memory when the first bytes come. */
void leat_zlib_deflating_init(zlib_deflating *self, const leat_zlib_deflater_config *config, leat_alloc *alloc);

/** Makes ready for another stream. */
int leat_zlib_deflating_restart(zlib_deflating *self);

/** Deflates the readable bytes of `in` where they lie, then flushes (Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH). */
int leat_zlib_deflating_feed(zlib_deflating *self, const leat_bytebuf *in, int flush);

/** Makes all that went in come out. */
int leat_zlib_deflating_flush(zlib_deflating *self);

/** Ends the stream: what it holds and the trailer. */
int leat_zlib_deflating_finish(zlib_deflating *self);

/** Takes the full blocks as one buffer; NULL = there are none. */
leat_bytebuf *leat_zlib_deflating_take_full(zlib_deflating *self);

/** Takes all output as one buffer, NULL = there is none. A block that is mostly empty does not leave as it is. */
int leat_zlib_deflating_take_all(zlib_deflating *self, leat_bytebuf **out);

/** Releases the output. */
void leat_zlib_deflating_drop(zlib_deflating *self);

/** Releases everything. */
void leat_zlib_deflating_clean_up(zlib_deflating *self);

/** Where inflating is. */
typedef enum zlib_phase {
    ZLIB_BEFORE, /* no stream has begun */
    ZLIB_INSIDE,
    ZLIB_BEHIND /* a stream has ended; of gzip another may follow */
} zlib_phase;

/** One stream, or gzip members one behind the other. */
typedef struct zlib_inflating {
    leat_zlib_inflater_config config;
    leat_alloc *alloc;
    z_stream stream;
    zlib_phase phase;
    leat_zlib_format format; /* of the stream that has begun */
    uint64_t in_total, out_total;
    bool begun; /* zlib has its memory */
} zlib_inflating;

/** What a step came to, if no failure. */
typedef enum zlib_step {
    ZLIB_NEEDS_INPUT,
    ZLIB_NEEDS_ROOM, /* there may be more without more input */
    ZLIB_TRAILING    /* the rest of the input is none of the stream */
} zlib_step;

/** Refuses a config that makes no sense; NULL is fine. */
int leat_zlib_inflater_check(const void *config, leat_problem *problem);

/** Initialises a zeroed state; `config` may be NULL. zlib takes its memory when the first bytes come. */
void leat_zlib_inflating_init(zlib_inflating *self, const leat_zlib_inflater_config *config, leat_alloc *alloc);

/** Inflates `in`, which becomes what is left of it, into the room that `out` has. Returns a zlib_step or a code. */
int leat_zlib_inflating_step(zlib_inflating *self, leat_span *in, leat_bytebuf *out);

/** Inflates one whole message into `*out`, which the caller owns. Returns 0 or a code. */
int leat_zlib_inflating_message(zlib_inflating *self, const leat_bytebuf *in, leat_bytebuf **out);

/** Releases everything. */
void leat_zlib_inflating_clean_up(zlib_inflating *self);

#endif
