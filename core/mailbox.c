/** Mailboxes: a lock-free stack of tasks that the loop takes off whole and turns round. */
#include "core/channel_internal.h"

#include <threads.h>

enum {
    DEFAULT_BOUND = 64 * 1024 * 1024,
    BYTES_AT_ONCE = 64 * 1024, /* what ran is given back in such steps, not task by task */
};

struct leat_mailbox {
    leat_task *newest; /* &closed once the loop is gone */
    uint64_t bytes;
    uint32_t waking; /* threads that may wake the loop: it stays until they did */
    uint32_t refs;
    leat_task closed;
    uint64_t bound;
    leat_loop *loop;
    leat_alloc *alloc;
};

leat_mailbox *leat_mailbox_new(leat_loop *loop) {
    leat_mailbox *mailbox = leat_alloc_take_zeroed(loop->internal_alloc, sizeof *mailbox);
    if (mailbox)
        *mailbox = (leat_mailbox){.refs = 1, .bound = DEFAULT_BOUND, .loop = loop, .alloc = loop->internal_alloc};
    return mailbox;
}

leat_mailbox *leat_mailbox_retain(leat_mailbox *mailbox) {
    __atomic_fetch_add(&mailbox->refs, 1, __ATOMIC_RELAXED);
    return mailbox;
}

void leat_mailbox_release(leat_mailbox *mailbox) {
    if (!mailbox || __atomic_sub_fetch(&mailbox->refs, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    leat_alloc_give(mailbox->alloc, mailbox, sizeof *mailbox);
}

static bool reserve(leat_mailbox *mailbox, uint64_t bytes) {
    if (bytes == 0)
        return true;
    uint64_t before = __atomic_fetch_add(&mailbox->bytes, bytes, __ATOMIC_RELAXED);
    if (before <= mailbox->bound && bytes <= mailbox->bound - before)
        return true;
    __atomic_fetch_sub(&mailbox->bytes, bytes, __ATOMIC_RELAXED);
    return false;
}

static void give_back(leat_mailbox *mailbox, uint64_t bytes) {
    if (bytes > 0)
        __atomic_fetch_sub(&mailbox->bytes, bytes, __ATOMIC_RELAXED);
}

/* Puts the task on top if that still is `*newest`, else looks what is. */
static bool put_on(leat_mailbox *mailbox, leat_task **newest, leat_task *task) {
    task->next = *newest;
    return __atomic_compare_exchange_n(&mailbox->newest, newest, task, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* The first task of an empty mailbox, over which the loop may be asleep. It is there only as long as nobody could have
   closed the mailbox without seeing us in `waking`. */
static bool put_first(leat_mailbox *mailbox, leat_task **newest, leat_task *task) {
    __atomic_fetch_add(&mailbox->waking, 1, __ATOMIC_SEQ_CST);
    bool there = put_on(mailbox, newest, task);
    if (there)
        mailbox->loop->ops->wake(mailbox->loop);
    __atomic_fetch_sub(&mailbox->waking, 1, __ATOMIC_RELEASE);
    return there;
}

/* False = closed. Behind another task there is nothing more to do: who put the first one wakes the loop. */
static bool push(leat_mailbox *mailbox, leat_task *task) {
    leat_task *newest = __atomic_load_n(&mailbox->newest, __ATOMIC_RELAXED);
    for (bool there = false; !there;) {
        if (newest == &mailbox->closed)
            return false;
        there = newest ? put_on(mailbox, &newest, task) : put_first(mailbox, &newest, task);
    }
    return true;
}

int leat_mailbox_offer(leat_mailbox *mailbox, leat_task *task) {
    uint64_t bytes = task->bytes;
    if (!reserve(mailbox, bytes))
        return LEAT_ELIMIT;
    if (push(mailbox, task))
        return LEAT_OK;
    give_back(mailbox, bytes);
    return LEAT_ECLOSED;
}

void leat_mailbox_post(leat_mailbox *mailbox, leat_task *task) {
    int code = leat_mailbox_offer(mailbox, task);
    if (code != LEAT_OK)
        task->fn(task, code);
}

static leat_task *oldest_first(leat_task *newest) {
    leat_task *oldest = NULL;
    while (newest) {
        leat_task *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

static void run_one(leat_loop *loop, leat_task *task, int status) {
    loop->stats.tasks++;
    leat_loop_enter_without_clock(loop);
    task->fn(task, status);
    leat_loop_leave(loop);
}

static void run_all(leat_mailbox *mailbox, leat_loop *loop, leat_task *newest, int status) {
    uint64_t bytes = 0;
    for (leat_task *task = oldest_first(newest), *next; task; task = next) {
        next = task->next;
        task->next = NULL;
        bytes += task->bytes;
        if (bytes >= BYTES_AT_ONCE || !next) {
            give_back(mailbox, bytes);
            bytes = 0;
        }
        run_one(loop, task, status);
    }
}

void leat_mailbox_run(leat_mailbox *mailbox, leat_loop *loop) {
    if (!leat_mailbox_has_tasks(mailbox))
        return;
    run_all(mailbox, loop, __atomic_exchange_n(&mailbox->newest, NULL, __ATOMIC_SEQ_CST), LEAT_OK);
}

bool leat_mailbox_has_tasks(const leat_mailbox *mailbox) {
    return __atomic_load_n(&mailbox->newest, __ATOMIC_SEQ_CST) != NULL;
}

void leat_mailbox_close(leat_mailbox *mailbox, leat_loop *loop) {
    leat_task *left = __atomic_exchange_n(&mailbox->newest, &mailbox->closed, __ATOMIC_SEQ_CST);
    run_all(mailbox, loop, left, LEAT_ECLOSED);
    while (__atomic_load_n(&mailbox->waking, __ATOMIC_ACQUIRE) > 0)
        thrd_yield();
    leat_mailbox_release(mailbox);
}
