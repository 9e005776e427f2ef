/* SPDX-License-Identifier: MIT */
/* Operations on whole matrices in the text: dense_values.c as loops, or as calls of CBLAS and
 * LAPACKE, the very same calls with the same operands, so that the bits are the same.
 *
 *     given[i]   operands, one after the other        got[i]     results
 *     work[i]    room for whole triangles             pivot[i]   rows, for LAPACK
 *
 * No dimension is beyond an int: wgi_graph_dense and files have bounds. Of LAPACKE only what
 * ends in _work is called, which neither allocates nor looks for NaN. Arrays are aligned as
 * those of dense_run.c: there are machines on which bits of BLAS depend on it. */
#include "emit_dense.h"

#include "tape/function/graph/dense_node.h"
#include "emit_repeat.h"

/* ---- texts ---- */

static const char is_zero[] = "static int wgi_is_zero(size_t n, const double *x) {\n"
                              "    for (size_t i = 0; i < n; i++)\n"
                              "        if (x[i] != 0) return 0;\n"
                              "    return 1;\n"
                              "}\n\n";
static const char is_finite[] = "static int wgi_is_finite(size_t n, const double *x) {\n"
                                "    for (size_t i = 0; i < n; i++)\n"
                                "        if (!isfinite(x[i])) return 0;\n"
                                "    return 1;\n"
                                "}\n\n";
static const char fill[] = "static void wgi_fill(size_t n, double *y, double value) {\n"
                           "    for (size_t i = 0; i < n; i++) y[i] = value;\n"
                           "}\n\n";
static const char aligned[] = "#if defined(__GNUC__)\n"
                              "#define wgi_aligned __attribute__((aligned(64)))\n"
                              "#else\n"
                              "#define wgi_aligned\n"
                              "#endif\n\n";
static const char unpack[] = "/* A lower triangle that stands column after column. */\n"
                             "static void wgi_unpack(size_t n, const double *x, double *a) {\n"
                             "    for (size_t j = 0; j < n; x += n - j, j++) {\n"
                             "        wgi_fill(j, a + j * n, 0);\n"
                             "        memcpy(a + j * (n + 1), x, (n - j) * sizeof(double));\n"
                             "    }\n"
                             "}\n\n";
static const char pack[] = "static void wgi_pack(size_t n, const double *a, double *y) {\n"
                           "    for (size_t j = 0; j < n; y += n - j, j++)\n"
                           "        memcpy(y, a + j * (n + 1), (n - j) * sizeof(double));\n"
                           "}\n\n";

/* By kind, without anything else. Of triangles the lower one stands there, column after
 * column. */
