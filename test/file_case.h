/* SPDX-License-Identifier: MIT */
/* file_case.h - what the tests of files of functions share: a tape, functions there and back,
 * refusals, files as bytes. Included after cmocka.h; LOOPS_OVER is the tape's. */
#ifndef WENGERT_TEST_FILE_CASE_H
#define WENGERT_TEST_FILE_CASE_H

#include "tape/function/make/finish.h"
#include "function_file.h"

#ifndef LOOPS_OVER
#define LOOPS_OVER 0
#endif

static wg_tape *tape;

static inline int open_tape(void **state) {
    const wg_options opt = {.flags = WG_KEEP_CODE, .loops_over = LOOPS_OVER};
    (void)state;
    tape = wg_tape_new(&opt);
    return tape == NULL;
}
static inline int close_tape(void **state) {
    (void)state;
    wg_tape_free(tape);
    return 0;
}
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_tape, close_tape)

static inline wg_function *sample_of(size_t k) {
    wg_function *const f = sample(tape, k);
    if (f == NULL) fail_msg("sample %zu: %s", k, wg_tape_message(tape));
    return f;
}
static inline uint8_t *bytes_of(const wg_function *f, size_t *n) {
    uint8_t *const bytes = saved(f, n);
    assert_non_null(bytes);
    return bytes;
}
static inline wg_status load(const void *data, size_t n, wg_function **f) {
    return wg_function_load(tape, data, n, user_operations, USER_OPERATIONS, f);
}
static inline wg_function *loaded(const void *data, size_t n) {
    wg_function *f = NULL;
    if (load(data, n, &f) != WG_OK) fail_msg("%s", wg_tape_message(tape));
    return f;
}
static inline void assert_has(const char *text, const char *part) {
    if (strstr(text, part) == NULL) fail_msg("this text: %s\ndoes not hold: %s", text, part);
}
/* These bytes are refused, with a message that holds the part. */
static inline void assert_refused(const void *data, size_t n, wg_status expected,
                                  const char *part) {
    wg_function *f = (wg_function *)(uintptr_t)1;
    assert_int_equal(load(data, n, &f), expected);
    assert_null(f);
    assert_int_equal(wg_tape_status(tape), expected);
    assert_has(wg_tape_message(tape), "wg_function_load: at byte ");
    assert_has(wg_tape_message(tape), part);
}

/* y = op(x) */
static inline wg_function *apply(const wg_scalar_op *op) {
    wgi_graph g;
    wg_function *f = NULL;
    const wg_argument in = {"x", 1, 1, 0}, out = {"y", 1, 1, 0};
    wg_tape_reset(tape);
    wgi_graph_open(&g, wgi_core_of(tape), "apply");
    const uint32_t x = wgi_graph_input(&g, WGI_EACH), y = wgi_graph_op(&g, op, &x);
    assert_int_equal(wgi_function_finish(&g, 1, &in, 1, &out, &y, &f), WG_OK);
    return f;
}

/* ---- readers and writers ---- */

struct slow { /* a reader that counts what was taken */
    const uint8_t *bytes;
    size_t n, taken, calls;
};
static inline size_t read_slow(void *ctx, void *data, size_t bytes) {
    struct slow *const o = ctx;
    const size_t n = bytes < o->n - o->taken ? bytes : o->n - o->taken;
    if (n != 0) memcpy(data, o->bytes + o->taken, n);
    o->taken += n;
    o->calls++;
    return n;
}
struct full { /* refuses the k-th piece */
    size_t k, calls;
};
static inline int write_full(void *ctx, const char *text, size_t bytes) {
    struct full *const o = ctx;
    (void)text, (void)bytes;
    return o->calls++ >= o->k;
}

/* ---- files as bytes ---- */

static inline void put(uint8_t *to, unsigned size, uint64_t x) {
    for (unsigned i = 0; i < size; i++) to[i] = (uint8_t)(x >> 8 * i);
}

#define WORD(x) (x) & 255, (x) >> 8, 0, 0, 0, 0, 0, 0
#define NODE(x) x, 0, 0, 0
#define NAMED(rows, flags, name) WORD(rows), WORD(1), NODE(flags), NODE(1), name

