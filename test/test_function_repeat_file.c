/* SPDX-License-Identifier: MIT */
/* test_function_repeat_file.c - functions with repeats as files, which may be hostile; what is
 * told of them; memory that is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <time.h>
#include <wengert/map.h>
#include "tape/function/make/finish.h"
#include "counted.h"
#define LOOPS_OVER 64
#include "file_case.h"
#include "tape/function/run/bytecode.h"
#include "tape/function/run/in_place.h"

enum { STEPS = 12, DATA = 40 };

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
        {ARGUMENTS_AT + 16, 4, 16, "flags 16 of input 0"},
        {ARGUMENTS_AT + 66, 4, 32, "flags 32 of output 0"},
        /* steps and direction */
        {REPEAT_AT, 8, 0, "repeat 0: 0 steps, backwards 0"},
        {REPEAT_AT, 8, UINT64_MAX, "repeat 0: 18446744073709551615 steps"},
        {REPEAT_AT, 8, UINT32_MAX / 8, "repeat 0: 536870911 steps"},
        {REPEAT_AT, 8, UINT32_MAX / 8 - 1, "repeat 0: 536870910 steps: more than 536870911"},
        {REPEAT_AT, 8, 3, "node 3 has 3 operands, and its operation 4"},
        {REPEAT_AT, 8, 1, "node 3 has 3 operands, and its operation 2"},
        {REPEAT_AT + 8, 1, 2, "repeat 0: solves, and has not the arguments for it"},
        {REPEAT_AT + 8, 1, 3, "repeat 0: 2 steps, backwards 3"},
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
        {INPUT_U + 16, 4, 0, "node 3 has 3 operands, and its operation 2"},
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
        {INPUT_U + 16, 4, 0, "and its operation 2"},
        {RESULT, 4, 3, "in a body: entry 0 of output 0 is node 3"},
        {RESULT, 4, 0, "in a body: nothing needs node 2"},
        /* repeats and their parts */
        {REPEAT_NODE, 1, 0x89, "node 3 has the code 137, which is unknown"},
        {REPEAT_NODE, 1, 12, "node 3 has the code 12, which is unknown"},
        {REPEAT_NODE, 1, 11, "node 3: matrices of sizes"},
        {REPEAT_NODE + 1, 4, 1, "node 3 is repeat 1 of 1"},
        {REPEAT_NODE + 5, 4, 2, "node 3 has 2 operands, and its operation 3"},
        {REPEAT_NODE + 9, 4, 3, "operand 0 of node 3 is node 3, which is not before it"},
        {PART_NODE, 1, 9, "node 4 is repeat 2 of 1"},
        {PART_NODE, 1, 8, "node 4"},
        {PART_NODE + 1, 4, 3, "node 4 is result 3 of 3"},
        {PART_NODE + 1, 4, UINT32_MAX, "node 4 is result 4294967295 of 3"},
        {PART_NODE + 5, 4, 2, "node 4 has 2 operands, and its operation 1"},
        {PART_NODE + 9, 4, 2, "operand 0 of node 4 is node 2, which is a number"},
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
        wgi_builder b;
        wgi_builder_open(&b, c, "body");
        b.by_points = which == 1;
        const uint32_t q = wgi_builder_input(&b, "", &(wg_argument){"q", 1, 1, 0},
                                             which == 1 ? 0 : WGI_CARRIED);
        const uint32_t u = wgi_builder_input(&b, "", &(wg_argument){"u", 1, 1, 0}, WGI_STEPPED);
        const uint32_t z = WGI_GRAPH2(&b.g, mul, q, u);
        wgi_builder_output(&b, "", &(wg_argument){"y", 1, 1, 0}, which == 1 ? 0 : WGI_CARRIED);
        const uint32_t sum = which == 1 ? wgi_graph_sum(&b.g, z) : z;
        wgi_builder_result(&b, sum);
        wgi_builder_output(&b, "", &(wg_argument){"z", 1, 1, 0}, WGI_STEPPED);
        wgi_builder_result(&b, z);
        if (which == 1) wgi_graph_guard_add(&b.g, z, q, 0, 1);
        const wgi_repeat *const r = wgi_builder_repeat(&b, 2, 0);
        wgi_graph_open(&g, c, "function");
        uint32_t x[3];
        for (int i = 0; i < 3; i++) x[i] = wgi_graph_input(&g, WGI_EACH);
        const uint32_t part = wgi_graph_repeat(&g, r, x) + 1;
        const uint32_t last = which == 2 ? WGI_GRAPH1(&g, sin, part + 2) : part + 2;
        if (which == 2) wgi_graph_guard_add(&g, part + 1, last, 0, 1);
        const uint32_t y[] = {part + 1, last};
        assert_int_equal(wgi_function_finish(&g, 2, in, 1, &out, y, &f), WG_OK);
        uint8_t *const bytes = bytes_of(f, &n);
        wg_function_free(loaded(bytes, n));
        if (which == 0) { /* parts 1 and 2, each of 13 bytes, before two entries */
            uint8_t *const second = bytes + n - 8 - 8 - 13;
            assert_int_equal(second[1], 2);
            put(second + 1, 4, 1);
            seal(bytes, n);
            assert_refused(bytes, n, WG_EARG, "node 5 is result 1, after result 1");
            put(second + 1, 4, 0);
            seal(bytes, n);
            assert_refused(bytes, n, WG_EARG, "node 5 is result 0, after result 1");
        } else if (which == 1) { /* the comparison is the last of the body */
            uint8_t *const guard = bytes + n - 8 - 8 - 13 - 13 - 21 - 3 - 10;
            assert_int_equal(guard[0], 2);
            put(guard, 4, 3);
            seal(bytes, n);
            assert_refused(bytes, n, WG_EARG, "in a body: comparison 0: of a sum");
            put(guard, 4, 2);
            guard[8] = 6;
            seal(bytes, n);
            assert_refused(bytes, n, WG_EARG, "in a body: comparison 0: kind 6");
        } else { /* sin, entries, a comparison */
            uint8_t *const guard = bytes + n - 8 - 10, *const sine = guard - 8 - 4;
            assert_int_equal(sine[0], 5);
            put(sine, 4, 3);
            seal(bytes, n);
            assert_refused(bytes, n, WG_EARG,
                           "operand 0 of node 6 is node 3, which is a repeat");
            put(sine, 4, 5);
            put(guard, 4, 3);
            seal(bytes, n);
            assert_refused(bytes, n, WG_EARG, "comparison 0: of a repeat");
        }
        free(bytes);
        wg_function_free(f);
    }
    wg_tape_reset(tape);
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
        wgi_builder b;
        wgi_builder_open(&b, c, "nested");
        b.by_points = 1;
        const uint32_t u = wgi_builder_input(&b, "", &(wg_argument){"u", 1, 1, 0}, WGI_STEPPED);
        wgi_builder_output(&b, "", &(wg_argument){"y", 1, 1, 0}, WGI_STEPPED);
        wgi_builder_result(&b, r == NULL ? WGI_GRAPH1(&b.g, sin, u)
                                         : wgi_graph_repeat(&b.g, r, &u) + 1);
        r = wgi_builder_repeat(&b, 1, 0);
    }
    wgi_graph_open(&g, c, "nested");
    const uint32_t u = wgi_graph_input(&g, WGI_EACH);
    const uint32_t part = wgi_graph_repeat(&g, r, &u) + 1;
    assert_int_equal(wgi_function_finish(&g, 1, &x, 1, &y, &part, &f), WG_OK);
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
    assert_refused(deep, n, WG_EARG, "in a body: more than 16 bodies in bodies");
    free(deep);
    wg_function_free(f);
}

