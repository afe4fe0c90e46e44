/** Between our addresses and the system's. */
#ifndef LEAT_TRANSPORTS_ADDRESS_INTERNAL_H
#define LEAT_TRANSPORTS_ADDRESS_INTERNAL_H

#include "transports/address.h"

#include <netinet/in.h>
#include <sys/socket.h>

/** An address as the system takes it. */
typedef union leat_system_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} leat_system_address;

/** Fills `system`, whose length it returns. */
socklen_t leat_address_to_system(const leat_address *address, leat_system_address *system);

/** Returns our form of `system`; family 0 if it is neither IPv4 nor IPv6. */
leat_address leat_address_from_system(const leat_system_address *system);

#endif
