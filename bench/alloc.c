#define _GNU_SOURCE /* to choose processors */

/** What a buffer costs that is made and released: from a pool, from malloc, and released on another thread. */
#include "bench/alloc.h"
#include "bench/clock.h"
#include "bench/suites.h"
#include "core/bytebuf.h"
#include "core/pool.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>

enum { RING = 256, HEADERS = 1024, HANDED_OVER = 4096 /* buffers an operation, so that waking does not count */ };

/* What the arms without Leat know of a buffer: the same as Leat's, and no more than they need. */
typedef struct header {
    struct header *next;
    uint8_t *bytes;
    size_t reader, writer, capacity;
    uint32_t refs;
} header;

typedef struct alloc_state {
    leat_alloc *below;
    leat_alloc *alloc; /* of the arm `leat` */
    leat_pool *pool;
    size_t size;
    header *free; /* of the arm `freelist` */
} alloc_state;

static void *set_up(const void *work, leat_alloc *below) {
    const alloc_work *asked = work;
    alloc_state *state = leat_alloc_take_zeroed(below, sizeof *state);
    if (!state)
        return NULL;
    *state = (alloc_state){.below = below, .alloc = below, .size = asked->size};
    if (asked->pooled) {
        state->pool = leat_pool_new(below, NULL);
        bench_need(state->pool);
        state->alloc = leat_pool_alloc(state->pool);
    }
    return state;
}

static void tear_down(void *argument) {
    alloc_state *state = argument;
    for (header *next; state->free; state->free = next) {
        next = state->free->next;
        free(state->free);
    }
    leat_pool_release(state->pool);
    leat_alloc_give(state->below, state, sizeof *state);
}

/* The arm `leat`. */
static void leat_run(void *argument, uint64_t times) {
    const alloc_state *state = argument;
    for (uint64_t i = 0; i < times; i++) {
        leat_bytebuf *buf = leat_bytebuf_new(state->alloc, state->size);
        bench_use(buf);
        leat_bytebuf_release(buf);
    }
}

static void leat_output(void *argument, bench_output *out) {
    const alloc_state *state = argument;
    leat_bytebuf *buf = leat_bytebuf_new(state->alloc, state->size);
    bench_need(buf);
    leat_bytebuf_write_u64(buf, state->size);
    bench_output_add(out, leat_bytebuf_data(buf), 8);
    leat_bytebuf_release(buf);
}

/* The arms `freelist` and `jemalloc` (malloc, whatever the program has: jemalloc in the release build). */
static header *header_new(size_t size) {
    header *buf = malloc(sizeof *buf + size);
    if (!buf)
        bench_need(NULL);
    return buf;
}

static void begin(header *buf, size_t size) {
    buf->bytes = (uint8_t *)(buf + 1);
    buf->reader = buf->writer = 0;
    buf->capacity = size;
    __atomic_store_n(&buf->refs, 1, __ATOMIC_RELAXED);
}

static bool ends(header *buf) {
    return __atomic_fetch_sub(&buf->refs, 1, __ATOMIC_ACQ_REL) == 1;
}

static void freelist_run(void *argument, uint64_t times) {
    alloc_state *state = argument;
    for (uint64_t i = 0; i < times; i++) {
        header *buf = state->free;
        if (buf)
            state->free = buf->next;
        else
            buf = header_new(state->size);
        begin(buf, state->size);
        bench_use(buf);
        if (ends(buf)) {
            buf->next = state->free;
            state->free = buf;
        }
    }
}

static void malloc_run(void *argument, uint64_t times) {
    const alloc_state *state = argument;
    for (uint64_t i = 0; i < times; i++) {
        header *buf = header_new(state->size);
        begin(buf, state->size);
        bench_use(buf);
        if (ends(buf))
            free(buf);
    }
}

static void header_output(void *argument, bench_output *out) {
    const alloc_state *state = argument;
    uint8_t bytes[8];
    leat_store_u64(bytes, state->size);
    bench_output_add(out, bytes, sizeof bytes);
}

