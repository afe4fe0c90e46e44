/**
 * Byte buffers (ByteBuf): reader index <= writer index <= capacity <= max capacity, counted references, shared storage.
 *
 * A handle counts its references, its storage counts its handles. Indices move only on a handle with one reference;
 * bytes change only in a range that one handle has to itself: `new` and `split` give such a range, `slice` makes both
 * sides shared. leat_bytebuf_own() makes it yours, copying only if it must. What the rule forbids is refused: a
 * relative call returns false, others LEAT_ESHARED, and nothing has changed.
 */
#ifndef LEAT_CORE_BYTEBUF_H
#define LEAT_CORE_BYTEBUF_H

#include "core/alloc.h"
#include "core/bytes.h"

#include <stdarg.h>

LEAT_BEGIN_DECLS

/** A handle on bytes. The members are for inline code only; ask the functions below. One cache line. */
typedef struct leat_bytebuf {
    uint8_t *bytes;       /**< address of index 0; right for begin <= index < end */
    uint64_t reader;      /**< next index to read */
    uint64_t writer;      /**< next index to write */
    uint64_t begin;       /**< first index that `bytes` covers */
    uint64_t end;         /**< index after the last that `bytes` covers */
    uint64_t write_limit; /**< relative writes go up to here without help; `writer` while others hold references */
    uint64_t
        read_limit; /**< relative reads go up to here without help, in the window; 0 while others hold references */
    uint32_t refs;  /**< references; 0 = dead */
    uint8_t kind;   /**< LEAT_BYTEBUF_PLAIN or LEAT_BYTEBUF_COMPOSITE */
    uint8_t flags;  /**< leat_bytebuf_flags */
    uint16_t spare;
} leat_bytebuf;

enum leat_bytebuf_kinds { LEAT_BYTEBUF_PLAIN = 0, LEAT_BYTEBUF_COMPOSITE = 1 };

enum leat_bytebuf_flags {
    LEAT_BYTEBUF_SHARED_BELOW = 1, /**< some index below the writer may not be ours alone */
    LEAT_BYTEBUF_FROZEN = 2,       /**< may not append either */
    LEAT_BYTEBUF_NOTED = 4,        /**< its allocator keeps a ledger */
    LEAT_BYTEBUF_TAIL = 8          /**< the storage behind its end is its own to grow into */
};

/** A contiguous run of bytes that belongs to somebody else. */
typedef struct leat_span {
    const uint8_t *bytes;
    size_t length;
} leat_span;

/** How far the readable bytes of a buffer were consumed by somebody who may not move its index. Zero = nothing yet. */
typedef struct leat_bytebuf_position {
    uint32_t component; /**< a hint where `offset` lies */
    uint64_t offset;    /**< readable bytes already consumed */
} leat_bytebuf_position;

/** Gives wrapped memory back; runs exactly once, on whichever thread drops the last handle. */
typedef void (*leat_bytebuf_release_fn)(void *memory, size_t size, void *context);

/** `max_capacity` of a buffer that may grow as long as there is memory. */
#define LEAT_BYTEBUF_UNBOUNDED ((uint64_t)INT64_MAX)

#define LEAT_HERE_STRING_OF(x) #x
#define LEAT_HERE_STRING(x) LEAT_HERE_STRING_OF(x)
/** The place where it stands, as the ledger wants it: "file:line". */
#define LEAT_HERE __FILE__ ":" LEAT_HERE_STRING(__LINE__)

/* ---- making ---------------------------------------------------------------------------------------------------- */

/** Makes an empty buffer with room for `capacity` bytes that may grow; NULL = no memory. The caller owns it. */
LEAT_API leat_bytebuf *leat_bytebuf_new(leat_alloc *alloc, uint64_t capacity);

/**
 * Makes an empty buffer with room for `capacity` bytes behind `headroom` free ones, which leat_bytebuf_prepend fills:
 * its indices begin at `headroom`. It grows up to `max_capacity` bytes (headroom not counted; 0 = unbounded). NULL = no
 * memory, or capacity > max_capacity. The caller owns it.
 */
LEAT_API leat_bytebuf *leat_bytebuf_new_with(leat_alloc *alloc, uint64_t capacity, uint64_t max_capacity,
                                             uint64_t headroom);

/**
 * Makes a buffer whose readable bytes are the caller's `memory`, writable in place; `release` (may be NULL) gets the
 * memory back with `context` when the last handle goes. NULL = no memory, and `release` is not called.
 */
LEAT_API leat_bytebuf *leat_bytebuf_wrap(leat_alloc *alloc, void *memory, size_t size, leat_bytebuf_release_fn release,
                                         void *context);

/** The same for memory that must not change: leat_bytebuf_own copies it, and what would change it is refused. */
LEAT_API leat_bytebuf *leat_bytebuf_wrap_read_only(leat_alloc *alloc, const void *memory, size_t size,
                                                   leat_bytebuf_release_fn release, void *context);