static const char *const by_loops[WGI_DENSE_KINDS] = {
    [WGI_DENSE_PRODUCT] =
        "static void wgi_product(size_t m, size_t n, size_t k, int rule, const double *x,\n"
        "                        double *y) {\n"
        "    const double *const b = x + m * k;\n"
        "    wgi_fill(m * n, y, 0);\n"
        "    if (rule && (wgi_is_zero(m * k, x) || wgi_is_zero(k * n, b))) return;\n"
        "    for (size_t j = 0; j < n; j++)\n"
        "        for (size_t e = 0; e < k; e++)\n"
        "            for (size_t i = 0; i < m; i++)\n"
        "                y[i + j * m] += x[i + e * m] * b[e + j * k];\n"
        "}\n\n",
    [WGI_DENSE_TRIANGLE] =
        "static void wgi_triangle(size_t n, size_t k, int rule, const double *x, double *y) {\n"
        "    const double *const b = x + n * (n + 1) / 2;\n"
        "    memcpy(y, b, n * k * sizeof(double));\n"
        "    if (rule && wgi_is_zero(n * k, b)) return;\n"
        "    for (size_t c = 0, at = 0; c < n; at += n - c, c++)\n"
        "        if (x[at] == 0) {\n"
        "            wgi_fill(n * k, y, NAN);\n"
        "            return;\n"
        "        }\n"
        "    for (size_t j = 0; j < k; j++, y += n) {\n"
        "        const double *l = x;\n"
        "        for (size_t c = 0; c < n; l += n - c, c++) {\n"
        "            y[c] /= *l;\n"
        "            for (size_t i = c + 1; i < n; i++) y[i] -= l[i - c] * y[c];\n"
        "        }\n"
        "    }\n"
        "}\n\n",
    [WGI_DENSE_CHOLESKY] =
        "static void wgi_cholesky(size_t n, const double *x, double *y) {\n"
        "    const size_t all = n * (n + 1) / 2;\n"
        "    double *a = y;\n"
        "    memcpy(y, x, all * sizeof(double));\n"
        "    for (size_t c = 0; c < n; a += n - c, c++) {\n"
        "        if (!(*a > 0)) {\n"
        "            wgi_fill(all, y, NAN);\n"
        "            return;\n"
        "        }\n"
        "        *a = sqrt(*a);\n"
        "        for (size_t i = c + 1; i < n; i++) a[i - c] /= *a;\n"
        "        double *to = a + n - c;\n"
        "        for (size_t j = c + 1; j < n; to += n - j, j++)\n"
        "            for (size_t i = j; i < n; i++) to[i - j] -= a[i - c] * a[j - c];\n"
        "    }\n"
        "}\n\n",
    [WGI_DENSE_POTRF_BAR] =
        "/* The adjoint of a symmetric matrix from that of its Cholesky factor. */\n"
        "static void wgi_cholesky_bar(size_t n, int rule, const double *x, double *y) {\n"
        "    const size_t all = n * (n + 1) / 2;\n"
        "    memcpy(y, x + all, all * sizeof(double));\n"
        "    if (rule && wgi_is_zero(all, y)) return;\n"
        "    for (size_t j = n; j-- > 0;) {\n"
        "        const double *const l = x + j * n - j * (j + 1) / 2 + j;\n"
        "        double *const w = y + (l - x);\n"
        "        double s = 0;\n"
        "        for (size_t i = 1; i < n - j; i++) w[i] /= *l, s += w[i] * l[i];\n"
        "        *w = (*w - s) / *l;\n"
        "        for (size_t k = 0; k < j; k++) {\n"
        "            const double *const lk = x + k * n - k * (k + 1) / 2 + j;\n"
        "            double *const wk = y + (lk - x), r = *lk;\n"
        "            for (size_t i = 1; i < n - j; i++) {\n"
        "                *wk -= w[i] * lk[i];\n"
        "                wk[i] -= w[i] * r;\n"
        "            }\n"
        "            *wk -= *w * r;\n"
        "        }\n"
        "        *w *= 0.5;\n"
        "    }\n"
        "}\n\n",
    [WGI_DENSE_LU] =
        "/* Packed factors; pivots, from 1; their sign. */\n"
        "static void wgi_lu(size_t n, const double *x, double *y) {\n"
        "    double *const row = y + n * n;\n"
        "    memcpy(y, x, n * n * sizeof(double));\n"
        "    if (!wgi_is_finite(n * n, x)) {\n"
        "        wgi_fill(n * n + n + 1, y, NAN);\n"
        "        return;\n"
        "    }\n"
        "    row[n] = 1;\n"
        "    for (size_t c = 0; c < n; c++) {\n"
        "        size_t best = c;\n"
        "        for (size_t i = c + 1; i < n; i++)\n"
        "            if (fabs(y[i + c * n]) > fabs(y[best + c * n])) best = i;\n"
        "        row[c] = (double)(best + 1);\n"
        "        if (best != c) row[n] = -row[n];\n"
        "        for (size_t j = 0; j < n; j++) {\n"
        "            const double v = y[c + j * n];\n"
        "            y[c + j * n] = y[best + j * n];\n"
        "            y[best + j * n] = v;\n"
        "        }\n"
        "        if (!(fabs(y[c + c * n]) > 0)) {\n"
        "            wgi_fill(n * n + n + 1, y, NAN);\n"
        "            return;\n"
        "        }\n"
        "        for (size_t i = c + 1; i < n; i++) y[i + c * n] /= y[c + c * n];\n"
        "        for (size_t j = c + 1; j < n; j++)\n"
        "            for (size_t i = c + 1; i < n; i++)\n"
        "                y[i + j * n] -= y[i + c * n] * y[c + j * n];\n"
        "    }\n"
        "}\n\n",
    [WGI_DENSE_SOLVE] =
        "static void wgi_exchange(size_t n, const double *row, size_t i, double *y) {\n"
        "    const size_t p = row[i] >= 1 && row[i] <= (double)n ? (size_t)row[i] - 1 : i;\n"
        "    const double v = y[i];\n"
        "    y[i] = y[p];\n"
        "    y[p] = v;\n"
        "}\n\n"
        "/* Packed factors, pivots, right-hand sides. */\n"
        "static void wgi_solve(size_t n, size_t k, int turned, int rule, const double *x,\n"
        "                      double *y) {\n"
        "    const double *const row = x + n * n, *const b = row + n;\n"
        "    memcpy(y, b, n * k * sizeof(double));\n"
        "    if (rule && wgi_is_zero(n * k, b)) return;\n"
        "    for (size_t j = 0; j < k; j++, y += n) {\n"
        "        for (size_t i = 0; !turned && i < n; i++) wgi_exchange(n, row, i, y);\n"
        "        for (size_t c = 0; !turned && c < n; c++)\n"
        "            for (size_t i = c + 1; i < n; i++) y[i] -= x[i + c * n] * y[c];\n"
        "        for (size_t c = n; !turned && c-- > 0;) {\n"
        "            y[c] /= x[c + c * n];\n"
        "            for (size_t i = 0; i < c; i++) y[i] -= x[i + c * n] * y[c];\n"
        "        }\n"
        "        for (size_t c = 0; turned && c < n; c++) {\n"
        "            for (size_t i = 0; i < c; i++) y[c] -= x[i + c * n] * y[i];\n"
        "            y[c] /= x[c + c * n];\n"
        "        }\n"
        "        for (size_t c = n; turned && c-- > 0;)\n"
        "            for (size_t i = c + 1; i < n; i++) y[c] -= x[i + c * n] * y[i];\n"
        "        for (size_t i = n; turned && i-- > 0;) wgi_exchange(n, row, i, y);\n"
        "    }\n"
        "}\n\n",
    [WGI_DENSE_LOGDET] = "static void wgi_logdet(size_t n, const double *x, double *y) {\n"
                         "    *y = 0;\n"
                         "    for (size_t i = 0; i < n; i++) *y += log(fabs(x[i + i * n]));\n"
                         "}\n\n",
};

