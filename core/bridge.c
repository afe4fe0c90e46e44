/**
 * Bridges. Each end has one preallocated task by which the other one tells it all news: parcels to write, bytes that
 * were written, and its end. So however much goes over, a mailbox holds at most one task of an end.
 */
#include "core/bridge.h"

#include "core/transport.h"

/** What became of the other end; a negative code = it ended with that error. */
enum { OUTCOME_NONE = 0, OUTCOME_EOF = 1, OUTCOME_GONE = 2 };

typedef struct bridge_end bridge_end;

/** A message on its way; while it is in the other channel's queue it holds a reference to the bridge. */
typedef struct parcel {
    leat_done done;
    struct parcel *next;
    bridge_end *from;
    leat_alloc *alloc;
    leat_msg msg;
    uint64_t bytes;
} parcel;

struct bridge_end {
    leat_bridge *bridge;
    bridge_end *other;
    /* On the thread of this end: */
    leat_ctx *ctx; /* NULL = not there yet, or gone */
    uint64_t sent; /* bytes on their way, held here */
    bool ended;    /* the peer of this channel sends no more */
    bool looked;   /* who joined has looked for news: from now on they come by the task */
    /* Atomic, written by the other end: */
    parcel *newest;
    uint64_t written; /* bytes that are on their way no more */
    int outcome;
    bool told; /* `news` is posted and did not run; true until who joins has looked */
    /* Atomic, written once by who joins: */
    leat_mailbox *mailbox;
    leat_task news;
};

struct leat_bridge {
    uint32_t refs;
    uint32_t joined; /* atomic, a bit for each end that is taken */
    bridge_end ends[2];
};

typedef struct bridge_config {
    bridge_end *end;
} bridge_config;

/* Life. */

static void hear_news(leat_task *task, int status);

leat_bridge *leat_bridge_new(void) {
    leat_bridge *self = leat_alloc_take_zeroed(leat_unpooled(), sizeof *self);
    if (!self)
        return NULL;
    self->refs = 1;
    for (int i = 0; i < 2; i++)
        self->ends[i] = (bridge_end){.bridge = self, .other = &self->ends[1 - i], .told = true, .news.fn = hear_news};
    return self;
}

leat_bridge *leat_bridge_retain(leat_bridge *self) {
    __atomic_fetch_add(&self->refs, 1, __ATOMIC_RELAXED);
    return self;
}

static parcel *take_oldest_first(bridge_end *self) {
    parcel *oldest = NULL;
    for (parcel *one = __atomic_exchange_n(&self->newest, NULL, __ATOMIC_ACQUIRE), *next; one; one = next) {
        next = one->next;
        one->next = oldest;
        oldest = one;
    }
    return oldest;
}

static void give_parcel_back(parcel *one) {
    leat_alloc_give(one->alloc, one, sizeof *one);
}

/** What still waits was for an end that never came. */
static void clean_up(bridge_end *self) {
    for (parcel *one = take_oldest_first(self), *next; one; one = next) {
        next = one->next;
        leat_msg_release(one->msg);
        give_parcel_back(one);
    }
    leat_mailbox_release(self->mailbox);
}

