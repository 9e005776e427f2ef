/* SPDX-License-Identifier: MIT */
/* test_tape_drivers.c - from a function to its derivatives in one call.
 *
 * References: closed forms, and the optimisation problems of data/opt_problems.txt. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "counted.h"
#include "opt_cases.h"
#include "tolerance.h"

/* ---- every allocation of the program is counted, where nothing else stands in its place ----
 */

#if defined(__SANITIZE_ADDRESS__)
#define COUNT_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COUNT_MALLOC 0
#endif
#endif
#if !defined(COUNT_MALLOC) && defined(__GLIBC__)
#define COUNT_MALLOC 1
#endif

static size_t mallocs;
#if COUNT_MALLOC
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void __libc_free(void *p);
void *malloc(size_t bytes) {
    mallocs++;
    return __libc_malloc(bytes);
}
void *calloc(size_t n, size_t bytes) {
    mallocs++;
    return __libc_calloc(n, bytes);
}
void *realloc(void *p, size_t bytes) {
    mallocs++;
    return __libc_realloc(p, bytes);
}
void free(void *p) { __libc_free(p); }
#endif

/* ---- tapes and functions ---- */

static wg_tape *tape, *coded; /* without and with WG_KEEP_CODE */

static int open_tapes(void **state) {
    const wg_options keep = {.flags = WG_KEEP_CODE | WG_KEEP_PLACES};
    (void)state;
    tape = wg_tape_new(NULL);
    coded = wg_tape_new(&keep);
    return tape == NULL || coded == NULL;
}
static int close_tapes(void **state) {
    (void)state;
    wg_tape_free(tape);
    wg_tape_free(coded);
    return 0;
}

static void assert_close(double got, double expected) {
    if (!close_ulp(got, expected, TOL_DERIVATIVE_ULP))
        fail_msg("got %.17g, expected %.17g", got, expected);
}
static void assert_message(const wg_tape *t, const char *part) {
    if (strstr(wg_tape_message(t), part) == NULL)
        fail_msg("the message is: %s\nand not: %s", wg_tape_message(t), part);
}
static void assert_nan(double x) { assert_true(x != x); }

/* Relative to the largest entry of the reference. */
static double error_of(size_t n, const double *got, const double *ref) {
    double size = 0, error = 0;
    for (size_t i = 0; i < n; i++) {
        size = fmax(size, fabs(ref[i]));
        error = got[i] == got[i] ? fmax(error, fabs(got[i] - ref[i])) : INFINITY;
    }
    return size > 0 ? error / size / DBL_EPSILON : error;
}

/* y[j] = sin(x[j % n]) x[(j + 1) % n] + j; data: how often it was called. */
static wg_status wave(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    if (data != NULL) ++*(int *)data;
    for (size_t j = 0; j < m; j++)
        y[j] = wg_let(t, wg_add(wg_mul(wg_sin(x[j % n]), x[(j + 1) % n]), j));
    return WG_OK;
}
static double wave_derivative(size_t n, const double *x, size_t j, size_t i) {
    double d = 0;
    if (i == j % n) d += cos(x[i]) * x[(j + 1) % n];
    if (i == (j + 1) % n) d += sin(x[j % n]);
    return d;
}

/* Outputs of all kinds: a function of x, a constant, an input, the same twice, a literal. */
static wg_status kinds(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(x[0], x[1]));
    y[1] = wg_constant(4);
    y[2] = x[1];
    y[3] = y[4] = wg_let(t, wg_exp(x[0]));
    y[5] = wg_let(t, 2.5);
    return WG_OK;
}

static wg_status constant(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    (void)t, (void)n, (void)x, (void)data;
    for (size_t j = 0; j < m; j++) y[j] = wg_constant(7);
    return WG_OK;
}

static wg_status nothing(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)t, (void)n, (void)x, (void)m, (void)y, (void)data;
    return WG_OK;
}

static wg_status product(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)m, (void)data;
    y[0] = wg_product(t, n, x);
    return WG_OK;
}

/* ---- the optimisation problems ---- */

static void assert_entries(const struct opt_case *c, const char *what, size_t n,
                           const double *got, const double *ref) {
    const double e = error_of(n, got, ref);
    if (!(e <= TOL_PROBLEM_ULP))
        fail_msg("%s of %s %s is wrong by %g ulp", what, c->text.name, c->text.variant, e);
}

static void gradient_case(const struct opt_case *c) {
    int number = c->number;
    double f = NAN, g[OPT_MAX_N], same;
    assert_int_equal(wg_gradient(tape, opt_objective, &number, c->n, c->x, &f, g), WG_OK);
    assert_entries(c, "the value", 1, &f, c->f);
    assert_entries(c, "the gradient", c->n, g, c->g);
    assert_int_equal(wg_eval(tape, opt_objective, &number, c->n, c->x, 1, &same), WG_OK);
    assert_true(same == f);
}
static void gradients_equal_the_reference(void **state) {
    (void)state;
    assert_int_equal(opt_for_each(gradient_case), OPT_CASES);
}

static void jacobian_case(const struct opt_case *c) {
    enum { LD = OPT_MAX_M + 3 };
    static double rows[OPT_MAX_M * OPT_MAX_N], columns[LD * OPT_MAX_N];
    double y[OPT_MAX_M];
    int number = c->number;
    if (c->m == 0) return;
    assert_int_equal(wg_jacobian(tape, opt_residuals, &number, c->n, c->x, c->m, y,
                                 WG_ROW_MAJOR, rows, c->n),
                     WG_OK);
    assert_entries(c, "the residual", c->m, y, c->r);
    for (size_t j = 0; j < c->m; j++)
        assert_entries(c, "a row", c->n, rows + j * c->n, c->j + j * c->n);
    for (size_t i = 0; i < LD * c->n; i++) columns[i] = -77;
    assert_int_equal(wg_jacobian(coded, opt_residuals, &number, c->n, c->x, c->m, NULL,
                                 WG_COL_MAJOR, columns, LD),
                     WG_OK);
    for (size_t i = 0; i < c->n; i++)
        for (size_t j = 0; j < LD; j++)
            assert_true(columns[i * LD + j] == (j < c->m ? rows[j * c->n + i] : -77));
}
static void jacobians_equal_the_reference_in_both_layouts(void **state) {
    (void)state;
    assert_int_equal(opt_for_each(jacobian_case), OPT_CASES);
}