/* By kind, as calls. */
static const char *const by_calls[WGI_DENSE_KINDS] = {
    [WGI_DENSE_PRODUCT] =
        "static void wgi_gemm(size_t m, size_t n, size_t k, int rule, const double *x,\n"
        "                     double *y) {\n"
        "    const double *const b = x + m * k;\n"
        "    const int rows = (int)m, cols = (int)n, inner = (int)k;\n"
        "    wgi_fill(m * n, y, 0);\n"
        "    if (rule && (wgi_is_zero(m * k, x) || wgi_is_zero(k * n, b))) return;\n"
        "    if (n == 1)\n"
        "        cblas_dgemv(CblasColMajor, CblasNoTrans, rows, inner, 1, x, rows, b, 1, 1,\n"
        "                    y, 1);\n"
        "    else if (m == 1)\n"
        "        cblas_dgemv(CblasColMajor, CblasTrans, inner, cols, 1, b, inner, x, 1, 1,\n"
        "                    y, 1);\n"
        "    else if (k == 1)\n"
        "        cblas_dger(CblasColMajor, rows, cols, 1, x, 1, b, 1, y, rows);\n"
        "    else\n"
        "        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, rows, cols, inner, 1,\n"
        "                    x, rows, b, inner, 1, y, rows);\n"
        "}\n\n",
    [WGI_DENSE_TRIANGLE] =
        "static void wgi_trsm(size_t n, size_t k, int rule, const double *x, double *y,\n"
        "                     double *l) {\n"
        "    const double *const b = x + n * (n + 1) / 2;\n"
        "    const int order = (int)n;\n"
        "    memcpy(y, b, n * k * sizeof(double));\n"
        "    if (rule && wgi_is_zero(n * k, b)) return;\n"
        "    wgi_unpack(n, x, l);\n"
        "    for (size_t i = 0; i < n; i++)\n"
        "        if (l[i * (n + 1)] == 0) {\n"
        "            wgi_fill(n * k, y, NAN);\n"
        "            return;\n"
        "        }\n"
        "    if (k == 1)\n"
        "        cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, order, l,\n"
        "                    order, y, 1);\n"
        "    else\n"
        "        cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans,\n"
        "                    CblasNonUnit, order, (int)k, 1, l, order, y, order);\n"
        "}\n\n",
    [WGI_DENSE_CHOLESKY] =
        "static void wgi_potrf(size_t n, const double *x, double *y, double *a) {\n"
        "    const int order = (int)n;\n"
        "    wgi_unpack(n, x, a);\n"
        "    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', order, a, order) != 0)\n"
        "        wgi_fill(n * (n + 1) / 2, y, NAN);\n"
        "    else wgi_pack(n, a, y);\n"
        "}\n\n",
    [WGI_DENSE_POTRF_BAR] =
        "/* The adjoint of a symmetric matrix from that of its Cholesky factor: column by\n"
        " * column, then blocks of columns. */\n"
        "static void wgi_potrf_bar_columns(size_t n, const double *l, double *w, size_t ld) {\n"
        "    for (size_t j = n; j-- > 0;) {\n"
        "        const double *const c = l + j * ld;\n"
        "        double *const cw = w + j * ld;\n"
        "        const double d = 1 / c[j];\n"
        "        double s = 0;\n"
        "        for (size_t i = j + 1; i < n; i++) cw[i] *= d, s += cw[i] * c[i];\n"
        "        const double dw = (cw[j] - s) * d;\n"
        "        for (size_t k = 0; k < j; k++) {\n"
        "            const double *const lk = l + k * ld;\n"
        "            double *const wk = w + k * ld;\n"
        "            const double r = lk[j];\n"
        "            double s0 = 0, s1 = 0;\n"
        "            size_t i = j + 1;\n"
        "            for (; i + 1 < n; i += 2) {\n"
        "                s0 += cw[i] * lk[i], s1 += cw[i + 1] * lk[i + 1];\n"
        "                wk[i] -= cw[i] * r, wk[i + 1] -= cw[i + 1] * r;\n"
        "            }\n"
        "            if (i < n) s0 += cw[i] * lk[i], wk[i] -= cw[i] * r;\n"
        "            wk[j] -= dw * r + (s0 + s1);\n"
        "        }\n"
        "        cw[j] = 0.5 * dw;\n"
        "    }\n"
        "}\n\n"
        "static void wgi_potrf_bar(size_t n, size_t block, int rule, const double *x,\n"
        "                          double *y, double *work) {\n"
        "    const size_t all = n * (n + 1) / 2, room = (n * n + 3) / 4 * 4;\n"
        "    double *const l = work, *const w = l + room, *const s = w + room;\n"
        "    const int ld = (int)n;\n"
        "    if (rule && wgi_is_zero(all, x + all)) {\n"
        "        wgi_fill(all, y, 0);\n"
        "        return;\n"
        "    }\n"
        "    wgi_unpack(n, x, l);\n"
        "    wgi_unpack(n, x + all, w);\n"
        "    for (size_t j1 = n, j0; j1 > 0; j1 = j0) {\n"
        "        j0 = j1 > block ? j1 - block : 0;\n"
        "        const size_t m = j1 - j0;\n"
        "        const int below = (int)(n - j1), width = (int)m, before = (int)j0;\n"
        "        const double *const r = l + j0, *const d = r + j0 * n;\n"
        "        const double *const under = l + j1, *const c = under + j0 * n;\n"
        "        double *const rw = w + j0, *const dw = rw + j0 * n;\n"
        "        double *const cw = w + j1 + j0 * n;\n"
        "        if (below != 0) {\n"
        "            cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans,\n"
        "                        CblasNonUnit, below, width, 1, d, ld, cw, ld);\n"
        "            if (before != 0)\n"
        "                cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, below, before,\n"
        "                            width, -1, cw, ld, r, ld, 1, w + j1, ld);\n"
        "            cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, width, width, below,\n"
        "                        -1, cw, ld, c, ld, 0, s, width);\n"
        "            for (size_t j = 0; j < m; j++)\n"
        "                for (size_t i = j; i < m; i++) dw[i + j * n] += s[i + j * m];\n"
        "        }\n"
        "        wgi_potrf_bar_columns(m, d, dw, n);\n"
        "        if (before == 0) continue;\n"
        "        for (size_t j = 0; j < m; j++) {\n"
        "            s[j * (m + 1)] = 2 * dw[j * (n + 1)];\n"
        "            for (size_t i = j + 1; i < m; i++)\n"
        "                s[i + j * m] = s[j + i * m] = dw[i + j * n];\n"
        "        }\n"
        "        if (below != 0)\n"
        "            cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, width, before, below,\n"
        "                        -1, cw, ld, under, ld, 1, rw, ld);\n"
        "        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, width, before, width,\n"
        "                    -1, s, width, r, ld, 1, rw, ld);\n"
        "    }\n"
        "    wgi_pack(n, w, y);\n"
        "}\n\n",
    [WGI_DENSE_LU] =
        "/* Packed factors; pivots, from 1; their sign. */\n"
        "static void wgi_getrf(size_t n, const double *x, double *y, lapack_int *pivot) {\n"
        "    double *const row = y + n * n;\n"
        "    const int order = (int)n;\n"
        "    memcpy(y, x, n * n * sizeof(double));\n"
        "    if (!wgi_is_finite(n * n, x) ||\n"
        "        LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, order, order, y, order, pivot) != 0) {\n"
        "        wgi_fill(n * n + n + 1, y, NAN);\n"
        "        return;\n"
        "    }\n"
        "    row[n] = 1;\n"
        "    for (size_t i = 0; i < n; i++) {\n"
        "        row[i] = (double)pivot[i];\n"
        "        if ((size_t)pivot[i] != i + 1) row[n] = -row[n];\n"
        "    }\n"
        "}\n\n",
    [WGI_DENSE_SOLVE] =
        "/* Packed factors, pivots, right-hand sides. */\n"
        "static void wgi_getrs(size_t n, size_t k, int turned, int rule, const double *x,\n"
        "                      double *y, lapack_int *pivot) {\n"
        "    const double *const row = x + n * n, *const b = row + n;\n"
        "    const int order = (int)n;\n"
        "    memcpy(y, b, n * k * sizeof(double));\n"
        "    if (rule && wgi_is_zero(n * k, b)) return;\n"
        "    for (size_t i = 0; i < n; i++) {\n"
        "        if (!(row[i] >= 1 && row[i] <= (double)n)) {\n"
        "            wgi_fill(n * k, y, NAN);\n"
        "            return;\n"
        "        }\n"
        "        pivot[i] = (lapack_int)row[i];\n"
        "    }\n"
        "    (void)LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, turned ? 'T' : 'N', order, (int)k, x,\n"
        "                              order, pivot, y, order);\n"
        "}\n\n",
};

