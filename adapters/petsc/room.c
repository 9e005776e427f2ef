/* SPDX-License-Identifier: MIT */
/* room.c - what is kept with a problem between PETSc's calls: which of its inputs are unknowns,
 * and which are parameters, points, and sparse matrices with the patterns of the problem. */
#include "internal.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(PetscScalar) == sizeof(double), "a PETSc of real doubles");

/* ---- the room ---------------------------------------------------------------------------- */

static void clear(wgi_matrix *m) {
    free(m->start), free(m->col), free(m->slot), free(m->raw);
    *m = (wgi_matrix){0};
}
static void release(void *kept) {
    wgi_room *const r = kept;
    clear(&r->jacobian), clear(&r->hessian);
    free(r->x), free(r->entries);
    free(r);
}

/* Do the groups fit? */
static int are(const wg_problem *p, wgi_equations kind) {
    const size_t first = wg_problem_group(p, 0), second = wg_problem_group(p, 1),
                 m = wg_problem_outputs(p);
    if (kind == WGI_RATES) return first == 1 && second != 0 && second <= m;
    if (kind == WGI_RESIDUAL) return first == 1 && second == 2 * m;
    return first + second == wg_problem_inputs(p);
}

static wg_status measure(wg_problem *p, wgi_room *r, wgi_equations kind) {
    if (kind == WGI_UNKNOWN)
        kind = are(p, WGI_RATES) ? WGI_RATES : are(p, WGI_RESIDUAL) ? WGI_RESIDUAL : WGI_SYSTEM;
    r->group = r->first = kind != WGI_SYSTEM;
    r->inputs = wg_problem_inputs(p), r->outputs = wg_problem_outputs(p);
    const size_t size = wg_problem_group(p, r->group);
    r->states = kind == WGI_RESIDUAL ? r->outputs : size;
    r->rows = kind == WGI_RATES ? size : r->outputs;
    r->last = r->first + size;
    r->count = r->inputs - r->last;
    if (!are(p, kind) || r->count != wg_problem_group(p, r->group + 1))
        return wg_problem_keep(
            p, WG_ESHAPE,
            "petsc: the groups are not those of a system, of rates or a residual");
    r->x = calloc(2 * r->inputs + 2 * r->outputs + 1, sizeof *r->x);
    if (r->x == NULL) return wg_problem_keep(p, WG_ENOMEM, "out of memory");
    r->g = r->x + r->inputs;
    r->w = r->g + r->inputs, r->y = r->w + r->outputs;
    r->kind = kind;
    return WG_OK;
}

/* The room, whose equations may still be unknown. */
static wgi_room *any_room(wg_problem *p) {
    return wg_problem_room(p, sizeof(wgi_room), release);
}

wgi_room *wgi_petsc_room(wg_problem *p, wgi_equations kind) {
    wgi_room *const r = any_room(p);
    if (r == NULL) return NULL;
    if (r->kind == WGI_UNKNOWN) return measure(p, r, kind) == WG_OK ? r : NULL;
    if (kind == WGI_UNKNOWN || kind == r->kind) return r;
    wg_problem_keep(p, WG_ESHAPE, "petsc: a callback for other equations than before");
    return NULL;
}

wg_status wg_petsc_parameters(wg_problem *p, const double *values) {
    if (p == NULL || values == NULL) return WG_ENULL;
    wgi_room *const r = any_room(p);
    if (r == NULL) return WG_ENOMEM;
    r->parameters = values;
    return WG_OK;
}

/* ---- points ------------------------------------------------------------------------------ */

/* Is v a vector of n entries on one process? */
static int fits(wg_problem *p, Vec v, size_t n) {
    PetscInt local = -1, all = -2;
    if (v != NULL && VecGetLocalSize(v, &local) == 0 && VecGetSize(v, &all) == 0 &&
        local == all && (size_t)all == n)
        return 1;
    wg_problem_keep(p, WG_ESHAPE, "petsc: a vector of another size, or of several processes");
    return 0;
}

int wgi_petsc_take(wg_problem *p, Vec v, size_t n, double *to) {
    const PetscScalar *from;
    if (!fits(p, v, n) || VecGetArrayRead(v, &from) != 0) return 0;
    memcpy(to, from, n * sizeof *to);
    return VecRestoreArrayRead(v, &from) == 0;
}

PetscErrorCode wgi_petsc_give(wg_problem *p, const double *from, size_t n, Vec to) {
    PetscScalar *at;
    if (!fits(p, to, n)) return PETSC_ERR_LIB;
    PetscCall(VecGetArray(to, &at));
    memcpy(at, from, n * sizeof *at);
    return VecRestoreArray(to, &at);
}

