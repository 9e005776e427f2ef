/* SPDX-License-Identifier: MIT */
/* GSL: bundle adjustment. Cameras and points of a scene are found from where the points were seen, by Levenberg and
 * Marquardt's method on a sparse Jacobian. With an argument the scene is read from that file, of the format of
 * "Bundle Adjustment in the Large" (BAL); without one it is made: cameras around a cloud of points, what they see
 * with normal noise of half a pixel, written in that format and read again. What then remains per coordinate is known:
 * that noise, less what n - 7 free numbers take of it (7: the scene as a whole can be moved, turned and scaled). */
#include <float.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <wengert.h>
#include <wengert/gsl.h>

enum { CAMERA = 9, POINT = 3 }; /* rotation, shift, focal length, two distortions; place */

typedef struct scene {
    size_t cameras, points, seen;
    size_t *camera, *point; /* of each observation */
    double *at, *x;         /* 2 numbers each; all cameras, then all points */
} scene;

/* ---- the model ---- */

/* c = a x b */
static void cross(wg_tape *t, const wg_real *a, const wg_real *b, wg_real *c) {
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        c[i] = wg_let(t, wg_sub(wg_mul(a[j], b[k]), wg_mul(a[k], b[j])));
    }
}

/* to = x turned about w by its length: x + sin(l)/l w x x + (1 - cos(l))/l^2 w x (w x x). */
static void turn(wg_tape *t, const wg_real *w, const wg_real *x, wg_real *to) {
    wg_real once[3], twice[3], a = wg_constant(1), b = wg_constant(0.5);
    const wg_real ll = wg_squared_norm(t, 3, w);
    if (wg_value(ll) > DBL_EPSILON) { /* below they are 1 and 1/2 to rounding */
        const wg_real l = wg_let(t, wg_sqrt(ll));
        a = wg_let(t, wg_div(wg_sin(l), l));
        b = wg_let(t, wg_div(wg_sub(1, wg_cos(l)), ll));
    }
    cross(t, w, x, once), cross(t, w, once, twice);
    for (int i = 0; i < 3; i++)
        to[i] = wg_let(t, wg_add(x[i], wg_add(wg_mul(a, once[i]), wg_mul(b, twice[i]))));
}

/* Where a camera sees a point; it looks along -z. */
static void project(wg_tape *t, const wg_real *camera, const wg_real *point, wg_real *to) {
    wg_real p[3];
    turn(t, camera, point, p);
    for (int i = 0; i < 3; i++) p[i] = wg_let(t, wg_add(p[i], camera[3 + i]));
    const wg_real u = wg_let(t, wg_neg(wg_div(p[0], p[2]))),
                  v = wg_let(t, wg_neg(wg_div(p[1], p[2])));
    const wg_real rr = wg_let(t, wg_add(wg_square(u), wg_square(v)));
    const wg_real bend =
        wg_let(t, wg_add(1, wg_mul(rr, wg_add(camera[7], wg_mul(camera[8], rr)))));
    const wg_real scale = wg_let(t, wg_mul(camera[6], bend));
    to[0] = wg_let(t, wg_mul(scale, u)), to[1] = wg_let(t, wg_mul(scale, v));
}

static wg_status residuals(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                           void *data) {
    const scene *s = data;
    (void)n, (void)m;
    for (size_t k = 0; k < s->seen; k++) {
        project(t, x + CAMERA * s->camera[k], x + CAMERA * s->cameras + POINT * s->point[k],
                r + 2 * k);
        for (size_t i = 0; i < 2; i++)
            r[2 * k + i] = wg_let(t, wg_sub(r[2 * k + i], s->at[2 * k + i]));
    }
    return WG_OK;
}

/* ---- files ---- */

static size_t numbers(const scene *s) { return CAMERA * s->cameras + POINT * s->points; }

static int write_scene(FILE *f, const scene *s) {
    fprintf(f, "%zu %zu %zu\n", s->cameras, s->points, s->seen);
    for (size_t k = 0; k < s->seen; k++)
        fprintf(f, "%zu %zu %.17g %.17g\n", s->camera[k], s->point[k], s->at[2 * k],
                s->at[2 * k + 1]);
    for (size_t i = 0; i < numbers(s); i++) fprintf(f, "%.17g\n", s->x[i]);
    return fflush(f) == 0 && !ferror(f);
}

static int allocate(scene *s) {
    const size_t most = 1u << 26; /* a file with other numbers is none */
    if (s->cameras > most || s->points > most || s->seen > most) return 0;
    s->camera = calloc(s->seen + 1, sizeof *s->camera),
    s->point = calloc(s->seen + 1, sizeof *s->point);
    s->at = calloc(2 * s->seen + 1, sizeof *s->at), s->x = calloc(numbers(s) + 1, sizeof *s->x);
    return s->camera != NULL && s->point != NULL && s->at != NULL && s->x != NULL;
}

static int read_scene(FILE *f, scene *s) {
    if (f == NULL || fscanf(f, "%zu %zu %zu", &s->cameras, &s->points, &s->seen) != 3 ||
        !allocate(s))
        return 0;
    for (size_t k = 0; k < s->seen; k++)
        if (fscanf(f, "%zu %zu %lf %lf", &s->camera[k], &s->point[k], &s->at[2 * k],
                   &s->at[2 * k + 1]) != 4 ||
            s->camera[k] >= s->cameras || s->point[k] >= s->points)
            return 0;
    for (size_t i = 0; i < numbers(s); i++)
        if (fscanf(f, "%lf", &s->x[i]) != 1) return 0;
    return 1;
}

