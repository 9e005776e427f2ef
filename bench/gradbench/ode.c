/* SPDX-License-Identifier: MIT */
/* ode.c - a chain of differential equations, y[i]' = x[i] y[i-1] and y[0]' = x[0], from 0 at
 * time 0 to time 2 by Runge-Kutta's method of order four; the gradient is that of the last y.
 *
 * Equations are cells of a grid, and a scan makes the steps: a function mapped over the cells,
 * of the cell and the four below, as far as four slopes reach. Below the first equation is a
 * cell that stays 1. */
#include <stdlib.h>
#include <string.h>

#include "mapped.h"

enum { SLOPES = 4, INPUTS = 2 + 2 * SLOPES, WORK = 1 + SLOPES, MOST_KEPT = 1 << 27 };

struct ode {
    wg_tape *t, *code; /* of the scan, of the function */
    wg_callable *step;
    size_t n, s;
    double *x, *y, *g, *padded, *begin, *work; /* padded: x, begin: y, with what is below */
};

static void release(void *job) {
    struct ode *o = job;
    wg_tape_free(o->t);
    wg_callable_free(o->step);
    wg_tape_free(o->code);
    free(o->x);
    free(o->y);
    free(o->g);
    free(o->padded);
    free(o->begin);
    free(o->work);
    free(o);
}

static int check(struct ode *o, struct gb_error *e) {
    if (o->n == 0) return gb_fail(e, "x: at least one number is wanted");
    if (o->s == 0) return gb_fail(e, "s: at least one step is wanted");
    o->t = wg_tape_new(NULL);
    o->code = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    o->y = malloc(o->n * sizeof *o->y);
    o->g = malloc(o->n * sizeof *o->g);
    o->padded = calloc(o->n + SLOPES, sizeof *o->padded);
    o->begin = calloc(o->n + 1, sizeof *o->begin);
    o->work = malloc(o->n * WORK * sizeof *o->work);
    if (!o->t || !o->code || !o->y || !o->g || !o->padded || !o->begin || !o->work)
        return gb_fail(e, "no memory for %zu equations", o->n);
    o->begin[0] = 1;
    return 0;
}

static void *read(const json_t *input, const struct gb_options *options, struct gb_error *e) {
    struct ode *const o = calloc(1, sizeof *o);
    if (o == NULL) {
        gb_fail(e, "no memory");
        return NULL;
    }
    o->n = GB_ANY;
    (void)options; /* a step is over before a thread has begun */
    o->x = gb_numbers(input, "x", 1, &o->n, e);
    if (o->x != NULL && gb_index(input, "s", &o->s, e) == 0 && check(o, e) == 0) return o;
    release(o);
    return NULL;
}

/* ---- primal ---- */

static void slopes(size_t n, const double *x, const double *y, double *k) {
    k[0] = x[0];
    for (size_t i = 1; i < n; i++) k[i] = x[i] * y[i - 1];
}
static void ahead(size_t n, const double *y, double h, const double *k, double *z) {
    for (size_t i = 0; i < n; i++) z[i] = y[i] + h * k[i];
}

