#include "tests/support/faults.h"

#include <errno.h>

/** Counts the call; 0 = let it through, or the code it fails with. */
static int next(const leat_syscalls *calls, fault_call call) {
    faults *self = calls->context;
    fault_plan *plan = &self->plans[call];
    self->made[call]++;
    if (plan->times == 0 || plan->pass-- > 0)
        return 0;
    plan->pass = 0;
    plan->times--;
    return plan->code;
}

static size_t at_most(const leat_syscalls *calls, size_t size) {
    const faults *self = calls->context;
    return self->most_bytes && self->most_bytes < size ? self->most_bytes : size;
}

static const leat_syscalls *kernel(void) {
    return leat_syscalls_kernel();
}

static int open_socket(const leat_syscalls *calls, int domain, int type, int protocol) {
    int code = next(calls, CALL_SOCKET);
    return code ? code : kernel()->socket(calls, domain, type, protocol);
}

static int bind_to(const leat_syscalls *calls, int descriptor, const struct sockaddr *address, socklen_t length) {
    int code = next(calls, CALL_BIND);
    return code ? code : kernel()->bind(calls, descriptor, address, length);
}

static int listen_on(const leat_syscalls *calls, int descriptor, int backlog) {
    int code = next(calls, CALL_LISTEN);
    return code ? code : kernel()->listen(calls, descriptor, backlog);
}

static int accept_from(const leat_syscalls *calls, int descriptor, struct sockaddr *address, socklen_t *length) {
    int code = next(calls, CALL_ACCEPT);
    return code ? code : kernel()->accept(calls, descriptor, address, length);
}

/** An interrupted connect goes on in the kernel. */
static int connect_to(const leat_syscalls *calls, int descriptor, const struct sockaddr *address, socklen_t length) {
    int code = next(calls, CALL_CONNECT);
    if (code && code != -EINTR)
        return code;
    int connected = kernel()->connect(calls, descriptor, address, length);
    return code ? code : connected;
}

static int64_t receive_into(const leat_syscalls *calls, int descriptor, void *bytes, size_t size) {
    int code = next(calls, CALL_RECEIVE);
    return code ? code : kernel()->receive(calls, descriptor, bytes, at_most(calls, size));
}

static int64_t read_into(const leat_syscalls *calls, int descriptor, void *bytes, size_t size) {
    int code = next(calls, CALL_READ);
    return code ? code : kernel()->read(calls, descriptor, bytes, at_most(calls, size));
}

static int64_t send_spans(const leat_syscalls *calls, int descriptor, const leat_span *spans, size_t count) {
    int code = next(calls, CALL_SEND);
    if (code)
        return code;
    size_t most = at_most(calls, SIZE_MAX);
    if (most == SIZE_MAX)
        return kernel()->send(calls, descriptor, spans, count);
    const leat_span first = {spans->bytes, spans->length < most ? spans->length : most};
    return kernel()->send(calls, descriptor, &first, 1);
}

static int shut_down(const leat_syscalls *calls, int descriptor, int how) {
    int code = next(calls, CALL_SHUTDOWN);
    return code ? code : kernel()->shutdown(calls, descriptor, how);
}

/** Linux closes the descriptor even when it says that it was interrupted. */
static int close_descriptor(const leat_syscalls *calls, int descriptor) {
    int code = next(calls, CALL_CLOSE);
    int closed = kernel()->close(calls, descriptor);
    return code ? code : closed;
}

static int set_option(const leat_syscalls *calls, int descriptor, int level, int name, const void *value,
                      socklen_t length) {
    int code = next(calls, CALL_SET_OPTION);
    return code ? code : kernel()->set_option(calls, descriptor, level, name, value, length);
}

static int get_option(const leat_syscalls *calls, int descriptor, int level, int name, void *value, socklen_t *length) {
    int code = next(calls, CALL_GET_OPTION);
    return code ? code : kernel()->get_option(calls, descriptor, level, name, value, length);
}

static int own_address(const leat_syscalls *calls, int descriptor, struct sockaddr *address, socklen_t *length) {
    int code = next(calls, CALL_OWN_ADDRESS);
    return code ? code : kernel()->own_address(calls, descriptor, address, length);
}

void faults_init(faults *self) {
    *self = (faults){.table = {
                         .context = self,
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
                     }};
}

void faults_plan(faults *self, fault_call call, int code, int times) {
    self->plans[call] = (fault_plan){.code = code, .times = times};
}
