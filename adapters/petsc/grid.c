/* SPDX-License-Identifier: MIT */
/* grid.c - residuals on a DMDA by the points of its grid.
 *
 * The numbers that a process sees are copied into a box with room for stencils all around,
 * zeros beyond boundaries: then the numbers at one point of the stencil, for all points of a
 * line of the grid, stand next to each other, and the function takes the line as so many
 * points. */
#include "grid.h"
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wengert/derive.h>
#include <wengert/emit.h>

wg_status wgi_petsc_grid_refuse(wg_petsc_grid *g, wg_status s, const char *format, ...) {
    va_list list;
    va_start(list, format);
    g->status = s;
    vsnprintf(g->message, sizeof g->message, format, list);
    va_end(list);
    return s;
}
wg_status wg_petsc_grid_status(const wg_petsc_grid *g) {
    return g == NULL ? WG_ENOMEM : g->status;
}
const char *wg_petsc_grid_message(const wg_petsc_grid *g) {
    return g == NULL ? "out of memory" : g->message;
}
size_t wg_petsc_grid_points(const wg_petsc_grid *g) { return g == NULL ? 0 : g->points; }
size_t wg_petsc_grid_middle(const wg_petsc_grid *g) { return g == NULL ? 0 : g->middle; }

/* ---- the stencil and its functions ------------------------------------------------------- */

/* Lists the points of the stencil, or counts them. */
static size_t list_stencil(wg_petsc_grid *g, DMDAStencilType kind) {
    size_t n = 0;
    const PetscInt *const w = g->room;
    for (PetscInt k = -w[2]; k <= w[2]; k++)
        for (PetscInt j = -w[1]; j <= w[1]; j++)
            for (PetscInt i = -w[0]; i <= w[0]; i++) {
                if (kind == DMDA_STENCIL_STAR && (i != 0) + (j != 0) + (k != 0) > 1) continue;
                if (i == 0 && j == 0 && k == 0) g->middle = n;
                if (g->stencil != NULL) g->stencil[n] = (wgi_offset){{i, j, k}};
                n++;
            }
    return n;
}

static void *work_of(const wg_function *f) {
    return aligned_alloc(64, (wg_function_work(f, NULL) + 127) / 64 * 64);
}

static wg_status record(wg_petsc_grid *g, wg_tape *t, wg_callback *f, void *data,
                        const double *start, unsigned flags) {
    const size_t d = (size_t)g->d, n = g->points * d + (size_t)g->dim;
    wg_argument *const in = calloc(g->points + 1, sizeof *in), out = {"f", d, 1, 0};
    double *const x = calloc(n + 1, sizeof *x);
    wg_status s = in == NULL || x == NULL ? WG_ENOMEM : WG_OK;
    for (size_t k = 0; k < g->points && s == WG_OK; k++) {
        in[k] = (wg_argument){NULL, d, 1, 0};
        for (size_t c = 0; c < d && start != NULL; c++) x[k * d + c] = start[c];
    }
    if (s == WG_OK) {
        in[g->points] = (wg_argument){"place", (size_t)g->dim, 1, WG_PASSIVE};
        s = wg_function_record(t, f, data, g->points + 1, in, x, 1, &out, &g->residual);
    }
    free(in), free(x);
    if (s == WG_OK) s = wg_function_jacobian(t, g->residual, &g->jacobian);
    for (int k = 0; k < 2 && s == WG_OK && flags & WG_COMPILE; k++) {
        wg_function **const to = k == 0 ? &g->residual : &g->jacobian, *native = NULL;
        s = wg_function_compile(t, *to, NULL, &native, NULL);
        if (s != WG_OK) break;
        wg_function_free(*to);
        *to = native;
    }
    return s;
}

/* Which entries can be other than 0; those of the diagonal are kept in any case. Counted,
 * where there is no list. */
static void list_entries(wg_petsc_grid *g) {
    const size_t d = (size_t)g->d;
    size_t n = 0;
    for (size_t r = 0; r < d; r++)
        for (size_t p = 0; p < g->points; p++)
            for (size_t c = 0; c < d; c++) {
                if (wg_function_is_zero(g->jacobian, p, r * d + c) &&
                    !(p == g->middle && r == c))
                    continue;
                if (g->entry != NULL) g->entry[n] = (p * d + r) * d + c;
                n++;
            }
    g->entries = n;
}

