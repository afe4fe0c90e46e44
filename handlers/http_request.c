#include "handlers/http_internal.h"

#include <string.h>
#include <strings.h>

static const leat_bytebuf *body_of(const void *draft) {
    return ((const http_draft *)draft)->request.body;
}

static uint64_t request_size(const void *draft) {
    return body_of(draft) ? leat_bytebuf_readable(body_of(draft)) : 0;
}

const leat_type leat_type_http_request = {
    .name = "http_request", .release = leat_http_draft_release, .size = request_size};

http_draft *leat_http_draft_new(leat_alloc *alloc, const leat_http_config *limits) {
    size_t table = limits->max_count * sizeof(leat_http_field);
    /* Each text ends with a NUL: the target's, and two a field. */
    size_t text = (size_t)limits->max_target + limits->max_fields + 2 * (size_t)limits->max_count + 1;
    http_draft *draft = leat_alloc_take(alloc, sizeof *draft + table + text, NULL);
    if (!draft)
        return NULL;
    *draft = (http_draft){.alloc = alloc, .max_count = limits->max_count, .text_room = (uint32_t)text};
    draft->block_size = sizeof *draft + table + text;
    draft->text = (char *)(draft->fields + limits->max_count);
    draft->request.fields = draft->fields;
    return draft;
}

void leat_http_draft_release(void *object) {
    http_draft *draft = object;
    if (!draft)
        return;
    leat_bytebuf_release(draft->request.body);
    leat_alloc_give(draft->alloc, draft, draft->block_size);
}

bool leat_http_draft_append(http_draft *draft, const char *bytes, size_t length) {
    if (length > draft->text_room - draft->text_length)
        return false;
    memcpy(draft->text + draft->text_length, bytes, length);
    draft->text_length += (uint32_t)length;
    return true;
}

char *leat_http_draft_end_text(http_draft *draft) {
    char *text = draft->text + draft->text_start;
    if (!leat_http_draft_append(draft, "", 1))
        return NULL;
    draft->text_start = draft->text_length;
    return text;
}

bool leat_http_draft_end_name(http_draft *draft) {
    const char *name = leat_http_draft_end_text(draft);
    if (!name || draft->request.field_count == draft->max_count)
        return false;
    draft->fields[draft->request.field_count++] = (leat_http_field){name, ""};
    return true;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* The parser leaves blanks at a value's end; they are none of it (RFC 9112 5.1). */
bool leat_http_draft_end_value(http_draft *draft) {
    while (draft->text_length > draft->text_start && is_blank(draft->text[draft->text_length - 1]))
        draft->text_length--;
    const char *value = leat_http_draft_end_text(draft);
    if (value)
        draft->fields[draft->request.field_count - 1].value = value;
    return value;
}

/* RFC 9112 3.2: origin-form, asterisk-form, or absolute-form, whose authority says nothing that Host does not. */
bool leat_http_draft_set_target(http_draft *draft, char *target) {
    static const char scheme[] = "http://";
    if (strncasecmp(target, scheme, sizeof scheme - 1) == 0) {
        char *path = target + sizeof scheme - 1;
        path += strcspn(path, "/?");
        target = *path == '/' ? path : NULL;
    }
    if (!target || (*target != '/' && strcmp(target, "*") != 0))
        return false;
    char *query = strchr(target, '?');
    if (query)
        *query++ = '\0';
    draft->request.path = target;
    draft->request.query = query;
    return true;
}

/* ---- looking at a request ---- */

const char *leat_http_request_field(const leat_http_request *request, const char *name) {
    for (size_t i = 0; i < request->field_count; i++)
        if (strcasecmp(request->fields[i].name, name) == 0)
            return request->fields[i].value;
    return NULL;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes one character of a value and moves past it; -1 = a bad escape. */
static int next_character(const char **at, const char *end) {
    const char *from = (*at)++;
    if (*from == '+')
        return ' ';
    if (*from != '%')
        return (unsigned char)*from;
    if (end - from < 3 || hex_digit(from[1]) < 0 || hex_digit(from[2]) < 0)
        return -1;
    *at += 2;
    return hex_digit(from[1]) << 4 | hex_digit(from[2]);
}

static int decode_value(const char *at, const char *end, char *value, size_t size) {
    size_t length = 0;
    while (at < end) {
        int c = next_character(&at, end);
        if (c <= 0)
            return LEAT_ECORRUPT;
        if (length + 1 >= size)
            return LEAT_ETOOLONG;
        value[length++] = (char)c;
    }
    if (size == 0)
        return LEAT_ETOOLONG;
    value[length] = '\0';
    return (int)length;
}

int leat_http_request_query(const leat_http_request *request, const char *name, char *value, size_t size) {
    size_t name_length = strlen(name);
    for (const char *at = request->query; at && *at; at += *at == '&') {
        const char *end = at + strcspn(at, "&");
        const char *equals = memchr(at, '=', (size_t)(end - at));
        const char *name_end = equals ? equals : end;
        if ((size_t)(name_end - at) == name_length && memcmp(at, name, name_length) == 0)
            return decode_value(equals ? equals + 1 : end, end, value, size);
        at = end;
    }
    return LEAT_ENOTFOUND;
}
