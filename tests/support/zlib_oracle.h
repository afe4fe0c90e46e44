/** zlib called by hand, in one go: what the handlers are held against; and bytes of every kind to deflate. */
#ifndef LEAT_TESTS_SUPPORT_ZLIB_ORACLE_H
#define LEAT_TESTS_SUPPORT_ZLIB_ORACLE_H

#include "core/bytebuf.h"
#include "core/poison_internal.h"
#include "handlers/zlib.h"

/* With sanitizers tests try every so manieth of the cases that the release build tries. */
#if defined(LEAT_ASAN) || defined(__SANITIZE_THREAD__)
enum { EVERY_NTH = 20 };
#else
enum { EVERY_NTH = 1 };
#endif

/** How zlib is to deflate; zero = its defaults. */
typedef struct oracle_options {
    leat_zlib_format format;
    int level; /* 0 = 6 */
    int memory_level;
    leat_span dictionary;
    bool unfinished; /* end with a sync flush instead of a trailer */
} oracle_options;

/** Deflates in one call into a buffer that is large enough for all; checked. The caller owns the result. */
leat_bytebuf *oracle_deflate(const void *bytes, size_t length, const oracle_options *options);

/** Inflates what `in` holds, whole or cut short, with a dictionary or none; checked. The caller owns the result. */
leat_bytebuf *oracle_inflate(const leat_bytebuf *in, leat_zlib_format format, leat_span dictionary);

/** Tells whether `in` is one whole stream and nothing more. */
bool oracle_is_whole(const leat_bytebuf *in, leat_zlib_format format);

/** Returns the next number of a fixed sequence. */
uint32_t oracle_random(uint64_t *state);

/** Fills `bytes` with runs, text, repetitions and noise, in lengths and proportions that follow from the state. */
void oracle_fill(uint64_t *state, uint8_t *bytes, size_t length);

/** Asserts that a buffer holds just these bytes, and releases it. */
void assert_bytes(leat_bytebuf *buf, const void *bytes, size_t length);

/** The same with what was written so: "789c 03 00". */
void assert_hex(leat_bytebuf *buf, const char *hex);

#endif
