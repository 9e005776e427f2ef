/* SPDX-License-Identifier: MIT */
/* calls_solve.c - rows: factorisations, linear systems, orthogonal factorisations. */
#include "calls.h"

/* ---- factorisations as operands ---- */

#define FACTORED(name, drawn)                                                                  \
    ROW(name) {                                                                                \
        TAPE(t);                                                                               \
        DIM(n);                                                                                \
        drawn;                                                                                 \
        say("factor", #name "(t, a)");                                                         \
        call.room->factor[below(FACTORS)] = name(t, a);                                        \
    }
FACTORED(wg_lu, MAT(a, n, n))
FACTORED(wg_potrf, SPD(a, n))

/* A factorisation; mostly one of this recording. */
static wg_factor factor(wg_tape *t) {
    wg_factor *const old = call.room->factor;
    const size_t k = below(FACTORS);
    if (one_in(30)) return world.room[below(TAPES)].factor[k];
    if (t == NULL || (old[k].packed != NULL && old[k].a.at.stamp == t->stamp)) return old[k];
    const wg_mat a = draw_spd("a", 2);
    aside("factor = wg_lu or wg_potrf of a 2x2 matrix");
    return old[k] = one_in(2) ? wg_lu(t, a) : wg_potrf(t, a);
}
#define FACTOR                                                                                 \
    TAPE(t);                                                                                   \
    const wg_factor f = factor(t);                                                             \
    named("f", "{%zux%zu, slot %u, kind %d}", f.a.rows, f.a.cols, f.a.at.slot, (int)f.kind)
ROW(wg_factor_solve) {
    FACTOR;
    FLAG(trans, "NT");
    DIM(k);
    MAT(b, f.a.rows, k);
    GIVES_MAT(wg_factor_solve(t, f, trans, b));
}
ROW(wg_factor_logdet) {
    FACTOR;
    GIVES_REAL(wg_factor_logdet(t, f));
}
ROW(wg_factor_det) {
    FACTOR;
    GIVES_REAL(wg_factor_det(t, f));
}
ROW(wg_factor_inverse) {
    FACTOR;
    GIVES_MAT(wg_factor_inverse(t, f));
}

/* ---- systems ---- */

#define SYSTEM(name, drawn)                                                                    \
    ROW(name) {                                                                                \
        TAPE(t);                                                                               \
        DIM(n);                                                                                \
        DIM(k);                                                                                \
        drawn;                                                                                 \
        MAT(b, n, k);                                                                          \
        GIVES_MAT(name(t, a, b));                                                              \
    }
SYSTEM(wg_solve, MAT(a, n, n))
SYSTEM(wg_solve_spd, SPD(a, n))
#define BATCH                                                                                  \
    TAPE(t);                                                                                   \
    const size_t count = one_in(20) ? draw_size("count") : 1 + draw_below("count", 3);         \
    const size_t some = count < 6 ? count : 2;                                                 \
    DIM(n)
/* Side by side, positive definite ones. */
static wg_mat beside(wg_tape *t, size_t n, size_t count) {
    wg_mat a[6];
    for (size_t i = 0; i < count; i++) a[i] = draw_spd("a", n);
    return wg_concat_cols(t, count, a);
}
#define BATCHED(name)                                                                          \
    ROW(name) {                                                                                \
        BATCH;                                                                                 \
        const wg_mat a = beside(t, n, some);                                                   \
        MAT(b, n, 2 * some);                                                                   \
        GIVES_MAT(name(t, count, a, b));                                                       \
    }
BATCHED(wg_solve_batch)
BATCHED(wg_solve_spd_batch)
ROW(wg_cholesky_batch) {
    BATCH;
    const wg_mat a = beside(t, n, some);
    GIVES_MAT(wg_cholesky_batch(t, count, a));
}
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
OF_SQUARE(wg_inverse)
OF_SPD(wg_inverse_spd)
OF_SPD(wg_cholesky)
ROW(wg_logabsdet) {
    TAPE(t);
    DIM(n);
    MAT(a, n, n);
    double *const sign = one_in(3) ? NULL : results;
    GIVES_REAL(wg_logabsdet(t, a, sign));
}
ROW(wg_logdet_spd) {
    TAPE(t);
    DIM(n);
    SPD(a, n);
    GIVES_REAL(wg_logdet_spd(t, a));
}
ROW(wg_det) {
    TAPE(t);
    DIM(n);
    MAT(a, n, n);
    GIVES_REAL(wg_det(t, a));
}

/* ---- triangular and banded ---- */

ROW(wg_trsm) {
    TAPE(t);
    FLAG(side, "LR");
    FLAG(uplo, "LU");
    FLAG(trans, "NT");
    FLAG(diag, "NU");
    NUMBER(alpha);
    DIM(n);
    DIM(k);
    MAT(a, n, n);
    MAT(b, side == 'R' ? k : n, side == 'R' ? n : k);
    GIVES_MAT(wg_trsm(t, side, uplo, trans, diag, alpha, a, b));
}
ROW(wg_trsv) {
    TAPE(t);
    FLAG(uplo, "LU");
    FLAG(trans, "NT");
    FLAG(diag, "NU");
    DIM(n);
    MAT(a, n, n);
    MAT(b, n, 1);
    GIVES_MAT(wg_trsv(t, uplo, trans, diag, a, b));
}
ROW(wg_trsm_batch) {
    BATCH;
    FLAG(side, "LR");
    FLAG(uplo, "LU");
    FLAG(trans, "NT");
    FLAG(diag, "NU");
    NUMBER(alpha);
    MAT(a, n, n * some);
    MAT(b, side == 'R' ? 2 : n, (side == 'R' ? n : 2) * some);
    GIVES_MAT(wg_trsm_batch(t, count, side, uplo, trans, diag, alpha, a, b));
}
ROW(wg_solve_banded) {
    TAPE(t);
    const int odd = one_in(20);
    const size_t kl = odd ? draw_size("kl") : draw_below("kl", 3);
    const size_t ku = odd ? draw_size("ku") : draw_below("ku", 3);
    DIM(n);
    DIM(k);
    MAT(a, odd ? 3 : kl + ku + 1, n);
    MAT(b, n, k);
    GIVES_MAT(wg_solve_banded(t, kl, ku, a, b));
}
ROW(wg_solve_tridiagonal) {
    TAPE(t);
    DIM(n);
    DIM(k);
    MAT(lower, n != 0 ? n - 1 : 0, 1);
    MAT(diagonal, n, 1);
    MAT(upper, n != 0 ? n - 1 : 0, 1);
    MAT(b, n, k);
    GIVES_MAT(wg_solve_tridiagonal(t, lower, diagonal, upper, b));
}

/* ---- orthogonal ---- */

#define OF_ANY(name)                                                                           \
    ROW(name) {                                                                                \
        TAPE(t);                                                                               \
        DIM(m);                                                                                \
        DIM(n);                                                                                \
        MAT(a, m, n);                                                                          \
        GIVES_MAT(name(t, a));                                                                 \
    }
ROW(wg_qr) {
    TAPE(t);
    DIM(m);
    DIM(n);
    MAT(a, m, n);
    wg_mat room[2] = {wg_mat_failed(1, 1), wg_mat_failed(1, 1)};
    wg_mat *const q = one_in(20) ? NULL : room, *const r = one_in(20) ? NULL : room + 1;
    GIVES_STATUS(wg_qr(t, a, q, r));
    keep_mat(room[0]), keep_mat(room[1]);
}
#define TWO_PLACES                                                                             \
    wg_mat room[2] = {wg_mat_failed(1, 1), wg_mat_failed(1, 1)};                               \
    wg_mat *const first = one_in(20) ? NULL : room, *const second = one_in(20) ? NULL : room + 1
#define KEEP_BOTH keep_mat(room[0]), keep_mat(room[1])

ROW(wg_qr_pivoted) {
    TAPE(t);
    DIM(m);
    DIM(n);
    MAT(a, m, n);
    TWO_PLACES;
    size_t perm[16], *const order = a.cols > 16 || one_in(4) ? NULL : perm;
    GIVES_STATUS(wg_qr_pivoted(t, a, first, second, order));
    KEEP_BOTH;
}
ROW(wg_lu_factors) {
    TAPE(t);
    DIM(n);
    MAT(a, n, n);
    TWO_PLACES;
    size_t perm[16], *const order = a.rows > 16 || one_in(4) ? NULL : perm;
    GIVES_STATUS(wg_lu_factors(t, a, first, second, order));
    KEEP_BOTH;
}
ROW(wg_polar) {
    TAPE(t);
    DIM(m);
    DIM(n);
    MAT(a, m, n);
    TWO_PLACES;
    GIVES_STATUS(wg_polar(t, a, first, second));
    KEEP_BOTH;
}
ROW(wg_solve_symmetric) {
    TAPE(t);
    DIM(n);
    DIM(k);
    MAT(a, n, n);
    MAT(b, n, k);
    GIVES_MAT(wg_solve_symmetric(t, a, b));
}
ROW(wg_logabsdet_symmetric) {
    TAPE(t);
    DIM(n);
    MAT(a, n, n);
    size_t count, *const negative = one_in(4) ? NULL : &count;
    GIVES_REAL(wg_logabsdet_symmetric(t, a, negative));
}
OF_ANY(wg_qr_q)
OF_ANY(wg_qr_r)
ROW(wg_lstsq) {
    TAPE(t);
    DIM(m);
    DIM(n);
    DIM(k);
    MAT(a, m, n);
    MAT(b, m, k);
    GIVES_MAT(wg_lstsq(t, a, b));
}
ROW(wg_pinv) {
    TAPE(t);
    DIM(m);
    DIM(n);
    MAT(a, m, n);
    const double rcond = one_in(2) ? -1 : number();
    named("rcond", "%.17g", rcond);
    GIVES_MAT(wg_pinv(t, a, rcond));
}

ROW(wg_solve_toeplitz) {
    TAPE(t);
    DIM(n);
    DIM(k);
    MAT(c, n, 1);
    MAT(r, n, 1);
    MAT(b, n, k);
    GIVES_MAT(wg_solve_toeplitz(t, c, r, b));
}
ROW(wg_solve_circulant) {
    TAPE(t);
    DIM(n);
    DIM(k);
    MAT(c, n, 1);
    MAT(b, n, k);
    GIVES_MAT(wg_solve_circulant(t, c, b));
}

static const struct row list[] = {
    LISTED(wg_solve_toeplitz, 4),
    LISTED(wg_solve_circulant, 4),
    LISTED(wg_lu, 8),
    LISTED(wg_potrf, 8),
    LISTED(wg_factor_solve, 12),
    LISTED(wg_factor_logdet, 8),
    LISTED(wg_factor_det, 8),
    LISTED(wg_factor_inverse, 8),
    LISTED(wg_solve, 12),
    LISTED(wg_solve_spd, 8),
    LISTED(wg_solve_batch, 6),
    LISTED(wg_solve_spd_batch, 6),
    LISTED(wg_cholesky_batch, 6),
    LISTED(wg_inverse, 8),
    LISTED(wg_inverse_spd, 6),
    LISTED(wg_cholesky, 8),
    LISTED(wg_logabsdet, 8),
    LISTED(wg_logdet_spd, 8),
    LISTED(wg_det, 8),
    LISTED(wg_trsm, 8),
    LISTED(wg_trsv, 8),
    LISTED(wg_trsm_batch, 6),
    LISTED(wg_solve_banded, 8),
    LISTED(wg_solve_tridiagonal, 8),
    LISTED(wg_qr, 8),
    LISTED(wg_qr_pivoted, 4),
    LISTED(wg_lu_factors, 4),
    LISTED(wg_polar, 4),
    LISTED(wg_solve_symmetric, 4),
    LISTED(wg_logabsdet_symmetric, 4),
    LISTED(wg_qr_q, 6),
    LISTED(wg_qr_r, 6),
    LISTED(wg_lstsq, 8),
    LISTED(wg_pinv, 6),
};
const struct rows calls_solve = ROWS(list);
