/* SPDX-License-Identifier: MIT */
/* burgers - the two coupled equations of Burgers in the plane,
 *   u_t + u u_x + v u_y = (u_xx + u_yy)/R,   v_t + u v_x + v v_y = (v_xx + v_yy)/R,
 * by explicit Euler steps and central differences; values on the border stay. The output is a
 * weighted sum of the final values.
 * Inputs: u then v on a rows-by-columns grid, row after row. */
#ifndef WENGERT_BENCH_BURGERS_H
#define WENGERT_BENCH_BURGERS_H
struct burgers_params {
    size_t rows, columns, steps;
    double advect;  /* dt / (2 dx) */
    double diffuse; /* dt / (R dx^2) */
    const double *weight;
};
#endif

#ifndef BENCH_PEER
#include <wengert/generic.h>
#endif

/* One step of the field w, in the flow (u, v), on the interior. */
static void WG_NAME(burgers_field)(wg_tape *t, const struct burgers_params *p, const wg_real *u,
                                   const wg_real *v, const wg_real *w, wg_real *next) {
    (void)t;
    const size_t nx = p->columns;
    const double a = p->advect, d = p->diffuse, rest = 1 - 4 * d;
    for (size_t i = 1; i + 1 < p->rows; i++)
        for (size_t j = i * nx + 1; j + 1 < (i + 1) * nx; j++) {
            const wg_real across =
                wg_let(t, wg_add(wg_mul(rest, w[j]),
                                 wg_add(wg_mul(wg_sub(d, wg_mul(a, u[j])), w[j + 1]),
                                        wg_mul(wg_add(d, wg_mul(a, u[j])), w[j - 1]))));
            next[j] = wg_let(
                t, wg_add(across, wg_add(wg_mul(wg_sub(d, wg_mul(a, v[j])), w[j + nx]),
                                         wg_mul(wg_add(d, wg_mul(a, v[j])), w[j - nx]))));
        }
}

static wg_real WG_NAME(burgers)(wg_tape *t, const void *params, const wg_real *in,
                                wg_real *work) {
    const struct burgers_params *p = (const struct burgers_params *)params;
    (void)t;
    const size_t n = p->rows * p->columns;
    wg_real *now = work, *next = work + 2 * n; /* u then v */
    for (size_t i = 0; i < 2 * n; i++) now[i] = next[i] = in[i];
    for (size_t step = 0; step < p->steps; step++) {
        WG_NAME(burgers_field)(t, p, now, now + n, now, next);
        WG_NAME(burgers_field)(t, p, now, now + n, now + n, next + n);
        wg_real *swap = now;
        now = next;
        next = swap;
    }
    wg_real f = wg_constant(0.0);
    for (size_t i = 0; i < 2 * n; i++) f = wg_let(t, wg_add(f, wg_mul(p->weight[i], now[i])));
    return f;
}

#ifdef BENCH_ONCE
static int burgers_case(struct bench_case *b, size_t rows, size_t columns, size_t steps) {
    const size_t n = rows * columns;
    struct burgers_params *p = bench_alloc(b, 1, sizeof *p);
    double *x = bench_doubles(b, 2 * n), *weight = bench_doubles(b, 2 * n);
    b->scratch_len = 2 * n * (steps + 3);
    b->scratch = bench_doubles(b, b->scratch_len);
    if (!p || !x || !weight || !b->scratch) return -1;
    uint64_t seed = 3;
    const double pi = 3.14159265358979323846;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            const double px = (double)j / (double)(columns - 1);
            const double py = (double)i / (double)(rows - 1);
            x[i * columns + j] = sin(pi * px) * cos(pi * py);
            x[n + i * columns + j] = cos(pi * px) * sin(2 * pi * py);
        }
    for (size_t i = 0; i < 2 * n; i++) weight[i] = bench_uniform(&seed, 0.5, 1.5);
    p->rows = rows;
    p->columns = columns;
    p->steps = steps;
    p->advect = 0.05;
    p->diffuse = 0.1;
    p->weight = weight;
    b->n = b->entries = 2 * n;
    b->m = 1;
    b->work = 4 * n;
    b->x = x;
    b->params = p;
    return 0;
}

