#include "handlers/http_client.h"

#include "core/channel.h"
#include "core/loop.h"
#include "handlers/http_internal.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

enum { DEFAULT_FIELDS = 8192, DEFAULT_COUNT = 64, LARGEST = 1 << 24, FIRST_BODY_ROOM = 1024, UPGRADED = 101 };

#define DEFAULT_RESPONSE_MS 30000

struct client {
    leat_decoder decoder;
    leat_timer timer;
    leat_http_client_config limits;
    llhttp_t parser;
    http_draft *draft;  /* of the response's header */
    leat_bytebuf *body; /* what came of it and was not fired */
    uint64_t body_length;
    int failure;
    bool waiting; /* for the end of a response */
    bool head;    /* the request was a HEAD */
    bool ready;   /* the header is whole and was not fired */
    bool until_eof;
    bool ended; /* the end was not fired */
};

static struct client *client_of(llhttp_t *parser) {
    return parser->data;
}

static int fail(struct client *client, int code) {
    client->failure = code;
    return -1;
}

static bool is_interim(const llhttp_t *parser) {
    return parser->status_code / 100 == 1;
}

/* ---- what the parser found: each call-back returns 0 to go on ---- */

static int on_begin(llhttp_t *parser) {
    struct client *client = client_of(parser);
    leat_channel *channel = leat_ctx_channel(leat_ctx_of_state(client));
    const leat_http_config limits = {.max_fields = client->limits.max_fields, .max_count = client->limits.max_count};
    leat_http_draft_release(client->draft);
    client->draft = leat_http_draft_new(leat_channel_alloc(channel), &limits);
    client->body_length = 0;
    return client->draft ? 0 : fail(client, LEAT_ENOMEM);
}

/* Of trailers behind a chunked body only the length is looked at. */
static int on_text(llhttp_t *parser, const char *at, size_t length) {
    struct client *client = client_of(parser);
    http_draft *draft = client->draft;
    if (!draft || length > client->limits.max_fields - draft->fields_length)
        return draft ? fail(client, LEAT_ETOOLONG) : 0;
    draft->fields_length += (uint32_t)length;
    return client->ready || leat_http_draft_append(draft, at, length) ? 0 : fail(client, LEAT_ETOOLONG);
}

static int on_reason_end(llhttp_t *parser) {
    struct client *client = client_of(parser);
    client->draft->response.reason = leat_http_draft_end_text(client->draft);
    return client->draft->response.reason ? 0 : fail(client, LEAT_ETOOLONG);
}

static bool in_trailer(const struct client *client) {
    return !client->draft || client->ready;
}

static int on_name_end(llhttp_t *parser) {
    struct client *client = client_of(parser);
    if (in_trailer(client))
        return 0;
    if (leat_http_draft_has_empty_text(client->draft))
        return fail(client, LEAT_ECORRUPT);
    return leat_http_draft_end_name(client->draft) ? 0 : fail(client, LEAT_ETOOLONG);
}

static int on_value_end(llhttp_t *parser) {
    struct client *client = client_of(parser);
    if (in_trailer(client))
        return 0;
    return leat_http_draft_end_value(client->draft) ? 0 : fail(client, LEAT_ETOOLONG);
}

static int on_header_end(llhttp_t *parser) {
    enum { GO_ON = 0, WITHOUT_BODY = 1 };
    struct client *client = client_of(parser);
    leat_http_client_response *response = &client->draft->response;
    if (parser->http_major != 1 || parser->status_code == UPGRADED)
        return fail(client, LEAT_ECORRUPT);
    if (is_interim(parser))
        return GO_ON;
    response->status = parser->status_code;
    response->minor = parser->http_minor;
    response->fields = client->draft->fields;
    response->field_count = client->draft->request.field_count;
    response->reason = response->reason ? response->reason : "";
    client->ready = true;
    bool bodiless = client->head || parser->status_code == 204 || parser->status_code == 304;
    client->until_eof = !bodiless && llhttp_message_needs_eof(parser);
    leat_timer_stop(leat_channel_loop(leat_ctx_channel(leat_ctx_of_state(client))), &client->timer);
    return bodiless ? WITHOUT_BODY : GO_ON;
}

