#include "handlers/push/ledger.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define WORD(name, word) word,
static const char *const refusal_words[] = {LEAT_PUSH_REFUSALS(WORD)};
static const char *const drop_words[] = {LEAT_PUSH_DROPS(WORD)};
#undef WORD

const char *leat_push_refusal_name(leat_push_refusal reason) {
    return (unsigned)reason < LEAT_PUSH_REFUSAL_COUNT ? refusal_words[reason] : "unknown";
}

const char *leat_push_drop_name(leat_push_drop reason) {
    return (unsigned)reason < LEAT_PUSH_DROP_COUNT ? drop_words[reason] : "unknown";
}

static leat_push_amount sum_of(const leat_push_amount *amounts, size_t count) {
    leat_push_amount sum = {0, 0};
    for (size_t i = 0; i < count; i++)
        leat_push_amount_add(&sum, amounts[i]);
    return sum;
}

leat_push_amount leat_push_ledger_refused(const leat_push_ledger *ledger) {
    return sum_of(ledger->refused, LEAT_PUSH_REFUSAL_COUNT);
}

leat_push_amount leat_push_account_dropped(const leat_push_account *account) {
    return sum_of(account->dropped, LEAT_PUSH_DROP_COUNT);
}

static bool same(leat_push_amount one, leat_push_amount other) {
    return one.events == other.events && one.bytes == other.bytes;
}

bool leat_push_account_is_exact(const leat_push_account *account) {
    leat_push_amount sum = leat_push_account_dropped(account);
    leat_push_amount_add(&sum, account->delivered);
    leat_push_amount_add(&sum, account->failed);
    leat_push_amount_add(&sum, account->pending);
    return same(sum, account->destined);
}

bool leat_push_ledger_is_exact(const leat_push_ledger *ledger) {
    leat_push_amount answered = leat_push_ledger_refused(ledger), taken = ledger->routed;
    leat_push_amount_add(&answered, ledger->accepted);
    leat_push_amount_add(&taken, ledger->queued);
    return same(answered, ledger->offered) && same(taken, ledger->accepted) &&
           leat_push_account_is_exact(&ledger->destinations);
}

/* Text that grows: `length` counts what did not fit too. */
typedef struct writer {
    char *text;
    size_t size, length;
} writer;

__attribute__((format(printf, 2, 3))) static void print(writer *to, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    bool fits = to->length < to->size;
    int length = vsnprintf(fits ? to->text + to->length : NULL, fits ? to->size - to->length : 0, format, arguments);
    va_end(arguments);
    if (length > 0)
        to->length += (size_t)length;
}

static void print_amount(writer *to, const char *before, const char *name, leat_push_amount amount) {
    print(to, "%s%s %" PRIu64 " (%" PRIu64 " bytes)", before, name, amount.events, amount.bytes);
}

static void print_reasons(writer *to, const leat_push_amount *amounts, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (amounts[i].events)
            print_amount(to, "\n    ", words[i], amounts[i]);
}

static void print_source(writer *to, const leat_push_ledger *ledger) {
    print_amount(to, "source: ", "offered", ledger->offered);
    print_amount(to, " = ", "accepted", ledger->accepted);
    print_amount(to, " + ", "refused", leat_push_ledger_refused(ledger));
    print_reasons(to, ledger->refused, refusal_words, LEAT_PUSH_REFUSAL_COUNT);
    print_amount(to, "\nqueue: ", "accepted", ledger->accepted);
    print_amount(to, " = ", "routed", ledger->routed);
    print_amount(to, " + ", "queued", ledger->queued);
}

static void print_account(writer *to, const leat_push_account *account) {
    print_amount(to, "\ndestinations: ", "destined", account->destined);
    print_amount(to, " = ", "delivered", account->delivered);
    print_amount(to, " + ", "dropped", leat_push_account_dropped(account));
    print_amount(to, " + ", "failed", account->failed);
    print_amount(to, " + ", "pending", account->pending);
    print_reasons(to, account->dropped, drop_words, LEAT_PUSH_DROP_COUNT);
}

size_t leat_push_ledger_text(const leat_push_ledger *ledger, char *text, size_t size) {
    writer to = {text, size, 0};
    print_source(&to, ledger);
    print_account(&to, &ledger->destinations);
    print(&to, "\nledgers: %s\n", leat_push_ledger_is_exact(ledger) ? "exact" : "NOT EXACT");
    return to.length;
}
