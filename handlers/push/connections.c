#include "handlers/push/server_internal.h"

#include <string.h>

/* ---- lanes: one codec, one window ------------------------------------------------------------------------------- */

static int codec_slot_of(leat_push_server *server, const leat_push_codec *codec, unsigned *slot) {
    for (unsigned i = 0; i < LEAT_PUSH_CODECS; i++) {
        if (server->codecs[i] && server->codecs[i] != codec)
            continue;
        server->codecs[i] = codec;
        *slot = i;
        return 0;
    }
    return LEAT_ELIMIT;
}

static int new_lane(leat_push_server *server, const leat_push_codec *codec, uint64_t window, lane **made) {
    unsigned slot = 0;
    int code = codec_slot_of(server, codec, &slot);
    if (code != 0)
        return code;
    lane *one = leat_alloc_take_zeroed(server->alloc, sizeof *one);
    if (!one)
        return LEAT_ENOMEM;
    one->codec = codec;
    one->codec_slot = slot;
    one->window = window;
    one->open_end = &one->open_first;
    one->next = server->lanes;
    server->lanes = *made = one;
    return 0;
}

static uint64_t window_of(const leat_push_join_options *options) {
    if (options->window_ms == LEAT_PUSH_NO_WINDOW)
        return 0;
    return (options->window_ms ? options->window_ms : 200) * (uint64_t)1000000;
}

static int find_lane(leat_push_server *server, const leat_push_join_options *options, lane **found) {
    uint64_t window = window_of(options);
    for (lane *one = server->lanes; one; one = one->next) {
        if (one->codec != options->codec || one->window != window)
            continue;
        *found = one;
        return 0;
    }
    return new_lane(server, options->codec, window, found);
}

static int make_room(lane *in, leat_alloc *alloc) {
    size_t room = in->room ? in->room * 2 : 4;
    leat_push_connection **members = leat_alloc_take(alloc, room * sizeof(*members), NULL);
    if (!members)
        return LEAT_ENOMEM;
    if (in->count)
        memcpy(members, in->members, in->count * sizeof(*members));
    leat_alloc_give(alloc, in->members, in->room * sizeof(*members));
    in->members = members;
    in->room = room;
    return 0;
}

/* It gets what comes from now on, not what waits in the batch already. */
static int enter_lane(lane *to, leat_push_connection *connection) {
    if (to->count == to->room && make_room(to, connection->server->alloc) != 0)
        return LEAT_ENOMEM;
    connection->missed = leat_push_amount_of(to->batch.count, to->batch.bytes);
    connection->place = to->count;
    to->members[to->count++] = connection;
    return 0;
}

