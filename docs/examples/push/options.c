#include "options.h"

#include <leat/core/base.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: leat-push [OPTION...]\n"
    "\n"
    "Pushes events to everyone who listens: the vital signs of this machine, or the lines of standard input.\n"
    "\n"
    "  --http HOST:PORT      Server-Sent Events and a page to look at; 127.0.0.1:8080 (port 0: any free one)\n"
    "  --tcp HOST:PORT       legacy TCP frames, for clients that subscribe; 127.0.0.1:8081\n"
    "  --source SOURCE       vitals (from /proc) or stdin (a line is an event); vitals\n"
    "  --window TIME         from the first event of a batch to its write; 200ms\n"
    "  --interval TIME       between two vital signs; 200ms\n"
    "  --for TIME            end by itself after this time; without it Ctrl-C ends it\n"
    "  --token-file FILE     POST /events needs 'Authorization: Bearer' with what FILE holds, and may come from\n"
    "                        anywhere; without it only this machine may publish\n"
    "  --close-timeout TIME  how long closing may take; 5s\n"
    "  --keep-alive TIME     a quiet event stream gets a comment so often; 15s\n"
    "  --first-id NUMBER     of the first event; the time in microseconds, so that no id is one of an earlier run\n"
    "  --help, --version\n"
    "\n"
    "TIME is a number with ms, s, m or h: 200ms, 5s.\n"
    "\n"
    "  curl -N http://127.0.0.1:8080/events                            listen\n"
    "  curl --data-binary hello http://127.0.0.1:8080/events           publish\n";

static int complain(const char *what, const char *which, const char *why) {
    fprintf(stderr, "leat-push: %s%s: %s; --help lists the options\n", what, which, why);
    return 2;
}

/* At most about 49 days, so that every sum of times is far from overflowing. */
static bool parse_time(const char *text, uint64_t *ms) {
    static const struct {
        const char *unit;
        uint64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno || end == text || *text < '0' || *text > '9' || number > UINT32_MAX)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].unit) != 0)
            continue;
        *ms = number * units[i].ms;
        return *ms < UINT32_MAX;
    }
    return false;
}

static bool parse_id(const char *text, uint64_t *id) {
    char *end = NULL;
    errno = 0;
    *id = strtoull(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *text >= '0' && *text <= '9' && *id > 0;
}

typedef struct named_time {
    const char *name;
    uint64_t *ms;
    uint64_t least;
} named_time;

static int parse_one(push_options *options, const char *name, const char *value) {
    const struct {
        const char *name;
        const char **text;
    } texts[] = {{"--http", &options->http}, {"--tcp", &options->tcp}, {"--token-file", &options->token_file}};
    const named_time times[] = {{"--window", &options->window_ms, 0},
                                {"--interval", &options->interval_ms, 1},
                                {"--for", &options->for_ms, 1},
                                {"--close-timeout", &options->close_ms, 1},
                                {"--keep-alive", &options->keep_alive_ms, 1}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(name, texts[i].name) != 0)
            continue;
        *texts[i].text = value;
        return -1;
    }
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        if (strcmp(name, times[i].name) != 0)
            continue;
        if (!parse_time(value, times[i].ms) || *times[i].ms < times[i].least)
            return complain(name, "", "wants a time such as 200ms or 5s");
        return -1;
    }
    if (strcmp(name, "--first-id") == 0)
        return parse_id(value, &options->first_id) ? -1 : complain(name, "", "wants a number from 1 on");
    options->from_stdin = strcmp(value, "stdin") == 0;
    if (!options->from_stdin && strcmp(value, "vitals") != 0)
        return complain("--source ", value, "wants vitals or stdin");
    return -1;
}

static bool takes_a_value(const char *name) {
    static const char *const names[] = {"--http", "--tcp",        "--source",        "--window",     "--interval",
                                        "--for",  "--token-file", "--close-timeout", "--keep-alive", "--first-id"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static int parse_all(push_options *options, int count, char **arguments) {
    for (int i = 1; i < count; i++) {
        const char *name = arguments[i];
        if (strcmp(name, "--help") == 0)
            return fputs(help, stdout) < 0 ? 2 : 0;
        if (strcmp(name, "--version") == 0)
            return printf("leat-push %s\n", leat_version()) < 0 ? 2 : 0;
        if (!takes_a_value(name))
            return complain("unknown option", "", name);
        if (++i == count)
            return complain(name, "", "wants a value");
        int code = parse_one(options, name, arguments[i]);
        if (code >= 0)
            return code;
    }
    return -1;
}

int push_options_parse(push_options *options, int count, char **arguments) {
    *options = (push_options){.http = "127.0.0.1:8080",
                              .tcp = "127.0.0.1:8081",
                              .window_ms = 200,
                              .interval_ms = 200,
                              .close_ms = 5000,
                              .keep_alive_ms = 15000};
    return parse_all(options, count, arguments);
}
