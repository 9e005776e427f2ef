/* SPDX-License-Identifier: MIT */
/* test_function_repeat_file.c - functions with repeats and operations on whole matrices as
 * files, which may be hostile, as text and as graphs; what is told of them; memory that is
 * refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <wengert/map.h>
#include "counted.h"
#include "function_file.h"
#include "tape/function/dense_node.h"

enum { STEPS = 12, DATA = 40, LOOPS_OVER = 64 };
static wg_tape *tape;

static int open_tape(void **state) {
    const wg_options opt = {.flags = WG_KEEP_CODE, .loops_over = LOOPS_OVER};
    (void)state;
    tape = wg_tape_new(&opt);
    return tape == NULL;
}
static int close_tape(void **state) {
    (void)state;
    wg_tape_free(tape);
    return 0;
}

static uint8_t *bytes_of(const wg_function *f, size_t *n) {
    uint8_t *const bytes = saved(f, n);
    assert_non_null(bytes);
    return bytes;
}
static wg_function *loaded(const void *data, size_t n) {
    wg_function *f = NULL;
    if (wg_function_load(tape, data, n, NULL, 0, &f) != WG_OK)
        fail_msg("%s", wg_tape_message(tape));
    return f;
}
static void assert_has(const char *text, const char *part) {
    if (strstr(text, part) == NULL) fail_msg("this text: %s\ndoes not hold: %s", text, part);
}
static void assert_refused(const void *data, size_t n, const char *part) {
    wg_function *f = (wg_function *)(uintptr_t)1;
    assert_int_equal(wg_function_load(tape, data, n, NULL, 0, &f), WG_EARG);
    assert_null(f);
    assert_has(wg_tape_message(tape), "wg_function_load: at byte ");
    assert_has(wg_tape_message(tape), part);
}

/* ---- maps and scans with much to do ------------------------------------------------------ */

/* z = w tanh(q x + d), for each datum d; the sum of z^2. */
static wg_status neuron(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(x[0], wg_tanh(wg_add(wg_mul(x[1], x[2]), x[3]))));
    y[1] = wg_let(t, wg_square(y[0]));
    return WG_OK;
}

typedef struct model {
    wg_callable *neuron, *swing;
    double datum[DATA], push[STEPS];
} model;

/* A step of a swing: angle and speed, a push of the step, friction for all. */
static wg_status swing(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)n, (void)m;
    const model *const k = data;
    const wg_real force = wg_let(t, wg_sub(x[2], wg_mul(x[3], x[1])));
    wg_real angle = x[0], speed = x[1];
    for (int i = 0; i < 12; i++) {
        speed = wg_let(t, wg_add(speed, wg_mul(0x1p-7, wg_sub(force, wg_sin(angle)))));
        angle = wg_let(t, wg_add(angle, wg_mul(0x1p-7, speed)));
    }
    y[0] = angle, y[1] = speed;
    y[2] = wg_let(t, wg_square(angle));
    if (k == NULL) return WG_OK;
    /* one for many, in a step */
    wg_mat z[2];
    const wg_source s[] = {wg_from_matrix(wg_mat_gather(t, 1, 1, x)),
                           wg_from_matrix(wg_mat_gather(t, 1, 1, x + 3)),
                           wg_from_data(k->datum, 1, 1), wg_from_data(k->datum, 1, 1)};
    const wg_status status = wg_map(t, k->neuron, DATA, s, NULL, z);
    if (status == WG_OK) y[2] = wg_let(t, wg_add(y[2], wg_mat_at(z[1], 0, 0)));
    return status;
}

/* x: angle, speed, friction. y: angles of all steps by their squares, the end. */
static wg_status swings(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    const model *const k = data;
    (void)n, (void)m;
    const wg_state states[] = {{"a", wg_mat_gather(t, 1, 1, x)},
                               {"v", wg_mat_gather(t, 1, 1, x + 1)}};
    const wg_source s[] = {wg_from_state("a"), wg_from_state("v"),
                           wg_each_step(wg_from_data(k->push, 1, 1)),
                           wg_from_matrix(wg_mat_gather(t, 1, 1, x + 2))};
    const wg_stage stage = {k->swing, s};
    wg_mat r[3];
    const wg_status status = wg_scan(t, STEPS, 1, &stage, 2, states, NULL, r);
    if (status != WG_OK) return status;
    y[0] = wg_mat_at(r[2], 0, 0);
    for (size_t i = 1; i < STEPS; i++)
        y[0] = wg_let(t, wg_add(y[0], wg_mul((double)(i % 7), wg_mat_at(r[2], 0, i))));
    y[0] = wg_let(t, wg_add(y[0], wg_square(wg_mat_at(r[1], 0, 0))));
    return WG_OK;
}

/* x: w, q, and a weight; y: the sum of the map and one of its points. */
static wg_status neurons(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    const model *const k = data;
    (void)n, (void)m;
    const wg_source s[] = {wg_from_matrix(wg_mat_gather(t, 1, 1, x)),
                           wg_from_matrix(wg_mat_gather(t, 1, 1, x + 1)),
                           wg_from_data(k->datum, 1, 1), wg_from_data(k->datum, 1, 1)};
    wg_mat z[2];
    const wg_status status = wg_map(t, k->neuron, DATA, s, NULL, z);
    if (status != WG_OK) return status;
    y[0] = wg_let(t, wg_add(wg_mat_at(z[1], 0, 0), wg_mul(x[2], wg_mat_at(z[0], 0, 7))));
    return WG_OK;
}

static wg_status callable(wg_tape *t, wg_callback *f, void *data, size_t inputs,
                          const wg_argument *in, size_t outputs, const wg_argument *out,
                          wg_callable **k) {
    static const double x[] = {0.5, 0.25, -0.5, 0.75};
    wg_function *g = NULL;
    wg_status s = wg_function_record(t, f, data, inputs, in, x, outputs, out, &g);
    if (s == WG_OK) s = wg_callable_new(t, g, k);
    wg_function_free(g);
    return s;
}

static const wg_argument neuron_in[] = {{"w", 1, 1, WG_SHARED},
                                        {"q", 1, 1, WG_SHARED},
                                        {"x", 1, 1, WG_PASSIVE},
                                        {"d", 1, 1, WG_PASSIVE}};
static const wg_argument neuron_out[] = {{"z", 1, 1, 0}, {"sum", 1, 1, WG_SUMMED}};
static const wg_argument swing_in[] = {
    {"a", 1, 1, 0}, {"v", 1, 1, 0}, {"push", 1, 1, WG_PASSIVE}, {"c", 1, 1, WG_SHARED}};
static const wg_argument swing_out[] = {{"a", 1, 1, 0}, {"v", 1, 1, 0}, {"e", 1, 1, 0}};

static wg_status model_new(wg_tape *t, int nested, model *k) {
    *k = (model){NULL, NULL, {0}, {0}};
    for (size_t i = 0; i < DATA; i++) k->datum[i] = 0.125 * (double)(i % 17) - 1;
    for (size_t i = 0; i < STEPS; i++) k->push[i] = 0.25 * (double)(i % 5) - 0.5;
    wg_status s = callable(t, neuron, NULL, 4, neuron_in, 2, neuron_out, &k->neuron);
    if (s == WG_OK)
        s = callable(t, swing, nested ? k : NULL, 4, swing_in, 3, swing_out, &k->swing);
    return s;
}

