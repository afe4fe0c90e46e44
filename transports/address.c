#include "transports/address_internal.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_HOST = 255 };

/** The two halves of "host:port". */
typedef struct host_port {
    char host[LONGEST_HOST + 1];
    uint16_t port;
} host_port;

socklen_t leat_address_to_system(const leat_address *address, leat_system_address *system) {
    memset(system, 0, sizeof *system);
    if (address->family == 6) {
        system->v6.sin6_family = AF_INET6;
        system->v6.sin6_port = htons(address->port);
        system->v6.sin6_scope_id = address->scope;
        memcpy(&system->v6.sin6_addr, address->bytes, 16);
        return sizeof system->v6;
    }
    system->v4.sin_family = AF_INET;
    system->v4.sin_port = htons(address->port);
    memcpy(&system->v4.sin_addr, address->bytes, 4);
    return sizeof system->v4;
}

leat_address leat_address_from_system(const leat_system_address *system) {
    leat_address address = {0};
    if (system->any.sa_family == AF_INET6) {
        address.family = 6;
        address.port = ntohs(system->v6.sin6_port);
        address.scope = system->v6.sin6_scope_id;
        memcpy(address.bytes, &system->v6.sin6_addr, 16);
    } else if (system->any.sa_family == AF_INET) {
        address.family = 4;
        address.port = ntohs(system->v4.sin_port);
        memcpy(address.bytes, &system->v4.sin_addr, 4);
    }
    return address;
}

static bool parse_port(const char *digits, uint16_t *port) {
    unsigned value = 0;
    if (!*digits)
        return false;
    for (; *digits; digits++) {
        if (*digits < '0' || *digits > '9')
            return false;
        value = value * 10 + (unsigned)(*digits - '0');
        if (value > 65535)
            return false;
    }
    *port = (uint16_t)value;
    return true;
}

/** Splits "host:port"; a host with colons of its own stands in brackets. */
static bool split(const char *text, host_port *parts) {
    const char *colon = strrchr(text, ':');
    if (!colon || !parse_port(colon + 1, &parts->port))
        return false;
    size_t length = (size_t)(colon - text);
    bool bracketed = length >= 2 && text[0] == '[' && colon[-1] == ']';
    if (bracketed) {
        text++;
        length -= 2;
    }
    if (length == 0 || length > LONGEST_HOST || (!bracketed && memchr(text, ':', length)))
        return false;
    memcpy(parts->host, text, length);
    parts->host[length] = '\0';
    return strpbrk(parts->host, "[]") == NULL;
}

static int every_interface(uint16_t port, leat_address *addresses, size_t max) {
    const leat_address both[] = {{.family = 6, .port = port}, {.family = 4, .port = port}};
    size_t count = max < 2 ? max : 2;
    memcpy(addresses, both, count * sizeof *both);
    return (int)count;
}

/* RFC 6761, 6.3: localhost is the loopback also where no file or server says so. */
static int loopback(uint16_t port, leat_address *addresses, size_t max) {
    const leat_address both[] = {{.family = 4, .port = port, .bytes = {127, 0, 0, 1}},
                                 {.family = 6, .port = port, .bytes = {[15] = 1}}};
    size_t count = max < 2 ? max : 2;
    memcpy(addresses, both, count * sizeof *both);
    return (int)count;
}

static int take_results(const struct addrinfo *list, uint16_t port, leat_address *addresses, size_t max) {
    size_t count = 0;
    for (const struct addrinfo *entry = list; entry && count < max; entry = entry->ai_next) {
        leat_system_address system = {0};
        if (entry->ai_addrlen > sizeof system)
            continue;
        memcpy(&system, entry->ai_addr, entry->ai_addrlen);
        addresses[count] = leat_address_from_system(&system);
        addresses[count].port = port;
        count += addresses[count].family != 0;
    }
    return (int)count;
}

static int look_up(const host_port *parts, leat_address *addresses, size_t max, leat_problem *problem) {
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    int failed = getaddrinfo(parts->host, NULL, &hints, &list);
    if (failed == EAI_MEMORY)
        return leat_problem_set(problem, LEAT_ENOMEM, "out of memory while resolving \"%.100s\"", parts->host);
    if (failed && strcmp(parts->host, "localhost") == 0)
        return loopback(parts->port, addresses, max);
    if (failed)
        return leat_problem_set(problem, LEAT_ENOTFOUND, "cannot resolve \"%.100s\": %s", parts->host,
                                gai_strerror(failed));
    int count = take_results(list, parts->port, addresses, max);
    freeaddrinfo(list);
    if (count == 0)
        return leat_problem_set(problem, LEAT_ENOTFOUND, "\"%.100s\" has no IP address", parts->host);
    return count;
}

int leat_address_resolve(const char *text, leat_address *addresses, size_t max, leat_problem *problem) {
    host_port parts;
    if (!text || max == 0 || !split(text, &parts))
        return leat_problem_set(problem, LEAT_EINVAL, "\"%.100s\" is not an address of the form host:port",
                                text ? text : "");
    if (strcmp(parts.host, "*") == 0)
        return every_interface(parts.port, addresses, max);
    return look_up(&parts, addresses, max, problem);
}

static size_t written(int length) {
    return length < 0 ? 0 : (size_t)length;
}

size_t leat_address_format(const leat_address *address, char *text, size_t size) {
    char host[INET6_ADDRSTRLEN] = "";
    if (address->family == 4) {
        inet_ntop(AF_INET, address->bytes, host, sizeof host);
        return written(snprintf(text, size, "%s:%u", host, address->port));
    }
    if (address->family != 6)
        return written(snprintf(text, size, "no address"));
    inet_ntop(AF_INET6, address->bytes, host, sizeof host);
    if (address->scope)
        return written(snprintf(text, size, "[%s%%%u]:%u", host, (unsigned)address->scope, address->port));
    return written(snprintf(text, size, "[%s]:%u", host, address->port));
}

bool leat_address_is_loopback(const leat_address *address) {
    static const uint8_t one[16] = {[15] = 1};
    static const uint8_t mapped[13] = {[10] = 0xff, [11] = 0xff, [12] = 127};
    if (address->family == 4)
        return address->bytes[0] == 127;
    return address->family == 6 &&
           (memcmp(address->bytes, one, sizeof one) == 0 || memcmp(address->bytes, mapped, sizeof mapped) == 0);
}
