/* SPDX-License-Identifier: MIT */
/* far_case.h - a function that is recorded at one point and evaluated at others, in every way
 * that there is, against the tape at each of these. A file that includes it defines
 * _DEFAULT_SOURCE first. */
#ifndef WENGERT_TEST_FAR_CASE_H
#define WENGERT_TEST_FAR_CASE_H

#include "emitted.h"

#include <math.h>
#include <wengert.h>

#include "tolerance.h"

/* A value or derivative against the tape's, in units of DBL_EPSILON times the largest of its
 * kind: the same factorisation of matrices of condition up to 1e3, in another order of rows. */
#define TOL_FAR 8192.0

enum { FAR_ENTRIES = 1024, FAR_POINTS = 16 };

typedef struct far_case {
    const char *name;
    wg_callback *f;
    const void *data;
    size_t n, m, points;
    double at[FAR_ENTRIES];             /* where it is recorded */
    double x[FAR_POINTS * FAR_ENTRIES]; /* where it is evaluated: n each */
    int whole;                          /* is it to have matrices that stay whole? */
} far_case;

static wg_tape *far_tape; /* keeps code */

static inline int far_open(void **state) {
    (void)state;
    far_tape = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    return far_tape == NULL ? -1 : 0;
}
static inline int far_close(void **state) {
    (void)state;
    wg_tape_free(far_tape);
    return 0;
}

static inline void far_must(const far_case *c, wg_status s) {
    if (s != WG_OK)
        fail_msg("%s: %s: %s", c->name, wg_status_text(s), wg_tape_message(far_tape));
}
static inline void *far_room(size_t n) {
    void *const p = calloc(n + 1, sizeof(double));
    assert_non_null(p);
    return p;
}

static inline wg_status far_record(const far_case *c, const double *at, wg_function **f) {
    const wg_argument in = {"x", c->n, 1, 0}, out = {"y", c->m, 1, 0};
    return wg_function_record(far_tape, c->f, (void *)(uintptr_t)c->data, 1, &in, at, 1, &out,
                              f);
}

/* The tape itself: value and Jacobian, df_j/dx_i at i + j n. */
static inline wg_status far_truth(const far_case *c, const double *x, double *y, double *jac) {
    const wg_status s = wg_jacobian(far_tape, c->f, (void *)(uintptr_t)c->data, c->n, x, c->m,
                                    y, WG_ROW_MAJOR, jac, c->n);
    wg_tape_reset(far_tape);
    return s;
}

static inline double far_largest(size_t n, const double *x) {
    double most = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i])) most = fmax(most, fabs(x[i]));
    return most;
}

/* What overflows on the way may do so in one order and not in another. */
static inline void far_compare(const far_case *c, const char *what, size_t point, size_t n,
                               const double *got, const double *want) {
    const double scale = TOL_FAR * DBL_EPSILON * far_largest(n, want);
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(want[i]) || fabs(want[i]) > 1 / DBL_MIN) continue;
        if (!(fabs(got[i] - want[i]) <= scale + DBL_MIN))
            fail_msg("%s, point %zu, %s %zu: %.17g, not %.17g", c->name, point, what, i, got[i],
                     want[i]);
    }
}

/* All points at once, x of them with `beside` more numbers each. */
static inline wg_status far_evaluate(const wg_function *f, size_t points, const double *x,
                                     const double *beside, double *y) {
    const size_t n = wgi_argument_size(&f->input[0]);
    const size_t m = f->m, more = f->n - n;
    const wg_points in[2] = {{x, (ptrdiff_t)n, 1}, {beside, (ptrdiff_t)more, 1}};
    wg_results out[1] = {{y, (ptrdiff_t)m, 1}};
    void *const work = malloc(wg_function_work(f, NULL) + 1);
    assert_non_null(work);
    const wg_status s = wg_function_evaluate(f, points, in, out, NULL, work, NULL);
    free(work);
    return s;
}

static inline void far_same_bits(const far_case *c, const char *how, size_t n, const double *a,
                                 const double *b) {
    for (size_t i = 0; i < n; i++)
        if (!same_bits(a[i], b[i]))
            fail_msg("%s, %s, %zu: %.17g, not %.17g", c->name, how, i, b[i], a[i]);
}

/* ---- other ways, at the same points ---- */

