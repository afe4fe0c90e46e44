#include "handlers/http.h"

#include "core/channel.h"
#include "core/loop.h"
#include "handlers/http_internal.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

enum { DEFAULT_TARGET = 4096, DEFAULT_FIELDS = 8192, DEFAULT_COUNT = 64, LARGEST = 1 << 24 };

#define DEFAULT_BODY ((uint64_t)1 << 20)
#define DEFAULT_REQUEST_MS 10000
#define DEFAULT_KEEP_ALIVE_MS 60000
#define FIRST_BODY_ROOM 65536

static struct http *http_of(llhttp_t *parser) {
    return parser->data;
}

/* ---- what the parser found: each call-back returns 0 to go on ---- */

static int refuse(struct http *http, unsigned status) {
    http->refusal = status;
    return -1;
}

static int fail(struct http *http, int code) {
    http->failure = code;
    return -1;
}

static int on_begin(llhttp_t *parser) {
    struct http *http = http_of(parser);
    leat_ctx *ctx = leat_ctx_of_state(http);
    leat_http_start_timer(ctx, http->limits.request_ms);
    http->begun = true;
    http->in_body = http->continue_due = false;
    leat_decoder_expect_more(&http->decoder, true);
    http->draft = leat_http_draft_new(leat_channel_alloc(leat_ctx_channel(ctx)), &http->limits);
    return http->draft ? 0 : fail(http, LEAT_ENOMEM);
}

static int on_target(llhttp_t *parser, const char *at, size_t length) {
    struct http *http = http_of(parser);
    http_draft *draft = http->draft;
    if (length > http->limits.max_target - draft->target_length || !leat_http_draft_append(draft, at, length))
        return refuse(http, 431);
    draft->target_length += (uint32_t)length;
    return 0;
}

static int on_target_end(llhttp_t *parser) {
    struct http *http = http_of(parser);
    char *target = leat_http_draft_end_text(http->draft);
    if (!target)
        return refuse(http, 431);
    bool known = parser->method != HTTP_CONNECT && leat_http_draft_set_target(http->draft, target);
    return known ? 0 : refuse(http, 400);
}

/* Of trailers behind a chunked body only the length is looked at. */
static int on_field_text(llhttp_t *parser, const char *at, size_t length) {
    struct http *http = http_of(parser);
    http_draft *draft = http->draft;
    if (length > http->limits.max_fields - draft->fields_length)
        return refuse(http, 431);
    draft->fields_length += (uint32_t)length;
    return http->in_body || leat_http_draft_append(draft, at, length) ? 0 : refuse(http, 431);
}

static int on_name_end(llhttp_t *parser) {
    struct http *http = http_of(parser);
    if (!http->in_body && leat_http_draft_has_empty_text(http->draft))
        return refuse(http, 400);
    return http->in_body || leat_http_draft_end_name(http->draft) ? 0 : refuse(http, 431);
}

static int on_value_end(llhttp_t *parser) {
    struct http *http = http_of(parser);
    return http->in_body || leat_http_draft_end_value(http->draft) ? 0 : refuse(http, 431);
}

/* RFC 9112 3.2: exactly one Host, except that HTTP/1.0 may go without. */
static bool has_one_host(const leat_http_request *request) {
    size_t hosts = 0;
    for (size_t i = 0; i < request->field_count; i++)
        hosts += strcasecmp(request->fields[i].name, "Host") == 0;
    return hosts == 1 || (hosts == 0 && request->minor == 0);
}

/* RFC 9112 6.1: no coding but chunked, once, is understood here; HTTP/1.0 has none, so that its framing is in doubt.
   Returns the status to refuse the request with, or 0. */
static unsigned refusal_of_codings(const leat_http_request *request) {
    const char *coding = NULL;
    for (size_t i = 0; i < request->field_count; i++) {
        if (strcasecmp(request->fields[i].name, "Transfer-Encoding") != 0)
            continue;
        if (coding || request->minor == 0)
            return 400;
        coding = request->fields[i].value;
    }
    return coding && strcasecmp(coding, "chunked") != 0 ? 501 : 0;
}

static int on_header_end(llhttp_t *parser) {
    struct http *http = http_of(parser);
    leat_http_request *request = &http->draft->request;
    http->in_body = true;
    request->method = llhttp_method_name((llhttp_method_t)parser->method);
    request->minor = parser->http_minor;
    if (parser->http_major != 1 || !has_one_host(request))
        return refuse(http, 400);
    unsigned refusal = refusal_of_codings(request);
    if (refusal != 0)
        return refuse(http, refusal);
    if ((parser->flags & F_CONTENT_LENGTH) && parser->content_length > http->limits.max_body)
        return refuse(http, 413);
    const char *expect = leat_http_request_field(request, "Expect");
    http->continue_due = expect && request->minor == 1 && strcasecmp(expect, "100-continue") == 0;
    return 0;
}

