/* A legacy TCP client: subscribes, and prints each event of each frame as "opcode payload" until COUNT came. */
#include "net.h"

#include <stdint.h>

static uint32_t number(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static int complain(const char *what) {
    fprintf(stderr, "legacy_client: %s\n", what);
    return -1;
}

/* Returns how many events the frame had, or -1. */
static int print_frame(const uint8_t *frame, size_t length) {
    int count = 0;
    if (length < 2 || frame[0] != 1 || (size_t)frame[1] + 2 > length)
        return complain("bad header of a frame");
    for (size_t at = 2 + (size_t)frame[1]; at < length; count++) {
        uint32_t size = length - at >= 4 ? number(frame + at) : 0;
        if (size == 0 || size > length - at - 4)
            return complain("bad length of an event");
        printf("%d %.*s\n", frame[at + 4], (int)(size - 1), (const char *)frame + at + 5);
        at += 4 + size;
    }
    fflush(stdout);
    return count;
}

int main(int count, char **arguments) {
    static const uint8_t subscribe[] = {0, 0, 0, 11, 1, 0, 0, 0, 0, 2, 4, 0, 0, 0, 0};
    static uint8_t frame[5242880];
    int wanted = count > 2 ? atoi(arguments[2]) : 1;
    alarm(40);
    int descriptor = net_connect(count > 1 ? arguments[1] : "");
    net_write(descriptor, subscribe, sizeof subscribe);
    while (wanted > 0) {
        uint8_t length[4];
        if (!net_read(descriptor, length, 4) || number(length) > sizeof frame ||
            !net_read(descriptor, frame, number(length)))
            return complain("the stream ended") ? 1 : 0;
        int events = print_frame(frame, number(length));
        if (events < 0)
            return 1;
        wanted -= events;
    }
    close(descriptor);
    return 0;
}