static void product_case(const struct opt_case *c) {
    double v[OPT_MAX_N], w[OPT_MAX_M], y[OPT_MAX_M], jv[OPT_MAX_M], g[OPT_MAX_N];
    int number = c->number;
    if (c->m == 0) return;
    for (size_t i = 0; i < c->n; i++) v[i] = 1 - 0.3 * (double)i;
    for (size_t j = 0; j < c->m; j++) w[j] = j % 3 == 0 ? -1 : 0.5 + (double)j;
    assert_int_equal(wg_jvp(tape, opt_residuals, &number, c->n, c->x, v, c->m, y, jv), WG_OK);
    assert_entries(c, "the residual", c->m, y, c->r);
    assert_int_equal(wg_vjp(tape, opt_residuals, &number, c->n, c->x, c->m, w, y, g), WG_OK);
    for (size_t j = 0; j < c->m; j++) {
        double ref = 0, size = 0;
        for (size_t i = 0; i < c->n; i++) {
            ref += c->j[j * c->n + i] * v[i];
            size += fabs(c->j[j * c->n + i] * v[i]);
        }
        assert_true(fabs(jv[j] - ref) <= TOL_PROBLEM_ULP * DBL_EPSILON * size);
    }
    for (size_t i = 0; i < c->n; i++) {
        double ref = 0, size = 0;
        for (size_t j = 0; j < c->m; j++) {
            ref += c->j[j * c->n + i] * w[j];
            size += fabs(c->j[j * c->n + i] * w[j]);
        }
        assert_true(fabs(g[i] - ref) <= TOL_PROBLEM_ULP * DBL_EPSILON * size);
    }
}
static void products_with_the_jacobian_equal_the_reference(void **state) {
    (void)state;
    assert_int_equal(opt_for_each(product_case), OPT_CASES);
}

static void hessian_case(const struct opt_case *c) {
    enum { LD = OPT_MAX_N + 1 };
    double h[LD * OPT_MAX_N], dense[OPT_MAX_N * OPT_MAX_N], f, g[OPT_MAX_N];
    double v[OPT_MAX_N], hv[OPT_MAX_N], ref[OPT_MAX_N], f2, g2[OPT_MAX_N];
    int number = c->number;
    for (size_t i = 0; i < LD * c->n; i++) h[i] = -77;
    assert_int_equal(wg_hessian(coded, opt_objective, &number, c->n, c->x, &f, g, h, LD),
                     WG_OK);
    for (size_t j = 0; j < c->n; j++) {
        memcpy(dense + j * c->n, h + j * LD, c->n * sizeof *h);
        assert_true(h[j * LD + c->n] == -77);
        for (size_t i = 0; i < c->n; i++) assert_true(h[j * LD + i] == h[i * LD + j]);
    }
    assert_entries(c, "the value", 1, &f, c->f);
    assert_entries(c, "the gradient", c->n, g, c->g);
    assert_entries(c, "the Hessian", c->n * c->n, dense, c->h);
    for (size_t i = 0; i < c->n; i++) v[i] = i % 2 ? -0.5 : 1;
    assert_int_equal(wg_hvp(coded, opt_objective, &number, c->n, c->x, v, &f2, g2, hv), WG_OK);
    assert_true(f2 == f);
    assert_memory_equal(g2, g, c->n * sizeof *g);
    double largest = 0;
    for (size_t i = 0; i < c->n; i++) {
        ref[i] = 0;
        for (size_t j = 0; j < c->n; j++) {
            ref[i] += c->h[i * c->n + j] * v[j];
            largest = fmax(largest, fabs(c->h[i * c->n + j]));
        }
        assert_true(fabs(hv[i] - ref[i]) <=
                    TOL_PROBLEM_ULP * DBL_EPSILON * largest * (double)c->n);
    }
}
static void hessians_equal_the_reference(void **state) {
    (void)state;
    assert_int_equal(opt_for_each(hessian_case), OPT_CASES);
}

/* ---- shapes ---- */

static void check_wave(wg_tape *t, size_t n, size_t m, wg_layout layout, int evaluations) {
    const size_t ld = (layout == WG_ROW_MAJOR ? n : m) + 2;
    double *x = malloc(n * sizeof *x), *y = malloc((m + 1) * sizeof *y);
    double *jac = malloc((ld * (layout == WG_ROW_MAJOR ? m : n) + 1) * sizeof *jac);
    int calls = 0;
    assert_true(x != NULL && y != NULL && jac != NULL);
    for (size_t i = 0; i < n; i++) x[i] = 0.1 + 0.01 * (double)i;
    assert_int_equal(wg_jacobian(t, wave, &calls, n, x, m, y, layout, jac, ld), WG_OK);
    assert_int_equal(calls, evaluations);
    for (size_t j = 0; j < m; j++) {
        assert_close(y[j], sin(x[j % n]) * x[(j + 1) % n] + (double)j);
        for (size_t i = 0; i < n; i++)
            assert_close(jac[layout == WG_ROW_MAJOR ? j * ld + i : i * ld + j],
                         wave_derivative(n, x, j, i));
    }
    free(x), free(y), free(jac);
}

static void jacobians_of_all_shapes_go_the_cheaper_way(void **state) {
    (void)state;
    static const struct {
        size_t n, m;
        int evaluations; /* forward: one for 8 columns; reverse: one */
    } shape[] = {{1, 1, 1},   {2, 1, 1},   {1, 7, 1},   {3, 8, 1},   {9, 9, 1},
                 {100, 3, 1}, {3, 100, 1}, {8, 17, 1},  {9, 200, 2}, {20, 300, 3},
                 {20, 64, 1}, {20, 65, 3}, {64, 65, 1}, {1, 1000, 1}};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        for (int layout = 0; layout < 2; layout++) {
            check_wave(tape, shape[i].n, shape[i].m, (wg_layout)layout, shape[i].evaluations);
            check_wave(coded, shape[i].n, shape[i].m, (wg_layout)layout, shape[i].evaluations);
        }
}

