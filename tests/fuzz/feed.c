#include "tests/fuzz/feed.h"

#include <stdio.h>
#include <stdlib.h>

static void take_messages(leat_embedded *embedded, fuzz_answer answer) {
    leat_msg msg;
    while (leat_embedded_take_read(embedded, &msg))
        if (answer)
            answer(embedded, msg);
        else
            leat_msg_release(msg);
}

static void take_everything(leat_embedded *embedded, fuzz_answer answer) {
    leat_msg event;
    take_messages(embedded, answer);
    while (leat_embedded_take_event(embedded, &event))
        leat_msg_release(event);
    while (leat_embedded_take_error(embedded))
        ;
    leat_bytebuf_release(leat_embedded_take_written(embedded));
}

/* Mostly short pieces, now and then a long one. */
static size_t next_piece(uint64_t *random, size_t left) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    uint64_t bits = *random >> 33;
    size_t piece = bits % 8 == 0 ? 1 + bits % 8192 : 1 + bits % 24;
    return piece < left ? piece : left;
}

void fuzz_feed(const leat_stage *stages, const uint8_t *data, size_t size, fuzz_answer answer) {
    leat_embedded *embedded = leat_embedded_new(stages);
    if (!embedded)
        return;
    uint64_t random = size ? size + 256 * (uint64_t)data[size - 1] : 0;
    for (size_t fed = 0, piece; fed < size; fed += piece) {
        piece = next_piece(&random, size - fed);
        leat_embedded_feed(embedded, data + fed, piece);
        take_everything(embedded, answer);
    }
    leat_embedded_advance(embedded, 60000);
    take_everything(embedded, answer);
    leat_embedded_feed_eof(embedded);
    take_everything(embedded, answer);
    leat_embedded_advance(embedded, 60000);
    take_everything(embedded, answer);
    if (leat_embedded_finish(embedded) != 0) {
        fprintf(stderr, "%s\n", leat_embedded_report(embedded));
        abort();
    }
    leat_embedded_free(embedded);
}
