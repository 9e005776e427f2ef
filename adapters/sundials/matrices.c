/* SPDX-License-Identifier: MIT */
/* matrices.c - Jacobians in the matrices of SUNDIALS: dense, column after column; banded, by
 * diagonals; sparse, compressed by columns or rows. */
#include "internal.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sunmatrix/sunmatrix_band.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>

static double *room_for(wg_problem *p, wgi_room *r, size_t entries) {
    if (r->entries == NULL || r->entries_size < entries) {
        free(r->entries);
        r->entries = malloc((entries + 1) * sizeof *r->entries);
        r->entries_size = r->entries == NULL ? 0 : entries;
        if (r->entries == NULL) wg_problem_keep(p, WG_ENOMEM, "out of memory");
    }
    return r->entries;
}

/* ---- dense ------------------------------------------------------------------------------- */

static int weighted(wg_problem *p, wgi_room *r, double c, double factor, int transposed,
                    double *data) {
    const size_t n = r->states, cols = r->last - r->first;
    double *const rows = room_for(p, r, r->outputs * cols);
    if (rows == NULL) return -1;
    const wg_status s = wg_problem_jacobian(p, r->group, r->x, WG_ROW_MAJOR, rows, cols);
    for (size_t j = 0; j < n && s == WG_OK; j++)
        for (size_t i = 0; i < n; i++) {
            const double slope = cols == n ? 0 : c * rows[j * cols + n + i];
            data[transposed ? j * n + i : i * n + j] = factor * (rows[j * cols + i] + slope);
        }
    return wgi_sundials_code(s);
}

static int dense(wg_problem *p, wgi_room *r, double c, double factor, int transposed,
                 SUNMatrix to) {
    const size_t n = r->states;
    if ((size_t)SM_ROWS_D(to) != n || (size_t)SM_COLUMNS_D(to) != n)
        return wgi_sundials_code(
            wg_problem_keep(p, WG_ESHAPE, "sundials: a matrix of another size"));
    if (r->outputs != n || r->last - r->first != n || factor != 1)
        return weighted(p, r, c, factor, transposed, SM_DATA_D(to));
    /* Column by column is row by row of the transpose. */
    return wgi_sundials_code(wg_problem_jacobian(
        p, r->group, r->x, transposed ? WG_ROW_MAJOR : WG_COL_MAJOR, SM_DATA_D(to), n));
}

/* ---- by the pattern ---------------------------------------------------------------------- */

static wg_status find_pattern(wg_problem *p, wgi_room *r, const double *x) {
    return r->pattern != NULL
               ? WG_OK
               : wg_problem_jacobian_pattern(p, r->group, x, WG_ROW_MAJOR, &r->pattern);
}

wg_status wg_sundials_entries(wg_problem *p, const double *x, sunindextype *entries) {
    if (p == NULL || entries == NULL) return WG_ENULL;
    *entries = 0;
    wgi_room *const r = wgi_sundials_room(p, WGI_UNKNOWN);
    const wg_status s = r == NULL ? wg_problem_status(p) : find_pattern(p, r, x);
    if (s == WG_OK) *entries = (sunindextype)r->pattern->entries;
    return s;
}

/* Entries of the pattern at the point of the room; NULL: s is why. */
static const double *entries(wg_problem *p, wgi_room *r, wg_status *s) {
    *s = find_pattern(p, r, r->x);
    double *const values = *s == WG_OK ? room_for(p, r, r->pattern->entries) : NULL;
    if (values == NULL) {
        if (*s == WG_OK) *s = WG_ENOMEM;
        return NULL;
    }
    *s = wg_problem_sparse_jacobian(p, r->x, NULL, values);
    return *s == WG_OK ? values : NULL;
}

/* Row and column of entry k in the matrix that is wanted. Integrands have no row in it. */
static int placed(const wgi_room *r, size_t k, int transposed, size_t *row, size_t *col) {
    const size_t i = r->pattern->row[k], j = r->pattern->col[k], n = r->states;
    *row = transposed ? j % n : i;
    *col = transposed ? i : j % n;
    return i < n;
}

/* What entry k is multiplied by. */
static double weight(const wgi_room *r, size_t k, double c, double factor) {
    return r->pattern->col[k] < r->states ? factor : factor * c;
}

static int band(wg_problem *p, wgi_room *r, double c, double factor, int transposed,
                SUNMatrix to) {
    const sunindextype n = (sunindextype)r->states, upper = SM_UBAND_B(to),
                       lower = SM_LBAND_B(to);
    wg_status s;
    if (SM_ROWS_B(to) != n || SM_COLUMNS_B(to) != n)
        return wgi_sundials_code(
            wg_problem_keep(p, WG_ESHAPE, "sundials: a matrix of another size"));
    const double *const values = entries(p, r, &s);
    if (values == NULL) return wgi_sundials_code(s);
    memset(SM_DATA_B(to), 0, (size_t)SM_LDATA_B(to) * sizeof(double));
    for (size_t k = 0; k < r->pattern->entries; k++) {
        size_t row, col;
        if (!placed(r, k, transposed, &row, &col)) continue;
        const sunindextype below = (sunindextype)row - (sunindextype)col;
        if (below > lower || -below > upper)
            return wgi_sundials_code(wg_problem_keep(
                p, WG_EMISMATCH, "sundials: the Jacobian has entries outside of the band"));
        SM_COLUMN_B(to, col)[below] += weight(r, k, c, factor) * values[k];
    }
    return 0;
}

