/*
 * The other side of node-opcua, over pipes:
 *   opcua_codec recode     messages from standard input are decoded and encoded again to standard output
 *   opcua_codec generate   arrays of every type of fixed width, of values that the reader can compute
 * A message is a byte (V = Variant, D = DataValue), its length in 4 bytes, little-endian, and as many bytes.
 */
#include "handlers/opcua/decode.h"
#include "handlers/opcua/encode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 5, ELEMENTS = 1000, LARGEST = 16 };

static void fail(const char *what, int code) {
    fprintf(stderr, "opcua_codec: %s: %s\n", what, leat_error_message(code));
    exit(1);
}

static void write_message(char kind, const leat_bytebuf *message) {
    uint8_t head[HEAD] = {(uint8_t)kind};
    size_t length = (size_t)leat_bytebuf_readable(message);
    leat_store_u32_le(head + 1, (uint32_t)length);
    fwrite(head, 1, sizeof head, stdout);
    fwrite(leat_bytebuf_data(message), 1, length, stdout);
}

/* ---- recode ---- */

static leat_bytebuf *read_message(char *kind) {
    uint8_t head[HEAD];
    if (fread(head, 1, sizeof head, stdin) != sizeof head)
        return NULL;
    size_t length = leat_load_u32_le(head + 1);
    leat_bytebuf *message = leat_bytebuf_new(leat_unpooled(), length);
    uint8_t *room = message ? leat_bytebuf_room(message, length) : NULL;
    if (!room || fread(room, 1, length, stdin) != length)
        fail("message", LEAT_ETRUNCATED);
    leat_bytebuf_wrote(message, length);
    *kind = (char)head[0];
    return message;
}

static void recode(leat_bytebuf *message, char kind) {
    leat_bytebuf *again = leat_bytebuf_new(leat_unpooled(), 0);
    leat_opcua_decoder decoder;
    leat_opcua_value value;
    int code = leat_opcua_decoder_init(&decoder, message, leat_unpooled(), NULL);
    if (code == 0)
        code = kind == 'V' ? leat_opcua_decode_variant(&decoder, &value)
                           : leat_opcua_decode_field(&decoder, LEAT_OPCUA_DATA_VALUE, LEAT_OPCUA_SCALAR, &value);
    if (code != 0)
        fail("decode", code);
    code = kind == 'V' ? leat_opcua_encode_variant(again, &value, NULL) : leat_opcua_encode_field(again, &value, NULL);
    if (code != 0)
        fail("encode", code);
    write_message(kind, again);
    leat_opcua_decoder_clean_up(&decoder);
    leat_bytebuf_release(again);
    leat_bytebuf_release(message);
}

static void recode_all(void) {
    char kind;
    for (leat_bytebuf *message; (message = read_message(&kind));)
        recode(message, kind);
}

/* ---- generate ---- */

static void put_date_time(uint8_t *to, int64_t i) {
    int64_t time = 116444736000000000 + 1000000000000 * 10000 + i * 10000;
    memcpy(to, &time, sizeof time);
}

static void put_status(uint8_t *to, int64_t i) {
    uint32_t status = i % 2 ? 0x800a0000 : 0; /* Bad_Timeout, and Good */
    memcpy(to, &status, sizeof status);
}

/* Byte i is i * 31 + 7; of Booleans each third is true; a DateTime is a ms later than the one before; known statuses.
 */
static void fill(uint8_t type, uint8_t *elements) {
    for (size_t i = 0; i < ELEMENTS * leat_opcua_width(type); i++)
        elements[i] = type == LEAT_OPCUA_BOOLEAN ? i % 3 == 0 : (uint8_t)(i * 31 + 7);
    for (int64_t i = 0; i < ELEMENTS; i++)
        if (type == LEAT_OPCUA_DATE_TIME)
            put_date_time(elements + 8 * i, i);
        else if (type == LEAT_OPCUA_STATUS_CODE)
            put_status(elements + 4 * i, i);
}

static void generate(uint8_t type) {
    static uint8_t elements[ELEMENTS * LARGEST];
    static const uint32_t dimensions[] = {10, ELEMENTS / 10};
    leat_bytebuf *message = leat_bytebuf_new(leat_unpooled(), 0);
    fill(type, elements);
    leat_opcua_value value = leat_opcua_matrix(type, elements, ELEMENTS, dimensions, 2);
    int code = leat_opcua_encode_variant(message, &value, NULL);
    if (code != 0)
        fail("generate", code);
    write_message('V', message);
    leat_bytebuf_release(message);
}

int main(int count, char **arguments) {
    if (count != 2)
        return 2;
    if (strcmp(arguments[1], "recode") == 0)
        recode_all();
    else
        for (uint8_t type = 0; type < LEAT_OPCUA_TYPES; type++)
            if (leat_opcua_width(type) > 0)
                generate(type);
    return 0;
}