static void outputs_of_all_kinds_have_their_rows(void **state) {
    (void)state;
    const double x[3] = {0.5, 3, -2};
    const double expected[6][3] = {{3, 0.5, 0},      {0, 0, 0},        {0, 1, 0},
                                   {exp(0.5), 0, 0}, {exp(0.5), 0, 0}, {0, 0, 0}};
    double y[6], jac[6][3], g[3], jv[6];
    assert_int_equal(wg_jacobian(tape, kinds, NULL, 3, x, 6, y, WG_ROW_MAJOR, jac[0], 3),
                     WG_OK);
    for (int j = 0; j < 6; j++)
        for (int i = 0; i < 3; i++) assert_true(jac[j][i] == expected[j][i]);
    assert_true(y[1] == 4 && y[2] == 3 && y[5] == 2.5 && y[3] == y[4]);
    const double w[6] = {1, 10, 100, 1000, 1000, 10}, v[3] = {1, 2, 4};
    assert_int_equal(wg_vjp(tape, kinds, NULL, 3, x, 6, w, y, g), WG_OK);
    assert_close(g[0], 3 + 2000 * exp(0.5));
    assert_true(g[1] == 100.5 && g[2] == 0);
    assert_int_equal(wg_jvp(tape, kinds, NULL, 3, x, v, 6, y, jv), WG_OK);
    assert_true(jv[0] == 4 && jv[1] == 0 && jv[2] == 2 && jv[3] == jv[4] && jv[5] == 0);
}

static void constant_functions_have_derivatives_zero(void **state) {
    (void)state;
    const double x[2] = {1, 2}, one[2] = {1, 1};
    double f = NAN, g[2] = {NAN, NAN}, h[4], hv[2], jac[40], jv[20];
    assert_int_equal(wg_gradient(tape, constant, NULL, 2, x, &f, g), WG_OK);
    assert_true(f == 7 && g[0] == 0 && g[1] == 0);
    assert_int_equal(wg_hessian(coded, constant, NULL, 2, x, &f, g, h, 2), WG_OK);
    assert_int_equal(wg_hvp(coded, constant, NULL, 2, x, one, &f, g, hv), WG_OK);
    for (int i = 0; i < 4; i++) assert_true(h[i] == 0);
    assert_true(hv[0] == 0 && hv[1] == 0 && g[0] == 0 && g[1] == 0);
    assert_int_equal(wg_jacobian(tape, constant, NULL, 2, x, 20, NULL, WG_ROW_MAJOR, jac, 2),
                     WG_OK);
    for (int i = 0; i < 40; i++) assert_true(jac[i] == 0);
    assert_int_equal(wg_jvp(tape, constant, NULL, 2, x, one, 20, NULL, jv), WG_OK);
    for (int i = 0; i < 20; i++) assert_true(jv[i] == 0);
}

static void outputs_never_written_are_nan_with_nan_derivatives(void **state) {
    (void)state;
    const double x[2] = {1, 2}, v[2] = {1, 1};
    double y[20], g[2] = {0, 0}, jac[40] = {0}, jv[20], h[4] = {0};
    assert_int_equal(wg_eval(tape, nothing, NULL, 2, x, 20, y), WG_OK);
    for (int j = 0; j < 20; j++) assert_nan(y[j]);
    assert_int_equal(wg_gradient(tape, nothing, NULL, 2, x, y, g), WG_OK);
    assert_nan(y[0]), assert_nan(g[0]), assert_nan(g[1]);
    for (size_t m = 2; m <= 20; m += 18) { /* backward, forward */
        assert_int_equal(wg_jacobian(tape, nothing, NULL, 2, x, m, y, WG_ROW_MAJOR, jac, 2),
                         WG_OK);
        for (size_t i = 0; i < 2 * m; i++) assert_nan(jac[i]);
    }
    assert_int_equal(wg_jvp(tape, nothing, NULL, 2, x, v, 2, y, jv), WG_OK);
    assert_nan(jv[0]), assert_nan(jv[1]);
    assert_int_equal(wg_hessian(coded, nothing, NULL, 2, x, NULL, NULL, h, 2), WG_OK);
    assert_nan(h[0]), assert_nan(h[3]);
    const double w[2] = {1, 0};
    assert_int_equal(wg_vjp(tape, nothing, NULL, 2, x, 2, w, y, g), WG_OK);
    assert_nan(g[0]);
}

static void empty_lists_of_inputs_and_outputs_work(void **state) {
    (void)state;
    double y[3] = {0, 0, 0}, jac = 5, f = 0;
    const double x[2] = {1, 2};
    for (int k = 0; k < 2; k++) {
        wg_tape *const t = k ? coded : tape;
        assert_int_equal(wg_eval(t, constant, NULL, 0, NULL, 3, y), WG_OK);
        assert_true(y[2] == 7);
        assert_int_equal(wg_eval(t, nothing, NULL, 2, x, 0, NULL), WG_OK);
        assert_int_equal(wg_eval(t, nothing, NULL, 0, NULL, 0, NULL), WG_OK);
        assert_int_equal(wg_gradient(t, constant, NULL, 0, NULL, &f, NULL), WG_OK);
        assert_true(f == 7);
        assert_int_equal(wg_gradient(t, constant, NULL, 0, NULL, &f, &jac), WG_OK);
        assert_int_equal(wg_jacobian(t, constant, NULL, 0, NULL, 3, y, WG_ROW_MAJOR, &jac, 0),
                         WG_OK);
        assert_int_equal(wg_jacobian(t, nothing, NULL, 2, x, 0, NULL, WG_COL_MAJOR, &jac, 0),
                         WG_OK);
        assert_int_equal(wg_jvp(t, constant, NULL, 0, NULL, NULL, 3, y, y), WG_OK);
        assert_int_equal(wg_vjp(t, nothing, NULL, 2, x, 0, NULL, NULL, y), WG_OK);
        assert_true(y[0] == 0 && y[1] == 0);
        assert_int_equal(wg_jacobian_groups(t, constant, NULL, 0, NULL, NULL, 3, y,
                                            WG_ROW_MAJOR, NULL, NULL),
                         WG_OK);
        assert_true(y[0] == 7);
    }
    assert_int_equal(wg_hessian(coded, constant, NULL, 0, NULL, &f, NULL, &jac, 0), WG_OK);
    assert_int_equal(wg_hvp(coded, constant, NULL, 0, NULL, NULL, &f, NULL, &jac), WG_OK);
    assert_true(jac == 5);
}

