/* Every call of buffers that allocates, with each of its allocations failing: it says so, changes nothing, loses
 * nothing. */
#include "core/bytebuf_array.h"
#include "core/composite.h"
#include "core/gather.h"
#include "core/text.h"
#include "core/verify.h"
#include "tests/support/suite.h"

#include <string.h>

static const char digits[] = "0123456789abcdef";

static void verify(leat_verify_scenario scenario) {
    leat_problem problem;
    ck_assert_msg(leat_verify_oom(scenario, NULL, &problem) == 0, "%s", problem.text);
}

/** Says whether a call did all or nothing: what it returned against what became of the readable bytes. */
static int all_or_nothing(leat_bytebuf *buf, bool done, const char *before, const char *after) {
    const char *expected = done ? after : before;
    bool right = leat_bytebuf_is_valid(buf) && leat_bytebuf_equals_bytes(buf, expected, strlen(expected));
    leat_bytebuf_release(buf);
    return right ? 0 : LEAT_ECORRUPT;
}

/* ---- making ---- */

static int make_each(leat_alloc *alloc, void *context) {
    char memory[4];
    (void)context;
    leat_bytebuf *made[] = {leat_bytebuf_new(alloc, 10),
                            leat_bytebuf_new_with(alloc, 10, 20, 5),
                            leat_bytebuf_wrap(alloc, memory, sizeof memory, NULL, NULL),
                            leat_bytebuf_wrap_static(alloc, digits, 16),
                            leat_bytebuf_from_bytes(alloc, digits, 16),
                            leat_bytebuf_from_text(alloc, digits),
                            leat_composite_buffer(leat_composite_new(alloc, 3)),
                            leat_text_from_latin1(alloc, (const uint8_t *)"\xe9", 1),
                            leat_text_from_utf16(alloc, (const uint16_t[]){0xe9, 0x20ac}, 2)};
    bool right = true;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        right = right && (!made[i] || leat_bytebuf_is_valid(made[i]));
        leat_bytebuf_release(made[i]);
    }
    return right ? 0 : LEAT_ECORRUPT;
}

static void must_not_run(void *memory, size_t size, void *context) {
    (void)memory;
    (void)size;
    ck_assert_msg(context == NULL, "memory that could not be wrapped was given back");
}

START_TEST(making_a_buffer_gives_null_and_nothing_else) {
    leat_failing_alloc failing;
    leat_failing_alloc_init(&failing, leat_unpooled());
    failing.fail_at = 1;
    char memory[4];
    ck_assert_ptr_null(leat_bytebuf_wrap(&failing.alloc, memory, sizeof memory, must_not_run, memory));
    verify(make_each);
}
END_TEST

/* ---- appending: to a plain buffer without room and to a composite without room in its tail ---- */

typedef bool (*append_call)(leat_bytebuf *buf);

static bool append_number(leat_bytebuf *buf) {
    return leat_bytebuf_write_u32(buf, 0x41424344);
}

static bool append_bytes(leat_bytebuf *buf) {
    return leat_bytebuf_write_bytes(buf, "ABCD", 4);
}

static bool append_format(leat_bytebuf *buf) {
    return leat_bytebuf_write_format(buf, "%s", "ABCD");
}

static bool append_array(leat_bytebuf *buf) {
    return leat_bytebuf_write_u16_array(buf, (const uint16_t[]){0x4142, 0x4344}, 2);
}

static bool append_array_as_it_is(leat_bytebuf *buf) {
    return leat_bytebuf_write_u8_array(buf, (const uint8_t *)"ABCD", 4);
}

static bool append_varint(leat_bytebuf *buf) {
    return leat_bytebuf_reserve(buf, 4) == 0 && leat_bytebuf_write_varint(buf, 'A') &&
           leat_bytebuf_write_bytes(buf, "BCD", 3);
}

