/* SPDX-License-Identifier: MIT */
/* programs_systems.c - systems of linear equations, determinants and Cholesky factors of
 * series: by elimination. */
#include <float.h>
#include <math.h>
#include "programs_toy.h"

enum { PROGRAM_ORDER = 24 }; /* of systems */

void toy_exchange(struct toy_matrix *a, size_t i, size_t k) {
    for (size_t j = 0; j < a->cols && i != k; j++) {
        const struct toy_series s = AT(a, i, j);
        AT(a, i, j) = AT(a, k, j);
        AT(a, k, j) = s;
    }
}

/* Rows below k eliminated, the same done to b; the row of the pivot. */
static size_t eliminate(struct toy_matrix *a, size_t k, struct toy_matrix *b) {
    size_t p = k;
    for (size_t i = k + 1; i < a->rows; i++)
        if (fabsl(AT(a, i, k).c[0]) > fabsl(AT(a, p, k).c[0])) p = i;
    toy_exchange(a, k, p);
    toy_exchange(b, k, p);
    for (size_t i = k + 1; i < a->rows; i++) {
        const struct toy_series f = toy_div(AT(a, i, k), AT(a, k, k));
        for (size_t j = k; j < a->cols; j++)
            AT(a, i, j) = toy_sub(AT(a, i, j), toy_mul(f, AT(a, k, j)));
        for (size_t j = 0; j < b->cols; j++)
            AT(b, i, j) = toy_sub(AT(b, i, j), toy_mul(f, AT(b, k, j)));
    }
    return p;
}

/* The largest sum of sizes in a column. */
static toy_real norm_of(size_t n, toy_real (*a)[PROGRAM_ORDER]) {
    toy_real most = 0;
    for (size_t j = 0; j < n; j++) {
        toy_real sum = 0;
        for (size_t i = 0; i < n; i++) sum += fabsl(a[i][j]);
        if (!(sum <= most)) most = sum;
    }
    return most;
}

/* Is a a rounding away from a singular matrix: is 1 / (|A| |A^-1|) below it? By Gauss and
 * Jordan. That condition counts. */
static int is_singular(const struct toy_matrix *a) {
    const size_t n = a->rows;
    toy_real u[PROGRAM_ORDER][PROGRAM_ORDER], v[PROGRAM_ORDER][PROGRAM_ORDER];
    if (n > PROGRAM_ORDER) return 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) u[i][j] = AT(a, i, j).c[0], v[i][j] = i == j;
    const toy_real size = norm_of(n, u);
    if (!(size <= LDBL_MAX)) return 0; /* no number comes of it anyway */
    for (size_t k = 0; k < n; k++) {
        size_t p = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabsl(u[i][k]) > fabsl(u[p][k])) p = i;
        const toy_real pivot = u[p][k];
        if (pivot == 0) return 1;
        for (size_t j = 0; j < n; j++) {
            const toy_real s = u[p][j] / pivot, w = v[p][j] / pivot;
            u[p][j] = u[k][j], v[p][j] = v[k][j];
            u[k][j] = s, v[k][j] = w;
        }
        for (size_t i = 0; i < n; i++) {
            const toy_real f = u[i][k];
            for (size_t j = 0; j < n && i != k; j++)
                u[i][j] -= f * u[k][j], v[i][j] -= f * v[k][j];
        }
    }
    const toy_real condition = size * norm_of(n, v);
    toy_run.condition *= condition;
    return !(condition * (toy_real)n * DBL_EPSILON < 1);
}

void toy_count_condition(const struct toy_matrix *a) {
    const toy_real before = toy_run.condition;
    (void)is_singular(a);
    if (!(toy_run.condition <= LDBL_MAX)) toy_run.condition = before;
}

struct toy_matrix toy_solve(const struct toy_matrix *a, const struct toy_matrix *b) {
    if (is_singular(a)) toy_run.known = 0;
    return toy_solve_any(a, b);
}
struct toy_matrix toy_solve_any(const struct toy_matrix *a, const struct toy_matrix *b) {
    struct toy_matrix u = toy_copy(a), y = toy_copy(b);
    const size_t n = a->rows;
    for (size_t k = 0; k < n; k++) (void)eliminate(&u, k, &y);
    for (size_t j = 0; j < y.cols; j++)
        for (size_t i = n; i-- > 0;) {
            for (size_t k = i + 1; k < n; k++)
                AT(&y, i, j) = toy_sub(AT(&y, i, j), toy_mul(AT(&u, i, k), AT(&y, k, j)));
            AT(&y, i, j) = toy_div(AT(&y, i, j), AT(&u, i, i));
        }
    return y;
}

/* Without division: by the first column. */
static struct toy_series expand(const struct toy_matrix *a) {
    struct toy_series y = toy_number(0);
    if (a->rows == 0) return toy_number(1);
    if (a->rows == 1) return a->v[0];
    for (size_t i = 0; i < a->rows; i++) {
        const size_t mark = toy_mark();
        struct toy_matrix minor = toy_new(a->rows - 1, a->rows - 1);
        for (size_t j = 1; j < a->rows; j++)
            for (size_t k = 0, row = 0; k < a->rows; k++)
                if (k != i) AT(&minor, row++, j - 1) = AT(a, k, j);
        const struct toy_series term = toy_mul(AT(a, i, 0), expand(&minor));
        y = i % 2 == 0 ? toy_add(y, term) : toy_sub(y, term);
        toy_rewind(mark);
    }
    return y;
}

struct toy_series toy_det(const struct toy_matrix *a) {
    enum { EXPANDED = 5 };
    if (a->rows <= EXPANDED) return expand(a);
    struct toy_matrix u = toy_copy(a), none = toy_new(a->rows, 0);
    struct toy_series y = toy_number(1);
    for (size_t k = 0; k < a->rows; k++) {
        if (eliminate(&u, k, &none) != k) y = toy_scale(-1, y);
        y = toy_mul(y, AT(&u, k, k));
    }
    return y;
}

struct toy_matrix toy_cholesky(const struct toy_matrix *a) {
    struct toy_matrix l = toy_new(a->rows, a->rows);
    for (size_t j = 0; j < a->rows; j++)
        for (size_t i = j; i < a->rows; i++) {
            struct toy_series s = AT(a, i, j);
            for (size_t k = 0; k < j; k++) s = toy_sub(s, toy_mul(AT(&l, i, k), AT(&l, j, k)));
            AT(&l, i, j) = i == j ? toy_sqrt(s) : toy_div(s, AT(&l, j, j));
        }
    return l;
}