static void outputs_that_are_not_wanted_may_be_null(void **state) {
    (void)state;
    const double x[2] = {2, 3}, v[2] = {1, 0};
    double f = 0, g[2] = {0, 0}, h[4], hv[2];
    assert_int_equal(wg_gradient(tape, product, NULL, 2, x, NULL, g), WG_OK);
    assert_true(g[0] == 3 && g[1] == 2);
    assert_int_equal(wg_gradient(tape, product, NULL, 2, x, &f, NULL), WG_OK);
    assert_true(f == 6);
    assert_int_equal(wg_gradient(tape, product, NULL, 2, x, NULL, NULL), WG_OK);
    assert_int_equal(wg_jacobian(tape, product, NULL, 2, x, 1, &f, WG_ROW_MAJOR, NULL, 0),
                     WG_OK);
    assert_int_equal(wg_jvp(tape, product, NULL, 2, x, NULL, 1, &f, NULL), WG_OK);
    assert_int_equal(wg_vjp(tape, product, NULL, 2, x, 1, NULL, &f, NULL), WG_OK);
    assert_int_equal(wg_hessian(coded, product, NULL, 2, x, NULL, NULL, h, 2), WG_OK);
    assert_true(h[0] == 0 && h[1] == 1 && h[2] == 1 && h[3] == 0);
    assert_int_equal(wg_hvp(coded, product, NULL, 2, x, v, NULL, NULL, hv), WG_OK);
    assert_true(hv[0] == 0 && hv[1] == 1);
    g[0] = g[1] = 0;
    assert_int_equal(wg_hvp(coded, product, NULL, 2, x, NULL, &f, g, NULL), WG_OK);
    assert_true(g[0] == 3 && g[1] == 2 && f == 6);
}

/* ---- groups of inputs ---- */

/* Two outputs of a camera (3), a point (2) and a weight (1): x0 x3 + x5, x1 x4 x5 + x2. */
static wg_status grouped(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)m;
    assert_int_equal(n, 6);
    y[0] = wg_let(t, wg_add(wg_mul(x[0], x[3]), x[5]));
    y[1] = wg_let(t, wg_add(wg_mul(wg_mul(x[1], x[4]), x[5]), x[2]));
    if (data != NULL) {
        wg_stats s;
        assert_int_equal(wg_tape_stats(t, &s), WG_OK);
        *(uint64_t *)data = s.slots;
    }
    return WG_OK;
}

static void groups_of_inputs_have_a_block_each(void **state) {
    (void)state;
    const double camera[3] = {2, 3, 5}, point[2] = {7, 11}, weight[1] = {13};
    const double *const x[4] = {camera, NULL, point, weight};
    const size_t size[4] = {3, 0, 2, 1}, ld[4] = {4, 0, 2, 1};
    double jc[2 * 4], jp[2 * 2], y[2];
    double *const jac[4] = {jc, NULL, jp, NULL};
    uint64_t slots = 0;
    jc[3] = jc[7] = -77;
    assert_int_equal(
        wg_jacobian_groups(tape, grouped, &slots, 4, size, x, 2, y, WG_ROW_MAJOR, jac, ld),
        WG_OK);
    const double expected_c[8] = {7, 0, 0, -77, 0, 11 * 13, 1, -77};
    const double expected_p[4] = {2, 0, 0, 3 * 13};
    for (int i = 0; i < 8; i++) assert_true(jc[i] == expected_c[i]);
    for (int i = 0; i < 4; i++) assert_true(jp[i] == expected_p[i]);
    assert_true(y[0] == 27 && y[1] == 434);
    assert_int_equal(slots, 5 + 2); /* the weight is a constant */

    double *const only_weight[4] = {NULL, NULL, NULL, jc};
    const size_t ld_weight[4] = {0, 0, 0, 2};
    assert_int_equal(wg_jacobian_groups(tape, grouped, NULL, 4, size, x, 2, NULL, WG_COL_MAJOR,
                                        only_weight, ld_weight),
                     WG_OK);
    assert_true(jc[0] == 1 && jc[1] == 33);
    assert_int_equal(
        wg_jacobian_groups(tape, grouped, &slots, 4, size, x, 2, y, WG_ROW_MAJOR, NULL, NULL),
        WG_OK);
    assert_true(slots == 0 && y[0] == 27);
}

/* Columns of several groups in one evaluation, and of one group in several. */
static void blocks_of_groups_make_up_the_whole_jacobian(void **state) {
    (void)state;
    enum { N = 20, M = 120 };
    double x[N];
    static double whole[M * N], a[M * 5], c[M * 12], y[M];
    for (int i = 0; i < N; i++) x[i] = 0.2 + 0.1 * i;
    const size_t size[4] = {5, 2, 12, 1}, ld[4] = {M, 0, M, 0};
    const double *const parts[4] = {x, x + 5, x + 7, x + 19};
    double *const jac[4] = {a, NULL, c, NULL};
    int calls = 0;
    assert_int_equal(wg_jacobian(tape, wave, NULL, N, x, M, y, WG_COL_MAJOR, whole, M), WG_OK);
    assert_int_equal(
        wg_jacobian_groups(tape, wave, &calls, 4, size, parts, M, y, WG_COL_MAJOR, jac, ld),
        WG_OK);
    assert_int_equal(calls, 3);
    assert_memory_equal(a, whole, sizeof a);
    assert_memory_equal(c, whole + 7 * M, sizeof c);
}

/* ---- mistakes ---- */

static wg_status refuses(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)t, (void)n, (void)m;
    y[0] = x[0];
    return *(const wg_status *)data;
}

static void what_the_function_returns_is_passed_on(void **state) {
    (void)state;
    const double x = 3, v = 1;
    double f = -77, g = -77;
    wg_status own = WG_EARG, odd = (wg_status)1000;
    assert_int_equal(wg_gradient(tape, refuses, &own, 1, &x, &f, &g), WG_EARG);
    assert_int_equal(wg_tape_status(tape), WG_EARG);
    assert_message(tape, "wg_gradient: the function returned WG_EARG");
    assert_int_equal(wg_gradient(tape, refuses, &odd, 1, &x, &f, &g), WG_ECALLBACK);
    assert_message(tape, "wg_gradient: the function returned 1000");
    own = WG_ECALLBACK;
    assert_int_equal(wg_eval(tape, refuses, &own, 1, &x, 1, &f), WG_ECALLBACK);
    assert_message(tape, "wg_eval");
    assert_int_equal(wg_jacobian(tape, refuses, &own, 1, &x, 1, &f, WG_ROW_MAJOR, &g, 1),
                     WG_ECALLBACK);
    assert_message(tape, "wg_jacobian");
    assert_int_equal(wg_jvp(tape, refuses, &own, 1, &x, &v, 1, &f, &g), WG_ECALLBACK);
    assert_message(tape, "wg_jvp");
    assert_int_equal(wg_vjp(tape, refuses, &own, 1, &x, 1, &v, &f, &g), WG_ECALLBACK);
    assert_message(tape, "wg_vjp");
    assert_int_equal(wg_hvp(coded, refuses, &own, 1, &x, &v, &f, &g, &g), WG_ECALLBACK);
    assert_message(coded, "wg_hvp");
    assert_int_equal(wg_hessian(coded, refuses, &own, 1, &x, &f, &g, &g, 1), WG_ECALLBACK);
    assert_message(coded, "wg_hessian");
    assert_true(f == -77 && g == -77);
    own = WG_OK; /* the next driver starts afresh */
    assert_int_equal(wg_gradient(tape, refuses, &own, 1, &x, &f, &g), WG_OK);
    assert_int_equal(wg_tape_status(tape), WG_OK);
    assert_true(f == 3 && g == 1);
}

