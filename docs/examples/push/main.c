/*
 * leat-push: pushes events to everyone who listens, over Server-Sent Events and legacy TCP. A small server made of
 * Leat's parts: two listeners, a pipeline for each, a source, and a push server in between.
 */
#include "app.h"
#include "vitals.h"

#include <leat/handlers/http.h>
#include <leat/handlers/idle.h>
#include <leat/handlers/legacy_tcp_framer.h>
#include <leat/handlers/length_field_decoder.h>
#include <leat/handlers/length_field_prepender.h>
#include <leat/handlers/line.h>
#include <leat/transports/evloop.h>
#include <leat/transports/source.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Exit code of what was asked for and cannot be. */
enum { EXIT_USAGE = 2 };

/* Times in milliseconds: a quiet legacy TCP client gets a heartbeat, a silent one is closed. */
enum { HEARTBEAT_MS = 2000, SILENT_MS = 10000 };

/* How often closing looks whether the last channel has gone, and the pause between two lines about bad clients. */
enum { LOOK_MS = 10, REPORT_MS = 10000 };

/* What is kept for clients that come back: less than may wait for one of them. */
enum { KEPT_EVENTS = 1000, KEPT_BYTES = 512 << 10 };

typedef struct program {
    push_app app;
    push_vitals vitals;
    leat_tcp_listener *http, *tcp;
    leat_pipeline *http_pipeline, *tcp_pipeline, *input_pipeline;
    leat_signal *interrupt, *terminate;
    leat_timer tick, end, look;
    bool closing;
} program;

#define PROGRAM_OF(timer_pointer, member) ((program *)((char *)(timer_pointer)-offsetof(program, member)))

/* ---- the end --------------------------------------------------------------------------------------------------------
 */

static void look_for_the_end(leat_timer *timer) {
    program *self = PROGRAM_OF(timer, look);
    leat_loop *loop = self->app.loop;
    if (leat_loop_statistics(loop).channels == 0 || leat_timer_start(loop, timer, LOOK_MS) != 0)
        leat_loop_stop(loop);
}

/* Every channel ends within the close timeout, so this does too. */
static void close_gracefully(program *self) {
    self->closing = true;
    leat_tcp_listener_close(self->http);
    leat_tcp_listener_close(self->tcp);
    leat_timer_stop(self->app.loop, &self->tick);
    if (self->app.input)
        leat_channel_abort(self->app.input, 0);
    leat_push_server_close(self->app.push);
    leat_group_close(self->app.channels);
    look_for_the_end(&self->look);
}

/* The second signal does not wait. */
static void on_signal(void *context, int number) {
    (void)number;
    program *self = context;
    if (self->closing)
        leat_loop_stop(self->app.loop);
    else
        close_gracefully(self);
}

static void on_end(leat_timer *timer) {
    program *self = PROGRAM_OF(timer, end);
    if (!self->closing)
        close_gracefully(self);
}

static void print_ledgers(const program *self) {
    char text[2048];
    leat_push_ledger ledger = leat_push_server_ledger(self->app.push);
    leat_push_ledger_text(&ledger, text, sizeof text);
    fputs(text, stdout);
}

/* ---- vital signs ----------------------------------------------------------------------------------------------------
 */

static void offer_vitals(program *self) {
    leat_alloc *alloc = leat_loop_alloc(self->app.loop);
    leat_bytebuf *signs = leat_bytebuf_new(alloc, 512);
    if (signs && !push_vitals_write(&self->vitals, leat_loop_now(self->app.loop), self->app.push, signs)) {
        leat_bytebuf_release(signs);
        signs = NULL;
    }
    leat_push_offer(self->app.push, leat_push_event_new(alloc, signs));
}

static void on_tick(leat_timer *timer) {
    program *self = PROGRAM_OF(timer, tick);
    if (leat_timer_start(self->app.loop, timer, self->app.options.interval_ms) != 0)
        leat_loop_stop(self->app.loop);
    offer_vitals(self);
}

/* ---- bad clients ----------------------------------------------------------------------------------------------------
 */

void push_report_client(push_app *app, const leat_channel *channel, const char *what) {
    uint64_t now = leat_loop_now(app->loop);
    leat_address peer;
    char name[LEAT_ADDRESS_TEXT] = "a client";
    if (app->last_report && now - app->last_report < REPORT_MS * (uint64_t)1000000) {
        app->unreported++;
        return;
    }
    if (channel && leat_tcp_peer(channel, &peer) == 0)
        leat_address_format(&peer, name, sizeof name);
    fprintf(stderr, "leat-push: %s%s%s", channel ? name : "", channel ? ": " : "", what);
    if (app->unreported)
        fprintf(stderr, " (and %" PRIu64 " more since the last line)", app->unreported);
    fputc('\n', stderr);
    app->last_report = now;
    app->unreported = 0;
}

