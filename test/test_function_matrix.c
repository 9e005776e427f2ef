/* SPDX-License-Identifier: MIT */
/* test_function_matrix.c - operations on matrices as parts of functions: all that are written
 * out, those that cannot be, those of the user's; triangles. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>

#include <cmocka.h>

#include "ops/scalar/elementwise.h"
#include "graph_walk.h"
#include "written_out.h"

static void operations_on_matrices_are_parts_of_functions(void **state) {
    (void)state;
    const struct written_out *c;
    for (size_t k = 0; (c = written_out_case(k)) != NULL; k++) written_out_check(c);
}

/* ---- every row of the table of scalar operations ---- */

static void row_of(wg_tape *t, const wg_mat *in, struct written_out_results *r,
                   const void *data) {
    const wg_scalar_op *const op = data;
    wg_mat y;
    (void)wg_apply(t, &wgi_elementwise_ops[op - wgi_scalar_ops], NULL, 0, op->arity, in, 1, &y);
    written_out_put(r, y);
}

/* Are value and derivatives finite at the operands k apart, and in between kinks? */
static int is_inside(const wg_scalar_op *op, const double *x) {
    double d[4], h[10];
    const double v = op->value(x);
    int good = isfinite(v);
    op->first(x, v, d);
    for (unsigned k = 0; k < op->arity; k++) good &= isfinite(d[k]) != 0;
    if (op->second != NULL) {
        (void)op->second(x, d, h);
        for (unsigned k = 0; k < op->arity * (op->arity + 1) / 2; k++)
            good &= isfinite(h[k]) != 0;
    }
    return good;
}

static void every_row_is_a_part_of_functions(void **state) {
    (void)state;
    static const double start[] = {0.3, 1.6, -0.2, -1.6};
    /* operand after operand: a column of 3 numbers, then numbers that are stretched */
    static const double apart[4] = {0, -0.17, 0.31, 0.45};
    for (size_t row = 0; row < wgi_scalar_op_count; row++) {
        const wg_scalar_op *const op = &wgi_scalar_ops[row];
        struct written_out c = {op->name, row_of, op, {{3, 1, PLAIN}}, 0};
        double x[6];
        size_t at = 0;
        for (int found = 0; !found && at < sizeof start / sizeof *start; at += !found) {
            found = 1;
            for (int e = 0; e < 3; e++) {
                double of[4];
                for (int k = 0; k < 4; k++)
                    of[k] = start[at] * (k == 0 ? 1 + 0.1 * e : 1 + apart[k]);
                found &= is_inside(op, of);
                x[e] = of[0];
                for (int k = 1; k < 4; k++) x[2 + k] = of[k];
            }
        }
        if (at == sizeof start / sizeof *start) fail_msg("%s: where?", op->name);
        for (unsigned k = 1; k < op->arity; k++) c.in[k] = (struct shape){1, 1, PLAIN};
        written_out_check_near(&c, x, 1);
    }
}

/* ---- functions of the user's of one number ---- */

static double cubed(void *by, double x) { return *(const double *)by * x * x * x; }
static double slope(void *by, double x) { return 3 * *(const double *)by * x * x; }
static double curve(void *by, double x) { return 6 * *(const double *)by * x; }

/* A constant and an element twice among the operands, which are transposed; `data` is by
 * what f is multiplied. */
static wg_status sum_of(wg_tape *t, const wg_real *x, wg_real *y, void *data, int twice) {
    const wg_real in[4] = {x[0], x[1], x[0], wg_constant(-2)};
    const wg_mat a = wg_mat_transpose(wg_mat_gather(t, 2, 2, in));
    const wg_mat f = twice ? wg_mat_map_twice(t, cubed, slope, curve, data, a)
                           : wg_mat_map(t, cubed, slope, data, a);
    y[0] = wg_mat_dot(t, f, wg_mat_mul(t, f, wg_mat_exp(t, a)));
    return wg_tape_status(t);
}
static wg_status mapped(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m;
    return sum_of(t, x, y, data, 0);
}
static wg_status mapped_twice(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *data) {
    (void)n, (void)m;
    return sum_of(t, x, y, data, 1);
}

