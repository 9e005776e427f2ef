/* SPDX-License-Identifier: MIT */
/* calls_spectral.c - rows: eigenvalues, singular values, functions of matrices, matrix
 * equations; Gaussian densities. */
#include "calls.h"

#define OF_SQUARE(name)                                                                        \
    ROW(name) {                                                                                \
        TAPE(t);                                                                               \
        DIM(n);                                                                                \
        MAT(a, n, n);                                                                          \
        GIVES_MAT(name(t, a));                                                                 \
    }
#define OF_SPD(name)                                                                           \
    ROW(name) {                                                                                \
        TAPE(t);                                                                               \
        DIM(n);                                                                                \
        SPD(a, n);                                                                             \
        GIVES_MAT(name(t, a));                                                                 \
    }
#define NORM(name)                                                                             \
    ROW(name) {                                                                                \
        TAPE(t);                                                                               \
        DIM(m);                                                                                \
        DIM(n);                                                                                \
        MAT(a, m, n);                                                                          \
        GIVES_REAL(name(t, a));                                                                \
    }
#define PLACES(k)                                                                              \
    wg_mat room[k];                                                                            \
    for (size_t i = 0; i < (k); i++) room[i] = wg_mat_failed(1, 1)
#define PLACE(k) (one_in(6) ? NULL : &room[k])

OF_SQUARE(wg_eigvalsh)
ROW(wg_eigh) {
    TAPE(t);
    DIM(n);
    MAT(a, n, n);
    PLACES(2);
    wg_mat *const w = PLACE(0), *const v = PLACE(1);
    GIVES_STATUS(wg_eigh(t, a, w, v));
    keep_mat(room[0]), keep_mat(room[1]);
}
ROW(wg_eigvalsh_general) {
    TAPE(t);
    DIM(n);
    MAT(a, n, n);
    SPD(b, n);
    GIVES_MAT(wg_eigvalsh_general(t, a, b));
}
ROW(wg_eigh_general) {
    TAPE(t);
    DIM(n);
    MAT(a, n, n);
    SPD(b, n);
    PLACES(2);
    wg_mat *const w = PLACE(0), *const v = PLACE(1);
    GIVES_STATUS(wg_eigh_general(t, a, b, w, v));
    keep_mat(room[0]), keep_mat(room[1]);
}
ROW(wg_svdvals) {
    TAPE(t);
    DIM(m);
    DIM(n);
    MAT(a, m, n);
    GIVES_MAT(wg_svdvals(t, a));
}
ROW(wg_svd) {
    TAPE(t);
    DIM(m);
    DIM(n);
    MAT(a, m, n);
    PLACES(3);
    wg_mat *const u = PLACE(0), *const s = PLACE(1), *const v = PLACE(2);
    GIVES_STATUS(wg_svd(t, a, u, s, v));
    for (size_t i = 0; i < 3; i++) keep_mat(room[i]);
}
ROW(wg_eigvals) {
    TAPE(t);
    DIM(n);
    MAT(a, n, n);
    PLACES(2);
    wg_mat *const re = PLACE(0), *const im = PLACE(1);
    GIVES_STATUS(wg_eigvals(t, a, re, im));
    keep_mat(room[0]), keep_mat(room[1]);
}
ROW(wg_eig) {
    TAPE(t);
    DIM(n);
    MAT(a, n, n);
    PLACES(4);
    wg_mat *const re = PLACE(0), *const im = PLACE(1), *const v_re = PLACE(2),
                  *const v_im = PLACE(3);
    GIVES_STATUS(wg_eig(t, a, re, im, v_re, v_im));
    for (size_t i = 0; i < 4; i++) keep_mat(room[i]);
}
ROW(wg_null_space) {
    TAPE(t);
    DIM(m);
    DIM(n);
    MAT(a, m, n);
    NUMBER(rcond);
    GIVES_MAT(wg_null_space(t, a, rcond));
}
NORM(wg_mat_norm_nuclear)
NORM(wg_mat_norm_spectral)
OF_SQUARE(wg_symmetric_exp)
OF_SPD(wg_symmetric_log)
OF_SPD(wg_symmetric_sqrt)
OF_SPD(wg_symmetric_inverse_sqrt)
ROW(wg_symmetric_power) {
    TAPE(t);
    DIM(n);
    SPD(a, n);
    NUMBER(p);
    GIVES_MAT(wg_symmetric_power(t, a, p));
}
static double square(double x, const void *data) { return (void)data, x * x; }
static double twice(double x, const void *data) { return (void)data, 2 * x; }
static double two(double x, const void *data) { return (void)x, (void)data, 2; }
ROW(wg_symmetric_apply) {
    TAPE(t);
    DIM(n);
    MAT(a, n, n);
    const wg_symmetric_function f = {one_in(40) ? NULL : square, one_in(40) ? NULL : twice,
                                     NULL, one_in(2) ? NULL : two};
    GIVES_MAT(wg_symmetric_apply(t, a, f));
}
OF_SQUARE(wg_expm)
ROW(wg_powm) {
    TAPE(t);
    DIM(n);
    MAT(a, n, n);
    const int p = one_in(20) ? (one_in(2) ? INT32_MIN : INT32_MAX) : (int)below(9) - 4;
    named("p", "%d", p);
    GIVES_MAT(wg_powm(t, a, p));
}
ROW(wg_powm_real) {
    TAPE(t);
    DIM(n);
    SPD(a, n);
    NUMBER(p);
    GIVES_MAT(wg_powm_real(t, a, p));
}
OF_SPD(wg_sqrtm)
OF_SPD(wg_logm)
ROW(wg_sylvester) {
    TAPE(t);
    DIM(m);
    DIM(n);
    MAT(a, m, m);
    MAT(b, n, n);
    MAT(c, m, n);
    GIVES_MAT(wg_sylvester(t, a, b, c));
}
#define LYAPUNOV(name)                                                                         \
    ROW(name) {                                                                                \
        TAPE(t);                                                                               \
        DIM(n);                                                                                \
        MAT(a, n, n);                                                                          \
        MAT(q, n, n);                                                                          \
        GIVES_MAT(name(t, a, q));                                                              \
    }
