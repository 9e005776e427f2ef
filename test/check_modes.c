/* SPDX-License-Identifier: MIT */
/* check_modes.c - see check_modes.h.
 *
 * Letters: n inputs x, m outputs y, J = dy/dx row-major, w weights of the outputs, v a
 * direction, H the Hessian of w'y, k lanes. */
#include "check_modes.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include "graph_walk.h"
#include "scalar_rows.h"
#include "tolerance.h"

const double check_weights[CHECK_WEIGHTS] = {1, -0.75, 0.3, 2, 0, 1.25, -3, 0.1};
const double check_direction[CHECK_WEIGHTS] = {0.6, -1.3, 0.45, 2, 0, -0.2, 1.1, -0.7};

/* ---- tapes ---- */

int check_open(struct check *c) {
    const wg_options code = {.flags = WG_KEEP_CODE};
    const wg_options checked = {.flags = WG_CHECKED | WG_KEEP_PLACES};
    *c = (struct check){0};
    c->plain = wg_tape_new(NULL);
    c->checked = wg_tape_new(&checked);
    c->code = wg_tape_new(&code);
    c->fresh = wg_tape_new(&code);
    c->forward = wg_tape_new(NULL);
    if (c->plain && c->checked && c->code && c->fresh && c->forward) return 0;
    check_close(c);
    return -1;
}

void check_close(struct check *c) {
    wg_tape_free(c->plain);
    wg_tape_free(c->checked);
    wg_tape_free(c->code);
    wg_tape_free(c->fresh);
    wg_tape_free(c->forward);
    *c = (struct check){0};
}

/* ---- comparing ---- */

/* One check under way: the function, and rows as the plain tape gave them. */
struct run {
    struct check *c;
    const struct check_function *f;
    int bad;
    wg_real *x, *y;
    wg_mark start;                               /* of the last recording */
    double *value, *jacobian, *hessian;          /* the plain, or code-keeping, tape's */
    double *value0, *jacobian0, *hessian0, *row; /* another mode's */
};

