#include "transports/loops_internal.h"
#include "transports/tcp_internal.h"

#include <assert.h>

/** A listener of several loops. Each loop has a part: a socket of its own, or who serves what the acceptor hands out.
 */
struct leat_loops_listener {
    leat_tcp_spread spread;
    leat_loops *loops;
    leat_loops_listener *next;
    uint64_t references; /* atomic: the caller's, and one for each part, the acceptor and each task on its way */
    leat_tcp_options options;
    const leat_syscalls *calls;
    leat_address address;
    leat_tcp_listener *acceptor; /* on the first loop, as is `turn`; NULL = each part accepts */
    size_t turn;                 /* whose loop the next connection is for */
    uint32_t open;               /* atomic: connections accepted and not ended yet */
    bool closed;                 /* atomic */
    bool resuming;               /* atomic: `resume` is on its way */
    leat_task resume;
    size_t count;
    leat_tcp_listener *parts[]; /* each on its loop's thread only */
};

/** A connection on its way to the loop that serves it. */
typedef struct handed_out {
    leat_task task;
    leat_loops_listener *listener;
    leat_address peer;
    size_t index, tried;
    int descriptor;
} handed_out;

static leat_loops_listener *of_spread(leat_tcp_spread *spread) {
    return (leat_loops_listener *)(void *)spread;
}

static size_t size_of(size_t count) {
    return sizeof(leat_loops_listener) + count * sizeof(leat_tcp_listener *);
}

static void retain(leat_loops_listener *self) {
    __atomic_fetch_add(&self->references, 1, __ATOMIC_RELAXED);
}

static void drop_reference(leat_loops_listener *self) {
    if (__atomic_sub_fetch(&self->references, 1, __ATOMIC_ACQ_REL) == 0)
        leat_alloc_give(leat_unpooled(), self, size_of(self->count));
}

leat_loops_listener **leat_loops_listener_next(leat_loops_listener *self) {
    return &self->next;
}

/* How many connections there are. */

static bool has_room(leat_tcp_spread *spread) {
    leat_loops_listener *self = of_spread(spread);
    return __atomic_load_n(&self->open, __ATOMIC_ACQUIRE) < self->options.max_connections;
}

static void resume(leat_task *task, int status) {
    leat_loops_listener *self = (leat_loops_listener *)(void *)((char *)task - offsetof(leat_loops_listener, resume));
    __atomic_store_n(&self->resuming, false, __ATOMIC_RELEASE);
    if (status == 0 && self->acceptor)
        leat_tcp_listener_resume(self->acceptor);
    drop_reference(self);
}

/** One connection less; who makes room where there was none tells the acceptor. */
static void lost(leat_tcp_spread *spread) {
    leat_loops_listener *self = of_spread(spread);
    if (__atomic_fetch_sub(&self->open, 1, __ATOMIC_ACQ_REL) != self->options.max_connections ||
        __atomic_exchange_n(&self->resuming, true, __ATOMIC_ACQ_REL))
        return;
    retain(self);
    leat_loop_post(leat_loops_at(self->loops, 0), &self->resume);
}

static void let_go(leat_tcp_spread *spread) {
    drop_reference(of_spread(spread));
}

/* Handing out. */

/** Serves it on its loop; false = it was refused, and the descriptor is closed. */
static bool serve(const handed_out *one) {
    leat_loops_listener *self = one->listener;
    leat_tcp_listener *part = self->parts[one->index];
    if (part && !__atomic_load_n(&self->closed, __ATOMIC_ACQUIRE))
        return leat_tcp_listener_serve(part, one->descriptor, &one->peer);
    leat_tcp_refuse(self->calls, one->descriptor);
    return false;
}

static void offer(handed_out *one);

static void arrived(leat_task *task, int status) {
    handed_out *one = (handed_out *)(void *)task;
    leat_loops_listener *self = one->listener;
    if (status != 0 && ++one->tried < self->count) {
        one->index = (one->index + 1) % self->count;
        offer(one);
        return;
    }
    if (status != 0)
        leat_tcp_refuse(self->calls, one->descriptor);
    if (status != 0 || !serve(one))
        lost(&self->spread);
    leat_alloc_give(leat_unpooled(), one, sizeof *one);
    drop_reference(self);
}

