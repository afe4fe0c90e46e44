/* Adding many buffers at once: the runs of a gather in tight loops. */
#include "core/gather_internal.h"
#include "core/wide_internal.h"

enum { SAMPLES = 16, MOST_ASKED = 4 << 20 /* bytes of room at the beginning; more only when they are needed */ };

/* What stands between each two buffers. */
typedef struct joint {
    const uint8_t *bytes;
    size_t length;
} joint;

/* Says whether a run of references is open and ends with a buffer, so that a static piece may follow. */
static bool refers(const leat_gather *gather, joint between) {
    return gather->slot != gather->slots_end && gather->slot[-1].owner && between.length <= LEAT_GATHER_MOST_IN_RUN;
}

/* Says whether a run of copies is open in which joints are copied too. */
static bool copies(const leat_gather *gather, joint between) {
    return gather->room && leat_gather_joins_copies(gather, between.length);
}

/* Fills a slot for each buffer that goes on with the run, and one before it for a joint if `paired`; returns how many.
 */
static inline size_t fill_slots(leat_gather *gather, leat_bytebuf *const *bufs, size_t n, bool paired, joint between) {
    leat_component *slot = gather->slot;
    uint64_t length = gather->length, from = gather->refer_from, range = LEAT_GATHER_MOST_IN_RUN - from;
    size_t i = 0;
    for (; i < n; i++) {
        leat_bytebuf *buf = bufs[i];
        if (!buf || !leat_gather_is_simple(buf))
            break;
        uint64_t reader = buf->reader, readable = buf->writer - reader;
        if (readable - from > range)
            break;
        if (paired)
            *slot++ = (leat_component){between.bytes, length += between.length, NULL};
        *slot++ = (leat_component){buf->bytes + reader, length += readable, buf};
    }
    gather->slot = slot;
    gather->length = length;
    return i;
}

/* Not while the slots are filled: a locked instruction waits until all that was stored before it is in the cache. */
static void retain_all(leat_bytebuf *const *bufs, size_t n) {
    for (size_t i = 0; i < n; i++)
        leat_bytebuf_retain_quietly(bufs[i]);
}

/* Refers to as many buffers, with their joints, as there are slots for; returns how many. */
__attribute__((noinline)) static size_t refer_on(leat_gather *gather, leat_bytebuf *const *bufs, size_t n,
                                                 joint between) {
    bool paired = between.length > 0;
    size_t slots = (size_t)(gather->slots_end - gather->slot) / (paired ? 2 : 1);
    size_t most = n < slots ? n : slots;
    size_t taken =
        paired ? fill_slots(gather, bufs, most, true, between) : fill_slots(gather, bufs, most, false, between);
    retain_all(bufs, taken);
    return taken;
}

/* Copies `n` bytes, at least `end` and at most twice that, as the first `end` and the last: `end` is a constant. */
static inline void copy_ends(uint8_t *to, const uint8_t *from, size_t n, size_t end) {
    size_t last = n - end;
    for (size_t at = 0; at < end; at += sizeof(leat_wide))
        *(leat_wide *)(void *)(to + at) = *(const leat_wide *)(const void *)(from + at);
    for (size_t at = last; at < n; at += sizeof(leat_wide))
        *(leat_wide *)(void *)(to + at) = *(const leat_wide *)(const void *)(from + at);
}

enum { LEAST_WIDE = 32, MOST_WIDE = 256 /* bytes that are copied in less time than memcpy needs to be called */ };

_Static_assert(MOST_WIDE < LEAT_GATHER_THRESHOLD, "what is copied by wide registers is never referred to");

static inline void copy_wide(uint8_t *to, const uint8_t *from, size_t n) {
    if (n > 128)
        copy_ends(to, from, n, 128);
    else if (n > 64)
        copy_ends(to, from, n, 64);
    else
        copy_ends(to, from, n, 32);
}

/* A joint as its first and its last eight bytes; those of 8 to 16 bytes have no others. */
typedef struct held_joint {
    uint64_t first, last;
    size_t length;
} held_joint;

static held_joint hold(joint between) {
    held_joint held = {0, 0, between.length};
    if (between.length > 0) {
        memcpy(&held.first, between.bytes, sizeof held.first);
        memcpy(&held.last, between.bytes + between.length - sizeof held.last, sizeof held.last);
    }
    return held;
}

static inline uint8_t *copy_held(uint8_t *to, held_joint between) {
    memcpy(to, &between.first, sizeof between.first);
    if (between.length > sizeof between.first)
        memcpy(to + between.length - sizeof between.last, &between.last, sizeof between.last);
    return to + between.length;
}

/* Counts what a run of copies of `n` pieces, each behind a joint, took of the room. */
static void took_room(leat_gather *gather, uint8_t *room, size_t n, joint between) {
    gather->copied += (uint64_t)(room - gather->room) - n * between.length;
    gather->room = room;
}

/* Copies buffers of these sizes, each with a joint before it if `paired`, while they go on with the run: without a
   call, so that all it needs stays in registers. The joint fits in the room. */
