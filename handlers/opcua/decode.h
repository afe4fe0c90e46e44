/**
 * OPC UA Binary (OPC 10000-6, 5.2) to values. A decoder reads one message; it holds the message's buffer, plain or
 * composite, and one arena for everything whose size depends on the message.
 *
 *     leat_opcua_decoder decoder;
 *     int code = leat_opcua_decoder_init(&decoder, buf, leat_unpooled(), NULL);
 *     leat_opcua_value value;
 *     if (code == 0)
 *         code = leat_opcua_decode_variant(&decoder, &value);
 *     ... look at the value ...
 *     leat_opcua_decoder_clean_up(&decoder);
 *
 * Arrays of fixed width come as views of the buffer (leat_opcua_get, _copy, _data, _spans of value.h); leat_opcua_hold
 * lets one outlive the decoder. Everything else a value points to lies in the buffer or the arena and ends with the
 * decoder.
 */
#ifndef LEAT_HANDLERS_OPCUA_DECODE_H
#define LEAT_HANDLERS_OPCUA_DECODE_H

#include "core/cursor.h"
#include "handlers/opcua/value.h"

LEAT_BEGIN_DECLS

/** Where a decoder reads; for its own use. */
typedef struct leat_opcua_input {
    leat_reader reader;
    const leat_opcua_options *options;
} leat_opcua_input;

/** Reads one message. The members are for its own use. */
typedef struct leat_opcua_decoder {
    leat_opcua_input input;
    leat_alloc *alloc;
    uint64_t message_bytes;
    void *blocks;     /* of the arena, the last one first */
    uint8_t *free;    /* room in the current block */
    uint64_t room;    /* how much that is */
    uint64_t prefers; /* the size of a block, once there is one */
    uint64_t memory;  /* bytes that may still be allocated, once there is one */
} leat_opcua_decoder;

/**
 * Starts decoding at the reader index of `buf`, which stays the caller's: it lives and is not changed until the
 * clean-up. `options` may be NULL, and outlive the decoder; the arena comes from `alloc`. Returns 0, or LEAT_ETOOLONG
 * when more bytes are readable than a message may have; then there is nothing to clean up.
 */
LEAT_API int leat_opcua_decoder_init(leat_opcua_decoder *decoder, leat_bytebuf *buf, leat_alloc *alloc,
                                     const leat_opcua_options *options);

/** Frees the arena. The reader index of the buffer is where it was. */
LEAT_API void leat_opcua_decoder_clean_up(leat_opcua_decoder *decoder);

/** Returns how many bytes were decoded so far: what to skip in the buffer then. */
LEAT_API uint64_t leat_opcua_decoder_taken(const leat_opcua_decoder *decoder);

/**
 * Decodes a Variant (5.2.2.16). Returns 0; or, with nothing taken and `value` null: LEAT_ETRUNCATED (bytes are missing,
 * also when a count says so), LEAT_ECORRUPT (not OPC UA), LEAT_ETOOLONG (an array or string above its limit),
 * LEAT_ELIMIT (rank, depth or memory), LEAT_ENOMEM. Of the dimensions an array of one is a plain array; types 26 to 31
 * are read as ByteStrings.
 */
LEAT_API int leat_opcua_decode_variant(leat_opcua_decoder *decoder, leat_opcua_value *value);

/**
 * Decodes a structure field of a type and shape; the type says how an element looks, also VARIANT and DATA_VALUE.
 * Returns as leat_opcua_decode_variant, and LEAT_EINVAL for a type or shape that there is not.
 */
LEAT_API int leat_opcua_decode_field(leat_opcua_decoder *decoder, uint8_t type, uint8_t shape, leat_opcua_value *value);

LEAT_END_DECLS

#endif
