/* The memory of one message: blocks that are filled from the front and freed together, within one budget. */
#include "handlers/opcua/arena_internal.h"

typedef struct block {
    struct block *next;
    size_t size;
} block;

enum { MOST_PREFERRED = 4096, GRAIN = 8 };

_Static_assert(sizeof(block) % GRAIN == 0, "what follows a block's head is aligned");

/* What a message without an arena never needs to know. */
static void set_budget(leat_opcua_decoder *decoder) {
    uint64_t most = leat_opcua_limit_memory(decoder->input.options);
    uint64_t memory;
    bool overflows =
        __builtin_mul_overflow(decoder->message_bytes, leat_opcua_limit_memory_factor(decoder->input.options), &memory);
    decoder->memory = !overflows && memory < most ? memory : most;
    decoder->prefers = decoder->memory / 4 < MOST_PREFERRED ? decoder->memory / 4 : MOST_PREFERRED;
}

static int new_block(leat_opcua_decoder *decoder, uint64_t size, uint8_t **bytes) {
    uint64_t whole = sizeof(block) + size;
    if (whole > decoder->memory)
        return LEAT_ELIMIT;
    block *made = leat_alloc_take(decoder->alloc, (size_t)whole, NULL);
    if (!made)
        return LEAT_ENOMEM;
    *made = (block){decoder->blocks, (size_t)whole};
    decoder->blocks = made;
    decoder->memory -= whole;
    *bytes = (uint8_t *)(made + 1);
    return 0;
}

static int refill(leat_opcua_decoder *decoder) {
    int code = new_block(decoder, decoder->prefers, &decoder->free);
    decoder->room = code == 0 ? decoder->prefers : 0;
    return code;
}

int leat_opcua_arena_take(leat_opcua_decoder *decoder, uint64_t size, void *out) {
    uint8_t *bytes;
    int code = 0;
    if (!decoder->blocks)
        set_budget(decoder);
    size = (size + GRAIN - 1) / GRAIN * GRAIN;
    if (size > decoder->room && size >= decoder->prefers / 4) { /* a block of its own wastes less */
        code = new_block(decoder, size, &bytes);
    } else {
        code = size > decoder->room ? refill(decoder) : 0;
        bytes = decoder->free;
        decoder->free += code == 0 ? size : 0;
        decoder->room -= code == 0 ? size : 0;
    }
    if (code == 0)
        memcpy(out, &bytes, sizeof bytes);
    return code;
}

void leat_opcua_arena_free(leat_opcua_decoder *decoder) {
    for (block *at = decoder->blocks; at;) {
        block *next = at->next;
        leat_alloc_give(decoder->alloc, at, at->size);
        at = next;
    }
    decoder->blocks = NULL;
}
