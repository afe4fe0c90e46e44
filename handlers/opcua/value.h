/**
 * Values of OPC UA (OPC 10000-6): a scalar, an array or a matrix of one builtin type, as a Variant or a structure field
 * carries it; and what may be asked of their elements wherever these lie.
 *
 *     const int32_t frame[] = {1, 2, 3};
 *     leat_opcua_value value = leat_opcua_array(LEAT_OPCUA_INT32, frame, 3);
 *     int code = leat_opcua_encode_variant(buf, &value, NULL);
 */
#ifndef LEAT_HANDLERS_OPCUA_VALUE_H
#define LEAT_HANDLERS_OPCUA_VALUE_H

#include "core/bytebuf.h"

LEAT_BEGIN_DECLS

/**
 * The builtin types by their numbers on the wire (Part 6, 5.1.2), and the C type of an element. A leat_span of no bytes
 * whose address is NULL is null, any other one of no bytes is empty. `wire` is a leat_span of the bytes that the value
 * has on the wire, whole and well-formed; null becomes the null of its type. Types 26 to 31 are ByteStrings.
 */
typedef enum leat_opcua_type {
    LEAT_OPCUA_NULL = 0,              /**< no value: a null Variant */
    LEAT_OPCUA_BOOLEAN = 1,           /**< bool, or any byte: what is not 0 is true */
    LEAT_OPCUA_SBYTE = 2,             /**< int8_t */
    LEAT_OPCUA_BYTE = 3,              /**< uint8_t */
    LEAT_OPCUA_INT16 = 4,             /**< int16_t */
    LEAT_OPCUA_UINT16 = 5,            /**< uint16_t */
    LEAT_OPCUA_INT32 = 6,             /**< int32_t */
    LEAT_OPCUA_UINT32 = 7,            /**< uint32_t */
    LEAT_OPCUA_INT64 = 8,             /**< int64_t */
    LEAT_OPCUA_UINT64 = 9,            /**< uint64_t */
    LEAT_OPCUA_FLOAT = 10,            /**< float; NaN and -0.0 keep their bits */
    LEAT_OPCUA_DOUBLE = 11,           /**< double; NaN and -0.0 keep their bits */
    LEAT_OPCUA_STRING = 12,           /**< leat_span of UTF-8, which nobody checks */
    LEAT_OPCUA_DATE_TIME = 13,        /**< int64_t: 100 ns since 1601-01-01 UTC */
    LEAT_OPCUA_GUID = 14,             /**< leat_opcua_guid */
    LEAT_OPCUA_BYTE_STRING = 15,      /**< leat_span */
    LEAT_OPCUA_XML_ELEMENT = 16,      /**< leat_span of UTF-8, which nobody checks */
    LEAT_OPCUA_NODE_ID = 17,          /**< wire */
    LEAT_OPCUA_EXPANDED_NODE_ID = 18, /**< wire */
    LEAT_OPCUA_STATUS_CODE = 19,      /**< uint32_t */
    LEAT_OPCUA_QUALIFIED_NAME = 20,   /**< wire */
    LEAT_OPCUA_LOCALIZED_TEXT = 21,   /**< wire */
    LEAT_OPCUA_EXTENSION_OBJECT = 22, /**< wire */
    LEAT_OPCUA_DATA_VALUE = 23,       /**< leat_opcua_data_value */
    LEAT_OPCUA_VARIANT = 24,          /**< leat_opcua_value; only in arrays, or as a field */
    LEAT_OPCUA_DIAGNOSTIC_INFO = 25,  /**< wire */
    LEAT_OPCUA_TYPES = 32             /**< how many numbers there are */
} leat_opcua_type;

/** A Guid; its bytes on the wire are those of this struct on a little-endian machine. */
typedef struct leat_opcua_guid {
    uint32_t data1;
    uint16_t data2;
    uint16_t data3;
    uint8_t data4[8];
} leat_opcua_guid;

typedef struct leat_opcua_value leat_opcua_value;
typedef struct leat_opcua_data_value leat_opcua_data_value;