/* A failure of the tape comes before what the function says. */
static wg_status mixes_tapes(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    (void)n, (void)m;
    y[0] = wg_let(t, wg_mul(x[0], *(const wg_real *)data));
    return WG_EARG;
}
static wg_status returns_foreign(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                 void *data) {
    (void)t, (void)n, (void)x;
    y[m - 1] = *(const wg_real *)data;
    return WG_OK;
}
static wg_status resets(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(2, x[0]));
    wg_tape_reset(t);
    return WG_OK;
}
static wg_status rewinds(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)n, (void)m, (void)data;
    const wg_mark here = wg_tape_mark(t);
    y[0] = wg_let(t, wg_mul(2, x[0]));
    return wg_tape_rewind(t, here);
}
static wg_status changes_mode(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *data) {
    (void)n, (void)x, (void)data;
    for (size_t j = 0; j < m; j++) y[j] = wg_constant(1);
    return wg_tape_forward(t, 3);
}
static wg_status drives(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    double f, inner = 2;
    (void)n, (void)m, (void)data;
    y[0] = x[0];
    (void)!wg_gradient(t, product, NULL, 1, &inner, &f, &inner);
    return WG_OK;
}

static void stale_outputs_are_refused(void **state) {
    (void)state;
    wg_tape *const other = wg_tape_new(NULL);
    wg_real foreign = wg_input(other, 2);
    const double x = 3, v = 1;
    double f = -77, g = -77, y[2] = {-77, -77};
    assert_int_equal(wg_gradient(tape, mixes_tapes, &foreign, 1, &x, &f, &g), WG_ESTALE);
    assert_message(tape, "wg_let");
    assert_int_equal(wg_gradient(tape, returns_foreign, &foreign, 1, &x, &f, &g), WG_ESTALE);
    assert_message(tape, "wg_gradient");
    assert_int_equal(wg_eval(tape, returns_foreign, &foreign, 1, &x, 2, y), WG_ESTALE);
    assert_message(tape, "wg_eval");
    assert_int_equal(wg_gradient(tape, resets, NULL, 1, &x, &f, &g), WG_ESTALE);
    assert_message(tape, "wg_gradient: the function has reset the tape");
    assert_int_equal(wg_eval(tape, resets, NULL, 1, &x, 1, &f), WG_ESTALE);
    assert_int_equal(wg_jvp(tape, resets, NULL, 1, &x, &v, 1, &f, &g), WG_ESTALE);
    assert_int_equal(wg_gradient(tape, rewinds, NULL, 1, &x, &f, &g), WG_ESTALE);
    assert_true(f == -77 && g == -77 && y[0] == -77 && y[1] == -77);
    wg_tape_free(other);
}

static void the_mode_belongs_to_the_driver(void **state) {
    (void)state;
    const double x = 3;
    double f = -77, g = -77;
    assert_int_equal(wg_gradient(tape, changes_mode, NULL, 1, &x, &f, &g), WG_EMODE);
    assert_int_equal(wg_eval(tape, changes_mode, NULL, 0, NULL, 1, &f), WG_EMODE);
    assert_message(tape, "wg_eval: the function has changed the mode");
    assert_int_equal(wg_gradient(tape, drives, NULL, 1, &x, &f, &g), WG_EMODE);
    assert_message(tape, "wg_gradient: called by the function of a driver");
    assert_true(f == -77 && g == -77);
    assert_int_equal(wg_gradient(tape, product, NULL, 1, &x, &f, &g), WG_OK);
    assert_true(f == 3 && g == 1);
}

/* A driver of another tape inside: d/dx [x d/dy (x + y)] is 1, the inner x is no variable. */
static wg_status inner_sum(wg_tape *t, size_t n, const wg_real *y, size_t m, wg_real *z,
                           void *data) {
    (void)n, (void)m;
    z[0] = wg_let(t, wg_add(*(const double *)data, y[0]));
    return WG_OK;
}
static wg_status outer(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    double here = wg_value(x[0]), slope, at = 1;
    (void)n, (void)m;
    const wg_status s = wg_gradient(data, inner_sum, &here, 1, &at, NULL, &slope);
    y[0] = wg_let(t, wg_mul(x[0], slope));
    return s;
}
static void drivers_of_two_tapes_nest(void **state) {
    (void)state;
    const double x = 1;
    double g = 0;
    assert_int_equal(wg_gradient(tape, outer, coded, 1, &x, NULL, &g), WG_OK);
    assert_true(g == 1);
}

