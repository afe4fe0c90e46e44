#include "handlers/push/server_internal.h"

#include <string.h>

/* ---- the handler that a connection has in its channel -------------------------------------------------------------
 */

static leat_push_connection **connection_of(leat_ctx *ctx) {
    return leat_state(ctx);
}

static int member_added(leat_ctx *ctx, const void *config) {
    leat_push_connection *connection = *(leat_push_connection *const *)config;
    *connection_of(ctx) = connection;
    connection->ctx = ctx;
    return 0;
}

static void give_up_place(leat_push_connection *connection) {
    leat_push_connection_drop_batch(connection, LEAT_PUSH_GONE);
    connection->is_member = false;
    leat_push_place_leave(connection);
    *connection->link = connection->next;
    if (connection->next)
        connection->next->link = connection->link;
    leat_push_connection_free_if_done(connection);
}

void leat_push_begin_delivery(leat_push_server *server) {
    server->deliveries++;
}

void leat_push_end_delivery(leat_push_server *server) {
    for (leat_push_connection *one; server->deliveries == 1 && (one = server->leaving);) {
        server->leaving = one->next_leaving;
        give_up_place(one);
    }
    if (--server->deliveries > 0)
        return;
    if (server->close_wanted && !server->closed)
        leat_push_server_close(server);
    else if (server->release_wanted)
        leat_push_server_release(server);
}

static void stop_taking_part(leat_push_connection *connection) {
    leat_push_server *server = connection->server;
    if (!connection->is_member || connection->leaving)
        return;
    leat_push_begin_delivery(server);
    connection->leaving = true;
    connection->next_leaving = server->leaving;
    server->leaving = connection;
    server->connection_count--;
    leat_push_end_delivery(server);
}

static void member_removed(leat_ctx *ctx) {
    leat_push_connection *connection = *connection_of(ctx);
    if (!connection)
        return;
    *connection_of(ctx) = NULL;
    connection->ctx = NULL;
    if (connection->is_member)
        stop_taking_part(connection); /* frees it then */
    else
        leat_push_connection_free_if_done(connection);
}

static void member_close(leat_ctx *ctx) {
    if (*connection_of(ctx))
        stop_taking_part(*connection_of(ctx));
    leat_ctx_close(ctx);
}

static const leat_handler member_handler = {
    .name = "push_member",
    .state_size = sizeof(leat_push_connection *),
    .config_size = sizeof(leat_push_connection *),
    .added = member_added,
    .removed = member_removed,
    .close = member_close,
};

/* ---- joining --------------------------------------------------------------------------------------------------------
 */

static int check(leat_push_server *server, leat_channel *channel, const leat_push_join_options *options) {
    if (!options || !options->codec || (options->slot && !options->group))
        return LEAT_EINVAL;
    if (server->closed || !leat_channel_is_open(channel))
        return LEAT_ECLOSED;
    if (leat_channel_find(channel, member_handler.name))
        return LEAT_EEXIST;
    return server->connection_count < server->options.max_connections ? 0 : LEAT_ELIMIT;
}

static leat_push_connection *new_connection(leat_push_server *server, leat_channel *channel,
                                            const leat_push_join_options *options) {
    leat_push_connection *connection = leat_alloc_take_zeroed(server->alloc, sizeof *connection);
    if (!connection)
        return NULL;
    connection->server = leat_push_server_retain(server);
    connection->channel = channel;
    connection->max_pending = options->max_pending ? options->max_pending : 1 << 20;
    connection->slow = options->slow;
    connection->accepts = options->accepts;
    connection->context = options->context;
    server->alive++;
    return connection;
}

static void take_part(leat_push_connection *connection) {
    leat_push_server *server = connection->server;
    connection->is_member = true;
    connection->next = server->connections;
    connection->link = &server->connections;
    if (connection->next)
        connection->next->link = &connection->next;
    server->connections = connection;
    server->connection_count++;
}

static int settle_in(leat_push_connection *connection, const leat_push_join_options *options) {
    int code = leat_push_place_enter(connection, options);
    if (code != 0)
        return code;
    const leat_stage stage = {.handler = &member_handler, .config = &connection};
    code = leat_channel_add_last(connection->channel, &stage, NULL);
    if (code != 0)
        leat_push_place_leave(connection);
    return code;
}

/* What the old one was given is still written to it; then it closes. */
static void replace(leat_push_connection *old) {
    leat_push_server *server = old->server;
    leat_push_begin_delivery(server);
    leat_push_connection_close_window(old);
    if (old->ctx)
        leat_channel_close(old->channel);
    leat_push_end_delivery(server);
}

int leat_push_join(leat_push_server *server, leat_channel *channel, const leat_push_join_options *options,
                   leat_push_connection **joined) {
    int code = check(server, channel, options);
    if (code != 0)
        return code;
    leat_push_connection *connection = new_connection(server, channel, options);
    if (!connection)
        return LEAT_ENOMEM;
    leat_push_connection *old = options->slot ? leat_push_place_occupant(server, options->group, options->slot) : NULL;
    code = settle_in(connection, options);
    if (code != 0) {
        leat_push_connection_free_if_done(connection);
        return code;
    }
    take_part(connection);
    if (joined)
        *joined = connection;
    if (old)
        replace(old);
    return 0;
}

/* ---- leaving --------------------------------------------------------------------------------------------------------
 */

void leat_push_leave(leat_push_connection *connection) {
    stop_taking_part(connection);
    if (connection->ctx)
        leat_ctx_remove(connection->ctx);
}

void leat_push_server_tell_if_empty(leat_push_server *server) {
    if (!server->closed || server->alive || server->told_empty)
        return;
    server->told_empty = true;
    if (server->options.on_empty)
        server->options.on_empty(server->options.context);
}

/* The channel is gone and the last write has landed. */
void leat_push_connection_free_if_done(leat_push_connection *connection) {
    if (connection->is_member || connection->ctx || connection->flights)
        return;
    leat_push_server *server = connection->server;
    leat_alloc_give(server->alloc, connection, sizeof *connection);
    server->alive--;
    leat_push_server_tell_if_empty(server);
    leat_push_server_unretain(server);
}

leat_push_account leat_push_connection_account(const leat_push_connection *connection) {
    leat_push_account account = connection->account;
    leat_push_amount share = leat_push_lane_share(connection);
    leat_push_amount_add(&account.destined, share);
    leat_push_amount_add(&account.pending, share);
    return account;
}
