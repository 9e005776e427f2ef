/* SPDX-License-Identifier: MIT */
/* test_sundials.c - the callbacks of SUNDIALS' integrators and solvers, called as these do:
 * Jacobians in every kind of matrix, products, sensitivities, adjoints, failures. */
#include "fixture.h"
#include <string.h>
#include <sunmatrix/sunmatrix_band.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>
#include "wengert/sundials.h"

enum { N = 3, NP = 2 };

/* from: NULL: numbers that no result has. */
static N_Vector marked(size_t n, const double *from) {
    N_Vector v = N_VNew_Serial((sunindextype)n, context);
    for (size_t i = 0; i < n; i++) NV_Ith_S(v, (sunindextype)i) = from == NULL ? -77 : from[i];
    return v;
}
static void assert_vector(N_Vector v, const double *ref) {
    for (sunindextype i = 0; i < NV_LENGTH_S(v); i++)
        if (NV_Ith_S(v, i) != ref[i])
            fail_msg("entry %d is %g, not %g", (int)i, NV_Ith_S(v, i), ref[i]);
}

/* Any matrix as rows. */
static void rows_of(SUNMatrix a, double rows[N][N]) {
    memset(rows, 0, sizeof(double[N][N]));
    if (SUNMatGetID(a) == SUNMATRIX_SPARSE) {
        const int by_rows = SM_SPARSETYPE_S(a) == CSR_MAT;
        for (int l = 0; l < N; l++)
            for (sunindextype k = SM_INDEXPTRS_S(a)[l]; k < SM_INDEXPTRS_S(a)[l + 1]; k++) {
                double *const to =
                    by_rows ? &rows[l][SM_INDEXVALS_S(a)[k]] : &rows[SM_INDEXVALS_S(a)[k]][l];
                assert_true(*to == 0); /* each once */
                *to = SM_DATA_S(a)[k];
            }
        return;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            rows[i][j] = SUNMatGetID(a) == SUNMATRIX_DENSE ? SM_ELEMENT_D(a, i, j)
                                                           : SM_ELEMENT_B(a, i, j);
}
static void assert_matrix(SUNMatrix a, double ref[N][N], double factor, int transposed) {
    double rows[N][N];
    rows_of(a, rows);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const double want = factor * (transposed ? ref[j][i] : ref[i][j]);
            if (rows[i][j] != want)
                fail_msg("entry %d, %d is %g, not %g", i, j, rows[i][j], want);
        }
}
enum { MATRICES = 4 };
static SUNMatrix matrix(int kind, sunindextype entries) {
    return kind == 0   ? SUNDenseMatrix(N, N, context)
           : kind == 1 ? SUNBandMatrix(N, 2, 2, context)
                       : SUNSparseMatrix(N, N, entries, kind == 2 ? CSC_MAT : CSR_MAT, context);
}

/* ---- rates, with two integrands ---- */

static wg_status rates(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                       void *data) {
    const wg_status *const fails = data;
    const wg_real *const y = x + 1, *const p = x + 4;
    (void)n;
    r[0] = wg_let(t, wg_add(wg_mul(wg_mul(p[0], y[0]), y[1]), x[0]));
    r[1] = wg_let(t, wg_sub(wg_square(y[2]), wg_mul(p[1], y[1])));
    r[2] = wg_let(t, wg_mul(x[0], wg_sqrt(y[0])));
    if (m > N) r[3] = wg_let(t, wg_mul(p[0], y[2])), r[4] = wg_let(t, wg_square(y[1]));
    return fails == NULL ? WG_OK : *fails;
}
static const double moment = 8, y_at[N] = {4, 3, 5}, p_at[NP] = {2, 7};
static double rates_jac[N][N] = {{6, 8, 0}, {0, -7, 10}, {2, 0, 0}};

static wg_problem *open_rates(size_t m, unsigned flags, wg_status *fails) {
    static const size_t groups[] = {1, N, NP};
    wg_problem *const p = wg_problem_new(&(wg_computation){.n = 6,
                                                           .m = m,
                                                           .callback = rates,
                                                           .data = fails,
                                                           .groups = 3,
                                                           .group = groups,
                                                           .flags = flags});
    assert_int_equal(wg_sundials_parameters(p, p_at), WG_OK);
    return p;
}

