#include "handlers/push/queue.h"

#include <string.h>

void leat_push_queue_init(leat_push_queue *queue, leat_alloc *alloc, size_t max_events, uint64_t max_bytes) {
    memset(queue, 0, sizeof *queue);
    queue->alloc = alloc;
    queue->max_events = max_events;
    queue->max_bytes = max_bytes;
}

void leat_push_queue_clean_up(leat_push_queue *queue) {
    for (leat_push_event *event = leat_push_queue_take(queue); event; event = leat_push_queue_take(queue))
        leat_push_event_release(event);
    leat_alloc_give(queue->alloc, queue->ring, queue->room * sizeof *queue->ring);
    memset(queue, 0, sizeof *queue);
}

static size_t slot_of(const leat_push_queue *queue, size_t index) {
    return (queue->head + index) & (queue->room - 1);
}

static int grow(leat_push_queue *queue) {
    size_t room = queue->room ? queue->room * 2 : 16;
    leat_push_event **ring = leat_alloc_take(queue->alloc, room * sizeof *ring, NULL);
    if (!ring)
        return LEAT_ENOMEM;
    for (size_t i = 0; i < queue->count; i++)
        ring[i] = queue->ring[slot_of(queue, i)];
    leat_alloc_give(queue->alloc, queue->ring, queue->room * sizeof *queue->ring);
    queue->ring = ring;
    queue->room = room;
    queue->head = 0;
    return 0;
}

static int make_room(leat_push_queue *queue, uint64_t bytes) {
    if (queue->count >= queue->max_events || queue->max_bytes - queue->bytes < bytes)
        return LEAT_ELIMIT;
    return queue->count < queue->room ? 0 : grow(queue);
}

int leat_push_queue_add(leat_push_queue *queue, leat_push_event *event) {
    int code = make_room(queue, event->bytes);
    if (code != 0) {
        leat_push_event_release(event);
        return code;
    }
    queue->ring[slot_of(queue, queue->count++)] = event;
    queue->bytes += event->bytes;
    return 0;
}

leat_push_event *leat_push_queue_at(const leat_push_queue *queue, size_t index) {
    return queue->ring[slot_of(queue, index)];
}

leat_push_event *leat_push_queue_take(leat_push_queue *queue) {
    if (queue->count == 0)
        return NULL;
    leat_push_event *event = queue->ring[queue->head];
    queue->head = slot_of(queue, 1);
    queue->count--;
    queue->bytes -= event->bytes;
    return event;
}
