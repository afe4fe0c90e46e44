#include "handlers/opcua/decode.h"

#include "handlers/opcua/decode_internal.h"

/* A level: the elements of an array of Variants or DataValues, or the one of a scalar. */
typedef struct level {
    leat_opcua_value *value;
    void *elements;
    uint64_t next;
    bool has_dimensions; /* which follow the elements */
    bool is_inside;      /* the value of DataValue `next` is read, its other fields not yet */
} level;

typedef struct nesting {
    uint32_t depth;
    level stack[LEAT_OPCUA_MOST_DEPTH];
} nesting;

static uint32_t depth_left(const leat_opcua_decoder *decoder, const nesting *levels) {
    return leat_opcua_limit_depth(decoder->input.options) - levels->depth;
}

/* ---- elements that hold no others ---- */

/* Where the buffer has them in one piece they stay there. */
static int take_bytes(leat_opcua_decoder *decoder, uint64_t n, leat_span *span) {
    leat_reader *reader = &decoder->input.reader;
    void *copy;
    if ((uint64_t)(reader->end - reader->at) >= n) {
        *span = (leat_span){reader->at, (size_t)n};
        reader->at += n;
        return 0;
    }
    int code = leat_opcua_arena_take(decoder, n, &copy);
    if (code != 0)
        return code;
    *span = (leat_span){copy, (size_t)n};
    return leat_opcua_input_bytes(&decoder->input, copy, (size_t)n);
}

static int take_string(leat_opcua_decoder *decoder, leat_span *span) {
    int32_t length;
    int code = leat_opcua_input_length(&decoder->input, &length);
    *span = (leat_span){NULL, 0};
    return code == 0 && length >= 0 ? take_bytes(decoder, (uint64_t)length, span) : code;
}

static int take_wire(leat_opcua_decoder *decoder, uint8_t type, uint32_t depth, leat_span *span) {
    leat_opcua_input before = decoder->input;
    int code = leat_opcua_input_skip_element(&decoder->input, type, depth);
    if (code != 0)
        return code;
    uint64_t n = leat_reader_index(&decoder->input.reader) - leat_reader_index(&before.reader);
    decoder->input = before;
    return take_bytes(decoder, n, span);
}

static int take_spans(leat_opcua_decoder *decoder, uint8_t type, uint32_t depth, leat_span *spans, uint64_t n) {
    bool is_string = leat_opcua_is_string(type);
    int code = 0;
    for (uint64_t i = 0; i < n && code == 0; i++)
        code = is_string ? take_string(decoder, spans + i) : take_wire(decoder, type, depth, spans + i);
    return code;
}

static int take_view(leat_opcua_decoder *decoder, leat_opcua_value *value) {
    leat_reader *reader = &decoder->input.reader;
    value->source = LEAT_OPCUA_WIRE;
    value->of.elements.at.buffer = reader->buf;
    value->of.elements.by.index = leat_reader_index(reader);
    return leat_opcua_input_skip(&decoder->input,
                                 leat_opcua_count_of(value) * leat_opcua_type_infos[value->type].width);
}

static int take_fixed(leat_opcua_decoder *decoder, leat_opcua_value *value) {
    if (value->shape != LEAT_OPCUA_SCALAR)
        return take_view(decoder, value);
    void *scalar = &value->of.scalar;
    int code = leat_opcua_input_bytes(&decoder->input, scalar, leat_opcua_type_infos[value->type].width);
    if (value->type == LEAT_OPCUA_BOOLEAN && code == 0)
        leat_opcua_block_booleans(scalar, scalar, 1);
    leat_opcua_block_order(scalar, value->type, 1);
    return code;
}

/* ---- the walk, which keeps its own stack ---- */

/* Memory for the elements; a scalar that is no pointer lies in the value itself. */
static int make_elements(leat_opcua_decoder *decoder, leat_opcua_value *value, void **elements) {
    uint64_t count = leat_opcua_count_of(value);
    bool is_container = leat_opcua_is_container(value->type);
    *elements = &value->of.scalar;
    if (count == 0 || (value->shape == LEAT_OPCUA_SCALAR && !is_container))
        return 0;
    int code = leat_opcua_arena_take(decoder, count * leat_opcua_type_infos[value->type].size, elements);
    if (code == 0 && value->shape == LEAT_OPCUA_SCALAR)
        value->of.scalar.variant = *elements;
    else if (code == 0)
        value->of.elements.at.first = *elements;
    return code;
}

static int push(leat_opcua_decoder *decoder, nesting *levels, leat_opcua_value *value, bool has_dimensions) {
    void *elements;
    if (depth_left(decoder, levels) == 0)
        return LEAT_ELIMIT;
    if (leat_opcua_count_of(value) > leat_opcua_left(&decoder->input)) /* before memory is asked for */
        return LEAT_ETRUNCATED;
    int code = make_elements(decoder, value, &elements);
    if (code == 0)
        levels->stack[levels->depth++] = (level){value, elements, 0, has_dimensions, false};
    return code;
}