static void rates_and_integrands_are_those_of_the_callback(void **state) {
    const double f[N] = {32, 4, 16}, q[2] = {10, 9};
    N_Vector y = marked(N, y_at), to = marked(N, NULL), two = marked(2, NULL);
    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        wg_problem *const p = open_rates(k & 2 ? 5 : 3, k & 1 ? WG_RECORD_ONCE : 0, NULL);
        assert_int_equal(wg_cvode_rates(moment, y, to, p), 0);
        assert_vector(to, f);
        if (k & 2) {
            assert_int_equal(wg_cvode_quadrature(moment, y, two, p), 0);
            assert_vector(two, q);
        }
        wg_problem_free(p);
    }
    N_VDestroy(y), N_VDestroy(to), N_VDestroy(two);
}

static void jacobians_and_their_transposes_are_in_every_kind_of_matrix(void **state) {
    const double all[] = {8, 4, 3, 5, 2, 7};
    N_Vector y = marked(N, y_at);
    (void)state;
    for (unsigned k = 0; k < 4; k++)
        for (int kind = 0; kind < MATRICES; kind++) {
            sunindextype entries = 0;
            wg_problem *const p = open_rates(k & 2 ? 5 : 3, k & 1 ? WG_RECORD_ONCE : 0, NULL);
            if (kind >= 2) {
                assert_int_equal(wg_sundials_entries(p, all, &entries), WG_OK);
                assert_true(entries >= 5 && entries <= 7);
            }
            SUNMatrix a = matrix(kind, entries);
            for (int again = 0; again < 2; again++) {
                assert_int_equal(wg_cvode_jacobian(moment, y, NULL, a, p, NULL, NULL, NULL), 0);
                assert_matrix(a, rates_jac, 1, 0);
                assert_int_equal(
                    wg_cvode_adjoint_jacobian(moment, y, NULL, NULL, a, p, NULL, NULL, NULL),
                    0);
                assert_matrix(a, rates_jac, -1, 1);
            }
            SUNMatDestroy(a);
            wg_problem_free(p);
        }
    N_VDestroy(y);
}

static void products_sensitivities_and_adjoints_are_those_of_the_jacobian(void **state) {
    const double v[N] = {1, -2, 3};
    const double jv[N] = {-10, 44, 2}, s0[N] = {-10 + 12, 44, 2}, s1[N] = {-10, 44 - 3, 2};
    const double jw[N] = {-(6 + 6), -(8 + 14), 20}, adjoint[N] = {-12, -22 - 6, 20 - 2};
    const double q[NP] = {-12 - 5, -6}, q_alone[NP] = {-12, -6};
    N_Vector y = marked(N, y_at), along = marked(N, v), to = marked(N, NULL),
             two = marked(NP, NULL);
    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        const int integrands = (k & 2) != 0;
        wg_problem *const p = open_rates(integrands ? 5 : 3, k & 1 ? WG_RECORD_ONCE : 0, NULL);
        assert_int_equal(wg_cvode_times(along, to, moment, y, NULL, p, NULL), 0);
        assert_vector(to, jv);
        assert_int_equal(wg_cvode_sensitivity(3, moment, y, NULL, 0, along, to, p, NULL, NULL),
                         0);
        assert_vector(to, s0);
        assert_int_equal(wg_cvode_sensitivity(3, moment, y, NULL, 1, along, to, p, NULL, NULL),
                         0);
        assert_vector(to, s1);
        assert_int_equal(wg_cvode_sensitivity(3, moment, y, NULL, 2, along, to, p, NULL, NULL),
                         0);
        assert_vector(to, jv); /* by an initial value */
        assert_int_equal(wg_cvode_adjoint_times(along, to, moment, y, NULL, NULL, p, NULL), 0);
        assert_vector(to, jw);
        assert_int_equal(wg_cvode_adjoint(moment, y, along, to, p), 0);
        assert_vector(to, integrands ? adjoint : jw);
        assert_int_equal(wg_cvode_adjoint_quadrature(moment, y, along, two, p), 0);
        assert_vector(two, integrands ? q : q_alone);
        wg_problem_free(p);
    }
    N_VDestroy(y), N_VDestroy(along), N_VDestroy(to), N_VDestroy(two);
}

