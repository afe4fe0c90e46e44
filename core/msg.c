#include "core/msg.h"

static void bytebuf_retain(void *obj) {
    leat_bytebuf_retain((leat_bytebuf *)obj);
}

static void bytebuf_release(void *obj) {
    leat_bytebuf_release((leat_bytebuf *)obj);
}

static uint64_t bytebuf_size(const void *obj) {
    return leat_bytebuf_readable((const leat_bytebuf *)obj);
}

const leat_type leat_type_bytebuf = {
    .name = "ByteBuf", .retain = bytebuf_retain, .release = bytebuf_release, .size = bytebuf_size};

const leat_type *const leat_only_bytebuf[] = {&leat_type_bytebuf, NULL};

const leat_type *const leat_no_type[] = {NULL};

leat_msg leat_msg_retain(leat_msg msg) {
    if (msg.type && msg.type->retain)
        msg.type->retain(msg.obj);
    return msg;
}

void leat_msg_release(leat_msg msg) {
    if (msg.obj && msg.type && msg.type->release)
        msg.type->release(msg.obj);
}

uint64_t leat_msg_size(leat_msg msg) {
    return msg.type && msg.type->size ? msg.type->size(msg.obj) : 0;
}