/** Makes a buffer on memory that outlives every handle and never changes. NULL = no memory. */
LEAT_API leat_bytebuf *leat_bytebuf_wrap_static(leat_alloc *alloc, const void *memory, size_t size);

/** Makes an exactly sized buffer with a copy of `size` bytes; NULL = no memory. */
LEAT_API leat_bytebuf *leat_bytebuf_from_bytes(leat_alloc *alloc, const void *data, size_t size);

/** Makes an exactly sized buffer with the characters of `text`, without its NUL; NULL = no memory. */
LEAT_API leat_bytebuf *leat_bytebuf_from_text(leat_alloc *alloc, const char *text);

/** Makes a plain buffer with a copy of the readable bytes; NULL = no memory. `buf` is untouched. */
LEAT_API leat_bytebuf *leat_bytebuf_copy(const leat_bytebuf *buf, leat_alloc *alloc);

/* ---- references ------------------------------------------------------------------------------------------------- */

/**
 * Adds a reference for another holder and returns `buf`; `where` is a static text for the ledger. At 2^31 references
 * the count stays for ever: the handle is never freed, and that is said on the standard error output. Any thread that
 * holds a reference of its own: of an object that several threads look into, each retains the object, not what lies in
 * it.
 */
LEAT_INLINE leat_bytebuf *leat_bytebuf_retain_at(leat_bytebuf *buf, const char *where);

/** Gives one reference back; the last one ends the handle. NULL is fine. Any thread. */
LEAT_INLINE void leat_bytebuf_release_at(leat_bytebuf *buf, const char *where);

/** Tells the ledger, if there is one, that `buf` came by at `where`, and returns `buf`. */
LEAT_INLINE leat_bytebuf *leat_bytebuf_touch_at(leat_bytebuf *buf, const char *where);

/** The same as functions of a table needs them, without a place. */
LEAT_API leat_bytebuf *leat_bytebuf_retain(leat_bytebuf *buf);
LEAT_API void leat_bytebuf_release(leat_bytebuf *buf);
LEAT_API leat_bytebuf *leat_bytebuf_touch(leat_bytebuf *buf);

#define leat_bytebuf_retain(buf) leat_bytebuf_retain_at((buf), LEAT_HERE)
#define leat_bytebuf_release(buf) leat_bytebuf_release_at((buf), LEAT_HERE)
#define leat_bytebuf_touch(buf) leat_bytebuf_touch_at((buf), LEAT_HERE)

/* The parts of the three above that are not inline. */
LEAT_API void leat_bytebuf_end_life(leat_bytebuf *buf);
LEAT_API void leat_bytebuf_release_oddly(leat_bytebuf *buf, uint32_t before);
LEAT_API void leat_bytebuf_pin(leat_bytebuf *buf);
LEAT_API leat_bytebuf *leat_bytebuf_retain_noted(leat_bytebuf *buf, const char *where);
LEAT_API void leat_bytebuf_release_noted(leat_bytebuf *buf, const char *where);
LEAT_API void leat_bytebuf_touch_noted(leat_bytebuf *buf, const char *where);

/* ---- indices ---------------------------------------------------------------------------------------------------- */

/** Returns the next index to read. */
LEAT_INLINE uint64_t leat_bytebuf_reader_index(const leat_bytebuf *buf);

/** Returns the next index to write. */
LEAT_INLINE uint64_t leat_bytebuf_writer_index(const leat_bytebuf *buf);

/** Returns how many bytes are readable. */
LEAT_INLINE uint64_t leat_bytebuf_readable(const leat_bytebuf *buf);

/** Returns how many bytes may be written now without growing: 0 on a handle that may not write. */
LEAT_API uint64_t leat_bytebuf_writable(const leat_bytebuf *buf);

/** Returns the index after the last byte that could be written without growing. */
LEAT_API uint64_t leat_bytebuf_capacity(const leat_bytebuf *buf);

/** Returns up to which index the buffer may grow. */
LEAT_API uint64_t leat_bytebuf_max_capacity(const leat_bytebuf *buf);

/** Moves the reader index to `index` <= writer; false = out of range or shared. */
LEAT_API bool leat_bytebuf_set_reader_index(leat_bytebuf *buf, uint64_t index);

/**
 * Moves the writer index to reader <= `index` <= capacity; false = out of range or shared. Moved back on a composite it
 * drops the bytes behind it.
 */
LEAT_API bool leat_bytebuf_set_writer_index(leat_bytebuf *buf, uint64_t index);

/** Sets both indices to 0 (and so gives headroom up); a composite drops its components. false = shared. */
LEAT_API bool leat_bytebuf_clear(leat_bytebuf *buf);

