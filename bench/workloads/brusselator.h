/* SPDX-License-Identifier: MIT */
/* brusselator - the reaction-diffusion system
 *   u_t = B + u^2 v - (A + 1) u + D lap u,   v_t = A u - u^2 v + D lap v
 * on a periodic side-by-side grid by the classical Runge-Kutta method of fourth order. The
 * output is a weighted sum of the final values. Inputs: u then v, row after row. */
#ifndef WENGERT_BENCH_BRUSSELATOR_H
#define WENGERT_BENCH_BRUSSELATOR_H
struct brusselator_params {
    size_t side, steps;
    double a, b, d, h; /* d is the diffusivity over the square of the spacing */
    const double *weight;
};
#endif

#ifndef BENCH_PEER
#include <wengert/generic.h>
#endif

/* The slope at cell c with neighbours e, w, n, s. */
static inline void WG_NAME(brusselator_cell)(wg_tape *t, const struct brusselator_params *p,
                                             const wg_real *u, const wg_real *v, wg_real *du,
                                             wg_real *dv, size_t c, size_t e, size_t w,
                                             size_t n, size_t s) {
    (void)t;
    du[c] = wg_let(
        t, wg_add(wg_add(p->b, wg_mul(u[c], wg_sub(wg_mul(u[c], v[c]), p->a + 1 + 4 * p->d))),
                  wg_mul(p->d, wg_add(wg_add(u[e], u[w]), wg_add(u[n], u[s])))));
    dv[c] = wg_let(t, wg_add(wg_sub(wg_mul(u[c], wg_sub(p->a, wg_mul(u[c], v[c]))),
                                    wg_mul(4 * p->d, v[c])),
                             wg_mul(p->d, wg_add(wg_add(v[e], v[w]), wg_add(v[n], v[s])))));
}

static void WG_NAME(brusselator_slope)(wg_tape *t, const struct brusselator_params *p,
                                       const wg_real *y, wg_real *dy) {
    const size_t side = p->side, cells = side * side;
    const wg_real *u = y, *v = y + cells;
    wg_real *du = dy, *dv = dy + cells;
    for (size_t i = 0; i < side; i++) {
        const size_t row = i * side, last = row + side - 1;
        const size_t north = (i + 1 < side ? row + side : 0);
        const size_t south = (i ? row : cells) - side;
        WG_NAME(brusselator_cell)(t, p, u, v, du, dv, row, row + 1, last, north, south);
        for (size_t j = 1; j + 1 < side; j++) WG_NAME(brusselator_cell)
        (t, p, u, v, du, dv, row + j, row + j + 1, row + j - 1, north + j, south + j);
        WG_NAME(brusselator_cell)
        (t, p, u, v, du, dv, last, row, last - 1, north + side - 1, south + side - 1);
    }
}

static wg_real WG_NAME(brusselator)(wg_tape *t, const void *params, const wg_real *in,
                                    wg_real *work) {
    const struct brusselator_params *p = (const struct brusselator_params *)params;
    const size_t n = 2 * p->side * p->side;
    const double h = p->h;
    wg_real *y = work, *z = y + n, *k1 = z + n, *k2 = k1 + n, *k3 = k2 + n, *k4 = k3 + n;
    for (size_t i = 0; i < n; i++) y[i] = in[i];
    for (size_t step = 0; step < p->steps; step++) {
        WG_NAME(brusselator_slope)(t, p, y, k1);
        for (size_t i = 0; i < n; i++) z[i] = wg_let(t, wg_add(y[i], wg_mul(0.5 * h, k1[i])));
        WG_NAME(brusselator_slope)(t, p, z, k2);
        for (size_t i = 0; i < n; i++) z[i] = wg_let(t, wg_add(y[i], wg_mul(0.5 * h, k2[i])));
        WG_NAME(brusselator_slope)(t, p, z, k3);
        for (size_t i = 0; i < n; i++) z[i] = wg_let(t, wg_add(y[i], wg_mul(h, k3[i])));
        WG_NAME(brusselator_slope)(t, p, z, k4);
        for (size_t i = 0; i < n; i++)
            y[i] = wg_let(
                t, wg_add(y[i], wg_mul(h / 6, wg_add(wg_add(k1[i], k4[i]),
                                                     wg_mul(2.0, wg_add(k2[i], k3[i]))))));
    }
    wg_real f = wg_constant(0.0);
    for (size_t i = 0; i < n; i++) f = wg_let(t, wg_add(f, wg_mul(p->weight[i], y[i])));
    return f;
}