/* ---- memory ------------------------------------------------------------------------------ */

/* So many steps are so many states, of which the file wants the last. */
static void a_file_of_many_steps_takes_little_memory(void **state) {
    (void)state;
    wgi_core *const c = wgi_core_of(tape);
    const wg_argument x = {"x", 1, 1, 0}, y = {"y", 1, 1, 0};
    wgi_builder b;
    wgi_graph g;
    wg_function *f = NULL;
    size_t n;
    wgi_builder_open(&b, c, "body");
    const uint32_t s = wgi_builder_input(&b, "", &(wg_argument){"s", 1, 1, 0}, WGI_CARRIED);
    wgi_builder_output(&b, "", &(wg_argument){"s", 1, 1, 0}, WGI_CARRIED);
    wgi_builder_result(&b, WGI_GRAPH1(&b.g, sin, s));
    const wgi_repeat *const r = wgi_builder_repeat(&b, 5, 0);
    wgi_graph_open(&g, c, "function");
    const uint32_t u = wgi_graph_input(&g, WGI_EACH);
    const uint32_t part = wgi_graph_repeat(&g, r, &u) + 1 + 5;
    assert_int_equal(wgi_function_finish(&g, 1, &x, 1, &y, &part, &f), WG_OK);
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
    /* a derivative takes the states: a budget stops it, and at once */
    const wg_options bounded = {.budget = 1 << 24};
    wg_tape *const small = wg_tape_new(&bounded);
    wg_function *df = NULL;
    const clock_t start = clock();
    assert_int_equal(wg_function_vjp(small, f, &df), WG_EBUDGET);
    assert_null(df);
    assert_true(clock() - start < CLOCKS_PER_SEC / 2);
    wg_tape_free(small);
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
        wgi_builder b;
        wgi_builder_open(&b, c, "body");
        b.by_points = 1;
        const uint32_t s = wgi_builder_input(&b, "", &(wg_argument){"s", 1, 1, 0}, WGI_STEPPED);
        wgi_builder_output(&b, "", &(wg_argument){"y", 1, 1, 0}, WGI_STEPPED);
        wgi_builder_result(&b, WGI_GRAPH2(&b.g, mul, s, wgi_graph_number(&b.g, (double)k + 3)));
        part[k] = wgi_graph_repeat(&g, wgi_builder_repeat(&b, 1, 0), &u) + 1;
    }
    assert_int_equal(wgi_function_finish(&g, 1, &x, 1, &y, part, &f), WG_OK);
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

