/** The outbound queue: entries that never move a message's index, gathered into as few writes as the transport allows.
 */
#include "core/channel_internal.h"
#include "core/probe_internal.h"

#include <string.h>

enum {
    STAGED_MOST = 256,   /* larger messages are referenced */
    FIRST_STAGING = 128, /* most channels stage a header and no more: many of these lie about until the turn ends */
    NEXT_STAGING = 2048, /* behind one that is full */
    FIRST_RING = 2,      /* entries */
    WRITES_A_TURN = 16,  /* then the others have their turn */
    ENTRY_COST = sizeof(outbound_entry),
};

static outbound_entry *entry_at(outbound_ring *ring, uint32_t index) {
    return &ring->entries[(ring->first + index) & (ring->size - 1)];
}

static size_t size_of_ring(uint32_t entries) {
    return sizeof(outbound_ring) + entries * sizeof(outbound_entry);
}

void leat_channel_update_writable(leat_channel *channel) {
    uint64_t pending = channel->queued + channel->held_out;
    bool unwritable = channel_has(channel, CHANNEL_UNWRITABLE);
    if (unwritable ? pending >= options_of(channel)->write_low : pending <= options_of(channel)->write_high)
        return;
    channel->flags ^= CHANNEL_UNWRITABLE;
    channel->flags |= CHANNEL_DIPPED;
    leat_channel_mark(channel, WORK_WRITABLE);
}

/* The list is a circle that is known by its last one. */
static void add_completed(leat_channel *channel, leat_done_list more) {
    leat_done *last = channel->completed;
    more.last->next = last ? last->next : more.first;
    if (last)
        last->next = more.first;
    channel->completed = more.last;
    leat_channel_mark(channel, WORK_DONE);
}

void leat_channel_complete(leat_channel *channel, leat_done *done, int status) {
    if (!done)
        return;
    done->status = status;
    done->next = NULL;
    add_completed(channel, (leat_done_list){done, done});
}

static void run_completion(leat_done *done) {
    leat_ctx *home = done->home;
    done->home = NULL;
    done->next = NULL;
    done->fn(done, done->status);
    if (!home)
        return;
    home->pins--;
    leat_channel_mark(home->channel, WORK_FREE);
}

void leat_channel_run_completions(leat_channel *channel) {
    leat_done *last = channel->completed;
    if (!last)
        return;
    leat_done *due = last->next;
    last->next = NULL;
    channel->completed = NULL;
    while (due) {
        leat_done *done = due;
        due = done->next;
        run_completion(done);
    }
}

static bool grow_ring(leat_channel *channel) {
    outbound_ring *old = channel->ring;
    uint32_t size = old ? old->size * 2 : FIRST_RING, count = queue_length(channel);
    outbound_ring *ring = leat_alloc_take(channel->loop->internal_alloc, size_of_ring(size), NULL);
    if (!ring)
        return false;
    *ring = (outbound_ring){.size = size, .count = count};
    if (old)
        ring->cursor = old->cursor;
    for (uint32_t i = 0; i < count; i++)
        ring->entries[i] = *entry_at(old, i);
    leat_outbound_clean_up(channel);
    channel->ring = ring;
    return true;
}

static int refuse_reason(const leat_channel *channel) {
    if (channel->end_code != 0 && channel_has(channel, CHANNEL_ABORTED | CHANNEL_BROKEN))
        return channel->end_code;
    return LEAT_ECLOSED;
}

/* Tells whether `bytes` more may be queued; else completes the write. */
static bool may_add(leat_channel *channel, uint64_t bytes, leat_done *done) {
    enum { GONE = CHANNEL_CLOSING | CHANNEL_ABORTED | CHANNEL_BROKEN | CHANNEL_ENDED };
    if (channel_has(channel, GONE)) {
        leat_channel_complete(channel, done, refuse_reason(channel));
        return false;
    }
    uint64_t used = channel->queued + (uint64_t)queue_length(channel) * ENTRY_COST;
    if (bytes <= options_of(channel)->write_limit && used <= options_of(channel)->write_limit - bytes)
        return true;
    leat_channel_complete(channel, done, LEAT_ELIMIT);
    leat_channel_abort(channel, LEAT_ELIMIT);
    return false;
}

