/* SPDX-License-Identifier: MIT */
/* spectral_operations.h - operations on eigenvalues, singular values, functions of matrices and
 * matrix equations, each as a callback with one result; for tests of second derivatives and of
 * functions. Included after cmocka.h. */
#ifndef WENGERT_TEST_SPECTRAL_OPERATIONS_H
#define WENGERT_TEST_SPECTRAL_OPERATIONS_H

#include <math.h>
#include <wengert.h>
#include "walk_numbers.h"

enum { MOST = 8, ALL = 3 * MOST * MOST };

/* ---- operations: of A, B, C of order n, and what is made of A: symmetric, positive
 * definite ---- */

typedef struct operands {
    size_t n;
    wg_mat a, b, c, symmetric, definite;
} operands;

/* Results are weighed and summed up in `to`. */
typedef struct sums {
    wg_tape *t;
    wg_real to;
    double next; /* of the weights */
} sums;

static inline void add(sums *s, wg_mat y) {
    for (size_t j = 0; j < y.cols; j++)
        for (size_t i = 0; i < y.rows; i++) {
            const double w = sin(s->next += 1.7);
            s->to = wg_let(s->t, wg_add(s->to, wg_mul(w, wg_mat_at(y, i, j))));
        }
}
static inline void add_number(sums *s, wg_real y) {
    s->to = wg_let(s->t, wg_add(s->to, wg_mul(1.25, y)));
}

typedef void operation(wg_tape *t, const operands *o, sums *s);

#define OPERATION(name, ...)                                                                   \
    static inline void name(wg_tape *t, const operands *o, sums *s) { __VA_ARGS__; }
OPERATION(of_expm, add(s, wg_expm(t, o->a)))
OPERATION(of_tiny_expm, add(s, wg_expm(t, wg_mat_scale(t, 1e-3, o->a))))
OPERATION(of_small_expm, add(s, wg_expm(t, wg_mat_scale(t, 0.05, o->a))))
OPERATION(of_less_expm, add(s, wg_expm(t, wg_mat_scale(t, 0.2, o->a))))
OPERATION(of_rotation, /* by several turns: squared up to three times */
          add(s, wg_expm(t, wg_mat_axpby(t, 12, o->a, -12, wg_mat_transpose(o->a)))))
OPERATION(of_power, add(s, wg_powm(t, o->a, 5)))
OPERATION(of_negative_power, add(s, wg_powm(t, o->definite, -3)))
OPERATION(of_sqrtm, add(s, wg_sqrtm(t, o->definite)))
OPERATION(of_logm, add(s, wg_logm(t, o->definite)))
OPERATION(of_real_power, add(s, wg_powm_real(t, o->definite, 0.7)))
OPERATION(of_sylvester, add(s, wg_sylvester(t, o->definite, o->b, o->c)))
OPERATION(of_lyapunov, add(s, wg_lyapunov(t, o->definite, o->c)))
OPERATION(of_discrete, add(s, wg_lyapunov_discrete(t, wg_mat_scale(t, 0.3, o->a), o->c)))
OPERATION(of_eigenvalues, add(s, wg_eigvalsh(t, o->symmetric)))
OPERATION(of_eigenvectors, wg_mat w; wg_mat v;
          if (wg_eigh(t, o->symmetric, &w, &v) == WG_OK) add(s, w), add(s, v))
OPERATION(of_general_values, add(s, wg_eigvalsh_general(t, o->symmetric, o->definite)))
OPERATION(of_general_vectors, wg_mat w; wg_mat v;
          if (wg_eigh_general(t, o->symmetric, o->definite, &w, &v) == WG_OK) add(s, w),
          add(s, v))
OPERATION(of_singular_values, add(s, wg_svdvals(t, o->a)))
OPERATION(of_singular_vectors, wg_mat u; wg_mat d; wg_mat v;
          if (wg_svd(t, o->a, &u, &d, &v) == WG_OK) add(s, u), add(s, d), add(s, v))
OPERATION(of_tall_vectors, wg_mat u; wg_mat d; wg_mat v;
          if (wg_svd(t, wg_mat_block(o->a, 0, 0, o->n, o->n - o->n / 2), &u, &d, &v) == WG_OK)
              add(s, u),
          add(s, d), add(s, v))
OPERATION(of_wide_vectors, wg_mat u; wg_mat d; wg_mat v;
          if (wg_svd(t, wg_mat_block(o->a, 0, 0, o->n - o->n / 2, o->n), &u, &d, &v) == WG_OK)
              add(s, u),
          add(s, d), add(s, v))
