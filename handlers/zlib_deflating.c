#include "handlers/zlib_internal.h"

enum { DEFAULT_LEVEL = 6, DEFAULT_MEMORY = 8, DEFAULT_CHUNK = 16384, MARKER_ROOM = 16, SPANS = 16 };

void leat_zlib_deflating_init(zlib_deflating *self, const leat_zlib_deflater_config *config, leat_alloc *alloc) {
    if (config)
        self->config = *config;
    self->alloc = alloc;
    self->config.chunk = self->config.chunk ? self->config.chunk : DEFAULT_CHUNK;
}

static int level_of(const leat_zlib_deflater_config *config) {
    if (config->level == LEAT_ZLIB_STORED)
        return 0;
    return config->level ? config->level : DEFAULT_LEVEL;
}

/* Begins a stream; it is fine when one has begun. */
static int begin(zlib_deflating *self) {
    const leat_zlib_deflater_config *config = &self->config;
    if (self->begun)
        return 0;
    leat_zlib_use_alloc(&self->stream, self->alloc);
    int memory = config->memory_level ? (int)config->memory_level : DEFAULT_MEMORY;
    int bits = leat_zlib_window_bits(config->format, config->window_bits);
    int status = deflateInit2(&self->stream, level_of(config), Z_DEFLATED, bits, memory, Z_DEFAULT_STRATEGY);
    self->begun = status == Z_OK;
    if (self->begun && config->dictionary.length)
        status = deflateSetDictionary(&self->stream, config->dictionary.bytes, (uInt)config->dictionary.length);
    return leat_zlib_code(status);
}

int leat_zlib_deflating_restart(zlib_deflating *self) {
    const leat_span *dictionary = &self->config.dictionary;
    int status = deflateReset(&self->stream);
    if (status == Z_OK && dictionary->length)
        status = deflateSetDictionary(&self->stream, dictionary->bytes, (uInt)dictionary->length);
    self->unflushed = 0;
    return leat_zlib_code(status);
}

void leat_zlib_deflating_drop(zlib_deflating *self) {
    leat_bytebuf_release(self->block);
    if (self->full)
        leat_bytebuf_release(leat_composite_buffer(self->full));
    self->block = NULL;
    self->full = NULL;
}

void leat_zlib_deflating_clean_up(zlib_deflating *self) {
    leat_zlib_deflating_drop(self);
    if (self->begun)
        deflateEnd(&self->stream);
    self->begun = false;
}

/* Puts the block behind the full ones. */
static int put_aside(zlib_deflating *self) {
    leat_bytebuf *block = self->block;
    if (!self->full)
        self->full = leat_composite_new(self->alloc, 4);
    if (!self->full)
        return LEAT_ENOMEM;
    self->block = NULL;
    return leat_composite_add(self->full, block);
}

/* Room that `bytes` of input and the end of what they become certainly fit into, if one block can have so much. */
static uint64_t room_for(zlib_deflating *self, uint64_t bytes) {
    return bytes < self->config.chunk ? deflateBound(&self->stream, (uLong)bytes) + MARKER_ROOM : UINT64_MAX;
}

static uint64_t size_for(zlib_deflating *self, uint64_t bytes) {
    uint64_t room = room_for(self, bytes);
    return room < self->config.chunk ? room : self->config.chunk;
}

/* Makes sure that at least `least` bytes of output have room, with a new block of `size` bytes if need be. */
static int make_room(zlib_deflating *self, uint64_t least, uint64_t size) {
    if (self->block && leat_bytebuf_writable(self->block) >= least)
        return 0;
    if (self->block && leat_bytebuf_readable(self->block) > 0) {
        int code = put_aside(self);
        if (code != 0)
            return code;
    }
    leat_bytebuf_release(self->block);
    self->block = leat_bytebuf_new(self->alloc, size);
    return self->block ? 0 : LEAT_ENOMEM;
}

static bool has_more_to_do(const z_stream *stream, int flush, int status) {
    if (flush == Z_FINISH)
        return status != Z_STREAM_END;
    return flush == Z_NO_FLUSH ? stream->avail_in > 0 : stream->avail_out == 0;
}

/* Calls deflate until all input is in and, unless `flush` is none, all output is out: room that is left tells. */
static int run(zlib_deflating *self, int flush) {
    z_stream *stream = &self->stream;
    int status, code = 0;
    do {
        code = make_room(self, 1, self->config.chunk);
        if (code != 0)
            return code;
        uInt room = (uInt)leat_bytebuf_writable(self->block);
        stream->next_out = leat_bytebuf_room(self->block, room);
        stream->avail_out = room;
        status = deflate(stream, flush);
        leat_bytebuf_wrote(self->block, room - stream->avail_out);
        code = leat_zlib_code(status);
    } while (code == 0 && has_more_to_do(stream, flush, status));
    return code;
}

/*
 * Flushes. A marker that just fills the room would be written twice, so unless all of it fits for certain, what was
 * deflated leaves first and the marker has room of its own.
 */
