/* A client that misbehaves: rude_client HOST:PORT HOW; prints what it was answered and when the server closed. */
#define _GNU_SOURCE
#include "net.h"

#include <poll.h>

static void say(int descriptor, const char *text) {
    net_write(descriptor, text, strlen(text));
}

static void repeat(int descriptor, const char *text, int times) {
    for (int i = 0; i < times; i++)
        if (send(descriptor, text, strlen(text), MSG_NOSIGNAL) < 0)
            return;
}

/* Prints the first line of the answer, then reads until the server closes. */
static void hear(int descriptor) {
    char text[4096];
    ssize_t n = recv(descriptor, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    printf("%.*s\n", (int)strcspn(text, "\r\n"), text);
    while (recv(descriptor, text, sizeof text, 0) > 0)
        continue;
}

static void reset(int descriptor) {
    const struct linger now = {.l_onoff = 1, .l_linger = 0};
    say(descriptor, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    char byte;
    net_read(descriptor, &byte, 1);
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

/* Returns when the server gave up on us, without having read a byte of the stream. */
static void never_read(int descriptor) {
    struct pollfd end = {.fd = descriptor, .events = POLLRDHUP};
    say(descriptor, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    poll(&end, 1, -1);
    puts("closed");
}

int main(int count, char **arguments) {
    const char *how = count > 2 ? arguments[2] : "";
    alarm(40);
    int descriptor = net_connect(count > 1 ? arguments[1] : "");
    if (strcmp(how, "garbage") == 0)
        say(descriptor, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n");
    else if (strcmp(how, "long-line") == 0)
        say(descriptor, "GET /"), repeat(descriptor, "0123456789abcdef", 4096);
    else if (strcmp(how, "long-fields") == 0)
        say(descriptor, "GET / HTTP/1.1\r\n"), repeat(descriptor, "X-Long: 0123456789abcdef0123456789\r\n", 4096);
    else if (strcmp(how, "long-body") == 0)
        say(descriptor, "POST /events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n");
    else if (strcmp(how, "half") == 0)
        say(descriptor, "GET / HTTP/1.1\r\nHost: loc");
    else if (strcmp(how, "reset") == 0)
        reset(descriptor);
    else if (strcmp(how, "never-read") == 0)
        never_read(descriptor);
    else if (strcmp(how, "bad-frame") == 0)
        net_write(descriptor, "\0\0\0\7\1\0\0\0\0\xff\6", 11);
    else if (strcmp(how, "long-frame") == 0)
        net_write(descriptor, "\x7f\xff\xff\xff\1\0", 6);
    if (strcmp(how, "reset") != 0 && strcmp(how, "never-read") != 0)
        hear(descriptor);
    close(descriptor);
    return 0;
}
