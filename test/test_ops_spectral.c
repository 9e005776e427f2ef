/* SPDX-License-Identifier: MIT */
/* test_ops_spectral.c - eigenvalues, singular values, functions of symmetric matrices: the
 * oracle in every mode of the tape; differences; identities; what has no derivative, and what
 * has one all the same. Of functions more is in test_ops_symmetric_function.c.
 *
 * Letters: as in ops/matrix/spectral.c and ops/matrix/svd.c. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <wengert/data.h>
#include <wengert/products.h>
#include "symmetric_case.h"

extern const wg_block_op wgi_op_eigvalsh, wgi_op_eigh, wgi_op_eigvalsh_general,
    wgi_op_eigh_general, wgi_op_svdvals, wgi_op_svd, wgi_op_norm_nuclear, wgi_op_norm_spectral;

/* ---- the oracle ---- */

static void eigh(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                 void *data) {
    (void)c, (void)data;
    out[0] = wg_eigvalsh(t, in[0]);
}
static void eigh_vectors(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                         void *data) {
    wg_mat v;
    (void)c, (void)data;
    assert_int_equal(wg_eigh(t, in[0], &out[0], &v), WG_OK);
}
static void check_eigh(struct matrix_case *c) {
    assert_string_equal(c->variant, "values");
    matrix_case_check(c, eigh, NULL);
    matrix_case_check(c, eigh_vectors, NULL);
}
static void eigenvalues_agree_with_their_oracle(void **state) {
    (void)state;
    matrix_case_each("eigh", check_eigh);
}

static void svd(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                void *data) {
    (void)c, (void)data;
    out[0] = wg_svdvals(t, in[0]);
}
static void svd_vectors(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                        void *data) {
    wg_mat u, v;
    (void)c, (void)data;
    assert_int_equal(wg_svd(t, in[0], &u, &out[0], &v), WG_OK);
}
static void check_svd(struct matrix_case *c) {
    assert_string_equal(c->variant, "values");
    matrix_case_check(c, svd, NULL);
    matrix_case_check(c, svd_vectors, NULL);
}
static void singular_values_agree_with_their_oracle(void **state) {
    (void)state;
    matrix_case_each("svd", check_svd);
}

static void norm(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                 void *data) {
    (void)data;
    out[0] =
        matrix_case_scalar(t, strcmp(c->variant, "nuc") == 0 ? wg_mat_norm_nuclear(t, in[0])
                                                             : wg_mat_norm_spectral(t, in[0]));
}
static void check_norm(struct matrix_case *c) {
    if (strcmp(c->variant, "nuc") == 0 || strcmp(c->variant, "spectral") == 0)
        matrix_case_check(c, norm, NULL);
}
static void norms_agree_with_their_oracle(void **state) {
    (void)state;
    matrix_case_each("norm", check_norm);
}
static void every_claimed_case_was_checked(void **state) {
    (void)state;
    matrix_claims_met("spectral");
}

/* ---- every operation ---- */

typedef void check_of(const struct spectral_case *c);

