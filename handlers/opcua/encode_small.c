/*
 * Scalars of fixed width, which most Variants and DataValues hold. A run of them is counted by one loop and written by
 * another, whose state lies in registers; elements like the one before them take a shorter one.
 */
#include "handlers/opcua/encode_internal.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NEVER_INLINE __attribute__((noinline)) /* rare in a loop that needs the registers */

static const leat_opcua_value null_value;
static const leat_opcua_data_value null_data_value;

/* ---- what a DataValue has behind its value ---- */

#define QUALITY_SIZE(fields)                                                                                           \
    (((fields)&LEAT_OPCUA_HAS_STATUS ? 4 : 0) + ((fields)&LEAT_OPCUA_HAS_SOURCE_TIME ? 8 : 0) +                        \
     ((fields)&LEAT_OPCUA_HAS_SERVER_TIME ? 8 : 0) + ((fields)&LEAT_OPCUA_HAS_SOURCE_PICOSECONDS ? 2 : 0) +            \
     ((fields)&LEAT_OPCUA_HAS_SERVER_PICOSECONDS ? 2 : 0))
#define QUALITY_SIZES_4(fields)                                                                                        \
    QUALITY_SIZE(fields), QUALITY_SIZE((fields) + 1), QUALITY_SIZE((fields) + 2), QUALITY_SIZE((fields) + 3)
#define QUALITY_SIZES_16(fields)                                                                                       \
    QUALITY_SIZES_4(fields), QUALITY_SIZES_4((fields) + 4), QUALITY_SIZES_4((fields) + 8),                             \
        QUALITY_SIZES_4((fields) + 12)

static const uint8_t quality_sizes[LEAT_OPCUA_ALL_FIELDS + 1] = {QUALITY_SIZES_16(0), QUALITY_SIZES_16(16),
                                                                 QUALITY_SIZES_16(32), QUALITY_SIZES_16(48)};

static uint8_t *store_time(uint8_t *at, int64_t time) {
    leat_store_i64_le(at, time);
    return at + 8;
}

static uint8_t *store_picoseconds(uint8_t *at, uint16_t value) {
    leat_store_u16_le(at, value < LEAT_OPCUA_MOST_PICOSECONDS ? value : LEAT_OPCUA_MOST_PICOSECONDS);
    return at + 2;
}

/* In the order of the wire (Part 6, 5.2.2.17). */
static NEVER_INLINE uint8_t *store_any_quality(uint8_t *at, const leat_opcua_data_value *value, unsigned fields) {
    if (fields & LEAT_OPCUA_HAS_STATUS) {
        leat_store_u32_le(at, value->status);
        at += 4;
    }
    if (fields & LEAT_OPCUA_HAS_SOURCE_TIME)
        at = store_time(at, value->source_time);
    if (fields & LEAT_OPCUA_HAS_SOURCE_PICOSECONDS)
        at = store_picoseconds(at, value->source_picoseconds);
    if (fields & LEAT_OPCUA_HAS_SERVER_TIME)
        at = store_time(at, value->server_time);
    if (fields & LEAT_OPCUA_HAS_SERVER_PICOSECONDS)
        at = store_picoseconds(at, value->server_picoseconds);
    return at;
}

/* One time alone is what servers send most. */
static inline uint8_t *store_quality(uint8_t *at, const leat_opcua_data_value *value, unsigned fields) {
    return (fields | LEAT_OPCUA_HAS_VALUE) == (LEAT_OPCUA_HAS_VALUE | LEAT_OPCUA_HAS_SOURCE_TIME)
               ? store_time(at, value->source_time)
               : store_any_quality(at, value, fields);
}

void leat_opcua_put_quality(leat_opcua_output *out, const leat_opcua_data_value *value) {
    unsigned fields = value->fields & LEAT_OPCUA_ALL_FIELDS;
    if (out->at)
        out->at = store_any_quality(out->at, value, fields);
    out->size += quality_sizes[fields];
}

/* ---- a Variant ---- */

static NEVER_INLINE void store_scalar(uint8_t *at, const leat_opcua_value *value, uint64_t width, bool quiet_nan) {
    if (quiet_nan || width == sizeof(leat_opcua_guid))
        leat_opcua_block_put(at, value, 0, 1, quiet_nan);
    else if (width == 2)
        leat_store_u16_le(at, value->of.scalar.uint16);
    else
        *at = value->type == LEAT_OPCUA_BOOLEAN ? value->of.scalar.byte != 0 : value->of.scalar.byte;
}