static void null_arguments_are_named(void **state) {
    (void)state;
    const double x[2] = {1, 2};
    const double *const xs[2] = {x, NULL};
    double y[2] = {-77, -77}, *const none[2] = {NULL, NULL}, *const jac[2] = {y, y};
    const size_t size[2] = {1, 1}, ld[2] = {1, 1};
    assert_int_equal(wg_eval(NULL, wave, NULL, 2, x, 2, y), WG_ENULL);
    assert_int_equal(wg_gradient(NULL, product, NULL, 2, x, y, y), WG_ENULL);
    assert_int_equal(wg_jacobian(NULL, wave, NULL, 2, x, 2, y, WG_ROW_MAJOR, y, 2), WG_ENULL);
    assert_int_equal(
        wg_jacobian_groups(NULL, wave, NULL, 2, size, xs, 2, y, WG_ROW_MAJOR, none, NULL),
        WG_ENULL);
    assert_int_equal(wg_jvp(NULL, wave, NULL, 2, x, x, 2, y, y), WG_ENULL);
    assert_int_equal(wg_vjp(NULL, wave, NULL, 2, x, 2, x, y, y), WG_ENULL);
    assert_int_equal(wg_hvp(NULL, product, NULL, 2, x, x, y, y, y), WG_ENULL);
    assert_int_equal(wg_hessian(NULL, product, NULL, 2, x, y, y, y, 2), WG_ENULL);
#define REFUSED(call, name, part)                                                              \
    do {                                                                                       \
        assert_int_equal(call, WG_ENULL);                                                      \
        assert_message(coded, name ": ");                                                      \
        assert_message(coded, part);                                                           \
    } while (0)
    REFUSED(wg_eval(coded, NULL, NULL, 2, x, 2, y), "wg_eval", "the function is NULL");
    REFUSED(wg_gradient(coded, NULL, NULL, 2, x, y, y), "wg_gradient", "the function is NULL");
    REFUSED(wg_jacobian(coded, NULL, NULL, 2, x, 2, y, WG_ROW_MAJOR, y, 2), "wg_jacobian",
            "the function is NULL");
    REFUSED(wg_jvp(coded, NULL, NULL, 2, x, x, 2, y, y), "wg_jvp", "the function is NULL");
    REFUSED(wg_vjp(coded, NULL, NULL, 2, x, 2, x, y, y), "wg_vjp", "the function is NULL");
    REFUSED(wg_hvp(coded, NULL, NULL, 2, x, x, y, y, y), "wg_hvp", "the function is NULL");
    REFUSED(wg_hessian(coded, NULL, NULL, 2, x, y, y, y, 2), "wg_hessian",
            "the function is NULL");
    REFUSED(wg_eval(coded, wave, NULL, 2, NULL, 2, y), "wg_eval", "x is NULL");
    REFUSED(wg_gradient(coded, product, NULL, 2, NULL, y, y), "wg_gradient", "x is NULL");
    REFUSED(wg_jacobian(coded, wave, NULL, 2, NULL, 2, y, WG_ROW_MAJOR, y, 2), "wg_jacobian",
            "x is NULL");
    REFUSED(wg_jvp(coded, wave, NULL, 2, NULL, x, 2, y, y), "wg_jvp", "x is NULL");
    REFUSED(wg_jvp(coded, wave, NULL, 2, x, NULL, 2, y, y), "wg_jvp", "v is NULL");
    REFUSED(wg_vjp(coded, wave, NULL, 2, NULL, 2, x, y, y), "wg_vjp", "x is NULL");
    REFUSED(wg_vjp(coded, wave, NULL, 2, x, 2, NULL, y, y), "wg_vjp", "w is NULL");
    REFUSED(wg_hvp(coded, product, NULL, 2, NULL, x, y, y, y), "wg_hvp", "x is NULL");
    REFUSED(wg_hvp(coded, product, NULL, 2, x, NULL, y, y, y), "wg_hvp", "v is NULL");
    REFUSED(wg_hessian(coded, product, NULL, 2, NULL, y, y, y, 2), "wg_hessian", "x is NULL");
#define GROUPS(f, size, x, jac, ld)                                                            \
    wg_jacobian_groups(coded, f, NULL, 2, size, x, 2, y, WG_ROW_MAJOR, jac, ld)
    REFUSED(GROUPS(NULL, size, xs, none, ld), "wg_jacobian_groups", "the function is NULL");
    REFUSED(GROUPS(wave, NULL, xs, none, ld), "wg_jacobian_groups", "size is NULL");
    REFUSED(GROUPS(wave, size, NULL, none, ld), "wg_jacobian_groups", "x is NULL");
    REFUSED(GROUPS(wave, size, xs, none, ld), "wg_jacobian_groups", "in group 1");
    REFUSED(GROUPS(wave, size, xs, jac, NULL), "wg_jacobian_groups", "leading dimensions");
    assert_true(y[0] == -77 && y[1] == -77);
}

static void shapes_that_do_not_fit_are_named(void **state) {
    (void)state;
    const double x[3] = {1, 2, 3};
    double y[2] = {-77, -77}, jac[9] = {-77};
    assert_int_equal(wg_jacobian(tape, wave, NULL, 3, x, 2, y, WG_ROW_MAJOR, jac, 2),
                     WG_ESHAPE);
    assert_message(tape,
                   "wg_jacobian: the Jacobian of group 0 is 2-by-3, row-major, its leading "
                   "dimension 2 is less than 3");
    assert_int_equal(wg_jacobian(tape, wave, NULL, 3, x, 2, y, WG_COL_MAJOR, jac, 1),
                     WG_ESHAPE);
    assert_message(tape, "column-major");
    assert_int_equal(wg_jacobian(tape, wave, NULL, 3, x, 2, y, (wg_layout)5, jac, 3), WG_EARG);
    assert_message(tape, "wg_jacobian: 5 is no layout");
    assert_int_equal(wg_hessian(coded, product, NULL, 3, x, y, NULL, jac, 2), WG_ESHAPE);
    assert_message(coded, "wg_hessian: the Hessian is 3-by-3");
    assert_true(y[0] == -77 && y[1] == -77 && jac[0] == -77);
    assert_int_equal(wg_eval(tape, wave, NULL, SIZE_MAX, x, 2, y), WG_ENOMEM);
    assert_int_equal(wg_eval(tape, wave, NULL, 2, x, SIZE_MAX / 8, y), WG_ENOMEM);
    const size_t size[2] = {SIZE_MAX, 3};
    const double *const xs[2] = {x, x};
    assert_int_equal(
        wg_jacobian_groups(tape, wave, NULL, 2, size, xs, 2, y, WG_ROW_MAJOR, NULL, NULL),
        WG_ENOMEM);
    assert_message(tape, "wg_jacobian_groups");
}

static void second_order_needs_the_code(void **state) {
    (void)state;
    const double x[2] = {1, 2};
    double h[4] = {-77};
    assert_int_equal(wg_hessian(tape, product, NULL, 2, x, h, h, h, 2), WG_EMODE);
    assert_message(tape, "wg_hessian: the tape was not opened with WG_KEEP_CODE");
    assert_int_equal(wg_hvp(tape, product, NULL, 2, x, x, h, h, h), WG_EMODE);
    assert_message(tape, "wg_hvp: the tape was not opened with WG_KEEP_CODE");
    assert_true(h[0] == -77);
}

/* ---- the tape around it ---- */

