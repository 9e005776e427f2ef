/* SPDX-License-Identifier: MIT */
/* second_order_batches - the sum of the sines of all results of each batch of batch.h. Inputs
 * are the numbers of matrices A_k, from -1 to 1. A batch is of A_k + 2 sqrt(n) I; where it
 * wants positive definite matrices, of A_k A_k' + I; eigenvalues and singular values are those
 * of A_k, exponentials of A_k / sqrt(n). */
#include "second_order_batches.h"

#include <math.h>

enum { SMALL = 4, SMALL_COUNT = 1000, LARGE = 32, LARGE_COUNT = 100 };

/* Members side by side. */
struct members {
    size_t order, count;
    wg_mat a;
};

static struct members members_of(wg_tape *t, size_t n, const wg_real *x) {
    const int small = n == (size_t)SMALL * SMALL * SMALL_COUNT;
    struct members m = {small ? SMALL : LARGE, small ? SMALL_COUNT : LARGE_COUNT, {0}};
    m.a = wg_mat_gather(t, m.order, m.order * m.count, x);
    return m;
}

/* Each member plus d times the identity. */
static wg_mat shifted(wg_tape *t, const struct members *m, wg_mat a, double d) {
    const wg_mat one = wg_tile(t, wg_mat_identity(t, m->order), 1, m->count);
    return wg_mat_axpby(t, 1, a, d, one);
}
static struct members regular(wg_tape *t, size_t n, const wg_real *x) {
    struct members m = members_of(t, n, x);
    m.a = shifted(t, &m, m.a, 2 * sqrt((double)m.order));
    return m;
}
static struct members definite(wg_tape *t, size_t n, const wg_real *x) {
    struct members m = members_of(t, n, x);
    m.a = shifted(t, &m, wg_gemm_batch(t, m.count, 'N', 'T', 1, m.a, m.a), 1);
    return m;
}

static wg_real sines(wg_tape *t, wg_mat a) { return wg_mat_sum(t, wg_mat_sin(t, a)); }
static wg_real sines_of_two(wg_tape *t, wg_mat a, wg_mat b) {
    return wg_let(t, wg_add(sines(t, a), sines(t, b)));
}
/* Numbers that are the same for all members. */
static wg_mat numbers(wg_tape *t, size_t rows, size_t cols) {
    wg_mat a = wg_mat_fill(t, rows, cols, 1);
    return wg_mat_cumsum(t, a, WG_EACH_ROW);
}

static wg_real det(wg_tape *t, size_t n, const wg_real *x) {
    const struct members m = regular(t, n, x);
    return sines(t, wg_det_batch(t, m.count, m.a));
}
static wg_real logabsdet(wg_tape *t, size_t n, const wg_real *x) {
    const struct members m = regular(t, n, x);
    return sines(t, wg_logabsdet_batch(t, m.count, m.a, NULL));
}
static wg_real logdet_spd(wg_tape *t, size_t n, const wg_real *x) {
    const struct members m = definite(t, n, x);
    return sines(t, wg_logdet_spd_batch(t, m.count, m.a));
}
static wg_real inverse(wg_tape *t, size_t n, const wg_real *x) {
    const struct members m = regular(t, n, x);
    return sines(t, wg_inverse_batch(t, m.count, m.a));
}
static wg_real inverse_spd(wg_tape *t, size_t n, const wg_real *x) {
    const struct members m = definite(t, n, x);
    return sines(t, wg_inverse_spd_batch(t, m.count, m.a));
}
static wg_real qr(wg_tape *t, size_t n, const wg_real *x) {
    const struct members m = regular(t, n, x);
    wg_mat q, r;
    (void)wg_qr_batch(t, m.count, m.a, &q, &r);
    return sines_of_two(t, q, r);
}
static wg_real lstsq(wg_tape *t, size_t n, const wg_real *x) {
    const struct members m = regular(t, n, x);
    return sines(t, wg_lstsq_batch(t, m.count, m.a, numbers(t, m.order, m.count)));
}
static wg_real eigvalsh(wg_tape *t, size_t n, const wg_real *x) {
    const struct members m = members_of(t, n, x);
    return sines(t, wg_eigvalsh_batch(t, m.count, m.a));
}
static wg_real eigh(wg_tape *t, size_t n, const wg_real *x) {
    const struct members m = members_of(t, n, x);
    wg_mat w, v;
    (void)wg_eigh_batch(t, m.count, m.a, &w, &v);
    return sines_of_two(t, w, v);
}
static wg_real svdvals(wg_tape *t, size_t n, const wg_real *x) {
    const struct members m = members_of(t, n, x);
    return sines(t, wg_svdvals_batch(t, m.count, m.a));
}
static wg_real svd(wg_tape *t, size_t n, const wg_real *x) {
    const struct members m = members_of(t, n, x);
    wg_mat u, s;
    (void)wg_svd_batch(t, m.count, m.a, &u, &s, NULL);
    return sines_of_two(t, u, s);
}
static wg_real expm(wg_tape *t, size_t n, const wg_real *x) {
    const struct members m = members_of(t, n, x);
    return sines(t, wg_expm_batch(t, m.count, wg_mat_scale(t, 1 / sqrt((double)m.order), m.a)));
}
/* Of two columns each. */
static wg_real normal(wg_tape *t, size_t n, const wg_real *x) {
    const struct members m = definite(t, n, x);
    const wg_mat mean = wg_mat_fill(t, m.order, 1, 0);
    return sines(t,
                 wg_mvn_logpdf_batch(t, m.count, numbers(t, m.order, 2 * m.count), mean, m.a));
}

/* A row for each of the two orders. */
#define BATCH(name, title)                                                                     \
    {"batch_" #name "_4", title ", 1,000 of 4", name, SMALL * SMALL * SMALL_COUNT, 1, 0, 0}, { \
        "batch_" #name "_32", title ", 100 of 32", name, LARGE *LARGE *LARGE_COUNT, 1, 0, 0    \
    }

const struct second_function second_batches[SECOND_BATCHES] = {
    BATCH(det, "determinants"),
    BATCH(logabsdet, "log-determinants"),
    BATCH(logdet_spd, "log-determinants, definite"),
    BATCH(inverse, "inverses"),
    BATCH(inverse_spd, "inverses, definite"),
    BATCH(qr, "QR"),
    BATCH(lstsq, "least squares"),
    BATCH(eigvalsh, "symmetric eigenvalues"),
    BATCH(eigh, "symmetric eigenproblems"),
    BATCH(svdvals, "singular values"),
    BATCH(svd, "SVD"),
    BATCH(expm, "exponentials"),
    BATCH(normal, "normal densities")};