/* y = u below 1, at each step. */
static const wgi_repeat *of_compared(wgi_core *c, size_t steps) {
    wgi_builder b;
    wgi_builder_open(&b, c, "compared");
    b.by_points = 1;
    const uint32_t u = wgi_builder_input(&b, "", &(wg_argument){"u", 1, 1, 0}, WGI_STEPPED);
    wgi_graph_guard_add(&b.g, u, wgi_graph_number(&b.g, 1), 0, 1);
    wgi_builder_output(&b, "", &(wg_argument){"y", 1, 1, 0}, WGI_STEPPED);
    wgi_builder_result(&b, WGI_GRAPH1(&b.g, sin, u));
    return wgi_builder_repeat(&b, steps, 0);
}

static int no_code(const double *uniform, const double *const *input, double *const *result,
                   double *sum, size_t points, size_t valid) {
    (void)uniform, (void)input, (void)result, (void)sum, (void)points, (void)valid;
    return 0;
}

/* With native code, would it be run without the interpreter? */
static int runs_in_place(wg_function *f) {
    wgi_pieces counted = {NULL, 0};
    wgi_in_place in_place;
    f->bytecode->native = no_code;
    wgi_in_place_prepare(&in_place, f, 8, &counted);
    f->bytecode->native = NULL;
    return in_place.f != NULL;
}

/* A repeat of shared inputs, of sums, and of numbers in the steps of another one: what is
 * compared there is compared for all points. */