static int complain(struct run *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int complain(struct run *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (r->bad++ == 0) vsnprintf(r->c->why, sizeof r->c->why, format, args);
    va_end(args);
    return 0;
}

static int same(double a, double b) {
    return (a != a && b != b) || (a == b && !signbit(a) == !signbit(b));
}

/* The same bits; NaN is one value. */
static void alike(struct run *r, const char *what, size_t n, const double *got,
                  const double *want) {
    for (size_t i = 0; i < n; i++) {
        if (!same(got[i], want[i]))
            complain(r, "%s: number %zu is %.17g, not the same bits as %.17g", what, i, got[i],
                     want[i]);
    }
    r->c->compared += n;
}

static double ulps_of(double x, double ulps) {
    const double a = fabs(x);
    if (!(a <= DBL_MAX)) return 0;
    return ulps * (nextafter(fmin(a, nextafter(DBL_MAX, 0)), INFINITY) -
                   fmin(a, nextafter(DBL_MAX, 0))) +
           TOL_SUBNORMAL_UNITS * DBL_TRUE_MIN;
}

static int within(double got, double want, double allowed) {
    if (got == want || (got != got && want != want)) return 1;
    return fabs(got) <= DBL_MAX && fabs(want) <= DBL_MAX && fabs(got - want) <= allowed;
}

/* Against references, or else against `base`. */
static void expect(struct run *r, const char *what, size_t n, const double *got,
                   const struct check_want *want, const double *base, double ulps) {
    for (size_t i = 0; i < n; i++) {
        const double ref = want->ref != NULL ? want->ref[i] : base[i];
        const double allowed = want->allowed != NULL ? want->allowed[i] : ulps_of(ref, ulps);
        if (allowed == INFINITY) {
            r->c->skipped++;
            continue;
        }
        r->c->compared++;
        if (!within(got[i], ref, allowed))
            complain(r, "%s: number %zu is %.17g, expected %.17g, allowed error %.3g", what, i,
                     got[i], ref, allowed);
    }
}

/* got[i] against sum_k a[k][i] b[k]; skipped where a term is no finite number. */
static void expect_product(struct run *r, const char *what, size_t n, const double *got,
                           size_t k, const double *a, size_t step, size_t stride,
                           const double *b, const struct check_want *want) {
    for (size_t i = 0; i < n; i++) {
        double sum = 0, size = 0, allowed = 0;
        for (size_t l = 0; l < k; l++) {
            const size_t at = i * step + l * stride;
            const double error =
                want->allowed != NULL ? want->allowed[at] : ulps_of(a[at], TOL_DERIVATIVE_ULP);
            sum += a[at] * b[l];
            size += fabs(a[at] * b[l]);
            allowed += 2 * error * fabs(b[l]) + DBL_TRUE_MIN;
        }
        allowed += (double)k * TOL_VALUE_ULP * DBL_EPSILON * size;
        if (!(allowed <= DBL_MAX)) {
            r->c->skipped++;
            continue;
        }
        r->c->compared++;
        if (!within(got[i], sum, allowed))
            complain(r, "%s: number %zu is %.17g, expected %.17g, allowed error %.3g", what, i,
                     got[i], sum, allowed);
    }
}

static int fine(struct run *r, const char *what, wg_tape *t, wg_status s) {
    if (s == WG_OK) return 1;
    return complain(r, "%s: %s; %s", what, wg_status_text(s), wg_tape_message(t));
}

/* ---- recording and sweeping ---- */

/* Records the function at a point on a tape just reset. */
static int record(struct run *r, const char *what, wg_tape *t, const double *x) {
    const struct check_function *f = r->f;
    wg_tape_reset(t);
    r->start = wg_tape_mark(t);
    if (!fine(r, what, t, wg_inputs(t, f->n, x, r->x))) return 0;
    if (!fine(r, what, t, f->call(t, f->n, r->x, f->m, r->y, f->data))) return 0;
    return fine(r, what, t, wg_tape_status(t));
}

/* All rows of the Jacobian, one sweep each. */
static int sweep_rows(struct run *r, const char *what, wg_tape *t, double *jacobian) {
    const struct check_function *f = r->f;
    for (size_t j = 0; j < f->m; j++) {
        double *const row = jacobian + j * f->n;
        const wg_status s = wg_reverse(t, r->y[j]);
        memset(row, 0, f->n * sizeof *row);
        if (r->y[j].at.slot == 0) {
            if (s != WG_ESEED)
                complain(r, "%s: a sweep from a constant: %s", what, wg_status_text(s));
        } else if (!fine(r, what, t, s) || !fine(r, what, t, wg_adjoints(t, f->n, r->x, row))) {
            return 0;
        }
    }
    return 1;
}

static void values_of(const struct run *r, double *value) {
    for (size_t j = 0; j < r->f->m; j++) value[j] = wg_value(r->y[j]);
}

/* Are all outputs constants? */
static int constant(const struct run *r) {
    uint32_t any = 0;
    for (size_t j = 0; j < r->f->m; j++) any |= r->y[j].at.slot;
    return any == 0;
}

static void plain(struct run *r) {
    const struct check_function *f = r->f;
    const size_t size = f->m * f->n;
    if (!record(r, "plain tape", r->c->plain, f->x)) return;
    values_of(r, r->value);
    if (!sweep_rows(r, "plain tape", r->c->plain, r->jacobian)) return;
    if (!sweep_rows(r, "plain tape, again", r->c->plain, r->jacobian0)) return;
    expect(r, "value", f->m, r->value, &f->value, r->value, TOL_VALUE_ULP);
    expect(r, "gradient", size, r->jacobian, &f->jacobian, r->jacobian, TOL_DERIVATIVE_ULP);
    alike(r, "gradient asked for again", size, r->jacobian0, r->jacobian);
}

static void other_tape(struct run *r, const char *what, wg_tape *t) {
    const struct check_function *f = r->f;
    if (!record(r, what, t, f->x)) return;
    values_of(r, r->value0);
    if (!sweep_rows(r, what, t, r->jacobian0)) return;
    alike(r, what, f->m, r->value0, r->value);
    alike(r, what, f->m * f->n, r->jacobian0, r->jacobian);
}

/* ---- several seeds ---- */

static void seeds(struct run *r) {
    const struct check_function *f = r->f;
    wg_tape *const t = r->c->plain;
    if (!record(r, "seeds", t, f->x) || constant(r)) return;
    const wg_mark end = wg_tape_mark(t);
    if (!fine(r, "seeds", t, wg_reverse_seeds(t, f->m, r->y, f->w))) return;
    if (!fine(r, "seeds", t, wg_adjoints(t, f->n, r->x, r->row))) return;
    expect_product(r, "J'w", f->n, r->row, f->m, r->jacobian, 1, f->n, f->w, &f->jacobian);
    /* the same in parts */
    wg_status s = wg_adjoints_clear(t);
    for (size_t j = 0; j < f->m; j++)
        if (r->y[j].at.slot != 0 && s == WG_OK) s = wg_adjoint_seed(t, r->y[j], f->w[j]);
    if (s == WG_OK) s = wg_sweep(t, end, r->start);
    if (!fine(r, "a sweep in parts", t, s)) return;
    if (fine(r, "a sweep in parts", t, wg_adjoints(t, f->n, r->x, r->jacobian0)))
        alike(r, "a sweep in parts", f->n, r->jacobian0, r->row);
}

static void lanes(struct run *r) {
    static const size_t counts[] = {1, 2, 3, 4, 5, 8, 11};
    const struct check_function *f = r->f;
    wg_tape *const t = r->c->plain;
    double *const w = malloc(2 * f->m * 11 * sizeof *w), *const got =
                                                             malloc(11 * f->n * sizeof *got);
    uint32_t state = 1;
    if (w == NULL || got == NULL) complain(r, "lanes: out of memory");
    else if (record(r, "lanes", t, f->x) && !constant(r))
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            const size_t k = counts[c];
            double *const single = w + 11 * f->m;
            for (size_t i = 0; i < k * f->m; i++) {
                state = state * 1664525u + 1013904223u;
                w[i] = state >> 30 ? (double)(int32_t)state / 1e9 : 0; /* a quarter are 0 */
            }
            if (!fine(r, "lanes", t, wg_reverse_lanes(t, k, f->m, r->y, w))) break;
            for (size_t l = 0; l < k; l++)
                for (size_t i = 0; i < f->n; i++)
                    got[l * f->n + i] = wg_adjoint_lane(t, r->x[i], l);
            for (size_t l = 0; l < k; l++) {
                for (size_t j = 0; j < f->m; j++) single[j] = w[j * k + l];
                if (!fine(r, "lane", t, wg_reverse_seeds(t, f->m, r->y, single))) break;
                if (!fine(r, "lane", t, wg_adjoints(t, f->n, r->x, r->row))) break;
                alike(r, "adjoints of a lane", f->n, got + l * f->n, r->row);
            }
        }
    free(w);
    free(got);
}

