#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

/* A test is its own case, named as itself, so that CK_RUN_CASE reruns just it. */
static Suite *suite_of(const char *name, const TTest *const *tests) {
    Suite *suite = suite_create(name);
    for (size_t i = 0; tests[i]; i++) {
        TCase *one = tcase_create(tests[i]->name);
        tcase_set_timeout(one, 60);
        tcase_add_test(one, tests[i]);
        suite_add_tcase(suite, one);
    }
    return suite;
}

/* Whoever started the test may say how to start it again (./dev does, with its options). */
static void print_reruns(const char *name, SRunner *runner) {
    const char *command = getenv("LEAT_RERUN");
    TestResult **failures = srunner_failures(runner);
    for (int i = 0; i < srunner_ntests_failed(runner); i++)
        printf("rerun just this: %s %s %s\n", command ? command : "./dev test", name, tr_tcname(failures[i]));
    free(failures);
}

int suite_run(const char *name, const TTest *const *tests) {
    SRunner *runner = srunner_create(suite_of(name, tests));
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    print_reruns(name, runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
