/* Rates, timeouts, idle times, logging and aggregation around each other: whatever comes when, nothing is lost or left
 * over. */
#include "handlers/aggregator.h"
#include "handlers/idle.h"
#include "handlers/limit.h"
#include "handlers/log.h"
#include "handlers/timeouts.h"
#include "tests/fuzz/feed.h"

/* A part that ends with an odd byte is the last. */
static leat_part part_of(leat_msg msg, void *context) {
    const leat_bytebuf *part = leat_msg_bytebuf(msg);
    uint64_t end = leat_bytebuf_writer_index(part);
    (void)context;
    bool odd = leat_bytebuf_readable(part) > 0 && leat_bytebuf_get_u8(part, end - 1) % 2 == 1;
    return odd ? LEAT_PART_LAST : LEAT_PART_MORE;
}

static void say_nothing(void *context, leat_log_level level, const char *line) {
    (void)context, (void)level, (void)line;
}

/* What comes goes back, through the limit. */
static void echo(leat_embedded *embedded, leat_msg msg) {
    leat_embedded_write(embedded, msg, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 4)
        return 0;
    leat_limit_config limit = {.read_rate = 1024u * data[0],
                               .read_burst = data[1],
                               .write_rate = 1024u * data[2],
                               .write_burst = data[1],
                               .max_held = 64u * data[3]};
    leat_aggregator_config aggregator = {.part_of = part_of, .max_length = 1u + data[1]};
    leat_idle_config idle = {.read_ms = data[0], .write_ms = data[1], .all_ms = data[2]};
    leat_log_config log = {.level = LEAT_LOG_TRACE, .sink = say_nothing};
    leat_stage stages[] = {
        {&leat_limit, &limit, NULL}, {.handler = &leat_timeouts},           {&leat_idle, &idle, NULL},
        {&leat_log, &log, NULL},     {&leat_aggregator, &aggregator, NULL}, {0}};
    fuzz_feed(stages, data + 4, size - 4, echo);
    return 0;
}