/* ---- what an operation becomes ---- */

typedef enum { NOTHING, LOOPS, CALLS } form; /* NOTHING: numbers */

static form form_of(const wgi_source *s, const wgi_dense_op *op) {
    if (wgi_dense_is_empty(op)) return NOTHING;
    if (!s->blas || op->kind == WGI_DENSE_LOGDET || wgi_dense_is_few(op)) return LOOPS;
    return CALLS;
}

/* Kinds that are there in that form, a bit for each; also in bodies. */
static unsigned kinds_of(const wgi_source *s, const wg_function *f, form how, int bodies) {
    unsigned kinds = 0;
    for (size_t i = 0; i < f->nodes; i++) {
        const wgi_dense_op op = wgi_dense_of(&f->node[i]);
        if (f->node[i].kind == WGI_NODE_DENSE && form_of(s, &op) == how) kinds |= 1u << op.kind;
    }
    for (size_t k = 0; bodies && k < f->repeats; k++)
        kinds |= kinds_of(s, f->repeat[k].body, how, 1);
    return kinds;
}

enum {
    PRODUCT = 1 << WGI_DENSE_PRODUCT,
    TRIANGLE = 1 << WGI_DENSE_TRIANGLE,
    CHOLESKY = 1 << WGI_DENSE_CHOLESKY,
    POTRF_BAR = 1 << WGI_DENSE_POTRF_BAR,
    LU = 1 << WGI_DENSE_LU,
    SOLVE = 1 << WGI_DENSE_SOLVE
};

