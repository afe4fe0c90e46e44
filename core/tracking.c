/* The ledger: an allocator that knows who made each buffer, who touched it last, and what became of it. */
#include "core/alloc.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TOUCHES 4       /* how many last touches a block remembers */
#define MISUSES 32      /* how many misuses are remembered with their places; all are counted */
#define COMPLAINTS 2048 /* bytes of complaints that are remembered; all are counted */
#define MOST_KEPT 1024  /* released blocks that stay, so that a use of them can be told */
#define MOST_KEPT_BYTES ((size_t)16 << 20)

/** Who did something, and where. */
typedef struct place {
    const char *actor;
    const char *where;
    leat_alloc_event what;
} place;

/** What is known of a block; it lies right before the block. */
typedef struct record {
    struct record *next;
    struct record *previous;
    size_t size;   /* of the block */
    size_t usable; /* of record and block, as the inner allocator gave it */
    bool is_buffer;
    bool is_dead; /* the buffer's last reference went; slices may still hold the block */
    uint32_t touches;
    place made;
    place died;
    place touched[TOUCHES]; /* a ring */
} record;

#define RECORD_SIZE ((sizeof(record) + 15) & ~(size_t)15)

typedef struct misuse {
    size_t size;
    place made;
    place died;
    place again;
} misuse;

/** A list with a sentinel: first = head.next, last = head.previous. */
typedef struct list {
    record head;
    size_t count;
    size_t bytes;
} list;

struct leat_tracking_alloc {
    leat_alloc alloc;
    leat_alloc *inner;
    pthread_mutex_t lock; /* a buffer may be released on any thread */
    const char *actor;
    list live;
    list kept;
    size_t misuse_count;
    size_t remembered;
    misuse misuses[MISUSES];
    char complaints[COMPLAINTS];
    size_t complaints_length;
};

static leat_tracking_alloc *tracking_of(leat_alloc *alloc) {
    return (leat_tracking_alloc *)alloc;
}

static record *record_of(const void *block) {
    return (record *)(uintptr_t)((const uint8_t *)block - RECORD_SIZE);
}

static void *block_of(record *entry) {
    return (uint8_t *)entry + RECORD_SIZE;
}

/* ---- lists ---- */

static void empty(list *of) {
    of->head.next = of->head.previous = &of->head;
    of->count = of->bytes = 0;
}

static void append(list *to, record *entry) {
    entry->previous = to->head.previous;
    entry->next = &to->head;
    entry->previous->next = entry->next->previous = entry;
    to->count++;
    to->bytes += entry->usable;
}

static void unlink_record(list *from, record *entry) {
    entry->previous->next = entry->next;
    entry->next->previous = entry->previous;
    from->count--;
    from->bytes -= entry->usable;
}

static void give_first(leat_tracking_alloc *tracking, list *from) {
    record *entry = from->head.next;
    unlink_record(from, entry);
    leat_alloc_give(tracking->inner, entry, entry->usable);
}

/* ---- blocks ---- */

static void *allocate(leat_alloc *alloc, size_t size, size_t *usable) {
    leat_tracking_alloc *tracking = tracking_of(alloc);
    if (size > SIZE_MAX - RECORD_SIZE)
        return NULL;
    size_t held;
    record *entry = leat_alloc_take(tracking->inner, RECORD_SIZE + size, &held);
    if (!entry)
        return NULL;
    memset(entry, 0, sizeof *entry);
    entry->usable = held;
    entry->size = usable ? held - RECORD_SIZE : size;
    if (usable)
        *usable = entry->size;
    pthread_mutex_lock(&tracking->lock);
    entry->made = (place){tracking->actor, NULL, LEAT_ALLOC_MADE};
    append(&tracking->live, entry);
    pthread_mutex_unlock(&tracking->lock);
    return block_of(entry);
}