OPERATION(of_nuclear_norm, add_number(s, wg_mat_norm_nuclear(t, o->a)))
OPERATION(of_spectral_norm, add_number(s, wg_mat_norm_spectral(t, o->a)))
OPERATION(of_symmetric_exp, add(s, wg_symmetric_exp(t, o->symmetric)))
OPERATION(of_symmetric_log, add(s, wg_symmetric_log(t, o->definite)))
OPERATION(of_symmetric_sqrt, add(s, wg_symmetric_sqrt(t, o->definite)))
OPERATION(of_inverse_sqrt, add(s, wg_symmetric_inverse_sqrt(t, o->definite)))
OPERATION(of_symmetric_power, add(s, wg_symmetric_power(t, o->definite, 1.3)))
OPERATION(of_symmetric_cube, add(s, wg_symmetric_power(t, o->symmetric, 3)))
OPERATION(of_cube, add(s, wg_powm(t, o->symmetric, 3)))
OPERATION(of_expm_symmetric, add(s, wg_expm(t, o->symmetric)))
OPERATION(of_power_symmetric, add(s, wg_powm_real(t, o->definite, 1.3)))
OPERATION(of_squares,
          add_number(s, wg_mat_sum(t, wg_mat_square(t, wg_eigvalsh(t, o->symmetric)))))

OPERATION(of_lu, wg_mat l; wg_mat u;
          if (wg_lu_factors(t, o->a, &l, &u, NULL) == WG_OK) add(s, l), add(s, u))
OPERATION(of_lu_of_other_orders, wg_mat l; wg_mat u;
          if (wg_lu_factors(t, wg_flip_rows(t, o->b), &l, &u, NULL) == WG_OK) add(s, l),
          add(s, u))
OPERATION(of_pivoted_qr, wg_mat q; wg_mat r;
          if (wg_qr_pivoted(t, wg_mat_add(t, o->a, wg_flip_cols(t, o->b)), &q, &r, NULL) ==
              WG_OK) add(s, q),
          add(s, r))
OPERATION(of_polar, wg_mat u; wg_mat h;
          if (wg_polar(t, o->a, &u, &h) == WG_OK) add(s, u), add(s, h))
OPERATION(of_tall_polar, wg_mat u; wg_mat h;
          if (wg_polar(t, wg_mat_block(o->a, 0, 0, o->n, o->n - o->n / 2), &u, &h) == WG_OK)
              add(s, u),
          add(s, h))
OPERATION(
    of_any_values, wg_mat re; wg_mat im;
    if (wg_eigvals(t, wg_mat_add(t, o->a, wg_mat_axpby(t, 2, o->b, -2, wg_mat_transpose(o->b))),
                   &re, &im) == WG_OK) add(s, re),
    add(s, im))
OPERATION(of_any_vectors, wg_mat re; wg_mat im; wg_mat v; wg_mat w;
          if (wg_eig(t,
                     wg_mat_add(t, o->a, wg_mat_axpby(t, 2, o->b, -2, wg_mat_transpose(o->b))),
                     &re, &im, &v, &w) == WG_OK) add(s, re),
          add(s, im), add(s, v), add(s, w))
/* Eigenvalues on both sides. */
static inline wg_mat of_both_signs(wg_tape *t, const operands *o) {
    static const double sign[MOST] = {1, -1, 1, -1, 1, -1, 1, -1};
    return wg_mat_mul(t, o->a, wg_mat_constant(t, o->n, 1, sign, MOST));
}
OPERATION(of_signm, add(s, wg_signm(t, of_both_signs(t, o))))
OPERATION(of_riccati, add(s, wg_riccati(t, o->a, wg_mat_add(t, o->b, wg_mat_identity(t, o->n)),
                                        o->symmetric, o->definite)))
OPERATION(of_discrete_riccati, add(s, wg_riccati_discrete(t, wg_mat_scale(t, 0.5, o->a), o->b,
                                                          o->definite, o->definite)))
/* Of a space, whatever its basis: projectors. */
OPERATION(of_null_space,
          const wg_mat y = wg_null_space(t, wg_mat_block(o->a, 0, 0, o->n - o->n / 2, o->n),
                                         -1);
          add(s, wg_gemm(t, 'N', 'T', 1, y, y, 0, y)))

