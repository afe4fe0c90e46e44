/**
 * Aggregation: joins messages that come in parts (chunks) into one, without copying the larger parts.
 *
 *     static leat_part part_of(leat_msg msg, void *context) {
 *         const leat_bytebuf *line = leat_msg_bytebuf(msg);
 *         (void)context;
 *         return leat_bytebuf_find_byte(line, leat_bytebuf_reader_index(line), ';') < 0 ? LEAT_PART_MORE :
 * LEAT_PART_LAST;
 *     }
 *
 *     {&leat_aggregator, &(const leat_aggregator_config){.part_of = part_of, .max_length = 4096}}
 */
#ifndef LEAT_HANDLERS_AGGREGATOR_H
#define LEAT_HANDLERS_AGGREGATOR_H

#include "core/handler.h"

LEAT_BEGIN_DECLS

/** What a message is to the one that is being joined. */
typedef enum leat_part {
    LEAT_PART_NONE, /**< not a part: it passes unchanged, behind nothing and before everything that is being joined */
    LEAT_PART_MORE, /**< a part, and more will follow */
    LEAT_PART_LAST  /**< the last part, or the only one */
} leat_part;

/** How parts are recognised and joined. Zero but for part_of is a sane default. */
typedef struct leat_aggregator_config {
    leat_part (*part_of)(leat_msg msg, void *context); /**< looks at a message; required */
    /** Turns a part into its bytes: takes `msg`, returns a buffer that the aggregator then owns, or NULL = no memory.
     * NULL = parts are ByteBufs. */
    leat_bytebuf *(*bytes_of)(leat_msg msg, void *context);
    /** Turns the joined bytes into what is fired: takes `bytes`, returns a message, or one with type NULL = no memory.
     * NULL = the joined ByteBuf is fired. */
    leat_msg (*whole_of)(leat_bytebuf *bytes, void *context);
    void *context;       /**< handed to the functions, outlives the pipeline */
    uint64_t max_length; /**< bytes of a joined message; 0 = 1 MiB. At most 2^40. */
} leat_aggregator_config;

/**
 * Parts in, a joined message out: a composite, with parts below 512 bytes copied together. A message that grows too
 * long is reported once, as LEAT_ETOOLONG; its parts up to the last are dropped, and the next is joined again. A
 * message that is unfinished at `eof` is LEAT_ETRUNCATED. Removed, it hands on the bytes that it has joined so far, as
 * they are.
 */
LEAT_API extern const leat_handler leat_aggregator;

LEAT_END_DECLS

#endif