static void each_eigen(size_t n, check_of *check) {
    uint64_t seed = 11 + n;
    double *a = spectral_ladder(n, 2, &seed), *b = spectral_ladder(n, (double)n, &seed);
    for (size_t i = 0; i < n; i++) b[i + i * n] += 1;
    const struct spectral_case all[] = {
        {"wg_eigvalsh", &wgi_op_eigvalsh, NULL, 0, 1, 1, {n}, {n}, {a}},
        {"wg_eigh", &wgi_op_eigh, NULL, 0, 1, 2, {n}, {n}, {a}},
        {"wg_eigvalsh_general",
         &wgi_op_eigvalsh_general,
         NULL,
         0,
         2,
         1,
         {n, n},
         {n, n},
         {a, b}},
        {"wg_eigh_general", &wgi_op_eigh_general, NULL, 0, 2, 2, {n, n}, {n, n}, {a, b}}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(&all[k]);
    free(a);
    free(b);
}

static void each_svd(size_t m, size_t n, check_of *check) {
    uint64_t seed = 5 + m + 100 * n;
    double *a = spectral_random(m, n, &seed);
    for (size_t i = 0; i < m && i < n; i++) a[i + i * m] += 2 * (double)(i + 1);
    const struct spectral_case all[] = {
        {"wg_svdvals", &wgi_op_svdvals, NULL, 0, 1, 1, {m}, {n}, {a}},
        {"wg_svd", &wgi_op_svd, NULL, 0, 1, 3, {m}, {n}, {a}},
        {"wg_mat_norm_nuclear", &wgi_op_norm_nuclear, NULL, 0, 1, 1, {m}, {n}, {a}},
        {"wg_mat_norm_spectral", &wgi_op_norm_spectral, NULL, 0, 1, 1, {m}, {n}, {a}}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(&all[k]);
    free(a);
}

static const size_t shapes[][2] = {{1, 1}, {2, 2}, {5, 5}, {1, 4}, {4, 1}, {6, 3}, {3, 6}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void derivatives_agree_with_differences(void **state) {
    (void)state;
    for (size_t n = 1; n <= 6; n++) each_eigen(n, spectral_check_differences);
    for (size_t k = 0; k < SHAPES; k++)
        each_svd(shapes[k][0], shapes[k][1], spectral_check_differences);
}

static void tangents_agree_with_adjoints(void **state) {
    (void)state;
    for (size_t n = 1; n <= 70; n += n < 5 ? 1 : 13) each_eigen(n, spectral_check_adjoint);
    for (size_t k = 0; k < SHAPES; k++)
        each_svd(shapes[k][0], shapes[k][1], spectral_check_adjoint);
    each_svd(70, 40, spectral_check_adjoint);
    each_svd(33, 64, spectral_check_adjoint);
}

static void a_nan_or_an_infinity_is_a_status(void **state) {
    (void)state;
    each_eigen(1, spectral_check_not_finite);
    each_eigen(4, spectral_check_not_finite);
    each_eigen(40, spectral_check_not_finite);
    for (size_t k = 0; k < SHAPES; k++)
        each_svd(shapes[k][0], shapes[k][1], spectral_check_not_finite);
    each_svd(40, 30, spectral_check_not_finite);
}

static void empty_matrices_are_taken(void **state) {
    (void)state;
    each_eigen(1, spectral_check_empty);
    each_svd(1, 1, spectral_check_empty);
    wg_tape *t = wg_tape_new(NULL);
    wg_mat u, s, v;
    assert_int_equal(wg_svd(t, wg_mat_fill(t, 3, 0, 1), &u, &s, &v), WG_OK);
    assert_true(u.rows == 3 && u.cols == 0 && s.rows == 0 && v.rows == 0 && v.cols == 0);
    assert_int_equal(wg_svd(t, wg_mat_fill(t, 0, 4, 1), &u, &s, &v), WG_OK);
    assert_true(u.rows == 0 && u.cols == 0 && s.rows == 0 && v.rows == 4 && v.cols == 0);
    assert_true(wg_value(wg_mat_norm_spectral(t, wg_mat_fill(t, 0, 3, 1))) == 0);
    assert_true(wg_value(wg_mat_norm_nuclear(t, wg_mat_fill(t, 3, 0, 1))) == 0);
    for (size_t k = 0; k < FUNCTIONS; k++) {
        const wg_mat f = functions[k].call(t, wg_mat_fill(t, 0, 0, 1));
        assert_true(f.rows == 0 && f.cols == 0 && f.value != NULL);
    }
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

static void shapes_that_do_not_fit_are_named(void **state) {
    (void)state;
    each_eigen(3, spectral_check_shapes);
    wg_tape *t = wg_tape_new(NULL);
    for (size_t k = 0; k < FUNCTIONS; k++) {
        assert_null(functions[k].call(t, wg_mat_fill(t, 2, 3, 1)).value);
        assert_int_equal(wg_tape_status(t), WG_ESHAPE);
        assert_non_null(strstr(wg_tape_message(t), functions[k].name));
        assert_non_null(strstr(wg_tape_message(t), "2x3: the matrix is not square"));
        wg_tape_reset(t);
    }
    wg_mat w, v, s;
    assert_int_equal(wg_eigh(t, wg_mat_fill(t, 2, 3, 1), &w, &v), WG_ESHAPE);
    assert_non_null(strstr(wg_tape_message(t), "wg_eigh of 2x3: the matrix is not square"));
    wg_tape_reset(t);
    assert_null(wg_eigvalsh_general(t, wg_mat_identity(t, 2), wg_mat_identity(t, 3)).value);
    assert_non_null(strstr(wg_tape_message(t), "2x2, 3x3: the matrices are not square and"));
    wg_tape_reset(t);
    /* results that are not wanted */
    const wg_mat one = wg_mat_identity(t, 2);
    assert_int_equal(wg_eigh(t, one, NULL, &v), WG_OK);
    assert_int_equal(wg_eigh_general(t, one, one, &w, NULL), WG_OK);
    assert_int_equal(wg_svd(t, one, &w, &s, NULL), WG_OK);
    assert_true(v.cols == 2 && w.rows == 2 && s.cols == 1 && s.value[0] == 1);
    assert_int_equal(wg_tape_status(t), WG_OK);
    assert_int_equal(wg_eigh(NULL, wg_mat_failed(2, 2), &w, &v), WG_ENULL);
    assert_true(w.value == NULL && w.rows == 2 && v.cols == 2);
    wg_tape_free(t);
}

/* ---- identities ---- */

static void eigenvectors_diagonalise(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    for (size_t n = 1; n <= 60; n += n < 4 ? 1 : 19) {
        uint64_t seed = n;
        double *a = spectral_ladder(n, (double)n, &seed), *b = spectral_ladder(n, 1, &seed);
        double *l = spectral_room(n * n), *r = spectral_room(n * n), *x = spectral_room(n * n);
        for (int general = 0; general < 2; general++) {
            wg_mat w, v;
            const wg_mat ma = spectral_input(t, n, n, a), mb = spectral_input(t, n, n, b);
            assert_int_equal(
                general ? wg_eigh_general(t, ma, mb, &w, &v) : wg_eigh(t, ma, &w, &v), WG_OK);
            double *vw = spectral_value(t, w), *vv = spectral_value(t, v);
            double *only = spectral_value(t, general ? wg_eigvalsh_general(t, ma, mb)
                                                     : wg_eigvalsh(t, ma));
            assert_memory_equal(vw, only, n * sizeof *vw);
            for (size_t i = 1; i < n; i++) assert_true(vw[i - 1] <= vw[i]);
            spectral_product(n, a, vv, 0, l); /* A V = (B) V diag(w) */
            if (general) spectral_product(n, b, vv, 0, x);
            else memcpy(x, vv, n * n * sizeof *x);
            for (size_t j = 0; j < n; j++)
                for (size_t i = 0; i < n; i++) r[i + j * n] = x[i + j * n] * vw[j];
            spectral_near("A V", n * n, l, r, spectral_bound(n, (double)n));
            free(vw);
            free(vv);
            free(only);
        }
        free(a);
        free(b);
        free(l);
        free(r);
        free(x);
        wg_tape_reset(t);
    }
    wg_tape_free(t);
}

static void gradients_are_symmetric_bit_by_bit(void **state) {
    (void)state;
    enum { N = 37 };
    uint64_t seed = 3;
    wg_tape *t = wg_tape_new(NULL);
    double *a = spectral_ladder(N, 4, &seed), *w = spectral_random(N, N, &seed);
    a[1] += 1e-3; /* and the operand need not be */
    for (size_t k = 0; k < FUNCTIONS + 2; k++) {
        wg_mat in = spectral_input(t, N, N, a), y = wg_mat_failed(0, 0), values;
        if (k < FUNCTIONS) y = functions[k].call(t, in);
        else if (k == FUNCTIONS) y = wg_eigvalsh(t, in);
        else assert_int_equal(wg_eigh(t, in, &values, &y), WG_OK);
        assert_int_equal(wg_mat_reverse(t, y, w, N), WG_OK);
        double *g = spectral_adjoint(t, in);
        for (size_t j = 0; j < N; j++)
            for (size_t i = 0; i < j; i++) assert_true(same_bits(g[i + j * N], g[j + i * N]));
        free(g);
        wg_tape_reset(t);
    }
    /* either triangle counts half: the mean of both is what is meant */
    double *b = spectral_room(N * N);
    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i < N; i++) b[j + i * N] = a[i + j * N];
    double *one = spectral_value(t, wg_eigvalsh(t, spectral_input(t, N, N, a)));
    double *two_ = spectral_value(t, wg_eigvalsh(t, spectral_input(t, N, N, b)));
    assert_memory_equal(one, two_, N * sizeof *one);
    free(one);
    free(two_);
    free(a);
    free(b);
    free(w);
    wg_tape_free(t);
}

static void singular_vectors_give_the_matrix_back(void **state) {
    (void)state;
    static const size_t size[][2] = {{1, 1}, {7, 7}, {40, 13}, {13, 40}, {3, 200}, {200, 3}};
    wg_tape *t = wg_tape_new(NULL);
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
        const size_t m = size[k][0], n = size[k][1], r = m < n ? m : n;
        uint64_t seed = k;
        double *a = spectral_random(m, n, &seed), *back = spectral_room(m * n);
        wg_mat u, s, v;
        assert_int_equal(wg_svd(t, spectral_input(t, m, n, a), &u, &s, &v), WG_OK);
        double *vu = spectral_value(t, u), *vs = spectral_value(t, s),
               *vv = spectral_value(t, v);
        assert_true(u.cols == r && v.rows == n && v.cols == r);
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < m; i++)
                for (size_t l = 0; l < r; l++)
                    back[i + j * m] += vu[i + l * m] * vs[l] * vv[j + l * n];
        spectral_near("U S V'", m * n, back, a, spectral_bound(r + 10, vs[0]));
        free(a);
        free(back);
        free(vu);
        free(vs);
        free(vv);
        wg_tape_reset(t);
    }
    wg_tape_free(t);
}

/* ---- repeated eigenvalues ---- */

/* sum w^2 = tr A^2: gradient 2 A, whatever the eigenvalues. */
static void values_alone_are_smooth_enough_at_repeated_eigenvalues(void **state) {
    (void)state;
    static const double w[][4] = {{1, 1, 2, 2}, {3, 3, 3, 3}, {0, 0, 0, 0}, {-1, 1, 1, 1e-300}};
    wg_tape *t = wg_tape_new(NULL);
    for (size_t k = 0; k < sizeof w / sizeof *w; k++)
        for (int vectors = 0; vectors < 2; vectors++) {
            uint64_t seed = k + 1;
            double *a = spectral_symmetric(4, w[k], &seed), twice[4];
            const wg_mat in = spectral_input(t, 4, 4, a);
            wg_mat values, v;
            if (vectors) assert_int_equal(wg_eigh(t, in, &values, &v), WG_OK);
            else values = wg_eigvalsh(t, in);
            double *got = spectral_value(t, values);
            for (size_t i = 0; i < 4; i++) twice[i] = 2 * got[i];
            assert_int_equal(wg_mat_reverse(t, values, twice, 4), WG_OK);
            double *g = spectral_adjoint(t, in);
            for (size_t i = 0; i < 16; i++) a[i] *= 2;
            spectral_near("2 A", 16, g, a, spectral_bound(4, 6));
            free(a);
            free(g);
            free(got);
            wg_tape_reset(t);
        }
    wg_tape_free(t);
}

/* Eigenvalues 1, 1, 4. The loss <C, P>, P the projection onto the space of the repeated one
 * (from two vectors), or I - P from the third: gradients of opposite sign, both finite. */
static void the_space_of_a_repeated_eigenvalue_has_a_derivative(void **state) {
    (void)state;
    const double w[] = {1, 1, 4};
    uint64_t seed = 8;
    wg_tape *t = wg_tape_new(NULL);
    double *a = spectral_symmetric(3, w, &seed), *c = spectral_ladder(3, 1, &seed), *g[2];
    for (int third = 0; third < 2; third++) {
        wg_mat values, v;
        const wg_mat in = spectral_input(t, 3, 3, a);
        assert_int_equal(wg_eigh(t, in, &values, &v), WG_OK);
        double *vv = spectral_value(t, v), *cv = spectral_room(9);
        spectral_product(3, c, vv, 0, cv); /* V_ = 2 C V of the columns that count */
        for (size_t i = 0; i < 9; i++) cv[i] *= (i >= 6) == third ? 2 : 0;
        assert_int_equal(wg_mat_reverse(t, v, cv, 3), WG_OK);
        g[third] = spectral_adjoint(t, in);
        free(vv);
        free(cv);
        wg_tape_reset(t);
    }
    for (size_t i = 0; i < 9; i++) g[1][i] = -g[1][i];
    assert_true(spectral_size(9, g[0]) > 0.01);
    spectral_near("projections", 9, g[0], g[1], spectral_bound(3, 4));
    free(g[0]);
    free(g[1]);
    free(a);
    free(c);
    wg_tape_free(t);
}

static void vectors_of_a_repeated_eigenvalue_have_none(void **state) {
    (void)state;
    const double w[] = {1, 1, 4}, seeds[] = {1, 2, 3, 0, 0, 0, 0, 0, 0};
    uint64_t seed = 8;
    wg_tape *t = wg_tape_new(NULL);
    double *a = spectral_symmetric(3, w, &seed), *e = spectral_ladder(3, 3, &seed);
    for (int general = 0; general < 2; general++) {
        wg_mat values, v;
        const wg_mat in = spectral_input(t, 3, 3, a), b = wg_mat_identity(t, 3);
        assert_int_equal(general ? wg_eigh_general(t, in, b, &values, &v)
                                 : wg_eigh(t, in, &values, &v),
                         WG_OK);
        assert_int_equal(wg_mat_reverse(t, v, seeds, 3), WG_EDEGENERATE);
        assert_non_null(strstr(wg_tape_message(t), "repeated"));
        /* the recording is as it was */
        assert_int_equal(wg_mat_reverse(t, values, NULL, 0), WG_OK);
        double *g = spectral_adjoint(t, in);
        for (size_t i = 0; i < 3; i++)
            assert_true(fabs(g[i + 3 * i] - 1) < spectral_bound(3, 1));
        free(g);
        wg_tape_reset(t);
        assert_int_equal(wg_tape_forward(t, 1), WG_OK);
        const wg_mat fa = spectral_input(t, 3, 3, a);
        assert_int_equal(wg_mat_tangent_seed(t, fa, 0, e, 3), WG_OK);
        const wg_mat fb = wg_mat_identity(t, 3);
        assert_int_equal(general ? wg_eigh_general(t, fa, fb, &values, &v)
                                 : wg_eigh(t, fa, &values, &v),
                         WG_EDEGENERATE);
        wg_tape_reset(t);
        assert_int_equal(wg_tape_forward(t, 1), WG_OK);
        const wg_mat fv = spectral_input(t, 3, 3, a);
        assert_int_equal(wg_mat_tangent_seed(t, fv, 0, e, 3), WG_OK);
        values = wg_eigvalsh(t, fv);
        assert_int_equal(wg_tape_status(t), WG_OK);
        wg_tape_reset(t);
        assert_int_equal(wg_tape_forward(t, 0), WG_OK);
    }
    free(a);
    free(e);
    wg_tape_free(t);
}

/* A gap of 1e-9 is a gap: v of diag(1, 1 + gap) turns by da12 / gap. */
static void a_small_gap_is_no_tie(void **state) {
    (void)state;
    const double gap = ldexp(1, -30), a[] = {1, 0, 0, 1 + gap}, seeds[] = {0, 1, 0, 0};
    wg_tape *t = wg_tape_new(NULL);
    wg_mat w, v;
    const wg_mat in = spectral_input(t, 2, 2, a);
    assert_int_equal(wg_eigh(t, in, &w, &v), WG_OK);
    assert_int_equal(wg_mat_reverse(t, v, seeds, 2), WG_OK);
    double *g = spectral_adjoint(t, in);
    assert_true(error_ulp(fabs(g[1]), 0.5 / gap) < 4 && g[1] == g[2] && g[0] == 0 && g[3] == 0);
    free(g);
    wg_tape_free(t);
}

/* g = the gradient of sum(W o U U') times the norm of the matrix: 0, since it is a constant
 * where U is square. What comes of vectors that are known to half of their digits is, to
 * half of its digits. */
#define TOL_HALF_OF_THE_DIGITS 0x1p-24
enum of { EIGENVECTORS, EIGENVECTORS_GENERAL, LEFT, RIGHT, OFS };
static void gradient_of_a_constant(wg_tape *t, enum of of, size_t n, const double *a,
                                   const double *w, double *g) {
    double *const diagonal = spectral_room(n);
    wg_mat s, u, v;
    for (size_t i = 0; i < n; i++) diagonal[i] = 1 + 0.5 * (double)(i % 3);
    wg_tape_reset(t);
    const wg_mat x = wg_mat_input(t, n, n, a, n);
    const wg_mat b = wg_diag(t, wg_mat_constant(t, n, 1, diagonal, n));
    if (of == EIGENVECTORS) (void)wg_eigh(t, x, &s, &u);
    else if (of == EIGENVECTORS_GENERAL) (void)wg_eigh_general(t, x, b, &s, &u);
    else (void)wg_svd(t, x, of == LEFT ? &u : &v, &s, of == LEFT ? &v : &u);
    const wg_mat all = wg_matmul(t, u, wg_mat_transpose(u));
    assert_int_equal(wg_reverse(t, wg_mat_dot(t, wg_mat_constant(t, n, n, w, n), all)), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, x, g, n), WG_OK);
    const double norm = fmax(fabs(s.value[0]), fabs(s.value[n - 1]));
    for (size_t i = 0; i < n * n; i++) g[i] *= norm;
    free(diagonal);
}
/* Hilbert's matrix, and random ones of low rank whose other singular values are graded down to
 * rounding. */
