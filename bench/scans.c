/* SPDX-License-Identifier: MIT */
/* scans - what does a loop of mapped stencils, and its adjoint, cost beside the primal that the
 * compiler has vectorised?
 *
 * A function of one cell is recorded; wg_scan repeats it over the cells of a grid and the
 * steps. Each run records the loop anew. Verified first against the tape of statements; ratios
 * are of the fastest samples. Compiled functions are left out where there is no compiler.
 *
 *     scans [--small] [--only NAME] [--reps N] [--json FILE]   --small: verification only */
#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/data.h"

#define WG_AS_DOUBLE
#define BENCH_ONCE
#include "workloads/brusselator.h"
#include "workloads/burgers.h"
#include "workloads/lax_wendroff.h"
#include "workloads/toon.h"
#undef BENCH_ONCE
#include "workloads/lstm.h"
#undef WG_AS_DOUBLE
#include <wengert/generic.h>

enum { MOST_STAGES = 4, MOST_INPUTS = 32 };

/* ---- a workload ---- */

struct loop {
    const struct workload *w;
    struct bench_case c;
    wg_callable *interpreted[MOST_STAGES], *native[MOST_STAGES];
    wg_callable *const *stage; /* those in use */
    wg_tape *t, *code;         /* of the loop, of the functions */
    double *data;              /* what the functions read beside the inputs */
    double *g, *ref;
    double y;
    int gradient; /* wanted? */
    wg_status status;
};

struct workload {
    const char *name;
    enum bench_id id;
    size_t size[3], small[3]; /* of its case */
    double ulps;
    int (*setup)(struct bench_case *c, const size_t *size);
    void (*primal)(const struct bench_case *c, double *y);
    void (*handwritten)(const struct bench_case *c, double *g);
    int (*prepare)(struct loop *l);              /* data and functions; 0, or -1 */
    wg_real (*record)(struct loop *l, wg_mat x); /* the loop */
    void (*same)(const struct bench_case *c,
                 double *g); /* inputs that the loop takes for one */
};

/* A function of stage k, whose inputs come from there; NULL: not from neighbours. */
static int stage_function(struct loop *l, size_t k, wg_callback *f, size_t inputs,
                          const wg_argument *in, const wg_source *from, size_t outputs,
                          const wg_argument *out) {
    double x[MOST_INPUTS];
    wg_function *made = NULL;
    for (size_t i = 0; i < MOST_INPUTS; i++) x[i] = 1 + 0.25 * (double)i;
    const wg_status s = wg_function_record(l->code, f, (void *)(uintptr_t)l->c.params, inputs,
                                           in, x, outputs, out, &made);
    if (s == WG_OK && wg_callable_new(l->code, made, &l->interpreted[k]) != WG_OK)
        l->interpreted[k] = NULL;
    wg_function_free(made);
    if (l->interpreted[k] != NULL && from != NULL) {
        wg_callable *const plain = l->interpreted[k];
        if (wg_callable_stencil(l->code, plain, from, &l->interpreted[k]) != WG_OK)
            l->interpreted[k] = NULL;
        wg_callable_free(plain);
    }
    if (l->interpreted[k] == NULL) return -1;
    wg_compiled how;
    if (wg_callable_compile(l->code, l->interpreted[k], NULL, &l->native[k], &how) != WG_OK)
        return -1;
    if (!how.native) {
        fprintf(stderr, "scans: not compiled: %s\n", how.why);
        wg_callable_free(l->native[k]);
        l->native[k] = NULL;
    }
    return 0;
}

/* The loop, and the weighted sum of its states. */
static wg_mat *scan(struct loop *l, size_t steps, size_t stages, wg_stage *stage, size_t states,
                    const wg_state *state, const wg_scan_options *o, wg_mat *y) {
    for (size_t k = 0; k < stages; k++) stage[k].f = l->stage[k];
    return wg_scan(l->t, steps, stages, stage, states, state, o, y) == WG_OK ? y : NULL;
}

static wg_real weighted(struct loop *l, const double *weight, wg_mat y, size_t cells) {
    const wg_mat w = wg_mat_constant_borrowed(l->t, cells, 1, weight, cells);
    return wg_mat_sum(l->t, wg_mat_mul(l->t, w, wg_mat_reshape(l->t, y, cells, 1)));
}

/* ---- advection around a ring: the ends repeat cells of the other side ---- */

