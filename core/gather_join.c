/* Adding many buffers at once: the runs of a gather in tight loops. */
#include "core/gather_internal.h"

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
    leat_bytebuf *const *first = next;
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
    }
    for (leat_bytebuf *const *held = first; held < next; held++)
        leat_bytebuf_retain_quietly(*held);
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

/* A copy of few bytes, mostly, without a call. */
static uint8_t *copy_joint(uint8_t *to, joint between) {
    if (between.length >= 8 && between.length <= 16) {
        memcpy(to, between.bytes, 8);
        memcpy(to + between.length - 8, between.bytes + between.length - 8, 8);
    } else if (between.length > 0) {
        memcpy(to, between.bytes, between.length);
    }
    return to + between.length;
}

/* Copies as many pairs of joint and buffer as there is room for; returns how many. */
__attribute__((noinline)) static size_t copy_on(leat_gather *gather, leat_bytebuf *const *bufs, size_t n,
                                                joint between) {
    uint8_t *room = gather->room;
    size_t taken = 0;
    for (; taken < n; taken++) {
        const leat_bytebuf *buf = bufs[taken];
        uint64_t left = (uint64_t)(gather->room_end - room), length = buf ? leat_bytebuf_readable(buf) : 0;
        if (length == 0 || length >= gather->refer_from || between.length > left || length > left - between.length ||
            !leat_gather_is_simple(buf))
            break;
        room = copy_joint(room, between);
        memcpy(room, buf->bytes + buf->reader, (size_t)length);
        room += length;
        gather->copied += length;
    }
    gather->room = room;
    return taken;
}

void leat_gather_add_joined(leat_gather *gather, leat_bytebuf *const *bufs, size_t n, const void *between,
                            size_t length) {
    const joint all_between = {between, length};
    for (size_t i = 0; i < n;) {
        if (i > 0)
            leat_gather_add_static(gather, between, length);
        leat_gather_add_shared(gather, bufs[i++]);
        if (refers(gather))
            i += refer_on(gather, bufs + i, n - i, all_between);
        else if (copies(gather, all_between))
            i += copy_on(gather, bufs + i, n - i, all_between);
    }
}

void leat_gather_add_shared_list(leat_gather *gather, leat_bytebuf *const *bufs, size_t n) {
    leat_gather_add_joined(gather, bufs, n, NULL, 0);
}
