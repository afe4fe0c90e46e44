#include "core/alloc.h"

#include <stdlib.h>
#include <string.h>

/* jemalloc's own interface, when the program has it: sizes rounded up to its classes, growth in place, sized frees. */
extern void *mallocx(size_t size, int flags) __attribute__((weak));
extern size_t xallocx(void *block, size_t size, size_t extra, int flags) __attribute__((weak));
extern void sdallocx(void *block, size_t size, int flags) __attribute__((weak));
extern size_t nallocx(size_t size, int flags) __attribute__((weak));

extern int mallctl(const char *name, void *old, size_t *old_size, void *value, size_t size) __attribute__((weak));
/* What glibc has for the same purpose. */
extern int malloc_trim(size_t pad) __attribute__((weak));

static bool has_jemalloc(void) {
    return mallocx && xallocx && sdallocx && nallocx;
}

/* jemalloc has a class below the 16 bytes that blocks are aligned to: it must hear the same size both times. */
static size_t rounded_size(size_t size) {
    return size > 0 ? (size + 15) & ~(size_t)15 : 16;
}

static void *allocate_unpooled(leat_alloc *alloc, size_t size, size_t *usable) {
    (void)alloc;
    if (size > SIZE_MAX / 2)
        return NULL;
    size_t rounded = rounded_size(size);
    bool jemalloc = has_jemalloc();
    if (jemalloc)
        rounded = nallocx(rounded, 0);
    void *block = jemalloc ? mallocx(rounded, 0) : malloc(rounded);
    if (block && usable)
        *usable = rounded;
    return block;
}

static bool grow_unpooled(leat_alloc *alloc, void *block, size_t old_usable, size_t size, size_t *usable) {
    (void)alloc;
    (void)old_usable;
    if (!has_jemalloc() || size > SIZE_MAX / 2)
        return false;
    size_t got = xallocx(block, size, 0, 0);
    if (got < size)
        return false;
    *usable = got;
    return true;
}

static void release_unpooled(leat_alloc *alloc, void *block, size_t usable) {
    (void)alloc;
    if (has_jemalloc())
        sdallocx(block, rounded_size(usable), 0);
    else
        free(block);
}

static void trim_unpooled(leat_alloc *alloc) {
    (void)alloc;
    if (has_jemalloc() && mallctl) {
        mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
        mallctl("arena.4096.purge", NULL, NULL, NULL, 0); /* 4096 = all arenas */
    } else if (malloc_trim) {
        malloc_trim(0);
    }
}

leat_alloc *leat_unpooled(void) {
    static const leat_alloc_ops ops = {.allocate = allocate_unpooled,
                                       .grow_in_place = grow_unpooled,
                                       .release = release_unpooled,
                                       .trim = trim_unpooled};
    static leat_alloc unpooled = {.ops = &ops, .stats = NULL}; /* never written to */
    return &unpooled;
}

void *leat_alloc_take(leat_alloc *alloc, size_t size, size_t *usable) {
    return alloc->ops->allocate(alloc, size, usable);
}

void *leat_alloc_take_zeroed(leat_alloc *alloc, size_t size) {
    void *block = leat_alloc_take(alloc, size, NULL);
    if (block)
        memset(block, 0, size);
    return block;
}

void leat_alloc_give(leat_alloc *alloc, void *block, size_t size) {
    if (block)
        alloc->ops->release(alloc, block, size);
}

static leat_failing_alloc *failing_of(leat_alloc *alloc) {
    return (leat_failing_alloc *)alloc;
}

static bool refuses(leat_failing_alloc *failing) {
    failing->asked++;
    if (failing->fail_at == 0)
        return false;
    return failing->from_then_on ? failing->asked >= failing->fail_at : failing->asked == failing->fail_at;
}

static void *allocate_or_fail(leat_alloc *alloc, size_t size, size_t *usable) {
    leat_failing_alloc *failing = failing_of(alloc);
    return refuses(failing) ? NULL : failing->inner->ops->allocate(failing->inner, size, usable);
}

static bool grow_or_fail(leat_alloc *alloc, void *block, size_t old_usable, size_t size, size_t *usable) {
    leat_failing_alloc *failing = failing_of(alloc);
    if (refuses(failing))
        return false;
    return failing->inner->ops->grow_in_place(failing->inner, block, old_usable, size, usable);
}

static void release_failing(leat_alloc *alloc, void *block, size_t usable) {
    leat_alloc *inner = failing_of(alloc)->inner;
    inner->ops->release(inner, block, usable);
}

static void note_failing(leat_alloc *alloc, const void *buffer, leat_alloc_event what, const char *where) {
    leat_alloc *inner = failing_of(alloc)->inner;
    if (inner->ops->note)
        inner->ops->note(inner, buffer, what, where);
}

void leat_failing_alloc_init(leat_failing_alloc *failing, leat_alloc *inner) {
    static const leat_alloc_ops silent = {
        .allocate = allocate_or_fail, .grow_in_place = grow_or_fail, .release = release_failing};
    static const leat_alloc_ops noting = {
        .allocate = allocate_or_fail, .grow_in_place = grow_or_fail, .release = release_failing, .note = note_failing};
    *failing = (leat_failing_alloc){.alloc = {.ops = inner->ops->note ? &noting : &silent, .stats = inner->stats},
                                    .inner = inner};
}

static leat_counting_alloc *counting_of(leat_alloc *alloc) {
    return (leat_counting_alloc *)alloc;
}

static void *allocate_counted(leat_alloc *alloc, size_t size, size_t *usable) {
    leat_counting_alloc *counting = counting_of(alloc);
    void *block = counting->inner->ops->allocate(counting->inner, size, usable);
    if (!block)
        return NULL;
    size_t held = usable ? *usable : size;
    counting->counted.allocations++;
    counting->counted.live++;
    counting->counted.bytes += held;
    counting->counted.live_bytes += held;
    return block;
}

static bool grow_counted(leat_alloc *alloc, void *block, size_t old_usable, size_t size, size_t *usable) {
    leat_counting_alloc *counting = counting_of(alloc);
    if (!counting->inner->ops->grow_in_place(counting->inner, block, old_usable, size, usable))
        return false;
    counting->counted.bytes += *usable - old_usable;
    counting->counted.live_bytes += *usable - old_usable;
    return true;
}

static void release_counted(leat_alloc *alloc, void *block, size_t usable) {
    leat_counting_alloc *counting = counting_of(alloc);
    counting->counted.live--;
    counting->counted.live_bytes -= usable;
    counting->inner->ops->release(counting->inner, block, usable);
}

static void note_counted(leat_alloc *alloc, const void *buffer, leat_alloc_event what, const char *where) {
    leat_alloc *inner = counting_of(alloc)->inner;
    if (inner->ops->note)
        inner->ops->note(inner, buffer, what, where);
}

void leat_counting_alloc_init(leat_counting_alloc *counting, leat_alloc *inner) {
    static const leat_alloc_ops silent = {
        .allocate = allocate_counted, .grow_in_place = grow_counted, .release = release_counted};
    static const leat_alloc_ops noting = {
        .allocate = allocate_counted, .grow_in_place = grow_counted, .release = release_counted, .note = note_counted};
    *counting = (leat_counting_alloc){.alloc = {.ops = inner->ops->note ? &noting : &silent}, .inner = inner};
    counting->alloc.stats = &counting->counted;
}
