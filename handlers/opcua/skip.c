/* Input whose length is not known before, and the types that are kept as on the wire. */
#include "handlers/opcua/opcua_internal.h"

enum { SERVER_INDEX_FOLLOWS = 0x40, NAMESPACE_URI_FOLLOWS = 0x80, HAS_INNER_DIAGNOSTIC_INFO = 0x40 };

int leat_opcua_input_slowly(leat_opcua_input *input, void *out, uint64_t n) {
    leat_reader *reader = &input->reader;
    if (n > leat_opcua_left(input))
        return LEAT_ETRUNCATED;
    if (out)
        leat_reader_bytes(reader, out, (size_t)n);
    else
        leat_reader_skip(reader, n);
    return 0;
}

int leat_opcua_input_length(leat_opcua_input *input, int32_t *length) {
    int code = leat_opcua_input_i32(input, length);
    if (code != 0)
        return code;
    if (*length < -1)
        return LEAT_ECORRUPT;
    if (*length > 0 && (uint32_t)*length > leat_opcua_limit_string_bytes(input->options))
        return LEAT_ETOOLONG;
    return *length > 0 && (uint64_t)*length > leat_opcua_left(input) ? LEAT_ETRUNCATED : 0;
}

static int skip_string(leat_opcua_input *input) {
    int32_t length;
    int code = leat_opcua_input_length(input, &length);
    return code == 0 && length > 0 ? leat_opcua_input_skip(input, (uint64_t)length) : code;
}

static int skip_then_string(leat_opcua_input *input, uint64_t n) {
    int code = leat_opcua_input_skip(input, n);
    return code == 0 ? skip_string(input) : code;
}

/* What follows the first byte of a NodeId, by the low bits of that byte (Part 6, 5.2.2.9). */
static int skip_identifier(leat_opcua_input *input, uint8_t format) {
    switch (format) {
    case 0:
        return leat_opcua_input_skip(input, 1);
    case 1:
        return leat_opcua_input_skip(input, 3);
    case 2:
        return leat_opcua_input_skip(input, 6);
    case 3:
    case 5:
        return skip_then_string(input, 2);
    case 4:
        return leat_opcua_input_skip(input, 18);
    default:
        return LEAT_ECORRUPT;
    }
}

static int skip_node_id(leat_opcua_input *input) {
    uint8_t format;
    int code = leat_opcua_input_u8(input, &format);
    return code == 0 ? skip_identifier(input, format) : code;
}

static int skip_expanded_node_id(leat_opcua_input *input) {
    uint8_t format;
    int code = leat_opcua_input_u8(input, &format);
    if (code == 0)
        code = skip_identifier(input, format & 0x3f);
    if (code == 0 && format & NAMESPACE_URI_FOLLOWS)
        code = skip_string(input);
    if (code == 0 && format & SERVER_INDEX_FOLLOWS)
        code = leat_opcua_input_skip(input, 4);
    return code;
}

static int skip_localized_text(leat_opcua_input *input) {
    uint8_t fields;
    int code = leat_opcua_input_u8(input, &fields);
    for (uint8_t field = 1; code == 0 && field <= 2; field++)
        if (fields & field)
            code = skip_string(input);
    return code;
}

static int skip_extension_object(leat_opcua_input *input) {
    uint8_t encoding;
    int code = skip_node_id(input);
    if (code == 0)
        code = leat_opcua_input_u8(input, &encoding);
    if (code != 0 || encoding == 0)
        return code;
    return encoding <= 2 ? skip_string(input) : LEAT_ECORRUPT;
}

/* The fields of one DiagnosticInfo before the inner one: four numbers, a text, a status. */
static int skip_diagnostic_fields(leat_opcua_input *input, uint8_t fields) {
    uint64_t numbers = (uint64_t)__builtin_popcount(fields & 0x0f);
    int code = leat_opcua_input_skip(input, 4 * numbers);
    if (code == 0 && fields & 0x10)
        code = skip_string(input);
    if (code == 0 && fields & 0x20)
        code = leat_opcua_input_skip(input, 4);
    return code;
}

/* The inner one comes last, so nesting is a loop. */
static int skip_diagnostic_info(leat_opcua_input *input, uint32_t depth) {
    for (;; depth--) {
        uint8_t fields;
        int code = leat_opcua_input_u8(input, &fields);
        if (code == 0)
            code = skip_diagnostic_fields(input, fields);
        if (code != 0 || !(fields & HAS_INNER_DIAGNOSTIC_INFO))
            return code;
        if (depth == 0)
            return LEAT_ELIMIT;
    }
}

int leat_opcua_input_skip_element(leat_opcua_input *input, uint8_t type, uint32_t depth) {
    switch (type) {
    case LEAT_OPCUA_NODE_ID:
        return skip_node_id(input);
    case LEAT_OPCUA_EXPANDED_NODE_ID:
        return skip_expanded_node_id(input);
    case LEAT_OPCUA_QUALIFIED_NAME:
        return skip_then_string(input, 2);
    case LEAT_OPCUA_LOCALIZED_TEXT:
        return skip_localized_text(input);
    case LEAT_OPCUA_EXTENSION_OBJECT:
        return skip_extension_object(input);
    case LEAT_OPCUA_DIAGNOSTIC_INFO:
        return skip_diagnostic_info(input, depth);
    default:
        return LEAT_EINVAL;
    }
}