LYAPUNOV(wg_lyapunov)
LYAPUNOV(wg_lyapunov_discrete)
OF_SQUARE(wg_signm)
OF_SQUARE(wg_cosm)
OF_SQUARE(wg_sinm)
ROW(wg_expmv) {
    TAPE(t);
    DIM(n);
    DIM(k);
    MAT(a, n, n);
    MAT(b, n, k);
    GIVES_MAT(wg_expmv(t, a, b));
}
#define RICCATI(name)                                                                          \
    ROW(name) {                                                                                \
        TAPE(t);                                                                               \
        DIM(n);                                                                                \
        DIM(k);                                                                                \
        MAT(a, n, n);                                                                          \
        MAT(b, n, k);                                                                          \
        SPD(q, n);                                                                             \
        SPD(r, k);                                                                             \
        GIVES_MAT(name(t, a, b, q, r));                                                        \
    }
RICCATI(wg_riccati)
RICCATI(wg_riccati_discrete)

/* ---- statistics ---- */

ROW(wg_mvn_logpdf) {
    TAPE(t);
    DIM(n);
    DIM(k);
    MAT(y, n, k);
    MAT(mu, n, 1);
    SPD(s, n);
    GIVES_REAL(wg_mvn_logpdf(t, y, mu, s));
}
#define KERNEL                                                                                 \
    TAPE(t);                                                                                   \
    const wg_kernel kernel = one_in(40) ? (wg_kernel)9 : (wg_kernel)below(4);                  \
    named("kernel", "%d", (int)kernel);                                                        \
    DIM(n);                                                                                    \
    DIM(d);                                                                                    \
    MAT(x, n, d);                                                                              \
    MAT(scale, one_in(2) ? 1 : d, 1);                                                          \
    REAL(sigma)