/* Counts recordings. */
static wg_status counted(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                         void *data) {
    ++*(int *)data;
    return rates(t, n, x, m, r, NULL);
}
static void the_adjoint_and_its_quadrature_are_one_sweep(void **state) {
    const size_t groups[] = {1, N, NP};
    const double v[N] = {1, -2, 3}, q[NP] = {-12, -6};
    int calls = 0;
    wg_problem *const p = wg_problem_new(&(wg_computation){
        .n = 6, .m = N, .callback = counted, .data = &calls, .groups = 3, .group = groups});
    N_Vector y = marked(N, y_at), w = marked(N, v), to = marked(N, NULL),
             two = marked(NP, NULL);
    double parameters[] = {2, 7};
    (void)state;
    assert_int_equal(wg_sundials_parameters(p, parameters), WG_OK);
    assert_int_equal(wg_cvode_adjoint(moment, y, w, to, p), 0);
    assert_int_equal(wg_cvode_adjoint_quadrature(moment, y, w, two, p), 0);
    assert_int_equal(calls, 1);
    assert_vector(two, q);
    parameters[1] = 8; /* seen, and no longer the same sweep */
    assert_int_equal(wg_cvode_adjoint(moment, y, w, to, p), 0);
    assert_int_equal(calls, 2);
    assert_true(NV_Ith_S(to, 1) == -(8 + 16));
    NV_Ith_S(w, 0) = 2;
    assert_int_equal(wg_cvode_adjoint_quadrature(moment, y, w, two, p), 0);
    assert_int_equal(calls, 3);
    assert_true(NV_Ith_S(two, 0) == -24);
    assert_int_equal(wg_cvode_adjoint(moment, y, w, to, p), 0); /* never taken from before */
    assert_int_equal(wg_cvode_adjoint(moment, y, w, to, p), 0);
    assert_int_equal(calls, 5);
    assert_int_equal(wg_cvode_adjoint_quadrature(moment, y, w, two, p), 0);
    assert_int_equal(wg_cvode_adjoint_quadrature(moment, y, w, two, p), 0);
    assert_int_equal(calls, 6);
    wg_problem_free(p);
    N_VDestroy(y), N_VDestroy(w), N_VDestroy(to), N_VDestroy(two);
}

/* ---- a residual ---- */

/* F = (y0' y1 - t, y1' + p y0 y2, y2^2 + y2' y0) */
static wg_status residual(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                          void *data) {
    const wg_real *const y = x + 1, *const yp = x + 4, *const p = x + 7;
    (void)n, (void)m, (void)data;
    r[0] = wg_let(t, wg_sub(wg_mul(yp[0], y[1]), x[0]));
    r[1] = wg_let(t, wg_add(yp[1], wg_mul(wg_mul(p[0], y[0]), y[2])));
    r[2] = wg_let(t, wg_add(wg_square(y[2]), wg_mul(yp[2], y[0])));
    return WG_OK;
}

static void residuals_have_the_jacobian_of_both_arguments(void **state) {
    const size_t groups[] = {1, 2 * N, 1};
    const double yp_at[N] = {2, 6, 9}, p0 = 10, f[N] = {-2, 206, 61}, v[N] = {1, -2, 3},
                 c = 100;
    const double all[] = {8, 4, 3, 5, 2, 6, 9, 10};
    double jac[N][N] = {{300, 2, 0}, {50, 100, 40}, {9, 0, 10 + 400}}, jv[N] = {296, -30, 1239};
    N_Vector y = marked(N, y_at), yp = marked(N, yp_at), along = marked(N, v),
             to = marked(N, NULL);
    (void)state;
    for (unsigned flags = 0; flags <= WG_RECORD_ONCE; flags += WG_RECORD_ONCE)
        for (int kind = 0; kind < MATRICES; kind++) {
            sunindextype entries = 0;
            wg_problem *const p = wg_problem_new(&(wg_computation){.n = 8,
                                                                   .m = N,
                                                                   .callback = residual,
                                                                   .groups = 3,
                                                                   .group = groups,
                                                                   .flags = flags});
            assert_int_equal(wg_sundials_parameters(p, &p0), WG_OK);
            if (kind >= 2) assert_int_equal(wg_sundials_entries(p, all, &entries), WG_OK);
            SUNMatrix a = matrix(kind, entries);
            assert_int_equal(wg_ida_residual(moment, y, yp, to, p), 0);
            assert_vector(to, f);
            assert_int_equal(wg_ida_jacobian(moment, c, y, yp, NULL, a, p, NULL, NULL, NULL),
                             0);
            assert_matrix(a, jac, 1, 0);
            assert_int_equal(wg_ida_times(moment, y, yp, NULL, along, to, c, p, NULL, NULL), 0);
            assert_vector(to, jv);
            SUNMatDestroy(a);
            wg_problem_free(p);
        }
    N_VDestroy(y), N_VDestroy(yp), N_VDestroy(along), N_VDestroy(to);
}