static ALWAYS_INLINE uint8_t *store_variant(uint8_t *at, const leat_opcua_value *value, bool quiet_nan) {
    uint64_t n = leat_opcua_small_size(value->type);
    at[0] = value->type;
    if (n == 5 && !quiet_nan)
        leat_store_u32_le(at + 1, value->of.scalar.uint32);
    else if (n == 9 && !quiet_nan)
        leat_store_u64_le(at + 1, value->of.scalar.uint64);
    else if (n > 1)
        store_scalar(at + 1, value, n - 1, quiet_nan);
    return at + n;
}

void leat_opcua_small_store(uint8_t *at, const leat_opcua_value *value, const leat_opcua_options *options) {
    store_variant(at, value, options && options->quiet_nan);
}

/* ---- an element: a Variant, or a DataValue ---- */

static ALWAYS_INLINE unsigned fields_of(const void *element, bool is_variant) {
    return is_variant ? LEAT_OPCUA_HAS_VALUE : ((const leat_opcua_data_value *)element)->fields;
}

/* NULL = a null Variant, or none; what a DataValue does not say to have may be anything. */
static ALWAYS_INLINE const leat_opcua_value *value_of(const void *element, bool is_variant) {
    if (is_variant)
        return element;
    bool has_value = fields_of(element, false) & LEAT_OPCUA_HAS_VALUE;
    return has_value ? ((const leat_opcua_data_value *)element)->value : NULL;
}

/* What tells the layout of an element. */
typedef struct likeness {
    uint32_t fields;
    uint32_t kind; /* of the value */
} likeness;

static ALWAYS_INLINE likeness likeness_of(const void *element, bool is_variant) {
    const leat_opcua_value *value = value_of(element, is_variant);
    return (likeness){fields_of(element, is_variant), value ? leat_opcua_kind(value) : LEAT_OPCUA_NULL};
}

/* Of two elements with values; one that has none is alike to nobody. */
static ALWAYS_INLINE bool is_same(likeness one, likeness other) {
    return one.kind == other.kind && one.fields == other.fields && one.kind != LEAT_OPCUA_NULL;
}

static ALWAYS_INLINE bool is_alike(const void *element, likeness like, bool is_variant) {
    if (fields_of(element, is_variant) != like.fields)
        return false;
    const leat_opcua_value *value = is_variant ? element : ((const leat_opcua_data_value *)element)->value;
    return value && leat_opcua_kind(value) == like.kind;
}

/* 0 = its value is not small. */
static ALWAYS_INLINE uint64_t size_of(likeness like, bool is_variant) {
    uint64_t n = leat_opcua_small_size(like.kind);
    if (is_variant || n == 0)
        return n;
    return (like.fields & LEAT_OPCUA_HAS_VALUE ? n : 0) + 1u + quality_sizes[like.fields & LEAT_OPCUA_ALL_FIELDS];
}

static ALWAYS_INLINE uint8_t *store_element(uint8_t *at, const void *element, bool is_variant, bool quiet_nan) {
    const leat_opcua_value *value = value_of(element, is_variant);
    unsigned fields = fields_of(element, is_variant);
    if (!is_variant)
        *at++ = fields & LEAT_OPCUA_ALL_FIELDS;
    if (fields & LEAT_OPCUA_HAS_VALUE)
        at = store_variant(at, value ? value : &null_value, quiet_nan);
    return is_variant ? at : store_quality(at, element, fields);
}

/* ---- runs ---- */

/* Where the elements of an array lie, in what no written byte can change. */
typedef struct run {
    const void *const *pointers; /* NULL = at `first` and behind it */
    const uint8_t *first;
    int64_t step;
    uint64_t count;
    const void *null; /* for a NULL pointer */
} run;

static inline run run_of(const leat_opcua_value *array, const void *null) {
    const leat_opcua_elements *elements = &array->of.elements;
    run all = {.count = leat_opcua_count_of(array), .null = null};
    if (array->shape == LEAT_OPCUA_SCALAR) {
        all.first = leat_opcua_scalar_at(array) ? leat_opcua_scalar_at(array) : null;
    } else if (array->source == LEAT_OPCUA_POINTERS) {
        all.pointers = elements->at.pointers;
    } else {
        all.first = elements->at.first;
        all.step = array->source == LEAT_OPCUA_STRIDED ? elements->by.stride : leat_opcua_type_infos[array->type].size;
    }
    return all;
}