/* ---- forward ---- */

/* A constant that is NaN may come from a failure: its tangent reads NaN, and is 0 here. */
static double tangent_of(const struct run *r, const wg_tape *t, size_t j, size_t l) {
    const int nan = r->y[j].at.slot == 0 && wg_value(r->y[j]) != wg_value(r->y[j]);
    const double vt = wg_tangent(t, r->y[j], l);
    return nan && vt != vt ? 0 : vt;
}

/* Inputs [first, first + k) seeded with s[i] in their lane: one each, or all in lane 0. */
static int record_forward(struct run *r, const char *what, size_t width, size_t first, size_t k,
                          const double *seed) {
    const struct check_function *f = r->f;
    wg_tape *const t = r->c->forward;
    wg_tape_reset(t);
    if (!fine(r, what, t, wg_tape_forward(t, width)) ||
        !fine(r, what, t, wg_inputs(t, f->n, f->x, r->x)))
        return 0;
    for (size_t i = first; i < first + k; i++) {
        const size_t lane = width == 1 ? 0 : i - first;
        if (!fine(r, what, t, wg_tangent_seed(t, r->x[i], lane, seed != NULL ? seed[i] : 1)))
            return 0;
    }
    if (!fine(r, what, t, f->call(t, f->n, r->x, f->m, r->y, f->data))) return 0;
    return fine(r, what, t, wg_tape_status(t));
}

static void forward(struct run *r) {
    enum { MOST = 64 };
    const struct check_function *f = r->f;
    for (size_t first = 0; first < f->n; first += MOST) {
        const size_t k = f->n - first < MOST ? f->n - first : MOST;
        if (!record_forward(r, "forward tape", k, first, k, NULL)) return;
        for (size_t j = 0; j < f->m; j++)
            for (size_t l = 0; l < k; l++)
                r->jacobian0[j * f->n + first + l] = tangent_of(r, r->c->forward, j, l);
    }
    values_of(r, r->value0);
    alike(r, "values of the forward tape", f->m, r->value0, r->value);
    expect(r, "tangents", f->m * f->n, r->jacobian0, &f->jacobian, r->jacobian,
           TOL_DERIVATIVE_ULP);
}