static void leave_lane(leat_push_connection *connection) {
    lane *from = connection->lane;
    leat_push_connection *last = from->members[--from->count];
    from->members[connection->place] = last;
    last->place = connection->place;
    if (from->count == 0)
        leat_push_batch_clear(&from->batch, connection->server->alloc);
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* FNV-1a from a seed. */
static uint64_t hash_of(uint64_t seed, const char *text) {
    uint64_t hash = seed ^ 0xCBF29CE484222325u;
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 0x100000001B3u;
    return hash ^ (hash >> 32);
}

static group **group_bucket(leat_push_server *server, const char *name) {
    return &server->group_buckets[hash_of(server->options.seed, name) % BUCKETS];
}

static char *copy_text(leat_alloc *alloc, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = leat_alloc_take(alloc, size, NULL);
    return copy ? memcpy(copy, text, size) : NULL;
}

static void free_text(leat_alloc *alloc, char *text) {
    if (text)
        leat_alloc_give(alloc, text, strlen(text) + 1);
}

static void link_group(leat_push_server *server, group *one) {
    one->next = server->groups;
    one->link = &server->groups;
    if (one->next)
        one->next->link = &one->next;
    server->groups = one;
    if (!one->name)
        return;
    group **bucket = group_bucket(server, one->name);
    one->next_in_bucket = *bucket;
    one->bucket_link = bucket;
    if (*bucket)
        (*bucket)->bucket_link = &one->next_in_bucket;
    *bucket = one;
}

static void unlink_group(group *one) {
    *one->link = one->next;
    if (one->next)
        one->next->link = one->link;
    if (!one->bucket_link)
        return;
    *one->bucket_link = one->next_in_bucket;
    if (one->next_in_bucket)
        one->next_in_bucket->bucket_link = one->bucket_link;
}

static group *find_group(leat_push_server *server, const char *name) {
    group *one = *group_bucket(server, name);
    while (one && strcmp(one->name, name) != 0)
        one = one->next_in_bucket;
    return one;
}

static group *new_group(leat_push_server *server, const char *name) {
    group *one = leat_alloc_take_zeroed(server->alloc, sizeof *one);
    if (!one)
        return NULL;
    if (name && !(one->name = copy_text(server->alloc, name))) {
        leat_alloc_give(server->alloc, one, sizeof *one);
        return NULL;
    }
    const leat_push_router_options options = {.random_start = server->options.random_start,
                                              .seed = server->options.seed + ++server->last_seed};
    leat_push_router_init(&one->router, server->alloc, &options);
    link_group(server, one);
    return one;
}

static void free_if_empty(leat_push_server *server, group *one) {
    if (leat_push_router_size(&one->router))
        return;
    unlink_group(one);
    leat_push_router_clean_up(&one->router);
    free_text(server->alloc, one->name);
    leat_alloc_give(server->alloc, one, sizeof *one);
}

/* ---- slots ------------------------------------------------------------------------------------------------------- */

static leat_push_connection **slot_bucket(leat_push_server *server, const char *name, const char *slot) {
    return &server->slot_buckets[hash_of(hash_of(server->options.seed, name), slot) % BUCKETS];
}

leat_push_connection *leat_push_place_occupant(leat_push_server *server, const char *name, const char *slot) {
    leat_push_connection *one = *slot_bucket(server, name, slot);
    while (one && (strcmp(one->slot, slot) != 0 || strcmp(one->group->name, name) != 0))
        one = one->next_slot;
    return one;
}

static int take_slot(leat_push_connection *connection, const char *slot) {
    connection->slot = copy_text(connection->server->alloc, slot);
    if (!connection->slot)
        return LEAT_ENOMEM;
    leat_push_connection **bucket = slot_bucket(connection->server, connection->group->name, slot);
    connection->next_slot = *bucket;
    connection->slot_link = bucket;
    if (*bucket)
        (*bucket)->slot_link = &connection->next_slot;
    *bucket = connection;
    return 0;
}

static void leave_slot(leat_push_connection *connection) {
    if (!connection->slot)
        return;
    *connection->slot_link = connection->next_slot;
    if (connection->next_slot)
        connection->next_slot->slot_link = connection->slot_link;
    free_text(connection->server->alloc, connection->slot);
    connection->slot = NULL;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static void leave_group(leat_push_connection *connection) {
    group *from = connection->group;
    leave_slot(connection);
    leat_push_router_remove(&from->router, connection->place);
    from->choosy -= connection->accepts != NULL;
    connection->group = NULL;
    free_if_empty(connection->server, from);
}

static int enter_group(leat_push_connection *connection, const leat_push_join_options *options) {
    leat_push_server *server = connection->server;
    group *to = options->group ? find_group(server, options->group) : NULL;
    if (!to && !(to = new_group(server, options->group)))
        return LEAT_ENOMEM;
    if (leat_push_router_add(&to->router, connection, &connection->place) != 0) {
        free_if_empty(server, to);
        return LEAT_ENOMEM;
    }
    connection->group = to;
    to->choosy += connection->accepts != NULL;
    if (!options->group || !options->slot || take_slot(connection, options->slot) == 0)
        return 0;
    leave_group(connection);
    return LEAT_ENOMEM;
}

/* Who chooses its events cannot share a batch: it is a group of its own. */
int leat_push_place_enter(leat_push_connection *connection, const leat_push_join_options *options) {
    int code = find_lane(connection->server, options, &connection->lane);
    if (code != 0)
        return code;
    return options->group || options->accepts ? enter_group(connection, options)
                                              : enter_lane(connection->lane, connection);
}

void leat_push_place_leave(leat_push_connection *connection) {
    if (connection->group)
        leave_group(connection);
    else
        leave_lane(connection);
}

void leat_push_places_free(leat_push_server *server) {
    while (server->lanes) {
        lane *one = server->lanes;
        server->lanes = one->next;
        leat_push_batch_clean_up(&one->batch, server->alloc);
        leat_alloc_give(server->alloc, one->members, one->room * sizeof(*one->members));
        leat_alloc_give(server->alloc, one, sizeof *one);
    }
}
