/* SPDX-License-Identifier: MIT */
/* grid_matrix.c - Jacobians on a DMDA.
 *
 * The function gives, at each point of a line, a block: the gradient of each residual by the
 * numbers at each point of the stencil. Where they go in the arrays of a matrix of PETSc's
 * usual kind is found once; into others they go by MatSetValuesStencil. Rows are of the
 * process that has the point: nothing is sent. */
#include "grid.h"
#include <limits.h>

#define NOWHERE (sizeof(PetscInt) == 8 ? (PetscInt)LLONG_MIN : (PetscInt)INT_MIN)

/* The point of the stencil there; is it on the grid? */
static int is_there(const wg_petsc_grid *g, const PetscInt *middle, const wgi_offset *o,
                    MatStencil *at) {
    for (PetscInt a = 0; a < g->dim; a++) {
        const PetscInt there = middle[a] + o->at[a];
        if (g->size[a] != 0 && (there < 0 || there >= g->size[a])) return 0;
    }
    *at = (MatStencil){
        .i = middle[0] + o->at[0], .j = middle[1] + o->at[1], .k = middle[2] + o->at[2]};
    return 1;
}

/* ---- by places --------------------------------------------------------------------------- */

/* A matrix of one process, or the two that one of several consists of: own columns, and
 * others. */
typedef struct halves {
    Mat of[2];
    const PetscInt *start[2], *col[2], *others; /* others: which columns these are */
    PetscInt rows, columns[2]; /* where own rows, and own columns, begin and end */
} halves;

/* Which halves: 0: it is another kind of matrix, or not assembled yet. */
static PetscErrorCode take_halves(Mat m, halves *h, int *usual) {
    PetscBool one, several, assembled, done[2] = {PETSC_TRUE, PETSC_TRUE};
    PetscInt end, n;
    *h = (halves){{NULL, NULL}, {NULL, NULL}, {NULL, NULL}, NULL, 0, {0, 0}};
    PetscCall(PetscObjectTypeCompare((PetscObject)m, MATSEQAIJ, &one));
    PetscCall(PetscObjectTypeCompare((PetscObject)m, MATMPIAIJ, &several));
    PetscCall(MatAssembled(m, &assembled));
    *usual = (one || several) && assembled;
    if (!*usual) return 0;
    PetscCall(MatGetOwnershipRange(m, &h->rows, &end));
    PetscCall(MatGetOwnershipRangeColumn(m, &h->columns[0], &h->columns[1]));
    h->of[0] = m;
    if (several) PetscCall(MatMPIAIJGetSeqAIJ(m, &h->of[0], &h->of[1], &h->others));
    for (int k = 0; k < 2 && h->of[k] != NULL; k++)
        PetscCall(MatGetRowIJ(h->of[k], 0, PETSC_FALSE, PETSC_FALSE, &n, &h->start[k],
                              &h->col[k], &done[k]));
    *usual = done[0] && done[1];
    return 0;
}

static PetscErrorCode give_halves(halves *h) {
    PetscBool done;
    PetscInt n;
    for (int k = 0; k < 2 && h->of[k] != NULL; k++)
        PetscCall(MatRestoreRowIJ(h->of[k], 0, PETSC_FALSE, PETSC_FALSE, &n, &h->start[k],
                                  &h->col[k], &done));
    return 0;
}

/* The place of an entry, its row and column as PETSc counts them. NOWHERE: it has none. */
static PetscInt find(const halves *h, PetscInt row, PetscInt col) {
    const int other = col < h->columns[0] || col >= h->columns[1];
    row -= h->rows;
    if (other && h->of[1] == NULL) return NOWHERE;
    for (PetscInt e = h->start[other][row]; e < h->start[other][row + 1]; e++) {
        const PetscInt at = h->col[other][e];
        if ((other ? h->others[at] : at + h->columns[0]) == col) return other ? ~e : e;
    }
    return NOWHERE;
}

/* The number of a point, ghosts counted. */
static PetscInt local_point(const wg_petsc_grid *g, PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt *const low = g->ghost_low, *const n = g->ghost_count;
    return ((k - low[2]) * n[1] + j - low[1]) * n[0] + i - low[0];
}

/* Of all entries of a point. Result: is there a place for each that is on the grid? */
static int find_point(wg_petsc_grid *g, const halves *h, const PetscInt *number,
                      const PetscInt *middle, PetscInt *slot) {
    const size_t d = (size_t)g->d;
    const PetscInt own = local_point(g, middle[0], middle[1], middle[2]);
    for (size_t e = 0; e < g->entries; e++) {
        const size_t p = g->entry[e] / (d * d), r = g->entry[e] / d % d, c = g->entry[e] % d;
        MatStencil at;
        slot[e] = NOWHERE;
        if (!is_there(g, middle, &g->stencil[p], &at)) continue;
        const PetscInt col = number[local_point(g, at.i, at.j, at.k) * g->d + (PetscInt)c];
        slot[e] = find(h, number[own * g->d + (PetscInt)r], col);
        if (slot[e] == NOWHERE) return 0;
    }
    return 1;
}

