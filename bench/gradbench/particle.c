/* SPDX-License-Identifier: MIT */
/* particle.c - a charged particle flies past two fixed ones, at (10, 0) and (10, 10 - w), until
 * it meets the x axis: for which w is that at the origin? Gradient descent on the square of the
 * abscissa finds it; the force on the particle is a gradient, too. ff, fr, rf, rr: the mode of
 * the descent, and then that of the force.
 *
 * Steps of Euler's, which call the inner derivative, are a function of the state; a scan
 * repeats it on a tape that has the mode of the descent. Nothing depends on how many steps
 * there are. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "mapped.h"
#include "nested.h"

#define WG_AS_DOUBLE
#include "descent.h"
#undef WG_AS_DOUBLE
#include <wengert/generic.h>

/* Steps in a function; how often a scan repeats it at first, then, and at most in all. */
enum { STATE = 4, STEPS = 16, FIRST_SCAN = 20, NEXT_SCAN = 4, MOST_SCANS = 1000 };
#define DT 0.1

struct particle {
    wg_tape *code, *t;     /* of the functions; of a flight, in the mode of the descent */
    struct gb_slope slope; /* of the potential, by the place */
    wg_callable *steps;
    enum gb_mode outer;
    size_t needed; /* repetitions, by the last flight */
    double start, w;
};

static void release(void *job) {
    struct particle *p = job;
    wg_tape_free(p->t);
    wg_callable_free(p->steps);
    gb_slope_close(&p->slope);
    wg_tape_free(p->code);
    free(p);
}

static void *read(const json_t *input, const struct gb_options *o, struct gb_error *e) {
    double start;
    (void)o;
    if (gb_number(input, "w", &start, e)) return NULL;
    struct particle *const p = calloc(1, sizeof *p);
    if (p != NULL) {
        p->start = start;
        p->t = wg_tape_new(NULL);
        p->code = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
        if (p->t != NULL && p->code != NULL) return p;
        release(p);
    }
    gb_fail(e, "no memory for a tape");
    return NULL;
}

/* in: the place (2), w */
static wg_status potential(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *out,
                           void *data) {
    const wg_real across = wg_let(t, wg_square(wg_sub(in[0], 10)));
    const wg_real up = wg_let(t, wg_sub(in[1], wg_sub(10, in[2])));
    (void)n, (void)m, (void)data;
    out[0] = wg_let(t, wg_add(wg_rsqrt(wg_add(across, wg_square(up))),
                              wg_rsqrt(wg_add(across, wg_square(in[1])))));
    return WG_OK;
}

/* in: place and velocity, w; out: the same after all steps, and before each. */
static wg_status euler(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *out,
                       void *data) {
    const struct gb_slope *const slope = data;
    const wg_mat w = wg_mat_gather(t, 1, 1, in + STATE);
    wg_real *const s = out, *before = out + STATE;
    (void)n, (void)m;
    for (int i = 0; i < STATE; i++) s[i] = in[i];
    for (int step = 0; step < STEPS; step++, before += STATE) {
        wg_real g[2];
        for (int i = 0; i < STATE; i++) before[i] = s[i];
        gb_slope_call(t, slope, (const wg_mat[]){wg_mat_gather(t, 2, 1, s), w}, g);
        for (int i = 0; i < 2; i++) {
            s[i] = wg_let(t, wg_add(s[i], wg_mul(DT, s[2 + i])));
            s[2 + i] = wg_let(t, wg_sub(s[2 + i], wg_mul(DT, g[i])));
        }
    }
    return wg_tape_status(t);
}

/* The first of the states from which a step leads to the axis, or below; SIZE_MAX: none. */
static size_t landing(wg_mat path) {
    for (size_t c = 0; c < path.cols; c++)
        for (size_t k = 0; k < STEPS; k++)
            if (wg_mat_at(path, STATE * k + 1, c).value +
                    DT * wg_mat_at(path, STATE * k + 3, c).value <=
                0)
                return c * STEPS + k;
    return SIZE_MAX;
}

