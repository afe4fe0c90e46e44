#include "core/channel_internal.h"
#include "core/pool.h"

/* A channel whose turn does not end goes on this often behind the others, then waits for the next round of the loop. */
enum { MOST_PASSES = 4, MOST_SPANS = 1024 };

/* Tasks that come while others run need not wait until the system was asked what else there is: up to so many. */
enum { TASKS_AT_ONCE = 256 };

/* The address of a thread's own variable tells threads apart without any system header. */
static const void *this_thread(void) {
    static _Thread_local char mark;
    return &mark;
}

void leat_assert_thread(const leat_loop *loop) {
    if (!loop->tracker)
        assert(loop->thread == this_thread() && "a channel may only be used on the thread of its loop");
    else if (loop->thread != this_thread())
        leat_tracking_alloc_complain(loop->tracker, "a channel was used on another thread than its loop's");
}

/* A loop that is given no allocator lends from a pool of its own. */
static leat_alloc *alloc_or_pool(leat_loop *loop, leat_alloc *alloc) {
    if (alloc)
        return alloc;
    loop->pool = leat_pool_new(NULL, NULL);
    return loop->pool ? leat_pool_alloc(loop->pool) : NULL;
}

static void give_up(leat_loop *loop) {
    leat_alloc_give(loop->alloc, loop->spans, MOST_SPANS * sizeof(leat_span));
    leat_mailbox_release(loop->mailbox);
    leat_pool_release(loop->pool);
}

int leat_loop_init(leat_loop *loop, const leat_loop_ops *ops, leat_alloc *alloc) {
    *loop = (leat_loop){.ops = ops, .thread = this_thread()};
    loop->alloc = loop->internal_alloc = alloc_or_pool(loop, alloc);
    if (!loop->alloc)
        return LEAT_ENOMEM;
    loop->now = ops->now(loop);
    loop->spans = leat_alloc_take(loop->alloc, MOST_SPANS * sizeof(leat_span), NULL);
    loop->mailbox = leat_mailbox_new(loop);
    if (loop->spans && loop->mailbox)
        return LEAT_OK;
    give_up(loop);
    return LEAT_ENOMEM;
}

/* The loop and its pool belong to the thread that runs them. */
static void move_here(leat_loop *loop) {
    loop->thread = this_thread();
    if (loop->pool)
        leat_pool_adopt(loop->pool);
}

static leat_channel *take_dirty(leat_loop *loop) {
    leat_channel *channel = loop->dirty_first;
    loop->dirty_first = channel->next_dirty;
    if (!loop->dirty_first)
        loop->dirty_last = NULL;
    channel->flags &= ~(uint32_t)CHANNEL_QUEUED;
    return channel;
}

/* One pass over what is dirty now; what gets dirty meanwhile belongs to the next. */
static void pass_over_dirty(leat_loop *loop) {
    leat_channel *last = loop->dirty_last;
    for (leat_channel *channel = NULL; channel != last && loop->dirty_first;) {
        channel = take_dirty(loop);
        leat_channel_end_turn(channel);
    }
}

static void end_turns(leat_loop *loop) {
    loop->depth++;
    for (int pass = 0; pass < MOST_PASSES && loop->dirty_first; pass++)
        pass_over_dirty(loop);
    loop->depth--;
}

void leat_loop_read_clock(leat_loop *loop) {
    uint64_t now = loop->ops->now(loop);
    loop->stale = false;
    if (now > loop->now)
        loop->now = now;
}

void leat_loop_enter(leat_loop *loop) {
    leat_assert_thread(loop);
    if (loop->depth++ > 0)
        return;
    leat_loop_read_clock(loop);
    loop->stats.turns++;
}

void leat_loop_enter_without_clock(leat_loop *loop) {
    if (loop->depth > 0 || loop->measures) {
        leat_loop_enter(loop);
        return;
    }
    leat_assert_thread(loop);
    loop->depth++;
    loop->stale = true;
    loop->stats.turns++;
}

static void measure(leat_loop *loop) {
    uint64_t took = loop->ops->now(loop) - loop->now;
    if (took > loop->stats.longest_turn)
        loop->stats.longest_turn = took;
}