/* ---- a system ---- */

static wg_status system_of(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                           void *data) {
    (void)n, (void)m, (void)data;
    r[0] = wg_let(t, wg_sub(wg_mul(x[0], x[1]), x[3]));
    r[1] = wg_let(t, wg_square(x[1]));
    r[2] = wg_let(t, wg_add(x[2], wg_mul(x[4], x[0])));
    return WG_OK;
}
static wg_status root(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                      void *data) {
    (void)n, (void)m, (void)data;
    r[0] = wg_let(t, wg_sub(wg_square(x[0]), x[1]));
    return WG_OK;
}
static void systems_have_their_jacobian(void **state) {
    const size_t groups[] = {N, NP}, one[] = {1, 1};
    const double f[N] = {10, 9, 33}, v[N] = {1, -2, 3}, jv[N] = {-5, -12, 10}, three = 3,
                 nine = 9, zero = 0;
    double jac[N][N] = {{3, 4, 0}, {0, 6, 0}, {7, 0, 1}};
    N_Vector u = marked(N, y_at), along = marked(N, v), to = marked(N, NULL),
             w = marked(1, &three), r = marked(1, NULL);
    int new_u = 1;
    (void)state;
    for (int kind = 0; kind < MATRICES; kind++) {
        wg_problem *const p = wg_problem_new(&(wg_computation){
            .n = 5, .m = N, .callback = system_of, .groups = 2, .group = groups});
        SUNMatrix a = matrix(kind, 5);
        assert_int_equal(wg_sundials_parameters(p, p_at), WG_OK);
        assert_int_equal(wg_kinsol_system(u, to, p), 0);
        assert_vector(to, f);
        assert_int_equal(wg_kinsol_jacobian(u, NULL, a, p, NULL, NULL), 0);
        assert_matrix(a, jac, 1, 0);
        assert_int_equal(wg_kinsol_times(along, to, u, &new_u, p), 0);
        assert_vector(to, jv);
        SUNMatDestroy(a);
        wg_problem_free(p);
    }
    /* one equation with one parameter has the groups of rates, too */
    wg_problem *const p = wg_problem_new(
        &(wg_computation){.n = 2, .m = 1, .callback = root, .groups = 2, .group = one});
    assert_int_equal(wg_sundials_parameters(p, &nine), WG_OK);
    assert_int_equal(wg_kinsol_system(w, r, p), 0);
    assert_vector(r, &zero);
    assert_true(wg_cvode_rates(3, w, r, p) < 0); /* and is a system from now on */
    wg_problem_free(p);
    N_VDestroy(u), N_VDestroy(along), N_VDestroy(to), N_VDestroy(w), N_VDestroy(r);
}

/* ---- failures ---- */

static void no_number_can_be_recovered_from_and_a_failure_cannot(void **state) {
    const double outside[N] = {-4, 3, 5};
    wg_status fails = WG_OK;
    N_Vector y = marked(N, y_at), o = marked(N, outside), to = marked(N, NULL),
             two = marked(2, NULL);
    SUNMatrix a = SUNDenseMatrix(N, N, context),
              s = SUNSparseMatrix(N, N, 20, CSR_MAT, context);
    wg_problem *const p = open_rates(5, 0, &fails);
    (void)state;
    assert_int_equal(wg_cvode_rates(moment, y, to, p), 0);
    assert_true(wg_cvode_rates(moment, o, to, p) > 0);
    assert_true(wg_cvode_quadrature(moment, o, two, p) > 0);
    assert_true(wg_cvode_jacobian(moment, o, NULL, a, p, NULL, NULL, NULL) > 0);
    assert_true(wg_cvode_jacobian(moment, o, NULL, s, p, NULL, NULL, NULL) > 0);
    assert_true(wg_cvode_times(y, to, moment, o, NULL, p, NULL) > 0);
    assert_true(wg_cvode_adjoint(moment, o, y, to, p) > 0);
    assert_true(wg_cvode_adjoint_quadrature(moment, o, y, two, p) > 0);
    assert_int_equal(wg_problem_status(p), WG_ENONFINITE);
    fails = WG_ECONVERGE;
    assert_true(wg_cvode_rates(moment, y, to, p) < 0);
    assert_true(wg_cvode_jacobian(moment, y, NULL, a, p, NULL, NULL, NULL) < 0);
    assert_true(wg_cvode_jacobian(moment, y, NULL, s, p, NULL, NULL, NULL) < 0);
    assert_true(wg_cvode_adjoint(moment, y, y, to, p) < 0);
    assert_int_equal(wg_problem_status(p), WG_ECONVERGE);
    wg_problem_free(p);
    SUNMatDestroy(a), SUNMatDestroy(s);
    N_VDestroy(y), N_VDestroy(o), N_VDestroy(to), N_VDestroy(two);
}