void leat_bridge_release(leat_bridge *self) {
    if (!self || __atomic_sub_fetch(&self->refs, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    clean_up(&self->ends[0]);
    clean_up(&self->ends[1]);
    leat_alloc_give(leat_unpooled(), self, sizeof *self);
}

/* Telling the other end. */

/** Has the end look at its news: by its task, or as soon as it joins. */
static void tell(bridge_end *to) {
    if (__atomic_exchange_n(&to->told, true, __ATOMIC_ACQ_REL))
        return;
    leat_bridge_retain(to->bridge);
    leat_mailbox_post(__atomic_load_n(&to->mailbox, __ATOMIC_RELAXED), &to->news);
}

/** The first end that is final counts. */
static void tell_outcome(bridge_end *to, int outcome) {
    int before = __atomic_load_n(&to->outcome, __ATOMIC_RELAXED);
    while ((before == OUTCOME_NONE || before == OUTCOME_EOF) &&
           !__atomic_compare_exchange_n(&to->outcome, &before, outcome, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    tell(to);
}

static void tell_written(bridge_end *to, uint64_t bytes) {
    __atomic_fetch_add(&to->written, bytes, __ATOMIC_RELEASE);
    tell(to);
}

static void push(bridge_end *to, parcel *one) {
    one->next = __atomic_load_n(&to->newest, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&to->newest, &one->next, one, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    tell(to);
}

/* Hearing from it. */

static void written(leat_done *done, int status) {
    parcel *one = (parcel *)(void *)done;
    leat_bridge *bridge = one->from->bridge;
    leat_ctx *ctx = one->from->other->ctx;
    if (ctx && status != LEAT_OK && status != LEAT_ECLOSED)
        leat_channel_abort(leat_ctx_channel(ctx), status); /* a stream with a hole is none */
    tell_written(one->from, one->bytes);
    give_parcel_back(one);
    leat_bridge_release(bridge);
}

static void discard(parcel *one) {
    leat_msg_release(one->msg);
    tell_written(one->from, one->bytes);
    give_parcel_back(one);
}

/** A handler on the way may remove this one. */
static void write_parcel(bridge_end *self, parcel *one) {
    if (!self->ctx) {
        discard(one);
        return;
    }
    leat_bridge_retain(self->bridge);
    leat_ctx_write(self->ctx, one->msg, &one->done);
}

static void take_parcels(bridge_end *self, void (*take)(bridge_end *self, parcel *one)) {
    for (parcel *one = take_oldest_first(self), *next; one; one = next) {
        next = one->next;
        take(self, one);
    }
}

static void discard_parcel(bridge_end *self, parcel *one) {
    (void)self;
    discard(one);
}

static void unhold(bridge_end *self, uint64_t bytes) {
    self->sent -= bytes;
    leat_ctx_unhold(self->ctx, bytes);
}

static void end_like(bridge_end *self, int outcome) {
    if (!self->ctx)
        return;
    leat_channel *channel = leat_ctx_channel(self->ctx);
    if (outcome < 0)
        leat_channel_abort(channel, outcome);
    else if (outcome == OUTCOME_GONE || (outcome == OUTCOME_EOF && self->ended))
        leat_channel_close(channel);
    else if (outcome == OUTCOME_EOF)
        leat_channel_half_close(channel);
}

/** The outcome is read first: whatever was sent before it is then there, too. */
static void act_on_news(bridge_end *self) {
    int outcome = __atomic_load_n(&self->outcome, __ATOMIC_ACQUIRE);
    unhold(self, __atomic_exchange_n(&self->written, 0, __ATOMIC_ACQUIRE));
    take_parcels(self, write_parcel);
    end_like(self, outcome);
}

/** What was told before is seen by who looks next; what is told after is posted. */
static void expect_news(bridge_end *self) {
    (void)__atomic_exchange_n(&self->told, false, __ATOMIC_ACQ_REL);
}

static void look_at_news(bridge_end *self, bool here) {
    leat_bridge *bridge = leat_bridge_retain(self->bridge);
    if (here)
        act_on_news(self);
    else
        take_parcels(self, discard_parcel);
    leat_bridge_release(bridge);
}

/** Only the task itself may say that it is posted no more: it could wait behind what runs now. */
static void hear_news(leat_task *task, int status) {
    bridge_end *self = (bridge_end *)(void *)((char *)task - offsetof(bridge_end, news));
    leat_bridge *bridge = self->bridge;
    expect_news(self);
    look_at_news(self, status == LEAT_OK && self->ctx);
    leat_bridge_release(bridge);
}

static void look_first(bridge_end *self) {
    if (self->looked)
        return;
    self->looked = true;
    expect_news(self);
}

/* The handler. */

static bridge_end *end_of(leat_ctx *ctx) {
    return *(bridge_end **)leat_state(ctx);
}

static int added(leat_ctx *ctx, const void *config) {
    bridge_end *self = ((const bridge_config *)config)->end;
    *(bridge_end **)leat_state(ctx) = self;
    self->ctx = ctx;
    leat_bridge_retain(self->bridge);
    return LEAT_OK;
}

static void removed(leat_ctx *ctx) {
    bridge_end *self = end_of(ctx);
    int error = leat_channel_error(leat_ctx_channel(ctx));
    unhold(self, self->sent);
    self->ctx = NULL;
    tell_outcome(self->other, error ? error : OUTCOME_GONE);
    look_first(self);
    look_at_news(self, false);
    leat_bridge_release(self->bridge);
}

/** What came before the other end joined. */
static void wake(leat_ctx *ctx) {
    look_first(end_of(ctx));
    look_at_news(end_of(ctx), true);
}

static parcel *pack(leat_ctx *ctx, leat_msg msg) {
    leat_alloc *alloc = leat_channel_alloc(leat_ctx_channel(ctx));
    parcel *one = leat_alloc_take(alloc, sizeof *one, NULL);
    if (!one)
        return NULL;
    *one = (parcel){.done.fn = written, .from = end_of(ctx), .alloc = alloc, .msg = msg, .bytes = leat_msg_size(msg)};
    return one;
}

/** A small slice must not pin a large block for as long as the other end is slow. */
static int keep(leat_msg *msg) {
    leat_bytebuf *buf = leat_msg_bytebuf(*msg);
    if (!buf)
        return LEAT_OK;
    int code = leat_bytebuf_keep(&buf);
    *msg = leat_msg_of_bytebuf(buf);
    return code;
}

static void send_over(leat_ctx *ctx, leat_msg msg) {
    bridge_end *self = end_of(ctx);
    parcel *one = keep(&msg) == LEAT_OK ? pack(ctx, msg) : NULL;
    if (!one) {
        leat_msg_release(msg);
        leat_channel_abort(leat_ctx_channel(ctx), LEAT_ENOMEM);
        return;
    }
    self->sent += one->bytes;
    leat_ctx_hold(ctx, one->bytes);
    push(self->other, one);
}

/** The channel stays open for what the other end still sends; if that ended before, the wake closes it. */
static void tell_eof(leat_ctx *ctx) {
    bridge_end *self = end_of(ctx);
    self->ended = true;
    tell_outcome(self->other, OUTCOME_EOF);
    leat_ctx_wake(ctx);
}

static const leat_handler bridging = {
    .name = "bridge",
    .state_size = sizeof(bridge_end *),
    .config_size = sizeof(bridge_config),
    .fires = leat_no_type,
    .added = added,
    .removed = removed,
    .read = send_over,
    .eof = tell_eof,
    .wake = wake,
};

/* Joining and ending. */

/** Returns an end that nobody has, or NULL. */
static bridge_end *take_end(leat_bridge *self) {
    for (uint32_t i = 0; i < 2; i++)
        if (!(__atomic_fetch_or(&self->joined, 1u << i, __ATOMIC_ACQ_REL) & 1u << i))
            return &self->ends[i];
    return NULL;
}

static int add_handler(bridge_end *end, leat_channel *channel) {
    const bridge_config config = {end};
    leat_ctx *ctx = NULL;
    int code = leat_channel_add_last(channel, &(leat_stage){.handler = &bridging, .config = &config}, &ctx);
    if (code != LEAT_OK)
        return code;
    leat_mailbox *mailbox = leat_mailbox_retain(leat_loop_mailbox(leat_channel_loop(channel)));
    __atomic_store_n(&end->mailbox, mailbox, __ATOMIC_RELEASE);
    leat_ctx_wake(ctx);
    return LEAT_OK;
}

int leat_bridge_join(leat_bridge *self, leat_channel *channel) {
    bridge_end *end = take_end(self);
    if (!end)
        return LEAT_EEXIST;
    leat_loop *loop = leat_channel_loop(channel);
    leat_loop_enter(loop);
    int code = add_handler(end, channel);
    leat_loop_leave(loop);
    if (code != LEAT_OK)
        __atomic_fetch_and(&self->joined, ~(uint32_t)(end == &self->ends[0] ? 1 : 2), __ATOMIC_ACQ_REL);
    return code;
}

void leat_bridge_end(leat_bridge *self, int code) {
    for (int i = 0; i < 2; i++)
        tell_outcome(&self->ends[i], code < 0 ? code : OUTCOME_GONE);
}