#ifdef BENCH_ONCE
static int brusselator_case(struct bench_case *b, size_t side, size_t steps) {
    const size_t n = 2 * side * side;
    struct brusselator_params *p = bench_alloc(b, 1, sizeof *p);
    double *x = bench_doubles(b, n), *weight = bench_doubles(b, n);
    b->scratch_len = (4 * steps + 8) * n;
    b->scratch = bench_doubles(b, b->scratch_len);
    if (!p || !x || !weight || !b->scratch) return -1;
    uint64_t seed = 4;
    for (size_t i = 0; i < side; i++)
        for (size_t j = 0; j < side; j++) {
            const double px = (double)j / (double)side, py = (double)i / (double)side;
            x[i * side + j] = 22 * py * (1 - py) * sqrt(py * (1 - py));
            x[n / 2 + i * side + j] = 27 * px * (1 - px) * sqrt(px * (1 - px));
        }
    for (size_t i = 0; i < n; i++) weight[i] = bench_uniform(&seed, 0.5, 1.5);
    p->side = side;
    p->steps = steps;
    p->a = 3.4;
    p->b = 1.0;
    p->d = 10.0;
    p->h = 0.01;
    p->weight = weight;
    b->n = b->entries = n;
    b->m = 1;
    b->work = 6 * n;
    b->x = x;
    b->params = p;
    return 0;
}

static inline void brusselator_back_cell(const struct brusselator_params *p, const double *at,
                                         const double *w, double *restrict out, size_t cells,
                                         size_t c, size_t e, size_t we, size_t n, size_t s) {
    const double *wu = w, *wv = w + cells;
    const double u = at[c], uv2 = 2 * u * at[cells + c], uu = u * u, d = p->d;
    out[c] = (uv2 - p->a - 1 - 4 * d) * wu[c] + (p->a - uv2) * wv[c] +
             d * (wu[e] + wu[we] + wu[n] + wu[s]);
    out[cells + c] = uu * wu[c] - (uu + 4 * d) * wv[c] + d * (wv[e] + wv[we] + wv[n] + wv[s]);
}

/* out = J(at)' w; J the Jacobian of the slope. The Laplacian is its own transpose. */
static void brusselator_back(const struct brusselator_params *p, const double *at,
                             const double *w, double *restrict out) {
    const size_t side = p->side, cells = side * side;
    for (size_t i = 0; i < side; i++) {
        const size_t row = i * side, last = row + side - 1;
        const size_t north = (i + 1 < side ? row + side : 0);
        const size_t south = (i ? row : cells) - side;
        brusselator_back_cell(p, at, w, out, cells, row, row + 1, last, north, south);
        for (size_t j = 1; j + 1 < side; j++)
            brusselator_back_cell(p, at, w, out, cells, row + j, row + j + 1, row + j - 1,
                                  north + j, south + j);
        brusselator_back_cell(p, at, w, out, cells, last, row, last - 1, north + side - 1,
                              south + side - 1);
    }
}

/* z = y + h k */
static void brusselator_move(size_t n, const double *y, double h, const double *k,
                             double *restrict z) {
    for (size_t i = 0; i < n; i++) z[i] = y[i] + h * k[i];
}

static void brusselator_handwritten(const struct bench_case *b, double *g) {
    const struct brusselator_params *p = (const struct brusselator_params *)b->params;
    const size_t n = 2 * p->side * p->side;
    const double h = p->h;
    double *keep = b->scratch; /* of each step: y and the three points between */
    double *k = keep + (4 * p->steps + 1) * n, *sum = k + n, *kb = sum + n;
    memcpy(keep, b->x, n * sizeof *keep);
    for (size_t step = 0; step < p->steps; step++, keep += 4 * n) {
        double *y = keep, *z2 = y + n, *z3 = z2 + n, *z4 = z3 + n, *after = z4 + n;
        brusselator_slope_double(NULL, p, y, k);
        memcpy(sum, k, n * sizeof *sum);
        brusselator_move(n, y, 0.5 * h, k, z2);
        brusselator_slope_double(NULL, p, z2, k);
        for (size_t i = 0; i < n; i++) sum[i] += 2 * k[i];
        brusselator_move(n, y, 0.5 * h, k, z3);
        brusselator_slope_double(NULL, p, z3, k);
        for (size_t i = 0; i < n; i++) sum[i] += 2 * k[i];
        brusselator_move(n, y, h, k, z4);
        brusselator_slope_double(NULL, p, z4, k);
        for (size_t i = 0; i < n; i++) after[i] = y[i] + h / 6 * (sum[i] + k[i]);
    }
    double *zb = sum;
    memcpy(g, p->weight, n * sizeof *g);
    for (size_t step = p->steps; step-- > 0;) {
        static const double ahead[4] = {0, 0.5, 0.5, 1}, share[4] = {1, 2, 2, 1};
        keep -= 4 * n;
        double *total = k;
        memcpy(total, g, n * sizeof *total);
        for (size_t stage = 4; stage-- > 0;) {
            const double from = h / 6 * share[stage];
            const double back = (stage == 3 ? 0 : h * ahead[stage + 1]);
            for (size_t i = 0; i < n; i++) kb[i] = from * g[i] + back * zb[i];
            brusselator_back(p, keep + stage * n, kb, zb);
            for (size_t i = 0; i < n; i++) total[i] += zb[i];
        }
        memcpy(g, total, n * sizeof *g);
    }
}
#endif
