/* SPDX-License-Identifier: MIT */
/* workloads.c - the kernels over double and over the taped variable, and the table of them. */
#include "harness.h"

#include <math.h>

#include "workloads/data.h"

#define WG_AS_DOUBLE
#define BENCH_ONCE
#include "workloads/all.h"
#undef BENCH_ONCE
#undef WG_AS_DOUBLE
#include "workloads/all.h"

int bench_case_finish(struct bench_case *c) {
    c->work_doubles = bench_doubles(c, c->work);
    return c->work_doubles ? 0 : -1;
}

int bench_case_new(struct bench_case *c, const struct bench_workload *w, enum bench_size size) {
    memset(c, 0, sizeof *c);
    if (w->setup(c, size) == 0 && bench_case_finish(c) == 0) return 0;
    bench_case_free(c);
    return -1;
}

void bench_case_free(struct bench_case *c) {
    for (size_t i = 0; i < c->blocks; i++) free(c->block[i]);
    c->blocks = 0;
}

/* ---- gradients ----------------------------------------------------------------------------
 */

typedef wg_real taped_kernel(wg_tape *t, const void *params, const wg_real *x, wg_real *work);

/* vars holds the inputs and the workspace of the kernel. */
static wg_status gradient(wg_tape *t, const struct bench_case *c, taped_kernel *kernel,
                          wg_real *vars, double *g, struct bench_counts *counts) {
    wg_tape_reset(t);
    wg_status s = wg_inputs(t, c->n, c->x, vars);
    if (s != WG_OK) return s;
    const wg_real y = kernel(t, c->params, vars, vars + c->n);
    if (g) {
        s = wg_reverse(t, y);
        if (s == WG_OK) s = wg_adjoints(t, c->n, vars, g);
    }
    if (counts) {
        wg_stats stats;
        if (wg_tape_stats(t, &stats) == WG_OK) {
            counts->statements = (double)stats.statements;
            counts->record_bytes = (double)stats.record_bytes;
            counts->adjoint_bytes = (double)stats.adjoint_bytes;
        }
    }
    return s != WG_OK ? s : wg_tape_status(t);
}

#define GRADIENT(name, kernel)                                                                 \
    static wg_status name##_tape(wg_tape *t, const struct bench_case *c, wg_real *vars,        \
                                 double *g, struct bench_counts *counts) {                     \
        return gradient(t, c, kernel##_real, vars, g, counts);                                 \
    }                                                                                          \
    static void name##_primal(const struct bench_case *c, double *y) {                         \
        *y = kernel##_double(NULL, c->params, c->x, c->work_doubles);                          \
    }
BENCH_GRADIENTS(GRADIENT)
BENCH_EVAL_GRADIENTS(GRADIENT)

static void gradient_apply(const struct bench_case *c, const double *g, const double *v,
                           double *jv) {
    *jv = 0;
    for (size_t i = 0; i < c->n; i++) *jv += g[i] * v[i];
}

/* ---- bundle adjustment: one small tape after another ----------------------------------------
 */

