/* Arrays that are wrapped instead of copied: where their bytes lie, and when they are given back. */
#include "core/verify.h"
#include "handlers/opcua/decode.h"
#include "handlers/opcua/encode.h"
#include "tests/support/suite.h"

#include <string.h>

enum { ELEMENTS = 1024 };

static const uint32_t dimensions[] = {2, ELEMENTS / 2};

static const int32_t *numbers(void) {
    static int32_t memory[ELEMENTS];
    for (int32_t i = 0; i < ELEMENTS; i++)
        memory[i] = i * 77777;
    return memory;
}

static void count_release(void *context) {
    ++*(int *)context;
}

static leat_bytebuf *copied(const leat_opcua_value *value) {
    leat_bytebuf *buf = leat_bytebuf_new(leat_unpooled(), 0);
    ck_assert_int_eq(leat_opcua_encode_variant(buf, value, NULL), 0);
    return buf;
}

static leat_composite *fresh(void) {
    return leat_composite_new(leat_unpooled(), 4);
}

static void end(leat_composite *composite) {
    leat_bytebuf_release(leat_composite_buffer(composite));
}

/* Wraps, compares with what is copied, and ends; the release call-back must run once, at the end. */
static void assert_wrapped(const leat_opcua_value *value, uint32_t components) {
    leat_composite *composite = fresh();
    leat_bytebuf *expected = copied(value);
    int released = 0;
    ck_assert_int_eq(leat_opcua_wrap_variant(composite, value, count_release, &released, NULL), 0);
    ck_assert_int_eq(released, 0);
    ck_assert_uint_eq(leat_composite_component_count(composite), components);
    ck_assert(leat_bytebuf_equals(leat_composite_buffer(composite), expected));
    end(composite);
    ck_assert_int_eq(released, 1);
    leat_bytebuf_release(expected);
}

/* ---- what is wrapped ---- */

START_TEST(an_array_is_the_callers_own_bytes_between_head_and_dimensions) {
    const int32_t *elements = numbers();
    leat_opcua_value value = leat_opcua_matrix(LEAT_OPCUA_INT32, elements, ELEMENTS, dimensions, 2);
    leat_composite *composite = fresh();
    ck_assert_int_eq(leat_opcua_wrap_variant(composite, &value, NULL, NULL, NULL), 0);
    ck_assert_uint_eq(leat_composite_component_count(composite), 3);
    ck_assert_ptr_eq(leat_composite_component(composite, 1).bytes, elements);
    ck_assert_uint_eq(leat_composite_component(composite, 0).length, 5);
    ck_assert_uint_eq(leat_composite_component(composite, 2).length, 12);
    end(composite);
    assert_wrapped(&value, 3);
}
END_TEST

/* The bytes allocated and copied are the same for 1,024 and for 1,048,576 elements, and fewer than one array's. */
static leat_alloc_stats traffic_of(int64_t count) {
    static int32_t large[1 << 20];
    leat_counting_alloc counting;
    leat_counting_alloc_init(&counting, leat_unpooled());
    leat_composite *composite = leat_composite_new(&counting.alloc, 4);
    leat_opcua_value value = leat_opcua_array(LEAT_OPCUA_INT32, large, count);
    ck_assert_int_eq(leat_opcua_wrap_variant(composite, &value, NULL, NULL, NULL), 0);
    leat_alloc_stats stats = counting.counted;
    end(composite);
    ck_assert_uint_eq(counting.counted.live, 0);
    return stats;
}

START_TEST(no_byte_of_a_wrapped_array_is_copied) {
    leat_alloc_stats small = traffic_of(1 << 10), large = traffic_of(1 << 20);
    ck_assert_uint_eq(small.copied, 0);
    ck_assert_uint_eq(large.copied, 0);
    ck_assert_uint_eq(small.bytes, large.bytes);
    ck_assert_uint_lt(large.bytes, 4 << 10);
}
END_TEST

START_TEST(a_field_is_wrapped_too) {
    leat_opcua_value value = leat_opcua_matrix(LEAT_OPCUA_INT32, numbers(), ELEMENTS, dimensions, 2);
    leat_composite *composite = fresh();
    leat_bytebuf *expected = leat_bytebuf_new(leat_unpooled(), 0);
    ck_assert_int_eq(leat_opcua_encode_field(expected, &value, NULL), 0);
    ck_assert_int_eq(leat_opcua_wrap_field(composite, &value, NULL, NULL, NULL), 0);
    ck_assert_uint_eq(leat_composite_component_count(composite), 2);
    ck_assert(leat_bytebuf_equals(leat_composite_buffer(composite), expected));
    end(composite);
    leat_bytebuf_release(expected);
}
END_TEST

