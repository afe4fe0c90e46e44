/* The one task by which an end of a bridge hears its news is posted once, whatever goes on around it. */
#include "tests/support/crossing.h"

/* A task of the test in the mailbox of an end. */
typedef struct errand {
    leat_task task;
    crossing *self;
    bool ran;
} errand;

static errand *running(leat_task *task, int status) {
    ck_assert_int_eq(status, LEAT_OK);
    errand *one = (errand *)(void *)task;
    one->ran = true;
    return one;
}

static void note(leat_task *task, int status) {
    running(task, status);
}

static void abort_second(leat_task *task, int status) {
    leat_channel_abort(channel_of(running(task, status)->self, 1), LEAT_ERESET);
}

static void feed_eof_to_second(leat_task *task, int status) {
    leat_embedded_feed_eof(running(task, status)->self->ends[1]);
}

static void end_bridge(leat_task *task, int status) {
    leat_bridge_end(running(task, status)->self->bridge, 0);
}

static void post(errand *one) {
    leat_loop_post(leat_channel_loop(channel_of(one->self, 1)), &one->task);
}

/* `first` runs while news for the second end waits behind it in the mailbox, and there is more news before that ran. */
static void assert_all_run(void (*first)(leat_task *task, int status)) {
    crossing self = joined(NULL);
    settle(&self);
    errand one = {.task.fn = first, .self = &self}, more = {.task.fn = end_bridge, .self = &self};
    errand behind = {.task.fn = note, .self = &self};
    post(&one);
    post(&more);
    leat_embedded_feed_text(self.ends[0], "news");
    post(&behind);
    settle_from(&self, 1);
    ck_assert(one.ran && more.ran && behind.ran);
    leat_embedded_written_text(self.ends[1]);
    end(&self);
}

START_TEST(what_waits_behind_the_news_of_an_end_that_goes_is_not_lost) {
    assert_all_run(abort_second);
}
END_TEST

START_TEST(what_waits_behind_the_news_of_an_end_that_hears_its_peer_end_is_not_lost) {
    assert_all_run(feed_eof_to_second);
}
END_TEST

int main(void) {
    return suite_run("bridge_news",
                     (const TTest *const[]){what_waits_behind_the_news_of_an_end_that_goes_is_not_lost,
                                            what_waits_behind_the_news_of_an_end_that_hears_its_peer_end_is_not_lost,
                                            NULL});
}