static void ring_same(const struct bench_case *c, double *g) {
    const size_t n = c->n;
    g[n - 2] += g[0];
    g[1] += g[n - 1];
    g[0] = g[n - 1] = 0;
}

static void close_ring(struct bench_case *c) {
    double *const x = c->block[1]; /* as made by advection_case */
    x[0] = x[c->n - 2];
    x[c->n - 1] = x[1];
}

static int lax_wendroff_setup(struct bench_case *c, const size_t *size) {
    if (lax_wendroff_case(c, size[0], size[1])) return -1;
    close_ring(c);
    return 0;
}

static int toon_setup(struct bench_case *c, const size_t *size) {
    if (toon_case(c, size[0], size[1])) return -1;
    close_ring(c);
    return 0;
}

static wg_real lax_wendroff_flux(wg_tape *t, double c, wg_real a, wg_real b) {
    return wg_let(t, wg_mul(0.5 * c, wg_add(wg_add(a, b), wg_mul(c, wg_sub(a, b)))));
}

static wg_status lax_wendroff_cell(wg_tape *t, size_t n, const wg_real *q, size_t m, wg_real *y,
                                   void *data) {
    const struct advection_params *p = data;
    (void)n, (void)m;
    const wg_real left = lax_wendroff_flux(t, p->courant, q[0], q[1]);
    const wg_real right = lax_wendroff_flux(t, p->courant, q[1], q[2]);
    y[0] = wg_let(t, wg_add(q[1], wg_sub(left, right)));
    return WG_OK;
}

static void lax_wendroff_sources(wg_source *from) {
    from[0] = wg_from_neighbour("q", -1, 0, 0);
    from[1] = wg_from_state("q");
    from[2] = wg_from_neighbour("q", 1, 0, 0);
}

static int lax_wendroff_prepare(struct loop *l) {
    wg_source from[3];
    lax_wendroff_sources(from);
    const wg_argument in[] = {{"west", 1, 1, 0}, {"here", 1, 1, 0}, {"east", 1, 1, 0}};
    const wg_argument out = {"q", 1, 1, 0};
    return stage_function(l, 0, lax_wendroff_cell, 3, in, from, 1, &out);
}

static wg_real ring_sum(struct loop *l, wg_mat *y) {
    const struct advection_params *p = l->c.params;
    if (y == NULL) return wg_constant(NAN);
    const size_t n = p->cells - 2;
    const wg_real inner = weighted(l, p->weight + 1, y[0], n);
    const wg_mat q = wg_mat_reshape(l->t, y[0], n, 1);
    return wg_let(l->t, wg_add(inner, wg_add(wg_mul(p->weight[0], wg_mat_at(q, n - 1, 0)),
                                             wg_mul(p->weight[n + 1], wg_mat_at(q, 0, 0)))));
}

static wg_real lax_wendroff_record(struct loop *l, wg_mat x) {
    const struct advection_params *p = l->c.params;
    wg_source from[3];
    lax_wendroff_sources(from);
    const wg_state state = {"q", wg_mat_block(x, 1, 0, p->cells - 2, 1)};
    const wg_scan_options o = {.cells = {p->cells - 2}};
    wg_stage stage = {NULL, from};
    wg_mat y;
    return ring_sum(l, scan(l, p->steps, 1, &stage, 1, &state, &o, &y));
}

static wg_status toon_flux(wg_tape *t, size_t n, const wg_real *q, size_t m, wg_real *y,
                           void *data) {
    const struct advection_params *p = data;
    (void)n, (void)m;
    y[0] = wg_let(
        t, wg_div(wg_mul(wg_mul(wg_sub(wg_exp(wg_mul(p->courant, wg_log(wg_div(q[0], q[1])))),
                                       1.0),
                                q[0]),
                         q[1]),
                  wg_sub(q[0], q[1])));
    return WG_OK;
}

static wg_status toon_cell(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_add(x[0], wg_sub(x[1], x[2])));
    return WG_OK;
}

static int toon_prepare(struct loop *l) {
    const wg_argument in[] = {{"here", 1, 1, 0}, {"east", 1, 1, 0}, {"right", 1, 1, 0}};
    const wg_argument out[] = {{"flux", 1, 1, 0}, {"q", 1, 1, 0}};
    return stage_function(l, 0, toon_flux, 2, in, NULL, 1, &out[0]) ||
                   stage_function(l, 1, toon_cell, 3, in, NULL, 1, &out[1])
               ? -1
               : 0;
}

