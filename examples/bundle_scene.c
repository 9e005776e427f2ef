/* SPDX-License-Identifier: MIT */
#include "bundle_scene.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>
#include "random_numbers.h"

/* ---- the model ---- */

/* c = a x b */
static void cross(wg_tape *t, const wg_real *a, const wg_real *b, wg_real *c) {
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        c[i] = wg_let(t, wg_sub(wg_mul(a[j], b[k]), wg_mul(a[k], b[j])));
    }
}

/* to = x turned about w by its length: x + sin(l)/l w x x + (1 - cos(l))/l^2 w x (w x x). Where
 * l is small these are 1 and 1/2 to rounding. */
static void turn(wg_tape *t, const wg_real *w, const wg_real *x, wg_real *to) {
    wg_real once[3], twice[3];
    const wg_real ll = wg_squared_norm(t, 3, w), safe = wg_let(t, wg_fmax(ll, DBL_EPSILON));
    const wg_real l = wg_let(t, wg_sqrt(safe));
    const wg_real a = wg_let(t, wg_select_lt(ll, DBL_EPSILON, 1, wg_div(wg_sin(l), l)));
    const wg_real b =
        wg_let(t, wg_select_lt(ll, DBL_EPSILON, 0.5, wg_div(wg_sub(1, wg_cos(l)), safe)));
    cross(t, w, x, once), cross(t, w, once, twice);
    for (int i = 0; i < 3; i++)
        to[i] = wg_let(t, wg_add(x[i], wg_add(wg_mul(a, once[i]), wg_mul(b, twice[i]))));
}

/* The camera looks along -z. */
wg_status project(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y, void *data) {
    const wg_real *const camera = x, *const point = x + CAMERA, *const seen = point + POINT;
    wg_real p[3];
    (void)n, (void)m, (void)data;
    turn(t, camera, point, p);
    for (int i = 0; i < 3; i++) p[i] = wg_let(t, wg_add(p[i], camera[3 + i]));
    const wg_real u = wg_let(t, wg_neg(wg_div(p[0], p[2])));
    const wg_real v = wg_let(t, wg_neg(wg_div(p[1], p[2])));
    const wg_real rr = wg_let(t, wg_add(wg_square(u), wg_square(v)));
    const wg_real scale = wg_let(
        t, wg_mul(camera[6], wg_add(1, wg_mul(rr, wg_add(camera[7], wg_mul(camera[8], rr))))));
    y[0] = wg_let(t, wg_sub(wg_mul(scale, u), seen[0]));
    y[1] = wg_let(t, wg_sub(wg_mul(scale, v), seen[1]));
    return WG_OK;
}

/* ---- files ---- */

static size_t numbers(const struct scene *s) { return CAMERA * s->cameras + POINT * s->points; }

static int allocate(struct scene *s) {
    const size_t most = 1u << 26; /* a file with other numbers is none */
    if (s->cameras > most || s->points > most || s->seen > most) return 0;
    s->camera = calloc(s->seen + 1, sizeof *s->camera);
    s->point = calloc(s->seen + 1, sizeof *s->point);
    s->at = calloc(2 * s->seen + 1, sizeof *s->at);
    s->x = calloc(numbers(s) + 1, sizeof *s->x);
    return s->camera != NULL && s->point != NULL && s->at != NULL && s->x != NULL;
}

int scene_read(FILE *f, struct scene *s) {
    *s = (struct scene){0};
    if (fscanf(f, "%zu %zu %zu", &s->cameras, &s->points, &s->seen) != 3 || !allocate(s))
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

int scene_write(FILE *f, const struct scene *s) {
    fprintf(f, "%zu %zu %zu\n", s->cameras, s->points, s->seen);
    for (size_t k = 0; k < s->seen; k++)
        fprintf(f, "%zu %zu     %.17g %.17g\n", s->camera[k], s->point[k], s->at[2 * k],
                s->at[2 * k + 1]);
    for (size_t i = 0; i < numbers(s); i++) fprintf(f, "%.17g\n", s->x[i]);
    return fflush(f) == 0 && !ferror(f);
}

void scene_free(struct scene *s) {
    free(s->camera), free(s->point), free(s->at), free(s->x);
    *s = (struct scene){0};
}

/* ---- a scene of our own ---- */

/* between -a and a */
static double within(double a, uint64_t *state) { return a * (2 * random_uniform(state) - 1); }

int scene_make(const wg_function *f, struct scene *s) {
    static const double nothing[2] = {0};
    uint64_t state = 2024;
    void *const work = aligned_alloc(64, (wg_function_work(f, NULL) + 64) / 64 * 64);
    *s = (struct scene){.cameras = 8, .points = 150, .seen = 8 * 150};
    int well = allocate(s) && work != NULL;
    double *const points = well ? s->x + CAMERA * s->cameras : NULL;
    s->seen = 0;
    for (size_t c = 0; c < s->cameras && well; c++) {
        const double camera[CAMERA] = {within(0.2, &state),
                                       0.1 + 0.7 * (double)c,
                                       within(0.2, &state),
                                       within(0.1, &state),
                                       within(0.1, &state),
                                       -6 + within(0.5, &state),
                                       500 + within(20, &state),
                                       -0.01,
                                       0.001};
        memcpy(s->x + CAMERA * c, camera, sizeof camera);
    }
    for (size_t i = 0; i < POINT * s->points && well; i++) points[i] = within(1, &state);
    for (size_t k = 0; k < s->cameras * s->points && well; k++) {
        const size_t c = k / s->points, p = k % s->points;
        double at[2];
        if (random_uniform(&state) > 0.8) continue; /* hidden */
        const wg_points in[] = {
            {s->x + CAMERA * c, 0, 1}, {points + POINT * p, 0, 1}, {nothing, 0, 1}};
        well =
            wg_function_evaluate(f, 1, in, &(wg_results){at, 0, 1}, NULL, work, NULL) == WG_OK;
        s->camera[s->seen] = c, s->point[s->seen] = p;
        for (size_t i = 0; i < 2; i++)
            s->at[2 * s->seen + i] = at[i] + NOISE * random_normal(&state);
        s->seen++;
    }
    for (size_t i = 0; i < numbers(s) && well; i++) {
        const size_t of = i % CAMERA;
        const int is_point = i >= CAMERA * s->cameras;
        s->x[i] += within(is_point ? 0.05 : of < 6 ? 0.02 : of == 6 ? 5 : 0, &state);
    }
    free(work);
    return well;
}
