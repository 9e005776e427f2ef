/* SPDX-License-Identifier: MIT */
/* test_function_evaluate.c - functions at many points against a walk through their nodes, one
 * point after the other: every operation and number of points; sums to the last bit; the zero
 * rule; comparisons; threads. On every instruction set this machine has. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "evaluate_case.h"
#include "sanitized.h"

/* As in the tests of the kernels: what elementwise.h promises of partials. */
#define TOL_VECTOR_PARTIAL_ULP 16.0

/* ---- every operation ---- */

static int elementary(const wg_scalar_op *op) {
    static const char *const list[] = {
        "neg",        "add",       "sub",       "mul",       "div",       "fma",
        "reciprocal", "square",    "cube",      "sqrt",      "rsqrt",     "floor",
        "ceil",       "trunc",     "round",     "rint",      "sign",      "fabs",
        "relu",       "copysign",  "fmax",      "fmin",      "fdim",      "clamp",
        "select_lt",  "select_le", "select_gt", "select_ge", "select_eq", "select_ne"};
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

/* The sum of a column as evaluation promises it: blocks in order, in each of them lanes. */
static double sum_in_order(const wgi_bytecode *p, size_t points, const double *term) {
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
    for (size_t s = 0; s < sums; s++) sum[s] = sum_in_order(f->bytecode, points, term[s]);
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

static void random_functions_agree_with_a_walk(void **state) {
    (void)state;
    struct machine m[MACHINES];
    const size_t machines = machines_here(m);
    for (uint64_t seed = 0; seed < (SANITIZED ? 60 : 160); seed++)
        for (size_t i = 0; i < machines; i++) {
            struct drawn d;
            const size_t nodes = 10 + (size_t)(seed * seed * seed) % 700;
            draw_function(&d, seed, nodes, seed % 2 == 0);
            use_machine(d.h.t, d.h.f, &m[i]);
            const size_t lanes = d.h.f->bytecode->lanes;
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

/* At a point where a comparison fails, all results are those of the recorded branch; those of
 * the points beside it are as ever. */
static void results_are_written_where_a_comparison_fails(void **state) {
    (void)state;
    enum { ENTRIES_EACH = 20, WRONG = 70, FEW = 150 };
    struct machine m[MACHINES];
    const size_t machines = machines_here(m);
    for (size_t i = 0; i < machines; i++) {
        struct hand h;
        uint32_t out[ENTRIES_EACH];
        hand_open(&h);
        const uint32_t a = hand_input(&h, 2, 0), b = a + 1;
        const uint32_t ten = wgi_graph_number(&h.g, 10);
        wgi_graph_guard_add(&h.g, a, ten, 0, 1);
        for (uint32_t e = 0; e < ENTRIES_EACH; e++)
            out[e] =
                e % 4 == 3 ? ten : wgi_graph_times(&h.g, e == 0 ? a : out[0], e % 2 ? a : b);
        hand_output(&h, ENTRIES_EACH, 0, out);
        hand_output(&h, 1, 0, &b);
        hand_finish(&h);
        use_machine(h.t, h.f, &m[i]);
        draw_points(h.f, FEW, 0);
        xs[2 * WRONG] = 11;
        for (size_t points = WRONG; points <= FEW; points += FEW - WRONG) {
            wg_function_guard g = {99, 99};
            const wg_status s = evaluate(h.f, points, xs, ys, 1, &g);
            assert_int_equal(s, points > WRONG ? WG_EGUARD : WG_OK);
            assert_int_equal(g.point, points > WRONG ? WRONG : 99);
            check_walk(h.f, points, 0);
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
        wgi_bytecode *const p = h.f->bytecode;
        assert_true(p->native_inputs == 2 && p->native_results == 1 && p->sums == 1);
        assert_int_equal(p->uniform_node[5], s);
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

enum { LONG_ROW = 300 };
static int copies(const double *u, const double *const *input, double *const *result,
                  double *sum, size_t points, size_t valid) {
    (void)u, (void)sum, (void)valid;
    for (size_t k = 0; k < LONG_ROW; k++)
        memcpy(result[k], input[LONG_ROW - 1 - k], points * sizeof(double));
    return 0;
}

/* Rows longer than what goes between memory and columns at a time. */
static void native_code_has_rows_of_any_length(void **state) {
    (void)state;
    struct machine m[MACHINES];
    for (size_t i = 0, machines = machines_here(m); i < machines; i++) {
        struct hand h;
        uint32_t out[LONG_ROW];
        hand_open(&h);
        const uint32_t x = hand_input(&h, LONG_ROW, 0);
        for (uint32_t k = 0; k < LONG_ROW; k++) out[k] = x + k;
        hand_output(&h, LONG_ROW, 0, out);
        hand_finish(&h);
        use_machine(h.t, h.f, &m[i]);
        h.f->bytecode->native = copies;
        for (size_t points = 1; points < 200; points += 66) {
            draw_points(h.f, points, 0);
            assert_int_equal(evaluate(h.f, points, xs, ys, 1, NULL), WG_OK);
            for (size_t p = 0; p < points; p++)
                for (size_t k = 0; k < LONG_ROW; k++)
                    assert_true(ys[LONG_ROW * p + k] == xs[LONG_ROW * (p + 1) - 1 - k]);
        }
        h.f->bytecode->native = NULL;
        hand_close(&h);
    }
}

/* ---- memory ---- */

/* The usual memory, of which little more can be reserved; what was reserved before still grows. */
struct scarce {
    size_t left;
    long in_use;
    wg_memory usual;
};
static void *scarce_reserve(void *ctx, size_t bytes) {
    struct scarce *const s = ctx;
    if (s->left-- == 0) {
        s->left = 0;
        return NULL;
    }
    s->in_use += (long)bytes;
    return s->usual.reserve(s->usual.ctx, bytes);
}
static int scarce_commit(void *ctx, void *p, size_t bytes) {
    const wg_memory *const usual = &((struct scarce *)ctx)->usual;
    return usual->commit(usual->ctx, p, bytes);
}
static void scarce_release(void *ctx, void *p, size_t bytes) {
    struct scarce *const s = ctx;
    s->in_use -= (long)bytes;
    s->usual.release(s->usual.ctx, p, bytes);
}

static void a_program_needs_memory_and_gives_it_back(void **state) {
    (void)state;
    struct drawn d;
    draw_function(&d, 21, 500, 1);
    struct machine m[MACHINES];
    (void)machines_here(m);
    wgi_core *const c = wgi_core_of(d.h.t);
    const wg_memory usual = c->memory;
    struct scarce s = {0, 0, usual};
    wgi_bytecode_free(d.h.f);
    c->memory = (wg_memory){scarce_reserve, scarce_commit, scarce_release, &s};
    assert_int_equal(wgi_bytecode_make(c, d.h.f, m[0].machine, m[0].simd), WG_ENOMEM);
    c->memory = usual;
    assert_null(d.h.f->bytecode);
    wg_tape_reset(d.h.t);
    s.left = 1;
    c->memory = (wg_memory){scarce_reserve, scarce_commit, scarce_release, &s};
    assert_int_equal(wgi_bytecode_make(c, d.h.f, m[0].machine, m[0].simd), WG_OK);
    c->memory = usual;
    assert_true(s.in_use > 0);
    wgi_bytecode_free(d.h.f);
    assert_int_equal(s.in_use, 0);
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
        cmocka_unit_test(the_zero_rule_holds_under_what_hides_a_nan),
        cmocka_unit_test(the_zero_rule_holds_wherever_it_has_something_to_say),
        cmocka_unit_test(the_first_comparison_that_fails_is_reported),
        cmocka_unit_test(results_are_written_where_a_comparison_fails),
        cmocka_unit_test(every_kind_of_comparison_is_as_recorded),
        cmocka_unit_test(native_code_can_stand_for_the_points),
        cmocka_unit_test(native_code_has_rows_of_any_length),
        cmocka_unit_test(a_program_needs_memory_and_gives_it_back),
    };
    return cmocka_run_group_tests(tests, NULL, free_pools);
}
