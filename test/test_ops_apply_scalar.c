/* SPDX-License-Identifier: MIT */
/* test_ops_apply_scalar.c - operations of the user's own element by element: against the same in
 * statements, in all modes; as parts of functions, saved, loaded, emitted and compiled. */
#define _DEFAULT_SOURCE
#include "emitted.h"

#include <float.h>
#include <math.h>
#include <wengert.h>
#include "tolerance.h"

/* A kink at 0, which its texts see at every point; several operands; no curvature. */
WG_OPERATION1(bent, a > 0 ? a * a * a : exp(a) - 1, a > 0 ? 3 * a * a : exp(a),
              a > 0 ? 6 * a : exp(a), GUARD, "test")
WG_OPERATION3(mixed, a *b + sin(c) * b, b, a + sin(c), b *cos(c), 0, 1, 0, 0, cos(c),
              -b *sin(c), ARITH, "test")
WG_OPERATION2(linear, 2 * a - b, 2, -1, 0, 0, 0, ARITH, "test")
WG_OPERATION2(product, a *b, b, a, 0, 1, 0, ARITH, "test")

enum { N = 7 };

/* Of x[0..3] as a 2-by-2 matrix, its transpose, a row, and a number; by statements if *data. */
static wg_status own(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y, void *data) {
    const int statements = *(const int *)data;
    const wg_mat a = wg_mat_gather(t, 2, 2, x), row = wg_mat_gather(t, 1, 2, x + 4);
    const wg_mat in[2][3] = {{wg_mat_transpose(a), row, wg_mat_from_real(t, x[6])},
                             {wg_mat_fill(t, 2, 2, 0.25), a, wg_mat_transpose(a)}};
    if (n != N || m != 4) return WG_EARG;
    for (size_t j = 0; j < 2; j++)
        for (size_t i = 0; i < 2; i++) {
            const wg_real of[] = {wg_mat_at(a, j, i), wg_mat_at(row, 0, j), x[6]};
            const wg_real at = wg_mat_at(a, i, j),
                          again[] = {wg_constant(0.25), at, wg_mat_at(a, j, i)};
            if (!statements) continue;
            const wg_real p = wg_apply_scalar(t, &wgi_user_mixed, of);
            const wg_real q = wg_apply_scalar(t, &wgi_user_mixed, again);
            y[i + 2 * j] = wg_let(
                t, wg_add(wg_apply_scalar(t, &wgi_user_bent, &p), wg_mul(q, wg_exp(at))));
        }
    if (statements) return wg_tape_status(t);
    const wg_mat p = wg_mat_apply_scalar(t, &wgi_user_mixed, in[0]);
    const wg_mat q = wg_mat_apply_scalar(t, &wgi_user_mixed, in[1]);
    const wg_mat sum =
        wg_mat_add(t, wg_mat_apply_scalar(t, &wgi_user_bent, &p),
                   wg_mat_mul(t, q, wg_mat_apply_scalar(t, &wgi_scalar_ops[WGI_OP_exp], &a)));
    for (size_t k = 0; k < 4; k++) y[k] = wg_mat_at(sum, k % 2, k / 2);
    return wg_tape_status(t);
}

static wg_status weighted(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    wg_real all[4];
    const wg_status s = own(t, n, x, 4, all, data);
    (void)m;
    *y = wg_let(t, wg_add(wg_sub(all[0], wg_mul(2, all[1])),
                          wg_add(wg_mul(0.5, all[2]), wg_mul(3, all[3]))));
    return s;
}

static const double points[][N] = {{0.3, -0.8, 1.1, 0.6, 0.5, -1.3, 0.9},
                                   {-0.4, 0.2, -1.7, 1.4, 2.1, 0.8, -0.6}};
static int matrices = 0, statements = 1;

static void near(const double *got, const double *want, size_t n, size_t terms) {
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <=
              TOL_DERIVATIVE_ULP * (double)terms * DBL_EPSILON * (1 + fabs(want[i]))))
            fail_msg("%zu: %.17g, not %.17g", i, got[i], want[i]);
}

static void they_are_their_statements_on_tapes(void **state) {
    const unsigned flags[] = {0, WG_KEEP_CODE, WG_CHECKED, WG_TRACE};
    (void)state;
    for (size_t k = 0; k < 4; k++)
        for (size_t p = 0; p < 2; p++) {
            double y[2][4], j[2][4 * N], h[2][N * N];
            wg_tape *const t = wg_tape_new(&(wg_options){.flags = flags[k]});
            for (int i = 0; i < 2; i++) {
                int *const how = i == 0 ? &matrices : &statements;
                assert_int_equal(
                    wg_jacobian(t, own, how, N, points[p], 4, y[i], WG_ROW_MAJOR, j[i], N),
                    WG_OK);
                if (flags[k] & WG_KEEP_CODE)
                    assert_int_equal(
                        wg_hessian(t, weighted, how, N, points[p], NULL, NULL, h[i], N), WG_OK);
            }
            near(y[0], y[1], 4, 4), near(j[0], j[1], 4 * N, 4);
            if (flags[k] & WG_KEEP_CODE) near(h[0], h[1], N * N, 16);
            wg_tape_free(t);
        }
}