static void a_driver_leaves_the_tape_empty_and_in_its_mode(void **state) {
    (void)state;
    const double x[2] = {2, 3};
    double f, g[2];
    wg_stats s;
    wg_tape *const t = wg_tape_new(NULL);
    const wg_real before = wg_input(t, 1);
    assert_int_equal(wg_gradient(t, product, NULL, 2, x, &f, g), WG_OK);
    assert_int_equal(wg_tape_stats(t, &s), WG_OK);
    assert_true(s.slots == 0 && s.records == 0);
    assert_nan(wg_value(wg_let(t, wg_mul(before, 2)))); /* what was before is stale */
    wg_tape_reset(t);
    assert_int_equal(wg_tape_forward(t, 2), WG_OK);
    assert_int_equal(wg_gradient(t, product, NULL, 2, x, &f, g), WG_OK);
    assert_true(f == 6 && g[0] == 3 && g[1] == 2);
    wg_real v = wg_input(t, 4); /* a forward tape still */
    assert_int_equal(wg_tangent_seed(t, v, 1, 1), WG_OK);
    assert_true(wg_tangent(t, wg_let(t, wg_mul(v, v)), 1) == 8);
    assert_int_equal(wg_gradient(t, NULL, NULL, 2, x, &f, g),
                     WG_ENULL); /* also after a failure */
    wg_tape_reset(t);
    v = wg_input(t, 4);
    assert_int_equal(wg_tangent_seed(t, v, 1, 1), WG_OK);
    wg_tape_reset(t);
    assert_int_equal(wg_tape_pause(t), WG_OK); /* a pause ends like all that was recorded */
    assert_int_equal(wg_tape_forward(t, 0), WG_OK);
    assert_int_equal(wg_gradient(t, product, NULL, 2, x, &f, g), WG_OK);
    assert_true(g[0] == 3);
    wg_tape_free(t);
}

static void repeated_drivers_give_the_same_bits_and_do_not_grow(void **state) {
    (void)state;
    enum { N = 12, M = 70 };
    static double x[N], v[N], w[M], y[2][M], jac[2][M * N], more[2][M * N], g[2][N],
        h[2][N * N];
    uint64_t calls = 0, coded_calls = 0;
    size_t allocations = 0;
    wg_stats s;
    wg_check found;
    memset(g, 0, sizeof g), memset(h, 0, sizeof h);
    assert_true(!COUNT_MALLOC || mallocs > 0);
    for (int i = 0; i < N; i++) x[i] = 0.1 * (i + 1), v[i] = i % 3 - 1;
    for (int j = 0; j < M; j++) w[j] = 1 - 0.1 * j;
    for (int k = 0; k < 100; k++) {
        const int at = k != 0;
        const wg_status status[] = {
            wg_jacobian(tape, wave, NULL, N, x, M, y[at], WG_ROW_MAJOR, jac[at], N),
            wg_jacobian(tape, wave, NULL, N, x, 30, y[at], WG_COL_MAJOR, more[at], 30),
            wg_gradient(tape, product, NULL, N, x, y[at], g[at]),
            wg_jvp(tape, wave, NULL, N, x, v, M, NULL, y[at]),
            wg_vjp(tape, wave, NULL, N, x, M, w, NULL, g[at]),
            wg_hessian(coded, product, NULL, N, x, NULL, NULL, h[at], N),
            wg_hvp(coded, product, NULL, N, x, v, NULL, NULL, g[at]),
            wg_check_gradient(coded, product, NULL, N, x, 1, &found),
        };
        for (size_t i = 0; i < sizeof status / sizeof *status; i++)
            if (status[i] != WG_OK) fail_msg("driver %zu gave status %d", i, (int)status[i]);
        if (k == 0) allocations = mallocs;
        else if (mallocs != allocations) fail_msg("malloc was called");
        for (int c = 0; c < 2; c++) {
            if (wg_tape_stats(c ? coded : tape, &s) != WG_OK) fail();
            if (k == 0) *(c ? &coded_calls : &calls) = s.memory_calls;
            else if (s.memory_calls != (c ? coded_calls : calls))
                fail_msg("the tape has grown");
        }
        if (memcmp(jac[0], jac[at], sizeof jac[0]) != 0 ||
            memcmp(more[0], more[at], sizeof more[0]) != 0 ||
            memcmp(y[0], y[at], sizeof y[0]) != 0 || memcmp(g[0], g[at], sizeof g[0]) != 0 ||
            memcmp(h[0], h[at], sizeof h[0]) != 0)
            fail_msg("repetition %d differs", k);
    }
}

/* The first outputs are inputs; the others stand far behind on the tape. */
static wg_status late(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    wg_real sum = x[0];
    (void)data;
    for (int i = 0; i < 5000; i++) sum = wg_let(t, wg_add(sum, x[1]));
    for (size_t j = 0; j < m; j++) y[j] = j < 8 ? x[j % n] : wg_let(t, wg_mul(sum, j));
    return WG_OK;
}

/* Memory is refused at the k-th request: a status, outputs as they were, and the tape works as
 * soon as memory is there again. */
static void memory_refused_at_any_point_is_reported_and_survived(void **state) {
    (void)state;
    enum { N = 20, M = 100 };
    static double x[N], y[M], jac[M * N], h[N * N];
    for (int i = 0; i < N; i++) x[i] = 0.1 * (i + 1);
    for (int which = 0; which < 6; which++) {
        wg_status got = WG_ENOMEM;
        for (size_t fail_at = 2; got != WG_OK; fail_at++) { /* 0, 1: the tape itself */
            struct counted memory = counted_start();
            const wg_options opt = {.flags = which > 2 ? WG_KEEP_CODE : 0,
                                    .memory = counted_memory(&memory),
                                    .reserve = 1 << 16};
            assert_true(fail_at < 1000);
            memory.fail_at = fail_at;
            memory.fail_on = 1;
            wg_tape *const t = wg_tape_new(&opt);
            assert_non_null(t);
            for (int i = 0; i < M; i++) y[i] = -77;
            for (int i = 0; i < M * N; i++) jac[i] = -77;
            for (int i = 0; i < N * N; i++) h[i] = -77;
            for (int again = 0; again < 2; again++) {
                if (which == 0)
                    got = wg_jacobian(t, wave, NULL, N, x, M, y, WG_ROW_MAJOR, jac, N);
                else if (which == 1)
                    got = wg_jacobian(t, wave, NULL, N, x, 12, y, WG_ROW_MAJOR, jac, N);
                else if (which == 2) got = wg_gradient(t, product, NULL, N, x, y, jac);
                else if (which == 3) got = wg_hessian(t, product, NULL, N, x, y, jac, h, N);
                else if (which == 4) got = wg_check_gradient(t, product, NULL, N, x, 1, NULL);
                else got = wg_jacobian(t, late, NULL, N, x, 16, y, WG_ROW_MAJOR, jac, N);
                if (again == 1) assert_int_equal(got, WG_OK);
                if (got == WG_OK) break;
                assert_int_equal(got, WG_ENOMEM);
                assert_int_equal(wg_tape_status(t), WG_ENOMEM);
                assert_true(wg_tape_message(t)[0] != 0);
                for (int i = 0; i < M; i++) assert_true(y[i] == -77);
                for (int i = 0; i < M * N; i++) assert_true(jac[i] == -77);
                for (int i = 0; i < N * N; i++) assert_true(h[i] == -77);
                memory.fail_at = SIZE_MAX;
                memory.fail_on = 0;
            }
            got = memory.refused == 0 ? WG_OK : WG_ENOMEM;
            wg_tape_free(t);
            assert_int_equal(memory.ranges, 0);
            assert_int_equal(memory.wrong, 0);
        }
    }
}

