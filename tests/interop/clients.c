/*
 * Many clients: clients HOST:PORT --clients N --for SECONDS --stop PID. Each opens GET /events and must see ids that
 * follow each other up to the orderly end of the stream, which comes after `PID` got SIGINT. Prints what they saw; exit
 * code 0 = every client got every event from its first one on, and all ended with the same one.
 */
#define _GNU_SOURCE
#include "net.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>

/* Where in the response a client is: its header, a chunk's length, a chunk's bytes, the line end behind them. */
typedef enum place { HEADER, LENGTH, BYTES, AFTER, ENDED } place;

typedef struct client {
    int descriptor;
    place place;
    uint64_t left;     /* bytes of the chunk */
    uint64_t first_id; /* 0 = none came yet */
    uint64_t last_id;
    uint64_t gaps;
    char line[64]; /* what came of the line */
    size_t length;
} client;

static client *clients;
static size_t client_count = 100, open_count, broken_count;
static double seconds = 3;
static int stop = 0;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void take_id(client *one, uint64_t id) {
    if (one->first_id == 0)
        one->first_id = id;
    else if (id != one->last_id + 1)
        one->gaps++;
    one->last_id = id;
}

/* A line of the stream, as far as it was kept. */
static void take_line(client *one) {
    one->line[one->length] = '\0';
    if (strncmp(one->line, "id: ", 4) == 0)
        take_id(one, strtoull(one->line + 4, NULL, 10));
    one->length = 0;
}

static void take_text(client *one, char byte) {
    if (byte == '\n')
        take_line(one);
    else if (one->length < sizeof one->line - 1)
        one->line[one->length++] = byte;
}

/* Ends lines of header and chunk lengths: at LF, without its CR. */
static bool ends_line(client *one, char byte) {
    if (byte == '\n')
        return true;
    if (byte != '\r' && one->length < sizeof one->line - 1)
        one->line[one->length++] = byte;
    return false;
}

static void take_header(client *one, char byte) {
    if (!ends_line(one, byte))
        return;
    if (one->length == 0)
        one->place = LENGTH;
    one->length = 0;
}

static void take_chunk_length(client *one, char byte) {
    if (!ends_line(one, byte))
        return;
    one->line[one->length] = '\0';
    one->left = strtoull(one->line, NULL, 16);
    one->place = one->left ? BYTES : ENDED;
    one->length = 0;
}

static void take_byte(client *one, char byte) {
    switch (one->place) {
    case HEADER:
        take_header(one, byte);
        break;
    case LENGTH:
        take_chunk_length(one, byte);
        break;
    case BYTES:
        take_text(one, byte);
        if (--one->left == 0)
            one->place = AFTER;
        break;
    case AFTER:
        if (byte == '\n')
            one->place = LENGTH;
        break;
    case ENDED:
        break;
    }
}

static void end(client *one, bool fine) {
    close(one->descriptor);
    one->descriptor = -1;
    open_count--;
    broken_count += !fine;
}

static void take(client *one) {
    static char bytes[65536];
    ssize_t n = recv(one->descriptor, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    for (ssize_t i = 0; i < n; i++)
        take_byte(one, bytes[i]);
    if (n <= 0)
        end(one, one->place == ENDED);
}

static void open_all(const char *address, int poll) {
    static const char request[] = "GET /events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
    for (size_t i = 0; i < client_count; i++) {
        clients[i].descriptor = net_connect(address);
        net_write(clients[i].descriptor, request, sizeof request - 1);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &clients[i]};
        epoll_ctl(poll, EPOLL_CTL_ADD, clients[i].descriptor, &event);
        open_count++;
    }
}

/* Up to the end of every stream; the server is stopped when the time is over, and then has 20 s. */
static void run(int poll) {
    double stop_at = now() + seconds, end_at = stop_at + 20;
    while (open_count > 0 && now() < end_at) {
        struct epoll_event events[256];
        int count = epoll_wait(poll, events, 256, 50);
        for (int i = 0; i < count; i++)
            take(events[i].data.ptr);
        if (stop && now() >= stop_at) {
            kill(stop, SIGINT);
            stop = 0;
        }
    }
}

static int judge(void) {
    uint64_t events = 0, gaps = 0, least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < client_count; i++) {
        const client *one = &clients[i];
        events += one->first_id ? one->last_id - one->first_id + 1 : 0;
        gaps += one->gaps;
        least = one->last_id < least ? one->last_id : least;
        most = one->last_id > most ? one->last_id : most;
    }
    printf("%zu clients, %llu events, %llu gaps, last id %llu to %llu, %zu torn, %zu never ended\n", client_count,
           (unsigned long long)events, (unsigned long long)gaps, (unsigned long long)least, (unsigned long long)most,
           broken_count, open_count);
    return gaps || least != most || least == 0 || broken_count || open_count;
}

static void parse(int count, char **arguments) {
    for (int i = 2; i + 1 < count; i += 2) {
        if (strcmp(arguments[i], "--clients") == 0)
            client_count = strtoul(arguments[i + 1], NULL, 10);
        else if (strcmp(arguments[i], "--for") == 0)
            seconds = strtod(arguments[i + 1], NULL);
        else if (strcmp(arguments[i], "--stop") == 0)
            stop = atoi(arguments[i + 1]);
    }
}

int main(int count, char **arguments) {
    struct rlimit limit;
    parse(count, arguments);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    clients = calloc(client_count, sizeof *clients);
    int poll = epoll_create1(EPOLL_CLOEXEC);
    if (!clients || poll < 0 || count < 2)
        return 2;
    open_all(arguments[1], poll);
    run(poll);
    int code = judge();
    close(poll);
    free(clients);
    return code;
}
