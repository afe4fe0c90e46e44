/** Static probes (USDT), for bpftrace and perf: nothing at all where <sys/sdt.h> is missing. Not installed. */
#ifndef LEAT_CORE_PROBE_INTERNAL_H
#define LEAT_CORE_PROBE_INTERNAL_H

#if defined(__has_include)
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#ifdef __clang__ /* which minds the header's macros where we use them */
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#endif
#define LEAT_PROBE(name, object, value) DTRACE_PROBE2(leat, name, object, value)
#endif
#endif

#ifndef LEAT_PROBE
#define LEAT_PROBE(name, object, value) ((void)0)
#endif

#endif
