#include "handlers/push/chunker.h"

#include <string.h>

int leat_push_chunker_init(leat_push_chunker *chunker, leat_alloc *alloc, size_t max_events, uint64_t max_bytes,
                           uint64_t interval_ms) {
    memset(chunker, 0, sizeof *chunker);
    chunker->chunk = leat_alloc_take(alloc, max_events * sizeof *chunker->chunk, NULL);
    if (!chunker->chunk)
        return LEAT_ENOMEM;
    chunker->max_events = max_events;
    chunker->max_bytes = max_bytes;
    chunker->interval = interval_ms * 1000000;
    chunker->alloc = alloc;
    return 0;
}

void leat_push_chunker_clean_up(leat_push_chunker *chunker) {
    if (chunker->alloc)
        leat_alloc_give(chunker->alloc, chunker->chunk, chunker->max_events * sizeof *chunker->chunk);
    memset(chunker, 0, sizeof *chunker);
}

void leat_push_chunker_added(leat_push_chunker *chunker, const leat_push_queue *queue, uint64_t now) {
    if (queue->count == 1)
        chunker->deadline = now + chunker->interval;
}

uint64_t leat_push_chunker_deadline(const leat_push_chunker *chunker, const leat_push_queue *queue) {
    return queue->count ? chunker->deadline : UINT64_MAX;
}

bool leat_push_chunker_is_full(const leat_push_chunker *chunker, const leat_push_queue *queue) {
    return queue->count >= chunker->max_events || queue->bytes >= chunker->max_bytes;
}

bool leat_push_chunker_is_due(const leat_push_chunker *chunker, const leat_push_queue *queue, uint64_t now) {
    return leat_push_chunker_is_full(chunker, queue) || leat_push_chunker_deadline(chunker, queue) <= now;
}

size_t leat_push_chunker_cut(leat_push_chunker *chunker, leat_push_queue *queue) {
    size_t count = 0;
    for (uint64_t bytes = 0; queue->count && count < chunker->max_events && (count == 0 || bytes < chunker->max_bytes);
         count++) {
        chunker->chunk[count] = leat_push_queue_take(queue);
        bytes += chunker->chunk[count]->bytes;
    }
    return count;
}