static inline size_t copy_wide_until(leat_gather *gather, leat_bytebuf *const *bufs, size_t n, bool paired,
                                     joint between) {
    const held_joint held = hold(between);
    leat_bytebuf *const *next = bufs, *const *stop = bufs + n;
    uint8_t *room = gather->room;
    const uint8_t *room_end = gather->room_end - between.length;
    for (; next < stop; next++) {
        const leat_bytebuf *buf = *next;
        if (!buf || !leat_gather_is_simple(buf))
            break;
        uint64_t reader = buf->reader, length = buf->writer - reader;
        if (length - LEAST_WIDE > MOST_WIDE - LEAST_WIDE || room + length > room_end)
            break;
        if (paired)
            room = copy_held(room, held);
        copy_wide(room, buf->bytes + reader, (size_t)length);
        room += length;
    }
    took_room(gather, room, (size_t)(next - bufs), between);
    return (size_t)(next - bufs);
}

LEAT_WIDE static size_t copy_wide_on(leat_gather *gather, leat_bytebuf *const *bufs, size_t n, joint between) {
    if (!LEAT_IS_WIDE)
        return 0;
    if (between.length == 0)
        return copy_wide_until(gather, bufs, n, false, between);
    if (between.length < sizeof(uint64_t) || between.length > 2 * sizeof(uint64_t))
        return 0;
    return copy_wide_until(gather, bufs, n, true, between);
}

static bool is_wide(const leat_bytebuf *buf) {
    return LEAT_IS_WIDE && leat_bytebuf_readable(buf) - LEAST_WIDE <= MOST_WIDE - LEAST_WIDE;
}

/* Copies buffers, each with a joint before it, while they go on with the run and need memcpy, the first in any case. */
__attribute__((noinline)) static size_t copy_any_on(leat_gather *gather, leat_bytebuf *const *bufs, size_t n,
                                                    joint between) {
    uint8_t *room = gather->room;
    uint64_t most = gather->refer_from - 1;
    size_t i = 0;
    for (; i < n && bufs[i] && leat_gather_is_simple(bufs[i]) && (i == 0 || !is_wide(bufs[i])); i++) {
        uint64_t length = leat_bytebuf_readable(bufs[i]);
        if (length - 1 >= most || length + between.length > (uint64_t)(gather->room_end - room))
            break;
        if (between.length > 0)
            memcpy(room, between.bytes, between.length);
        memcpy(room + between.length, bufs[i]->bytes + bufs[i]->reader, (size_t)length);
        room += between.length + length;
    }
    took_room(gather, room, i, between);
    return i;
}

/* Copies as many buffers, with their joints, as there is room for; returns how many. */
static size_t copy_on(leat_gather *gather, leat_bytebuf *const *bufs, size_t n, joint between) {
    if (between.length > (size_t)(gather->room_end - gather->room))
        return 0;
    size_t taken = copy_wide_on(gather, bufs, n, between);
    return taken == n ? n : taken + copy_any_on(gather, bufs + taken, n - taken, between);
}

/* Goes on with the run that is open, if there is one; returns for how many buffers. */
static size_t run_on(leat_gather *gather, leat_bytebuf *const *bufs, size_t n, joint between) {
    if (copies(gather, between))
        return copy_on(gather, bufs, n, between);
    return refers(gather, between) ? refer_on(gather, bufs, n, between) : 0;
}

/* About what a list of buffers with their joints comes to, judged by some of them, and a little more. */
static uint64_t size_of_list(leat_bytebuf *const *bufs, size_t n, joint between) {
    size_t step = n / SAMPLES + 1, taken = 0;
    uint64_t size = 0;
    for (size_t i = 0; i < n; i += step, taken++)
        size += bufs[i] ? leat_bytebuf_min(leat_bytebuf_readable(bufs[i]), LEAT_GATHER_MOST_GUESSED) : 0;
    return (size / taken + between.length) * n + size / SAMPLES;
}

/* Where guessing from the first piece could be far off, and growing would copy much again, some more are asked. */
static bool begin_copies(leat_gather *gather, leat_bytebuf *const *bufs, size_t n, joint between) {
    uint64_t first = leat_bytebuf_readable(bufs[0]);
    bool few = n <= LEAT_GATHER_MOST_GUESSED && (first + between.length) * n <= LEAT_GATHER_MOST_GUESSED;
    uint64_t all = few ? 0 : leat_bytebuf_min(size_of_list(bufs, n, between), MOST_ASKED);
    return leat_gather_begin_copies(gather, bufs[0], all);
}

/* Begins a run with the first of the list, if nothing but a static piece that may be part of it was added before;
   returns how many buffers it took. */
static size_t begin_run(leat_gather *gather, leat_bytebuf *const *bufs, size_t n, joint between) {
    if (n == 0 || !bufs[0] || !leat_gather_is_simple(bufs[0]) || !leat_gather_is_new(gather))
        return 0;
    uint64_t first = leat_bytebuf_readable(bufs[0]);
    if (first >= gather->refer_from)
        return leat_gather_begin_references(gather, bufs[0]);
    bool copies = first > 0 && leat_gather_joins_copies(gather, gather->static_length);
    return copies && begin_copies(gather, bufs, n, between);
}

void leat_gather_add_joined(leat_gather *gather, leat_bytebuf *const *bufs, size_t n, const void *between,
                            size_t length) {
    const joint all_between = {between, length};
    size_t i = begin_run(gather, bufs, n, all_between);
    for (;;) {
        if (i > 0)
            i += run_on(gather, bufs + i, n - i, all_between);
        if (i == n)
            return;
        if (i > 0 && length > 0)
            leat_gather_add_static(gather, between, length);
        leat_gather_add_shared(gather, bufs[i++]);
    }
}

void leat_gather_add_shared_list(leat_gather *gather, leat_bytebuf *const *bufs, size_t n) {
    leat_gather_add_joined(gather, bufs, n, NULL, 0);
}
