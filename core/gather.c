#include "core/gather_internal.h"

#include <assert.h>

#define INLINE_PER_PIECE 8
#define MOST_INLINE 1024

/* Member by member: clearing the whole of it first would store everything twice. */
void leat_gather_init(leat_gather *gather, leat_alloc *alloc, leat_gather_mode mode, uint32_t expected_pieces) {
    gather->alloc = alloc;
    gather->composite = NULL;
    gather->staging = NULL;
    gather->static_bytes = NULL;
    gather->static_length = 0;
    gather->slot = gather->slots_end = NULL;
    gather->length = 0;
    gather->room = gather->room_end = NULL;
    gather->copied = 0;
    gather->refer_from = mode == LEAT_GATHER_COPY ? UINT64_MAX : mode == LEAT_GATHER_AUTO ? LEAT_GATHER_THRESHOLD : 1;
    gather->expected = (uint32_t)leat_bytebuf_min(expected_pieces, LEAT_GATHER_MOST_EXPECTED);
    gather->mode = (uint8_t)mode;
    gather->error = 0;
}

/* ---- runs ---- */

static void open_slots(leat_gather *gather) {
    leat_composite *composite = gather->composite;
    gather->slot = leat_component_of(composite, composite->count);
    gather->slots_end = composite->slots + composite->slot_count;
    gather->length = composite->handle.hot.writer;
}

static void open_room(leat_gather *gather) {
    gather->room = gather->staging->bytes + gather->staging->writer;
    gather->room_end = gather->staging->bytes + gather->staging->end;
}

/* A run of references begins with a buffer, so a last slot without owner is a static piece: it waits for its neighbour
   again. */
static void let_static_wait(leat_gather *gather) {
    const leat_component *last = gather->slot - 1;
    if (last->owner)
        return;
    gather->static_bytes = last->bytes;
    gather->static_length = (size_t)(last->end - last[-1].end);
    gather->length = last[-1].end;
    gather->slot--;
}

static void shut_slots(leat_gather *gather) {
    leat_composite *composite = gather->composite;
    composite->count = (uint32_t)(gather->slot - leat_component_of(composite, 0));
    composite->handle.hot.writer = composite->handle.hot.write_limit = gather->length;
    gather->slot = gather->slots_end = NULL;
    if (gather->length > composite->handle.max_capacity && gather->error == 0)
        gather->error = LEAT_ELIMIT;
}

static void shut_room(leat_gather *gather) {
    assert(gather->staging); /* room is always room of the staging */
    gather->staging->writer = (uint64_t)(gather->room - gather->staging->bytes);
    gather->room = gather->room_end = NULL;
    leat_count_copied(gather->alloc, gather->copied);
    gather->copied = 0;
}

/* Ends a run: the composite and the staging know what is in them. Everything that is not part of a run begins so. */
static void shut(leat_gather *gather) {
    if (gather->slot) {
        let_static_wait(gather);
        shut_slots(gather);
    }
    if (gather->room)
        shut_room(gather);
}

/* Takes the buffer over if it goes on with a run of references. */
static inline bool refers_on(leat_gather *gather, leat_bytebuf *buf) {
    uint64_t n = leat_bytebuf_readable(buf);
    if (gather->slot == gather->slots_end || n < gather->refer_from || n > LEAT_GATHER_MOST_IN_RUN ||
        !leat_gather_is_simple(buf))
        return false;
    gather->length += n;
    *gather->slot++ = (leat_component){buf->bytes + buf->reader, gather->length, buf};
    return true;
}

/* Refers to a static piece if it goes on with a run of references and its neighbour is none. */
static inline bool refers_on_static(leat_gather *gather, const void *bytes, size_t n) {
    if (gather->slot == gather->slots_end || n - 1 >= LEAT_GATHER_MOST_IN_RUN || !gather->slot[-1].owner)
        return false;
    gather->length += n;
    *gather->slot++ = (leat_component){bytes, gather->length, NULL};
    return true;
}

