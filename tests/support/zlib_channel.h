/** What tests of the zlib handlers share: channels, their ends, and completions that note their order. */
#ifndef LEAT_TESTS_SUPPORT_ZLIB_CHANNEL_H
#define LEAT_TESTS_SUPPORT_ZLIB_CHANNEL_H

#include "core/transport.h"
#include "handlers/zlib_deflater.h"
#include "tests/support/finish.h"
#include "tests/support/zlib_oracle.h"

/** Makes a channel of a deflater; checked. */
static inline leat_embedded *deflating_channel(const leat_zlib_deflater_config *how) {
    leat_embedded *e = leat_embedded_new((leat_stage[]){{&leat_zlib_deflater, how, NULL}, {0}});
    ck_assert_ptr_nonnull(e);
    return e;
}

/** Ends the stream and drops the trailer. */
static inline void finish_stream(leat_embedded *e) {
    leat_embedded_close(e);
    leat_bytebuf_release(leat_embedded_take_written(e));
    finish(e);
}

#endif