/* At one point, far from where it was recorded. */
static void is_the_tapes(const wg_function *f, const double *x, const double *beside,
                         const double *want) {
    double got[2];
    void *const work = aligned_alloc(64, (wg_function_work(f, NULL) + 127) / 64 * 64);
    const wg_points points[2] = {{x, 0, 1}, {beside, 0, 1}};
    const wg_results to = {got, 0, 1};
    assert_non_null(work);
    assert_int_equal(wg_function_evaluate(f, 1, points, &to, NULL, work, NULL), WG_OK);
    for (int i = 0; i < 2; i++)
        assert_true(fabs(got[i] - want[i]) <= 64 * DBL_EPSILON * fabs(want[i]));
    free(work);
}

static void maps_have_as_many_derivatives_as_slopes_were_given(void **state) {
    (void)state;
    wg_callback *const all[] = {mapped, mapped_twice};
    double by = 0.5, g[2], h[2];
    const double at[2] = {1, 1}, x[2] = {0.3, -1.2}, v[2] = {1, 2}, one = 1;
    const wg_argument in = {"x", 2, 1, 0}, out = {"y", 1, 1, 0};
    wg_tape *const t = written_out_tape;
    for (int twice = 0; twice < 2; twice++) {
        wg_function *f = NULL, *vjp = NULL, *hvp = NULL, *more = NULL;
        assert_int_equal(wg_function_record(t, all[twice], &by, 1, &in, at, 1, &out, &f),
                         WG_OK);
        assert_int_equal(wg_function_vjp(t, f, &vjp), WG_OK);
        assert_int_equal(wg_gradient(t, all[twice], &by, 2, x, NULL, g), WG_OK);
        is_the_tapes(vjp, x, &one, g);
        if (twice) {
            assert_int_equal(wg_function_hvp(t, f, &hvp), WG_OK);
            assert_int_equal(wg_hvp(t, all[twice], &by, 2, x, v, NULL, NULL, h), WG_OK);
            is_the_tapes(hvp, x, v, h);
        }
        assert_int_equal(twice ? wg_function_jvp(t, hvp, &more) : wg_function_hvp(t, f, &more),
                         WG_EMODE);
        assert_non_null(strstr(wg_tape_message(t), "wg_mat_map"));
        assert_null(more);
        size_t bytes;
        assert_int_equal(wg_function_save(f, NULL, 0, &bytes), WG_EMODE);
        wg_function_free(f), wg_function_free(vjp), wg_function_free(hvp);
    }
}

/* ---- what cannot be written out ---- */

static void deficient(wg_tape *t, const wg_mat *in, struct written_out_results *r,
                      const void *data) {
    (void)data;
    written_out_put(r, wg_pinv(t, wg_outer(t, in[0], in[0]), -1));
}

static void others_are_refused_by_name(void **state) {
    (void)state;
    const struct {
        struct written_out c;
        size_t m;
        wg_status status;
        const char *name;
    } refused[] = {
        {{"", deficient, NULL, {{2, 1, PLAIN}}, 0}, 4, WG_EDEGENERATE, "wg_pinv"},
    };
    const double x[4] = {1, 0.5, 0.5, 2};
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        const wg_argument in = {"x", written_out_entries(&refused[k].c), 1, 0},
                          out = {"y", refused[k].m, 1, 0};
        wg_function *f = NULL;
        assert_int_equal(wg_function_record(written_out_tape, written_out_call,
                                            (void *)(uintptr_t)&refused[k].c, 1, &in, x, 1,
                                            &out, &f),
                         refused[k].status);
        assert_null(f);
        assert_non_null(strstr(wg_tape_message(written_out_tape), refused[k].name));
    }
}

/* ---- an operation of the user's ---- */

