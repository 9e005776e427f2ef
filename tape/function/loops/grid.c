/* SPDX-License-Identifier: MIT */
/* Numbers at the cells of a grid. */
#include "grid.h"

#include <string.h>

void wgi_field_reach(wgi_field *f, const ptrdiff_t *offset) {
    for (int d = 0; d < 3; d++) {
        if (offset[d] < 0 && (size_t)-offset[d] > f->lo[d]) f->lo[d] = (size_t)-offset[d];
        if (offset[d] > 0 && (size_t)offset[d] > f->hi[d]) f->hi[d] = (size_t)offset[d];
    }
}

static int aligned(const wgi_field *f, const wgi_grid *g) {
    return g->compiled && !f->global && g->cells[0] >= WGI_GRID_LANES;
}

void wgi_field_align(wgi_field *f, const wgi_grid *g) {
    const size_t n = f->lo[0] + g->cells[0] + f->hi[0];
    /* lanes behind the last cell read neighbours, too */
    f->spare = aligned(f, g)
                   ? wgi_grid_round_up(n + wgi_grid_round_up(g->cells[0]) - g->cells[0]) - n
                   : 0;
    f->hi[0] += f->spare;
}

size_t wgi_field_lay_out(wgi_field *f, const wgi_grid *g) {
    size_t n[3];
    for (int d = 0; d < 3; d++) n[d] = f->lo[d] + (f->global ? 1 : g->cells[d]) + f->hi[d];
    f->line = n[0];
    f->plane = n[0] * n[1];
    f->begin = aligned(f, g) ? wgi_grid_round_up(f->lo[0]) - f->lo[0] : 0;
    f->size = f->plane * n[2] + (aligned(f, g) ? wgi_grid_round_up(f->lo[0]) : 0);
    f->origin = f->begin + f->lo[0] + f->lo[1] * f->line + f->lo[2] * f->plane;
    return f->size * f->entries;
}

size_t wgi_field_line(const wgi_field *f, const wgi_grid *g, size_t l) {
    if (f->global || g->lines <= 1) return f->origin;
    if (g->cells[2] == 1) return f->origin + l * f->line;
    return f->origin + l % g->cells[1] * f->line + l / g->cells[1] * f->plane;
}

ptrdiff_t wgi_field_shift(const wgi_field *f, const ptrdiff_t *offset) {
    return offset[0] + offset[1] * (ptrdiff_t)f->line + offset[2] * (ptrdiff_t)f->plane;
}

/* ---- the rim ---------------------------------------------------------------------------- */

/* Which of n cells stands at index i, from -n on; n: a zero stands there. */
static size_t cell_at(wg_boundary boundary, size_t n, ptrdiff_t i) {
    const ptrdiff_t cells = (ptrdiff_t)n;
    if (boundary == WG_ZERO_OUTSIDE) return n;
    if (boundary == WG_CLAMPED) return i < 0 ? 0 : n - 1;
    return (size_t)((i % cells + cells) % cells);
}

typedef void move(double *rim, double *cells, size_t n);

/* Few numbers are copied without a call. */
typedef double vector __attribute__((vector_size(8 * WGI_GRID_LANES), aligned(8), may_alias));

static inline void fill(double *rim, double *cells, size_t n) {
    enum { FEW = 2 * WGI_GRID_LANES };
    if (n > FEW) {
        if (cells == NULL) memset(rim, 0, n * sizeof *rim);
        else memcpy(rim, cells, n * sizeof *rim);
        return;
    }
    size_t i = 0;
    for (; i + WGI_GRID_LANES <= n; i += WGI_GRID_LANES)
        *(vector *)(void *)(rim + i) =
            cells == NULL ? (vector){0} : *(const vector *)(const void *)(cells + i);
    for (; i < n; i++) rim[i] = cells == NULL ? 0 : cells[i];
}

static void fold(double *rim, double *cells, size_t n) {
    for (size_t i = 0; cells != NULL && i < n; i++) cells[i] += rim[i];
    memset(rim, 0, n * sizeof *rim);
}

/* Fills or folds the rim in direction d: pieces of `length` numbers, cells `stride` apart. */
static void rim(const wgi_field *f, const wgi_grid *g, int d, double *first, size_t stride,
                size_t length, move *what) {
    const size_t n = g->cells[d], lo = f->lo[d], hi = f->hi[d];
    for (size_t r = 0; r < lo + hi; r++) {
        const ptrdiff_t i = r < lo ? (ptrdiff_t)r - (ptrdiff_t)lo : (ptrdiff_t)(n + r - lo);
        const size_t from = cell_at(g->boundary[d], n, i);
        what(first + i * (ptrdiff_t)stride, from == n ? NULL : first + from * stride, length);
    }
}

/* Compiled once for each kind of move: there may be little else to do between two steps. */
static inline __attribute__((always_inline)) void
along_lines(const wgi_field *f, const wgi_grid *g, double *x, move *what) {
    const size_t n = g->cells[0], lo = f->lo[0];
    /* nothing is added from spare places */
    const size_t hi = f->hi[0] - (what == fold ? f->spare : 0);
    const int far = lo > n || hi > n || g->boundary[0] == WG_CLAMPED;
    if (lo + hi == 0) return;
    for (size_t l = 0; l < g->lines; l++) {
        double *const line = x + wgi_field_line(f, g, l);
        if (far) {
            rim(f, g, 0, line, 1, 1, what);
            continue;
        }
        const int none = g->boundary[0] == WG_ZERO_OUTSIDE;
        if (lo != 0) what(line - lo, none ? NULL : line + n - lo, lo);
        if (hi != 0) what(line + n, none ? NULL : line, hi);
    }
}

static void along_planes(const wgi_field *f, const wgi_grid *g, double *x, move *what) {
    if (f->lo[1] + f->hi[1] == 0) return;
    for (size_t k = 0; k < g->cells[2]; k++)
        rim(f, g, 1, x + f->begin + (f->lo[2] + k) * f->plane + f->lo[1] * f->line, f->line,
            f->line, what);
}

static void across_planes(const wgi_field *f, const wgi_grid *g, double *x, move *what) {
    if (f->lo[2] + f->hi[2] == 0) return;
    rim(f, g, 2, x + f->begin + f->lo[2] * f->plane, f->plane, f->plane, what);
}

void wgi_field_fill(const wgi_field *f, const wgi_grid *g, double *x) {
    for (size_t e = 0; !f->global && g->points != 0 && e < f->entries; e++, x += f->size) {
        along_lines(f, g, x, fill);
        along_planes(f, g, x, fill);
        across_planes(f, g, x, fill);
    }
}

void wgi_field_fold(const wgi_field *f, const wgi_grid *g, double *w) {
    for (size_t e = 0; !f->global && g->points != 0 && e < f->entries; e++, w += f->size) {
        across_planes(f, g, w, fold);
        along_planes(f, g, w, fold);
        along_lines(f, g, w, fold);
    }
}