static void model_free(model *k) {
    wg_callable_free(k->swing);
    wg_callable_free(k->neuron);
}

static wg_status record(wg_tape *t, wg_callback *f, model *k, wg_function **out) {
    static const double x[] = {0.5, 0.25, 0.125};
    const wg_argument in = {"x", 3, 1, 0}, y = {"y", 1, 1, 0};
    return wg_function_record(t, f, k, 1, &in, x, 1, &y, out);
}

/* How deep repeats are in each other. */
static size_t depth_of(const wg_function *f) {
    size_t most = 0;
    for (size_t k = 0; k < f->repeats; k++) {
        const size_t depth = 1 + depth_of(f->repeat[k].body);
        if (depth > most) most = depth;
    }
    return most;
}

typedef wg_status transform(wg_tape *t, const wg_function *f, wg_function **out);
static wg_function *made(transform *by, const wg_function *f) {
    wg_function *g = NULL;
    if (by(tape, f, &g) != WG_OK) fail_msg("%s", wg_tape_message(tape));
    return g;
}

static void assert_same_values(const wg_function *f, const wg_function *g) {
    wg_status s, again;
    double *const y = values(f, &s), *const z = values(g, &again);
    assert_int_equal(s, again);
    assert_memory_equal(y, z, entries(f, 1) * POINTS * sizeof *y);
    free(y), free(z);
}

/* Gives what was loaded. */
static wg_function *there_and_back(const wg_function *f) {
    size_t n, m;
    uint8_t *const bytes = bytes_of(f, &n);
    assert_int_equal(bytes[8], 2);
    wg_function *const g = loaded(bytes, n);
    uint8_t *const again = bytes_of(g, &m);
    assert_int_equal(n, m);
    assert_memory_equal(bytes, again, n);
    free(bytes), free(again);
    wg_function_stats a, b;
    assert_int_equal(wg_function_statistics(f, &a), WG_OK);
    assert_int_equal(wg_function_statistics(g, &b), WG_OK);
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(f->work, g->work);
    assert_int_equal(depth_of(f), depth_of(g));
    assert_same_values(f, g);
    return g;
}

static void functions_and_their_derivatives_are_loaded_as_they_were(void **state) {
    (void)state;
    static const struct {
        wg_callback *f;
        int nested;
        size_t depth;
    } cases[] = {{neurons, 0, 1}, {swings, 0, 1}, {swings, 1, 2}};
    transform *const by[] = {wg_function_gradient, wg_function_hessian, wg_function_vjp,
                             wg_function_jvp};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        model k;
        wg_function *f = NULL;
        if (model_new(tape, cases[c].nested, &k) != WG_OK ||
            record(tape, cases[c].f, &k, &f) != WG_OK)
            fail_msg("%s", wg_tape_message(tape));
        assert_int_equal(depth_of(f), cases[c].depth);
        wg_function *const g = there_and_back(f);
        for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
            wg_function *const df = made(by[i], f);
            assert_true(depth_of(df) >= cases[c].depth);
            wg_function *const again = there_and_back(df);
            wg_function *const dg = made(by[i], g);
            assert_same_values(df, dg);
            wg_function_free(df);
            wg_function_free(dg);
            wg_function_free(again);
        }
        wg_function_free(f);
        wg_function_free(g);
        model_free(&k);
    }
}

/* ---- the format ------------------------------------------------------------------------- */

#define WORD(x) x, 0, 0, 0, 0, 0, 0, 0
#define NODE(x) x, 0, 0, 0
#define START(bytes)                                                                           \
    0x89, 'W', 'G', 'F', '\r', '\n', 0x1a, '\n', 2, 0, 0, 0, 0, 0, 0, 0, (bytes)&255,          \
        (bytes) >> 8, 0, 0, 0, 0, 0, 0
#define NAMED(rows, flags, name) WORD(rows), WORD(1), NODE(flags), NODE(1), name

/* Functions of x and u[2], one repeat of two steps each, with the body
 *     state s, stepped u: s u, as the state;      all q, stepped u: the sum of q u. */
enum { ARGUMENTS = 136, SIZE = 397 };
#define IN_FRONT(nodes, steps)                                                                 \
    START(SIZE), WORD(2), WORD(1), WORD(3), WORD(nodes), WORD(4), WORD(1), WORD(0), WORD(1),   \
        WORD(2), WORD(3), WORD(4), WORD(5), WORD(6), WORD(1), NAMED(1, 0, 'x'),                \
        NAMED(2, 0, 'u'), NAMED(1, 0, 'y'), WORD(steps)
#define BEHIND(part)                                                                           \
    1, 1, 1, 9, NODE(0), NODE(3), NODE(0), NODE(1), NODE(2), 10, NODE(part), NODE(1), NODE(3), \
        NODE(4), WORD(0)
enum { REPEAT_AT = ARGUMENTS + 75, COUNTS = REPEAT_AT + 9, BODY = COUNTS + 64 };

static const uint8_t in_steps[] = {IN_FRONT(5, 2),
                                   0, /* body */
                                   WORD(2),
                                   WORD(1),
                                   WORD(3),
                                   WORD(3),
                                   WORD(2),
                                   WORD(1),
                                   WORD(0),
                                   WORD(0),
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
                                  0, /* body */
                                  WORD(2),
                                  WORD(1),
                                  WORD(3),
                                  WORD(4),
                                  WORD(3),
                                  WORD(1),
                                  WORD(0),
                                  WORD(0),
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
                                  NODE(1), /**/
                                  8,
                                  NODE(1),
                                  NODE(2),
                                  NODE(3),
                                  BEHIND(0)};

static void files_of_the_second_version_are_read(void **state) {
    (void)state;
    static const struct {
        const uint8_t *bytes;
        size_t n;
        double y;
    } file[] = {{in_steps, sizeof in_steps, 3 * 5 * 7},
                {of_many, sizeof of_many, 3 * 5 + 3 * 7}};
    for (size_t i = 0; i < 2; i++) {
        uint8_t bytes[sizeof of_many];
        size_t n;
        memcpy(bytes, file[i].bytes, file[i].n);
        seal(bytes, file[i].n);
        wg_function *const f = loaded(bytes, file[i].n);
        const double x = 3, u[2] = {5, 7};
        double y = 0;
        void *const work = malloc(wg_function_work(f, NULL));
        assert_int_equal(wg_function_evaluate(f, 1, (wg_points[]){{&x, 1, 1}, {u, 2, 1}},
                                              (wg_results[]){{&y, 1, 1}}, NULL, work, NULL),
                         WG_OK);
        assert_float_equal(y, file[i].y, 0);
        free(work);
        uint8_t *const again = bytes_of(f, &n);
        assert_int_equal(n, file[i].n);
        assert_memory_equal(again, bytes, n);
        free(again);
        wg_function_free(f);
    }
}

static void put(uint8_t *to, unsigned size, uint64_t x) {
    for (unsigned i = 0; i < size; i++) to[i] = (uint8_t)(x >> 8 * i);
}

typedef struct edit {
    size_t at;
    unsigned size;
    uint64_t value;
    const char *message; /* NULL: the next one, too */
} edit;

static void refuse_all(const uint8_t *file, size_t n, const edit *e, size_t edits) {
    uint8_t *const bytes = malloc(n);
    for (size_t i = 0; i < edits;) {
        memcpy(bytes, file, n);
        do put(bytes + e[i].at, e[i].size, e[i].value);
        while (e[i++].message == NULL);
        seal(bytes, n);
        assert_refused(bytes, n, e[i - 1].message);
    }
    free(bytes);
}
#define REFUSE_ALL(file, edits)                                                                \
    refuse_all(file, sizeof file, edits, sizeof(edits) / sizeof *(edits))