static void in_long_runs_they_are_the_built_in_ones(void **state) {
    enum { MANY = 37 };
    double x[2 * MANY], h[2][4 * MANY * MANY], g[2][2 * MANY];
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    for (int mine = 0; mine < 2; mine++) {
        wg_real in[2 * MANY];
        for (size_t i = 0; i < 2 * MANY; i++) x[i] = 0.1 * (double)i - 3;
        wg_tape_reset(t);
        assert_int_equal(wg_inputs(t, 2 * MANY, x, in), WG_OK);
        const wg_mat a[] = {wg_mat_gather(t, MANY, 1, in),
                            wg_mat_gather(t, MANY, 1, in + MANY)};
        const wg_mat y =
            wg_mat_apply_scalar(t, mine ? &wgi_user_product : &wgi_scalar_ops[WGI_OP_mul], a);
        const wg_real sum = wg_mat_sum(t, wg_mat_exp(t, y));
        assert_int_equal(wg_tape_hessian(t, sum, 2 * MANY, in, h[mine], 2 * MANY), WG_OK);
        assert_int_equal(wg_reverse(t, sum), WG_OK);
        for (size_t i = 0; i < 2 * MANY; i++) g[mine][i] = wg_adjoint(t, in[i]);
    }
    assert_memory_equal(g[0], g[1], sizeof g[0]);
    near(h[0], h[1], 4 * MANY * MANY, 4);
    wg_tape_free(t);
}

static wg_status one_of(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    const wg_mat in[] = {wg_mat_gather(t, 2, 1, x), wg_mat_gather(t, 2, 1, x + 2)};
    const wg_mat z = wg_mat_apply_scalar(t, *(const wg_scalar_op *const *)data, in);
    (void)n, (void)m;
    y[0] = wg_let(t, wg_add(wg_mat_at(z, 0, 0), wg_mat_at(z, 1, 0)));
    return wg_tape_status(t);
}

static void a_pattern_is_that_of_the_operation(void **state) {
    const wg_scalar_op *op = &wgi_user_linear;
    const double x[] = {1, 2, 3, 4}, w = 1;
    double h[4];
    wg_sparsity *s;
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    assert_int_equal(wg_hessian_sparsity(t, one_of, &op, 4, x, 1, 'L', WG_ROW_MAJOR, &s),
                     WG_OK);
    assert_int_equal(wg_sparsity_pattern(s)->entries, 0);
    op = &wgi_user_product;
    const wg_status said = wg_sparse_hessian(t, s, one_of, &op, x, &w, NULL, NULL, h);
    assert_int_equal(said, WG_EMISMATCH);
    wg_sparsity_free(s);
    assert_int_equal(wg_hessian_sparsity(t, one_of, &op, 4, x, 1, 'L', WG_ROW_MAJOR, &s),
                     WG_OK);
    assert_int_equal(wg_sparsity_pattern(s)->entries, 2);
    assert_int_equal(wg_sparse_hessian(t, s, one_of, &op, x, &w, NULL, NULL, h), WG_OK);
    assert_true(h[0] == 1 && h[1] == 1);
    wg_sparsity_free(s);
    wg_tape_free(t);
}

/* ---- parts of functions ---- */

static const wg_scalar_op *const known[] = {&wgi_user_bent, &wgi_user_mixed};

static void evaluate(const wg_function *f, const double *x, double *y) {
    void *const work = aligned_alloc(64, (wg_function_work(f, NULL) + 127) / 64 * 64);
    const wg_points in = {x, 0, 1};
    const wg_results out = {y, 0, 1};
    assert_non_null(work);
    assert_int_equal(wg_function_evaluate(f, 1, &in, &out, NULL, work, NULL), WG_OK);
    free(work);
}

static wg_function *recorded(wg_tape *t, int *how) {
    const wg_argument in = {"x", N, 1, 0}, out = {"y", 4, 1, 0};
    wg_function *f = NULL;
    assert_int_equal(wg_function_record(t, own, how, 1, &in, points[0], 1, &out, &f), WG_OK);
    return f;
}

static void functions_have_derivatives_of_any_order(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_function *f[2][4];
    for (int i = 0; i < 2; i++) {
        f[i][0] = recorded(t, i == 0 ? &matrices : &statements);
        for (int k = 0; k < 3; k++)
            assert_int_equal(wg_function_jacobian(t, f[i][k], &f[i][k + 1]), WG_OK);
    }
    for (size_t p = 0; p < 2; p++) {
        static double y[2][4 * N * N * N];
        for (int k = 0; k < 4; k++) {
            const size_t m[] = {4, 4 * N, 4 * N * N, 4 * N * N * N};
            for (int i = 0; i < 2; i++) evaluate(f[i][k], points[p], y[i]);
            near(y[0], y[1], m[k], 64);
        }
    }
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 4; k++) wg_function_free(f[i][k]);
    wg_tape_free(t);
}

