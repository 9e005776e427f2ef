/* SPDX-License-Identifier: MIT */
/* calls_products.c - rows: products, convolutions, sparse matrices. */
#include "calls.h"

ROW(wg_mat_dot) {
    TAPE(t);
    DIM(m);
    DIM(n);
    MAT(x, m, n);
    MAT(y, m, n);
    GIVES_REAL(wg_mat_dot(t, x, y));
}
ROW(wg_axpy) {
    TAPE(t);
    NUMBER(alpha);
    DIM(n);
    MAT(x, n, 1);
    MAT(y, n, 1);
    GIVES_MAT(wg_axpy(t, alpha, x, y));
}
ROW(wg_axpy_real) {
    TAPE(t);
    REAL(alpha);
    DIM(n);
    MAT(x, n, 1);
    MAT(y, n, 1);
    GIVES_MAT(wg_axpy_real(t, alpha, x, y));
}
ROW(wg_ger) {
    TAPE(t);
    NUMBER(alpha);
    DIM(m);
    DIM(n);
    MAT(x, m, 1);
    MAT(y, n, 1);
    MAT(a, m, n);
    GIVES_MAT(wg_ger(t, alpha, x, y, a));
}
ROW(wg_outer) {
    TAPE(t);
    DIM(m);
    DIM(n);
    MAT(x, m, 1);
    MAT(y, n, 1);
    GIVES_MAT(wg_outer(t, x, y));
}
ROW(wg_gemv) {
    TAPE(t);
    FLAG(trans, "NT");
    NUMBER(alpha);
    DIM(m);
    DIM(n);
    MAT(a, trans == 'T' ? n : m, trans == 'T' ? m : n);
    MAT(x, n, 1);
    NUMBER(beta);
    MAT(y, m, 1);
    GIVES_MAT(wg_gemv(t, trans, alpha, a, x, beta, y));
}
#define GEMM                                                                                   \
    TAPE(t);                                                                                   \
    FLAG(ta, "NT");                                                                            \
    FLAG(tb, "NT");                                                                            \
    DIM(m);                                                                                    \
    DIM(k);                                                                                    \
    DIM(n);                                                                                    \
    MAT(a, ta == 'T' ? k : m, ta == 'T' ? m : k);                                              \
    MAT(b, tb == 'T' ? n : k, tb == 'T' ? k : n);                                              \
    MAT(c, m, n)
