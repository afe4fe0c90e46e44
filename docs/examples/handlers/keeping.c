#include "catalogue.h"

#include <leat/handlers/idle.h>
#include <leat/handlers/limit.h>
#include <leat/handlers/log.h>
#include <leat/handlers/timeouts.h>

/* After two seconds in which nothing could be written, an event asks for a heartbeat. */
static void heart_event(leat_ctx *ctx, leat_msg event) {
    const leat_idle_event *idle = leat_msg_as(event, &leat_type_idle);
    if (idle && idle->kind == LEAT_IDLE_WRITE)
        leat_ctx_write_copy(ctx, "beat\n", 5, NULL);
    leat_ctx_fire_event(ctx, event);
}

static const leat_handler heart = {.name = "heart", .event = heart_event};
const leat_stage heartbeats[] = {{&leat_idle, &(const leat_idle_config){.write_ms = 2000}}, {&heart}, {0}};

/* A peer that sends nothing for a minute, or takes nothing for ten seconds, is given up. */
const leat_stage timed[] = {{&leat_timeouts, &(const leat_timeouts_config){.read_ms = 60000, .write_ms = 10000}}, {0}};

/* At most 1,000 bytes a second are written, 100 of them at once. */
const leat_stage slow[] = {{&leat_limit, &(const leat_limit_config){.write_rate = 1000, .write_burst = 100}}, {0}};

/* Everything that passes is said on stderr, with the bytes. */
const leat_stage watched[] = {{&leat_log, &(const leat_log_config){.level = LEAT_LOG_TRACE, .name = "wire"}}, {0}};
