#include "core/alloc.h"

struct leat_tracking_alloc {
    leat_counting_alloc counting;
};

leat_tracking_alloc *leat_tracking_alloc_new(leat_alloc *inner) {
    leat_tracking_alloc *tracking = leat_alloc_take_zeroed(leat_unpooled(), sizeof *tracking);
    if (tracking) leat_counting_alloc_init(&tracking->counting, inner);
    return tracking;
}

leat_alloc *leat_tracking_alloc_base(leat_tracking_alloc *tracking) {
    return &tracking->counting.alloc;
}

void leat_tracking_alloc_actor(leat_tracking_alloc *tracking, const char *name) {
    (void)tracking;
    (void)name;
}

size_t leat_tracking_alloc_live(const leat_tracking_alloc *tracking) {
    return (size_t)tracking->counting.counted.live;
}

size_t leat_tracking_alloc_misuses(const leat_tracking_alloc *tracking) {
    (void)tracking;
    return 0;
}

size_t leat_tracking_alloc_report(const leat_tracking_alloc *tracking, char *text, size_t size) {
    (void)tracking;
    if (size > 0) text[0] = 0;
    return 0;
}

void leat_tracking_alloc_free(leat_tracking_alloc *tracking) {
    leat_alloc_give(leat_unpooled(), tracking, sizeof *tracking);
}
