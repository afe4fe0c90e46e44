/** Arms of other libraries that do the work of our rows, as far as these libraries are installed. */
#ifndef LEAT_BENCH_PEERS_PEERS_H
#define LEAT_BENCH_PEERS_PEERS_H

#include "bench/harness.h"

/** Adds to a row, which is a copy, the arms of every peer that knows its work, and their ratios to our first arm. */
void peers_join(bench_row *row);

/** Adds an arm, and the ratio of the row's first arm to it, if there is room. */
void peers_add(bench_row *row, const bench_arm *arm);

/** Says whether a row is of that suite and its name begins like that. */
bool peers_is(const bench_row *row, const char *suite, const char *beginning);

/* The peers. */
void evbuffer_join(bench_row *row); /**< libevent's evbuffer */
void netty_join(bench_row *row);    /**< Netty, in a Java process of its own */

#endif
