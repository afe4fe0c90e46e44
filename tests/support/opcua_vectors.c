#include "tests/support/opcua_vectors.h"

#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static void *take(opcua_memory *memory, size_t size) {
    memory->blocks = realloc(memory->blocks, (memory->count + 1) * sizeof *memory->blocks);
    void *block = calloc(1, size + 1);
    ck_assert(memory->blocks && block);
    memory->blocks[memory->count++] = block;
    return block;
}

void opcua_memory_free(opcua_memory *memory) {
    for (size_t i = 0; i < memory->count; i++)
        free(memory->blocks[i]);
    free(memory->blocks);
    *memory = (opcua_memory){0};
}

uint8_t opcua_type_of(const char *name) {
    for (uint8_t type = 0; type < LEAT_OPCUA_TYPES; type++)
        if (strcmp(leat_opcua_type_name(type), name) == 0)
            return type;
    ck_abort_msg("no type %s", name);
    return 0;
}

/* ---- one element ---- */

/* Numbers of 64 bits and the bits of floats are texts. */
static uint64_t bits_of(const json_t *json) {
    const char *text = json_string_value(json);
    if (!text)
        return json_is_boolean(json) ? json_is_true(json) : (uint64_t)json_integer_value(json);
    return text[0] == '-' ? (uint64_t)strtoll(text, NULL, 0) : strtoull(text, NULL, 0);
}

static uint64_t float_bits_of(uint8_t type, const json_t *json) {
    if (strcmp(json_string_value(json), "nan") != 0)
        return bits_of(json);
    return type == LEAT_OPCUA_FLOAT ? 0x7fc00000 : 0x7ff8000000000000;
}

static uint32_t hex_at(const char *text, size_t at, size_t digits) {
    char part[9] = {0};
    memcpy(part, text + at, digits);
    return (uint32_t)strtoul(part, NULL, 16);
}

static leat_opcua_guid guid_of(const json_t *json) {
    const char *text = json_string_value(json);
    leat_opcua_guid guid = {.data1 = hex_at(text, 0, 8)};
    guid.data2 = (uint16_t)hex_at(text, 9, 4);
    guid.data3 = (uint16_t)hex_at(text, 14, 4);
    for (size_t i = 0; i < 8; i++)
        guid.data4[i] = (uint8_t)hex_at(text, (i < 2 ? 19 : 20) + 2 * i, 2);
    return guid;
}

static leat_span string_of(uint8_t type, const json_t *json, opcua_memory *memory) {
    if (json_is_null(json))
        return (leat_span){NULL, 0};
    leat_span from = {(const uint8_t *)json_string_value(json), json_string_length(json)};
    if (type == LEAT_OPCUA_BYTE_STRING)
        from = bytes_of_hex(json_string_value(json));
    uint8_t *copy = take(memory, from.length);
    memcpy(copy, from.bytes, from.length);
    if (type == LEAT_OPCUA_BYTE_STRING)
        free((void *)(uintptr_t)from.bytes);
    return (leat_span){copy, from.length};
}

static leat_opcua_data_value data_value_of(const json_t *json, opcua_memory *memory) {
    static const char *const keys[] = {
        "value", "status", "sourceTimestamp", "serverTimestamp", "sourcePicoseconds", "serverPicoseconds"};
    leat_opcua_data_value value = {0};
    for (unsigned i = 0; i < 6; i++)
        value.fields = (uint8_t)(value.fields | (json_object_get(json, keys[i]) ? 1u << i : 0));
    if (value.fields & LEAT_OPCUA_HAS_VALUE) {
        leat_opcua_value *inner = take(memory, sizeof *inner);
        ck_assert(opcua_build(json_object_get(json, "value"), memory, inner));
        value.value = inner;
    }
    value.status = (uint32_t)bits_of(json_object_get(json, keys[1]));
    value.source_time = (int64_t)bits_of(json_object_get(json, keys[2]));
    value.server_time = (int64_t)bits_of(json_object_get(json, keys[3]));
    value.source_picoseconds = (uint16_t)bits_of(json_object_get(json, keys[4]));
    value.server_picoseconds = (uint16_t)bits_of(json_object_get(json, keys[5]));
    return value;
}

/* The bits of an element of fixed width, put where it belongs. */
static void put_bits(uint8_t type, uint64_t bits, void *to) {
    uint8_t bytes[8];
    leat_store_u64_le(bytes, bits);
    memcpy(to, bytes, leat_opcua_size(type));
}

static void build_element(uint8_t type, const json_t *json, opcua_memory *memory, void *to) {
    if (type == LEAT_OPCUA_FLOAT || type == LEAT_OPCUA_DOUBLE)
        put_bits(type, float_bits_of(type, json), to);
    else if (type == LEAT_OPCUA_GUID)
        *(leat_opcua_guid *)to = guid_of(json);
    else if (type == LEAT_OPCUA_DATA_VALUE)
        *(leat_opcua_data_value *)to = data_value_of(json, memory);
    else if (type == LEAT_OPCUA_VARIANT)
        ck_assert(opcua_build(json, memory, to));
    else if (leat_opcua_width(type) > 0)
        put_bits(type, bits_of(json), to);
    else
        *(leat_span *)to = string_of(type, json, memory);
}

/* ---- values ---- */

