/** What the sources of the OPC UA codec share with each other and nobody else sees. Not installed. */
#ifndef LEAT_HANDLERS_OPCUA_INTERNAL_H
#define LEAT_HANDLERS_OPCUA_INTERNAL_H

#include "handlers/opcua/decode.h"

enum {
    LEAT_OPCUA_MOST_DEPTH = 256,
    LEAT_OPCUA_IS_ARRAY = 0x80,
    LEAT_OPCUA_HAS_DIMENSIONS = 0x40,
    LEAT_OPCUA_TYPE_BITS = 0x3f,
    LEAT_OPCUA_ALL_FIELDS = 0x3f,
    LEAT_OPCUA_MOST_PICOSECONDS = 9999
};

_Static_assert(sizeof(leat_opcua_guid) == 16, "a Guid has no padding");

/* ---- limits ---- */

#define LEAT_OPCUA_LIMIT(name, type, fallback)                                                                         \
    static inline type leat_opcua_limit_##name(const leat_opcua_options *options) {                                    \
        return options && options->name ? options->name : (fallback);                                                  \
    }
LEAT_OPCUA_LIMIT(message_bytes, uint64_t, (uint64_t)64 << 20)
LEAT_OPCUA_LIMIT(memory, uint64_t, (uint64_t)256 << 20)
LEAT_OPCUA_LIMIT(memory_factor, uint32_t, 100)
LEAT_OPCUA_LIMIT(array_elements, uint32_t, 16 << 20)
LEAT_OPCUA_LIMIT(string_bytes, uint32_t, 16 << 20)
LEAT_OPCUA_LIMIT(rank, uint32_t, 32)
LEAT_OPCUA_LIMIT(wrap_bytes, uint32_t, 2048)

static inline uint32_t leat_opcua_limit_depth(const leat_opcua_options *options) {
    uint32_t depth = options && options->depth ? options->depth : 128;
    return depth < LEAT_OPCUA_MOST_DEPTH ? depth : LEAT_OPCUA_MOST_DEPTH;
}

/* ---- types ---- */

typedef struct leat_opcua_type_info {
    const char *name;
    uint8_t width; /* on the wire; 0 = it depends */
    uint8_t least; /* bytes on the wire of the smallest element */
    uint8_t size;  /* of the C type */
    uint8_t small; /* bytes of a Variant that holds one; 0 = it depends */
} leat_opcua_type_info;

extern const leat_opcua_type_info leat_opcua_type_infos[LEAT_OPCUA_TYPES];

static inline bool leat_opcua_is_container(uint8_t type) {
    return type == LEAT_OPCUA_VARIANT || type == LEAT_OPCUA_DATA_VALUE;
}

/** The same as leat_opcua_width, inline. */
static inline size_t leat_opcua_width_of(uint8_t type) {
    return type < LEAT_OPCUA_TYPES ? leat_opcua_type_infos[type].width : 0;
}

/** The same as leat_opcua_count, inline. */
static inline uint64_t leat_opcua_count_of(const leat_opcua_value *value) {
    if (value->shape == LEAT_OPCUA_SCALAR)
        return value->type != LEAT_OPCUA_NULL;
    return value->count > 0 ? (uint64_t)value->count : 0;
}

/** Says whether elements begin with an Int32 length and are bytes otherwise. */
static inline bool leat_opcua_is_string(uint8_t type) {
    return type == LEAT_OPCUA_STRING || type == LEAT_OPCUA_BYTE_STRING || type == LEAT_OPCUA_XML_ELEMENT ||
           type > LEAT_OPCUA_DIAGNOSTIC_INFO;
}

/** Multiplies the dimensions; false = the product is beyond `most`. A dimension of 0 makes it 0 wherever it stands. */
bool leat_opcua_product(const uint32_t *dimensions, uint32_t rank, uint64_t most, uint64_t *product);

/* ---- blocks of elements of fixed width ---- */

/** Writes elements [first, first + n) as they stand on the wire. */
void leat_opcua_block_put(uint8_t *to, const leat_opcua_value *value, uint64_t first, uint64_t n, bool quiet_nan);

/** Copies Booleans; what is not 0 becomes 1. */
void leat_opcua_block_booleans(uint8_t *to, const uint8_t *from, uint64_t n);

/** Turns `n` elements in place from the order of the wire into this machine's, or back. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static inline void leat_opcua_block_order(void *elements, uint8_t type, uint64_t n) {
    (void)elements;
    (void)type;
    (void)n;
}
#else
void leat_opcua_block_order(void *elements, uint8_t type, uint64_t n);
#endif

/** Returns a scalar where it lies: of a Variant or DataValue it is a pointer. */
static inline const void *leat_opcua_scalar_at(const leat_opcua_value *value) {
    return leat_opcua_is_container(value->type) ? (const void *)value->of.scalar.variant : &value->of.scalar;
}

/** Returns element `i` where it lies, NULL for a NULL pointer; not of a view. */
static inline const void *leat_opcua_element(const leat_opcua_value *value, uint64_t i) {
    const leat_opcua_elements *elements = &value->of.elements;
    if (value->shape == LEAT_OPCUA_SCALAR)
        return leat_opcua_scalar_at(value);
    if (value->source == LEAT_OPCUA_POINTERS)
        return elements->at.pointers[i];
    int64_t step = value->source == LEAT_OPCUA_STRIDED ? elements->by.stride : leat_opcua_type_infos[value->type].size;
    return (const uint8_t *)elements->at.first + (int64_t)i * step;
}

/* ---- what is skipped ---- */

/*
 * An input reads on from a buffer, or from plain memory (`reader.buf` is NULL). Each function returns 0,
 * LEAT_ETRUNCATED, LEAT_ECORRUPT, LEAT_ETOOLONG or LEAT_ELIMIT.
 */

static inline uint64_t leat_opcua_left(const leat_opcua_input *input) {
    return input->reader.buf ? leat_reader_left(&input->reader) : (uint64_t)(input->reader.end - input->reader.at);
}

/** Reads `n` bytes, or skips them if `out` is NULL. */
int leat_opcua_input_slowly(leat_opcua_input *input, void *out, uint64_t n);

static inline int leat_opcua_input_bytes(leat_opcua_input *input, void *out, size_t n) {
    if ((size_t)(input->reader.end - input->reader.at) < n)
        return leat_opcua_input_slowly(input, out, n);
    memcpy(out, input->reader.at, n);
    input->reader.at += n;
    return 0;
}

static inline int leat_opcua_input_skip(leat_opcua_input *input, uint64_t n) {
    if ((uint64_t)(input->reader.end - input->reader.at) < n)
        return leat_opcua_input_slowly(input, NULL, n);
    input->reader.at += n;
    return 0;
}

static inline int leat_opcua_input_u8(leat_opcua_input *input, uint8_t *out) {
    return leat_opcua_input_bytes(input, out, 1);
}

static inline int leat_opcua_input_i32(leat_opcua_input *input, int32_t *out) {
    uint8_t bytes[4];
    int code = leat_opcua_input_bytes(input, bytes, sizeof bytes);
    if (code == 0)
        *out = leat_load_i32_le(bytes);
    return code;
}

/** Reads the length of a string; -1 = null. Its bytes are there when this returns 0. */
int leat_opcua_input_length(leat_opcua_input *input, int32_t *length);

/** Skips one element of a type that is kept as on the wire; `depth` levels may be below. */
int leat_opcua_input_skip_element(leat_opcua_input *input, uint8_t type, uint32_t depth);

#endif
