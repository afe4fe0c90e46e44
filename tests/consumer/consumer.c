/* What a user of the installed library writes first; each part that was installed is linked. */
#include <leat/leat.h>

#include <stdio.h>
#include <string.h>

/* ---- mistakes, which the ledger of an embedded channel names in the release library too ---- */

static void release_twice(leat_ctx *ctx, leat_msg msg) {
    (void)ctx;
    leat_bytebuf_release(leat_msg_bytebuf(msg));
    leat_bytebuf_release(leat_msg_bytebuf(msg));
}

static void use_after_release(leat_ctx *ctx, leat_msg msg) {
    (void)ctx;
    leat_bytebuf_release(leat_msg_bytebuf(msg));
    leat_bytebuf_touch(leat_msg_bytebuf(msg));
}

static int places_in(const char *report) {
    int places = 0;
    for (const char *at = report; (at = strstr(at, "consumer.c:")); at++)
        places++;
    return places;
}

/* Says whether the report names both places, and the handler. */
static bool is_named(void (*read)(leat_ctx *, leat_msg), const char *name) {
    const leat_handler mistaken = {.name = name, .read = read};
    const leat_stage stages[] = {{&mistaken}, {0}};
    leat_embedded *channel = leat_embedded_new(stages);
    if (!channel)
        return false;
    leat_embedded_feed_text(channel, "x");
    bool found = leat_embedded_finish(channel) > 0;
    const char *report = leat_embedded_report(channel);
    bool named = found && strstr(report, "used again") && strstr(report, name) && places_in(report) >= 2;
    if (!named)
        printf("%s is not named: %s\n", name, report);
    leat_embedded_free(channel);
    return named;
}

int main(void) {
    printf("leat %s: %s\n", leat_version(), leat_error_message(LEAT_ECLOSED));
    bool right = strcmp(leat_version(), EXPECTED_VERSION) == 0 && is_named(release_twice, "twice") &&
                 is_named(use_after_release, "late");
    return right ? 0 : 1;
}