/* Entries by lines, in their order in the pattern; those of y and y' at one place share a
 * slot. */
static int make_plan(const wgi_room *r, int by_rows, int transposed, wgi_plan *plan) {
    const size_t n = r->states, count = r->pattern->entries;
    size_t *const order = malloc((count + 1) * sizeof *order), *const seen =
                                                                   calloc(n + 1, sizeof *seen);
    sunindextype *const begin = calloc(n + 2, sizeof *begin);
    size_t row, col, slots = 0;
    plan->slot = malloc((count + 1) * sizeof *plan->slot);
    plan->start = malloc((n + 1 + count) * sizeof *plan->start);
    plan->across = plan->start + n + 1;
    const int well = order != NULL && seen != NULL && begin != NULL && plan->slot != NULL &&
                     plan->start != NULL;
    for (size_t k = 0; k < count && well; k++)
        if (placed(r, k, transposed, &row, &col)) begin[(by_rows ? row : col) + 2]++;
    for (size_t l = 0; l < n && well; l++) begin[l + 2] += begin[l + 1];
    for (size_t k = 0; k < count && well; k++) {
        plan->slot[k] = SIZE_MAX;
        if (placed(r, k, transposed, &row, &col)) order[begin[(by_rows ? row : col) + 1]++] = k;
    }
    for (size_t l = 0; l < n && well; l++) {
        const size_t first =
            slots; /* seen: 1 + the slot of an index across, if that is of this line */
        plan->start[l] = (sunindextype)slots;
        for (sunindextype e = begin[l]; e < begin[l + 1]; e++) {
            placed(r, order[e], transposed, &row, &col);
            const size_t across = by_rows ? col : row;
            if (seen[across] <= first) {
                plan->across[slots] = (sunindextype)across;
                seen[across] = ++slots;
            }
            plan->slot[order[e]] = seen[across] - 1;
        }
    }
    if (well) plan->start[n] = (sunindextype)slots;
    free(order), free(seen), free(begin);
    if (!well) {
        free(plan->slot), free(plan->start);
        *plan = (wgi_plan){NULL, NULL, NULL};
    }
    return well;
}

static int sparse(wg_problem *p, wgi_room *r, double c, double factor, int transposed,
                  SUNMatrix to) {
    const size_t n = r->states;
    const int by_rows = SM_SPARSETYPE_S(to) == CSR_MAT;
    wgi_plan *const plan = &r->plan[by_rows][transposed];
    wg_status s;
    if ((size_t)SM_ROWS_S(to) != n || (size_t)SM_COLUMNS_S(to) != n)
        return wgi_sundials_code(
            wg_problem_keep(p, WG_ESHAPE, "sundials: a matrix of another size"));
    const double *const values = entries(p, r, &s);
    if (values == NULL) return wgi_sundials_code(s);
    if (plan->slot == NULL && !make_plan(r, by_rows, transposed, plan))
        return wgi_sundials_code(wg_problem_keep(p, WG_ENOMEM, "out of memory"));
    const sunindextype slots = plan->start[n];
    if (SM_NNZ_S(to) < slots)
        return wgi_sundials_code(wg_problem_keep(
            p, WG_ESHAPE,
            "sundials: the matrix has no room for the entries that wg_sundials_entries counts"));
    memcpy(SM_INDEXPTRS_S(to), plan->start, (n + 1) * sizeof *plan->start);
    memcpy(SM_INDEXVALS_S(to), plan->across, (size_t)slots * sizeof *plan->across);
    memset(SM_DATA_S(to), 0, (size_t)slots * sizeof(double));
    for (size_t k = 0; k < r->pattern->entries; k++)
        if (plan->slot[k] != SIZE_MAX)
            SM_DATA_S(to)[plan->slot[k]] += weight(r, k, c, factor) * values[k];
    return 0;
}

int wgi_sundials_jacobian(wg_problem *p, wgi_room *r, double c, double factor, int transposed,
                          SUNMatrix to) {
    switch (to->ops->getid(to)) { /* SUNMatGetID */
    case SUNMATRIX_DENSE:
        return dense(p, r, c, factor, transposed, to);
    case SUNMATRIX_BAND:
        return band(p, r, c, factor, transposed, to);
    case SUNMATRIX_SPARSE:
        return sparse(p, r, c, factor, transposed, to);
    default:
        return wgi_sundials_code(wg_problem_keep(
            p, WG_EARG, "sundials: a matrix that is not dense, banded or sparse"));
    }
}
