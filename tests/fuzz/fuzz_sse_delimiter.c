/* Framing of server-sent events: whatever the fields, no line of the result is one that was not asked for. */
#include "handlers/sse_delimiter.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool begins(const uint8_t *at, size_t left, const char *name) {
    return left >= strlen(name) && memcmp(at, name, strlen(name)) == 0;
}

/* Each line is a field of ours, and the only empty one is the last. */
static void check_lines(const uint8_t *at, size_t left) {
    while (left > 1) {
        const uint8_t *end = memchr(at, '\n', left);
        if (!end || memchr(at, '\r', (size_t)(end - at)))
            abort();
        if (!begins(at, left, "event: ") && !begins(at, left, "id: ") && !begins(at, left, "data: "))
            abort();
        left -= (size_t)(end + 1 - at);
        at = end + 1;
    }
    if (left != 1 || *at != '\n')
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2)
        return 0;
    size_t id = data[0] % (size - 1), type = data[1] % (size - 1 - id);
    leat_sse_event event = {.id = {data + 2, id}, .event = {data + 2 + id, type}};
    if (2 + id + type > size)
        return 0;
    event.data = (leat_span){data + 2 + id + type, size - 2 - id - type};
    leat_bytebuf *framed;
    if (leat_sse_frame(leat_unpooled(), &event, &framed) != 0)
        return 0;
    check_lines(leat_bytebuf_data(framed), (size_t)leat_bytebuf_readable(framed));
    leat_bytebuf_release(framed);
    return 0;
}
