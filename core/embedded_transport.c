/** The scripted transport of embedded channels. */
#include "core/embedded_internal.h"

#include <string.h>

static int scripted_interest(leat_transport *transport, unsigned bits) {
    ((leat_embedded *)transport)->interest = bits;
    return LEAT_OK;
}

/* Bytes that wait for the channel to read them; the buffer is given away. */
static bool add_pending(leat_embedded *embedded, leat_bytebuf *buf) {
    if (!leat_items_add(embedded->alloc, &embedded->pending, &buf, sizeof buf, 1)) {
        leat_bytebuf_release(buf);
        return false;
    }
    embedded->pending_bytes += leat_bytebuf_readable(buf);
    return true;
}

static bool keep_written(leat_embedded *embedded, const uint8_t *bytes, size_t length) {
    if (!embedded->peer)
        return leat_items_add(embedded->alloc, &embedded->written, bytes, 1, length);
    leat_bytebuf *buf = leat_bytebuf_from_bytes(embedded->loop->loop.alloc, bytes, length);
    return buf && add_pending(embedded->peer, buf);
}

/* How many more bytes may wait for the linked channel. */
static uint64_t room_at_peer(const leat_embedded *embedded) {
    const leat_embedded *peer = embedded->peer;
    if (!peer)
        return UINT64_MAX;
    return peer->pending_bytes < peer->link_limit ? peer->link_limit - peer->pending_bytes : 0;
}

/* How much of `wanted` the script and the linked channel let through now. */
static uint64_t grant(leat_embedded *embedded, uint64_t wanted) {
    uint64_t granted = wanted < embedded->most_a_call ? wanted : embedded->most_a_call;
    uint64_t room = room_at_peer(embedded);
    if (granted > embedded->allowance)
        granted = embedded->allowance;
    if (granted > room)
        granted = room;
    if (embedded->allowance != UINT64_MAX)
        embedded->allowance -= granted;
    return granted;
}

static int64_t scripted_writev(leat_transport *transport, const leat_span *spans, size_t count) {
    leat_embedded *embedded = (leat_embedded *)transport;
    if (embedded->write_error)
        return embedded->write_error;
    if (embedded->peer_closed)
        return LEAT_ERESET;
    uint64_t wanted = 0;
    for (size_t i = 0; i < count; i++)
        wanted += spans[i].length;
    uint64_t left = grant(embedded, wanted), taken = 0;
    if (left == 0)
        return LEAT_EAGAIN;
    embedded->write_calls++;
    embedded->spans.first = embedded->spans.count = 0;
    for (size_t i = 0; i < count && left > 0; i++) {
        size_t length = spans[i].length < left ? spans[i].length : (size_t)left;
        if (!leat_items_add(embedded->alloc, &embedded->spans, &length, sizeof length, 1))
            break;
        if (!keep_written(embedded, spans[i].bytes, length))
            break;
        taken += length;
        left -= length;
    }
    return taken > 0 ? (int64_t)taken : LEAT_ENOMEM;
}

static void scripted_shutdown(leat_transport *transport) {
    leat_embedded *embedded = (leat_embedded *)transport;
    embedded->shut_down = true;
    if (embedded->peer)
        embedded->peer->pending_eof = true;
}

static void scripted_close(leat_transport *transport, bool reset) {
    leat_embedded *embedded = (leat_embedded *)transport;
    embedded->closed = true;
    embedded->was_reset = reset;
    leat_embedded *peer = embedded->peer;
    if (!peer)
        return;
    peer->peer = NULL;
    peer->peer_closed = true;
    embedded->peer = NULL;
    if (!reset || peer->closed)
        peer->pending_eof = true;
    else if (peer->channel)
        leat_channel_broke(peer->channel, LEAT_ERESET);
}

const leat_transport_ops leat_embedded_transport = {
    .name = "embedded",
    .max_spans = 1024,
    .interest = scripted_interest,
    .writev = scripted_writev,
    .shutdown = scripted_shutdown,
    .close = scripted_close,
};

static bool deliver_one(leat_embedded *embedded) {
    leat_bytebuf *buf;
    if (!leat_channel_wants_read(embedded->channel) || !leat_items_take(&embedded->pending, &buf, sizeof buf))
        return false;
    embedded->pending_bytes -= leat_bytebuf_readable(buf);
    leat_channel_received(embedded->channel, buf);
    return true;
}

static bool eof_is_due(const leat_embedded *embedded) {
    return embedded->pending_eof && embedded->pending.count == 0 && leat_channel_wants_read(embedded->channel);
}

/* A partial write blocks the channel until more is taken: at once, while the script's allowance and the room at the
   linked channel last. */