/* Finds the places, unless they are those of this matrix and pattern. */
static PetscErrorCode find_places(wg_petsc_grid *g, Mat m) {
    wgi_places *const places = &g->places;
    PetscObjectId id;
    PetscObjectState pattern;
    ISLocalToGlobalMapping map;
    const PetscInt *number;
    halves h;
    PetscCall(PetscObjectGetId((PetscObject)m, &id));
    PetscCall(MatGetNonzeroState(m, &pattern));
    if (places->matrix == id && places->pattern == pattern) return 0;
    PetscCall(take_halves(m, &h, &places->found));
    PetscCall(DMGetLocalToGlobalMapping(g->da, &map));
    PetscCall(ISLocalToGlobalMappingGetIndices(map, &number));
    PetscInt *slot = places->slot;
    for (PetscInt k = 0; k < g->count[2]; k++)
        for (PetscInt j = 0; j < g->count[1]; j++)
            for (PetscInt i = 0; i < g->count[0] && places->found; i++, slot += g->entries) {
                const PetscInt middle[] = {g->low[0] + i, g->low[1] + j, g->low[2] + k};
                places->found = find_point(g, &h, number, middle, slot);
            }
    PetscCall(ISLocalToGlobalMappingRestoreIndices(map, &number));
    PetscCall(give_halves(&h));
    places->matrix = id, places->pattern = pattern;
    return 0;
}

/* The entries of the points of a line; where points meet, there is a sum. */
static void put_line(const wg_petsc_grid *g, const PetscInt *slot, double *const array[2]) {
    const size_t d = (size_t)g->d, each = g->points * d * d;
    const double *from = g->line;
    for (PetscInt i = 0; i < g->count[0]; i++, from += each, slot += g->entries)
        for (size_t e = 0; e < g->entries; e++) {
            if (slot[e] == NOWHERE) continue;
            double *const to = slot[e] >= 0 ? array[0] + slot[e] : array[1] + ~slot[e];
            *to = g->meet ? *to + from[g->entry[e]] : from[g->entry[e]];
        }
}

/* ---- by stencils ------------------------------------------------------------------------- */

/* Row after row of the points of a line. */
static PetscErrorCode set_line(const wg_petsc_grid *g, Mat to, PetscInt j, PetscInt k) {
    const size_t d = (size_t)g->d, each = g->points * d * d;
    const double *from = g->line;
    for (PetscInt i = 0; i < g->count[0]; i++, from += each)
        for (size_t e = 0; e < g->entries; e++) {
            const size_t p = g->entry[e] / (d * d), r = g->entry[e] / d % d;
            const PetscInt middle[] = {g->low[0] + i, g->low[1] + j, g->low[2] + k};
            const MatStencil row = {
                .i = middle[0], .j = middle[1], .k = middle[2], .c = (PetscInt)r};
            MatStencil col;
            if (!is_there(g, middle, &g->stencil[p], &col)) continue;
            col.c = (PetscInt)(g->entry[e] % d);
            PetscCall(MatSetValuesStencil(to, 1, &row, 1, &col, &from[g->entry[e]],
                                          g->meet ? ADD_VALUES : INSERT_VALUES));
        }
    return 0;
}

/* ---- the Jacobian ------------------------------------------------------------------------ */

/* All lines. Result: 0, or after a failure of ours PETSC_ERR_LIB. */
static PetscErrorCode differentiate_lines(wg_petsc_grid *g, Mat b, double *const array[2],
                                          int *finite) {
    const size_t d = (size_t)g->d, each = g->points * d * d, wide = (size_t)g->count[0];
    const PetscInt *slot = g->places.slot;
    for (size_t p = 0; p < g->points; p++)
        g->y[p] = (wg_results){g->line + p * d * d, (ptrdiff_t)each, 1};
    for (PetscInt k = 0; k < g->count[2]; k++)
        for (PetscInt j = 0; j < g->count[1]; j++, slot += wide * g->entries) {
            wgi_petsc_grid_give_line(g, j, k);
            if (wgi_petsc_grid_line(g, g->jacobian, g->jacobian_work) != WG_OK)
                return PETSC_ERR_LIB;
            *finite = *finite && wgi_petsc_is_finite(wide * each, g->line);
            if (g->places.found) put_line(g, slot, array);
            else PetscCall(set_line(g, b, j, k));
        }
    return 0;
}

static PetscErrorCode differentiate(wg_petsc_grid *g, Vec u, Mat a, Mat b, int *finite) {
    double *array[2] = {NULL, NULL};
    Mat half[2] = {b, NULL};
    if (g == NULL || g->line == NULL) return PETSC_ERR_LIB;
    *finite = 1;
    PetscCall(wgi_petsc_grid_see(g, u));
    PetscCall(find_places(g, b));
    PetscCall(MatZeroEntries(b));
    if (g->places.found) {
        PetscBool several;
        PetscCall(PetscObjectTypeCompare((PetscObject)b, MATMPIAIJ, &several));
        if (several) PetscCall(MatMPIAIJGetSeqAIJ(b, &half[0], &half[1], NULL));
        for (int k = 0; k < 2 && half[k] != NULL; k++)
            PetscCall(MatSeqAIJGetArray(half[k], &array[k]));
    }
    const PetscErrorCode error = differentiate_lines(g, b, array, finite);
    for (int k = 0; k < 2 && array[k] != NULL; k++)
        PetscCall(MatSeqAIJRestoreArray(half[k], &array[k]));
    if (error != 0) return error;
    if (!*finite)
        wgi_petsc_grid_refuse(g, WG_ENONFINITE,
                              "petsc: an entry of the Jacobian is NaN or infinite");
    return wgi_petsc_assemble(a, b);
}

PetscErrorCode wg_petsc_grid_jacobian(SNES snes, Vec u, Mat a, Mat b, void *grid) {
    int finite;
    const PetscErrorCode error = differentiate(grid, u, a, b, &finite);
    return error != 0 || finite ? error : SNESSetJacobianDomainError(snes);
}

PetscErrorCode wg_petsc_grid_rates_jacobian(TS ts, PetscReal t, Vec u, Mat a, Mat b,
                                            void *grid) {
    int finite;
    (void)ts, (void)t;
    return differentiate(grid, u, a, b, &finite);
}
