#include "core/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STRING(x) #x
#define STRING_OF(x) STRING(x)

const char *leat_version(void) {
    return STRING_OF(LEAT_VERSION_MAJOR) "." STRING_OF(LEAT_VERSION_MINOR) "." STRING_OF(LEAT_VERSION_PATCH);
}

const char *leat_error_name(int code) {
    switch (code) {
    case LEAT_OK:
        return "LEAT_OK";
#define NAME_CASE(name, value, message)                                                                                \
    case name:                                                                                                         \
        return #name;
        LEAT_ERRORS(NAME_CASE)
#undef NAME_CASE
    default:
        return code < 0 && code > -4000 ? "system" : "unknown";
    }
}

const char *leat_error_message(int code) {
    switch (code) {
    case LEAT_OK:
        return "success";
#define MESSAGE_CASE(name, value, message)                                                                             \
    case name:                                                                                                         \
        return message;
        LEAT_ERRORS(MESSAGE_CASE)
#undef MESSAGE_CASE
    default:
        return code < 0 && code > -4000 ? strerror(-code) : "unknown error";
    }
}

int leat_problem_set(leat_problem *problem, int code, const char *format, ...) {
    if (!problem)
        return code;
    problem->code = code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    return code;
}