static inline double plain_exp(double x, const void *data) { return (void)data, exp(x); }
static inline double plain_log(double x, const void *data) { return (void)data, log(x); }
static inline double plain_reciprocal(double x, const void *data) { return (void)data, 1 / x; }
static inline double minus_square_reciprocal(double x, const void *data) {
    return (void)data, -1 / x / x;
}
static const wg_symmetric_function user_exp = {plain_exp, plain_exp, NULL, plain_exp},
                                   user_log = {plain_log, plain_reciprocal, NULL,
                                               minus_square_reciprocal};
OPERATION(of_user_exp, add(s, wg_symmetric_apply(t, o->symmetric, user_exp)))
OPERATION(of_user_log, add(s, wg_symmetric_apply(t, o->definite, user_log)))

/* The sum of an operation's results, and its sine, so that adjoints of results have
 * tangents. */
typedef struct number {
    operation *of;
    size_t n;
    int plain; /* operands are taken as they are: A is symmetric, and the definite one A itself */
} number;

static inline wg_status number_of(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                  void *data) {
    const number *const k = data;
    const size_t nn = k->n * k->n;
    (void)n, (void)m;
    operands o = {.n = k->n};
    o.a = wg_mat_gather(t, k->n, k->n, x);
    o.b = wg_mat_gather(t, k->n, k->n, x + nn);
    o.c = wg_mat_gather(t, k->n, k->n, x + 2 * nn);
    o.symmetric = wg_mat_axpby(t, 0.5, o.a, 0.5, wg_mat_transpose(o.a));
    o.definite = k->plain ? o.symmetric
                          : wg_gemm(t, 'N', 'T', 0.3, o.a, o.a, 1, wg_mat_identity(t, k->n));
    sums s = {t, wg_constant(0), 1};
    k->of(t, &o, &s);
    y[0] = wg_let(t, wg_add(s.to, wg_sin(s.to)));
    return wg_tape_status(t);
}

static inline void fill(size_t n, double *x, uint64_t *seed) {
    for (size_t i = 0; i < 3 * n * n; i++) x[i] = 0.5 * walk_number(seed);
    for (size_t i = 0; i < n; i++) x[i * (n + 1)] += 1 + 0.25 * (double)i;
}

static inline double largest(size_t n, const double *x) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

static const struct {
    const char *name;
    operation *of;
} operations[] = {{"expm", of_expm},
                  {"powm", of_power},
                  {"powm, negative", of_negative_power},
                  {"sqrtm", of_sqrtm},
                  {"logm", of_logm},
                  {"powm_real", of_real_power},
                  {"sylvester", of_sylvester},
                  {"lyapunov", of_lyapunov},
                  {"lyapunov_discrete", of_discrete},
                  {"eigvalsh", of_eigenvalues},
                  {"eigh", of_eigenvectors},
                  {"eigvalsh_general", of_general_values},
                  {"eigh_general", of_general_vectors},
                  {"svdvals", of_singular_values},
                  {"svd", of_singular_vectors},
                  {"svd, tall", of_tall_vectors},
                  {"svd, wide", of_wide_vectors},
                  {"nuclear norm", of_nuclear_norm},
                  {"spectral norm", of_spectral_norm},
                  {"symmetric_exp", of_symmetric_exp},
                  {"symmetric_log", of_symmetric_log},
                  {"symmetric_sqrt", of_symmetric_sqrt},
                  {"symmetric_inverse_sqrt", of_inverse_sqrt},
                  {"symmetric_power", of_symmetric_power},
                  {"symmetric_power, cube", of_symmetric_cube},
                  {"expm, tiny", of_tiny_expm},
                  {"expm, small", of_small_expm},
                  {"expm, less", of_less_expm},
                  {"expm, rotation", of_rotation},
                  {"lu_factors", of_lu},
                  {"lu_factors, other orders", of_lu_of_other_orders},
                  {"qr_pivoted", of_pivoted_qr},
                  {"polar", of_polar},
                  {"polar, tall", of_tall_polar},
                  {"eigvals", of_any_values},
                  {"eig", of_any_vectors},
                  {"signm", of_signm},
                  {"riccati", of_riccati},
                  {"riccati_discrete", of_discrete_riccati},
                  {"null_space", of_null_space},
                  {"user's exp", of_user_exp},
                  {"user's log", of_user_log}};
/* The last ones are of functions of the user's, which stand in no file and no text. */
enum { OF_USERS = 2 };
enum { OPERATIONS = sizeof operations / sizeof *operations };

#endif