/* J v in one lane, and <w, J v> = <J' w, v>. */
static void one_direction(struct run *r) {
    const struct check_function *f = r->f;
    wg_tape *const t = r->c->plain;
    double left = 0, right = 0, size = 0, allowed = 0;
    if (!record_forward(r, "J v", 1, 0, f->n, f->v)) return;
    for (size_t j = 0; j < f->m; j++) r->value0[j] = tangent_of(r, r->c->forward, j, 0);
    expect_product(r, "J v", f->m, r->value0, f->n, r->jacobian, f->n, 1, f->v, &f->jacobian);
    for (size_t j = 0; j < f->m; j++) {
        left += f->w[j] * r->value0[j];
        for (size_t i = 0; i < f->n; i++) {
            const size_t at = j * f->n + i;
            const double weight = fabs(f->w[j] * f->v[i]);
            size += weight * fabs(r->jacobian[at]);
            allowed +=
                2 * weight *
                (f->jacobian.allowed != NULL ? f->jacobian.allowed[at]
                                             : ulps_of(r->jacobian[at], TOL_DERIVATIVE_ULP));
        }
    }
    if (!record(r, "<w, J v>", t, f->x) || constant(r)) return;
    if (!fine(r, "<w, J v>", t, wg_reverse_seeds(t, f->m, r->y, f->w))) return;
    for (size_t i = 0; i < f->n; i++) right += wg_adjoint(t, r->x[i]) * f->v[i];
    allowed += (double)(f->n + f->m) * TOL_VALUE_ULP * DBL_EPSILON * size + DBL_MIN;
    if (!(allowed <= DBL_MAX)) {
        r->c->skipped++;
        return;
    }
    r->c->compared++;
    if (!within(left, right, allowed))
        complain(r, "<w, J v> is %.17g, <J' w, v> is %.17g, allowed error %.3g", left, right,
                 allowed);
}

static void duals(struct run *r) {
    const struct check_function *f = r->f;
    wg_dual *const x = malloc((f->n + f->m) * sizeof *x), *const y = x + f->n;
    if (x == NULL) complain(r, "duals: out of memory");
    else {
        for (size_t first = 0; first < f->n; first += WG_DUAL_WIDTH) {
            for (size_t i = 0; i < f->n; i++) x[i] = wg_dual_constant(f->x[i]);
            for (size_t l = 0; l < WG_DUAL_WIDTH && first + l < f->n; l++)
                x[first + l] = wg_dual_input(f->x[first + l], l);
            f->dual(f->data, x, y);
            for (size_t j = 0; j < f->m; j++) {
                r->value0[j] = wg_dual_value(y[j]);
                for (size_t l = 0; l < WG_DUAL_WIDTH && first + l < f->n; l++)
                    r->jacobian0[j * f->n + first + l] = wg_dual_tangent(y[j], l);
            }
        }
        alike(r, "values of duals", f->m, r->value0, r->value);
        expect(r, "tangents of duals", f->m * f->n, r->jacobian0, &f->jacobian, r->jacobian,
               TOL_DERIVATIVE_ULP);
    }
    free(x);
}

/* ---- second order ---- */

/* Appends s = w'y to a recording. */
static wg_real weighted(struct run *r, wg_tape *t) {
    wg_real s = wg_constant(0);
    for (size_t j = 0; j < r->f->m; j++) s = wg_let(t, wg_add(s, wg_mul(r->f->w[j], r->y[j])));
    return s;
}

/* The Hessian of what is on the tape; one that does not depend on the inputs: zeros. */
static int hessian(struct run *r, const char *what, wg_tape *t, wg_real s, double *h) {
    const size_t n = r->f->n;
    const wg_status status = wg_tape_hessian(t, s, n, r->x, h, n);
    if (s.at.slot != 0) return fine(r, what, t, status);
    memset(h, 0, n * n * sizeof *h);
    if (status != WG_ESEED) complain(r, "%s of a constant: %s", what, wg_status_text(status));
    return 1;
}