static wg_status bundle_tape(wg_tape *t, const struct bench_case *c, wg_real *vars,
                             double *entries, struct bench_counts *counts) {
    static const double seeds[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const struct bundle_params *p = (const struct bundle_params *)c->params;
    for (size_t i = 0; i < p->observations; i++) {
        double in[BUNDLE_INPUTS];
        wg_real err[3];
        bundle_gather(p, c->x, i, in);
        wg_tape_reset(t);
        wg_status s = wg_inputs(t, BUNDLE_INPUTS, in, vars);
        if (s != WG_OK) return s;
        bundle_real(t, vars, p->feats + 2 * i, err);
        if (entries) {
            double *row = entries + BUNDLE_ENTRIES * i;
            s = wg_reverse_lanes(t, 3, 3, err, seeds);
            if (s == WG_OK)
                s = wg_adjoints_lanes(t, BUNDLE_INPUTS, vars, 2, row, BUNDLE_INPUTS);
            row[2 * BUNDLE_INPUTS] = wg_adjoint_lane(t, vars[BUNDLE_INPUTS - 1], 2);
        }
        if (s == WG_OK) s = wg_tape_status(t);
        if (s != WG_OK) return s;
        if (counts) {
            wg_stats stats;
            if (wg_tape_stats(t, &stats) == WG_OK) {
                counts->statements += (double)stats.statements;
                counts->record_bytes += (double)stats.record_bytes;
                counts->adjoint_bytes += (double)stats.adjoint_bytes;
            }
        }
    }
    return WG_OK;
}

/* ---- k-means: first and second derivatives -------------------------------------------------
 */

static void kmeans_primal(const struct bench_case *c, double *y) {
    *y = kmeans_double(NULL, c->params, c->x, NULL);
}

/* The tape keeps its code. */
static wg_status kmeans_tape(wg_tape *t, const struct bench_case *c, wg_real *vars,
                             double *step, struct bench_counts *counts) {
    double *const g = c->scratch, *const ones = g + c->n;
    wg_stats stats;
    wg_tape_reset(t);
    wg_status s = wg_inputs(t, c->n, c->x, vars);
    if (s != WG_OK) return s;
    const wg_real y = kmeans_real(t, c->params, vars, NULL);
    s = wg_reverse(t, y);
    if (s == WG_OK) s = wg_adjoints(t, c->n, vars, g);
    if (s == WG_OK) s = wg_tape_hvp(t, y, c->n, vars, ones, step);
    for (size_t i = 0; i < c->n && s == WG_OK; i++) step[i] = g[i] / step[i];
    if (counts && s == WG_OK && (s = wg_tape_stats(t, &stats)) == WG_OK) {
        counts->statements = (double)stats.statements;
        counts->record_bytes = (double)stats.record_bytes;
        counts->adjoint_bytes = (double)stats.adjoint_bytes;
    }
    return s;
}

/* ---- hand tracking: forward, all slopes at once ---------------------------------------------
 */

/* The inputs, and the distances one after the other; `row`: unless NULL, their tangents. */
static wg_status ht_record(wg_tape *t, const struct bench_case *c, wg_real *vars, double *row) {
    const struct ht_params *p = (const struct ht_params *)c->params;
    const size_t width = HT_THETA + p->own;
    wg_real *const moved = vars + c->n, *const r = moved + 12 * HT_MOVING;
    wg_status s = wg_inputs(t, c->n, c->x, vars);
    for (size_t k = 0; row && k < c->n && s == WG_OK; k++)
        s = wg_tangent_seed(t, vars[k], k < HT_THETA ? p->own + k : (k - HT_THETA) % HT_OWN, 1);
    if (s != WG_OK) return s;
    ht_pose_real(t, p, vars, moved, r);
    for (size_t i = 0; i < p->n; i++) {
        wg_real err[3];
        ht_distance_real(t, p, vars, moved, r, i, p->own ? vars + HT_THETA + HT_OWN * i : NULL,
                         err);
        for (size_t k = 0; row && k < 3 * width; k++)
            *row++ = wg_tangent(t, err[k / width], k % width);
    }
    return wg_tape_status(t);
}

static wg_status ht_tape(wg_tape *t, const struct bench_case *c, wg_real *vars, double *entries,
                         struct bench_counts *counts) {
    const struct ht_params *p = (const struct ht_params *)c->params;
    wg_stats stats;
    wg_status s = WG_OK;
    wg_tape_reset(t);
    if (counts) { /* of an ordinary recording: a forward one keeps nothing */
        s = wg_tape_forward(t, 0);
        if (s == WG_OK) s = ht_record(t, c, vars, NULL);
        if (s == WG_OK) s = wg_tape_stats(t, &stats);
        if (s == WG_OK) counts->statements = (double)stats.statements;
        wg_tape_reset(t);
    }
    if (s == WG_OK) s = wg_tape_forward(t, HT_THETA + p->own);
    return s == WG_OK ? ht_record(t, c, vars, entries) : s;
}

/* ---- sizes ----------------------------------------------------------------------------------
 */

/* The size of a case: a small one, or a part of the one that is timed. */
static size_t part(struct bench_case *c, enum bench_size size, size_t checked, size_t timed) {
    c->size = size == BENCH_CHECKED     ? checked
              : size == BENCH_SIXTEENTH ? timed / 16
              : size == BENCH_QUARTER   ? timed / 4
                                        : timed;
    return c->size;
}
/* The same, of squares with that side. */
static size_t side(struct bench_case *c, enum bench_size size, size_t checked, size_t timed) {
    const size_t a = size == BENCH_CHECKED     ? checked
                     : size == BENCH_SIXTEENTH ? timed / 4
                     : size == BENCH_QUARTER   ? timed / 2
                                               : timed;
    c->size = a * a;
    return a;
}

static int chain_arithmetic_setup(struct bench_case *c, enum bench_size size) {
    return chain_arithmetic_case(c, part(c, size, 240, 1000000) / CHAIN_ARITHMETIC_OPS);
}
static int chain_mixed_setup(struct bench_case *c, enum bench_size size) {
    return chain_mixed_case(c, part(c, size, 240, 1000000) / CHAIN_MIXED_OPS);
}
static int lax_wendroff_setup(struct bench_case *c, enum bench_size size) {
    return lax_wendroff_case(c, size == BENCH_CHECKED ? 20 : 100, part(c, size, 30, 2000));
}
static int toon_setup(struct bench_case *c, enum bench_size size) {
    return toon_case(c, 100, part(c, size, 5, 2000));
}
static int burgers_setup(struct bench_case *c, enum bench_size size) {
    const size_t n = side(c, size, 12, 200);
    return size == BENCH_CHECKED ? burgers_case(c, n, 10, 5) : burgers_case(c, n, n, 32);
}
static int brusselator_setup(struct bench_case *c, enum bench_size size) {
    return brusselator_case(c, side(c, size, 6, 32), size == BENCH_CHECKED ? 5 : 50);
}
static int bundle_setup(struct bench_case *c, enum bench_size size) {
    const size_t n = part(c, size, 12, 31843);
    return size == BENCH_CHECKED ? bundle_case(c, 3, 7, n) : bundle_case(c, 49, 7776, n);
}
static int mixture_setup(struct bench_case *c, enum bench_size size) {
    const size_t n = part(c, size, 20, 1000);
    return size == BENCH_CHECKED ? mixture_case(c, 3, 5, n) : mixture_case(c, 10, 25, n);
}
static int lstm_setup(struct bench_case *c, enum bench_size size) {
    const size_t n = part(c, size, 8, 1024);
    return lstm_case(c, 2, n, size == BENCH_CHECKED ? 5 : 14);
}
static int rosenbrock_setup(struct bench_case *c, enum bench_size size) {
    return rosenbrock_case(c, part(c, size, 40, 125000));
}
static int rosenbrock_small_setup(struct bench_case *c, enum bench_size size) {
    return rosenbrock_case(c, part(c, size, 9, 9));
}
static int small_setup(struct bench_case *c, enum bench_size size) {
    c->size = (size == BENCH_CROWD ? 8000000 : 72);
    return chain_arithmetic_case(c, c->size / CHAIN_ARITHMETIC_OPS);
}

#define rosenbrock_small_handwritten rosenbrock_handwritten
#define small_handwritten chain_arithmetic_handwritten
#define ROW(name, text, ulps, small_only, swept)                                               \
    [BENCH_##name] = {BENCH_##name,       #name,       text,          ulps,                    \
                      small_only,         swept,       name##_setup,  name##_primal,           \
                      name##_handwritten, name##_tape, gradient_apply}

/* The kernel of an eval. */
#define ht_simple_primal ht_primal
#define ht_simple_handwritten ht_handwritten
#define ht_simple_tape ht_tape
#define ht_complicated_primal ht_primal
#define ht_complicated_handwritten ht_handwritten
#define ht_complicated_tape ht_tape
#define EVAL(eval, kernel)                                                                     \
    [BENCH_##eval] = {.id = BENCH_##eval,                                                      \
                      .name = #eval,                                                           \
                      .ulps = 1e5,                                                             \
                      .primal = eval##_primal,                                                 \
                      .handwritten = eval##_handwritten,                                       \
                      .tape = eval##_tape},

const struct bench_workload bench_workloads[BENCH_IDS] = {
    BENCH_EVAL_GRADIENTS(EVAL) EVAL(kmeans, kmeans) EVAL(ht_simple, ht) EVAL(ht_complicated, ht)
        ROW(chain_arithmetic, "1e6 statements of one operation: + - *", 1e6, 0, 1),
    ROW(chain_mixed, "1e6 statements of one operation: + - * / sin exp", 1e6, 0, 1),
    ROW(lax_wendroff, "advection, 100 cells, 2000 steps", 1e3, 0, 1),
    ROW(toon, "advection with exp and log, 100 cells, 2000 steps", 1e6, 1, 1),
    ROW(burgers, "Burgers in the plane, 200 x 200, 32 steps", 1e3, 0, 1),
    ROW(brusselator, "reaction and diffusion, 32 x 32, 50 Runge-Kutta steps", 1e4, 0, 1),
    ROW(mixture, "Gaussian mixture likelihood, d 10, K 25, n 1000", 1e4, 0, 1),
    ROW(lstm, "LSTM loss, 2 layers, 1024 characters of 14 bits", 1e4, 0, 1),
    ROW(rosenbrock, "Rosenbrock, 125000 terms", 16, 0, 1),
    ROW(rosenbrock_small, "Rosenbrock, 9 terms", 16, 0, 0),
    ROW(small, "72 statements, before and after 8e6 on the same tape", 1e3, 0, 0),
    [BENCH_bundle] = {BENCH_bundle, "bundle", "bundle adjustment Jacobian, 31843 observations",
                      1e3, 0, 1, bundle_setup, bundle_primal, bundle_handwritten, bundle_tape,
                      bundle_apply},
};
