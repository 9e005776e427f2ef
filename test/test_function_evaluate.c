/* SPDX-License-Identifier: MIT */
/* test_function_evaluate.c - functions at many points against a walk through their nodes, one
 * point after the other: every operation, layout and number of points; sums to the last bit;
 * the zero rule; comparisons; threads. On every instruction set this machine has. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "../tape/function/graph.h"
#include "../tape/function/program.h"
#include "pools.h"
#include "tolerance.h"

/* As in the tests of the kernels: what elementwise.h promises of values and partials. */
#define TOL_VECTOR_ULP (4.0 + 1.0)
#define TOL_VECTOR_PARTIAL_ULP 16.0

enum { WALKED = 20000, ENTRIES = 64, MOST_POINTS = 6000 };

static const wg_options opt = {.flags = WG_KEEP_CODE};

/* ---- machines ---- */

struct machine {
    const wgi_fn_machine *machine;
    const wgi_simd *simd;
};
static size_t machines_here(struct machine *m) {
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

static void use_machine(wg_tape *t, wg_function *f, const struct machine *m) {
    wgi_fn_program_free(f);
    assert_int_equal(wgi_fn_program_make(wgi_core_of(t), f, m->machine, m->simd), WG_OK);
}

/* ---- numbers ---- */

static uint64_t state_of_random = 1;
static uint64_t draw(void) {
    uint64_t x = state_of_random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return state_of_random = x;
}
static size_t below(size_t n) { return (size_t)(draw() >> 11) % n; }
static double uniform(double lo, double hi) {
    return lo + (hi - lo) * (double)(draw() >> 11) * 0x1p-53;
}

static uint64_t bits(double x) {
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}
static int same_bits(double a, double b) { return bits(a) == bits(b) || (a != a && b != b); }

/* ---- the walk ---- */

/* Values of the nodes at a point: x all inputs; sums are given. */
static void walk_point(const wg_function *f, const double *x, size_t points, const double *sum,
                       double *v) {
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
    uint32_t result[ENTRIES * 4];
    wg_function *f;
};

static void hand_open(struct hand *h) {
    memset(h, 0, sizeof *h);
    h->t = wg_tape_new(&opt);
    assert_non_null(h->t);
    wgi_graph_open(&h->g, wgi_core_of(h->t), "test");
}
static uint32_t hand_input(struct hand *h, size_t entries, unsigned flags) {
    static const char *const name[] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"};
    h->in[h->ins] = (wg_argument){name[h->ins], entries, 1, flags};
    h->ins++;
    const uint32_t first = (uint32_t)h->g.nodes;
    for (size_t e = 0; e < entries; e++)
        (void)wgi_graph_input(&h->g, flags & WG_SHARED ? WGI_ONCE : WGI_EACH);
    h->n += entries;
    return first;
}
static void hand_output(struct hand *h, size_t entries, unsigned flags, const uint32_t *node) {
    static const char *const name[] = {"y0", "y1", "y2", "y3", "y4", "y5", "y6", "y7"};
    h->out[h->outs] = (wg_argument){name[h->outs], entries, 1, flags};
    h->outs++;
    for (size_t e = 0; e < entries; e++)
        h->result[h->m++] = flags & WG_SUMMED ? wgi_graph_sum(&h->g, node[e]) : node[e];
}
static void hand_finish(struct hand *h) {
    assert_int_equal(wg_tape_status(h->t), WG_OK);
    assert_int_equal(wgi_graph_finish(&h->g, h->ins, h->in, h->outs, h->out, h->result, &h->f),
                     WG_OK);
}
static void hand_close(struct hand *h) {
    wg_function_free(h->f);
    wg_tape_free(h->t);
}

/* ---- evaluation into arrays of structures of all inputs, of all outputs ---- */

static double xs[MOST_POINTS * ENTRIES], ys[MOST_POINTS * ENTRIES * 4],
    zs[MOST_POINTS * ENTRIES * 4];

static size_t entries_of(const wg_argument *a) { return a->rows * a->cols; }

static wg_status evaluate(const wg_function *f, size_t points, const double *x, double *y,
                          size_t threads, wg_function_guard *guard) {
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

/* ---- every operation ---- */

static const double special[] = {0.0,      -0.0,      1.0,  -1.0,   0.5,     -0.5,   2.0,
                                 -3.0,     1e-5,      10.5, 1e-300, -1e-310, 1e300,  -1e300,
                                 INFINITY, -INFINITY, NAN,  0.999,  1.5,     100.25, -20.75};
enum { SPECIALS = sizeof special / sizeof *special };

static int elementary(const wg_scalar_op *op) {
    static const char *const list[] = {
        "neg",       "add",       "sub",       "mul",       "div",       "fma",
        "inv",       "square",    "cube",      "sqrt",      "rsqrt",     "floor",
        "ceil",      "trunc",     "round",     "rint",      "sign",      "fabs",
        "relu",      "copysign",  "fmax",      "fmin",      "fdim",      "clamp",
        "select_lt", "select_le", "select_gt", "select_ge", "select_eq", "select_ne"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(op->name, list[i]) == 0) return 1;
    return 0;
}

static size_t special_points(unsigned arity, double *x) {
    size_t n = 0;
    if (arity == 1)
        for (size_t i = 0; i < SPECIALS; i++) x[n++] = special[i];
    for (size_t i = 0; arity == 2 && i < SPECIALS * SPECIALS; i++) {
        x[2 * n] = special[i % SPECIALS];
        x[2 * n++ + 1] = special[i / SPECIALS];
    }
    for (size_t i = 0; i < 400; i++, n++)
        for (unsigned k = 0; k < arity; k++)
            x[n * arity + k] = i % 2       ? uniform(-3, 3)
                               : arity > 2 ? special[below(SPECIALS)]
                                           : uniform(0, 1) * (double)(1 << below(8));
    return n;
}

/* The value and all partials of an operation, each a function of its own; then all of them in
 * one. Inputs from `shared` on are shared. */
static void check_operation(const wg_scalar_op *op, unsigned shared, const struct machine *m,
                            int together) {
    const unsigned partials = op->arity * (op->arity + 1) / 2;
    const unsigned kinds = 1 + op->arity + (op->second != NULL ? partials : 0);
    for (unsigned kind = 0; kind < kinds; kind++) {
        struct hand h;
        hand_open(&h);
        uint32_t operand[4], node[16];
        for (unsigned k = 0; k < op->arity; k++)
            operand[k] = hand_input(&h, 1, k >= shared ? WG_SHARED : 0);
        const unsigned first = together ? 0 : kind, last = together ? kinds : kind + 1;
        for (unsigned i = first; i < last; i++) {
            wgi_node like;
            memset(&like, 0, sizeof like);
            like.op = op;
            like.kind = i == 0           ? WGI_NODE_OP
                        : i <= op->arity ? WGI_NODE_FIRST
                                         : WGI_NODE_SECOND;
            like.part = i == 0 ? 0 : i <= op->arity ? i - 1 : i - 1 - op->arity;
            node[i - first] = wgi_graph_node(&h.g, &like, op->arity, operand);
        }
        hand_output(&h, last - first, 0, node);
        hand_finish(&h);
        use_machine(h.t, h.f, m);
        const size_t points = special_points(op->arity, xs);
        for (size_t p = 0; p < points; p++) /* shared inputs are read at the first point */
            for (unsigned k = shared; k < op->arity; k++) xs[p * op->arity + k] = xs[k];
        assert_int_equal(evaluate(h.f, points, xs, ys, 1, NULL), WG_OK);
        for (size_t p = 0; p < points; p++) {
            double v[32];
            walk_point(h.f, xs + p * op->arity, points, NULL, v);
            for (size_t j = 0; j < h.f->m; j++) {
                const wgi_node *const n = &h.f->node[h.f->result[j]];
                const double want = v[h.f->result[j]], got = ys[p * h.f->m + j];
                const int exact = elementary(op) && n->kind == WGI_NODE_OP;
                const double ulp =
                    n->kind == WGI_NODE_OP ? TOL_VECTOR_ULP : TOL_VECTOR_PARTIAL_ULP;
                if (exact ? same_bits(got, want) : close_ulp(got, want, ulp)) continue;
                print_error(
                    "%s %d part %u (width %zu): at %.17g %.17g %.17g: %.17g, not %.17g\n",
                    op->name, n->kind, n->part, m->machine->width, xs[p * op->arity],
                    op->arity > 1 ? xs[p * op->arity + 1] : 0,
                    op->arity > 2 ? xs[p * op->arity + 2] : 0, got, want);
                fail();
            }
        }
        hand_close(&h);
        if (together) break;
    }
}

static void every_operation_and_partial_agrees_with_the_table(void **state) {
    (void)state;
    struct machine m[MACHINES];
    const size_t machines = machines_here(m);
    for (size_t i = 0; i < machines; i++)
        for (size_t k = 0; k < wgi_scalar_op_count; k++) {
            const wg_scalar_op *const op = &wgi_scalar_ops[k];
            check_operation(op, op->arity, &m[i], 0);
            check_operation(op, op->arity, &m[i], 1);
            for (unsigned shared = 0; shared < op->arity; shared++)
                check_operation(op, shared, &m[i], 1);
        }
}

/* ---- random functions ---- */

static const wg_scalar_op *op_named(const char *name) {
    for (size_t i = 0; i < wgi_scalar_op_count; i++)
        if (strcmp(wgi_scalar_ops[i].name, name) == 0) return &wgi_scalar_ops[i];
    fail_msg("%s", name);
    return NULL;
}

/* Elementary operations, most of them sums and products. */
static const wg_scalar_op *draw_op(void) {
    static const char *const often[] = {"add", "sub", "mul"};
    static const char *const seldom[] = {
        "neg",   "fabs",  "sqrt",   "div",       "relu",      "sign",
        "fmax",  "fmin",  "fma",    "select_lt", "select_ge", "select_eq",
        "floor", "clamp", "square", "rsqrt",     "round"};
    return below(4) ? op_named(often[below(3)])
                    : op_named(seldom[below(sizeof seldom / sizeof *seldom)]);
}

/* `count` operations on what is there, with the latest ones more often. */
static void draw_nodes(struct hand *h, size_t count, int times, uint32_t *pool,
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
static uint32_t bounded(struct hand *h, uint32_t x) {
    const uint32_t one = wgi_graph_number(&h->g, 1), minus = wgi_graph_number(&h->g, -1);
    return wgi_graph_op(&h->g, op_named("clamp"), (uint32_t[]){x, minus, one});
}

/* A function of up to 20 inputs of each point and 4 shared ones, with comparisons of no matter
 * what (only NaN is never compared: the recorded outcome is that at the first point). */
struct drawn {
    struct hand h;
    size_t shared;
};
static void draw_function(struct drawn *d, uint64_t seed, size_t nodes, int sums) {
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

/* The sum of a column as evaluation promises it: blocks in order, in each of them lanes. */
static double sum_in_order(const wgi_fn_program *p, size_t points, const double *term) {
    const size_t w = p->machine->width;
    double total = 0;
    for (size_t block = 0; block < points; block += p->block) {
        double lane[8] = {0};
        const size_t end = points - block < p->block ? points : block + p->block;
        for (size_t at = block; at < end; at += p->lanes) {
            const size_t rows = end - at < p->lanes ? end - at : p->lanes;
            double run[64] = {0};
            size_t vectors = 1;
            while (vectors * w < rows) vectors *= 2;
            for (size_t i = 0; i < rows; i++) run[i] = term[at + i];
            for (size_t l = 0; l < w; l++) {
                double v[8];
                for (size_t k = 0; k < vectors; k++) v[k] = run[k * w + l];
                for (size_t step = 1; step < vectors; step *= 2)
                    for (size_t k = 0; k < vectors; k += 2 * step) v[k] += v[k + step];
                lane[l] += v[0];
            }
        }
        for (size_t half = w / 2; half > 0; half /= 2)
            for (size_t l = 0; l < half; l++) lane[l] += lane[l + half];
        total += lane[0];
    }
    return total;
}

/* All results of evaluate() in ys, against the walk. */
static void check_walk(const wg_function *f, size_t points, size_t shared) {
    static double v[2 * WALKED], sum[ENTRIES], term[ENTRIES][MOST_POINTS];
    size_t sums = 0;
    assert_true(f->nodes <= sizeof v / sizeof *v);
    for (size_t p = 0; p < points; p++) {
        for (size_t e = 0; e < shared; e++) xs[p * f->n + e] = xs[e];
        walk_point(f, xs + p * f->n, points, NULL, v);
        sums = 0;
        for (size_t i = 0; i < f->nodes; i++)
            if (f->node[i].kind == WGI_NODE_SUM &&
                f->node[f->operand[f->node[i].first]].when == WGI_EACH)
                term[sums++][p] = v[f->operand[f->node[i].first]];
        size_t j = 0;
        for (size_t k = 0; k < f->outputs; k++)
            for (size_t e = 0; e < entries_of(&f->output[k]); e++, j++) {
                if (f->output[k].flags & WG_SUMMED) continue;
                const double got = ys[p * f->m + j], want = v[f->result[j]];
                if (same_bits(got, want)) continue;
                print_error("point %zu of %zu, output %zu (node %u): %.17g, not %.17g\n", p,
                            points, j, f->result[j], got, want);
                fail();
            }
    }
    for (size_t s = 0; s < sums; s++) sum[s] = sum_in_order(f->program, points, term[s]);
    walk_point(f, xs, points, sum, v);
    size_t j = 0;
    for (size_t k = 0; k < f->outputs; k++)
        for (size_t e = 0; e < entries_of(&f->output[k]); e++, j++)
            if ((f->output[k].flags & WG_SUMMED) && !same_bits(ys[j], v[f->result[j]])) {
                print_error("sum %zu over %zu: %.17g, not %.17g\n", j, points, ys[j],
                            v[f->result[j]]);
                fail();
            }
}

static void draw_points(const wg_function *f, size_t points, int wild) {
    for (size_t i = 0; i < points * f->n; i++)
        xs[i] = wild && below(40) == 0 ? special[below(SPECIALS)] : uniform(-2, 2);
}

static void random_functions_agree_with_a_walk(void **state) {
    (void)state;
    struct machine m[MACHINES];
    const size_t machines = machines_here(m);
    for (uint64_t seed = 0; seed < 300; seed++)
        for (size_t i = 0; i < machines; i++) {
            struct drawn d;
            const size_t nodes = 10 + (size_t)(seed * seed * seed) % 700;
            draw_function(&d, seed, nodes, seed % 2 == 0);
            use_machine(d.h.t, d.h.f, &m[i]);
            const size_t lanes = d.h.f->program->lanes;
            const size_t counts[] = {1, 2, lanes - 1, lanes, lanes + 1, 5 * lanes + 3};
            for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
                draw_points(d.h.f, counts[k], (int)(seed % 3));
                assert_int_equal(evaluate(d.h.f, counts[k], xs, ys, 1, NULL), WG_OK);
                check_walk(d.h.f, counts[k], d.shared);
            }
            hand_close(&d.h);
        }
}

static void large_functions_agree_with_a_walk(void **state) {
    (void)state;
    struct machine m[MACHINES];
    const size_t machines = machines_here(m);
    for (uint64_t seed = 1000; seed < 1006; seed++)
        for (size_t i = 0; i < machines; i++) {
            struct drawn d;
            draw_function(&d, seed, 8000, 1);
            use_machine(d.h.t, d.h.f, &m[i]);
            draw_points(d.h.f, 150, 1);
            assert_int_equal(evaluate(d.h.f, 150, xs, ys, 1, NULL), WG_OK);
            check_walk(d.h.f, 150, d.shared);
            hand_close(&d.h);
        }
}

static void any_number_of_points_agrees_with_a_walk(void **state) {
    (void)state;
    static const size_t counts[] = {1, 2, 7, 8, 9, 1000, 4096, 4097, 5000};
    struct drawn d;
    for (uint64_t seed = 0; seed < 4; seed++) {
        draw_function(&d, 77 + seed, 120, 1);
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            draw_points(d.h.f, counts[k], (int)(seed % 2));
            assert_int_equal(evaluate(d.h.f, counts[k], xs, ys, 1, NULL), WG_OK);
            check_walk(d.h.f, counts[k], d.shared);
        }
        hand_close(&d.h);
    }
}

/* ---- threads ---- */

static void no_bit_depends_on_the_number_of_threads(void **state) {
    (void)state;
    static const size_t threads[] = {2, 3, 8};
    struct machine m[MACHINES];
    const size_t machines = machines_here(m);
    for (uint64_t seed = 0; seed < 12; seed++)
        for (size_t i = 0; i < machines; i++) {
            struct drawn d;
            draw_function(&d, 500 + seed, 60 + 100 * (size_t)seed, seed % 4 != 0);
            use_machine(d.h.t, d.h.f, &m[i]);
            const size_t points = MOST_POINTS - (size_t)seed;
            draw_points(d.h.f, points, (int)(seed % 2));
            memset(ys, 0, sizeof ys);
            assert_int_equal(evaluate(d.h.f, points, xs, ys, 0, NULL), WG_OK);
            for (size_t k = 0; k < sizeof threads / sizeof *threads; k++) {
                memset(zs, 0, sizeof zs);
                assert_int_equal(evaluate(d.h.f, points, xs, zs, threads[k], NULL), WG_OK);
                assert_memory_equal(ys, zs, points * d.h.f->m * sizeof *ys);
            }
            hand_close(&d.h);
        }
}

/* ---- sums ---- */

static void without_points_sums_are_zero(void **state) {
    (void)state;
    struct hand h;
    hand_open(&h);
    const uint32_t s = hand_input(&h, 1, WG_SHARED), x = hand_input(&h, 1, 0);
    const uint32_t sum = wgi_graph_sum(&h.g, wgi_graph_op(&h.g, op_named("exp"), &x));
    const uint32_t shifted = wgi_graph_op(&h.g, op_named("cos"), &sum);
    hand_output(&h, 1, 0, &x);
    h.out[1] = (wg_argument){"sum", 1, 3, WG_SUMMED};
    h.result[h.m++] = sum;
    h.result[h.m++] = shifted;
    h.result[h.m++] = wgi_graph_sum(&h.g, s);
    h.outs = 2;
    hand_finish(&h);
    for (size_t threads = 1; threads < 4; threads++) {
        double in[2] = {INFINITY, 1}, out[4] = {7, 8, 9, 10};
        assert_int_equal(evaluate(h.f, 0, in, out, threads, NULL), WG_OK);
        assert_true(out[0] == 7 && out[1] == 0 && out[2] == 1 && out[3] == 0);
    }
    double in[4] = {0.25, 0, 0.25, 0}, out[8];
    assert_int_equal(evaluate(h.f, 2, in, out, 1, NULL), WG_OK);
    assert_true(out[1] == 2 && out[3] == 0.5 && close_ulp(out[2], cos(2), TOL_VALUE_ULP));
    hand_close(&h);
}

/* ---- layouts ---- */

/* Every input and output in an array of its own with these strides. */
static void check_layout(const wg_function *f, size_t points, ptrdiff_t point, ptrdiff_t entry,
                         size_t offset) {
    static double in_room[4][1 << 18], out_room[4][1 << 18];
    wg_points in[8];
    wg_results out[8];
    const size_t middle = 1 << 17;
    size_t at = 0;
    for (size_t k = 0; k < f->inputs; k++) {
        const size_t n = entries_of(&f->input[k]);
        in[k] = (wg_points){in_room[k] + middle + offset, point, entry};
        for (size_t e = 0; e < n; e++, at++)
            for (size_t p = 0; p < points; p++)
                if (p == 0 || !(f->input[k].flags & WG_SHARED))
                    in_room[k][(ptrdiff_t)(middle + offset) + (ptrdiff_t)p * point +
                               (ptrdiff_t)e * entry] = xs[p * f->n + at];
    }
    for (size_t k = 0; k < f->outputs; k++) {
        out[k] = (wg_results){out_room[k] + middle + offset, point, entry};
        for (size_t i = 0; i < 1 << 18; i++) out_room[k][i] = 1234.5;
    }
    void *const work = malloc(wg_function_work(f, NULL));
    assert_int_equal(wg_function_evaluate(f, points, in, out, NULL, work, NULL), WG_OK);
    free(work);
    at = 0;
    for (size_t k = 0; k < f->outputs; k++) {
        const size_t n = entries_of(&f->output[k]);
        size_t written = 0, expected = 0;
        for (size_t e = 0; e < n; e++, at++)
            for (size_t p = 0; p < points; p++) {
                if (p != 0 && (f->output[k].flags & WG_SUMMED)) continue;
                expected++;
                const double got = out_room[k][(ptrdiff_t)(middle + offset) +
                                               (ptrdiff_t)p * point + (ptrdiff_t)e * entry];
                assert_true(same_bits(got, ys[p * f->m + at]));
            }
        for (size_t i = 0; i < 1 << 18; i++) written += out_room[k][i] != 1234.5;
        assert_true(written <= expected);
    }
}

static void layouts_are_all_the_same(void **state) {
    (void)state;
    struct machine m[MACHINES];
    const size_t machines = machines_here(m);
    for (uint64_t seed = 0; seed < 30; seed++)
        for (size_t i = 0; i < machines; i++) {
            struct drawn d;
            draw_function(&d, 900 + seed, 100, seed % 2 == 0);
            const wg_function *const f = d.h.f;
            use_machine(d.h.t, d.h.f, &m[i]);
            const size_t counts[] = {1, 5, 64, 203};
            for (size_t k = 0; k < 4; k++) {
                const ptrdiff_t points = (ptrdiff_t)counts[k];
                draw_points(f, counts[k], 0);
                assert_int_equal(evaluate(f, counts[k], xs, ys, 1, NULL), WG_OK);
                check_layout(f, counts[k], 1, points, 0);
                check_layout(f, counts[k], 1, points + 3, 1);
                check_layout(f, counts[k], 20, 1, 3);
                check_layout(f, counts[k], 25, 1, 0);
                check_layout(f, counts[k], -25, 1, 5);
                check_layout(f, counts[k], 50, 2, 0);
                check_layout(f, counts[k], 50, -2, 1);
                check_layout(f, counts[k], -1, points, 2);
            }
            hand_close(&d.h);
        }
}

/* A place that all points have in common is the last one's, whichever thread has that. */
static wg_status two_of_one(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_mul(x[0], 2));
    y[1] = wg_let(t, wg_sin(x[1]));
    return WG_OK;
}
static void one_place_for_all_points_has_the_last_one(void **state) {
    (void)state;
    enum { POINTS = 40001, TIMES = 8 };
    const wg_argument in[] = {{"x", 1, 1, 0}, {"a", 1, 1, WG_SHARED}},
                      out[] = {{"y", 1, 1, 0}, {"s", 1, 1, 0}};
    wg_tape *const t = wg_tape_new(&opt);
    wg_function *f;
    const double at[2] = {1, 2};
    assert_int_equal(wg_function_record(t, two_of_one, NULL, 2, in, at, 2, out, &f), WG_OK);
    double *const x = malloc(POINTS * sizeof *x);
    assert_non_null(x);
    for (size_t p = 0; p < POINTS; p++) x[p] = (double)p;
    struct machine m[MACHINES];
    for (size_t k = 0, n = machines_here(m); k < n; k++) {
        use_machine(t, f, &m[k]);
        for (size_t threads = 1; threads <= 3; threads++) {
            void *const work = malloc(wg_function_work(f, pool_of(threads)));
            assert_non_null(work);
            for (int i = 0; i < TIMES; i++) {
                const size_t points = i == 0 ? 1 : POINTS - (size_t)i;
                double y[3] = {0, 0, 7};
                assert_int_equal(wg_function_evaluate(f, points,
                                                      (wg_points[]){{x, 1, 1}, {at + 1, 0, 1}},
                                                      (wg_results[]){{y, 0, 1}, {y + 1, 0, 1}},
                                                      pool_of(threads), work, NULL),
                                 WG_OK);
                assert_true(y[0] == 2 * x[points - 1] && y[2] == 7);
                assert_true(fabs(y[1] - sin(2)) <= TOL_VECTOR_ULP * DBL_EPSILON);
            }
            free(work);
        }
    }
    free(x);
    wg_function_free(f);
    wg_tape_free(t);
}

static void missing_data_is_zero_and_missing_results_are_left_out(void **state) {
    (void)state;
    struct drawn d;
    for (uint64_t seed = 0; seed < 40; seed++) {
        draw_function(&d, 1300 + seed, 100, seed % 2 == 0);
        const wg_function *const f = d.h.f;
        memset(xs, 0, sizeof xs);
        assert_int_equal(evaluate(f, 100, xs, ys, 1, NULL), WG_OK);
        wg_points in[8];
        memset(in, 0, sizeof in);
        void *const work = malloc(wg_function_work(f, NULL));
        size_t at = 0;
        for (size_t only = 0; only < f->outputs; only++) {
            wg_results out[8];
            memset(out, 0, sizeof out);
            out[only] = (wg_results){zs, (ptrdiff_t)f->m, 1};
            assert_int_equal(wg_function_evaluate(f, 100, in, out, NULL, work, NULL), WG_OK);
            for (size_t e = 0; e < entries_of(&f->output[only]); e++, at++)
                for (size_t p = 0; p < (f->output[only].flags & WG_SUMMED ? 1 : 100); p++)
                    assert_true(same_bits(zs[p * f->m + e], ys[p * f->m + at]));
        }
        free(work);
        hand_close(&d.h);
    }
}

static void what_is_missing_is_refused(void **state) {
    (void)state;
    struct drawn d;
    draw_function(&d, 3, 50, 1);
    wg_points in[8];
    wg_results out[8];
    memset(in, 0, sizeof in);
    memset(out, 0, sizeof out);
    void *const work = malloc(wg_function_work(d.h.f, NULL));
    assert_int_equal(wg_function_evaluate(NULL, 1, in, out, NULL, work, NULL), WG_ENULL);
    assert_int_equal(wg_function_evaluate(d.h.f, 1, NULL, out, NULL, work, NULL), WG_ENULL);
    assert_int_equal(wg_function_evaluate(d.h.f, 1, in, NULL, NULL, work, NULL), WG_ENULL);
    assert_int_equal(wg_function_evaluate(d.h.f, 1, in, out, NULL, NULL, NULL), WG_ENULL);
    assert_int_equal(wg_function_evaluate(d.h.f, 1, in, out, NULL, work, NULL), WG_OK);
    assert_int_equal(wg_function_work(NULL, NULL), 0);
    assert_true(wg_function_work(d.h.f, pool_of(1)) == wg_function_work(d.h.f, NULL));
    assert_true(wg_function_work(d.h.f, pool_of(2)) > wg_function_work(d.h.f, NULL));
    free(work);
    hand_close(&d.h);
}

/* ---- the zero rule ---- */

/* A product that is NaN only as a plain one, under an operation that hides it. */
static void the_zero_rule_holds_under_what_hides_a_nan(void **state) {
    (void)state;
    struct machine m[MACHINES];
    const size_t machines = machines_here(m);
    for (size_t i = 0; i < machines; i++)
        for (int sum = 0; sum < 2; sum++) {
            struct hand h;
            hand_open(&h);
            const uint32_t a = hand_input(&h, 2, 0), b = a + 1;
            const uint32_t p = wgi_graph_times(&h.g, a, b);
            const uint32_t low = wgi_graph_number(&h.g, -1), high = wgi_graph_number(&h.g, 1);
            const uint32_t node[3] = {
                wgi_graph_op(&h.g, op_named("fmax"), (uint32_t[]){p, low}),
                wgi_graph_op(&h.g, op_named("select_lt"), (uint32_t[]){p, high, low, high}),
                wgi_graph_op(&h.g, op_named("hypot"), (uint32_t[]){a, p})};
            hand_output(&h, 3, sum ? WG_SUMMED : 0, node);
            hand_finish(&h);
            use_machine(h.t, h.f, &m[i]);
            double x[2 * 300], y[3 * 300];
            for (size_t k = 0; k < 600; k++) x[k] = 3;
            x[2 * 130] = 0;
            x[2 * 130 + 1] = INFINITY;
            x[2 * 131] = 3;
            x[2 * 131 + 1] = 0;
            assert_int_equal(evaluate(h.f, 300, x, y, 1, NULL), WG_OK);
            if (sum) assert_true(y[0] == 298 * 9 && y[1] == 298 - 2);
            else {
                assert_true(y[3 * 130] == 0 && y[3 * 130 + 1] == -1 && y[3 * 130 + 2] == 0);
                assert_true(y[3 * 131] == 0 && y[3 * 131 + 1] == -1 && y[3 * 131 + 2] == 3);
                assert_true(y[3 * 129] == 9 && y[3 * 129 + 1] == 1);
            }
            hand_close(&h);
        }
}

/* 0 times infinity and NaN at few, many and all points, summed and not; genuine NaN beside. */
static void the_zero_rule_holds_wherever_it_has_something_to_say(void **state) {
    (void)state;
    static const double factor[] = {0.0, -0.0, 1.5, INFINITY, -INFINITY, NAN};
    struct machine m[MACHINES];
    const size_t machines = machines_here(m);
    for (size_t i = 0; i < machines; i++)
        for (int often = 0; often < 3; often++) {
            struct hand h;
            hand_open(&h);
            const uint32_t s = hand_input(&h, 1, WG_SHARED), a = hand_input(&h, 3, 0);
            const uint32_t b = a + 1, c = a + 2;
            const uint32_t ab = wgi_graph_times(&h.g, a, b), sc = wgi_graph_times(&h.g, s, c);
            const uint32_t node[5] = {
                ab, sc, wgi_graph_op(&h.g, op_named("add"), (uint32_t[]){c, ab}),
                wgi_graph_op(&h.g, op_named("sub"),
                             (uint32_t[]){sc, wgi_graph_times(&h.g, b, c)}),
                wgi_graph_times(&h.g, wgi_graph_op(&h.g, op_named("add"), (uint32_t[]){a, c}),
                                b)};
            hand_output(&h, 5, 0, node);
            hand_output(&h, 5, WG_SUMMED, node);
            hand_finish(&h);
            use_machine(h.t, h.f, &m[i]);
            for (size_t shared = 0; shared < 6; shared++) {
                for (size_t k = 0; k < 4 * 3000; k++)
                    xs[k] = often == 2 || (often == 1 && k % 50 < 6) ||
                                    (often == 0 && k / 100 == 77)
                                ? factor[below(6)]
                                : uniform(-1, 1);
                xs[0] = factor[shared];
                assert_int_equal(evaluate(h.f, 3000, xs, ys, 1, NULL), WG_OK);
                check_walk(h.f, 3000, 1);
                assert_int_equal(evaluate(h.f, 3000, xs, zs, 3, NULL), WG_OK);
                assert_memory_equal(ys, zs, 3000 * h.f->m * sizeof *ys);
            }
            hand_close(&h);
        }
}

/* ---- comparisons ---- */

static void the_first_comparison_that_fails_is_reported(void **state) {
    (void)state;
    struct machine m[MACHINES];
    const size_t machines = machines_here(m);
    for (size_t i = 0; i < machines; i++) {
        struct hand h;
        hand_open(&h);
        const uint32_t s = hand_input(&h, 1, WG_SHARED), a = hand_input(&h, 2, 0), b = a + 1;
        const uint32_t sum = wgi_graph_op(&h.g, op_named("add"), (uint32_t[]){a, b});
        const uint32_t ten = wgi_graph_number(&h.g, 10), half = wgi_graph_number(&h.g, 0.5);
        wgi_graph_guard_add(&h.g, sum, ten, 0, 1); /* a + b < 10 */
        wgi_graph_guard_add(&h.g, a, b, 5, 1);     /* a != b */
        wgi_graph_guard_add(&h.g, s, half, 2, 0);  /* not s > 0.5 */
        wgi_graph_guard_add(&h.g, a, s, 3, 1);     /* a >= s */
        hand_output(&h, 1, 0, &sum);
        hand_finish(&h);
        use_machine(h.t, h.f, &m[i]);
        for (size_t threads = 1; threads < 4; threads++) {
            wg_function_guard g = {99, 99};
            for (size_t p = 0; p < MOST_POINTS; p++) {
                xs[3 * p] = 0.25, xs[3 * p + 1] = 1, xs[3 * p + 2] = 2;
            }
            assert_int_equal(evaluate(h.f, MOST_POINTS, xs, ys, threads, &g), WG_OK);
            assert_true(g.point == 99 && g.guard == 99);
            xs[3 * 5555 + 1] = 100;
            xs[3 * 4444 + 1] = 2;
            xs[3 * 4444 + 2] = NAN; /* a NaN is not less, and unequal */
            assert_int_equal(evaluate(h.f, MOST_POINTS, xs, ys, threads, &g), WG_EGUARD);
            assert_true(g.point == 4444 && g.guard == 0);
            assert_true(ys[5555] == 102);
            xs[3 * 4100 + 1] = 2;
            assert_int_equal(evaluate(h.f, MOST_POINTS, xs, ys, threads, &g), WG_EGUARD);
            assert_true(g.point == 4100 && g.guard == 1);
            xs[3 * 4100 + 1] = xs[3 * 4100 + 2] = -1;
            xs[3 * 4099 + 1] = 0;
            assert_int_equal(evaluate(h.f, MOST_POINTS, xs, ys, threads, NULL), WG_EGUARD);
            assert_int_equal(evaluate(h.f, MOST_POINTS, xs, ys, threads, &g), WG_EGUARD);
            assert_true(g.point == 4099 && g.guard == 3);
            /* beyond the last point there is nothing */
            assert_int_equal(evaluate(h.f, 4099, xs, ys, threads, &g), WG_OK);
            xs[0] = 0.75;
            assert_int_equal(evaluate(h.f, 4099, xs, ys, threads, &g), WG_EGUARD);
            assert_true(g.point == 0 && g.guard == 2);
        }
        hand_close(&h);
    }
}

static void every_kind_of_comparison_is_as_recorded(void **state) {
    (void)state;
    struct machine m[MACHINES];
    const size_t machines = machines_here(m);
    for (size_t i = 0; i < machines; i++)
        for (unsigned which = 0; which < 6; which++)
            for (int outcome = 0; outcome < 2; outcome++) {
                struct hand h;
                hand_open(&h);
                const uint32_t a = hand_input(&h, 2, 0);
                wgi_graph_guard_add(&h.g, a, a + 1, which, outcome);
                hand_output(&h, 1, 0, &a);
                hand_finish(&h);
                use_machine(h.t, h.f, &m[i]);
                for (size_t k = 0; k < SPECIALS * SPECIALS; k++) {
                    const double x[2] = {special[k / SPECIALS], special[k % SPECIALS]};
                    double y;
                    const int holds = wgi_compare(which, x[0], x[1]) == outcome;
                    assert_int_equal(evaluate(h.f, 1, x, &y, 1, NULL),
                                     holds ? WG_OK : WG_EGUARD);
                }
                hand_close(&h);
            }
}

/* ---- native code ---- */

/* y = s a + b and its sum; comparison a < 100. */
static int native(const double *u, const double *const *input, double *const *result,
                  double *sum, size_t points, size_t valid) {
    int said = 0;
    assert_true(points % 8 == 0 && valid <= points && valid + 8 > points);
    for (size_t p = 0; p < points; p++) {
        const double y = u[5] * input[0][p] + input[1][p];
        result[0][p] = y;
        if (p < valid) sum[p % 8] += y;
        if (y != y) said |= WGI_FN_NAN;
        if (!(input[0][p] < 100)) said |= WGI_FN_GUARD_FAILED;
    }
    return said;
}

static void native_code_can_stand_for_the_points(void **state) {
    (void)state;
    struct machine m[MACHINES];
    const size_t machines = machines_here(m);
    for (size_t i = 0; i < machines; i++) {
        struct hand h;
        hand_open(&h);
        const uint32_t s = hand_input(&h, 1, WG_SHARED), a = hand_input(&h, 2, 0);
        const uint32_t y = wgi_graph_op(&h.g, op_named("add"),
                                        (uint32_t[]){wgi_graph_times(&h.g, s, a), a + 1});
        const uint32_t hundred = wgi_graph_number(&h.g, 100), four = wgi_graph_number(&h.g, 4);
        wgi_graph_guard_add(&h.g, a, hundred, 0, 1);
        hand_output(&h, 1, 0, &y);
        hand_output(&h, 2, 0, (uint32_t[]){y, four});
        hand_output(&h, 1, WG_SUMMED, &y);
        hand_finish(&h);
        use_machine(h.t, h.f, &m[i]);
        wgi_fn_program *const p = h.f->program;
        assert_true(p->native_inputs == 2 && p->native_results == 1 && p->sums == 1);
        assert_int_equal(p->uniform_node[5], s);
        assert_true(p->checked == 1 && p->check_node[0] == p->result_node[0]);
        for (size_t points = 1; points < 6000; points += 1 + points / 2) {
            for (size_t k = 0; k < 3 * points; k++) xs[k] = (double)below(50);
            assert_int_equal(evaluate(h.f, points, xs, ys, 1, NULL), WG_OK);
            p->native = native;
            assert_int_equal(evaluate(h.f, points, xs, zs, 2, NULL), WG_OK);
            assert_memory_equal(ys, zs, points * h.f->m * sizeof *ys);
            /* with something to redo */
            wg_function_guard g, with;
            xs[3 * (points / 2) + 1] = 200;
            xs[3 * (points / 3) + 2] = NAN;
            p->native = NULL;
            assert_int_equal(evaluate(h.f, points, xs, ys, 1, &g), WG_EGUARD);
            p->native = native;
            assert_int_equal(evaluate(h.f, points, xs, zs, 2, &with), WG_EGUARD);
            assert_true(g.point == with.point && g.guard == with.guard);
            for (size_t k = 0; k < points * h.f->m; k++) assert_true(same_bits(ys[k], zs[k]));
            p->native = NULL;
        }
        hand_close(&h);
    }
}

/* ---- memory ---- */

struct scarce {
    size_t left;
    long in_use;
};
static void *scarce_reserve(void *ctx, size_t bytes) {
    struct scarce *const s = ctx;
    if (s->left-- == 0) {
        s->left = 0;
        return NULL;
    }
    s->in_use += (long)bytes;
    return aligned_alloc(4096, bytes);
}
static int scarce_commit(void *ctx, void *p, size_t bytes) {
    (void)ctx, (void)p, (void)bytes;
    return 0;
}
static void scarce_release(void *ctx, void *p, size_t bytes) {
    ((struct scarce *)ctx)->in_use -= (long)bytes;
    free(p);
}

static void a_program_needs_memory_and_gives_it_back(void **state) {
    (void)state;
    struct drawn d;
    draw_function(&d, 21, 500, 1);
    struct machine m[MACHINES];
    (void)machines_here(m);
    const wg_memory usual = d.h.f->memory;
    struct scarce s = {0, 0};
    wgi_fn_program_free(d.h.f);
    d.h.f->memory = (wg_memory){scarce_reserve, scarce_commit, scarce_release, &s};
    assert_int_equal(wgi_fn_program_make(wgi_core_of(d.h.t), d.h.f, m[0].machine, m[0].simd),
                     WG_ENOMEM);
    assert_null(d.h.f->program);
    wg_tape_reset(d.h.t);
    s.left = 1;
    assert_int_equal(wgi_fn_program_make(wgi_core_of(d.h.t), d.h.f, m[0].machine, m[0].simd),
                     WG_OK);
    assert_true(s.in_use > 0);
    wgi_fn_program_free(d.h.f);
    assert_int_equal(s.in_use, 0);
    d.h.f->memory = usual;
    hand_close(&d.h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_and_partial_agrees_with_the_table),
        cmocka_unit_test(random_functions_agree_with_a_walk),
        cmocka_unit_test(large_functions_agree_with_a_walk),
        cmocka_unit_test(any_number_of_points_agrees_with_a_walk),
        cmocka_unit_test(no_bit_depends_on_the_number_of_threads),
        cmocka_unit_test(without_points_sums_are_zero),
        cmocka_unit_test(layouts_are_all_the_same),
        cmocka_unit_test(one_place_for_all_points_has_the_last_one),
        cmocka_unit_test(missing_data_is_zero_and_missing_results_are_left_out),
        cmocka_unit_test(what_is_missing_is_refused),
        cmocka_unit_test(the_zero_rule_holds_under_what_hides_a_nan),
        cmocka_unit_test(the_zero_rule_holds_wherever_it_has_something_to_say),
        cmocka_unit_test(the_first_comparison_that_fails_is_reported),
        cmocka_unit_test(every_kind_of_comparison_is_as_recorded),
        cmocka_unit_test(native_code_can_stand_for_the_points),
        cmocka_unit_test(a_program_needs_memory_and_gives_it_back),
    };
    return cmocka_run_group_tests(tests, NULL, free_pools);
}
