#include "tests/support/peer.h"

#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int connect_v4(uint16_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int peer = socket(AF_INET, SOCK_STREAM, 0);
    if (peer >= 0 && connect(peer, (struct sockaddr *)&address, sizeof address) == 0)
        return peer;
    close(peer);
    return -1;
}

static int connect_v6(uint16_t port) {
    struct sockaddr_in6 address = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int peer = socket(AF_INET6, SOCK_STREAM, 0);
    if (peer >= 0 && connect(peer, (struct sockaddr *)&address, sizeof address) == 0)
        return peer;
    close(peer);
    return -1;
}

int peer_connect(int version, uint16_t port) {
    return version == 6 ? connect_v6(port) : connect_v4(port);
}

int peer_deaf_listener(uint16_t *port) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, length), 0);
    ck_assert_int_eq(listen(listener, 0), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    *port = ntohs(address.sin_port);
    return listener;
}

bool peer_has(int version) {
    if (version == 4)
        return true;
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int probe = socket(AF_INET6, SOCK_STREAM, 0);
    bool has = probe >= 0 && bind(probe, (struct sockaddr *)&address, sizeof address) == 0;
    close(probe);
    return has;
}

void peer_write(int peer, const char *text) {
    size_t length = strlen(text);
    ck_assert_int_eq(send(peer, text, length, MSG_NOSIGNAL), (ssize_t)length);
}

const char *peer_read(int peer, size_t length) {
    static char text[4096];
    ck_assert_uint_lt(length, sizeof text);
    ssize_t got = recv(peer, text, length, MSG_WAITALL);
    ck_assert_int_eq(got, (ssize_t)length);
    text[length] = '\0';
    return text;
}

int64_t peer_drain(int peer) {
    char bytes[65536];
    int64_t total = 0;
    ssize_t length;
    while ((length = recv(peer, bytes, sizeof bytes, 0)) > 0)
        total += length;
    return length < 0 ? -errno : total;
}

void peer_reset(int peer) {
    const struct linger at_once = {.l_onoff = 1};
    setsockopt(peer, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(peer);
}
