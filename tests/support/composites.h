/** Composites of texts, and what tests of composites ask of them. */
#ifndef LEAT_TESTS_SUPPORT_COMPOSITES_H
#define LEAT_TESTS_SUPPORT_COMPOSITES_H

#include "core/composite.h"

#include <check.h>
#include <string.h>

static inline leat_bytebuf *text(const char *characters) {
    return leat_bytebuf_from_text(leat_unpooled(), characters);
}

/** A composite of one component for each text, up to NULL. */
static inline leat_composite *composite_of(const char *const *texts) {
    leat_composite *composite = leat_composite_new(leat_unpooled(), 2);
    for (; *texts; texts++)
        ck_assert_int_eq(leat_composite_add(composite, text(*texts)), 0);
    return composite;
}

static inline leat_composite *three(void) {
    return composite_of((const char *const[]){"abc", "defg", "hi", NULL});
}

static inline void assert_text(leat_composite *composite, const char *expected) {
    const leat_bytebuf *buf = leat_composite_buffer(composite);
    ck_assert(leat_bytebuf_is_valid(buf));
    ck_assert_msg(leat_bytebuf_equals_bytes(buf, expected, strlen(expected)), "the composite does not hold \"%s\"",
                  expected);
}

static inline void end(leat_composite *composite) {
    leat_bytebuf_release(leat_composite_buffer(composite));
}

#endif
