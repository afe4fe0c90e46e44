/** What fuzz targets of decoders share: bytes in, cut anywhere, and nothing may be left over. */
#ifndef LEAT_TESTS_FUZZ_FEED_H
#define LEAT_TESTS_FUZZ_FEED_H

#include "core/embedded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** What the application does with a message that reached it; it owns the message. NULL = releases it. */
typedef void (*fuzz_answer)(leat_embedded *embedded, leat_msg msg);

/**
 * Feeds `data` to a fresh channel of `stages` in pieces whose lengths follow from the data, lets a minute pass, ends
 * the stream, lets another one pass, and aborts if something leaked, was misused or is still held. Stages that the
 * pipeline refuses are fine.
 */
void fuzz_feed(const leat_stage *stages, const uint8_t *data, size_t size, fuzz_answer answer);

#endif
