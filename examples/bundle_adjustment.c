/* SPDX-License-Identifier: MIT */
/* Bundle adjustment: cameras and points, from where the points were seen.
 *
 * The residual of one observation is recorded once, as a function of one camera and one point;
 * its Jacobian is evaluated at all observations in lanes. Levenberg and Marquardt's steps
 * eliminate the points first (Schur's complement): what is left is a system of the cameras
 * alone, solved by a matrix operation of the tape.
 *
 *     bundle_adjustment            a scene of its own, written in the format of BAL and read again
 *     bundle_adjustment FILE       the scene of a file in that format
 *
 * Of its own scene it is known what remains: the noise of what was seen, less what n - 7
 * numbers take of it (7: the scene as a whole can be moved, turned and scaled). */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>

#include "bundle_scene.h"

enum { LIMIT = 50, BLOCK = CAMERA * POINT };

/* What a step needs. */
struct adjustment {
    struct scene s;
    wg_tape *t;
    wg_function *residual, *jacobian;
    void *residual_work, *jacobian_work;
    double *camera, *point;           /* of each observation */
    double *r, *by_camera, *by_point; /* 2; 2 rows of CAMERA; 2 rows of POINT */
    size_t *start, *of;               /* the observations of each point */
    double *u, *v;   /* of each camera its block, and of each point the inverse of it */
    double *gc, *gp; /* gradients */
    double *w;       /* of each observation: CAMERA rows of POINT */
    double *schur, *right, *trial;
};

/* Residuals, and with them the Jacobian. Result: the sum of squares; NaN: a failure. */
static double evaluate(struct adjustment *a, const double *x, int differentiate) {
    const struct scene *s = &a->s;
    const double *const points = x + CAMERA * s->cameras;
    double sum = 0;
    for (size_t k = 0; k < s->seen; k++) {
        memcpy(a->camera + CAMERA * k, x + CAMERA * s->camera[k], CAMERA * sizeof *x);
        memcpy(a->point + POINT * k, points + POINT * s->point[k], POINT * sizeof *x);
    }
    const wg_points in[] = {{a->camera, CAMERA, 1}, {a->point, POINT, 1}, {s->at, 2, 1}};
    const wg_results rows[] = {{a->by_camera, 2 * CAMERA, 1}, {a->by_point, 2 * POINT, 1}};
    if (wg_function_evaluate(a->residual, s->seen, in, &(wg_results){a->r, 2, 1}, NULL,
                             a->residual_work, NULL) != WG_OK ||
        (differentiate && wg_function_evaluate(a->jacobian, s->seen, in, rows, NULL,
                                               a->jacobian_work, NULL) != WG_OK))
        return NAN;
    for (size_t i = 0; i < 2 * s->seen; i++) sum += a->r[i] * a->r[i];
    return sum;
}

/* to += a' b, of 2 rows each */
static void add_product(const double *a, size_t n, const double *b, size_t m, double *to) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) to[i * m + j] += a[i] * b[j] + a[n + i] * b[m + j];
}

/* The blocks of J'J, and the gradient. */
static void add_up(struct adjustment *a) {
    const struct scene *s = &a->s;
    memset(a->u, 0, CAMERA * CAMERA * s->cameras * sizeof *a->u);
    memset(a->v, 0, POINT * POINT * s->points * sizeof *a->v);
    memset(a->gc, 0, CAMERA * s->cameras * sizeof *a->gc);
    memset(a->gp, 0, POINT * s->points * sizeof *a->gp);
    memset(a->w, 0, BLOCK * s->seen * sizeof *a->w);
    for (size_t k = 0; k < s->seen; k++) {
        const size_t c = s->camera[k], p = s->point[k];
        const double *const jc = a->by_camera + 2 * CAMERA * k,
                            *const jp = a->by_point + 2 * POINT * k, *const r = a->r + 2 * k;
        add_product(jc, CAMERA, jc, CAMERA, a->u + CAMERA * CAMERA * c);
        add_product(jp, POINT, jp, POINT, a->v + POINT * POINT * p);
        add_product(jc, CAMERA, jp, POINT, a->w + BLOCK * k);
        add_product(jc, CAMERA, r, 1, a->gc + CAMERA * c);
        add_product(jp, POINT, r, 1, a->gp + POINT * p);
    }
}