/** Moves the reader `n` bytes on; false = not so many readable, or shared. */
LEAT_INLINE bool leat_bytebuf_skip(leat_bytebuf *buf, uint64_t n);

/** Drops the bytes before the reader, which becomes 0: moves the readable ones down, a composite drops components. 0 or
 * LEAT_ESHARED. */
LEAT_API int leat_bytebuf_discard_read(leat_bytebuf *buf);

/**
 * Makes room for `n` more bytes behind the writer, contiguous also in a composite, which has it until its structure
 * changes (by a split too). Returns 0, LEAT_ENOMEM, LEAT_ESHARED, or LEAT_ELIMIT when max_capacity forbids it; then
 * nothing has changed, and room that was there is.
 */
LEAT_API int leat_bytebuf_reserve(leat_bytebuf *buf, uint64_t n);

/** Reserves `n` bytes and returns their address for direct writing (then leat_bytebuf_wrote); NULL = not possible. */
LEAT_API uint8_t *leat_bytebuf_room(leat_bytebuf *buf, uint64_t n);

/** Moves the writer over `n` bytes that were written directly into room; false = there was no such room. */
LEAT_API bool leat_bytebuf_wrote(leat_bytebuf *buf, uint64_t n);

/** Returns how many bytes before the reader leat_bytebuf_prepend could fill now. */
LEAT_API uint64_t leat_bytebuf_headroom(const leat_bytebuf *buf);

/**
 * Puts `n` bytes in front of the readable ones: into headroom or consumed bytes that are this handle's own; a composite
 * drops what was read and makes room. false = no room, no memory or shared, and nothing has changed.
 */
LEAT_API bool leat_bytebuf_prepend(leat_bytebuf *buf, const void *data, size_t n);

/* ---- bulk ------------------------------------------------------------------------------------------------------- */

/** Reads `n` bytes; false = too short or shared, nothing moved. */
LEAT_API bool leat_bytebuf_read_bytes(leat_bytebuf *buf, void *out, size_t n);

/** Appends `n` bytes; false = no room, no memory or shared, nothing written. */
LEAT_API bool leat_bytebuf_write_bytes(leat_bytebuf *buf, const void *data, size_t n);

/** Copies `n` bytes from `index` out; false = out of range (asserted in debug builds). */
LEAT_API bool leat_bytebuf_get_bytes(const leat_bytebuf *buf, uint64_t index, void *out, size_t n);

/**
 * Changes `n` bytes from `index` on; only in a plain buffer may `data` overlap them. false = out of range (asserted in
 * debug builds) or shared, nothing changed.
 */
LEAT_API bool leat_bytebuf_set_bytes(leat_bytebuf *buf, uint64_t index, const void *data, size_t n);

/** Appends a copy of the readable bytes of `src`, which keeps them; false = no room, no memory or shared. */
LEAT_API bool leat_bytebuf_write_buffer(leat_bytebuf *buf, const leat_bytebuf *src);

/** Appends `n` zero bytes; false = no room, no memory or shared. */
LEAT_API bool leat_bytebuf_write_zero(leat_bytebuf *buf, uint64_t n);

/** Appends text as printf makes it, without a NUL, from arguments that lie elsewhere; false = no room, no memory,
 * shared or a bad format. */