static inline void far_saved(const far_case *c, const wg_function *f, size_t points,
                             const double *x, const double *beside, const double *y) {
    size_t bytes = 0;
    wg_function *g = NULL;
    double *const z = far_room(points * f->m);
    far_must(c, wg_function_save(f, NULL, 0, &bytes));
    void *const file = malloc(bytes);
    assert_non_null(file);
    far_must(c, wg_function_save(f, file, bytes, NULL));
    far_must(c, wg_function_load(far_tape, file, bytes, NULL, 0, &g));
    far_must(c, far_evaluate(g, points, x, beside, z));
    far_same_bits(c, "loaded", points * f->m, y, z);
    wg_function_free(g);
    free(file), free(z);
}

static inline void far_compiled(const far_case *c, const wg_function *f, size_t points,
                                const double *x, const double *beside, const double *y) {
    static const char *const quick[] = {"-O1", NULL};
    const wg_compile_options o = {EMITTED_COMPILER, quick, COMPILED_BEFORE};
    wg_compiled how;
    wg_function *g = NULL;
    double *const z = far_room(points * f->m);
    far_must(c, wg_function_compile(far_tape, f, &o, &g, &how));
    if (f->each != 0 && how.native != !c->whole) fail_msg("%s: %s", c->name, how.why);
    far_must(c, far_evaluate(g, points, x, beside, z));
    far_same_bits(c, "compiled", points * f->m, y, z);
    wg_function_free(g);
    free(z);
}

/* In loops, whose bits are not those of BLAS. */
static inline void far_emitted(const far_case *c, const wg_function *f, size_t points,
                               const double *x, const double *beside, const double *y) {
    typedef int point_fn(const double *const *arg, double *const *res);
    const wg_emit_options o = {"far", WG_EMIT_POINT, 0, 0};
    const size_t n = wgi_argument_size(&f->input[0]), more = f->n - n;
    double *const z = far_room(f->m);
    emitted e;
    point_fn *call;
    FILE *const text = emitted_text(&e);
    far_must(c, wg_function_emit(far_tape, f, &o, wg_write_file, text));
    assert_int_equal(fclose(text), 0);
    emitted_open(&e, EMITTED_COMPILER, "-O1");
    EMITTED(&e, "far", "", call);
    for (size_t p = 0; p < points; p++) {
        const double *const arg[2] = {x + p * n, beside != NULL ? beside + p * more : NULL};
        double *const res[1] = {z};
        assert_int_equal(call(arg, res), 0);
        far_compare(c, "emitted", p, f->m, z, y + p * f->m);
    }
    emitted_close(&e);
    emitted_remove(&e);
    free(z);
}

/* A map, and the gradient of the sum of all that it gives, weighted. */
static inline void far_mapped(const far_case *c, const wg_function *f, size_t points,
                              const double *x, const double *y, const double *jac) {
    wg_callable *k = NULL;
    wg_mat out, in;
    double *const g = far_room(points * c->n), *const w = far_room(points * c->m);
    double *const want = far_room(c->n);
    far_must(c, wg_callable_new(far_tape, f, &k));
    in = wg_mat_input(far_tape, c->n, points, x, c->n);
    for (size_t i = 0; i < points * c->m; i++) w[i] = 1 + 0.25 * (double)(i % 5);
    const wg_source from = wg_from_matrix(in);
    far_must(c, wg_map(far_tape, k, points, &from, NULL, &out));
    for (size_t p = 0; p < points; p++)
        far_same_bits(c, "mapped", c->m, y + p * c->m, out.value + p * out.ld);
    const wg_real s =
        wg_mat_dot(far_tape, out, wg_mat_constant(far_tape, c->m, points, w, c->m));
    far_must(c, wg_reverse(far_tape, s));
    far_must(c, wg_mat_adjoint(far_tape, in, g, c->n));
    for (size_t p = 0; p < points; p++) {
        for (size_t i = 0; i < c->n; i++) {
            want[i] = 0;
            for (size_t j = 0; j < c->m; j++)
                want[i] += w[p * c->m + j] * jac[(p * c->m + j) * c->n + i];
        }
        far_compare(c, "gradient of the map", p, c->n, g + p * c->n, want);
    }
    wg_tape_reset(far_tape);
    wg_callable_free(k);
    free(g), free(w), free(want);
}

/* ---- all of it ---- */