static void assert_kept(const wg_problem *p, const char *word) {
    if (strstr(wg_problem_message(p), word) == NULL) fail_msg("%s", wg_problem_message(p));
}
static void what_does_not_fit_is_refused_by_name(void **state) {
    const size_t groups[] = {1, N, NP}, odd[] = {2, N, 1};
    N_Vector y = marked(N, y_at), to = marked(N, NULL), two = marked(2, p_at);
    SUNMatrix small = SUNDenseMatrix(2, 2, context), narrow = SUNBandMatrix(N, 1, 1, context);
    SUNMatrix full = SUNSparseMatrix(N, N, 2, CSC_MAT, context);
    wg_problem *p = wg_problem_new(
        &(wg_computation){.n = 6, .m = N, .callback = rates, .groups = 3, .group = groups});
    (void)state;
    assert_true(wg_cvode_rates(moment, y, to, p) < 0);
    assert_kept(p, "wg_sundials_parameters was not called");
    assert_int_equal(wg_sundials_parameters(p, NULL), WG_ENULL);
    assert_int_equal(wg_sundials_parameters(NULL, p_at), WG_ENULL);
    assert_int_equal(wg_sundials_parameters(p, p_at), WG_OK);
    assert_true(wg_cvode_rates(moment, two, to, p) < 0);
    assert_kept(p, "another size than the problem's");
    assert_true(wg_cvode_rates(moment, y, two, p) < 0);
    assert_true(wg_cvode_rates(moment, NULL, to, p) < 0);
    assert_kept(p, "without an array");
    assert_true(wg_cvode_jacobian(moment, y, NULL, small, p, NULL, NULL, NULL) < 0);
    assert_kept(p, "a matrix of another size");
    assert_true(wg_cvode_jacobian(moment, y, NULL, narrow, p, NULL, NULL, NULL) < 0);
    assert_kept(p, "outside of the band");
    assert_true(wg_cvode_jacobian(moment, y, NULL, full, p, NULL, NULL, NULL) < 0);
    assert_kept(p, "no room for the entries");
    assert_true(wg_kinsol_system(y, to, p) < 0);
    assert_kept(p, "other equations than before");
    assert_true(wg_cvode_rates(moment, y, to, NULL) < 0);
    wg_problem_free(p);
    p = wg_problem_new(
        &(wg_computation){.n = 6, .m = N, .callback = rates, .groups = 3, .group = odd});
    assert_true(wg_cvode_rates(moment, y, to, p) < 0);
    assert_kept(p, "the groups are not those of");
    wg_problem_free(p);
    SUNMatDestroy(small), SUNMatDestroy(narrow), SUNMatDestroy(full);
    N_VDestroy(y), N_VDestroy(to), N_VDestroy(two);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_and_integrands_are_those_of_the_callback),
        cmocka_unit_test(jacobians_and_their_transposes_are_in_every_kind_of_matrix),
        cmocka_unit_test(products_sensitivities_and_adjoints_are_those_of_the_jacobian),
        cmocka_unit_test(the_adjoint_and_its_quadrature_are_one_sweep),
        cmocka_unit_test(residuals_have_the_jacobian_of_both_arguments),
        cmocka_unit_test(systems_have_their_jacobian),
        cmocka_unit_test(no_number_can_be_recovered_from_and_a_failure_cannot),
        cmocka_unit_test(what_does_not_fit_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, create, destroy);
}