LEAT_API bool leat_bytebuf_write_format(leat_bytebuf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** The same with a list of arguments. */
LEAT_API bool leat_bytebuf_write_format_list(leat_bytebuf *buf, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/** Reads an unsigned LEB128 number of at most 64 bits; false = incomplete, malformed or shared, nothing moved. */
LEAT_API bool leat_bytebuf_read_varint(leat_bytebuf *buf, uint64_t *out);

/** Appends an unsigned LEB128 number, 1 to 10 bytes; false = no room, no memory or shared. */
LEAT_API bool leat_bytebuf_write_varint(leat_bytebuf *buf, uint64_t value);

/**
 * Looks at an unsigned LEB128 number at `index` < writer. Returns its length in bytes, 0 when it is not complete, or
 * LEAT_ECORRUPT when it does not fit 64 bits.
 */
LEAT_API int leat_bytebuf_get_varint(const leat_bytebuf *buf, uint64_t index, uint64_t *out);

/* ---- sharing ---------------------------------------------------------------------------------------------------- */

/**
 * Makes a new handle on the bytes [index, index + n), which must lie before the writer. They are shared from now on:
 * neither side may change them. NULL = no memory or out of range. The caller owns the slice. Any thread that holds a
 * reference.
 */
LEAT_API leat_bytebuf *leat_bytebuf_slice(leat_bytebuf *buf, uint64_t index, uint64_t n);

/** Makes a slice of all readable bytes; NULL = no memory. */
LEAT_API leat_bytebuf *leat_bytebuf_slice_readable(leat_bytebuf *buf);

/**
 * Takes the first `n` readable bytes off into a new handle that owns what `buf` owned of them; the reader moves past
 * them, and a composite drops what lies before it then, as leat_bytebuf_discard_read does. A plain `buf` still shows
 * them to who moves the reader back or gets them, while their new owner changes them: do not. The new handle's capacity
 * is `n`. NULL = no memory, not so many readable, or shared; then nothing has moved.
 */
LEAT_API leat_bytebuf *leat_bytebuf_split(leat_bytebuf *buf, uint64_t n);

/**
 * Makes `*buf` the caller's alone: nothing when it is, else a copy of its readable bytes replaces it. Returns 0, or
 * LEAT_ENOMEM with `*buf` untouched.
 */
LEAT_API int leat_bytebuf_own(leat_bytebuf **buf);

/**
 * For who keeps bytes beyond the turn: replaces `*buf` by a copy when its storage is larger than 512 bytes and four
 * times what is readable, so that a small slice never pins a large block. Returns 0, or LEAT_ENOMEM with `*buf`
 * untouched.
 */
LEAT_API int leat_bytebuf_keep(leat_bytebuf **buf);

/** Returns the bytes of storage that this handle keeps alive. */
LEAT_API uint64_t leat_bytebuf_storage_size(const leat_bytebuf *buf);

/** Returns the allocator that the handle came from. */
LEAT_API leat_alloc *leat_bytebuf_alloc_of(const leat_bytebuf *buf);

/** Says whether the handle's inside is consistent; for tests and debug builds. */
LEAT_API bool leat_bytebuf_is_valid(const leat_bytebuf *buf);

/* ---- looking ---------------------------------------------------------------------------------------------------- */

/** Returns the address of the readable bytes when they are contiguous (valid until the next change), else NULL. */
LEAT_API const uint8_t *leat_bytebuf_data(const leat_bytebuf *buf);

/** Returns the address of the bytes [index, index + n) when they are contiguous and before the writer, else NULL. */
LEAT_API const uint8_t *leat_bytebuf_contiguous(const leat_bytebuf *buf, uint64_t index, uint64_t n);

/** Returns how many spans the readable bytes have; empty ones are not counted. */
LEAT_API size_t leat_bytebuf_span_count(const leat_bytebuf *buf);

/** Fills at most `max` spans of the readable bytes and returns how many; they are valid until the next change. */
LEAT_API size_t leat_bytebuf_spans(const leat_bytebuf *buf, leat_span *spans, size_t max);

/** The same from `position` on; `*bytes` (may be NULL) becomes what the filled spans hold. */
LEAT_API size_t leat_bytebuf_spans_at(const leat_bytebuf *buf, leat_bytebuf_position position, leat_span *spans,
                                      size_t max, uint64_t *bytes);

/** Moves `position` over `n` more readable bytes, at most to the end; amortised O(1) over the components. */
LEAT_API void leat_bytebuf_position_advance(const leat_bytebuf *buf, leat_bytebuf_position *position, uint64_t n);

/** Returns the index of the first `byte` in [from, writer), or -1. */
LEAT_API int64_t leat_bytebuf_find_byte(const leat_bytebuf *buf, uint64_t from, uint8_t byte);

/** Returns the index of the first byte in [from, writer) that is one of the `n` in `set`, or -1. */
LEAT_API int64_t leat_bytebuf_find_any(const leat_bytebuf *buf, uint64_t from, const void *set, size_t n);

/** Returns the index where the `n` bytes of `sequence` first stand in [from, writer), or -1; an empty one is found at
 * `from`. */
LEAT_API int64_t leat_bytebuf_find(const leat_bytebuf *buf, uint64_t from, const void *sequence, size_t n);

/** Compares the readable bytes as unsigned numbers: negative, 0 or positive as in memcmp; a prefix comes first. */
LEAT_API int leat_bytebuf_compare(const leat_bytebuf *a, const leat_bytebuf *b);

/** Says whether the readable bytes are the same. */
LEAT_API bool leat_bytebuf_equals(const leat_bytebuf *a, const leat_bytebuf *b);

/** Says whether the readable bytes are these `n`. */
LEAT_API bool leat_bytebuf_equals_bytes(const leat_bytebuf *buf, const void *data, size_t n);

/** Returns a hash of the readable bytes: the same for the same bytes, however they are stored. Not for hostile input.
 */
LEAT_API uint64_t leat_bytebuf_hash(const leat_bytebuf *buf);

/**
 * Writes a dump of the readable bytes, 16 a line (offset, hex, printable ASCII); at most `size` bytes with the final
 * NUL. Returns the length of the whole dump, as snprintf does.
 */
LEAT_API size_t leat_bytebuf_hex_dump(const leat_bytebuf *buf, char *text, size_t size);

LEAT_END_DECLS

#include "core/bytebuf_inline.h" /* IWYU pragma: export */

#endif