static wg_status make(wg_petsc_grid *g, wg_callback *f, void *data, const double *start,
                      unsigned flags, DMDAStencilType kind) {
    const size_t d = (size_t)g->d;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    if (t == NULL) return wgi_petsc_grid_refuse(g, WG_ENOMEM, "out of memory");
    g->points = list_stencil(g, kind);
    g->stencil = malloc(g->points * sizeof *g->stencil);
    g->x = calloc(g->points + 1, sizeof *g->x);
    g->y = calloc(g->points + 1, sizeof *g->y);
    if (g->stencil == NULL || g->x == NULL || g->y == NULL) {
        wg_tape_free(t);
        return wgi_petsc_grid_refuse(g, WG_ENOMEM, "out of memory");
    }
    (void)list_stencil(g, kind);
    const wg_status s = record(g, t, f, data, start, flags);
    if (s != WG_OK)
        wgi_petsc_grid_refuse(
            g, s, "%s", wg_tape_message(t)[0] != 0 ? wg_tape_message(t) : wg_status_text(s));
    wg_tape_free(t);
    if (s != WG_OK) return s;
    list_entries(g);
    g->entry = malloc((g->entries + 1) * sizeof *g->entry);
    g->places.slot =
        malloc((g->entries * (size_t)(g->count[0] * g->count[1] * g->count[2]) + 1) *
               sizeof *g->places.slot);
    g->residual_work = work_of(g->residual);
    g->jacobian_work = work_of(g->jacobian);
    const size_t width = (size_t)g->count[0];
    size_t box = d;
    for (int a = 0; a < WGI_DIMENSIONS; a++) box *= (size_t)(g->count[a] + 2 * g->room[a]);
    g->box = malloc((box + 1) * sizeof *g->box);
    g->place = malloc((width * WGI_DIMENSIONS + 1) * sizeof *g->place);
    g->line = malloc((width * g->points * d * d + 1) * sizeof *g->line);
    if (g->entry == NULL || g->places.slot == NULL || g->residual_work == NULL ||
        g->jacobian_work == NULL || g->box == NULL || g->place == NULL || g->line == NULL)
        return wgi_petsc_grid_refuse(g, WG_ENOMEM, "out of memory");
    list_entries(g);
    return WG_OK;
}

wg_petsc_grid *wg_petsc_grid_new(DM da, wg_callback *f, void *data, const double *start,
                                 unsigned flags) {
    wg_petsc_grid *const g = calloc(1, sizeof *g);
    DMDAStencilType kind;
    PetscInt *const low = g == NULL ? NULL : g->low, *const gl =
                                                         g == NULL ? NULL : g->ghost_low;
    if (g == NULL) return NULL;
    DMBoundaryType edge[WGI_DIMENSIONS] = {DM_BOUNDARY_NONE, DM_BOUNDARY_NONE,
                                           DM_BOUNDARY_NONE};
    g->da = da;
    if (f == NULL || da == NULL || flags & ~(unsigned)WG_COMPILE) {
        wgi_petsc_grid_refuse(g, f == NULL || da == NULL ? WG_ENULL : WG_EARG,
                              "wg_petsc_grid_new: da, f or flags");
        return g;
    }
    if (DMDAGetInfo(da, &g->dim, g->size, g->size + 1, g->size + 2, NULL, NULL, NULL, &g->d,
                    &g->width, edge, edge + 1, edge + 2, &kind) ||
        DMDAGetCorners(da, low, low + 1, low + 2, g->count, g->count + 1, g->count + 2) ||
        DMDAGetGhostCorners(da, gl, gl + 1, gl + 2, g->ghost_count, g->ghost_count + 1,
                            g->ghost_count + 2)) {
        wgi_petsc_grid_refuse(g, WG_EARG, "wg_petsc_grid_new: no DMDA that is set up");
        return g;
    }
    for (PetscInt a = 0; a < g->dim; a++) {
        g->room[a] = g->width;
        if (edge[a] == DM_BOUNDARY_PERIODIC) {
            g->meet = g->meet || g->size[a] <= 2 * g->width;
            g->size[a] = 0;
        }
        if (edge[a] != DM_BOUNDARY_NONE && edge[a] != DM_BOUNDARY_PERIODIC)
            wgi_petsc_grid_refuse(
                g, WG_EARG, "wg_petsc_grid_new: a boundary that is neither periodic nor none");
    }
    if (g->d > WGI_MOST_NUMBERS)
        wgi_petsc_grid_refuse(g, WG_EARG, "wg_petsc_grid_new: more than %d numbers at a point",
                              WGI_MOST_NUMBERS);
    if (g->status == WG_OK) (void)make(g, f, data, start, flags, kind);
    return g;
}

void wg_petsc_grid_free(wg_petsc_grid *g) {
    if (g == NULL) return;
    wg_function_free(g->residual), wg_function_free(g->jacobian);
    free(g->residual_work), free(g->jacobian_work);
    free(g->stencil), free(g->entry), free(g->places.slot), free(g->x), free(g->y);
    free(g->box), free(g->place), free(g->line);
    free(g);
}

/* ---- lines of the grid ------------------------------------------------------------------- */

/* The place in the box of point i, j, k of the process's part, stencils counted. */
static double *in_box(const wg_petsc_grid *g, PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt wide = g->count[0] + 2 * g->room[0], high = g->count[1] + 2 * g->room[1];
    return g->box + (((k + g->room[2]) * high + j + g->room[1]) * wide + i + g->room[0]) * g->d;
}