int leat_zlib_deflating_flush(zlib_deflating *self) {
    uint64_t size = size_for(self, self->unflushed);
    int code = make_room(self, leat_bytebuf_readable(self->block) ? 1 : size, size);
    if (code == 0 && leat_bytebuf_writable(self->block) < room_for(self, self->unflushed))
        code = run(self, Z_BLOCK);
    if (code == 0)
        code = make_room(self, MARKER_ROOM, MARKER_ROOM);
    self->unflushed = 0;
    return code == 0 ? run(self, Z_SYNC_FLUSH) : code;
}

static int end_input(zlib_deflating *self, int flush) {
    return flush == Z_SYNC_FLUSH ? leat_zlib_deflating_flush(self) : run(self, flush);
}

static int feed_span(zlib_deflating *self, leat_span span, int flush) {
    int code = 0;
    do {
        size_t length = span.length < LEAT_ZLIB_LARGEST_PIECE ? span.length : LEAT_ZLIB_LARGEST_PIECE;
        self->stream.next_in = (z_const Bytef *)(uintptr_t)span.bytes;
        self->stream.avail_in = (uInt)length;
        span = (leat_span){span.bytes + length, span.length - length};
        code = span.length ? run(self, Z_NO_FLUSH) : end_input(self, flush);
    } while (code == 0 && span.length > 0);
    return code;
}

static int feed_spans(zlib_deflating *self, const leat_bytebuf *in, int flush) {
    leat_bytebuf_position position = {0};
    leat_span spans[SPANS];
    uint64_t bytes;
    int code = 0;
    for (size_t count; code == 0 && (count = leat_bytebuf_spans_at(in, position, spans, SPANS, &bytes)) > 0;) {
        for (size_t i = 0; i < count && code == 0; i++)
            code = feed_span(self, spans[i], Z_NO_FLUSH);
        leat_bytebuf_position_advance(in, &position, bytes);
    }
    return code == 0 ? end_input(self, flush) : code;
}

int leat_zlib_deflating_feed(zlib_deflating *self, const leat_bytebuf *in, int flush) {
    int code = begin(self);
    if (code != 0)
        return code;
    self->unflushed += leat_bytebuf_readable(in);
    code = make_room(self, 1, size_for(self, self->unflushed));
    if (code != 0)
        return code;
    const uint8_t *bytes = leat_bytebuf_data(in);
    if (!bytes)
        return feed_spans(self, in, flush);
    return feed_span(self, (leat_span){bytes, (size_t)leat_bytebuf_readable(in)}, flush);
}

int leat_zlib_deflating_finish(zlib_deflating *self) {
    int code = begin(self);
    self->stream.avail_in = 0;
    if (code == 0)
        code = make_room(self, 1, size_for(self, self->unflushed));
    return code == 0 ? run(self, Z_FINISH) : code;
}

leat_bytebuf *leat_zlib_deflating_take_full(zlib_deflating *self) {
    leat_composite *full = self->full;
    self->full = NULL;
    return full ? leat_composite_buffer(full) : NULL;
}

int leat_zlib_deflating_take_all(zlib_deflating *self, leat_bytebuf **out) {
    int code = 0;
    *out = NULL;
    if (self->block && leat_bytebuf_readable(self->block) > 0) {
        code = leat_bytebuf_keep(&self->block);
        if (code == 0 && self->full)
            code = put_aside(self);
        if (code != 0)
            return code;
        *out = self->block;
        self->block = NULL;
    }
    if (self->full)
        *out = leat_zlib_deflating_take_full(self);
    return 0;
}

/* ---- what the handler and the function have in common ---- */

int leat_zlib_deflater_check(const void *given, leat_problem *problem) {
    const leat_zlib_deflater_config *config = given;
    if (!config)
        return 0;
    if (config->level < LEAT_ZLIB_STORED || config->level > 9)
        return leat_problem_set(problem, LEAT_EINVAL, "zlib_deflater: there is no level %d", config->level);
    if (config->memory_level > 9)
        return leat_problem_set(problem, LEAT_EINVAL, "zlib_deflater: memory_level is %u, 9 at most",
                                config->memory_level);
    if ((unsigned)config->flush > LEAT_ZLIB_FLUSH_END)
        return leat_problem_set(problem, LEAT_EINVAL, "zlib_deflater: there is no flush %d", (int)config->flush);
    bool is_gzip = config->format == LEAT_ZLIB_AUTO || config->format == LEAT_ZLIB_GZIP;
    if (config->dictionary.length && (is_gzip || config->dictionary.length > UINT32_MAX))
        return leat_problem_set(problem, LEAT_EINVAL, "zlib_deflater: %s",
                                is_gzip ? "gzip has no dictionary" : "the dictionary is 4 GiB or more");
    return leat_zlib_check("zlib_deflater", config->format, config->window_bits, config->chunk, problem);
}

/* ---- without a pipeline ---- */

int leat_zlib_deflate(leat_alloc *alloc, const leat_zlib_deflater_config *config, const leat_bytebuf *in,
                      leat_bytebuf **out) {
    zlib_deflating deflating = {0};
    *out = NULL;
    int code = leat_zlib_deflater_check(config, NULL);
    if (code != 0)
        return code;
    leat_zlib_deflating_init(&deflating, config, alloc);
    code = leat_zlib_deflating_feed(&deflating, in, Z_FINISH);
    if (code == 0)
        code = leat_zlib_deflating_take_all(&deflating, out);
    leat_zlib_deflating_clean_up(&deflating);
    return code;
}
