#include "handlers/opcua/opcua_internal.h"

#define FIXED(name, width)                                                                                             \
    { name, width, width, width, 1 + width }
#define SPAN(name, least)                                                                                              \
    { name, 0, least, sizeof(leat_span), 0 }

const leat_opcua_type_info leat_opcua_type_infos[LEAT_OPCUA_TYPES] = {
    [LEAT_OPCUA_NULL] = {"Null", 0, 0, 0, 1},
    [LEAT_OPCUA_BOOLEAN] = FIXED("Boolean", 1),
    [LEAT_OPCUA_SBYTE] = FIXED("SByte", 1),
    [LEAT_OPCUA_BYTE] = FIXED("Byte", 1),
    [LEAT_OPCUA_INT16] = FIXED("Int16", 2),
    [LEAT_OPCUA_UINT16] = FIXED("UInt16", 2),
    [LEAT_OPCUA_INT32] = FIXED("Int32", 4),
    [LEAT_OPCUA_UINT32] = FIXED("UInt32", 4),
    [LEAT_OPCUA_INT64] = FIXED("Int64", 8),
    [LEAT_OPCUA_UINT64] = FIXED("UInt64", 8),
    [LEAT_OPCUA_FLOAT] = FIXED("Float", 4),
    [LEAT_OPCUA_DOUBLE] = FIXED("Double", 8),
    [LEAT_OPCUA_STRING] = SPAN("String", 4),
    [LEAT_OPCUA_DATE_TIME] = FIXED("DateTime", 8),
    [LEAT_OPCUA_GUID] = FIXED("Guid", 16),
    [LEAT_OPCUA_BYTE_STRING] = SPAN("ByteString", 4),
    [LEAT_OPCUA_XML_ELEMENT] = SPAN("XmlElement", 4),
    [LEAT_OPCUA_NODE_ID] = SPAN("NodeId", 2),
    [LEAT_OPCUA_EXPANDED_NODE_ID] = SPAN("ExpandedNodeId", 2),
    [LEAT_OPCUA_STATUS_CODE] = FIXED("StatusCode", 4),
    [LEAT_OPCUA_QUALIFIED_NAME] = SPAN("QualifiedName", 6),
    [LEAT_OPCUA_LOCALIZED_TEXT] = SPAN("LocalizedText", 1),
    [LEAT_OPCUA_EXTENSION_OBJECT] = SPAN("ExtensionObject", 3),
    [LEAT_OPCUA_DATA_VALUE] = {"DataValue", 0, 1, sizeof(leat_opcua_data_value), 0},
    [LEAT_OPCUA_VARIANT] = {"Variant", 0, 1, sizeof(leat_opcua_value), 0},
    [LEAT_OPCUA_DIAGNOSTIC_INFO] = SPAN("DiagnosticInfo", 1),
    [26] = SPAN("unknown", 4),
    [27] = SPAN("unknown", 4),
    [28] = SPAN("unknown", 4),
    [29] = SPAN("unknown", 4),
    [30] = SPAN("unknown", 4),
    [31] = SPAN("unknown", 4),
};

size_t leat_opcua_width(uint8_t type) {
    return leat_opcua_width_of(type);
}

size_t leat_opcua_size(uint8_t type) {
    return type < LEAT_OPCUA_TYPES ? leat_opcua_type_infos[type].size : 0;
}

const char *leat_opcua_type_name(uint8_t type) {
    return type < LEAT_OPCUA_TYPES ? leat_opcua_type_infos[type].name : "unknown";
}

static bool has_none(const uint32_t *dimensions, uint32_t rank) {
    for (uint32_t i = 0; i < rank; i++)
        if (dimensions[i] == 0)
            return true;
    return rank == 0;
}

bool leat_opcua_product(const uint32_t *dimensions, uint32_t rank, uint64_t most, uint64_t *product) {
    *product = has_none(dimensions, rank) ? 0 : 1;
    for (uint32_t i = 0; i<rank && * product> 0; i++) {
        if (dimensions[i] > most / *product)
            return false;
        *product *= dimensions[i];
    }
    return true;
}