static void every_rule_of_repeats_is_checked(void **state) {
    (void)state;
    enum { INPUT_S = BODY, INPUT_U = BODY + 25, OUTPUT = BODY + 50, NODES_AT = BODY + 75 };
    enum { MUL = NODES_AT + 2, SUM = MUL + 17, RESULT = SUM, NODES = RESULT + 4 };
    enum { REPEAT_NODE = NODES + 3, PART_NODE = REPEAT_NODE + 21, ENTRY = PART_NODE + 13 };
    static const edit steps[] = {
        {8, 4, 1, "the name of input 0 is no word"},
        {16 + 8 * 14, 8, 0, "node 0 is out of its order"},
        {16 + 8 * 14, 8, 7, "at byte 128: a count of 7 does not fit"},
        {16 + 8 * 14, 8, UINT64_MAX, "at byte 128: a count of 18446744073709551615"},
        {16 + 8 * 14, 8, 2, "repeat 1 does not fit"},
        {ARGUMENTS + 16, 4, 16, "flags 16 of input 0"},
        {ARGUMENTS + 66, 4, 32, "flags 32 of output 0"},
        /* steps and direction */
        {REPEAT_AT, 8, 0, "repeat 0: 0 steps, backwards 0"},
        {REPEAT_AT, 8, UINT64_MAX, "repeat 0: 18446744073709551615 steps"},
        {REPEAT_AT, 8, UINT32_MAX / 8, "repeat 0: 536870911 steps"},
        {REPEAT_AT, 8, UINT32_MAX / 8 - 1, "repeat 0: 536870910 steps: more than 536870911"},
        {REPEAT_AT, 8, 3, "node 3 has 3 operands, and its repeat 4"},
        {REPEAT_AT, 8, 1, "node 3 has 3 operands, and its repeat 2"},
        {REPEAT_AT + 8, 1, 2, "repeat 0: 2 steps, backwards 2"},
        /* counts of the body */
        {COUNTS, 8, UINT64_MAX, "in a body: a count of 18446744073709551615 does not fit"},
        {COUNTS, 8, 3, "in a body: output 0 does not fit"},
        {COUNTS, 8, 1, "in a body: "},
        {COUNTS + 8, 8, 2, "in a body: "},
        {COUNTS + 16, 8, 4, "in a body: the names have 3 bytes, not 4"},
        {COUNTS + 24, 8, 4, "in a body: node 3"},
        {COUNTS + 24, 8, 2, "in a body: "},
        {COUNTS + 32, 8, 3, "in a body: the nodes have 2 operands, not 3"},
        {COUNTS + 40, 8, 0, "in a body: output 0 is 1 by 1, and all entries are 0"},
        {COUNTS + 48, 8, 5, "in a body: a count of 5 does not fit"},
        {COUNTS + 48, 8, 1, "in a body: comparison 0"},
        {COUNTS + 56, 8, 1, "in a body: a count of 1 does not fit"},
        {COUNTS + 56, 8, UINT64_MAX / 73, "in a body: a count of"},
        /* what the arguments are */
        {INPUT_S + 16, 4, 17, "in a body: flags 17 of input 0, after 1 states"},
        {INPUT_S + 16, 4, 48, "in a body: flags 48 of input 0, after 1 states"},
        {INPUT_S + 16, 4, 2, "in a body: flags 2 of input 0"},
        {INPUT_S + 16, 4, 0, "in a body: flags 0 of input 0, after 0 states"},
        {INPUT_S + 16, 4, 32, "in a body: flags 16 of output 0, after 0 states"},
        {INPUT_U + 16, 4, 16, "in a body: 2 states and 1 outputs"},
        {INPUT_U + 16, 4, 1, "in a body: flags 1 of input 1, after 1 states"},
        {INPUT_U + 16, 4, 0, "node 3 has 3 operands, and its repeat 2"},
        {OUTPUT + 16, 4, 32, "in a body: flags 32 of output 0, after 1 states"},
        {OUTPUT + 16, 4, 0, "in a body: flags 0 of output 0, after 1 states"},
        {OUTPUT + 16, 4, 4, "in a body: flags 4 of output 0, after 1 states"},
        {OUTPUT + 16, 4, 20, "in a body: flags 20 of output 0, after 1 states"},
        {INPUT_S, 8, 0, "in a body: state 0 is 0 by 1, and 1 by 1 after a step"},
        {INPUT_U + 24, 1, 's', "in a body: two inputs have the name s"},
        /* nodes of the body */
        {NODES_AT, 1, 2, "in a body: node 0 is out of its order"},
        {MUL + 9, 4, 2, "in a body: operand 0 of node 2 is node 2, which is not before it"},
        {MUL + 9, 4, 1, NULL},
        {INPUT_U + 16, 4, 0, "and its repeat 2"},
        {RESULT, 4, 3, "in a body: entry 0 of output 0 is node 3"},
        {RESULT, 4, 0, "in a body: nothing needs node 2"},
        /* repeats and their parts */
        {REPEAT_NODE, 1, 0x89, "node 3 has the code 137, which is unknown"},
        {REPEAT_NODE, 1, 12, "node 3 has the code 12, which is unknown"},
        {REPEAT_NODE, 1, 11, "node 3: matrices of sizes"},
        {REPEAT_NODE + 1, 4, 1, "node 3 is repeat 1 of 1"},
        {REPEAT_NODE + 5, 4, 2, "node 3 has 2 operands, and its repeat 3"},
        {REPEAT_NODE + 9, 4, 3, "operand 0 of node 3 is node 3, which is not before it"},
        {PART_NODE, 1, 9, "node 4 is repeat 2 of 1"},
        {PART_NODE, 1, 8, "node 4"},
        {PART_NODE + 1, 4, 3, "node 4 is result 3 of 3"},
        {PART_NODE + 1, 4, UINT32_MAX, "node 4 is result 4294967295 of 3"},
        {PART_NODE + 5, 4, 2, "node 4 has 2 operands, and its operation 1"},
        {PART_NODE + 9, 4, 2, "operand 0 of node 4 is node 2, which is no repeat"},
        {ENTRY, 4, 3, "entry 0 of output 0 is a repeat"},
        {ENTRY, 4, 0, "nothing needs node 4"},
    };
    REFUSE_ALL(in_steps, steps);
    enum { BACK = 9 }; /* by so much what is behind the sum is further on */
    static const edit many[] = {
        {BODY + 16, 4, 0, "in a body: flags 0 of input 0, after 0 states"},
        {BODY + 16, 4, 3, "in a body: flags 3 of input 0"},
        {BODY + 16, 4, 16, "in a body: flags 4 of output 0, after 1 states"},
        {OUTPUT + 16, 4, 0, "in a body: flags 0 of output 0, after 0 states"},
        {OUTPUT + 16, 4, 16, "in a body: flags 16 of output 0, after 0 states"},
        {OUTPUT + 16, 4, 36, "in a body: flags 36 of output 0, after 0 states"},
        {OUTPUT + 16, 4, 32, "in a body: entry 0 of output 0 is a sum over the points"},
        {SUM + 9, 4, 2, "in a body: entry 0 of output 0 is one per point, not summed"},
        {SUM + 9, 4, 0, "in a body: entry 0 of output 0 is no sum"},
        {PART_NODE + BACK + 1, 4, 1, "node 4 is result 1 of 1"},
        /* a state that is summed */
        {BODY + 16, 4, 16, NULL},
        {OUTPUT + 16, 4, 16, "in a body: entry 0 of output 0 is a sum over the points"},
    };
    REFUSE_ALL(of_many, many);
}

