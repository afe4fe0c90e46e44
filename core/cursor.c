#include "core/cursor.h"

#include "core/bytebuf_internal.h"

void leat_reader_aim(leat_reader *reader, uint64_t index) {
    static const uint8_t nothing[1];
    uint64_t have = 0;
    const uint8_t *bytes = nothing;
    if (index < reader->buf->writer) {
        bytes = leat_bytebuf_at(reader->buf, index, &have);
        have = leat_bytebuf_min(have, reader->buf->writer - index);
    }
    reader->at = bytes;
    reader->end = bytes + have;
    reader->end_index = index + have;
}

bool leat_reader_bytes(leat_reader *reader, void *out, size_t n) {
    if (n > leat_reader_left(reader))
        return false;
    uint64_t index = leat_reader_index(reader);
    leat_bytebuf_copy_out(reader->buf, index, out, n);
    leat_reader_aim(reader, index + n);
    return true;
}

bool leat_reader_skip(leat_reader *reader, uint64_t n) {
    if (n > leat_reader_left(reader))
        return false;
    leat_reader_aim(reader, leat_reader_index(reader) + n);
    return true;
}

bool leat_writer_bytes(leat_writer *writer, const void *data, size_t n) {
    leat_writer_finish(writer);
    bool done = leat_bytebuf_write_bytes(writer->buf, data, n);
    *writer = leat_writer_begin(writer->buf);
    return done;
}
