/** The two ledgers of a push server, in events and payload bytes: exact after every step. */
#ifndef LEAT_HANDLERS_PUSH_LEDGER_H
#define LEAT_HANDLERS_PUSH_LEDGER_H

#include "core/base.h"

LEAT_BEGIN_DECLS

/** A number of events and their payload bytes. */
typedef struct leat_push_amount {
    uint64_t events;
    uint64_t bytes;
} leat_push_amount;

/** Why an event was refused at the source: X(name, word). */
#define LEAT_PUSH_REFUSALS(X)                                                                                          \
    X(LEAT_PUSH_QUEUE_FULL, "queue full")                                                                              \
    X(LEAT_PUSH_TOO_LARGE, "too large")                                                                                \
    X(LEAT_PUSH_CLOSED, "closed")                                                                                      \
    X(LEAT_PUSH_NO_MEMORY, "no memory")

/** Why an event was dropped on the way to a destination: X(name, word). */
#define LEAT_PUSH_DROPS(X)                                                                                             \
    X(LEAT_PUSH_UNWRITABLE, "unwritable")                                                                              \
    X(LEAT_PUSH_BUFFER_FULL, "buffer full")                                                                            \
    X(LEAT_PUSH_SERVER_FULL, "server full")                                                                            \
    X(LEAT_PUSH_REJECTED, "rejected")                                                                                  \
    X(LEAT_PUSH_GONE, "gone")                                                                                          \
    X(LEAT_PUSH_OUT_OF_MEMORY, "out of memory")

#define LEAT_PUSH_ENTRY(name, word) name,
typedef enum leat_push_refusal { LEAT_PUSH_REFUSALS(LEAT_PUSH_ENTRY) LEAT_PUSH_REFUSAL_COUNT } leat_push_refusal;
typedef enum leat_push_drop { LEAT_PUSH_DROPS(LEAT_PUSH_ENTRY) LEAT_PUSH_DROP_COUNT } leat_push_drop;
#undef LEAT_PUSH_ENTRY

/** What happened on the way to destinations: destined = delivered + dropped + failed + pending. */
typedef struct leat_push_account {
    leat_push_amount destined;  /**< accepted events times the destinations that each had when it was routed */
    leat_push_amount delivered; /**< the kernel took every byte */
    leat_push_amount failed;    /**< written, and the write completed with an error */
    leat_push_amount pending;   /**< in a batch or in a write that is not complete */
    leat_push_amount dropped[LEAT_PUSH_DROP_COUNT];
} leat_push_account;

/** Both ledgers of a server: offered = accepted + refused, accepted = routed + queued, and the account. */
typedef struct leat_push_ledger {
    leat_push_amount offered;
    leat_push_amount accepted;
    leat_push_amount refused[LEAT_PUSH_REFUSAL_COUNT];
    leat_push_amount queued; /**< accepted, not cut into a chunk yet */
    leat_push_amount routed; /**< given to all the destinations there were, maybe none */
    leat_push_account destinations;
} leat_push_ledger;

/** Returns the word for a reason to refuse. Any thread. */
LEAT_API const char *leat_push_refusal_name(leat_push_refusal reason);

/** Returns the word for a reason to drop. Any thread. */
LEAT_API const char *leat_push_drop_name(leat_push_drop reason);

/** Adds up the refused events of all reasons. Any thread. */
LEAT_API leat_push_amount leat_push_ledger_refused(const leat_push_ledger *ledger);

/** Adds up the dropped events of all reasons. Any thread. */
LEAT_API leat_push_amount leat_push_account_dropped(const leat_push_account *account);

/** Tells whether destined = delivered + dropped + failed + pending, in events and in bytes. Any thread. */
LEAT_API bool leat_push_account_is_exact(const leat_push_account *account);

/** Tells whether all identities of both ledgers hold. Any thread. */
LEAT_API bool leat_push_ledger_is_exact(const leat_push_ledger *ledger);

/**
 * Writes both ledgers as text of a few lines, reasons only where something was counted; at most `size` bytes with the
 * final NUL. Returns the length of the whole text, as snprintf does. Any thread.
 */
LEAT_API size_t leat_push_ledger_text(const leat_push_ledger *ledger, char *text, size_t size);

/** Adds `amount` to `sum`. */
static inline void leat_push_amount_add(leat_push_amount *sum, leat_push_amount amount) {
    sum->events += amount.events;
    sum->bytes += amount.bytes;
}

/** Takes `amount` from `sum`. */
static inline void leat_push_amount_subtract(leat_push_amount *sum, leat_push_amount amount) {
    sum->events -= amount.events;
    sum->bytes -= amount.bytes;
}

LEAT_END_DECLS

#endif