/* Comparisons in bodies; sums after states; parts twice; operands that are repeats: files of
 * functions, with one place changed. */
static void what_a_saved_function_cannot_have_is_refused(void **state) {
    (void)state;
    wgi_core *const c = wgi_core_of(tape);
    wgi_graph g;
    wg_function *f = NULL;
    const wg_argument in[] = {{"x", 1, 1, 0}, {"u", 2, 1, 0}}, out = {"y", 2, 1, 0};
    size_t n;
    for (int which = 0; which < 3; which++) {
        wg_tape_reset(tape);
        wgi_body b;
        wgi_body_open(&b, c, "body", which == 1);
        const uint32_t q = wgi_body_input(&b, "", "q", 1, 1, which == 1 ? 0 : WGI_CARRIED);
        const uint32_t u = wgi_body_input(&b, "", "u", 1, 1, WGI_STEPPED);
        const uint32_t z = WGI_GRAPH2(&b.g, mul, q, u);
        wgi_body_output(&b, "", "y", 1, 1, which == 1 ? 0 : WGI_CARRIED);
        const uint32_t sum = which == 1 ? wgi_graph_sum(&b.g, z) : z;
        wgi_body_result(&b, sum);
        wgi_body_output(&b, "", "z", 1, 1, WGI_STEPPED);
        wgi_body_result(&b, z);
        if (which == 1) wgi_graph_guard_add(&b.g, z, q, 0, 1);
        const wgi_repeat *const r = wgi_body_close(&b, 2, 0);
        wgi_graph_open(&g, c, "function");
        uint32_t x[3];
        for (int i = 0; i < 3; i++) x[i] = wgi_graph_input(&g, WGI_EACH);
        const uint32_t part = wgi_graph_repeat(&g, r, x) + 1;
        const uint32_t last = which == 2 ? WGI_GRAPH1(&g, sin, part + 2) : part + 2;
        if (which == 2) wgi_graph_guard_add(&g, part + 1, last, 0, 1);
        const uint32_t y[] = {part + 1, last};
        assert_int_equal(wgi_graph_finish(&g, 2, in, 1, &out, y, &f), WG_OK);
        uint8_t *const bytes = bytes_of(f, &n);
        wg_function_free(loaded(bytes, n));
        if (which == 0) { /* parts 1 and 2, each of 13 bytes, before two entries */
            uint8_t *const second = bytes + n - 8 - 8 - 13;
            assert_int_equal(second[1], 2);
            put(second + 1, 4, 1);
            seal(bytes, n);
            assert_refused(bytes, n, "node 5 is result 1, after result 1");
            put(second + 1, 4, 0);
            seal(bytes, n);
            assert_refused(bytes, n, "node 5 is result 0, after result 1");
        } else if (which == 1) { /* the comparison is the last of the body */
            uint8_t *const guard = bytes + n - 8 - 8 - 13 - 13 - 21 - 3 - 10;
            assert_int_equal(guard[0], 2);
            put(guard, 4, 3);
            seal(bytes, n);
            assert_refused(bytes, n, "in a body: comparison 0: of a sum");
            put(guard, 4, 2);
            guard[8] = 6;
            seal(bytes, n);
            assert_refused(bytes, n, "in a body: comparison 0: kind 6");
        } else { /* sin, entries, a comparison */
            uint8_t *const guard = bytes + n - 8 - 10, *const sine = guard - 8 - 4;
            assert_int_equal(sine[0], 5);
            put(sine, 4, 3);
            seal(bytes, n);
            assert_refused(bytes, n, "operand 0 of node 6 is node 3, which is a repeat");
            put(sine, 4, 5);
            put(guard, 4, 3);
            seal(bytes, n);
            assert_refused(bytes, n, "comparison 0: of a repeat");
        }
        free(bytes);
        wg_function_free(f);
    }
    wg_tape_reset(tape);
}

/* ---- operations on whole matrices -------------------------------------------------------- */

/* y = A b: A is x[4], two by two, b its first column; x[0] < y[0] was true. */
enum { WHOLE = 285, FIRST_OF = ARGUMENTS + 50 + 4 };
static const uint8_t whole[WHOLE] = {START(WHOLE),
                                     WORD(1),
                                     WORD(1),
                                     WORD(2),
                                     WORD(7),
                                     WORD(8),
                                     WORD(2),
                                     WORD(1),
                                     WORD(1),
                                     WORD(2),
                                     WORD(3),
                                     WORD(4),
                                     WORD(5),
                                     WORD(6),
                                     WORD(0),
                                     NAMED(4, 0, 'x'),
                                     NAMED(2, 0, 'y'),
                                     1,
                                     1,
                                     1,
                                     1, /* product of 2 by 1, 2 between */
                                     11,
                                     0,
                                     0,
                                     NODE(2),
                                     NODE(1),
                                     NODE(2),
                                     NODE(6),
                                     NODE(0),
                                     NODE(1),
                                     NODE(2),
                                     NODE(3),
                                     NODE(0),
                                     NODE(1), /**/
                                     10,
                                     NODE(0),
                                     NODE(1),
                                     NODE(4), /**/
                                     10,
                                     NODE(1),
                                     NODE(1),
                                     NODE(4), /* entries, a comparison */
                                     NODE(5),
                                     NODE(6),
                                     NODE(0),
                                     NODE(5),
                                     0,
                                     1};

static void evaluate_whole(const wg_function *f, const double *x, double *y) {
    void *const work = malloc(wg_function_work(f, NULL));
    assert_int_equal(wg_function_evaluate(f, 1, (wg_points[]){{x, 4, 1}},
                                          (wg_results[]){{y, 2, 1}}, NULL, work, NULL),
                     WG_OK);
    free(work);
}

static void files_with_operations_on_matrices_are_read(void **state) {
    (void)state;
    const double x[] = {2, 3, 5, 7};
    double y[2];
    uint8_t bytes[WHOLE];
    size_t n;
    memcpy(bytes, whole, WHOLE);
    seal(bytes, WHOLE);
    wg_function *const f = loaded(bytes, WHOLE);
    evaluate_whole(f, x, y);
    assert_float_equal(y[0], 2 * 2 + 5 * 3, 0);
    assert_float_equal(y[1], 3 * 2 + 7 * 3, 0);
    uint8_t *const again = bytes_of(f, &n);
    assert_int_equal(n, WHOLE);
    assert_memory_equal(again, bytes, n);
    free(again);
    wg_function_free(f);
}

