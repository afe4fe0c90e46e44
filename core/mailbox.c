/** Mailboxes: a lock-free stack of tasks that the loop takes off whole and turns round. */
#include "core/channel_internal.h"

#include <threads.h>

enum { DEFAULT_BOUND = 64 * 1024 * 1024 };

struct leat_mailbox {
    uint32_t refs;
    uint32_t posting;  /* threads inside leat_mailbox_post: the loop stays until they are out */
    leat_task *newest; /* &closed once the loop is gone */
    leat_task closed;
    uint64_t bytes;
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
    uint64_t before = __atomic_fetch_add(&mailbox->bytes, bytes, __ATOMIC_RELAXED);
    if (before <= mailbox->bound && bytes <= mailbox->bound - before)
        return true;
    __atomic_fetch_sub(&mailbox->bytes, bytes, __ATOMIC_RELAXED);
    return false;
}

/* Pushes the task; sets whether the loop may be asleep over an empty mailbox. False = closed. */
static bool push(leat_mailbox *mailbox, leat_task *task, bool *first) {
    leat_task *newest = __atomic_load_n(&mailbox->newest, __ATOMIC_RELAXED);
    do {
        if (newest == &mailbox->closed)
            return false;
        task->next = newest;
    } while (!__atomic_compare_exchange_n(&mailbox->newest, &newest, task, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    *first = newest == NULL;
    return true;
}

static int post(leat_mailbox *mailbox, leat_task *task) {
    uint64_t bytes = task->bytes;
    if (!reserve(mailbox, bytes))
        return LEAT_ELIMIT;
    bool first = false;
    if (push(mailbox, task, &first)) {
        if (first)
            mailbox->loop->ops->wake(mailbox->loop);
        return LEAT_OK;
    }
    __atomic_fetch_sub(&mailbox->bytes, bytes, __ATOMIC_RELAXED);
    return LEAT_ECLOSED;
}

void leat_mailbox_post(leat_mailbox *mailbox, leat_task *task) {
    __atomic_fetch_add(&mailbox->posting, 1, __ATOMIC_SEQ_CST);
    int code = post(mailbox, task);
    __atomic_fetch_sub(&mailbox->posting, 1, __ATOMIC_RELEASE);
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

static void run_all(leat_mailbox *mailbox, leat_loop *loop, leat_task *newest, int status) {
    for (leat_task *task = oldest_first(newest), *next; task; task = next) {
        next = task->next;
        task->next = NULL;
        __atomic_fetch_sub(&mailbox->bytes, task->bytes, __ATOMIC_RELAXED);
        loop->stats.tasks++;
        leat_loop_enter(loop);
        task->fn(task, status);
        leat_loop_leave(loop);
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
    while (__atomic_load_n(&mailbox->posting, __ATOMIC_ACQUIRE) > 0)
        thrd_yield();
    leat_mailbox_release(mailbox);
}