static wg_real toon_record(struct loop *l, wg_mat x) {
    const struct advection_params *p = l->c.params;
    const wg_source flux[] = {wg_from_state("q"), wg_from_neighbour("q", 1, 0, 0)};
    const wg_source cell[] = {wg_from_state("q"), wg_from_neighbour("flux", -1, 0, 0),
                              wg_from_state("flux")};
    const wg_state state = {"q", wg_mat_block(x, 1, 0, p->cells - 2, 1)};
    const wg_scan_options o = {.cells = {p->cells - 2}};
    wg_stage stage[] = {{NULL, flux}, {NULL, cell}};
    wg_mat y;
    return ring_sum(l, scan(l, p->steps, 2, stage, 1, &state, &o, &y));
}

/* ---- Burgers in the plane: a number at each cell says whether it is inside ---- */

static int burgers_setup(struct bench_case *c, const size_t *size) {
    return burgers_case(c, size[0], size[1], size[2]);
}

/* x: u and v at the centre, east, west, north, south, each; inside. */
static wg_status burgers_cell(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *data) {
    const struct burgers_params *p = data;
    const double d = p->diffuse;
    const wg_real u = wg_let(t, wg_mul(p->advect, x[0])),
                  v = wg_let(t, wg_mul(p->advect, x[5]));
    const wg_real inside = x[10];
    (void)n, (void)m;
    const wg_real east = wg_let(t, wg_sub(d, u)), west = wg_let(t, wg_add(d, u));
    const wg_real north = wg_let(t, wg_sub(d, v)), south = wg_let(t, wg_add(d, v));
    for (size_t k = 0; k < 2; k++) {
        const wg_real *const w = x + 5 * k;
        const wg_real across = wg_let(t, wg_add(wg_mul(east, w[1]), wg_mul(west, w[2])));
        const wg_real along = wg_let(t, wg_add(wg_mul(north, w[3]), wg_mul(south, w[4])));
        y[k] = wg_let(t, wg_add(w[0], wg_mul(inside, wg_sub(wg_add(across, along),
                                                            wg_mul(4 * d, w[0])))));
    }
    return WG_OK;
}

static const wg_argument ten[] = {{"u", 1, 1, 0},
                                  {"ue", 1, 1, 0},
                                  {"uw", 1, 1, 0},
                                  {"un", 1, 1, 0},
                                  {"us", 1, 1, 0},
                                  {"v", 1, 1, 0},
                                  {"ve", 1, 1, 0},
                                  {"vw", 1, 1, 0},
                                  {"vn", 1, 1, 0},
                                  {"vs", 1, 1, 0},
                                  {"inside", 1, 1, WG_PASSIVE}};

static void five(wg_source *to, const char *name) {
    to[0] = wg_from_state(name);
    to[1] = wg_from_neighbour(name, 1, 0, 0);
    to[2] = wg_from_neighbour(name, -1, 0, 0);
    to[3] = wg_from_neighbour(name, 0, 1, 0);
    to[4] = wg_from_neighbour(name, 0, -1, 0);
}

static void burgers_sources(const struct loop *l, wg_source *from) {
    five(from, "u");
    five(from + 5, "v");
    from[10] = wg_from_data(l->data, 1, 1);
}

static int burgers_prepare(struct loop *l) {
    const struct burgers_params *p = l->c.params;
    const wg_argument out[] = {{"u", 1, 1, 0}, {"v", 1, 1, 0}};
    const size_t nx = p->columns, ny = p->rows;
    l->data = calloc(nx * ny, sizeof *l->data);
    if (l->data == NULL) return -1;
    for (size_t i = 1; i + 1 < ny; i++)
        for (size_t j = 1; j + 1 < nx; j++) l->data[i * nx + j] = 1;
    wg_source from[11];
    burgers_sources(l, from);
    return stage_function(l, 0, burgers_cell, 11, ten, from, 2, out);
}

