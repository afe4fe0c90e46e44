#define _GNU_SOURCE /* accept4 */
#include "transports/syscalls.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

/* A span is the kernel's iovec with the pointer to const bytes, so that a write needs no copy of the list. */
_Static_assert(sizeof(leat_span) == sizeof(struct iovec) &&
                   offsetof(leat_span, bytes) == offsetof(struct iovec, iov_base) &&
                   offsetof(leat_span, length) == offsetof(struct iovec, iov_len),
               "leat_span is laid out as struct iovec");

static int result(int returned) {
    return returned < 0 ? -errno : returned;
}

static int64_t result_of_bytes(ssize_t returned) {
    return returned < 0 ? -errno : returned;
}

static int open_socket(const leat_syscalls *calls, int domain, int type, int protocol) {
    (void)calls;
    return result(socket(domain, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol));
}

static int bind_to(const leat_syscalls *calls, int descriptor, const struct sockaddr *address, socklen_t length) {
    (void)calls;
    return result(bind(descriptor, address, length));
}

static int listen_on(const leat_syscalls *calls, int descriptor, int backlog) {
    (void)calls;
    return result(listen(descriptor, backlog));
}

static int accept_from(const leat_syscalls *calls, int descriptor, struct sockaddr *address, socklen_t *length) {
    (void)calls;
    return result(accept4(descriptor, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

static int connect_to(const leat_syscalls *calls, int descriptor, const struct sockaddr *address, socklen_t length) {
    (void)calls;
    return result(connect(descriptor, address, length));
}

static int64_t receive_into(const leat_syscalls *calls, int descriptor, void *bytes, size_t size) {
    (void)calls;
    return result_of_bytes(recv(descriptor, bytes, size, 0));
}

static int64_t read_into(const leat_syscalls *calls, int descriptor, void *bytes, size_t size) {
    (void)calls;
    return result_of_bytes(read(descriptor, bytes, size));
}

static int64_t send_spans(const leat_syscalls *calls, int descriptor, const leat_span *spans, size_t count) {
    (void)calls;
    union {
        const leat_span *spans;
        struct iovec *vectors;
    } list = {.spans = spans};
    struct msghdr message = {.msg_iov = list.vectors, .msg_iovlen = count};
    return result_of_bytes(sendmsg(descriptor, &message, MSG_NOSIGNAL));
}

static int shut_down(const leat_syscalls *calls, int descriptor, int how) {
    (void)calls;
    return result(shutdown(descriptor, how));
}

static int close_descriptor(const leat_syscalls *calls, int descriptor) {
    (void)calls;
    return result(close(descriptor));
}

static int set_option(const leat_syscalls *calls, int descriptor, int level, int name, const void *value,
                      socklen_t length) {
    (void)calls;
    return result(setsockopt(descriptor, level, name, value, length));
}

static int get_option(const leat_syscalls *calls, int descriptor, int level, int name, void *value, socklen_t *length) {
    (void)calls;
    return result(getsockopt(descriptor, level, name, value, length));
}

static int own_address(const leat_syscalls *calls, int descriptor, struct sockaddr *address, socklen_t *length) {
    (void)calls;
    return result(getsockname(descriptor, address, length));
}

const leat_syscalls *leat_syscalls_kernel(void) {
    static const leat_syscalls kernel = {
        .socket = open_socket,
        .bind = bind_to,
        .listen = listen_on,
        .accept = accept_from,
        .connect = connect_to,
        .receive = receive_into,
        .read = read_into,
        .send = send_spans,
        .shutdown = shut_down,
        .close = close_descriptor,
        .set_option = set_option,
        .get_option = get_option,
        .own_address = own_address,
    };
    return &kernel;
}

int leat_syscalls_code(int64_t failed) {
    switch (failed) {
    case -EAGAIN:
        return LEAT_EAGAIN;
    case -EPIPE:
    case -ECONNRESET:
        return LEAT_ERESET;
    case -ECONNREFUSED:
        return LEAT_EREFUSED;
    case -ETIMEDOUT:
        return LEAT_ETIMEDOUT;
    case -ENOMEM:
        return LEAT_ENOMEM;
    default:
        return (int)failed;
    }
}
