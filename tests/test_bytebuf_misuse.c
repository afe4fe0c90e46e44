/* Indices that nobody checked and room that nobody made: a debug build stops; a release build gives 0, says no, and
 * touches no memory outside. */
#include "core/composite.h"
#include "tests/support/suite.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/** A call with an index beyond the bytes; it checks what a release build answers. */
typedef void (*misuse)(leat_bytebuf *buf, uint64_t index);

static uint8_t bytes[8];

static void gets_a_number(leat_bytebuf *buf, uint64_t index) {
    ck_assert_uint_eq(leat_bytebuf_get_u32(buf, index), 0);
    ck_assert(leat_bytebuf_get_f64_le(buf, index) == 0 && !leat_bytebuf_get_bool(buf, index + 3));
}

static void gets_bytes(leat_bytebuf *buf, uint64_t index) {
    ck_assert(!leat_bytebuf_get_bytes(buf, index, bytes, 8));
    ck_assert(!leat_bytebuf_get_bytes(buf, 0, bytes, SIZE_MAX));
}

static void sets_a_number(leat_bytebuf *buf, uint64_t index) {
    ck_assert(!leat_bytebuf_set_u32(buf, index, UINT32_MAX) && !leat_bytebuf_set_u64_le(buf, index, 1));
}

static void sets_bytes(leat_bytebuf *buf, uint64_t index) {
    ck_assert(!leat_bytebuf_set_bytes(buf, index, bytes, 8));
}

static void puts_without_room(leat_bytebuf *buf, uint64_t index) {
    (void)index;
    while (leat_bytebuf_writable(buf) > 0)
        ck_assert(leat_bytebuf_write_u8(buf, 0));
    uint64_t writer = leat_bytebuf_writer_index(buf);
    leat_bytebuf_put_u32(buf, 1);
    leat_bytebuf_put_bytes(buf, bytes, 1);
    ck_assert_uint_eq(leat_bytebuf_writer_index(buf), writer);
}

static leat_bytebuf *make(bool parted) {
    leat_bytebuf *buf = leat_bytebuf_from_text(leat_unpooled(), "0123456789abcdef");
    leat_composite *composite = parted ? leat_composite_new(leat_unpooled(), 1) : NULL;
    if (composite)
        ck_assert_int_eq(leat_composite_add(composite, buf), 0);
    return composite ? leat_composite_buffer(composite) : buf;
}

#ifdef NDEBUG
static void assert_answer(misuse call, leat_bytebuf *buf, uint64_t index) {
    call(buf, index);
    ck_assert(leat_bytebuf_is_valid(buf) && leat_bytebuf_get_u64(buf, 8) == 0x3839616263646566);
}
#else
static void assert_answer(misuse call, leat_bytebuf *buf, uint64_t index) {
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO);
        call(buf, index);
        _exit(0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
#endif

START_TEST(what_goes_beyond_a_buffer_stops_a_debug_build_and_never_reaches_memory) {
    static const misuse calls[] = {gets_a_number, gets_bytes, sets_a_number, sets_bytes, puts_without_room};
    for (int parted = 0; parted < 2; parted++)
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
            leat_bytebuf *buf = make(parted);
            uint64_t end = parted ? leat_bytebuf_writer_index(buf) : leat_bytebuf_capacity(buf);
            const uint64_t indices[] = {end - 3, end, end + 1, UINT64_MAX - 8, UINT64_MAX - 3};
            for (size_t k = 0; k < sizeof indices / sizeof *indices; k++)
                assert_answer(calls[i], buf, indices[k]);
            leat_bytebuf_release(buf);
        }
}
END_TEST

int main(void) {
    return suite_run(
        "bytebuf_misuse",
        (const TTest *const[]){what_goes_beyond_a_buffer_stops_a_debug_build_and_never_reaches_memory, NULL});
}
