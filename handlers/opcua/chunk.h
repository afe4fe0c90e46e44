/** Messages cut into the chunks of OPC UA Secure Conversation (OPC 10000-6, 6.7.2), without copying them. */
#ifndef LEAT_HANDLERS_OPCUA_CHUNK_H
#define LEAT_HANDLERS_OPCUA_CHUNK_H

#include "core/composite.h"

LEAT_BEGIN_DECLS

/** Bytes before the body of each chunk: message header, symmetric security header, sequence header. */
#define LEAT_OPCUA_CHUNK_HEADER 24

/** How messages of a secure channel are cut, and what their headers say. Security mode None: nothing is signed. */
typedef struct leat_opcua_chunking {
    uint32_t chunk_bytes; /**< most bytes of a chunk with its header; 0 = 65,535, at least 25 */
    uint32_t most_chunks; /**< of one message; 0 = 4,096 */
    uint32_t channel;     /**< SecureChannelId */
    uint32_t token;       /**< TokenId */
    uint32_t sequence;    /**< SequenceNumber of the next chunk; counted on, and begins again at 1 as 6.7.2.4 says */
    uint32_t request;     /**< RequestId of the message */
} leat_opcua_chunking;

/**
 * Appends the readable bytes of `message`, which it owns from now on also when it fails, to `composite` as MSG chunks.
 * They are shared, not copied, and cut at any byte; only headers are written. A message without bytes becomes one chunk
 * without a body. Returns 0, or LEAT_EINVAL (a chunk too small for a byte), LEAT_ETOOLONG (more than most_chunks),
 * LEAT_ENOMEM, LEAT_ESHARED or LEAT_ELIMIT; then `composite` and the sequence are where they were.
 */
LEAT_API int leat_opcua_chunk(leat_composite *composite, leat_bytebuf *message, leat_opcua_chunking *chunking);

LEAT_END_DECLS

#endif