static const bench_arm leat_arm = {"leat", set_up, leat_run, leat_output, tear_down, NULL};
static const bench_arm freelist_arm = {"freelist", set_up, freelist_run, header_output, tear_down, NULL};
static const bench_arm jemalloc_arm = {"jemalloc", set_up, malloc_run, header_output, tear_down, NULL};

/* ---- another thread releases ---- */

/* A queue from one thread to one other. */
typedef struct ring {
    void *slots[RING];
    char apart[64];
    uint64_t written;
    char apart_too[64];
    uint64_t read;
} ring;

typedef struct cross_state {
    alloc_state base;
    ring ring;
    header *headers; /* of the arm `ring`, used in turn */
    void (*end)(void *buffer);
    pthread_t thread;
    sem_t begun; /* posted for each run: between them the thread sleeps, so that it is in nobody's way */
    sem_t awake; /* its answer */
    bool ended;
} cross_state;

/* What goes through the ring behind the buffers of a run. */
static char last_of_run;

/* Between looks at what another thread will write. A system call for each would let work pile up for it meanwhile, and
   the row would measure that. */
static void rest(unsigned *looks) {
    if (++*looks % 4096 == 0)
        sched_yield();
#ifdef __x86_64__
    else
        __builtin_ia32_pause();
#endif
}

static void push(ring *to, void *buffer) {
    uint64_t at = to->written;
    for (unsigned looks = 0; at - __atomic_load_n(&to->read, __ATOMIC_ACQUIRE) == RING;)
        rest(&looks);
    to->slots[at % RING] = buffer;
    __atomic_store_n(&to->written, at + 1, __ATOMIC_RELEASE);
}

/* Takes the next one out of the ring. */
static void *pull(ring *from) {
    uint64_t at = from->read;
    for (unsigned looks = 0; at == __atomic_load_n(&from->written, __ATOMIC_ACQUIRE);)
        rest(&looks);
    return from->slots[at % RING];
}

/* Both threads on processors of their own, the first and the last that there are: else some runs measure a thread that
   waits for its turn, others one that waits for cache lines. */
static void stay_on(bool last) {
    cpu_set_t allowed, chosen;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    size_t at = 0;
    for (size_t i = 0, found = 0; i < CPU_SETSIZE && (last || !found); i++)
        if (CPU_ISSET(i, &allowed))
            found = 1 + (at = i);
    CPU_ZERO(&chosen);
    CPU_SET(at, &chosen);
    pthread_setaffinity_np(pthread_self(), sizeof chosen, &chosen);
}

/* The other thread: ends what comes, run by run. */
static void *end_all(void *argument) {
    cross_state *state = argument;
    stay_on(true);
    while (sem_wait(&state->begun) == 0 && !state->ended) {
        sem_post(&state->awake);
        for (void *buffer = NULL; buffer != &last_of_run;) {
            buffer = pull(&state->ring);
            if (buffer != &last_of_run)
                state->end(buffer);
            __atomic_store_n(&state->ring.read, state->ring.read + 1, __ATOMIC_RELEASE);
        }
    }
    return NULL;
}

static void *cross_set_up(const void *work, leat_alloc *below, void (*end)(void *)) {
    const alloc_work *asked = work;
    cross_state *state = leat_alloc_take_zeroed(below, sizeof *state);
    if (!state)
        return NULL;
    state->base = (alloc_state){.below = below, .size = asked->size, .pool = leat_pool_new(below, NULL)};
    bench_need(state->base.pool);
    state->base.alloc = leat_pool_alloc(state->base.pool);
    state->end = end;
    state->headers = calloc(HEADERS, sizeof(header));
    bench_need(state->headers);
    if (sem_init(&state->begun, 0, 0) != 0 || sem_init(&state->awake, 0, 0) != 0 ||
        pthread_create(&state->thread, NULL, end_all, state) != 0)
        bench_need(NULL);
    return state;
}

static void cross_tear_down(void *argument) {
    cross_state *state = argument;
    state->ended = true;
    sem_post(&state->begun);
    pthread_join(state->thread, NULL);
    sem_destroy(&state->begun);
    sem_destroy(&state->awake);
    free(state->headers);
    leat_pool_release(state->base.pool);
    leat_alloc_give(state->base.below, state, sizeof *state);
}

