/** Addresses of sockets: numeric, or names resolved at set-up. */
#ifndef LEAT_TRANSPORTS_ADDRESS_H
#define LEAT_TRANSPORTS_ADDRESS_H

#include "core/base.h"

LEAT_BEGIN_DECLS

/** An IPv4 or IPv6 address with its port. A plain value. */
typedef struct leat_address {
    uint8_t bytes[16]; /**< in network order; IPv4 uses the first four */
    uint32_t scope;    /**< the interface of a link-local IPv6 address, or 0 */
    uint16_t port;
    uint8_t family; /**< 4, 6, or 0 = none */
} leat_address;

/** Bytes that hold any address as text with its NUL: "[ffff:…%4294967295]:65535". */
#define LEAT_ADDRESS_TEXT 72

/**
 * Resolves "127.0.0.1:80", "[::1]:80", "localhost:80" or "*:80" (every interface, both versions) into at most `max`
 * addresses, in the order in which to try them. Blocks while a name is looked up; numeric addresses do not.
 * Returns their count (> 0), or LEAT_EINVAL (no such form, or no port from 0 to 65535), LEAT_ENOTFOUND (no such name),
 * LEAT_ENOMEM, with the reason in `problem` (may be NULL). Any thread.
 */
LEAT_API int leat_address_resolve(const char *text, leat_address *addresses, size_t max, leat_problem *problem);

/** Writes an address as text, "127.0.0.1:80" or "[::1]:80"; returns the whole length as snprintf does. Any thread. */
LEAT_API size_t leat_address_format(const leat_address *address, char *text, size_t size);

/** Tells whether the address is this machine's loopback: 127.0.0.0/8, ::1, or ::ffff:127.0.0.0/104. Any thread. */
LEAT_API bool leat_address_is_loopback(const leat_address *address);

LEAT_END_DECLS

#endif