ROW(wg_gemm) {
    GEMM;
    NUMBER(alpha);
    NUMBER(beta);
    GIVES_MAT(wg_gemm(t, ta, tb, alpha, a, b, beta, c));
}
ROW(wg_gemm_real) {
    GEMM;
    REAL(alpha);
    REAL(beta);
    GIVES_MAT(wg_gemm_real(t, ta, tb, alpha, a, b, beta, c));
}
ROW(wg_matmul) {
    TAPE(t);
    DIM(m);
    DIM(k);
    DIM(n);
    MAT(a, m, k);
    MAT(b, k, n);
    GIVES_MAT(wg_matmul(t, a, b));
}
ROW(wg_gemm_batch) {
    TAPE(t);
    const size_t count = one_in(20) ? draw_size("count") : 1 + draw_below("count", 3);
    const size_t some = count < 6 ? count : 2;
    FLAG(ta, "NT");
    FLAG(tb, "NT");
    NUMBER(alpha);
    MAT(a, 2, 2 * some);
    MAT(b, 2, 2 * some);
    GIVES_MAT(wg_gemm_batch(t, count, ta, tb, alpha, a, b));
}
ROW(wg_symv) {
    TAPE(t);
    FLAG(uplo, "LU");
    NUMBER(alpha);
    DIM(n);
    MAT(a, n, n);
    MAT(x, n, 1);
    NUMBER(beta);
    MAT(y, n, 1);
    GIVES_MAT(wg_symv(t, uplo, alpha, a, x, beta, y));
}
ROW(wg_symm) {
    TAPE(t);
    FLAG(side, "LR");
    FLAG(uplo, "LU");
    NUMBER(alpha);
    DIM(m);
    DIM(n);
    MAT(a, side == 'R' ? n : m, side == 'R' ? n : m);
    MAT(b, m, n);
    NUMBER(beta);
    MAT(c, m, n);
    GIVES_MAT(wg_symm(t, side, uplo, alpha, a, b, beta, c));
}
ROW(wg_syrk) {
    TAPE(t);
    FLAG(trans, "NT");
    NUMBER(alpha);
    DIM(n);
    DIM(k);
    MAT(a, trans == 'T' ? k : n, trans == 'T' ? n : k);
    NUMBER(beta);
    MAT(c, n, n);
    GIVES_MAT(wg_syrk(t, trans, alpha, a, beta, c));
}
ROW(wg_trmv) {
    TAPE(t);
    FLAG(uplo, "LU");
    FLAG(trans, "NT");
    FLAG(diag, "NU");
    DIM(n);
    MAT(a, n, n);
    MAT(x, n, 1);
    GIVES_MAT(wg_trmv(t, uplo, trans, diag, a, x));
}
ROW(wg_trmm) {
    TAPE(t);
    FLAG(side, "LR");
    FLAG(uplo, "LU");
    FLAG(trans, "NT");
    FLAG(diag, "NU");
    NUMBER(alpha);
    DIM(m);
    DIM(n);
    MAT(a, side == 'R' ? n : m, side == 'R' ? n : m);
    MAT(b, m, n);
    GIVES_MAT(wg_trmm(t, side, uplo, trans, diag, alpha, a, b));
}
ROW(wg_einsum) {
    static const char *const texts[] = {"ij,jk->ik",  "ij,ij->i", "ij,kj->",  "ij,j->i",
                                        "ij,jk->ikj", "i,j->ij",  "ii,jk->i", "ij,jk",
                                        "",           "ij,kl->m"};
    TAPE(t);
    DIM(m);
    DIM(n);
    DIM(k);
    MAT(a, m, n);
    MAT(b, n, k);
    const char *const text = one_in(40) ? NULL : texts[below(10)];
    named("text", "%s", text != NULL ? text : "NULL");
    const size_t said[8] = {m, n, k, 1, 1, 1, 1, 1}, *const size = one_in(2) ? NULL : said;
    GIVES_MAT(wg_einsum(t, text, size, a, b));
}
ROW(wg_kron) {
    TAPE(t);
    DIM(m);
    DIM(n);
    MAT(a, m, n);
    MAT(b, n, 2);
    GIVES_MAT(wg_kron(t, a, b));
}
ROW(wg_quadform) {
    TAPE(t);
    DIM(n);
    MAT(a, n, n);
    MAT(x, n, 1);
    GIVES_REAL(wg_quadform(t, a, x));
}
ROW(wg_trace) {
    TAPE(t);
    DIM(n);
    MAT(a, n, n);
    GIVES_REAL(wg_trace(t, a));
}
ROW(wg_trace_product) {
    TAPE(t);
    DIM(m);
    DIM(n);
    MAT(a, m, n);
    MAT(b, n, m);
    GIVES_REAL(wg_trace_product(t, a, b));
}

/* ---- convolutions ---- */