static void every_rule_of_operations_on_matrices_is_checked(void **state) {
    (void)state;
    enum { KIND = FIRST_OF + 1, FLAGS, M, N = M + 4, K = N + 4, COUNT = K + 4 };
    enum { OPERAND = COUNT + 4, PART0 = OPERAND + 24, PART1 = PART0 + 13 };
    enum { ENTRY = PART1 + 13, COMPARED = ENTRY + 8, VERSION_AT = 8, REPEATS_AT = 128 };
    static const edit edits[] = {
        {VERSION_AT, 4, 1, "the name of input 0 is no word"},
        {REPEATS_AT, 8, 1, "at byte 128: a count of 1 does not fit"},
        /* kinds and flags */
        {KIND, 1, 7, "node 4 is the operation on matrices 7 with flags 0"},
        {KIND, 1, 255, "node 4 is the operation on matrices 255 with flags 0"},
        {KIND, 1, 16, "node 4 is the operation on matrices 16 with flags 0"},
        {FLAGS, 1, 2, "node 4 is the operation on matrices 0 with flags 2"},
        {FLAGS, 1, 16, "node 4 is the operation on matrices 0 with flags 16"},
        {KIND, 2, 2 + (1 << 8), "node 4 is the operation on matrices 2 with flags 1"},
        {KIND, 2, 1 + (2 << 8), "node 4 is the operation on matrices 1 with flags 2"},
        {KIND, 2, 5 + (4 << 8), "node 4 is the operation on matrices 5 with flags 4"},
        {KIND, 2, 6 + (1 << 8), "node 4 is the operation on matrices 6 with flags 1"},
        /* sizes */
        {M, 4, 0, "node 4: matrices of sizes 0, 1 and 2"},
        {N, 4, 0, "node 4: matrices of sizes 2, 0 and 2"},
        {K, 4, 0, "node 4: matrices of sizes 2, 1 and 0"},
        {M, 4, UINT32_MAX, "node 4: matrices of sizes 4294967295, 1 and 2"},
        {M, 8, UINT64_MAX, "node 4: matrices of sizes 4294967295, 4294967295 and 2"},
        {M, 4, UINT32_MAX / 16, "node 4: matrices of sizes 268435455, 1 and 2"},
        {M, 8, 30000 + ((uint64_t)30000 << 32), "node 4: matrices of sizes 30000, 30000 and 2"},
        {K, 4, 1 << 30, "node 4: matrices of sizes 2, 1 and 1073741824"},
        {KIND, 1, 1, "node 4: matrices of sizes 2, 1 and 2"},
        {KIND, 1, 2, "node 4: matrices of sizes 2, 1 and 2"},
        {KIND, 1, 5, "node 4: matrices of sizes 2, 1 and 2"},
        {KIND, 1, 2, NULL},
        {M, 4, 1 << 16, NULL},
        {N, 8, 0, "node 4: matrices of sizes 65536, 0 and 0"},
        {KIND, 1, 3, NULL},
        {M, 4, UINT32_MAX, NULL},
        {N, 8, 0, "node 4: matrices of sizes 4294967295, 0 and 0"},
        {KIND, 1, 4, NULL},
        {M, 4, 40000, NULL},
        {N, 8, 0, "node 4: matrices of sizes 40000, 0 and 0"},
        {KIND, 1, 5, NULL},
        {M, 8, 60000 + ((uint64_t)1 << 32), NULL},
        {K, 4, 0, "node 4: matrices of sizes 60000, 1 and 0"},
        {KIND, 1, 6, NULL},
        {M, 4, 50000, NULL},
        {N, 8, 0, "node 4: matrices of sizes 50000, 0 and 0"},
        /* operands */
        {M, 4, 3, "node 4 has 6 operands, and its matrices 8 elements"},
        {COUNT, 4, 5, "node 4 has 5 operands, and its matrices 6 elements"},
        {COUNT, 4, UINT32_MAX, "node 4 has 4294967295 operands"},
        {KIND, 1, 1, NULL},
        {K, 4, 0, "node 4 has 6 operands, and its matrices 5 elements"},
        {KIND, 1, 4, NULL},
        {N, 8, 0, "node 4 has 6 operands, and its matrices 4 elements"},
        {OPERAND, 4, 4, "operand 0 of node 4 is node 4, which is not before it"},
        {M, 4, 1000, NULL},
        {COUNT, 4, 2002, "node 4 does not fit"},
        /* parts */
        {FIRST_OF, 1, 0x8b, "node 4 has the code 139, which is unknown"},
        {PART0, 1, 12, "node 5 has the code 12, which is unknown"},
        {PART0 + 1, 4, 2, "node 5 is result 2 of 2"},
        {PART1 + 1, 4, 0, "node 6 is result 0, after result 0"},
        {PART1 + 1, 4, UINT32_MAX, "node 6 is result 4294967295 of 2"},
        {PART0 + 5, 4, 2, "node 5 has 2 operands, and its operation 1"},
        {PART0 + 9, 4, 3, "operand 0 of node 5 is node 3, which is no repeat or operation on"},
        {PART1 + 9, 4, 5, "operand 0 of node 6 is node 5, which is no repeat or operation on"},
        {KIND, 1, 3, NULL}, /* 3 by 3 elements of two triangles: 3 results */
        {N, 8, 0, NULL},
        {PART1 + 1, 4, 3, "node 6 is result 3 of 3"},
        /* what is no number */
        {PART1, 1, 8, NULL},
        {PART1 + 5, 4, 4, "operand 0 of node 6 is node 4, which is an operation on matrices"},
        {ENTRY, 4, 4, "entry 0 of output 0 is an operation on matrices"},
        {COMPARED, 4, 4, "comparison 0: of an operation on matrices"},
        {COMPARED + 4, 4, 4, "comparison 0: of an operation on matrices"},
    };
    REFUSE_ALL(whole, edits);
    /* a file of the first version, called one of the second */
    enum { NEW = 8 };
    size_t n;
    wg_function *const f = sample(tape, 0);
    uint8_t *const old = bytes_of(f, &n), *const called = malloc(n + NEW);
    memcpy(called, old, REPEATS_AT);
    memset(called + REPEATS_AT, 0, NEW);
    memcpy(called + REPEATS_AT + NEW, old + REPEATS_AT, n - REPEATS_AT);
    assert_int_equal(old[VERSION_AT], 1);
    called[VERSION_AT] = 2;
    seal(called, n + NEW);
    wg_function *none = NULL;
    assert_int_equal(
        wg_function_load(tape, called, n + NEW, user_operations, USER_OPERATIONS, &none),
        WG_EARG);
    assert_null(none);
    assert_has(wg_tape_message(tape),
               "version 2, and neither repeats nor operations on matrices");
    free(old), free(called);
    wg_function_free(f);
}

/* Refused, or a function that can be evaluated, drawn and saved as it was. */
static void load_and_use(const uint8_t *bytes, size_t n) {
    wg_function *f = NULL;
    const wg_status s = wg_function_load(tape, bytes, n, NULL, 0, &f);
    assert_true((s == WG_OK) == (f != NULL));
    if (f == NULL) return;
    size_t m;
    wg_status got;
    uint8_t *const again = bytes_of(f, &m);
    assert_int_equal(n, m);
    assert_memory_equal(bytes, again, n);
    free(again);
    free(values(f, &got));
    assert_true(got == WG_OK || got == WG_EGUARD);
    wg_function *df = NULL;
    if (wg_function_jvp(tape, f, &df) == WG_OK) free(values(df, &got));
    wg_function_free(df);
    wg_function_free(f);
}

