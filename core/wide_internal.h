/** Functions that are compiled twice where the loader can choose at start, for wider registers. Not installed. */
#ifndef LEAT_CORE_WIDE_INTERNAL_H
#define LEAT_CORE_WIDE_INTERNAL_H

#include "core/base.h"

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__OPTIMIZE__) && !defined(__clang__) &&                       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define LEAT_WIDE __attribute__((target_clones("avx2", "default")))
#define LEAT_IS_WIDE 1
#else
#define LEAT_WIDE
#define LEAT_IS_WIDE 0
#endif

/** Four words side by side, wherever they lie. */
typedef uint64_t leat_wide __attribute__((vector_size(32), aligned(1), may_alias));

#endif