static size_t small_size(void) {
    static const size_t odd[] = {SIZE_MAX, 0, (size_t)1 << 32, SIZE_MAX / 2, 100};
    return one_in(40) ? odd[below(5)] : 1 + below(3);
}
static wg_conv draw_conv(void) {
    wg_conv s;
    s.batch = small_size();
    s.height = small_size();
    s.width = small_size();
    s.filters = small_size();
    s.kernel_height = small_size();
    s.kernel_width = small_size();
    for (size_t i = 0; i < 2; i++) {
        s.stride[i] = small_size();
        s.dilation[i] = one_in(2) ? 0 : small_size();
        s.pad[i] = small_size() - 1;
    }
    s.groups = one_in(2) ? 0 : small_size();
    named("s", "{%zu, %zu, %zu, %zu, %zu, %zu, {%zu, %zu}, {%zu, %zu}, {%zu, %zu}, %zu}",
          s.batch, s.height, s.width, s.filters, s.kernel_height, s.kernel_width, s.stride[0],
          s.stride[1], s.dilation[0], s.dilation[1], s.pad[0], s.pad[1], s.groups);
    return s;
}
ROW(wg_conv2d) {
    TAPE(t);
    const wg_conv s = draw_conv();
    MAT(x, s.groups == 2 ? 4 : 2, s.height * s.width * s.batch);
    MAT(w, 2, s.kernel_height * s.kernel_width * s.filters);
    MAT(bias, s.filters, 1);
    const wg_mat *const bias_or_none = one_in(2) ? NULL : &bias;
    const wg_conv *const conv = one_in(60) ? NULL : &s;
    GIVES_MAT(wg_conv2d(t, conv, x, w, bias_or_none));
}
ROW(wg_conv2d_transposed) {
    TAPE(t);
    const wg_conv s = draw_conv();
    size_t cols = s.batch;
    for (int d = 0; d < 2; d++) {
        const size_t reach = (s.dilation[d] == 0 ? 1 : s.dilation[d]) *
                                 ((d == 0 ? s.kernel_height : s.kernel_width) - 1) +
                             1,
                     all = (d == 0 ? s.height : s.width) + 2 * s.pad[d];
        cols *= all < reach || s.stride[d] == 0 ? 0 : (all - reach) / s.stride[d] + 1;
    }
    MAT(r, s.filters, cols);
    MAT(w, 2, s.kernel_height * s.kernel_width * s.filters);
    MAT(bias, s.groups == 2 ? 4 : 2, 1);
    const wg_mat *const bias_or_none = one_in(2) ? NULL : &bias;
    const wg_conv *const conv = one_in(60) ? NULL : &s;
    GIVES_MAT(wg_conv2d_transposed(t, conv, r, w, bias_or_none));
}
#define OF_POOL(name)                                                                          \
    ROW(name) {                                                                                \
        TAPE(t);                                                                               \
        wg_pool s;                                                                             \
        s.batch = small_size(), s.height = small_size(), s.width = small_size();               \
        s.kernel_height = small_size(), s.kernel_width = small_size();                         \
        for (size_t i = 0; i < 2; i++) {                                                       \
            s.stride[i] = one_in(3) ? 0 : small_size();                                        \
            s.pad[i] = one_in(2) ? 0 : small_size() - 1;                                       \
        }                                                                                      \
        named("s", "{%zu, %zu, %zu, %zu, %zu, {%zu, %zu}, {%zu, %zu}}", s.batch, s.height,     \
              s.width, s.kernel_height, s.kernel_width, s.stride[0], s.stride[1], s.pad[0],    \
              s.pad[1]);                                                                       \
        MAT(x, 2, s.height *s.width *s.batch);                                                 \
        const wg_pool *const pool = one_in(60) ? NULL : &s;                                    \
        GIVES_MAT(name(t, pool, x));                                                           \
    }
OF_POOL(wg_max_pool2d)
OF_POOL(wg_average_pool2d)
ROW(wg_conv1d) {
    TAPE(t);
    const size_t batch = small_size(), filters = small_size(), stride = small_size();
    const size_t pad = small_size() - 1;
    named("batch", "%zu", batch);
    named("filters", "%zu", filters);
    named("stride", "%zu", stride);
    named("pad", "%zu", pad);
    MAT(x, 2, 4 * batch);
    MAT(w, 2, 2 * filters);
    MAT(bias, filters, 1);
    const wg_mat *const bias_or_none = one_in(2) ? NULL : &bias;
    GIVES_MAT(wg_conv1d(t, batch, filters, stride, pad, x, w, bias_or_none));
}

/* ---- sparse matrices ---- */