/* The parameters, behind the unknowns. */
static int complete(wg_problem *p, wgi_room *r) {
    if (r->count == 0) return 1;
    if (r->parameters == NULL) {
        wg_problem_keep(p, WG_ENULL, "petsc: wg_petsc_parameters was not called");
        return 0;
    }
    memcpy(r->x + r->last, r->parameters, r->count * sizeof *r->x);
    return 1;
}

wgi_room *wgi_petsc_point(wg_problem *p, wgi_equations kind, PetscReal t, Vec u, Vec ut) {
    wgi_room *const r = wgi_petsc_room(p, kind);
    if (r == NULL) return NULL;
    if (r->first != 0) r->x[0] = t;
    if (!wgi_petsc_take(p, u, r->states, r->x + r->first)) return NULL;
    if (ut != NULL && !wgi_petsc_take(p, ut, r->states, r->x + r->first + r->states))
        return NULL;
    return complete(p, r) ? r : NULL;
}

PetscErrorCode wgi_petsc_code(wg_status s) {
    return s == WG_OK || s == WG_ENONFINITE ? 0 : PETSC_ERR_LIB;
}

/* ---- sparse matrices --------------------------------------------------------------------- */

/* An entry of the matrix, and where slots of its row are listed. */
typedef struct place {
    size_t row, col;
} place;

/* Where entry k of the pattern goes, `side` being 1 for the other side of a symmetric
 * matrix. */
static int placed(const wgi_room *r, const wgi_matrix *m, size_t k, int side, place *at) {
    const size_t i = m->pattern->row[k], j = m->pattern->col[k];
    if (m == &r->hessian) {
        *at = side ? (place){j, i} : (place){i, j};
        return i < r->states && (!side || i != j);
    }
    *at = (place){i, j % r->states};
    return i < m->rows;
}

/* Slots for all entries, those of one place sharing one, and for the diagonal of a square
 * matrix, which PETSc's solvers shift and factorise. */
static int list_slots(wgi_room *r, wgi_matrix *m) {
    const size_t count = m->pattern->entries, n = m->rows, sides = m == &r->hessian ? 2 : 1,
                 diagonal = n == r->states ? n : 0, all = sides * count + diagonal;
    size_t *const begin = calloc(n + 2, sizeof *begin),
                  *const order = malloc((all + 1) * sizeof *order),
                  *const seen = calloc(r->states + 1, sizeof *seen);
    size_t slots = 0;
    place at = {0, 0};
    m->start = malloc((n + 1) * sizeof *m->start);
    m->col = malloc((all + 1) * sizeof *m->col);
    m->slot = malloc((all + 1) * sizeof *m->slot);
    m->raw = calloc(count + all + 1, sizeof *m->raw);
    const int well = begin != NULL && order != NULL && seen != NULL && m->start != NULL &&
                     m->col != NULL && m->slot != NULL && m->raw != NULL;
    for (int turn = 0; turn < 2 && well; turn++) { /* counted, then listed by rows */
        for (size_t e = 0; e < all; e++) {
            if (e < diagonal) at = (place){e, e};
            else if (!placed(r, m, (e - diagonal) / sides, (int)((e - diagonal) % sides), &at))
                continue;
            if (turn == 0) begin[at.row + 2]++;
            else order[begin[at.row + 1]++] = e;
        }
        for (size_t i = 0; i < n && turn == 0; i++) begin[i + 2] += begin[i + 1];
    }
    for (size_t k = 0; k < all && well; k++) m->slot[k] = SIZE_MAX;
    for (size_t i = 0; i < n && well; i++) {
        const size_t from = slots; /* seen: 1 + the slot of a column, if that is of this row */
        m->start[i] = (PetscInt)slots;
        for (size_t o = begin[i]; o < begin[i + 1]; o++) {
            const size_t e = order[o];
            if (e < diagonal) at.col = e;
            else (void)placed(r, m, (e - diagonal) / sides, (int)((e - diagonal) % sides), &at);
            if (seen[at.col] <= from) {
                m->col[slots] = (PetscInt)at.col;
                seen[at.col] = ++slots;
            }
            if (e >= diagonal) m->slot[e - diagonal] = seen[at.col] - 1;
        }
    }
    if (well) m->start[n] = (PetscInt)slots, m->values = m->raw + count;
    free(begin), free(order), free(seen);
    return well;
}

/* The plan of a matrix, made at its first use at the point of the room. */
static wg_status plan(wg_problem *p, wgi_room *r, wgi_matrix *m, const double *x) {
    if (m->start != NULL) return WG_OK;
    const wg_status s =
        m == &r->hessian
            ? wg_problem_hessian_pattern(p, x, &m->pattern)
            : wg_problem_jacobian_pattern(p, r->group, x, WG_ROW_MAJOR, &m->pattern);
    if (s != WG_OK) return s;
    m->rows = m == &r->hessian ? r->states : r->rows;
    if (list_slots(r, m)) return WG_OK;
    clear(m);
    return wg_problem_keep(p, WG_ENOMEM, "out of memory");
}

