/** leat-bench: measures the suites that are named, or all of them. */
#include "bench/peers/peers.h"
#include "bench/report.h"
#include "bench/suites.h"

#include <errno.h>
#include <string.h>

enum { EXIT_WRONG = 1, EXIT_USAGE = 2, MOST_NAMES = 64 };

static const bench_effort thorough = {.pairs = 20, .sample_nanos = 30e6};
static const bench_effort quick = {.pairs = 6, .sample_nanos = 10e6};

static const bench_suite *const suites[] = {&noise_suite,   &hop_suite,    &memory_suite, &alloc_suite,
                                            &text_suite,    &gather_suite, &router_suite, &threshold_suite,
                                            &buffer_suite,  &array_suite,  &loop_suite,   &zlib_suite,
                                            &framing_suite, &sse_suite,    &opcua_suite};
enum { SUITES = sizeof suites / sizeof *suites };

/* What the command line asks for, and what became of it. It visits rows in one of three ways. */
typedef struct request {
    bench_visitor visitor;
    const char *names[MOST_NAMES]; /* suites, or suite/case */
    bool known[MOST_NAMES];
    size_t name_count;
    bench_effort effort;
    bool list;
    bool table;
    bool peers;
    bool help;
    const char *json_path;
    FILE *json;
    int exit_code;
} request;

static void usage(FILE *out) {
    fputs("usage: leat-bench [SUITE | SUITE/CASE]... [--quick] [--table] [--peers] [--json FILE] [--list]\n"
          "  --quick      6 short samples an arm instead of 20\n"
          "  --table      prints a line a row\n"
          "  --peers      also measures other libraries at the same work, if they were installed when this was built\n"
          "  --json FILE  also writes the results to FILE, one JSON object a line\n"
          "  --list       prints the rows and what they require, and measures nothing\n"
          "suites:\n",
          out);
    for (size_t i = 0; i < SUITES; i++)
        fprintf(out, "  %-12s %s%s\n", suites[i]->name, suites[i]->about,
                suites[i]->on_request ? " (only when named)" : "");
}

/* Whether a name from the command line is this row's suite, or exactly this row. */
static bool names_row(const char *name, const bench_row *row) {
    size_t length = strlen(row->suite);
    if (strncmp(name, row->suite, length) != 0)
        return false;
    return name[length] == '\0' || (name[length] == '/' && strcmp(name + length + 1, row->name) == 0);
}

static bool wanted(const request *asked, const bench_row *row) {
    for (size_t i = 0; i < asked->name_count; i++)
        if (names_row(asked->names[i], row))
            return true;
    return asked->name_count == 0;
}

static void check_names(bench_visitor *visitor, const bench_row *row) {
    request *asked = (request *)visitor;
    for (size_t i = 0; i < asked->name_count; i++)
        asked->known[i] = asked->known[i] || names_row(asked->names[i], row);
}

static void list(bench_visitor *visitor, const bench_row *row) {
    if (wanted((request *)visitor, row))
        bench_print_row(stdout, row);
}

static void measure(bench_visitor *visitor, const bench_row *row) {
    request *asked = (request *)visitor;
    if (!wanted(asked, row))
        return;
    bench_row joined = *row;
    if (asked->peers)
        peers_join(&joined);
    bench_result result;
    char complaint[256];
    if (!bench_measure(&joined, asked->effort, &result, complaint, sizeof complaint)) {
        fprintf(stderr, "leat-bench: %s\n", complaint);
        asked->exit_code = EXIT_WRONG;
        return;
    }
    (asked->table ? bench_print_line : bench_print)(stdout, &result);
    fflush(stdout);
    if (asked->json)
        bench_print_json(asked->json, &result);
}

static void visit_all(request *asked, void (*visit)(bench_visitor *, const bench_row *)) {
    asked->visitor.visit = visit;
    for (size_t i = 0; i < SUITES; i++)
        if (asked->name_count > 0 || !suites[i]->on_request)
            suites[i]->rows(&asked->visitor);
}

static bool complain(const char *what, const char *which) {
    fprintf(stderr, "leat-bench: %s%s\n", what, which);
    return false;
}

static bool take_name(request *asked, const char *name) {
    if (asked->name_count == MOST_NAMES)
        return complain("too many names: ", name);
    asked->names[asked->name_count++] = name;
    return true;
}

/* Understands the argument at `*at`, and moves on over a value that belongs to it. */
static bool take_argument(request *asked, char **arguments, int *at) {
    const char *one = arguments[*at];
    if (strcmp(one, "--quick") == 0)
        asked->effort = quick;
    else if (strcmp(one, "--list") == 0)
        asked->list = true;
    else if (strcmp(one, "--table") == 0)
        asked->table = true;
    else if (strcmp(one, "--peers") == 0)
        asked->peers = true;
    else if (strcmp(one, "--help") == 0)
        asked->help = true;
    else if (strcmp(one, "--json") == 0 && arguments[*at + 1])
        asked->json_path = arguments[++*at];
    else if (one[0] == '-')
        return complain("unknown option, or one without its value: ", one);
    else
        return take_name(asked, one);
    return true;
}

static bool names_are_known(request *asked) {
    visit_all(asked, check_names);
    for (size_t i = 0; i < asked->name_count; i++)
        if (!asked->known[i])
            return complain("there is no suite or case named ", asked->names[i]);
    return true;
}

static bool understand(request *asked, char **arguments) {
    for (int at = 1; arguments[at]; at++)
        if (!take_argument(asked, arguments, &at))
            return false;
    return names_are_known(asked);
}

static bool open_json(request *asked) {
    if (!asked->json_path)
        return true;
    asked->json = fopen(asked->json_path, "w");
    if (!asked->json)
        fprintf(stderr, "leat-bench: %s: %s\n", asked->json_path, strerror(errno));
    return asked->json != NULL;
}

static void close_json(request *asked) {
    if (!asked->json)
        return;
    bool failed = ferror(asked->json) != 0;
    if (fclose(asked->json) == 0 && !failed)
        return;
    complain("cannot write ", asked->json_path);
    asked->exit_code = EXIT_WRONG;
}

static void measure_all(request *asked) {
    printf("leat %s, %zu samples of %g ms an arm, 95 %% ranges of paired ratios\n\n", leat_version(),
           asked->effort.pairs, asked->effort.sample_nanos / 1e6);
    visit_all(asked, measure);
    close_json(asked);
}

int main(int count, char **arguments) {
    (void)count;
    request asked = {.effort = thorough};
    if (!understand(&asked, arguments))
        return EXIT_USAGE;
    if (asked.help)
        usage(stdout);
    else if (asked.list)
        visit_all(&asked, list);
    else if (open_json(&asked))
        measure_all(&asked);
    else
        return EXIT_USAGE;
    return asked.exit_code;
}