static void curvature(struct run *r) {
    enum { COLUMNS = 24 }; /* as many directions are tried one by one */
    const struct check_function *f = r->f;
    const size_t n = f->n;
    wg_tape *const t = r->c->code;
    if (!record(r, "code-keeping tape", t, f->x)) return;
    const wg_real s = weighted(r, t);
    if (!hessian(r, "Hessian", t, s, r->hessian)) return;
    expect(r, "Hessian", n * n, r->hessian, &f->hessian, r->hessian, TOL_DERIVATIVE_ULP);
    if (s.at.slot == 0) return;
    for (size_t i = 0; i < n && i < COLUMNS; i++) {
        double *const unit = r->jacobian0;
        memset(unit, 0, n * sizeof *unit);
        unit[i] = 1;
        if (!fine(r, "H v", t, wg_tape_hvp(t, s, n, r->x, unit, r->row))) return;
        alike(r, "column of the Hessian by wg_tape_hvp", n - i, r->row + i,
              r->hessian + i * n + i);
        /* above the diagonal it has been computed from the other side */
        const struct check_want other = {
            r->hessian + i * n, f->hessian.allowed != NULL ? f->hessian.allowed + i * n : NULL};
        expect(r, "symmetry of the Hessian", i, r->row, &other, NULL, 2 * TOL_DERIVATIVE_ULP);
    }
    if (!fine(r, "H v", t, wg_tape_hvp(t, s, n, r->x, f->v, r->row))) return;
    expect_product(r, "H v", n, r->row, n, r->hessian, n, 1, f->v, &f->hessian);
    /* the tape is as it was */
    fine(r, "wg_tape_verify", t, wg_tape_verify(t));
    if (sweep_rows(r, "gradient after the Hessian", t, r->jacobian0))
        alike(r, "gradient after the Hessian", f->m * n, r->jacobian0, r->jacobian);
}

/* ---- replay ---- */

/* The code-keeping tape, wherever it is replayed to, against a new recording there. */
static void like_new(struct run *r, const char *what, const double *x) {
    const struct check_function *f = r->f;
    wg_tape *const t = r->c->code, *const fresh = r->c->fresh;
    const size_t size = f->m * f->n;
    const wg_real *inputs = r->x;
    double *const h = r->hessian0;
    if (!record(r, what, t, f->x)) return;
    const wg_real s = weighted(r, t);
    /* a Hessian before, so that one left over would be noticed */
    if (!hessian(r, what, t, s, h)) return;
    if (!fine(r, what, t, wg_tape_replay(t, f->n, inputs, x))) return;
    fine(r, "wg_tape_verify after a replay", t, wg_tape_verify(t));
    for (size_t j = 0; j < f->m; j++) r->value0[j] = wg_tape_value(t, r->y[j]);
    if (!sweep_rows(r, what, t, r->jacobian0) || !hessian(r, what, t, s, h)) return;
    double *const value = malloc((f->m + size + f->n * f->n) * sizeof *value);
    if (value == NULL) {
        complain(r, "replay: out of memory");
        return;
    }
    double *const jacobian = value + f->m, *const h0 = jacobian + size;
    if (record(r, what, fresh, x)) {
        values_of(r, value);
        const wg_real s0 = weighted(r, fresh);
        if (sweep_rows(r, what, fresh, jacobian) && hessian(r, what, fresh, s0, h0)) {
            alike(r, what, f->m, r->value0, value);
            alike(r, what, size, r->jacobian0, jacobian);
            alike(r, what, f->n * f->n, h, h0);
        }
    }
    free(value);
}

static void there_and_back(struct run *r) {
    const struct check_function *f = r->f;
    wg_tape *const t = r->c->code;
    if (!record(r, "replay back", t, f->x)) return;
    const wg_real s = weighted(r, t);
    if (!fine(r, "replay", t, wg_tape_replay(t, f->n, r->x, f->other))) return;
    if (!fine(r, "replay back", t, wg_tape_replay(t, f->n, r->x, f->x))) return;
    for (size_t j = 0; j < f->m; j++) r->value0[j] = wg_tape_value(t, r->y[j]);
    if (!sweep_rows(r, "replay back", t, r->jacobian0)) return;
    if (!hessian(r, "replay back", t, s, r->hessian0)) return;
    alike(r, "values after a replay back", f->m, r->value0, r->value);
    alike(r, "gradient after a replay back", f->m * f->n, r->jacobian0, r->jacobian);
    alike(r, "Hessian after a replay back", f->n * f->n, r->hessian0, r->hessian);
}

