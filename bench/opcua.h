/** The second half of the suite `opcua`. */
#ifndef LEAT_BENCH_OPCUA_H
#define LEAT_BENCH_OPCUA_H

#include "bench/harness.h"

/** Shows the rows of a server that answers reads over loopback; nothing where there is no libev. */
void opcua_server_rows(bench_visitor *visitor);

#endif