/* A response of DataValues: two arrays to wrap, one too small, one text, times behind each. */
START_TEST(arrays_inside_data_values_are_wrapped_with_one_release) {
    leat_opcua_value inner[] = {leat_opcua_array(LEAT_OPCUA_INT32, numbers(), ELEMENTS),
                                leat_opcua_array(LEAT_OPCUA_INT32, numbers(), 10),
                                leat_opcua_array(LEAT_OPCUA_GUID, numbers(), ELEMENTS / 4)};
    leat_opcua_data_value results[3];
    for (size_t i = 0; i < 3; i++)
        results[i] = (leat_opcua_data_value){
            .value = &inner[i], .source_time = 5, .fields = LEAT_OPCUA_HAS_VALUE | LEAT_OPCUA_HAS_SOURCE_TIME};
    leat_opcua_value value = leat_opcua_array(LEAT_OPCUA_DATA_VALUE, results, 3);
    assert_wrapped(&value, 5);
}
END_TEST

START_TEST(a_view_is_wrapped_as_a_share_of_its_buffer) {
    leat_opcua_value value = leat_opcua_array(LEAT_OPCUA_INT32, numbers(), ELEMENTS), view;
    leat_bytebuf *message = copied(&value);
    leat_opcua_decoder decoder;
    ck_assert_int_eq(leat_opcua_decoder_init(&decoder, message, leat_unpooled(), NULL), 0);
    ck_assert_int_eq(leat_opcua_decode_variant(&decoder, &view), 0);
    leat_composite *composite = fresh();
    ck_assert_int_eq(leat_opcua_wrap_variant(composite, &view, NULL, NULL, NULL), 0);
    leat_opcua_decoder_clean_up(&decoder);
    ck_assert_ptr_eq(leat_composite_component(composite, 1).bytes, leat_bytebuf_data(message) + 5);
    ck_assert(leat_bytebuf_equals(leat_composite_buffer(composite), message));
    leat_bytebuf_release(message);
    end(composite);
}
END_TEST

/* ---- what is copied ---- */

static void assert_copied(const leat_opcua_value *value, const leat_opcua_options *options) {
    leat_composite *composite = fresh();
    int released = 0;
    ck_assert_int_eq(leat_opcua_wrap_variant(composite, value, count_release, &released, options), 0);
    ck_assert_int_eq(released, 1);
    ck_assert_uint_eq(leat_composite_component_count(composite), 1);
    end(composite);
    ck_assert_int_eq(released, 1);
}

START_TEST(small_arrays_and_those_in_another_form_are_copied_and_released_at_once) {
    static const void *pointers[ELEMENTS];
    leat_opcua_value value = leat_opcua_array(LEAT_OPCUA_INT32, numbers(), 511);
    assert_copied(&value, NULL);
    value = leat_opcua_array(LEAT_OPCUA_INT32, numbers(), ELEMENTS);
    assert_copied(&value, &(leat_opcua_options){.wrap_bytes = 4 * ELEMENTS + 1});
    value = leat_opcua_array(LEAT_OPCUA_BOOLEAN, numbers(), 4 * ELEMENTS);
    assert_copied(&value, NULL);
    value = leat_opcua_array(LEAT_OPCUA_DOUBLE, numbers(), ELEMENTS / 2);
    assert_copied(&value, &(leat_opcua_options){.quiet_nan = true});
    value = leat_opcua_array(LEAT_OPCUA_INT32, pointers, ELEMENTS);
    value.source = LEAT_OPCUA_POINTERS;
    assert_copied(&value, NULL);
    value = leat_opcua_scalar_of(LEAT_OPCUA_INT32, (leat_opcua_scalar){.int32 = 1});
    assert_copied(&value, NULL);
}
END_TEST

/* ---- whose bytes they are ---- */

START_TEST(nobody_changes_the_callers_array) {
    leat_opcua_value value = leat_opcua_array(LEAT_OPCUA_INT32, numbers(), ELEMENTS);
    leat_composite *composite = fresh();
    ck_assert_int_eq(leat_opcua_wrap_variant(composite, &value, NULL, NULL, NULL), 0);
    leat_bytebuf *buf = leat_composite_buffer(composite);
    ck_assert(leat_bytebuf_set_u8(buf, 0, 0x87));
    ck_assert(!leat_bytebuf_set_u8(buf, 5, 1));
    ck_assert_int_eq(leat_bytebuf_own(&buf), 0);
    ck_assert(leat_bytebuf_set_u8(buf, 5, 1));
    ck_assert_int_eq(*(const int32_t *)value.of.elements.at.first, 0);
    leat_bytebuf_release(buf);
}
END_TEST

START_TEST(a_slice_keeps_the_array_beyond_its_composite) {
    leat_opcua_value value = leat_opcua_array(LEAT_OPCUA_INT32, numbers(), ELEMENTS);
    leat_composite *composite = fresh();
    int released = 0;
    ck_assert_int_eq(leat_opcua_wrap_variant(composite, &value, count_release, &released, NULL), 0);
    leat_bytebuf *slice = leat_bytebuf_slice(leat_composite_buffer(composite), 1000, 10);
    end(composite);
    ck_assert_int_eq(released, 0);
    leat_bytebuf_release(slice);
    ck_assert_int_eq(released, 1);
}
END_TEST

