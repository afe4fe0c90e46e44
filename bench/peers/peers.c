#include "bench/peers/peers.h"

#include <string.h>

bool peers_is(const bench_row *row, const char *suite, const char *beginning) {
    return strcmp(row->suite, suite) == 0 && strncmp(row->name, beginning, strlen(beginning)) == 0;
}

static void add_ratio(bench_row *row, const char *peer) {
    size_t i = 0;
    while (i < BENCH_MOST_RATIOS && row->ratios[i].over)
        i++;
    if (i < BENCH_MOST_RATIOS)
        row->ratios[i] = (bench_ratio){row->arms[0]->name, peer, 0};
}

void peers_add(bench_row *row, const bench_arm *arm) {
    size_t i = 0;
    while (i < BENCH_MOST_ARMS && row->arms[i])
        i++;
    if (i == BENCH_MOST_ARMS)
        return;
    row->arms[i] = arm;
    add_ratio(row, arm->name);
}

void peers_join(bench_row *row) {
#ifdef LEAT_PEER_EVBUFFER_FOUND
    evbuffer_join(row);
#endif
#ifdef LEAT_PEER_NETTY_FOUND
    netty_join(row);
#endif
    (void)row;
}
