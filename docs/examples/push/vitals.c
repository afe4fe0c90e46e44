#include "vitals.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Reads a small file whole as text; false = there is none, or it is empty. */
static bool read_file(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t length = fread(text, 1, size - 1, file);
    fclose(file);
    text[length] = '\0';
    return length > 0;
}

static const char *next_line(const char *line) {
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

/* A line of /proc/stat is: cpuN user nice system idle iowait irq softirq steal ... in ticks. */
static bool read_core(const char *line, uint64_t *busy, uint64_t *all) {
    uint64_t ticks[8] = {0};
    int count = sscanf(
        line, "cpu%*u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
        &ticks[0], &ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]);
    if (count < 4)
        return false;
    *all = 0;
    for (int i = 0; i < 8; i++)
        *all += ticks[i];
    *busy = *all - ticks[3] - ticks[4];
    return true;
}

static double percent(uint64_t part, uint64_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Since the last call; the first one tells the share since the machine started. */
static bool write_core(push_vitals *vitals, size_t core, uint64_t busy, uint64_t all, leat_bytebuf *to) {
    uint64_t part = busy > vitals->busy[core] ? busy - vitals->busy[core] : 0;
    uint64_t whole = all > vitals->all[core] ? all - vitals->all[core] : 0;
    vitals->busy[core] = busy;
    vitals->all[core] = all;
    return leat_bytebuf_write_format(to, "%s%.1f", core ? "," : ",\"cpu\":[", percent(part, whole));
}

static bool write_cores(push_vitals *vitals, leat_bytebuf *to) {
    char text[65536];
    if (!read_file("/proc/stat", text, sizeof text))
        return true;
    size_t core = 0;
    for (const char *line = next_line(text); core < PUSH_CORES_MAX && strncmp(line, "cpu", 3) == 0; core++) {
        uint64_t busy, all;
        if (!read_core(line, &busy, &all))
            break;
        if (!write_core(vitals, core, busy, all, to))
            return false;
        line = next_line(line);
    }
    return core == 0 || leat_bytebuf_write_bytes(to, "]", 1);
}

static bool write_load(leat_bytebuf *to) {
    char text[256];
    double load[3];
    if (!read_file("/proc/loadavg", text, sizeof text) ||
        sscanf(text, "%lf %lf %lf", &load[0], &load[1], &load[2]) != 3)
        return true;
    return leat_bytebuf_write_format(to, ",\"load\":[%.2f,%.2f,%.2f]", load[0], load[1], load[2]);
}

static bool find_kibibytes(const char *text, const char *name, uint64_t *bytes) {
    const char *line = strstr(text, name);
    if (!line || sscanf(line + strlen(name), "%" SCNu64, bytes) != 1)
        return false;
    *bytes *= 1024;
    return true;
}

static bool write_memory(leat_bytebuf *to) {
    char text[8192];
    uint64_t total, available;
    if (!read_file("/proc/meminfo", text, sizeof text) || !find_kibibytes(text, "MemTotal:", &total) ||
        !find_kibibytes(text, "MemAvailable:", &available))
        return true;
    return leat_bytebuf_write_format(to, ",\"memory\":{\"total\":%" PRIu64 ",\"available\":%" PRIu64 "}", total,
                                     available);
}

/* Lines of /proc/net/dev behind two of headings: name: received-bytes and 7 more, sent-bytes ... */
static void add_interfaces(const char *text, uint64_t *received, uint64_t *sent) {
    *received = *sent = 0;
    for (const char *line = next_line(next_line(text)); *line; line = next_line(line)) {
        uint64_t in, out;
        const char *numbers = strchr(line, ':');
        if (!numbers || sscanf(numbers + 1, "%" SCNu64 " %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &in, &out) != 2)
            continue;
        *received += in;
        *sent += out;
    }
}

static double per_second(uint64_t before, uint64_t after, uint64_t nanoseconds) {
    return nanoseconds && after > before ? (double)(after - before) * 1e9 / (double)nanoseconds : 0;
}

static bool write_network(push_vitals *vitals, uint64_t now, leat_bytebuf *to) {
    char text[65536];
    uint64_t received, sent;
    if (!read_file("/proc/net/dev", text, sizeof text))
        return true;
    add_interfaces(text, &received, &sent);
    uint64_t passed = vitals->read_at ? now - vitals->read_at : 0;
    double in = per_second(vitals->received, received, passed), out = per_second(vitals->sent, sent, passed);
    vitals->received = received;
    vitals->sent = sent;
    return leat_bytebuf_write_format(to, ",\"network\":{\"received\":%.0f,\"sent\":%.0f}", in, out);
}

static bool write_counters(const leat_push_server *server, leat_bytebuf *to) {
    leat_push_ledger ledger = leat_push_server_ledger(server);
    const leat_push_account *all = &ledger.destinations;
    return leat_bytebuf_write_format(
        to,
        ",\"push\":{\"connections\":%zu,\"offered\":%" PRIu64 ",\"accepted\":%" PRIu64 ",\"delivered\":%" PRIu64
        ",\"dropped\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"pending\":%" PRIu64 "}",
        leat_push_server_connections(server), ledger.offered.events, ledger.accepted.events, all->delivered.events,
        leat_push_account_dropped(all).events, all->failed.events, all->pending.events);
}

bool push_vitals_write(push_vitals *vitals, uint64_t now, const leat_push_server *server, leat_bytebuf *to) {
    struct timespec time = {0, 0};
    clock_gettime(CLOCK_REALTIME, &time);
    bool fine = leat_bytebuf_write_format(to, "{\"time\":%lld.%03ld", (long long)time.tv_sec, time.tv_nsec / 1000000) &&
                write_cores(vitals, to) && write_load(to) && write_memory(to) && write_network(vitals, now, to) &&
                write_counters(server, to) && leat_bytebuf_write_bytes(to, "}", 1);
    vitals->read_at = now;
    return fine;
}