static int take_elements(leat_opcua_decoder *decoder, nesting *levels, leat_opcua_value *value, bool has_dimensions) {
    void *elements;
    int code;
    if (value->type == LEAT_OPCUA_NULL)
        return 0;
    if (leat_opcua_is_container(value->type))
        return push(decoder, levels, value, has_dimensions);
    if (leat_opcua_type_infos[value->type].width > 0) {
        code = take_fixed(decoder, value);
    } else {
        code = make_elements(decoder, value, &elements);
        if (code == 0)
            code = take_spans(decoder, value->type, depth_left(decoder, levels), elements, leat_opcua_count_of(value));
    }
    return code == 0 && has_dimensions ? leat_opcua_take_tail(decoder, value) : code;
}

static bool is_encoding(uint8_t encoding) {
    uint8_t type = encoding & LEAT_OPCUA_TYPE_BITS;
    bool is_array = encoding & LEAT_OPCUA_IS_ARRAY;
    if (type >= LEAT_OPCUA_TYPES || (encoding & LEAT_OPCUA_HAS_DIMENSIONS && !is_array))
        return false;
    return is_array ? type != LEAT_OPCUA_NULL : type != LEAT_OPCUA_VARIANT;
}

static int take_variant(leat_opcua_decoder *decoder, nesting *levels, leat_opcua_value *value) {
    uint8_t encoding;
    int code = leat_opcua_input_u8(&decoder->input, &encoding);
    if (code != 0)
        return code;
    if (!is_encoding(encoding))
        return LEAT_ECORRUPT;
    *value = (leat_opcua_value){.type = encoding & LEAT_OPCUA_TYPE_BITS};
    if (encoding & LEAT_OPCUA_IS_ARRAY) {
        value->shape = LEAT_OPCUA_ARRAY;
        code = leat_opcua_take_count(decoder, value);
    }
    return code == 0 ? take_elements(decoder, levels, value, encoding & LEAT_OPCUA_HAS_DIMENSIONS) : code;
}

/* A field that the mask does not name leaves zero. */
static int take_number(leat_opcua_decoder *decoder, bool is_there, size_t width, uint64_t *number) {
    uint8_t bytes[8] = {0};
    int code = is_there ? leat_opcua_input_bytes(&decoder->input, bytes, width) : 0;
    *number = leat_load_u64_le(bytes);
    return code;
}

static uint16_t picoseconds(uint64_t number) {
    return number < LEAT_OPCUA_MOST_PICOSECONDS ? (uint16_t)number : LEAT_OPCUA_MOST_PICOSECONDS;
}

static int take_quality(leat_opcua_decoder *decoder, leat_opcua_data_value *value) {
    static const uint8_t field[] = {LEAT_OPCUA_HAS_STATUS, LEAT_OPCUA_HAS_SOURCE_TIME,
                                    LEAT_OPCUA_HAS_SOURCE_PICOSECONDS, LEAT_OPCUA_HAS_SERVER_TIME,
                                    LEAT_OPCUA_HAS_SERVER_PICOSECONDS};
    static const uint8_t width[] = {4, 8, 2, 8, 2};
    uint64_t number[5] = {0};
    int code = 0;
    for (size_t i = 0; i < 5 && code == 0; i++)
        code = take_number(decoder, value->fields & field[i], width[i], &number[i]);
    value->status = (uint32_t)number[0];
    value->source_time = (int64_t)number[1];
    value->source_picoseconds = picoseconds(number[2]);
    value->server_time = (int64_t)number[3];
    value->server_picoseconds = picoseconds(number[4]);
    return code;
}

/* Begins a DataValue: its mask, and its value if it has one. */
static int begin_data_value(leat_opcua_decoder *decoder, nesting *levels, leat_opcua_data_value *value) {
    leat_opcua_value *inner;
    uint8_t fields;
    int code = leat_opcua_input_u8(&decoder->input, &fields);
    if (code != 0)
        return code;
    *value = (leat_opcua_data_value){.fields = fields & LEAT_OPCUA_ALL_FIELDS};
    if (!(fields & LEAT_OPCUA_HAS_VALUE))
        return 0;
    if (leat_opcua_left(&decoder->input) == 0)
        return LEAT_ETRUNCATED;
    code = leat_opcua_arena_take(decoder, sizeof *inner, &inner);
    if (code != 0)
        return code;
    value->value = inner;
    return take_variant(decoder, levels, inner);
}

static int step_data_value(leat_opcua_decoder *decoder, nesting *levels, level *top) {
    leat_opcua_data_value *element = (leat_opcua_data_value *)top->elements + top->next;
    if (!top->is_inside) {
        top->is_inside = true;
        return begin_data_value(decoder, levels, element);
    }
    top->is_inside = false;
    top->next++;
    return take_quality(decoder, element);
}

