/** Messages: a typed reference, two registers wide, passed by value from handler to handler. */
#ifndef LEAT_CORE_MSG_H
#define LEAT_CORE_MSG_H

#include "core/bytebuf.h"

LEAT_BEGIN_DECLS

/** What a message is. Each type of your own is one static const struct; its address is its identity. */
typedef struct leat_type {
    const char *name;
    void (*retain)(void *obj);         /**< one reference more; NULL = cannot be shared */
    void (*release)(void *obj);        /**< one reference less; NULL = nothing to release */
    uint64_t (*size)(const void *obj); /**< bytes it stands for in queues; NULL = 0 */
    void *reserved[2];
} leat_type;

/** A message. Whoever holds it owns one reference. */
typedef struct leat_msg {
    const leat_type *type;
    void *obj;
} leat_msg;

/** The type of ByteBufs and CompositeByteBufs. */
LEAT_API extern const leat_type leat_type_bytebuf;

/** A contract list for handlers that read or write nothing but ByteBufs. */
LEAT_API extern const leat_type *const leat_only_bytebuf[];

/** A contract list for handlers that fire or write nothing. */
LEAT_API extern const leat_type *const leat_no_type[];

/** Makes a message of a buffer; the reference goes into the message. */
static inline leat_msg leat_msg_of_bytebuf(leat_bytebuf *buf) {
    leat_msg msg;
    msg.type = &leat_type_bytebuf;
    msg.obj = buf;
    return msg;
}

/** Makes a message of an object of your own type; the reference goes into the message. */
static inline leat_msg leat_msg_of(const leat_type *type, void *obj) {
    leat_msg msg;
    msg.type = type;
    msg.obj = obj;
    return msg;
}

/** Returns the object if the message is of `type`, else NULL. The message keeps its reference. */
static inline void *leat_msg_as(leat_msg msg, const leat_type *type) {
    return msg.type == type ? msg.obj : NULL;
}

/** Returns the buffer if the message is one, else NULL. The message keeps its reference. */
static inline leat_bytebuf *leat_msg_bytebuf(leat_msg msg) {
    return (leat_bytebuf *)leat_msg_as(msg, &leat_type_bytebuf);
}

/** Takes one more reference and returns the message; false types (no `retain`) must not be shared. */
LEAT_API leat_msg leat_msg_retain(leat_msg msg);

/** Gives a message back: releases its reference. */
LEAT_API void leat_msg_release(leat_msg msg);

/** Returns the bytes that the message stands for. */
LEAT_API uint64_t leat_msg_size(leat_msg msg);

LEAT_END_DECLS

#endif
