/* The two ways into a buffer: one block, or a composite with the caller's arrays in it. */
#include "handlers/opcua/encode_internal.h"

static int measure(leat_opcua_output *out, const leat_opcua_value *value, bool variant) {
    int code = leat_opcua_walk(out, value, variant);
    return code == 0 && out->size > leat_opcua_limit_message_bytes(out->options) ? LEAT_ETOOLONG : code;
}

static int size_of(const leat_opcua_value *value, bool variant, const leat_opcua_options *options, uint64_t *size) {
    leat_opcua_output out = {.options = options};
    int code = measure(&out, value, variant);
    *size = out.size;
    return code;
}

int leat_opcua_variant_size(const leat_opcua_value *value, const leat_opcua_options *options, uint64_t *size) {
    return size_of(value, true, options, size);
}

int leat_opcua_field_size(const leat_opcua_value *value, const leat_opcua_options *options, uint64_t *size) {
    return size_of(value, false, options, size);
}

/* ---- copied ---- */

/* Opens the buffer for `size` bytes. */
static int begin(leat_bytebuf *buf, uint64_t size, leat_writer *writer) {
    int code = leat_bytebuf_can_write(buf, size) ? 0 : leat_bytebuf_reserve(buf, size);
    if (code != 0)
        return code;
    *writer = leat_writer_begin(buf);
    return writer->at ? 0 : LEAT_ESHARED;
}

static int write_measured(leat_bytebuf *buf, const leat_opcua_value *value, bool variant,
                          const leat_opcua_options *options, uint64_t size) {
    leat_opcua_output out = {.options = options};
    leat_writer writer;
    int code = begin(buf, size, &writer);
    if (code != 0)
        return code;
    out.at = writer.at;
    code = leat_opcua_walk(&out, value, variant);
    writer.at += size;
    leat_writer_finish(&writer);
    return code;
}

/* An array that is one block, which most are, has nothing to walk. */
static bool is_block(const leat_opcua_value *value) {
    return value->shape == LEAT_OPCUA_ARRAY && value->source == LEAT_OPCUA_CONTIGUOUS && value->count > 0 &&
           value->of.elements.at.first && value->type < LEAT_OPCUA_TYPES &&
           leat_opcua_type_infos[value->type].width > 0;
}

static int check_block(uint64_t count, uint64_t size, const leat_opcua_options *options) {
    if (count > INT32_MAX)
        return LEAT_ERANGE;
    bool fits = count <= leat_opcua_limit_array_elements(options) && size <= leat_opcua_limit_message_bytes(options);
    return fits ? 0 : LEAT_ETOOLONG;
}

static int encode_block(leat_bytebuf *buf, const leat_opcua_value *value, bool variant,
                        const leat_opcua_options *options) {
    uint64_t count = (uint64_t)value->count, bytes = count * leat_opcua_type_infos[value->type].width;
    uint64_t head = variant ? 5 : 4;
    leat_writer writer;
    int code = check_block(count, head + bytes, options);
    if (code == 0)
        code = begin(buf, head + bytes, &writer);
    if (code != 0)
        return code;
    *writer.at = value->type | LEAT_OPCUA_IS_ARRAY;
    leat_store_u32_le(writer.at + head - 4, (uint32_t)count);
    leat_opcua_block_put(writer.at + head, value, 0, count, options && options->quiet_nan);
    writer.at += head + bytes;
    leat_writer_finish(&writer);
    return 0;
}

/* A scalar of fixed width, whose size is known at a glance. */
static int encode_small(leat_bytebuf *buf, const leat_opcua_value *value, uint64_t size,
                        const leat_opcua_options *options) {
    leat_writer writer;
    int code = size > leat_opcua_limit_message_bytes(options) ? LEAT_ETOOLONG : begin(buf, size, &writer);
    if (code != 0)
        return code;
    leat_opcua_small_store(writer.at, value, options);
    writer.at += size;
    leat_writer_finish(&writer);
    return 0;
}

static int encode(leat_bytebuf *buf, const leat_opcua_value *value, bool variant, const leat_opcua_options *options) {
    if (is_block(value))
        return encode_block(buf, value, variant, options);
    uint64_t small = variant ? leat_opcua_small_size(leat_opcua_kind(value)) : 0;
    if (small > 0)
        return encode_small(buf, value, small, options);
    leat_opcua_output out = {.options = options};
    int code = measure(&out, value, variant);
    return code == 0 ? write_measured(buf, value, variant, options, out.size) : code;
}

int leat_opcua_encode_variant(leat_bytebuf *buf, const leat_opcua_value *value, const leat_opcua_options *options) {
    return encode(buf, value, true, options);
}

int leat_opcua_encode_field(leat_bytebuf *buf, const leat_opcua_value *value, const leat_opcua_options *options) {
    return encode(buf, value, false, options);
}

/* ---- wrapped ---- */