/* ---- functions ---- */

/* Values of a function at the point, weights behind it; freed. */
static int walk(struct run *r, const char *what, wg_function *fn, const double *x, double *y) {
    const int bad = fn == NULL || graph_walk(fn, x, y) != 0;
    if (bad) complain(r, "%s: %s", what, wg_tape_message(r->c->fresh));
    wg_function_free(fn);
    return !bad;
}

/* The recording as a function, its Jacobian and the Hessian of w'y: functions again. */
static void functions(struct run *r) {
    const struct check_function *f = r->f;
    wg_tape *const t = r->c->fresh;
    const size_t n = f->n, m = f->m;
    const wg_argument in = {"x", n, 1, 0}, out = {"y", m, 1, 0};
    wg_function *fn = NULL, *jacobian = NULL, *h = NULL;
    double *const x = malloc((n + m + 1) * sizeof *x);
    if (x == NULL) {
        complain(r, "functions: out of memory");
        return;
    }
    memcpy(x, f->x, n * sizeof *x);
    memcpy(x + n, f->w, m * sizeof *x);
    if (fine(r, "a function", t,
             wg_function_record(t, f->call, f->data, 1, &in, f->x, 1, &out, &fn)) &&
        fine(r, "Jacobian of a function", t, wg_function_jacobian(t, fn, &jacobian)) &&
        fine(r, "Hessian of a function", t, wg_function_hessian(t, fn, &h)) &&
        walk(r, "Jacobian of a function", jacobian, x, r->jacobian0) &&
        walk(r, "Hessian of a function", h, x, r->hessian0) &&
        walk(r, "values of a function", fn, x, r->value0)) {
        for (size_t i = 0; m == 1 && i < n * n; i++) r->hessian0[i] *= f->w[0];
        alike(r, "values of a function", m, r->value0, r->value);
        expect(r, "Jacobian of a function", m * n, r->jacobian0, &f->jacobian, r->jacobian,
               TOL_DERIVATIVE_ULP);
        expect(r, "Hessian of a function", n * n, r->hessian0, &f->hessian, r->hessian,
               TOL_DERIVATIVE_ULP);
    }
    free(x);
}

/* ---- all ---- */

int check_modes(struct check *c, const struct check_function *f) {
    const size_t n = f->n, m = f->m, size = m * n;
    struct run r = {.c = c, .f = f};
    double *const numbers =
        calloc(2 * (m + (size > n ? size : n) + n * n) + n + 1, sizeof *numbers);
    wg_real *const handles = calloc(n + m + 1, sizeof *handles);
    c->why[0] = 0;
    if (numbers == NULL || handles == NULL) {
        complain(&r, "out of memory");
    } else {
        r.x = handles, r.y = handles + n;
        r.value = numbers, r.value0 = r.value + m;
        r.jacobian = r.value0 + m, r.jacobian0 = r.jacobian + (size > n ? size : n);
        r.hessian = r.jacobian0 + (size > n ? size : n), r.hessian0 = r.hessian + n * n;
        r.row = r.hessian0 + n * n;
        plain(&r);
        if (r.bad == 0) {
            other_tape(&r, "checked tape", c->checked);
            other_tape(&r, "code-keeping tape", c->code);
            fine(&r, "wg_tape_verify", c->code, wg_tape_verify(c->code));
            seeds(&r);
            lanes(&r);
            forward(&r);
            one_direction(&r);
            if (f->dual != NULL) duals(&r);
            curvature(&r);
            functions(&r);
        }
        if (f->other != NULL && r.bad == 0) {
            like_new(&r, "replay elsewhere against a new recording", f->other);
            like_new(&r, "replay here against a new recording", f->x);
            there_and_back(&r);
        }
    }
    free(numbers);
    free(handles);
    return r.bad;
}

/* ---- programs ---- */

