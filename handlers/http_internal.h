/** What the sources of the http handler share. Not installed. */
#ifndef LEAT_HANDLERS_HTTP_INTERNAL_H
#define LEAT_HANDLERS_HTTP_INTERNAL_H

#include "core/timer.h"
#include "handlers/codec.h"
#include "handlers/http.h"
#include "handlers/http_client.h"

#include <llhttp.h>

/** A request while it is parsed and after: one block that holds the request, its fields and their text. */
typedef struct http_draft {
    leat_http_request request;
    leat_http_client_response response; /* of the client's drafts; the fields are counted in `request` */
    leat_alloc *alloc;
    size_t block_size;
    uint32_t max_count;
    uint32_t text_room;
    uint32_t text_length;
    uint32_t text_start;
    uint32_t target_length;
    uint32_t fields_length; /* bytes of names and values so far */
    char *text;
    leat_http_field fields[];
} http_draft;

/** Makes a draft with room for what the limits allow; NULL = no memory. */
http_draft *leat_http_draft_new(leat_alloc *alloc, const leat_http_config *limits);

/** Releases a draft or a request; NULL is fine. */
void leat_http_draft_release(void *draft);

/** Appends to the text that is being taken down; false = it is over the limits. */
bool leat_http_draft_append(http_draft *draft, const char *bytes, size_t length);

/** Ends the text that was appended since the last end and returns it; NULL = it is over the limits. */
char *leat_http_draft_end_text(http_draft *draft);

/** Tells whether nothing was appended since the last end. */
static inline bool leat_http_draft_has_empty_text(const http_draft *draft) {
    return draft->text_length == draft->text_start;
}

/** Makes path and query of a target; false = it is no target of an origin server. */
bool leat_http_draft_set_target(http_draft *draft, char *target);

/** Ends the name of a header field; false = it is over the limits. */
bool leat_http_draft_end_name(http_draft *draft);

/** Ends the value of the header field that was named last, without blanks at its end; false = it is over the limits. */
bool leat_http_draft_end_value(http_draft *draft);

/** Tells whether a name is a token (RFC 9110 5.6.2). */
bool leat_http_is_token(const char *name);

/** Tells whether these can be header fields that the application chooses. */
bool leat_http_are_fields(const leat_http_field *field);

/** Writes the lines of the fields and the empty line; false = no memory. */
bool leat_http_write_fields(leat_bytebuf *lines, const leat_http_field *field);

/** A request on its way to the client's handler. */
typedef struct http_outgoing {
    leat_alloc *alloc;
    leat_bytebuf *header;
    leat_bytebuf *body; /* may be NULL */
    bool is_head;
} http_outgoing;

/** A response on its way to the handler. */
typedef struct http_response {
    leat_alloc *alloc;
    leat_bytebuf *fields; /* the lines of the header fields and the empty line */
    leat_bytebuf *body;   /* may be NULL */
    unsigned status;
    bool stream;
} http_response;

typedef enum http_phase {
    HTTP_READING,   /* between requests, or in one */
    HTTP_ANSWERING, /* a request went to the application, which owes a response */
    HTTP_STREAMING  /* the response has begun, and ByteBufs are its chunks */
} http_phase;

/** The handler's state in a channel. */
struct http {
    leat_decoder decoder;
    leat_timer timer;
    leat_http_config limits;
    llhttp_t parser;
    http_draft *draft;
    http_phase phase;
    unsigned refusal; /* the status to refuse the request with */
    int failure;      /* the code that ended parsing for a reason of our own */
    int minor;
    bool begun;        /* a byte of the request has come */
    bool in_body;      /* its header has ended */
    bool continue_due; /* the client waits for an interim answer before it sends the body */
    bool keep_alive;
    bool head; /* the last request was a HEAD */
    bool chunked;
};

/** Starts the time that the peer has from now on. */
void leat_http_start_timer(leat_ctx *ctx, uint64_t ms);

/** Answers a request that cannot be served with a line of text, and closes. */
void leat_http_turn_away(leat_ctx *ctx, unsigned status);

/** The outbound entries. */
void leat_http_write(leat_ctx *ctx, leat_msg msg, leat_done *done);
void leat_http_close(leat_ctx *ctx); /**< see above */

#endif
