#include "core/gather.h"

#include "core/composite_internal.h"

#include <string.h>

#define SMALL_STATIC 256 /* static pieces up to here are copied to become one span with a neighbour */
#define INLINE_PER_PIECE 8
#define MOST_INLINE 1024
#define MOST_GUESSED 65536

void leat_gather_init(leat_gather *gather, leat_alloc *alloc, leat_gather_mode mode, uint32_t expected_pieces) {
    *gather = (leat_gather){.alloc = alloc, .mode = (uint8_t)mode, .expected = expected_pieces};
}

static void fail(leat_gather *gather, int status) {
    if (gather->error == 0)
        gather->error = status;
}

/* ---- copying ---- */

/* What the pieces will come to if they go on like the first, or the first two when a static one waits. */
static uint64_t guessed_size(const leat_gather *gather, uint64_t n) {
    uint64_t pieces = gather->static_length > 0 ? gather->expected / 2 + 1 : gather->expected;
    uint64_t first = gather->static_length + n;
    uint64_t all = first <= MOST_GUESSED ? first * pieces : 0;
    return leat_bytebuf_max(first, leat_bytebuf_min(all, MOST_GUESSED));
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

/* Says whether the piece before was copied, so that another copy joins its span for free. */
static bool copied_last(const leat_gather *gather) {
    return gather->composite ? gather->composite->tail_open : gather->staging != NULL;
}

/* Says whether a static piece is better copied than referred to when what is beside it is copied. */
static bool joins_copies(const leat_gather *gather, size_t n) {
    return gather->mode == LEAT_GATHER_COPY || n <= SMALL_STATIC;
}

/* ---- referring ---- */

/* What was copied so far becomes the first component; its free room goes on as the composite's tail. */
static void adopt_staging(leat_composite *composite, leat_bytebuf *staging) {
    uint64_t n = staging->writer;
    leat_composite_take_tail(composite, staging, n);
    leat_composite_push(composite, staging->bytes, n, leat_bytebuf_retain(staging));
}

static bool begin_composite(leat_gather *gather) {
    if (gather->composite)
        return true;
    uint64_t inside = leat_bytebuf_min((uint64_t)gather->expected * INLINE_PER_PIECE, MOST_INLINE);
    gather->composite = leat_composite_new_with(gather->alloc, gather->expected + 1, (size_t)inside);
    if (!gather->composite)
        return false;
    if (gather->staging)
        adopt_staging(gather->composite, gather->staging);
    gather->staging = NULL;
    return true;
}

/* A composite with a free slot and a settled tail, or NULL and the error is kept. */
static leat_composite *with_slot(leat_gather *gather) {
    if (begin_composite(gather)) {
        leat_composite_settle(gather->composite);
        if (leat_composite_need_slots(gather->composite, 1) == 0)
            return gather->composite;
    }
    fail(gather, LEAT_ENOMEM);
    return NULL;
}

static void place_static(leat_gather *gather) {
    leat_composite *composite = with_slot(gather);
    if (composite)
        leat_composite_push(composite, gather->static_bytes, gather->static_length, NULL);
    gather->static_length = 0;
}

/* Takes the buffer over. */
static void place_buffer(leat_gather *gather, leat_bytebuf *buf) {
    if (gather->static_length > 0)
        place_static(gather);
    leat_composite *composite = with_slot(gather);
    if (!composite)
        leat_bytebuf_release(buf);
    else if (leat_bytebuf_is_composite(buf))
        fail(gather, leat_composite_add(composite, buf));
    else
        leat_composite_push(composite, buf->bytes + buf->reader, leat_bytebuf_readable(buf), buf);
}

/* ---- pieces ---- */

static bool is_copied(const leat_gather *gather, uint64_t n) {
    return gather->mode == LEAT_GATHER_COPY || (gather->mode == LEAT_GATHER_AUTO && n < LEAT_GATHER_THRESHOLD);
}

/* `n` bytes are about to be copied behind the static piece that waits: a small one joins them. */
static void settle_static_before_copy(leat_gather *gather, uint64_t n) {
    size_t length = gather->static_length;
    if (length == 0)
        return;
    if (!joins_copies(gather, length)) {
        place_static(gather);
        return;
    }
    copies_of(gather, n);
    copy_bytes(gather, gather->static_bytes, length);
    gather->static_length = 0;
}

static bool takes(leat_gather *gather, const leat_bytebuf *buf) {
    if (!buf)
        fail(gather, LEAT_EINVAL);
    return gather->error == 0 && leat_bytebuf_readable(buf) > 0;
}

static bool takes_by_copy(leat_gather *gather, const leat_bytebuf *buf) {
    if (!is_copied(gather, leat_bytebuf_readable(buf)))
        return false;
    settle_static_before_copy(gather, leat_bytebuf_readable(buf));
    copy_buffer(gather, buf);
    return true;
}

void leat_gather_add(leat_gather *gather, leat_bytebuf *buf) {
    if (!takes(gather, buf) || takes_by_copy(gather, buf))
        leat_bytebuf_release(buf);
    else
        place_buffer(gather, buf);
}

void leat_gather_add_shared(leat_gather *gather, leat_bytebuf *buf) {
    if (takes(gather, buf) && !takes_by_copy(gather, buf))
        place_buffer(gather, leat_bytebuf_retain(buf));
}

void leat_gather_add_bytes(leat_gather *gather, const void *bytes, size_t n) {
    if (gather->error != 0 || n == 0)
        return;
    settle_static_before_copy(gather, n);
    copy_bytes(gather, bytes, n);
    leat_count_copied(gather->alloc, n);
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
    if (joins_copies(gather, gather->static_length) && joins_copies(gather, n)) {
        settle_static_before_copy(gather, n);
        copy_bytes(gather, bytes, n);
        return;
    }
    place_static(gather);
    wait_for_neighbour(gather, bytes, n);
}

void leat_gather_add_static(leat_gather *gather, const void *bytes, size_t n) {
    if (gather->error != 0 || n == 0)
        return;
    if (gather->static_length > 0)
        merge_static(gather, bytes, n);
    else if (copied_last(gather) && joins_copies(gather, n))
        copy_bytes(gather, bytes, n);
    else
        wait_for_neighbour(gather, bytes, n);
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
    if (gather->error == 0 && gather->static_length > 0 && gather->mode == LEAT_GATHER_COPY)
        settle_static_before_copy(gather, 0);
    else if (gather->error == 0 && gather->static_length > 0)
        place_static(gather);
    if (gather->error == 0)
        return detach(gather);
    leat_gather_clean_up(gather);
    return NULL;
}

void leat_gather_clean_up(leat_gather *gather) {
    leat_bytebuf_release(leat_composite_buffer(gather->composite));
    leat_bytebuf_release(gather->staging);
    gather->composite = NULL;
    gather->staging = NULL;
    gather->static_length = 0;
}