/* A product of sizes. What is 0 stays 0; what is too large to bound is infinite. */
static double size_product(double p, double q) {
    p = fabs(p), q = fabs(q);
    if (p == 0 || q == 0) return 0;
    if (!(p <= TOL_LARGEST && q <= TOL_LARGEST)) return INFINITY;
    return p * q + DBL_MIN; /* more than 0, whatever p q */
}

/* The same walks as the toy's, over sizes. */
static void sizes_forward(const struct toy *t, double *vt) {
    for (size_t i = 0; i < t->n; i++)
        for (size_t k = 0; t->node[i].op && k < t->node[i].op->arity; k++)
            vt[i] += size_product(t->node[i].p[k], vt[t->node[i].from[k]]);
}
static void sizes_backward(const struct toy *t, double *w) {
    for (size_t i = t->n; i-- > 0;)
        for (size_t k = 0; t->node[i].op && k < t->node[i].op->arity; k++)
            w[t->node[i].from[k]] += size_product(t->node[i].p[k], w[i]);
}
static void sizes_twice(const struct toy *t, const double *vt, const double *w, double *wt) {
    for (size_t i = t->n; i-- > 0;) {
        const struct toy_node *const node = &t->node[i];
        for (size_t k = 0; node->op && k < node->op->arity; k++) {
            double *const to = &wt[node->from[k]];
            *to += size_product(node->p[k], wt[i]);
            for (size_t l = 0; l < node->op->arity; l++)
                *to += size_product(w[i],
                                    size_product(toy_second(t, node, k, l), vt[node->from[l]]));
        }
    }
}

/* What is not exactly 0 may be lost below the smallest numbers; what is too large is unknown.
 */
static void limit(size_t n, double *allowed) {
    for (size_t i = 0; i < n; i++) {
        if (!(allowed[i] <= TOL_LARGEST)) allowed[i] = INFINITY;
        else if (allowed[i] != 0) allowed[i] += TOL_SMALLEST;
    }
}