/** A loop that ended, or has too much posted to it, leaves the connection to the next one. */
static void offer(handed_out *one) {
    one->task = (leat_task){.fn = arrived, .bytes = sizeof *one};
    leat_loop_post(leat_loops_at(one->listener->loops, one->index), &one->task);
}

static void hand_out(leat_tcp_spread *spread, int descriptor, const leat_address *peer) {
    leat_loops_listener *self = of_spread(spread);
    __atomic_fetch_add(&self->open, 1, __ATOMIC_ACQ_REL);
    handed_out *one = leat_alloc_take_zeroed(leat_unpooled(), sizeof *one);
    if (!one) {
        leat_tcp_refuse(self->calls, descriptor);
        lost(spread);
        return;
    }
    *one = (handed_out){.listener = self, .descriptor = descriptor, .peer = *peer, .index = self->turn};
    self->turn = (self->turn + 1) % self->count;
    retain(self);
    offer(one);
}

static const leat_tcp_spread round_robin = {has_room, hand_out, lost, let_go};

/* Listening. */

/** What is done on each loop in turn. */
typedef struct opening {
    leat_loops_listener *listener;
    const char *address;
    leat_problem *problem;
    int code;
} opening;

static void open_part(void *context, size_t index) {
    opening *now = context;
    leat_loops_listener *self = now->listener;
    leat_loop *loop = leat_loops_at(self->loops, index);
    leat_tcp_listener **part = &self->parts[index];
    if (self->options.reuse_port) {
        now->code = leat_tcp_listen(loop, now->address, &self->options, part, now->problem);
        return;
    }
    now->code = leat_tcp_listen_spread(loop, NULL, &self->options, &self->spread, part, now->problem);
    if (now->code == 0)
        retain(self);
}

static void open_acceptor(void *context, size_t index) {
    opening *now = context;
    leat_loops_listener *self = now->listener;
    now->code = leat_tcp_listen_spread(leat_loops_at(self->loops, index), now->address, &self->options, &self->spread,
                                       &self->acceptor, now->problem);
    if (now->code != 0)
        return;
    retain(self);
    self->address = leat_tcp_listener_address(self->acceptor);
}

static int call(opening *now, size_t index, void (*fn)(void *context, size_t index)) {
    int code = leat_loops_call(now->listener->loops, index, fn, now);
    if (code != 0)
        return leat_problem_set(now->problem, code, "cannot listen: the loops stopped");
    return now->code;
}

/** The first part may choose the port; the others then bind to the same. */
static int open_sockets(opening now) {
    leat_loops_listener *self = now.listener;
    char bound[LEAT_ADDRESS_TEXT];
    int code = call(&now, 0, open_part);
    if (code != 0)
        return code;
    self->address = leat_tcp_listener_address(self->parts[0]);
    leat_address_format(&self->address, bound, sizeof bound);
    now.address = bound;
    for (size_t i = 1; i < self->count && code == 0; i++)
        code = call(&now, i, open_part);
    return code;
}

static int open_spread(opening *now) {
    int code = 0;
    for (size_t i = 0; i < now->listener->count && code == 0; i++)
        code = call(now, i, open_part);
    return code == 0 ? call(now, 0, open_acceptor) : code;
}

/** All connections together, or with a socket a loop the loop's share of them. */
static uint32_t most_connections(const leat_tcp_options *options, size_t count) {
    enum { DEFAULT_CONNECTIONS = 65536 };
    uint32_t most = options->max_connections ? options->max_connections : DEFAULT_CONNECTIONS;
    uint32_t loops = (uint32_t)count;
    return options->reuse_port ? most / loops + (most % loops != 0) : most;
}

