/** A peer over a plain blocking socket: what another program would be. */
#ifndef LEAT_TESTS_SUPPORT_PEER_H
#define LEAT_TESTS_SUPPORT_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Connects to a port of the loopback of that IP version; the descriptor, or -1. */
int peer_connect(int version, uint16_t port);

/** Listens on a free IPv4 port, with room for one connection, and never accepts: no later connect gets an answer. */
int peer_deaf_listener(uint16_t *port);

/** Tells whether this system has that IP version. */
bool peer_has(int version);

/** Writes a string, all of it; checked. */
void peer_write(int peer, const char *text);

/** Reads exactly `length` bytes (checked) and returns them as text until the next call. */
const char *peer_read(int peer, size_t length);

/** Reads to the end of the stream: the number of bytes, or a negated errno value. */
int64_t peer_drain(int peer);

/** Closes with a reset. */
void peer_reset(int peer);

#endif