static void count_in(leat_channel *channel, uint64_t bytes) {
    channel->queued += bytes;
    leat_channel_mark(channel, channel_has(channel, CHANNEL_BLOCKED) ? WORK_FLUSH : WORK_WRITE | WORK_FLUSH);
    leat_channel_update_writable(channel);
}

/* A refused piece would tear the stream, so there is no going on. */
static void fail_for_memory(leat_channel *channel, leat_done *done) {
    leat_channel_complete(channel, done, LEAT_ENOMEM);
    leat_channel_abort(channel, LEAT_ENOMEM);
}

static outbound_entry *append_entry(leat_channel *channel, leat_bytebuf *buf, bool staged) {
    if ((!channel->ring || channel->ring->count == channel->ring->size) && !grow_ring(channel))
        return NULL;
    outbound_entry *entry = entry_at(channel->ring, channel->ring->count++);
    *entry = (outbound_entry){.buf = buf};
    channel->flags &= ~(uint32_t)CHANNEL_STAGED;
    if (staged)
        channel->flags |= CHANNEL_STAGED;
    return entry;
}

/* The staging entry at the end with room for `length` bytes, or a new one, or NULL. */
static outbound_entry *staging_entry(leat_channel *channel, size_t length) {
    bool staged = channel_has(channel, CHANNEL_STAGED) && queue_length(channel) > 0;
    if (staged) {
        outbound_entry *last = entry_at(channel->ring, channel->ring->count - 1);
        if (leat_bytebuf_writable(last->buf) >= length)
            return last;
    }
    size_t room = staged ? NEXT_STAGING : FIRST_STAGING;
    leat_bytebuf *staging = leat_bytebuf_new(leat_channel_alloc(channel), length > room ? length : room);
    outbound_entry *entry = staging ? append_entry(channel, staging, true) : NULL;
    if (staging && !entry)
        leat_bytebuf_release(staging);
    return entry;
}

void leat_outbound_add_copy(leat_channel *channel, const void *bytes, size_t length, leat_done *done) {
    if (!may_add(channel, length, done))
        return;
    outbound_entry *entry = staging_entry(channel, length);
    if (!entry || !leat_bytebuf_write_bytes(entry->buf, bytes, length)) {
        fail_for_memory(channel, done);
        return;
    }
    leat_done_list_add(&entry->done, done);
    count_in(channel, length);
}

/* Small messages behind others are cheaper copied than gathered. */
static bool stage_small(leat_channel *channel, leat_bytebuf *buf, uint64_t length, leat_done *done) {
    const uint8_t *bytes = leat_bytebuf_data(buf);
    if (!bytes || queue_length(channel) == 0 || length == 0 || length > STAGED_MOST)
        return false;
    outbound_entry *entry = staging_entry(channel, (size_t)length);
    if (!entry || !leat_bytebuf_write_bytes(entry->buf, bytes, (size_t)length))
        return false;
    leat_done_list_add(&entry->done, done);
    return true;
}

void leat_outbound_add(leat_channel *channel, leat_bytebuf *buf, leat_done *done) {
    uint64_t length = leat_bytebuf_readable(buf);
    bool allowed = may_add(channel, length, done);
    if (allowed && !stage_small(channel, buf, length, done)) {
        outbound_entry *entry = append_entry(channel, buf, false);
        if (entry) {
            leat_done_list_add(&entry->done, done);
            count_in(channel, length);
            return;
        }
        fail_for_memory(channel, done);
        allowed = false;
    }
    leat_bytebuf_release(buf);
    if (allowed)
        count_in(channel, length);
}

