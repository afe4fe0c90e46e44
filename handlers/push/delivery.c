#include "handlers/push/server_internal.h"

/* ---- what was lost ------------------------------------------------------------------------------------------------
 */

static leat_push_account *total(leat_push_server *server) {
    return &server->ledger.destinations;
}

/* Never became pending: destined and dropped at once. */
void leat_push_connection_reject(leat_push_connection *connection, const leat_push_event *event,
                                 leat_push_drop reason) {
    leat_push_amount amount = leat_push_amount_of(1, event->bytes);
    leat_push_account *all = total(connection->server);
    leat_push_amount_add(&all->destined, amount);
    leat_push_amount_add(&all->dropped[reason], amount);
    leat_push_amount_add(&connection->account.destined, amount);
    leat_push_amount_add(&connection->account.dropped[reason], amount);
}

static void drop_pending(leat_push_connection *connection, leat_push_amount amount, leat_push_drop reason) {
    leat_push_account *all = total(connection->server);
    leat_push_amount_subtract(&all->pending, amount);
    leat_push_amount_add(&all->dropped[reason], amount);
    leat_push_amount_subtract(&connection->account.pending, amount);
    leat_push_amount_add(&connection->account.dropped[reason], amount);
}

/* ---- writes -------------------------------------------------------------------------------------------------------
 */

static flight *take_flight(leat_push_server *server) {
    flight *one = server->spare_flights;
    if (!one)
        return leat_alloc_take_zeroed(server->alloc, sizeof *one);
    server->spare_flights = one->next;
    return one;
}

static void landed(leat_done *done, int status) {
    flight *one = (flight *)done;
    leat_push_connection *connection = one->connection;
    leat_push_account *all = total(connection->server), *own = &connection->account;
    leat_push_amount_subtract(&all->pending, one->amount);
    leat_push_amount_add(status == 0 ? &all->delivered : &all->failed, one->amount);
    leat_push_amount_subtract(&own->pending, one->amount);
    leat_push_amount_add(status == 0 ? &own->delivered : &own->failed, one->amount);
    one->next = connection->server->spare_flights;
    connection->server->spare_flights = one;
    connection->flights--;
    leat_push_connection_free_if_done(connection);
}

static void send(leat_push_connection *connection, leat_bytebuf *message, leat_push_amount amount) {
    flight *one = message ? take_flight(connection->server) : NULL;
    if (!one) {
        leat_bytebuf_release(message);
        drop_pending(connection, amount, LEAT_PUSH_OUT_OF_MEMORY);
        return;
    }
    one->done = (leat_done){.fn = landed};
    one->connection = connection;
    one->amount = amount;
    connection->flights++;
    connection->server->written++;
    leat_channel_write(connection->channel, leat_msg_of_bytebuf(message), &one->done);
}

/* ---- who does not keep up -----------------------------------------------------------------------------------------
 */

/* Asked before anything is built. An empty channel takes any one batch, so that nothing is too large for ever. */
static bool takes(const leat_push_connection *connection, uint64_t bytes, leat_push_drop *reason) {
    if (connection->leaving || !leat_channel_is_open(connection->channel)) {
        *reason = LEAT_PUSH_GONE;
        return false;
    }
    uint64_t waiting = leat_channel_pending(connection->channel);
    if (leat_channel_bytes_before_unwritable(connection->channel) == 0)
        *reason = LEAT_PUSH_UNWRITABLE;
    else if (waiting && (waiting > connection->max_pending || bytes > connection->max_pending - waiting))
        *reason = LEAT_PUSH_BUFFER_FULL;
    else
        return true;
    return false;
}

static bool drops(leat_push_connection *connection, leat_push_amount amount) {
    leat_push_drop reason;
    if (takes(connection, amount.bytes, &reason))
        return false;
    drop_pending(connection, amount, reason);
    if (connection->slow == LEAT_PUSH_DISCONNECT && reason != LEAT_PUSH_GONE)
        leat_channel_abort(connection->channel, LEAT_EWRITABLE);
    return true;
}

static bool is_over_limit(const leat_push_server *server, uint64_t bytes, size_t destinations) {
    uint64_t pending = server->ledger.destinations.pending.bytes, limit = server->options.max_pending_bytes;
    return pending > limit || bytes > (limit - pending) / destinations;
}

static bool is_full(const leat_push_server *server, const leat_push_batch *batch) {
    return batch->count >= server->options.batch_events || batch->bytes >= server->options.batch_bytes;
}

static leat_bytebuf *build(leat_push_server *server, const lane *of, const leat_push_batch *batch, uint64_t from) {
    server->built++;
    return leat_push_batch_build(batch, (uint32_t)from, of->codec, of->codec_slot, server->alloc);
}

/* ---- the broadcast set of a lane ------------------------------------------------------------------------------------
 */

leat_push_amount leat_push_lane_share(const leat_push_connection *connection) {
    const leat_push_batch *batch = &connection->lane->batch;
    if (connection->group || !connection->is_member)
        return leat_push_amount_of(0, 0);
    return leat_push_amount_of(batch->count - connection->missed.events, batch->bytes - connection->missed.bytes);
}

/* From here on the connection's own account knows its part of the batch. */
static leat_push_amount take_share(leat_push_connection *connection) {
    leat_push_amount share = leat_push_lane_share(connection);
    leat_push_amount_add(&connection->account.destined, share);
    leat_push_amount_add(&connection->account.pending, share);
    return share;
}

