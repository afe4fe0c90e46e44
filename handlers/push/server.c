#include "handlers/push/server_internal.h"

#include <string.h>

/* ---- routing
 * ---------------------------------------------------------------------------------------------------------- */

static bool wants(void *context, void *destination, void *chunk) {
    (void)context;
    leat_push_connection *connection = destination;
    if (!connection->accepts || connection->accepts(connection->context, chunk))
        return true;
    leat_push_connection_reject(connection, chunk, LEAT_PUSH_REJECTED);
    return false;
}

static void give(void *context, void *destination, void *const *chunks, size_t count) {
    (void)context;
    for (size_t i = 0; i < count; i++)
        leat_push_connection_add(destination, chunks[i]);
}

static leat_push_amount amount_of(leat_push_event *const *events, size_t count) {
    leat_push_amount amount = {count, 0};
    for (size_t i = 0; i < count; i++)
        amount.bytes += events[i]->bytes;
    return amount;
}

static void route_in_group(leat_push_server *server, group *in, size_t count) {
    const leat_push_routing routing = {.accepts = in->choosy ? wants : NULL, .write = give};
    if (leat_push_router_route(&in->router, (void *const *)server->chunker.chunk, count, &routing) == 0)
        return;
    leat_push_account *all = &server->ledger.destinations;
    leat_push_amount lost = amount_of(server->chunker.chunk, count);
    leat_push_amount_add(&all->destined, lost);
    leat_push_amount_add(&all->dropped[LEAT_PUSH_OUT_OF_MEMORY], lost);
}

static void route_chunk(leat_push_server *server) {
    size_t count = leat_push_chunker_cut(&server->chunker, &server->queue);
    leat_push_event **chunk = server->chunker.chunk;
    for (lane *to = server->lanes; to; to = to->next)
        for (size_t i = 0; i < count; i++)
            leat_push_lane_add(server, to, chunk[i]);
    for (group *in = server->groups; in; in = in->next)
        route_in_group(server, in, count);
    leat_push_amount_add(&server->ledger.routed, amount_of(chunk, count));
    for (size_t i = 0; i < count; i++) {
        leat_push_keep_routed(server, chunk[i]);
        leat_push_event_release(chunk[i]);
    }
}

/* ---- the one timer
 * ---------------------------------------------------------------------------------------------------- */

static uint64_t earlier(uint64_t one, uint64_t other) {
    return one < other ? one : other;
}

static uint64_t next_deadline(const leat_push_server *server) {
    uint64_t deadline = leat_push_chunker_deadline(&server->chunker, &server->queue);
    for (const lane *one = server->lanes; one; one = one->next) {
        if (one->batch.count)
            deadline = earlier(deadline, one->batch.deadline);
        if (one->open_first)
            deadline = earlier(deadline, one->open_first->batch.deadline);
    }
    return deadline;
}

static void close_windows(leat_push_server *server, uint64_t now) {
    for (lane *one = server->lanes; one; one = one->next) {
        if (one->batch.count && one->batch.deadline <= now)
            leat_push_lane_close_window(server, one);
        while (one->open_first && one->open_first->batch.deadline <= now)
            leat_push_connection_close_window(one->open_first);
    }
}

static void run_due(leat_push_server *server, uint64_t now) {
    while (leat_push_chunker_is_due(&server->chunker, &server->queue, now) && server->queue.count)
        route_chunk(server);
    close_windows(server, now);
}

/* Without memory for the timer nothing may wait. */
static void arm(leat_push_server *server) {
    uint64_t now = leat_loop_now(server->loop);
    uint64_t deadline = leat_push_chunker_is_full(&server->chunker, &server->queue) ? now : next_deadline(server);
    if (deadline == UINT64_MAX || (leat_timer_is_running(&server->timer) && server->armed_for <= deadline))
        return;
    server->armed_for = deadline;
    uint64_t wait = deadline > now ? (deadline - now + 999999) / 1000000 : 0;
    if (leat_timer_start(server->loop, &server->timer, wait) != 0 && server->deliveries == 1)
        run_due(server, UINT64_MAX);
}

static void on_timer(leat_timer *timer) {
    leat_push_server *server = (leat_push_server *)((char *)timer - offsetof(leat_push_server, timer));
    leat_push_begin_delivery(server);
    run_due(server, leat_loop_now(server->loop));
    arm(server);
    leat_push_end_delivery(server);
}

