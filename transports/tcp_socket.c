#include "transports/tcp_internal.h"

#include <netinet/tcp.h>

const leat_syscalls *leat_tcp_calls(const leat_tcp_options *options) {
    return options->syscalls ? options->syscalls : leat_syscalls_kernel();
}

int leat_tcp_set(const leat_syscalls *calls, int descriptor, int level, int name, int value) {
    return calls->set_option(calls, descriptor, level, name, &value, sizeof value);
}

/** Sets what is a wish only: a kernel that refuses one serves all the same. Accepted sockets inherit it from theirs. */
static void set_wishes(const leat_tcp_options *options, int descriptor) {
    const leat_syscalls *calls = leat_tcp_calls(options);
    if (!options->merge_small_writes)
        leat_tcp_set(calls, descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
    if (options->keep_alive)
        leat_tcp_set(calls, descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
    if (options->send_buffer > 0)
        leat_tcp_set(calls, descriptor, SOL_SOCKET, SO_SNDBUF, options->send_buffer);
    if (options->receive_buffer > 0)
        leat_tcp_set(calls, descriptor, SOL_SOCKET, SO_RCVBUF, options->receive_buffer);
}

int leat_tcp_socket(const leat_tcp_options *options, uint8_t family) {
    const leat_syscalls *calls = leat_tcp_calls(options);
    int descriptor = calls->socket(calls, family == 6 ? AF_INET6 : AF_INET, SOCK_STREAM, IPPROTO_TCP);
    if (descriptor >= 0)
        set_wishes(options, descriptor);
    return descriptor;
}