/* The Hessian function of w y against that of a recording at the point itself. */
static inline void far_curvature(const far_case *c, const wg_function *f, size_t points,
                                 const double *x) {
    const size_t nn = c->n * c->n;
    double *const w = far_room(points * c->m), *const h = far_room(points * nn);
    double *const want = far_room(nn);
    wg_function *hessian = NULL;
    far_must(c, wg_function_hessian(far_tape, f, &hessian));
    for (size_t i = 0; i < points * c->m; i++) w[i] = 1 + 0.25 * (double)(i % 3);
    const double *const beside = c->m == 1 ? NULL : w;
    far_must(c, far_evaluate(hessian, points, x, beside, h));
    for (size_t p = 0; p < points; p++) {
        wg_function *here = NULL, *of_here = NULL;
        far_must(c, far_record(c, x + p * c->n, &here));
        far_must(c, wg_function_hessian(far_tape, here, &of_here));
        const double *const at = beside != NULL ? w + p * c->m : NULL;
        far_must(c, far_evaluate(of_here, 1, x + p * c->n, at, want));
        far_compare(c, "curvature", p, nn, h + p * nn, want);
        wg_function_free(of_here);
        wg_function_free(here);
    }
    far_saved(c, hessian, points, x, beside, h);
    wg_function_free(hessian);
    free(w), free(h), free(want);
}

/* At one point: as the tape; where that refuses, and where a comparison says so, there is no
 * number. Gives whether there is a value. */
static inline int far_point(const far_case *c, const wg_function *f,
                            const wg_function *jacobian, size_t p, const double *x) {
    double *const y = far_room(c->m), *const got = far_room(c->m);
    double *const jac = far_room(c->n * c->m), *const slopes = far_room(c->n * c->m);
    const wg_status truth = far_truth(c, x, y, jac);
    const wg_status s = far_evaluate(f, 1, x, NULL, got);
    const wg_status of_slopes = far_evaluate(jacobian, 1, x, NULL, slopes);
    int good = 0;
    assert_int_equal(s, of_slopes);
    if (truth != WG_OK) {
        for (size_t j = 0; s == WG_OK && j < c->m; j++)
            if (!isnan(got[j]))
                fail_msg("%s, point %zu: %.17g where the tape says %s", c->name, p, got[j],
                         wg_status_text(truth));
    } else {
        if (s != WG_OK) fail_msg("%s, point %zu: %s", c->name, p, wg_status_text(s));
        far_compare(c, "value", p, c->m, got, y);
        far_compare(c, "slope", p, c->n * c->m, slopes, jac);
        good = 1;
    }
    free(y), free(got), free(jac), free(slopes);
    return good;
}

/* Beside evaluation at one point and at all, files and maps: compiled and as C; Hessians. */
enum { FAR_COMPILED = 1, FAR_CURVED = 2 };

/* Recorded at one point; at how many of the others there is a number. */
static inline size_t far_check(const far_case *c, unsigned ways) {
    double *const x = far_room(c->points * c->n), *const y = far_room(c->points * c->m);
    double *const jac = far_room(c->points * c->n * c->m);
    wg_function *f = NULL, *jacobian = NULL;
    size_t good = 0;
    assert_true(c->n <= FAR_ENTRIES && c->points <= FAR_POINTS);
    far_must(c, far_record(c, c->at, &f));
    far_must(c, wg_function_jacobian(far_tape, f, &jacobian));
    for (size_t p = 0; p < c->points; p++)
        if (far_point(c, f, jacobian, p, c->x + p * c->n))
            memcpy(x + good++ * c->n, c->x + p * c->n, c->n * sizeof *x);
    far_must(c, far_evaluate(f, good, x, NULL, y));
    far_must(c, far_evaluate(jacobian, good, x, NULL, jac));
    far_saved(c, f, good, x, NULL, y);
    far_saved(c, jacobian, good, x, NULL, jac);
    if (ways & FAR_COMPILED) {
        far_compiled(c, f, good, x, NULL, y);
        far_compiled(c, jacobian, good, x, NULL, jac);
        far_emitted(c, f, good, x, NULL, y);
        far_emitted(c, jacobian, good, x, NULL, jac);
    }
    far_mapped(c, f, good, x, y, jac);
    if (ways & FAR_CURVED) far_curvature(c, f, good, x);
    wg_function_free(jacobian);
    wg_function_free(f);
    free(x), free(y), free(jac);
    return good;
}

#endif
