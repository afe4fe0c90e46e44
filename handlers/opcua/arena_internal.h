/** The arena of a decoder. Not installed. */
#ifndef LEAT_HANDLERS_OPCUA_ARENA_INTERNAL_H
#define LEAT_HANDLERS_OPCUA_ARENA_INTERNAL_H

#include "handlers/opcua/opcua_internal.h"

/** Begins the arena of a message of so many bytes. */
static inline void leat_opcua_arena_init(leat_opcua_decoder *decoder, uint64_t message_bytes) {
    decoder->message_bytes = message_bytes;
    decoder->blocks = NULL;
    decoder->free = NULL;
    decoder->room = 0;
}

/** Takes `size` bytes, aligned to 8; `out` is the address of a pointer. Returns 0, LEAT_ELIMIT or LEAT_ENOMEM. */
int leat_opcua_arena_take(leat_opcua_decoder *decoder, uint64_t size, void *out);

/** Frees every block. */
void leat_opcua_arena_free(leat_opcua_decoder *decoder);

/** Frees everything taken. */
static inline void leat_opcua_arena_clean_up(leat_opcua_decoder *decoder) {
    if (decoder->blocks)
        leat_opcua_arena_free(decoder);
}

#endif
