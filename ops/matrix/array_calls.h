/* SPDX-License-Identifier: MIT */
/* array_calls.h - operands of calls on the caller's arrays: gathered into matrices, and results
 * put back.
 *
 * Letters: m n k sizes, ld a leading dimension; down, across: from one row, from one column, to
 * the next. A row-major matrix is one with other strides, an upper triangle the lower one of
 * the transpose. */
#ifndef WGI_OPS_MATRIX_ARRAY_CALLS_H
#define WGI_OPS_MATRIX_ARRAY_CALLS_H

#include <wengert/blas.h>
#include <wengert/data.h>
#include <wengert/elementwise.h>
#include <wengert/products.h>
#include "tape/engine/tape.h"

typedef struct call {
    wg_tape *t;
    const char *name;
} call;

/* Which elements of a matrix are read or written: 'G' all; 'L', 'U' a triangle, its diagonal
 * being 1 if `unit`; 'S' a lower triangle that stands for both. */
typedef struct part {
    char uplo;
    int unit;
} part;
static const part all_of_it = {'G', 0};

typedef struct strides {
    ptrdiff_t down, across;
} strides;

/* ---- arguments -------------------------------------------------------------------------- */

/* A letter of CBLAS's number, or of a letter; 'T' for 'C'. */
static inline char flag(int f) {
    static const char letters[][4] = {"NTT", "UL", "NU", "LR"};
    static const char counts[] = {3, 2, 2, 2};
    if (f >= 111 && f < 151 && (f - 111) % 10 < counts[(f - 111) / 10])
        return letters[(f - 111) / 10][(f - 111) % 10];
    if (f >= 'a' && f <= 'z') f += 'A' - 'a';
    return f == 'C' ? 'T' : f > 0 && f < 128 ? (char)f : '?';
}
/* One of two letters that sizes of arrays depend on. With another one the tape fails, and
 * none is read. */
static inline char flag_of(call c, int f, const char *letters) {
    const char of = flag(f);
    if (of != letters[0] && of != letters[1])
        (void)wgi_fail(wgi_core_of(c.t), WG_EARG, "%s: a flag is neither '%c' nor '%c'", c.name,
                       letters[0], letters[1]);
    return of;
}
static inline int is_constant(wg_real x) { return x.at.slot == 0; }
static inline double number_of(wg_real x) { return is_constant(x) ? x.value : 1; }

static inline int row_major(call c, int order) {
    if (order == 101 || order == 'R') return 1;
    if (order != 102 && order != 'C' && c.t != NULL)
        (void)wgi_fail(wgi_core_of(c.t), WG_EARG, "%s: the order is neither 'C' nor 'R'",
                       c.name);
    return 0;
}
/* The strides of an m-by-n matrix with a leading dimension; 0 where that is none, so that
 * nothing beside the first element is touched. */
static inline strides lying(call c, int order, size_t m, size_t n, int ld) {
    const int rows = row_major(c, order);
    const size_t least = rows ? n : m;
    if (ld < 1 || (size_t)ld < least) {
        if (c.t != NULL)
            (void)wgi_fail(wgi_core_of(c.t), WG_ESHAPE,
                           "%s: the leading dimension is %d, of a %zux%zu matrix", c.name, ld,
                           m, n);
        return (strides){0, 0};
    }
    return rows ? (strides){ld, 1} : (strides){1, ld};
}
static inline strides turned(strides s) { return (strides){s.across, s.down}; }

/* Has the call nothing to do, or can it do nothing? */
static inline int is_idle(call c, int n) { return c.t == NULL || n <= 0; }

/* ---- from arrays to matrices ------------------------------------------------------------- */

static inline int is_read(part p, size_t i, size_t j) {
    return p.uplo == 'G' || (i == j && !p.unit) || (p.uplo == 'U' ? i < j : i > j);
}

static inline wg_mat gathered(call c, size_t m, size_t n, const wg_real *x, strides s, part p) {
    wgi_core *const core = wgi_core_of(c.t);
    if (p.uplo == 'G' && (s.down == 1 || m == 1) && ((size_t)s.across == m || n == 1))
        return wg_mat_gather(c.t, m, n, x);
    wgi_home home;
    void *room = NULL;
    wg_status status = WG_ENOMEM;
    if (m <= SIZE_MAX / sizeof(wg_real) / n)
        status = wgi_home_obtain(core, m * n * sizeof(wg_real), &home, &room);
    if (status != WG_OK) {
        (void)wgi_fail(core, status, "%s: no memory for a %zux%zu matrix", c.name, m, n);
        return wg_mat_failed(m, n);
    }
    wg_real *const all = room;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++) {
            const int mirrored = p.uplo == 'S' && i < j;
            const ptrdiff_t at = (ptrdiff_t)(mirrored ? j : i) * s.down +
                                 (ptrdiff_t)(mirrored ? i : j) * s.across;
            all[i + j * m] = mirrored || is_read(p, i, j) ? x[at] : wg_constant(i == j);
        }
    const wg_mat r = wg_mat_gather(c.t, m, n, all);
    wgi_home_release(&home, room);
    return r;
}

