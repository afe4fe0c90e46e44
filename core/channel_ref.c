#include "core/channel_ref.h"

#include "core/channel_internal.h"

struct leat_ref {
    uint32_t refs;
    leat_mailbox *mailbox;
    leat_channel *channel; /* loop's thread only; NULL once it ended */
    leat_alloc *alloc;     /* of any thread: the unpooled one */
};

typedef struct ref_task {
    leat_task task;
    leat_ref *ref;
    leat_msg msg; /* of no type: close */
    leat_done *done;
} ref_task;

leat_ref *leat_ref_new(leat_channel *channel) {
    leat_assert_thread(channel->loop);
    channel_extras *extras = leat_channel_extras(channel);
    if (extras && extras->ref)
        return leat_ref_retain(extras->ref);
    leat_ref *ref = extras ? leat_alloc_take_zeroed(leat_unpooled(), sizeof *ref) : NULL;
    if (!ref)
        return NULL;
    *ref = (leat_ref){.refs = 1, .channel = channel, .alloc = leat_unpooled()};
    ref->mailbox = leat_mailbox_retain(channel->loop->mailbox);
    if (channel_has(channel, CHANNEL_ENDED))
        ref->channel = NULL;
    else
        extras->ref = leat_ref_retain(ref);
    return ref;
}

leat_ref *leat_ref_retain(leat_ref *ref) {
    __atomic_fetch_add(&ref->refs, 1, __ATOMIC_RELAXED);
    return ref;
}

void leat_ref_release(leat_ref *ref) {
    if (!ref || __atomic_sub_fetch(&ref->refs, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    leat_mailbox_release(ref->mailbox);
    leat_alloc_give(ref->alloc, ref, sizeof *ref);
}

void leat_channel_detach_ref(leat_channel *channel) {
    leat_ref *ref = channel->extras ? channel->extras->ref : NULL;
    if (!ref)
        return;
    channel->extras->ref = NULL;
    ref->channel = NULL;
    leat_ref_release(ref);
}

static void refuse(leat_msg msg, leat_done *done, int status) {
    leat_msg_release(msg);
    if (done)
        done->fn(done, status);
}

static void run_write(ref_task *task, int status) {
    leat_channel *channel = status == LEAT_OK ? task->ref->channel : NULL;
    if (channel)
        leat_channel_write(channel, task->msg, task->done);
    else
        refuse(task->msg, task->done, status == LEAT_OK ? LEAT_ECLOSED : status);
}

static void give_back(ref_task *task) {
    leat_ref *ref = task->ref;
    leat_alloc_give(ref->alloc, task, sizeof *task);
    leat_ref_release(ref);
}

static void run_task(leat_task *posted, int status) {
    ref_task *task = (ref_task *)(void *)posted;
    leat_ref *ref = task->ref;
    if (task->msg.type)
        run_write(task, status);
    else if (status == LEAT_OK && ref->channel)
        leat_channel_close(ref->channel);
    give_back(task);
}

static ref_task *new_task(leat_ref *ref) {
    ref_task *task = leat_alloc_take_zeroed(ref->alloc, sizeof *task);
    if (task)
        *task = (ref_task){.task = {.fn = run_task, .bytes = sizeof *task}, .ref = leat_ref_retain(ref)};
    return task;
}

void leat_ref_write(leat_ref *ref, leat_msg msg, leat_done *done) {
    ref_task *task = new_task(ref);
    if (!task) {
        refuse(msg, done, LEAT_ENOMEM);
        return;
    }
    task->msg = msg;
    task->done = done;
    task->task.bytes += leat_msg_size(msg);
    leat_mailbox_post(ref->mailbox, &task->task);
}

int leat_ref_close(leat_ref *ref) {
    ref_task *task = new_task(ref);
    if (!task)
        return LEAT_ENOMEM;
    int code = leat_mailbox_offer(ref->mailbox, &task->task);
    if (code != LEAT_OK)
        give_back(task);
    return code;
}

leat_channel *leat_ref_channel(const leat_ref *ref) {
    return ref->channel;
}