ROW(wg_csr_pattern) {
    TAPE(t);
    size_t start_[5] = {0}, col_[32];
    const size_t rows = 1 + below(4), cols = one_in(3) ? 1 + below(4) : rows;
    const int full = one_in(2);
    for (size_t i = 0; i < rows; i++) {
        start_[i + 1] = start_[i];
        for (size_t j = 0; j < cols; j++)
            if (full || i == j || one_in(3)) col_[start_[i + 1]++] = j;
    }
    if (one_in(20)) col_[0] = cols;
    if (one_in(20)) start_[1] = 0;
    const size_t *const start = one_in(60) ? NULL : start_, *const col =
                                                                one_in(60) ? NULL : col_;
    named("rows", "%zu", rows);
    named("cols", "%zu", cols);
    say("pattern", "wg_csr_pattern(t, rows, cols, start, col)");
    const size_t k = below(PATTERNS);
    call.room->pattern[k] = wg_csr_pattern(t, rows, cols, start, col);
    call.room->pattern_stamp[k] = t != NULL ? t->stamp : 0;
}
/* A pattern; mostly one of this recording. */
static wg_csr pattern(wg_tape *t) {
    static const size_t start[] = {0, 2, 4}, col[] = {0, 1, 0, 1};
    struct room *const r = call.room;
    const size_t k = below(PATTERNS);
    if (one_in(30)) return world.room[below(TAPES)].pattern[k];
    if (t == NULL || (r->pattern_stamp[k] == t->stamp && r->pattern[k].start != NULL))
        return r->pattern[k];
    aside("a full pattern of 2x2");
    r->pattern_stamp[k] = t->stamp;
    return r->pattern[k] = wg_csr_pattern(t, 2, 2, start, col);
}
#define SPARSE                                                                                 \
    TAPE(t);                                                                                   \
    const wg_csr pattern_ = pattern(t);                                                        \
    const wg_csr *const s = one_in(60) ? NULL : &pattern_;                                     \
    named("s", "{%zux%zu, %zu entries}", pattern_.rows, pattern_.cols, pattern_.nnz);          \
    MAT(values, pattern_.nnz, 1)
ROW(wg_spmv) {
    SPARSE;
    FLAG(trans, "NT");
    MAT(x, trans == 'T' ? pattern_.rows : pattern_.cols, 1);
    GIVES_MAT(wg_spmv(t, trans, s, values, x));
}
ROW(wg_spmm) {
    SPARSE;
    FLAG(trans, "NT");
    DIM(n);
    MAT(x, trans == 'T' ? pattern_.rows : pattern_.cols, n);
    GIVES_MAT(wg_spmm(t, trans, s, values, x));
}
ROW(wg_sparse_solve) {
    SPARSE;
    FLAG(trans, "NT");
    DIM(n);
    MAT(b, pattern_.rows, n);
    GIVES_MAT(wg_sparse_solve(t, trans, s, values, b));
}
ROW(wg_sparse_spd_solve) {
    SPARSE;
    DIM(n);
    MAT(b, pattern_.rows, n);
    GIVES_MAT(wg_sparse_spd_solve(t, s, values, b));
}
ROW(wg_sparse_spd_logdet) {
    SPARSE;
    GIVES_REAL(wg_sparse_spd_logdet(t, s, values));
}

static const struct row list[] = {
    LISTED(wg_mat_dot, 8),
    LISTED(wg_axpy, 8),
    LISTED(wg_axpy_real, 8),
    LISTED(wg_ger, 8),
    LISTED(wg_outer, 8),
    LISTED(wg_gemv, 8),
    LISTED(wg_gemm, 12),
    LISTED(wg_gemm_real, 8),
    LISTED(wg_matmul, 12),
    LISTED(wg_gemm_batch, 8),
    LISTED(wg_symv, 8),
    LISTED(wg_symm, 8),
    LISTED(wg_syrk, 8),
    LISTED(wg_trmv, 8),
    LISTED(wg_trmm, 8),
    LISTED(wg_einsum, 6),
    LISTED(wg_kron, 6),
    LISTED(wg_quadform, 8),
    LISTED(wg_trace, 6),
    LISTED(wg_trace_product, 6),
    LISTED(wg_conv2d, 8),
    LISTED(wg_conv2d_transposed, 8),
    LISTED(wg_max_pool2d, 6),
    LISTED(wg_average_pool2d, 6),
    LISTED(wg_conv1d, 8),
    LISTED(wg_csr_pattern, 8),
    LISTED(wg_spmv, 8),
    LISTED(wg_spmm, 8),
    LISTED(wg_sparse_solve, 4),
    LISTED(wg_sparse_spd_solve, 4),
    LISTED(wg_sparse_spd_logdet, 4),
};
const struct rows calls_products = ROWS(list);