static wg_real burgers_record(struct loop *l, wg_mat x) {
    const struct burgers_params *p = l->c.params;
    const size_t n = p->rows * p->columns;
    wg_source from[11];
    burgers_sources(l, from);
    const wg_state state[] = {{"u", wg_mat_block(x, 0, 0, n, 1)},
                              {"v", wg_mat_block(x, n, 0, n, 1)}};
    const wg_scan_options o = {.cells = {p->columns, p->rows},
                               .boundary = {WG_ZERO_OUTSIDE, WG_ZERO_OUTSIDE}};
    wg_stage stage = {NULL, from};
    wg_mat y[2];
    if (scan(l, p->steps, 1, &stage, 2, state, &o, y) == NULL) return wg_constant(NAN);
    return wg_let(l->t,
                  wg_add(weighted(l, p->weight, y[0], n), weighted(l, p->weight + n, y[1], n)));
}

/* ---- the Brusselator: four slopes a step, the point of the next one after each ---- */

static int brusselator_setup(struct bench_case *c, const size_t *size) {
    return brusselator_case(c, size[0], size[1]);
}

static void brusselator_slopes(wg_tape *t, const struct brusselator_params *p, const wg_real *x,
                               wg_real *k) {
    const wg_real *const u = x, *const v = x + 5;
    const wg_real uv = wg_let(t, wg_mul(u[0], v[0]));
    const double d = p->d;
    k[0] = wg_let(t, wg_add(wg_add(p->b, wg_mul(u[0], wg_sub(uv, p->a + 1 + 4 * d))),
                            wg_mul(d, wg_add(wg_add(u[1], u[2]), wg_add(u[3], u[4])))));
    k[1] = wg_let(t, wg_add(wg_sub(wg_mul(u[0], wg_sub(p->a, uv)), wg_mul(4 * d, v[0])),
                            wg_mul(d, wg_add(wg_add(v[1], v[2]), wg_add(v[3], v[4])))));
}

/* z = y + h k, at the same place */
static wg_status brusselator_first(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *z,
                                   void *data) {
    const struct brusselator_params *p = data;
    wg_real k[2];
    (void)n, (void)m;
    brusselator_slopes(t, p, x, k);
    z[0] = wg_let(t, wg_add(x[0], wg_mul(0.5 * p->h, k[0])));
    z[1] = wg_let(t, wg_add(x[5], wg_mul(0.5 * p->h, k[1])));
    return WG_OK;
}

static wg_status brusselator_between(wg_tape *t, const wg_real *x, double h, wg_real *z,
                                     const struct brusselator_params *p) {
    wg_real k[2];
    brusselator_slopes(t, p, x, k);
    for (size_t i = 0; i < 2; i++) z[i] = wg_let(t, wg_add(x[10 + i], wg_mul(h, k[i])));
    return WG_OK;
}

static wg_status brusselator_second(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                    wg_real *z, void *data) {
    const struct brusselator_params *p = data;
    (void)n, (void)m;
    return brusselator_between(t, x, 0.5 * p->h, z, p);
}

static wg_status brusselator_third(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *z,
                                   void *data) {
    const struct brusselator_params *p = data;
    (void)n, (void)m;
    return brusselator_between(t, x, p->h, z, p);
}

/* x: z4 all around, then y, z2, z3 in place. The slopes are those of the points between:
 * y + h/6 (k1 + 2 k2 + 2 k3 + k4) = (z2 + 2 z3 + z4 - y)/3 + h/6 k4. */
static wg_status brusselator_last(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                  void *data) {
    const struct brusselator_params *p = data;
    wg_real k[2];
    (void)n, (void)m;
    brusselator_slopes(t, p, x, k);
    for (size_t i = 0; i < 2; i++) {
        const wg_real points = wg_let(
            t, wg_add(wg_sub(wg_add(x[12 + i], x[5 * i]), x[10 + i]), wg_mul(2.0, x[14 + i])));
        y[i] = wg_let(t, wg_add(wg_mul(1.0 / 3, points), wg_mul(p->h / 6, k[i])));
    }
    return WG_OK;
}

static void brusselator_sources(wg_source (*from)[16]) {
    static const char *const name[][2] = {{"u", "v"}, {"u2", "v2"}, {"u3", "v3"}, {"u4", "v4"}};
    for (size_t k = 0; k < 4; k++) {
        five(from[k], name[k][0]);
        five(from[k] + 5, name[k][1]);
        for (size_t i = 0; i < 6; i++) from[k][10 + i] = wg_from_state(name[i / 2][i % 2]);
    }
}