/* ---- offering
 * --------------------------------------------------------------------------------------------------------- */

static int refuse(leat_push_server *server, leat_push_event *event, leat_push_refusal reason) {
    static const int codes[] = {[LEAT_PUSH_QUEUE_FULL] = LEAT_ELIMIT,
                                [LEAT_PUSH_TOO_LARGE] = LEAT_ETOOLONG,
                                [LEAT_PUSH_CLOSED] = LEAT_ECLOSED,
                                [LEAT_PUSH_NO_MEMORY] = LEAT_ENOMEM};
    leat_push_amount_add(&server->ledger.refused[reason], leat_push_amount_of(1, event ? event->bytes : 0));
    leat_push_event_release(event);
    return codes[reason];
}

bool leat_push_has_room(const leat_push_server *server, uint64_t bytes) {
    const leat_push_queue *queue = &server->queue;
    return queue->count < queue->max_events && bytes <= queue->max_bytes - queue->bytes;
}

static void accept_event(leat_push_server *server, leat_push_event *event) {
    leat_push_amount_add(&server->ledger.accepted, leat_push_amount_of(1, event->bytes));
    if (server->options.with_ids)
        event->id = ++server->last_id;
    leat_push_chunker_added(&server->chunker, &server->queue, leat_loop_now(server->loop));
    bool delivering = server->deliveries > 0; /* then the timer brings what is offered meanwhile */
    leat_push_begin_delivery(server);
    while (!delivering && leat_push_chunker_is_full(&server->chunker, &server->queue))
        route_chunk(server);
    arm(server);
    leat_push_end_delivery(server);
}

int leat_push_offer(leat_push_server *server, leat_push_event *event) {
    leat_push_amount_add(&server->ledger.offered, leat_push_amount_of(1, event ? event->bytes : 0));
    if (!event)
        return refuse(server, NULL, LEAT_PUSH_NO_MEMORY);
    if (server->closed)
        return refuse(server, event, LEAT_PUSH_CLOSED);
    if (event->bytes > server->options.max_event_bytes)
        return refuse(server, event, LEAT_PUSH_TOO_LARGE);
    if (!leat_push_has_room(server, event->bytes))
        return refuse(server, event, LEAT_PUSH_QUEUE_FULL);
    if (leat_push_queue_add(&server->queue, leat_push_event_retain(event)) != 0)
        return refuse(server, event, LEAT_PUSH_NO_MEMORY);
    accept_event(server, event);
    leat_push_event_release(event);
    return 0;
}

/* May run on the thread of the poster. */
static void count_refused_elsewhere(leat_push_server *server, int status, uint64_t bytes) {
    leat_push_amount *refused =
        &server->refused_elsewhere[status == LEAT_ELIMIT ? LEAT_PUSH_QUEUE_FULL : LEAT_PUSH_CLOSED];
    __atomic_fetch_add(&refused->events, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&refused->bytes, bytes, __ATOMIC_RELAXED);
}

static void posted(leat_task *task, int status) {
    leat_push_event *event = (leat_push_event *)task;
    leat_push_server *server = event->server;
    if (status == 0) {
        leat_push_offer(server, event);
    } else {
        count_refused_elsewhere(server, status, event->bytes);
        leat_push_event_release(event);
    }
    leat_push_server_unretain(server);
}

void leat_push_post(leat_push_server *server, leat_push_event *event) {
    if (!event) {
        __atomic_fetch_add(&server->refused_elsewhere[LEAT_PUSH_NO_MEMORY].events, 1, __ATOMIC_RELAXED);
        return;
    }
    event->task.fn = posted;
    event->task.bytes = event->bytes + sizeof *event;
    event->server = leat_push_server_retain(server);
    leat_mailbox_post(server->mailbox, &event->task);
}

/* ---- life
 * --------------------------------------------------------------------------------------------------------------- */

static leat_push_options with_defaults(const leat_push_options *given) {
    leat_push_options options = {0};
    if (given)
        options = *given;
#define DEFAULT(field, value) options.field = options.field ? options.field : (value)
    DEFAULT(queue_events, 25000);
    DEFAULT(queue_bytes, 16 << 20);
    DEFAULT(chunk_events, 1000);
    DEFAULT(chunk_bytes, 256 << 10);
    DEFAULT(batch_events, 1000);
    DEFAULT(batch_bytes, 64 << 10);
    DEFAULT(max_event_bytes, 1 << 20);
    DEFAULT(max_pending_bytes, 1 << 30);
    DEFAULT(max_connections, 100000);
    DEFAULT(keep_bytes, 1 << 20);
    DEFAULT(first_id, 1);
#undef DEFAULT
    return options;
}