/* Copies at least one byte if that goes on with a run of copies and fits. */
static inline bool copies_on(leat_gather *gather, const void *bytes, uint64_t n) {
    if (n - 1 >= (uint64_t)(gather->room_end - gather->room))
        return false;
    memcpy(gather->room, bytes, (size_t)n);
    gather->room += n;
    return true;
}

static inline bool copies_on_buffer(leat_gather *gather, const leat_bytebuf *buf) {
    uint64_t n = leat_bytebuf_readable(buf);
    if (n >= gather->refer_from || !leat_gather_is_simple(buf) || !copies_on(gather, buf->bytes + buf->reader, n))
        return false;
    gather->copied += n;
    return true;
}

static void *fail(leat_gather *gather, int status) {
    shut(gather);
    if (gather->error == 0)
        gather->error = status;
    return NULL;
}

/* ---- copying ---- */

/* What the pieces will come to if they go on like the first, or the first two when a static one waits. */
static uint64_t guessed_size(const leat_gather *gather, uint64_t n) {
    uint64_t pieces = gather->static_length > 0 ? gather->expected / 2 + 1 : gather->expected;
    uint64_t first = gather->static_length + n;
    uint64_t all = first <= LEAT_GATHER_MOST_GUESSED ? first * pieces : 0;
    return leat_bytebuf_max(first, leat_bytebuf_min(all, LEAT_GATHER_MOST_GUESSED));
}

/* The buffer that copies go to. */
static leat_bytebuf *copies_of(leat_gather *gather, uint64_t n) {
    if (gather->composite)
        return &gather->composite->handle.hot;
    if (!gather->staging)
        gather->staging = leat_bytebuf_new(gather->alloc, guessed_size(gather, n));
    return gather->staging;
}

static void copy_bytes(leat_gather *gather, const void *bytes, size_t n) {
    leat_bytebuf *to = copies_of(gather, n);
    if (!to || !leat_bytebuf_write_bytes(to, bytes, n))
        fail(gather, LEAT_ENOMEM);
}

static void copy_buffer(leat_gather *gather, const leat_bytebuf *buf) {
    leat_bytebuf *to = copies_of(gather, leat_bytebuf_readable(buf));
    if (!to || !leat_bytebuf_write_buffer(to, buf))
        fail(gather, LEAT_ENOMEM);
    leat_count_copied(gather->alloc, leat_bytebuf_readable(buf));
}

static void begin_copies(leat_gather *gather) {
    if (gather->staging && gather->static_length == 0)
        open_room(gather);
}

/* Says whether the piece before was copied, so that another copy joins its span for free. */
static bool copied_last(const leat_gather *gather) {
    return gather->composite ? gather->composite->tail_open : gather->staging != NULL;
}

/* ---- referring ---- */

/* What was copied so far becomes the first component; its free room goes on as the composite's tail. */
static void adopt_staging(leat_composite *composite, leat_bytebuf *staging) {
    uint64_t n = staging->writer;
    leat_composite_take_tail(composite, staging, n);
    leat_composite_push(composite, staging->bytes, n, leat_bytebuf_retain(staging));
}

/* Makes the composite, with slots for what is expected, the staging, and a static piece with its neighbour. */
static bool begin_composite(leat_gather *gather) {
    uint64_t inside = leat_bytebuf_min((uint64_t)gather->expected * INLINE_PER_PIECE, MOST_INLINE);
    gather->composite = leat_composite_new_with(gather->alloc, gather->expected + 3, (size_t)inside);
    if (!gather->composite)
        return false;
    if (gather->staging)
        adopt_staging(gather->composite, gather->staging);
    gather->staging = NULL;
    return true;
}

/* Makes sure of slots for a static piece and its neighbour behind a settled tail. */
static bool continue_composite(leat_gather *gather) {
    leat_composite_settle(gather->composite);
    return leat_composite_need_slots(gather->composite, 2) == 0;
}

