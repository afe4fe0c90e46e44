/** What the files of the channel share: layout, flags, and the steps of a turn. Not installed. */
#ifndef LEAT_CORE_CHANNEL_INTERNAL_H
#define LEAT_CORE_CHANNEL_INTERNAL_H

#include "core/transport.h"

#include <assert.h>

/* A context stands on 16 bytes, so that what a hop loads (next_read and read, next_write and write) is in one cache
   line each, and a state may hold whatever a block of malloc may. */
enum { CTX_ALIGN = 16, MAX_STATE_SIZE = 1 << 20, MAX_STAGES = 1024 };

/** Flags of a context. */
enum {
    CTX_REMOVED = 1,
    CTX_WAKE = 2,       /* `wake` is due */
    CTX_FAILED = 4,     /* `failure` is to be fired */
    CTX_OWN_BLOCK = 8,  /* added later: a block of its own */
    CTX_INNERMOST = 16, /* the decoder next to the application: demand is counted here */
    CTX_ENTERED = 32,   /* `added` ran: `removed` is owed */
    CTX_PAUSES = 64,    /* wants no reading for now */
};

/** What a channel has to do at the end of the turn. */
enum {
    WORK_WAKE = 1,
    WORK_FLUSH = 2,
    WORK_WRITE = 4,
    WORK_DONE = 8,
    WORK_WRITABLE = 16,
    WORK_CLOSE = 32,
    WORK_INTEREST = 64,
    WORK_FREE = 128,
    WORK_ROUNDS = WORK_WAKE | WORK_FLUSH | WORK_WRITE | WORK_DONE,
};

/** Where a channel is in its life. */
enum {
    CHANNEL_ACTIVE = 1,        /* `active` was fired */
    CHANNEL_CLOSE_ASKED = 2,   /* close began: its timeout runs */
    CHANNEL_CLOSING = 4,       /* close reached the transport: no more writes, inbound is dropped */
    CHANNEL_SHUT_DOWN = 8,     /* half-closed */
    CHANNEL_EOF = 16,          /* the peer ended its side */
    CHANNEL_ABORTED = 32,      /* ends at the end of the turn */
    CHANNEL_BROKEN = 64,       /* the transport failed: ends once the error was fired */
    CHANNEL_ENDED = 128,       /* `inactive` and `removed` are behind it */
    CHANNEL_BLOCKED = 256,     /* the transport takes no more bytes for now */
    CHANNEL_UNWRITABLE = 512,  /* above the high watermark */
    CHANNEL_REPORTED = 1024,   /* handlers were last told: unwritable */
    CHANNEL_PAUSED = 2048,     /* handlers hold too many inbound bytes */
    CHANNEL_QUEUED = 4096,     /* in the loop's list of dirty channels */
    CHANNEL_IN_TURN = 8192,    /* its end of the turn is running */
    CHANNEL_COUNTS = 16384,    /* no decoder: each received buffer is a message of the demand */
    CHANNEL_STAGED = 32768,    /* the last entry of the queue is a staging buffer of ours */
    CHANNEL_PLACED = 65536,    /* the list of places is a block of its own */
    CHANNEL_HELD_UP = 131072,  /* a handler wants no reading for now */
    CHANNEL_READS_ON = 262144, /* only our side is being closed: inbound is delivered as ever */
    CHANNEL_DIPPED = 524288,   /* was unwritable since handlers were last told, if only for a moment */
};

/** A message on its way out; staged small writes share one entry. */
typedef struct outbound_entry {
    leat_bytebuf *buf;
    leat_done_list done;
} outbound_entry;

/** The outbound queue: a ring of `size` entries, a power of two. */
typedef struct outbound_ring {
    uint32_t size, first, count;
    leat_bytebuf_position cursor; /* how far the first entry was taken */
    outbound_entry entries[];
} outbound_ring;

/** A handler that was added later stands in a block of its own, behind this. */
typedef struct own_block {
    void *block;
    size_t size;
    const char *name;
    leat_handler_counts counts;
} own_block;

/** Options that channels of a loop share, as most of them are made with the same. */
typedef struct channel_settings {
    uint32_t refs;
    leat_channel_options options;
} channel_settings;

