/** A site for tests of the http handler, and what its answers look like. */
#ifndef LEAT_TESTS_SUPPORT_HTTP_SITE_H
#define LEAT_TESTS_SUPPORT_HTTP_SITE_H

#include "core/embedded.h"
#include "handlers/http.h"

/**
 * Answers by path: "/stream" with a stream, "/empty" with 204, "/later" not at all, and every other one with a line
 * "method|path|query parameter name|field X-Test|keep-alive|body".
 */
extern const leat_handler site;

/** The http handler with its defaults, then the site. */
extern const leat_stage site_stages[];

/** Makes a channel of `stages` and feeds it text. */
leat_embedded *site_fed(const leat_stage *stages, const char *text);

/** Feeds text byte by byte. */
void site_feed_bytewise(leat_embedded *embedded, const char *text);

/** Asserts what was written since the last call. */
void assert_written(leat_embedded *embedded, const char *expected);

/** Returns the place of the site, to answer from. */
leat_ctx *site_of(leat_embedded *embedded);

#define TEXT_HEAD(length) "HTTP/1.1 200 OK\r\nContent-Length: " length "\r\n"
#define TEXT_TYPE "Content-Type: text/plain; charset=utf-8\r\n\r\n"
#define GET_STREAM "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n"
#define STREAM_HEAD "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n"

#endif