static bool append_utf8(leat_bytebuf *buf) {
    return leat_text_write_utf8(buf, "ABCD", 4, LEAT_TEXT_STRICT) == 0;
}

static bool append_utf16(leat_bytebuf *buf) {
    return leat_text_write_utf16(buf, (const uint16_t[]){'A', 'B', 'C', 'D'}, 4, LEAT_TEXT_STRICT) == 0;
}

static bool append_latin1(leat_bytebuf *buf) {
    return leat_text_write_latin1(buf, (const uint8_t *)"ABCD", 4) == 0;
}

static bool append_buffer(leat_bytebuf *buf) {
    leat_bytebuf *source = leat_bytebuf_from_text(leat_unpooled(), "ABCD");
    bool done = leat_bytebuf_write_buffer(buf, source);
    leat_bytebuf_release(source);
    return done;
}

/* A buffer that has no room behind its 16 bytes: a split, or a composite whose tail is used up. */
static leat_bytebuf *full(leat_alloc *alloc, bool parted) {
    leat_bytebuf *whole = leat_bytebuf_from_text(alloc, digits);
    leat_bytebuf *part = whole ? leat_bytebuf_split(whole, 16) : NULL;
    leat_bytebuf_release(whole);
    if (!part || !parted)
        return part;
    leat_composite *composite = leat_composite_new(alloc, 0);
    if (composite && leat_composite_add(composite, part) == 0)
        return leat_composite_buffer(composite);
    if (!composite)
        leat_bytebuf_release(part);
    leat_bytebuf_release(leat_composite_buffer(composite));
    return NULL;
}

/** What a scenario appends to. */
typedef struct append_case {
    append_call append;
    bool parted;
} append_case;

static int append_once(leat_alloc *alloc, void *context) {
    const append_case *of = context;
    leat_bytebuf *buf = full(alloc, of->parted);
    if (!buf)
        return 0;
    if (of->parted) { /* only staging is left to append to */
        leat_bytebuf_set_writer_index(buf, leat_bytebuf_capacity(buf));
        leat_bytebuf_set_reader_index(buf, leat_bytebuf_writer_index(buf));
        return all_or_nothing(buf, of->append(buf), "", "ABCD");
    }
    bool done = of->append(buf);
    return all_or_nothing(buf, done, "0123456789abcdef", "0123456789abcdefABCD");
}

START_TEST(every_way_to_append_writes_all_or_nothing) {
    static const append_call calls[] = {append_number,         append_bytes,  append_format, append_array,
                                        append_array_as_it_is, append_varint, append_utf8,   append_utf16,
                                        append_latin1,         append_buffer};
    for (size_t i = 0; i < 2 * (sizeof calls / sizeof *calls); i++) {
        append_case of = {calls[i / 2], i % 2 == 1};
        leat_problem problem;
        ck_assert_msg(leat_verify_oom(append_once, &of, &problem) == 0, "call %zu: %s", i / 2, problem.text);
    }
}
END_TEST

static int append_zeros_once(leat_alloc *alloc, void *context) {
    (void)context;
    leat_bytebuf *buf = full(alloc, false);
    if (!buf)
        return 0;
    bool done = leat_bytebuf_write_zero(buf, 3000);
    bool right = leat_bytebuf_readable(buf) == (done ? 3016 : 16) && leat_bytebuf_is_valid(buf);
    leat_bytebuf_release(buf);
    return right ? 0 : LEAT_ECORRUPT;
}

START_TEST(zeros_are_appended_all_or_none) {
    verify(append_zeros_once);
}
END_TEST

/* ---- sharing ---- */