void check_toy(struct toy *t, size_t n, size_t m, const size_t *input, const size_t *output,
               const double *w, double *jacobian, double *jacobian_allowed, double *hessian,
               double *hessian_allowed) {
    const double units = (double)(t->n + 8) * TOL_ORDER_ULP * DBL_EPSILON;
    double *const vt = calloc(3 * t->n, sizeof *vt), *const ws = vt + t->n,
                  *const wt = ws + t->n;
    if (vt == NULL) abort();
    for (size_t j = 0; j < m; j++) {
        toy_clear(t);
        t->node[output[j]].w = 1;
        toy_backward(t);
        memset(ws, 0, t->n * sizeof *ws);
        ws[output[j]] = 1;
        sizes_backward(t, ws);
        for (size_t i = 0; i < n; i++) {
            jacobian[j * n + i] = t->node[input[i]].w;
            jacobian_allowed[j * n + i] = ws[input[i]] * units;
        }
    }
    memset(ws, 0, t->n * sizeof *ws);
    for (size_t j = 0; j < m; j++) ws[output[j]] += fabs(w[j]);
    sizes_backward(t, ws);
    for (size_t i = 0; i < n; i++) {
        toy_clear(t);
        t->node[input[i]].vt = 1;
        toy_forward(t);
        for (size_t j = 0; j < m; j++) t->node[output[j]].w += w[j];
        toy_backward(t);
        toy_twice(t);
        memset(vt, 0, t->n * sizeof *vt);
        memset(wt, 0, t->n * sizeof *wt);
        vt[input[i]] = 1;
        sizes_forward(t, vt);
        sizes_twice(t, vt, ws, wt);
        for (size_t j = 0; j < m; j++) jacobian_allowed[j * n + i] += vt[output[j]] * units;
        for (size_t k = 0; k < n; k++) {
            hessian[i * n + k] = t->node[input[k]].wt;
            hessian_allowed[i * n + k] = wt[input[k]] * units;
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            hessian_allowed[i * n + k] = hessian_allowed[k * n + i] =
                hessian_allowed[i * n + k] + hessian_allowed[k * n + i];
    limit(m * n, jacobian_allowed);
    limit(n * n, hessian_allowed);
    free(vt);
}

/* A program as a wg_callback, on tape and on duals. */
struct as_function {
    const struct program *p;
    wg_real *node;
    wg_dual *dual;
};

static wg_status call(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    const struct as_function *f = data;
    memcpy(f->node, x, n * sizeof *x);
    program_real(t, f->p, f->node);
    for (size_t j = 0; j < m; j++) y[j] = f->node[f->p->output[j]];
    return WG_OK;
}

static void call_dual(void *data, const wg_dual *x, wg_dual *y) {
    const struct as_function *f = data;
    memcpy(f->dual, x, f->p->inputs * sizeof *x);
    program_dual(f->p, f->dual);
    for (size_t j = 0; j < f->p->outputs; j++) y[j] = f->dual[f->p->output[j]];
}

/* Every node, in every mode, and after a replay. */
static void node_values(struct run *r, const struct program *p, const double *x,
                        const struct toy *toy, const size_t *at, wg_real *node, double *value) {
    const size_t nodes = p->inputs + p->steps;
    wg_tape *const t = r->c->code;
    memcpy(value, x, p->inputs * sizeof *x);
    program_double(p, value);
    for (size_t i = 0; i < nodes; i++)
        if (!same(value[i], toy->node[at[i]].v))
            complain(r, "node %zu is %.17g, of the toy %.17g", i, value[i], toy->node[at[i]].v);
    wg_tape_reset(t);
    if (!fine(r, "nodes", t, wg_inputs(t, p->inputs, x, node))) return;
    program_real(t, p, node);
    for (size_t i = 0; i < nodes; i++) {
        if (!same(wg_value(node[i]), value[i]))
            complain(r, "node %zu is %.17g on a tape, %.17g in C", i, wg_value(node[i]),
                     value[i]);
        if (!same(wg_tape_value(t, node[i]), value[i]))
            complain(r, "node %zu: wg_tape_value %.17g, not %.17g", i,
                     wg_tape_value(t, node[i]), value[i]);
    }
    if (r->f->other == NULL) return;
    if (!fine(r, "nodes", t, wg_tape_replay(t, p->inputs, node, r->f->other))) return;
    memcpy(value, r->f->other, p->inputs * sizeof *x);
    program_double(p, value);
    for (size_t i = 0; i < nodes; i++)
        if (node[i].at.slot != 0 && !same(wg_tape_value(t, node[i]), value[i]))
            complain(r, "node %zu is %.17g after a replay, %.17g in C", i,
                     wg_tape_value(t, node[i]), value[i]);
    r->c->compared += 3 * nodes;
}

int check_program(struct check *c, const struct program *p, const double *x,
                  const double *other) {
    const size_t n = p->inputs, m = p->outputs, nodes = n + p->steps;
    struct toy toy = {0};
    double *const numbers = calloc(2 * (m * n + n * n) + nodes + 2 * (n + m), sizeof *numbers);
    size_t *const at = calloc(nodes + m, sizeof *at);
    struct as_function data = {p, calloc(nodes, sizeof *data.node),
                               calloc(nodes, sizeof *data.dual)};
    int bad = 1;
    if (numbers != NULL && at != NULL && data.node != NULL && data.dual != NULL) {
        double *const jacobian = numbers, *const jacobian_allowed = jacobian + m * n;
        double *const h = jacobian_allowed + m * n, *const h_allowed = h + n * n;
        double *const value = h_allowed + n * n, *const w = value + nodes, *const v = w + m;
        size_t *const output = at + nodes;
        for (size_t j = 0; j < m; j++) w[j] = check_weights[j % CHECK_WEIGHTS];
        for (size_t i = 0; i < n; i++) v[i] = check_direction[i % CHECK_WEIGHTS];
        const struct check_function f = {call,
                                         call_dual,
                                         &data,
                                         n,
                                         m,
                                         x,
                                         other,
                                         w,
                                         v,
                                         {NULL, NULL},
                                         {jacobian, jacobian_allowed},
                                         {h, h_allowed}};
        struct run r = {.c = c, .f = &f};
        program_toy(p, x, &toy, at);
        for (size_t j = 0; j < m; j++) output[j] = at[p->output[j]];
        node_values(&r, p, x, &toy, at, data.node, value);
        check_toy(&toy, n, m, at, output, w, jacobian, jacobian_allowed, h, h_allowed);
        bad = r.bad;
        if (bad == 0) bad = check_modes(c, &f);
    }
    free(numbers);
    free(at);
    free(data.node);
    free(data.dual);
    toy_free(&toy);
    return bad;
}