static void what_the_choice_of_vectors_does_not_change_gets_nothing(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 23;
    for (size_t n = 4; n <= 40; n++) {
        double *const a = spectral_room(n * n), *const g = spectral_room(n * n);
        double *const p = spectral_random(n, n, &seed), *const w = spectral_random(n, n, &seed);
        for (enum of of = 0; of < OFS; of++)
            for (int hilbert = 0; hilbert < 2; hilbert++) {
                for (size_t j = 0; j < n; j++)
                    for (size_t i = 0; i < n; i++) {
                        double e = 0;
                        for (size_t k = 0; k < n - 1; k++)
                            e += exp(-3.0 * (double)k) * p[i + k * n] * p[j + k * n];
                        a[i + j * n] = hilbert ? 1 / (double)(i + j + 1) : e;
                    }
                gradient_of_a_constant(t, of, n, a, w, g);
                for (size_t i = 0; i < n * n; i++)
                    if (!(fabs(g[i]) <= TOL_HALF_OF_THE_DIGITS))
                        fail_msg("%d of order %zu: %g", (int)of, n, g[i]);
            }
        free(a), free(g), free(p), free(w);
    }
    wg_tape_free(t);
}

static void a_second_operand_that_is_not_positive_definite_is_named(void **state) {
    (void)state;
    const double b[] = {1, 0, 0, 0, -1, 0, 0, 0, 1};
    wg_tape *t = wg_tape_new(NULL);
    const wg_mat r = wg_eigvalsh_general(t, wg_mat_identity(t, 3), spectral_input(t, 3, 3, b));
    assert_null(r.value);
    assert_int_equal(wg_tape_status(t), WG_ESINGULAR);
    assert_non_null(strstr(wg_tape_message(t), "not positive definite"));
    assert_non_null(strstr(wg_tape_message(t), "info 2"));
    wg_tape_free(t);
}

