/** Threads, as loops and workers start them. */
#ifndef LEAT_TRANSPORTS_THREADS_INTERNAL_H
#define LEAT_TRANSPORTS_THREADS_INTERNAL_H

#include "core/base.h"

#include <pthread.h>

/** Starts a thread with a stack of so many bytes (0 = the system's choice); 0 or a negated errno value. */
int leat_thread_start(pthread_t *thread, size_t stack_size, void *(*run)(void *argument), void *argument);

/** leat_thread_start of a thread that takes no signals. */
int leat_thread_start_deaf(pthread_t *thread, size_t stack_size, void *(*run)(void *argument), void *argument);

/** Names the calling thread, where the system can, by the first 15 bytes. */
void leat_thread_name(const char *name);

#endif
