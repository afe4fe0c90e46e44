/** Runs a list of check tests as one program; a failing test prints how to rerun just itself. */
#ifndef LEAT_TESTS_SUPPORT_SUITE_H
#define LEAT_TESTS_SUPPORT_SUITE_H

#include <check.h>
#include <stdio.h>

/** Runs the NULL-terminated tests; returns the exit code of the program. A test gets 60 s. */
int suite_run(const char *name, const TTest *const *tests);

#endif