static bool has_body_room(struct http *http, const llhttp_t *parser, size_t length) {
    leat_bytebuf **body = &http->draft->request.body;
    uint64_t announced = parser->flags & F_CONTENT_LENGTH ? length + parser->content_length : length;
    if (!*body)
        *body = leat_bytebuf_new(http->draft->alloc, announced < FIRST_BODY_ROOM ? announced : FIRST_BODY_ROOM);
    return *body;
}

static int on_body(llhttp_t *parser, const char *at, size_t length) {
    struct http *http = http_of(parser);
    const leat_bytebuf *so_far = http->draft->request.body;
    if (length > http->limits.max_body - (so_far ? leat_bytebuf_readable(so_far) : 0))
        return refuse(http, 413);
    if (!has_body_room(http, parser, length) || !leat_bytebuf_write_bytes(http->draft->request.body, at, length))
        return fail(http, LEAT_ENOMEM);
    return 0;
}

static int on_end(llhttp_t *parser) {
    http_of(parser)->draft->request.keep_alive = llhttp_should_keep_alive(parser);
    return HPE_PAUSED;
}

static const llhttp_settings_t call_backs = {
    .on_message_begin = on_begin,
    .on_url = on_target,
    .on_url_complete = on_target_end,
    .on_header_field = on_field_text,
    .on_header_field_complete = on_name_end,
    .on_header_value = on_field_text,
    .on_header_value_complete = on_value_end,
    .on_headers_complete = on_header_end,
    .on_body = on_body,
    .on_message_complete = on_end,
};

/* ---- decoding ---- */

static int code_of(unsigned status) {
    return status == 413 || status == 431 ? LEAT_ETOOLONG : LEAT_ECORRUPT;
}

/* The parser gave up. */
static int turn_away(leat_ctx *ctx, struct http *http) {
    if (http->failure)
        return http->failure;
    unsigned status = http->refusal ? http->refusal : 400;
    leat_http_turn_away(ctx, status);
    return code_of(status);
}

static int hand_over(leat_ctx *ctx, struct http *http, leat_msg *out) {
    leat_http_request *request = &http->draft->request;
    leat_timer_stop(leat_channel_loop(leat_ctx_channel(ctx)), &http->timer);
    http->phase = HTTP_ANSWERING;
    http->begun = false;
    http->keep_alive = request->keep_alive;
    http->minor = request->minor;
    http->head = strcmp(request->method, "HEAD") == 0;
    http->draft = NULL;
    leat_decoder_expect_more(&http->decoder, false);
    leat_decoder_pause(&http->decoder);
    *out = leat_msg_of(&leat_type_http_request, request);
    return 1;
}

static void skip_parsed(struct http *http, leat_bytebuf *in) {
    const char *data = (const char *)leat_bytebuf_data(in);
    leat_bytebuf_skip(in, (uint64_t)(llhttp_get_error_pos(&http->parser) - data));
}

/* Not while llhttp runs: a handler that the write runs may remove this one; returns whether none did. */
static bool asks_for_body(leat_ctx *ctx, struct http *http) {
    if (!http->continue_due)
        return true;
    http->continue_due = false;
    leat_ctx_write_copy(ctx, "HTTP/1.1 100 Continue\r\n\r\n", 25, NULL);
    return !leat_ctx_is_removed(ctx);
}

static int decode(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    struct http *http = leat_state(ctx);
    size_t length = (size_t)leat_bytebuf_readable(in);
    llhttp_errno_t found = llhttp_execute(&http->parser, (const char *)leat_bytebuf_data(in), length);
    if (found == HPE_OK)
        leat_bytebuf_skip(in, length);
    else if (found == HPE_PAUSED || found == HPE_PAUSED_UPGRADE)
        skip_parsed(http, in);
    if (!asks_for_body(ctx, http) || found == HPE_OK)
        return 0;
    switch (found) {
    case HPE_PAUSED:
        llhttp_resume(&http->parser);
        return hand_over(ctx, http, out);
    case HPE_PAUSED_UPGRADE: /* of a request that was answered without upgrading */
        llhttp_resume_after_upgrade(&http->parser);
        return leat_bytebuf_readable(in) ? decode(ctx, in, out) : 0;
    default:
        return turn_away(ctx, http);
    }
}