static int on_body(llhttp_t *parser, const char *at, size_t length) {
    struct client *client = client_of(parser);
    leat_alloc *alloc = leat_channel_alloc(leat_ctx_channel(leat_ctx_of_state(client)));
    if (length > client->limits.max_body - client->body_length)
        return fail(client, LEAT_ETOOLONG);
    client->body_length += length;
    if (!client->body)
        client->body = leat_bytebuf_new(alloc, length > FIRST_BODY_ROOM ? length : FIRST_BODY_ROOM);
    return client->body && leat_bytebuf_write_bytes(client->body, at, length) ? 0 : fail(client, LEAT_ENOMEM);
}

static int on_end(llhttp_t *parser) {
    struct client *client = client_of(parser);
    client->ended = !is_interim(parser);
    return client->ended ? HPE_PAUSED : 0;
}

static const llhttp_settings_t call_backs = {
    .on_message_begin = on_begin,
    .on_status = on_text,
    .on_status_complete = on_reason_end,
    .on_header_field = on_text,
    .on_header_field_complete = on_name_end,
    .on_header_value = on_text,
    .on_header_value_complete = on_value_end,
    .on_headers_complete = on_header_end,
    .on_body = on_body,
    .on_message_complete = on_end,
};

/* ---- decoding ---- */

static int fail_once(struct client *client, int code) {
    client->failure = client->failure ? client->failure : code;
    return client->failure;
}

static bool has_something(const struct client *client) {
    return client->ready || client->body || client->ended;
}

static int parse(struct client *client, leat_bytebuf *in) {
    const char *data = (const char *)leat_bytebuf_data(in);
    size_t length = (size_t)leat_bytebuf_readable(in);
    if (!client->waiting)
        return LEAT_ECORRUPT;
    switch (llhttp_execute(&client->parser, data, length)) {
    case HPE_OK:
        leat_bytebuf_skip(in, length);
        return 0;
    case HPE_PAUSED:
        leat_bytebuf_skip(in, (uint64_t)(llhttp_get_error_pos(&client->parser) - data));
        llhttp_resume(&client->parser);
        return 0;
    default:
        return fail_once(client, LEAT_ECORRUPT);
    }
}

static leat_msg take_response(struct client *client) {
    leat_msg msg = leat_msg_of(&leat_type_http_client_response, &client->draft->response);
    client->draft = NULL;
    client->ready = false;
    return msg;
}

static leat_msg take_body(struct client *client) {
    leat_msg msg = leat_msg_of_bytebuf(client->body);
    client->body = NULL;
    return msg;
}

static leat_msg take_end(struct client *client) {
    client->ended = client->waiting = false;
    return leat_msg_of(&leat_type_http_client_end, NULL);
}

/* One read may bring a header, some of a body and the end, or what is wrong: they are fired one after another. */
static int decode(leat_ctx *ctx, leat_bytebuf *in, leat_msg *out) {
    struct client *client = leat_state(ctx);
    int code = has_something(client) || client->failure ? client->failure : parse(client, in);
    if (!has_something(client))
        return code;
    *out = client->ready ? take_response(client) : client->body ? take_body(client) : take_end(client);
    if (has_something(client) || client->failure)
        leat_decoder_again(&client->decoder);
    leat_decoder_expect_more(&client->decoder, client->waiting && !client->until_eof);
    return 1;
}

/* ---- requests ---- */

static void time_out(leat_timer *timer) {
    struct client *client = (struct client *)(void *)((char *)timer - offsetof(struct client, timer));
    leat_ctx_fire_error(leat_ctx_of_state(client), LEAT_ETIMEDOUT);
}

static void begin_waiting(leat_ctx *ctx, struct client *client, bool head) {
    client->waiting = true;
    client->until_eof = false;
    client->head = head;
    leat_decoder_expect_more(&client->decoder, true);
    int code = leat_timer_start(leat_channel_loop(leat_ctx_channel(ctx)), &client->timer, client->limits.response_ms);
    if (code != 0)
        leat_ctx_fail(ctx, code);
}

