/**
 * Values to OPC UA Binary (OPC 10000-6, 5.2): one size pass, one reservation, whole blocks. Where nothing is to be
 * copied, leat_opcua_wrap_* makes the caller's array a component of a composite.
 *
 * Every function returns 0, or with nothing written: LEAT_EINVAL (a nonsensical value: unknown type or shape,
 * dimensions that do not multiply to the count, a Variant that directly holds a Variant, bytes of another type than
 * said), LEAT_ERANGE (a count or length beyond INT32_MAX), LEAT_ETOOLONG (an array, string or message above its limit),
 * LEAT_ELIMIT (rank, depth, or the buffer's max capacity), LEAT_ENOMEM, LEAT_ESHARED.
 */
#ifndef LEAT_HANDLERS_OPCUA_ENCODE_H
#define LEAT_HANDLERS_OPCUA_ENCODE_H

#include "core/composite.h"
#include "handlers/opcua/value.h"

LEAT_BEGIN_DECLS

/** Tells the exact bytes of a value as a Variant (5.2.2.16). `options` may be NULL. Any thread. */
LEAT_API int leat_opcua_variant_size(const leat_opcua_value *value, const leat_opcua_options *options, uint64_t *size);

/** Tells the exact bytes of a value as a structure field (5.2.2, arrays 5.2.5). `options` may be NULL. Any thread. */
LEAT_API int leat_opcua_field_size(const leat_opcua_value *value, const leat_opcua_options *options, uint64_t *size);

/**
 * Appends a value as a Variant: the encoding byte, the value or the elements, the dimensions of a matrix. A DataValue
 * is a scalar like the others. The value stays the caller's. `options` may be NULL.
 */
LEAT_API int leat_opcua_encode_variant(leat_bytebuf *buf, const leat_opcua_value *value,
                                       const leat_opcua_options *options);

/** Appends a value as a structure field: without encoding byte, a matrix with its dimensions in front. */
LEAT_API int leat_opcua_encode_field(leat_bytebuf *buf, const leat_opcua_value *value,
                                     const leat_opcua_options *options);

/** Says that a wrapped value is no longer needed; runs exactly once, on whichever thread drops the last of its bytes.
 */
typedef void (*leat_opcua_release_fn)(void *context);

/**
 * Appends a value as a Variant, its arrays of fixed width (not Booleans) and of at least options->wrap_bytes as
 * components of their own: not one of their bytes is copied. Their elements must not change until `release` (may be
 * NULL) gets `context`; everything else may go when this returns. `release` runs on failure too, and at once when
 * everything was copied. Copied are also arrays whose bytes differ from the wire's: Booleans, other byte orders,
 * quiet_nan.
 */
LEAT_API int leat_opcua_wrap_variant(leat_composite *composite, const leat_opcua_value *value,
                                     leat_opcua_release_fn release, void *context, const leat_opcua_options *options);

/** The same as a structure field. */
LEAT_API int leat_opcua_wrap_field(leat_composite *composite, const leat_opcua_value *value,
                                   leat_opcua_release_fn release, void *context, const leat_opcua_options *options);

LEAT_END_DECLS

#endif
