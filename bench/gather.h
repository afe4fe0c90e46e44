/** The rows of gathered batches, for the suites that ask for them. */
#ifndef LEAT_BENCH_GATHER_H
#define LEAT_BENCH_GATHER_H

#include "bench/batch.h"

/** Shows the row in which a batch is built and its spans are walked: leat_gather against hand-written copy and wrap. */
void gather_walk_row(bench_visitor *visitor, const char *suite, const batch_work *work, double at_most);

/** Shows the row in which a batch is built and sent over loopback TCP: leat_gather's own choice against both others. */
void gather_socket_row(bench_visitor *visitor, const char *suite, const batch_work *work, double at_most);

#endif
