/** Values of OPC UA from JSON, compared, and in pieces: what tests of the OPC UA codec share. */
#ifndef LEAT_TESTS_SUPPORT_OPCUA_VECTORS_H
#define LEAT_TESTS_SUPPORT_OPCUA_VECTORS_H

#include "handlers/opcua/value.h"
#include "tests/support/vectors.h"

/** Everything that a built value needs, freed together. */
typedef struct opcua_memory {
    void **blocks;
    size_t count;
} opcua_memory;

/** Frees what was built with it. */
void opcua_memory_free(opcua_memory *memory);

/** Tells the number of a type by its name; checked. */
uint8_t opcua_type_of(const char *name);

/** Builds the value of a vector of a type that the codec understands; false = it is kept as on the wire. */
bool opcua_build(const json_t *vector, opcua_memory *memory, leat_opcua_value *value);

/** Says whether two values are the same, also where their elements lie in different places. */
bool opcua_equal(const leat_opcua_value *a, const leat_opcua_value *b);

#endif