/* to = the inverse of a symmetric 3 x 3 matrix whose diagonal is made larger. */
static void invert(const double *from, double damping, double *to) {
    double m[9];
    for (int i = 0; i < 9; i++) m[i] = from[i] + (i % 4 == 0 ? damping * from[i] + DBL_MIN : 0);
    for (int i = 0; i < 9; i++) {
        const int r = (i / 3 + 1) % 3, q = (i / 3 + 2) % 3, c = (i % 3 + 1) % 3,
                  d = (i % 3 + 2) % 3;
        to[i] = m[3 * r + c] * m[3 * q + d] - m[3 * r + d] * m[3 * q + c];
    }
    const double det = m[0] * to[0] + m[1] * to[1] + m[2] * to[2];
    for (int i = 0; i < 9; i++) to[i] /= det;
}

/* The step against the gradient: trial = x - step. Result: is there one? */
static int solve(struct adjustment *a, double damping) {
    const struct scene *s = &a->s;
    const size_t n = CAMERA * s->cameras;
    memset(a->schur, 0, n * n * sizeof *a->schur);
    memcpy(a->right, a->gc, n * sizeof *a->right);
    for (size_t c = 0; c < s->cameras; c++)
        for (size_t i = 0; i < CAMERA; i++)
            for (size_t j = 0; j < CAMERA; j++)
                a->schur[(CAMERA * c + i) * n + CAMERA * c + j] =
                    a->u[(CAMERA * c + i) * CAMERA + j] * (i == j ? 1 + damping : 1);
    for (size_t p = 0; p < s->points; p++) {
        double inverse[POINT * POINT], wv[BLOCK];
        invert(a->v + POINT * POINT * p, damping, inverse);
        for (size_t e = a->start[p]; e < a->start[p + 1]; e++) {
            const double *const w = a->w + BLOCK * a->of[e];
            const size_t row = CAMERA * s->camera[a->of[e]];
            for (size_t i = 0; i < CAMERA; i++)
                for (size_t j = 0; j < POINT; j++) {
                    double *const to = &wv[i * POINT + j];
                    *to = 0;
                    for (size_t k = 0; k < POINT; k++)
                        *to += w[i * POINT + k] * inverse[k * POINT + j];
                    a->right[row + i] -= *to * a->gp[POINT * p + j];
                }
            for (size_t o = a->start[p]; o < a->start[p + 1]; o++) {
                const double *const z = a->w + BLOCK * a->of[o];
                const size_t col = CAMERA * s->camera[a->of[o]];
                for (size_t i = 0; i < CAMERA; i++)
                    for (size_t j = 0; j < CAMERA; j++)
                        for (size_t k = 0; k < POINT; k++)
                            a->schur[(row + i) * n + col + j] -=
                                wv[i * POINT + k] * z[j * POINT + k];
            }
        }
    }
    wg_tape_reset(a->t);
    const wg_mat step = wg_solve_spd(a->t, wg_mat_constant(a->t, n, n, a->schur, n),
                                     wg_mat_constant(a->t, n, 1, a->right, n));
    if (wg_tape_status(a->t) != WG_OK) return 0;
    for (size_t i = 0; i < n; i++) a->trial[i] = s->x[i] - step.value[i];
    for (size_t p = 0; p < s->points; p++) {
        double inverse[POINT * POINT], g[POINT];
        memcpy(g, a->gp + POINT * p, sizeof g);
        for (size_t e = a->start[p]; e < a->start[p + 1]; e++)
            for (size_t i = 0; i < CAMERA; i++)
                for (size_t j = 0; j < POINT; j++)
                    g[j] -= a->w[BLOCK * a->of[e] + i * POINT + j] *
                            step.value[CAMERA * s->camera[a->of[e]] + i];
        invert(a->v + POINT * POINT * p, damping, inverse);
        for (size_t i = 0; i < POINT; i++) {
            const size_t at = n + POINT * p + i;
            a->trial[at] = s->x[at];
            for (size_t j = 0; j < POINT; j++) a->trial[at] -= inverse[i * POINT + j] * g[j];
        }
    }
    return 1;
}

/* Until a step gains less than a part in 10^10. Result: the sum of squares; NaN: a failure. */
static double adjust(struct adjustment *a, double *first) {
    const size_t n = CAMERA * a->s.cameras + POINT * a->s.points;
    double damping = 1e-3, now = *first = evaluate(a, a->s.x, 1);
    for (int step = 1, better = 1; step <= LIMIT && damping < 1e12 && !isnan(now); step++) {
        if (better) add_up(a);
        const double then = solve(a, damping) ? evaluate(a, a->trial, 0) : NAN;
        better = then < now;
        damping *= better ? 0.1 : 10;
        printf("%4d %12.6f pixels, damping %.0e\n", step, sqrt(then / (2 * (double)a->s.seen)),
               damping);
        if (!better) continue;
        const double gain = (now - then) / now;
        memcpy(a->s.x, a->trial, n * sizeof *a->s.x);
        now = evaluate(a, a->s.x, 1);
        if (gain < 1e-10) break;
    }
    return now;
}