/** One element. */
typedef union leat_opcua_scalar {
    bool boolean;
    int8_t sbyte;
    uint8_t byte;
    int16_t int16;
    uint16_t uint16;
    int32_t int32;
    uint32_t uint32;
    int64_t int64;
    uint64_t uint64;
    float float32;
    double float64;
    int64_t date_time;
    uint32_t status_code;
    leat_opcua_guid guid;
    leat_span bytes; /**< String, ByteString, XmlElement, and the types kept as on the wire */
    const leat_opcua_value *variant;
    const leat_opcua_data_value *data_value;
} leat_opcua_scalar;

typedef enum leat_opcua_shape { LEAT_OPCUA_SCALAR, LEAT_OPCUA_ARRAY, LEAT_OPCUA_MATRIX } leat_opcua_shape;

/** Where the elements of an array or matrix lie. */
typedef enum leat_opcua_source {
    LEAT_OPCUA_CONTIGUOUS, /**< one behind the other, also misaligned */
    LEAT_OPCUA_STRIDED,    /**< `stride` bytes from one to the next, also negative */
    LEAT_OPCUA_POINTERS,   /**< each behind a pointer; a NULL is zero, false, or the null of its type */
    LEAT_OPCUA_WIRE        /**< a view: as on the wire, from `index` of a buffer on; only types of fixed width */
} leat_opcua_source;

/** The elements of an array or matrix; which members count says its source. */
typedef struct leat_opcua_elements {
    union {
        const void *first;           /**< the first element */
        const void *const *pointers; /**< the first pointer */
        leat_bytebuf *buffer;        /**< of a view; borrowed until leat_opcua_hold */
    } at;
    union {
        int64_t stride;
        uint64_t index;
    } by;
} leat_opcua_elements;

/** A value. Everything it points to is the caller's; of a decoded one, its decoder's. */
struct leat_opcua_value {
    uint8_t type;               /**< leat_opcua_type */
    uint8_t shape;              /**< leat_opcua_shape */
    uint8_t source;             /**< leat_opcua_source, of arrays and matrices */
    uint32_t rank;              /**< dimensions of a matrix */
    const uint32_t *dimensions; /**< of a matrix; the last index varies fastest */
    int64_t count;              /**< elements of an array or matrix; -1 = null, which is not empty */
    union {
        leat_opcua_scalar scalar;
        leat_opcua_elements elements;
    } of;
};

/** Which fields a DataValue has; a picosecond field without its time travels and means nothing. */
enum leat_opcua_data_value_fields {
    LEAT_OPCUA_HAS_VALUE = 0x01,
    LEAT_OPCUA_HAS_STATUS = 0x02,
    LEAT_OPCUA_HAS_SOURCE_TIME = 0x04,
    LEAT_OPCUA_HAS_SERVER_TIME = 0x08,
    LEAT_OPCUA_HAS_SOURCE_PICOSECONDS = 0x10,
    LEAT_OPCUA_HAS_SERVER_PICOSECONDS = 0x20
};

/** A value with its quality and times. */
struct leat_opcua_data_value {
    const leat_opcua_value *value; /**< NULL = a null Variant */
    int64_t source_time;           /**< 100 ns since 1601-01-01 UTC */
    int64_t server_time;           /**< 100 ns since 1601-01-01 UTC */
    uint32_t status;
    uint16_t source_picoseconds; /**< in 10 ps, at most 9999 */
    uint16_t server_picoseconds; /**< in 10 ps, at most 9999 */
    uint8_t fields;              /**< leat_opcua_data_value_fields; others are not written */
};

/** What may be asked of encoding and decoding. All zero is a sane default; 0 never means unlimited. */
typedef struct leat_opcua_options {
    uint64_t message_bytes;     /**< most bytes of one message; 0 = 64 MiB */
    uint64_t memory;            /**< most bytes of memory for what is decoded of one message; 0 = 256 MiB */
    uint32_t memory_factor;     /**< and at most so many bytes for each byte of the message; 0 = 100 */
    uint32_t array_elements;    /**< most elements of one array; 0 = 16 Mi */
    uint32_t string_bytes;      /**< most bytes of one String, ByteString, XmlElement or body; 0 = 16 MiB */
    uint32_t rank;              /**< most dimensions; 0 = 32 */
    uint32_t depth;             /**< most levels of Variants, DataValues and DiagnosticInfos; 0 = 128, at most 256 */
    uint32_t wrap_bytes;        /**< arrays of fewer bytes are copied rather than wrapped; 0 = 2048 */
    bool quiet_nan;             /**< every NaN becomes the quiet one of Part 6, 5.2.2.3 */
    bool keep_empty_dimensions; /**< an empty matrix keeps its dimensions (version 1.04), else it is an empty array */
} leat_opcua_options;