/* A composite with a slot, a settled tail and room for `n` bytes, the waiting static piece in it. NULL = an error. */
static leat_composite *with_slot(leat_gather *gather, uint64_t n) {
    size_t waiting = gather->static_length;
    gather->static_length = 0;
    if (!(gather->composite ? continue_composite(gather) : begin_composite(gather)))
        return fail(gather, LEAT_ENOMEM);
    uint64_t left = gather->composite->handle.max_capacity - gather->composite->handle.hot.writer;
    if (waiting > left || n > left - waiting)
        return fail(gather, LEAT_ELIMIT);
    if (waiting > 0)
        leat_composite_push(gather->composite, gather->static_bytes, waiting, NULL);
    return gather->composite;
}

static void begin_references(leat_gather *gather, leat_composite *composite, leat_bytebuf *buf) {
    leat_composite_push(composite, buf->bytes + buf->reader, leat_bytebuf_readable(buf), buf);
    open_slots(gather);
}

bool leat_gather_begin_references(leat_gather *gather, leat_bytebuf *first) {
    leat_composite *composite = with_slot(gather, leat_bytebuf_readable(first));
    if (composite)
        begin_references(gather, composite, leat_bytebuf_retain(first));
    return composite != NULL;
}

/* Takes the buffer over. */
static void place_buffer(leat_gather *gather, leat_bytebuf *buf) {
    leat_composite *composite = with_slot(gather, leat_bytebuf_readable(buf));
    if (!composite)
        leat_bytebuf_release(buf);
    else if (leat_bytebuf_is_composite(buf))
        fail(gather, leat_composite_add(composite, buf));
    else
        begin_references(gather, composite, buf);
}

/* ---- pieces ---- */

/* `n` bytes are about to be copied behind the static piece that waits: a small one joins them. */
static void settle_static_before_copy(leat_gather *gather, uint64_t n) {
    size_t length = gather->static_length;
    if (length == 0)
        return;
    if (!leat_gather_joins_copies(gather, length)) {
        with_slot(gather, 0);
        return;
    }
    copies_of(gather, n);
    copy_bytes(gather, gather->static_bytes, length);
    gather->static_length = 0;
}

static bool takes(leat_gather *gather, const leat_bytebuf *buf) {
    shut(gather);
    if (!buf)
        fail(gather, LEAT_EINVAL);
    return gather->error == 0 && leat_bytebuf_readable(buf) > 0;
}

static bool is_copied(const leat_gather *gather, const leat_bytebuf *buf) {
    return leat_bytebuf_readable(buf) < gather->refer_from;
}

/* The most common beginning: only a static piece, if anything, comes before the first copy. */
bool leat_gather_begin_copies(leat_gather *gather, const leat_bytebuf *first, uint64_t all) {
    uint64_t guessed = guessed_size(gather, leat_bytebuf_readable(first));
    gather->staging = leat_bytebuf_new(gather->alloc, leat_bytebuf_max(guessed, all + gather->static_length));
    if (!gather->staging)
        return false;
    open_room(gather);
    if (gather->static_length > 0)
        copies_on(gather, gather->static_bytes, gather->static_length);
    gather->static_length = 0;
    return copies_on_buffer(gather, first);
}

static void place_copy(leat_gather *gather, const leat_bytebuf *buf) {
    settle_static_before_copy(gather, leat_bytebuf_readable(buf));
    copy_buffer(gather, buf);
    begin_copies(gather);
}

__attribute__((noinline)) static void add_slowly(leat_gather *gather, leat_bytebuf *buf) {
    bool taken = takes(gather, buf);
    if (taken && !is_copied(gather, buf)) {
        place_buffer(gather, buf);
        return;
    }
    if (taken)
        place_copy(gather, buf);
    leat_bytebuf_release(buf);
}

__attribute__((noinline)) static void add_shared_slowly(leat_gather *gather, leat_bytebuf *buf) {
    if (!takes(gather, buf))
        return;
    if (is_copied(gather, buf))
        place_copy(gather, buf);
    else
        place_buffer(gather, leat_bytebuf_retain(buf));
}

