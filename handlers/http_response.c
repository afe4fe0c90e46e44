#include "core/channel.h"
#include "handlers/http_internal.h"

#include <string.h>
#include <strings.h>

static uint64_t response_size(const void *object) {
    const http_response *response = object;
    return leat_bytebuf_readable(response->fields) + (response->body ? leat_bytebuf_readable(response->body) : 0);
}

static void response_release(void *object) {
    http_response *response = object;
    leat_bytebuf_release(response->fields);
    leat_bytebuf_release(response->body);
    leat_alloc_give(response->alloc, response, sizeof *response);
}

const leat_type leat_type_http_response = {.name = "http_response", .release = response_release, .size = response_size};
const leat_type leat_type_http_end = {.name = "http_end"};

const char *leat_http_reason(unsigned status) {
    static const struct {
        unsigned status;
        const char *reason;
    } reasons[] = {
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {206, "Partial Content"},
        {301, "Moved Permanently"},
        {302, "Found"},
        {303, "See Other"},
        {304, "Not Modified"},
        {307, "Temporary Redirect"},
        {308, "Permanent Redirect"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {410, "Gone"},
        {411, "Length Required"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {417, "Expectation Failed"},
        {422, "Unprocessable Content"},
        {426, "Upgrade Required"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "";
}

/* ---- header fields ---- */

/* RFC 9110 5.6.2. */
bool leat_http_is_token(const char *name) {
    static const char allowed[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return *name && name[strspn(name, allowed)] == '\0';
}

static bool is_reserved(const char *name) {
    return strcasecmp(name, "Content-Length") == 0 || strcasecmp(name, "Transfer-Encoding") == 0 ||
           strcasecmp(name, "Connection") == 0;
}

/* RFC 9110 5.5: visible characters, spaces and tabs, and bytes above ASCII. */
static bool is_value(const char *value) {
    for (; *value; value++)
        if (((unsigned char)*value < ' ' && *value != '\t') || *value == 0x7f)
            return false;
    return true;
}

bool leat_http_are_fields(const leat_http_field *field) {
    for (; field && field->name; field++)
        if (!leat_http_is_token(field->name) || is_reserved(field->name) || !field->value || !is_value(field->value))
            return false;
    return true;
}

bool leat_http_write_fields(leat_bytebuf *lines, const leat_http_field *field) {
    bool whole = true;
    for (; field && field->name && whole; field++)
        whole = leat_bytebuf_write_format(lines, "%s: %s\r\n", field->name, field->value);
    return whole && leat_bytebuf_write_bytes(lines, "\r\n", 2);
}

static leat_bytebuf *lines_of(leat_alloc *alloc, const leat_http_field *fields) {
    leat_bytebuf *lines = leat_bytebuf_new(alloc, 256);
    if (lines && leat_http_write_fields(lines, fields))
        return lines;
    leat_bytebuf_release(lines);
    return NULL;
}

/* ---- responses ---- */

static int make(leat_alloc *alloc, const http_response *model, const leat_http_field *fields, leat_msg *made) {
    if (model->status < 200 || model->status > 599 || !leat_http_are_fields(fields))
        return LEAT_EINVAL;
    leat_bytebuf *lines = lines_of(alloc, fields);
    http_response *response = lines ? leat_alloc_take(alloc, sizeof *response, NULL) : NULL;
    if (!response) {
        leat_bytebuf_release(lines);
        return LEAT_ENOMEM;
    }
    *response = *model;
    response->alloc = alloc;
    response->fields = lines;
    *made = leat_msg_of(&leat_type_http_response, response);
    return 0;
}

int leat_http_response_new(leat_alloc *alloc, unsigned status, const leat_http_field *fields, leat_bytebuf *body,
                           leat_msg *response) {
    int code = make(alloc, &(const http_response){.status = status, .body = body}, fields, response);
    if (code != 0)
        leat_bytebuf_release(body);
    return code;
}

int leat_http_stream_new(leat_alloc *alloc, unsigned status, const leat_http_field *fields, leat_msg *response) {
    return make(alloc, &(const http_response){.status = status, .stream = true}, fields, response);
}

static leat_alloc *alloc_of(const leat_ctx *ctx) {
    return leat_channel_alloc(leat_ctx_channel(ctx));
}

/* Without memory for an answer the channel must not wait for one: the error is fired, and by default closes it. */
static int write_or_complete(leat_ctx *ctx, int code, leat_msg response, leat_done *done) {
    if (code == 0)
        leat_ctx_write(ctx, response, done);
    else
        leat_ctx_complete(ctx, done, code);
    if (code == LEAT_ENOMEM)
        leat_ctx_fail(ctx, code);
    return code;
}

int leat_http_respond(leat_ctx *ctx, unsigned status, const leat_http_field *fields, leat_bytebuf *body,
                      leat_done *done) {
    leat_msg response = {0};
    int code = leat_http_response_new(alloc_of(ctx), status, fields, body, &response);
    return write_or_complete(ctx, code, response, done);
}

int leat_http_respond_text(leat_ctx *ctx, unsigned status, const char *text) {
    static const leat_http_field fields[] = {{"Content-Type", "text/plain; charset=utf-8"}, {0}};
    leat_bytebuf *body = leat_bytebuf_from_text(alloc_of(ctx), text);
    if (body)
        return leat_http_respond(ctx, status, fields, body, NULL);
    return write_or_complete(ctx, LEAT_ENOMEM, (leat_msg){0}, NULL);
}

int leat_http_stream(leat_ctx *ctx, unsigned status, const leat_http_field *fields) {
    leat_msg response = {0};
    int code = leat_http_stream_new(alloc_of(ctx), status, fields, &response);
    return write_or_complete(ctx, code, response, NULL);
}

void leat_http_end(leat_ctx *ctx, leat_done *done) {
    leat_ctx_write(ctx, leat_msg_of(&leat_type_http_end, NULL), done);
}