static int share_each(leat_alloc *alloc, void *context) {
    (void)context;
    for (int parted = 0; parted < 2; parted++) {
        leat_bytebuf *buf = full(alloc, parted);
        if (!buf)
            continue;
        leat_bytebuf *others[] = {leat_bytebuf_slice(buf, 2, 5), leat_bytebuf_slice_readable(buf),
                                  leat_bytebuf_copy(buf, alloc), leat_bytebuf_retain(buf)};
        leat_bytebuf *before = others[1];
        if (others[1] && leat_bytebuf_own(&others[1]) != 0)
            ck_assert_ptr_eq(others[1], before);
        if (leat_bytebuf_own(&others[3]) != 0)
            ck_assert_ptr_eq(others[3], buf);
        for (size_t i = 1; i < 4; i++)
            ck_assert(!others[i] || leat_bytebuf_equals_bytes(others[i], digits, 16));
        for (size_t i = 0; i < 4; i++)
            leat_bytebuf_release(others[i]);
        leat_bytebuf_release(buf);
    }
    return 0;
}

START_TEST(slices_copies_and_owning_leave_the_buffer_as_it_was) {
    verify(share_each);
}
END_TEST

static int split_and_keep(leat_alloc *alloc, void *context) {
    (void)context;
    leat_bytebuf *block = leat_bytebuf_new(alloc, 10000);
    if (!block)
        return 0;
    leat_bytebuf_write_bytes(block, digits, 16);
    leat_bytebuf *part = leat_bytebuf_split(block, 6);
    leat_bytebuf *before = part;
    ck_assert_uint_eq(leat_bytebuf_readable(block), part ? 10 : 16);
    if (part && leat_bytebuf_keep(&part) != 0)
        ck_assert_ptr_eq(part, before);
    ck_assert(!part || leat_bytebuf_equals_bytes(part, digits, 6));
    leat_bytebuf_release(part);
    leat_bytebuf_release(block);
    return 0;
}

START_TEST(a_split_that_fails_moves_no_index_and_keep_loses_nothing) {
    verify(split_and_keep);
}
END_TEST

/* ---- composites ---- */

typedef int (*composite_call)(leat_composite *composite, leat_alloc *alloc);

static int call_add(leat_composite *composite, leat_alloc *alloc) {
    leat_bytebuf *buf = leat_bytebuf_from_text(alloc, "ABCD");
    return buf ? leat_composite_add(composite, buf) : LEAT_ENOMEM;
}

static int call_add_list(leat_composite *composite, leat_alloc *alloc) {
    leat_bytebuf *list[] = {leat_bytebuf_from_text(alloc, "AB"), leat_bytebuf_from_text(alloc, "CD")};
    return leat_composite_add_list(composite, list, 2);
}

static int call_add_static(leat_composite *composite, leat_alloc *alloc) {
    (void)alloc;
    return leat_composite_add_static(composite, "ABCD", 4);
}

static int call_add_bytes(leat_composite *composite, leat_alloc *alloc) {
    (void)alloc;
    return leat_composite_add_bytes(composite, "ABCD", 4);
}

static int call_add_flattened(leat_composite *composite, leat_alloc *alloc) {
    leat_bytebuf *buf = full(alloc, true);
    if (!buf || leat_bytebuf_get_u8(buf, 9) != '9')
        return LEAT_ENOMEM;
    leat_bytebuf *shared = leat_bytebuf_retain(buf);
    int status = leat_composite_add_flattened(composite, shared, 0, 0);
    leat_bytebuf_release(buf);
    return status == 0 ? call_add(composite, alloc) : status;
}

static int call_add_shared_composite(leat_composite *composite, leat_alloc *alloc) {
    leat_composite *inner = leat_composite_new(alloc, 2);
    int status = inner ? call_add_list(inner, alloc) : LEAT_ENOMEM;
    if (status == 0)
        status = leat_composite_add(composite, leat_bytebuf_retain(leat_composite_buffer(inner)));
    leat_bytebuf_release(leat_composite_buffer(inner));
    return status;
}

static int call_insert_behind(leat_composite *composite, leat_alloc *alloc) {
    leat_bytebuf *buf = leat_bytebuf_from_text(alloc, "ABCD");
    return leat_composite_insert(composite, leat_composite_component_count(composite), buf);
}

