/** The walk over a value that counts its bytes or writes them. Not installed. */
#ifndef LEAT_HANDLERS_OPCUA_ENCODE_INTERNAL_H
#define LEAT_HANDLERS_OPCUA_ENCODE_INTERNAL_H

#include "handlers/opcua/encode.h"
#include "handlers/opcua/opcua_internal.h"

/** Who gives a wrapped value back when the last of its arrays is gone. */
typedef struct leat_opcua_lease {
    leat_alloc *alloc;
    uint32_t holders; /* atomic */
    leat_opcua_release_fn release;
    void *context;
} leat_opcua_lease;

/** Where bytes go. While `at` is NULL they are only counted. */
typedef struct leat_opcua_output {
    uint8_t *at;
    uint64_t size;    /* bytes so far, wrapped ones too */
    uint64_t wrapped; /* of these */
    const leat_opcua_options *options;
    /* of a wrapped value */
    leat_composite *composite; /* NULL = everything is copied */
    leat_opcua_lease *lease;
    uint8_t *begin; /* behind what the composite has committed */
    uint64_t whole; /* what `size` will be in the end */
    uint64_t whole_wrapped;
} leat_opcua_output;

/** Counts or writes a value; `variant` = with its encoding byte. */
int leat_opcua_walk(leat_opcua_output *out, const leat_opcua_value *value, bool variant);

/** Says whether the elements go into the composite as they lie. */
bool leat_opcua_is_wrapped(const leat_opcua_output *out, const leat_opcua_value *value);

/** Adds them; returns 0 or what the composite returned. */
int leat_opcua_wrap_elements(leat_opcua_output *out, const leat_opcua_value *value);

/* ---- scalars of fixed width ---- */

/** Type and shape in one number: of scalars it is the type. */
static inline unsigned leat_opcua_kind(const leat_opcua_value *value) {
    return (unsigned)(value->type | value->shape << 8);
}

/** Bytes of a Variant that holds a scalar of fixed width or nothing; 0 = it holds something else. */
static inline uint64_t leat_opcua_small_size(unsigned kind) {
    return kind < LEAT_OPCUA_TYPES ? leat_opcua_type_infos[kind].small : 0;
}

/** Writes such a Variant. */
void leat_opcua_small_store(uint8_t *at, const leat_opcua_value *value, const leat_opcua_options *options);

/** Counts or writes the Variants from `next` on that are small; returns the index of the first other one. */
uint64_t leat_opcua_put_small_variants(leat_opcua_output *out, const leat_opcua_value *array, uint64_t next);

/** The same with DataValues whose values are small. */
uint64_t leat_opcua_put_small_data_values(leat_opcua_output *out, const leat_opcua_value *array, uint64_t next);

/** Counts or writes the fields of a DataValue behind its value. */
void leat_opcua_put_quality(leat_opcua_output *out, const leat_opcua_data_value *value);

#endif
