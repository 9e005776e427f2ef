/* SPDX-License-Identifier: MIT */
/* evaluate_case.h - functions to evaluate at many points: made node by node, or drawn at
 * random; a walk through their nodes, one point after the other; the instruction sets of this
 * machine. What the tests of evaluation share. */
#ifndef WENGERT_TEST_EVALUATE_CASE_H
#define WENGERT_TEST_EVALUATE_CASE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "tape/function/make/finish.h"
#include "tape/function/graph/graph.h"
#include "tape/function/run/bytecode.h"
#include "pools.h"
#include "tolerance.h"

/* As in the tests of the kernels: what elementwise.h promises of values. */
#define TOL_VECTOR_ULP (4.0 + 1.0)

enum { WALKED = 20000, ENTRIES = 64, MOST_POINTS = 6000 };

static const wg_options opt = {.flags = WG_KEEP_CODE};

/* ---- machines ---- */

struct machine {
    const wgi_fn_machine *machine;
    const wgi_simd *simd;
};
static inline size_t machines_here(struct machine *m) {
    size_t n = 0;
    m[n++] = (struct machine){wgi_fn_base, wgi_simd_base};
#if defined(__x86_64__)
    if (wgi_fn_avx2 != NULL && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        m[n++] = (struct machine){wgi_fn_avx2, wgi_simd_avx2};
    if (wgi_fn_avx512 != NULL && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        m[n++] = (struct machine){wgi_fn_avx512, wgi_simd_avx512};
#endif
    return n;
}
enum { MACHINES = 3 };

static inline void use_machine(wg_tape *t, wg_function *f, const struct machine *m) {
    wgi_bytecode_free(f);
    assert_int_equal(wgi_bytecode_make(wgi_core_of(t), f, m->machine, m->simd), WG_OK);
}

/* ---- numbers ---- */

static uint64_t state_of_random = 1;
static inline uint64_t draw(void) {
    uint64_t x = state_of_random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return state_of_random = x;
}
static inline size_t below(size_t n) { return (size_t)(draw() >> 11) % n; }
static inline double uniform(double lo, double hi) {
    return lo + (hi - lo) * (double)(draw() >> 11) * 0x1p-53;
}

static inline uint64_t bits(double x) {
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}
static inline int same_bits(double a, double b) {
    return bits(a) == bits(b) || (a != a && b != b);
}

/* ---- the walk ---- */

/* Values of the nodes at a point: x all inputs; sums are given. */
static inline void walk_point(const wg_function *f, const double *x, size_t points,
                              const double *sum, double *v) {
    double operand[64];
    size_t s = 0;
    for (uint32_t i = 0; i < f->nodes; i++) {
        const wgi_node *const n = &f->node[i];
        for (uint32_t k = 0; k < n->count; k++) operand[k] = v[f->operand[n->first + k]];
        if (n->kind == WGI_NODE_INPUT) v[i] = x[i];
        else if (n->kind != WGI_NODE_SUM) v[i] = wgi_node_value(n, operand);
        else if (f->node[f->operand[n->first]].when == WGI_EACH)
            v[i] = sum == NULL ? 0 : sum[s++];
        else v[i] = points == 0 ? 0 : wgi_times(operand[0], (double)points);
    }
}

/* ---- functions by hand ---- */

struct hand {
    wg_tape *t;
    wgi_graph g;
    wg_argument in[8], out[8];
    size_t ins, outs, n, m;
    uint32_t result[ENTRIES * 6];
    wg_function *f;
};

static inline void hand_open(struct hand *h) {
    memset(h, 0, sizeof *h);
    h->t = wg_tape_new(&opt);
    assert_non_null(h->t);
    wgi_graph_open(&h->g, wgi_core_of(h->t), "test");
}
static inline uint32_t hand_input(struct hand *h, size_t entries, unsigned flags) {
    static const char *const name[] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"};
    h->in[h->ins] = (wg_argument){name[h->ins], entries, 1, flags};
    h->ins++;
    const uint32_t first = (uint32_t)h->g.nodes;
    for (size_t e = 0; e < entries; e++)
        (void)wgi_graph_input(&h->g, flags & WG_SHARED ? WGI_ONCE : WGI_EACH);
    h->n += entries;
    return first;
}
static inline void hand_output(struct hand *h, size_t entries, unsigned flags,
                               const uint32_t *node) {
    static const char *const name[] = {"y0", "y1", "y2", "y3", "y4", "y5", "y6", "y7"};
    h->out[h->outs] = (wg_argument){name[h->outs], entries, 1, flags};
    h->outs++;
    for (size_t e = 0; e < entries; e++)
        h->result[h->m++] = flags & WG_SUMMED ? wgi_graph_sum(&h->g, node[e]) : node[e];
}
static inline void hand_finish(struct hand *h) {
    assert_int_equal(wg_tape_status(h->t), WG_OK);
    assert_int_equal(
        wgi_function_finish(&h->g, h->ins, h->in, h->outs, h->out, h->result, &h->f), WG_OK);
}
static inline void hand_close(struct hand *h) {
    wg_function_free(h->f);
    wg_tape_free(h->t);
}

/* ---- evaluation into arrays of structures of all inputs, of all outputs ---- */

static double xs[MOST_POINTS * ENTRIES], ys[MOST_POINTS * ENTRIES * 4],
    zs[MOST_POINTS * ENTRIES * 4];

static inline size_t entries_of(const wg_argument *a) { return a->rows * a->cols; }

static inline wg_status evaluate(const wg_function *f, size_t points, const double *x,
                                 double *y, size_t threads, wg_function_guard *guard) {
    wg_points in[8];
    wg_results out[8];
    size_t at = 0;
    for (size_t k = 0; k < f->inputs; k++) {
        in[k] = (wg_points){x + at, (ptrdiff_t)f->n, 1};
        at += entries_of(&f->input[k]);
    }
    at = 0;
    for (size_t k = 0; k < f->outputs; k++) {
        out[k] = (wg_results){y + at, (ptrdiff_t)f->m, 1};
        at += entries_of(&f->output[k]);
    }
    wg_threads *const pool = pool_of(threads);
    const size_t bytes = wg_function_work(f, pool);
    char *const work = malloc(bytes + 1);
    assert_non_null(work);
    memset(work, 0x7f, bytes + 1);
    memset(y, 0, points * f->m * sizeof *y); /* summed outputs have no points */
    const wg_status s = wg_function_evaluate(f, points, in, out, pool, work, guard);
    assert_int_equal(work[bytes], 0x7f);
    free(work);
    return s;
}

/* ---- random functions ---- */

static const double special[] = {0.0,      -0.0,      1.0,  -1.0,   0.5,     -0.5,   2.0,
                                 -3.0,     1e-5,      10.5, 1e-300, -1e-310, 1e300,  -1e300,
                                 INFINITY, -INFINITY, NAN,  0.999,  1.5,     100.25, -20.75};
enum { SPECIALS = sizeof special / sizeof *special };

static inline const wg_scalar_op *op_named(const char *name) {
    for (size_t i = 0; i < wgi_scalar_op_count; i++)
        if (strcmp(wgi_scalar_ops[i].name, name) == 0) return &wgi_scalar_ops[i];
    fail_msg("%s", name);
    return NULL;
}

/* Elementary operations, most of them sums and products. */
static inline const wg_scalar_op *draw_op(void) {
    static const char *const often[] = {"add", "sub", "mul"};
    static const char *const seldom[] = {
        "neg",   "fabs",  "sqrt",   "div",       "relu",      "sign",
        "fmax",  "fmin",  "fma",    "select_lt", "select_ge", "select_eq",
        "floor", "clamp", "square", "rsqrt",     "round"};
    return below(4) ? op_named(often[below(3)])
                    : op_named(seldom[below(sizeof seldom / sizeof *seldom)]);
}

/* `count` operations on what is there, with the latest ones more often. */
static inline void draw_nodes(struct hand *h, size_t count, int times, uint32_t *pool,
                              size_t *in_pool) {
    for (size_t i = 0; i < count; i++) {
        uint32_t x[4];
        for (int k = 0; k < 4; k++) {
            const size_t back = below(3) ? below(*in_pool < 6 ? *in_pool : 6) : below(*in_pool);
            x[k] = pool[*in_pool - 1 - back];
        }
        const size_t kind = below(20);
        uint32_t made;
        if (times && kind < 5) made = wgi_graph_times(&h->g, x[0], x[1]);
        else if (kind == 5) {
            static const unsigned array[] = {WGI_ARRAY_norm2, WGI_ARRAY_maximum,
                                             WGI_ARRAY_minimum};
            made = wgi_graph_array(&h->g, array[below(3)], 2 + below(3), x);
        } else if (kind == 6) made = wgi_graph_number(&h->g, uniform(-1, 1));
        else if (kind == 7) {
            wgi_node like;
            memset(&like, 0, sizeof like);
            static const char *const name[] = {"fabs",      "relu",  "fmax", "fmin",
                                               "select_lt", "clamp", "div"};
            like.op = op_named(name[below(7)]);
            like.kind = WGI_NODE_FIRST;
            like.part = (uint32_t)below(like.op->arity);
            made = wgi_graph_node(&h->g, &like, like.op->arity, x);
        } else made = wgi_graph_op(&h->g, draw_op(), x);
        pool[(*in_pool)++] = made;
    }
}

/* Values stay bounded by being brought back now and then. */
static inline uint32_t bounded(struct hand *h, uint32_t x) {
    const uint32_t one = wgi_graph_number(&h->g, 1), minus = wgi_graph_number(&h->g, -1);
    return wgi_graph_op(&h->g, op_named("clamp"), (uint32_t[]){x, minus, one});
}

/* A function of up to 20 inputs of each point and 4 shared ones, with comparisons of no matter
 * what (only NaN is never compared: the recorded outcome is that at the first point). */
struct drawn {
    struct hand h;
    size_t shared;
};
static inline void draw_function(struct drawn *d, uint64_t seed, size_t nodes, int sums) {
    static uint32_t pool[2 * WALKED];
    struct hand *const h = &d->h;
    uint32_t out[ENTRIES];
    size_t in_pool = 0;
    state_of_random = seed * 0x9e3779b97f4a7c15u + 1;
    hand_open(h);
    const size_t inputs = 1 + below(20), shared = below(5);
    if (shared != 0) (void)hand_input(h, shared, WG_SHARED);
    const uint32_t first = hand_input(h, inputs, 0);
    d->shared = shared;
    for (uint32_t i = 0; i < shared; i++) pool[in_pool++] = i;
    if (shared != 0) {
        draw_nodes(h, below(nodes / 4 + 1), 1, pool, &in_pool);
        for (size_t i = 0; i < in_pool; i++) pool[i] = bounded(h, pool[i]);
    }
    for (uint32_t i = 0; i < inputs; i++) pool[in_pool++] = first + i;
    while (nodes > 30) { /* in pieces: numbers do not grow without bound */
        const size_t piece = 10 + below(20);
        draw_nodes(h, piece, 1, pool, &in_pool);
        pool[in_pool - 1] = bounded(h, pool[in_pool - 1]);
        nodes -= piece;
    }
    for (size_t k = 0; k < 1 + below(3); k++) {
        const size_t entries = 1 + below(20);
        for (size_t e = 0; e < entries; e++) out[e] = pool[in_pool - 1 - below(in_pool)];
        hand_output(h, entries, 0, out);
    }
    if (sums) {
        const size_t entries = 1 + below(20);
        for (size_t e = 0; e < entries; e++) out[e] = pool[in_pool - 1 - below(in_pool)];
        hand_output(h, entries, WG_SUMMED, out);
    }
    hand_finish(h);
}

static inline void draw_points(const wg_function *f, size_t points, int wild) {
    for (size_t i = 0; i < points * f->n; i++)
        xs[i] = wild && below(40) == 0 ? special[below(SPECIALS)] : uniform(-2, 2);
}

#endif
