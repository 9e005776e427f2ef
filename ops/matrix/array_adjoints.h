/* SPDX-License-Identifier: MIT */
/* array_adjoints.h - what the adjoints of calls on plain arrays share: their arguments, and
 * sums over what is read of a matrix. Letters: array_calls.h; x_b the adjoint of x, w that of
 * a result. */
#ifndef WGI_OPS_MATRIX_ARRAY_ADJOINTS_H
#define WGI_OPS_MATRIX_ARRAY_ADJOINTS_H

#include <wengert/blas_vjp.h>
#include "array_calls.h"
#include "dense.h"

/* ---- arguments: the first that is wrong is the status ------------------------------------ */

static inline int is_row_major(int order) { return order == 101 || order == 'R'; }
static inline wg_status check_order(int order) {
    return is_row_major(order) || order == 102 || order == 'C' ? WG_OK : WG_EARG;
}
static inline wg_status check_flag(int f, const char *letters) {
    const char of = flag(f);
    return of == letters[0] || of == letters[1] ? WG_OK : WG_EARG;
}
static inline wg_status check_inc(int inc) { return inc != 0 ? WG_OK : WG_EARG; }
/* Of an m-by-n matrix. */
static inline wg_status check_ld(int order, int m, int n, int ld) {
    const int least = is_row_major(order) ? n : m;
    return ld >= 1 && ld >= least ? WG_OK : WG_ESHAPE;
}
/* An array that is read if `asked`. */
static inline wg_status check_array(int asked, const double *x) {
    return asked && x == NULL ? WG_ENULL : WG_OK;
}
#define CHECK(call)                                                                            \
    do {                                                                                       \
        const wg_status status_ = (call);                                                      \
        if (status_ != WG_OK) return status_;                                                  \
    } while (0)

static inline CBLAS_ORDER order_of(int order) {
    return is_row_major(order) ? CblasRowMajor : CblasColMajor;
}
static inline strides strides_of(int order, int ld) {
    return is_row_major(order) ? (strides){ld, 1} : (strides){1, ld};
}
static inline int is_turned(int trans) { return flag(trans) != 'N'; }
static inline CBLAS_UPLO uplo_of(int uplo) {
    return flag(uplo) == 'U' ? CblasUpper : CblasLower;
}
static inline CBLAS_DIAG diag_of(int diag) {
    return flag(diag) == 'U' ? CblasUnit : CblasNonUnit;
}
static inline part triangle_of(int uplo, int diag) {
    return (part){flag(uplo), flag(diag) == 'U'};
}

/* ---- sums -------------------------------------------------------------------------------- */

static inline double *at(double *a, strides s, int i, int j) {
    return a + (ptrdiff_t)i * s.down + (ptrdiff_t)j * s.across;
}
static inline const double *in(const double *a, strides s, int i, int j) {
    return a + (ptrdiff_t)i * s.down + (ptrdiff_t)j * s.across;
}
/* Rows [*first, *end) of column j, of m, that are read. */
static inline void read_rows(part p, int m, int j, int *first, int *end) {
    const int skip = p.unit != 0;
    *first = p.uplo == 'L' ? j + skip : 0;
    *end = p.uplo == 'U' && j + 1 - skip < m ? j + 1 - skip : m;
}

/* Do the elements of a row lie side by side? Loops then go through the transpose. */
static inline int is_by_rows(strides s) { return s.across == 1 && s.down > 1; }
static inline part mirrored(part p) {
    return (part){p.uplo == 'L' ? 'U' : p.uplo == 'U' ? 'L' : p.uplo, p.unit};
}

/* The sum of x y over what is read of two matrices that lie alike. */
static inline double dot_of(int m, int n, const double *x, strides sx, const double *y,
                            strides sy, part p) {
    double sum = 0;
    if (is_by_rows(sx)) {
        const int rows = m;
        m = n, n = rows;
        sx = turned(sx), sy = turned(sy), p = mirrored(p);
    }
    for (int j = 0; j < n; j++) {
        int i, end;
        for (read_rows(p, m, j, &i, &end); i < end; i++)
            sum += *in(x, sx, i, j) * *in(y, sy, i, j);
    }
    return sum;
}
/* w = beta w; 0 where beta is, whatever it was. */
static inline void scale(int m, int n, double beta, double *w, strides s, part p) {
    if (is_by_rows(s)) {
        const int rows = m;
        m = n, n = rows;
        s = turned(s), p = mirrored(p);
    }
    for (int j = 0; j < n && beta != 1; j++) {
        int i, end;
        for (read_rows(p, m, j, &i, &end); i < end; i++) {
            double *const x = at(w, s, i, j);
            *x = beta == 0 ? 0 : beta * *x;
        }
    }
}
/* Of the term beta C: beta_b, and what is left of w is the adjoint of C as it was. */
static inline void back_of_old(int m, int n, double beta, double *beta_b, const double *c,
                               double *w, strides s, part p) {
    if (beta_b != NULL) *beta_b += dot_of(m, n, c, s, w, s, p);
    scale(m, n, beta, w, s, p);
}

/* Has a triangle, or a factor, a 0 on its diagonal? */
static inline int is_singular(int n, const double *a, strides s, part p) {
    for (int i = 0; i < n && !p.unit; i++)
        if (*in(a, s, i, i) == 0) return 1;
    return 0;
}

#endif
