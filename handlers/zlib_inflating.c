#include "handlers/zlib_internal.h"

enum { DEFAULT_CHUNK = 16384, DEFAULT_RATIO = 250, LEAST_MESSAGE_ROOM = 256, MAGIC = 2 };

#define DEFAULT_MESSAGE_TOTAL ((uint64_t)16 << 20)
#define FREE_OF_RATIO ((uint64_t)1 << 20)

int leat_zlib_inflater_check(const void *given, leat_problem *problem) {
    const leat_zlib_inflater_config *config = given;
    if (!config)
        return 0;
    if ((unsigned)config->trailing > LEAT_ZLIB_TRAILING_PASS)
        return leat_problem_set(problem, LEAT_EINVAL, "zlib_inflater: there is no trailing %d", (int)config->trailing);
    if (config->each_message && config->trailing == LEAT_ZLIB_TRAILING_PASS)
        return leat_problem_set(problem, LEAT_EINVAL, "zlib_inflater: a message is a stream and nothing more to pass");
    if (config->dictionary.length && config->format == LEAT_ZLIB_GZIP)
        return leat_problem_set(problem, LEAT_EINVAL, "zlib_inflater: gzip has no dictionary");
    if (config->dictionary.length > UINT32_MAX)
        return leat_problem_set(problem, LEAT_EINVAL, "zlib_inflater: the dictionary is 4 GiB or more");
    return leat_zlib_check("zlib_inflater", config->format, config->window_bits, config->chunk, problem);
}

void leat_zlib_inflating_init(zlib_inflating *self, const leat_zlib_inflater_config *given, leat_alloc *alloc) {
    leat_zlib_inflater_config *config = &self->config;
    if (given)
        *config = *given;
    self->alloc = alloc;
    config->chunk = config->chunk ? config->chunk : DEFAULT_CHUNK;
    config->max_ratio = config->max_ratio ? config->max_ratio : DEFAULT_RATIO;
    if (config->max_total == 0)
        config->max_total = config->each_message ? DEFAULT_MESSAGE_TOTAL : UINT64_MAX;
}

void leat_zlib_inflating_clean_up(zlib_inflating *self) {
    if (self->begun)
        inflateEnd(&self->stream);
    self->begun = false;
}

/* ---- which stream it is ---- */

static bool is_gzip(const uint8_t *bytes) {
    return bytes[0] == 0x1f && bytes[1] == 0x8b;
}

/* RFC 1950 2.2: method 8, a window of at most 32 KiB, and both bytes as one number divide by 31. */
static bool is_zlib(const uint8_t *bytes) {
    return (bytes[0] & 15) == 8 && bytes[0] >> 4 <= 7 && (bytes[0] << 8 | bytes[1]) % 31 == 0;
}

static leat_zlib_format format_of(const uint8_t *bytes) {
    if (is_gzip(bytes))
        return LEAT_ZLIB_GZIP;
    return is_zlib(bytes) ? LEAT_ZLIB_ZLIB : LEAT_ZLIB_RAW;
}

static int begin(zlib_inflating *self, leat_zlib_format format) {
    const leat_span *dictionary = &self->config.dictionary;
    int bits = leat_zlib_window_bits(format, self->config.window_bits);
    leat_zlib_use_alloc(&self->stream, self->alloc);
    int status = self->begun ? inflateReset2(&self->stream, bits) : inflateInit2(&self->stream, bits);
    self->begun = self->begun || status == Z_OK;
    if (status == Z_OK && format == LEAT_ZLIB_RAW && dictionary->length)
        status = inflateSetDictionary(&self->stream, dictionary->bytes, (uInt)dictionary->length);
    self->format = format;
    self->phase = ZLIB_INSIDE;
    return leat_zlib_code(status);
}

/* Looks at the bytes with which a stream may begin. */
static int look(zlib_inflating *self, const leat_span *in) {
    leat_zlib_format format = self->config.format;
    bool first = self->phase == ZLIB_BEFORE;
    if (in->length == 0)
        return ZLIB_NEEDS_INPUT;
    if (first && format != LEAT_ZLIB_AUTO)
        return begin(self, format);
    if (!first && (self->format != LEAT_ZLIB_GZIP || self->config.one_member || in->bytes[0] != 0x1f))
        return ZLIB_TRAILING;
    if (in->length < MAGIC)
        return ZLIB_NEEDS_INPUT;
    if (!first && !is_gzip(in->bytes))
        return ZLIB_TRAILING;
    return begin(self, format_of(in->bytes));
}

/* ---- inflating ---- */

static int check_limits(const zlib_inflating *self) {
    const leat_zlib_inflater_config *config = &self->config;
    if (self->out_total > config->max_total)
        return LEAT_ELIMIT;
    bool counts = self->out_total > FREE_OF_RATIO;
    return counts && self->out_total / config->max_ratio > self->in_total ? LEAT_ELIMIT : 0;
}

/* One byte more than the limit, so that what exceeds it is seen. */
static uInt room_of(const zlib_inflating *self, const leat_bytebuf *out) {
    uint64_t room = leat_bytebuf_writable(out), left = self->config.max_total - self->out_total;
    if (room > LEAT_ZLIB_LARGEST_PIECE)
        room = LEAT_ZLIB_LARGEST_PIECE;
    return (uInt)(room <= left ? room : left + 1);
}