static bool grow_in_place(leat_alloc *alloc, void *block, size_t old_usable, size_t size, size_t *usable) {
    leat_tracking_alloc *tracking = tracking_of(alloc);
    record *entry = record_of(block);
    size_t held;
    (void)old_usable;
    if (size > SIZE_MAX - RECORD_SIZE)
        return false;
    const leat_alloc_ops *ops = tracking->inner->ops;
    if (!ops->grow_in_place(tracking->inner, entry, entry->usable, RECORD_SIZE + size, &held))
        return false;
    pthread_mutex_lock(&tracking->lock);
    tracking->live.bytes += held - entry->usable;
    entry->usable = held;
    entry->size = held - RECORD_SIZE;
    pthread_mutex_unlock(&tracking->lock);
    *usable = entry->size;
    return true;
}

/* A released block stays for a while: its record, and the dead handle in it, answer whoever still has its address. */
static void release(leat_alloc *alloc, void *block, size_t usable) {
    leat_tracking_alloc *tracking = tracking_of(alloc);
    (void)usable;
    pthread_mutex_lock(&tracking->lock);
    record *entry = record_of(block);
    unlink_record(&tracking->live, entry);
    append(&tracking->kept, entry);
    while (tracking->kept.count > MOST_KEPT || (tracking->kept.bytes > MOST_KEPT_BYTES && tracking->kept.count > 1))
        give_first(tracking, &tracking->kept);
    pthread_mutex_unlock(&tracking->lock);
}

/* ---- events ---- */

static void remember_misuse(leat_tracking_alloc *tracking, const record *entry, place again) {
    if (tracking->remembered < MISUSES)
        tracking->misuses[tracking->remembered++] = (misuse){entry->size, entry->made, entry->died, again};
    tracking->misuse_count++;
}

static void note(leat_alloc *alloc, const void *buffer, leat_alloc_event what, const char *where) {
    leat_tracking_alloc *tracking = tracking_of(alloc);
    pthread_mutex_lock(&tracking->lock);
    record *entry = record_of(buffer);
    place now = {tracking->actor, where, what};
    entry->is_buffer = true;
    if (what == LEAT_ALLOC_MADE) {
        entry->made = now;
    } else if (what == LEAT_ALLOC_DIED) {
        entry->died = now;
        entry->is_dead = true;
    } else if (what == LEAT_ALLOC_MISUSED) {
        remember_misuse(tracking, entry, now);
    } else {
        entry->touched[entry->touches++ % TOUCHES] = now;
    }
    pthread_mutex_unlock(&tracking->lock);
}

/* ---- the allocator ---- */

leat_tracking_alloc *leat_tracking_alloc_new(leat_alloc *inner) {
    static const leat_alloc_ops ops = {
        .allocate = allocate, .grow_in_place = grow_in_place, .release = release, .note = note};
    leat_tracking_alloc *tracking = leat_alloc_take_zeroed(inner, sizeof *tracking);
    if (!tracking)
        return NULL;
    if (pthread_mutex_init(&tracking->lock, NULL) != 0) {
        leat_alloc_give(inner, tracking, sizeof *tracking);
        return NULL;
    }
    tracking->alloc = (leat_alloc){.ops = &ops, .stats = inner->stats};
    tracking->inner = inner;
    empty(&tracking->live);
    empty(&tracking->kept);
    return tracking;
}

leat_alloc *leat_tracking_alloc_base(leat_tracking_alloc *tracking) {
    return &tracking->alloc;
}

void leat_tracking_alloc_actor(leat_tracking_alloc *tracking, const char *name) {
    pthread_mutex_lock(&tracking->lock);
    tracking->actor = name;
    pthread_mutex_unlock(&tracking->lock);
}

size_t leat_tracking_alloc_live(const leat_tracking_alloc *tracking) {
    return tracking->live.count;
}

size_t leat_tracking_alloc_misuses(const leat_tracking_alloc *tracking) {
    return tracking->misuse_count;
}

void leat_tracking_alloc_free(leat_tracking_alloc *tracking) {
    if (!tracking)
        return;
    while (tracking->live.count > 0)
        give_first(tracking, &tracking->live);
    while (tracking->kept.count > 0)
        give_first(tracking, &tracking->kept);
    pthread_mutex_destroy(&tracking->lock);
    leat_alloc_give(tracking->inner, tracking, sizeof *tracking);
}

