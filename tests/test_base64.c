#include "handlers/base64.h"

#include "core/composite.h"
#include "core/verify.h"
#include "tests/support/suite.h"

#include <string.h>

/* RFC 4648, 10, and the two characters that other alphabets have not. */
static const struct {
    const char *bytes, *text;
} pairs[] = {{"", ""},
             {"f", "Zg=="},
             {"fo", "Zm8="},
             {"foo", "Zm9v"},
             {"foob", "Zm9vYg=="},
             {"fooba", "Zm9vYmE="},
             {"foobar", "Zm9vYmFy"},
             {"\xfb\xff\xbf", "+/+/"}};
enum { PAIRS = sizeof pairs / sizeof *pairs };

static void assert_text(const leat_bytebuf *bytes, const char *expected) {
    leat_bytebuf *text = leat_base64_encode(leat_unpooled(), bytes);
    ck_assert(leat_bytebuf_equals_bytes(text, expected, strlen(expected)));
    ck_assert_uint_eq(leat_base64_length(leat_bytebuf_readable(bytes)), strlen(expected));
    leat_bytebuf_release(text);
}

START_TEST(bytes_become_the_texts_of_the_standard_and_come_back) {
    for (size_t i = 0; i < PAIRS; i++) {
        leat_bytebuf *bytes = leat_bytebuf_from_text(leat_unpooled(), pairs[i].bytes), *back;
        assert_text(bytes, pairs[i].text);
        ck_assert_int_eq(leat_base64_decode(leat_unpooled(), pairs[i].text, strlen(pairs[i].text), &back), 0);
        ck_assert(leat_bytebuf_equals(bytes, back));
        leat_bytebuf_release(back);
        leat_bytebuf_release(bytes);
    }
}
END_TEST

START_TEST(a_composite_is_encoded_across_its_borders) {
    for (size_t cut = 0; cut <= 6; cut++) {
        leat_composite *composite = leat_composite_new(leat_unpooled(), 2);
        leat_bytebuf *whole = leat_composite_buffer(composite);
        leat_bytebuf *first = leat_bytebuf_from_bytes(leat_unpooled(), "foobar", cut);
        leat_bytebuf *second = leat_bytebuf_from_bytes(leat_unpooled(), &"foobar"[cut], 6 - cut);
        ck_assert_int_eq(leat_composite_add(composite, first), 0);
        ck_assert_int_eq(leat_composite_add(composite, second), 0);
        assert_text(whole, "Zm9vYmFy");
        leat_bytebuf_release(whole);
    }
}
END_TEST

START_TEST(every_length_comes_back) {
    for (size_t length = 0; length < 2000; length += 1 + length / 64) {
        leat_bytebuf *bytes = leat_bytebuf_new(leat_unpooled(), length), *back;
        for (size_t i = 0; i < length; i++)
            leat_bytebuf_write_u8(bytes, (uint8_t)(i * 151 + length));
        leat_bytebuf *text = leat_base64_encode(leat_unpooled(), bytes);
        size_t n = (size_t)leat_bytebuf_readable(text);
        ck_assert_int_eq(leat_base64_decode(leat_unpooled(), leat_bytebuf_data(text), n, &back), 0);
        ck_assert(leat_bytebuf_equals(bytes, back));
        leat_bytebuf_release(back);
        leat_bytebuf_release(text);
        leat_bytebuf_release(bytes);
    }
}
END_TEST

START_TEST(what_is_no_base64_is_corrupt) {
    static const char *const faults[] = {"Z",        "Zg",    "Zg=",  "Zh==", "Zm9=",  "====",     "Z===",    "=Zg=",
                                         "Zg==Zg==", "Zm 9v", "Zm9-", "Zm9_", "Zm9\n", "Zm9vYg= ", "Zm9\x80", "Zg=a"};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        leat_bytebuf *out;
        ck_assert_msg(leat_base64_decode(leat_unpooled(), faults[i], strlen(faults[i]), &out) == LEAT_ECORRUPT,
                      "%s is decoded", faults[i]);
        ck_assert_ptr_null(out);
    }
}
END_TEST

START_TEST(a_length_that_no_number_holds_is_0) {
    ck_assert_uint_eq(leat_base64_length(UINT64_MAX), 0);
    ck_assert_uint_eq(leat_base64_length(UINT64_MAX / 4 * 3), UINT64_MAX - 3);
}
END_TEST

static int there_and_back(leat_alloc *alloc, void *context) {
    (void)context;
    leat_bytebuf *bytes = leat_bytebuf_from_text(alloc, "foobar"), *back = NULL;
    leat_bytebuf *text = bytes ? leat_base64_encode(alloc, bytes) : NULL;
    int code = text ? leat_base64_decode(alloc, leat_bytebuf_data(text), 8, &back) : LEAT_ENOMEM;
    bool wrong = code != LEAT_ENOMEM && !leat_bytebuf_equals(bytes, back);
    leat_bytebuf_release(back);
    leat_bytebuf_release(text);
    leat_bytebuf_release(bytes);
    return wrong ? LEAT_ECORRUPT : 0;
}

START_TEST(no_failed_allocation_leaks) {
    leat_problem problem;
    ck_assert_msg(leat_verify_oom(there_and_back, NULL, &problem) == 0, "%s", problem.text);
}
END_TEST

int main(void) {
    return suite_run("base64",
                     (const TTest *const[]){bytes_become_the_texts_of_the_standard_and_come_back,
                                            a_composite_is_encoded_across_its_borders, every_length_comes_back,
                                            what_is_no_base64_is_corrupt, a_length_that_no_number_holds_is_0,
                                            no_failed_allocation_leaks, NULL});
}
