/* What passes through the client: requests on their way out, and responses. */
#include "handlers/http_client.h"

#include "core/channel.h"
#include "handlers/http_internal.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* ---- responses ---- */

static void response_release(void *object) {
    leat_http_draft_release((char *)object - offsetof(http_draft, response));
}

const leat_type leat_type_http_client_response = {.name = "http_client_response", .release = response_release};
const leat_type leat_type_http_client_end = {.name = "http_client_end"};

const char *leat_http_client_response_field(const leat_http_client_response *response, const char *name) {
    for (size_t i = 0; i < response->field_count; i++)
        if (strcasecmp(response->fields[i].name, name) == 0)
            return response->fields[i].value;
    return NULL;
}

/* ---- requests ---- */

static uint64_t request_size(const void *object) {
    const http_outgoing *request = object;
    uint64_t size = request->header ? leat_bytebuf_readable(request->header) : 0;
    return size + (request->body ? leat_bytebuf_readable(request->body) : 0);
}

static void request_release(void *object) {
    http_outgoing *request = object;
    leat_bytebuf_release(request->header);
    leat_bytebuf_release(request->body);
    leat_alloc_give(request->alloc, request, sizeof *request);
}

const leat_type leat_type_http_client_request = {
    .name = "http_client_request", .release = request_release, .size = request_size};

/* Neither blanks, which end it, nor control characters. */
static bool is_word(const char *text) {
    for (; text && *text; text++)
        if ((unsigned char)*text <= ' ' || *text == 0x7f)
            return false;
    return text != NULL;
}

static bool names_host(const leat_http_field *field) {
    for (; field && field->name; field++)
        if (strcasecmp(field->name, "Host") == 0)
            return true;
    return false;
}

static bool is_sound(const leat_http_client_request *request) {
    bool line = is_word(request->target) && *request->target && is_word(request->host);
    return line && (!request->method || leat_http_is_token(request->method)) && !names_host(request->fields) &&
           leat_http_are_fields(request->fields);
}

static leat_bytebuf *header_of(leat_alloc *alloc, const leat_http_client_request *request) {
    const char *method = request->method ? request->method : "GET";
    leat_bytebuf *header = leat_bytebuf_new(alloc, 512);
    bool whole = header && leat_bytebuf_write_format(header, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, request->target,
                                                     request->host);
    if (whole && request->body)
        whole = leat_bytebuf_write_format(header, "Content-Length: %llu\r\n",
                                          (unsigned long long)leat_bytebuf_readable(request->body));
    if (whole && leat_http_write_fields(header, request->fields))
        return header;
    leat_bytebuf_release(header);
    return NULL;
}

static int make(leat_alloc *alloc, const leat_http_client_request *request, leat_msg *made) {
    if (!is_sound(request))
        return LEAT_EINVAL;
    leat_bytebuf *header = header_of(alloc, request);
    http_outgoing *outgoing = header ? leat_alloc_take(alloc, sizeof *outgoing, NULL) : NULL;
    if (!outgoing) {
        leat_bytebuf_release(header);
        return LEAT_ENOMEM;
    }
    bool is_head = request->method && strcmp(request->method, "HEAD") == 0;
    *outgoing = (http_outgoing){.alloc = alloc, .header = header, .body = request->body, .is_head = is_head};
    *made = leat_msg_of(&leat_type_http_client_request, outgoing);
    return 0;
}

int leat_http_client_send(leat_ctx *ctx, const leat_http_client_request *request, leat_done *done) {
    leat_msg msg = {0};
    int code = make(leat_channel_alloc(leat_ctx_channel(ctx)), request, &msg);
    if (code == 0) {
        leat_ctx_write(ctx, msg, done);
        return 0;
    }
    leat_bytebuf_release(request->body);
    leat_ctx_complete(ctx, done, code);
    return code;
}