/* Element i of a generated array, as the vector names the rule. */
static uint64_t generated(const char *rule, uint64_t i) {
    return strcmp(rule, "mul_9e3779b1") == 0 ? (uint32_t)(i * 0x9e3779b1) : i % 3 == 0;
}

static void build_generated(const json_t *rule, leat_opcua_value *value, opcua_memory *memory) {
    size_t size = leat_opcua_size(value->type);
    value->count = (int64_t)vector_number(rule, "n");
    uint8_t *elements = take(memory, (size_t)value->count * size);
    for (uint64_t i = 0; i < (uint64_t)value->count; i++)
        put_bits(value->type, generated(vector_text(rule, "gen"), i), elements + i * size);
    value->of.elements.at.first = elements;
}

static void build_elements(const json_t *list, leat_opcua_value *value, opcua_memory *memory) {
    size_t size = leat_opcua_size(value->type);
    value->count = (int64_t)json_array_size(list);
    uint8_t *elements = take(memory, (size_t)value->count * size);
    for (size_t i = 0; i < json_array_size(list); i++)
        build_element(value->type, json_array_get(list, i), memory, elements + i * size);
    value->of.elements.at.first = elements;
}

static void build_dimensions(const json_t *list, leat_opcua_value *value, opcua_memory *memory) {
    uint32_t *dimensions = take(memory, json_array_size(list) * sizeof *dimensions);
    for (size_t i = 0; i < json_array_size(list); i++)
        dimensions[i] = (uint32_t)json_integer_value(json_array_get(list, i));
    value->shape = LEAT_OPCUA_MATRIX;
    value->rank = (uint32_t)json_array_size(list);
    value->dimensions = dimensions;
}

static void build_scalar(const json_t *json, leat_opcua_value *value, opcua_memory *memory) {
    void *to = &value->of.scalar;
    if (value->type == LEAT_OPCUA_DATA_VALUE) {
        to = take(memory, sizeof(leat_opcua_data_value));
        value->of.scalar.data_value = to;
    }
    build_element(value->type, json, memory, to);
}

static bool is_understood(uint8_t type) {
    return leat_opcua_width(type) > 0 || type == LEAT_OPCUA_NULL || type == LEAT_OPCUA_DATA_VALUE ||
           type == LEAT_OPCUA_VARIANT || type == LEAT_OPCUA_STRING || type == LEAT_OPCUA_BYTE_STRING ||
           type == LEAT_OPCUA_XML_ELEMENT;
}

bool opcua_build(const json_t *vector, opcua_memory *memory, leat_opcua_value *value) {
    const json_t *json = json_object_get(vector, "value");
    const char *shape = vector_text(vector, "shape");
    *value = (leat_opcua_value){.type = opcua_type_of(vector_text(vector, "type"))};
    if (!is_understood(value->type))
        return false;
    if (strcmp(shape, "scalar") == 0)
        build_scalar(json, value, memory);
    else if (value->type != LEAT_OPCUA_NULL)
        value->shape = LEAT_OPCUA_ARRAY;
    if (strcmp(shape, "null") == 0)
        value->count = value->type == LEAT_OPCUA_NULL ? 0 : -1;
    else if (json_is_object(json) && json_object_get(json, "gen"))
        build_generated(json, value, memory);
    else if (value->shape != LEAT_OPCUA_SCALAR)
        build_elements(json, value, memory);
    if (strcmp(shape, "matrix") == 0)
        build_dimensions(json_object_get(vector, "dims"), value, memory);
    return true;
}

/* ---- comparison ---- */

static bool equal_spans(const leat_span *a, const leat_span *b) {
    if (!a->bytes || !b->bytes)
        return !a->bytes && !b->bytes;
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

static bool equal_data_values(const leat_opcua_data_value *a, const leat_opcua_data_value *b) {
    if (a->fields != b->fields || a->status != b->status || a->source_time != b->source_time ||
        a->server_time != b->server_time || a->source_picoseconds != b->source_picoseconds ||
        a->server_picoseconds != b->server_picoseconds)
        return false;
    return a->value && b->value ? opcua_equal(a->value, b->value) : a->value == b->value;
}

static bool equal_elements(uint8_t type, const void *a, const void *b) {
    if (type == LEAT_OPCUA_VARIANT)
        return opcua_equal(a, b);
    if (type == LEAT_OPCUA_DATA_VALUE)
        return equal_data_values(a, b);
    if (leat_opcua_width(type) == 0)
        return equal_spans(a, b);
    return memcmp(a, b, leat_opcua_width(type)) == 0;
}

static bool equal_heads(const leat_opcua_value *a, const leat_opcua_value *b) {
    if (a->type != b->type || a->shape != b->shape || leat_opcua_count(a) != leat_opcua_count(b))
        return false;
    if (a->shape != LEAT_OPCUA_SCALAR && a->count != b->count)
        return false;
    return a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->dimensions, b->dimensions, a->rank * sizeof *a->dimensions) == 0);
}

bool opcua_equal(const leat_opcua_value *a, const leat_opcua_value *b) {
    if (!equal_heads(a, b))
        return false;
    for (uint64_t i = 0; i < leat_opcua_count(a); i++) {
        union {
            leat_opcua_scalar scalar;
            leat_opcua_value value;
            leat_opcua_data_value data_value;
        } one, other;
        if (leat_opcua_get(a, i, &one) != 0 || leat_opcua_get(b, i, &other) != 0)
            return false;
        if (!equal_elements(a->type, &one, &other))
            return false;
    }
    return true;
}