static void write_request(leat_ctx *ctx, leat_msg msg, leat_done *done) {
    struct client *client = leat_state(ctx);
    http_outgoing *request = leat_msg_as(msg, &leat_type_http_client_request);
    if (!request) {
        leat_ctx_write(ctx, msg, done);
        return;
    }
    if (client->waiting) {
        leat_ctx_refuse(ctx, msg, done, LEAT_EAGAIN);
        return;
    }
    leat_bytebuf *header = request->header, *body = request->body;
    request->header = request->body = NULL;
    begin_waiting(ctx, client, request->is_head);
    leat_ctx_write(ctx, leat_msg_of_bytebuf(header), body ? NULL : done);
    if (body)
        leat_ctx_write(ctx, leat_msg_of_bytebuf(body), done);
    leat_msg_release(msg);
}

/* ---- entries ---- */

static int check(const void *config, leat_problem *problem) {
    const leat_http_client_config *limits = config;
    if (limits && (limits->max_fields > LARGEST || limits->max_count > LARGEST))
        return leat_problem_set(problem, LEAT_EINVAL, "http_client: a limit of the header is above 16 MiB");
    return 0;
}

static int added(leat_ctx *ctx, const void *config) {
    struct client *client = leat_state(ctx);
    leat_http_client_config *limits = &client->limits;
    if (config)
        *limits = *(const leat_http_client_config *)config;
    limits->max_fields = limits->max_fields ? limits->max_fields : DEFAULT_FIELDS;
    limits->max_count = limits->max_count ? limits->max_count : DEFAULT_COUNT;
    limits->max_body = limits->max_body ? limits->max_body : UINT64_MAX;
    limits->response_ms = limits->response_ms ? limits->response_ms : DEFAULT_RESPONSE_MS;
    leat_decoder_init(&client->decoder, decode, 0);
    client->timer.fn = time_out;
    llhttp_init(&client->parser, HTTP_RESPONSE, &call_backs);
    client->parser.data = client;
    return 0;
}

static void removed(leat_ctx *ctx) {
    struct client *client = leat_state(ctx);
    leat_timer_stop(leat_channel_loop(leat_ctx_channel(ctx)), &client->timer);
    leat_http_draft_release(client->draft);
    leat_bytebuf_release(client->body);
    client->draft = NULL;
    client->body = NULL;
    leat_decoder_removed(ctx);
}

/* Closed for good nobody waits for the response; when only our side was, somebody does. */
static void close_on(leat_ctx *ctx) {
    struct client *client = leat_state(ctx);
    leat_channel *channel = leat_ctx_channel(ctx);
    leat_ctx_close(ctx);
    if (!leat_channel_is_readable(channel))
        leat_timer_stop(leat_channel_loop(channel), &client->timer);
}

static void inactive(leat_ctx *ctx) {
    struct client *client = leat_state(ctx);
    leat_timer_stop(leat_channel_loop(leat_ctx_channel(ctx)), &client->timer);
    leat_ctx_fire_inactive(ctx);
}

static const leat_type *const fires[] = {&leat_type_http_client_response, &leat_type_bytebuf,
                                         &leat_type_http_client_end, NULL};
static const leat_type *const takes[] = {&leat_type_http_client_request, NULL};

const leat_handler leat_http_client = {
    .name = "http_client",
    .state_size = sizeof(struct client),
    .config_size = sizeof(leat_http_client_config),
    .decodes = true,
    .reads = leat_only_bytebuf,
    .fires = fires,
    .takes = takes,
    .writes = leat_only_bytebuf,
    .check = check,
    .added = added,
    .removed = removed,
    .read = leat_decoder_read,
    .read_done = leat_decoder_read_done,
    .eof = leat_decoder_eof,
    .inactive = inactive,
    .wake = leat_decoder_wake,
    .write = write_request,
    .close = close_on,
};