static int append_to_composite(leat_alloc *alloc, void *context) {
    composite_call call = *(composite_call *)context;
    leat_composite *composite = leat_composite_of(full(alloc, true));
    if (!composite)
        return 0;
    for (int i = 0; i < 8; i++) /* no slots are left */
        if (leat_composite_add_static(composite, "", 0) != 0)
            break;
    bool done = call(composite, alloc) == 0;
    return all_or_nothing(leat_composite_buffer(composite), done, digits, "0123456789abcdefABCD");
}

START_TEST(every_way_to_add_a_component_adds_all_or_nothing) {
    static composite_call calls[] = {call_add,          call_add_list,      call_add_static,
                                     call_add_bytes,    call_add_flattened, call_add_shared_composite,
                                     call_insert_behind};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        leat_problem problem;
        ck_assert_msg(leat_verify_oom(append_to_composite, &calls[i], &problem) == 0, "call %zu: %s", i, problem.text);
    }
}
END_TEST

static int change_structure(leat_alloc *alloc, void *context) {
    (void)context;
    leat_composite *composite = leat_composite_of(full(alloc, true));
    if (!composite)
        return 0;
    leat_bytebuf *buf = leat_composite_buffer(composite);
    char expected[64] = "0123456789abcdef";
    for (int i = 0; i < 4; i++)
        if (leat_composite_prepend_bytes(composite, "-", 1) == 0) {
            memmove(expected + 1, expected, sizeof expected - 1);
            expected[0] = '-';
        }
    leat_composite_consolidate(composite, 0, leat_composite_component_count(composite));
    leat_bytebuf *slices[8];
    int made = leat_composite_decompose(composite, 0, leat_bytebuf_readable(buf), slices, 8);
    for (int i = 0; i < made; i++)
        leat_bytebuf_release(slices[i]);
    return all_or_nothing(buf, true, "", expected);
}

START_TEST(prepending_consolidating_and_decomposing_lose_nothing) {
    verify(change_structure);
}
END_TEST

/* ---- gathers ---- */

static int gather_pieces(leat_alloc *alloc, void *context) {
    static const char block[3000];
    leat_gather gather;
    leat_gather_init(&gather, alloc, *(const leat_gather_mode *)context, 2);
    for (int i = 0; i < 6; i++) {
        leat_gather_add(&gather, leat_bytebuf_from_bytes(alloc, block, i % 2 ? 10 : sizeof block));
        leat_gather_add_static(&gather, "\n\n", 2);
        leat_gather_add_bytes(&gather, digits, 16);
    }
    leat_bytebuf *whole = leat_gather_finish(&gather);
    bool right = whole ? leat_bytebuf_readable(whole) == 3 * 3010 + 6 * 18 : gather.error != 0;
    leat_bytebuf_release(whole);
    return right ? 0 : LEAT_ECORRUPT;
}

START_TEST(a_gather_gives_every_byte_or_an_error) {
    leat_gather_mode modes[] = {LEAT_GATHER_COPY, LEAT_GATHER_WRAP, LEAT_GATHER_AUTO};
    for (size_t i = 0; i < 3; i++) {
        leat_problem problem;
        ck_assert_msg(leat_verify_oom(gather_pieces, &modes[i], &problem) == 0, "mode %zu: %s", i, problem.text);
    }
}
END_TEST

int main(void) {
    return suite_run(
        "buffer_oom",
        (const TTest *const[]){
            making_a_buffer_gives_null_and_nothing_else, every_way_to_append_writes_all_or_nothing,
            zeros_are_appended_all_or_none, slices_copies_and_owning_leave_the_buffer_as_it_was,
            a_split_that_fails_moves_no_index_and_keep_loses_nothing, every_way_to_add_a_component_adds_all_or_nothing,
            prepending_consolidating_and_decomposing_lose_nothing, a_gather_gives_every_byte_or_an_error, NULL});
}