static int call_inflate(zlib_inflating *self) {
    const leat_span *dictionary = &self->config.dictionary;
    int status = inflate(&self->stream, Z_SYNC_FLUSH);
    if (status != Z_NEED_DICT || dictionary->length == 0)
        return status;
    status = inflateSetDictionary(&self->stream, dictionary->bytes, (uInt)dictionary->length);
    return status == Z_OK ? inflate(&self->stream, Z_SYNC_FLUSH) : status;
}

/* Whether there is more is told by the room that is left, not by the input: zlib may hold output back. */
static int inflate_some(zlib_inflating *self, leat_span *in, leat_bytebuf *out) {
    z_stream *stream = &self->stream;
    uInt given = (uInt)(in->length < LEAT_ZLIB_LARGEST_PIECE ? in->length : LEAT_ZLIB_LARGEST_PIECE);
    uInt room = room_of(self, out);
    stream->next_in = (z_const Bytef *)(uintptr_t)in->bytes;
    stream->avail_in = given;
    stream->next_out = leat_bytebuf_room(out, room);
    stream->avail_out = room;
    int status = call_inflate(self), code = leat_zlib_code(status);
    uInt taken = given - stream->avail_in, made = room - stream->avail_out;
    leat_bytebuf_wrote(out, made);
    *in = (leat_span){in->bytes + taken, in->length - taken};
    self->in_total += taken;
    self->out_total += made;
    if (status == Z_STREAM_END)
        self->phase = ZLIB_BEHIND;
    int over = check_limits(self);
    if (over != 0 || code != 0)
        return over != 0 ? over : code;
    return stream->avail_out == 0 && status != Z_STREAM_END ? ZLIB_NEEDS_ROOM : ZLIB_NEEDS_INPUT;
}

int leat_zlib_inflating_step(zlib_inflating *self, leat_span *in, leat_bytebuf *out) {
    int result = ZLIB_NEEDS_INPUT;
    do {
        if (self->phase != ZLIB_INSIDE)
            result = look(self, in);
        if (result == 0 && self->phase == ZLIB_INSIDE)
            result = inflate_some(self, in, out);
        else
            return result;
    } while (result == ZLIB_NEEDS_INPUT && in->length > 0 && leat_bytebuf_writable(out) > 0);
    return result == ZLIB_NEEDS_INPUT && in->length > 0 ? ZLIB_NEEDS_ROOM : result;
}

/* ---- one whole message ---- */

static int grow(leat_bytebuf *out, uint64_t limit) {
    uint64_t have = leat_bytebuf_readable(out), most = limit < UINT64_MAX - 1 ? limit + 1 : limit;
    uint64_t more = have > LEAST_MESSAGE_ROOM ? have : LEAST_MESSAGE_ROOM;
    if (leat_bytebuf_writable(out) > 0)
        return 0;
    return leat_bytebuf_reserve(out, have < most && more > most - have ? most - have : more);
}

/* The message ends here: so must its stream. */
static int check_end(const zlib_inflating *self, const leat_span *left) {
    if (self->phase != ZLIB_BEHIND)
        return LEAT_ETRUNCATED;
    return left->length > 0 && self->config.trailing == LEAT_ZLIB_TRAILING_REFUSE ? LEAT_ECORRUPT : 0;
}

static int inflate_message(zlib_inflating *self, leat_span left, leat_bytebuf **made) {
    uint64_t guess = left.length < DEFAULT_CHUNK ? 4 * (uint64_t)left.length : left.length;
    leat_bytebuf *out = leat_bytebuf_new(self->alloc, guess > LEAST_MESSAGE_ROOM ? guess : LEAST_MESSAGE_ROOM);
    int result = out ? ZLIB_NEEDS_ROOM : LEAT_ENOMEM;
    self->phase = ZLIB_BEFORE;
    self->in_total = self->out_total = 0;
    while (result == ZLIB_NEEDS_ROOM) {
        result = grow(out, self->config.max_total);
        if (result == 0)
            result = leat_zlib_inflating_step(self, &left, out);
    }
    int code = result < 0 ? result : check_end(self, &left);
    if (code == 0)
        code = leat_bytebuf_keep(&out);
    *made = code == 0 ? out : NULL;
    if (code != 0)
        leat_bytebuf_release(out);
    return code;
}

/* A message in pieces is put together first. */
int leat_zlib_inflating_message(zlib_inflating *self, const leat_bytebuf *in, leat_bytebuf **out) {
    const uint8_t *bytes = leat_bytebuf_data(in);
    leat_bytebuf *flat = bytes ? NULL : leat_bytebuf_copy(in, self->alloc);
    *out = NULL;
    if (!bytes && !flat)
        return LEAT_ENOMEM;
    leat_span span = {bytes ? bytes : leat_bytebuf_data(flat), (size_t)leat_bytebuf_readable(in)};
    int code = inflate_message(self, span, out);
    leat_bytebuf_release(flat);
    return code;
}

int leat_zlib_inflate(leat_alloc *alloc, const leat_zlib_inflater_config *config, const leat_bytebuf *in,
                      leat_bytebuf **out) {
    zlib_inflating inflating = {0};
    leat_zlib_inflater_config each = {0};
    if (config)
        each = *config;
    each.each_message = true;
    *out = NULL;
    int code = leat_zlib_inflater_check(&each, NULL);
    if (code != 0)
        return code;
    leat_zlib_inflating_init(&inflating, &each, alloc);
    code = leat_zlib_inflating_message(&inflating, in, out);
    leat_zlib_inflating_clean_up(&inflating);
    return code;
}