static PetscErrorCode make(wg_problem *p, const double *x, int second, Mat *out) {
    wgi_room *const r = wgi_petsc_room(p, WGI_UNKNOWN);
    *out = NULL;
    if (r == NULL) return PETSC_ERR_LIB;
    wgi_matrix *const m = second ? &r->hessian : &r->jacobian;
    if (plan(p, r, m, x) != WG_OK) return PETSC_ERR_LIB;
    const PetscInt rows = (PetscInt)m->rows, cols = (PetscInt)r->states;
    memset(m->values, 0, (size_t)m->start[rows] * sizeof *m->values);
    PetscCall(MatCreate(PETSC_COMM_SELF, out));
    PetscCall(MatSetSizes(*out, rows, cols, rows, cols));
    PetscCall(MatSetType(*out, MATSEQAIJ));
    return MatSeqAIJSetPreallocationCSR(*out, m->start, m->col, m->values);
}
PetscErrorCode wg_petsc_matrix(wg_problem *p, const double *x, Mat *out) {
    return make(p, x, 0, out);
}
PetscErrorCode wg_petsc_hessian_matrix(wg_problem *p, const double *x, Mat *out) {
    return make(p, x, 1, out);
}

PetscErrorCode wgi_petsc_assemble(Mat a, Mat b) {
    PetscCall(MatAssemblyBegin(b, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(b, MAT_FINAL_ASSEMBLY));
    if (a == b || a == NULL) return 0;
    PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
    return MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY);
}

static PetscErrorCode set(const wgi_matrix *m, Mat a, Mat b) {
    for (size_t i = 0; i < m->rows; i++) {
        const PetscInt row = (PetscInt)i, from = m->start[i];
        PetscCall(MatSetValues(b, 1, &row, m->start[i + 1] - from, m->col + from,
                               m->values + from, INSERT_VALUES));
    }
    return wgi_petsc_assemble(a, b);
}

PetscErrorCode wgi_petsc_jacobian(wg_problem *p, wgi_room *r, double shift, Mat a, Mat b,
                                  wg_status *s) {
    wgi_matrix *const m = &r->jacobian;
    *s = plan(p, r, m, r->x);
    if (*s == WG_OK) *s = wg_problem_sparse_jacobian(p, r->x, NULL, m->raw);
    if (*s != WG_OK) return wgi_petsc_code(*s);
    memset(m->values, 0, (size_t)m->start[m->rows] * sizeof *m->values);
    for (size_t k = 0; k < m->pattern->entries; k++)
        if (m->slot[k] != SIZE_MAX)
            m->values[m->slot[k]] +=
                m->pattern->col[k] < r->states ? m->raw[k] : shift * m->raw[k];
    return set(m, a, b);
}

PetscErrorCode wgi_petsc_hessian(wg_problem *p, wgi_room *r, Mat a, Mat b, wg_status *s) {
    wgi_matrix *const m = &r->hessian;
    for (size_t j = 0; j < r->outputs; j++) r->w[j] = 1;
    *s = plan(p, r, m, r->x);
    if (*s == WG_OK) *s = wg_problem_sparse_hessian(p, r->x, r->w, m->raw);
    if (*s != WG_OK) return wgi_petsc_code(*s);
    memset(m->values, 0, (size_t)m->start[m->rows] * sizeof *m->values);
    for (size_t k = 0; k < 2 * m->pattern->entries; k++)
        if (m->slot[k] != SIZE_MAX) m->values[m->slot[k]] = m->raw[k / 2];
    return set(m, a, b);
}

PetscErrorCode wgi_petsc_by_parameters(wg_problem *p, wgi_room *r, Mat b, wg_status *s) {
    double *const rows = malloc((r->outputs * r->count + 1) * sizeof *rows);
    PetscInt *const col = malloc((r->count + 1) * sizeof *col);
    PetscErrorCode error = 0;
    *s = rows == NULL || col == NULL ? wg_problem_keep(p, WG_ENOMEM, "out of memory") : WG_OK;
    if (*s == WG_OK && r->count != 0)
        *s = wg_problem_jacobian(p, r->group + 1, r->x, WG_ROW_MAJOR, rows, r->count);
    if (*s != WG_OK) error = wgi_petsc_code(*s);
    for (size_t k = 0; k < r->count && *s == WG_OK; k++) col[k] = (PetscInt)k;
    for (size_t i = 0; i < r->rows && *s == WG_OK && error == 0; i++) {
        const PetscInt row = (PetscInt)i;
        error = MatSetValues(b, 1, &row, (PetscInt)r->count, col, rows + i * r->count,
                             INSERT_VALUES);
    }
    free(rows), free(col);
    return *s == WG_OK && error == 0 ? wgi_petsc_assemble(b, b) : error;
}
