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
static bool refers(const leat_gather *gather) {
    return gather->slot != gather->slots_end && gather->slot[-1].owner;
}

/* Says whether a run of copies is open in which joints are copied too. */
static bool copies(const leat_gather *gather, joint between) {
    return gather->room && leat_gather_joins_copies(gather, between.length);
}

/* Refers to buffers while they go on with the run, each with a joint before it if `paired`; returns the first that does
   not, or `stop`. There are slots for all. */
static inline leat_bytebuf *const *refer_until(leat_gather *gather, leat_bytebuf *const *next,
                                               leat_bytebuf *const *stop, bool paired, joint between) {
    leat_component *slot = gather->slot;
    uint64_t length = gather->length, from = gather->refer_from;
    for (; next < stop; next++) {
        leat_bytebuf *buf = *next;
        if (!buf)
            break;
        uint64_t reader = buf->reader, n = buf->writer - reader;
        if (n < from || !leat_gather_is_simple(buf))
            break;
        if (paired)
            *slot++ = (leat_component){between.bytes, length += between.length, NULL};
        *slot++ = (leat_component){buf->bytes + reader, length += n, buf};
        leat_bytebuf_retain_quietly(buf);
    }
    gather->slot = slot;
    gather->length = length;
    return next;
}

/* Refers to as many buffers, with their joints, as there are slots for; returns how many. */
__attribute__((noinline)) static size_t refer_on(leat_gather *gather, leat_bytebuf *const *bufs, size_t n,
                                                 joint between) {
    size_t slots = (size_t)(gather->slots_end - gather->slot);
    if (between.length == 0)
        return (size_t)(refer_until(gather, bufs, bufs + (n < slots ? n : slots), false, between) - bufs);
    return (size_t)(refer_until(gather, bufs, bufs + (n < slots / 2 ? n : slots / 2), true, between) - bufs);
}

/* Copies `n` bytes, at least `end` and at most twice that, as the first `end` and the last: `end` is a constant. */
static inline void copy_ends(uint8_t *to, const uint8_t *from, size_t n, size_t end) {
    size_t last = n - end;
    for (size_t at = 0; at < end; at += sizeof(leat_wide))
        *(leat_wide *)(void *)(to + at) = *(const leat_wide *)(const void *)(from + at);
    for (size_t at = last; at < n; at += sizeof(leat_wide))
        *(leat_wide *)(void *)(to + at) = *(const leat_wide *)(const void *)(from + at);
}

/* A copy without a call where that costs as much as the copy. */
static inline uint8_t *copy_piece(uint8_t *to, const uint8_t *from, size_t n) {
    if (!LEAT_IS_WIDE || n < 32 || n > 256)
        memcpy(to, from, n);
    else if (n > 128)
        copy_ends(to, from, n, 128);
    else if (n > 64)
        copy_ends(to, from, n, 64);
    else
        copy_ends(to, from, n, 32);
    return to + n;
}

/* A joint whose first and last bytes are at hand: most are no longer than these together. */
typedef struct held_joint {
    joint whole;
    uint64_t first, last;
} held_joint;

static held_joint hold(joint between) {
    held_joint held = {between, 0, 0};
    if (between.length >= sizeof held.first) {
        memcpy(&held.first, between.bytes, sizeof held.first);
        memcpy(&held.last, between.bytes + between.length - sizeof held.last, sizeof held.last);
    }
    return held;
}

static inline uint8_t *copy_joint(uint8_t *to, const held_joint *between) {
    size_t n = between->whole.length;
    if (n >= sizeof between->first && n <= 2 * sizeof between->first) {
        memcpy(to, &between->first, sizeof between->first);
        if (n > sizeof between->first)
            memcpy(to + n - sizeof between->last, &between->last, sizeof between->last);
    } else {
        memcpy(to, between->whole.bytes, n);
    }
    return to + n;
}

