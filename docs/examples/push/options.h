/* What leat-push was asked to do on its command line. */
#ifndef LEAT_PUSH_PROGRAM_OPTIONS_H
#define LEAT_PUSH_PROGRAM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct push_options {
    const char *http;       /* "host:port" */
    const char *tcp;        /* "host:port" */
    bool from_stdin;        /* events are the lines of standard input, not vital signs */
    uint64_t window_ms;     /* from the first event of a batch to its write */
    uint64_t interval_ms;   /* between two vital signs */
    uint64_t for_ms;        /* run so long; 0 = until a signal */
    uint64_t close_ms;      /* how long closing may take */
    uint64_t first_id;      /* number of the first event; 0 = the time */
    uint64_t keep_alive_ms; /* a quiet event stream gets a comment so often */
    const char *token_file; /* NULL = publishing needs no token, but a peer on this machine */
} push_options;

/* Reads the command line. Returns -1 to go on, or the exit code (help and version were printed, or what is wrong). */
int push_options_parse(push_options *options, int count, char **arguments);

#endif