/* ---- degenerate singular values ---- */

static void values_alone_are_finite_at_zero_and_repeated_singular_values(void **state) {
    (void)state;
    const double ones[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const double rows[][12] = {{0}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    wg_tape *t = wg_tape_new(NULL);
    for (size_t k = 0; k < 3; k++) {
        const double *a = k == 2 ? ones : rows[k];
        const wg_mat in = spectral_input(t, 4, 3, a);
        wg_mat s = wg_svdvals(t, in), u, v, s3;
        assert_int_equal(wg_svd(t, in, &u, &s3, &v), WG_OK);
        assert_int_equal(wg_mat_reverse(t, s, NULL, 0), WG_OK);
        double *g = spectral_adjoint(t, in);
        assert_int_equal(wg_mat_reverse(t, s3, NULL, 0), WG_OK);
        double *g3 = spectral_adjoint(t, in);
        assert_int_equal(wg_reverse(t, wg_mat_norm_nuclear(t, in)), WG_OK);
        double *nuclear = spectral_adjoint(t, in);
        double size = 0;
        for (size_t i = 0; i < 12; i++) size += g[i] * g[i]; /* U V' has norm sqrt 3 */
        assert_true(fabs(size - 3) < spectral_bound(4, 3));
        spectral_near("values and all", 12, g, g3, spectral_bound(4, 1));
        spectral_near("nuclear", 12, g, nuclear, spectral_bound(4, 1));
        assert_int_equal(wg_reverse(t, wg_mat_norm_spectral(t, in)), WG_OK);
        double *spectral = spectral_adjoint(t, in);
        size = 0;
        for (size_t i = 0; i < 12; i++) size += spectral[i] * spectral[i];
        assert_true(fabs(size - 1) < spectral_bound(4, 1));
        free(g);
        free(g3);
        free(nuclear);
        free(spectral);
        wg_tape_reset(t);
    }
    wg_tape_free(t);
}

static void singular_vectors_without_a_derivative_are_named(void **state) {
    (void)state;
    const double rank1[] = {1, 2, 2, 2, 4, 4}, equal[] = {2, 0, 0, 0, 2, 0},
                 e[] = {1, 2, 5, -1, 0, 2};
    wg_tape *t = wg_tape_new(NULL);
    wg_mat u, s, v;
    for (int turned = 0; turned < 2; turned++)
        for (int k = 0; k < 2; k++) {
            wg_mat in = spectral_input(t, 3, 2, k ? equal : rank1);
            if (turned) in = wg_mat_transpose(in);
            assert_int_equal(wg_svd(t, in, &u, &s, &v), WG_OK);
            /* the vector of a zero value is known, but for its sign, on the short side only */
            const wg_status short_side = k == 0 ? WG_OK : WG_EDEGENERATE;
            const wg_mat tall = turned ? v : u, square = turned ? u : v;
            assert_int_equal(wg_mat_reverse(t, wg_mat_col(tall, 1), e, 3), WG_EDEGENERATE);
            assert_non_null(strstr(wg_tape_message(t), "singular value"));
            assert_int_equal(wg_mat_reverse(t, wg_mat_col(square, 1), e, 2), short_side);
            if (k == 0) { /* the vectors of the one value that is not 0 */
                assert_int_equal(wg_reverse(t, wg_mat_at(u, 0, 0)), WG_OK);
                assert_int_equal(wg_reverse(t, wg_mat_at(v, 1, 0)), WG_OK);
            }
            assert_int_equal(wg_mat_reverse(t, s, NULL, 0), WG_OK);
            wg_tape_reset(t);
            assert_int_equal(wg_tape_forward(t, 1), WG_OK);
            in = spectral_input(t, 3, 2, k ? equal : rank1);
            assert_int_equal(wg_mat_tangent_seed(t, in, 0, e, 3), WG_OK);
            if (turned) in = wg_mat_transpose(in);
            assert_int_equal(wg_svd(t, in, &u, &s, &v), WG_EDEGENERATE);
            wg_tape_reset(t);
            assert_int_equal(wg_tape_forward(t, 0), WG_OK);
        }
    wg_tape_free(t);
}

/* A square singular matrix: the vectors of its zero singular value have a derivative. */
static void a_single_zero_singular_value_of_a_square_matrix_is_no_obstacle(void **state) {
    (void)state;
    const double a[] = {3, 0, 0, 0, 1, 0, 0, 0, 0};
    const struct spectral_case c = {"wg_svd", &wgi_op_svd, NULL, 0, 1, 3, {3}, {3}, {a}};
    spectral_check_adjoint(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eigenvalues_agree_with_their_oracle),
        cmocka_unit_test(singular_values_agree_with_their_oracle),
        cmocka_unit_test(norms_agree_with_their_oracle),
        cmocka_unit_test(derivatives_agree_with_differences),
        cmocka_unit_test(tangents_agree_with_adjoints),
        cmocka_unit_test(a_nan_or_an_infinity_is_a_status),
        cmocka_unit_test(empty_matrices_are_taken),
        cmocka_unit_test(shapes_that_do_not_fit_are_named),
        cmocka_unit_test(eigenvectors_diagonalise),
        cmocka_unit_test(gradients_are_symmetric_bit_by_bit),
        cmocka_unit_test(singular_vectors_give_the_matrix_back),
        cmocka_unit_test(values_alone_are_smooth_enough_at_repeated_eigenvalues),
        cmocka_unit_test(the_space_of_a_repeated_eigenvalue_has_a_derivative),
        cmocka_unit_test(vectors_of_a_repeated_eigenvalue_have_none),
        cmocka_unit_test(a_small_gap_is_no_tie),
        cmocka_unit_test(what_the_choice_of_vectors_does_not_change_gets_nothing),
        cmocka_unit_test(a_second_operand_that_is_not_positive_definite_is_named),
        cmocka_unit_test(values_alone_are_finite_at_zero_and_repeated_singular_values),
        cmocka_unit_test(singular_vectors_without_a_derivative_are_named),
        cmocka_unit_test(a_single_zero_singular_value_of_a_square_matrix_is_no_obstacle),
        cmocka_unit_test(every_claimed_case_was_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
