/* Sharing: slices, splits, copies, and making bytes one's own again. */
#include "core/bytebuf_internal.h"

#include "core/composite_internal.h"

#include <string.h>

#define KEPT_ANYWAY 512 /* storage so small that a copy would save nothing */
#define KEPT_RATIO 4

leat_bytebuf *leat_bytebuf_slice_range(leat_bytebuf *buf, uint64_t index, uint64_t n, leat_alloc *alloc) {
    leat_bytebuf *slice =
        leat_bytebuf_view(alloc, leat_storage_of(buf), buf->bytes + index, n, n, "leat_bytebuf_slice");
    if (!slice)
        return NULL;
    slice->flags |= LEAT_BYTEBUF_FROZEN;
    if (n > 0)
        leat_bytebuf_share_below(buf, index + n);
    return slice;
}

leat_bytebuf *leat_bytebuf_slice(leat_bytebuf *buf, uint64_t index, uint64_t n) {
    if (!leat_bytebuf_is_alive(buf, __func__) || index > buf->writer || n > buf->writer - index)
        return NULL;
    if (leat_bytebuf_is_composite(buf))
        return leat_composite_slice(leat_composite_of(buf), index, n);
    return leat_bytebuf_slice_range(buf, index, n, leat_handle_of(buf)->alloc);
}

leat_bytebuf *leat_bytebuf_slice_readable(leat_bytebuf *buf) {
    return leat_bytebuf_slice(buf, buf->reader, leat_bytebuf_readable(buf));
}

leat_bytebuf *leat_bytebuf_split_range(leat_bytebuf *buf, uint64_t index, uint64_t n, leat_alloc *alloc) {
    uint64_t floor = leat_floor_of(buf);
    uint64_t shared = floor > index ? leat_bytebuf_min(floor - index, n) : 0;
    leat_bytebuf *part =
        leat_bytebuf_view(alloc, leat_storage_of(buf), buf->bytes + index, n, shared, "leat_bytebuf_split");
    if (!part)
        return NULL;
    if (n > 0)
        leat_bytebuf_share_below(buf, index + n);
    return part;
}

leat_bytebuf *leat_bytebuf_split(leat_bytebuf *buf, uint64_t n) {
    if (!leat_bytebuf_may_move(buf, __func__) || n > leat_bytebuf_readable(buf))
        return NULL;
    if (leat_bytebuf_is_composite(buf))
        return leat_composite_split(leat_composite_of(buf), n);
    leat_bytebuf *part = leat_bytebuf_split_range(buf, buf->reader, n, leat_handle_of(buf)->alloc);
    if (!part)
        return NULL;
    if (leat_bytebuf_has_flag(buf, LEAT_BYTEBUF_FROZEN))
        part->flags |= LEAT_BYTEBUF_FROZEN;
    buf->reader += n;
    return part;
}

leat_bytebuf *leat_bytebuf_copy(const leat_bytebuf *buf, leat_alloc *alloc) {
    uint64_t n = leat_bytebuf_readable(buf);
    leat_bytebuf *copy = leat_bytebuf_is_alive(buf, __func__) ? leat_bytebuf_new(alloc, n) : NULL;
    if (!copy)
        return NULL;
    leat_bytebuf_copy_out(buf, buf->reader, copy->bytes, n);
    copy->writer = copy->read_limit = n;
    leat_count_copied(alloc, n);
    return copy;
}

static int replace_by_copy(leat_bytebuf **buf) {
    leat_bytebuf *copy = leat_bytebuf_copy(*buf, leat_handle_of(*buf)->alloc);
    if (!copy)
        return LEAT_ENOMEM;
    leat_bytebuf_release(*buf);
    *buf = copy;
    return 0;
}

/* Nobody else sees the storage any more: what was shared is ours again. */
static bool unshare(leat_bytebuf *buf) {
    leat_handle *handle = leat_handle_of(buf);
    if (handle->storage->read_only)
        return false;
    if (handle->floor > 0 && !leat_storage_is_sole(handle->storage))
        return false;
    handle->floor = 0;
    buf->flags &= (uint8_t) ~(LEAT_BYTEBUF_SHARED_BELOW | LEAT_BYTEBUF_FROZEN);
    leat_bytebuf_refresh_limits(buf);
    return true;
}

int leat_bytebuf_own(leat_bytebuf **buf) {
    if (leat_bytebuf_is_sole(*buf)) {
        if (leat_bytebuf_is_composite(*buf) ? leat_composite_unshare(*buf) : unshare(*buf))
            return 0;
    }
    return replace_by_copy(buf);
}

int leat_bytebuf_keep(leat_bytebuf **buf) {
    if (!leat_bytebuf_is_alive(*buf, __func__))
        return LEAT_ESHARED;
    uint64_t storage = leat_bytebuf_storage_size(*buf);
    uint64_t readable = leat_bytebuf_readable(*buf);
    if (storage <= KEPT_ANYWAY || storage / KEPT_RATIO <= readable)
        return 0;
    return replace_by_copy(buf);
}

uint64_t leat_bytebuf_storage_size(const leat_bytebuf *buf) {
    if (leat_bytebuf_is_composite(buf))
        return leat_composite_storage_size(buf);
    const leat_storage *home = leat_home_of(leat_handle_of(buf)), *storage = leat_storage_of(buf);
    uint64_t size = __atomic_load_n(&storage->size, __ATOMIC_RELAXED);
    if (home && home != storage)
        size += __atomic_load_n(&home->size, __ATOMIC_RELAXED);
    return size;
}

static bool is_plain_valid(const leat_bytebuf *buf) {
    const leat_handle *handle = leat_handle_of(buf);
    const leat_storage *storage = handle->storage;
    return storage && buf->begin == 0 && buf->end <= handle->max_capacity && storage->handles > 0 &&
           (uintptr_t)buf->bytes >= (uintptr_t)storage->memory &&
           (uintptr_t)buf->bytes + buf->end <= (uintptr_t)storage->memory + storage->size &&
           (buf->write_limit == buf->writer || (buf->write_limit <= buf->end && buf->writer >= leat_floor_of(buf)));
}

/* While others hold references nothing can be read off or appended without a look at the count. */
static bool are_limits_valid(const leat_bytebuf *buf) {
    if (__atomic_load_n(&buf->refs, __ATOMIC_ACQUIRE) > 1)
        return buf->read_limit == 0 && buf->write_limit == buf->writer;
    bool covered = buf->reader >= buf->begin && buf->read_limit <= buf->end;
    return buf->write_limit >= buf->writer && buf->read_limit <= buf->writer &&
           (covered || buf->read_limit <= buf->reader);
}

bool leat_bytebuf_is_valid(const leat_bytebuf *buf) {
    if (!buf || buf->refs == 0 || buf->reader > buf->writer || !are_limits_valid(buf))
        return false;
    if (leat_bytebuf_is_composite(buf))
        return leat_composite_is_valid(buf);
    return buf->writer <= buf->end && is_plain_valid(buf);
}
