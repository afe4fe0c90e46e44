#include "handlers/opcua/encode_internal.h"

/* A level: the elements of an array of Variants or DataValues, or the one of a scalar. */
typedef struct level {
    const leat_opcua_value *value;
    uint64_t next;
    bool variant;
    bool is_inside; /* the value of DataValue `next` is written, its other fields not yet */
} level;

typedef struct nesting {
    uint32_t depth;
    level stack[LEAT_OPCUA_MOST_DEPTH];
} nesting;

/* ---- bytes ---- */

static inline void put(leat_opcua_output *out, const void *bytes, size_t n) {
    if (out->at && n > 0) {
        memcpy(out->at, bytes, n);
        out->at += n;
    }
    out->size += n;
}

static inline void put_u8(leat_opcua_output *out, uint8_t value) {
    put(out, &value, 1);
}

static inline void put_u32(leat_opcua_output *out, uint32_t value) {
    uint8_t bytes[4];
    leat_store_u32_le(bytes, value);
    put(out, bytes, sizeof bytes);
}

/* ---- what a value must be ---- */

static int check_count(int64_t count, uint64_t limit) {
    if (count < -1)
        return LEAT_EINVAL;
    if (count > INT32_MAX)
        return LEAT_ERANGE;
    return count > 0 && (uint64_t)count > limit ? LEAT_ETOOLONG : 0;
}

static int check_dimensions(const leat_opcua_output *out, const leat_opcua_value *value) {
    uint64_t product;
    if (value->rank > leat_opcua_limit_rank(out->options))
        return LEAT_ELIMIT;
    if (value->rank > 0 && !value->dimensions)
        return LEAT_EINVAL;
    if (!leat_opcua_product(value->dimensions, value->rank, INT32_MAX, &product))
        return LEAT_EINVAL;
    return product == leat_opcua_count_of(value) ? 0 : LEAT_EINVAL;
}

static int check_array(const leat_opcua_output *out, const leat_opcua_value *value) {
    int code = check_count(value->count, leat_opcua_limit_array_elements(out->options));
    if (code != 0)
        return code;
    if (value->type == LEAT_OPCUA_NULL || value->shape > LEAT_OPCUA_MATRIX || value->source > LEAT_OPCUA_WIRE)
        return LEAT_EINVAL;
    if (value->source == LEAT_OPCUA_WIRE && leat_opcua_type_infos[value->type].width == 0)
        return LEAT_EINVAL;
    if (value->count > 0 && !value->of.elements.at.first)
        return LEAT_EINVAL;
    return value->shape == LEAT_OPCUA_MATRIX ? check_dimensions(out, value) : 0;
}

static int check_view(const leat_opcua_value *value) {
    const leat_opcua_elements *elements = &value->of.elements;
    if (value->source != LEAT_OPCUA_WIRE || value->count <= 0)
        return 0;
    uint64_t end = leat_bytebuf_writer_index(elements->at.buffer);
    uint64_t bytes = (uint64_t)value->count * leat_opcua_type_infos[value->type].width;
    return elements->by.index <= end && bytes <= end - elements->by.index ? 0 : LEAT_EINVAL;
}

static int check(const leat_opcua_output *out, const leat_opcua_value *value, bool variant) {
    if (value->type >= LEAT_OPCUA_TYPES)
        return LEAT_EINVAL;
    if (value->shape == LEAT_OPCUA_SCALAR)
        return variant ? (value->type == LEAT_OPCUA_VARIANT ? LEAT_EINVAL : 0)
                       : (value->type == LEAT_OPCUA_NULL ? LEAT_EINVAL : 0);
    int code = check_array(out, value);
    return code == 0 ? check_view(value) : code;
}

/* ---- elements that hold no others ---- */

static int put_string(leat_opcua_output *out, const leat_span *string) {
    if (!string || !string->bytes) {
        put_u32(out, UINT32_MAX);
        return 0;
    }
    if (string->length > INT32_MAX)
        return LEAT_ERANGE;
    if (string->length > leat_opcua_limit_string_bytes(out->options))
        return LEAT_ETOOLONG;
    put_u32(out, (uint32_t)string->length);
    put(out, string->bytes, string->length);
    return 0;
}

