/* Blocking sockets for the small programs of this folder. */
#ifndef LEAT_TESTS_INTEROP_NET_H
#define LEAT_TESTS_INTEROP_NET_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Reads "127.0.0.1:8080"; ends the program if it is not that. */
static inline struct sockaddr_in net_address(const char *text) {
    char host[64] = "";
    unsigned port = 0;
    struct sockaddr_in address = {.sin_family = AF_INET};
    if (sscanf(text, "%63[^:]:%u", host, &port) != 2 || inet_pton(AF_INET, host, &address.sin_addr) != 1) {
        fprintf(stderr, "'%s' is no address\n", text);
        exit(2);
    }
    address.sin_port = htons((uint16_t)port);
    return address;
}

static inline int net_connect(const char *text) {
    struct sockaddr_in address = net_address(text);
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0 || connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
        perror("connect");
        exit(2);
    }
    return descriptor;
}

static inline void net_write(int descriptor, const void *bytes, size_t length) {
    for (size_t done = 0; done < length;) {
        ssize_t n = send(descriptor, (const char *)bytes + done, length - done, MSG_NOSIGNAL);
        if (n <= 0) {
            perror("send");
            exit(1);
        }
        done += (size_t)n;
    }
}

/* Reads exactly so much; false = the stream ended before. */
static inline int net_read(int descriptor, void *bytes, size_t length) {
    for (size_t done = 0; done < length;) {
        ssize_t n = recv(descriptor, (char *)bytes + done, length - done, 0);
        if (n <= 0)
            return 0;
        done += (size_t)n;
    }
    return 1;
}

#endif