static void begin_run(cross_state *state) {
    sem_post(&state->begun);
    while (sem_wait(&state->awake) != 0)
        continue;
}

static void end_run(cross_state *state) {
    push(&state->ring, &last_of_run);
    for (unsigned looks = 0; __atomic_load_n(&state->ring.read, __ATOMIC_ACQUIRE) != state->ring.written;)
        rest(&looks);
}

static void end_leat(void *buffer) {
    leat_bytebuf_release((leat_bytebuf *)buffer);
}

static void *cross_leat_set_up(const void *work, leat_alloc *below) {
    return cross_set_up(work, below, end_leat);
}

static void cross_leat_items(cross_state *state, uint64_t times) {
    for (uint64_t i = 0; i < times; i++)
        push(&state->ring, leat_bytebuf_new(state->base.alloc, state->base.size));
    end_run(state);
}

static void end_header(void *buffer) {
    ends(buffer);
}

static void *cross_ring_set_up(const void *work, leat_alloc *below) {
    return cross_set_up(work, below, end_header);
}

static void cross_ring_items(cross_state *state, uint64_t times) {
    for (uint64_t i = 0; i < times; i++) {
        header *buf = &state->headers[i % HEADERS];
        begin(buf, state->base.size);
        push(&state->ring, buf);
    }
    end_run(state);
}

/* Both threads work at the same time: what counts is the time on the wall. */
static double cross_measure(cross_state *state, uint64_t times, void (*items)(cross_state *, uint64_t)) {
    cpu_set_t before;
    bool stays = sched_getaffinity(0, sizeof before, &before) == 0;
    stay_on(false);
    begin_run(state);
    double begin = bench_wall_nanos();
    items(state, times * HANDED_OVER);
    double spent = bench_wall_nanos() - begin;
    if (stays)
        pthread_setaffinity_np(pthread_self(), sizeof before, &before);
    return spent / HANDED_OVER;
}

static double cross_leat_measure(void *state, uint64_t times) {
    return cross_measure(state, times, cross_leat_items);
}

static double cross_ring_measure(void *state, uint64_t times) {
    return cross_measure(state, times, cross_ring_items);
}

static void cross_leat_run(void *state, uint64_t times) {
    cross_leat_measure(state, times);
}

static void cross_ring_run(void *state, uint64_t times) {
    cross_ring_measure(state, times);
}

static const bench_arm cross_leat_arm = {"leat",        cross_leat_set_up, cross_leat_run,
                                         header_output, cross_tear_down,   cross_leat_measure};
static const bench_arm cross_ring_arm = {"ring",        cross_ring_set_up, cross_ring_run,
                                         header_output, cross_tear_down,   cross_ring_measure};

static void pooled_row(bench_visitor *visitor, size_t size) {
    const alloc_work work = {size, true};
    char name[64];
    snprintf(name, sizeof name, "pooled-%zu", size);
    const bench_row row = {.suite = "alloc",
                           .name = name,
                           .work = &work,
                           .arms = {&leat_arm, &freelist_arm, &jemalloc_arm},
                           .ratios = {{"leat", "freelist", 1.5}, {"leat", "jemalloc", size == 65536 ? 0.15 : 0}}};
    visitor->visit(visitor, &row);
}

static void rows(bench_visitor *visitor) {
    static const size_t sizes[] = {64, 256, 4096, 65536, 1048576};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        pooled_row(visitor, sizes[i]);
    const alloc_work small = {256, false};
    const bench_row unpooled = {.suite = "alloc",
                                .name = "unpooled-256",
                                .work = &small,
                                .arms = {&leat_arm, &jemalloc_arm},
                                .ratios = {{"leat", "jemalloc", 2.5}}};
    visitor->visit(visitor, &unpooled);
    const bench_row cross = {.suite = "alloc",
                             .name = "cross-thread-256",
                             .work = &small,
                             .arms = {&cross_leat_arm, &cross_ring_arm},
                             .ratios = {{"leat", "ring", 2}}};
    visitor->visit(visitor, &cross);
}

const bench_suite alloc_suite = {"alloc", "a buffer made and released, on the same thread and on another", rows};