static inline const void *element_at(const run *all, uint64_t i) {
    if (!all->pointers)
        return all->first + (int64_t)i * all->step;
    return all->pointers[i] ? all->pointers[i] : all->null;
}

static ALWAYS_INLINE uint64_t end_of_alike(run all, uint64_t next, likeness like, bool is_variant) {
    while (next < all.count && is_alike(element_at(&all, next), like, is_variant))
        next++;
    return next;
}

static ALWAYS_INLINE uint64_t count_run(leat_opcua_output *out, run all, uint64_t next, bool is_variant) {
    likeness last = {0, LEAT_OPCUA_NULL};
    uint64_t n = 0;
    while (next < all.count) {
        likeness like = likeness_of(element_at(&all, next), is_variant);
        bool is_known = is_same(like, last);
        n = is_known ? n : size_of(like, is_variant);
        if (n == 0)
            break;
        uint64_t end = is_known ? end_of_alike(all, next, like, is_variant) : next + 1;
        out->size += (end - next) * n;
        next = end;
        last = like;
    }
    return next;
}

static ALWAYS_INLINE bool is_plain(likeness like, bool quiet_nan) {
    uint64_t n = leat_opcua_small_size(like.kind);
    return (n == 5 || n == 9) && !quiet_nan;
}

/* Those whose value has 4 or 8 bytes, which are written as they are. */
static ALWAYS_INLINE uint64_t store_plain(leat_opcua_output *out, run all, uint64_t next, likeness like,
                                          bool is_variant) {
    bool is_wide = leat_opcua_small_size(like.kind) == 9;
    uint8_t *at = out->at;
    for (; next < all.count; next++) {
        const void *element = element_at(&all, next);
        if (!is_alike(element, like, is_variant))
            break;
        const leat_opcua_value *value = is_variant ? element : ((const leat_opcua_data_value *)element)->value;
        if (!is_variant)
            *at++ = like.fields & LEAT_OPCUA_ALL_FIELDS;
        *at++ = (uint8_t)like.kind;
        if (is_wide)
            leat_store_u64_le(at, value->of.scalar.uint64);
        else
            leat_store_u32_le(at, value->of.scalar.uint32);
        at += is_wide ? 8 : 4;
        at = is_variant ? at : store_quality(at, element, like.fields);
    }
    out->at = at;
    return next;
}

static NEVER_INLINE uint64_t store_variants(leat_opcua_output *out, const run *all, uint64_t next, likeness like) {
    return store_plain(out, *all, next, like, true);
}

static NEVER_INLINE uint64_t store_data_values(leat_opcua_output *out, const run *all, uint64_t next, likeness like) {
    return store_plain(out, *all, next, like, false);
}

static ALWAYS_INLINE uint64_t store_run(leat_opcua_output *out, const run *all, uint64_t next, bool is_variant) {
    bool quiet_nan = out->options && out->options->quiet_nan;
    likeness last = {0, LEAT_OPCUA_NULL};
    const uint8_t *begin = out->at;
    while (next < all->count) {
        const void *element = element_at(all, next);
        likeness like = likeness_of(element, is_variant);
        if (leat_opcua_small_size(like.kind) == 0)
            break;
        if (is_same(like, last) && is_plain(like, quiet_nan)) {
            next = is_variant ? store_variants(out, all, next, like) : store_data_values(out, all, next, like);
        } else {
            out->at = store_element(out->at, element, is_variant, quiet_nan);
            next++;
        }
        last = like;
    }
    out->size += (uint64_t)(out->at - begin);
    return next;
}

uint64_t leat_opcua_put_small_variants(leat_opcua_output *out, const leat_opcua_value *array, uint64_t next) {
    run all = run_of(array, &null_value);
    return out->at ? store_run(out, &all, next, true) : count_run(out, all, next, true);
}

uint64_t leat_opcua_put_small_data_values(leat_opcua_output *out, const leat_opcua_value *array, uint64_t next) {
    run all = run_of(array, &null_data_value);
    return out->at ? store_run(out, &all, next, false) : count_run(out, all, next, false);
}
