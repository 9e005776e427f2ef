/* SPDX-License-Identifier: MIT */
/* saddle.c - a saddle point, min over x of max over y of x'x - y'y, by gradient descent within
 * gradient descent; both differentiate, in four combinations of modes: ff, fr, rf, rr are first
 * that of the minimum, and then that of the maximum.
 *
 * The descent to the maximum, which calls the inner derivative, is recorded and becomes a
 * function of x in turn, which is differentiated again. Its comparisons are looked at whenever
 * it is evaluated: where one comes out differently the way there is recorded anew. */
#include <stdlib.h>

#include "nested.h"

#include "descent.h"
#define WG_AS_DOUBLE
#include "descent.h"
#undef WG_AS_DOUBLE
#include <wengert/generic.h>

struct saddle {
    wg_tape *t;
    struct gb_slope slope; /* of the surface, by y */
    enum gb_mode outer;
    wg_branches *b; /* the maximum over y, where it is, and the derivative by x */
    double start[2], point[4];
};

static void release(void *job) {
    struct saddle *s = job;
    wg_branches_free(s->b);
    gb_slope_close(&s->slope);
    wg_tape_free(s->t);
    free(s);
}

static void *read(const json_t *input, const struct gb_options *o, struct gb_error *e) {
    size_t two = 2;
    double *const start = gb_numbers(input, "start", 1, &two, e);
    (void)o;
    if (start == NULL) return NULL;
    struct saddle *const s = calloc(1, sizeof *s);
    if (s != NULL) {
        s->start[0] = start[0];
        s->start[1] = start[1];
        s->t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    }
    free(start);
    if (s != NULL && s->t != NULL) return s;
    gb_fail(e, "no memory for a tape");
    free(s);
    return NULL;
}

static wg_real surface(wg_tape *t, const wg_real *x, const wg_real *y) {
    return wg_let(t, wg_sub(wg_add(wg_square(x[0]), wg_square(x[1])),
                            wg_add(wg_square(y[0]), wg_square(y[1]))));
}

/* in: y, x */
static wg_status surface_by_y(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *out,
                              void *data) {
    (void)n, (void)m, (void)data;
    out[0] = surface(t, in + 2, in);
    return WG_OK;
}

struct valley {
    const struct gb_slope *slope;
    const wg_real *x;
};

/* What the maximum is a minimum of. */
static wg_status below(wg_tape *t, const wg_real *y, wg_real *f, wg_real *g, void *data) {
    const struct valley *const v = data;
    const wg_mat at[] = {wg_mat_gather(t, 2, 1, y), wg_mat_gather(t, 2, 1, v->x)};
    *f = wg_let(t, wg_neg(surface(t, v->x, y)));
    gb_slope_call(t, v->slope, at, g);
    for (int i = 0; i < 2; i++) g[i] = wg_let(t, wg_neg(g[i]));
    return wg_tape_status(t);
}

/* in: x, the start of y; out: the largest height, and the y that has it. */
static wg_status largest(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *out,
                         void *data) {
    const struct saddle *const s = data;
    struct valley v = {&s->slope, in};
    (void)n, (void)m;
    out[1] = in[2];
    out[2] = in[3];
    const wg_status status = gb_descend_real(t, 2, out + 1, below, &v);
    if (status == WG_OK) out[0] = surface(t, in, out + 1);
    return status;
}

/* A recording, and the derivative of its first output. */
static wg_status derivation(wg_tape *t, const wg_function *f, wg_function **out,
                            wg_status (*by)(wg_tape *, const wg_function *, wg_function **)) {
    const char *const name = "largest";
    wg_function *value = NULL, *d = NULL;
    wg_status s = wg_function_select(t, f, 1, &name, &value);
    if (s == WG_OK) s = by(t, value, &d);
    if (s == WG_OK) s = wg_function_join(t, 2, (const wg_function *[]){f, d}, out);
    wg_function_free(value);
    wg_function_free(d);
    return s;
}
static wg_status forward(wg_tape *t, const wg_function *f, wg_function **out) {
    return derivation(t, f, out, wg_function_jvp);
}
static wg_status reverse(wg_tape *t, const wg_function *f, wg_function **out) {
    return derivation(t, f, out, wg_function_gradient);
}

/* Value and gradient at x. Forward: a point for each direction. */
static wg_status evaluate(wg_tape *t, const double *x, double *f, double *g, void *data) {
    static const double directions[] = {1, 0, 0, 1};
    const struct saddle *const s = data;
    double value[2];
    const wg_points at[] = {{x, 0, 1}, {s->start, 0, 1}, {directions, 2, 1}};
    const wg_results y[] = {{value, 1, 1}, {NULL, 0, 0}, {g, 1, 1}};
    (void)t;
    const wg_status status = wg_branches_evaluate(s->b, s->outer == GB_FORWARD ? 2 : 1, at, y);
    *f = *value;
    return status;
}

static int run(void *job, struct gb_error *e) {
    struct saddle *const s = job;
    double *const x = s->point;
    const wg_points at[] = {{x, 0, 1}, {s->start, 0, 1}, {NULL, 0, 0}};
    const wg_results y[] = {{NULL, 0, 0}, {s->point + 2, 0, 1}, {NULL, 0, 0}};
    x[0] = s->start[0];
    x[1] = s->start[1];
    wg_status status = gb_descend_double(NULL, 2, x, evaluate, s);
    if (status == WG_OK) status = wg_branches_evaluate(s->b, 1, at, y);
    return gb_status(e, status, s->t);
}

static int prepare(struct saddle *s, enum gb_mode outer, enum gb_mode inner,
                   struct gb_error *e) {
    static const wg_argument yx[] = {{"y", 2, 1, 0}, {"x", 2, 1, WG_PASSIVE}};
    static const wg_argument in[] = {{"x", 2, 1, 0}, {"start", 2, 1, WG_PASSIVE}};
    static const wg_argument out[] = {{"largest", 1, 1, 0}, {"y", 2, 1, 0}};
    const double at[] = {1, 1, 1, 1};
    wg_function *f = NULL;
    s->outer = outer;
    if (wg_function_record(s->t, surface_by_y, NULL, 2, yx, at, 1, out, &f) != WG_OK) f = NULL;
    if (gb_slope_open(&s->slope, s->t, f, inner, e)) return -1;
    const wg_status status = wg_branches_new(s->t, largest, s, 2, in, 2, out,
                                             outer == GB_FORWARD ? forward : reverse, &s->b);
    return status == WG_OK ? run(s, e) : gb_status(e, status, s->t); /* records the way */
}

static json_t *output(const void *job) {
    const struct saddle *s = job;
    const size_t four = 4;
    return gb_array(s->point, 1, &four);
}

GB_MODES(prepare)

const struct gb_module gb_saddle = {
    .name = "saddle",
    .read = read,
    .release = release,
    .functions = GB_MODE_FUNCTIONS(run, output),
};