/* ---- failure ---- */

static void assert_refused(leat_composite *composite, const leat_opcua_value *value, int code) {
    uint64_t writer = leat_bytebuf_writer_index(leat_composite_buffer(composite));
    int released = 0;
    ck_assert_int_eq(leat_opcua_wrap_variant(composite, value, count_release, &released, NULL), code);
    ck_assert_int_eq(released, 1);
    ck_assert_uint_eq(leat_bytebuf_writer_index(leat_composite_buffer(composite)), writer);
}

START_TEST(what_is_refused_is_released_too) {
    leat_opcua_value value = leat_opcua_array(LEAT_OPCUA_INT32, numbers(), ELEMENTS);
    leat_composite *composite = fresh();
    leat_bytebuf *shared = leat_bytebuf_retain(leat_composite_buffer(composite));
    assert_refused(composite, &value, LEAT_ESHARED);
    leat_bytebuf_release(shared);
    value.of.elements.at.first = NULL;
    assert_refused(composite, &value, LEAT_EINVAL);
    value = leat_opcua_matrix(LEAT_OPCUA_INT32, numbers(), ELEMENTS, dimensions, 1);
    assert_refused(composite, &value, LEAT_EINVAL);
    end(composite);
}
END_TEST

/* The composite would hold itself: refused in the midst of the walk, and the writer index goes back. */
START_TEST(a_view_of_the_composite_itself_is_refused) {
    leat_opcua_value array = leat_opcua_array(LEAT_OPCUA_INT32, numbers(), ELEMENTS), values[2] = {array};
    leat_composite *composite = fresh();
    leat_opcua_decoder decoder;
    ck_assert_int_eq(leat_opcua_wrap_variant(composite, &array, NULL, NULL, NULL), 0);
    ck_assert_int_eq(leat_opcua_decoder_init(&decoder, leat_composite_buffer(composite), leat_unpooled(), NULL), 0);
    ck_assert_int_eq(leat_opcua_decode_variant(&decoder, &values[1]), 0);
    leat_opcua_value both = leat_opcua_array(LEAT_OPCUA_VARIANT, values, 2);
    assert_refused(composite, &both, LEAT_EINVAL);
    leat_opcua_decoder_clean_up(&decoder);
    end(composite);
}
END_TEST

/* Wraps behind a text, which must stay when memory runs out; released once, whatever fails. */
static int wrap_behind_text(leat_alloc *alloc, void *context) {
    leat_opcua_value inner = leat_opcua_matrix(LEAT_OPCUA_INT32, numbers(), ELEMENTS, dimensions, 2);
    leat_opcua_data_value results[2] = {{.value = &inner, .fields = LEAT_OPCUA_HAS_VALUE},
                                        {.value = &inner, .fields = LEAT_OPCUA_HAS_VALUE}};
    leat_opcua_value value = leat_opcua_array(LEAT_OPCUA_DATA_VALUE, results, 2);
    leat_composite *composite = leat_composite_new(alloc, 1);
    int *released = context, code = 0;
    if (composite && leat_composite_add_bytes(composite, "text", 4) == 0) {
        *released = 0;
        code = leat_opcua_wrap_variant(composite, &value, count_release, released, NULL);
        bool kept = code == 0 || leat_bytebuf_equals_bytes(leat_composite_buffer(composite), "text", 4);
        code = (code == 0 || code == LEAT_ENOMEM) && kept && *released == (code != 0) ? 0 : LEAT_ECORRUPT;
        leat_bytebuf_release(leat_composite_buffer(composite));
        return code != 0 || *released != 1 ? LEAT_ECORRUPT : 0;
    }
    leat_bytebuf_release(leat_composite_buffer(composite));
    return 0;
}

START_TEST(no_failed_allocation_loses_a_release_or_a_byte) {
    leat_problem problem;
    int released;
    ck_assert_msg(leat_verify_oom(wrap_behind_text, &released, &problem) == 0, "%s", problem.text);
    puts(problem.text);
}
END_TEST

int main(void) {
    return suite_run("opcua_wrap", (const TTest *const[]){
                                       an_array_is_the_callers_own_bytes_between_head_and_dimensions,
                                       no_byte_of_a_wrapped_array_is_copied, a_field_is_wrapped_too,
                                       arrays_inside_data_values_are_wrapped_with_one_release,
                                       a_view_is_wrapped_as_a_share_of_its_buffer,
                                       small_arrays_and_those_in_another_form_are_copied_and_released_at_once,
                                       nobody_changes_the_callers_array, a_slice_keeps_the_array_beyond_its_composite,
                                       what_is_refused_is_released_too, a_view_of_the_composite_itself_is_refused,
                                       no_failed_allocation_loses_a_release_or_a_byte, NULL});
}
