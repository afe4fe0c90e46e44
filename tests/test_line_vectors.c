#include "handlers/line.h"
#include "tests/support/suite.h"
#include "tests/support/vectors.h"

#include <string.h>

static void check_line(const json_t *vector) {
    if (strcmp(vector_text(vector, "decoder"), "line") != 0)
        return;
    leat_line_config config = {
        .max_length = vector_number(vector, "maxFrame"),
        .keep_end = !vector_flag(vector, "strip"),
        .report_late = !vector_flag(vector, "failFast"),
    };
    assert_vector_decoded(vector, &leat_line_decoder, &config);
}

START_TEST(lines_are_those_of_netty_or_the_ideal) {
    ck_assert_uint_eq(vectors_each("delimiter-line.jsonl", check_line), 177);
}
END_TEST

int main(void) {
    return suite_run("line_vectors", (const TTest *const[]){lines_are_those_of_netty_or_the_ideal, NULL});
}
