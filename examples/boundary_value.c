/* SPDX-License-Identifier: MIT */
/* A boundary value problem on a grid, by Newton's method with sparse Jacobians:
 *
 *     u_xx + u_yy + lambda exp(u) = 0 in the unit square, u = 0 on its boundary
 *
 * (Bratu's problem: a solid that heats itself.) From a callback with the residuals of all
 * cells: the pattern of their Jacobian, once; its entries at every point, in one sweep for
 * eight colours; and a sparse solve, by the library where it was built with SuiteSparse, and
 * otherwise one with bands.
 *
 *     boundary_value [CELLS] [LAMBDA]      cells along each side
 *
 * The exit status is 0 when the iteration converges to a solution that is symmetric, as the
 * problem is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>

struct problem {
    size_t cells;
    double lambda;
};

static wg_status residuals(wg_tape *t, size_t n, const wg_real *u, size_t m, wg_real *y,
                           void *data) {
    const struct problem *const p = data;
    const size_t k = p->cells;
    const double h = 1 / ((double)k + 1), source = p->lambda * h * h;
    const wg_real rim = wg_constant(0);
    (void)n, (void)m;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            const wg_real *const at = &u[j * k + i];
            const wg_real west = i > 0 ? at[-1] : rim, east = i + 1 < k ? at[1] : rim;
            const wg_real south = j > 0 ? at[-(ptrdiff_t)k] : rim,
                          north = j + 1 < k ? at[k] : rim;
            y[j * k + i] =
                wg_let(t, wg_sub(wg_add(wg_add(wg_add(west, east), wg_add(south, north)),
                                        wg_mul(source, wg_exp(*at))),
                                 wg_mul(4, *at)));
        }
    return WG_OK;
}

/* d with J d = r, or a status; `tape` forgets what was on it. */
static wg_status sparse_solve(wg_tape *tape, const wg_pattern *p, const double *values,
                              const double *r, double *d) {
    wg_tape_reset(tape);
    size_t *const col = wg_tape_keep(tape, (p->entries + 1) * sizeof *col, NULL);
    for (size_t k = 0; col != NULL && k < p->entries; k++) col[k] = p->col[k];
    const wg_csr s = wg_csr_pattern(tape, p->rows, p->cols, p->start, col);
    const wg_mat x =
        wg_sparse_solve(tape, 'N', &s, wg_mat_constant(tape, p->entries, 1, values, p->entries),
                        wg_mat_constant(tape, p->rows, 1, r, p->rows));
    return wg_tape_status(tape) != WG_OK ? wg_tape_status(tape)
                                         : wg_mat_value(tape, x, d, p->rows);
}

/* The same with the diagonals from -k to k, of which most are zeros. */
static wg_status banded_solve(wg_tape *tape, const wg_pattern *p, size_t k,
                              const double *values, const double *r, double *d) {
    const size_t n = p->rows, ld = 2 * k + 1;
    wg_tape_reset(tape);
    double *const band = wg_tape_keep(tape, ld * n * sizeof *band, NULL);
    if (band == NULL) return wg_tape_status(tape);
    memset(band, 0, ld * n * sizeof *band);
    for (size_t e = 0; e < p->entries; e++)
        band[p->col[e] * ld + (k + p->row[e] - p->col[e])] = values[e];
    const wg_mat x = wg_solve_banded(tape, k, k, wg_mat_constant(tape, ld, n, band, ld),
                                     wg_mat_constant(tape, n, 1, r, n));
    return wg_tape_status(tape) != WG_OK ? wg_tape_status(tape) : wg_mat_value(tape, x, d, n);
}

static double largest(size_t n, const double *x) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* u from the start given; 0 where it converges. */
static int newton(wg_tape *tape, wg_tape *solver, struct problem *p, const wg_sparsity *s,
                  double *u, double *r, double *d, double *values) {
    const wg_pattern *const at = wg_sparsity_pattern(s);
    const size_t n = p->cells * p->cells;
    for (int k = 0; k < 20; k++) {
        if (wg_sparse_jacobian(tape, s, residuals, p, u, r, values) != WG_OK) {
            fprintf(stderr, "%s\n", wg_tape_message(tape));
            return 1;
        }
        printf("%2d   largest residual %9.2e   u at most %.10f\n", k, largest(n, r),
               largest(n, u));
        if (largest(n, r) < 1e-13) return 0;
        wg_status solved = sparse_solve(solver, at, values, r, d);
        if (solved == WG_EMODE) solved = banded_solve(solver, at, p->cells, values, r, d);
        if (solved != WG_OK) {
            fprintf(stderr, "%s\n", wg_tape_message(solver));
            return 1;
        }
        for (size_t i = 0; i < n; i++) u[i] -= d[i];
    }
    fprintf(stderr, "no convergence: is lambda too large? There is no solution beyond 6.808\n");
    return 1;
}

/* How far u is from what it is after the square is turned over. */
static double asymmetry(size_t k, const double *u) {
    double most = 0;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            most = fmax(most, fabs(u[j * k + i] - u[i * k + k - 1 - j]));
    return most;
}

int main(int count, char **argument) {
    struct problem p = {40, 6};
    if (count > 1) p.cells = strtoul(argument[1], NULL, 10);
    if (count > 2) p.lambda = strtod(argument[2], NULL);
    if (p.cells < 2 || p.cells > 2000) {
        fprintf(stderr, "boundary_value [CELLS] [LAMBDA]: 2 to 2000 cells\n");
        return EXIT_FAILURE;
    }
    const size_t n = p.cells * p.cells;
    wg_tape *const tape = wg_tape_new(NULL), *const solver = wg_tape_new(NULL);
    double *const u = calloc(3 * n, sizeof *u), *values = NULL;
    wg_sparsity *s = NULL;
    int failed = tape == NULL || solver == NULL || u == NULL;
    if (!failed &&
        wg_jacobian_sparsity(tape, residuals, &p, n, u, n, WG_ROW_MAJOR, &s) != WG_OK) {
        fprintf(stderr, "%s\n", wg_tape_message(tape));
        failed = 1;
    }
    if (!failed) {
        const size_t entries = wg_sparsity_pattern(s)->entries;
        printf("%zu unknowns, %zu entries, %zu colours\n", n, entries, wg_sparsity_colours(s));
        values = malloc(entries * sizeof *values);
        failed = values == NULL || newton(tape, solver, &p, s, u, u + n, u + 2 * n, values);
    }
    if (!failed && asymmetry(p.cells, u) > 1e-10) {
        fprintf(stderr, "the solution is not symmetric\n");
        failed = 1;
    }
    free(u), free(values);
    wg_sparsity_free(s);
    wg_tape_free(tape), wg_tape_free(solver);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