static inline wg_mat read_matrix(call c, size_t m, size_t n, wg_array a, strides s, part p) {
    if (a.variables == NULL && a.numbers == NULL) {
        (void)wgi_fail(wgi_core_of(c.t), WG_ENULL, "%s: an array is NULL", c.name);
        return wg_mat_failed(m, n);
    }
    if (wg_tape_status(c.t) != WG_OK || m == 0 || n == 0) return wg_mat_fill(c.t, m, n, 0);
    return a.variables != NULL
               ? gathered(c, m, n, a.variables, s, p)
               : wg_mat_constant_strided(c.t, m, n, a.numbers, s.down, s.across);
}
static inline wg_mat read_own(call c, size_t m, size_t n, const wg_real *a, strides s, part p) {
    return read_matrix(c, m, n, wg_array_of_variables(a), s, p);
}

/* The strides of the triangle uplo as a lower one. */
static inline strides lower_strides(call c, int order, int uplo, size_t n, int ld) {
    const strides s = lying(c, order, n, n, ld);
    const char of = flag(uplo);
    if (of != 'L' && of != 'U' && c.t != NULL)
        (void)wgi_fail(wgi_core_of(c.t), WG_EARG, "%s: uplo is neither 'L' nor 'U'", c.name);
    return of == 'U' ? turned(s) : s;
}
/* A symmetric matrix, of which one triangle is there: of variables both have its elements, for
 * operations divide an adjoint between the two; of numbers the lower one is right. */
static inline wg_mat read_symmetric(call c, size_t n, wg_array a, int order, int uplo, int ld) {
    return read_matrix(c, n, n, a, lower_strides(c, order, uplo, n, ld), (part){'S', 0});
}

/* Where a vector begins: behind its end, if it goes backwards. */
static inline ptrdiff_t first_of(size_t n, int inc) {
    return inc < 0 ? -(ptrdiff_t)inc * (ptrdiff_t)(n - 1) : 0;
}
static inline wg_mat read_vector(call c, size_t n, wg_array x, int inc) {
    if (inc == 0) {
        (void)wgi_fail(wgi_core_of(c.t), WG_EARG, "%s: an increment is 0", c.name);
        return wg_mat_failed(n, 1);
    }
    if (x.variables != NULL) x.variables += first_of(n, inc);
    else if (x.numbers != NULL) x.numbers += first_of(n, inc);
    return read_matrix(c, n, 1, x, (strides){inc, (ptrdiff_t)n}, all_of_it);
}
static inline wg_mat read_own_vector(call c, size_t n, const wg_real *x, int inc) {
    return read_vector(c, n, wg_array_of_variables(x), inc);
}

/* ---- and back --------------------------------------------------------------------------- */

static inline void put_matrix(wg_mat r, size_t m, size_t n, wg_real *to, strides s, part p) {
    for (size_t j = 0; to != NULL && j < n; j++)
        for (size_t i = 0; i < m; i++)
            if (is_read(p, i, j))
                to[(ptrdiff_t)i * s.down + (ptrdiff_t)j * s.across] = wg_mat_at(r, i, j);
}
static inline void put_vector(wg_mat r, size_t n, wg_real *to, int inc) {
    if (to == NULL) return;
    put_matrix(r, n, 1, to + first_of(n, inc), (strides){inc, 0}, all_of_it);
}
static inline void put_nothing(size_t m, size_t n, wg_real *to, strides s) {
    put_matrix(wg_mat_failed(m, n), m, n, to, s, all_of_it);
}

/* alpha R, where a number alpha is in R already; R + beta C. */
static inline wg_mat scaled(call c, wg_real alpha, wg_mat r) {
    return is_constant(alpha) ? r : wg_mat_scale_real(c.t, alpha, r);
}
static inline int is_zero(wg_real beta) { return is_constant(beta) && beta.value == 0; }
static inline wg_mat plus(call c, wg_mat r, wg_real beta, wg_mat of) {
    return is_constant(beta) ? wg_axpy(c.t, beta.value, of, r) : wg_axpy_real(c.t, beta, of, r);
}
static inline int ended(call c) { return c.t == NULL || wg_tape_status(c.t) != WG_OK; }

#endif