/* r = x^2 y, element by element, and the sum of x. */
static wg_status own_shape(wg_block *b) {
    if (b->in[0].rows != b->in[1].rows || b->in[0].cols != 1 || b->in[1].cols != 1)
        return WG_ESHAPE;
    b->out[0].rows = b->in[0].rows, b->out[0].cols = 1;
    b->out[1].rows = b->out[1].cols = 1;
    return WG_OK;
}
static wg_status own_value(wg_block *b) {
    const double *const x = b->in[0].value, *const y = b->in[1].value;
    b->out[1].value[0] = 0;
    for (size_t i = 0; i < b->in[0].rows; i++) {
        b->out[0].value[i] = x[i] * x[i] * y[i];
        b->out[1].value[0] += x[i];
    }
    return WG_OK;
}
static wg_status own_vjp(wg_block *b) {
    const double *const x = b->in[0].value, *const y = b->in[1].value;
    for (size_t i = 0; i < b->in[0].rows; i++) {
        const double w = b->out[0].bar[i];
        if (b->in[0].bar != NULL) b->in[0].bar[i] += 2 * x[i] * y[i] * w + b->out[1].bar[0];
        if (b->in[1].bar != NULL) b->in[1].bar[i] += x[i] * x[i] * w;
    }
    return WG_OK;
}
static wg_status own_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t n = b->in[0].rows;
    for (size_t i = 0; i < n; i++) y[i] = wg_let(t, wg_mul(wg_square(x[i]), x[n + i]));
    y[n] = wg_sum(t, n, x);
    return WG_OK;
}
static const wg_block_op own = {"own", WG_OP_EXPANDS, own_shape, own_value, own_vjp,
                                NULL,  own_expand,    NULL,      NULL};

/* Several times with the same operands, and with one of its own results. */
static void own_calls(wg_tape *t, const wg_mat *in, struct written_out_results *r,
                      const void *data) {
    wg_mat first[2], again[2], last[2];
    (void)data;
    (void)wg_apply(t, &own, NULL, 0, 2, in, 2, first);
    (void)wg_apply(t, &own, NULL, 0, 2, in, 2, again);
    (void)wg_apply(t, &own, NULL, 0, 2, (wg_mat[]){again[0], in[0]}, 2, last);
    written_out_put(r, wg_mat_mul(t, first[0], last[0]));
    written_out_put(r, wg_mat_mul(t, again[1], last[1]));
}

static void an_operation_of_the_users_works_in_a_hessian(void **state) {
    (void)state;
    const struct written_out c = {"own", own_calls, NULL, {{3, 1, PLAIN}, {3, 1, PLAIN}}, 0};
    written_out_check(&c);
}

/* What is done twice is there once. */
static void repeated_operations_are_shared(void **state) {
    (void)state;
    const struct written_out c = {"own", own_calls, NULL, {{3, 1, PLAIN}, {3, 1, PLAIN}}, 0};
    const double x[6] = {1, 2, 3, 4, 5, 6};
    wg_function_stats s;
    wg_function *const f = written_out_recorded(&c, x, 4);
    written_out_must(c.name, wg_function_statistics(f, &s));
    assert_true(s.repeated >= 8); /* 3 times square and product, and a sum of two additions */
    wg_function_free(f);
}

/* ---- triangles --------------------------------------------------------------------------- */

/* Operations on a symmetric A, of 3 by 3 or two of them side by side: the value is that of one
 * triangle, and the derivatives those of (A + A')/2, whatever stands in the other one. */
enum { ORDER = 3, ELEMENTS = ORDER * ORDER };
typedef struct triangle_case {
    int op, turned;
} triangle_case;
enum { TRIANGLES = 13 };

