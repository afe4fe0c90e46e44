/**
 * Legacy TCP in: the frames of handlers/legacy_tcp_framer.h, from bytes to events. Outbound nothing happens.
 *
 *     {&leat_legacy_tcp_decoder}
 *
 *     static void on_read(leat_ctx *ctx, leat_msg msg) {
 *         const leat_legacy_tcp_message *event = leat_msg_as(msg, &leat_type_legacy_tcp);
 *         if (event->opcode == LEAT_LEGACY_TCP_NEXT)
 *             use(leat_bytebuf_retain(event->payload));
 *         leat_msg_release(msg);
 *     }
 *
 * fed 00 00 00 0D 01 03 "obs" 00 00 00 04 01 "abc" fires one event: opcode 1, name "obs", payload "abc". It reads the
 * length field of frames itself, so that nothing stands in front of it but, maybe, an inflater.
 */
#ifndef LEAT_HANDLERS_LEGACY_TCP_DECODER_H
#define LEAT_HANDLERS_LEGACY_TCP_DECODER_H

#include "core/handler.h"
#include "handlers/legacy_tcp_framer.h"

LEAT_BEGIN_DECLS

/** How frames are read; all zero is a sane default. */
typedef struct leat_legacy_tcp_decoder_config {
    uint64_t
        max_frame; /**< bytes of a frame, its length field included; 0 = LEAT_LEGACY_TCP_FRAME_MAX. At most 2^32. */
    bool drop_heartbeats; /**< do not fire heartbeats (an idle handler has noticed their bytes anyway) */
} leat_legacy_tcp_decoder_config;

/** An event, what a message of leat_type_legacy_tcp points to. */
typedef struct leat_legacy_tcp_message {
    int opcode;            /**< a leat_legacy_tcp_opcode */
    leat_span name;        /**< of its frame, UTF-8 as the peer wrote it, unchecked */
    leat_bytebuf *payload; /**< never NULL; retain it to keep it. A subscription's is its map as it came, not read */
} leat_legacy_tcp_message;

/** The type of events. They can be shared. */
LEAT_API extern const leat_type leat_type_legacy_tcp;

/**
 * ByteBufs in, a message of leat_type_legacy_tcp an event out, as soon as it is whole; payloads are not copied. Every
 * length is held against the frame. LEAT_ETOOLONG (a frame above max_frame, found with its length), LEAT_ECORRUPT
 * (another version, a name above 127 bytes, whatever leat_legacy_tcp_read_next refuses) end decoding for good; so does
 * an end inside a frame, LEAT_ETRUNCATED. Events in front of the fault have been fired.
 */
LEAT_API extern const leat_handler leat_legacy_tcp_decoder;

LEAT_END_DECLS

#endif
