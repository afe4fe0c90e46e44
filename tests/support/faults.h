/** System calls that fail, or do less than asked, as a test says; the rest reaches the kernel. */
#ifndef LEAT_TESTS_SUPPORT_FAULTS_H
#define LEAT_TESTS_SUPPORT_FAULTS_H

#include "transports/syscalls.h"

/** The calls of the table. */
typedef enum fault_call {
    CALL_SOCKET,
    CALL_BIND,
    CALL_LISTEN,
    CALL_ACCEPT,
    CALL_CONNECT,
    CALL_RECEIVE,
    CALL_READ,
    CALL_SEND,
    CALL_SHUTDOWN,
    CALL_CLOSE,
    CALL_SET_OPTION,
    CALL_GET_OPTION,
    CALL_OWN_ADDRESS,
    CALLS
} fault_call;

/** What happens to one call: `pass` of them work, then `times` fail with `code`, then all work again. */
typedef struct fault_plan {
    int pass;
    int times;
    int code; /* a negated errno value */
} fault_plan;

/** Give `&faults.table` to a transport; set plans at any time. */
typedef struct faults {
    leat_syscalls table;
    fault_plan plans[CALLS];
    size_t made[CALLS]; /**< calls that were made, failed ones too */
    size_t most_bytes;  /**< a read or write does no more than this; 0 = any number */
} faults;

/** Initialises `self`, which must not move afterwards: nothing fails yet. */
void faults_init(faults *self);

/** The next `times` calls fail with `code`. */
void faults_plan(faults *self, fault_call call, int code, int times);

#endif