/* The format is a promise: x[2], p shared passive; y = x[0] * p + 0.5, summed. */
static const uint8_t first_version[] = {
    0x89, 'W', 'G', 'F', '\r', '\n', 0x1a, '\n', 1, 0, 0, 0, 0, 0, 0, 0, WORD(280),
    /* inputs, outputs, name bytes, nodes, operands, entries, guards */
    WORD(2), WORD(1), WORD(3), WORD(7), WORD(5), WORD(1), WORD(1),
    /* statements .. dead */
    WORD(1), WORD(2), WORD(3), WORD(4), WORD(5), WORD(256),
    /* arguments */
    WORD(2), WORD(1), 0, 0, 0, 0, 1, 0, 0, 0, 'x', /**/
    WORD(1), WORD(1), 3, 0, 0, 0, 1, 0, 0, 0, 'p', /**/
    WORD(1), WORD(1), 4, 0, 0, 0, 1, 0, 0, 0, 'y', /**/
    /* x[0], x[1], p, 0.5, mul, add, sum */
    1, 1, 1, 2, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f,                /**/
    3, 3, 'm', 'u', 'l', 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, /**/
    3, 3, 'a', 'd', 'd', 2, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, /**/
    8, 1, 0, 0, 0, 5, 0, 0, 0,                               /**/
    6, 0, 0, 0,                                              /**/
    0, 0, 0, 0, 3, 0, 0, 0, 2, 1,                            /**/
    0, 0, 0, 0, 0, 0, 0, 0};

#define START(bytes)                                                                           \
    0x89, 'W', 'G', 'F', '\r', '\n', 0x1a, '\n', 2, 0, 0, 0, 0, 0, 0, 0, WORD(bytes)
/* Functions of x and u[2], one repeat of two steps each, with the body
 *     state s, stepped u: s u, as the state;      all q, stepped u: the sum of q u. */
enum { ARGUMENTS_AT = 136, SIZE = 397 };
#define IN_FRONT(nodes, steps)                                                                 \
    START(SIZE), WORD(2), WORD(1), WORD(3), WORD(nodes), WORD(4), WORD(1), WORD(0), WORD(1),   \
        WORD(2), WORD(3), WORD(4), WORD(5), WORD(6), WORD(1), NAMED(1, 0, 'x'),                \
        NAMED(2, 0, 'u'), NAMED(1, 0, 'y'), WORD(steps)
#define BEHIND(part)                                                                           \
    1, 1, 1, 9, NODE(0), NODE(3), NODE(0), NODE(1), NODE(2), 10, NODE(part), NODE(1), NODE(3), \
        NODE(4), WORD(0)
enum { REPEAT_AT = ARGUMENTS_AT + 75, COUNTS = REPEAT_AT + 9, BODY = COUNTS + 64 };

static const uint8_t in_steps[] = {IN_FRONT(5, 2),
                                   0, /* the body: counts, arguments, nodes, an entry */
                                   WORD(2),
                                   WORD(1),
                                   WORD(3),
                                   WORD(3),
                                   WORD(2),
                                   WORD(1),
                                   WORD(0),
                                   WORD(0), /**/
                                   NAMED(1, 16, 's'),
                                   NAMED(1, 32, 'u'),
                                   NAMED(1, 16, 's'), /**/
                                   1,
                                   1,
                                   3,
                                   3,
                                   'm',
                                   'u',
                                   'l',
                                   NODE(2),
                                   NODE(0),
                                   NODE(1), /**/
                                   NODE(2),
                                   BEHIND(2)};
static const uint8_t of_many[] = {IN_FRONT(5, 2),
                                  0, /**/
                                  WORD(2),
                                  WORD(1),
                                  WORD(3),
                                  WORD(4),
                                  WORD(3),
                                  WORD(1),
                                  WORD(0),
                                  WORD(0), /**/
                                  NAMED(1, 1, 'q'),
                                  NAMED(1, 32, 'u'),
                                  NAMED(1, 4, 's'), /**/
                                  1,
                                  1,
                                  3,
                                  3,
                                  'm',
                                  'u',
                                  'l',
                                  NODE(2),
                                  NODE(0),
                                  NODE(1),
                                  8,
                                  NODE(1),
                                  NODE(2), /**/
                                  NODE(3),
                                  BEHIND(0)};

/* ---- refusals, one after the other ---- */

typedef struct edit {
    size_t at;
    unsigned size;
    uint64_t value;
    const char *message; /* NULL: the next one, too */
} edit;

static inline void refuse_all(const uint8_t *file, size_t n, const edit *e, size_t edits) {
    uint8_t *const bytes = malloc(n);
    for (size_t i = 0; i < edits;) {
        memcpy(bytes, file, n);
        do put(bytes + e[i].at, e[i].size, e[i].value);
        while (e[i++].message == NULL);
        seal(bytes, n);
        assert_refused(bytes, n, WG_EARG, e[i - 1].message);
    }
    free(bytes);
}
#define REFUSE_ALL(file, edits)                                                                \
    refuse_all(file, sizeof file, edits, sizeof(edits) / sizeof *(edits))

#endif
