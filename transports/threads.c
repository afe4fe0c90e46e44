#include "transports/threads_internal.h"

#include <signal.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

int leat_thread_start(pthread_t *thread, size_t stack_size, void *(*run)(void *argument), void *argument) {
    pthread_attr_t attributes;
    int code = pthread_attr_init(&attributes);
    if (code != 0)
        return -code;
    if (stack_size > 0)
        code = pthread_attr_setstacksize(&attributes, stack_size);
    if (code == 0)
        code = pthread_create(thread, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return -code;
}

/* A thread inherits the mask of the one that starts it. */
int leat_thread_start_deaf(pthread_t *thread, size_t stack_size, void *(*run)(void *argument), void *argument) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = leat_thread_start(thread, stack_size, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

void leat_thread_name(const char *name) {
#ifdef __linux__
    prctl(PR_SET_NAME, name);
#else
    (void)name;
#endif
}