static void drop(leat_opcua_lease *lease) {
    if (__atomic_sub_fetch(&lease->holders, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (lease->release)
        lease->release(lease->context);
    leat_alloc_give(lease->alloc, lease, sizeof *lease);
}

static void drop_block(void *memory, size_t size, void *lease) {
    (void)memory;
    (void)size;
    drop(lease);
}

static bool has_order_of_wire(const leat_opcua_output *out, const leat_opcua_value *value) {
    bool is_float = value->type == LEAT_OPCUA_FLOAT || value->type == LEAT_OPCUA_DOUBLE;
    if (value->type == LEAT_OPCUA_BOOLEAN || (is_float && out->options && out->options->quiet_nan))
        return false;
    return value->source == LEAT_OPCUA_WIRE || __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

static uint64_t bytes_of(const leat_opcua_value *value) {
    return leat_opcua_count_of(value) * leat_opcua_type_infos[value->type].width;
}

bool leat_opcua_is_wrapped(const leat_opcua_output *out, const leat_opcua_value *value) {
    if (!out->composite || value->shape == LEAT_OPCUA_SCALAR)
        return false;
    bool lies_in_one = value->source == LEAT_OPCUA_CONTIGUOUS || value->source == LEAT_OPCUA_WIRE;
    return lies_in_one && has_order_of_wire(out, value) && bytes_of(value) >= leat_opcua_limit_wrap_bytes(out->options);
}

/* The composite takes what was written so far; then the array; then the room for the rest is made. */
static int add_array(leat_opcua_output *out, const leat_opcua_value *value, uint64_t bytes) {
    const leat_opcua_elements *elements = &value->of.elements;
    if (value->source == LEAT_OPCUA_WIRE && elements->at.buffer == leat_composite_buffer(out->composite))
        return LEAT_EINVAL;
    if (value->source == LEAT_OPCUA_WIRE)
        return leat_composite_add_flattened(out->composite, leat_bytebuf_retain(elements->at.buffer),
                                            elements->by.index, bytes);
    leat_bytebuf *array =
        leat_bytebuf_wrap_read_only(out->lease->alloc, elements->at.first, (size_t)bytes, drop_block, out->lease);
    if (!array)
        return LEAT_ENOMEM;
    __atomic_add_fetch(&out->lease->holders, 1, __ATOMIC_RELAXED);
    return leat_composite_add(out->composite, array);
}

static int make_room(leat_opcua_output *out) {
    leat_bytebuf *buf = leat_composite_buffer(out->composite);
    uint64_t left = (out->whole - out->whole_wrapped) - (out->size - out->wrapped);
    if (left == 0)
        return 0;
    int code = leat_bytebuf_reserve(buf, left);
    if (code == 0)
        out->begin = out->at = leat_bytebuf_room(buf, left);
    return code;
}

static void commit(leat_opcua_output *out) {
    if (out->at != out->begin)
        leat_bytebuf_wrote(leat_composite_buffer(out->composite), (uint64_t)(out->at - out->begin));
    out->begin = out->at;
}

int leat_opcua_wrap_elements(leat_opcua_output *out, const leat_opcua_value *value) {
    uint64_t bytes = bytes_of(value);
    int code = 0;
    if (out->at) {
        commit(out);
        code = add_array(out, value, bytes);
    }
    out->size += bytes;
    out->wrapped += bytes;
    return code == 0 && out->at ? make_room(out) : code;
}

/* Back to where it was: what lies behind the writer index is dropped. */
static int put_back(leat_bytebuf *buf, uint64_t writer, int code) {
    leat_bytebuf_set_writer_index(buf, writer);
    return code;
}

static int wrap_measured(leat_opcua_output *out, const leat_opcua_value *value, bool variant) {
    leat_bytebuf *buf = leat_composite_buffer(out->composite);
    uint64_t writer = leat_bytebuf_writer_index(buf);
    if (!leat_bytebuf_is_sole(buf))
        return LEAT_ESHARED;
    if (out->size > leat_bytebuf_max_capacity(buf) - writer)
        return LEAT_ELIMIT;
    out->whole = out->size;
    out->whole_wrapped = out->wrapped;
    out->size = out->wrapped = 0;
    int code = make_room(out);
    if (code == 0)
        code = leat_opcua_walk(out, value, variant);
    commit(out);
    return code == 0 ? 0 : put_back(buf, writer, code);
}

static leat_opcua_lease *new_lease(leat_alloc *alloc, leat_opcua_release_fn release, void *context) {
    leat_opcua_lease *lease = leat_alloc_take(alloc, sizeof *lease, NULL);
    if (lease)
        *lease = (leat_opcua_lease){alloc, 1, release, context};
    return lease;
}

/* With nothing to wrap the value is copied, and given back at once. */
static int wrap(leat_composite *composite, const leat_opcua_value *value, bool variant, leat_opcua_release_fn release,
                void *context, const leat_opcua_options *options) {
    leat_bytebuf *buf = leat_composite_buffer(composite);
    leat_opcua_output out = {.options = options, .composite = composite};
    int code = measure(&out, value, variant);
    if (code == 0 && out.wrapped == 0)
        code = write_measured(buf, value, variant, options, out.size);
    if (code == 0 && out.wrapped > 0) {
        out.lease = new_lease(leat_bytebuf_alloc_of(buf), release, context);
        code = out.lease ? wrap_measured(&out, value, variant) : LEAT_ENOMEM;
    }
    if (out.lease)
        drop(out.lease);
    else if (release)
        release(context);
    return code;
}

int leat_opcua_wrap_variant(leat_composite *composite, const leat_opcua_value *value, leat_opcua_release_fn release,
                            void *context, const leat_opcua_options *options) {
    return wrap(composite, value, true, release, context, options);
}

int leat_opcua_wrap_field(leat_composite *composite, const leat_opcua_value *value, leat_opcua_release_fn release,
                          void *context, const leat_opcua_options *options) {
    return wrap(composite, value, false, release, context, options);
}
