/** Version, visibility and error codes: what every other header stands on. */
#ifndef LEAT_CORE_BASE_H
#define LEAT_CORE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define LEAT_BEGIN_DECLS extern "C" {
#define LEAT_END_DECLS }
#else
#define LEAT_BEGIN_DECLS
#define LEAT_END_DECLS
#endif

#if defined(__GNUC__)
#define LEAT_API __attribute__((visibility("default")))
#else
#define LEAT_API
#endif

#define LEAT_VERSION_MAJOR 0
#define LEAT_VERSION_MINOR 1
#define LEAT_VERSION_PATCH 0

/** Every error code of Leat, with its message: X(name, value, message). Other negative codes are negated errno values.
 */
#define LEAT_ERRORS(X)                                                                                                 \
    X(LEAT_ENOMEM, -4001, "out of memory")                                                                             \
    X(LEAT_EINVAL, -4002, "invalid argument")                                                                          \
    X(LEAT_ECLOSED, -4003, "channel or loop is closed")                                                                \
    X(LEAT_EAGAIN, -4004, "not now, try again later")                                                                  \
    X(LEAT_EEOF, -4005, "the peer ended the stream")                                                                   \
    X(LEAT_ERESET, -4006, "the peer reset the connection")                                                             \
    X(LEAT_ETIMEDOUT, -4007, "timed out")                                                                              \
    X(LEAT_ESHARED, -4008, "the bytes are shared and cannot be changed")                                               \
    X(LEAT_ERANGE, -4009, "index or length out of range")                                                              \
    X(LEAT_ELIMIT, -4010, "a limit was reached")                                                                       \
    X(LEAT_ETOOLONG, -4011, "frame, line or field is longer than its limit")                                           \
    X(LEAT_ECORRUPT, -4012, "input does not follow its format")                                                        \
    X(LEAT_ETRUNCATED, -4013, "the stream ended inside a frame")                                                       \
    X(LEAT_ETYPE, -4014, "a handler does not take this type of message")                                               \
    X(LEAT_ENOTFOUND, -4015, "not found")                                                                              \
    X(LEAT_EEXIST, -4016, "exists already")                                                                            \
    X(LEAT_EABORTED, -4017, "the channel was aborted")                                                                 \
    X(LEAT_EREMOVED, -4018, "the handler was removed")                                                                 \
    X(LEAT_EWRITABLE, -4019, "the channel is not writable")                                                            \
    X(LEAT_EREFUSED, -4020, "refused")

enum leat_error {
    LEAT_OK = 0,
#define LEAT_ERROR_ENTRY(name, value, message) name = value,
    LEAT_ERRORS(LEAT_ERROR_ENTRY)
#undef LEAT_ERROR_ENTRY
};

/** Why a set-up call failed: a code and one line in words. The caller owns it, nothing in it needs freeing. */
typedef struct leat_problem {
    int code;
    char text[240];
} leat_problem;

LEAT_BEGIN_DECLS

/** Returns the version of the library in use, as "major.minor.patch". Any thread. */
LEAT_API const char *leat_version(void);

/** Returns the name of an error code ("LEAT_ENOMEM"), or "system" for a negated errno, or "unknown". Any thread. */
LEAT_API const char *leat_error_name(int code);

/**
 * Returns the message of an error code, in English and without a full stop; for a negated errno the system's own.
 * The text is static or belongs to the calling thread until its next call. Any thread.
 */
LEAT_API const char *leat_error_message(int code);

/** Fills `problem` (NULL is fine) with `code` and the printf-like text; returns `code`. Any thread. */
LEAT_API int leat_problem_set(leat_problem *problem, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

LEAT_END_DECLS

#endif