/* The null of every type that is kept as on the wire is zero, but for the name of a QualifiedName. */
static void put_null(leat_opcua_output *out, uint8_t type) {
    static const uint8_t zero[3], no_name[] = {0, 0, 0xff, 0xff, 0xff, 0xff};
    put(out, type == LEAT_OPCUA_QUALIFIED_NAME ? no_name : zero, leat_opcua_type_infos[type].least);
}

static int put_wire(leat_opcua_output *out, uint8_t type, const leat_span *wire, uint32_t depth) {
    if (!wire || !wire->bytes) {
        put_null(out, type);
        return 0;
    }
    leat_opcua_input input = {{wire->bytes, wire->bytes + wire->length, 0, NULL}, out->options};
    int code = out->at ? 0 : leat_opcua_input_skip_element(&input, type, depth);
    if (code == LEAT_ETOOLONG || code == LEAT_ELIMIT)
        return code;
    if (code != 0 || (!out->at && leat_opcua_left(&input) > 0))
        return LEAT_EINVAL;
    put(out, wire->bytes, wire->length);
    return 0;
}

static int put_spans(leat_opcua_output *out, const leat_opcua_value *value, uint32_t depth) {
    bool is_string = leat_opcua_is_string(value->type);
    uint64_t count = leat_opcua_count_of(value);
    int code = 0;
    for (uint64_t i = 0; i < count && code == 0; i++) {
        const leat_span *span = leat_opcua_element(value, i);
        code = is_string ? put_string(out, span) : put_wire(out, value->type, span, depth);
    }
    return code;
}

static void put_block(leat_opcua_output *out, const leat_opcua_value *value) {
    uint64_t count = leat_opcua_count_of(value);
    uint64_t bytes = count * leat_opcua_type_infos[value->type].width;
    if (out->at) {
        leat_opcua_block_put(out->at, value, 0, count, out->options && out->options->quiet_nan);
        out->at += bytes;
    }
    out->size += bytes;
}

static int put_leaves(leat_opcua_output *out, const leat_opcua_value *value, uint32_t depth) {
    if (leat_opcua_type_infos[value->type].width == 0)
        return put_spans(out, value, depth);
    if (leat_opcua_is_wrapped(out, value))
        return leat_opcua_wrap_elements(out, value);
    put_block(out, value);
    return 0;
}

/* ---- what stands around the elements ---- */

static bool has_dimensions(const leat_opcua_output *out, const leat_opcua_value *value) {
    if (value->shape != LEAT_OPCUA_MATRIX)
        return false;
    return (value->count > 0 && value->rank > 1) ||
           (value->count == 0 && out->options && out->options->keep_empty_dimensions);
}

static void put_dimensions(leat_opcua_output *out, const leat_opcua_value *value) {
    put_u32(out, value->rank);
    for (uint32_t i = 0; i < value->rank; i++)
        put_u32(out, value->dimensions[i]);
}

static int put_variant_head(leat_opcua_output *out, const leat_opcua_value *value) {
    unsigned encoding = value->type;
    if (value->shape != LEAT_OPCUA_SCALAR)
        encoding |= LEAT_OPCUA_IS_ARRAY;
    if (has_dimensions(out, value))
        encoding |= LEAT_OPCUA_HAS_DIMENSIONS;
    put_u8(out, (uint8_t)encoding);
    if (value->shape != LEAT_OPCUA_SCALAR)
        put_u32(out, (uint32_t)value->count);
    return 0;
}

/* A matrix field has at least two dimensions, and no count (Part 6, 5.2.5). */
static int put_field_head(leat_opcua_output *out, const leat_opcua_value *value) {
    if (value->shape == LEAT_OPCUA_ARRAY || (value->shape == LEAT_OPCUA_MATRIX && value->count < 0)) {
        put_u32(out, (uint32_t)value->count);
    } else if (value->shape == LEAT_OPCUA_MATRIX) {
        if (value->rank < 2)
            return LEAT_EINVAL;
        put_dimensions(out, value);
    }
    return 0;
}