/* ---- the report ---- */

/** A text that grows as snprintf counts: what does not fit is only counted. */
typedef struct report {
    char *text;
    size_t size;
    size_t length;
} report;

__attribute__((format(printf, 2, 3))) static void say(report *to, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t left = to->length < to->size ? to->size - to->length : 0;
    int n = vsnprintf(left > 0 ? to->text + to->length : NULL, left, format, arguments);
    va_end(arguments);
    if (n > 0)
        to->length += (size_t)n;
}

static const char *verb(leat_alloc_event what) {
    static const char *const verbs[] = {[LEAT_ALLOC_MADE] = "made",         [LEAT_ALLOC_RETAINED] = "retained",
                                        [LEAT_ALLOC_RELEASED] = "released", [LEAT_ALLOC_DIED] = "released for good",
                                        [LEAT_ALLOC_TOUCHED] = "touched",   [LEAT_ALLOC_MISUSED] = "used again"};
    return verbs[what];
}

static void say_place(report *to, const char *before, const place *at) {
    say(to, "%s%s", before, verb(at->what));
    if (at->actor)
        say(to, " by %s", at->actor);
    if (at->where)
        say(to, " at %s", at->where);
}

static void say_leak(report *to, const record *entry) {
    const char *kind = !entry->is_buffer ? "block" : entry->is_dead ? "buffer that slices still hold" : "buffer";
    say(to, "leak: %s, %zu bytes", kind, entry->size);
    say_place(to, ", ", &entry->made);
    uint32_t shown = entry->touches < TOUCHES ? entry->touches : TOUCHES;
    for (uint32_t i = 1; i <= shown; i++)
        say_place(to, i == 1 ? ", last " : ", before that ", &entry->touched[(entry->touches - i) % TOUCHES]);
    if (entry->is_dead)
        say_place(to, ", ", &entry->died);
    say(to, "\n");
}

static void say_misuse(report *to, const misuse *seen) {
    say(to, "misuse: buffer, %zu bytes", seen->size);
    say_place(to, ", ", &seen->again);
    say_place(to, " after it was ", &seen->died);
    say_place(to, ", ", &seen->made);
    say(to, "\n");
}

static const char *last_actor(const record *entry) {
    return entry->touches > 0 ? entry->touched[(entry->touches - 1) % TOUCHES].actor : entry->made.actor;
}

void leat_tracking_alloc_each(const leat_tracking_alloc *tracking, leat_tracking_alloc_visit visit, void *context) {
    for (record *entry = tracking->live.head.next; entry != &tracking->live.head; entry = entry->next)
        if (entry->is_buffer && !entry->is_dead)
            visit(context, block_of(entry), last_actor(entry));
}

void leat_tracking_alloc_complain(leat_tracking_alloc *tracking, const char *format, ...) {
    pthread_mutex_lock(&tracking->lock);
    tracking->misuse_count++;
    size_t left = sizeof tracking->complaints - tracking->complaints_length;
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(tracking->complaints + tracking->complaints_length, left, format, arguments);
    va_end(arguments);
    bool fits = n >= 0 && (size_t)n + 1 < left;
    if (fits) {
        tracking->complaints_length += (size_t)n + 1;
        tracking->complaints[tracking->complaints_length - 1] = '\n';
    }
    tracking->complaints[tracking->complaints_length] = '\0';
    pthread_mutex_unlock(&tracking->lock);
}

size_t leat_tracking_alloc_report(const leat_tracking_alloc *tracking, char *text, size_t size) {
    report to = {text, size, 0};
    if (size > 0)
        text[0] = '\0';
    for (const record *entry = tracking->live.head.next; entry != &tracking->live.head; entry = entry->next)
        say_leak(&to, entry);
    for (size_t i = 0; i < tracking->remembered; i++)
        say_misuse(&to, &tracking->misuses[i]);
    say(&to, "%s", tracking->complaints);
    return to.length;
}
