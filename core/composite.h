/**
 * Composites (CompositeByteBuf): one buffer made of the bytes of many, without copying them.
 *
 * A composite is a leat_bytebuf, and the whole leat_bytebuf API works on it across the borders of its components. What
 * write calls append goes to a component of its own. It never consolidates by itself and has no limit of components.
 * Structure changes only while it has one reference: every call that changes it returns LEAT_ESHARED otherwise.
 */
#ifndef LEAT_CORE_COMPOSITE_H
#define LEAT_CORE_COMPOSITE_H

#include "core/bytebuf.h"

LEAT_BEGIN_DECLS

/** A composite buffer; its first member is its leat_bytebuf. */
typedef struct leat_composite leat_composite;

/** Makes an empty composite with room for `components` before it has to allocate again; NULL = no memory. */
LEAT_API leat_composite *leat_composite_new(leat_alloc *alloc, uint32_t components);

/** Returns the composite as a buffer: the same object and the same reference. */
LEAT_API leat_bytebuf *leat_composite_buffer(leat_composite *composite);

/** Returns the buffer as a composite, or NULL when it is a plain one. */
LEAT_API leat_composite *leat_composite_of(leat_bytebuf *buf);

/**
 * Appends the readable bytes of `buf`, which the composite owns from now on, also when this fails. A composite gives
 * its components over. Returns 0, LEAT_ENOMEM, LEAT_ESHARED, LEAT_ELIMIT, or LEAT_EINVAL for NULL or the composite
 * itself (of which no reference is taken); then the composite is unchanged.
 */
LEAT_API int leat_composite_add(leat_composite *composite, leat_bytebuf *buf);

/**
 * Appends `n` buffers in one linear operation and owns them all, also when this fails. Returns what leat_composite_add
 * returns; a NULL among them is LEAT_EINVAL. On failure the composite is unchanged and every buffer of the list
 * released.
 */
LEAT_API int leat_composite_add_list(leat_composite *composite, leat_bytebuf *const *bufs, size_t n);

/** Appends bytes that outlive every handle and never change. Returns 0, LEAT_ENOMEM, LEAT_ESHARED or LEAT_ELIMIT. */
LEAT_API int leat_composite_add_static(leat_composite *composite, const void *bytes, size_t n);

/** Appends a copy of the bytes; neighbours merge into one span. Returns 0, LEAT_ENOMEM, LEAT_ESHARED or LEAT_ELIMIT. */
LEAT_API int leat_composite_add_bytes(leat_composite *composite, const void *bytes, size_t n);

/** Appends the bytes [index, index + n) of `buf`, sharing them; `buf` is owned as by leat_composite_add. Also
 * LEAT_ERANGE. */
LEAT_API int leat_composite_add_flattened(leat_composite *composite, leat_bytebuf *buf, uint64_t index, uint64_t n);

/**
 * Puts the readable bytes of `buf` before component `at` (the count = behind the last). A reader behind them stays on
 * its byte. Owns `buf` and returns as leat_composite_add; also LEAT_ERANGE.
 */
LEAT_API int leat_composite_insert(leat_composite *composite, uint32_t at, leat_bytebuf *buf);

/**
 * Puts the readable bytes of `buf` in front of the composite's readable ones; what was read is dropped. Owns and
 * returns as leat_composite_add.
 */
LEAT_API int leat_composite_prepend(leat_composite *composite, leat_bytebuf *buf);

/**
 * Puts a copy of `n` bytes in front of the readable ones; what was read is dropped. Several of them merge into one
 * span, and while they are few (64 bytes in all) nothing is allocated. Returns 0, LEAT_ENOMEM, LEAT_ESHARED or
 * LEAT_ELIMIT.
 */
LEAT_API int leat_composite_prepend_bytes(leat_composite *composite, const void *bytes, size_t n);

/** Drops `n` components from `at` on with their bytes; indices behind them move down. 0, LEAT_ESHARED or LEAT_ERANGE.
 */
LEAT_API int leat_composite_remove(leat_composite *composite, uint32_t at, uint32_t n);

/** Drops the bytes before the reader, which becomes 0, and releases what they lay in. Returns 0 or LEAT_ESHARED. */
LEAT_API int leat_composite_discard_read(leat_composite *composite);

/** Copies `n` components from `at` on into one. Returns 0, LEAT_ENOMEM, LEAT_ESHARED or LEAT_ERANGE; then unchanged. */
LEAT_API int leat_composite_consolidate(leat_composite *composite, uint32_t at, uint32_t n);

/**
 * Makes a slice of every component's part of [index, index + n), in order, which the caller owns. Returns how many, or
 * LEAT_ERANGE (also when they are more than `max`) or LEAT_ENOMEM; then there are none.
 */
LEAT_API int leat_composite_decompose(leat_composite *composite, uint64_t index, uint64_t n, leat_bytebuf **slices,
                                      size_t max);

/** Returns how many components there are, empty ones too. */
LEAT_API uint32_t leat_composite_component_count(const leat_composite *composite);

/** Returns the bytes of component `at`; no bytes when there is no such one. */
LEAT_API leat_span leat_composite_component(const leat_composite *composite, uint32_t at);

/** Returns the component that holds `index` < writer, or the count. */
LEAT_API uint32_t leat_composite_component_at(const leat_composite *composite, uint64_t index);

/** Returns the index of the first byte of component `at`; the writer index when there is no such one. */
LEAT_API uint64_t leat_composite_component_index(const leat_composite *composite, uint32_t at);

LEAT_END_DECLS

#endif