static leat_bytebuf *shared_message(leat_push_server *server, lane *of, leat_bytebuf **shared) {
    if (!*shared)
        *shared = build(server, of, &of->batch, 0);
    return *shared ? leat_bytebuf_retain(*shared) : NULL;
}

static void deliver_share(leat_push_server *server, leat_push_connection *connection, leat_bytebuf **shared) {
    lane *of = connection->lane;
    leat_push_amount share = take_share(connection);
    uint64_t from = connection->missed.events;
    connection->missed = leat_push_amount_of(0, 0);
    if (share.events == 0 || drops(connection, share))
        return;
    send(connection, from ? build(server, of, &of->batch, from) : shared_message(server, of, shared), share);
}

void leat_push_lane_close_window(leat_push_server *server, lane *which) {
    if (which->batch.count == 0)
        return;
    leat_bytebuf *shared = NULL;
    for (size_t i = 0; i < which->count; i++)
        deliver_share(server, which->members[i], &shared);
    leat_bytebuf_release(shared);
    leat_push_batch_clear(&which->batch, server->alloc);
}

static void reject_for_all(lane *to, const leat_push_event *event, leat_push_drop reason) {
    for (size_t i = 0; i < to->count; i++)
        leat_push_connection_reject(to->members[i], event, reason);
}

void leat_push_lane_add(leat_push_server *server, lane *to, leat_push_event *event) {
    if (to->count == 0)
        return;
    if (is_over_limit(server, event->bytes, to->count)) {
        reject_for_all(to, event, LEAT_PUSH_SERVER_FULL);
        return;
    }
    if (leat_push_batch_add(&to->batch, server->alloc, event) != 0) {
        reject_for_all(to, event, LEAT_PUSH_OUT_OF_MEMORY);
        return;
    }
    leat_push_amount amount = leat_push_amount_of(to->count, event->bytes * to->count);
    leat_push_amount_add(&total(server)->destined, amount);
    leat_push_amount_add(&total(server)->pending, amount);
    if (to->batch.count == 1)
        to->batch.deadline = leat_loop_now(server->loop) + to->window;
    if (is_full(server, &to->batch))
        leat_push_lane_close_window(server, to);
}

/* ---- a connection with a batch of its own
 * ----------------------------------------------------------------------------- */

static void open_window(leat_push_connection *connection) {
    lane *of = connection->lane;
    connection->batch.deadline = leat_loop_now(connection->server->loop) + of->window;
    connection->next_open = NULL;
    connection->open_link = of->open_end;
    *of->open_end = connection;
    of->open_end = &connection->next_open;
}

static void unlink_window(leat_push_connection *connection) {
    if (!connection->open_link)
        return;
    *connection->open_link = connection->next_open;
    if (connection->next_open)
        connection->next_open->open_link = connection->open_link;
    else
        connection->lane->open_end = connection->open_link;
    connection->open_link = NULL;
}

static void destine(leat_push_connection *connection, leat_push_amount amount) {
    leat_push_account *all = total(connection->server);
    leat_push_amount_add(&all->destined, amount);
    leat_push_amount_add(&all->pending, amount);
    leat_push_amount_add(&connection->account.destined, amount);
    leat_push_amount_add(&connection->account.pending, amount);
}

int leat_push_connection_destine(leat_push_connection *connection) {
    const leat_push_batch *batch = &connection->batch;
    if (is_over_limit(connection->server, batch->bytes, 1))
        return LEAT_ELIMIT;
    destine(connection, leat_push_amount_of(batch->count, batch->bytes));
    return 0;
}

void leat_push_connection_add(leat_push_connection *connection, leat_push_event *event) {
    leat_push_server *server = connection->server;
    if (is_over_limit(server, event->bytes, 1)) {
        leat_push_connection_reject(connection, event, LEAT_PUSH_SERVER_FULL);
        return;
    }
    if (leat_push_batch_add(&connection->batch, server->alloc, event) != 0) {
        leat_push_connection_reject(connection, event, LEAT_PUSH_OUT_OF_MEMORY);
        return;
    }
    destine(connection, leat_push_amount_of(1, event->bytes));
    if (connection->batch.count == 1)
        open_window(connection);
    if (is_full(server, &connection->batch))
        leat_push_connection_close_window(connection);
}

void leat_push_connection_close_window(leat_push_connection *connection) {
    leat_push_batch *batch = &connection->batch;
    leat_push_amount amount = leat_push_amount_of(batch->count, batch->bytes);
    unlink_window(connection);
    if (amount.events && !drops(connection, amount))
        send(connection, build(connection->server, connection->lane, batch, 0), amount);
    leat_push_batch_clear(batch, connection->server->alloc);
}

/* What waits in a window, of its own or of the broadcast set, is lost for this connection. */
void leat_push_connection_drop_batch(leat_push_connection *connection, leat_push_drop reason) {
    leat_push_batch *batch = &connection->batch;
    unlink_window(connection);
    leat_push_amount amount = leat_push_amount_of(batch->count, batch->bytes);
    if (!connection->group)
        amount = take_share(connection);
    drop_pending(connection, amount, reason);
    leat_push_batch_clean_up(batch, connection->server->alloc);
}