/* ---- set-up ---------------------------------------------------------------------------------------------------------
 */

static int fail(const char *what, const char *which, const char *why) {
    fprintf(stderr, "leat-push: %s%s%s: %s\n", what, which ? " " : "", which ? which : "", why);
    return EXIT_USAGE;
}

static int read_token(push_app *app) {
    const char *path = app->options.token_file;
    FILE *file = path ? fopen(path, "re") : NULL;
    if (!path)
        return 0;
    if (!file)
        return fail("--token-file", path, strerror(errno));
    size_t length = fread(app->token, 1, sizeof app->token, file);
    int failed = ferror(file) ? errno : 0;
    fclose(file);
    if (failed)
        return fail("--token-file", path, strerror(failed));
    if (length == sizeof app->token)
        return fail("--token-file", path, "the token is longer than 512 bytes");
    app->token[length] = '\0';
    app->token[strcspn(app->token, "\r\n")] = '\0';
    return app->token[0] ? 0 : fail("--token-file", path, "there is no token in its first line");
}

static int make_http_pipeline(program *self, leat_problem *problem) {
    const push_app_config config = {&self->app};
    const leat_idle_config idle = {.write_ms = self->app.options.keep_alive_ms};
    const leat_stage stages[] = {
        {.handler = &leat_idle, .config = &idle},
        {.handler = &leat_http},
        {.handler = &push_http_routes, .config = &config},
        {0},
    };
    self->http_pipeline = leat_pipeline_new(leat_loop_alloc(self->app.loop), stages, problem);
    return self->http_pipeline ? 0 : problem->code;
}

static int make_tcp_pipeline(program *self, leat_problem *problem) {
    const push_app_config config = {&self->app};
    const leat_idle_config idle = {.read_ms = SILENT_MS, .write_ms = HEARTBEAT_MS};
    const leat_length_field_decoder_config decoder = {.max_frame = 65536, .strip = 4};
    const leat_legacy_tcp_framer_config framer = {.name = "leat"};
    const leat_stage stages[] = {
        {.handler = &leat_idle, .config = &idle},
        {.handler = &leat_length_field_prepender},
        {.handler = &leat_length_field_decoder, .config = &decoder},
        {.handler = &leat_legacy_tcp_framer, .config = &framer},
        {.handler = &push_tcp_port, .config = &config},
        {0},
    };
    self->tcp_pipeline = leat_pipeline_new(leat_loop_alloc(self->app.loop), stages, problem);
    return self->tcp_pipeline ? 0 : problem->code;
}

static int make_input(program *self, leat_problem *problem) {
    const push_app_config config = {&self->app};
    const leat_line_config line = {.max_length = 1 << 20, .last_line = true};
    const leat_stage stages[] = {
        {.handler = &leat_line_decoder, .config = &line},
        {.handler = &push_input, .config = &config},
        {0},
    };
    self->input_pipeline = leat_pipeline_new(leat_loop_alloc(self->app.loop), stages, problem);
    if (!self->input_pipeline)
        return problem->code;
    const leat_source_options options = {.pipeline = self->input_pipeline, .channel = {.manual_read = true}};
    return leat_source_open(self->app.loop, 0, &options, &self->app.input, problem);
}

/* Listeners may have 256 KiB waiting before they count as slow: several batches, so that a burst is no drop. */
static int listen_on(program *self, const char *address, leat_pipeline *pipeline, leat_tcp_listener **listener,
                     leat_problem *problem) {
    const leat_tcp_options options = {
        .pipeline = pipeline,
        .channel = {.write_low = 64 << 10, .write_high = 256 << 10, .close_timeout_ms = self->app.options.close_ms}};
    return leat_tcp_listen(self->app.loop, address, &options, listener, problem);
}

static int start_listeners(program *self) {
    leat_problem problem = {0};
    const push_options *options = &self->app.options;
    if (make_http_pipeline(self, &problem) != 0 || make_tcp_pipeline(self, &problem) != 0)
        return fail("cannot set up", NULL, problem.text);
    if (listen_on(self, options->http, self->http_pipeline, &self->http, &problem) != 0)
        return fail("--http", options->http, problem.text);
    if (listen_on(self, options->tcp, self->tcp_pipeline, &self->tcp, &problem) != 0)
        return fail("--tcp", options->tcp, problem.text);
    return 0;
}

