/* Base64: what is decoded is encoded to the same text, and whatever is encoded comes back. */
#include "handlers/base64.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void assert_encodes_to(const leat_bytebuf *bytes, const uint8_t *text, size_t n) {
    leat_bytebuf *again = leat_base64_encode(leat_unpooled(), bytes);
    if (!again || !leat_bytebuf_equals_bytes(again, text, n))
        abort();
    leat_bytebuf_release(again);
}

static void assert_comes_back(const uint8_t *data, size_t size) {
    leat_bytebuf *bytes = leat_bytebuf_from_bytes(leat_unpooled(), data, size), *back;
    leat_bytebuf *text = bytes ? leat_base64_encode(leat_unpooled(), bytes) : NULL;
    if (!text)
        abort();
    int code = leat_base64_decode(leat_unpooled(), leat_bytebuf_data(text), (size_t)leat_bytebuf_readable(text), &back);
    if (code != 0 || !leat_bytebuf_equals(bytes, back))
        abort();
    leat_bytebuf_release(back);
    leat_bytebuf_release(text);
    leat_bytebuf_release(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    leat_bytebuf *bytes;
    if (leat_base64_decode(leat_unpooled(), data, size, &bytes) == 0) {
        assert_encodes_to(bytes, data, size);
        leat_bytebuf_release(bytes);
    }
    assert_comes_back(data, size);
    return 0;
}