/* What was counted is right. */
static int put_head(leat_opcua_output *out, const leat_opcua_value *value, bool variant) {
    int code = out->at ? 0 : check(out, value, variant);
    if (code != 0)
        return code;
    return variant ? put_variant_head(out, value) : put_field_head(out, value);
}

static void put_tail(leat_opcua_output *out, const leat_opcua_value *value, bool variant) {
    if (variant && has_dimensions(out, value))
        put_dimensions(out, value);
}

/* ---- the walk, which keeps its own stack ---- */

static int put_plain(leat_opcua_output *out, const leat_opcua_value *value, bool variant, uint32_t depth) {
    int code = put_head(out, value, variant);
    if (code == 0 && value->type != LEAT_OPCUA_NULL)
        code = put_leaves(out, value, depth);
    if (code == 0)
        put_tail(out, value, variant);
    return code;
}

static int begin(leat_opcua_output *out, nesting *levels, const leat_opcua_value *value, bool variant) {
    uint32_t depth = leat_opcua_limit_depth(out->options) - levels->depth;
    if (out->size > leat_opcua_limit_message_bytes(out->options)) /* no sum can overflow */
        return LEAT_ETOOLONG;
    if (!leat_opcua_is_container(value->type))
        return put_plain(out, value, variant, depth);
    int code = put_head(out, value, variant);
    if (code == 0 && depth == 0)
        code = LEAT_ELIMIT;
    if (code == 0)
        levels->stack[levels->depth++] = (level){value, 0, variant, false};
    return code;
}

static inline bool is_small(const leat_opcua_value *value) {
    return !value || leat_opcua_small_size(leat_opcua_kind(value)) > 0;
}

/* As many small elements as there are, or one that is not. */
static int step_variants(leat_opcua_output *out, nesting *levels, level *top) {
    const leat_opcua_value *element = leat_opcua_element(top->value, top->next);
    if (!is_small(element)) {
        top->next++;
        return begin(out, levels, element, true);
    }
    top->next = leat_opcua_put_small_variants(out, top->value, top->next);
    return 0;
}

/* The value of a DataValue that is not small; what stands behind it follows at once if it opens no level. */
static int begin_data_value(leat_opcua_output *out, nesting *levels, level *top, const leat_opcua_data_value *element) {
    uint32_t depth = levels->depth;
    put_u8(out, element->fields & LEAT_OPCUA_ALL_FIELDS);
    int code = begin(out, levels, element->value, true);
    top->is_inside = levels->depth > depth;
    if (!top->is_inside) {
        leat_opcua_put_quality(out, element);
        top->next++;
    }
    return code;
}

static int step_data_values(leat_opcua_output *out, nesting *levels, level *top) {
    const leat_opcua_data_value *element = leat_opcua_element(top->value, top->next);
    if (top->is_inside) {
        leat_opcua_put_quality(out, element);
        top->is_inside = false;
        top->next++;
        return 0;
    }
    if (element && element->fields & LEAT_OPCUA_HAS_VALUE && !is_small(element->value))
        return begin_data_value(out, levels, top, element);
    top->next = leat_opcua_put_small_data_values(out, top->value, top->next);
    return 0;
}

static int step(leat_opcua_output *out, nesting *levels) {
    level *top = &levels->stack[levels->depth - 1];
    uint64_t count = leat_opcua_count_of(top->value);
    if (top->next < count)
        return top->value->type == LEAT_OPCUA_VARIANT ? step_variants(out, levels, top)
                                                      : step_data_values(out, levels, top);
    put_tail(out, top->value, top->variant);
    levels->depth--;
    return 0;
}

static int walk_levels(leat_opcua_output *out, const leat_opcua_value *value, bool variant) {
    nesting levels;
    levels.depth = 0;
    int code = begin(out, &levels, value, variant);
    while (code == 0 && levels.depth > 0)
        code = step(out, &levels);
    return code;
}

/* What holds no others needs no stack. */
int leat_opcua_walk(leat_opcua_output *out, const leat_opcua_value *value, bool variant) {
    if (leat_opcua_is_container(value->type))
        return walk_levels(out, value, variant);
    return put_plain(out, value, variant, leat_opcua_limit_depth(out->options));
}