/* Fails from the second call on. */
static wg_status tires(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    if (wave(t, n, x, m, y, data) != WG_OK) return WG_EARG;
    return *(const int *)data > 1 ? WG_EARG : WG_OK;
}
static void a_late_failure_leaves_the_jacobian_as_it_was(void **state) {
    (void)state;
    enum { N = 20, M = 300 };
    static double x[N], y[M], jac[M * N];
    int calls = 0;
    for (int i = 0; i < M * N; i++) jac[i] = -77;
    y[0] = -77;
    assert_int_equal(wg_jacobian(tape, tires, &calls, N, x, M, y, WG_ROW_MAJOR, jac, N),
                     WG_EARG);
    assert_int_equal(calls, 2);
    for (int i = 0; i < M * N; i++) assert_true(jac[i] == -77);
    assert_true(y[0] == -77);
}

static void drivers_live_in_a_buffer_of_the_caller(void **state) {
    (void)state;
    static char room[1 << 20];
    const wg_options opt = {.buffer = room, .buffer_bytes = sizeof room, .flags = WG_KEEP_CODE};
    wg_tape *const t = wg_tape_new(&opt);
    assert_non_null(t);
    const double x[3] = {2, 3, 5};
    double f, g[3], h[9];
    for (int k = 0; k < 3; k++) {
        assert_int_equal(wg_hessian(t, product, NULL, 3, x, &f, g, h, 3), WG_OK);
        assert_true(f == 30 && g[0] == 15 && h[1] == 5 && h[8] == 0);
        check_wave(t, 9, 200, WG_ROW_MAJOR, 2);
    }
    double *const large = calloc(100000, sizeof *large);
    assert_non_null(large);
    assert_int_equal(wg_gradient(t, product, NULL, 100000, large, &f, large), WG_EBUDGET);
    assert_message(t, "wg_gradient");
    free(large);
    assert_int_equal(wg_gradient(t, product, NULL, 3, x, &f, g), WG_OK);
    wg_tape_free(t);
}

static void the_message_of_a_traced_tape_arrives(void **state) {
    (void)state;
    const wg_options opt = {.flags = WG_TRACE};
    wg_tape *const t = wg_tape_new(&opt);
    const double x[2] = {1e200, 1e200};
    double f = -77, g[2] = {-77, -77};
    assert_int_equal(wg_gradient(t, product, NULL, 2, x, &f, g), WG_ENONFINITE);
    assert_message(t, "product");
    assert_true(f == -77 && g[0] == -77);
    wg_tape_free(t);
}

static void two_hundred_thousand_inputs_have_a_gradient_in_one_call(void **state) {
    (void)state;
    enum { N = 200000 };
    double *const x = malloc(N * sizeof *x), *const g = malloc(N * sizeof *g);
    double f = 0;
    assert_true(x != NULL && g != NULL);
    for (int i = 0; i < N; i++) x[i] = 1 + 1e-7 * i;
    assert_int_equal(wg_vjp(tape, wave, NULL, N, x, 1, &(double){2}, &f, g), WG_OK);
    assert_close(g[0], 2 * cos(x[0]) * x[1]);
    assert_close(g[1], 2 * sin(x[0]));
    for (int i = 2; i < N; i++) assert_true(g[i] == 0);
    free(x), free(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_equal_the_reference),
        cmocka_unit_test(jacobians_equal_the_reference_in_both_layouts),
        cmocka_unit_test(products_with_the_jacobian_equal_the_reference),
        cmocka_unit_test(hessians_equal_the_reference),
        cmocka_unit_test(jacobians_of_all_shapes_go_the_cheaper_way),
        cmocka_unit_test(outputs_of_all_kinds_have_their_rows),
        cmocka_unit_test(constant_functions_have_derivatives_zero),
        cmocka_unit_test(outputs_never_written_are_nan_with_nan_derivatives),
        cmocka_unit_test(empty_lists_of_inputs_and_outputs_work),
        cmocka_unit_test(outputs_that_are_not_wanted_may_be_null),
        cmocka_unit_test(groups_of_inputs_have_a_block_each),
        cmocka_unit_test(blocks_of_groups_make_up_the_whole_jacobian),
        cmocka_unit_test(what_the_function_returns_is_passed_on),
        cmocka_unit_test(stale_outputs_are_refused),
        cmocka_unit_test(the_mode_belongs_to_the_driver),
        cmocka_unit_test(drivers_of_two_tapes_nest),
        cmocka_unit_test(null_arguments_are_named),
        cmocka_unit_test(shapes_that_do_not_fit_are_named),
        cmocka_unit_test(second_order_needs_the_code),
        cmocka_unit_test(a_driver_leaves_the_tape_empty_and_in_its_mode),
        cmocka_unit_test(repeated_drivers_give_the_same_bits_and_do_not_grow),
        cmocka_unit_test(memory_refused_at_any_point_is_reported_and_survived),
        cmocka_unit_test(a_late_failure_leaves_the_jacobian_as_it_was),
        cmocka_unit_test(drivers_live_in_a_buffer_of_the_caller),
        cmocka_unit_test(the_message_of_a_traced_tape_arrives),
        cmocka_unit_test(two_hundred_thousand_inputs_have_a_gradient_in_one_call),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}