static int brusselator_prepare(struct loop *l) {
    static wg_callback *const f[] = {brusselator_first, brusselator_second, brusselator_third,
                                     brusselator_last};
    static const char *const name[][2] = {{"u2", "v2"}, {"u3", "v3"}, {"u4", "v4"}, {"u", "v"}};
    static const char *const in_place[] = {"ys", "yt", "2s", "2t", "3s", "3t"};
    static const size_t inputs[] = {10, 12, 12, 16};
    wg_source from[4][16];
    brusselator_sources(from);
    wg_argument in[16];
    memcpy(in, ten, 10 * sizeof *in);
    for (size_t i = 0; i < 6; i++) in[10 + i] = (wg_argument){in_place[i], 1, 1, 0};
    for (size_t k = 0; k < 4; k++) {
        const wg_argument out[] = {{name[k][0], 1, 1, 0}, {name[k][1], 1, 1, 0}};
        if (stage_function(l, k, f[k], inputs[k], in, from[k], 2, out)) return -1;
    }
    return 0;
}

static wg_real brusselator_record(struct loop *l, wg_mat x) {
    const struct brusselator_params *p = l->c.params;
    const size_t n = p->side * p->side;
    wg_source from[4][16];
    wg_stage stage[4];
    brusselator_sources(from);
    for (size_t k = 0; k < 4; k++) stage[k].x = from[k];
    const wg_state state[] = {{"u", wg_mat_block(x, 0, 0, n, 1)},
                              {"v", wg_mat_block(x, n, 0, n, 1)}};
    const wg_scan_options o = {.cells = {p->side, p->side}};
    wg_mat y[2];
    if (scan(l, p->steps, 4, stage, 2, state, &o, y) == NULL) return wg_constant(NAN);
    return wg_let(l->t,
                  wg_add(weighted(l, p->weight, y[0], n), weighted(l, p->weight + n, y[1], n)));
}

/* ---- the memory network: bits are cells, characters are steps ---- */

static int lstm_setup(struct bench_case *c, const size_t *size) {
    double *x, *state, *sequence;
    if (bench_lstm_case(c, size[0], size[1], size[2], &x, &state, &sequence)) return -1;
    uint64_t seed = 7;
    for (size_t i = 0; i < c->n; i++) x[i] = bench_uniform(&seed, 0, 1);
    for (size_t i = 0; i < 2 * size[0] * size[2]; i++) state[i] = bench_uniform(&seed, 0, 1);
    for (size_t i = 0; i < size[1] * size[2]; i++)
        sequence[i] = (bench_uniform(&seed, 0, 1) < 0.5 ? 0 : 1);
    return bench_case_finish(c);
}

enum { LAYERS = 2, WEIGHTS = 8 * LAYERS + 3 };

/* y: hidden and cell, in place. w: weights and biases (forget, in, out, change). */
static void lstm_layer(wg_tape *t, const wg_real *w, wg_real in, wg_real *y) {
    const wg_real forget = wg_let(t, wg_sigmoid(wg_add(wg_mul(in, w[0]), w[4])));
    const wg_real hidden = y[0];
    y[1] = wg_let(
        t, wg_add(wg_mul(y[1], forget), wg_mul(wg_sigmoid(wg_add(wg_mul(hidden, w[1]), w[5])),
                                               wg_tanh(wg_add(wg_mul(hidden, w[3]), w[7])))));
    y[0] = wg_let(t, wg_mul(wg_sigmoid(wg_add(wg_mul(in, w[2]), w[6])), wg_tanh(y[1])));
}

/* One bit. x: weights, hidden and cell of the layers, this character and the next; y: hidden
 * and cell, then what the loss sums. */
static wg_status lstm_bit(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    const wg_real *const ends = x + 8 * LAYERS, *const state = x + WEIGHTS;
    const wg_real now = state[2 * LAYERS], gold = state[2 * LAYERS + 1];
    wg_real below = wg_let(t, wg_mul(now, ends[0]));
    (void)n, (void)m, (void)data;
    for (size_t l = 0; l < LAYERS; l++) {
        y[2 * l] = state[2 * l];
        y[2 * l + 1] = state[2 * l + 1];
        lstm_layer(t, x + 8 * l, below, &y[2 * l]);
        below = y[2 * l];
    }
    const wg_real top = wg_let(t, wg_add(wg_mul(below, ends[1]), ends[2]));
    y[2 * LAYERS] = wg_let(t, wg_exp(top));
    y[2 * LAYERS + 1] = wg_let(t, wg_mul(gold, top));
    return WG_OK;
}