static void add_bytes_slowly(leat_gather *gather, const void *bytes, size_t n) {
    shut(gather);
    if (gather->error != 0 || n == 0)
        return;
    settle_static_before_copy(gather, n);
    copy_bytes(gather, bytes, n);
    leat_count_copied(gather->alloc, n);
    begin_copies(gather);
}

static void wait_for_neighbour(leat_gather *gather, const void *bytes, size_t n) {
    gather->static_bytes = bytes;
    gather->static_length = n;
}

/* Two static pieces meet. */
static void merge_static(leat_gather *gather, const void *bytes, size_t n) {
    if (gather->static_bytes + gather->static_length == (const uint8_t *)bytes) {
        gather->static_length += n;
        return;
    }
    if (leat_gather_joins_copies(gather, gather->static_length) && leat_gather_joins_copies(gather, n)) {
        settle_static_before_copy(gather, n);
        copy_bytes(gather, bytes, n);
        begin_copies(gather);
        return;
    }
    with_slot(gather, 0);
    wait_for_neighbour(gather, bytes, n);
}

__attribute__((noinline)) static void add_static_slowly(leat_gather *gather, const void *bytes, size_t n) {
    shut(gather);
    if (gather->error != 0 || n == 0)
        return;
    if (gather->static_length > 0) {
        merge_static(gather, bytes, n);
    } else if (copied_last(gather) && leat_gather_joins_copies(gather, n)) {
        copy_bytes(gather, bytes, n);
        begin_copies(gather);
    } else {
        wait_for_neighbour(gather, bytes, n);
    }
}

void leat_gather_add(leat_gather *gather, leat_bytebuf *buf) {
    if (!buf || !refers_on(gather, buf))
        add_slowly(gather, buf);
}

void leat_gather_add_shared(leat_gather *gather, leat_bytebuf *buf) {
    if (buf && refers_on(gather, buf))
        leat_bytebuf_retain_quietly(buf);
    else if (!buf || !copies_on_buffer(gather, buf))
        add_shared_slowly(gather, buf);
}

void leat_gather_add_bytes(leat_gather *gather, const void *bytes, size_t n) {
    if (copies_on(gather, bytes, n))
        gather->copied += n;
    else
        add_bytes_slowly(gather, bytes, n);
}

void leat_gather_add_static(leat_gather *gather, const void *bytes, size_t n) {
    if (!refers_on_static(gather, bytes, n) && (!leat_gather_joins_copies(gather, n) || !copies_on(gather, bytes, n)))
        add_static_slowly(gather, bytes, n);
}

/* ---- the end ---- */

static leat_bytebuf *detach(leat_gather *gather) {
    leat_bytebuf *whole = gather->staging;
    if (gather->composite)
        whole = &gather->composite->handle.hot;
    if (!whole)
        whole = leat_bytebuf_new(gather->alloc, 0);
    if (!whole)
        fail(gather, LEAT_ENOMEM);
    gather->staging = NULL;
    gather->composite = NULL;
    return whole;
}

leat_bytebuf *leat_gather_finish(leat_gather *gather) {
    if (gather->slot)
        shut_slots(gather);
    else
        shut(gather);
    if (gather->error == 0 && gather->static_length > 0 && gather->mode == LEAT_GATHER_COPY)
        settle_static_before_copy(gather, 0);
    else if (gather->error == 0 && gather->static_length > 0)
        with_slot(gather, 0);
    if (gather->error == 0)
        return detach(gather);
    leat_gather_clean_up(gather);
    return NULL;
}

void leat_gather_clean_up(leat_gather *gather) {
    shut(gather);
    leat_bytebuf_release(leat_composite_buffer(gather->composite));
    leat_bytebuf_release(gather->staging);
    gather->composite = NULL;
    gather->staging = NULL;
    gather->static_length = 0;
}