static wg_status triangles(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    const triangle_case *const c = data;
    (void)n;
    wg_mat a = wg_mat_gather(t, ORDER, ORDER, x);
    if (c->turned) a = wg_mat_transpose(a);
    const wg_mat b = wg_mat_gather(t, ORDER, 2, x + 2 * ELEMENTS);
    const wg_mat wide = wg_mat_gather(t, 2, ORDER, x + 2 * ELEMENTS);
    const wg_mat column = wg_mat_gather(t, ORDER, 1, x + 2 * ELEMENTS);
    const wg_mat both = wg_mat_gather(t, ORDER, 2 * ORDER, x);
    wg_mat r = a;
    switch (c->op) {
    case 0:
        r = wg_cholesky(t, a);
        break;
    case 1:
        r = wg_cholesky_batch(t, 2, both);
        break;
    case 2:
        r = wg_solve_spd(t, a, b);
        break;
    case 3:
        r = wg_solve_spd_batch(t, 2, both, wg_mat_gather(t, ORDER, 2, x + 2 * ELEMENTS));
        break;
    case 4:
        r = wg_inverse_spd(t, a);
        break;
    case 5:
        r = wg_symm(t, 'L', 'L', 2, a, b, 0, b);
        break;
    case 6:
        r = wg_symm(t, 'L', 'U', 2, a, b, 0, b);
        break;
    case 7:
        r = wg_symm(t, 'R', 'L', 1, a, wide, 0, wide);
        break;
    case 8:
        r = wg_symm(t, 'R', 'U', 1, a, wide, 0, wide);
        break;
    case 9:
        r = wg_symv(t, 'L', 1, a, column, 0, column);
        break;
    case 10:
        r = wg_symv(t, 'U', 1, a, column, 0, column);
        break;
    case 11:
        r = wg_syrk(t, 'N', 1, b, 0.5, a);
        break;
    default:
        break;
    }
    for (size_t e = 0; e < m; e++) y[e] = wg_constant(0);
    if (c->op == 12) y[0] = wg_logdet_spd(t, a);
    for (size_t e = 0; c->op != 12 && e < r.rows * r.cols && e < m; e++)
        y[e] = wg_mat_at(r, e % r.rows, e / r.rows);
    return wg_tape_status(t);
}

static void symmetric_operands_have_the_values_of_one_triangle(void **state) {
    (void)state;
    enum { N = 2 * ELEMENTS + 6, M = 2 * ELEMENTS };
    double x[N], value[M], jac[N * M], got[M], got_jac[N * M];
    for (size_t e = 0; e < N; e++) x[e] = 0.3 * (double)(e * e % 7) - 0.7;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < ORDER; i++) x[k * ELEMENTS + i * (ORDER + 1)] = 4 + (double)i;
    for (int op = 0; op < TRIANGLES; op++)
        for (int turned = 0; turned < 2; turned++) {
            triangle_case c = {op, turned};
            const wg_argument in = {"x", N, 1, 0}, out = {"y", M, 1, 0};
            wg_function *f, *j;
            written_out_must("record", wg_function_record(written_out_tape, triangles, &c, 1,
                                                          &in, x, 1, &out, &f));
            written_out_must("jacobian", wg_function_jacobian(written_out_tape, f, &j));
            assert_int_equal(graph_walk(f, x, got), 0);
            assert_int_equal(graph_walk(j, x, got_jac), 0);
            written_out_must("tape", wg_jacobian(written_out_tape, triangles, &c, N, x, M,
                                                 value, WG_COL_MAJOR, jac, M));
            double size = 1;
            for (size_t e = 0; e < M; e++) size = fmax(size, fabs(value[e]));
            for (size_t e = 0; e < M; e++)
                if (!(fabs(got[e] - value[e]) <= TOL_WRITTEN_OUT * DBL_EPSILON * size))
                    fail_msg("operation %d%s: %.17g, not %.17g", op, turned ? " turned" : "",
                             got[e], value[e]);
            for (size_t e = 0; e < N * M; e++) { /* by columns: entry e % M by input e / M */
                const double slope = got_jac[e / M + e % M * N];
                if (!(fabs(slope - jac[e]) <=
                      TOL_WRITTEN_OUT * DBL_EPSILON * (size + fabs(jac[e]))))
                    fail_msg("operation %d%s, result %zu by input %zu: %.17g, not %.17g", op,
                             turned ? " turned" : "", e % M, e / M, slope, jac[e]);
            }
            wg_function_free(j);
            wg_function_free(f);
        }
}

