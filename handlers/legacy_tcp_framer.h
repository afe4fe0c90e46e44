/**
 * Legacy TCP framing, as Mantis' stage-to-stage protocol has it. All numbers are big endian:
 *
 *     frame  = u32 length of all that follows | 0x01 | u8 name length (0..126) | name | events
 *     event  = u32 length of all that follows | u8 opcode | payload
 *
 * The handler turns each outbound ByteBuf of events into [0x01, name length, name][events]; the length field in front
 * is leat_length_field_prepender's:
 *
 *     {&leat_length_field_prepender}, {&leat_legacy_tcp_framer, &(const leat_legacy_tcp_framer_config){.name = "obs"}}
 *
 * The functions make and read events without a pipeline.
 */
#ifndef LEAT_HANDLERS_LEGACY_TCP_FRAMER_H
#define LEAT_HANDLERS_LEGACY_TCP_FRAMER_H

#include "core/handler.h"

LEAT_BEGIN_DECLS

/** The longest name of a frame, in bytes of UTF-8. */
#define LEAT_LEGACY_TCP_NAME_MAX 126

/** Protocol version: the first byte behind the length. */
#define LEAT_LEGACY_TCP_VERSION 1

/** The largest frame that peers take, its length field included. */
#define LEAT_LEGACY_TCP_FRAME_MAX 5242880

/** What an event is. */
typedef enum leat_legacy_tcp_opcode {
    LEAT_LEGACY_TCP_NEXT = 1,
    LEAT_LEGACY_TCP_ERROR = 2,
    LEAT_LEGACY_TCP_COMPLETED = 3,
    LEAT_LEGACY_TCP_SUBSCRIBED = 4,
    LEAT_LEGACY_TCP_UNSUBSCRIBED = 5,
    LEAT_LEGACY_TCP_HEARTBEAT = 6,
    LEAT_LEGACY_TCP_NON_DATA_ERROR = 7
} leat_legacy_tcp_opcode;

/** How frames are named. */
typedef struct leat_legacy_tcp_framer_config {
    const char *name; /**< at most 126 bytes, outlives the pipeline; NULL or "" = no name */
} leat_legacy_tcp_framer_config;

/**
 * Puts version and name in front of each outbound ByteBuf, without copying it and with at most one allocation. A
 * message that is no ByteBuf passes unchanged.
 */
LEAT_API extern const leat_handler leat_legacy_tcp_framer;

/**
 * Makes an event with a copy of `size` bytes of payload: one allocation. The caller owns it. NULL = no memory, or
 * `size` is above what the length can say. A subscription's payload is its map behind the map's u32 length; without a
 * map (`size` is 0, or that length) it is written as the original writes it, with an event length of 2. Any thread.
 */
LEAT_API leat_bytebuf *leat_legacy_tcp_event(leat_alloc *alloc, leat_legacy_tcp_opcode opcode, const void *payload,
                                             size_t size);

/** Makes a heartbeat event, 00 00 00 01 06, on static bytes. The caller owns it; NULL = no memory. Any thread. */
LEAT_API leat_bytebuf *leat_legacy_tcp_heartbeat(leat_alloc *alloc);

/** An event that was read: its payload is `payload_length` bytes at `payload` of the buffer it was read from. */
typedef struct leat_legacy_tcp_read_event {
    int opcode;
    uint64_t payload; /**< index in the buffer */
    uint64_t payload_length;
} leat_legacy_tcp_read_event;

/**
 * Reads version and name off the front of a frame (without its length field). Returns 0 with the name's place in
 * `name` (may be NULL; its opcode is 0), or LEAT_ECORRUPT: too short, another version, a name above 127 bytes or beyond
 * the frame.
 */
LEAT_API int leat_legacy_tcp_read_header(leat_bytebuf *frame, leat_legacy_tcp_read_event *name);

/**
 * Reads the next event off a frame behind its header. Returns 1; 0 at the frame's end; or LEAT_ECORRUPT, with the
 * reader where it was: a length beyond the frame or without room for the opcode, an unknown opcode, a subscription
 * whose map does not end with its event. Nothing is deserialised: a subscription's payload is its length and map as
 * they came.
 */
LEAT_API int leat_legacy_tcp_read_next(leat_bytebuf *frame, leat_legacy_tcp_read_event *event);

/**
 * Looks at the event at the reader index of `in`, of whose frame `room` bytes are left, here or yet to come: for
 * readers that do not wait for whole frames. Returns 1 with the event (its payload may still be incomplete), 0 when
 * more bytes are needed to tell, or LEAT_ECORRUPT as leat_legacy_tcp_read_next. Nothing is consumed: the event ends
 * with its payload.
 */
LEAT_API int leat_legacy_tcp_look(const leat_bytebuf *in, uint64_t room, leat_legacy_tcp_read_event *event);

LEAT_END_DECLS

#endif
