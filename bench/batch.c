#include "bench/batch.h"

size_t batch_parts(const batch_work *work) {
    return work->delimited ? 2 * work->events + 1 : work->events;
}

size_t batch_length(const batch_work *work) {
    size_t payload = work->events * work->size;
    if (!work->delimited)
        return payload;
    return payload + BATCH_PREFIX_LENGTH + (work->events - 1) * BATCH_BETWEEN_LENGTH + BATCH_SUFFIX_LENGTH;
}

/* ---- events ---- */

static leat_bytebuf *event_new(leat_alloc *alloc, size_t size, uint64_t *random) {
    leat_bytebuf *event = leat_bytebuf_new(alloc, size);
    for (size_t i = 0; event && i < size; i++) {
        *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
        leat_bytebuf_put_u8(event, (uint8_t)(*random >> 56));
    }
    return event;
}

static bool make_events(batch_events *batch) {
    uint64_t random = 20240229;
    for (size_t i = 0; i < batch->work.events; i++) {
        batch->buffers[i] = event_new(batch->alloc, batch->work.size, &random);
        if (!batch->buffers[i])
            return false;
        leat_bytebuf_retain(batch->buffers[i]);
    }
    return true;
}

bool batch_begin(batch_events *batch, const batch_work *work, leat_alloc *below) {
    *batch = (batch_events){.below = below, .work = *work, .most_spans = batch_parts(work)};
    batch->pool = leat_pool_new(below, NULL);
    if (!batch->pool)
        return false;
    batch->alloc = leat_pool_alloc(batch->pool);
    batch->buffers = leat_alloc_take_zeroed(below, work->events * sizeof(leat_bytebuf *));
    batch->spans = leat_alloc_take_zeroed(below, batch->most_spans * sizeof *batch->spans);
    return batch->buffers && batch->spans && make_events(batch);
}

void batch_end(batch_events *batch) {
    for (size_t i = 0; batch->buffers && i < batch->work.events; i++) {
        leat_bytebuf_release(batch->buffers[i]);
        leat_bytebuf_release(batch->buffers[i]);
    }
    leat_alloc_give(batch->below, batch->buffers, batch->work.events * sizeof(leat_bytebuf *));
    leat_alloc_give(batch->below, batch->spans, batch->most_spans * sizeof *batch->spans);
    leat_pool_release(batch->pool);
}

/* ---- gathering ---- */

static void gather_pieces(leat_gather *gather, const batch_events *batch) {
    if (!batch->work.delimited) {
        leat_gather_add_shared_list(gather, batch->buffers, batch->work.events);
        return;
    }
    leat_gather_add_static(gather, BATCH_PREFIX, BATCH_PREFIX_LENGTH);
    leat_gather_add_joined(gather, batch->buffers, batch->work.events, BATCH_BETWEEN, BATCH_BETWEEN_LENGTH);
    leat_gather_add_static(gather, BATCH_SUFFIX, BATCH_SUFFIX_LENGTH);
}

leat_bytebuf *batch_gather(const batch_events *batch, leat_gather_mode mode) {
    leat_gather gather;
    leat_gather_init(&gather, batch->alloc, mode, (uint32_t)batch_parts(&batch->work));
    gather_pieces(&gather, batch);
    leat_bytebuf *whole = leat_gather_finish(&gather);
    bench_need(whole);
    return whole;
}