static int start_source(program *self) {
    leat_problem problem = {0};
    if (self->app.options.from_stdin)
        return make_input(self, &problem) == 0 ? 0 : fail("standard input", NULL, problem.text);
    self->tick.fn = on_tick;
    return leat_timer_start(self->app.loop, &self->tick, 0) == 0 ? 0 : fail("cannot start", NULL, "out of memory");
}

static int start_clocks(program *self) {
    leat_loop *loop = self->app.loop;
    self->end.fn = on_end;
    self->look.fn = look_for_the_end;
    self->interrupt = leat_evloop_on_signal(loop, SIGINT, on_signal, self);
    self->terminate = leat_evloop_on_signal(loop, SIGTERM, on_signal, self);
    bool fine = self->interrupt && self->terminate;
    if (self->app.options.for_ms)
        fine = leat_timer_start(loop, &self->end, self->app.options.for_ms) == 0 && fine;
    return fine ? 0 : fail("cannot start", NULL, "out of memory");
}

/* Higher than any id of an earlier run, as long as that had less than a million events a second. */
static uint64_t id_of_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static int start_push(program *self) {
    leat_problem problem = {0};
    uint64_t first_id = self->app.options.first_id;
    const leat_push_options options = {.with_ids = true,
                                       .first_id = first_id ? first_id : id_of_now(),
                                       .keep_events = KEPT_EVENTS,
                                       .keep_bytes = KEPT_BYTES,
                                       .seed = (uint64_t)(uintptr_t)self ^ leat_loop_now(self->app.loop)};
    self->app.push = leat_push_server_new(self->app.loop, &options, &problem);
    self->app.channels = leat_group_new(leat_loop_alloc(self->app.loop));
    return self->app.push && self->app.channels ? 0 : fail("cannot start", NULL, "out of memory");
}

static int start(program *self) {
    int code = read_token(&self->app);
    if (code == 0)
        code = start_push(self);
    if (code == 0)
        code = start_listeners(self);
    if (code == 0)
        code = start_clocks(self);
    return code == 0 ? start_source(self) : code;
}

static void print_addresses(const program *self) {
    char http[LEAT_ADDRESS_TEXT], tcp[LEAT_ADDRESS_TEXT];
    leat_address at = leat_tcp_listener_address(self->http);
    leat_address_format(&at, http, sizeof http);
    at = leat_tcp_listener_address(self->tcp);
    leat_address_format(&at, tcp, sizeof tcp);
    printf("leat-push %s\n  page    http://%s/\n  events  http://%s/events\n  tcp     %s\n", leat_version(), http, http,
           tcp);
    fflush(stdout);
}

static void clean_up(program *self) {
    leat_tcp_listener_release(self->http);
    leat_tcp_listener_release(self->tcp);
    leat_signal_release(self->interrupt);
    leat_signal_release(self->terminate);
    leat_push_server_release(self->app.push);
    leat_pipeline_release(self->http_pipeline);
    leat_pipeline_release(self->tcp_pipeline);
    leat_pipeline_release(self->input_pipeline);
    leat_loop_release(self->app.loop);
    leat_group_free(self->app.channels);
}

/* Descriptors 0 to 2 are for input and output only, also when the program was started without them. Returns whether
 * there is standard input. */
static bool keep_standard_descriptors(void) {
    bool has_input = fcntl(STDIN_FILENO, F_GETFD) >= 0;
    int descriptor;
    do
        descriptor = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor >= 0)
        close(descriptor);
    return has_input;
}

/* Each client is a descriptor: take as many as the system lets us. */
static void raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static int run(program *self) {
    int code = start(self);
    if (code != 0)
        return code;
    print_addresses(self);
    code = leat_loop_run(self->app.loop);
    print_ledgers(self);
    return code == 0 ? 0 : fail("the loop ended", NULL, leat_error_message(code));
}

int main(int count, char **arguments) {
    program self = {0};
    int code = push_options_parse(&self.app.options, count, arguments);
    if (code >= 0)
        return code;
    if (!keep_standard_descriptors() && self.app.options.from_stdin)
        return fail("standard input", NULL, "it is closed");
    signal(SIGPIPE, SIG_IGN);
    raise_descriptor_limit();
    self.app.loop = leat_evloop_new(NULL);
    if (!self.app.loop)
        return fail("cannot start", NULL, "no event loop");
    code = run(&self);
    clean_up(&self);
    return code;
}