static bool writes_on(leat_embedded *embedded) {
    if (!(embedded->interest & LEAT_INTEREST_WRITE) || embedded->allowance == 0 || room_at_peer(embedded) == 0)
        return false;
    leat_channel_can_write(embedded->channel);
    return true;
}

bool leat_embedded_pump(leat_embedded *embedded) {
    if (!embedded->channel || embedded->closed)
        return false;
    leat_loop_enter(&embedded->loop->loop);
    bool moved = writes_on(embedded), read = false;
    while (deliver_one(embedded))
        read = moved = true;
    if (read)
        leat_channel_received_all(embedded->channel);
    if (eof_is_due(embedded)) {
        embedded->pending_eof = false;
        leat_channel_received_eof(embedded->channel);
        moved = true;
    }
    leat_loop_leave(&embedded->loop->loop);
    return moved;
}

void leat_embedded_feed_bytebuf(leat_embedded *embedded, leat_bytebuf *buf) {
    if (embedded->closed)
        leat_bytebuf_release(buf);
    else if (!add_pending(embedded, buf))
        embedded->lost = true;
    leat_virtual_loop_settle(embedded->loop);
}

/* The way of real reads: through the loop's receive block. */
static bool receive(leat_embedded *embedded, const uint8_t *bytes, size_t length) {
    leat_loop *loop = &embedded->loop->loop;
    size_t room = 0;
    uint8_t *place = leat_loop_receive_room(loop, &room);
    if (!place)
        return false;
    if (length > 0)
        memcpy(place, bytes, length);
    leat_bytebuf *buf = leat_loop_receive_take(loop, length);
    if (buf)
        leat_channel_received(embedded->channel, buf);
    return buf != NULL;
}

static bool reads_now(const leat_embedded *embedded) {
    return embedded->pending.count == 0 && leat_channel_wants_read(embedded->channel);
}

static size_t receive_all(leat_embedded *embedded, const uint8_t *bytes, size_t length) {
    enum { MOST_A_READ = 64 * 1024 };
    size_t done = 0;
    do {
        size_t piece = length - done < MOST_A_READ ? length - done : MOST_A_READ;
        if (!receive(embedded, bytes + done, piece)) {
            leat_channel_broke(embedded->channel, LEAT_ENOMEM);
            return length;
        }
        done += piece;
    } while (done < length && reads_now(embedded));
    return done;
}

void leat_embedded_feed(leat_embedded *embedded, const void *bytes, size_t length) {
    if (embedded->closed)
        return;
    size_t done = 0;
    if (reads_now(embedded)) {
        leat_loop_enter(&embedded->loop->loop);
        done = receive_all(embedded, bytes, length);
        leat_channel_received_all(embedded->channel);
        leat_loop_leave(&embedded->loop->loop);
    }
    if (done < length) {
        leat_bytebuf *rest =
            leat_bytebuf_from_bytes(embedded->loop->loop.alloc, (const uint8_t *)bytes + done, length - done);
        if (!rest)
            embedded->lost = true;
        if (rest)
            leat_embedded_feed_bytebuf(embedded, rest);
    }
    leat_virtual_loop_settle(embedded->loop);
}

void leat_embedded_feed_text(leat_embedded *embedded, const char *text) {
    leat_embedded_feed(embedded, text, strlen(text));
}

void leat_embedded_feed_eof(leat_embedded *embedded) {
    embedded->pending_eof = true;
    leat_virtual_loop_settle(embedded->loop);
}

void leat_embedded_break(leat_embedded *embedded, int code) {
    if (embedded->closed)
        return;
    leat_loop_enter(&embedded->loop->loop);
    leat_channel_broke(embedded->channel, code);
    leat_loop_leave(&embedded->loop->loop);
    leat_virtual_loop_settle(embedded->loop);
}

void leat_embedded_limit_writes(leat_embedded *embedded, size_t bytes, uint64_t total) {
    embedded->most_a_call = bytes;
    embedded->allowance = total;
}

void leat_embedded_fail_writes(leat_embedded *embedded, int code) {
    embedded->write_error = code;
}

void leat_embedded_allow_writes(leat_embedded *embedded, uint64_t total) {
    embedded->allowance = total;
    if (embedded->closed)
        return;
    leat_loop_enter(&embedded->loop->loop);
    leat_channel_can_write(embedded->channel);
    leat_loop_leave(&embedded->loop->loop);
    leat_virtual_loop_settle(embedded->loop);
}

void leat_embedded_link(leat_embedded *one, leat_embedded *other) {
    assert(one->loop == other->loop && one != other);
    if (!one->closed && !other->closed) {
        one->peer = other;
        other->peer = one;
        return;
    }
    one->peer_closed = one->pending_eof = other->closed;
    other->peer_closed = other->pending_eof = one->closed;
}