static void free_scene(scene *s) { free(s->camera), free(s->point), free(s->at), free(s->x); }

/* ---- a scene of our own ---- */

static double uniform(void) { /* between -1 and 1: Knuth's MMIX */
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 4503599627370496.0 - 1;
}
static double normal(void) { /* Box and Muller */
    const double u = (uniform() + 1) / 2, v = uniform();
    return sqrt(-2 * log(u + DBL_MIN)) * cos(3.141592653589793 * v);
}

static const double NOISE = 0.5;

/* What is seen is computed by the same model, on a tape of its own. */
static int make_scene(scene *s) {
    *s = (scene){.cameras = 8, .points = 150};
    s->seen = s->cameras * s->points; /* at most */
    wg_tape *t = wg_tape_new(NULL);
    if (t == NULL || !allocate(s)) return wg_tape_free(t), 0;
    s->seen = 0;
    for (size_t c = 0; c < s->cameras; c++) {
        double *camera = s->x + CAMERA * c;
        camera[1] = 0.7 * (double)c + 0.1, camera[0] = 0.2 * uniform(),
        camera[2] = 0.2 * uniform();
        camera[3] = 0.1 * uniform(), camera[4] = 0.1 * uniform(),
        camera[5] = -6 + 0.5 * uniform();
        camera[6] = 500 + 20 * uniform(), camera[7] = -0.01, camera[8] = 0.001;
    }
    for (size_t i = 0; i < POINT * s->points; i++) s->x[CAMERA * s->cameras + i] = uniform();
    for (size_t c = 0; c < s->cameras; c++)
        for (size_t p = 0; p < s->points; p++) {
            wg_real camera[CAMERA], point[POINT], to[2];
            if (uniform() > 0.6) continue; /* hidden */
            for (size_t i = 0; i < CAMERA; i++) camera[i] = wg_constant(s->x[CAMERA * c + i]);
            for (size_t i = 0; i < POINT; i++)
                point[i] = wg_constant(s->x[CAMERA * s->cameras + POINT * p + i]);
            project(t, camera, point, to);
            s->camera[s->seen] = c, s->point[s->seen] = p;
            for (size_t i = 0; i < 2; i++)
                s->at[2 * s->seen + i] = wg_value(to[i]) + NOISE * normal();
            s->seen++;
        }
    for (size_t i = 0; i < CAMERA * s->cameras; i++) /* where the search begins */
        s->x[i] += (i % CAMERA < 6 ? 0.02 : i % CAMERA == 6 ? 5 : 0) * uniform();
    for (size_t i = CAMERA * s->cameras; i < numbers(s); i++) s->x[i] += 0.05 * uniform();
    wg_tape_free(t);
    return 1;
}

static int scene_in_a_file(scene *s) {
    scene made;
    FILE *f = tmpfile();
    int well = make_scene(&made) && f != NULL && write_scene(f, &made);
    if (well) rewind(f), well = read_scene(f, s);
    if (f != NULL) fclose(f);
    free_scene(&made);
    return well;
}

/* ---- the fit ---- */

static double per_coordinate(const gsl_vector *r) {
    return gsl_blas_dnrm2(r) / sqrt((double)r->size);
}

static void tell(size_t step, void *context, const gsl_multilarge_nlinear_workspace *w) {
    (void)context;
    printf("step %2zu: %.6f pixels\n", step, per_coordinate(w->f));
}

int main(int argc, char **argv) {
    scene s = {0};
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    const int read = argc > 1 ? read_scene(file, &s) : scene_in_a_file(&s);
    if (file != NULL) fclose(file);
    if (!read) return fprintf(stderr, "no scene\n"), free_scene(&s), 1;
    const size_t n = numbers(&s), m = 2 * s.seen;
    printf("%zu cameras, %zu points, %zu observations\n", s.cameras, s.points, s.seen);

    wg_problem *p = wg_problem_new(
        &(wg_computation){.n = n, .m = m, .callback = residuals, .data = &s, .x = s.x});
    gsl_multilarge_nlinear_fdf fdf = wg_gsl_multilarge(p);
    gsl_multilarge_nlinear_parameters with = gsl_multilarge_nlinear_default_parameters();
    gsl_vector_view x = gsl_vector_view_array(s.x, n);
    int info, wrong = 1;
    gsl_set_error_handler_off();
    if (n > 5000) with.trs = gsl_multilarge_nlinear_trs_cgst; /* without a dense J'J */
    gsl_multilarge_nlinear_workspace *w =
        gsl_multilarge_nlinear_alloc(gsl_multilarge_nlinear_trust, &with, m, n);
    if (w != NULL && gsl_multilarge_nlinear_init(&x.vector, &fdf, w) == GSL_SUCCESS) {
        const double before = per_coordinate(w->f);
        const int ended =
            gsl_multilarge_nlinear_driver(50, 1e-8, 0, 1e-12, tell, NULL, &info, w);
        const double after = per_coordinate(w->f),
                     expected = NOISE * sqrt(1 - ((double)n - 7) / (double)m);
        printf("%.6f pixels at first, %.6f in the end\n", before, after);
        if (argc == 1) printf("%.6f are to be expected\n", expected);
        wrong = argc == 1 ? ended != GSL_SUCCESS || !(fabs(after / expected - 1) < 0.05)
                          : !(after <= before);
    }
    if (wrong) fprintf(stderr, "%s\n", wg_problem_message(p));
    gsl_multilarge_nlinear_free(w);
    wg_problem_free(p);
    free_scene(&s);
    return wrong;
}