static int run_primal(void *job, struct gb_error *e) {
    struct ode *o = job;
    const size_t n = o->n;
    const double *const x = o->x, h = 2 / (double)o->s;
    double *const y = o->y, *const z = o->work,
                  *const k[] = {z + n, z + 2 * n, z + 3 * n, z + 4 * n};
    (void)e;
    memset(y, 0, n * sizeof *y);
    for (size_t step = 0; step < o->s; step++) {
        slopes(n, x, y, k[0]);
        ahead(n, y, h / 2, k[0], z);
        slopes(n, x, z, k[1]);
        ahead(n, y, h / 2, k[1], z);
        slopes(n, x, z, k[2]);
        ahead(n, y, h, k[2], z);
        slopes(n, x, z, k[3]);
        for (size_t i = 0; i < n; i++)
            y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
    return 0;
}

/* ---- one cell ---- */

/* in: h; x of the cell and of those below; y of the cell and of those below. out: y after a
 * step. What the slopes need of the cells below is computed again in each cell. */
static wg_status step(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *out,
                      void *data) {
    static const double part[SLOPES] = {0.5, 0.5, 1, 0}, weight[SLOPES] = {1, 2, 2, 1};
    const wg_real h = in[0], *const x = in + 1, *const y = x + SLOPES;
    wg_real z[SLOPES + 1], sum = wg_constant(0);
    (void)n, (void)m, (void)data;
    for (int j = 0; j <= SLOPES; j++) z[j] = y[j];
    for (int k = 0; k < SLOPES; k++) {
        for (int j = 0; j < SLOPES - k; j++) {
            const wg_real slope = wg_let(t, wg_mul(x[j], z[j + 1]));
            if (j == 0) sum = wg_let(t, wg_add(sum, wg_mul(weight[k], slope)));
            z[j] = wg_let(t, wg_add(y[j], wg_mul(wg_mul(part[k], h), slope)));
        }
    }
    out[0] = wg_let(t, wg_add(y[0], wg_mul(wg_div(h, 6), sum)));
    return WG_OK;
}

static const char *const xs[] = {"x", "x1", "x2", "x3"}, *const ys[] = {"y", "y1", "y2", "y3",
                                                                        "y4"};

static int prepare(void *job, struct gb_error *e) {
    struct ode *o = job;
    const wg_argument out = {"y", 1, 1, 0};
    wg_argument in[INPUTS] = {{"h", 1, 1, WG_SHARED | WG_PASSIVE}};
    double at[INPUTS];
    wg_function *f = NULL;
    for (size_t k = 0; k < INPUTS; k++) at[k] = 1;
    for (size_t k = 0; k < SLOPES; k++) in[1 + k] = (wg_argument){xs[k], 1, 1, 0};
    for (size_t k = 0; k <= SLOPES; k++) in[1 + SLOPES + k] = (wg_argument){ys[k], 1, 1, 0};
    if (wg_function_record(o->code, step, NULL, INPUTS, in, at, 1, &out, &f) != WG_OK) f = NULL;
    o->step = gb_callable(o->code, f, e);
    return o->step ? 0 : -1;
}

static int run_gradient(void *job, struct gb_error *e) {
    struct ode *o = job;
    wg_tape *const t = o->t;
    const size_t cells = o->n + 1;
    const double h = 2 / (double)o->s;
    wg_source from[INPUTS];
    wg_mat y;
    wg_tape_reset(t);
    memcpy(o->padded + SLOPES, o->x, o->n * sizeof *o->x);
    const wg_mat x = wg_mat_input_borrowed(t, o->n + SLOPES, 1, o->padded, o->n + SLOPES);
    from[0] = wg_from_data(&h, 0, 1);
    for (size_t k = 0; k < SLOPES; k++)
        from[1 + k] = wg_from_matrix(wg_mat_block(x, SLOPES - 1 - k, 0, cells, 1));
    for (size_t k = 0; k <= SLOPES; k++)
        from[1 + SLOPES + k] = wg_from_neighbour("y", -(ptrdiff_t)k, 0, 0);
    const wg_stage stage = {o->step, from};
    const wg_state start = {"y", wg_mat_constant_borrowed(t, cells, 1, o->begin, cells)};
    const size_t kept = MOST_KEPT / cells;
    const wg_scan_options options = {.cells = {cells},
                                     .boundary = {WG_ZERO_OUTSIDE},
                                     .stored = o->s <= kept ? 0 : kept + 1};
    wg_status s = wg_scan(t, o->s, 1, &stage, 1, &start, &options, &y);
    if (s == WG_OK) s = wg_reverse(t, wg_mat_at(wg_mat_reshape(t, y, cells, 1), o->n, 0));
    if (s == WG_OK) s = wg_mat_adjoint(t, wg_mat_block(x, SLOPES, 0, o->n, 1), o->g, o->n);
    return gb_status(e, s, t);
}

static json_t *output_value(const void *job) {
    const struct ode *o = job;
    return gb_array(o->y, 1, &o->n);
}
static json_t *output_gradient(const void *job) {
    const struct ode *o = job;
    return gb_array(o->g, 1, &o->n);
}

const struct gb_module gb_ode = {
    .name = "ode",
    .read = read,
    .release = release,
    .functions = {{"primal", NULL, run_primal, output_value},
                  {"gradient", prepare, run_gradient, output_gradient}},
};
