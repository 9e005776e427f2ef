/* SPDX-License-Identifier: MIT */
/* calls_batch.c - rows: operations on batches, windows. */
#include "calls.h"

#define BATCH                                                                                  \
    TAPE(t);                                                                                   \
    const size_t count = one_in(20) ? draw_size("count") : draw_below("count", 4);             \
    const size_t some = count < 6 ? count : 2;                                                 \
    DIM(n)
/* Side by side, positive definite ones. */
static wg_mat beside(wg_tape *t, size_t n, size_t count) {
    wg_mat a[6];
    for (size_t i = 0; i < count; i++) a[i] = draw_spd("a", n);
    return wg_concat_cols(t, count, a);
}
#define SQUARE(name)                                                                           \
    ROW(name) {                                                                                \
        BATCH;                                                                                 \
        MAT(a, n, n *some);                                                                    \
        GIVES_MAT(name(t, count, a));                                                          \
    }
#define DEFINITE(name)                                                                         \
    ROW(name) {                                                                                \
        BATCH;                                                                                 \
        const wg_mat a = beside(t, n, some);                                                   \
        GIVES_MAT(name(t, count, a));                                                          \
    }
#define PLACES(k)                                                                              \
    wg_mat room[k];                                                                            \
    for (size_t i = 0; i < (k); i++) room[i] = wg_mat_failed(1, 1)
#define PLACE(k) (one_in(6) ? NULL : &room[k])

SQUARE(wg_det_batch)
ROW(wg_logabsdet_batch) {
    BATCH;
    MAT(a, n, n * some);
    double *const sign = count < 6 && one_in(2) ? results : NULL;
    GIVES_MAT(wg_logabsdet_batch(t, count, a, sign));
}
DEFINITE(wg_logdet_spd_batch)
SQUARE(wg_inverse_batch)
DEFINITE(wg_inverse_spd_batch)
ROW(wg_qr_batch) {
    BATCH;
    DIM(m);
    MAT(a, m, n * some);
    PLACES(2);
    wg_mat *const q = PLACE(0), *const r = PLACE(1);
    GIVES_STATUS(wg_qr_batch(t, count, a, q, r));
    keep_mat(room[0]), keep_mat(room[1]);
}
ROW(wg_lstsq_batch) {
    BATCH;
    DIM(m);
    MAT(a, m, n * some);
    MAT(b, m, 2 * some);
    GIVES_MAT(wg_lstsq_batch(t, count, a, b));
}
SQUARE(wg_eigvalsh_batch)
ROW(wg_eigh_batch) {
    BATCH;
    MAT(a, n, n * some);
    PLACES(2);
    wg_mat *const w = PLACE(0), *const v = PLACE(1);
    GIVES_STATUS(wg_eigh_batch(t, count, a, w, v));
    keep_mat(room[0]), keep_mat(room[1]);
}
ROW(wg_svdvals_batch) {
    BATCH;
    DIM(m);
    MAT(a, m, n * some);
    GIVES_MAT(wg_svdvals_batch(t, count, a));
}
ROW(wg_svd_batch) {
    BATCH;
    DIM(m);
    MAT(a, m, n * some);
    PLACES(3);
    wg_mat *const u = PLACE(0), *const s = PLACE(1), *const vt = PLACE(2);
    GIVES_STATUS(wg_svd_batch(t, count, a, u, s, vt));
    keep_mat(room[0]), keep_mat(room[1]), keep_mat(room[2]);
}
SQUARE(wg_expm_batch)
ROW(wg_mvn_logpdf_batch) {
    BATCH;
    const int one = one_in(3);
    MAT(y, n, 2 * some);
    MAT(mu, n, one_in(3) ? 1 : some);
    const wg_mat s = beside(t, n, one ? 1 : some);
    GIVES_MAT(wg_mvn_logpdf_batch(t, count, y, mu, s));
}
ROW(wg_windows) {
    BATCH;
    const size_t stride = one_in(20) ? draw_size("stride") : draw_below("stride", 4);
    DIM(m);
    MAT(x, m, n + 3 * some);
    GIVES_MAT(wg_windows(t, x, count, n, stride));
}

static const struct row list[] = {
    LISTED(wg_det_batch, 5),         LISTED(wg_logabsdet_batch, 5),
    LISTED(wg_logdet_spd_batch, 5),  LISTED(wg_inverse_batch, 5),
    LISTED(wg_inverse_spd_batch, 5), LISTED(wg_qr_batch, 5),
    LISTED(wg_lstsq_batch, 5),       LISTED(wg_eigvalsh_batch, 5),
    LISTED(wg_eigh_batch, 5),        LISTED(wg_svdvals_batch, 5),
    LISTED(wg_svd_batch, 5),         LISTED(wg_expm_batch, 5),
    LISTED(wg_mvn_logpdf_batch, 5),  LISTED(wg_windows, 5),
};
const struct rows calls_batch = ROWS(list);