static void damaged_operations_on_matrices_do_no_harm(void **state) {
    (void)state;
    for (size_t n = 0; n <= WHOLE; n++) {
        uint8_t *const bytes = malloc(n + 1); /* of its own, so that what is behind is seen */
        memcpy(bytes, whole, n);
        load_and_use(bytes, n);
        seal(bytes, n);
        load_and_use(bytes, n);
        free(bytes);
    }
    uint8_t bytes[WHOLE];
    for (size_t at = 0; at < WHOLE - 8; at++)
        for (unsigned change = 1; change < 256; change++) {
            memcpy(bytes, whole, WHOLE);
            bytes[at] = (uint8_t)(bytes[at] ^ change);
            if (at % 16 == 0) load_and_use(bytes, WHOLE); /* the checksum is wrong */
            seal(bytes, WHOLE);
            load_and_use(bytes, WHOLE);
        }
}

/* Many results of few operands, one of which is there. */
static void a_file_of_a_large_product_takes_little_memory(void **state) {
    (void)state;
    enum { ROWS = 2000 };
    wgi_core *const c = wgi_core_of(tape);
    const wg_argument x = {"x", 2 * ROWS, 1, 0}, y = {"y", 1, 1, 0};
    wgi_graph g;
    wg_function *f = NULL;
    uint32_t list[2 * ROWS];
    size_t n;
    wgi_graph_open(&g, c, "function");
    for (size_t k = 0; k < 2 * ROWS; k++) list[k] = wgi_graph_input(&g, WGI_EACH);
    const wgi_dense_op op = {WGI_DENSE_PRODUCT, 0, {2, 2, ROWS / 2}};
    const uint32_t part = wgi_graph_dense(&g, &op, list) + 1 + 3;
    assert_int_equal(wgi_graph_finish(&g, 1, &x, 1, &y, &part, &f), WG_OK);
    uint8_t *const bytes = bytes_of(f, &n);
    wg_function_free(f);
    const size_t at = 136 + 25 + 25 + 2 * ROWS; /* the operation */
    assert_int_equal(bytes[at], 11);
    put(bytes + at + 3, 4, ROWS);
    put(bytes + at + 7, 4, ROWS);
    put(bytes + at + 11, 4, 1);
    seal(bytes, n);
    struct counted m = counted_start();
    const wg_options opt = {.memory = counted_memory(&m)};
    wg_tape *const t = wg_tape_new(&opt);
    const size_t before = m.committed;
    assert_int_equal(wg_function_load(t, bytes, n, NULL, 0, &f), WG_OK);
    assert_true(m.committed - before < 1 << 20);
    assert_true(wg_function_work(f, NULL) > ROWS * ROWS * sizeof(double));
    wg_function_free(f);
    wg_tape_free(t);
    assert_int_equal(m.wrong + m.ranges, 0);
    free(bytes);
}

/* A function of so many repeats in each other, one step each. */
static wg_function *nested(size_t depth) {
    wgi_core *const c = wgi_core_of(tape);
    const wg_argument x = {"x", 1, 1, 0}, y = {"y", 1, 1, 0};
    const wgi_repeat *r = NULL;
    wgi_graph g;
    wg_function *f = NULL;
    wg_tape_reset(tape);
    for (size_t k = 0; k < depth; k++) {
        wgi_body b;
        wgi_body_open(&b, c, "nested", 1);
        const uint32_t u = wgi_body_input(&b, "", "u", 1, 1, WGI_STEPPED);
        wgi_body_output(&b, "", "y", 1, 1, WGI_STEPPED);
        wgi_body_result(&b, r == NULL ? WGI_GRAPH1(&b.g, sin, u)
                                      : wgi_graph_repeat(&b.g, r, &u) + 1);
        r = wgi_body_close(&b, 1, 0);
    }
    wgi_graph_open(&g, c, "nested");
    const uint32_t u = wgi_graph_input(&g, WGI_EACH);
    const uint32_t part = wgi_graph_repeat(&g, r, &u) + 1;
    assert_int_equal(wgi_graph_finish(&g, 1, &x, 1, &y, &part, &f), WG_OK);
    wg_tape_reset(tape);
    return f;
}

static void repeats_in_each_other_have_a_depth(void **state) {
    (void)state;
    enum { DEEPEST = 16, OUTER = 8 + 1 + 64 + 25 + 25 };
    size_t n;
    wg_function *f = nested(DEEPEST);
    wg_function_free(there_and_back(f));
    uint8_t *const bytes = bytes_of(f, &n);
    wg_function_free(f);
    f = nested(DEEPEST + 1);
    assert_int_equal(wg_function_save(f, NULL, 0, &n), WG_EARG);
    assert_int_equal(n, 0);
    assert_int_equal(wg_function_write(f, wg_write_file, NULL), WG_EARG);
    wg_function_free(f);
    f = nested(DEEPEST);
    free(bytes);
    /* one that says that its innermost body has a repeat */
    uint8_t *const deep = bytes_of(f, &n);
    const size_t first = 136 + 25 + 25; /* the first repeat */
    put(deep + first + (DEEPEST - 1) * OUTER + 9 + 56, 8, 1);
    seal(deep, n);
    assert_refused(deep, n, "in a body: more than 16 bodies in bodies");
    free(deep);
    wg_function_free(f);
}

/* ---- memory ------------------------------------------------------------------------------ */

/* So many steps are so many states, of which the file wants the last. */
static void a_file_of_many_steps_takes_little_memory(void **state) {
    (void)state;
    wgi_core *const c = wgi_core_of(tape);
    const wg_argument x = {"x", 1, 1, 0}, y = {"y", 1, 1, 0};
    wgi_body b;
    wgi_graph g;
    wg_function *f = NULL;
    size_t n;
    wgi_body_open(&b, c, "body", 0);
    const uint32_t s = wgi_body_input(&b, "", "s", 1, 1, WGI_CARRIED);
    wgi_body_output(&b, "", "s", 1, 1, WGI_CARRIED);
    wgi_body_result(&b, WGI_GRAPH1(&b.g, sin, s));
    const wgi_repeat *const r = wgi_body_close(&b, 5, 0);
    wgi_graph_open(&g, c, "function");
    const uint32_t u = wgi_graph_input(&g, WGI_EACH);
    const uint32_t part = wgi_graph_repeat(&g, r, &u) + 1 + 5;
    assert_int_equal(wgi_graph_finish(&g, 1, &x, 1, &y, &part, &f), WG_OK);
    uint8_t *const bytes = bytes_of(f, &n);
    wg_function_free(f);
    const size_t steps = 500 * 1000 * 1000;
    put(bytes + 136 + 25 + 25, 8, steps);
    put(bytes + n - 8 - 4 - 12, 4, steps); /* the part */
    seal(bytes, n);
    struct counted m = counted_start();
    const wg_options opt = {.memory = counted_memory(&m)};
    wg_tape *const t = wg_tape_new(&opt);
    const size_t before = m.committed;
    assert_int_equal(wg_function_load(t, bytes, n, NULL, 0, &f), WG_OK);
    assert_true(m.committed - before < 1 << 20);
    assert_true(wg_function_work(f, NULL) < 1 << 20);
    wg_function_free(f);
    wg_tape_free(t);
    assert_int_equal(m.wrong + m.ranges, 0);
    free(bytes);
}