/* Copies buffers, each with a joint before it if `paired`, while they go on with the run; returns the first that does
   not, or `stop`. The joint fits in the room. */
static inline leat_bytebuf *const *copy_until(leat_gather *gather, leat_bytebuf *const *next, leat_bytebuf *const *stop,
                                              bool paired, joint between) {
    const held_joint held = hold(between);
    leat_bytebuf *const *first = next;
    uint8_t *room = gather->room;
    const uint8_t *room_end = gather->room_end - between.length;
    uint64_t most = gather->refer_from - 1;
    for (; next < stop; next++) {
        const leat_bytebuf *buf = *next;
        if (!buf)
            break;
        uint64_t reader = buf->reader, n = buf->writer - reader;
        if (n - 1 >= most || (int64_t)n > room_end - room || !leat_gather_is_simple(buf))
            break;
        if (paired)
            room = copy_joint(room, &held);
        room = copy_piece(room, buf->bytes + reader, (size_t)n);
    }
    uint64_t joints = (uint64_t)(next - first) * between.length;
    gather->copied += (uint64_t)(room - gather->room) - joints;
    gather->room = room;
    return next;
}

/* Copies as many buffers, with their joints, as there is room for; returns how many. */
LEAT_WIDE static size_t copy_on(leat_gather *gather, leat_bytebuf *const *bufs, size_t n, joint between) {
    if (between.length == 0)
        return (size_t)(copy_until(gather, bufs, bufs + n, false, between) - bufs);
    if (between.length > (size_t)(gather->room_end - gather->room))
        return 0;
    return (size_t)(copy_until(gather, bufs, bufs + n, true, between) - bufs);
}

/* Goes on with the run that is open, if there is one; returns for how many buffers. */
static size_t run_on(leat_gather *gather, leat_bytebuf *const *bufs, size_t n, joint between) {
    if (copies(gather, between))
        return copy_on(gather, bufs, n, between);
    return refers(gather) ? refer_on(gather, bufs, n, between) : 0;
}

/* About what a list of buffers with their joints comes to, judged by some of them, and a little more. */
static uint64_t size_of_list(leat_bytebuf *const *bufs, size_t n, joint between) {
    size_t step = n / SAMPLES + 1, taken = 0;
    uint64_t size = 0;
    for (size_t i = 0; i < n; i += step, taken++)
        size += bufs[i] ? leat_bytebuf_min(leat_bytebuf_readable(bufs[i]), LEAT_GATHER_MOST_GUESSED) : 0;
    return (size / taken + between.length) * n + size / SAMPLES;
}

/* Opens a run of copies when that is how the list begins. Where guessing from the first could be far off, and growing
   would copy much again, some more are asked. */
static void begin_run(leat_gather *gather, leat_bytebuf *const *bufs, size_t n, joint between) {
    uint64_t first = n > 0 && bufs[0] ? leat_bytebuf_readable(bufs[0]) : 0;
    if (first == 0 || first >= gather->refer_from || !leat_gather_may_begin_copies(gather))
        return;
    bool many = first + between.length > LEAT_GATHER_MOST_GUESSED / n;
    leat_gather_begin_copies(gather, first, many ? leat_bytebuf_min(size_of_list(bufs, n, between), MOST_ASKED) : 0);
}

void leat_gather_add_joined(leat_gather *gather, leat_bytebuf *const *bufs, size_t n, const void *between,
                            size_t length) {
    const joint all_between = {between, length};
    begin_run(gather, bufs, n, all_between);
    for (size_t i = 0; i < n;) {
        if (i > 0 && length > 0)
            leat_gather_add_static(gather, between, length);
        leat_gather_add_shared(gather, bufs[i++]);
        i += run_on(gather, bufs + i, n - i, all_between);
    }
}

void leat_gather_add_shared_list(leat_gather *gather, leat_bytebuf *const *bufs, size_t n) {
    leat_gather_add_joined(gather, bufs, n, NULL, 0);
}