/* ---- elements ---- */

uint64_t leat_opcua_count(const leat_opcua_value *value) {
    return leat_opcua_count_of(value);
}

int leat_opcua_get(const leat_opcua_value *value, uint64_t i, void *out) {
    return leat_opcua_copy(value, i, 1, out);
}

static void copy_elements(const leat_opcua_value *value, uint64_t first, uint64_t n, void *out) {
    size_t size = leat_opcua_size(value->type);
    uint8_t *to = out;
    for (uint64_t i = first; i < first + n; i++, to += size) {
        const void *element = leat_opcua_element(value, i);
        if (element)
            memcpy(to, element, size);
        else
            memset(to, 0, size);
    }
}

int leat_opcua_copy(const leat_opcua_value *value, uint64_t first, uint64_t n, void *out) {
    uint64_t count = leat_opcua_count_of(value);
    if (first > count || n > count - first)
        return LEAT_ERANGE;
    if (value->type >= LEAT_OPCUA_TYPES || leat_opcua_type_infos[value->type].size == 0)
        return n == 0 ? 0 : LEAT_EINVAL;
    if (leat_opcua_type_infos[value->type].width == 0) {
        copy_elements(value, first, n, out);
        return 0;
    }
    leat_opcua_block_put(out, value, first, n, false);
    leat_opcua_block_order(out, value->type, n);
    return 0;
}

/* ---- views ---- */

static bool is_view(const leat_opcua_value *value) {
    return value->shape != LEAT_OPCUA_SCALAR && value->source == LEAT_OPCUA_WIRE;
}

static uint64_t view_bytes(const leat_opcua_value *view) {
    return leat_opcua_count_of(view) * leat_opcua_width(view->type);
}

static size_t alignment_of(uint8_t type) {
    size_t width = leat_opcua_width(type);
    return width == 0 ? _Alignof(leat_span) : type == LEAT_OPCUA_GUID ? _Alignof(leat_opcua_guid) : width;
}

/* Bytes of a view can be used as they are when the machine has the order of the wire. */
static const void *view_data(const leat_opcua_value *view) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const leat_opcua_elements *elements = &view->of.elements;
    if (view->type == LEAT_OPCUA_BOOLEAN)
        return NULL;
    return leat_bytebuf_contiguous(elements->at.buffer, elements->by.index, view_bytes(view));
#else
    (void)view;
    return NULL;
#endif
}

static const void *elements_data(const leat_opcua_value *value) {
    if (value->shape == LEAT_OPCUA_SCALAR)
        return leat_opcua_scalar_at(value);
    if (value->source == LEAT_OPCUA_WIRE)
        return view_data(value);
    return value->source == LEAT_OPCUA_CONTIGUOUS ? value->of.elements.at.first : NULL;
}

const void *leat_opcua_data(const leat_opcua_value *value) {
    const void *data = leat_opcua_count_of(value) > 0 ? elements_data(value) : NULL;
    return (uintptr_t)data % alignment_of(value->type) == 0 ? data : NULL;
}

size_t leat_opcua_spans(const leat_opcua_value *view, leat_span *spans, size_t max) {
    size_t count = 0;
    if (!is_view(view))
        return 0;
    uint64_t index = view->of.elements.by.index;
    for (uint64_t left = view_bytes(view); left > 0; count++) {
        leat_reader reader = {.buf = view->of.elements.at.buffer};
        leat_reader_aim(&reader, index);
        uint64_t have = (uint64_t)(reader.end - reader.at);
        have = have < left ? have : left;
        if (count < max)
            spans[count] = (leat_span){reader.at, (size_t)have};
        index += have;
        left -= have;
    }
    return count;
}

void leat_opcua_hold(const leat_opcua_value *view) {
    if (is_view(view) && view->of.elements.at.buffer)
        leat_bytebuf_retain(view->of.elements.at.buffer);
}

void leat_opcua_release(const leat_opcua_value *view) {
    if (is_view(view))
        leat_bytebuf_release(view->of.elements.at.buffer);
}