/* Apart, so that an entry that changed nothing is over in a few instructions. */
static __attribute__((noinline)) void end_entry(leat_loop *loop) {
    if (loop->dirty_first)
        end_turns(loop);
    if (loop->measures)
        measure(loop);
}

void leat_loop_leave(leat_loop *loop) {
    if (--loop->depth == 0 && (loop->dirty_first || loop->measures))
        end_entry(loop);
}

void leat_loop_measure_turns(leat_loop *loop, bool on) {
    leat_loop_time(loop); /* this turn counts from now */
    loop->measures = on;
}

static void run_tasks(leat_loop *loop) {
    uint64_t enough = loop->stats.tasks + TASKS_AT_ONCE;
    while (loop->stats.tasks < enough && leat_mailbox_has_tasks(loop->mailbox))
        leat_mailbox_run(loop->mailbox, loop);
}

void leat_loop_run_due(leat_loop *loop) {
    run_tasks(loop);
    leat_loop_enter(loop);
    leat_loop_leave(loop);
    leat_timers_run(loop);
    if (loop->pool)
        leat_pool_trim(loop->pool, loop->now);
}

uint64_t leat_loop_deadline(const leat_loop *loop) {
    if (loop->dirty_first || leat_mailbox_has_tasks(loop->mailbox))
        return 0;
    uint64_t timer = loop->timer_count > 0 ? loop->timers[0]->queued_at : UINT64_MAX;
    uint64_t trim = loop->pool ? leat_pool_next_trim(loop->pool) : UINT64_MAX;
    return timer < trim ? timer : trim;
}

int leat_loop_run(leat_loop *loop) {
    move_here(loop);
    int code = LEAT_OK;
    while (code == LEAT_OK && !__atomic_load_n(&loop->stopping, __ATOMIC_ACQUIRE)) {
        leat_loop_run_due(loop);
        if (__atomic_load_n(&loop->stopping, __ATOMIC_ACQUIRE))
            break;
        code = loop->ops->wait(loop, leat_loop_deadline(loop));
    }
    __atomic_store_n(&loop->stopping, false, __ATOMIC_RELEASE);
    return code;
}

void leat_loop_stop(leat_loop *loop) {
    __atomic_store_n(&loop->stopping, true, __ATOMIC_RELEASE);
    loop->ops->wake(loop);
}

/* Channels that end may write to others and complete; all of it settles before memory goes. */
static void end_channels(leat_loop *loop) {
    while (loop->all) {
        leat_loop_enter(loop);
        leat_channel_abort(loop->all, LEAT_ECLOSED);
        leat_loop_leave(loop);
    }
    for (int i = 0; loop->dirty_first && i < 1000; i++) {
        leat_loop_enter(loop);
        leat_loop_leave(loop);
    }
}

void leat_loop_clean_up(leat_loop *loop) {
    move_here(loop);
    loop->ending = true;
    end_channels(loop);
    leat_mailbox_close(loop->mailbox, loop);
    end_channels(loop);
    leat_timers_clean_up(loop);
    leat_receive_clean_up(loop);
    leat_channel_forget_settings(loop);
    leat_alloc_give(loop->internal_alloc, loop->spans, MOST_SPANS * sizeof(leat_span));
    leat_pool_release(loop->pool);
}

void leat_loop_release(leat_loop *loop) {
    if (!loop)
        return;
    assert(loop->depth == 0);
    leat_loop_clean_up(loop);
    loop->ops->destroy(loop);
}

uint64_t leat_loop_now(leat_loop *loop) {
    return leat_loop_time(loop);
}

leat_alloc *leat_loop_alloc(const leat_loop *loop) {
    return loop->alloc;
}

leat_mailbox *leat_loop_mailbox(const leat_loop *loop) {
    return loop->mailbox;
}

void leat_loop_post(leat_loop *loop, leat_task *task) {
    leat_mailbox_post(loop->mailbox, task);
}

leat_loop_stats leat_loop_statistics(const leat_loop *loop) {
    leat_loop_stats stats = loop->stats;
    stats.tasks_waiting = leat_mailbox_has_tasks(loop->mailbox);
    return stats;
}
