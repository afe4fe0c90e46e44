#include "handlers/zlib_deflater.h"

#include "core/channel.h"
#include "core/composite.h"
#include "handlers/zlib_internal.h"

enum { DEFAULT_LEVEL = 6, DEFAULT_MEMORY = 8, DEFAULT_CHUNK = 16384, MARKER_ROOM = 16, SPANS = 16 };

/* ---- a stream, and the blocks it is deflated into ---- */

struct deflating {
    leat_zlib_deflater_config config;
    leat_alloc *alloc;
    z_stream stream;
    leat_bytebuf *block;  /* the one being filled */
    leat_composite *full; /* those before it */
    uint64_t unflushed;   /* bytes that went in since the last flush */
    bool begun;           /* zlib has its memory */
};

static void prepare(struct deflating *self, const leat_zlib_deflater_config *config, leat_alloc *alloc) {
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
static int begin(struct deflating *self) {
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

/* Makes ready for another stream. */
static int begin_again(struct deflating *self) {
    const leat_span *dictionary = &self->config.dictionary;
    int status = deflateReset(&self->stream);
    if (status == Z_OK && dictionary->length)
        status = deflateSetDictionary(&self->stream, dictionary->bytes, (uInt)dictionary->length);
    self->unflushed = 0;
    return leat_zlib_code(status);
}

static void drop_output(struct deflating *self) {
    leat_bytebuf_release(self->block);
    if (self->full)
        leat_bytebuf_release(leat_composite_buffer(self->full));
    self->block = NULL;
    self->full = NULL;
}

static void clean_up(struct deflating *self) {
    drop_output(self);
    if (self->begun)
        deflateEnd(&self->stream);
    self->begun = false;
}

/* Puts the block behind the full ones. */
static int put_aside(struct deflating *self) {
    leat_bytebuf *block = self->block;
    if (!self->full)
        self->full = leat_composite_new(self->alloc, 4);
    if (!self->full)
        return LEAT_ENOMEM;
    self->block = NULL;
    return leat_composite_add(self->full, block);
}

/* Room that `bytes` of input and the end of what they become certainly fit into, if one block can have so much. */
static uint64_t room_for(struct deflating *self, uint64_t bytes) {
    return bytes < self->config.chunk ? deflateBound(&self->stream, (uLong)bytes) + MARKER_ROOM : UINT64_MAX;
}

static uint64_t size_for(struct deflating *self, uint64_t bytes) {
    uint64_t room = room_for(self, bytes);
    return room < self->config.chunk ? room : self->config.chunk;
}

/* Makes sure that at least `least` bytes of output have room, with a new block of `size` bytes if need be. */
static int make_room(struct deflating *self, uint64_t least, uint64_t size) {
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
static int run(struct deflating *self, int flush) {
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
static int flush_out(struct deflating *self) {
    uint64_t size = size_for(self, self->unflushed);
    int code = make_room(self, leat_bytebuf_readable(self->block) ? 1 : size, size);
    if (code == 0 && leat_bytebuf_writable(self->block) < room_for(self, self->unflushed))
        code = run(self, Z_BLOCK);
    if (code == 0)
        code = make_room(self, MARKER_ROOM, MARKER_ROOM);
    self->unflushed = 0;
    return code == 0 ? run(self, Z_SYNC_FLUSH) : code;
}

static int end_input(struct deflating *self, int flush) {
    return flush == Z_SYNC_FLUSH ? flush_out(self) : run(self, flush);
}

static int feed_span(struct deflating *self, leat_span span, int flush) {
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

static int feed_spans(struct deflating *self, const leat_bytebuf *in, int flush) {
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

/* Deflates the readable bytes of `in`, piece by piece where they lie, and flushes as `flush` says. */
static int feed(struct deflating *self, const leat_bytebuf *in, int flush) {
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

/* Ends the stream: what it holds and the trailer. */
static int finish(struct deflating *self) {
    int code = begin(self);
    self->stream.avail_in = 0;
    if (code == 0)
        code = make_room(self, 1, size_for(self, self->unflushed));
    return code == 0 ? run(self, Z_FINISH) : code;
}

static leat_bytebuf *take_full(struct deflating *self) {
    leat_composite *full = self->full;
    self->full = NULL;
    return full ? leat_composite_buffer(full) : NULL;
}

/* Takes all output as one buffer, NULL = there is none. A block that is mostly empty does not leave as it is. */
static int take_all(struct deflating *self, leat_bytebuf **out) {
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
        *out = take_full(self);
    return 0;
}

/* ---- the handler ---- */

struct deflater {
    struct deflating deflating;
    leat_done_list held; /* completions of what has not been written yet */
    uint64_t counted;    /* bytes told to leat_ctx_hold_out */
    int over;            /* what later writes complete with; 0 = the stream goes on */
};

static int check(const void *given, leat_problem *problem) {
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

static int added(leat_ctx *ctx, const void *config) {
    struct deflater *self = leat_state(ctx);
    prepare(&self->deflating, config, leat_channel_alloc(leat_ctx_channel(ctx)));
    return 0;
}

static void count_held(leat_ctx *ctx, struct deflater *self, uint64_t bytes) {
    uint64_t most = UINT32_MAX - self->counted;
    self->counted += bytes < most ? bytes : most;
    leat_ctx_hold_out(ctx, bytes < most ? bytes : most);
}

static void count_none(leat_ctx *ctx, struct deflater *self) {
    leat_ctx_unhold_out(ctx, self->counted);
    self->counted = 0;
}

/* The peer could not make sense of what would come behind a gap. */
static void tear(leat_ctx *ctx, struct deflater *self, int code) {
    self->over = code;
    clean_up(&self->deflating);
    count_none(ctx, self);
    leat_ctx_complete_list(ctx, &self->held, code);
    leat_ctx_fail(ctx, code);
}

/* Writes output, if there is any, so that every held completion runs with it: the others ride on empty writes. */
static void leave(leat_ctx *ctx, struct deflater *self, leat_bytebuf *out) {
    count_none(ctx, self);
    if (out)
        leat_ctx_write(ctx, leat_msg_of_bytebuf(out), leat_done_list_take(&self->held));
    for (leat_done *done = leat_done_list_take(&self->held); done; done = leat_done_list_take(&self->held))
        leat_ctx_write_copy(ctx, "", 0, done);
}

static void leave_with_all(leat_ctx *ctx, struct deflater *self, int code) {
    leat_bytebuf *out = NULL;
    if (code == 0)
        code = take_all(&self->deflating, &out);
    if (code == 0)
        leave(ctx, self, out);
    else
        tear(ctx, self, code);
}

static void flush_held(leat_ctx *ctx, struct deflater *self) {
    struct deflating *deflating = &self->deflating;
    if (self->over != 0 || (deflating->unflushed == 0 && !self->held.first))
        return;
    deflating->stream.avail_in = 0;
    leave_with_all(ctx, self, deflating->unflushed ? flush_out(deflating) : 0);
}

static void end_stream(leat_ctx *ctx, struct deflater *self) {
    if (self->over == 0 && !self->deflating.config.each_message)
        leave_with_all(ctx, self, finish(&self->deflating));
    if (self->over == 0)
        self->over = LEAT_ECLOSED;
    clean_up(&self->deflating);
}

/* The message stays one message: what becomes of it has its completion. */
static void write_one(leat_ctx *ctx, struct deflater *self, leat_bytebuf *in, leat_done *done) {
    struct deflating *deflating = &self->deflating;
    bool whole = deflating->config.each_message;
    leat_bytebuf *out = NULL;
    int code = feed(deflating, in, whole ? Z_FINISH : Z_SYNC_FLUSH);
    if (code == 0)
        code = take_all(deflating, &out);
    leat_bytebuf_release(in);
    if (code == 0) {
        leat_ctx_write(ctx, leat_msg_of_bytebuf(out), done);
    } else {
        leat_ctx_complete(ctx, done, code);
        drop_output(deflating);
        if (!whole)
            tear(ctx, self, code);
    }
    if (whole && deflating->begun)
        begin_again(deflating);
}

/* The message joins others; blocks that it fills leave at once. */
static void write_with_others(leat_ctx *ctx, struct deflater *self, leat_bytebuf *in, leat_done *done) {
    struct deflating *deflating = &self->deflating;
    uint64_t length = leat_bytebuf_readable(in);
    int code = length ? feed(deflating, in, Z_NO_FLUSH) : 0;
    leat_bytebuf_release(in);
    leat_done_list_add(&self->held, done);
    if (code != 0) {
        tear(ctx, self, code);
        return;
    }
    if (deflating->config.flush == LEAT_ZLIB_FLUSH_TURN)
        count_held(ctx, self, length);
    leat_bytebuf *full = take_full(deflating);
    if (full)
        leat_ctx_write(ctx, leat_msg_of_bytebuf(full), NULL);
}

static void write_bytes(leat_ctx *ctx, struct deflater *self, leat_bytebuf *in, leat_done *done) {
    const leat_zlib_deflater_config *config = &self->deflating.config;
    if (!config->each_message && config->flush != LEAT_ZLIB_FLUSH_MESSAGE)
        write_with_others(ctx, self, in, done);
    else if (config->each_message || leat_bytebuf_readable(in) > 0)
        write_one(ctx, self, in, done);
    else
        leat_ctx_write(ctx, leat_msg_of_bytebuf(in), done);
}

static void write_message(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    struct deflater *self = leat_state(ctx);
    leat_bytebuf *in = leat_msg_bytebuf(msg);
    if (!in) {
        flush_held(ctx, self);
        leat_ctx_write(ctx, msg, done);
    } else if (self->over != 0) {
        leat_ctx_refuse(ctx, msg, done, self->over);
    } else {
        write_bytes(ctx, self, in, done);
    }
}

static void flush(leat_ctx *ctx) {
    struct deflater *self = leat_state(ctx);
    if (self->deflating.config.flush == LEAT_ZLIB_FLUSH_TURN)
        flush_held(ctx, self);
    leat_ctx_flush(ctx);
}

static void end(leat_ctx *ctx) {
    end_stream(ctx, leat_state(ctx));
    leat_ctx_close(ctx);
}

/* A channel that is gone without a message gets no stream: that would take memory for nothing. */
static void removed(leat_ctx *ctx) {
    struct deflater *self = leat_state(ctx);
    if (self->deflating.begun || leat_channel_is_open(leat_ctx_channel(ctx)))
        end_stream(ctx, self);
    else
        leave(ctx, self, NULL);
}

const leat_handler leat_zlib_deflater = {
    .name = "zlib_deflater",
    .state_size = sizeof(struct deflater),
    .config_size = sizeof(leat_zlib_deflater_config),
    .check = check,
    .added = added,
    .removed = removed,
    .write = write_message,
    .flush = flush,
    .close = end,
};

/* ---- without a pipeline ---- */

int leat_zlib_deflate(leat_alloc *alloc, const leat_zlib_deflater_config *config, const leat_bytebuf *in,
                      leat_bytebuf **out) {
    struct deflating deflating = {0};
    *out = NULL;
    int code = check(config, NULL);
    if (code != 0)
        return code;
    prepare(&deflating, config, alloc);
    code = feed(&deflating, in, Z_FINISH);
    if (code == 0)
        code = take_all(&deflating, out);
    clean_up(&deflating);
    return code;
}
