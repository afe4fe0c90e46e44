/* What the parts of leat-push share. */
#ifndef LEAT_PUSH_PROGRAM_APP_H
#define LEAT_PUSH_PROGRAM_APP_H

#include "options.h"

#include <leat/core/group.h>
#include <leat/core/loop.h>
#include <leat/handlers/push/server.h>
#include <leat/transports/tcp.h>

/* Token of a file, at most so long. */
enum { PUSH_TOKEN_MAX = 512 };

typedef struct push_app {
    push_options options;
    leat_loop *loop;
    leat_push_server *push;
    leat_group *channels; /* of all clients */
    leat_channel *input;  /* standard input; NULL = closed, or not the source */
    char token[PUSH_TOKEN_MAX + 1];
    uint64_t last_report; /* nanoseconds of the loop's clock */
    uint64_t unreported;
} push_app;

/* The config of handlers of this program: which app they belong to. */
typedef struct push_app_config {
    push_app *app;
} push_app_config;

/* A client did something wrong: one line on standard error, at most one in ten seconds, which counts the others. */
void push_report_client(push_app *app, const leat_channel *channel, const char *what);

/* http_routes.c: the last handler of HTTP connections; leat_http is before it. */
extern const leat_handler push_http_routes;

/* tcp_port.c: the last handler of legacy TCP connections; decoder, prepender, framer and idle are before it. */
extern const leat_handler push_tcp_port;

/* input.c: the last handler of standard input; leat_line_decoder is before it. */
extern const leat_handler push_input;

/* page.c: what GET / shows. */
extern const unsigned char push_page[];
extern const size_t push_page_size;

#endif
