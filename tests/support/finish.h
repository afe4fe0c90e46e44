/** How tests with embedded channels end, and the messages they write. */
#ifndef LEAT_TESTS_SUPPORT_FINISH_H
#define LEAT_TESTS_SUPPORT_FINISH_H

#include "core/embedded.h"
#include "tests/support/suite.h"

/** Ends the channel and frees it; nothing may be left over. */
static inline void finish(leat_embedded *e) {
    size_t found = leat_embedded_finish(e);
    ck_assert_msg(found == 0, "%s", leat_embedded_report(e));
    leat_embedded_free(e);
}

static inline leat_msg text_msg(leat_embedded *e, const char *text) {
    return leat_msg_of_bytebuf(leat_bytebuf_from_text(leat_embedded_alloc(e), text));
}

#endif