static void comparisons_are_told_where_a_repeat_is_done_once(void **state) {
    (void)state;
    enum { ON_INPUTS, ON_SUMS, ON_NUMBERS };
    const wg_argument in[] = {{"x", 2, 1, 0}, {"s", 2, 1, WG_SHARED}};
    const wg_argument out[] = {{"y", 1, 1, 0}, {"sum", 1, 1, WG_SUMMED}};
    for (int where = ON_INPUTS; where <= ON_NUMBERS; where++) {
        wgi_core *const c = wgi_core_of(tape);
        wgi_graph graph, *const g = &graph;
        wg_function *f = NULL;
        wgi_builder b;
        uint32_t x[4];
        wg_tape_reset(tape);
        const wgi_repeat *r = of_compared(c, 2);
        if (where == ON_NUMBERS) {
            wgi_builder_open(&b, c, "steps");
            const uint32_t v =
                wgi_builder_input(&b, "", &(wg_argument){"v", 1, 1, 0}, WGI_CARRIED);
            const uint32_t u[] = {wgi_graph_number(&b.g, 0.5), wgi_graph_number(&b.g, 3)};
            wgi_builder_output(&b, "", &(wg_argument){"v", 1, 1, 0}, WGI_CARRIED);
            wgi_builder_result(&b, WGI_GRAPH2(&b.g, add, v, wgi_graph_repeat(&b.g, r, u) + 2));
            r = wgi_builder_repeat(&b, 3, 0);
        }
        wgi_graph_open(g, c, "once");
        for (int i = 0; i < 4; i++) x[i] = wgi_graph_input(g, i < 2 ? WGI_EACH : WGI_ONCE);
        const uint32_t sums[] = {wgi_graph_sum(g, x[0]), wgi_graph_sum(g, x[1])};
        uint32_t y[] = {x[0], sums[0]};
        if (where == ON_INPUTS)
            y[0] = WGI_GRAPH2(g, mul, x[0], wgi_graph_repeat(g, r, x + 2) + 2);
        else if (where == ON_SUMS) y[1] = wgi_graph_repeat(g, r, sums) + 2;
        else y[0] = wgi_graph_repeat(g, r, x) + 1 + 3;
        assert_int_equal(wgi_function_finish(g, 2, in, 2, out, y, &f), WG_OK);
        wg_tape_reset(tape);
        assert_false(runs_in_place(f));
        void *const work = malloc(wg_function_work(f, NULL));
        for (size_t points = 0; points < 80; points = 3 * points + 1) {
            double at[160], z[80], sum;
            for (size_t i = 0; i < 160; i++) at[i] = 0x1p-8;
            for (int fails = 0; fails < 2; fails++) {
                const double s[2] = {0.5, fails ? 2 : 0.75};
                wg_function_guard guard = {77, 77};
                if (fails && points != 0) at[1] = 2;
                const wg_status status = wg_function_evaluate(
                    f, points, (wg_points[]){{at, 2, 1}, {s, 0, 1}},
                    (wg_results[]){{z, 1, 1}, {&sum, 0, 1}}, NULL, work, &guard);
                const int told = points != 0 && (fails || where == ON_NUMBERS);
                assert_int_equal(status, told ? WG_EGUARD : WG_OK);
                if (told) assert_int_equal(guard.point + guard.guard, 0);
            }
        }
        free(work);
        wg_function_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(functions_and_their_derivatives_are_loaded_as_they_were),
        TEST(files_of_the_second_version_are_read),
        TEST(every_rule_of_repeats_is_checked),
        TEST(what_a_saved_function_cannot_have_is_refused),
        TEST(repeats_in_each_other_have_a_depth),
        TEST(a_file_of_many_steps_takes_little_memory),
        TEST(a_file_of_many_bodies_takes_memory_in_proportion),
        TEST(memory_that_is_refused_anywhere_is_told_and_not_kept),
        TEST(a_repeat_is_an_operation_and_one_for_each_result),
        TEST(comparisons_are_told_where_a_repeat_is_done_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
