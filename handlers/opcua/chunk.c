#include "handlers/opcua/chunk.h"

enum { DEFAULT_CHUNK_BYTES = 65535, DEFAULT_MOST_CHUNKS = 4096 };

/* Sequence numbers above this one begin again (Part 6, 6.7.2.4). */
static const uint32_t last_sequence = UINT32_MAX - 1024;

typedef struct cutting {
    leat_composite *composite;
    leat_bytebuf *message;
    const leat_opcua_chunking *chunking;
    uint32_t sequence;
    uint64_t body; /* most bytes of a chunk's body */
} cutting;

static uint32_t or_default(uint32_t value, uint32_t fallback) {
    return value ? value : fallback;
}

static int add_header(cutting *cut, uint64_t body, bool is_final) {
    const leat_opcua_chunking *chunking = cut->chunking;
    uint8_t header[LEAT_OPCUA_CHUNK_HEADER] = {'M', 'S', 'G', is_final ? 'F' : 'C'};
    leat_store_u32_le(header + 4, (uint32_t)(body + sizeof header));
    leat_store_u32_le(header + 8, chunking->channel);
    leat_store_u32_le(header + 12, chunking->token);
    leat_store_u32_le(header + 16, cut->sequence);
    leat_store_u32_le(header + 20, chunking->request);
    cut->sequence = cut->sequence > last_sequence ? 1 : cut->sequence + 1;
    return leat_composite_add_bytes(cut->composite, header, sizeof header);
}

static int add_chunk(cutting *cut, uint64_t index) {
    uint64_t left = leat_bytebuf_writer_index(cut->message) - index;
    uint64_t n = left < cut->body ? left : cut->body;
    int code = add_header(cut, n, n == left);
    if (code != 0 || n == 0)
        return code;
    return leat_composite_add_flattened(cut->composite, leat_bytebuf_retain(cut->message), index, n);
}

static int add_chunks(cutting *cut, uint64_t count) {
    uint64_t index = leat_bytebuf_reader_index(cut->message);
    int code = leat_bytebuf_reserve(leat_composite_buffer(cut->composite), count * LEAT_OPCUA_CHUNK_HEADER);
    for (; code == 0 && count > 0; count--) {
        code = add_chunk(cut, index);
        index += cut->body;
    }
    return code;
}

static int count_chunks(const cutting *cut, uint64_t *count) {
    uint64_t bytes = leat_bytebuf_readable(cut->message);
    *count = bytes == 0 ? 1 : (bytes - 1) / cut->body + 1;
    return *count > or_default(cut->chunking->most_chunks, DEFAULT_MOST_CHUNKS) ? LEAT_ETOOLONG : 0;
}

static int cut_up(cutting *cut) {
    leat_bytebuf *target = leat_composite_buffer(cut->composite);
    uint64_t writer = leat_bytebuf_writer_index(target);
    uint64_t count;
    if (cut->message == target)
        return LEAT_EINVAL;
    int code = count_chunks(cut, &count);
    if (code != 0)
        return code;
    code = add_chunks(cut, count);
    if (code != 0)
        leat_bytebuf_set_writer_index(target, writer);
    return code;
}

int leat_opcua_chunk(leat_composite *composite, leat_bytebuf *message, leat_opcua_chunking *chunking) {
    uint32_t bytes = or_default(chunking->chunk_bytes, DEFAULT_CHUNK_BYTES);
    cutting cut = {composite, message, chunking, chunking->sequence, (uint64_t)bytes - LEAT_OPCUA_CHUNK_HEADER};
    int code = bytes > LEAT_OPCUA_CHUNK_HEADER ? cut_up(&cut) : LEAT_EINVAL;
    if (code == 0)
        chunking->sequence = cut.sequence;
    leat_bytebuf_release(message);
    return code;
}