void wgi_emit_dense_headers(wgi_source *s) {
    const unsigned calls = kinds_of(s, s->f, CALLS, 1);
    if (calls & (PRODUCT | TRIANGLE | POTRF_BAR)) wgi_text_put(&s->o, "#include <cblas.h>\n");
    if (calls & (CHOLESKY | LU | SOLVE)) wgi_text_put(&s->o, "#include <lapacke.h>\n");
}

void wgi_emit_dense_support(wgi_source *s) {
    const unsigned loops = kinds_of(s, s->f, LOOPS, 0), calls = kinds_of(s, s->f, CALLS, 0);
    const unsigned any = loops | calls;
    if (any & (PRODUCT | TRIANGLE | POTRF_BAR | SOLVE)) wgi_source_named(s, is_zero);
    if (any & LU) wgi_source_named(s, is_finite);
    if (calls != 0) wgi_source_named(s, aligned);
    if (calls != 0 || loops & (PRODUCT | TRIANGLE | CHOLESKY | LU)) wgi_source_named(s, fill);
    if (calls & (TRIANGLE | CHOLESKY | POTRF_BAR)) wgi_source_named(s, unpack);
    if (calls & (CHOLESKY | POTRF_BAR)) wgi_source_named(s, pack);
    for (size_t k = 0; k < WGI_DENSE_KINDS; k++) {
        if (loops >> k & 1) wgi_source_named(s, by_loops[k]);
        if (calls >> k & 1) wgi_source_named(s, by_calls[k]);
    }
}

