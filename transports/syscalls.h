/** The system calls that transports make, as a table: one seam where tests make a call short, interrupted or refused.
 */
#ifndef LEAT_TRANSPORTS_SYSCALLS_H
#define LEAT_TRANSPORTS_SYSCALLS_H

#include "core/bytebuf.h"

#include <sys/socket.h>

LEAT_BEGIN_DECLS

typedef struct leat_syscalls leat_syscalls;

/**
 * System calls. Each does what POSIX says of its namesake, but returns a negated errno value instead of -1. A table of
 * your own starts as a copy of leat_syscalls_kernel(), is handed to transports in their options, and outlives them.
 */
struct leat_syscalls {
    void *context; /**< for tables of your own */
    /** Makes a socket, non-blocking and close-on-exec. */
    int (*socket)(const leat_syscalls *calls, int domain, int type, int protocol);
    int (*bind)(const leat_syscalls *calls, int descriptor, const struct sockaddr *address, socklen_t length);
    int (*listen)(const leat_syscalls *calls, int descriptor, int backlog);
    /** Accepts a connection, non-blocking and close-on-exec. */
    int (*accept)(const leat_syscalls *calls, int descriptor, struct sockaddr *address, socklen_t *length);
    int (*connect)(const leat_syscalls *calls, int descriptor, const struct sockaddr *address, socklen_t length);
    /** recv(2) without flags. */
    int64_t (*receive)(const leat_syscalls *calls, int descriptor, void *bytes, size_t size);
    /** read(2). */
    int64_t (*read)(const leat_syscalls *calls, int descriptor, void *bytes, size_t size);
    /** sendmsg(2) of these spans, at most 1,024, that raises no SIGPIPE. */
    int64_t (*send)(const leat_syscalls *calls, int descriptor, const leat_span *spans, size_t count);
    int (*shutdown)(const leat_syscalls *calls, int descriptor, int how);
    int (*close)(const leat_syscalls *calls, int descriptor);
    int (*set_option)(const leat_syscalls *calls, int descriptor, int level, int name, const void *value,
                      socklen_t length);
    int (*get_option)(const leat_syscalls *calls, int descriptor, int level, int name, void *value, socklen_t *length);
    /** getsockname(2). */
    int (*own_address)(const leat_syscalls *calls, int descriptor, struct sockaddr *address, socklen_t *length);
    void *reserved[4];
};

/** Returns the table that calls the kernel; static. Any thread. */
LEAT_API const leat_syscalls *leat_syscalls_kernel(void);

/** Returns Leat's code for a negated errno value: LEAT_EAGAIN, LEAT_ERESET, LEAT_EREFUSED, LEAT_ETIMEDOUT, LEAT_ENOMEM,
 * or the value itself. Any thread. */
LEAT_API int leat_syscalls_code(int64_t result);

LEAT_END_DECLS

#endif
