/** What the files of the suite hop share. */
#ifndef LEAT_BENCH_HOP_H
#define LEAT_BENCH_HOP_H

#include "bench/harness.h"

/** Shows the rows of outbound messages to the visitor. */
void bench_hop_write_rows(bench_visitor *visitor);

#endif