static int step(leat_opcua_decoder *decoder, nesting *levels) {
    level *top = &levels->stack[levels->depth - 1];
    if (top->next < leat_opcua_count_of(top->value)) {
        if (top->value->type == LEAT_OPCUA_DATA_VALUE)
            return step_data_value(decoder, levels, top);
        return take_variant(decoder, levels, (leat_opcua_value *)top->elements + top->next++);
    }
    levels->depth--;
    return top->has_dimensions ? leat_opcua_take_tail(decoder, top->value) : 0;
}

static int take_field(leat_opcua_decoder *decoder, nesting *levels, leat_opcua_value *value) {
    int code = 0;
    if (value->shape == LEAT_OPCUA_ARRAY)
        code = leat_opcua_take_count(decoder, value);
    else if (value->shape == LEAT_OPCUA_MATRIX)
        code = leat_opcua_take_matrix_head(decoder, value);
    return code == 0 ? take_elements(decoder, levels, value, false) : code;
}

/* Takes everything below what was begun; a failure takes nothing. */
static int finish(leat_opcua_decoder *decoder, nesting *levels, uint64_t before, leat_opcua_value *value, int code) {
    while (code == 0 && levels->depth > 0)
        code = step(decoder, levels);
    if (code == 0)
        return 0;
    leat_reader_aim(&decoder->input.reader, before);
    *value = (leat_opcua_value){.type = LEAT_OPCUA_NULL};
    return code;
}

/* The most frequent message: an array of fixed width without dimensions, all of it in one piece. false = it is another.
 */
static bool take_block(leat_opcua_decoder *decoder, leat_opcua_value *value) {
    leat_reader *reader = &decoder->input.reader;
    uint64_t have = (uint64_t)(reader->end - reader->at), head = 5;
    if (have < head || (*reader->at & ~LEAT_OPCUA_TYPE_BITS) != LEAT_OPCUA_IS_ARRAY)
        return false;
    uint8_t type = *reader->at & LEAT_OPCUA_TYPE_BITS;
    uint64_t count = leat_load_u32_le(reader->at + 1), width = leat_opcua_width_of(type), most = INT32_MAX;
    if (width == 0 || count > most || count > leat_opcua_limit_array_elements(decoder->input.options) ||
        count * width > have - head)
        return false;
    *value =
        (leat_opcua_value){.type = type, .shape = LEAT_OPCUA_ARRAY, .source = LEAT_OPCUA_WIRE, .count = (int64_t)count};
    value->of.elements.at.buffer = reader->buf;
    value->of.elements.by.index = leat_reader_index(reader) + head;
    reader->at += head + count * width;
    return true;
}

int leat_opcua_decode_variant(leat_opcua_decoder *decoder, leat_opcua_value *value) {
    if (take_block(decoder, value))
        return 0;
    uint64_t before = leat_reader_index(&decoder->input.reader);
    nesting levels;
    levels.depth = 0;
    int code = take_variant(decoder, &levels, value);
    return finish(decoder, &levels, before, value, code);
}

int leat_opcua_decode_field(leat_opcua_decoder *decoder, uint8_t type, uint8_t shape, leat_opcua_value *value) {
    uint64_t before = leat_reader_index(&decoder->input.reader);
    nesting levels;
    levels.depth = 0;
    *value = (leat_opcua_value){.type = type, .shape = shape};
    if (type == LEAT_OPCUA_NULL || type >= LEAT_OPCUA_TYPES || shape > LEAT_OPCUA_MATRIX)
        return LEAT_EINVAL;
    int code = take_field(decoder, &levels, value);
    return finish(decoder, &levels, before, value, code);
}

/* ---- the decoder ---- */

int leat_opcua_decoder_init(leat_opcua_decoder *decoder, leat_bytebuf *buf, leat_alloc *alloc,
                            const leat_opcua_options *options) {
    uint64_t bytes = leat_bytebuf_readable(buf);
    if (bytes > leat_opcua_limit_message_bytes(options))
        return LEAT_ETOOLONG;
    decoder->input.reader.buf = buf;
    leat_reader_aim(&decoder->input.reader, leat_bytebuf_reader_index(buf));
    decoder->input.options = options;
    decoder->alloc = alloc;
    leat_opcua_arena_init(decoder, bytes);
    return 0;
}

void leat_opcua_decoder_clean_up(leat_opcua_decoder *decoder) {
    leat_opcua_arena_clean_up(decoder);
}

uint64_t leat_opcua_decoder_taken(const leat_opcua_decoder *decoder) {
    const leat_reader *reader = &decoder->input.reader;
    return leat_reader_index(reader) - leat_bytebuf_reader_index(reader->buf);
}