/* ---- variances of too few numbers ---- */

static wg_status spread(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    const wg_mat a = wg_mat_gather(t, n, 1, x);
    (void)m;
    y[0] = *(const int *)data ? wg_mat_std(t, a, 3) : wg_mat_var(t, a, 3);
    return WG_OK;
}

/* The tape says NaN, for the value and its derivatives; so does the function. */
/* As on a tape, and in the BLAS: no operand is looked at. */
static wg_status by_factor_0(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    const wg_mat a = wg_mat_gather(t, 2, 2, x);
    (void)n, (void)data;
    const wg_mat product = wg_trmm(t, 'L', 'L', 'N', 'N', 0, a, a),
                 solution = wg_trsm(t, 'L', 'L', 'N', 'N', 0, a, a);
    for (size_t j = 0; j < m; j++)
        y[j] = wg_mat_at(j < 4 ? product : solution, j % 2, j / 2 % 2);
    return WG_OK;
}
static void triangles_times_0_are_0_whatever_they_are(void **state) {
    const wg_argument in = {"x", 4, 1, 0}, out = {"y", 8, 1, 0};
    const double at[] = {1, 2, 3, 4}, far[] = {-INFINITY, -1, NAN, -2};
    const wg_options code = {.flags = WG_KEEP_CODE};
    wg_tape *const t = wg_tape_new(&code);
    wg_function *f = NULL;
    double y[8];
    (void)state;
    assert_int_equal(wg_function_record(t, by_factor_0, NULL, 1, &in, at, 1, &out, &f), WG_OK);
    const wg_points x = {far, 0, 1};
    const wg_results r = {y, 0, 1};
    void *const work = malloc(wg_function_work(f, NULL) + 1);
    assert_int_equal(wg_function_evaluate(f, 1, &x, &r, NULL, work, NULL), WG_OK);
    for (size_t j = 0; j < 8; j++) assert_true(y[j] == 0 && !signbit(y[j]));
    free(work);
    wg_function_free(f);
    wg_tape_free(t);
}

static void a_variance_of_too_few_numbers_has_no_derivative(void **state) {
    (void)state;
    const wg_argument in = {"x", 3, 1, 0}, out = {"y", 1, 1, 0};
    const double x[3] = {1, 2, 4};
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    for (int root = 0; root < 2; root++) {
        wg_function *f, *g;
        double value, slope[3], got;
        written_out_must("tape", wg_gradient(t, spread, &root, 3, x, &value, slope));
        written_out_must("record",
                         wg_function_record(t, spread, &root, 1, &in, x, 1, &out, &f));
        written_out_must("gradient", wg_function_gradient(t, f, &g));
        assert_int_equal(graph_walk(f, x, &got), 0);
        assert_true(isnan(value) && isnan(got));
        double by_function[3];
        assert_int_equal(graph_walk(g, x, by_function), 0);
        for (int k = 0; k < 3; k++) assert_true(isnan(slope[k]) && isnan(by_function[k]));
        wg_function_free(g);
        wg_function_free(f);
    }
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_on_matrices_are_parts_of_functions),
        cmocka_unit_test(every_row_is_a_part_of_functions),
        cmocka_unit_test(maps_have_as_many_derivatives_as_slopes_were_given),
        cmocka_unit_test(others_are_refused_by_name),
        cmocka_unit_test(an_operation_of_the_users_works_in_a_hessian),
        cmocka_unit_test(repeated_operations_are_shared),
        cmocka_unit_test(symmetric_operands_have_the_values_of_one_triangle),
        cmocka_unit_test(triangles_times_0_are_0_whatever_they_are),
        cmocka_unit_test(a_variance_of_too_few_numbers_has_no_derivative),
    };
    return cmocka_run_group_tests(tests, written_out_open, written_out_close);
}