static const char *const lstm_state[] = {"hidden0", "cell0", "hidden1", "cell1"};

static int lstm_prepare(struct loop *l) {
    const struct lstm_params *p = l->c.params;
    wg_argument in[3 + 2 * LAYERS] = {{"weights", WEIGHTS, 1, 0}}, out[2 + 2 * LAYERS];
    for (size_t i = 0; i < 2 * LAYERS; i++)
        in[1 + i] = out[i] = (wg_argument){lstm_state[i], 1, 1, 0};
    in[1 + 2 * LAYERS] = (wg_argument){"now", 1, 1, WG_PASSIVE};
    in[2 + 2 * LAYERS] = (wg_argument){"gold", 1, 1, WG_PASSIVE};
    out[2 * LAYERS] = (wg_argument){"exps", 1, 1, WG_SUMMED};
    out[2 * LAYERS + 1] = (wg_argument){"hits", 1, 1, WG_SUMMED};
    if (p->layers != LAYERS) return -1;
    l->data = calloc(p->chars, sizeof *l->data); /* the sum of each character */
    if (l->data == NULL) return -1;
    for (size_t i = 0; i + 1 < p->chars; i++)
        for (size_t j = 0; j < p->bits; j++) l->data[i] += p->sequence[(i + 1) * p->bits + j];
    return stage_function(l, 0, lstm_bit, 3 + 2 * LAYERS, in, NULL, 2 + 2 * LAYERS, out);
}

static wg_real lstm_record(struct loop *l, wg_mat x) {
    const struct lstm_params *p = l->c.params;
    const size_t b = p->bits, steps = p->chars - 1;
    wg_tape *const t = l->t;
    wg_source from[3 + 2 * LAYERS];
    wg_state state[2 * LAYERS];
    from[0] = wg_from_matrix(wg_mat_transpose(wg_mat_reshape(t, x, b, WEIGHTS)));
    for (size_t i = 0; i < 2 * LAYERS; i++) {
        from[1 + i] = wg_from_state(lstm_state[i]);
        state[i] =
            (wg_state){lstm_state[i], wg_mat_constant_borrowed(t, b, 1, p->state + i * b, b)};
    }
    from[1 + 2 * LAYERS] = wg_each_step(wg_from_data(p->sequence, 1, 1));
    from[2 + 2 * LAYERS] = wg_each_step(wg_from_data(p->sequence + b, 1, 1));
    const wg_scan_options o = {.cells = {b}, .sums_by_step = 1};
    wg_stage stage = {NULL, from};
    wg_mat y[2 * LAYERS + 2];
    if (scan(l, steps, 1, &stage, 2 * LAYERS, state, &o, y) == NULL) return wg_constant(NAN);
    const wg_mat sums = wg_mat_reshape(t, y[2 * LAYERS], steps, 1);
    const wg_mat logs = wg_mat_log(t, wg_mat_add(t, sums, wg_mat_fill(t, steps, 1, 2)));
    const wg_mat often = wg_mat_constant_borrowed(t, steps, 1, l->data, steps);
    const wg_real lost = wg_mat_sum(t, wg_mat_mul(t, often, logs));
    return wg_let(t, wg_mul(-1.0 / ((double)steps * (double)b),
                            wg_sub(wg_mat_sum(t, y[2 * LAYERS + 1]), lost)));
}

/* ---- all of them ---- */

#define KERNEL(name)                                                                           \
    static void name##_primal(const struct bench_case *c, double *y) {                         \
        *y = name##_double(NULL, c->params, c->x, c->work_doubles);                            \
    }
KERNEL(lax_wendroff)
KERNEL(toon)
KERNEL(burgers)
KERNEL(brusselator)
KERNEL(lstm)

#define ROW(text, kernel, ulps, same, ...)                                                     \
    {                                                                                          \
        text, BENCH_##kernel, __VA_ARGS__, ulps, kernel##_setup, kernel##_primal,              \
            kernel##_handwritten, kernel##_prepare, kernel##_record, same                      \
    }