static void they_are_saved_by_name_and_emitted_by_text(void **state) {
    typedef int point_fn(const double *const *arg, double *const *res);
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_function *const f = recorded(t, &matrices), *df = NULL, *hf = NULL;
    assert_int_equal(wg_function_jacobian(t, f, &df), WG_OK);
    assert_int_equal(wg_function_jacobian(t, df, &hf), WG_OK);
    const wg_function *const all[] = {f, df, hf};
    const size_t results[] = {4, 4 * N, 4 * N * N};
    for (int k = 0; k < 3; k++) {
        double y[4 * N * N], z[4 * N * N];
        size_t bytes;
        assert_int_equal(wg_function_save(all[k], NULL, 0, &bytes), WG_OK);
        void *const file = malloc(bytes);
        wg_function *g = NULL, *native = NULL;
        emitted e;
        point_fn *run;
        assert_non_null(file);
        assert_int_equal(wg_function_save(all[k], file, bytes, NULL), WG_OK);
        assert_int_equal(wg_function_load(t, file, bytes, known, 1, &g), WG_EMODE);
        assert_non_null(strstr(wg_tape_message(t), "mixed"));
        assert_int_equal(wg_function_load(t, file, bytes, known, 2, &g), WG_OK);
        free(file);
        FILE *const to = emitted_text(&e);
        assert_int_equal(wg_function_emit(t, g, &(wg_emit_options){"own", WG_EMIT_POINT, 0, 0},
                                          wg_write_file, to),
                         WG_OK);
        assert_int_equal(fclose(to), 0);
        emitted_open(&e, emitted_compilers[!has_compiler("gcc")], "-O1");
        EMITTED(&e, "own", "", run);
        assert_int_equal(wg_function_compile(t, g, NULL, &native, NULL), WG_OK);
        for (size_t p = 0; p < 2; p++) {
            const double *const x = points[p];
            double *const to_z = z;
            evaluate(all[k], x, y);
            evaluate(g, x, z);
            assert_memory_equal(y, z, results[k] * sizeof *y);
            evaluate(native, x, z);
            assert_memory_equal(y, z, results[k] * sizeof *y);
            assert_int_equal(run(&x, &to_z), 0);
            near(z, y, results[k], 16); /* exp and sin are libm's there */
        }
        emitted_close(&e), emitted_remove(&e);
        wg_function_free(g), wg_function_free(native);
    }
    wg_function_free(f), wg_function_free(df), wg_function_free(hf);
    wg_tape_free(t);
}

/* ---- what is refused ---- */

static void what_is_no_operation_is_named(void **state) {
    wg_scalar_op odd[5] = {wgi_user_bent, wgi_user_bent, wgi_user_bent, wgi_user_bent,
                           wgi_user_bent};
    (void)state;
    odd[0].name = NULL, odd[1].value = NULL, odd[2].first = NULL;
    odd[3].arity = 0, odd[4].arity = 5;
    const char *const said[] = {"name", "value", "first", "0 operands", "5 operands"};
    wg_tape *const t = wg_tape_new(NULL);
    for (int k = 0; k < 5; k++) {
        wg_tape_reset(t);
        const wg_mat a = wg_mat_fill(t, 2, 2, 1), y = wg_mat_apply_scalar(t, &odd[k], &a);
        assert_int_equal(wg_tape_status(t), k < 3 ? WG_ENULL : WG_EARG);
        assert_non_null(strstr(wg_tape_message(t), "wg_mat_apply_scalar"));
        assert_non_null(strstr(wg_tape_message(t), said[k]));
        assert_true(y.value == NULL && wg_mat_apply_scalar(NULL, &odd[k], &a).value == NULL);
    }
    wg_tape_reset(t);
    const wg_mat in[] = {wg_mat_fill(t, 2, 2, 1), wg_mat_fill(t, 3, 2, 1)};
    (void)wg_mat_apply_scalar(t, &wgi_user_product, in);
    assert_int_equal(wg_tape_status(t), WG_ESHAPE);
    assert_non_null(strstr(wg_tape_message(t), "wg_mat_apply_scalar of 2x2, 3x2"));
    const wg_mat y = wg_mat_apply_scalar(NULL, &wgi_user_bent, in);
    assert_true(y.value == NULL && y.rows == 2 && y.cols == 2);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_their_statements_on_tapes),
        cmocka_unit_test(in_long_runs_they_are_the_built_in_ones),
        cmocka_unit_test(a_pattern_is_that_of_the_operation),
        cmocka_unit_test(functions_have_derivatives_of_any_order),
        cmocka_unit_test(they_are_saved_by_name_and_emitted_by_text),
        cmocka_unit_test(what_is_no_operation_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