/* ---- the scene and its functions ---- */

static wg_status record(struct adjustment *a) {
    const wg_argument in[] = {{"camera", CAMERA, 1, 0},
                              {"point", POINT, 1, 0},
                              {"seen", 2, 1, WG_PASSIVE}},
                      out = {"residual", 2, 1, 0};
    const double x[CAMERA + POINT + 2] = {0, 0, 0, 0, 0, -1, 1};
    wg_status s = wg_function_record(a->t, project, NULL, 3, in, x, 1, &out, &a->residual);
    if (s == WG_OK) s = wg_function_jacobian(a->t, a->residual, &a->jacobian);
    return s;
}

static int read_scene(struct adjustment *a, const char *path) {
    struct scene made = {0};
    FILE *const f = path != NULL ? fopen(path, "r") : tmpfile();
    int well = f != NULL;
    if (well && path == NULL) {
        well = scene_make(a->residual, &made) && scene_write(f, &made);
        rewind(f);
    }
    well = well && scene_read(f, &a->s);
    if (f != NULL) fclose(f);
    scene_free(&made);
    return well;
}

static void *doubles(size_t n) { return malloc((n + 1) * sizeof(double)); }

static int allocate(struct adjustment *a) {
    const size_t k = a->s.seen, c = a->s.cameras, p = a->s.points, n = CAMERA * c;
    a->residual_work = aligned_alloc(64, (wg_function_work(a->residual, NULL) + 64) / 64 * 64);
    a->jacobian_work = aligned_alloc(64, (wg_function_work(a->jacobian, NULL) + 64) / 64 * 64);
    a->camera = doubles(CAMERA * k), a->point = doubles(POINT * k), a->r = doubles(2 * k);
    a->by_camera = doubles(2 * CAMERA * k), a->by_point = doubles(2 * POINT * k),
    a->w = doubles(BLOCK * k);
    a->start = calloc(p + 2, sizeof *a->start), a->of = calloc(k + 1, sizeof *a->of);
    a->u = doubles(CAMERA * n), a->v = doubles(POINT * POINT * p);
    a->gc = doubles(n), a->gp = doubles(POINT * p);
    a->schur = doubles(n * n), a->right = doubles(n), a->trial = doubles(n + POINT * p);
    if (!a->residual_work || !a->jacobian_work || !a->camera || !a->point || !a->r ||
        !a->by_camera || !a->by_point || !a->w || !a->start || !a->of || !a->u || !a->v ||
        !a->gc || !a->gp || !a->schur || !a->right || !a->trial)
        return 0;
    for (size_t e = 0; e < k; e++) a->start[a->s.point[e] + 2]++;
    for (size_t i = 0; i < p; i++) a->start[i + 2] += a->start[i + 1];
    for (size_t e = 0; e < k; e++) a->of[a->start[a->s.point[e] + 1]++] = e;
    return 1;
}

static void release(struct adjustment *a) {
    wg_tape_free(a->t);
    wg_function_free(a->residual), wg_function_free(a->jacobian);
    free(a->residual_work), free(a->jacobian_work), free(a->camera), free(a->point), free(a->r);
    free(a->by_camera), free(a->by_point), free(a->w), free(a->start), free(a->of), free(a->u),
        free(a->v);
    free(a->gc), free(a->gp), free(a->schur), free(a->right), free(a->trial);
    scene_free(&a->s);
}

int main(int argc, char **argv) {
    struct adjustment a = {.t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE})};
    double first = NAN, last = NAN;
    int wrong = 1;
    if (a.t == NULL || record(&a) != WG_OK)
        fprintf(stderr, "%s\n", a.t ? wg_tape_message(a.t) : "out of memory");
    else if (!read_scene(&a, argc > 1 ? argv[1] : NULL)) fprintf(stderr, "no scene\n");
    else if (!allocate(&a)) fprintf(stderr, "out of memory\n");
    else {
        const double m = 2 * (double)a.s.seen,
                     n = (double)(CAMERA * a.s.cameras + POINT * a.s.points);
        printf("%zu cameras, %zu points, %zu observations\n", a.s.cameras, a.s.points,
               a.s.seen);
        last = adjust(&a, &first);
        printf("%.6f pixels at first, %.6f in the end", sqrt(first / m), sqrt(last / m));
        const double expected = NOISE * sqrt(1 - (n - 7) / m),
                     deviation = expected / sqrt(2 * (m - n + 7));
        if (argc == 1) printf(", expected %.4f with a deviation of %.4f", expected, deviation);
        printf("\n");
        wrong =
            argc == 1 ? !(fabs(sqrt(last / m) - expected) < 4 * deviation) : !(last < first);
    }
    release(&a);
    return wrong;
}