ROW(wg_covariance) {
    KERNEL;
    REAL(noise);
    GIVES_MAT(wg_covariance(t, kernel, x, scale, sigma, noise));
}
ROW(wg_covariance_between) {
    KERNEL;
    DIM(m);
    MAT(z, m, d);
    GIVES_MAT(wg_covariance_between(t, kernel, x, z, scale, sigma));
}
ROW(wg_gp_logml) {
    KERNEL;
    MAT(y, n, 1);
    REAL(noise);
    GIVES_REAL(wg_gp_logml(t, kernel, x, y, scale, sigma, noise));
}

ROW(wg_kalman_step) {
    TAPE(t);
    DIM(n);
    DIM(m);
    MAT(f, n, n);
    MAT(h, m, n);
    SPD(q, n);
    SPD(r, m);
    MAT(y, m, 1);
    MAT(x, n, 1);
    SPD(p, n);
    wg_mat state[] = {x, p};
    wg_mat *const to_x = one_in(20) ? NULL : &state[0], *const to_p =
                                                            one_in(20) ? NULL : &state[1];
    GIVES_REAL(wg_kalman_step(t, f, h, q, r, y, to_x, to_p));
    for (size_t i = 0; i < 2; i++) keep_mat(state[i]);
}

#define DISTANCES(name)                                                                        \
    ROW(name) {                                                                                \
        TAPE(t);                                                                               \
        DIM(n);                                                                                \
        DIM(m);                                                                                \
        DIM(d);                                                                                \
        MAT(x, n, d);                                                                          \
        MAT(z, m, d);                                                                          \
        GIVES_MAT(name(t, x, z));                                                              \
    }
DISTANCES(wg_distances)
DISTANCES(wg_distances_squared)
ROW(wg_data_covariance) {
    TAPE(t);
    DIM(n);
    DIM(d);
    MAT(x, n, d);
    NUMBER(ddof);
    GIVES_MAT(wg_data_covariance(t, x, ddof));
}

static const struct row list[] = {
    LISTED(wg_eigvalsh, 6),
    LISTED(wg_eigh, 8),
    LISTED(wg_eigvalsh_general, 4),
    LISTED(wg_eigh_general, 6),
    LISTED(wg_eigvals, 4),
    LISTED(wg_eig, 6),
    LISTED(wg_null_space, 4),
    LISTED(wg_svdvals, 6),
    LISTED(wg_svd, 8),
    LISTED(wg_mat_norm_nuclear, 4),
    LISTED(wg_mat_norm_spectral, 4),
    LISTED(wg_symmetric_exp, 4),
    LISTED(wg_symmetric_log, 4),
    LISTED(wg_symmetric_sqrt, 4),
    LISTED(wg_symmetric_inverse_sqrt, 4),
    LISTED(wg_symmetric_power, 4),
    LISTED(wg_symmetric_apply, 4),
    LISTED(wg_expm, 8),
    LISTED(wg_powm, 6),
    LISTED(wg_powm_real, 4),
    LISTED(wg_sqrtm, 4),
    LISTED(wg_logm, 4),
    LISTED(wg_sylvester, 6),
    LISTED(wg_lyapunov, 4),
    LISTED(wg_lyapunov_discrete, 4),
    LISTED(wg_signm, 4),
    LISTED(wg_cosm, 4),
    LISTED(wg_sinm, 4),
    LISTED(wg_expmv, 4),
    LISTED(wg_riccati, 4),
    LISTED(wg_riccati_discrete, 4),
    LISTED(wg_mvn_logpdf, 6),
    LISTED(wg_covariance, 6),
    LISTED(wg_covariance_between, 4),
    LISTED(wg_gp_logml, 6),
    LISTED(wg_kalman_step, 6),
    LISTED(wg_distances, 4),
    LISTED(wg_distances_squared, 4),
    LISTED(wg_data_covariance, 4),
};
const struct rows calls_spectral = ROWS(list);