/* Many bodies, each as short as it can be. */
static void a_file_of_many_bodies_takes_memory_in_proportion(void **state) {
    (void)state;
    enum { BODIES = 100 };
    wgi_core *const c = wgi_core_of(tape);
    const wg_argument x = {"x", 1, 1, 0}, y = {"y", BODIES, 1, 0};
    wgi_graph g;
    wg_function *f = NULL;
    uint32_t part[BODIES];
    size_t n;
    wgi_graph_open(&g, c, "function");
    const uint32_t u = wgi_graph_input(&g, WGI_EACH);
    for (size_t k = 0; k < BODIES; k++) {
        wgi_body b;
        wgi_body_open(&b, c, "body", 1);
        const uint32_t s = wgi_body_input(&b, "", "s", 1, 1, WGI_STEPPED);
        wgi_body_output(&b, "", "y", 1, 1, WGI_STEPPED);
        wgi_body_result(&b, WGI_GRAPH2(&b.g, mul, s, wgi_graph_number(&b.g, (double)k + 3)));
        part[k] = wgi_graph_repeat(&g, wgi_body_close(&b, 1, 0), &u) + 1;
    }
    assert_int_equal(wgi_graph_finish(&g, 1, &x, 1, &y, part, &f), WG_OK);
    uint8_t *const bytes = bytes_of(f, &n);
    wg_function_free(f);
    struct counted m = counted_start();
    const wg_options opt = {.memory = counted_memory(&m)};
    wg_tape *const t = wg_tape_new(&opt);
    const size_t before = m.committed;
    assert_int_equal(wg_function_load(t, bytes, n, NULL, 0, &f), WG_OK);
    assert_int_equal(f->repeats, BODIES);
    assert_true(m.committed - before < 256 * n);
    wg_function_free(f);
    wg_tape_free(t);
    assert_int_equal(m.wrong + m.ranges, 0);
    free(bytes);
}

/* ---- memory that is refused -------------------------------------------------------------- */

/* Recorded, differentiated, saved and loaded: on a tape of its own. */
static wg_status life(struct counted *m, size_t fail_at, int fail_on, int nested_too) {
    const wg_options opt = {
        .flags = WG_KEEP_CODE, .loops_over = LOOPS_OVER, .memory = counted_memory(m)};
    wg_function *f = NULL, *df = NULL, *g = NULL;
    model k = {NULL, NULL, {0}, {0}};
    wg_status s = WG_ENOMEM;
    m->fail_at = fail_at;
    m->fail_on = fail_on;
    wg_tape *const t = wg_tape_new(&opt);
    if (t != NULL) s = model_new(t, nested_too, &k);
    if (s == WG_OK) s = record(t, swings, &k, &f);
    if (s != WG_OK) assert_null(f);
    if (s == WG_OK) s = wg_function_hessian(t, f, &df);
    if (s != WG_OK) assert_null(df);
    size_t n = 0;
    uint8_t *const bytes = s == WG_OK ? bytes_of(df, &n) : NULL;
    if (s == WG_OK) s = wg_function_load(t, bytes, n, NULL, 0, &g);
    if (s != WG_OK) assert_null(g);
    free(bytes);
    model_free(&k);
    if (fail_at % 2 == 0) wg_tape_free(t); /* functions do not need the tape */
    wg_function_free(g);
    wg_function_free(df);
    wg_function_free(f);
    if (fail_at % 2 != 0) wg_tape_free(t);
    assert_int_equal(m->wrong + m->ranges, 0);
    return s;
}

static void memory_that_is_refused_anywhere_is_told_and_not_kept(void **state) {
    (void)state;
    struct counted m = counted_start();
    assert_int_equal(life(&m, SIZE_MAX, 0, 1), WG_OK);
    const size_t asked = m.asked;
    assert_in_range(asked, 20, 4000);
    for (int on = 0; on < 2; on++)
        for (size_t k = 0; k < asked; k++) {
            m = counted_start();
            const wg_status s = life(&m, k, on, 1);
            /* one that is refused alone may be asked for in another way */
            assert_true(s == WG_ENOMEM || (s == WG_OK && !on));
            assert_true(m.refused > 0);
        }
}

/* ---- text and graphs --------------------------------------------------------------------- */

static struct {
    size_t used;
    char bytes[1 << 14];
} out;
static int collect(void *ctx, const char *text, size_t bytes) {
    (void)ctx;
    if (out.used + bytes >= sizeof out.bytes) return 1;
    memcpy(out.bytes + out.used, text, bytes);
    out.used += bytes;
    out.bytes[out.used] = 0;
    return 0;
}

static void a_dump_lists_bodies_below(void **state) {
    (void)state;
    wg_function *const f = sample(tape, 4);
    out.used = 0;
    assert_int_equal(wg_function_dump(f, collect, NULL), WG_OK);
    assert_has(out.bytes, "input s[2]\n"
                          "input p shared\n"
                          "input u[3]\n"
                          "output y[5]\n"
                          "output sum summed\n"
                          "t9 = body1(0.5, p, 0.5)  ; once, 2 steps\n"
                          "t11 = body0(s[0], s[1], p, u[0], u[1], u[2])  ; each, 3 steps\n"
                          "t17 = mul(t11[11], t9[2])  ; each\n"
                          "t18 = sum(t17)  ; after\n"
                          "guard 0: gt(s[0], -1.75) was true\n"
                          "y[0] = t11[6]\n"
                          "y[1] = t11[7]\n"
                          "y[2] = t11[9]\n"
                          "y[3] = t11[2]\n"
                          "y[4] = 0\n"
                          "sum = t18\n"
                          "body0:\n"
                          "    input s[2] carried\n"
                          "    input p\n"
                          "    input u stepped\n"
                          "    output s[2] carried\n"
                          "    output e stepped\n"
                          "    output total\n"
                          "    t5 = body0.0(p, s[0], s[1])  ; each, 2 steps\n"
                          "    t9 = sub(s[1], t5[1])  ; each\n"
                          "    t10 = mul(u, t5[0])  ; each\n"
                          "    t11 = add(s[0], t10)  ; each\n"
                          "    t12 = softplus(t9)  ; each\n"
                          "    guard 0: lt(u, 1.75) was true\n"
                          "    s[0] = t11\n"
                          "    s[1] = t9\n"
                          "    e = t5[2]\n"
                          "    total = t12\n"
                          "    body0.0:\n"
                          "        input a shared\n"
                          "        input x stepped\n"
                          "        output y stepped\n"
                          "        output sum summed\n"
                          "        t2 = mul(a, x)  ; each\n"
                          "        t3 = sin(t2)  ; each\n"
                          "        t4 = mul(x, t3)  ; each\n"
                          "        t5 = sum(t4)  ; after\n"
                          "        y = t3\n"
                          "        sum = t5\n"
                          "body1:\n"
                          "    input a shared\n");
    wg_function_free(f);
    uint8_t bytes[sizeof in_steps];
    memcpy(bytes, in_steps, sizeof bytes);
    bytes[REPEAT_AT + 8] = 1;
    seal(bytes, sizeof bytes);
    wg_function *const g = loaded(bytes, sizeof bytes);
    out.used = 0;
    assert_int_equal(wg_function_dump(g, collect, NULL), WG_OK);
    assert_has(out.bytes, "t3 = body0(x, u[0], u[1])  ; each, 2 steps backwards\n");
    wg_function_free(g);
}

/* Names of what is in a body have its own in front; results that go the same way are one edge.
 */
