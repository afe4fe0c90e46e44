/** The arena of a decoder. Not installed. */
#ifndef LEAT_HANDLERS_OPCUA_ARENA_INTERNAL_H
#define LEAT_HANDLERS_OPCUA_ARENA_INTERNAL_H

#include "handlers/opcua/opcua_internal.h"

/** Sets the budget of a message of so many bytes. */
void leat_opcua_arena_init(leat_opcua_decoder *decoder, uint64_t message_bytes);

/** Takes `size` bytes, aligned to 8; `out` is the address of a pointer. Returns 0, LEAT_ELIMIT or LEAT_ENOMEM. */
int leat_opcua_arena_take(leat_opcua_decoder *decoder, uint64_t size, void *out);

/** Frees everything taken. */
void leat_opcua_arena_clean_up(leat_opcua_decoder *decoder);

#endif