/** Returns how many bytes an element has on the wire, or 0 when that depends on the element. Any thread. */
LEAT_API size_t leat_opcua_width(uint8_t type);

/** Returns the bytes of the C type of an element; 0 for null and for numbers that are no type. Any thread. */
LEAT_API size_t leat_opcua_size(uint8_t type);

/** Returns the name of a type as Part 6 writes it ("Int32"), or "unknown". Any thread. */
LEAT_API const char *leat_opcua_type_name(uint8_t type);

/** Makes an array of `count` elements that lie one behind the other and stay the caller's; -1 = null. Any thread. */
LEAT_INLINE leat_opcua_value leat_opcua_array(uint8_t type, const void *elements, int64_t count) {
    leat_opcua_value value;
    memset(&value, 0, sizeof value);
    value.type = type;
    value.shape = LEAT_OPCUA_ARRAY;
    value.count = count;
    value.of.elements.at.first = elements;
    return value;
}

/** Makes a matrix of `rank` dimensions, which stay the caller's as the elements do. Any thread. */
LEAT_INLINE leat_opcua_value leat_opcua_matrix(uint8_t type, const void *elements, int64_t count,
                                               const uint32_t *dimensions, uint32_t rank) {
    leat_opcua_value value = leat_opcua_array(type, elements, count);
    value.shape = LEAT_OPCUA_MATRIX;
    value.dimensions = dimensions;
    value.rank = rank;
    return value;
}

/** Makes a scalar. Any thread. */
LEAT_INLINE leat_opcua_value leat_opcua_scalar_of(uint8_t type, leat_opcua_scalar scalar) {
    leat_opcua_value value;
    memset(&value, 0, sizeof value);
    value.type = type;
    value.of.scalar = scalar;
    return value;
}

/* ---- elements, wherever they lie --------------------------------------------------------------------------------
 *
 * Of a scalar, element 0 is the scalar itself. A view over a composite is for one thread at a time.
 */

/** Returns how many elements there are: 1 for a scalar, 0 for null. */
LEAT_API uint64_t leat_opcua_count(const leat_opcua_value *value);

/** Copies element `i` to `out`, of the C type of its type. Returns 0, or LEAT_ERANGE when there is none. */
LEAT_API int leat_opcua_get(const leat_opcua_value *value, uint64_t i, void *out);

/**
 * Copies `n` elements from `first` on to `out`, as an array of their C type; Booleans become 0 or 1. Returns 0, or
 * LEAT_ERANGE when there are fewer, or LEAT_EINVAL for a nonsensical value; then `out` is untouched.
 */
LEAT_API int leat_opcua_copy(const leat_opcua_value *value, uint64_t first, uint64_t n, void *out);

/**
 * Returns the elements where they lie when they can be used as an array of their C type: contiguous, aligned, and as
 * this machine orders bytes. NULL otherwise, and for views of Booleans, whose bytes may be other than 0 and 1. Valid as
 * long as the value.
 */
LEAT_API const void *leat_opcua_data(const leat_opcua_value *value);

/**
 * Fills at most `max` spans of the bytes that a view has on the wire and returns how many there are in all; an element
 * may lie across a border. 0 for what is no view.
 */
LEAT_API size_t leat_opcua_spans(const leat_opcua_value *view, leat_span *spans, size_t max);

/**
 * Retains the buffer of a view, which then outlives its decoder and the caller's reference; until leat_opcua_release
 * nobody moves the buffer's indices or changes its bytes. Other values are left alone.
 */
LEAT_API void leat_opcua_hold(const leat_opcua_value *view);

/** Gives the buffer of a held view back; other values are left alone. */
LEAT_API void leat_opcua_release(const leat_opcua_value *view);

LEAT_END_DECLS

#endif