static leat_loops_listener *make(leat_loops *loops, const leat_tcp_options *options) {
    size_t count = leat_loops_count(loops);
    leat_loops_listener *self = leat_alloc_take_zeroed(leat_unpooled(), size_of(count));
    if (!self)
        return NULL;
    self->spread = round_robin;
    self->loops = loops;
    self->references = 1;
    self->options = *options;
    self->options.max_connections = most_connections(options, count);
    self->calls = leat_tcp_calls(options);
    self->resume.fn = resume;
    self->count = count;
    return self;
}

int leat_loops_listen(leat_loops *loops, const char *address, const leat_tcp_options *options,
                      leat_loops_listener **listener, leat_problem *problem) {
    *listener = NULL;
    if (!address || !options || (!options->pipeline && !options->initialise) || leat_loops_is_inside(loops))
        return leat_problem_set(problem, LEAT_EINVAL,
                                "a listener needs an address and a pipeline, and a thread that is none of the loops'");
    leat_loops_listener *self = make(loops, options);
    if (!self)
        return leat_problem_set(problem, LEAT_ENOMEM, "out of memory");
    leat_loops_add_listener(loops, self);
    opening now = {.listener = self, .address = address, .problem = problem};
    int code = options->reuse_port ? open_sockets(now) : open_spread(&now);
    if (code == 0)
        *listener = self;
    else
        leat_loops_listener_release(self);
    return code;
}

leat_address leat_loops_listener_address(const leat_loops_listener *self) {
    return self->address;
}

/* Asking. */

typedef struct summing {
    leat_loops_listener *listener;
    leat_tcp_listener_stats *sum;
} summing;

static void add(leat_tcp_listener_stats *sum, const leat_tcp_listener *part) {
    if (!part)
        return;
    leat_tcp_listener_stats more = leat_tcp_listener_statistics(part);
    sum->accepted += more.accepted;
    sum->refused += more.refused;
    sum->failures += more.failures;
    sum->pauses += more.pauses;
    sum->connections += more.connections;
}

static void add_part(void *context, size_t index) {
    summing *now = context;
    add(now->sum, now->listener->parts[index]);
    if (index == 0)
        add(now->sum, now->listener->acceptor);
}

static int on_each(leat_loops_listener *self, void (*fn)(void *context, size_t index), void *context) {
    if (leat_loops_is_inside(self->loops))
        return LEAT_EINVAL;
    for (size_t i = 0; i < self->count; i++)
        leat_loops_call(self->loops, i, fn, context); /* on a loop that ended there is nothing left to do */
    return 0;
}

int leat_loops_listener_statistics(leat_loops_listener *self, leat_tcp_listener_stats *stats) {
    *stats = (leat_tcp_listener_stats){0};
    return on_each(self, add_part, &(summing){self, stats});
}

/* Closing. */

static void close_on(void *context, size_t index) {
    leat_loops_listener *self = context;
    if (index == 0 && self->acceptor)
        leat_tcp_listener_close(self->acceptor);
    if (self->parts[index])
        leat_tcp_listener_close(self->parts[index]);
}

int leat_loops_listener_close(leat_loops_listener *self) {
    if (leat_loops_is_inside(self->loops))
        return LEAT_EINVAL;
    __atomic_store_n(&self->closed, true, __ATOMIC_RELEASE);
    return on_each(self, close_on, self);
}

static void release_part(void *context, size_t index) {
    leat_loops_listener *self = context;
    if (index == 0) {
        leat_tcp_listener_release(self->acceptor);
        self->acceptor = NULL;
    }
    leat_tcp_listener_release(self->parts[index]);
    self->parts[index] = NULL;
}

void leat_loops_listener_close_part(leat_loops_listener *self, size_t index) {
    release_part(self, index);
}

void leat_loops_listener_release(leat_loops_listener *self) {
    if (!self)
        return;
    int code = on_each(self, release_part, self);
    assert(code == 0 && "a listener of loops is not released on one of their threads");
    (void)code;
    leat_loops_remove_listener(self->loops, self);
    drop_reference(self);
}
