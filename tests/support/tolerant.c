#include "tests/support/tolerant.h"

#include "tests/support/suite.h"

static const leat_type tolerated = {.name = "tolerated error"};

static void swallow(leat_ctx *ctx, int code) {
    leat_ctx_fire_event(ctx, leat_msg_of(&tolerated, (void *)(intptr_t)code));
}

const leat_handler tolerant = {.name = "tolerant", .error = swallow};

int take_tolerated(leat_embedded *embedded) {
    leat_msg event;
    if (!leat_embedded_take_event(embedded, &event))
        return 0;
    ck_assert_ptr_eq(event.type, &tolerated);
    return (int)(intptr_t)event.obj;
}

void assert_nothing_left(leat_embedded *embedded) {
    ck_assert_msg(leat_embedded_finish(embedded) == 0, "%s", leat_embedded_report(embedded));
    leat_embedded_free(embedded);
}
