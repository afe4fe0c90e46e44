/** The parts of a decoder. Not installed. */
#ifndef LEAT_HANDLERS_OPCUA_DECODE_INTERNAL_H
#define LEAT_HANDLERS_OPCUA_DECODE_INTERNAL_H

#include "handlers/opcua/arena_internal.h"

/** Takes the count of an array; the bytes for so many elements are there when this returns 0. */
int leat_opcua_take_count(leat_opcua_decoder *decoder, leat_opcua_value *value);

/** Takes the dimensions behind the elements of a Variant, which must fit the count. */
int leat_opcua_take_tail(leat_opcua_decoder *decoder, leat_opcua_value *value);

/** Takes the dimensions before the elements of a matrix field; the bytes for these are there when this returns 0. */
int leat_opcua_take_matrix_head(leat_opcua_decoder *decoder, leat_opcua_value *value);

#endif