static const struct workload workloads[] = {
    ROW("Lax-Wendroff, 100 cells", lax_wendroff, 1e3, ring_same, {100, 2000}, {20, 30}),
    ROW("Lax-Wendroff, 1000 cells", lax_wendroff, 1e3, ring_same, {1000, 200}, {300, 8}),
    ROW("Toon, 100 cells", toon, 1e6, ring_same, {100, 200}, {100, 5}),
    ROW("Toon, 1000 cells", toon, 1e6, ring_same, {1000, 20}, {70, 3}),
    ROW("Burgers, 200 x 200", burgers, 1e3, NULL, {200, 200, 32}, {12, 10, 5}),
    ROW("Brusselator, 32 x 32", brusselator, 1e4, NULL, {32, 50}, {6, 5}),
    ROW("Brusselator, 200 x 200", brusselator, 1e4, NULL, {200, 5}, {17, 3}),
    {"LSTM, 1024 characters of 14 bits",
     BENCH_lstm,
     {2, 1024, 14},
     {2, 8, 5},
     1e4,
     lstm_setup,
     lstm_primal,
     NULL,
     lstm_prepare,
     lstm_record,
     NULL},
};
enum { WORKLOADS = sizeof workloads / sizeof *workloads };

static void run(struct loop *l) {
    wg_tape *const t = l->t;
    const size_t n = l->c.n;
    wg_tape_reset(t);
    const wg_mat x = wg_mat_input_borrowed(t, n, 1, l->c.x, n);
    const wg_real y = l->w->record(l, x);
    l->y = wg_value(y);
    wg_status s = wg_tape_status(t);
    if (s == WG_OK && l->gradient) s = wg_reverse(t, y);
    if (s == WG_OK && l->gradient) s = wg_mat_adjoint(t, x, l->g, n);
    if (s != WG_OK) l->status = s;
}

static void run_primal(void *ctx) {
    struct loop *const l = ctx;
    l->w->primal(&l->c, &l->y);
}
static void run_handwritten(void *ctx) {
    struct loop *const l = ctx;
    const struct bench_workload *const w = &bench_workloads[l->w->id];
    (l->w->handwritten != NULL ? l->w->handwritten : w->handwritten)(&l->c, l->g);
}
static void run_value(void *ctx) {
    struct loop *const l = ctx;
    l->stage = l->interpreted;
    l->gradient = 0;
    run(l);
}
static void run_gradient(void *ctx) {
    struct loop *const l = ctx;
    l->stage = l->interpreted;
    l->gradient = 1;
    run(l);
}
static void run_native_value(void *ctx) {
    struct loop *const l = ctx;
    l->stage = l->native;
    l->gradient = 0;
    run(l);
}
static void run_native_gradient(void *ctx) {
    struct loop *const l = ctx;
    l->stage = l->native;
    l->gradient = 1;
    run(l);
}

static void close_loop(struct loop *l) {
    for (size_t k = 0; k < MOST_STAGES; k++) {
        wg_callable_free(l->interpreted[k]);
        wg_callable_free(l->native[k]);
    }
    bench_case_free(&l->c);
    free(l->data);
    free(l->g);
}

/* 0, or -1 with a line on stderr. */
static int open_loop(struct loop *l, const struct workload *w, wg_tape *const *t, int small) {
    memset(l, 0, sizeof *l);
    l->w = w;
    l->t = t[0];
    l->code = t[1];
    if (w->setup(&l->c, small ? w->small : w->size)) return -1;
    if (l->c.work_doubles == NULL && bench_case_finish(&l->c)) return -1;
    l->g = malloc(2 * l->c.n * sizeof *l->g);
    if (l->g == NULL) return -1;
    l->ref = l->g + l->c.n;
    if (w->prepare(l) == 0) return 0;
    fprintf(stderr, "scans: %s\n", wg_tape_message(l->code));
    return -1;
}

/* In ulps of the largest entry; infinite: refused. */
static double difference(struct loop *l, void (*way)(void *), double y) {
    l->status = WG_OK;
    memset(l->g, 0, l->c.n * sizeof *l->g);
    way(l);
    if (l->status != WG_OK) fprintf(stderr, "scans: %s\n", wg_tape_message(l->t));
    if (l->status != WG_OK) return INFINITY;
    const double value = bench_ulps(1, &l->y, &y), slopes = bench_ulps(l->c.n, l->g, l->ref);
    return value > slopes ? value : slopes;
}

