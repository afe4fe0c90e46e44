/* Arrays of as many elements as the wire can count, in memory that is mostly not there. */
#define _GNU_SOURCE
#include "core/composite.h"
#include "handlers/opcua/decode.h"
#include "handlers/opcua/encode.h"
#include "tests/support/suite.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WHOLE ((size_t)INT32_MAX + 1 + 4096) /* and room for a head */

enum { PIECE = 2 << 20, HEAD = 5 };

static const leat_opcua_options options = {.message_bytes = (uint64_t)4 << 30, .array_elements = INT32_MAX};

static uint8_t *space_of(size_t size, int protection) {
    uint8_t *space = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(space, MAP_FAILED);
    return space;
}

/* 2 GiB of zeros that nobody wrote, but for the last two elements. */
static uint8_t *source(void) {
    uint8_t *space = space_of(WHOLE, PROT_READ | PROT_WRITE);
    madvise(space, WHOLE, MADV_HUGEPAGE); /* fewer faults, where there are huge pages */
    space[INT32_MAX - 2] = 2;
    space[INT32_MAX - 1] = 3;
    return space;
}

/* The message names its count, ends where it must, and is read back as a view of as many elements. */
static void assert_message(leat_bytebuf *message, uint8_t type, int64_t count) {
    leat_opcua_decoder decoder;
    leat_opcua_value view;
    uint8_t last = 0, expected = count == INT32_MAX ? 3 : 2;
    ck_assert_uint_eq(leat_bytebuf_readable(message), HEAD + (uint64_t)count);
    ck_assert_int_eq(leat_opcua_decoder_init(&decoder, message, leat_unpooled(), &options), 0);
    ck_assert_int_eq(leat_opcua_decode_variant(&decoder, &view), 0);
    ck_assert_uint_eq(view.type, type);
    ck_assert_int_eq(view.count, count);
    ck_assert_int_eq(leat_opcua_get(&view, (uint64_t)count - 1, &last), 0);
    ck_assert_uint_eq(last, type == LEAT_OPCUA_BOOLEAN ? 1 : expected);
    ck_assert_uint_eq(leat_opcua_decoder_taken(&decoder), HEAD + (uint64_t)count);
    leat_opcua_decoder_clean_up(&decoder);
}

#ifndef __SANITIZE_THREAD__ /* 2 GiB have 8 GiB of shadow there, and there is one thread */
/* Room for 2 GiB and a bit, all of it the same 2 MiB, but for the first ones. */
static uint8_t *target(void) {
    int file = memfd_create("target", 0);
    ck_assert(file >= 0 && ftruncate(file, PIECE) == 0);
    size_t size = (WHOLE + PIECE - 1) / PIECE * PIECE;
    uint8_t *space = space_of(size, PROT_NONE);
    ck_assert_int_eq(mprotect(space, PIECE, PROT_READ | PROT_WRITE), 0);
    for (size_t at = PIECE; at < size; at += PIECE)
        ck_assert_ptr_ne(
            mmap(space + at, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, file, 0),
            MAP_FAILED);
    close(file);
    return space;
}

static void assert_copied(uint8_t type, int64_t count) {
    leat_opcua_value value = leat_opcua_array(type, source(), count);
    leat_bytebuf *buf = leat_bytebuf_wrap(leat_unpooled(), target(), WHOLE, NULL, NULL);
    ck_assert(leat_bytebuf_clear(buf));
    ck_assert_int_eq(leat_opcua_encode_variant(buf, &value, &options), 0);
    assert_message(buf, type, count);
    leat_bytebuf_release(buf);
}

START_TEST(the_largest_array_is_copied_to_its_last_element) {
    assert_copied(LEAT_OPCUA_BYTE, INT32_MAX);
}
END_TEST

START_TEST(the_largest_array_but_one_is_copied_to_its_last_element) {
    assert_copied(LEAT_OPCUA_BYTE, INT32_MAX - 1);
}
END_TEST

#ifdef __OPTIMIZE__ /* else one byte after the other, for minutes */
START_TEST(the_largest_array_of_booleans_is_copied_to_its_last_element) {
    assert_copied(LEAT_OPCUA_BOOLEAN, INT32_MAX);
}
END_TEST
#endif
#endif

START_TEST(the_largest_arrays_are_wrapped) {
    uint8_t *from = source();
    for (int64_t count = INT32_MAX - 1; count <= INT32_MAX; count++) {
        leat_opcua_value value = leat_opcua_array(LEAT_OPCUA_SBYTE, from, count);
        leat_composite *composite = leat_composite_new(leat_unpooled(), 2);
        ck_assert_int_eq(leat_opcua_wrap_variant(composite, &value, NULL, NULL, &options), 0);
        assert_message(leat_composite_buffer(composite), LEAT_OPCUA_SBYTE, count);
        leat_bytebuf_release(leat_composite_buffer(composite));
    }
}
END_TEST

START_TEST(one_element_more_is_refused) {
    uint8_t *from = source();
    leat_opcua_value value = leat_opcua_array(LEAT_OPCUA_BYTE, from, (int64_t)INT32_MAX + 1);
    leat_composite *composite = leat_composite_new(leat_unpooled(), 2);
    leat_bytebuf *buf = leat_composite_buffer(composite);
    uint64_t size;
    ck_assert_int_eq(leat_opcua_variant_size(&value, &options, &size), LEAT_ERANGE);
    ck_assert_int_eq(leat_opcua_encode_variant(buf, &value, &options), LEAT_ERANGE);
    ck_assert_int_eq(leat_opcua_wrap_variant(composite, &value, NULL, NULL, &options), LEAT_ERANGE);
    ck_assert_uint_eq(leat_bytebuf_readable(buf), 0);
    leat_bytebuf_release(buf);
}
END_TEST

int main(void) {
    return suite_run("opcua_large", (const TTest *const[]){
#ifndef __SANITIZE_THREAD__
#ifdef __OPTIMIZE__
                                        the_largest_array_of_booleans_is_copied_to_its_last_element,
#endif
                                        the_largest_array_is_copied_to_its_last_element,
                                        the_largest_array_but_one_is_copied_to_its_last_element,
#endif
                                        the_largest_arrays_are_wrapped, one_element_more_is_refused, NULL});
}
