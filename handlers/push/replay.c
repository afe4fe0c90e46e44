/** Replay: the events routed last are kept, for connections that come back. */
#include "handlers/push/server_internal.h"

static bool fits(const leat_push_queue *kept, uint64_t bytes) {
    return kept->count < kept->max_events && bytes <= kept->max_bytes - kept->bytes;
}

static void forget_oldest(leat_push_queue *kept) {
    leat_push_event_release(leat_push_queue_take(kept));
}

/* What cannot be kept would leave a hole: then what is older is of no use. */
void leat_push_keep_routed(leat_push_server *server, leat_push_event *event) {
    leat_push_queue *kept = &server->kept;
    server->last_routed = event->id;
    if (kept->max_events == 0)
        return;
    while (kept->count && !fits(kept, event->bytes))
        forget_oldest(kept);
    if (leat_push_queue_add(kept, leat_push_event_retain(event)) == 0)
        return;
    while (kept->count)
        forget_oldest(kept);
}

bool leat_push_keeps_all(const leat_push_server *server, uint64_t after) {
    if (server->kept.count == 0)
        return after == server->last_routed;
    return after <= server->last_routed && after >= leat_push_queue_at(&server->kept, 0)->id - 1;
}

/* It was given nothing yet, so that what is replayed comes first. */
static bool is_new(const leat_push_connection *connection) {
    bool alone = !connection->group || !connection->group->name;
    return alone && !connection->leaving && connection->server->deliveries == 0 &&
           connection->account.destined.events == 0 && leat_push_lane_share(connection).events == 0;
}

static bool wants(const leat_push_connection *connection, const leat_push_event *event) {
    return !connection->accepts || connection->accepts(connection->context, event);
}

/* An id above all there were is of another run: who says it has seen nothing of this one. */
static int collect(leat_push_connection *connection, uint64_t after) {
    leat_push_server *server = connection->server;
    uint64_t seen = after <= server->last_routed ? after : 0;
    for (size_t i = 0; i < server->kept.count; i++) {
        leat_push_event *event = leat_push_queue_at(&server->kept, i);
        if (event->id <= seen || !wants(connection, event))
            continue;
        int code = leat_push_batch_add(&connection->batch, server->alloc, event);
        if (code != 0)
            return code;
    }
    return leat_push_connection_destine(connection);
}

int leat_push_replay(leat_push_connection *connection, uint64_t after) {
    leat_push_server *server = connection->server;
    if (!is_new(connection))
        return LEAT_EINVAL;
    int code = collect(connection, after);
    if (code != 0) {
        leat_push_batch_clean_up(&connection->batch, server->alloc);
        return code;
    }
    leat_push_begin_delivery(server);
    leat_push_connection_close_window(connection);
    leat_push_end_delivery(server);
    return 0;
}
