/**
 * Logging: says what passes through this place of a pipeline, line by line, to a function of yours or to stderr.
 *
 *     {&leat_log, &(const leat_log_config){.level = LEAT_LOG_TRACE, .name = "wire"}}
 *
 * prints, for a message of five bytes:
 *
 *     wire: read ByteBuf of 5 bytes
 *     wire: 00000000  68 65 6c 6c 6f                                   |hello|
 *
 * The level is looked at first: what is not said costs a comparison. Contents are shown as they are, with passwords and
 * all: LEAT_LOG_TRACE is for looking at a wire, not for keeping.
 */
#ifndef LEAT_HANDLERS_LOG_H
#define LEAT_HANDLERS_LOG_H

#include "core/handler.h"

LEAT_BEGIN_DECLS

/** How much is said; each level says what those before it say. */
typedef enum leat_log_level {
    LEAT_LOG_DEFAULT, /**< LEAT_LOG_INFO */
    LEAT_LOG_ERROR,   /**< errors */
    LEAT_LOG_INFO,    /**< active, eof, close, inactive */
    LEAT_LOG_DEBUG,   /**< each message, each user event, writable */
    LEAT_LOG_TRACE    /**< the first 1,024 bytes of each ByteBuf, in hex; read_done and flush */
} leat_log_level;

/** Takes a line without its end; `line` is only lent. Runs inside the turn: be quick, and call nothing of Leat's. */
typedef void (*leat_log_sink)(void *context, leat_log_level level, const char *line);

/** What is said to whom; all zero is a sane default. */
typedef struct leat_log_config {
    leat_log_level level;
    const char *name;   /**< begins each line, outlives the pipeline; NULL = "channel" */
    leat_log_sink sink; /**< NULL = stderr */
    void *context;      /**< handed to `sink`, outlives the pipeline */
} leat_log_config;

/** Says what passes, and passes it on unchanged. It allocates nothing. */
LEAT_API extern const leat_handler leat_log;

LEAT_END_DECLS

#endif