/* ---- time ---- */

void leat_http_start_timer(leat_ctx *ctx, uint64_t ms) {
    struct http *http = leat_state(ctx);
    int code = leat_timer_start(leat_channel_loop(leat_ctx_channel(ctx)), &http->timer, ms);
    if (code != 0)
        leat_ctx_fail(ctx, code);
}

static void time_out(leat_timer *timer) {
    struct http *http = (struct http *)(void *)((char *)timer - offsetof(struct http, timer));
    leat_ctx *ctx = leat_ctx_of_state(http);
    if (!http->begun)
        leat_channel_close(leat_ctx_channel(ctx));
    if (!leat_channel_is_readable(leat_ctx_channel(ctx)))
        return;
    leat_http_turn_away(ctx, 408);
    leat_ctx_fire_error(ctx, LEAT_ETIMEDOUT);
}

/* ---- entries ---- */

static leat_http_config with_defaults(const leat_http_config *given) {
    leat_http_config limits = {0};
    if (given)
        limits = *given;
    limits.max_target = limits.max_target ? limits.max_target : DEFAULT_TARGET;
    limits.max_fields = limits.max_fields ? limits.max_fields : DEFAULT_FIELDS;
    limits.max_count = limits.max_count ? limits.max_count : DEFAULT_COUNT;
    limits.max_body = limits.max_body ? limits.max_body : DEFAULT_BODY;
    limits.request_ms = limits.request_ms ? limits.request_ms : DEFAULT_REQUEST_MS;
    limits.keep_alive_ms = limits.keep_alive_ms ? limits.keep_alive_ms : DEFAULT_KEEP_ALIVE_MS;
    return limits;
}

static int check(const void *config, leat_problem *problem) {
    const leat_http_config *limits = config;
    if (limits && (limits->max_target > LARGEST || limits->max_fields > LARGEST || limits->max_count > LARGEST))
        return leat_problem_set(problem, LEAT_EINVAL, "http: a limit of the header is above 16 MiB");
    return 0;
}

static int added(leat_ctx *ctx, const void *config) {
    struct http *http = leat_state(ctx);
    leat_decoder_init(&http->decoder, decode, 0);
    http->limits = with_defaults(config);
    http->timer.fn = time_out;
    llhttp_init(&http->parser, HTTP_REQUEST, &call_backs);
    http->parser.data = http;
    if (leat_channel_is_open(leat_ctx_channel(ctx)))
        leat_http_start_timer(ctx, http->limits.keep_alive_ms);
    return 0;
}

static void active(leat_ctx *ctx) {
    struct http *http = leat_state(ctx);
    leat_http_start_timer(ctx, http->limits.keep_alive_ms);
    leat_ctx_fire_active(ctx);
}

/* The end waits for the answers to all that came before it; a stream could go on for ever. */
static void eof(leat_ctx *ctx) {
    struct http *http = leat_state(ctx);
    if (http->phase == HTTP_STREAMING && leat_decoder_waiting(&http->decoder) == 0)
        leat_ctx_fire_eof(ctx);
    else
        leat_decoder_eof(ctx);
}

static void stop_timer(leat_ctx *ctx) {
    struct http *http = leat_state(ctx);
    leat_timer_stop(leat_channel_loop(leat_ctx_channel(ctx)), &http->timer);
}

static void inactive(leat_ctx *ctx) {
    stop_timer(ctx);
    leat_ctx_fire_inactive(ctx);
}

static void removed(leat_ctx *ctx) {
    struct http *http = leat_state(ctx);
    stop_timer(ctx);
    leat_http_draft_release(http->draft);
    http->draft = NULL;
    leat_decoder_removed(ctx);
}

static const leat_type *const fires[] = {&leat_type_http_request, NULL};
static const leat_type *const takes[] = {&leat_type_http_response, &leat_type_http_end, &leat_type_bytebuf, NULL};

const leat_handler leat_http = {
    .name = "http",
    .state_size = sizeof(struct http),
    .config_size = sizeof(leat_http_config),
    .decodes = true,
    .reads = leat_only_bytebuf,
    .fires = fires,
    .takes = takes,
    .writes = leat_only_bytebuf,
    .check = check,
    .added = added,
    .removed = removed,
    .active = active,
    .read = leat_decoder_read,
    .read_done = leat_decoder_read_done,
    .eof = eof,
    .inactive = inactive,
    .wake = leat_decoder_wake,
    .write = leat_http_write,
    .close = leat_http_close,
};