/* Operands [0, first) and [second, end) are read. */
typedef struct reading {
    size_t first, second, end;
} reading;

static reading reading_of(const wgi_dense_op *op) {
    const size_t all = wgi_dense_operands(op), matrix = op->size[0] * op->size[0];
    const size_t factors = matrix + op->size[0];
    if (wgi_dense_is_empty(op)) return (reading){0, 0, 0};
    if (op->kind == WGI_DENSE_LOGDET) return (reading){matrix, matrix, matrix};
    if (op->kind == WGI_DENSE_SOLVE) return (reading){factors, factors + matrix, all};
    return (reading){all, all, all};
}

int wgi_emit_dense_reads(const wgi_node *n, uint32_t k) {
    const wgi_dense_op op = wgi_dense_of(n);
    const reading r = reading_of(&op);
    return k < r.first || (k >= r.second && k < r.end);
}

/* ---- statements ---- */

static void line(wgi_source *s, const char *indent) {
    wgi_text_put(&s->o, indent);
    wgi_text_put(&s->o, "    ");
}

/* Of an empty matrix the determinant is 1, its logarithm and all else that there is 0. */
static void numbers(wgi_source *s, uint32_t node, const wgi_dense_op *op, const char *indent,
                    int lanes) {
    const size_t results = wgi_dense_results(op);
    if (results == 0) return;
    wgi_text_put(&s->o, indent);
    wgi_text_format(&s->o, "for (size_t k = 0; k < %zu; k++) %s[%u + k]%s = %d.0;\n", results,
                    s->apart && !lanes ? "u" : "t", s->slot[node], lanes ? "[l]" : "",
                    op->kind == WGI_DENSE_LU);
}

static size_t work_of(const wgi_dense_op *op) {
    const size_t square = op->size[0] * op->size[0], block = WGI_CHOLESKY_BLOCK;
    if (op->kind == WGI_DENSE_POTRF_BAR) return 2 * ((square + 3) / 4 * 4) + block * block;
    return op->kind == WGI_DENSE_TRIANGLE || op->kind == WGI_DENSE_CHOLESKY ? square : 0;
}

/* Loops give their results where these are used, if that is an array of doubles. */
static void declare(wgi_source *s, uint32_t node, const wgi_dense_op *op, const char *indent,
                    size_t given, int in_place, int calls) {
    line(s, indent);
    if (calls) wgi_source_named(s, "wgi_aligned ");
    wgi_text_format(&s->o, "double given[%zu]", given);
    if (calls && work_of(op) != 0) wgi_text_format(&s->o, ", work[%zu]", work_of(op));
    if (!in_place) wgi_text_format(&s->o, ", got[%zu];\n", wgi_dense_results(op));
    else
        wgi_text_format(&s->o, ", *const got = %s + %u;\n", s->apart ? "u" : "t",
                        s->slot[node]);
    if (!calls || (op->kind != WGI_DENSE_LU && op->kind != WGI_DENSE_SOLVE)) return;
    line(s, indent);
    wgi_text_format(&s->o, "lapack_int pivot[%zu];\n", op->size[0]);
}