static void pop(leat_channel *channel, int status) {
    outbound_ring *ring = channel->ring;
    outbound_entry entry = *entry_at(ring, 0);
    ring->first = (ring->first + 1) & (ring->size - 1);
    ring->count--;
    ring->cursor = (leat_bytebuf_position){0};
    leat_bytebuf_release(entry.buf);
    if (!entry.done.first)
        return;
    for (leat_done *done = entry.done.first; done; done = done->next)
        done->status = status;
    add_completed(channel, entry.done);
}

static size_t gather(outbound_ring *ring, leat_span *spans, size_t max, uint64_t *bytes) {
    size_t count = 0;
    *bytes = 0;
    for (uint32_t i = 0; i < ring->count && count < max; i++) {
        leat_bytebuf_position from = i == 0 ? ring->cursor : (leat_bytebuf_position){0};
        uint64_t more = 0;
        count += leat_bytebuf_spans_at(entry_at(ring, i)->buf, from, spans + count, max - count, &more);
        *bytes += more;
    }
    return count;
}

/* Moves the cursor over what the transport took; entries that are through complete. */
static void advance(leat_channel *channel, uint64_t taken) {
    channel->queued -= taken;
    channel->written += taken;
    if (taken > 0)
        channel->last_written = leat_loop_time(channel->loop);
    outbound_ring *ring = channel->ring;
    while (ring->count > 0) {
        leat_bytebuf *buf = entry_at(ring, 0)->buf;
        uint64_t left = leat_bytebuf_readable(buf) - ring->cursor.offset;
        if (left > taken)
            break;
        taken -= left;
        pop(channel, LEAT_OK);
    }
    if (taken > 0)
        leat_bytebuf_position_advance(entry_at(ring, 0)->buf, &ring->cursor, taken);
    leat_channel_update_writable(channel);
}

static void block(leat_channel *channel) {
    channel->flags |= CHANNEL_BLOCKED;
    leat_channel_mark(channel, WORK_INTEREST);
}

/* One gathering write; false = stop writing in this turn. */
static bool write_once(leat_channel *channel) {
    leat_transport *transport = channel->transport;
    size_t max = transport->ops->max_spans < 1024 ? transport->ops->max_spans : 1024;
    uint64_t bytes = 0;
    size_t count = gather(channel->ring, channel->loop->spans, max, &bytes);
    int64_t taken = count > 0 ? transport->ops->writev(transport, channel->loop->spans, count) : 0;
    LEAT_PROBE(written, channel, taken);
    if (taken < 0 && taken != LEAT_EAGAIN) {
        leat_channel_broke(channel, (int)taken);
        return false;
    }
    if (taken >= 0)
        advance(channel, (uint64_t)taken);
    if (taken >= 0 && (uint64_t)taken == bytes)
        return true;
    block(channel);
    return false;
}

void leat_outbound_write(leat_channel *channel) {
    if (!channel->transport || channel_has(channel, CHANNEL_BLOCKED | CHANNEL_BROKEN | CHANNEL_ABORTED))
        return;
    if (!channel_has(channel, CHANNEL_ACTIVE))
        return;
    for (int i = 0; queue_length(channel) > 0; i++) {
        if (i == WRITES_A_TURN) {
            leat_channel_mark(channel, WORK_WRITE);
            return;
        }
        if (!write_once(channel))
            return;
    }
    if (channel_has(channel, CHANNEL_CLOSING))
        leat_channel_mark(channel, WORK_CLOSE);
}

void leat_outbound_fail(leat_channel *channel, int code) {
    while (queue_length(channel) > 0)
        pop(channel, code);
    channel->queued = 0;
    leat_channel_update_writable(channel);
}

void leat_outbound_clean_up(leat_channel *channel) {
    if (channel->ring)
        leat_alloc_give(channel->loop->internal_alloc, channel->ring, size_of_ring(channel->ring->size));
    channel->ring = NULL;
}