/** A value that users keep with the channel. */
typedef struct channel_attribute {
    struct channel_attribute *next;
    const leat_key *key;
    void *value;
} channel_attribute;

/** A group that the channel is in. */
typedef struct channel_membership {
    struct channel_membership *next;
    struct leat_group *group;
    size_t index;
} channel_membership;

/** What only some channels need. */
typedef struct channel_extras {
    channel_membership *memberships;
    channel_attribute *attributes;
    struct leat_ref *ref;
    leat_timer close_timer;
    leat_handler_counts *counts; /* of the pipeline's stages, if they are counted */
    leat_channel *channel;
} channel_extras;

/** A channel; behind it in its block the two ends, the contexts with their states, the places. */
struct leat_channel {
    leat_loop *loop;
    leat_pipeline *pipeline;
    leat_transport *transport;
    channel_settings *settings;
    leat_channel *next_dirty, *next, *previous;

    leat_ctx **places; /* the live ones, then the removed ones whose state still waits */
    uint16_t live, removed, room;
    uint8_t work, interest;
    uint32_t flags;
    uint32_t refs;
    int error;
    int end_code;

    outbound_ring *ring; /* NULL until something was written */
    uint64_t queued, held_out, held;
    uint64_t written, received;
    uint64_t last_written, last_read; /* loop time */
    uint64_t demand;
    leat_done *completed; /* the last of a circle: completions that wait for their phase of the turn */
    channel_extras *extras;
};

/** What a channel's block holds for certain: itself and the two ends of its pipeline. */
typedef struct channel_with_ends {
    leat_channel channel;
    leat_ctx head, tail;
} channel_with_ends;

_Static_assert(offsetof(channel_with_ends, head) == sizeof(leat_channel), "the ends stand right behind the channel");
_Static_assert(sizeof(leat_channel) % CTX_ALIGN == 0, "contexts stand on 16 bytes");

/** The plan that channels of a pipeline are built from. */
typedef struct pipeline_stage {
    const leat_handler *handler;
    const char *name;
    const void *config;
    size_t offset; /* of the context from the channel */
} pipeline_stage;

struct leat_pipeline {
    uint32_t refs;
    size_t count;
    size_t places;     /* where the channel's list of places begins */
    size_t block_size; /* of channel, contexts, states and places */
    leat_alloc *alloc;
    size_t size;
    pipeline_stage stages[];
};

static inline bool channel_has(const leat_channel *channel, uint32_t flags) {
    return (channel->flags & flags) != 0;
}

/** Tells whether inbound bytes are dropped: the channel closes, or ended. */
static inline bool channel_is_deaf(const leat_channel *channel) {
    return channel_has(channel, CHANNEL_ABORTED | CHANNEL_ENDED) ||
           (channel_has(channel, CHANNEL_CLOSING) && !channel_has(channel, CHANNEL_READS_ON));
}

static inline const leat_channel_options *options_of(const leat_channel *channel) {
    return &channel->settings->options;
}

static inline uint32_t queue_length(const leat_channel *channel) {
    return channel->ring ? channel->ring->count : 0;
}

static inline leat_ctx *head_of(const leat_channel *channel) {
    return &((channel_with_ends *)(uintptr_t)channel)->head;
}

static inline leat_ctx *tail_of(const leat_channel *channel) {
    return &((channel_with_ends *)(uintptr_t)channel)->tail;
}

static inline size_t align_ctx(size_t size) {
    return (size + CTX_ALIGN - 1) & ~(size_t)(CTX_ALIGN - 1);
}

/** Tells whether a contract names the type; no contract names every type. */
static inline bool leat_types_accept(const leat_type *const *types, const leat_type *type) {
    if (!types)
        return true;
    while (*types && *types != type)
        types++;
    return *types != NULL;
}

/** Names who acts from now on, for the ledger of the test kit; returns who did before. */
static inline const char *leat_loop_act(leat_loop *loop, const char *name) {
    const char *before = loop->actor;
    if (loop->tracker) {
        loop->actor = name;
        leat_tracking_alloc_actor(loop->tracker, name);
    }
    return before;
}

/** A handler broke a rule: tells the ledger, or in debug builds without one stops. */
void leat_complain(leat_loop *loop, const char *handler, const char *what, const char *name);
/** Calls come on the loop's thread only: a ledger is told of one that does not, debug builds without one stop. */
void leat_assert_thread(const leat_loop *loop);

