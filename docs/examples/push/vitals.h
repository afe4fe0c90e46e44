/* This machine's vital signs, from /proc, as JSON. */
#ifndef LEAT_PUSH_PROGRAM_VITALS_H
#define LEAT_PUSH_PROGRAM_VITALS_H

#include <leat/core/bytebuf.h>
#include <leat/handlers/push/server.h>

enum { PUSH_CORES_MAX = 256 };

/* What was read last time: rates are differences. Zero it to begin. */
typedef struct push_vitals {
    uint64_t busy[PUSH_CORES_MAX], all[PUSH_CORES_MAX];
    uint64_t received, sent;
    uint64_t read_at; /* nanoseconds of the loop's clock */
} push_vitals;

/* Reads the signs at `now` (nanoseconds) and appends one line of JSON, without a line end; false = no memory. What
 * /proc does not tell is left out. */
bool push_vitals_write(push_vitals *vitals, uint64_t now, const leat_push_server *server, leat_bytebuf *to);

#endif
