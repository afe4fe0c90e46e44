#include "catalogue.h"

#include <leat/handlers/http_client.h>
#include <leat/handlers/zlib_deflater.h>
#include <leat/handlers/zlib_inflater.h>

/* Both ways gzip: what a turn writes can be inflated by the peer at once, and the trailer comes with the close. */
const leat_stage compressed[] = {
    {&leat_zlib_deflater, &(const leat_zlib_deflater_config){.format = LEAT_ZLIB_GZIP}},
    {&leat_zlib_inflater, &(const leat_zlib_inflater_config){.format = LEAT_ZLIB_GZIP, .max_total = 1 << 30}},
    {0}};

/* Asks for "/" once connected; what is no part of the body of the answer goes no further. */
static void asker_active(leat_ctx *ctx) {
    leat_http_client_send(ctx, &(const leat_http_client_request){.host = "example.org", .target = "/"}, NULL);
    leat_ctx_fire_active(ctx);
}

static void asker_read(leat_ctx *ctx, leat_msg msg) {
    if (leat_msg_bytebuf(msg))
        leat_ctx_fire_read(ctx, msg);
    else
        leat_msg_release(msg);
}

static const leat_handler asker = {.name = "asker", .active = asker_active, .read = asker_read};
const leat_stage asking[] = {{&leat_http_client}, {&asker}, {0}};