/* 0, or the number of things wrong. */
static int verify(const struct workload *w, wg_tape *const *t, int print) {
    struct loop l;
    if (open_loop(&l, w, t, 1)) return 1;
    wg_real *const vars = malloc((l.c.n + l.c.work) * sizeof *vars);
    double y, worst = 0;
    if (vars == NULL) return 1;
    if (bench_workloads[w->id].tape(l.t, &l.c, vars, l.ref, NULL) != WG_OK) return 1;
    if (w->same != NULL) w->same(&l.c, l.ref);
    run_primal(&l);
    y = l.y;
    void (*const way[])(void *) = {run_gradient, run_native_gradient};
    for (size_t k = 0; k < 2; k++) {
        if (k != 0 && l.native[0] == NULL) continue;
        const double ulps = difference(&l, way[k], y);
        if (!(ulps <= worst)) worst = ulps;
    }
    const int wrong = !(worst <= w->ulps);
    if (print || wrong) printf("%-34s %g ulps%s\n", w->name, worst, wrong ? ": WRONG" : "");
    free(vars);
    close_loop(&l);
    return wrong;
}

static void note(struct bench_report *to, const struct workload *w, const struct bench_job *job,
                 size_t jobs) {
    static const char *const tool[] = {"primal",  "hand-written",      "Wengert",
                                       "Wengert", "Wengert, compiled", "Wengert, compiled"};
    static const char *const what[] = {"value",    "gradient", "value",
                                       "gradient", "value",    "gradient"};
    for (size_t k = 0; k < jobs; k++) {
        struct bench_row *const row =
            bench_report_add(to, "scan", w->name, tool[k], what[k], &job[k].times);
        row->size = (double)w->size[0];
        if (k != 0) bench_row_over(row, &job[0].times, "primal");
    }
}

static int time_all(const struct workload *w, wg_tape *const *t, const struct bench_options *o,
                    struct bench_report *to) {
    struct loop l;
    if (open_loop(&l, w, t, 0)) return 1;
    struct bench_job job[] = {{.run = run_primal, .ctx = &l, .label = "primal"},
                              {.run = run_handwritten, .ctx = &l, .label = "hand-written"},
                              {.run = run_value, .ctx = &l, .label = "value"},
                              {.run = run_gradient, .ctx = &l, .label = "gradient"},
                              {.run = run_native_value, .ctx = &l, .label = "compiled"},
                              {.run = run_native_gradient, .ctx = &l, .label = "gradient"}};
    const size_t jobs = l.native[0] != NULL ? 6 : 4;
    if (bench_time(job, jobs, o->reps, w->name)) return 1;
    const double base = job[0].times.min;
    printf("%-34s %9.4g", w->name, base * 1e6);
    for (size_t k = 1; k < jobs; k++) printf(" %8.2fx", job[k].times.min / base);
    printf("\n");
    note(to, w, job, jobs);
    close_loop(&l);
    return l.status != WG_OK;
}

/* How many are wrong. */
static int everything(const struct bench_options *o, wg_tape *const *t,
                      struct bench_report *to) {
    int wrong = 0;
    for (size_t k = 0; k < WORKLOADS; k++)
        if (bench_selected(o, workloads[k].name)) wrong += verify(&workloads[k], t, o->small);
    if (o->small || wrong != 0) return wrong;
    printf("\n%-34s %9s %9s %9s %9s %9s %9s\n", "", "primal us", "by hand", "value", "gradient",
           "compiled", "gradient");
    for (size_t k = 0; k < WORKLOADS; k++)
        if (bench_selected(o, workloads[k].name)) wrong += time_all(&workloads[k], t, o, to);
    return wrong;
}

int main(int argc, char **argv) {
    const wg_options keep_code = {.flags = WG_KEEP_CODE};
    struct bench_options o;
    struct bench_report report;
    if (bench_options(&o, argc, argv, 0)) return 2;
    bench_report_open(&report, "scans", o.reps);
    wg_tape *const t[] = {wg_tape_new(NULL), wg_tape_new(&keep_code)};
    if (t[0] == NULL || t[1] == NULL) return 2;
    if (o.small) puts("scans: verification");
    else bench_report_print(&report);
    const int wrong = everything(&o, t, &report);
    const int lost = !o.small && o.json && bench_report_write(&report, o.json);
    bench_report_close(&report);
    for (size_t k = 0; k < 2; k++) wg_tape_free(t[k]);
    return lost ? 2 : wrong != 0;
}
