#include "catalogue.h"

#include <leat/handlers/aggregator.h>
#include <leat/handlers/delimiter.h>
#include <leat/handlers/fixed.h>
#include <leat/handlers/length_field_decoder.h>
#include <leat/handlers/length_field_prepender.h>
#include <leat/handlers/line.h>
#include <leat/handlers/varint.h>

/* Fed "hello\r\nwor", fires "hello". */
const leat_stage lines[] = {{&leat_line_decoder, &(const leat_line_config){.max_length = 1024}}, {0}};

/* Fed "abcdefgh", fires "abc" and "def". */
const leat_stage threes[] = {{&leat_fixed_decoder, &(const leat_fixed_config){.length = 3}}, {0}};

/* Fed "a$$b;c", fires "a" and "b". */
static const leat_span ends[] = {{(const uint8_t *)"$$", 2}, {(const uint8_t *)";", 1}};
const leat_stage delimited[] = {
    {&leat_delimiter_decoder, &(const leat_delimiter_config){.delimiters = ends, .count = 2}}, {0}};

/* Fed 00 03 "abc", fires "abc"; written "abc", sends 00 03 "abc". */
const leat_stage length_fields[] = {
    {&leat_length_field_decoder, &(const leat_length_field_decoder_config){.field_length = 2, .strip = 2}},
    {&leat_length_field_prepender, &(const leat_length_field_prepender_config){.field_length = 2}},
    {0}};

/* Fed 03 "abc", fires "abc"; written "abc", sends 03 "abc". */
const leat_stage varints[] = {{&leat_varint_decoder}, {&leat_varint_prepender}, {0}};

/* Fed "ab\ncd\n.\n", fires "abcd": the parts of a message end with a line that is a dot. */
static leat_part part_of(leat_msg line, void *context) {
    const leat_bytebuf *part = leat_msg_bytebuf(line);
    (void)context;
    return leat_bytebuf_equals_bytes(part, ".", 1) ? LEAT_PART_LAST : LEAT_PART_MORE;
}

static leat_msg without_dot(leat_bytebuf *joined, void *context) {
    (void)context;
    leat_bytebuf_set_writer_index(joined, leat_bytebuf_writer_index(joined) - 1);
    return leat_msg_of_bytebuf(joined);
}

const leat_stage joined_lines[] = {
    {&leat_line_decoder},
    {&leat_aggregator, &(const leat_aggregator_config){.part_of = part_of, .whole_of = without_dot}},
    {0}};