static void a_graph_has_a_cluster_per_body(void **state) {
    (void)state;
    static const char *const parts[] = {
        "        t11 [label=\"t11\\nbody0(s[0], s[1], p, u[0], u[1], u[2])\\n3 steps\"];\n",
        "    t5 -> t11;\n    t11 -> t17;\n    t9 -> t17;\n",
        "    r0 [shape=box, peripheries=2, label=\"y[0] = t11[6]\"];\n    t11 -> r0;\n",
        "    t18 -> r5;\n"
        "    subgraph cluster_b0 {\n"
        "        label=\"body0\";\n"
        "        b0_t0 [shape=box, label=\"s[0]\"];\n",
        "        subgraph cluster_b0_each {\n"
        "            label=\"each\";\n"
        "            b0_t5 [label=\"t5\\nbody0.0(p, s[0], s[1])\\n2 steps\"];\n",
        "        b0_g0 [shape=diamond, label=\"lt(u, 1.75) was true\"];\n"
        "        b0_t3 -> b0_g0;\n",
        "        subgraph cluster_b0_0 {\n"
        "            label=\"body0.0\";\n"
        "            b0_0_t0 [shape=box, label=\"a\"];\n",
        "            b0_0_t5 -> b0_0_r1;\n"
        "        }\n"
        "    }\n"
        "    subgraph cluster_b1 {\n",
    };
    wg_function *const f = sample(tape, 4);
    out.used = 0;
    assert_int_equal(wg_function_dot(f, collect, NULL), WG_OK);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) assert_has(out.bytes, parts[i]);
    wg_function_free(f);
    wgi_graph g;
    wg_function *few = NULL;
    const wg_argument x = {"x", 3, 1, 0}, y = {"y", 1, 1, 0};
    const wgi_repeat *const r = of_points(wgi_core_of(tape));
    wgi_graph_open(&g, wgi_core_of(tape), "few");
    for (int i = 0; i < 3; i++) (void)wgi_graph_input(&g, WGI_EACH);
    const uint32_t part = wgi_graph_repeat(&g, r, (uint32_t[]){0, 1, 2}) + 1;
    const uint32_t most =
        wgi_graph_array(&g, WGI_ARRAY_maximum, 3, (uint32_t[]){part, part + 1, part + 2});
    assert_int_equal(wgi_graph_finish(&g, 1, &x, 1, &y, &most, &few), WG_OK);
    out.used = 0;
    assert_int_equal(wg_function_dot(few, collect, NULL), WG_OK);
    assert_has(out.bytes, "    t2 -> t3;\n    t3 -> t7;\n    r0 ");
    wg_function_free(few);
}

static void operations_on_matrices_are_drawn_with_their_first_operands(void **state) {
    (void)state;
    wgi_graph g;
    wg_function *f = NULL;
    uint32_t x[14];
    const wg_argument in = {"x", 14, 1, 0}, y = {"y", 2, 1, 0};
    const wgi_dense_op solve = {WGI_DENSE_SOLVE, WGI_DENSE_RULE | WGI_DENSE_TURNED, {2, 2, 0}};
    const wgi_dense_op product = {WGI_DENSE_PRODUCT, 0, {1, 3, 2}};
    wg_tape_reset(tape);
    wgi_graph_open(&g, wgi_core_of(tape), "drawn");
    for (size_t k = 0; k < 14; k++) x[k] = wgi_graph_input(&g, WGI_EACH);
    const uint32_t first = wgi_graph_dense(&g, &solve, x) + 1;
    const uint32_t a[] = {first, first + 2, first, x[0], x[1], x[2], x[3], first + 3};
    const uint32_t parts = wgi_graph_dense(&g, &product, a) + 1;
    const uint32_t to[] = {first + 3, parts + 1};
    assert_int_equal(wgi_graph_finish(&g, 1, &in, 1, &y, to, &f), WG_OK);
    wg_tape_reset(tape);
    out.used = 0;
    assert_int_equal(wg_function_dump(f, collect, NULL), WG_OK);
    assert_has(
        out.bytes,
        "t14 = solve(2x2, rule, turned)(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], "
        "...)  ; each\n"
        "t18 = product(1x3x2)(t14[0], t14[2], t14[0], x[0], x[1], x[2], x[3], t14[3])  ; "
        "each\n"
        "y[0] = t14[3]\n"
        "y[1] = t18[1]\n");
    out.used = 0;
    assert_int_equal(wg_function_dot(f, collect, NULL), WG_OK);
    assert_has(out.bytes,
               "        t14 [label=\"t14\\nsolve(2x2, rule, turned)(x[0], x[1], x[2], "
               "x[3], x[4], x[5], x[6], x[7], ...)\"];\n");
    assert_has(out.bytes, "    t13 -> t14;\n    t14 -> t18;\n    t0 -> t18;\n");
    assert_has(out.bytes,
               "    r1 [shape=box, peripheries=2, label=\"y[1] = t18[1]\"];\n    t18 -> r1;\n");
    wg_function_free(f);
}

/* ---- what is told ------------------------------------------------------------------------ */

static void a_repeat_is_an_operation_and_one_for_each_result(void **state) {
    (void)state;
    wg_function *f = sample(tape, 4);
    wg_function_stats s;
    assert_int_equal(wg_function_statistics(f, &s), WG_OK);
    assert_int_equal(s.once, 2); /* a repeat and its sum */
    assert_int_equal(s.each, 1 + 5 + 1);
    assert_int_equal(s.after, 1);
    assert_int_equal(s.guards, 1 + 1);
    assert_int_equal(s.numbers, 3);
    /* y[0] is all that the repeat takes; of the sum, too */
    unsigned char depends[3] = {0, 0, 0};
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(wg_function_depends(tape, f, k, depends), WG_OK);
        assert_int_equal(depends[0] + depends[1] + depends[2], 3);
    }
    assert_int_equal(wg_function_is_zero(f, 0, 0), 0);
    assert_int_equal(wg_function_is_zero(f, 0, 4), 1);
    wg_function_free(f);
    /* the comparison in the steps is the second one */
    f = sample(tape, 4);
    const double x[] = {0, 1}, p = 0.5, u[] = {0, 0, 2};
    double y[5], sum;
    wg_function_guard guard = {77, 77};
    void *const work = malloc(wg_function_work(f, NULL));
    assert_int_equal(wg_function_evaluate(f, 1, (wg_points[]){{x, 0, 1}, {&p, 0, 1}, {u, 0, 1}},
                                          (wg_results[]){{y, 0, 1}, {&sum, 0, 1}}, NULL, work,
                                          &guard),
                     WG_EGUARD);
    assert_int_equal(guard.guard, 1);
    assert_int_equal(guard.point, 0);
    free(work);
    wg_function_free(f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_tape, close_tape)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(functions_and_their_derivatives_are_loaded_as_they_were),
        TEST(files_of_the_second_version_are_read),
        TEST(every_rule_of_repeats_is_checked),
        TEST(what_a_saved_function_cannot_have_is_refused),
        TEST(files_with_operations_on_matrices_are_read),
        TEST(every_rule_of_operations_on_matrices_is_checked),
        TEST(damaged_operations_on_matrices_do_no_harm),
        TEST(a_file_of_a_large_product_takes_little_memory),
        TEST(repeats_in_each_other_have_a_depth),
        TEST(a_file_of_many_steps_takes_little_memory),
        TEST(a_file_of_many_bodies_takes_memory_in_proportion),
        TEST(memory_that_is_refused_anywhere_is_told_and_not_kept),
        TEST(a_dump_lists_bodies_below),
        TEST(a_graph_has_a_cluster_per_body),
        TEST(operations_on_matrices_are_drawn_with_their_first_operands),
        TEST(a_repeat_is_an_operation_and_one_for_each_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
