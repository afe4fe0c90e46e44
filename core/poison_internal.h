/** Memory that nobody may touch, told to AddressSanitizer and valgrind where they watch. Not installed. */
#ifndef LEAT_CORE_POISON_INTERNAL_H
#define LEAT_CORE_POISON_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define LEAT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LEAT_ASAN 1
#endif
#endif

#if defined(LEAT_ASAN)
#include <sanitizer/asan_interface.h>
#elif defined(LEAT_MEMCHECK) /* the build found the header */
#include <valgrind/memcheck.h>
#endif

/* Where nobody watches, what would be said costs a call that is not made: no room for it in a hot function's frame. */
#define LEAT_WATCHED __attribute__((noinline, cold, unused))

/** Says whether somebody watches this process: only then the calls below are worth their time. */
static inline bool leat_memory_is_watched(void) {
#if defined(LEAT_ASAN)
    return true;
#elif defined(LEAT_MEMCHECK)
    return RUNNING_ON_VALGRIND != 0;
#else
    return false;
#endif
}

/** Nobody may touch these bytes from now on. */
LEAT_WATCHED static void leat_poison(void *memory, size_t size) {
#if defined(LEAT_ASAN)
    __asan_poison_memory_region(memory, size);
#elif defined(LEAT_MEMCHECK)
    (void)VALGRIND_MAKE_MEM_NOACCESS(memory, size);
#else
    (void)memory;
    (void)size;
#endif
}

/** These bytes may be written, and read once they were. */
LEAT_WATCHED static void leat_unpoison(void *memory, size_t size) {
#if defined(LEAT_ASAN)
    __asan_unpoison_memory_region(memory, size);
#elif defined(LEAT_MEMCHECK)
    (void)VALGRIND_MAKE_MEM_UNDEFINED(memory, size);
#else
    (void)memory;
    (void)size;
#endif
}

/** These bytes may be used again as they are. */
LEAT_WATCHED static void leat_unpoison_as_it_is(void *memory, size_t size) {
#if defined(LEAT_ASAN)
    __asan_unpoison_memory_region(memory, size);
#elif defined(LEAT_MEMCHECK)
    (void)VALGRIND_MAKE_MEM_DEFINED(memory, size);
#else
    (void)memory;
    (void)size;
#endif
}

#endif