static void call(wgi_source *s, const wgi_dense_op *op, int calls) {
    static const char *const name[WGI_DENSE_KINDS][2] = {
        [WGI_DENSE_PRODUCT] = {"wgi_product(", "wgi_gemm("},
        [WGI_DENSE_TRIANGLE] = {"wgi_triangle(", "wgi_trsm("},
        [WGI_DENSE_CHOLESKY] = {"wgi_cholesky(", "wgi_potrf("},
        [WGI_DENSE_POTRF_BAR] = {"wgi_cholesky_bar(", "wgi_potrf_bar("},
        [WGI_DENSE_LU] = {"wgi_lu(", "wgi_getrf("},
        [WGI_DENSE_SOLVE] = {"wgi_solve(", "wgi_getrs("},
        [WGI_DENSE_LOGDET] = {"wgi_logdet(", NULL}};
    const int rule = (op->flags & WGI_DENSE_RULE) != 0;
    const char *last = "";
    wgi_source_named(s, name[op->kind][calls]);
    wgi_text_format(&s->o, "%zu, ", op->size[0]);
    switch (op->kind) {
    case WGI_DENSE_PRODUCT:
        wgi_text_format(&s->o, "%zu, %zu, %d, ", op->size[1], op->size[2], rule);
        break;
    case WGI_DENSE_TRIANGLE:
        wgi_text_format(&s->o, "%zu, %d, ", op->size[1], rule);
        last = ", work";
        break;
    case WGI_DENSE_CHOLESKY:
        last = ", work";
        break;
    case WGI_DENSE_POTRF_BAR:
        if (calls) wgi_text_format(&s->o, "%d, ", (int)WGI_CHOLESKY_BLOCK);
        wgi_text_format(&s->o, "%d, ", rule);
        last = ", work";
        break;
    case WGI_DENSE_LU:
        last = ", pivot";
        break;
    case WGI_DENSE_SOLVE:
        wgi_text_format(&s->o, "%zu, %d, %d, ", op->size[1],
                        (op->flags & WGI_DENSE_TURNED) != 0, rule);
        last = ", pivot";
        break;
    default:
        break;
    }
    wgi_text_format(&s->o, "given, got%s);\n", calls ? last : "");
}

void wgi_emit_dense(wgi_source *s, uint32_t node, const char *indent) {
    const wgi_node *const n = &s->f->node[node];
    const wgi_dense_op op = wgi_dense_of(n);
    const uint32_t *const operand = s->f->operand + n->first;
    const int lanes = s->apart && n->when == WGI_EACH;
    const form how = form_of(s, &op);
    const reading r = reading_of(&op);
    if (how == NOTHING) {
        numbers(s, node, &op, indent, lanes);
        return;
    }
    wgi_text_put(&s->o, indent);
    wgi_text_put(&s->o, "{\n");
    const int in_place = !lanes && how == LOOPS;
    declare(s, node, &op, indent, r.first + (r.end - r.second), in_place, how == CALLS);
    wgi_emit_gather(s, indent, "given", 0, operand, r.first);
    wgi_emit_gather(s, indent, "given", r.first, operand + r.second, r.end - r.second);
    line(s, indent);
    call(s, &op, how == CALLS);
    if (!in_place) line(s, indent);
    if (lanes)
        wgi_text_format(&s->o, "for (size_t k = 0; k < %zu; k++) t[%u + k][l] = got[k];\n",
                        wgi_dense_results(&op), s->slot[node]);
    else if (!in_place)
        wgi_text_format(&s->o, "memcpy(%s + %u, got, %zu * sizeof(double));\n",
                        s->apart ? "u" : "t", s->slot[node], wgi_dense_results(&op));
    wgi_text_put(&s->o, indent);
    wgi_text_put(&s->o, "}\n");
}
