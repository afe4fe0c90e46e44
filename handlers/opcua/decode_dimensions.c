/* Counts and dimensions: every number from outside is checked before it is used. */
#include "handlers/opcua/decode_internal.h"

static int check_count(leat_opcua_decoder *decoder, uint8_t type, uint64_t count) {
    if (count > leat_opcua_limit_array_elements(decoder->input.options))
        return LEAT_ETOOLONG;
    return count * leat_opcua_type_infos[type].least > leat_opcua_left(&decoder->input) ? LEAT_ETRUNCATED : 0;
}

int leat_opcua_take_count(leat_opcua_decoder *decoder, leat_opcua_value *value) {
    int32_t count;
    int code = leat_opcua_input_i32(&decoder->input, &count);
    if (code != 0)
        return code;
    value->count = count;
    if (count < -1)
        return LEAT_ECORRUPT;
    return count > 0 ? check_count(decoder, value->type, (uint64_t)count) : 0;
}

static int check_rank(leat_opcua_decoder *decoder, int32_t rank) {
    if (rank < -1)
        return LEAT_ECORRUPT;
    if (rank > 0 && (uint64_t)rank > leat_opcua_left(&decoder->input) / 4)
        return LEAT_ETRUNCATED;
    return rank > 0 && (uint32_t)rank > leat_opcua_limit_rank(decoder->input.options) ? LEAT_ELIMIT : 0;
}

/* A dimension below 0 has no element, as 0 has (Part 6, 5.2.5), where it is allowed. */
static int take_dimensions(leat_opcua_decoder *decoder, leat_opcua_value *value, uint32_t rank, bool negative) {
    uint32_t *dimensions = NULL;
    int code = rank == 0 ? 0 : leat_opcua_arena_take(decoder, (uint64_t)rank * sizeof *dimensions, &dimensions);
    for (uint32_t i = 0; i < rank && code == 0; i++) {
        int32_t dimension = 0;
        code = leat_opcua_input_i32(&decoder->input, &dimension);
        if (code == 0 && dimension < 0 && !negative)
            code = LEAT_ECORRUPT;
        dimensions[i] = dimension > 0 ? (uint32_t)dimension : 0;
    }
    value->rank = rank;
    value->dimensions = code == 0 ? dimensions : NULL;
    return code;
}

/* What an encoder of today would not write as a matrix is an array. */
static void settle_shape(const leat_opcua_decoder *decoder, leat_opcua_value *value) {
    bool keep = decoder->input.options && decoder->input.options->keep_empty_dimensions;
    if ((value->count > 0 && value->rank > 1) || (value->count == 0 && keep))
        value->shape = LEAT_OPCUA_MATRIX;
    else {
        value->rank = 0;
        value->dimensions = NULL;
    }
}

/* The dimensions behind the elements of a Variant. */
int leat_opcua_take_tail(leat_opcua_decoder *decoder, leat_opcua_value *value) {
    int32_t rank;
    uint64_t product;
    int code = leat_opcua_input_i32(&decoder->input, &rank);
    if (code == 0)
        code = check_rank(decoder, rank);
    if (code == 0)
        code = take_dimensions(decoder, value, rank > 0 ? (uint32_t)rank : 0, false);
    if (code != 0)
        return code;
    if (!leat_opcua_product(value->dimensions, value->rank, INT32_MAX, &product) ||
        product != leat_opcua_count_of(value))
        return LEAT_ECORRUPT;
    settle_shape(decoder, value);
    return 0;
}

/* The dimensions before the elements of a matrix field. */
int leat_opcua_take_matrix_head(leat_opcua_decoder *decoder, leat_opcua_value *value) {
    int32_t rank;
    uint64_t product;
    int code = leat_opcua_input_i32(&decoder->input, &rank);
    if (code == 0)
        code = rank == 0 || rank == 1 ? LEAT_ECORRUPT : check_rank(decoder, rank);
    value->count = -1;
    if (code != 0 || rank == -1)
        return code;
    code = take_dimensions(decoder, value, (uint32_t)rank, true);
    if (code != 0)
        return code;
    if (!leat_opcua_product(value->dimensions, value->rank, INT32_MAX, &product))
        return LEAT_ECORRUPT;
    value->count = (int64_t)product;
    return check_count(decoder, value->type, product);
}