/* The square of where the axis is met; the last step is shortened. */
static wg_real miss(struct particle *p, wg_real w) {
    const double begin[] = {0, 8, 0.75, 0};
    wg_tape *const t = p->t;
    const wg_source from[] = {wg_from_state("state"),
                              wg_from_matrix(wg_mat_gather(t, 1, 1, &w))};
    const wg_stage stage = {p->steps, from};
    wg_state state = {"state", wg_mat_constant(t, STATE, 1, begin, STATE)};
    size_t scans = p->needed;
    for (size_t done = 0; done < MOST_SCANS; done += scans, scans = NEXT_SCAN) {
        wg_mat y[2];
        if (wg_scan(t, scans, 1, &stage, 1, &state, NULL, y) != WG_OK) break;
        const size_t at = landing(y[1]);
        if (at != SIZE_MAX) {
            wg_real s[STATE];
            for (size_t i = 0; i < STATE; i++)
                s[i] = wg_mat_at(y[1], at % STEPS * STATE + i, at / STEPS);
            p->needed = done + at / STEPS + 1;
            return wg_let(t, wg_square(wg_sub(s[0], wg_mul(wg_div(s[1], s[3]), s[2]))));
        }
        state.start = y[0];
    }
    return wg_constant(NAN);
}

/* Value and derivative at w. */
static wg_status evaluate(wg_tape *unused, const double *w, double *f, double *g, void *data) {
    struct particle *const p = data;
    wg_tape *const t = p->t;
    wg_status s = WG_OK;
    (void)unused;
    wg_tape_reset(t);
    const wg_real x = wg_input(t, *w);
    if (p->outer == GB_FORWARD) s = wg_tangent_seed(t, x, 0, 1);
    const wg_real y = miss(p, x);
    if (s == WG_OK) s = wg_tape_status(t);
    if (s == WG_OK && isnan(wg_value(y))) s = WG_ECONVERGE;
    if (s == WG_OK && p->outer == GB_REVERSE) s = wg_reverse(t, y);
    *f = wg_value(y);
    *g = p->outer == GB_FORWARD ? wg_tangent(t, y, 0) : wg_adjoint(t, x);
    return s;
}

static int run(void *job, struct gb_error *e) {
    struct particle *const p = job;
    p->w = p->start;
    p->needed = FIRST_SCAN;
    return gb_status(e, gb_descend_double(NULL, 1, &p->w, evaluate, p), p->t);
}

static int prepare(struct particle *p, enum gb_mode outer, enum gb_mode inner,
                   struct gb_error *e) {
    static const wg_argument place[] = {{"x", 2, 1, 0}, {"w", 1, 1, WG_PASSIVE}};
    static const wg_argument in[] = {{"state", STATE, 1, 0}, {"w", 1, 1, WG_SHARED}};
    static const wg_argument out[] = {{"state", STATE, 1, 0}, {"path", STATE, STEPS, 0}};
    static const wg_argument height = {"potential", 1, 1, 0};
    const double at[] = {0, 8, 0.75, 0, 0};
    wg_function *f = NULL;
    p->outer = outer;
    wg_status s = wg_tape_forward(p->t, outer == GB_FORWARD ? 1 : 0);
    if (s != WG_OK) return gb_status(e, s, p->t);
    if (wg_function_record(p->code, potential, NULL, 2, place, at, 1, &height, &f) != WG_OK)
        f = NULL;
    if (gb_slope_open(&p->slope, p->code, f, inner, e)) return -1;
    if (wg_function_record(p->code, euler, &p->slope, 2, in, at, 2, out, &f) != WG_OK) f = NULL;
    p->steps = gb_callable(p->code, f, e);
    return p->steps ? 0 : -1;
}

static json_t *output(const void *job) {
    const struct particle *p = job;
    return gb_array(&p->w, 0, NULL);
}

GB_MODES(prepare)

const struct gb_module gb_particle = {
    .name = "particle",
    .read = read,
    .release = release,
    .functions = GB_MODE_FUNCTIONS(run, output),
};
