/**
 * Lines: splits inbound bytes at LF or CR LF. Outbound nothing happens.
 *
 *     {&leat_line_decoder, &(const leat_line_config){.max_length = 1024}}
 *
 * fed "hello\r\nwor" fires "hello" and waits for the rest of "wor". A lone CR is content.
 */
#ifndef LEAT_HANDLERS_LINE_H
#define LEAT_HANDLERS_LINE_H

#include "core/handler.h"

LEAT_BEGIN_DECLS

/** How lines are split; all zero is a sane default. */
typedef struct leat_line_config {
    uint64_t max_length; /**< bytes a line may have, its end not counted; 0 = 8192. At most 1 GiB. */
    bool keep_end;       /**< leave LF or CR LF at the end of what is fired */
    bool last_line;      /**< at `eof`, what has no end is a line too, not an error */
    bool report_late;    /**< report a line that is too long at its end, not as soon as it is too long */
} leat_line_config;

/**
 * ByteBufs in, a ByteBuf a line out. A line that is too long is reported once, as LEAT_ETOOLONG, skipped up to its end,
 * and decoding goes on behind it. A last line without an end is reported as LEAT_ETRUNCATED at `eof`, unless last_line
 * is set.
 */
LEAT_API extern const leat_handler leat_line_decoder;

LEAT_END_DECLS

#endif
