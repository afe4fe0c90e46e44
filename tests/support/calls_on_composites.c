/* Calls on composites, and gathers. */
#include "core/gather.h"
#include "tests/support/calls.h"

#include <check.h>

/* The other slot's buffer is given away, also when that fails. */
static leat_bytebuf *give(slot *from, slot *copy) {
    *copy = *from;
    from->buf = NULL;
    return copy->buf;
}

static bool add(call_model *of, slot *one, slot *other) {
    leat_composite *composite = leat_composite_of(one->buf);
    static slot given;
    if (!composite || one->buf == other->buf)
        return true;
    leat_bytebuf *buf = give(other, &given);
    size_t at = below(of, given.length + 1), n = below(of, given.length - at + 1);
    uint64_t index = leat_bytebuf_reader_index(buf) + at;
    int way = (int)below(of, 3);
    int status = way == 0   ? leat_composite_add(composite, buf)
                 : way == 1 ? leat_composite_add_flattened(composite, buf, index, n)
                            : leat_composite_prepend(composite, buf);
    if (status == 0 && way == 0)
        put_behind(one, given.bytes, given.length);
    else if (status == 0 && way == 1)
        put_behind(one, given.bytes + at, n);
    else if (status == 0)
        put_before(one, 0, given.bytes, given.length);
    call_refill(of, other);
    return status == 0;
}

static bool insert(call_model *of, slot *one, slot *other) {
    leat_composite *composite = leat_composite_of(one->buf);
    static slot given;
    if (!composite || one->buf == other->buf)
        return true;
    uint32_t at = (uint32_t)below(of, leat_composite_component_count(composite) + 1);
    uint64_t index = leat_composite_component_index(composite, at), reader = leat_bytebuf_reader_index(one->buf);
    int status = leat_composite_insert(composite, at, give(other, &given));
    ck_assert_int_ne(status, LEAT_ERANGE);
    if (status == 0 && index >= reader)
        put_before(one, (size_t)(index - reader), given.bytes, given.length);
    else if (status == 0)
        ck_assert_uint_eq(leat_bytebuf_reader_index(one->buf), reader + given.length);
    call_refill(of, other);
    return status == 0;
}

static bool add_list(call_model *of, slot *one, slot *other) {
    leat_composite *composite = leat_composite_of(one->buf);
    static slot given;
    if (!composite || one->buf == other->buf)
        return true;
    leat_bytebuf *list[3] = {leat_bytebuf_from_bytes(of->alloc, of->bytes, of->n), give(other, &given)};
    size_t n = below(of, 9) == 0 ? 3 : 2; /* a NULL is refused and nothing lost */
    bool done = leat_composite_add_list(composite, list, n) == 0;
    ck_assert(!done || n == 2);
    if (done) {
        put_behind(one, of->bytes, of->n);
        put_behind(one, given.bytes, given.length);
    }
    call_refill(of, other);
    return done;
}

static bool add_copies(call_model *of, slot *one, slot *other) {
    (void)other;
    static const char constant[] = "abcabcabc";
    leat_composite *composite = leat_composite_of(one->buf);
    if (!composite)
        return true;
    size_t n = below(of, 10);
    if (below(of, 2))
        return appended(one, leat_composite_add_static(composite, constant, n) == 0, constant, n);
    return appended(one, leat_composite_add_bytes(composite, of->bytes, of->n) == 0, of->bytes, of->n);
}

static bool remove_some(call_model *of, slot *one, slot *other) {
    (void)other;
    leat_composite *composite = leat_composite_of(one->buf);
    if (!composite)
        return true;
    uint32_t count = leat_composite_component_count(composite), at = (uint32_t)below(of, count + 1);
    uint32_t n = (uint32_t)below(of, count - at + 1 < 4 ? count - at + 1 : 4);
    uint64_t reader = leat_bytebuf_reader_index(one->buf);
    uint64_t start = leat_composite_component_index(composite, at);
    uint64_t end = leat_composite_component_index(composite, at + n);
    if (leat_composite_remove(composite, at, n) != 0)
        return false;
    if (end <= reader)
        return true;
    size_t from = (size_t)(start > reader ? start - reader : 0), to = (size_t)(end - reader);
    memmove(one->bytes + from, one->bytes + to, one->length - to);
    one->length -= to - from;
    return true;
}

static bool consolidate(call_model *of, slot *one, slot *other) {
    (void)other;
    leat_composite *composite = leat_composite_of(one->buf);
    if (!composite)
        return true;
    uint32_t count = leat_composite_component_count(composite), at = (uint32_t)below(of, count + 1);
    uint32_t n = (uint32_t)below(of, count - at + 1);
    if (leat_composite_consolidate(composite, at, n) != 0)
        return false;
    ck_assert_uint_eq(leat_composite_component_count(composite), n > 1 ? count - n + 1 : count);
    return true;
}

static bool decompose(call_model *of, slot *one, slot *other) {
    (void)other;
    leat_composite *composite = leat_composite_of(one->buf);
    if (!composite)
        return true;
    leat_bytebuf *parts[300];
    size_t at = below(of, one->length + 1), n = below(of, one->length - at + 1);
    int made = leat_composite_decompose(composite, leat_bytebuf_reader_index(one->buf) + at, n, parts, 300);
    for (int i = 0; i < made; i++) {
        size_t length = (size_t)leat_bytebuf_readable(parts[i]);
        ck_assert(length > 0 && leat_bytebuf_equals_bytes(parts[i], one->bytes + at, length));
        at += length;
        n -= length;
        leat_bytebuf_release(parts[i]);
    }
    ck_assert(made < 0 || n == 0);
    return made >= 0;
}

static bool gather(call_model *of, slot *one, slot *other) {
    static slot into;
    leat_gather all;
    leat_gather_init(&all, of->alloc, (leat_gather_mode)below(of, 3), (uint32_t)below(of, 8));
    into.length = 0;
    for (size_t i = below(of, 6); i > 0 && into.length < LARGEST / 2; i--) {
        switch (below(of, 4)) {
        case 0:
            leat_gather_add_static(&all, "abcabc", 1 + i);
            put_behind(&into, "abcabc", 1 + i);
            break;
        case 1:
            leat_gather_add_bytes(&all, of->bytes, of->n);
            put_behind(&into, of->bytes, of->n);
            break;
        default:
            leat_gather_add_shared(&all, other->buf);
            put_behind(&into, other->bytes, other->length);
        }
    }
    return renew(one, leat_gather_finish(&all), into.bytes, into.length);
}

const call_entry calls_on_composites[] = {CALL(add),         CALL(add),         CALL(add),        CALL(insert),
                                          CALL(insert),      CALL(add_list),    CALL(add_copies), CALL(add_copies),
                                          CALL(remove_some), CALL(consolidate), CALL(decompose),  CALL(gather),
                                          {NULL, NULL}};