static void burgers_forth(const struct burgers_params *p, const double *u, const double *v,
                          const double *w, double *restrict next) {
    const size_t nx = p->columns;
    const double a = p->advect, d = p->diffuse, rest = 1 - 4 * d;
    for (size_t i = 1; i + 1 < p->rows; i++)
        for (size_t j = i * nx + 1; j + 1 < (i + 1) * nx; j++)
            next[j] = rest * w[j] -
                      a * (u[j] * (w[j + 1] - w[j - 1]) + v[j] * (w[j + nx] - w[j - nx])) +
                      d * (w[j + 1] + w[j - 1] + w[j + nx] + w[j - nx]);
}

/* Adjoints before a step from those after it. The latter are 0 on the border: what flows to the
 * border is the business of burgers_border. */
static void burgers_back(const struct burgers_params *p, const double *u, const double *v,
                         const double *ub, const double *vb, double *restrict un,
                         double *restrict vn) {
    const size_t nx = p->columns;
    const double a = p->advect, d = p->diffuse, rest = 1 - 4 * d;
    for (size_t i = 1; i + 1 < p->rows; i++)
        for (size_t j = i * nx + 1; j + 1 < (i + 1) * nx; j++) {
            const size_t e = j + 1, w = j - 1, n = j + nx, s = j - nx;
            const double toe = d + a * u[e], tow = d - a * u[w];
            const double ton = d + a * v[n], tos = d - a * v[s];
            un[j] = rest * ub[j] - a * (ub[j] * (u[e] - u[w]) + vb[j] * (v[e] - v[w])) +
                    toe * ub[e] + tow * ub[w] + ton * ub[n] + tos * ub[s];
            vn[j] = rest * vb[j] - a * (ub[j] * (u[n] - u[s]) + vb[j] * (v[n] - v[s])) +
                    toe * vb[e] + tow * vb[w] + ton * vb[n] + tos * vb[s];
        }
}

/* What a step's adjoints wb of either field leave on the border, added to g. */
static void burgers_border(const struct burgers_params *p, const double *u, const double *v,
                           const double *wb, double *g) {
    const size_t nx = p->columns, ny = p->rows;
    const double a = p->advect, d = p->diffuse;
    for (size_t i = 1; i + 1 < ny; i++) {
        const size_t first = i * nx, last = first + nx - 1;
        g[first] += (d + a * u[first + 1]) * wb[first + 1];
        g[last] += (d - a * u[last - 1]) * wb[last - 1];
    }
    for (size_t j = 1; j + 1 < nx; j++) {
        const size_t last = (ny - 1) * nx + j;
        g[j] += (d + a * v[j + nx]) * wb[j + nx];
        g[last] += (d - a * v[last - nx]) * wb[last - nx];
    }
}

static void burgers_handwritten(const struct bench_case *b, double *g) {
    const struct burgers_params *p = (const struct burgers_params *)b->params;
    const size_t n = p->rows * p->columns, nx = p->columns, ny = p->rows;
    double *state = b->scratch;                  /* u, v before each step */
    double *wb = state + 2 * n * (p->steps + 1); /* adjoints of u, v; 0 on the border */
    double *next = wb + 2 * n;
    memcpy(state, b->x, 2 * n * sizeof *state);
    for (size_t step = 0; step < p->steps; step++, state += 2 * n) {
        double *after = state + 2 * n;
        for (size_t f = 0; f < 2 * n; f += n) { /* the border stays */
            memcpy(after + f, state + f, nx * sizeof *after);
            memcpy(after + f + n - nx, state + f + n - nx, nx * sizeof *after);
            for (size_t i = f; i < f + n; i += nx) {
                after[i] = state[i];
                after[i + nx - 1] = state[i + nx - 1];
            }
            burgers_forth(p, state, state + n, state + f, after + f);
        }
    }
    memset(wb, 0, 4 * n * sizeof *wb);
    memcpy(g, p->weight, 2 * n * sizeof *g);
    for (size_t f = 0; f < 2 * n; f += n)
        for (size_t i = 1; i + 1 < ny; i++)
            memcpy(wb + f + i * nx + 1, g + f + i * nx + 1, (nx - 2) * sizeof *wb);
    for (size_t step = p->steps; step-- > 0;) {
        state -= 2 * n;
        burgers_border(p, state, state + n, wb, g);
        burgers_border(p, state, state + n, wb + n, g + n);
        burgers_back(p, state, state + n, wb, wb + n, next, next + n);
        double *swap = wb;
        wb = next;
        next = swap;
    }
    for (size_t f = 0; f < 2 * n; f += n)
        for (size_t i = 1; i + 1 < ny; i++)
            memcpy(g + f + i * nx + 1, wb + f + i * nx + 1, (nx - 2) * sizeof *g);
}
#endif