/* Copies what the process sees; u: its local array, with ghosts. */
static void fill_box(wg_petsc_grid *g, const PetscScalar *u) {
    const PetscInt *const gl = g->ghost_low, *const gc = g->ghost_count, *const w = g->room;
    for (PetscInt k = -w[2]; k < g->count[2] + w[2]; k++)
        for (PetscInt j = -w[1]; j < g->count[1] + w[1]; j++) {
            const PetscInt gj = j + g->low[1] - gl[1], gk = k + g->low[2] - gl[2],
                           gi = g->low[0] - gl[0];
            const PetscInt wide = g->count[0] + 2 * w[0], before = w[0] - gi;
            double *const to = in_box(g, -w[0], j, k);
            memset(to, 0, (size_t)(wide * g->d) * sizeof *to);
            if (gj < 0 || gj >= gc[1] || gk < 0 || gk >= gc[2]) continue;
            memcpy(to + before * g->d, u + (gk * gc[1] + gj) * gc[0] * g->d,
                   (size_t)(gc[0] * g->d) * sizeof *to);
        }
}

/* The inputs of the line j, k. */
void wgi_petsc_grid_give_line(wg_petsc_grid *g, PetscInt j, PetscInt k) {
    for (size_t p = 0; p < g->points; p++) {
        const PetscInt *const o = g->stencil[p].at;
        g->x[p] = (wg_points){in_box(g, o[0], j + o[1], k + o[2]), g->d, 1};
    }
    for (PetscInt i = 0; i < g->count[0]; i++) {
        const double at[] = {(double)(g->low[0] + i), (double)(g->low[1] + j),
                             (double)(g->low[2] + k)};
        for (PetscInt a = 0; a < g->dim; a++) g->place[i * g->dim + a] = at[a];
    }
    g->x[g->points] = (wg_points){g->place, g->dim, 1};
}

wg_status wgi_petsc_grid_line(wg_petsc_grid *g, const wg_function *f, void *work) {
    wg_function_guard guard;
    const wg_status s =
        wg_function_evaluate(f, (size_t)g->count[0], g->x, g->y, NULL, work, &guard);
    if (s == WG_EGUARD)
        return wgi_petsc_grid_refuse(
            g, s,
            "petsc: comparison %zu of the residual comes out differently: it is to be a "
            "selection",
            guard.guard);
    return s == WG_OK ? s : wgi_petsc_grid_refuse(g, s, "%s", wg_status_text(s));
}

/* The box of u; the local vector is given back. */
PetscErrorCode wgi_petsc_grid_see(wg_petsc_grid *g, Vec u) {
    Vec local;
    const PetscScalar *array;
    PetscCall(DMGetLocalVector(g->da, &local));
    PetscCall(DMGlobalToLocalBegin(g->da, u, INSERT_VALUES, local));
    PetscCall(DMGlobalToLocalEnd(g->da, u, INSERT_VALUES, local));
    PetscCall(VecGetArrayRead(local, &array));
    fill_box(g, array);
    PetscCall(VecRestoreArrayRead(local, &array));
    return DMRestoreLocalVector(g->da, &local);
}

int wgi_petsc_is_finite(size_t n, const double *v) {
    int odd = 0;
    for (size_t i = 0; i < n; i++) odd |= !(fabs(v[i]) <= DBL_MAX);
    return !odd;
}

/* All residuals. Result: 0, and whether they are finite; after a failure of ours
 * PETSC_ERR_LIB. */
static PetscErrorCode evaluate(wg_petsc_grid *g, Vec u, Vec f, int *finite) {
    PetscScalar *to;
    wg_status s = WG_OK;
    if (g == NULL || g->line == NULL) return PETSC_ERR_LIB;
    PetscCall(wgi_petsc_grid_see(g, u));
    PetscCall(VecGetArray(f, &to));
    const size_t length = (size_t)(g->count[0] * g->d);
    PetscScalar *at = to;
    for (PetscInt k = 0; k < g->count[2] && s == WG_OK; k++)
        for (PetscInt j = 0; j < g->count[1] && s == WG_OK; j++, at += length) {
            wgi_petsc_grid_give_line(g, j, k);
            g->y[0] = (wg_results){at, g->d, 1};
            s = wgi_petsc_grid_line(g, g->residual, g->residual_work);
        }
    *finite = wgi_petsc_is_finite((size_t)(at - to), to);
    PetscCall(VecRestoreArray(f, &to));
    if (s != WG_OK) return PETSC_ERR_LIB;
    if (!*finite)
        wgi_petsc_grid_refuse(g, WG_ENONFINITE, "petsc: a residual is NaN or infinite");
    return 0;
}

PetscErrorCode wg_petsc_grid_function(SNES snes, Vec u, Vec f, void *grid) {
    int finite;
    const PetscErrorCode error = evaluate(grid, u, f, &finite);
    return error != 0 || finite ? error : SNESSetFunctionDomainError(snes);
}

PetscErrorCode wg_petsc_grid_rates(TS ts, PetscReal t, Vec u, Vec f, void *grid) {
    int finite;
    (void)ts, (void)t;
    return evaluate(grid, u, f, &finite);
}