/** Adds to what the channel does at the end of the turn. */
void leat_channel_mark(leat_channel *channel, uint32_t work);
/** Ends the turn of a channel: does its work. */
void leat_channel_end_turn(leat_channel *channel);
/** Ends a channel at once, past all graces: for the end of the loop and of the turn. */
void leat_channel_end(leat_channel *channel);
/** Frees the channel's memory if nothing needs it any more. */
void leat_channel_free_if_done(leat_channel *channel);
void leat_channel_begin_close(leat_channel *channel);

/* places: who is next to whom */
void leat_channel_resolve(leat_channel *channel);
void leat_ctx_init(leat_ctx *ctx, leat_channel *channel, const leat_handler *handler);
int leat_ctx_enter(leat_ctx *ctx, const void *config);
void leat_channel_reap(leat_channel *channel);
void leat_channel_remove_all(leat_channel *channel);
/** Lets go of the settings that the next channel of the loop may share. */
void leat_channel_forget_settings(leat_loop *loop);
int leat_stage_check(const leat_stage *stage, leat_problem *problem);

/** Handlers in a row, from the transport on, wherever they stand. */
typedef struct handler_row {
    const leat_handler *(*at)(const void *of, size_t index);
    const void *of;
    size_t count;
    size_t about;  /* the only one whose contract is in question */
    bool replaced; /* it stands in the place of another */
} handler_row;
#define HANDLER_ROW_ALL SIZE_MAX /* or all of them */

/** LEAT_OK, or LEAT_ETYPE with the two that do not fit in `problem`. */
int leat_contracts_check(const handler_row *row, leat_problem *problem);
extern const leat_handler leat_head_handler;
extern const leat_handler leat_tail_handler;

/* outbound: the queue */
void leat_outbound_add(leat_channel *channel, leat_bytebuf *buf, leat_done *done);
void leat_outbound_add_copy(leat_channel *channel, const void *bytes, size_t length, leat_done *done);
void leat_outbound_write(leat_channel *channel);
void leat_outbound_fail(leat_channel *channel, int code);
void leat_outbound_clean_up(leat_channel *channel);
void leat_channel_update_writable(leat_channel *channel);
void leat_channel_complete(leat_channel *channel, leat_done *done, int status);
void leat_channel_run_completions(leat_channel *channel);

/* loop */
void leat_loop_read_clock(leat_loop *loop);
/** leat_loop_enter for turns that seldom ask for the time: the first who does reads the clock. */
void leat_loop_enter_without_clock(leat_loop *loop);
/** Returns the loop's time; within core, instead of looking at it. */
static inline uint64_t leat_loop_time(leat_loop *loop) {
    if (loop->stale)
        leat_loop_read_clock(loop);
    return loop->now;
}
int leat_timers_run(leat_loop *loop);
void leat_timers_clean_up(leat_loop *loop);
void leat_receive_clean_up(leat_loop *loop);
/** Tells whether a buffer is one of the loop's own blocks. */
bool leat_receive_owns(const leat_loop *loop, const void *buffer);
leat_mailbox *leat_mailbox_new(leat_loop *loop);
/** leat_mailbox_post that tells the error of the post, instead of the task. */
int leat_mailbox_offer(leat_mailbox *mailbox, leat_task *task);
void leat_mailbox_run(leat_mailbox *mailbox, leat_loop *loop);
void leat_mailbox_close(leat_mailbox *mailbox, leat_loop *loop);
bool leat_mailbox_has_tasks(const leat_mailbox *mailbox);

/* what users keep with a channel and ask about it */
void leat_channel_release_attributes(leat_channel *channel);
/** The extras, made when first needed; NULL = no memory. */
channel_extras *leat_channel_extras(leat_channel *channel);
/** The counts of a handler; NULL = they are not counted. */
leat_handler_counts *leat_ctx_counts(const leat_ctx *ctx);
/** The stage name of a handler, also of a removed one. */
const char *leat_ctx_name(const leat_ctx *ctx);

/* end of a channel, seen by its groups and references */
void leat_channel_leave_groups(leat_channel *channel);
void leat_channel_detach_ref(leat_channel *channel);

#endif