leat_push_server *leat_push_server_new(leat_loop *loop, const leat_push_options *options, leat_problem *problem) {
    leat_alloc *alloc = leat_loop_alloc(loop);
    leat_push_server *server = leat_alloc_take_zeroed(alloc, sizeof *server);
    leat_push_options chosen = with_defaults(options);
    if (!server || leat_push_chunker_init(&server->chunker, alloc, chosen.chunk_events, chosen.chunk_bytes,
                                          chosen.chunk_ms) != 0) {
        leat_alloc_give(alloc, server, sizeof *server);
        leat_problem_set(problem, LEAT_ENOMEM, "no memory for a push server");
        return NULL;
    }
    server->refs = 1;
    server->loop = loop;
    server->alloc = alloc;
    server->options = chosen;
    server->mailbox = leat_mailbox_retain(leat_loop_mailbox(loop));
    server->timer.fn = on_timer;
    leat_push_queue_init(&server->queue, alloc, chosen.queue_events, chosen.queue_bytes);
    leat_push_queue_init(&server->kept, alloc, chosen.with_ids ? chosen.keep_events : 0, chosen.keep_bytes);
    server->last_id = server->last_routed = chosen.first_id - 1;
    return server;
}

static void destroy(leat_push_server *server) {
    leat_push_queue_clean_up(&server->queue);
    leat_push_queue_clean_up(&server->kept);
    leat_push_chunker_clean_up(&server->chunker);
    leat_push_places_free(server);
    while (server->spare_flights) {
        flight *one = server->spare_flights;
        server->spare_flights = one->next;
        leat_alloc_give(server->alloc, one, sizeof *one);
    }
    leat_mailbox_release(server->mailbox);
    leat_alloc_give(server->alloc, server, sizeof *server);
}

leat_push_server *leat_push_server_retain(leat_push_server *server) {
    __atomic_fetch_add(&server->refs, 1, __ATOMIC_RELAXED);
    return server;
}

void leat_push_server_unretain(leat_push_server *server) {
    if (__atomic_sub_fetch(&server->refs, 1, __ATOMIC_ACQ_REL) == 0)
        destroy(server);
}

void leat_push_server_release(leat_push_server *server) {
    if (!server)
        return;
    server->release_wanted = server->deliveries > 0;
    if (server->release_wanted)
        return;
    server->closed = server->told_empty = true;
    leat_timer_stop(server->loop, &server->timer);
    while (server->connections)
        leat_push_leave(server->connections);
    leat_push_server_unretain(server);
}

void leat_push_server_close(leat_push_server *server) {
    server->close_wanted = true;
    if (server->closed || server->deliveries > 0)
        return;
    leat_push_begin_delivery(server);
    while (server->queue.count)
        route_chunk(server);
    close_windows(server, UINT64_MAX);
    server->closed = true;
    for (leat_push_connection *one = server->connections; one; one = one->next)
        if (one->ctx)
            leat_channel_close(one->channel);
    leat_push_server_tell_if_empty(server);
    leat_push_end_delivery(server);
}

/* ---- what happened
 * ------------------------------------------------------------------------------------------------------ */

leat_push_ledger leat_push_server_ledger(const leat_push_server *server) {
    leat_push_ledger ledger = server->ledger;
    ledger.queued = leat_push_amount_of(server->queue.count, server->queue.bytes);
    for (size_t i = 0; i < LEAT_PUSH_REFUSAL_COUNT; i++) {
        const leat_push_amount *refused = &server->refused_elsewhere[i];
        leat_push_amount elsewhere = leat_push_amount_of(__atomic_load_n(&refused->events, __ATOMIC_RELAXED),
                                                         __atomic_load_n(&refused->bytes, __ATOMIC_RELAXED));
        leat_push_amount_add(&ledger.refused[i], elsewhere);
        leat_push_amount_add(&ledger.offered, elsewhere);
    }
    return ledger;
}

size_t leat_push_server_connections(const leat_push_server *server) {
    return server->connection_count;
}

void leat_push_server_batches(const leat_push_server *server, uint64_t *built, uint64_t *written) {
    *built = server->built;
    *written = server->written;
}
