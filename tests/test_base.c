#include "core/base.h"
#include "tests/support/suite.h"

START_TEST(every_error_has_its_own_value_name_and_message) {
    const int codes[] = {
#define CODE(name, value, message) name,
        LEAT_ERRORS(CODE)
#undef CODE
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        ck_assert_int_lt(codes[i], 0);
        ck_assert_str_ne(leat_error_name(codes[i]), "unknown");
        for (size_t k = 0; k < i; k++)
            ck_assert_str_ne(leat_error_message(codes[i]), leat_error_message(codes[k]));
    }
}
END_TEST

START_TEST(negated_errno_values_have_the_message_of_the_system) {
    ck_assert_str_eq(leat_error_name(-2), "system");
    ck_assert_str_eq(leat_error_message(-2), "No such file or directory");
}
END_TEST

START_TEST(version_reads_as_the_macros_do) {
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", LEAT_VERSION_MAJOR, LEAT_VERSION_MINOR, LEAT_VERSION_PATCH);
    ck_assert_str_eq(leat_version(), text);
}
END_TEST

int main(void) {
    return suite_run("base", (const TTest *const[]){every_error_has_its_own_value_name_and_message,
                                                    negated_errno_values_have_the_message_of_the_system,
                                                    version_reads_as_the_macros_do, NULL});
}
